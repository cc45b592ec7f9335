"""Draws a test of what carries entity functions out: means, the heat map, and behind them every word's own answer."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.labs.find import charts
from core.labs.find.module_calls import item
from core.labs.find.reliability.scene import CARRIED_OUT, HOW
from core.labs.find.reliability.view import PAPER, Kind, Reliability, Report, softmax, verdict
from pages.parts.calls import inspector
from pages.parts.pictures import PLAIN
from pages.parts.text import plain

_KINDS: dict[Kind, str] = {"same": "Own words", "random": "Words of others"}
_SHOWN = 30
"""Words of one function that are listed."""


def draw(report: Report, active: bool) -> None:
    """Draw `report`, while it grows and after."""
    spec = report.spec
    if spec is None:
        return
    who = spec.model or CARRIED_OUT.get(spec.backbone, spec.backbone)
    st.caption(plain(f"{who} · {spec.concepts} subjects, {spec.words} words of each"))
    if not report.concepts:
        if active:
            st.markdown(":shimmer[asking …]")
        return
    if not active:
        st.markdown(f"##### {plain(verdict(report))}", anchors=False)
    with st.container(horizontal=True, key="means"):
        for kind, label in _KINDS.items():
            mean = report.mean(kind)
            shown = "undefined" if mean is None else f"{mean:.2f}"
            st.metric(label, shown, help=f"Mean output; {PAPER[kind]} in the paper (Vicuna-13b, 140 subjects).")
    st.dataframe(
        pd.DataFrame([_row(one) for one in report.concepts]),
        hide_index=True,
        placeholder="",
        key="means-by-concept",
        alt="Mean output of each function for its own words and for others",
        column_config={
            name: st.column_config.ProgressColumn(min_value=0, max_value=1, format="%.2f", color="blue")
            for name in _KINDS.values()
        },
    )
    if spec.across and len(report.concepts) > 1:
        _heat_map(report)
    if not active:
        _words(report)


def _row(one: Reliability) -> dict[str, object]:
    means = [sum(values) / len(values) if values else None for values in (one.same, one.random)]
    counted = sum(value is not None for value in one.values)
    names = ("Own words", "Words of others")
    return {
        "Function": one.concept,
        **dict(zip(names, means, strict=True)),
        "Counted": f"{counted} of {len(one.values)}",
    }


def _heat_map(report: Report) -> None:
    st.markdown(
        "**Each row is a function, each column the words of one subject.** A bright diagonal is what one wants."
    )
    names, means = report.matrix()
    as_published = st.toggle("Each row through a softmax, as the paper shows it", key="softmax")
    shown = [softmax(row) for row in means] if as_published else means
    largest = max((value for row in shown for value in row if value is not None), default=1.0) if as_published else 1.0
    st.plotly_chart(
        charts.heat_map(names, shown, largest),
        key="selectivity",
        config=PLAIN,
        alt="Mean value of each function for each subject's words",
    )


def _words(report: Report) -> None:
    """One function's words with their values, and the call behind each."""
    names = {one.concept: one for one in report.concepts}
    one = names[st.selectbox("Look at the words of", list(names), key="reliability-function")]
    known = {call.asked.item: call for call in report.transcript.calls.values()}
    rows = sorted(
        zip(one.words, one.of, one.values, one.problems, strict=True),
        key=lambda row: (row[1] != one.concept, -(row[2] or 0)),
    )
    labels = {}
    for word, of, value, problem in rows[:_SHOWN]:
        mark = "no value" if value is None else f"{value:.2f}"
        own = " ●" if of == one.concept else ""
        labels[f"{word} {mark}{own}"] = (word, problem)
    if len(rows) > _SHOWN:
        st.caption(f"Its own words, and of the others those with the highest values: {_SHOWN} of {len(rows)}.")
    chosen = st.pills("Word and value; ● marks its own", list(labels), key="reliability-word", wrap=True)
    if said := [HOW[how] for how in dict.fromkeys(one.how) if how in HOW]:
        st.caption(f"Values are read {', or '.join(said)}.")
    if chosen:
        word, problem = labels[chosen]
        if problem:
            st.warning(plain(problem), icon=":material/block:")
        call = known.get(item(f"{one.concept}:", word))
        if call is not None:
            inspector(call)
        else:
            st.caption("No model was asked: the value is looked up, or computed from sentence vectors.")
