"""The state of a room, made from the events of its journal, and what each screen may show of it.

A room goes from card to card: the vote is open, then closed, then the card is revealed. `check` says whether an event
is possible, and `apply` takes it in, for a live room and for a replay alike. Screens are made by naming what they may
hold (`core.report.evidence`), so what is not revealed is in none of them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from statistics import fmean
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from ..events import Frozen, Recorded
from ..report.game.pack import Going, PackCard
from ..scene import Card, Claim, Part, Who
from ..text.stable_random import unit_number
from . import events
from .arguments import Arguments
from .sketches import SketchCard

MOST_PEOPLE = 500
"""People in one room."""

MOST_CHANGES = 10
"""Votes of one person on one card, and ratings of one explanation: both may be changed."""

SHOWN_NAMES = 40
"""Nicknames on the wall, the latest."""

LEAST_FOR_THREE = 6
"""People who are there when a card is opened, from which on a third arm is drawn on it: two for each."""

Arm = Literal["reason", "none", "arguments"]
ARMS: tuple[Arm, ...] = ("reason", "none", "arguments")
"""What somebody sees while they predict: the model's reason, none, or two opposing arguments by the model."""

_ORDERS = tuple(permutations(ARMS))

Phase = Literal["lobby", "voting", "closed", "revealed", "over"]


class RoomStateError(Exception):
    """What somebody wants is not possible in the room now; the message is fit for them."""


class ScoreRow(Frozen):
    """A bar of the score: a share from 0 to 1 over `n` cards. `votes` is how many votes it rests on, 0 for a rule."""

    label: str
    share: float
    n: int
    votes: int = 0
    is_class: bool = False


class RatedRow(Frozen):
    """How convincing a group of `n` explanations was: the mean from 1 to 5, in which each explanation counts once, by
    the mean of its own ratings. `ratings` is how many these are.
    """

    label: str
    mean: float
    n: int
    ratings: int


class _Person(NamedTuple):
    number: int
    nickname: str


class Room:
    """A room with its cards. Not safe for several threads at the same time."""

    def __init__(self, opened: events.RoomOpened, cards: Sequence[PackCard]) -> None:
        self.opened, self.cards = opened, tuple(cards)
        self.phase: Phase = "lobby"
        self.place = -1
        self.people: dict[str, _Person] = {}
        self._votes: list[dict[str, str]] = [{} for _ in cards]
        self._sketches: list[dict[str, tuple[int, ...]]] = [{} for _ in cards]
        self._hits: dict[int, dict[str, int]] = {}
        self._ratings: list[dict[str, int]] = [{} for _ in cards]
        self._changes: Counter[tuple[type[Frozen], int, str]] = Counter()
        self._rounds: dict[tuple[int, bool, Arm], dict[str, Any]] = {}
        self._with_arguments: set[int] = set()
        """Explanations, by the first place of each, on whose cards all three arms are drawn."""
        of_case = {(card.run, card.case): place for place, card in enumerate(cards)}
        self._last = [of_case[card.run, card.case] for card in cards]
        """Of each card the last place with the same explanation: with it the reason is shown to everybody."""
        of_case = {(card.run, card.case): place for place, card in reversed([*enumerate(cards)])}
        self._first = [of_case[card.run, card.case] for card in cards]
        """Of each card the first place with the same explanation, where that is rated."""
        self._it = " or ".join(sorted({card.who.shown for card in cards if card.who.shown})) or "a language model"
        """What gave the answers, without its name."""

    def check(self, record: Frozen, by: str = "") -> None:
        """Raises RoomStateError where that cannot happen now."""
        if isinstance(record, events.Joined):
            if by in self.people:
                raise RoomStateError("You are in this class already.")
            if len(self.people) >= MOST_PEOPLE:
                raise RoomStateError(f"This class is full: {MOST_PEOPLE} people have joined.")
            if self.phase == "over":
                raise RoomStateError("This class is over.")
        elif isinstance(record, events.Voted | events.Sketched):
            if by not in self.people:
                raise RoomStateError("Join this class first.")
            if self.phase != "voting" or record.place != self.place:
                raise RoomStateError("The vote on this card is closed.")
            card = self.cards[self.place]
            if isinstance(record, events.Voted) and record.value not in card.card.options:
                raise RoomStateError("That is not one of the answers.")
            if isinstance(record, events.Sketched) and not isinstance(card, SketchCard):
                raise RoomStateError("There is nothing to draw on this card.")
            if self._changes[type(record), self.place, by] >= MOST_CHANGES:
                raise RoomStateError("You changed your vote too often on this card. Your last vote counts.")
        elif isinstance(record, events.Rated):
            if by not in self.people:
                raise RoomStateError("Join this class first.")
            if self.phase not in ("voting", "closed") or record.place != self.place:
                raise RoomStateError("This explanation can no longer be rated.")
            if not self.can_rate(by):
                raise RoomStateError("On this card you have no explanation to rate.")
            if self._changes[events.Rated, self.place, by] >= MOST_CHANGES:
                raise RoomStateError("You changed your rating too often. Your last one counts.")
        elif record != self.next_move() and not (isinstance(record, events.RoomEnded) and self.phase == "revealed"):
            raise RoomStateError("The class has moved on.")

    def apply(self, event: Recorded) -> None:
        """Take in an event of the room's journal; one that is not possible, or not known, changes nothing."""
        try:
            record = events.RECORDS[event.record].model_validate(event.data)
            self.check(record, event.by)
        except (KeyError, ValidationError, RoomStateError):
            return
        if isinstance(record, events.Joined):
            self.people[event.by] = _Person(len(self.people), record.nickname)
        elif isinstance(record, events.Voted | events.Sketched | events.Rated):
            kept: Mapping[type[Frozen], Sequence[dict[str, Any]]]
            kept = {events.Voted: self._votes, events.Sketched: self._sketches, events.Rated: self._ratings}
            of_card = kept[type(record)][record.place]
            of_card[event.by] = record.ys if isinstance(record, events.Sketched) else record.value
            self._changes[type(record), record.place, event.by] += 1
        elif isinstance(record, events.CardOpened):
            self.place, self.phase = record.place, "voting"
            is_argued = self.opened.has_arms and record.place in self.opened.arguments
            if is_argued and self._first[record.place] == record.place and len(self.people) >= LEAST_FOR_THREE:
                self._with_arguments.add(record.place)
        else:
            self.phase = _AFTER[type(record)]

    def next_move(self) -> events.Move | None:
        """What comes next in this room; None at its end."""
        if self.phase == "voting":
            return events.VotingClosed(place=self.place)
        if self.phase == "closed":
            return events.Revealed(place=self.place)
        if self.phase == "over":
            return None
        is_last = self.place + 1 == len(self.cards)
        return events.RoomEnded() if is_last else events.CardOpened(place=self.place + 1)

    def arm(self, person: str, place: int) -> Arm:
        """What that person sees while predicting that card, drawn by the room's seed: of each two who joined one after
        the other one sees the reason, or of each three one has each arm. It is the same for all cards of one
        explanation.
        """
        if not self.opened.has_arms:
            return "reason"
        number, about = self.people[person].number, f"{self.opened.seed}|{self._last[place]}"
        if self._first[place] in self._with_arguments:
            return _ORDERS[int(len(_ORDERS) * unit_number(f"{about}|three|{number // 3}"))][number % 3]
        chance = unit_number(f"{about}|{number // 2}")
        return "reason" if (chance < 0.5) == (number % 2 == 0) else "none"

    def has_reason(self, person: str, place: int) -> bool:
        """Whether that person sees the reason while predicting that card."""
        return self.arm(person, place) == "reason"

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms that may occur in this room."""
        if not self.opened.has_arms:
            return ARMS[:1]
        return ARMS if self.opened.arguments else ARMS[:2]

    def is_reason_out(self, place: int) -> bool:
        """Whether everybody may see the reason of that card."""
        return not self.opened.has_arms or self._last[place] in self.turned or self.phase == "over"

    def can_rate(self, person: str) -> bool:
        """Whether that person may say now how convincing the explanation is: they see it, and no card of it has been
        revealed. What an exam shows is no model's explanation.
        """
        if self.phase not in ("voting", "closed") or self.opened.kind == "exam":
            return False
        claim = self.cards[self.place].claim
        is_shown = claim is not None and bool(claim.parts) and self.has_reason(person, self.place)
        return is_shown and self._first[self.place] == self.place

    def arguments(self, place: int) -> Arguments | None:
        """The arguments that some saw on that card; None where nobody did."""
        first = self._first[place]
        return self.opened.arguments[first] if first in self._with_arguments else None

    @property
    def turned(self) -> range:
        """The places that are revealed."""
        return range(self.place + (self.phase in ("revealed", "over")))

    def counts(self, place: int) -> dict[str, list[int]]:
        """Of a card the votes by answer, for each of `arms`. Raises RoomStateError where the card is not revealed."""
        self._must_be_turned(place)
        found = {value: [0] * len(self.arms) for value in self.cards[place].card.options}
        for person, value in self._votes[place].items():
            found[value][ARMS.index(self.arm(person, place))] += 1
        return found

    def sketches(self, place: int) -> list[tuple[int, ...]]:
        """The curves that were drawn on a card, in an order that says nothing of who drew them. Raises RoomStateError
        where the card is not revealed.
        """
        self._must_be_turned(place)
        return sorted(self._sketches[place].values())

    def hits(self, place: int) -> dict[str, int]:
        """Of a card with a function, by person, in how many parts of the range the curve is close to it. Raises
        RoomStateError where the card is not revealed.
        """
        self._must_be_turned(place)
        card = self.cards[place]
        if place not in self._hits and isinstance(card, SketchCard):
            self._hits[place] = {who: card.hits(card.line(ys)) for who, ys in self._sketches[place].items()}
        return self._hits.get(place, {})

    def _must_be_turned(self, place: int) -> None:
        if place not in self.turned:
            raise RoomStateError("This card is not revealed yet.")

    def ratings(self, place: int) -> list[int]:
        """How many people gave the explanation of that card each of RATINGS. Raises RoomStateError before the card is
        revealed and everybody may see the explanation.
        """
        if place not in self.turned or not self.is_reason_out(place):
            raise RoomStateError("This explanation is not revealed yet.")
        given = Counter(self._ratings[self._first[place]].values())
        return [given[value] for value in events.RATINGS]

    def convincing(self) -> tuple[RatedRow, ...]:
        """How convincing the explanations were that misled on a revealed card, beside those that predicted the answer
        on all cards they cover. Explanations that nobody rated are left out.
        """
        goings: dict[int, set[Going]] = {}
        for place in self.turned:
            if self.is_reason_out(place) and self._ratings[self._first[place]]:
                goings.setdefault(self._first[place], set()).add(self.cards[place].going)
        misled = [place for place, found in goings.items() if "misleads" in found]
        fit = [place for place, found in goings.items() if "comes true" in found and place not in misled]
        groups = {"Explanations that misled": misled, "Explanations that predicted the answer": fit}
        return tuple(self._rated(label, places) for label, places in groups.items() if places)

    def _rated(self, label: str, places: Sequence[int]) -> RatedRow:
        means = [fmean(self._ratings[place].values()) for place in places]
        ratings = sum(len(self._ratings[place]) for place in places)
        return RatedRow(label=label, mean=fmean(means), n=len(places), ratings=ratings)

    def score(self) -> tuple[ScoreRow, ...]:
        """The class beside two rules, all over the same revealed cards: where a rule can be told, those that the
        reasons decide. A card counts once, by the share of its votes that were right. Arms are apart where each had a
        vote on some card; the third where it had one on at least half of the cards on which the other two had. Curves
        that were drawn have a score of their own.
        """
        if any(self._sketches):
            return tuple(self._of_sketches())
        counts = {place: self.counts(place) for place in self.turned}
        groups = self.arms
        while len(groups) > 1 and not (places := _places(counts, len(groups))):
            groups = groups[:-1]
        if len(groups) == 3 and 2 * len(places) < len(halves := _places(counts, 2)):
            groups, places = groups[:2], halves
        apart = len(groups) > 1
        if not apart:
            places = [place for place, found in counts.items() if _votes(found)]
        are_out = all(self.is_reason_out(place) for place in places)
        decided = [place for place in places if self.cards[place].going != "does not say"] if are_out else []
        places = decided or places
        if not places:
            return ()
        labels = [_LABELS[arm] for arm in groups] if apart else ["You"]
        rows = [
            self._of_class(label, counts, places, (number,) if apart else ()) for number, label in enumerate(labels)
        ]
        cards = [self.cards[place] for place in places]
        if decided:
            rows.append(_of_rule("Taking its reasons literally", [one.card.expects[0].value for one in cards], cards))
        if are_out and all(one.truth in one.card.options for one in cards):
            rows.append(_of_rule("The correct answer", [one.truth for one in cards], cards))
        return tuple(rows)

    def _of_sketches(self) -> Iterator[ScoreRow]:
        """The share of the range on which curves are close to the function: of the class, and of others on the same
        functions, where all of them have such a curve.
        """
        drawn = {place: self.hits(place) for place in self.turned if self._sketches[place]}
        cards = [(place, card) for place in drawn if isinstance(card := self.cards[place], SketchCard)]
        if not cards:
            return
        shares = [fmean(drawn[place].values()) / card.parts for place, card in cards]
        votes = sum(map(len, drawn.values()))
        yield ScoreRow(label="You, on average", share=fmean(shares), n=len(cards), votes=votes, is_class=True)
        found = [(card.baselines(), card.parts) for _, card in cards]
        for label in found[0][0]:
            if all(label in others for others, _ in found):
                share = fmean(others[label] / parts for others, parts in found)
                yield ScoreRow(label=label, share=share, n=len(cards))

    def _of_class(
        self, label: str, counts: Mapping[int, Mapping[str, list[int]]], places: Sequence[int], arms: Sequence[int]
    ) -> ScoreRow:
        hits = [_votes({"": counts[place][self.cards[place].card.said]}, *arms) for place in places]
        shares = [hit / _votes(counts[place], *arms) for hit, place in zip(hits, places, strict=True)]
        votes = sum(_votes(counts[place], *arms) for place in places)
        return ScoreRow(label=label, share=sum(shares) / len(shares), n=len(shares), votes=votes, is_class=True)

    # What the screens show.

    def wall(self) -> dict[str, Any]:
        """What the projector shows now."""
        now, is_turned = self._now(), self.phase == "revealed"
        opened = self.opened
        now |= {"run": opened.run, "pack": opened.pack, "has_arms": opened.has_arms, "chosen": opened.chosen}
        now["joined"] = len(self.people)
        if self.phase == "lobby":
            named = [one.nickname for one in self.people.values() if one.nickname]
            now["names"], now["unnamed"] = named[-SHOWN_NAMES:], len(self.people) - len(named[-SHOWN_NAMES:])
        if self.phase in ("voting", "closed", "revealed"):
            now["voted"] = len(self._votes[self.place]) + len(self._sketches[self.place])
            now["round"] = self._round(self.place, "none")
            now["arms"] = 3 if self._first[self.place] in self._with_arguments else len(self.arms[:2])
        if is_turned:
            now["counts"] = self.counts(self.place)
            now["sketches"] = self.sketches(self.place)
            now["hits"] = sorted(self.hits(self.place).values())
            now["ratings"] = self.ratings(self.place) if self.is_reason_out(self.place) else []
        if self.phase in ("revealed", "over"):
            now["score"] = [row.model_dump() for row in self.score()]
        if self.phase == "over":
            now["models"] = self.models()
            now["convincing"] = [row.model_dump() for row in self.convincing()]
        return now

    def phone(self, person: str) -> dict[str, Any]:
        """What that person's phone shows now. Raises RoomStateError for who has not joined."""
        if person not in self.people:
            raise RoomStateError("Join this class first.")
        now = self._now() | {"nickname": self.people[person].nickname}
        if self.phase in ("voting", "closed", "revealed"):
            arm = self.arm(person, self.place)
            now["arm"], now["vote"] = arm, self._votes[self.place].get(person, "")
            now["sketch"] = self._sketches[self.place].get(person)
            if self.phase == "revealed":
                now["sketch_hits"] = self.hits(self.place).get(person, 0)
            now["can_rate"] = self.can_rate(person)
            now["rating"] = self._ratings[self._first[self.place]].get(person, 0)
            now["round"] = self._round(self.place, arm)
            now["is_first"] = not any(person in votes for votes in self._votes[: self.place])
        if self.phase == "over":
            own = [place for place, votes in enumerate(self._votes) if person in votes]
            hits = sum(self._votes[place][person] == self.cards[place].card.said for place in own)
            now |= {"hits": hits, "n": len(own), "models": self.models()}
            now["drawn"] = [
                (self.hits(place)[person], card.parts)
                for place, card in enumerate(self.cards)
                if isinstance(card, SketchCard) and person in self._sketches[place]
            ]
        return now

    def _now(self) -> dict[str, Any]:
        opened = self.opened
        told = {"code": opened.code, "title": opened.title, "kind": opened.kind, "it": self._it}
        return {**told, "phase": self.phase, "place": self.place, "of": len(self.cards)}

    def _round(self, place: int, arm: Arm) -> dict[str, Any]:
        """A card as it may be shown in that arm, in the form that the game draws."""
        if self.is_reason_out(place):
            arm = "reason"
        key = place, place in self.turned, arm
        if key not in self._rounds:
            arguments = self.opened.arguments.get(self._first[place]) if arm == "arguments" else None
            made = shown(self.cards[place], place in self.turned, arm == "reason", arguments)
            self._rounds[key] = {**made, "kind": self.opened.kind, "isCovered": arm == "none"}
        return self._rounds[key]

    def models(self) -> list[dict[str, Any]]:
        """Who the models were; nobody before the end."""
        found = {card.who.name: card.who for card in self.cards if card.who.name} if self.phase == "over" else {}
        return [found[name].model_dump() for name in sorted(found)]


_LABELS: dict[Arm, str] = {
    "reason": "You, with its reasons",
    "none": "You, without them",
    "arguments": "You, with for and against",
}
_AFTER: dict[type[Frozen], Phase] = {
    events.VotingClosed: "closed",
    events.Revealed: "revealed",
    events.RoomEnded: "over",
}


def shown(card: PackCard, is_turned: bool, has_reason: bool, arguments: Arguments | None = None) -> dict[str, Any]:
    """A card for a screen: before it `is_turned` the question alone, and without the reason nothing that tells it, but
    the `arguments` if there are any. What is not named here is left out.
    """
    one, claim = card.card, card.claim
    if not has_reason:
        # Marked words are those that the reason shares with the question.
        one = one.model_copy(update={"parts": tuple(map(_without_shared, one.parts))})
    if not (is_turned and has_reason):
        # Its mark and outcome would say what the reason led to expect.
        told = {"said": one.said, "text": one.text, "came": one.came} if is_turned else {}
        sealed = Card(id=one.id, number=one.number, mark="sealed", parts=one.parts, options=one.options)
        one = sealed.model_copy(update=told)
    plot = card.shown(is_turned) if isinstance(card, SketchCard) else None
    if claim is not None:
        # Code would be drawn after, instead of the words.
        code = "" if plot else claim.code
        claim = (
            Claim(answer=claim.answer, parts=claim.parts, domain=claim.domain, code=code)
            if has_reason
            else Claim(answer=claim.answer, parts=_sides(arguments) if arguments is not None else ())
        )
    return {
        "title": card.title,
        "who": Who(shown=card.who.shown, is_robot=card.who.is_robot).model_dump(),
        "claim": claim and claim.model_dump(),
        "card": one.model_dump(),
        "after": [part.model_dump() for part in card.after] if is_turned and has_reason else [],
        "plot": plot,
    }


def _without_shared(part: Part) -> Part:
    return part.model_copy(update={"spans": tuple(span for span in part.spans if span.mark != "shared")})


def _sides(arguments: Arguments) -> tuple[Part, Part]:
    return Part(label="For", text=arguments.in_favour), Part(label="Against", text=arguments.against)


def _votes(found: Mapping[str, list[int]], *arms: int) -> int:
    """The votes of these arms; of all without any."""
    return sum(count[arm] for count in found.values() for arm in arms or range(len(count)))


def _places(counts: Mapping[int, Mapping[str, list[int]]], arms: int) -> list[int]:
    """The cards on which each of the first `arms` arms has a vote."""
    return [place for place, found in counts.items() if all(_votes(found, arm) for arm in range(arms))]


def _of_rule(label: str, answers: Sequence[str], cards: Sequence[PackCard]) -> ScoreRow:
    hits = sum(answer == card.card.said for answer, card in zip(answers, cards, strict=True))
    return ScoreRow(label=label, share=hits / len(cards), n=len(cards))
