"""Checks whether a pack agrees with its journals."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...labs.base.lab import Lab
from . import making
from .making import QUESTIONS, TrialCard, kind_of, sample_cards, tally, trials, truths
from .pack import UNKNOWN, GamePackError, Pack, PackCard

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
    if any(n > making.MOST_OF_ONE for n in many.values()):
        yield f"More than {making.MOST_OF_ONE} cards are of one question."
    if making.has_pattern(pack.cards):
        yield f"More than {making.MOST_ALIKE} cards in a row are alike."
    if making.outcome_counts(pack.cards) not in pack.chosen:
        yield "How it was chosen is not what its cards say."
    if any(card.truth not in ("", *card.card.options) or card.truth == UNKNOWN for card in pack.cards):
        yield "A true answer is none of the options."
