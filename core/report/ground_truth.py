"""How well a lab's figures agree with labels that somebody else gave to the explanations of a file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from ..datasets.items import Item
from ..errors import ExplainError
from ..labs.base.lab import Lab
from ..models.ids import GIVEN
from ..statistics.agreement import auroc, placements
from ..statistics.intervals import FEW, Interval
from ..text.compare import content_words, words
from ..text.display import count_noun
from ..transcript import Transcript

WORDS = {
    True: frozenset({"faithful", "honest", "true", "yes", "1", "1.0"}),
    False: frozenset({"unfaithful", "dishonest", "false", "no", "0", "0.0"}),
}
"""The labels that are understood without an explanation."""


class LabelError(ExplainError, ValueError):
    """The labels of a file cannot be used; the message says why."""


class Labelled(NamedTuple):
    """An explanation with its label, where it was tested, and its figures by name. `calls` are the numbers of calls
    that each figure needed.
    """

    run: str
    case: str
    item: Item
    is_faithful: bool
    values: dict[str, float]
    calls: dict[str, int]


class Wrong(NamedTuple):
    """A case on which a figure contradicts the label. `placement` is the share of the other class that it is on the
    right side of.
    """

    run: str
    case: str
    question: str
    is_faithful: bool
    value: float
    placement: float


class RankedMeasure(NamedTuple):
    """How well one figure ranks faithful explanations above unfaithful ones: the area under the ROC curve, from the
    numbers of either kind that have the figure, with the calls for each explanation.
    """

    name: str
    title: str
    area: Interval
    faithful: int
    unfaithful: int
    calls: float
    wrong: tuple[Wrong, ...]

    @property
    def says(self) -> str:
        """What the area shows, in words."""
        area = self.area
        if area.value is None:
            return "no figure: a class is empty"
        if area.low is None or area.high is None:
            return f"too few: it takes {FEW} questions with an explanation of either kind"
        if area.low > 0.5:
            return "agrees with the labels"
        return "contradicts the labels" if area.high < 0.5 else "no better than chance"


def label_of(text: str, faithful: Iterable[str] = ()) -> bool | None:
    """Return whether a label says that the explanation is faithful; None if it is empty. With `faithful`, those labels
    do and all others do not. Raises LabelError for a label that is not understood.
    """
    label = text.strip().casefold()
    if not label:
        return None
    if named := {one.strip().casefold() for one in faithful}:
        return label in named
    for meaning, known in WORDS.items():
        if label in known:
            return meaning
    raise LabelError(f"The label “{text[:80]}” is not understood. Say which labels mean faithful: --faithful LABEL.")


def labels_of(items: Iterable[Item], column: str, faithful: Sequence[str] = ()) -> dict[str, bool]:
    """Return the labels by item id; explanations without a label are left out. Raises LabelError, also if there are no
    labels at all.
    """
    found: dict[str, bool] = {}
    columns: dict[str, None] = {}
    for item in items:
        own = dict(item.extra)
        columns |= dict.fromkeys(own)
        if (label := label_of(own.get(column, ""), faithful)) is not None:
            found[item.id] = label
    if not found:
        there = f"It has {', '.join(list(columns)[:20])}." if columns else "It has no other columns."
        raise LabelError(f"The file has no labels in a column “{column}”. {there} Name the column: --label COLUMN.")
    return found


BESIDE: dict[str, tuple[str, Callable[[Item], float | None]]] = {
    "length": ("length in words (no measure)", lambda item: float(len(words(item.explanation)))),
    "new_words": (
        "content words that the question does not have (no measure)",
        lambda item: float(len(content_words(item.explanation) - content_words(item.question or item.paragraph))),
    ),
    "correct": (
        "the answer is correct (no measure)",
        lambda item: float(item.said == item.label) if item.label else None,
    ),
}
"""Figures that ask no model, by name: title and value. Labels that one of these predicts say little about a measure."""


def labelled(
    lab: Lab, run: str, state: Transcript, items: Mapping[str, Item], labels: Mapping[str, bool]
) -> list[Labelled]:
    """Return the labelled explanations of a run. `items` are those of its cases, by case id; `labels` by item id."""
    figures = [metric.name for metric in lab.metrics if metric.better]
    found = []
    for name in state.cases:
        item = items[name]
        if item.id not in labels:
            continue
        log = state.case(name)
        scores = {metric: log.score(metric, "repaired") for metric in figures}
        values = {metric: score.value for metric, score in scores.items() if score and score.value is not None}
        values |= {name: value for name, (_, of) in BESIDE.items() if (value := of(item)) is not None}
        asked = [call.asked for call in log.calls.values() if call.asked.model != GIVEN]
        calls = {metric: sum(lab.needs_call(metric, one) for one in asked) for metric in figures}
        found.append(Labelled(run, name, item, labels[item.id], values, calls))
    return found


def ranked(lab: Lab, rows: Sequence[Labelled], worst: int = 3) -> list[RankedMeasure]:
    """Return how well each figure agrees with the labels, the lab's own in their order, then those that ask no model.
    Figures that no explanation has are left out. `wrong` are the `worst` cases.
    """
    own = {metric.name: (metric.title, -1 if metric.better == "lower" else 1) for metric in lab.metrics}
    names = [*(metric.name for metric in lab.metrics if metric.better), *BESIDE]
    return [
        _ranked(name, *(own.get(name) or (BESIDE[name][0], 1)), [row for row in rows if name in row.values], worst)
        for name in names
        if any(name in row.values for row in rows)
    ]


def _ranked(name: str, title: str, sign: int, rows: Sequence[Labelled], worst: int) -> RankedMeasure:
    values, labels = [sign * row.values[name] for row in rows], [row.is_faithful for row in rows]
    area = auroc(values, labels, [_question(row.item) for row in rows])
    placed = [] if area.value is None else sorted(zip(placements(values, labels), rows, strict=True), key=itemgetter(0))
    wrong = [
        Wrong(row.run, row.case, _question(row.item), row.is_faithful, row.values[name], place)
        for place, row in placed[:worst]
        if place < 0.5
    ]
    calls = sum(row.calls.get(name, 0) for row in rows) / len(rows)
    return RankedMeasure(name, title, area, sum(labels), len(labels) - sum(labels), calls, tuple(wrong))


def _question(item: Item) -> str:
    return item.question or item.paragraph


def lines(rows: Sequence[Labelled], found: Sequence[RankedMeasure], unlabelled: int, model: str) -> Iterable[str]:
    """Yield the report as lines of text."""
    faithful = sum(row.is_faithful for row in rows)
    yield f"{count_noun(len(rows), 'labelled explanation')}: {faithful} faithful, {len(rows) - faithful} unfaithful."
    if unlabelled:
        yield f"{count_noun(unlabelled, 'explanation')} without a label: tested, not ranked."
    yield (
        f"{model} answered the new questions. If the labels are about explanations of another model, "
        "an area near 0.5 does not speak against a measure."
    )
    yield "AUROC: how often a faithful explanation has the higher figure, ties counted one half; 0.5 is chance."
    for one in found:
        area = one.area
        value = "–" if area.value is None else f"{area.value:.2f}"
        if area.low is not None and area.high is not None:
            value += f", 95 % interval {area.low:.2f} to {area.high:.2f}"
        counts = f"{one.faithful} faithful, {one.unfaithful} unfaithful of {len(rows)}"
        yield f"{one.title}: {value} ({counts}; {one.calls:.1f} calls each): {one.says}"
        for case in one.wrong:
            label = "faithful" if case.is_faithful else "unfaithful"
            yield f"    {case.run} {case.case}: {case.value:.2f}, labelled {label}: {case.question[:80]}"
    yield "Intervals are not corrected for the number of measures."
