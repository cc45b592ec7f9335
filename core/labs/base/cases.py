"""Cases of a run, their trials, and the outcomes of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

from pydantic import Field

from ...events import Frozen, Rules
from ...rulesets import FlatRecord, HasRulesets, PerRuleset
from ...scene import Card, Claim, Part, Who
from ...transcript import CaseLog

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
    def trials(self) -> Mapping[str, Trial]:
        """The trials measured so far, by id, in order, with the readings of both parsers."""
        return {}

    @property
    def outcome(self) -> str:
        """The outcome of the case in one of the lab's words. "waiting" and "failed" mean the same in every lab. Raises
        NotImplementedError here; every lab defines its own.
        """
        raise NotImplementedError
