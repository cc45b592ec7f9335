"""New questions as cards of the game: a prediction, the actual answer, and what the explanation implies."""

from __future__ import annotations

from collections.abc import Iterator

from ...scene import Scene
from ...text.display import first_sentence
from ..base.cases import DIFFERED, Playable
from .parse_answers.values import GUESSES, NEITHER, UNKNOWN
from .stepwise_simulation import reasons
from .view import COUNTED, AskView, CounterfactualRow, Outcome

SAYS_NOT = "It does not say"
"""The option for a player if the explanation does not cover the question."""

IN_ITS_WORDS = 400
"""Maximum number of characters of an answer on a card."""

_READ = 4_000
"""How many characters of an answer are searched for them."""

_TESTED: tuple[Outcome, ...] = (*COUNTED, "cannot guess", "unread")


def cards(view: AskView, scene: Scene, seed: int) -> Iterator[Playable]:
    """Yield a card for each new question that was asked, unless it was added by hand; `scene` is the case's, `seed` has
    no effect. The first of a card's `expects` is the first predictor's, from the explanation alone.
    """
    for row, card in zip(view.rows.values(), scene.cards, strict=True):
        if row.by_hand or row.counterfactual is None or row.answer is None or row.outcome not in _TESTED:
            continue
        readers = [one for one in (row.simulation, *row.further) if one is not None]
        is_open = row.answer.repaired not in GUESSES
        shown = card.model_copy(
            update={
                "options": {**card.options, UNKNOWN: SAYS_NOT},
                "expects": card.expects[: len(readers)],
                "text": _in_its_words(view, row),
                "reason": "",
            }
        )
        yield Playable(
            card=shown,
            claim=scene.claim,
            asked=row.counterfactual.text,
            annotated=bool(readers),
            why="its answer could not be read" if is_open else _why(row, [one.repaired for one in readers]),
            is_open=is_open,
        )


def _why(row: CounterfactualRow, read: list[str]) -> str:
    """Return why it is not certain what the explanation implies."""
    if not read:
        return "nobody read what its explanation implies"
    differ = len(set(read)) > 1 or NEITHER in read
    return DIFFERED if differ else row.unjudged or row.doubt


def _in_its_words(view: AskView, row: CounterfactualRow) -> str:
    """Return the model's answer in one line, without the sentences that only state its verdict."""
    assert row.answer is not None
    call = view.log.calls.get(row.answer.call)
    text = (row.answer.explanation or (call.text if call else ""))[:_READ]
    said = reasons(text, view.spec.task if view.spec else "strategyqa") or text
    line = " ".join(said.split())
    return line if len(line) <= IN_ITS_WORDS else first_sentence(line, IN_ITS_WORDS)
