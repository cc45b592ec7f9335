"""One black box with all that an interpreter made of it, as its events tell. Page, command line and tests look here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...events import Rules
from ...parsers import fields
from ...rulesets import RULES
from ...score import Figure, mean_of_cases, undefined
from ...transcript import CaseLog
from ..base.cases import Trial
from . import trials
from .case_data import Findings, fields_of, score_of
from .metrics import METRICS
from .remarks import headline, missed
from .verdict import CaseJudgement, Outcome, judge, of_words


@dataclass
class ProbeView(Findings):
    """The findings of one case, as every lab's views show theirs."""

    @property
    def title(self) -> str:
        """What a list calls it; it does not give the function away."""
        if self.spec is not None:
            return self.spec.title
        return str(next((begun.get("title") for begun in self.log.of("begun").values()), self.log.case))

    @property
    def explanation(self) -> str | None:
        """The description, as repaired rules read it."""
        return (self.interpretation.description.repaired or None) if self.interpretation else None

    @cached_property
    def trials(self) -> dict[str, Trial]:
        """Computed once: they are looked up again for each that is written down."""
        return trials.trials(self)

    @cached_property
    def judgements(self) -> dict[Rules, CaseJudgement]:
        """Computed once, as they rest on hundreds of points."""
        return {rules: judge(self, rules) for rules in RULES}

    def outcome(self, rules: Rules) -> Outcome:
        """Outcome, in one word or few: see `verdict.Outcome`."""
        return self.judgements[rules].outcome


def view(log: CaseLog) -> ProbeView:
    """The case that a log of this lab holds. Never raises: what a damaged journal lacks is missing from it."""
    return ProbeView(**fields_of(log))


def verdict(view: ProbeView) -> list[str]:
    """What came out of the code and of the words, and then what the interpretation leaves out or gets wrong, a sentence
    each; last how answers were asked for, where that is not in prose.
    """
    words, first = of_words(view), headline(view)
    asked = fields.said(view.spec.answers if view.spec else "prose", view.log.came_as_prose)
    return [first, *([words] if words else []), *(one for one in missed(view) if one not in first), *asked]


@fields.none_by_paper
def scores(views: Sequence[ProbeView]) -> Iterator[Figure]:
    """Of one case the figures that measuring it published, for they rest on the function. Of several the means over
    those that have one, of errors the median: one code that is far off would outweigh all others.

    `of` counts the cases of which the figure is wanted: those that were judged and have it, be it undefined, and those
    that could not be judged at all.
    """
    if len(views) == 1:
        for published in _published(views[0]).values():
            yield Figure(published.metric, published.rules, published.score, published.item)
        return
    for metric in METRICS:
        for rules in RULES:
            wanted = [
                score or undefined(0, "it was not judged")
                for one in views
                if (score := one.score(metric.name, rules)) or not one.is_judged
            ]
            if any(one.score(metric.name, rules) for one in views):
                yield Figure(metric.name, rules, mean_of_cases(wanted, metric.kind, metric.ends))


def _published(view: ProbeView) -> dict[tuple[str, Rules, str], Figure]:
    """The figures in the order in which they came. A run of one case may hold them twice; those of the case stand."""
    return {
        (one.metric, one.rules, one.item): Figure(one.metric, one.rules, score_of(one), one.item)
        for one in view.log.scores
    }
