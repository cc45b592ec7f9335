"""The pictures of one black box, and how its figures are written."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.labs.find import charts
from core.labs.find.functions.base import as_number
from core.labs.find.metrics import METRICS
from core.labs.find.records import Probe
from core.labs.find.view import ProbeView
from pages.parts.pictures import PLAIN

TITLES = {metric.name: metric.title for metric in METRICS}
"""What each figure is called."""

MEANINGS = {metric.name: metric.help for metric in METRICS}
"""What each figure says."""


def number(value: float) -> str:
    """A figure as it is shown."""
    if 0 < abs(value) < 0.0005:
        return "< 0.001"
    if abs(value) < 1_000:
        return f"{value:.3f}".rstrip("0").rstrip(".") or "0"
    return f"{value:.2g}"


def picture(case: ProbeView) -> None:
    """Truth, estimate and probes together, and below how far they are apart; without the truth, the probes alone."""
    truth, estimate = case.truth, case.estimate
    points = pd.DataFrame([_point(probe) for probe in case.probes], columns=["x", "y", "round", "number"])
    figure = charts.curves(
        points.dropna(subset=["x"]),
        x=truth.x if truth else (),
        truth=truth.y if truth else (),
        estimate=estimate.repaired if truth and estimate else (),
        corrupted=truth.corrupted if truth else None,
        claimed=case.audit.claimed if truth and case.audit else (),
    )
    st.plotly_chart(
        figure, key="curves", config=PLAIN, alt="The function, the interpreter's code and its probes over x"
    )
    if truth and estimate and len(estimate.repaired) == len(truth.y) and any(y is not None for y in estimate.repaired):
        apart = charts.residuals(truth.x, truth.y, estimate.repaired)
        st.plotly_chart(
            apart, key="residuals", config=PLAIN, alt="What the code gives less what the function gives, over x"
        )


def _point(probe: Probe) -> dict[str, float | int | None]:
    return {"x": as_number(probe.input), "y": probe.value, "round": probe.round, "number": probe.number}


def bars(case: ProbeView) -> None:
    """The words that were tried, highest value first."""
    words = pd.DataFrame([{"input": probe.input, "y": probe.value, "number": probe.number} for probe in case.probes])
    if words["y"].notna().any():
        most = 12
        if len(words.drop_duplicates("input")) > most:
            st.caption(f"The {most} words with the highest values; all of them are listed below.")
        picture_of_words = charts.bars(words, most)
        st.plotly_chart(picture_of_words, key="bars", config=PLAIN, alt="The value of each word, highest first")
