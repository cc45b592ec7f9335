"""The parts of numpy, cmath and string that a sandboxed program may use: allow-listed names, with numbers and short
lists as arguments and results.

The lent functions run outside of monty's workers, so they accept no object that could do anything: arguments are
checked to be plain numbers or short lists of numbers, and the results are plain again. `prelude` turns them into arrays
inside the sandbox, and contains whatever calls a program's own functions. `scipy_subset` lends parts of scipy.
"""

from __future__ import annotations

import cmath
import inspect
import string
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .rewriting import NAMED

if TYPE_CHECKING:
    from pydantic_monty import ExternalModule


# The parts of scipy that a sandboxed program may use: densities, special functions and two waves, by name.
#
# Densities are written out here, because importing scipy.stats takes longer than a program may run. Formulas and
# parameters are scipy's, including `loc` and `scale`.


Row = NDArray[Any]

SPECIAL = NAMED["special"]
SIGNAL = ("square", "sawtooth")


class Distribution(NamedTuple):
    """A distribution in standard form: `density` and `below` (the cumulative share) are functions of a point and of the
    further numbers `shapes`.
    """

    density: Callable[..., Row]
    below: Callable[..., Row]
    shapes: tuple[str, ...] = ()
    discrete: bool = False


def _special(name: str) -> Callable[..., Row]:
    from scipy import special

    function: Callable[..., Row] = getattr(special, name)
    return function


def _poisson(k: Row, mean: Row) -> Row:
    return np.asarray(np.exp(_special("xlogy")(k, mean) - mean - _special("gammaln")(k + 1)))


def _binomial(k: Row, n: Row, p: Row) -> Row:
    log = _special("gammaln")
    ways = log(n + 1) - log(k + 1) - log(n - k + 1)
    some = np.exp(ways + _special("xlogy")(k, p) + _special("xlog1py")(n - k, -p))
    return np.where(k <= n, some, 0.0)


DISTRIBUTIONS = {
    "norm": Distribution(lambda z: np.exp(-z * z / 2) / np.sqrt(2 * np.pi), lambda z: _special("ndtr")(z)),
    "uniform": Distribution(lambda z: np.where((z >= 0) & (z <= 1), 1.0, 0.0), lambda z: np.clip(z, 0, 1)),
    "expon": Distribution(
        lambda z: np.where(z >= 0, np.exp(-np.abs(z)), 0.0), lambda z: np.where(z >= 0, -np.expm1(-np.abs(z)), 0.0)
    ),
    "logistic": Distribution(
        lambda z: np.exp(-np.abs(z)) / (1 + np.exp(-np.abs(z))) ** 2, lambda z: _special("expit")(z)
    ),
    "laplace": Distribution(
        lambda z: np.exp(-np.abs(z)) / 2,
        lambda z: np.where(z > 0, 1 - np.exp(-np.abs(z)) / 2, np.exp(-np.abs(z)) / 2),
    ),
    "cauchy": Distribution(lambda z: 1 / (np.pi * (1 + z * z)), lambda z: 0.5 + np.arctan(z) / np.pi),
    "t": Distribution(
        lambda z, df: np.exp(
            _special("gammaln")((df + 1) / 2)
            - _special("gammaln")(df / 2)
            - np.log(df * np.pi) / 2
            - (df + 1) / 2 * np.log1p(z * z / df)
        ),
        lambda z, df: _special("stdtr")(df, z),
        ("df",),
    ),
    "gamma": Distribution(
        lambda z, a: np.where(
            z >= 0, np.exp(_special("xlogy")(a - 1, np.abs(z)) - np.abs(z) - _special("gammaln")(a)), 0.0
        ),
        lambda z, a: _special("gammainc")(a, np.maximum(z, 0)),
        ("a",),
    ),
    "poisson": Distribution(_poisson, lambda k, mean: _special("pdtr")(k, mean), ("mu",), discrete=True),
    "binom": Distribution(
        _binomial, lambda k, n, p: _special("bdtr")(np.minimum(k, n), n, p), ("n", "p"), discrete=True
    ),
}
"""The distributions by scipy's names."""

NAMES: dict[str, tuple[str, ...]] = {"stats": tuple(DISTRIBUTIONS), "special": SPECIAL, "signal": SIGNAL}
"""The names that are lent from each part of scipy."""

LONGEST_LIST = 1_000


def caller(part: str, safe: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a function that accepts one of `NAMES[part]` (for stats with the method, "norm.pdf") and arguments, each
    passed through `safe` first. Raises NotImplementedError for what is not lent, TypeError for arguments that scipy
    does not accept either.
    """

    def call(name: Any, *args: Any, **named: Any) -> Any:
        base, _, what = str(name).partition(".")
        if base not in NAMES[part]:
            raise NotImplementedError(f"scipy.{part} does not lend {base!r} here")
        given = [np.asarray(safe(value), dtype=float) for value in args]
        options = {key: np.asarray(safe(value), dtype=float) for key, value in named.items()}
        with np.errstate(all="ignore"):
            if part == "stats":
                result = _of_distribution(base, what, given, options)
            elif part == "signal":
                result = _wave(base, *given, **options)
            else:
                if options:
                    raise NotImplementedError(f"scipy.special.{base} takes no argument {min(options)!r} here")
                result = np.asarray(_special(base)(*given))
        if result.size > LONGEST_LIST or result.ndim > 1 or result.dtype.kind not in "biufc":
            raise NotImplementedError(f"scipy.{part}.{base} cannot be used like this here")
        return result.tolist()

    return call


def _of_distribution(name: str, what: str, given: list[Row], options: dict[str, Row]) -> Row:
    """Evaluate `what` (pdf, pmf, cdf, sf) of the distribution at the first of `given`. Raises TypeError, and
    NotImplementedError for what is not lent.
    """
    distribution = DISTRIBUTIONS[name]
    parameters = ["x", *distribution.shapes, "loc", *(() if distribution.discrete else ("scale",))]
    if distribution.discrete and "k" in options:
        options["x"] = options.pop("k")
    values = dict(zip(parameters, given, strict=False)) | options
    if len(given) > len(parameters) or set(values) - set(parameters) or "x" not in values:
        raise TypeError(f"scipy.stats.{name}.{what} takes {', '.join(parameters)} here")
    if what not in ("pmf" if distribution.discrete else "pdf", "cdf", "sf"):
        raise NotImplementedError(f"scipy.stats.{name} has no {what!r} here")
    if missing := [shape for shape in distribution.shapes if shape not in values]:
        raise TypeError(f"scipy.stats.{name}.{what} lacks {missing[0]}")
    shapes = [values[shape] for shape in distribution.shapes]
    scale = np.asarray(values.get("scale", 1.0))
    z = (values["x"] - values.get("loc", 0.0)) / scale
    if distribution.discrete:
        return _of_counts(distribution, what, z, shapes)
    found = distribution.density(z, *shapes) / scale if what == "pdf" else distribution.below(z, *shapes)
    return np.asarray(np.where(scale > 0, 1 - found if what == "sf" else found, np.nan))


def _of_counts(distribution: Distribution, what: str, z: Row, shapes: list[Row]) -> Row:
    if what == "pmf":
        whole = (z >= 0) & (z == np.floor(z))
        return np.asarray(np.where(whole, distribution.density(np.where(whole, z, 0.0), *shapes), 0.0))
    below = np.where(z >= 0, distribution.below(np.maximum(np.floor(z), 0.0), *shapes), 0.0)
    return np.asarray(1 - below if what == "sf" else below)


def _wave(name: str, t: Row, duty: Row | None = None, width: Row | None = None) -> Row:
    """Return scipy.signal's square wave or sawtooth; their period is 2π."""
    share = duty if duty is not None else width
    turn = np.mod(t, 2 * np.pi) / (2 * np.pi)
    if name == "square":
        return np.where(turn < (0.5 if share is None else share), 1.0, -1.0)
    rising = np.asarray(1.0 if share is None else share)
    safe_up, safe_down = np.where(rising > 0, rising, 1.0), np.where(rising < 1, 1 - rising, 1.0)
    return np.where(turn < rising, 2 * turn / safe_up - 1, 1 - 2 * (turn - rising) / safe_down)


MAKERS = ("zeros", "ones", "empty", "full", "arange", "linspace", "logspace", "geomspace")
"""Functions that make arrays of a given length, which is checked before anything is made."""

PLAINLY = ("diff", "unique", "gradient", "polyder", "polyint", "sort", "argsort")
"""Functions that accept nothing but numbers here. Some would otherwise repeat their work as often as they are told."""

KINDS = {"float64", "float32", "int64", "bool", "complex128"}
"""Types of numbers that may be requested for an array."""

MOST_DECIMALS = 400
"""More than any float has. numpy computes ten to that power as a whole number, which takes seconds for 2**31."""

CONSTANTS = ("pi", "e", "inf", "nan", "euler_gamma")

MOST_GENERATORS = 2_000
"""Most generators that a program may create: some seven for each of 256 inputs."""

MOST_TERMS = 30
"""The highest degree of a polynomial that may be fitted."""


def _chosen(rng: np.random.Generator, a: Any, p: Any = None) -> Any:
    return rng.choice(a, p=p) if isinstance(a, list) else rng.integers(a)


DRAWS: dict[str, Callable[..., Any]] = {
    "normal": lambda rng, loc=0.0, scale=1.0: rng.normal(loc, scale),
    "uniform": lambda rng, low=0.0, high=1.0: rng.uniform(low, high),
    "poisson": lambda rng, lam=1.0: rng.poisson(lam),
    "randn": lambda rng: rng.normal(),
    "standard_normal": lambda rng: rng.normal(),
    "rand": lambda rng: rng.uniform(),
    "random": lambda rng: rng.uniform(),
    "random_sample": lambda rng: rng.uniform(),
    "randint": lambda rng, low, high=None: rng.integers(low, high),
    "integers": lambda rng, low, high=None: rng.integers(low, high),
    "exponential": lambda rng, scale=1.0: rng.exponential(scale),
    "laplace": lambda rng, loc=0.0, scale=1.0: rng.laplace(loc, scale),
    "gamma": lambda rng, shape, scale=1.0: rng.gamma(shape, scale),
    "binomial": lambda rng, n, p: rng.binomial(n, p),
    "choice": _chosen,
}
"""`numpy.random`, one number at a time."""

RANDOM = "random_numbers"
"""The name under which `numpy.random` is lent: the sandbox reserves "random" for its own module."""


def safe_argument(value: Any) -> Any:
    """Return `value` if it is a number, a truth value or a short list of them. Raises TypeError or OverflowError, and
    NotImplementedError for values that numpy itself would accept.
    """
    value = of_array(value)
    if isinstance(value, bool | float | complex):
        return value
    if isinstance(value, int):
        # As a float, because numpy would fall back on Python's unbounded integers.
        return value if abs(value) < 2**53 else float(value)
    if isinstance(value, list | tuple):
        if len(value) > LONGEST_LIST:
            raise NotImplementedError(f"lists may have {LONGEST_LIST:,} numbers at most")
        return [_number(item) for item in value]
    raise TypeError(f"numbers or lists of numbers only, not {type(value).__name__}")


def of_array(value: Any) -> Any:
    """Return the data of an array of the sandbox; any other value unchanged."""
    from pydantic_monty import MontyClassProxy

    return value.attributes.get("data") if isinstance(value, MontyClassProxy) and value.name == "ndarray" else value


def _number(value: Any) -> Any:
    """Return an item of a list, which may not be a list itself. Raises NotImplementedError for one, else as
    `safe_argument`.
    """
    if isinstance(of_array(value), list | tuple):
        raise NotImplementedError("lists of numbers may not hold lists")
    return safe_argument(value)


def _checked(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def call(*args: Any, **named: Any) -> Any:
        if name in ("round", "around"):
            decimals = [*args[1:], *named.values()]
            if not all(isinstance(number, int) and abs(number) <= MOST_DECIMALS for number in decimals):
                raise NotImplementedError(f"numpy.{name} takes {MOST_DECIMALS} decimals at most")
        kind = {"dtype": _kind(named.pop("dtype"))} if "dtype" in named else {}
        try:
            given = [safe_argument(value) for value in args]
        except TypeError as refused:
            if name in NAMED["of_anything"]:
                raise NotImplementedError(f"numpy.{name} takes {refused}") from None
            raise
        options = _named(name, named)
        if name in MAKERS and not _length(name, given, options) <= LONGEST_LIST:
            raise NotImplementedError(f"arrays may have {LONGEST_LIST:,} numbers at most")
        if name in PLAINLY and (len(given) != 1 or options):
            raise NotImplementedError(f"numpy.{name} takes one list of numbers here")
        if name == "polyfit" and not all(
            isinstance(n, int) and n <= MOST_TERMS for n in [*given[2:], *options.values()]
        ):
            raise NotImplementedError(f"numpy.polyfit takes a degree of {MOST_TERMS} at most")
        with np.errstate(all="ignore"):
            result = np.asarray(function(*given, **options, **kind))
        if result.size > LONGEST_LIST or result.dtype.kind not in "biufc" or result.ndim > 1:
            raise NotImplementedError(f"numpy.{name} cannot be used like this here")
        return result.tolist()

    return call


def _length(name: str, given: Sequence[Any], options: dict[str, Any]) -> float:
    """Return how many numbers the requested array would have. Raises NotImplementedError if that cannot be
    determined.
    """
    if name == "arange":
        ends = [*given, *options.values()]
        if options or not all(isinstance(end, int | float) for end in ends) or not 1 <= len(ends) <= 3:
            raise NotImplementedError("numpy.arange takes one to three numbers here")
        start, stop, step = (0, ends[0], 1) if len(ends) == 1 else (*ends[:2], *(ends[2:] or [1]))
        return (stop - start) / step if step else 0.0
    if name in ("zeros", "ones", "empty", "full"):
        wanted = options.get("shape", given[0] if given else 0)
        wanted = wanted[0] if isinstance(wanted, list) and len(wanted) == 1 else wanted
    else:
        wanted = options.get("num", given[2] if len(given) > 2 else 50)
    if not isinstance(wanted, int):
        raise NotImplementedError(f"numpy.{name} makes rows of a whole number of numbers here")
    return wanted


def _kind(wanted: Any) -> str:
    if not (isinstance(wanted, str) and wanted in KINDS):
        raise NotImplementedError("arrays hold float, int, bool or complex here")
    return wanted


def _named(name: str, named: dict[str, Any]) -> dict[str, Any]:
    refused = sorted(set(named).difference(NAMED["keywords"]))
    if refused:
        unknown = NotImplementedError if _takes(name, refused[0]) else TypeError
        raise unknown(f"numpy.{name} takes no argument {refused[0]!r} here")
    return {key: _side(value) if key == "side" else safe_argument(value) for key, value in named.items()}


def _takes(name: str, argument: str) -> bool:
    """Whether numpy's own function has the argument; True if that is unknown."""
    function = getattr(np, name, None)
    if isinstance(function, np.ufunc):
        return argument in NAMED["ufunc_keywords"]
    try:
        return function is None or argument in inspect.signature(function).parameters
    except ValueError:
        return True


def _side(value: Any) -> str:
    if value not in ("left", "right"):
        raise TypeError("a side is left or right")
    return str(value)


@lru_cache(maxsize=1)
def _functions() -> dict[str, Callable[..., Any]]:
    return {name: _checked(name) for name in (*NAMED["elementwise"], *MAKERS)}


class _Draws:
    """numpy's random numbers, from several generators: the first is the program's, the others are those that it
    creates.
    """

    def __init__(self, seed: int) -> None:
        self._generators = [np.random.default_rng(seed)]
        self._own = np.random.default_rng([seed, 1])

    def generator(self, seed: Any = None) -> int:
        """Create a generator and return its number. Raises NotImplementedError if there are too many, TypeError if
        `seed` is not a whole number.
        """
        if len(self._generators) >= MOST_GENERATORS:
            raise NotImplementedError(f"a program may make {MOST_GENERATORS:,} generators at most")
        self._generators.append(self._seeded(seed))
        return len(self._generators) - 1

    def seed(self, seed: Any = None) -> None:
        """Reset the program's generator. Raises TypeError if `seed` is not a whole number."""
        self._generators[0] = self._seeded(seed)

    def _seeded(self, seed: Any) -> np.random.Generator:
        if seed is None:
            return np.random.default_rng(int(self._own.integers(2**32)))
        if not isinstance(seed, int) or not 0 <= seed < 2**64:
            raise TypeError("a seed is a whole number from 0 here")
        return np.random.default_rng(seed)

    def draw(self, number: Any, name: Any, *args: Any, **named: Any) -> Any:
        """Draw one number, or a list of `size`. Raises TypeError or NotImplementedError for what is not lent."""
        if not (isinstance(number, int) and 0 <= number < len(self._generators) and name in DRAWS):
            raise TypeError("that cannot be drawn here")
        size = of_array(named.pop("size", None))
        if isinstance(size, list | tuple) and len(size) < 2:
            size = size[0] if size else None
        if size is not None and not (isinstance(size, int) and 0 <= size <= LONGEST_LIST):
            raise NotImplementedError(f"draws come one by one, or up to {LONGEST_LIST:,} in a row")
        rng = self._generators[number]
        given = [safe_argument(value) for value in args]
        options = _named(name, named)
        if size is None:
            return np.asarray(DRAWS[name](rng, *given, **options)).item()
        return [np.asarray(DRAWS[name](rng, *given, **options)).item() for _ in range(size)]


def lent_modules(is_late: Callable[[], bool], seed: int) -> dict[str, Callable[[], ExternalModule]]:
    """Return functions that make `numpy`, `scipy`, `cmath` and `string` for one program, if it wants them. Once
    `is_late` returns True, the modules' functions raise TimeoutError. The random numbers of numpy are determined by
    `seed`.
    """
    from pydantic_monty import ExternalModule

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            if is_late():
                raise TimeoutError("time limit exceeded")
            return function(*args, **named)

        return call

    def numbers() -> ExternalModule:
        draws = _Draws(seed)
        lent: dict[str, Any] = {name: timed(function) for name, function in _functions().items()}
        lent |= {name: float(getattr(np, name)) for name in CONSTANTS}
        lent |= {"names": list(_functions()), "constants": list(CONSTANTS)}
        random = {"draw": timed(draws.draw), "generator": timed(draws.generator), "seed": timed(draws.seed)}
        return ExternalModule({**lent, RANDOM: ExternalModule({**random, "names": list(DRAWS)})})

    def parts() -> ExternalModule:
        made = {
            part: ExternalModule({"names": list(names), "call": timed(caller(part, safe_argument))})
            for part, names in NAMES.items()
        }
        return ExternalModule(made)

    def complex_ones() -> ExternalModule:
        lent: dict[str, Any] = {name: timed(_of_complex(name)) for name in NAMED["complex"]}
        return ExternalModule({**lent, "pi": cmath.pi, "e": cmath.e, "tau": cmath.tau})

    def texts() -> ExternalModule:
        return ExternalModule({name: getattr(string, name) for name in NAMED["string_constants"]})

    return {"numpy": numbers, "scipy": parts, "cmath": complex_ones, "string": texts}


def _of_complex(name: str) -> Callable[..., Any]:
    function = getattr(cmath, name)
    return lambda *args: function(*(_number(value) for value in args))
