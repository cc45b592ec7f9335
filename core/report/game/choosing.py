"""Which cards make a pack, and in which order: by chance that is the same on every machine."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from .pack import Going, PackCard

MOST_OF_ONE = 2
"""Cards of one question, in a pack that was chosen."""

MOST_ALIKE = 3
"""Cards in a row with the same answer, or of the same outcome."""

GOINGS: tuple[Going, ...] = ("comes true", "misleads", "does not say")
_TRIES = 200


def chosen(cards: Sequence[PackCard], most: int, seed: int) -> list[PackCard]:
    """At most `most` of the cards, in order: as many as can be of each answer and each outcome, at most MOST_OF_ONE of
    one question, and never more than MOST_ALIKE alike in a row.
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
        # What came last is what there was too much of.
        taken.pop()
    return order if taken else []


def ordered(cards: Sequence[PackCard], chance: random.Random) -> list[PackCard]:
    """The cards in an order that gives no pattern, two of one question apart where that can be; none where there is no
    such order.
    """
    for apart in (1, MOST_ALIKE):
        for _ in range(_TRIES):
            order: list[PackCard] = []
            left = chance.sample(list(cards), len(cards))
            while left:
                fitting = (one for one in left if not _is_pattern([*order[-MOST_ALIKE:], one], apart))
                if (next_one := next(fitting, None)) is None:
                    break
                left.remove(next_one)
                order.append(next_one)
            if not left:
                return order
    return []


def _is_pattern(cards: Sequence[PackCard], apart: int = MOST_ALIKE) -> bool:
    return (
        longest([one.card.said for one in cards]) > MOST_ALIKE
        or longest([one.going for one in cards]) > MOST_ALIKE
        or longest([one.question for one in cards]) > apart
    )


def longest(words: Sequence[object]) -> int:
    """The most of the same in a row."""
    return max((len(list(same)) for _, same in groupby(words)), default=0)


def has_pattern(cards: Sequence[PackCard]) -> bool:
    """Whether more than MOST_ALIKE in a row have the same answer, or come to the same."""
    return _is_pattern(cards)


def counts(cards: Sequence[PackCard]) -> str:
    """How many come to what, and how often which answer came."""
    goings = Counter(one.going for one in cards)
    said = Counter(one.card.options.get(one.card.said, one.card.said) for one in cards)
    true, wrong, silent = (goings[one] for one in GOINGS)
    of_said = ", ".join(f"{n} {word}" for word, n in sorted(said.items()))
    return (
        f"On {true} the reason predicts the answer, on {wrong} it misleads, on {silent} it doesn't tell. "
        f"Answers: {of_said}."
    )
