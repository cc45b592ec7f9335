"""Which atom, or which two, explain recorded pairs of a string function? (The published set records no parameters.)

The search goes from inside out: every inner atom with every parameter gives intermediate texts, and for each distinct
list of them the outer atom's parameters are read off the outputs. Only the appended text of `string_concatenate`
inside another atom has too many values to try (52 + 52² + …); it is read off the traces it leaves in the outputs.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence

import numpy as np

from core.labs.find.functions.string_atoms import rotate_at
from core.labs.find.functions.strings import NEVER_INNER, STRING_ATOMS, StringAtom, StringFunction
from core.labs.find.functions.synthesis_appended import appended_texts
from core.labs.find.functions.synthesis_outer import ERRORS, Texts, fit_outer, fit_outer_of_random

InputOutput = tuple[str, str]

_LETTERS = string.ascii_letters
_NO_RNG = np.random.default_rng(0)
"""Handed to atoms that never draw."""


def synthesize(pairs: Sequence[InputOutput], hints: Sequence[str] = ()) -> StringFunction | None:
    """A function of ours that gives every recorded output, or None. For the random atoms: as a possible outcome.

    `hints` are texts (from a description, say) that may have been appended. A single atom is preferred to two.
    """
    unique = list(dict.fromkeys(pairs))
    # Long texts first: a wrong guess fails at the first comparison.
    unique.sort(key=lambda pair: (-len(pair[0]), pair))
    inputs, outputs = tuple(x for x, _ in unique), tuple(y for _, y in unique)
    for outer in fit_outer(inputs, outputs):
        return StringFunction(id="explained", outer=outer)
    seen: set[Texts] = {inputs}
    for inner in _inner_atoms(inputs):
        between = _apply(inner, inputs)
        if between is None or between in seen:
            continue
        seen.add(between)
        for outer in fit_outer(between, outputs):
            return StringFunction(id="explained", outer=outer, inner=inner)
    for text in appended_texts(inputs, outputs, hints):
        between = tuple(x + text for x in inputs)
        if between in seen:
            continue
        seen.add(between)
        for outer in fit_outer(between, outputs):
            inner = StringAtom(name="string_concatenate", parameters={"text": text})
            return StringFunction(id="explained", outer=outer, inner=inner)
    return _with_random_inner(inputs, outputs)


def reproduced(pairs: Sequence[InputOutput], function: StringFunction) -> int:
    """How many of `pairs` a function without randomness reproduces."""
    inner = function.inner
    count = 0
    for x, y in pairs:
        try:
            between = x if inner is None else inner.apply(x, _NO_RNG)
            count += function.outer.apply(between, _NO_RNG) == y
        except ERRORS:
            continue
    return count


def _apply(atom: StringAtom, texts: Texts) -> Texts | None:
    apply = STRING_ATOMS[atom.name].apply
    values = tuple(atom.parameters.values())
    try:
        return tuple([apply(text, *values) for text in texts])
    except ERRORS:
        return None


def _inner_atoms(inputs: Texts) -> Iterator[StringAtom]:
    """Inner atoms that do not draw, with all their parameters; letters that no input holds are tried once."""
    present = sorted(set("".join(inputs)) & set(_LETTERS))
    absent = [letter for letter in _LETTERS if letter not in present][:1]
    for name, kind in STRING_ATOMS.items():
        if name in NEVER_INNER or kind.is_random:
            continue
        names = kind.parameters
        if names == ():
            yield StringAtom(name=name)
        elif names in (("number",), ("index",)):
            yield from (StringAtom(name=name, parameters={names[0]: value}) for value in range(1, 10))
        elif names == ("shift",):
            yield from (StringAtom(name=name, parameters={"shift": value}) for value in range(26))
        elif names == ("index1", "index2"):
            for i in range(10):
                yield from (StringAtom(name=name, parameters={"index1": i, "index2": j}) for j in range(10) if i != j)
        elif names == ("letter",):
            searched = name in ("split_string", "remove_substring", "find_string", "count_character_repetitions")
            letters = [*present, *absent] if searched else list(_LETTERS)
            if name != "count_substring":  # the twin of count_character_repetitions
                yield from (StringAtom(name=name, parameters={"letter": letter}) for letter in letters)
    for old in present:
        for new in _LETTERS:
            if old != new:
                yield StringAtom(name="replace_substring", parameters={"old": old, "new": new})


def _with_random_inner(inputs: Texts, outputs: Texts) -> StringFunction | None:
    for name, sign in (("add_order_to_inx", 1), ("sub_order_to_inx", -1)):
        options = [sorted({rotate_at(x, k, sign) for k in range(len(x))} or {x}) for x in inputs]
        for outer in fit_outer_of_random(options, outputs):
            return StringFunction(id="explained", outer=outer, inner=StringAtom(name=name))
    return None
