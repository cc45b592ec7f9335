"""The tables that a study of the Check lab can ask for by name: those of Madsen et al. 2024, and the excess over random
masks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from core import published
from core.events import Rules
from core.lab.shown import Metric, Table
from core.labs.consistency.view import CheckView
from core.published import Published
from core.score import Figure, Score, undefined

if TYPE_CHECKING:
    from pandas import DataFrame

CHOICES = ("wording", "answers")
"""How the questions are put is a way to measure, and not what is measured."""

_USUAL = ("objective-redacted", "objective-explicit")
"""What the paper analyses by default."""

_SECONDS = "seconds_"
_STEPS = {
    "classify": "Classify",
    "counterfactual": "Counterfactual",
    "redaction": "Redaction",
    "attribution": "Attribution",
}

METRICS = tuple(
    Metric(
        f"{_SECONDS}{step}",
        title,
        "How long the answers took, as their server tells; none from the cache.",
        unit=" s",
        better="lower",
        is_share=False,
    )
    for step, title in _STEPS.items()
)


def more(view: CheckView, rules: Rules) -> Iterator[Figure]:
    """The seconds of the first answer, and those of explanation and later answer together."""
    if view.check is None:
        return
    yield Figure(f"{_SECONDS}classify", rules, _seconds(view, ("first",)))
    yield Figure(f"{_SECONDS}{view.check.explanation}", rules, _seconds(view, ("explanation", "again")))


def _seconds(view: CheckView, sessions: tuple[str, ...]) -> Score:
    calls = [view.call(session) for session in sessions]  # type: ignore[arg-type]
    answers = [call.answered for call in calls if call is not None and call.answered is not None]
    if len(answers) < len(sessions) or any(one.cached for one in answers):
        return undefined(1, "not every answer was waited for")
    return Score(sum(one.seconds for one in answers), 1, 1)


def of_each(lab: str, metric: str) -> list[Published]:
    """What the paper's Table 4 has of a step, its sum divided by its observations: studies differ in how many."""
    found = published.published(lab, "inference_seconds", step=metric.removeprefix(_SECONDS))
    return [
        one._replace(
            value=one.value / one.n,
            about={"model": one.about["model"], "data": one.about["dataset"]},
            source=f"{one.source}, the sum divided by its {one.n:,} observations",
        )
        for one in found
        if one.n
    ]


def _masked(frame: DataFrame) -> DataFrame:
    return frame[frame["how"].isin(["attribution", "redaction"])]


def _usual(frame: DataFrame) -> DataFrame:
    return frame[frame["wording"].isin(_USUAL)]


def _where(frame: DataFrame) -> DataFrame:
    """With the data set, or where there is none the task, whose shipped items were asked."""
    return frame.assign(
        data=[one or task for one, task in zip(frame["dataset"].fillna(""), frame["task"], strict=True)]
    )


TABLES = (
    Table(
        "madsen_f6",
        "Accuracy by wording (Madsen et al. 2024, Figure 6)",
        ("accuracy",),
        ("model", "data"),
        ("wording",),
        cases=lambda frame: _where(_masked(frame)),
    ),
    Table(
        "madsen_f7",
        "Accuracy in the usual wording (Madsen et al. 2024, Figure 7)",
        ("accuracy",),
        ("model",),
        ("data",),
        cases=lambda frame: _where(_usual(frame)),
    ),
    Table(
        "madsen_f8",
        "Faithfulness by wording (Madsen et al. 2024, Figure 8)",
        ("faithfulness",),
        ("model", "data"),
        ("wording",),
        ("how",),
        cases=_where,
    ),
    Table(
        "madsen_f9",
        "Faithfulness in the usual wording (Madsen et al. 2024, Figure 9)",
        ("faithfulness",),
        ("model", "data"),
        ("how",),
        cases=lambda frame: _where(_usual(frame)),
    ),
    Table(
        "madsen_t4",
        "Seconds for one paragraph (Madsen et al. 2024, Table 4)",
        tuple(one.name for one in METRICS),
        ("model",),
        apart=("data",),
        cases=lambda frame: _where(_usual(frame)),
        their_rows=("model",),
        renamed={"babi1": "babi-1"},
        published=of_each,
    ),
    Table(
        "excess",
        "Faithfulness beyond what random masks reach",
        ("faithfulness", "faithfulness_control", "faithfulness_gain"),
        ("model", "data", "how"),
        cases=lambda frame: _where(_masked(frame)),
    ),
)
