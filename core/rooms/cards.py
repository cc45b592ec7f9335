"""The cards of a room: trials of a run, cards of a pack of the game, or a function to draw."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ..labs.base.lab import Lab
from ..report import scenes
from ..report.evidence import is_predictable
from ..report.game import making
from ..report.game.pack import UNKNOWN, GamePackError, PackCard, load_pack
from ..scene import Card, Plot
from ..statistics.groups import grouped
from ..transcript import Transcript
from .events import CardRef
from .sketches import SketchCard, can_be_drawn

MOST_CARDS = 10
"""Cards of a room: about twenty minutes of a lesson."""


SKETCH = "sketch"
"""The kind of a room whose cards are functions to draw."""

_OF_DAY = re.compile(r"function-([0-9]{8})")
"""The name, in place of a pack's, of the function of a day."""

_SEED = re.compile(r" \(seeds? [^()]{1,80}\)")
"""In a title, the seed of a function, from which anybody could generate it."""


class CardSource(NamedTuple):
    """All cards that a room may have. `has_arms`: a reason may be hidden on them, since one can predict without it.
    `is_selected`: somebody chose them, so that they are no sample.
    """

    title: str
    kind: str
    cards: tuple[PackCard, ...]
    has_arms: bool
    is_selected: bool = False


def source(run: str, pack: str, labs: Mapping[str, Lab], folders: Sequence[Path]) -> CardSource:
    """The cards of that run, or of that pack where no run is named; the pack `function-20261126` is the function of
    that day. Raises GamePackError where there are none.
    """
    if run:
        return _without_seeds(_of_run(run, labs, folders))
    if (day := _OF_DAY.fullmatch(pack)) is not None:
        return _of_day(day[1], labs)
    found = load_pack(pack)
    lab = next((one for one in labs.values() if one.path == found.kind), None)
    has_arms = lab is not None and _has_arms(lab)
    return CardSource(found.title, found.kind, _with_a_choice(found.cards), has_arms, not found.as_it_came)


def _without_seeds(found: CardSource) -> CardSource:
    cards = tuple(one.model_copy(update={"title": _SEED.sub("", one.title)}) for one in found.cards)
    return found._replace(title=_SEED.sub("", found.title), cards=cards)


def _of_day(written: str, labs: Mapping[str, Lab]) -> CardSource:
    """The function of a day. Raises GamePackError."""
    with suppress(ValueError):
        day = datetime.strptime(written, "%Y%m%d").replace(tzinfo=UTC).date()
        for lab in labs.values():
            if lab.drawn_curves is not None:
                title, plot = lab.drawn_curves.of_day(day)
                return CardSource(title, SKETCH, (_to_draw(lab, plot, case=written, title=title),), has_arms=False)
    raise GamePackError(f"There is no function of the day {written}.")


def _to_draw(lab: Lab, plot: Plot, case: str, title: str, **fields: object) -> SketchCard:
    card = Card(id=SKETCH, number=1, mark="waiting")
    told = {"run": "", "who": {}, **fields, "case": case, "title": title, "card": card}
    return SketchCard.model_validate({**told, "plot": plot, "lab_curves": lab.drawn_curves})


def _has_arms(lab: Lab) -> bool:
    return lab.game is not None and lab.game.guess_record is not None


def _of_run(run: str, labs: Mapping[str, Lab], folders: Sequence[Path]) -> CardSource:
    lab, state = making.opened(run, labs, folders)
    if drawn := tuple(_to_be_drawn(run, lab, state)):
        return CardSource(state.cases[state.only].title, SKETCH, drawn, has_arms=False)
    if lab.game is not None:
        trials = making.trials(run, labs, folders, _truths(), 0)
        cards = tuple(one.card for one in trials if not one.is_open)
    else:
        cards = tuple(_of_scenes(run, lab, state))
    cards = _with_a_choice(cards)
    if not cards:
        raise GamePackError("There is nothing to predict in this run.")
    return CardSource(state.cases[state.only].title, lab.path, cards, _has_arms(lab))


def _with_a_choice(cards: Sequence[PackCard]) -> tuple[PackCard, ...]:
    """Those that can be predicted. "It does not say" is left out of the answers where nothing it is said of can come:
    everybody predicts, so that those who see the reason can be compared with those who do not.
    """
    fit = [one for one in cards if one.card.said in one.card.options]
    if any(one.card.said == UNKNOWN for one in fit):
        return tuple(fit)
    options = [{value: words for value, words in one.card.options.items() if value != UNKNOWN} for one in fit]
    return tuple(
        one.model_copy(update={"card": one.card.model_copy(update={"options": some})})
        for one, some in zip(fit, options, strict=True)
    )


def _to_be_drawn(run: str, lab: Lab, state: Transcript) -> Iterator[SketchCard]:
    """The functions of a run that a class can draw."""
    for case in state.in_order if lab.drawn_curves is not None else ():
        scene = scenes.of_case(lab, state, case)
        if scene.plot is not None and can_be_drawn(scene.plot):
            title = scene.title or scene.case
            yield _to_draw(lab, scene.plot, case, title, run=run, who=scene.who, claim=scene.claim)


def _of_scenes(run: str, lab: Lab, state: Transcript) -> Iterator[PackCard]:
    """The cards of a lab that has none for the game: those that one can predict in a run."""
    for case in state.in_order:
        scene = scenes.of_case(lab, state, case)
        title = scene.title or scene.case
        for card in filter(is_predictable, scene.cards):
            yield PackCard(run=run, case=case, who=scene.who, title=title, claim=scene.claim, card=card)


@lru_cache(maxsize=1)
def _truths() -> making.Truths:
    """The true answers that come with the app."""
    found: dict[str, str] = {}
    for path in sorted(making.QUESTIONS.glob("*.toml")):
        with suppress(GamePackError):
            found |= making.truths(path)
    return found


def sampled(found: CardSource, seed: int, most: int = MOST_CARDS) -> tuple[PackCard, ...]:
    """At most `most` of the cards, by `seed`: of as many explanations as there are, those of one explanation together.
    Cards that somebody chose are balanced by answer and outcome.
    """
    chance = random.Random(seed)
    of_case = grouped(((card.run, card.case), card) for card in chance.sample(found.cards, len(found.cards)))
    depth = 1
    while sum(len(cards[:depth]) for cards in of_case.values()) < min(most, len(found.cards)):
        depth += 1
    candidates = [card for cards in of_case.values() for card in cards[:depth]]
    if found.is_selected:
        taken = making.choose_cards(candidates, most, seed)
    else:
        taken = chance.sample(candidates, min(most, len(candidates)))
    order = list(dict.fromkeys((card.run, card.case) for card in taken))
    return tuple(sorted(taken, key=lambda card: order.index((card.run, card.case))))


def how_chosen(found: CardSource, taken: Sequence[PackCard]) -> str:
    """How the cards of a room were chosen, in a sentence."""
    if found.is_selected:
        return "We picked these cards. They are examples, not evidence."
    if len(taken) == len(found.cards):
        return "" if found.kind == SKETCH else "These are all the cards of this run."
    return f"These are {len(taken)} of {len(found.cards)} cards, sampled at random."


def refs(cards: Sequence[PackCard]) -> tuple[CardRef, ...]:
    """Where each card comes from."""
    return tuple(CardRef(run=card.run, case=card.case, trial=card.card.id) for card in cards)


def found_again(found: CardSource, wanted: Sequence[CardRef]) -> tuple[PackCard, ...]:
    """The cards that these name. Raises GamePackError where one is gone."""
    known = dict(zip(refs(found.cards), found.cards, strict=True))
    try:
        return tuple(known[one] for one in wanted)
    except KeyError:
        raise GamePackError("A card of this class is gone: its run was changed or deleted.") from None
