"""The published benchmark's metadata as functions of ours (the folder `find-dataset` of FIND).

Its contents: docs/measuring.md §4.1, §4.2 and §4.3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .... import files
from ....errors import ExplainError
from ....events import Frozen
from . import mlp
from .atoms import ATOMS
from .numeric import Atom, Corruption, Noise, NumericFunction, Operation
from .strings import StringFunction
from .synthesis import synthesize

OPERATIONS: dict[str, Operation] = {"sum_two": "sum", "multiply_two": "product"}

SCRIPTS = {"function_code.py", "noised_function_code.py", "corrupted_function_code.py", "load_mlp.py"}


LARGEST = 256 * files.MB

T = TypeVar("T")


class BenchmarkError(ExplainError, ValueError):
    """A folder or file that is not the published benchmark; the message names it and says what is expected."""


class StringTask(Frozen):
    """A published string function as far as it was published: ten recorded pairs and a description, no parameters."""

    id: str
    description: str
    pairs: tuple[tuple[str, str], ...]
    triplets: tuple[tuple[tuple[str, str], ...], ...]
    correct: tuple[int, ...]
    """Position (from 0) of the true pair in each triplet."""


def read_json(path: Path) -> Any:
    """Read a JSON file. Raises BenchmarkError if the file is absent or broken."""
    try:
        if not path.exists():
            raise BenchmarkError(f"{path} is missing; give the folder that holds numeric/ and strings/")
        return json.loads(files.read_bytes(path, LARGEST))
    except files.FileError as error:
        raise BenchmarkError(str(error)) from None
    except json.JSONDecodeError as error:
        raise BenchmarkError(f"{path} cannot be read: {error.msg}, line {error.lineno}") from None
    except (ValueError, OSError, RecursionError) as error:
        if isinstance(error, BenchmarkError):
            raise
        raise BenchmarkError(f"{path} cannot be read") from None


def rebuilt(entries: Any, file: str, build: Callable[[Any], tuple[str, T]]) -> dict[str, T]:
    """Return what `build` makes of each of the `entries` of `file`, by id. Raises BenchmarkError with the name of an
    entry that does not have the published layout.
    """
    made = {}
    for entry in entries:
        try:
            id, thing = build(entry)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            name = (entry.get("dir") or entry.get("name") or "?") if isinstance(entry, dict) else "?"
            raise BenchmarkError(f"{file}: the entry of {name} cannot be read ({error!r})") from error
        made[id] = thing
    return made


def load_numeric(find_dir: Path) -> dict[str, NumericFunction]:
    """Return all published numeric functions by id, under the paper rules. Weights of networks are read if they are
    present.

    Raises BenchmarkError for anything that does not have the published layout.
    """
    entries = read_json(find_dir / "numeric" / "data.json")
    scripts = read_json(find_dir / "numeric" / "func_name_dict.json")
    functions = rebuilt(
        entries, "numeric/data.json", lambda entry: (entry["dir"], numeric_from_record(entry, scripts[entry["dir"]]))
    )
    for id, function in functions.items():
        if scripts[id] == "load_mlp.py":
            functions[id] = _with_weights(function, find_dir / "numeric" / id / "mlp_approx_model.pt")
    return functions


def numeric_from_record(record: dict[str, Any], script: str) -> NumericFunction:
    """Build one entry of data.json. All entries record a noise and a corruption; `script` says which of them was used.

    Raises ValueError for an unknown script, and KeyError, TypeError or IndexError for a broken entry.
    """
    if script not in SCRIPTS:
        raise ValueError(f"unknown script {script!r}")
    head = record["name"].split("(")[0].split(";")
    single = record["type"] == "simple"
    values = [record["params"]] if single else record["params"]
    atoms = tuple(atom(name, value) for name, value in zip(head[:2], values, strict=True))
    operation = None if single else OPERATIONS[head[2]]
    noised, corrupted = script.startswith("noised"), script.startswith("corrupted")
    return NumericFunction(
        id=record["dir"],
        atoms=atoms,
        operation=operation,
        noise=Noise(kind=record["noise_type"], size=record["noise_params"]) if noised else None,
        corruption=corruption(record["corruption_type"], record["corruption_params"]) if corrupted else None,
        low=record["domain"][0],
        high=record["domain"][1],
        rules="paper",
    )


def atom(name: str, values: Any) -> Atom:
    """Return an atom from `values` as recorded: a list, a bare number (constant) or None (ceil, floor)."""
    listed = values if isinstance(values, list) else [] if values is None else [values]
    if name == "polynomial":
        return Atom(name=name, parameters={"coefficients": tuple(listed)})
    return Atom(name=name, parameters=dict(zip(ATOMS[name].draws, listed, strict=True)))


def corruption(kind: str, recorded: dict[str, Any]) -> Corruption:
    """Return a corruption as recorded. `std` is the recorded mean of the function on its domain, the centre of the
    corrupted values.
    """
    bounds, mean = recorded["boundary"], recorded["std"]
    low, high = {"interval_inside": bounds, "interval_larger": (bounds[0], None)}.get(kind, (None, bounds[0]))
    return Corruption(low=low, high=high, mean=mean)


def _with_weights(function: NumericFunction, path: Path) -> NumericFunction:
    if path.is_file():
        return function.model_copy(update={"mlp": mlp.load(path)})
    note = "The published function is a network whose weights are not here; this is the formula it was trained on."
    return function.model_copy(update={"note": note, "stands_in": True})


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
            note += f" The output recorded for {text!r} {why}; repaired rules leave that pair out."
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
