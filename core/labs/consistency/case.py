"""A run of this lab with all that happened in it, as its events tell. Page, command line and tests look at this."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from core.datasets.items import Item
from core.events import Dropped, Frozen, Rules
from core.labs.consistency import metrics
from core.labs.consistency.records import (
    Ability,
    Classification,
    Consistency,
    MaskControl,
    Paragraph,
    Recheck,
    SelfExplanation,
)
from core.labs.consistency.tasks import (
    Check,
    CheckSpec,
    answerable_key,
    checks_of,
    classification_key,
    wording_name,
)
from core.runs.transcript import Call, Reader, Transcript

Kind = TypeVar("Kind", bound=Frozen)
State = Literal["yes", "no", "undecided", "failed", "waiting"]


@dataclass
class Row:
    """One check: the three sessions as far as they have come, the verdict, the control, and why it does not count."""

    key: str
    check: Check
    classification: Classification | None = None
    ability: Ability | None = None
    explained: SelfExplanation | None = None
    again: Recheck | None = None
    control: MaskControl | None = None
    found: Consistency | None = None
    drops: list[Dropped] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Explanation and wording."""
        return f"{self.check.explanation}, {wording_name(self.check.explanation, self.check.wording)}"

    def state(self, rules: Rules = "repaired") -> State:
        if self.found is not None:
            faithful: State = getattr(self.found, f"faithful_{rules}")
            return faithful
        return "failed" if any(drop.reason == "error" for drop in self.drops) else "waiting"

    def dropped(self, rules: Rules = "repaired") -> Dropped | None:
        """Why the check does not count under `rules`, if so."""
        return next((drop for drop in self.drops if drop.rules in (None, rules)), None)

    def reading(self, name: Literal["before", "after"], rules: Rules = "repaired") -> str | None:
        if name == "before":
            return getattr(self.classification, rules) if self.classification else None
        return getattr(self.again, rules) if self.again else None

    def edited(self, rules: Rules = "repaired") -> str | None:
        """The paragraph of the third session: by `rules`, or where those read none by the other."""
        if self.explained is None:
            return None
        own, other = self.explained.edited_repaired, self.explained.edited_paper
        if rules == "paper":
            own, other = other, own
        return own if own is not None else other


@dataclass
class Case:
    """`spec` is None before the run has begun, and where its journal does not hold it in a form that can be read.

    `rows` holds all checks that are planned, by key. `unread` counts what could not be read: it is left out.
    """

    told: Transcript
    spec: CheckSpec | None
    items: dict[str, Item]
    rows: dict[str, Row]
    unread: int = 0

    def of(self, id: str) -> list[Row]:
        """All checks of one paragraph."""
        return [row for row in self.rows.values() if row.check.item.id == id]

    def differing(self) -> list[Row]:
        """The checks whose verdict depends on which rules read the raw answers."""
        return [row for row in self.rows.values() if row.found and row.state("paper") != row.state("repaired")]

    def counts(self) -> Counter[State]:
        return Counter(row.state() for row in self.rows.values())


@dataclass(frozen=True)
class Agreement:
    """How all wordings of one paragraph's explanations agree. `unfaithful` is the first wording that is not."""

    faithful: int
    decided: int
    planned: int
    unfaithful: Row | None


def case(told: Transcript) -> Case:
    """The case that a transcript of this lab holds. Never raises: what a damaged journal lacks is missing from it."""
    reader = Reader()
    read = reader.read

    def all_of(kind: type[Kind]) -> dict[str, Kind]:
        found = {key: read(kind, data) for key, data in told.of(kind.__name__.lower()).items()}
        return {key: record for key, record in found.items() if record is not None}

    spec = read(CheckSpec, told.started.spec) if told.started else None
    items: dict[str, Item] = {}
    for id, paragraph in all_of(Paragraph).items():
        item = read(Item, {"id": id, "paragraph": paragraph.text, **paragraph.model_dump(exclude={"text"})})
        if item is not None:
            items[id] = item
    dropped: dict[str, list[Dropped]] = {}
    for drop in told.drops:
        dropped.setdefault(drop.item, []).append(drop)
    calls: dict[str, list[Call]] = {}
    for call in told.calls.values():
        calls.setdefault(call.asked.item, []).append(call)
    firsts, abilities, explained = all_of(Classification), all_of(Ability), all_of(SelfExplanation)
    agains, controls, found = all_of(Recheck), all_of(MaskControl), all_of(Consistency)

    rows: dict[str, Row] = {}
    ready = {id: item for id, item in items.items() if id not in dropped}
    for key, check in (checks_of(spec, ready) if spec else {}).items():
        first = classification_key(check.item.id, check.wording)
        rows[key] = Row(
            key,
            check,
            classification=firsts.get(first),
            ability=abilities.get(answerable_key(check.item.id, check.wording)),
            explained=explained.get(key),
            again=agains.get(key),
            control=controls.get(key),
            found=found.get(key),
            drops=dropped.get(key, []),
            calls=[*calls.get(first, []), *calls.get(key, [])],
        )
    return Case(told, spec, items, rows, reader.unread)


def agreement(rows: list[Row], rules: Rules = "repaired") -> Agreement:
    """Of the rows that are decided, how many are faithful."""
    states = [row.state(rules) for row in rows]
    return Agreement(
        faithful=states.count("yes"),
        decided=states.count("yes") + states.count("no"),
        planned=len(rows),
        unfaithful=next((row for row in rows if row.state(rules) == "no"), None),
    )


def wrong(row: Row, rules: Rules = "repaired") -> bool:
    """Whether the first answer is known to be wrong; the paper's figure leaves such checks out."""
    return metrics.correct(row.reading("before", rules), row.check.item.label) is False


def lucky(row: Row, rules: Rules = "repaired") -> bool:
    """Whether random masks do what the explanation's masks do, at least every other time: a faithful one is luck."""
    share = getattr(row.found, f"control_{rules}") if row.found else None
    return share is not None and share >= 0.5 and row.state(rules) == "yes"
