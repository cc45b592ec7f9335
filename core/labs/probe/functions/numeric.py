"""Numeric functions: atoms, sums and products of two, noise, corruption, approximation.

Paper §2.1; docs/measuring.md §4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from ....events import Frozen, Rules
from . import atoms, mlp
from .atoms import Numbers, Parameters, bare_sign
from .base import FindFunction, Value, read_number
from .benchmark import read_json, rebuilt
from .mlp import HIDDEN, MLP
from .names import Category

PROBED = (-128.0, 128.0)
"""The agent may test this range, whatever the domain."""

GRID = np.arange(-128, 128) + 0.5
"""The 256 points on which estimates are compared with the truth (docs/measuring.md §4.7)."""

CLOSE = 0.1
"""From this normalized error on, which is the limit of success, a network no longer approximates its formula."""

NoiseKind = Literal["normal", "uniform", "poisson"]
Operation = Literal["sum", "product"]
Where = Literal["inside", "above", "below"]


class Atom(Frozen):
    """One atom with its parameters, named as in `atoms.ATOMS`."""

    name: str
    parameters: Parameters = Field(default_factory=dict)

    def values(self, x: Numbers, rules: Rules) -> Numbers:
        """Return the atom's values at `x`, by the script that `rules` name. Shape of `x`."""
        return atoms.values(self.name, x, self.parameters, rules)

    def formula(self, rules: Rules) -> str:
        """Return the atom as a formula of x, with its parameters filled in."""
        return atoms.formula(self.name, self.parameters, rules)


def interval(low: float | None, high: float | None) -> str:
    """Return an interval in words, such as "between 8 and 18.3", to one decimal; None or an infinite end is an open
    end.
    """
    left, right = (None if end is None or np.isinf(end) else f"{round(end, 1):g}" for end in (low, high))
    if left is None:
        return "everywhere" if right is None else f"below {right}"
    return f"above {left}" if right is None else f"between {left} and {right}"


class Noise(Frozen):
    """The noise added to every observation: normal with standard deviation `size`, uniform within ±`size`, or `size`
    times a Poisson number of mean 1. The paper rules leave that as sampled, so it lifts the function; the updated
    rules centre it.
    """

    kind: NoiseKind
    size: float = 1.0

    def sample(self, shape: tuple[int, ...], rng: np.random.Generator, rules: Rules) -> Numbers:
        """Return independent samples of the given shape, in the unit of the function's values."""
        if self.kind == "normal":
            return rng.normal(0, self.size, shape)
        if self.kind == "uniform":
            return rng.uniform(-self.size, self.size, shape)
        return self.size * (rng.poisson(1, shape) - 1.0) + self.mean(rules)

    def mean(self, rules: Rules) -> float:
        """Return what the noise adds on average, in the unit of the function's values."""
        return self.size if self.kind == "poisson" and rules == "paper" else 0.0

    def describe(self, rules: Rules) -> str:
        """Return the noise in words, such as "uniform noise within ±1"."""
        if self.kind == "normal":
            return f"normal noise with a standard deviation of {self.size:g}"
        if self.kind == "uniform":
            return f"uniform noise within ±{self.size:g}"
        return f"Poisson noise in steps of {self.size:g}, {self.mean(rules):g} on average"


class Corruption(Frozen):
    """Where the function is replaced by normal values around `mean` with standard deviation `sd`.

    `low` is None for "everything below `high`", `high` None for "everything above `low`".
    """

    low: float | None
    high: float | None
    mean: float
    sd: float = 0.1

    @property
    def where(self) -> Where:
        """Which part of the axis is corrupted: below `high`, above `low`, or between them."""
        return "below" if self.low is None else "above" if self.high is None else "inside"

    def covers(self, x: Numbers, rules: Rules) -> Numbers:
        """Return True where x is in the corrupted part, ends included. The paper rules exclude both ends of a closed
        interval, but not the end of an open part (write_source_code.py). Shape of `x`.
        """
        low, high = self.interval()
        if rules == "paper" and self.where == "inside":
            return (x > low) & (x < high)
        return (x >= low) & (x <= high)

    def interval(self) -> tuple[float, float]:
        """Return its two ends; an open end is infinite."""
        return (-np.inf if self.low is None else self.low, np.inf if self.high is None else self.high)

    def describe(self) -> str:
        """Return the corrupted part in words, such as "between 8 and 18"."""
        return interval(self.low, self.high)


class NumericFunction(FindFunction):
    """A function of one number: one atom, or two joined by `operation`. `mlp` is a network that was trained on them and
    is called in their place; with `stands_in` its weights are missing, and the formula is called after all.

    Under the paper rules it behaves as the script that the authors' generator writes: the bias of `absolute` is
    missing; sin, cos and tanh use the phase as the period; roots of negative numbers are complex (NaN in a corrupted
    function, whose script computes with arrays); and a square wave is the bare sign of x wherever only the last line of
    its code is copied: inside a composition, with noise, with corruption (write_source_code.py, extract_function_call).
    Under the updated rules each parameter does what its name says, and what is not real is NaN.
    """

    category: Category = "numeric"
    atoms: tuple[Atom, ...]
    operation: Operation | None = None
    noise: Noise | None = None
    corruption: Corruption | None = None
    mlp: MLP | None = None
    stands_in: bool = False
    low: float = -100.0
    high: float = 100.0
    rules: Rules = "repaired"

    @property
    def kind(self) -> str:
        """Such as "relu", "linear;step;sum_two", "ceil;floor;multiply_two"."""
        names = [atom.name for atom in self.atoms]
        if self.operation is None:
            return names[0]
        return ";".join([*names, "sum_two" if self.operation == "sum" else "multiply_two"])

    @property
    def parameters(self) -> dict[str, Any]:
        return self.model_dump(
            include={"atoms", "operation", "noise", "corruption", "low", "high"}, exclude_none=True, mode="json"
        )

    @property
    def domain(self) -> tuple[float, float]:
        return (self.low, self.high)

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the atoms as the function computes them: "sign" for a square wave that is the sign of x."""
        return tuple("sign" if self._is_bare_sign(atom) else atom.name for atom in self.atoms)

    @property
    def is_stochastic(self) -> bool:
        return self.noise is not None or self.corruption is not None

    def ideal(self, x: Numbers) -> Numbers:
        """Return the function that the metadata define: atoms and operation with every parameter in place, before any
        quirk of a script, network, noise or corruption. Waves keep the published order of arguments under the paper
        rules. Shape of `x`.
        """
        with np.errstate(all="ignore"):
            return self._joined([atom.values(x, self._recorded(atom)) for atom in self.atoms])

    def clean(self, x: Numbers) -> Numbers:
        """Return the function without noise and corruption: the script's formula, or the network. Shape of `x`."""
        x = np.asarray(x, float)
        if self.mlp is not None:
            return self.mlp(x)
        if self.stands_in:
            return self.ideal(x)
        with np.errstate(all="ignore"):
            return self._joined([self._part(atom, x) for atom in self.atoms])

    def distance(self, x: Numbers = GRID) -> float | None:
        """Return how far the network is from the formula it was trained on: the normalized error (NMSE) of the formula
        over the points of `x` at which it is a number. None if there is no network.
        """
        if self.mlp is None:
            return None
        y, formula = self.clean(x), self.ideal(x)
        known = np.isfinite(formula)
        error, power = np.sum((y - formula)[known] ** 2), np.sum(y[known] ** 2)
        with np.errstate(divide="ignore"):
            return float(error / power) if error > 0 else 0.0

    @property
    def differs(self) -> bool:
        """Whether this is a network that does not come close to the formula it was trained on."""
        return (self.distance() or 0.0) >= CLOSE

    def expected(self, x: Numbers) -> Numbers:
        """Return the best that a perfect description could say: `clean` with the mean of the noise, and the
        corruption's mean in the corrupted part. Shape of `x`.
        """
        x = np.asarray(x, float)
        y = self.clean(x) + (0.0 if self.noise is None else self.noise.mean(self.rules))
        return y if self.corruption is None else np.where(self._corrupts(x), self.corruption.mean, y)

    def observe(self, x: Numbers, rng: np.random.Generator) -> Numbers:
        """Return observations at all of `x`, with noise and corruption sampled from `rng`. Shape of `x`; NaN where
        undefined.
        """
        x = np.asarray(x, float)
        y = self.clean(x)
        if self.noise is not None:
            y = y + self.noise.sample(x.shape, rng, self.rules)
        if self.corruption is not None:
            drawn = rng.normal(self.corruption.mean, self.corruption.sd, x.shape)
            y = np.where(self._corrupts(x), drawn, y)
        return y

    def __call__(self, x: float, rng: np.random.Generator) -> float | complex:
        value = self.observe(np.array([x]), rng)[0].item()
        if isinstance(value, complex):
            return value.real if value.imag == 0 else value
        return float(value)

    def read(self, text: str) -> float:
        return read_number(text)

    def outputs(self, inputs: Sequence[float], rng: np.random.Generator) -> list[Value | None]:
        return list(self.observe(np.asarray(inputs, float), rng).tolist())

    def describe(self) -> str:
        word = " plus " if self.operation == "sum" else " times "
        formulas = [self._formula(atom) for atom in self.atoms]
        text = formulas[0] if len(formulas) == 1 else word.join(f"({formula})" for formula in formulas)
        text = text.replace("+ -", "- ").replace("- -", "+ ")
        sentences = [f"f(x) = {text}"]
        if self.mlp is not None:
            sentences = self._network(text)
        if self.noise is not None:
            sentences.append(f"Each observation carries {self.noise.describe(self.rules)}")
        if self.corruption is not None:
            sentences.append(f"The values {self.corruption.describe()} are random around {self.corruption.mean:.4g}")
        return ". ".join(sentences) + "."

    def _network(self, formula: str) -> list[str]:
        """Return sentences, without their full stops, on what is called and how far it is from `formula`."""
        far = f"the normalized error (NMSE) between the two is {self.distance():.2g} on the test points"
        missing = int(np.count_nonzero(~np.isfinite(self.ideal(GRID))))
        if missing:
            far += f" where the formula has a value; on the other {missing} there is the network alone"
        if self.differs:
            within = self.distance(np.array([x for x in GRID if self.low <= x <= self.high]))
            far += f". Between {self.low:g} and {self.high:g}, where it was trained, it is {within:.2g}"
            return [
                f"f(x) is a network of {HIDDEN} ReLU units that was trained on {formula}",
                f"It differs from it: {far}",
            ]
        return [f"f(x) = {formula}", f"A network of {HIDDEN} ReLU units approximates it, and is what is probed: {far}"]

    def _joined(self, parts: list[Numbers]) -> Numbers:
        if self.operation is None:
            return parts[0]
        return parts[0] + parts[1] if self.operation == "sum" else parts[0] * parts[1]

    def _corrupts(self, x: Numbers) -> Numbers:
        assert self.corruption is not None
        return self.corruption.covers(x, self.rules)

    def _is_bare_sign(self, atom: Atom) -> bool:
        copied = not self._is_network and (self.operation is not None or self.is_stochastic)
        return self.rules == "paper" and copied and atom.name == "square_wave"

    @property
    def _is_network(self) -> bool:
        return self.mlp is not None or self.stands_in

    def _recorded(self, atom: Atom) -> Rules:
        """Return the rules that give what the metadata record for `atom`: real roots, and no bias left out."""
        return "repaired" if atom.name in ("absolute", "root") else self.rules

    def _part(self, atom: Atom, x: Numbers) -> Numbers:
        if self._is_bare_sign(atom):
            return bare_sign(x)
        real = atom.name == "root" and self.corruption is not None
        return atom.values(x, "repaired" if real else self.rules)

    def _formula(self, atom: Atom) -> str:
        rules = self._recorded(atom) if self._is_network else self.rules
        return "the sign of x, -1 at 0" if self._is_bare_sign(atom) else atom.formula(rules)


# The published functions


OPERATIONS: dict[str, Operation] = {"sum_two": "sum", "multiply_two": "product"}

SCRIPTS = {"function_code.py", "noised_function_code.py", "corrupted_function_code.py", "load_mlp.py"}


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
    return Atom(name=name, parameters=dict(zip(atoms.ATOMS[name].draws, listed, strict=True)))


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
