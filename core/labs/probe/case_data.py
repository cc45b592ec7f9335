"""What the journal holds about one case: everything that an interpreter did with one black box, and how it was
judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...events import Scored
from ...score import Score
from ...transcript import CaseLog, RecordReader
from ..base.cases import View
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
class Findings(View):
    """The data of one case. `spec` is that of this case alone, None if it cannot be read; `truth` is None until
    everything else is recorded.

    `unread` counts the specs and findings that could not be read: they are left out.
    """

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

    @property
    def headline(self) -> str:
        """The figure that decides; an empty string if the category is not known."""
        return HEADLINE[self.spec.category] if self.spec else ""

    @property
    def is_judged(self) -> bool:
        """Whether the figure that decides was published, even as undefined."""
        return self.interpretation is not None and self.score(self.headline) is not None

    def score(self, metric: str) -> Score | None:
        """Return a figure of this case; None if it was not published, or not yet."""
        published = self.log.score(metric, self.rules)
        return None if published is None else score_of(published)

    def value(self, metric: str) -> float | None:
        """Return a figure's value; None if it is undefined or not published yet."""
        published = self.log.score(metric, self.rules)
        return None if published is None else published.value

    def reason(self, metric: str) -> str:
        """Return why a figure is undefined, or what affected it."""
        score = self.score(metric)
        return "" if score is None else score.reason

    def of_round(self, number: int) -> list[Probe]:
        """Return the calls that were made in one round; round 0 has the exemplars."""
        return [probe for probe in self.probes if probe.round == number]

    def invented(self) -> list[int]:
        """Return the rounds in which outputs were invented."""
        return [number for number, exchange in self.exchanges.items() if exchange.invented]


def score_of(published: Scored) -> Score:
    """Convert a figure of the journal to a score."""
    return Score(
        published.value, published.n, published.of, published.low, published.high, detail=dict(published.detail)
    )


def fields_of(log: CaseLog) -> dict[str, Any]:
    """Return the fields of `Findings`. Never raises: what a damaged journal lacks is missing from them."""
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
