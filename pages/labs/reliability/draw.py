"""Draws a test of what carries entity functions out: all its functions together, as means and as a heat map."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.labs.find import charts
from core.labs.find.reliability.scene import CARRIED_OUT
from core.labs.find.reliability.view import Reliability, Report, softmax
from pages.parts.pictures import PLAIN
from pages.parts.tables import table
from pages.parts.text import plain

KINDS = ("Own words", "Words of others")
"""The columns of means."""


def draw(report: Report) -> None:
    """Draw `report`, while it grows and after."""
    spec = report.spec
    if spec is None:
        return
    who = spec.model or CARRIED_OUT.get(spec.backbone, spec.backbone)
    st.caption(plain(f"{who} · {spec.concepts} subjects, {spec.words} words of each"))
    if not report.concepts:
        return
    bar = st.column_config.ProgressColumn(min_value=0, max_value=1, format="%.2f", color="blue")
    about = "Mean output of each function for its own words and for others"
    rows = pd.DataFrame([_row(one) for one in report.concepts])
    table(rows, "means-by-concept", about, column_config=dict.fromkeys(KINDS, bar))
    if spec.across and len(report.concepts) > 1:
        _heat_map(report)


def _row(one: Reliability) -> dict[str, object]:
    means = [sum(values) / len(values) if values else None for values in (one.same, one.random)]
    counted = sum(value is not None for value in one.values)
    return {
        "Function": one.concept,
        **dict(zip(KINDS, means, strict=True)),
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
