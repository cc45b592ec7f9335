"""When two pieces of text say the same word, and when two say the same answer."""

from __future__ import annotations

import functools
import re
import unicodedata

_NUMBER = re.compile(r"[-+]?\d[\d ,]*(?:\.\d+)?")
_LETTERS_WITHOUT_ACCENT_FORM = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "’": "'", "ʻ": ""})
_FILLERS = {"the", "a", "an", "and", "or"}


@functools.lru_cache(4096)
def normal(text: str) -> str:
    """`text` without case, accents, punctuation, outer article and extra spaces: "The Rhine." and "rhine" are equal.

    Signs that carry meaning stay: `%`, `+`, `:` and the point or minus of a number.
    """
    # Letters of other alphabets' styles (𝖠) have their case only once they are taken apart.
    plain = unicodedata.normalize("NFKD", text).casefold().translate(_LETTERS_WITHOUT_ACCENT_FORM)
    plain = unicodedata.normalize("NFKD", plain)
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", plain)
    plain = re.sub(r"(?<=\w)'s\b", "s", plain)
    plain = re.sub(r"(?<!\d)\.|\.(?!\d)|[^\w\s%+:.\-]|(?<=[^\W\d])-(?=[^\W\d])", " ", plain)
    words = plain.replace("_", " ").split()
    if len(words) > 1 and words[0] in {"the", "a", "an"}:
        words = words[1:]
    return " ".join(words)


def same_answer(given: str, accepted: str, tolerance: float = 0.0) -> bool:
    """Whether `given` says what `accepted` says. The order of words does not count, nor do articles and "and".

    With a `tolerance` both are read as numbers and may differ by that share of `accepted`; units are not converted.
    """
    if tolerance:
        value, wanted = number(given), number(accepted)
        return value is not None and wanted is not None and abs(value - wanted) <= tolerance * abs(wanted)
    return _bag(given) == _bag(accepted)


def number(text: str) -> float | None:
    """The first number in `text`, thousands separators removed; None without one."""
    match = _NUMBER.search(text)
    return float(match[0].replace(",", "").replace(" ", "")) if match else None


def _bag(text: str) -> list[str]:
    return sorted(word for word in normal(text).split() if word not in _FILLERS)
