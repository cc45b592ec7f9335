"""One black box with all that an interpreter made of it, as its events tell. Page, command line and tests look here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from core.events import Frozen, Rules
from core.labs.find.records import (
    Audit,
    Estimate,
    Exchange,
    Interpretation,
    Prediction,
    Probe,
    Truth,
    UnitTest,
)
from core.labs.find.tasks import ProbeSpec
from core.runs.transcript import Reader, Transcript

Kind = TypeVar("Kind", bound=Frozen)

HEADLINE: dict[str, str] = {
    "numeric": "nmse",
    "strings": "exact_match",
    "entities": "unit_test",
    "relations": "unit_test",
}
"""The figure that decides, by category."""

WORDS = {
    "nmse": "normalized error (NMSE)",
    "nmse_success": "success (NMSE below 0.1)",
    "exact_match": "exact match",
    "exact_match_ceiling": "exact match of the function itself, drawn again",
    "unit_test": "unit test",
    "unit_test_ceiling": "unit test on the true description",
    "noise_floor": "noise floor",
    "interval_iou": "overlap of the corrupted interval",
    "noise_identified": "kind of noise named",
    "components_identified": "parts named",
    "held_out_nmse": "error where nobody looked",
    "held_out_match": "exact match where nobody looked",
    "coverage": "share of the range that was probed",
    "evidence_supported": "quoted outputs that are real",
}
"""What each figure is called for a person."""


@dataclass
class Case:
    """`spec` is None before the run has begun, and where it cannot be read; `truth` until all else is known.

    `unread` counts what could not be read, spec and findings: it is left out.
    """

    told: Transcript
    spec: ProbeSpec | None
    probes: list[Probe] = field(default_factory=list)
    exchanges: dict[int, Exchange] = field(default_factory=dict)
    interpretation: Interpretation | None = None
    estimate: Estimate | None = None
    predictions: list[Prediction] = field(default_factory=list)
    units: dict[str, UnitTest] = field(default_factory=dict)
    audit: Audit | None = None
    truth: Truth | None = None
    unread: int = 0

    def value(self, metric: str, rules: Rules = "repaired") -> float | None:
        """A figure of the whole run; None where undefined or not there yet."""
        score = self.told.score(metric, rules)
        return None if score is None else score.value

    def reason(self, metric: str, rules: Rules = "repaired") -> str:
        """Why a figure is undefined, or what spoilt it."""
        score = self.told.score(metric, rules)
        return "" if score is None else str(score.detail.get("reason", ""))

    def of_round(self, number: int) -> list[Probe]:
        return [probe for probe in self.probes if probe.round == number]

    def invented(self) -> list[int]:
        """Rounds in which outputs were made up."""
        return [number for number, exchange in self.exchanges.items() if exchange.invented]


def case(told: Transcript) -> Case:
    """The case that a transcript of this lab holds. Never raises: what a damaged journal lacks is missing from it."""
    reader = Reader()

    def every(kind: type[Kind]) -> dict[str, Kind]:
        read = {item: reader.read(kind, data) for item, data in told.of(kind.__name__.lower()).items()}
        return {item: one for item, one in read.items() if one is not None}

    def only(kind: type[Kind]) -> Kind | None:
        return next(iter(every(kind).values()), None)

    return Case(
        told,
        reader.read(ProbeSpec, told.started.spec) if told.started else None,
        probes=sorted(every(Probe).values(), key=lambda probe: probe.number),
        exchanges={one.round: one for one in every(Exchange).values()},
        interpretation=only(Interpretation),
        estimate=only(Estimate),
        predictions=list(every(Prediction).values()),
        units=every(UnitTest),
        audit=only(Audit),
        truth=only(Truth),
        unread=reader.unread,
    )
