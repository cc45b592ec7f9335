"""Stories: the runs that came with the app, as a gallery. The viewer presents each one."""

import streamlit as st

from core.report.scenes import of_case
from core.runs.library import Recording
from core.scene import Scene, in_short
from pages.components import recordings, session
from pages.components.recordings import STORIES, address, story_cards
from pages.components.run_view import screen_number
from pages.viewer.component import Staging, stage


def scene(one: Recording) -> Scene:
    """Return the scene of a recording for the presentation. From the description of a function, it leaves out domain,
    code and note.
    """
    lab, state = recordings.lab_of(one), session.run(one.run).watch().transcript
    whole = of_case(lab, state, state.only)
    untold = {"domain": "", "code": "", **({"note": ""} if whole.claim and whole.claim.code else {})}
    claim = whole.claim and whole.claim.model_copy(update=untold)
    update = {"claim": claim, "title": one.title or whole.title, "screens": in_short(whole, one.row)}
    return whole.model_copy(update=update)


def draw_recording(one: Recording) -> None:
    """Present one story, and at its end what it shows and links to go on."""
    number, lab = STORIES.index(one), recordings.lab_of(one)
    links = [(f"Next: {recordings.title(after)}", address(after)) for after in STORIES[number + 1 : number + 2]]
    links += [
        ("All its prompts and answers", f"/case?run={one.run}"),
        ("Step by step", f"/case?run={one.run}&replay=1"),
        *([("Present to a class", f"/wall?run={one.run}")] if session.visitor().takes_part else []),
        (f"{lab.title}: {lab.question}", f"/{lab.path}"),
        ("All stories", "/stories"),
    ]
    series = {
        "whole": [f"/{lab.path}?run={one.run}"],
        "head": recordings.title(one),
        "headline": one.twist,
        "words": "A good explanation lets you predict the model. This does not say whether an answer is right, or "
        "what goes on inside a model.",
        "links": links,
        "foot": recordings.about_all(),
        "leave": "/stories",
    }
    stage("tell", [scene(one)], f"story-{number}", staging=Staging(place=screen_number(), series=series))


chosen = next((one for one in STORIES if one.run == st.query_params.get("run", "")), None)
if chosen is None:
    st.title("Stories", anchor=False)
    st.markdown("A small language model answered and said why. Then we tested it.")
    story_cards(STORIES)
    st.caption(recordings.about_all())
else:
    draw_recording(chosen)
