"""What a run of several questions is told as: its sentence, and what came true with the explanations and without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...scene import Bar, Mark, Verdict, told
from ...transcript import Transcript
from ..base.lab import InRuns
from . import words
from .baselines import CONSTANT, ORDER
from .verdict import BASELINE, summary

TITLES = {**BASELINE, CONSTANT: "the best fixed guess"}
"""What is left when the explanations are taken away, as bars name it."""


def verdict_of(run: Transcript) -> Verdict:
    """The run's sentence, and the bars that decide, where its predictions judge anything."""
    detail = _against(run)
    return Verdict(
        headline=told(summary(run)),
        mark=_mark(detail),
        bars=tuple(_bars(detail.get("by", {}))),
        meaning="\n".join((*words.MEANS, *words.MEANS_NOT)),
    )


def _against(run: Transcript) -> Mapping[str, Any]:
    """What the explanations add over each baseline; empty where there are none, or who predicts judges nothing."""
    over = run.score("gain_over_best", "repaired")
    judged = {str(one.result["outcome_repaired"]) for one in run.cases.values() if one.result} - {"not judged"}
    return {**over.detail, "value": over.value} if over and over.value is not None and judged else {}


def _mark(detail: Mapping[str, Any]) -> Mark | None:
    if not detail:
        return None
    return "kept" if detail.get("helped") else "in doubt"


def _bars(by: Mapping[str, Mapping[str, Any]]) -> Iterator[Bar]:
    """All new questions of the run together: those that came true, then each baseline over those that it shares with
    the explanations.
    """
    if not by:
        return
    most = max(by.values(), key=lambda one: int(one["n"]))
    yield Bar(label="with their reasons", hits=most["own"], n=most["n"], own=True)
    for name in ORDER:
        if one := by.get(name):
            label = TITLES[name].removeprefix("the ").replace("another question's", "other")
            # Of a run of one question nothing is averaged.
            gain = one.get("gain", one["own"] - one["hits"])
            yield Bar(label=label, hits=one["hits"], n=one["n"], wins=gain <= 0)


IN_RUNS = InRuns(verdict=verdict_of, one="question")
