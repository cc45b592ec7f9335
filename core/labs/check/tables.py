"""The tables that a study of the Check lab can request by name: those of Madsen et al. 2024, and the excess over random
masks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ... import paper_figures
from ...paper_figures import Published
from ...score import Figure, Score, undefined
from ..base.declared import Metric, Table, declared
from .view import CheckView

if TYPE_CHECKING:
    from pandas import DataFrame

CHOICES = ("wording", "answers")
"""How the questions are worded and answered is part of the method, not what is measured."""

_USUAL = ("objective-redacted", "objective-explicit")
"""The wordings that the paper analyses by default."""

_SECONDS = "seconds_"
METRICS = declared(__file__, "for_tables", Metric)


def more(view: CheckView) -> Iterator[Figure]:
    """Yield the seconds of the first answer, and those of explanation and later answer together."""
    if view.check is None:
        return
    yield Figure(f"{_SECONDS}classify", view.rules, _seconds(view, ("first",)))
    yield Figure(f"{_SECONDS}{view.check.explanation}", view.rules, _seconds(view, ("explanation", "again")))


def _seconds(view: CheckView, sessions: tuple[str, ...]) -> Score:
    calls = [view.call(session) for session in sessions]  # type: ignore[arg-type]
    answers = [call.answered for call in calls if call is not None and call.answered is not None]
    if len(answers) < len(sessions) or any(one.cached for one in answers):
        return undefined(1, "not every answer was waited for")
    return Score(sum(one.seconds for one in answers), 1, 1)


def of_each(lab: str, metric: str) -> list[Published]:
    """Return the paper's Table 4 values of a step as its sum divided by its observations, because studies differ in how
    many they have.
    """
    found = paper_figures.published(lab, "inference_seconds", step=metric.removeprefix(_SECONDS))
    return [
        one._replace(
            value=one.value / one.n,
            about={"model": one.about["model"], "data": one.about["dataset"]},
            source=f"{one.source}, the sum divided by its {one.n:,} observations",
        )
        for one in found
        if one.n
    ]


def _where(frame: DataFrame) -> DataFrame:
    """Add the data set as column `data`; for a shipped item, which has none, the task."""
    return frame.assign(
        data=[one or task for one, task in zip(frame["dataset"].fillna(""), frame["task"], strict=True)]
    )


def _by_instruction(frame: DataFrame) -> DataFrame:
    """Select the masked cases. Without the sentence about masks, the mask makes no difference to the first answer."""
    named = _masked(frame)
    return named.assign(
        wording=[
            f"{one.partition('-')[0]}, no instruction" if one.endswith("-unmentioned") else one
            for one in named["wording"]
        ]
    )


def _masked(frame: DataFrame) -> DataFrame:
    return _where(frame[frame["how"].isin(["attribution", "redaction"])])


def _usual(frame: DataFrame) -> DataFrame:
    return _where(frame[frame["wording"].isin(_USUAL)])


TABLES = declared(
    __file__,
    "table",
    Table,
    {
        "madsen_f6": {"cases": _by_instruction},
        "madsen_f7": {"cases": _usual},
        "madsen_f8": {"cases": _where},
        "madsen_f9": {"cases": _usual},
        "madsen_t4": {"cases": _usual, "published": of_each},
        "excess": {"cases": _masked},
    },
)
