"""One black box with everything that an interpreter did with it, from its events. Pages, command line and tests read
this.
"""

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
from .remarks import headline, list_remarks
from .verdict import CaseJudgement, Outcome, judge, of_words


@dataclass
class ProbeView(Findings):
    """The findings of one case, with the interface that every lab's views share."""

    @property
    def title(self) -> str:
        """The title in lists; it does not give the function away."""
        if self.spec is not None:
            return self.spec.title
        return super().title or self.log.case

    @property
    def explanation(self) -> str | None:
        """The description, by the updated parser."""
        return (self.interpretation.description.repaired or None) if self.interpretation else None

    @cached_property
    def trials(self) -> dict[str, Trial]:
        """The trials by id, cached because they are read again for every trial that is written."""
        return trials.trials(self)

    @cached_property
    def judgement(self) -> CaseJudgement:
        """The judgement, cached because it rests on hundreds of points."""
        return judge(self)

    @property
    def outcome(self) -> Outcome:
        """The outcome in a few words: see `verdict.Outcome`."""
        return self.judgement.outcome


def view(log: CaseLog) -> ProbeView:
    """Return the case that a log of this lab holds. Never raises: what a damaged journal lacks is missing from it."""
    return ProbeView(**fields_of(log))


def verdict(view: ProbeView) -> list[str]:
    """Return the verdict in sentences: on the code and on the words, then what the interpretation leaves out or gets
    wrong, and last how answers were requested if that was not in prose.
    """
    words, first = of_words(view), headline(view)
    asked = fields.format_notes(view.spec.answers if view.spec else "prose", view.log.came_as_prose)
    return [first, *([words] if words else []), *(one for one in list_remarks(view) if one not in first), *asked]


@fields.none_by_paper
def scores(views: Sequence[ProbeView]) -> Iterator[Figure]:
    """Yield the figures. For one case these are the published ones, because they rest on the function. For several
    cases it is the mean over those that have the figure; for errors the median, because one code that is far off
    would outweigh all others.

    `of` counts the cases that should have the figure: judged cases that have it, even as undefined, and cases that
    could not be judged at all.
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
                if (score := one.by(rules).score(metric.name)) or not one.is_judged
            ]
            if any(one.by(rules).score(metric.name) for one in views):
                yield Figure(metric.name, rules, mean_of_cases(wanted, metric.kind, metric.ends))


def _published(view: ProbeView) -> dict[tuple[str, Rules, str], Figure]:
    """Return the figures in the order of publication. If a run of one case published a figure twice, the last one is
    used.
    """
    return {
        (one.metric, one.rules, one.item): Figure(one.metric, one.rules, score_of(one), one.item)
        for one in view.log.scores
    }
