"""The pictures of one black box, and how its figures are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd
import streamlit as st

from core.labs.find import charts
from core.labs.find.functions.base import as_number
from core.labs.find.functions.numeric import PROBED
from core.labs.find.metrics import METRICS
from core.labs.find.records import Probe
from core.labs.find.view import ProbeView
from pages.parts.pictures import PLAIN
from pages.parts.text import plain

TITLES = {metric.name: metric.title for metric in METRICS}
"""What each figure is called."""

MEANINGS = {metric.name: metric.help for metric in METRICS}
"""What each figure says."""

LISTED = 6
"""So many calls that are not drawn are listed below the picture; all stand in the rounds."""


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
    points = points.dropna(subset=["x"])
    # Of typed pairs every input is one that is tested.
    within = None if case.spec and case.spec.own and case.spec.own_kind == "pairs" else PROBED
    true: Sequence[float | None] = truth.y if truth else ()
    given: Sequence[float | None] = estimate.repaired if truth and estimate else ()
    figure = charts.curves(
        points,
        x=truth.x if truth else (),
        truth=true,
        estimate=given,
        within=within,
        corrupted=truth.corrupted if truth else None,
        claimed=case.audit.claimed if truth and case.audit else (),
    )
    st.plotly_chart(
        figure, key="curves", config=PLAIN, alt="The function, the interpreter's code and its probes over x"
    )
    for sentence in not_drawn(charts.cut(points, true, given, within), len(points), within):
        st.caption(plain(sentence))
    if truth and len(given) == len(truth.y) and any(y is not None for y in given):
        apart = charts.residuals(truth.x, truth.y, given)
        st.plotly_chart(
            apart, key="residuals", config=PLAIN, alt="What the code gives less what the function gives, over x"
        )
        most = charts.reach(truth.y, given)
        if farther := sum(one is not None and abs(one) > most for one in charts.differences(truth.y, given)):
            st.caption(plain(f"At {farther} of {len(truth.x)} test points the difference is larger than {most:.4g}."))


def not_drawn(cut: charts.Cut, calls: int, within: tuple[float, float] | None) -> Iterator[str]:
    """What the picture leaves out, a sentence each, of so many `calls`."""
    if (number := len(cut.outside)) and within:
        yield (
            f"{number} of {calls} calls {'lies' if number == 1 else 'lie'} outside of the tested range from "
            f"{within[0]:g} to {within[1]:g} and {'is' if number == 1 else 'are'} not drawn: {_listed(cut.outside)}."
        )
    beyond = [f"{len(cut.beyond)} of {calls} calls, {_listed(cut.beyond)}"] if len(cut.beyond) else []
    for curve, points in (("function", cut.truth), ("code", cut.estimate)):
        if points:
            beyond.append(f"the {curve} at {points} test point{'s' if points > 1 else ''}")
    if beyond:
        yield f"The picture ends at {cut.low:.4g} and {cut.high:.4g}. Beyond it: {'; '.join(beyond)}."


def _listed(probes: pd.DataFrame) -> str:
    shown = [f"f({x:g}) = {y:.6g}" for x, y in zip(probes["x"], probes["y"], strict=True)][:LISTED]
    more = len(probes) - len(shown)
    return ", ".join(shown) + (f", and {more} more" if more else "")


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
