"""Which atom, or which two, explain recorded pairs of a string function? (The published set records no parameters.)

The search goes from inside out: every inner atom with every parameter gives intermediate texts, and for each distinct
list of them the outer atom's parameters are read off the outputs. Only the appended text of `string_concatenate` inside
another atom has too many values to try (52 + 52² + …): pieces of the outputs are tried, and quoted texts.
"""

from __future__ import annotations

import itertools
import string
from collections import Counter
from collections.abc import Iterator, Sequence

from .strings import NEVER_INNER, STRING_ATOMS, StringAtom, StringFunction
from .synthesis_outer import ERRORS, Texts, fit_outer, outcomes

InputOutput = tuple[str, str]

_LETTERS = string.ascii_letters
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
