"""A case of a run, its trials and their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from pydantic import Field

from ...events import Frozen, Rules
from ...rulesets import FlatRecord, HasRulesets, PerRuleset
from ...scene import Card, Claim, Part, Who
from ...transcript import CaseLog

# What a lab gives to the game: tests of a case that a person can predict, one by one.


DIFFERED = "those who read the explanation differ, or one of them could not be read"
"""Why what was annotated is no card."""


class Playable(Frozen):
    """A test of a case as a card: what `pack.PackCard` has of it, but for whose it is and what the pack adds.

    `asked` is the new question, by which its true answer is found; `annotated` whether it was read what the explanation
    implies there. `title` and `who` go before the case's own where they are given. `why` says why it is no card of a
    pack that was chosen; one that is drawn as it came has it all the same, unless it `is_open`: then nothing can be
    foretold of it.
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
    """One explanation to be held to account: its id, unique in the run, and what it is about, as its lab has it.

    Cases of one item share what is placed at the item: the case "q7/redaction/you" shares what stands at "q7".
    """

    id: str
    about: Any
    title: str


class Reading(Frozen):
    """What came of a trial by one set of rules. `counts`: whether a figure rests on it; `reason` says why not. `doubt`
    says why what counts is no verdict all the same: it then has no mark anywhere.
    """

    expected: str | None = None
    observed: str | None = None
    outcome: str
    counts: bool
    reason: str = ""
    doubt: str = Field(default="", exclude_if=lambda why: not why)


class Trial(Frozen, HasRulesets[Reading]):
    """One expectation and its outcome. `about` is what was put to the test: a new question, an edited text, an
    input. `calls` lead to the raw answers.
    """

    about: str
    paper: Reading
    repaired: Reading
    calls: tuple[str, ...] = ()

    @classmethod
    def of(cls, about: str, read: Callable[[Rules], Reading], *calls: str) -> Trial:
        """What `read` gives by either rules."""
        return cls(about=about, paper=read("paper"), repaired=read("repaired"), calls=calls)


class Begun(Frozen):
    """A case that has begun: the `number`-th (from 1) of `of`."""

    title: str
    number: int
    of: int


class Result(FlatRecord):
    """What came of a case. `outcome` is one word of the lab's, by each set of rules; `verdict` a sentence."""

    title: str
    model: str = ""
    explanation: str | None = None
    outcome: PerRuleset[str]
    verdict: str
    trials: int
    counted: int


class View(Protocol):
    """A case as it is shown, folded from its records; labs add what they need. Never raises: what a damaged journal
    lacks is missing from it.
    """

    log: CaseLog
    unread: int
    """Entries that could not be read."""

    @property
    def title(self) -> str:
        """What the case is about, for a list."""

    @property
    def explanation(self) -> str | None:
        """The explanation held to account, as repaired rules read it; None where none was read."""

    @property
    def trials(self) -> Mapping[str, Trial]:
        """The trials by id, in order, as far as they have come."""

    def outcome(self, rules: Rules) -> str:
        """What came of the case, in one word of the lab's; "waiting" and "failed" mean the same in every lab."""
