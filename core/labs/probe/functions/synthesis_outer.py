"""The outer step of `synthesis`: atoms, with parameters, that turn one list of texts into another."""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator, Sequence

from .string_atoms import WORDS, rotate_at
from .strings import STRING_ATOMS, TRIED, StringAtom

Texts = tuple[str, ...]
Values = tuple[int | str, ...]

ERRORS = (IndexError, KeyError, ValueError, TypeError)

_LETTERS = string.ascii_letters
_LETTER_SET = set(_LETTERS)
_DIGITS = set(string.digits)
_WORDS = {*WORDS.values(), "unknown", "none"}
_SIGNS = {"add_order_to_inx": 1, "sub_order_to_inx": -1}
"""The atoms that sample a position, and in which direction they move the letter there."""


def fit_outer(texts: Texts, outputs: Texts) -> Iterator[StringAtom]:
    """Yield the atoms that turn each of `texts` into the output at the same index; the likely ones first."""
    longer = [len(y) - len(z) for z, y in zip(texts, outputs, strict=True)]
    least, most = min(longer), max(longer)
    names: list[str] = []
    if least == most == 0:
        names += TRIED["same_length"]
    if least == most and 1 <= most <= 5:
        names.append("string_concatenate")
    if least == most == 1:
        names += TRIED["one_longer"]
    if least >= 0 and most == 1:
        names.append("add_letter_if_needed")
    if most <= 0:
        names += TRIED["shorter"]
    if all(y in _WORDS for y in outputs):
        names += TRIED["words"]
    for name in (*names, *TRIED["any_length"]):
        for values in _values(name, texts, outputs):
            if holds(name, values, texts, outputs):
                yield StringAtom(name=name, parameters=dict(zip(STRING_ATOMS[name].parameters, values, strict=True)))


def holds(name: str, values: Sequence[int | str], texts: Texts, outputs: Texts) -> bool:
    """Whether the atom turns each text into its output; for a random atom, whether it can."""
    pairs = zip(texts, outputs, strict=True)
    if name in _SIGNS:
        return all(any(drawn == y for drawn in outcomes(z, _SIGNS[name])) for z, y in pairs)
    apply = STRING_ATOMS[name].apply
    try:
        return all(apply(text, *values) == output for text, output in pairs)
    except ERRORS:
        return False


def outcomes(text: str, sign: int) -> list[str]:
    """Return everything that an atom which samples a position may give."""
    return sorted({rotate_at(text, position, sign) for position in range(len(text))} or {text})


def _values(name: str, texts: Texts, outputs: Texts) -> Iterable[Values]:
    """Return the values of the atom's parameters that are compatible with the first changed text and its output."""
    parameters = STRING_ATOMS[name].parameters
    if parameters == ():
        return [()]
    changed = ((z, y) for z, y in zip(texts, outputs, strict=True) if z != y)
    z, y = next(changed, (texts[0], outputs[0]))
    place = next((k for k, (a, b) in enumerate(zip(z, y, strict=False)) if a != b), min(len(z), len(y)))
    before, after, middle = z[place : place + 1], y[place : place + 1], y[len(z) // 2 :][:1]
    by = (ord(after) - ord(before)) % 26 if before and after else 0
    may_be_lower_case = after.islower() or before.lower() == after.lower()
    options: Iterable[Values] = []
    match parameters:
        case ("number",):
            inserted = int(middle) if middle in _DIGITS else 0
            options = [(number,) for number in (by, 26 - by, inserted) if 1 <= number <= 9]
        case ("index",) if may_be_lower_case:
            options = [(index,) for index in range(1, 10)]
        case ("letter",):
            letters = _LETTERS if name in TRIED["words"] else dict.fromkeys((before, after, middle, y[-1:]))
            options = [(letter,) for letter in letters if letter in _LETTER_SET]
        case ("shift",):
            options = [(shift,) for shift in _shifts(texts, outputs)]
        case ("index1", "index2"):
            pairs = [tuple(_touched(texts, outputs))] if name == "swap_rand" else [(by, place)]
            options = [pair for pair in pairs if len(set(pair)) == 2 and max(pair) <= 9]
        case ("old", "new") if z != y:
            options = [(before, after)] if {before, after} <= _LETTER_SET else []
        case ("old", "new"):  # nothing changes, so the replaced letter never occurs
            unused = [letter for letter in _LETTERS if letter not in "".join(texts)]
            options = [(unused[0], unused[1])] if len(unused) > 1 else []
        case ("text",):
            options = [(y[len(z) :],)] if set(y[len(z) :]) <= _LETTER_SET else []
        case ("mapping",) if may_be_lower_case:
            options = [(_mapping(texts, outputs),)]
    return options


def _shifts(texts: Texts, outputs: Texts) -> list[int]:
    """Return 0 and the distances, up to 25, by which the first and last characters moved."""
    steps = {abs(ord(y[end]) - ord(z[end])) for z, y in zip(texts, outputs, strict=True) if z and y for end in (0, -1)}
    return [step for step in sorted({0, *steps}) if step <= 25]


def _touched(texts: Texts, outputs: Texts) -> list[int]:
    """Return the positions at which any text differs from its output."""
    pairs = zip(texts, outputs, strict=True)
    return sorted({k for z, y in pairs for k, (a, b) in enumerate(zip(z, y, strict=False)) if a != b})


def _mapping(texts: Texts, outputs: Texts) -> str:
    """Return the images of a to z; letters that were not seen get the remaining images, themselves if free. An empty
    string if it is not a mapping.
    """
    images: dict[str, str] = {}
    for before, after in zip("".join(texts).lower(), "".join(outputs), strict=False):
        if before in string.ascii_lowercase:
            images.setdefault(before, after)
    if len(set(images.values())) < len(images) or not set(images.values()) <= set(string.ascii_lowercase):
        return ""
    free = [letter for letter in string.ascii_lowercase if letter not in images.values()]
    for letter in string.ascii_lowercase:
        if letter not in images:
            images[letter] = letter if letter in free else free[0]
            free.remove(images[letter])
    return "".join(images[letter] for letter in string.ascii_lowercase)
