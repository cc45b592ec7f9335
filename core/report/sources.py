"""Explanations from several sources (an expert, another model), compared on the questions that both explain."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from ..labs.base.lab import Lab
from ..models.ids import GIVEN
from ..scene import FigureLine
from ..statistics.comparisons import Comparison, compare
from ..transcript import Transcript

COLUMN = "source"
"""The column of a case that says whose explanation is given."""
MOST_SOURCES = 8
"""How many sources are compared, the most frequent ones."""


class SourcePair(NamedTuple):
    """Two sources, and the lab's headline figure of their explanations over the questions that both have; `items` is
    paired by question.
    """

    first: str
    second: str
    items: Comparison


def compared(lab: Lab, run: Transcript) -> Iterator[SourcePair]:
    """Yield each pair of sources of a run with given explanations, by the updated parser. Several explanations of one
    question by one source count as their mean.
    """
    held: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    cases: Counter[str] = Counter()
    for case, progress in run.cases.items():
        source = progress.columns.get(COLUMN, "")
        log = run.case(case)
        given = next((call.asked for call in log.calls.values() if call.asked.model == GIVEN), None)
        score = log.score(lab.headline, "repaired")
        if source and given is not None:
            cases[source] += 1
            if score is not None and score.value is not None:
                held[source][given.messages[0].content].append(score.value)
    kind = lab.metric(lab.headline).kind
    means = {one: {asked: sum(all) / len(all) for asked, all in held[one].items()} for one in cases}
    for first, second in combinations((one for one, _ in cases.most_common(MOST_SOURCES)), 2):
        yield SourcePair(first, second, compare(means[first], means[second], kind))


def lines(lab: Lab, run: Transcript) -> Iterator[FigureLine]:
    """Yield a line for each pair of sources that have a question in common."""
    metric = lab.metric(lab.headline)
    for one in compared(lab, run):
        of = one.items
        if of.difference is None or of.mean_a is None or of.mean_b is None:
            continue
        ends = "" if of.low is None or of.high is None else f", {of.low:+.2f} to {of.high:+.2f}"
        yield FigureLine(
            title=f"{metric.title}: {one.first} − {one.second}",
            value=f"{of.difference:+.2f}{ends}",
            help=f"The difference over the questions that both explain ({of.mean_a:.2f} and {of.mean_b:.2f}).",
            n=of.n,
            of=of.of,
        )
