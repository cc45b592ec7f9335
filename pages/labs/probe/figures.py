"""Every figure of a black box under both parsers, and how figures are written."""

from __future__ import annotations

import streamlit as st

from core.labs.probe import charts
from core.labs.probe.agreement import ABSOLUTE, RELATIVE
from core.labs.probe.metrics import METRICS
from core.labs.probe.report import ProbeReport
from core.rulesets import RULES
from core.score import Score
from pages.components.tables import PLAIN, table
from pages.components.text import plain

TITLES = {metric.name: metric.title for metric in METRICS}
"""The title of each figure."""


def number(value: float) -> str:
    """Return a figure as text."""
    if 0 < abs(value) < 0.0005:
        return "< 0.001"
    if abs(value) < 1_000:
        return f"{value:.3f}".rstrip("0").rstrip(".") or "0"
    return f"{value:.2g}"


def researchers(case: ProbeReport) -> None:
    """Draw every figure under both parsers and, for a function of numbers, the error of the code over x."""
    with st.expander("For researchers", icon=":material/monitoring:", key="researchers"):
        st.markdown("**Every figure, with both parsers**")
        rows = [_row(case, metric, score) for metric in TITLES if (score := case.score(metric)) is not None]
        table(rows, "figures-table", "Every figure with both parsers")
        lacking, of = case.not_run
        st.caption((f"{lacking} of {of} tests could not be run here. " if lacking else "") + FOUND)
        _apart(case)


FOUND = (
    f"“Found” means that the code gives the function's value at every test point, to within {RELATIVE:.3%} of it, or "
    f"{ABSOLUTE:g} near zero (for a function below 1, that share of its largest value). A small error is not enough."
)


def _row(case: ProbeReport, metric: str, score: Score) -> dict[str, str]:
    both = {rules: case.by(rules).value(metric) for rules in RULES}
    shown = {rules: "undefined" if value is None else number(value) for rules, value in both.items()}
    if score.low is not None and score.high is not None:
        shown["repaired"] += f" ({score.low:.2f} to {score.high:.2f})"
    return {
        "Figure": TITLES[metric],
        "Updated parser": shown["repaired"],
        "Original parser": shown["paper"],
        "Counted": f"{score.n} of {score.of}",
        "Note": case.reason(metric) or case.by("paper").reason(metric) or _again(score),
    }


def _again(score: Score) -> str:
    distinct = score.detail.get("distinct", score.n)
    return f"interval for {distinct} different examples" if distinct < score.n else ""


def _apart(case: ProbeReport) -> None:
    """Draw the difference between the code's values and the function's."""
    truth, given = case.truth, case.estimate.repaired if case.estimate else ()
    if truth is None or not truth.x or len(given) != len(truth.y) or not any(y is not None for y in given):
        return
    picture = charts.residuals(truth.x, truth.y, given)
    st.plotly_chart(
        picture, key="residuals", config=PLAIN, alt="What the code gives less what the function gives, over x"
    )
    most = charts.reach(truth.y, given)
    if farther := sum(one is not None and abs(one) > most for one in charts.differences(truth.y, given)):
        st.caption(plain(f"At {farther} of {len(truth.x)} test points the difference is larger than {most:.4g}."))
