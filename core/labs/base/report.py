"""A case as it is told. Each lab has one such class, in its `report.py`; scenes, the terminal, cards of the game and of
rooms, rows of the journal and exports are made from it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

from ...scene import Card, Claim, Expect, FigureLine, Mark, Panel, Part, Plot, Scene, Screen, Verdict, from_emphasis
from ...transcript import CaseLog
from .cases import Playable, Trial, View
from .declared import Means

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
        """Yield the tests as cards of the game (`core.labs.base.cases`); `scene` tells the case, and `seed` decides the
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
