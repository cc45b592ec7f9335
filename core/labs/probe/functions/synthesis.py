"""Which atom, or which two, explain recorded pairs of a string function? (The published set records no parameters.)

The search goes from inside out: every inner atom with every parameter gives intermediate texts, and for each distinct
list of them the outer atom's parameters are read off the outputs. Only the appended text of `string_concatenate` inside
another atom has too many values to try (52 + 52² + …): pieces of the outputs are tried, and quoted texts.
"""

from __future__ import annotations

import itertools
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ....events import Frozen
from .benchmark import read_json, rebuilt
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


# The published functions


class StringTask(Frozen):
    """A published string function as far as it was published: ten recorded pairs and a description, no parameters."""

    id: str
    description: str
    pairs: tuple[tuple[str, str], ...]
    triplets: tuple[tuple[tuple[str, str], ...], ...]
    correct: tuple[int, ...]
    """Position (from 0) of the true pair in each triplet."""


def load_strings(find_dir: Path) -> dict[str, StringTask]:
    """Return all published string functions by id. Raises BenchmarkError if they cannot be read."""
    described = {entry["name"]: entry["description"] for entry in read_json(find_dir / "strings" / "test_data.json")}

    def task(entry: Any) -> tuple[str, StringTask]:
        triplets = tuple(tuple(zip(inputs, outputs, strict=True)) for inputs, outputs in entry["test_vec"])
        correct = tuple(number - 1 for number in entry["correct_inx"])
        return entry["name"], StringTask(
            id=entry["name"],
            description=described.get(entry["name"], "").removeprefix(":").strip(),
            pairs=tuple(triplet[k] for triplet, k in zip(triplets, correct, strict=True)),
            triplets=triplets,
            correct=correct,
        )

    file = "strings/unit_test_data.json"
    return rebuilt(read_json(find_dir / file), file, task)


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
