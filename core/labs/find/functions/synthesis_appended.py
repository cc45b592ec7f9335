"""The one inner parameter that cannot be tried out: the text that `string_concatenate` appends before another atom."""

from __future__ import annotations

import itertools
import string
from collections import Counter
from collections.abc import Iterator, Sequence

from core.labs.find.functions.string_atoms import WORDS, rotate_all
from core.labs.find.functions.synthesis_outer import Texts, extend_mapping

_LETTER_SET = set(string.ascii_letters)
_NUMBERS = {word: number for number, word in WORDS.items()}
LENGTHS = range(1, 6)


def appended_texts(inputs: Texts, outputs: Texts, hints: Sequence[str]) -> Iterator[str]:
    """Texts of 1 to 5 letters that may have been appended to `inputs`, judged by `outputs` and `hints`; the likely
    ones first. Inputs are taken to come longest first.
    """
    yield from (hint for hint in hints if len(hint) in LENGTHS and set(hint) <= _LETTER_SET)
    if all(word in _NUMBERS or word == "unknown" for word in outputs):
        yield from _by_counts()
    yield from _by_first_positions(inputs, outputs)
    yield from _by_mapping(inputs, outputs)
    votes: Counter[str] = Counter()
    for x, y in zip(inputs, outputs, strict=True):
        votes.update(set(_traces(x, y)))
    yield from (text for text, _ in votes.most_common(1500))


def _by_counts() -> Iterator[str]:
    """Where only numbers come out: a text for each number of vowels and consonants in both cases, then each letter."""
    for kinds in itertools.product(range(6), repeat=4):
        if 1 <= sum(kinds) <= 5:
            yield "a" * kinds[0] + "E" * kinds[1] + "b" * kinds[2] + "C" * kinds[3]
    for letter in string.ascii_letters:
        yield from (filler * k + letter for k in range(5) for filler in "ab")


def _traces(x: str, y: str) -> Iterator[str]:
    """What an outer atom may have left of the appended text in the output `y` of `x`."""
    for length in LENGTHS:
        n = len(x) + length
        half = n // 2
        pieces = {
            y[-length:],
            y[len(x) : n],
            y[:length][::-1],
            y[-length - 1 : -1],
            y[1 : length + 1][::-1],
            y[half : half + length][::-1],
            y[len(x) : n - 1] + y[:1],
            y[-1:] + y[: length - 1][::-1],
        }
        if y.split():
            pieces.add(y.split()[-1][:length][::-1])
        for piece in pieces:
            if len(piece) != length:
                continue
            if set(piece) <= _LETTER_SET:
                yield piece
                yield piece.swapcase()
                yield rotate_all(piece, -n)
                yield from (rotate_all(piece, by) for by in range(1, 26))
            elif set(piece) <= _LETTER_SET | {" "}:
                yield from (piece.replace(" ", letter) for letter in string.ascii_letters)
            elif set(piece[:-1]) <= _LETTER_SET:
                yield from (piece[:-1] + letter for letter in string.ascii_letters)


def _by_mapping(inputs: Texts, outputs: Texts) -> Iterator[str]:
    """Under map_string: the letters whose images stand at the end."""
    longer = {len(y) - len(x) for x, y in zip(inputs, outputs, strict=True)}
    if len(longer) != 1 or (length := longer.pop()) not in LENGTHS:
        return
    images: dict[str, str] = {}
    if not all(extend_mapping(images, x, y[: len(x)]) for x, y in zip(inputs, outputs, strict=True)):
        return
    before = {image: letter for letter, image in images.items()}
    free = (letter for letter in string.ascii_lowercase if letter not in images)
    text = ""
    for image in outputs[0][-length:]:
        if image not in before:
            before[image] = next(free)
        text += before[image]
    yield text


def _by_first_positions(inputs: Texts, outputs: Texts) -> Iterator[str]:
    """Under get_alpha_indexes: each appended letter by itself, from the position where it first occurs."""
    for length in LENGTHS:
        text = ""
        for place in range(length):
            for letter in string.ascii_letters:
                if all(_points_at(x, y, text, letter, place - length) for x, y in zip(inputs, outputs, strict=True)):
                    text += letter
                    break
            else:
                break
        if len(text) == length:
            yield text


def _points_at(x: str, y: str, text: str, letter: str, place: int) -> bool:
    words = y.split(" ")
    return len(words) >= -place and words[place] == WORDS.get((x + text + letter).index(letter), "")
