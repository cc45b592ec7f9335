"""Which atom, or which two, explain recorded pairs of a string function? (The published set records no parameters.)

The search goes from inside out: every inner atom with every parameter gives intermediate texts, and for each distinct
list of them the outer atom's parameters are read off the outputs. Only the appended text of `string_concatenate` inside
another atom has too many values to try (52 + 52² + …): pieces of the outputs are tried, and quoted texts.
"""

import itertools
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ....events import Frozen
from .base import Triplet, published_triplets, read_json
from .string_atoms import WORDS, rotate_at
from .strings import NEVER_INNER, STRING_ATOMS, TRIED, StringAtom, StringFunction

# The outer step of `synthesis`: atoms, with parameters, that turn one list of texts into another.


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
    fitting = (
        (least == most == 0, TRIED["same_length"]),
        (least == most and 1 <= most <= 5, ["string_concatenate"]),
        (least == most == 1, TRIED["one_longer"]),
        (least >= 0 and most == 1, ["add_letter_if_needed"]),
        (most <= 0, TRIED["shorter"]),
        (_WORDS.issuperset(outputs), TRIED["words"]),
        (True, TRIED["any_length"]),
    )
    for name in [name for may_fit, names in fitting if may_fit for name in names]:
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


InputOutput = tuple[str, str]

PIECES = 300
"""The most pieces of outputs that are tried as an appended text."""


def synthesize(pairs: Sequence[InputOutput], hints: Sequence[str] = ()) -> StringFunction | None:
    """Return a function of ours that gives every recorded output, or None. A random atom fits if each output is a
    possible one.

    `hints` are texts (from a description, for instance) that may have been appended. A single atom is preferred to two.
    """
    unique = list(dict.fromkeys(pairs))
    # Long texts first: a wrong guess then fails at the first comparison.
    unique.sort(key=lambda pair: (-len(pair[0]), pair))
    inputs, outputs = tuple(x for x, _ in unique), tuple(y for _, y in unique)
    for outer in fit_outer(inputs, outputs):
        return StringFunction(id="explained", outer=outer)
    seen: set[Texts] = {inputs}
    inner_atoms = (atom for atom in _steady_atoms(inputs) if atom.name not in NEVER_INNER)
    for inner in itertools.chain(inner_atoms, _appending(outputs, hints)):
        between = _apply(inner, inputs)
        if between is None or between in seen:
            continue
        seen.add(between)
        for outer in fit_outer(between, outputs):
            return StringFunction(id="explained", outer=outer, inner=inner)
    return _with_random_inner(inputs, outputs)


def _apply(atom: StringAtom, texts: Texts) -> Texts | None:
    apply = STRING_ATOMS[atom.name].apply
    values = tuple(atom.parameters.values())
    try:
        return tuple([apply(text, *values) for text in texts])
    except ERRORS:
        return None


def _steady_atoms(texts: Sequence[str]) -> Iterator[StringAtom]:
    """Yield the atoms that are not random, with all their parameters, except those with too many: an appended text and
    a mapping. Letters that none of `texts` has are not replaced.
    """
    options: dict[str, Sequence[int | str]] = {
        **dict.fromkeys(("number", "index"), range(1, 10)),
        **dict.fromkeys(("index1", "index2"), range(10)),
        **dict.fromkeys(("letter", "new"), _LETTERS),
        "shift": range(26),
        "old": sorted(set("".join(texts)) & set(_LETTERS)),
    }
    # Replacements last, because they have the most parameters.
    for name in sorted(STRING_ATOMS, key=lambda name: name == "replace_substring"):
        kind = STRING_ATOMS[name]
        if kind.is_random or not options.keys() >= set(kind.parameters):
            continue
        for values in itertools.product(*(options[parameter] for parameter in kind.parameters)):
            if len(set(values)) == len(values):  # two letters or two positions must differ
                yield StringAtom(name=name, parameters=dict(zip(kind.parameters, values, strict=True)))


def _appending(outputs: Texts, hints: Sequence[str]) -> Iterator[StringAtom]:
    """Yield texts of 1 to 5 letters that may have been appended: `hints`, then the pieces found in the most outputs,
    forwards and backwards.
    """
    pieces: Counter[str] = Counter()
    for output in outputs:
        pieces.update({output[k : k + n] for n in range(1, 6) for k in range(len(output) - n + 1)})
    common = [piece for piece, _ in pieces.most_common(PIECES)]
    for text in dict.fromkeys([*hints, *common, *(piece[::-1] for piece in common)]):
        if 1 <= len(text) <= 5 and set(text) <= set(_LETTERS):
            yield StringAtom(name="string_concatenate", parameters={"text": text})


def _with_random_inner(inputs: Texts, outputs: Texts) -> StringFunction | None:
    """Return a function whose outer atom turns some outcome of a random inner atom into each output; None if there is
    none.
    """
    for name, sign in (("add_order_to_inx", 1), ("sub_order_to_inx", -1)):
        options = [outcomes(x, sign) for x in inputs]
        for outer in _steady_atoms([text for texts in options for text in texts]):
            if all(_gives(outer, texts, y) for texts, y in zip(options, outputs, strict=True)):
                return StringFunction(id="explained", outer=outer, inner=StringAtom(name=name))
    return None


def _gives(atom: StringAtom, texts: Sequence[str], output: str) -> bool:
    return any(_apply(atom, (text,)) == (output,) for text in texts)


# The published functions


class StringTask(Frozen):
    """A published string function as far as it was published: ten triplets, whose true examples are the recorded pairs,
    and a description; no parameters.
    """

    id: str
    description: str
    triplets: tuple[Triplet, ...]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The recorded pairs."""
        return tuple((text, output) for text, output in (triplet.true for triplet in self.triplets))


def load_strings(find_dir: Path) -> dict[str, StringTask]:
    """Return all published string functions by id. Raises BenchmarkError if they cannot be read."""
    described = {entry["name"]: entry["description"] for entry in read_json(find_dir / "strings" / "test_data.json")}
    return {
        id: StringTask(id=id, description=described.get(id, "").removeprefix(":").strip(), triplets=triplets)
        for id, triplets in published_triplets(find_dir, "strings").items()
    }


_QUOTED = re.compile(r"[\"'“`]([A-Za-z]{1,5})[\"'”`]")


def hints(task: StringTask) -> list[str]:
    """Return the short quoted texts of the description: one of them may be the text that the function appends."""
    return _QUOTED.findall(task.description)


def string_function(task: StringTask) -> StringFunction | None:
    """Return a function of ours that gives the ten recorded pairs, or nine of them if one was recorded wrongly.

    None if no atom and no pair of atoms does. Other parameters may fit as well, because ten pairs do not determine
    everything.
    """
    function = synthesize(task.pairs, hints(task))
    note = "Rebuilt from its ten recorded pairs: the parameters were not published, others may fit as well."
    if function is not None:
        return function.model_copy(update={"id": task.id, "note": note})
    for k in range(len(task.pairs)):
        others = task.pairs[:k] + task.pairs[k + 1 :]
        function = synthesize(others, hints(task))
        if function is not None:
            text = task.pairs[k][0]
            whole = _whole(function, task.pairs, k)
            why = f"is a piece of what belongs to {whole!r}" if whole else "contradicts the other nine"
            note += f" The output recorded for {text!r} {why}; the updated parser excludes that pair."
            return function.model_copy(update={"id": task.id, "note": note, "misrecorded": (text,)})
    return None


def _whole(function: StringFunction, pairs: Sequence[tuple[str, str]], odd: int) -> str:
    """Return the longer text that the text of the `odd` pair was cut from, if its output is part of what `function`
    gives for the longer one; else an empty string.

    The set's texts came in lists and were split in wrong places after their outputs were made, so that "my name" and
    "is Earl" have the two halves of what "my name is Earl" gave. Tried are other texts that contain it, and the texts
    that it forms with its neighbours.
    """
    text, output = pairs[odd]
    rng = np.random.default_rng(0)
    longer = [other for other, _ in pairs if other != text and f" {text} " in f" {other} "]
    longer += [f"{text} {after}" for after, _ in pairs[odd + 1 : odd + 2]]
    longer += [f"{before} {text}" for before, _ in pairs[max(odd - 1, 0) : odd]]
    made = zip(longer, function.outputs(longer, rng), strict=True)
    return next((whole for whole, gave in made if isinstance(gave, str) and f" {output} " in f" {gave} "), "")
