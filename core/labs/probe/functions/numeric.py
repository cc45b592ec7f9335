"""Numeric functions: atoms, sums and products of two, noise, corruption, approximation.

Paper §2.1; docs/measuring.md §4.1.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ....events import Frozen, Rules
from ....package_data import table
from .base import BenchmarkError, Category, FindFunction, Value, read_json, read_number, rebuilt

# The numeric atoms of FIND (paper, appendix E; docs/measuring.md §4.1): how parameters are sampled, values, formula.
#
# Values follow the published metadata: with these formulas the mean of each of the 1,000 published functions over
# 100 evenly spaced points of its domain equals the recorded one.


Numbers = NDArray[Any]
"""Float values, or complex ones if the paper rules take the root of a negative number."""

Parameters = dict[str, float | tuple[float, ...]]


class ParameterRange(Frozen):
    """The range from which a parameter is sampled (data/find/numeric_atoms.toml). Parameters with `first` are sampled
    before the others.
    """

    range: tuple[float, float]
    repaired: tuple[float, float] | None = None
    whole: bool = False
    never: float | None = None
    never_repaired: float | None = None
    first: bool = False

    def sample(self, rng: np.random.Generator, rules: Rules) -> float:
        """Return a number rounded to tenths, like every real parameter of the published set, or a whole one."""
        low, high = self.repaired if self.repaired and rules == "repaired" else self.range
        if self.whole:
            return int(rng.integers(int(low), int(high)))
        while True:
            value = round(float(rng.uniform(low, high)), 1)
            if value != self.never and (rules == "paper" or value != self.never_repaired):
                return value


class AtomKind(Frozen):
    """What is known of an atom besides its values: `formula` writes it out, `draws` says how parameters are sampled."""

    formula: str
    paper_formula: str = ""
    draws: dict[str, ParameterRange] = Field(default_factory=dict)
    domain: tuple[float, float] = (-100.0, 100.0)
    single: bool = True
    """Whether it is sampled alone."""
    composable: bool = False
    """Whether it is sampled as a part of a sum or product."""


ATOMS = {name: AtomKind.model_validate(entry) for name, entry in table("find/numeric_atoms").items()}


def _as_scripted(name: str, p: Parameters) -> Parameters:
    """Return the parameters with which the authors' script computes: the arguments of waves are shifted by one
    position, so that the "phase" is the period, and `absolute` loses its bias (docs/measuring.md §4.1).
    """
    if name in ("sin", "cos", "tanh"):
        return {**p, "phase": p["period"], "period": p["phase"]}
    return {**p, "bias": 0.0} if name == "absolute" else {**p}


def _series(coefficients: tuple[float, ...]) -> str:
    """Write out a polynomial; the coefficients are by falling power."""
    highest = len(coefficients) - 1
    powers = ["" if k == 0 else " x" if k == 1 else f" x^{k}" for k in range(highest, -1, -1)]
    return " + ".join(f"{c}{power}" for c, power in zip(coefficients, powers, strict=True))


def bare_sign(x: Numbers) -> Numbers:
    """Return 1 above zero, -1 at zero and below, as in the published scripts. Shape of `x`."""
    return np.where(x > 0, 1.0, -1.0)


def _wave(function: Callable[[Numbers], Numbers]) -> Callable[[Numbers, Any], Numbers]:
    return lambda x, p: p["amplitude"] * function(2 * np.pi / p["period"] * (x - p["phase"])) + p["bias"]


def _gaussian(x: Numbers, p: Any) -> Numbers:
    """Return the density of the normal distribution with mean `mean` and standard deviation `sd`."""
    return np.asarray(np.exp(-0.5 * ((x - p["mean"]) / p["sd"]) ** 2) / (p["sd"] * np.sqrt(2 * np.pi)))


_VALUES: dict[str, Callable[[Numbers, Any], Numbers]] = {
    "linear": lambda x, p: p["slope"] * x + p["bias"],
    "polynomial": lambda x, p: np.polyval(p["coefficients"], x),
    "absolute": lambda x, p: p["scale"] * np.abs(x) + p["bias"],
    "root": lambda x, p: p["scale"] * x ** (1 / p["degree"]) + p["bias"],
    "logarithm": lambda x, p: p["scale"] * np.log(x) / np.log(p["base"]) + p["bias"],
    "step": lambda x, p: p["scale"] * np.heaviside(x, p["at_zero"]) + p["bias"],
    "relu": lambda x, p: p["scale"] * np.where(x > 0, x, p["leak"] * x) + p["bias"],
    "tanh": _wave(np.tanh),
    "constant": lambda x, p: np.full(np.shape(x), float(p["value"])),
    "sin": _wave(np.sin),
    "cos": _wave(np.cos),
    "reciprocal": lambda x, p: 1 / (p["scale"] * x),
    "gaussian": _gaussian,
    "rational": lambda x, p: np.polyval(p["numerator"][::-1], x) / np.polyval(p["denominator"][::-1], x),
    "rectangle": lambda x, p: np.where(np.abs(x) <= p["width"] / 2, 1.0, 0.0),
    "square_wave": lambda x, p: bare_sign(np.sin(2 * np.pi / p["period"] * (x - p["shift"]))),
    "ceil": lambda x, p: np.ceil(x),
    "floor": lambda x, p: np.floor(x),
}


# Small networks that approximate a function (FIND, "approximation"): one input, 64 ReLU units, one output.


HIDDEN = 64
POINTS = 600


class MLP(Frozen):
    """`y = v · relu(w x + b) + c` with 64 hidden units; each tuple has 64 entries."""

    w: tuple[float, ...]
    b: tuple[float, ...]
    v: tuple[float, ...]
    c: float

    def __call__(self, x: Numbers) -> Numbers:
        """Return the values on an array of any shape."""
        hidden = np.maximum(np.asarray(x, float)[..., None] * np.array(self.w) + np.array(self.b), 0)
        return np.asarray(hidden @ np.array(self.v) + self.c)


def fit(f: Callable[[Numbers], Numbers], low: float, high: float, rng: np.random.Generator) -> MLP:
    """Return a network close to `f` on [low, high], in milliseconds and the same for the same `rng` state.

    The published networks were trained by gradient descent for 10,000 epochs on 10,000 points (docs/measuring.md §4.1).
    Here each unit gets a random kink and direction, and the output weights are the least-squares solution: the same
    class of functions, piecewise linear with 64 kinks, without the training. Points where `f` is not finite are left
    out.
    """
    x = np.linspace(low, high, POINTS)
    with np.errstate(all="ignore"):
        y = np.real(f(x))
    x, y = x[np.isfinite(y)], y[np.isfinite(y)]
    kinks = np.sort(rng.uniform(low, high, HIDDEN))
    w = rng.choice([-1.0, 1.0], HIDDEN)
    b = -w * kinks
    hidden = np.maximum(x[:, None] * w + b, 0)
    features = np.column_stack([hidden, np.ones_like(x)])
    # A little ridge keeps the weights of near-parallel units from cancelling each other in the millions.
    ridge = 1e-6 * len(x) * np.eye(HIDDEN + 1)
    weights = np.linalg.solve(features.T @ features + ridge, features.T @ y)
    return MLP(w=tuple(w.tolist()), b=tuple(b.tolist()), v=tuple(weights[:-1].tolist()), c=float(weights[-1]))


def load(path: Path) -> MLP:
    """Load the published weights in `mlp_approx_model.pt`. Only tensors are read from the file, never code.

    Raises BenchmarkError if the file is not such a network, OSError if it cannot be read.
    """
    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        w, b = state["layers.0.weight"].flatten().tolist(), state["layers.0.bias"].tolist()
        v, c = state["layers.2.weight"].flatten().tolist(), float(state["layers.2.bias"].item())
    except OSError:
        raise
    except Exception as error:  # torch raises half a dozen kinds for a file that is not one of its own
        raise BenchmarkError(f"{path.name} holds no network of one input, {HIDDEN} units and one output") from error
    if not len(w) == len(b) == len(v) == HIDDEN:
        raise BenchmarkError(f"{path.name} has {len(w)} hidden units, not {HIDDEN}")
    return MLP(w=tuple(w), b=tuple(b), v=tuple(v), c=c)


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
        p = self.parameters
        if rules == "paper":
            p = _as_scripted(self.name, p)
            # For the root of a negative number the paper rules use Python's complex one, and the updated rules call it
            # undefined.
            if self.name == "root" and p["degree"] != 1 and np.any(x < 0):
                x = x.astype(complex)
        return np.asarray(_VALUES[self.name](x, p))

    def formula(self, rules: Rules) -> str:
        """Return the atom as a formula of x, with its parameters filled in."""
        kind = ATOMS[self.name]
        p: dict[str, Any] = _as_scripted(self.name, self.parameters) if rules == "paper" else {**self.parameters}
        if self.name == "polynomial":
            p = {"coefficients": _series(p["coefficients"])}
        if self.name == "rational":
            p = {part: _series(coefficients[::-1]) for part, coefficients in p.items()}
        if self.name == "rectangle":
            p["half"] = p["width"] / 2
        template = kind.paper_formula if rules == "paper" and kind.paper_formula else kind.formula
        return template.format(**p)


def interval(low: float | None, high: float | None) -> str:
    """Return an interval in words, such as "between 8 and 18.3", to one decimal; None or an infinite end is an open
    end.
    """
    left, right = (None if end is None or np.isinf(end) else f"{round(end, 1):g}" for end in (low, high))
    if left is None:
        return "everywhere" if right is None else f"below {right}"
    return f"above {left}" if right is None else f"between {left} and {right}"


def with_infinite(low: float | None, high: float | None) -> tuple[float, float]:
    """Return the two ends of an interval; an open end (None) is infinite."""
    return (-np.inf if low is None else low, np.inf if high is None else high)


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
        return with_infinite(self.low, self.high)


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
        return (
            y if self.corruption is None else np.where(self.corruption.covers(x, self.rules), self.corruption.mean, y)
        )

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
            y = np.where(self.corruption.covers(x, self.rules), drawn, y)
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
            where = interval(self.corruption.low, self.corruption.high)
            sentences.append(f"The values {where} are random around {self.corruption.mean:.4g}")
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
        return function.model_copy(update={"mlp": load(path)})
    note = "The published function is a network whose weights are not here; this is the formula it was trained on."
    return function.model_copy(update={"note": note, "stands_in": True})
