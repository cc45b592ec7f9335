"""Draws a run of the Plant lab: the verdict first, then the same question with the cue and without; and of all items
what the cue moved beside its twin, and whether that is named.
"""

from __future__ import annotations

from collections import Counter

import pandas as pd
import streamlit as st

from core.charts.marks import COMPARED, FAINT, OURS, error_bars
from core.labs.plant import marks, metrics, scene
from core.labs.plant.cues import TWINS
from core.labs.plant.lab import LAB
from core.labs.plant.marks import SAYS
from core.labs.plant.measure import AGREEING, PLAIN, PLANTED
from core.labs.plant.scene import question
from core.labs.plant.verdict import MEANING, NOT_A_LIE, summary, verdict
from core.labs.plant.view import WHY, PlantView
from core.people.looking import NoSuchRun
from core.transcript import Transcript
from pages.parts import plain_case, session
from pages.parts.calls import details
from pages.parts.pictures import PLAIN as NO_BAR
from pages.parts.run import size
from pages.parts.text import emphasised, plain, tinted
from pages.parts.tiles import LOOKS, State, Tile, strip

CUE = "violet"
"""The colour of the cue, wherever it stands; nothing else has it."""

LONG, LINES = 900, 15
"""Characters and lines. A longer question scrolls in its box."""

WORDS: dict[State, str] = dict(marks.WORDS.items())

BARS = ("named_when_moved", "named_when_agreeing", "flip_rate", "flip_rate_twin")

_ARMS: dict[str, str] = {
    TWINS[0]: "A twin, which points nowhere",
    TWINS[1]: "A second twin",
    AGREEING: "The cue where it agrees",
}


def mark_of(view: PlantView) -> State:
    """The mark of an item that is shown, as its run bears it out."""
    run = view.log.started.run if view.log.started else ""
    try:
        return _mark_of(run, size(run), view.outcome())
    except NoSuchRun:
        return "not settled"


@st.cache_data(max_entries=64, show_spinner=False)
def _mark_of(run: str, size: int, outcome: str) -> State:
    return LAB.mark(outcome, session.run(run).case(""))


def draw(view: PlantView, active: bool) -> None:
    """Draw one item."""
    if view.planting is None and not view.replies:
        if active:
            st.skeleton(120)
        else:
            st.caption("The journal does not hold what was asked in a form that can be read.")
        return
    _verdict(view)
    columns = st.columns(2)
    with columns[0], st.container(border=True, key="plain"):
        st.markdown("**Without the cue**")
        _asked(view, f"{PLAIN}-1", active)
    with columns[1], st.container(border=True, key="planted"):
        st.markdown(f"**With** {cue('the cue')}")
        _asked(view, PLANTED, active)
    beside = [arm for arm in view.replies if arm not in (f"{PLAIN}-1", PLANTED)]
    if beside:
        with st.container(border=True, gap="xsmall", key="beside"):
            for arm in beside:
                _row(view, arm)


def _verdict(view: PlantView) -> None:
    headline, *more = verdict(view)
    look = LOOKS[mark_of(view)]
    with st.container(border=True, key="verdict"):
        st.markdown(f"### :{look.colour}[{look.icon}] {emphasised(headline)}", anchors=False)
        for sentence in more:
            if sentence != NOT_A_LIE:
                st.markdown(f"- {emphasised(sentence)}")
        if NOT_A_LIE in more:
            _meaning("no-meaning")


def _meaning(key: str) -> None:
    with st.expander("What it does not mean", type="compact", key=key):
        st.markdown(MEANING)


def _asked(view: PlantView, arm: str, active: bool) -> None:
    """The question as it was asked, with the cue marked, and the answer with its reasons."""
    with st.container(height=300 if is_long(question(view, arm)) else "content", border=False):
        st.markdown(with_cue(view, arm))
    reply = view.replies.get(arm)
    call = next((call for call in view.log.calls.values() if call.asked.item == arm), None)
    if reply is None:
        if call is not None and call.failed is not None:
            st.error(plain(call.failed.message), icon=":material/error:")
        elif call is not None and call.text:
            st.markdown(plain(call.text))
        elif active:
            st.skeleton(60)
        else:
            st.caption("No answer.")
        return
    st.markdown(f"#### {_answer(view, arm)}", anchors=False)
    if reply.reasons:
        st.markdown(f"“{telling(view, reply.reasons) if arm == PLANTED else plain(reply.reasons)}”")
    if arm == PLANTED:
        _read(view)
    _details(view, arm)


def _read(view: PlantView) -> None:
    """Whether the reasons name the cue, by each who reads them: one is never merged with another."""
    says = {True: "they name the cue", False: "they do not name it", None: "that cannot be read"}
    readers = {"By the words that tell it": view.names(PLANTED)}
    if PLANTED in view.reads:
        readers["by the reader model"] = view.names(PLANTED, "reader")
    st.caption("; ".join(f"{who}: {says[named]}" for who, named in readers.items()))
    if (read := view.reads.get(PLANTED)) and (call := view.log.calls.get(read.call)):
        details(call, f"{view.log.case}-read")


def _answer(view: PlantView, arm: str) -> str:
    answer = view.replies[arm].answer
    return f"It answers **{plain(answer)}**" if answer else "Its answer :orange-badge[could not be read]"


def _row(view: PlantView, arm: str) -> None:
    """An arm beside the cue's, in a line."""
    answer, words = view.replies[arm].answer, _ARMS.get(arm, "Asked again without the cue")
    shown = f": “{plain(view.shown(arm))}”" if arm in _ARMS else ""
    came = "as before" if answer == view.answer else "where the cue points" if _goes(view, arm) else "another answer"
    names = view.names(arm) if arm == AGREEING else None
    named = "" if names is None else " · names the cue" if names else " · does not name it"
    left, right = st.columns([3, 2], vertical_alignment="center")
    left.markdown(f":gray[{words}{shown} ·] {_answer(view, arm)}" + (f" · {came}{named}" if answer else ""))
    with right:
        _details(view, arm)


def _goes(view: PlantView, arm: str) -> bool:
    return view.planting is not None and bool(view.planting.target) and view.replies[arm].answer == view.planting.target


def _details(view: PlantView, arm: str) -> None:
    reply = view.replies[arm]
    if call := view.log.calls.get(reply.call):
        details(call, f"{view.log.case}-{arm}", {"repaired": reply.answer or "nothing readable"})


def is_long(text: str) -> bool:
    """Whether a text takes more than its share of a screen."""
    return len(text) > LONG or text.count("\n") > LINES


def with_cue(view: PlantView, arm: str) -> str:
    """Markdown of the question in that arm, in which the cue has its colour."""
    return _coloured(scene.with_cue(view, arm))


def telling(view: PlantView, reasons: str) -> str:
    """Markdown of reasons, in which the words that tell the cue have its colour."""
    return _coloured(scene.telling(view, reasons))


def _coloured(pieces: scene.Pieces) -> str:
    return "".join(cue(text) if mark else plain(text) for text, mark in pieces)


def cue(text: str) -> str:
    """Markdown of `text` in the colour of the cue, line by line; the spaces around a line stay outside."""
    lines = []
    for line in text.split("\n"):
        inner = line.strip()
        before, _, after = line.partition(inner) if inner else (line, "", "")
        lines.append(f"{before}:{CUE}[**{tinted(inner, CUE)}**]{after}" if inner else line)
    return "  \n".join(lines)


def choose(transcript: Transcript) -> str:
    """First what came of all; then the item that the reader wants to see."""
    if transcript.cases:
        with st.container(border=True, key="verdict-of-all"):
            left, right = st.columns([5, 4], gap="medium")
            with left:
                _of_all(transcript)
            with right:
                _bars(transcript)
    moved = (case for case, one in plain_case.by_number(transcript).items()
             if one.result and str(one.result["outcome_repaired"]) in SAYS)  # fmt: skip
    if transcript.status and "case" not in st.query_params and (case := next(moved, "")):
        # What the cue did not move is the longest part of most runs, and the least told.
        st.query_params["case"] = case
    return plain_case.choose(transcript)


def _of_all(transcript: Transcript) -> None:
    """The run's sentences; a tile a question, and the ledger."""
    st.markdown(f"#### {emphasised(summary(transcript))}", anchors=False)
    outcomes = [str(one.result["outcome_repaired"]) if one.result else "waiting"
                for one in plain_case.by_number(transcript).values()]  # fmt: skip
    strip([Tile(LAB.mark(outcome, transcript)) for outcome in outcomes], "question", WORDS)
    ledger = [f"{count} {LAB.words.get(outcome, outcome)}" + (f" ({WHY[outcome]})" if outcome in WHY else "")
              for outcome, count in Counter(outcomes).most_common()]  # fmt: skip
    st.caption(plain("; ".join(ledger)))
    _meaning("no-meaning-of-all")


def _bars(transcript: Transcript) -> None:
    """How often, with intervals; faint where there is no headline about naming, or too little for a rate."""
    import plotly.graph_objects as go

    known = [(name, score, who) for name in BARS for who in ("", "reader")
             if (score := transcript.score(name, "repaired", who)) and score.value is not None]  # fmt: skip
    net, gain = (transcript.score(name, "repaired") for name in ("net_flips", "naming_gain"))
    if not known or net is None or gain is None:
        return
    why = str(gain.detail.get("no_headline") or "")
    few = int(net.detail.get("moved") or 0) < metrics.FEWEST
    rows = pd.DataFrame([(s.value, s.low, s.high) for _, s, _ in known], columns=["at", "low", "high"]).astype(float)
    figure = go.Figure(go.Bar(
        x=rows["at"], orientation="h", y=list(range(len(known))), hoverinfo="skip", width=0.55,
        error_x=error_bars(rows["low"], rows["at"], rows["high"], thickness=1.5, color="#808080"),
        marker={"color": [OURS if name in ("named_when_moved", "flip_rate") else COMPARED for name, *_ in known],
                "opacity": [FAINT if (why or few) and name.startswith("named") else 1.0 for name, *_ in known]},
    ))  # fmt: skip
    titles = [LAB.metric(name).title for name, *_ in known]
    labels = [f"{title}<br>{'reader model: ' if who else ''}{round((score.value or 0) * score.n)} of {score.n}"
              for title, (_, score, who) in zip(titles, known, strict=True)]  # fmt: skip
    figure.update_yaxes(tickvals=list(range(len(known))), ticktext=labels, autorange="reversed", fixedrange=True)
    figure.update_xaxes(range=[0, 1.06], tickvals=[0, 0.5, 1], tickformat=".0%", fixedrange=True)
    figure.update_layout(margin={"t": 4, "b": 4, "l": 4, "r": 20}, height=54 * len(known) + 30)
    said = ", ".join(f"{title} {score.value:.2f}" for title, (_, score, _) in zip(titles, known, strict=True))
    st.plotly_chart(figure, key="bars", config=NO_BAR, alt=f"Bars with 95 % intervals: {said}")
    if why:
        st.caption(f"No headline about naming: {plain(why)}.")


def several(transcript: Transcript, run_id: str) -> None:
    """All items, and all figures."""
    plain_case.table(transcript, run_id)
    with st.expander("For researchers: all figures", icon=":material/monitoring:", key="figures-of-all"):
        rows = [
            {"Figure": metric.title, "Read by": score.detail.get("detector", ""), "Value": score.value,
             "From": score.low, "To": score.high, "n": score.n, "of": score.of}
            for metric in LAB.metrics for who in ("", "reader")
            if (score := transcript.score(metric.name, "repaired", who))
        ]  # fmt: skip
        number = st.column_config.NumberColumn(format="%.2f")
        st.dataframe(
            pd.DataFrame(rows), hide_index=True, placeholder="undefined", key="figures", height="content",
            alt="All figures of the run with their 95 % intervals",
            column_config={name: number for name in ("Value", "From", "To")},
        )  # fmt: skip
