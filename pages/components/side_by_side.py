"""Several runs on the same questions: what a lab declares to have them set side by side, and how their rows meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from core.labs.base.cases import View
from core.labs.base.declared import Judged
from core.labs.base.lab import Lab
from core.labs.base.spec import Spec
from core.report.comparison_text import left_out
from core.scene import Mark, RunScene, Scene
from core.store import matching
from core.store.matching import TestedItem
from core.text.plurals import counted
from pages.components.text import plain, told

MOST = 3
"""Runs side by side: more leave a column too narrow for a sentence."""

SETTLED = ("kept", "broken", "not settled")
"""What can be held against each other; every other state says that there is nothing to compare."""


ANSWERS, EXPECTED, OUTCOMES = "the answers differ", "what one could expect differs", "the outcome differs"


class SideCell(NamedTuple):
    """What was put to the test and its outcome in one run; `title` says the one and `text` the other in a sentence,
    both as Markdown. `label` is the lab's own word for the state. `expected` is what the explanation let one expect and
    `gave` what was answered, each in a word that is the same in every run where it is the same; empty where a test has
    no such two. `card` is the scene's, where one is drawn.
    """

    tried: TestedItem
    title: str
    state: Mark
    text: str = ""
    label: str = ""
    expected: str = ""
    gave: str = ""
    card: str = ""


class SideRow(NamedTuple):
    """The same test in each run, None where a run has not made it."""

    cells: tuple[SideCell | None, ...]

    @property
    def there(self) -> list[SideCell]:
        """What of it there is."""
        return [cell for cell in self.cells if cell]

    @property
    def is_shared(self) -> bool:
        """Whether every run has made it."""
        return None not in self.cells

    @property
    def is_settled(self) -> bool:
        """Whether in every run something came of it that can be compared."""
        return self.is_shared and all(cell.state in SETTLED for cell in self.there)

    @property
    def is_answered(self) -> bool:
        """Whether it is known of every run what was answered, and what was expected, be that in doubt."""
        return self.is_shared and all(
            cell.expected and cell.gave and cell.state in (*SETTLED, "in doubt") for cell in self.there
        )

    @property
    def is_in_doubt(self) -> bool:
        """Whether what one could expect is not known for sure in one of them."""
        return any(cell.state == "in doubt" for cell in self.there)

    @property
    def differs(self) -> list[str]:
        """What differs between the runs, in words: the answers, and what one could expect where that is not in doubt,
        if both are known of all; else its outcome, such as kept in one and broken in another. That differs already
        where one could expect something else of the same answer.
        """
        values: dict[str, set[str]] = {}
        if self.is_answered:
            values[ANSWERS] = {cell.gave for cell in self.there}
            values[EXPECTED] = {"" if self.is_in_doubt else cell.expected for cell in self.there}
        elif self.is_settled:
            values[OUTCOMES] = {f"{cell.state} {cell.label}" for cell in self.there}
        return [what for what, each in values.items() if len(each) > 1]


def of_cards(lab: Lab, scene: Scene, view: View, tried: TestedItem, answers: bool) -> list[SideCell]:
    """The tests of a case; `tried` says which case it is. Where a trial stands for the whole case, it is what meets."""
    found = []
    for card in scene.cards:
        trial = view.trials.get(card.id)
        about = (trial.about if trial else "") or next((part.text for part in card.parts), card.id)
        expected = card.expects[0].value if answers and card.expects else ""
        found.append(
            SideCell(
                tried._replace(about="" if card.id == lab.principal else about),
                plain(about),
                card.mark,
                expected=expected,
                gave=card.said if answers else "",
                card=card.id,
            )
        )
    return found


def of_plot(scene: Scene, tried: TestedItem) -> list[SideCell]:
    """The stretches of a plot, which say more of a function than the few points of it that are cards."""
    stretches = [one for one in scene.plot.intervals if one.kind == "stretch"] if scene.plot else []
    about = [f"x from {one.low:.4g} to {one.high:.4g}" for one in stretches]
    return [
        SideCell(tried._replace(about=text), text, one.mark or "set aside")
        for text, one in zip(about, stretches, strict=True)
    ]


def of_tiles(run: RunScene, tried: Callable[[str, str], TestedItem], words: Mapping[str, str]) -> list[SideCell]:
    """The cases of a run; `tried` says of a case's id and title which case it is, `words` are the lab's own."""
    return [
        SideCell(
            tried(tile.case, tile.title),
            plain(tile.title),
            tile.mark,
            told(tile.sentence),
            "" if tile.outcome == "waiting" else plain(words.get(tile.outcome, tile.outcome)),
        )
        for tile in run.tiles
    ]


def _other(spec: Spec, fields: dict[str, Any], run_id: str, view: View | None) -> Spec:
    return type(spec).model_validate({**spec.model_dump(), **fields})


@dataclass(frozen=True)
class Side:
    """What a lab declares to have its runs set side by side.

    - `answers`: the result of a test is an answer of the model's own, of which its explanation let one expect one or
      another; then both are held against each other, and not only their outcomes.
    - `ways(spec)` are other ways to explain: fields of the specification by what they are called.
    - `other(spec, fields, run_id, view)` is the specification of a run that is to be set beside `run_id`, with these
      fields otherwise; `view` is its case where it has but one.
    - `same(spec, run_id, view)` is the specification of a run that puts the same tests to the case as `run_id` did,
      where tests are made from what it said.
    - `note(specs)`, given the specifications by run, says what has to be known to read the comparison; as Markdown.
    """

    answers: bool = False
    ways: Callable[[Any], dict[str, dict[str, Any]]] = lambda spec: {}
    other: Callable[[Any, dict[str, Any], str, Any], Any] = _other
    same: Callable[[Any, str, Any], Any] | None = None
    note: Callable[[Mapping[str, Any]], str] = lambda specs: ""


ALIKE = Side()
"""What stands in for a lab that declares none."""


def aligned(columns: Sequence[Sequence[SideCell]], judged: Judged | None = None) -> list[SideRow]:
    """The tests of each run row against row, as `core.store.matching` has them meet."""
    met = matching.met([[cell.tried for cell in column] for column in columns], judged)
    return [
        SideRow(tuple(None if at is None else column[at] for at, column in zip(places, columns, strict=True)))
        for places in met
    ]


def finding(rows: Sequence[SideRow], names: Sequence[str], one: str) -> tuple[str, list[str]]:
    """On how many rows the runs agree in what was answered and on how many one could expect something else, of how
    many; where that is not known, on how many the outcome differs. And a sentence each on the rows that this does
    not count.
    """
    shared = [row for row in rows if row.is_shared]
    answered = [row for row in shared if row.is_answered]
    told = answered or [row for row in shared if row.is_settled]
    differ = Counter(part for row in told for part in row.differs)
    if not told:
        headline = f"No {one} has an outcome in all of them."
    elif answered:
        agree = len(answered) - differ[ANSWERS]
        expected = _expectations(differ[EXPECTED], answered)
        headline = f"Their answers agree on {agree} of {counted(len(answered), one)}; {expected}"
    else:
        headline = f"They differ on {differ.total() or 'none'} of {counted(len(told), one)}."
    only = Counter(tuple(cell is not None for cell in row.cells) for row in rows if not row.is_shared)
    held = [([name for name, has in zip(names, there, strict=True) if has], n) for there, n in only.items()]
    more = [f"{len(shared)} in all of them."] if shared else []
    why = "set aside, without a verdict, not read, failed or not done in one"
    return headline, more + left_out(len(shared) - len(told), one, names, why, held)


def _expectations(differ: int, answered: Sequence[SideRow]) -> str:
    """On how many rows one could expect something else, of those on which that is not in doubt."""
    doubtful = sum(row.is_in_doubt for row in answered)
    sure, what = len(answered) - doubtful, "what you could expect from their explanations"
    if not sure:
        return f"{what} is in doubt on each."
    if not doubtful:
        return f"{what} differs on {differ}." if differ else f"{what} agrees on each."
    told = f"differs on {differ} of {sure}" if differ else f"agrees on {sure}"
    return f"{what} {told}, and is in doubt on {doubtful}."


def told_apart(lines: Sequence[Sequence[str]]) -> list[str]:
    """Names for runs of which `lines` say what they are, in parts: the parts in which they differ, or all of them, and
    a number where that is not enough.
    """
    differ = [place for place, parts in enumerate(zip(*lines, strict=False)) if len(set(parts)) > 1]
    named = [[line[place] for place in differ if line[place]] or list(filter(None, line)) for line in lines]
    names = [" · ".join(parts) for parts in named]
    return [f"{name} ({number})" if names.count(name) > 1 else name for number, name in enumerate(names, start=1)]
