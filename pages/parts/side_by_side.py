"""Several runs on the same questions: what a lab declares to have them set side by side, and how their rows meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from core.lab import Spec, View
from pages.parts.text import plain
from pages.parts.tiles import State

MOST = 3
"""Runs side by side: more leave a column too narrow for a sentence."""

SETTLED = ("kept", "broken", "not settled")
"""What can be held against each other; every other state says that there is nothing to compare."""


class Cell(NamedTuple):
    """One test and what came of it in one run. `key` is the same in every run that made it; `title` says what was put
    to the test and `text` what came out, a sentence, both as Markdown. `label` is the lab's own word for the state.
    `expected` is what the explanation let one expect and `gave` what was answered, each in a word that is the same in
    every run where it is the same; empty where a test has no such two.
    """

    key: str
    title: str
    state: State
    text: str = ""
    label: str = ""
    expected: str = ""
    gave: str = ""


class Row(NamedTuple):
    """The same test in each run, None where a run has not made it."""

    cells: tuple[Cell | None, ...]

    @property
    def title(self) -> str:
        return next(cell.title for cell in self.cells if cell)

    @property
    def is_shared(self) -> bool:
        """Whether every run has made it."""
        return None not in self.cells

    @property
    def is_settled(self) -> bool:
        """Whether in every run something came of it that can be compared."""
        return all(cell is not None and cell.state in SETTLED for cell in self.cells)

    @property
    def is_answered(self) -> bool:
        """Whether it is known of every run what was answered, and what was expected, be that in doubt."""
        return all(
            cell is not None and cell.expected and cell.gave and cell.state in (*SETTLED, "in doubt")
            for cell in self.cells
        )

    @property
    def is_in_doubt(self) -> bool:
        """Whether what one could expect is not known for sure in one of them."""
        return any(cell is not None and cell.state == "in doubt" for cell in self.cells)

    @property
    def answers_differ(self) -> bool:
        """Whether the runs were not all answered alike, where that is known of all."""
        return self.is_answered and len({cell.gave for cell in self.cells if cell}) > 1

    @property
    def expectations_differ(self) -> bool:
        """Whether one could not expect the same in all runs, where that is known of all and not in doubt."""
        return self.is_answered and not self.is_in_doubt and len({cell.expected for cell in self.cells if cell}) > 1

    @property
    def parting(self) -> str:
        """In what the runs part, in words; empty where they do not. What came of a test (kept, broken) differs already
        where one could expect something else of the same answer: that the answers differ is another matter.
        """
        if self.is_answered:
            words = {
                (False, False): "",
                (False, True): "the same answer, but one could not expect the same",
                (True, False): "not the same answer",
                (True, True): "not the same answer, and one could not expect the same",
            }
            return words[self.answers_differ, self.expectations_differ]
        return "what came of it differs" if self.comes_out_otherwise else ""

    @property
    def comes_out_otherwise(self) -> bool:
        """Whether not the same came of it in all: kept in one, say, and broken in another."""
        return self.is_settled and len({(cell.state, cell.label) for cell in self.cells if cell}) > 1


def _tests(view: View, active: bool) -> list[Cell]:
    """The trials as every lab has them: kept where what was expected was observed."""

    def state(id: str) -> State:
        reading = view.trials[id].repaired
        if reading.outcome == "waiting":
            return "waiting" if active else "stopped"
        if not reading.counts:
            return "set aside"
        return "kept" if reading.expected == reading.observed else "broken"

    def worded(id: str) -> str:
        reading = view.trials[id].repaired
        return f"expected **{plain(reading.expected or '–')}**, observed **{plain(reading.observed or '–')}**"

    return [Cell(trial.about, plain(trial.about), state(id), worded(id)) for id, trial in view.trials.items()]


def _other(spec: Spec, fields: dict[str, Any], run_id: str, view: View | None) -> Spec:
    return type(spec).model_validate({**spec.model_dump(), **fields})


@dataclass(frozen=True)
class Side:
    """What a lab declares to have its runs set side by side.

    - `tests(view, active)` are the rows of one case. Of a run of several cases each is a row, of which `key(case,
      spec)` is the same in every run; `outcomes` are the states of a case's outcomes.
    - `one` is what a row is called, `words` are the lab's own for the states.
    - `ways(spec)` are other ways to explain: fields of the specification by what they are called.
    - `other(spec, fields, run_id, view)` is the specification of a run that is to be set beside `run_id`, with these
      fields otherwise; `view` is its case where it has but one.
    - `note(specs)`, given the specifications by run, says what has to be known to read the comparison; as Markdown.
    """

    tests: Callable[[Any, bool], list[Cell]] = _tests
    key: Callable[[str, Any], str] = lambda case, spec: case
    outcomes: Mapping[str, State] = field(default_factory=dict)
    one: str = "test"
    words: Mapping[State, str] = field(default_factory=dict)
    ways: Callable[[Any], dict[str, dict[str, Any]]] = lambda spec: {}
    other: Callable[[Any, dict[str, Any], str, Any], Any] = _other
    note: Callable[[Mapping[str, Any]], str] = lambda specs: ""


ALIKE = Side()
"""What stands in for a lab that declares none."""


def aligned(columns: Sequence[Sequence[Cell]]) -> list[Row]:
    """The tests of each run row against row, those that all have made first, in the order of the first run. A test
    that a run has made twice meets the other's second.
    """
    keyed = [dict(_numbered(tests)) for tests in columns]
    keys = dict.fromkeys(key for tests in keyed for key in tests)
    rows = [Row(tuple(tests.get(key) for tests in keyed)) for key in keys]
    return sorted(rows, key=lambda row: not row.is_shared)


def _numbered(tests: Sequence[Cell]) -> Iterator[tuple[tuple[str, int], Cell]]:
    seen: Counter[str] = Counter()
    for cell in tests:
        seen[cell.key] += 1
        yield (cell.key, seen[cell.key]), cell


def finding(rows: Sequence[Row], names: Sequence[str], one: str) -> tuple[str, list[str]]:
    """On how many rows the runs were answered alike and on how many one could expect something else, of how many; where
    that is not known, on how many not the same came of it. And a sentence each on the rows that this does not count.
    """
    shared = [row for row in rows if row.is_shared]
    answered = [row for row in shared if row.is_answered]
    told = answered or [row for row in shared if row.is_settled]
    if not told:
        headline = f"No {one} has an outcome in all of them."
    elif answered:
        alike = sum(not row.answers_differ for row in answered)
        headline = f"They gave the same answers to {alike} of {_number(len(answered), one)}; {_expectations(answered)}"
    else:
        parted = sum(row.comes_out_otherwise for row in told)
        headline = f"On {parted or 'none'} of {_number(len(told), one)} what came of it differs."
    more = [f"{len(shared)} in all of them."] if shared else []
    if left := len(shared) - len(told):
        more.append(
            f"{left} of these cannot be compared: set aside, without a verdict, not read, failed or not done in one."
        )
    only = Counter(tuple(cell is not None for cell in row.cells) for row in rows if not row.is_shared)
    for there, number in only.items():
        who = " and ".join(name for name, has in zip(names, there, strict=True) if has)
        more.append(f"{number} only in {who}.")
    return headline, more


def _expectations(answered: Sequence[Row]) -> str:
    """On how many rows one could expect something else, of those on which that is not in doubt."""
    sure = [row for row in answered if not row.is_in_doubt]
    other, doubtful = sum(row.expectations_differ for row in sure), len(answered) - len(sure)
    what = "what you could expect from their explanations"
    if not sure:
        return f"{what} is in doubt on each."
    if not doubtful:
        return f"{what} differs on {other}." if other else f"{what} is the same on each."
    told = f"differs on {other} of {len(sure)}" if other else f"is the same on {len(sure)}"
    return f"{what} {told}, and is in doubt on {doubtful}."


def _number(number: int, one: str) -> str:
    return f"{number} {one}{'' if number == 1 else 's'}"


def told_apart(lines: Sequence[Sequence[str]]) -> list[str]:
    """Names for runs of which `lines` say what they are, in parts: the parts in which they differ, or all of them, and
    a number where that is not enough.
    """
    differ = [place for place, parts in enumerate(zip(*lines, strict=False)) if len(set(parts)) > 1]
    named = [[line[place] for place in differ if line[place]] or list(filter(None, line)) for line in lines]
    names = [" · ".join(parts) for parts in named]
    return [f"{name} ({number})" if names.count(name) > 1 else name for number, name in enumerate(names, start=1)]
