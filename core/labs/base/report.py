"""A case as it is told. Each lab has one such class, in its `report.py`; scenes, the terminal, cards of the game and of
rooms, rows of the journal and exports are made from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import Field

from ...events import Frozen, Rules
from ...rulesets import FlatRecord, HasRulesets, PerRuleset
from ...scene import (
    Card,
    Claim,
    Expect,
    FigureLine,
    Mark,
    Panel,
    Part,
    Plot,
    Scene,
    Screen,
    Verdict,
    Who,
    from_emphasis,
)
from ...transcript import CaseLog
from .declared import Means

# Cases of a run, their trials, and the outcomes of these.


# What a lab contributes to the game: trials of a case, each of which a person can predict.


DIFFERED = "those who read the explanation differ, or one of them could not be read"
"""Why an annotated trial is not used as a card."""


class Playable(Frozen):
    """A trial of a case as a card for the game; a pack turns it into a `PackCard`.

    `asked` is the new question, by which its correct answer is looked up. `annotated`: whether someone read what the
    explanation implies. `title` and `who`, if given, replace those of the case. `why` says why a pack of chosen cards
    leaves this trial out. A random pack includes it anyway unless it `is_open`, which means that nothing about it can
    be predicted.
    """

    card: Card
    claim: Claim | None = None
    asked: str = ""
    title: str = ""
    who: Who | None = None
    after: tuple[Part, ...] = ()
    annotated: bool = True
    why: str = ""
    is_open: bool = False


class Case(NamedTuple):
    """One explanation to be tested: its id, unique in the run, and its subject, in a form that its lab defines.

    Cases of one item share records: those recorded at "q7" belong to the case "q7/redaction/you" too. `columns` are the
    columns of a person's own file that were kept with it.
    """

    id: str
    about: Any
    title: str
    columns: tuple[tuple[str, str], ...] = ()


class Reading(Frozen):
    """The outcome of a trial by one parser. `counts`: whether it enters a figure; if not, `reason` says why. `doubt`
    says why an outcome that counts is still no verdict; it is then shown without a mark.
    """

    expected: str | None = None
    observed: str | None = None
    outcome: str
    counts: bool
    reason: str = ""
    doubt: str = Field(default="", exclude_if=lambda why: not why)


class Trial(Frozen, HasRulesets[Reading]):
    """One expectation and its outcome. `about` is what was tested: a new question, an edited text, an input. `calls`
    are the ids of the calls with the raw answers.
    """

    about: str
    paper: Reading
    repaired: Reading
    calls: tuple[str, ...] = ()

    @classmethod
    def from_reading(cls, about: str, read: Callable[[Rules], Reading], *calls: str) -> Trial:
        """Build a trial from what `read` returns for each parser."""
        return cls(about=about, paper=read("paper"), repaired=read("repaired"), calls=calls)


class Begun(Frozen):
    """The start of a case, the `number`-th (from 1) of `of`. `columns` are those of a person's own file that were kept
    with it, by name. They may hold the answer, so no scene shows them.
    """

    title: str
    number: int
    of: int
    columns: dict[str, str] = Field(default_factory=dict, exclude_if=lambda columns: not columns)


class Result(FlatRecord):
    """The result of a case. `outcome` is one of the lab's words, by each parser; `verdict` is a sentence."""

    title: str
    model: str = ""
    explanation: str | None = None
    outcome: PerRuleset[str]
    verdict: str
    trials: int
    counted: int


@dataclass
class View:
    """A case as screens show it, built from its records, as one parser read them; each lab adds fields. Building one
    never raises: whatever is missing or damaged in the journal is missing in the view.
    """

    log: CaseLog
    rules: Rules = field(default="repaired", kw_only=True)
    """The parser whose readings count."""
    unread: int = field(default=0, kw_only=True)
    """Number of entries that could not be read."""

    def by(self, rules: Rules) -> Self:
        """Return the same case as that parser read it."""
        return self if rules == self.rules else self._other

    @cached_property
    def _other(self) -> Self:
        return replace(self, rules="paper" if self.rules == "repaired" else "repaired")

    @property
    def title(self) -> str:
        """The subject of the case, for a list."""
        return next((str(begun.get("title") or "") for begun in self.log.of_type("begun").values()), "")

    @property
    def explanation(self) -> str | None:
        """The explanation under test, as the updated parser read it; None if there is none, or none was read."""
        return None

    @property
    def lost_to(self) -> str | None:
        """The error because of which the case could not be measured; None if there was none."""
        return next((drop.detail for drop in self.log.drops if drop.reason == "error" and not drop.item), None)

    @property
    def trials(self) -> Mapping[str, Trial]:
        """The trials measured so far, by id, in order, with the readings of both parsers."""
        return {}

    @property
    def outcome(self) -> str:
        """The outcome of the case in one of the lab's words. "waiting" and "failed" mean the same in every lab. Raises
        NotImplementedError here; every lab defines its own.
        """
        raise NotImplementedError


OF_ALL: Mapping[str, Means] = {"failed": "failed", "waiting": "waiting", "unread": "unread"}
"""Outcomes that mean the same in every lab."""


class Report(View):
    """What is said about a case, as far as it has been measured, by the parser of the view. A lab overrides what its
    cases have; the rest is told from explanation, trials and sentences. What a journal lacks is
    missing; nothing raises for it.
    """

    mark_words: ClassVar[Mapping[Mark, str]] = {}
    """What the marks are called."""
    words: ClassVar[Mapping[str, str]] = {}
    """What values and outcomes are called."""
    outcomes: ClassVar[Mapping[str, Means]] = {}
    """What outcomes of cases and trials mean for the explanation."""

    @classmethod
    def of(cls, log: CaseLog) -> Self:
        """Build the report of a case from its records, by the updated parser. Never raises for what is missing or
        damaged. Raises NotImplementedError here; every lab has its own.
        """
        raise NotImplementedError

    @property
    def one(self) -> str:
        """What a test is called."""
        return "test"

    def sentences(self) -> Sequence[str]:
        """Return the verdict in sentences, the headline first, with answers *between asterisks*. Raises
        NotImplementedError here; every lab has its own.
        """
        raise NotImplementedError

    def heading(self) -> str:
        """Return the case's name in its scene; '' if it is that under which the case began."""
        return ""

    @property
    def is_by_person(self) -> bool:
        """Whether visitors are the ones who predict."""
        return False

    def names_of_marks(self) -> Mapping[Mark, str]:
        """Return what the marks are called in this case."""
        return self.mark_words

    def method(self) -> str:
        """Return how the model was asked to explain itself."""
        return ""

    def asked(self) -> Iterable[Part]:
        """Yield what the model was asked."""
        return ()

    def claim(self) -> Claim | None:
        """Return the answer and its explanation; None while there is none."""
        return Claim(parts=(Part(text=self.explanation),)) if self.explanation is not None else None

    def cards(self) -> Iterable[Card]:
        """Yield the tests."""
        return (self.card_of(id, trial, number) for number, (id, trial) in enumerate(self.trials.items(), start=1))

    def panels(self) -> Iterable[Panel]:
        """Yield sessions, arms or rounds of the whole case."""
        return ()

    def plot(self) -> Plot | None:
        """Return the function and its descriptions, for a function of numbers."""
        return None

    def grid(self) -> Iterable[Panel]:
        """Yield what is shown beside the case."""
        return ()

    def figures(self) -> Iterable[FigureLine]:
        """Yield figures that are not scores of the run."""
        return ()

    def differs(self) -> str:
        """Return what depends on the choice of parser, in a sentence."""
        return ""

    def screens(self, scene: Scene) -> Iterable[Screen]:
        """Yield the screens of a presentation in an order of the lab's own."""
        return ()

    def verdict(self) -> Verdict | None:
        """Return the verdict; None while there is none."""
        return self.in_sentences() if self.outcome != "waiting" and self.sentences() else None

    def readings(self) -> Mapping[str, Mapping[str, str]]:
        """Return in words how each parser read a call's raw answer: by call, then by parser."""
        return {}

    def playable(self, scene: Scene, seed: int) -> Iterable[Playable]:
        """Yield the tests as cards of the game; `scene` tells the case, and `seed` decides the
        order in which a card shows things.
        """
        return ()

    def mark(self) -> Mark:
        """Return what the outcome means for the explanation."""
        return self.means(self.outcome)

    @classmethod
    def means(cls, outcome: str) -> Means:
        """Return what an outcome means."""
        return cls.outcomes.get(outcome) or OF_ALL.get(outcome, "set aside")

    def in_sentences(self, **more: Any) -> Verdict:
        """Return the verdict made from the sentences and the mark, with `more` of its fields."""
        headline, *others = map(from_emphasis, self.sentences())
        return Verdict(**{"headline": headline, "more": tuple(others), "mark": self.mark(), **more})

    def worded(self, sentence: str) -> str:
        """Fill in a sentence of words.toml: {NAME} is the property NAME of this report."""
        return sentence.format_map(_Properties(self))

    def card_of(self, id: str, trial: Trial, number: int) -> Card:
        """Return a trial as a card."""
        reading, paper = trial.repaired, trial.paper

        def shown(value: str) -> str:
            return self.words.get(value, value)

        return Card(
            id=id,
            number=number,
            mark="in doubt" if reading.doubt else self.means(reading.outcome),
            parts=(Part(text=trial.about),) if trial.about else (),
            options={value: shown(value) for value in (reading.expected, reading.observed) if value},
            expects=(Expect(who="", value=reading.expected),) if reading.expected is not None else (),
            said=reading.observed or "",
            outcome=shown(reading.outcome),
            reason=reading.reason,
            doubt=reading.doubt,
            by_paper=shown(paper.outcome) if paper.outcome != reading.outcome else "",
            calls=trial.calls,
        )


class _Properties(dict[str, Any]):
    def __init__(self, report: Report) -> None:
        self._report = report

    def __missing__(self, name: str) -> Any:
        return getattr(self._report, name)


def of_calls(*names: str | None) -> tuple[str, ...]:
    """Return the ids of the calls that there are, each once."""
    return tuple(dict.fromkeys(name for name in names if name))
