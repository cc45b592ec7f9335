"""Recorded trials as cards of the game, of which some are chosen or sampled."""

import random
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from ... import journal
from ...labs.base.lab import Lab
from ...labs.base.report import DIFFERED
from ...package_data import DATA
from ...runs.library import refusing_newer_journals
from ...transcript import Transcript, transcript
from .. import scenes
from .pack import UNKNOWN, GamePackError, Going, Pack, PackCard

MOST_OF_ONE = 2
"""The most cards about one question, in a pack that was chosen."""

MOST_ALIKE = 3
"""The most cards in a row with the same answer or the same outcome."""

GOINGS: tuple[Going, ...] = ("comes true", "misleads", "does not say")
_TRIES = 200


def choose_cards(cards: Sequence[PackCard], most: int, seed: int) -> list[PackCard]:
    """At most `most` of the cards, in playing order, with answers and outcomes as balanced as possible, at most
    MOST_OF_ONE about one question, and never more than MOST_ALIKE alike in a row.
    """
    chance = random.Random(seed)
    left = chance.sample(list(cards), len(cards))
    taken: list[PackCard] = []
    while left and len(taken) < most:
        said = Counter(one.card.said for one in taken)
        goings = Counter(one.going for one in taken)
        cells = Counter((one.going, one.card.said) for one in taken)
        of_one = Counter(one.question for one in taken)
        left = [one for one in left if of_one[one.question] < MOST_OF_ONE]
        if not left:
            break
        next_one = min(left, key=lambda one: (goings[one.going] + said[one.card.said], cells[one.going, one.card.said]))
        left.remove(next_one)
        taken.append(next_one)
    while taken and not (order := ordered(taken, chance)):
        # The card that was added last is of the kind that there is too much of.
        taken.pop()
    return order if taken else []


def ordered(cards: Sequence[PackCard], chance: random.Random) -> list[PackCard]:
    """The cards in an order without a pattern, with cards about one question apart if possible; empty if there is no
    such order.
    """
    for apart in (1, MOST_ALIKE):
        for _ in range(_TRIES):
            order: list[PackCard] = []
            left = chance.sample(list(cards), len(cards))
            while left:
                fitting = (one for one in left if not has_pattern([*order[-MOST_ALIKE:], one], apart))
                if (next_one := next(fitting, None)) is None:
                    break
                left.remove(next_one)
                order.append(next_one)
            if not left:
                return order
    return []


def has_pattern(cards: Sequence[PackCard], apart: int = MOST_ALIKE) -> bool:
    """Whether more than MOST_ALIKE cards in a row have the same answer or the same outcome, or more than `apart` the
    same question.
    """
    return (
        longest([one.card.said for one in cards]) > MOST_ALIKE
        or longest([one.going for one in cards]) > MOST_ALIKE
        or longest([one.question for one in cards]) > apart
    )


def longest(words: Sequence[object]) -> int:
    """The length of the longest run of equal words."""
    return max((len(list(same)) for _, same in groupby(words)), default=0)


def outcome_counts(cards: Sequence[PackCard]) -> str:
    """A sentence with the number of cards by outcome and by answer."""
    goings = Counter(one.going for one in cards)
    said = Counter(one.card.options.get(one.card.said, one.card.said) for one in cards)
    true, wrong, silent = (goings[one] for one in GOINGS)
    of_said = ", ".join(f"{n} {word}" for word, n in sorted(said.items()))
    return (
        f"On {true} the reason predicts the answer, on {wrong} it misleads, on {silent} it doesn't tell. "
        f"Answers: {of_said}."
    )


QUESTIONS = DATA / "questions"

LARGEST = 1_000_000
"""The most bytes of a file of true answers."""

Truths = Mapping[str, str]
"""The true answers by question, in the form that `lookup_form` gives it."""


class TrialCard(NamedTuple):
    """A recorded trial as a card, with whether it was annotated, why it cannot be a card of a chosen pack (empty if it
    can), and whether nothing about it can be predicted.
    """

    card: PackCard
    annotated: bool
    why: str
    is_open: bool


def lookup_form(question: str) -> str:
    """A question in the form in which it is looked up."""
    return " ".join(question.split()).casefold()


def truths(path: Path) -> Truths:
    """The true answers in a file of questions: each `[[question]]` has `question` and `gold`, and so does each of its
    `follow_ups`. Raises GamePackError.
    """
    found: dict[str, str] = {}
    try:
        if path.stat().st_size > LARGEST:
            raise GamePackError(f"{path.name} is too large: true answers take at most {LARGEST:,} bytes.")
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["question"]:
            for one in (entry, *entry.get("follow_ups", ())):
                found[lookup_form(one["question"])] = _word(one["gold"])
    except (OSError, UnicodeDecodeError, RecursionError, tomllib.TOMLDecodeError) as error:
        raise GamePackError(f"{path} cannot be read: {error}") from None
    except (KeyError, TypeError, AttributeError):
        raise GamePackError(f"{path.name} has a question without its words or its true answer.") from None
    return found


def _word(gold: object) -> str:
    return ("yes" if gold else "no") if isinstance(gold, bool) else str(gold)


def opened(run: str, labs: Mapping[str, Lab], folders: Sequence[Path]) -> tuple[Lab, Transcript]:
    """The lab and the state of a run in the first of `folders` that has it. Raises GamePackError if there is none, or
    if it is of no lab.
    """
    path = journal.find(run, *folders)
    if path is None:
        raise GamePackError(f"There is no run named {run[:100]!r}.")
    with refusing_newer_journals():
        state = transcript(journal.read(path).events)
    lab = labs.get(state.started.lab) if state.started and not state.started.about else None
    if lab is None:
        raise GamePackError(f"{run} is not a run of any lab in this app.")
    return lab, state


def trials(run: str, labs: Mapping[str, Lab], folders: Sequence[Path], true: Truths, seed: int) -> Iterator[TrialCard]:
    """The run's recorded trials as cards, in order. Raises GamePackError if there is no such run, or its lab has no
    game.
    """
    lab, state = opened(run, labs, folders)
    if lab.game is None:
        raise GamePackError(f"There is no game of {run}.")
    for case in state.in_order:
        scene = scenes.of_case(lab, state, case)
        for one in lab.game.cards(lab.view(state.case(case)), scene, seed):
            card = one.card.model_copy(update={"doubt": one.card.doubt or one.why})
            made = PackCard(
                run=run,
                case=case,
                who=one.who or scene.who,
                title=one.title or scene.title,
                claim=one.claim and one.claim.model_copy(update={"thinking": ()}),
                card=card,
                truth=true.get(lookup_form(one.asked), ""),
                after=one.after,
            )
            yield TrialCard(made, one.annotated, one.why, one.is_open)


def kind_of(runs: Sequence[str], labs: Mapping[str, Lab], folders: Sequence[Path]) -> str:
    """The game that these runs belong to. Raises GamePackError if they are of several labs."""
    kinds = {opened(run, labs, folders)[0].path for run in runs}
    if len(kinds) != 1:
        raise GamePackError(f"A pack belongs to one lab; these runs are of {', '.join(sorted(kinds)) or 'none'}.")
    return kinds.pop()


def sample_cards(found: Sequence[TrialCard], most: int, seed: int) -> list[PackCard]:
    """A random sample of at most `most` trials by `seed`, without trials about which nothing can be predicted."""
    cards = [one.card for one in found if not one.is_open]
    return random.Random(seed).sample(cards, min(most, len(cards)))


def tally(found: Sequence[TrialCard]) -> dict[str, int]:
    """How many trials were recorded, how many annotated, and on how many of these the annotators differed."""
    return {
        "recorded": len(found),
        "annotated": sum(one.annotated for one in found),
        "differed": sum(one.annotated and one.why == DIFFERED for one in found),
    }


# Checks whether a pack agrees with its journals.


MOST_SAID = 20
"""The most faults that are listed for one pack."""


def faults(pack: Pack, labs: Mapping[str, Lab], folders: Sequence[Path], questions: Path = QUESTIONS) -> Iterator[str]:
    """What is wrong with a pack, in sentences: cards that differ from the journals of their runs (in the first of
    `folders` that has them), counts, the order, the sample. `questions` is the folder of true answers.
    """
    try:
        kind = kind_of(pack.runs, labs, folders)
        true = truths(questions / pack.truths) if pack.truths else {}
        found = [one for run in pack.runs for one in trials(run, labs, folders, true, pack.seed or 0)]
    except GamePackError as error:
        yield str(error)
        return
    if kind != pack.kind:
        yield f"It says that it is of {pack.kind}, and its runs are of {kind}."
    yield from _counts(pack, found)
    by_place = {_place(one.card): one for one in found}
    for number, card in enumerate(pack.cards, start=1):
        for fault in _of_card(card, by_place.get(_place(card)), pack.as_it_came):
            yield f"Card {number}: {fault}"
    yield from _choice(pack, found)


def _place(card: PackCard) -> tuple[str, str, str]:
    return card.run, card.case, card.card.id


def _counts(pack: Pack, found: Sequence[TrialCard]) -> Iterator[str]:
    for name, number in tally(found).items():
        if (said := getattr(pack, name)) != number:
            yield f"It says {name}: {said}, and in the journals it is {number}."


def _of_card(card: PackCard, recorded: TrialCard | None, as_it_came: bool) -> Iterator[str]:
    """How a card differs from its journal."""
    if recorded is None:
        yield f"its runs have no trial {card.card.id[:60]!r} of the case {card.case[:60]!r} in {card.run[:80]!r}."
        return
    true = recorded.card
    for name in PackCard.model_fields:
        if name != "card" and getattr(card, name) != getattr(true, name):
            yield f"its {name} is not what stands in the journal."
    for name in type(card.card).model_fields:
        if getattr(card.card, name) != getattr(true.card, name):
            yield f"its card's {name} is not what stands in the journal."
    if recorded.is_open or (recorded.why and not as_it_came):
        yield f"it is no card: {recorded.why}."


def _choice(pack: Pack, found: Sequence[TrialCard]) -> Iterator[str]:
    """Faults in how the cards were chosen and ordered."""
    if any(n > 1 for n in Counter(map(_place, pack.cards)).values()):
        yield "A trial is on two cards."
    if pack.as_it_came:
        if list(pack.cards) != sample_cards(found, len(pack.cards), pack.seed or 0):
            yield f"These are not the cards that seed {pack.seed} draws."
        return
    many = Counter(card.question for card in pack.cards)
    if any(n > MOST_OF_ONE for n in many.values()):
        yield f"More than {MOST_OF_ONE} cards are of one question."
    if has_pattern(pack.cards):
        yield f"More than {MOST_ALIKE} cards in a row are alike."
    if outcome_counts(pack.cards) not in pack.chosen:
        yield "How it was chosen is not what its cards say."
    if any(card.truth not in ("", *card.card.options) or card.truth == UNKNOWN for card in pack.cards):
        yield "A true answer is none of the options."
