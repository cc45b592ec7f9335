"""What the journal holds of one case: everything that an interpreter made of one black box, and how it was judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...events import Rules, Scored
from ...score import Score
from ...transcript import CaseLog, RecordReader
from .metrics import HEADLINE
from .records import (
    Audit,
    Checked,
    Estimate,
    Exchange,
    Fidelity,
    Interpretation,
    Prediction,
    Probe,
    Submission,
    Truth,
    UnitTest,
    Wish,
)
from .tasks import ProbeSpec


@dataclass
class Findings:
    """`spec` is that of this case alone, None where it cannot be read; `truth` is None until all else is known.

    `unread` counts what could not be read, spec and findings: it is left out.
    """

    log: CaseLog
    spec: ProbeSpec | None
    probes: list[Probe] = field(default_factory=list)
    exchanges: dict[int, Exchange] = field(default_factory=dict)
    interpretation: Interpretation | None = None
    estimate: Estimate | None = None
    checked: Checked | None = None
    predictions: dict[str, Prediction] = field(default_factory=dict)
    units: dict[str, UnitTest] = field(default_factory=dict)
    audit: Audit | None = None
    fidelity: Fidelity | None = None
    truth: Truth | None = None
    wishes: dict[str, Wish] = field(default_factory=dict)
    submission: Submission | None = None
    unread: int = 0

    @property
    def headline(self) -> str:
        """The figure that decides; empty where the category is not known."""
        return HEADLINE[self.spec.category] if self.spec else ""

    @property
    def is_judged(self) -> bool:
        """Whether the figure that decides was published, be it undefined."""
        return self.interpretation is not None and self.score(self.headline) is not None

    def score(self, metric: str, rules: Rules = "repaired") -> Score | None:
        """A figure of this case; None where it was not published, or not yet."""
        published = self.log.score(metric, rules)
        return None if published is None else score_of(published)

    def value(self, metric: str, rules: Rules = "repaired") -> float | None:
        """A figure of this case; None where undefined or not there yet."""
        published = self.log.score(metric, rules)
        return None if published is None else published.value

    def reason(self, metric: str, rules: Rules = "repaired") -> str:
        """Why a figure is undefined, or what spoilt it."""
        score = self.score(metric, rules)
        return "" if score is None else score.reason

    def of_round(self, number: int) -> list[Probe]:
        """The calls that were made in one round; of round 0 the exemplars."""
        return [probe for probe in self.probes if probe.round == number]

    def invented(self) -> list[int]:
        """Rounds in which outputs were made up."""
        return [number for number, exchange in self.exchanges.items() if exchange.invented]


def score_of(published: Scored) -> Score:
    """A figure of the journal as a score."""
    return Score(
        published.value, published.n, published.of, published.low, published.high, detail=dict(published.detail)
    )


def fields_of(log: CaseLog) -> dict[str, Any]:
    """What `Findings` are made of. Never raises: what a damaged journal lacks is missing from it."""
    reader = RecordReader()
    spec = reader.read(ProbeSpec, log.spec) if log.started else None
    return {
        "log": log,
        "spec": _alone(spec, log.case),
        "probes": sorted(reader.all_of(Probe, log).values(), key=lambda probe: probe.number),
        "exchanges": {one.round: one for one in reader.all_of(Exchange, log).values()},
        "interpretation": reader.one_of(Interpretation, log),
        "estimate": reader.one_of(Estimate, log),
        "checked": reader.one_of(Checked, log),
        "predictions": reader.all_of(Prediction, log),
        "units": reader.all_of(UnitTest, log),
        "audit": reader.one_of(Audit, log),
        "fidelity": reader.one_of(Fidelity, log),
        "truth": reader.one_of(Truth, log),
        "wishes": reader.all_of(Wish, log),
        "submission": reader.one_of(Submission, log),
        "unread": reader.unread,
    }


def _alone(spec: ProbeSpec | None, case: str) -> ProbeSpec | None:
    try:
        return spec.alone(case) if spec else None
    except ValueError:
        return spec
