"""One black box with everything that an interpreter did with it, from its events, and its trials: the interpretation's
predictions, compared with the function or read by an evaluator.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from ...events import Rules, Scored
from ...parsers import fields
from ...parsers.fields import REASON as CUT
from ...rulesets import RULES
from ...sandbox.rewriting import NOT_RUNNABLE, not_runnable
from ...score import Figure, Score, mean_of_cases, undefined
from ...transcript import CaseLog, RecordReader, name_of
from ..base.report import Reading, Trial, View
from . import evaluate, records
from .tasks import ProbeSpec

GRID = "grid"
"""The one trial of a numeric function. Each of its 256 points alone says nothing and would be a line of the journal;
the points are in the records of estimate and truth, and what counts is their sum.
"""


def trial_of(item: str) -> str:
    """Return the trial that the record, call or drop `item` belongs to; an empty string if it belongs to none.

    Both readings of one interpretation, "unit-03" and "paper-03", are one trial. The true description ("ceiling-03")
    has no trial.
    """
    if item in ("estimate", "observed", "checked"):
        return GRID
    if item.startswith("paper-"):
        return item.replace("paper-", "unit-", 1)
    return item if item.startswith(("test-", "held-out-", "unit-")) else ""


_ONE_EACH = (records.Interpretation, records.Estimate, records.Checked, records.Audit, records.Fidelity, records.Truth)
"""The records of which a case has one; its field has the record's name."""


@dataclass
class ProbeView(View):
    """One case. `spec` is that of this case alone, None if it cannot be read; `truth` is None until everything else is
    recorded. `unread` counts the specs and records that could not be read: they are left out.
    """

    spec: ProbeSpec | None
    probes: list[records.Probe] = field(default_factory=list)
    exchanges: dict[int, records.Exchange] = field(default_factory=dict)
    interpretation: records.Interpretation | None = None
    estimate: records.Estimate | None = None
    checked: records.Checked | None = None
    predictions: dict[str, records.Prediction] = field(default_factory=dict)
    units: dict[str, records.UnitTest] = field(default_factory=dict)
    further: dict[str, records.FurtherUnitTest] = field(default_factory=dict)
    comparisons: dict[str, records.Comparison] = field(default_factory=dict)
    audit: records.Audit | None = None
    fidelity: records.Fidelity | None = None
    truth: records.Truth | None = None
    wishes: dict[str, records.Wish] = field(default_factory=dict)

    @classmethod
    def of(cls, log: CaseLog) -> Self:
        """Return the case that a log holds. Never raises: what a damaged journal lacks is missing from it."""
        reader = RecordReader()
        spec = reader.read(ProbeSpec, log.spec) if log.started else None
        single: dict[str, Any] = {name_of(kind): reader.one_of(kind, log) for kind in _ONE_EACH}
        return cls(
            log,
            _alone(spec, log.case),
            probes=sorted(reader.all_of(records.Probe, log).values(), key=lambda probe: probe.number),
            exchanges={one.round: one for one in reader.all_of(records.Exchange, log).values()},
            **single,
            predictions=reader.all_of(records.Prediction, log),
            units=reader.all_of(records.UnitTest, log),
            further=reader.all_of(records.FurtherUnitTest, log),
            comparisons=reader.all_of(records.Comparison, log),
            wishes=reader.all_of(records.Wish, log),
            unread=reader.unread,
        )

    @property
    def title(self) -> str:
        """The title in lists; it does not give the function away."""
        return self.spec.title if self.spec is not None else super().title or self.log.case

    @property
    def explanation(self) -> str | None:
        """The description, by the updated parser."""
        return (self.interpretation.description.repaired or None) if self.interpretation else None

    @property
    def category(self) -> str:
        """The category of the function; empty if it is not known."""
        return self.spec.category if self.spec else self.truth.category if self.truth else ""

    @property
    def headline(self) -> str:
        """The figure that decides; an empty string if the category is not known."""
        return records.HEADLINE[self.spec.category] if self.spec else ""

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

    def of_round(self, number: int) -> list[records.Probe]:
        """Return the calls that were made in one round; round 0 has the exemplars."""
        return [probe for probe in self.probes if probe.round == number]

    def invented(self) -> list[int]:
        """Return the rounds in which outputs were invented."""
        return [number for number, exchange in self.exchanges.items() if exchange.invented]

    @property
    def cut(self) -> str:
        """Where the conclusion was cut, such as "cut at 200 tokens"; empty if it was not."""
        said = self.interpretation
        last = self.log.calls.get(said.call or "") if said else None
        return last.answered.cut_note if last is not None and last.answered is not None else ""

    @property
    def concluded(self) -> bool:
        """Whether there is a description or code to judge. The original parser reads a conclusion that was cut."""
        if (said := self.interpretation) is None:
            return False
        rules: Rules = "paper" if self.rules == "paper" and self.cut else "repaired"
        return bool(said.description[rules] or said.code[rules])

    # The trials

    @cached_property
    def trials(self) -> dict[str, Trial]:
        """The trials so far, by id, cached because they are read again for every trial that is written."""
        by_id = {**dict(self._grid()), **dict(self._texts()), **dict(self._units())}
        for drop in self.log.drops:
            # A call that failed left no record.
            if drop.reason == "error" and drop.item.startswith("unit-") and drop.item not in by_id:
                lost = Reading(outcome="dropped", counts=False, reason=drop.detail)
                by_id[drop.item] = Trial(about="", paper=lost, repaired=lost)
        if self.spec is None or self.spec.answers == "prose":
            return by_id
        unread = Reading(outcome="not tested", counts=False, reason=fields.NO_PAPER_FIGURE)
        return {item: trial.model_copy(update={"paper": unread}) for item, trial in by_id.items()}

    def _grid(self) -> Iterator[tuple[str, Trial]]:
        estimate = self.estimate
        if estimate is None or self.truth is None:
            return
        truth = [y for y in self.truth.y if y is not None]

        def reading(rules: Rules) -> Reading:
            by = self.by(rules)
            score, success = by.score("nmse"), by.value("nmse_success")
            trouble = estimate.trouble[rules]
            outcome = "right" if success else "wrong"
            if success is None:
                outcome = NOT_RUNNABLE if not_runnable(trouble) else "not tested"
            return Reading(
                expected=_range(estimate[rules]),
                observed=_range(truth),
                outcome=outcome,
                counts=success is not None,
                reason=(score.reason if score else "") or trouble,
            )

        points = len(self.truth.x)
        yield GRID, Trial.from_reading(f"{points} test points", reading)

    def _texts(self) -> Iterator[tuple[str, Trial]]:
        for kind in ("test", "held out"):
            some = {item: one for item, one in self.predictions.items() if one.kind == kind}
            ran = {item: one for item, one in some.items() if not not_runnable(one.failure("paper"))}
            stopped = evaluate.paper_stop([one.input for one in ran.values()], [one.paper for one in ran.values()])
            places = {item: place for place, item in enumerate(ran)}
            for item, one in some.items():
                paper = _text(one, "paper")
                place = places.get(item, -1)
                if stopped is not None and place >= stopped:
                    # The text at which the paper's test gives up counts as wrong; the texts after it do not count.
                    gone = {"outcome": "wrong", "reason": "the paper's test gives up here"}
                    if place > stopped:
                        gone = {"outcome": "not tested", "reason": "the paper's test gave up before it"}
                    paper = paper.model_copy(update={**gone, "counts": place == stopped})
                repaired = _text(one, "repaired")
                if not self.by("repaired").concluded:
                    repaired = repaired.model_copy(
                        update={"outcome": "not tested", "counts": False, "reason": one.error}
                    )
                yield item, Trial(about=one.input, paper=paper, repaired=repaired)

    def _units(self) -> Iterator[tuple[str, Trial]]:
        """Yield the unit tests. If the original parser read another description, the paper rules have judged that
        one.
        """
        tests = {item: one for item, one in self.units.items() if one.about == "interpretation"}
        paper = {trial_of(item): one for item, one in self.units.items() if one.about == "paper"}
        cut = {drop.item: drop.detail for drop in self.log.drops if drop.reason == CUT}
        for item, test in paper.items() if not tests else ():
            # Only the original parser reads a description that was cut.
            unread = Reading(outcome=CUT, counts=False, reason=self.cut)
            alone = Trial(about=" | ".join(test.options), paper=_unit(test, "paper"), repaired=unread)
            yield item, alone.model_copy(update={"calls": (test.call,)}) if test.call else alone
        for item, one in tests.items():
            other = paper.get(item, None if paper else one)
            calls = tuple(dict.fromkeys(test.call for test in (one, other) if test and test.call))
            about, repaired = " | ".join(one.options), _unit(one, "repaired", cut.get(item, ""))
            yield item, Trial(about=about, paper=_unit(other, "paper"), repaired=repaired, calls=calls)


def score_of(published: Scored) -> Score:
    """Convert a figure of the journal to a score."""
    return Score(
        published.value, published.n, published.of, published.low, published.high, detail=dict(published.detail)
    )


def _alone(spec: ProbeSpec | None, case: str) -> ProbeSpec | None:
    try:
        return spec.alone(case) if spec else None
    except ValueError:
        return spec


def _range(values: list[float] | tuple[float | None, ...]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "no values"
    return f"{len(known)} values from {min(known):.4g} to {max(known):.4g}"


def _text(one: records.Prediction, rules: Rules) -> Reading:
    guess = one[rules]
    error = one.failure(rules)
    if one.misrecorded and rules == "repaired":
        reason = "the recorded output is not the function's"
        return Reading(expected=guess, observed=one.truth, outcome="not tested", counts=False, reason=reason)
    if not_runnable(error):
        return Reading(observed=one.truth, outcome=NOT_RUNNABLE, counts=False, reason=error)
    right = one.right_paper if rules == "paper" else guess == one.truth
    outcome = "right" if right else "wrong"
    return Reading(expected=guess, observed=one.truth, outcome=outcome, counts=True, reason=error)


def _unit(test: records.UnitTest | None, rules: Rules, cut: str = "") -> Reading:
    """Return the example that the evaluator picked, and the function's own. `cut`: where its reply was cut."""
    if test is None:
        return Reading(outcome="dropped", counts=False, reason="the evaluator's call failed")
    right = test[rules]
    true = test.options[test.correct - 1] if 0 < test.correct <= len(test.options) else None
    picked = test.options[test.picked - 1] if test.picked and test.picked <= len(test.options) else None
    return Reading(
        expected=true if rules == "paper" and right else picked,
        observed=true,
        outcome=CUT if cut else "unread" if right is None else "right" if right else "wrong",
        counts=right is not None,
        reason=cut or ("the evaluator's reply settles on no example" if right is None else ""),
    )


@fields.none_by_paper
def scores(views: Sequence[ProbeView]) -> Iterator[Figure]:
    """Yield the figures. For one case these are the published ones, because they rest on the function. For several
    cases it is the mean over those that have the figure; for errors the median, because one code that is far off
    would outweigh all others.

    `of` counts the cases that should have the figure: judged cases that have it, even as undefined, and cases that
    could not be judged at all.
    """
    if len(views) == 1:
        # If a run of one case published a figure twice, the last one is used.
        last = {(one.metric, one.rules, one.item): one for one in views[0].log.scores}
        yield from (Figure(one.metric, one.rules, score_of(one), one.item) for one in last.values())
        return
    for metric in records.METRICS:
        for rules in RULES:
            wanted = [
                score or undefined(0, "it was not judged")
                for one in views
                if (score := one.by(rules).score(metric.name)) or not one.is_judged
            ]
            if any(one.by(rules).score(metric.name) for one in views):
                yield Figure(metric.name, rules, mean_of_cases(wanted, metric.kind, metric.ends))
