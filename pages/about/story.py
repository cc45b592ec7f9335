"""Stories: the runs that came with the app, in one list. The stage presents each one and shows the finding at its
end.
"""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from core import entry, home
from core.report.scenes import of_case
from core.runs.recordings import Recording, list_recordings
from core.scene import Scene, in_short
from pages.components import recording_note, session
from pages.components.run_view import screen_number
from pages.components.text import plain
from pages.viewer.component import Together, Where, stage

TOLD = "told"
"""Query parameter with the stories already told, by their places in the list from 1; the list shows their findings."""


def scene(one: Recording) -> Scene:
    """Return the scene of a recording for the presentation. From the description of a function, it leaves out domain,
    code and note.
    """
    lab, state = recording_note.lab_of(one), session.run(one.run).watch().transcript
    whole = of_case(lab, state, state.only)
    untold = {"domain": "", "code": "", **({"note": ""} if whole.claim and whole.claim.code else {})}
    claim = whole.claim and whole.claim.model_copy(update=untold)
    update = {"claim": claim, "title": one.title or whole.title, "screens": in_short(whole, one.row)}
    return whole.model_copy(update=update)


def places_told() -> list[int]:
    """Return the places of the stories in the list, in the order in which they were told."""
    said = st.query_params.get(TOLD, "")[:200].split(",")
    return list(dict.fromkeys(int(one) for one in said if one.isdecimal() and len(one) < 4))


def address(places: list[int], run: str = "") -> str:
    """Return the address of the list, or of one story, with the stories already told."""
    named = {"run": run, TOLD: ",".join(map(str, places))}
    query = urlencode({name: value for name, value in named.items() if value}, safe=",")
    return f"/story?{query}" if query else "/story"


def draw_recording(one: Recording) -> None:
    """Present one story, and at its end the finding and links to go on."""
    before, lab, shown = places_told(), recording_note.lab_of(one), scene(one)
    after = [*before, number] if (number := STORIES.index(one) + 1) not in before else before
    rest = [other for at, other in enumerate(STORIES, 1) if at not in after]
    links = [(f"Next: {recording_note.title(rest[0])}", address(after, rest[0].run))] if rest else []
    links += [
        ("All its prompts and answers", f"/case?run={one.run}"),
        ("Step by step", f"/case?run={one.run}&replay=1"),
        *([("Present to a class", f"/wall?run={one.run}")] if session.visitor().takes_part else []),
        (f"{lab.title}: {lab.question}", f"/{lab.path}"),
        ("All stories", address(after)),
    ]
    series = {
        "whole": [f"/{lab.path}?run={one.run}"],
        "head": recording_note.title(one),
        "headline": f"{one.words}.",
        "words": "A good explanation lets you predict the model. This does not say whether an answer is right, or "
        "what goes on inside a model.",
        "links": links,
        "foot": recording_note.about_all(),
        "leave": address(before),
        "end": len(shown.screens),
        "over": address(after),
    }
    stage("tell", [shown], f"story-{number}", where=Where(place=screen_number()), together=Together(series=series))


def rows() -> None:
    """List all stories: what was asked and who answers; the finding only of those already told."""
    st.title("Stories", anchor=False)
    st.markdown("A language model answered and said why. Then we tested it. Make your own prediction first.")
    seen = places_told()
    for number, one in enumerate(STORIES, 1):
        lab = recording_note.lab_of(one)
        with st.container(gap=None, key=f"story-{number}"):
            st.button(
                plain(recording_note.title(one)),
                icon=lab.icon,
                type="tertiary",
                key=f"tell-{number}",
                on_click=st.query_params.update,
                args=({"run": one.run},),
            )
            came = f" **{plain(one.words)}.**" if number in seen else ""
            st.caption(f"{lab.title}: asked of {plain(recording_note.who_answers(one))}.{came}")
    st.caption(recording_note.about_all())


STORIES = [one for lab in entry.labs().values() for one in list_recordings(home.recordings()).of_lab(lab.name)]
chosen = list_recordings(home.recordings()).named(st.query_params.get("run", ""))
if chosen is None:
    rows()
else:
    draw_recording(chosen)
