"""A run of this lab with all that happened in it, as its events tell. Page, command line and tests look at this."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from core.datasets.items import Item
from core.events import Dropped, Rules
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
from core.runs.transcript import Call, Transcript

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
    """`spec` is None only before the run has begun. `rows` holds all checks that are planned, by key."""

    told: Transcript
    spec: CheckSpec | None
    items: dict[str, Item]
    rows: dict[str, Row]

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
    """The case that a transcript of this lab holds."""
    spec = CheckSpec.model_validate(told.started.spec) if told.started else None
    items: dict[str, Item] = {}
    for id, data in told.of("paragraph").items():
        paragraph = Paragraph.model_validate(data)
        items[id] = Item(id=id, paragraph=paragraph.text, **paragraph.model_dump(exclude={"text"}))
    dropped: dict[str, list[Dropped]] = {}
    for drop in told.drops:
        dropped.setdefault(drop.item, []).append(drop)
    calls: dict[str, list[Call]] = {}
    for call in told.calls.values():
        calls.setdefault(call.asked.item, []).append(call)

    rows: dict[str, Row] = {}
    if spec is not None:
        ready = {id: item for id, item in items.items() if id not in dropped}
        for key, check in checks_of(spec, ready).items():
            first = classification_key(check.item.id, check.wording)
            rows[key] = Row(key, check, drops=dropped.get(key, []), calls=[*calls.get(first, []), *calls.get(key, [])])
    for (record, key, _), event in told.records.items():
        if key in rows:
            row = rows[key]
            match record:
                case "selfexplanation":
                    row.explained = SelfExplanation.model_validate(event.data)
                case "recheck":
                    row.again = Recheck.model_validate(event.data)
                case "maskcontrol":
                    row.control = MaskControl.model_validate(event.data)
                case "consistency":
                    row.found = Consistency.model_validate(event.data)
                case _:
                    pass
    firsts = {key: Classification.model_validate(data) for key, data in told.of("classification").items()}
    abilities = {key: Ability.model_validate(data) for key, data in told.of("ability").items()}
    for row in rows.values():
        item, wording = row.check.item, row.check.wording
        row.classification = firsts.get(classification_key(item.id, wording))
        row.ability = abilities.get(answerable_key(item.id, wording))
    return Case(told, spec, items, rows)


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
