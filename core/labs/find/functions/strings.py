"""String functions: one of 67 atoms, or an outer one applied to what an inner one gives (paper §2.2)."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from core.events import Frozen
from core.labs.find.functions import string_atoms as atoms
from core.labs.find.functions.base import Category, FindFunction, UndefinedInput


class StringAtomKind(NamedTuple):
    """`apply` takes the text, then the parameters in their order, then `rng` where `is_random`."""

    apply: Callable[..., str]
    description: str
    parameters: tuple[str, ...] = ()
    is_random: bool = False
    sampled: bool = True


_ROTATED = "each letter moved {number} places {way} in the alphabet, round from one end to the other"

STRING_ATOMS: dict[str, StringAtomKind] = {
    "convert_to_lowercase": StringAtomKind(str.lower, "puts every letter into lower case"),
    "convert_to_uppercase": StringAtomKind(str.upper, "puts every letter into upper case"),
    "capitalize_string": StringAtomKind(
        str.capitalize, "puts the first character into upper case, the rest into lower"
    ),
    "reverse_string": StringAtomKind(atoms.reverse_string, "writes the text backwards"),
    "reverse_string_first_half": StringAtomKind(
        atoms.reverse_string_first_half, "reverses the first half; a centre character belongs to the second half"
    ),
    "reverse_string_last_half": StringAtomKind(
        atoms.reverse_string_last_half, "reverses the second half, which holds a centre character"
    ),
    "extract_digits": StringAtomKind(atoms.extract_digits, "gives the digits as words with a space between, in order"),
    "remove_digits": StringAtomKind(atoms.remove_digits, "drops all digits"),
    "extract_uppers": StringAtomKind(atoms.extract_uppers, "keeps only the upper-case letters"),
    "remove_whitespace": StringAtomKind(atoms.remove_whitespace, "drops all white space"),
    "get_string_length": StringAtomKind(
        atoms.get_string_length, 'gives the number of characters as a word, "unknown" above thirty'
    ),
    "get_digit_indexes": StringAtomKind(
        atoms.get_digit_indexes,
        "if the last character is a digit, gives as a word the position (from zero) where that digit first occurs; "
        "otherwise nothing",
    ),
    "get_alpha_indexes": StringAtomKind(
        atoms.get_alpha_indexes,
        "for each letter in turn, gives as a word the position (from zero) where that same letter first occurs",
    ),
    "get_first_character": StringAtomKind(lambda text: text[0], "gives the first character"),
    "get_last_character": StringAtomKind(lambda text: text[-1], "gives the last character"),
    "get_mid_character": StringAtomKind(
        atoms.get_mid_character, "gives the central character, or the central two where the length is even"
    ),
    "remove_duplicates": StringAtomKind(atoms.remove_duplicates, "keeps only the first occurrence of each character"),
    "reverse_words": StringAtomKind(
        atoms.reverse_words, "writes each word backwards, words in their order with one space between"
    ),
    "count_vowels": StringAtomKind(atoms.count_vowels, "gives the number of vowels as a word"),
    "replace_vowels_with_character": StringAtomKind(
        atoms.replace_vowels_with_character, 'replaces each vowel by "{letter}"', ("letter",)
    ),
    "replace_vowels_with_first": StringAtomKind(
        atoms.replace_vowels_with_first, "replaces each vowel by the first character"
    ),
    "replace_vowels_with_last": StringAtomKind(
        atoms.replace_vowels_with_last, "replaces each vowel by the last character"
    ),
    "replace_vowels_with_mid": StringAtomKind(
        atoms.replace_vowels_with_mid, "replaces each vowel by the middle character (the right one of two)"
    ),
    "replace_vowels_with_ind_of_count": StringAtomKind(
        atoms.replace_vowels_with_ind_of_count, "counts the vowels, v, and replaces each by the v-th character"
    ),
    "reverse_vowels": StringAtomKind(atoms.reverse_vowels, "reverses the order of the vowels among their places"),
    "capitalize_alternating_letters": StringAtomKind(
        atoms.capitalize_alternating_letters, "makes the first, third, fifth … character upper case, the others lower"
    ),
    "count_consonants": StringAtomKind(
        atoms.count_consonants, "gives the number of consonants as a word, lower-case a counted as one of them"
    ),
    "count_uppercase": StringAtomKind(atoms.count_uppercase, "gives the number of upper-case letters as a word"),
    "count_lowercase": StringAtomKind(atoms.count_lowercase, "gives the number of lower-case letters as a word"),
    "count_character_repetitions": StringAtomKind(
        atoms.count_letter, 'gives as a word how often "{letter}" occurs', ("letter",)
    ),
    "string_strip": StringAtomKind(str.strip, "drops white space at both ends"),
    "string_lstrip": StringAtomKind(str.lstrip, "drops white space at the start"),
    "string_rstrip": StringAtomKind(str.rstrip, "drops white space at the end"),
    "add_number_to_string": StringAtomKind(
        atoms.add_number_to_string, "gives " + _ROTATED.replace("{way}", "on"), ("number",)
    ),
    "advance_by_character_order": StringAtomKind(
        atoms.advance_by_character_order,
        "takes the alphabet place (a is 0) of the character at position {index} (from zero) and moves every letter "
        "that many places on, all in lower case; texts too short for it stay",
        ("index",),
    ),
    "substract_by_character_order": StringAtomKind(
        atoms.substract_by_character_order,
        "takes the alphabet place (a is 0) of the character at position {index} (from zero) and moves every letter "
        "that many places back, all in lower case; texts too short for it stay",
        ("index",),
    ),
    "add_len_to_string": StringAtomKind(
        atoms.add_len_to_string, "moves each letter as many places on in the alphabet as the text has characters"
    ),
    "add_number_to_middle": StringAtomKind(
        atoms.add_number_to_middle,
        "where the length is odd and at least three, moves the central letter {number} places on in the alphabet",
        ("number",),
    ),
    "add_len_to_middle": StringAtomKind(
        atoms.add_len_to_middle,
        "where the length is odd and at least three, moves the central letter as many places on as the text is long",
    ),
    "add_order_to_inx": StringAtomKind(
        atoms.add_order_to_inx,
        "picks a random position at every call and moves the letter there that many places on in the alphabet",
        is_random=True,
    ),
    "add_order_of_inx1_to_inx2": StringAtomKind(
        atoms.add_order_of_inx1_to_inx2,
        "moves the letter at position {index2} (from zero) {index1} places on in the alphabet; short texts stay",
        ("index1", "index2"),
    ),
    "sub_order_to_inx": StringAtomKind(
        atoms.sub_order_to_inx,
        "picks a random position at every call and moves the letter there that many places back in the alphabet",
        is_random=True,
    ),
    "sub_order_of_inx1_to_inx2": StringAtomKind(
        atoms.add_order_of_inx1_to_inx2,
        "moves the letter at position {index2} (from zero) {index1} places on (its name says back); short texts stay",
        ("index1", "index2"),
    ),
    "subtract_number_to_string": StringAtomKind(
        atoms.subtract_number_to_string, "gives " + _ROTATED.replace("{way}", "back"), ("number",)
    ),
    "subtract_middle_character": StringAtomKind(
        atoms.subtract_middle_character,
        "where the length is odd and at least three, moves the central letter {number} places back in the alphabet",
        ("number",),
    ),
    "insert_number": StringAtomKind(atoms.insert_number, "inserts the digit {number} in the middle", ("number",)),
    "add_letter_if_needed": StringAtomKind(
        atoms.add_letter_if_needed, 'appends "{letter}" unless the text ends with it', ("letter",)
    ),
    "insert_letter": StringAtomKind(atoms.insert_letter, 'inserts "{letter}" in the middle', ("letter",)),
    "split_string": StringAtomKind(atoms.split_string, 'replaces each "{letter}" by a space', ("letter",)),
    "string_concatenate": StringAtomKind(atoms.string_concatenate, 'appends "{text}"', ("text",)),
    "count_substring": StringAtomKind(atoms.count_letter, 'gives as a word how often "{letter}" occurs', ("letter",)),
    "find_string": StringAtomKind(
        atoms.find_string,
        'gives as a word the position (from zero) of the first "{letter}", "none" where there is none',
        ("letter",),
    ),
    "remove_substring": StringAtomKind(atoms.remove_substring, 'drops every "{letter}"', ("letter",)),
    "duplicate_first_letter": StringAtomKind(
        atoms.duplicate_first_letter, "appends a copy of the first character at the end"
    ),
    "duplicate_last_letter": StringAtomKind(atoms.duplicate_last_letter, "appends a copy of the last character"),
    "duplicate_mid_letter": StringAtomKind(
        atoms.duplicate_mid_letter, "appends a copy of the middle character (the right one of two) at the end"
    ),
    "swap_first_last": StringAtomKind(atoms.swap_first_last, "exchanges the first and the last character"),
    "swap_rand": StringAtomKind(
        atoms.swap_rand,
        "exchanges the characters at positions {index1} and {index2} (from zero); short texts stay",
        ("index1", "index2"),
    ),
    "map_string": StringAtomKind(
        atoms.map_string,
        "replaces each letter by a fixed other one, in lower case: a to z become {mapping}",
        ("mapping",),
    ),
    "get_first_character_ordinality": StringAtomKind(
        atoms.get_first_character_ordinality,
        'gives as a word the place in the alphabet (a is one) of the first character, "zero" if it is no letter',
    ),
    "get_last_character_ordinality": StringAtomKind(
        atoms.get_last_character_ordinality,
        'gives as a word the place in the alphabet (a is one) of the last character, "zero" if it is no letter',
    ),
    "get_mid_character_ordinality": StringAtomKind(
        atoms.get_mid_character_ordinality,
        'gives as a word the place in the alphabet (a is one) of the middle character, "zero" if it is no letter',
    ),
    "replace_substring": StringAtomKind(atoms.replace_substring, 'replaces each "{old}" by "{new}"', ("old", "new")),
    "shift_last_letter_rand": StringAtomKind(
        atoms.shift_last_letter_rand,
        "moves a letter at the end {shift} characters on, beyond the alphabet if need be; z becomes a",
        ("shift",),
    ),
    "shift_first_letter_rand": StringAtomKind(
        atoms.shift_first_letter_rand,
        "moves a letter at the start {shift} characters on, beyond the alphabet if need be; z becomes a",
        ("shift",),
    ),
    "shift_last_letter_predecessor_rand": StringAtomKind(
        atoms.shift_last_letter_predecessor_rand,
        "moves a letter at the end {shift} characters back, beyond the alphabet if need be; a becomes z",
        ("shift",),
    ),
    "shift_first_letter_predecessor_rand": StringAtomKind(
        atoms.shift_first_letter_predecessor_rand,
        "moves a letter at the start {shift} characters back, beyond the alphabet if need be; a becomes z",
        ("shift",),
    ),
    "count_consonants_released": StringAtomKind(
        atoms.count_consonants_released, "gives the number of consonants as a word", sampled=False
    ),
}

OUTER = tuple(name for name, kind in STRING_ATOMS.items() if kind.sampled)
"""The 67 atoms that are sampled."""

NEVER_INNER = {"get_first_character", "get_last_character", "get_mid_character", "map_string"}

INNER = (*(name for name in OUTER if name not in NEVER_INNER), "remove_digits")
"""The pool of inner atoms: 63, of which remove_digits stands twice."""

_A = {
    "get_string_length",
    "convert_to_lowercase",
    "extract_digits",
    "remove_digits",
    "get_digit_indexes",
    "get_alpha_indexes",
    "count_vowels",
    "count_consonants",
    "count_uppercase",
    "count_lowercase",
    "count_character_repetitions",
    "count_substring",
    "find_string",
    "map_string",
    "string_strip",
    "string_lstrip",
    "string_rstrip",
    "replace_vowels_with_ind_of_count",
    "add_order_to_inx",
    "sub_order_to_inx",
    "add_order_of_inx1_to_inx2",
    "sub_order_of_inx1_to_inx2",
}
_KEPT = {"string_rstrip", "add_order_to_inx"}
_STRIPS = {"remove_whitespace", "string_strip", "string_lstrip", "string_rstrip"}
_VOWEL_REPLACERS = {f"replace_vowels_with_{what}" for what in ("character", "first", "last", "mid", "ind_of_count")}

AVOID: dict[str, set[str]] = {
    **dict.fromkeys(["extract_digits", "get_string_length", "get_digit_indexes"], _A),
    "get_alpha_indexes": _A - _KEPT,
    **dict.fromkeys(
        ["get_first_character", "get_last_character", "get_mid_character"],
        _A - _KEPT | {"split_string", "remove_substring"},
    ),
    **dict.fromkeys(
        [
            *("count_vowels", "count_consonants", "count_uppercase", "count_lowercase"),
            *("count_character_repetitions", "count_substring"),
        ],
        _A - _KEPT - {"get_digit_indexes", "get_alpha_indexes"} | {"replace_vowels_with_character"},
    ),
    "convert_to_lowercase": {"convert_to_uppercase", "extract_uppers", "count_uppercase"},
    "convert_to_uppercase": {"convert_to_lowercase", "count_lowercase"},
    "remove_digits": {"get_digit_indexes", "extract_digits"},
    "extract_uppers": {"count_lowercase"},
    **dict.fromkeys(_STRIPS, _STRIPS),
    **dict.fromkeys(_VOWEL_REPLACERS, _VOWEL_REPLACERS | {"reverse_vowels", "count_vowels"}),
}
"""What an outer atom avoids as inner one, beside itself; the original's gaps are kept (docs/measuring.md §4.2)."""


def avoided(outer: str) -> set[str]:
    """Names that are never drawn as inner atom under `outer`."""
    return AVOID.get(outer, set()) | {outer}


class StringAtom(Frozen):
    """One atom with its parameters: `number` 1 to 9, `index` 1 to 9, `letter`, `text` of 1 to 5 ASCII letters, `old`
    and `new` letters, `index1` and `index2` 0 to 9, `shift` 0 to 25, `mapping` the 26 images of a to z.
    """

    name: str
    parameters: dict[str, int | str] = Field(default_factory=dict)

    def apply(self, text: str, rng: np.random.Generator) -> str:
        """Raises IndexError, KeyError, ValueError or TypeError as the published script would."""
        kind = STRING_ATOMS[self.name]
        values = [self.parameters[name] for name in kind.parameters]
        return kind.apply(text, *values, rng) if kind.is_random else kind.apply(text, *values)

    def describe(self) -> str:
        """What the atom does, as a phrase with its parameters in place."""
        return STRING_ATOMS[self.name].description.format(**self.parameters)


class StringFunction(FindFunction):
    """`outer(inner(text))`, or `outer(text)` where there is no inner atom."""

    category: Category = "strings"
    outer: StringAtom
    inner: StringAtom | None = None
    misrecorded: tuple[str, ...] = ()
    """Of a published function: texts whose recorded output is not its own."""

    @property
    def kind(self) -> str:
        """ "reverse_string", or "outer;inner;compose_1input_1input"."""
        return f"{self.outer.name};{self.inner.name};compose_1input_1input" if self.inner else self.outer.name

    @property
    def parameters(self) -> dict[str, Any]:
        return self.model_dump(include={"outer", "inner"}, exclude_none=True)

    @property
    def is_stochastic(self) -> bool:
        parts = [self.outer] if self.inner is None else [self.outer, self.inner]
        return any(STRING_ATOMS[part.name].is_random for part in parts)

    def __call__(self, x: str, rng: np.random.Generator) -> str:
        try:
            return self.outer.apply(x if self.inner is None else self.inner.apply(x, rng), rng)
        except IndexError:
            raise UndefinedInput("the function needs a character that this text does not have") from None
        except KeyError:
            raise UndefinedInput("the function would have to write a number above thirty as a word") from None
        except (ValueError, TypeError):
            raise UndefinedInput("the function cannot handle a letter outside the English alphabet here") from None

    def describe(self) -> str:
        if self.inner is None:
            return f"The function{_said(self.outer)}."
        return f"The function first{_said(self.inner)}; from the result it then{_said(self.outer)}."


def _said(atom: StringAtom) -> str:
    """What an atom does, as it goes on in a sentence."""
    words = atom.describe()
    return f", {words}" if words.startswith(("for ", "where ")) else f" {words}"


def letter(rng: np.random.Generator) -> str:
    """One of the 52 letters a–z and A–Z, all equally likely."""
    return string.ascii_letters[rng.integers(52)]


def draw_atom(name: str, rng: np.random.Generator) -> StringAtom:
    """`name` with freshly drawn parameters, all uniform (docs/measuring.md §4.2)."""
    drawn: dict[str, int | str] = {}
    for parameter in STRING_ATOMS[name].parameters:
        if parameter in ("number", "index"):
            drawn[parameter] = int(rng.integers(1, 10))
        elif parameter == "letter":
            drawn["letter"] = letter(rng)
        elif parameter == "shift":
            drawn["shift"] = int(rng.integers(26))
        elif parameter == "text":
            drawn["text"] = "".join(letter(rng) for _ in range(int(rng.integers(1, 6))))
        elif parameter == "mapping":
            drawn["mapping"] = "".join(rng.permutation(list(string.ascii_lowercase)))
    if "old" in STRING_ATOMS[name].parameters:
        old, new = rng.choice(list(string.ascii_letters), 2, replace=False)
        drawn = {"old": str(old), "new": str(new)}
    if "index1" in STRING_ATOMS[name].parameters:
        first, second = rng.choice(10, 2, replace=False)
        drawn = {"index1": int(first), "index2": int(second)}
    return StringAtom(name=name, parameters=drawn)
