"""The outer step of `synthesis`: atoms, with parameters, that turn one list of texts into another."""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence

from core.labs.find.functions.string_atoms import VOWELS, WORDS, rotate_at
from core.labs.find.functions.strings import STRING_ATOMS, StringAtom

Texts = tuple[str, ...]

ERRORS = (IndexError, KeyError, ValueError, TypeError)

_LETTERS = string.ascii_letters
_LETTER_SET = set(_LETTERS)
_WORDS = {*WORDS.values(), "unknown", "none"}

# Which atoms can come into question, by how the texts' lengths change.
_WORD_GIVERS = (
    "get_string_length",
    "count_vowels",
    "count_consonants",
    "count_consonants_released",
    "count_uppercase",
    "count_lowercase",
    "get_first_character_ordinality",
    "get_last_character_ordinality",
    "get_mid_character_ordinality",
)
_LENGTH_KEEPERS = (
    "convert_to_lowercase",
    "convert_to_uppercase",
    "capitalize_string",
    "reverse_string",
    "reverse_string_first_half",
    "reverse_string_last_half",
    "replace_vowels_with_first",
    "replace_vowels_with_last",
    "replace_vowels_with_mid",
    "replace_vowels_with_ind_of_count",
    "reverse_vowels",
    "capitalize_alternating_letters",
    "add_len_to_string",
    "add_len_to_middle",
    "swap_first_last",
)
_ONE_LONGER = ("duplicate_first_letter", "duplicate_last_letter", "duplicate_mid_letter")
_SHORTENERS = (
    "remove_digits",
    "extract_uppers",
    "remove_whitespace",
    "get_first_character",
    "get_last_character",
    "get_mid_character",
    "remove_duplicates",
    "reverse_words",
    "string_strip",
    "string_lstrip",
    "string_rstrip",
)
_ANY_LENGTH = ("extract_digits", "get_digit_indexes", "get_alpha_indexes", "convert_to_uppercase")


def holds(name: str, values: Sequence[int | str], texts: Texts, outputs: Texts) -> bool:
    """Whether the atom turns each text into its output."""
    apply = STRING_ATOMS[name].apply
    try:
        return all(apply(text, *values) == output for text, output in zip(texts, outputs, strict=True))
    except ERRORS:
        return False


def fit_outer(texts: Texts, outputs: Texts) -> Iterator[StringAtom]:
    """Atoms that turn each of `texts` into the output at its place; the likely ones first."""
    longer = [len(y) - len(z) for z, y in zip(texts, outputs, strict=True)]
    least, most = min(longer), max(longer)
    if least == most == 0:
        yield from _simple(_LENGTH_KEEPERS, texts, outputs)
        yield from _length_keeping(texts, outputs)
    if least == most and 1 <= most <= 5:
        yield from _concatenated(texts, outputs)
    if least == most == 1:
        yield from _simple(_ONE_LONGER, texts, outputs)
        yield from _inserted(texts, outputs)
    if least >= 0 and most == 1:
        yield from _with(texts, outputs, "add_letter_if_needed", {y[-1] for y in outputs if y} & _LETTER_SET)
    if most <= 0:
        yield from _simple(_SHORTENERS, texts, outputs)
        yield from _removed(texts, outputs)
    if all(y in _WORDS for y in outputs):
        yield from _simple(_WORD_GIVERS, texts, outputs)
        for name in ("count_character_repetitions", "find_string"):
            yield from _with(texts, outputs, name, _LETTERS)
    yield from _simple(_ANY_LENGTH, texts, outputs)


def _simple(names: Sequence[str], texts: Texts, outputs: Texts) -> Iterator[StringAtom]:
    for name in names:
        if holds(name, (), texts, outputs):
            yield StringAtom(name=name)


def _with(texts: Texts, outputs: Texts, name: str, values: Sequence[int | str] | set[str]) -> Iterator[StringAtom]:
    parameter = STRING_ATOMS[name].parameters[0]
    for value in values:
        if holds(name, (value,), texts, outputs):
            yield StringAtom(name=name, parameters={parameter: value})


def _differences(texts: Texts, outputs: Texts) -> Iterator[tuple[int, str, str]]:
    """(position, character before, after) wherever texts of equal length differ."""
    for z, y in zip(texts, outputs, strict=True):
        if z != y:
            for position, (before, after) in enumerate(zip(z, y, strict=True)):
                if before != after:
                    yield position, before, after


def _length_keeping(texts: Texts, outputs: Texts) -> Iterator[StringAtom]:
    first = next(_differences(texts, outputs), None)
    if first is None:
        # Everything stays as it was: so does it where a letter is replaced that never occurs.
        unused = [letter for letter in _LETTERS if letter not in "".join(texts)]
        if len(unused) >= 2:
            yield StringAtom(name="replace_substring", parameters={"old": unused[0], "new": unused[1]})
        return
    position, before, after = first
    if before in _LETTER_SET and after in _LETTER_SET:
        values = (before, after)
        if holds("replace_substring", values, texts, outputs):
            yield StringAtom(name="replace_substring", parameters={"old": before, "new": after})
        by = (ord(after) - ord(before)) % 26
        for name, amount in (
            ("add_number_to_string", by),
            ("subtract_number_to_string", 26 - by),
            ("add_number_to_middle", by),
            ("subtract_middle_character", 26 - by),
        ):
            if 1 <= amount <= 9:
                yield from _with(texts, outputs, name, [amount])
        yield from _by_position(texts, outputs, position, by)
    if before in VOWELS and after in _LETTER_SET:
        yield from _with(texts, outputs, "replace_vowels_with_character", [after])
    if after == " " and before in _LETTER_SET:
        yield from _with(texts, outputs, "split_string", [before])
    yield from _shifted_end(texts, outputs)
    if after.islower() or before.lower() == after.lower():
        yield from _mapped(texts, outputs)
        for name in ("advance_by_character_order", "substract_by_character_order"):
            yield from _with(texts, outputs, name, range(1, 10))
    yield from _swapped(texts, outputs)
    for name, sign in (("add_order_to_inx", 1), ("sub_order_to_inx", -1)):
        if all(_is_outcome(z, y, sign) for z, y in zip(texts, outputs, strict=True)):
            yield StringAtom(name=name)


def _is_outcome(z: str, y: str, sign: int) -> bool:
    return (z == y and len(z) < 2) or any(rotate_at(z, k, sign) == y for k in range(len(z)))


def _by_position(texts: Texts, outputs: Texts, position: int, by: int) -> Iterator[StringAtom]:
    values = (by, position)
    fits = by <= 9 and position <= 9 and by != position
    if fits and holds("add_order_of_inx1_to_inx2", values, texts, outputs):
        yield StringAtom(name="add_order_of_inx1_to_inx2", parameters={"index1": by, "index2": position})


def _shifted_end(texts: Texts, outputs: Texts) -> Iterator[StringAtom]:
    for end, where in ((-1, "last"), (0, "first")):
        steps = {
            ord(y[end]) - ord(z[end])
            for z, y in zip(texts, outputs, strict=True)
            if z and z[end] != y[end] and z[end].isalpha()
        }
        for turning, start, name in (
            ("z", "a", f"shift_{where}_letter_rand"),
            ("a", "z", f"shift_{where}_letter_predecessor_rand"),
        ):
            wrapped = ord(start) - ord(turning)
            usual = [abs(step) for step in steps if step != wrapped] or [0]
            if usual[0] <= 25:
                yield from _with(texts, outputs, name, usual[:1])


def _mapped(texts: Texts, outputs: Texts) -> Iterator[StringAtom]:
    images: dict[str, str] = {}
    for z, y in zip(texts, outputs, strict=True):
        if not extend_mapping(images, z, y):
            return
    yield StringAtom(name="map_string", parameters={"mapping": complete_mapping(images)})


def extend_mapping(images: dict[str, str], z: str, y: str) -> bool:
    """Add to `images` what `z` → `y` says about a letter mapping; False where that contradicts it."""
    if len(z) != len(y):
        return False
    for before, after in zip(z, y, strict=True):
        key = before.lower()
        if len(key) != 1 or not "a" <= key <= "z":
            if before != after:
                return False
        elif not "a" <= after <= "z" or images.setdefault(key, after) != after:
            return False
    return len(set(images.values())) == len(images)


def complete_mapping(images: dict[str, str]) -> str:
    """The 26 images of a to z; letters nobody saw get what is left, themselves where that is free."""
    free = [letter for letter in string.ascii_lowercase if letter not in images.values()]
    full = dict(images)
    for letter in string.ascii_lowercase:
        if letter not in full:
            full[letter] = letter if letter in free else free[0]
            free.remove(full[letter])
    return "".join(full[letter] for letter in string.ascii_lowercase)


def _swapped(texts: Texts, outputs: Texts) -> Iterator[StringAtom]:
    touched: set[int] = set()
    for position, _, _ in _differences(texts, outputs):
        touched.add(position)
        if len(touched) > 2:
            return
    if len(touched) == 2 and max(touched) <= 9:
        i, j = sorted(touched)
        if holds("swap_rand", (i, j), texts, outputs):
            yield StringAtom(name="swap_rand", parameters={"index1": i, "index2": j})


def _concatenated(texts: Texts, outputs: Texts) -> Iterator[StringAtom]:
    text = outputs[0][len(texts[0]) :]
    if set(text) <= _LETTER_SET:
        yield from _with(texts, outputs, "string_concatenate", [text])


def _inserted(texts: Texts, outputs: Texts) -> Iterator[StringAtom]:
    new = outputs[0][len(texts[0]) // 2]
    if new in "123456789":
        yield from _with(texts, outputs, "insert_number", [int(new)])
    elif new in _LETTER_SET:
        yield from _with(texts, outputs, "insert_letter", [new])


def _removed(texts: Texts, outputs: Texts) -> Iterator[StringAtom]:
    for z, y in zip(texts, outputs, strict=True):
        if len(y) < len(z):
            position = next((k for k, (a, b) in enumerate(zip(z, y, strict=False)) if a != b), len(y))
            if z[position] in _LETTER_SET:
                yield from _with(texts, outputs, "remove_substring", [z[position]])
            return


# An inner atom that draws leaves several possible texts for each output.


def fit_outer_of_random(options: Sequence[Sequence[str]], outputs: Texts) -> Iterator[StringAtom]:
    """Atoms that turn some option of each list into the output at its place."""
    for atom in _all_outer(options, outputs):
        apply, values = STRING_ATOMS[atom.name].apply, tuple(atom.parameters.values())
        if all(_some(apply, values, texts, y) for texts, y in zip(options, outputs, strict=True)):
            yield atom
    yield from _mapped_options(options, outputs)
    for name, sign in (("add_order_to_inx", 1), ("sub_order_to_inx", -1)):
        if all(any(_is_outcome(z, y, sign) for z in texts) for texts, y in zip(options, outputs, strict=True)):
            yield StringAtom(name=name)


def _some(apply: object, values: tuple[int | str, ...], texts: Sequence[str], output: str) -> bool:
    for text in texts:
        try:
            if apply(text, *values) == output:  # type: ignore[operator]
                return True
        except ERRORS:
            continue
    return False


def _all_outer(options: Sequence[Sequence[str]], outputs: Texts) -> Iterator[StringAtom]:
    present = sorted({c for texts in options for text in texts for c in text} & _LETTER_SET)
    for name, kind in STRING_ATOMS.items():
        names = kind.parameters
        if kind.is_random or names == ("mapping",):
            continue
        if names == ():
            yield StringAtom(name=name)
        elif names in (("number",), ("index",)):
            yield from (StringAtom(name=name, parameters={names[0]: value}) for value in range(1, 10))
        elif names == ("shift",):
            yield from (StringAtom(name=name, parameters={"shift": value}) for value in range(26))
        elif names == ("letter",):
            yield from (StringAtom(name=name, parameters={"letter": letter}) for letter in _LETTERS)
        elif names == ("index1", "index2"):
            for i in range(10):
                yield from (StringAtom(name=name, parameters={"index1": i, "index2": j}) for j in range(10) if i != j)
        elif names == ("text",):
            tails = {len(y) - len(texts[0]) for texts, y in zip(options, outputs, strict=True)}
            if len(tails) == 1 and 1 <= (tail := tails.pop()) <= 5:
                yield StringAtom(name=name, parameters={"text": outputs[0][-tail:]})
        else:
            for old in present:
                yield from (
                    StringAtom(name=name, parameters={"old": old, "new": new}) for new in _LETTERS if new != old
                )


def _mapped_options(options: Sequence[Sequence[str]], outputs: Texts) -> Iterator[StringAtom]:
    def search(number: int, images: dict[str, str]) -> dict[str, str] | None:
        if number == len(outputs):
            return images
        for text in options[number]:
            wider = dict(images)
            if extend_mapping(wider, text, outputs[number]):
                mapping = search(number + 1, wider)
                if mapping is not None:
                    return mapping
        return None

    images = search(0, {})
    if images is not None:
        yield StringAtom(name="map_string", parameters={"mapping": complete_mapping(images)})
