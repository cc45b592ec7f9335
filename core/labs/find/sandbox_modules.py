"""What a sandboxed program may borrow of numpy and string: names on a list, numbers and short lists in and out.

The lent functions run outside of monty's workers, so they take no object that could do anything: arguments are checked
to be plain numbers, texts or short lists of numbers, and the results are plain again.
"""

from __future__ import annotations

import string
import time
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pydantic_monty import ExternalModule

LONGEST_LIST = 1_000

ELEMENTWISE = [
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "arctan2",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "cbrt",
    "square",
    "abs",
    "absolute",
    "fabs",
    "sign",
    "floor",
    "ceil",
    "round",
    "around",
    "rint",
    "trunc",
    "fix",
    "power",
    "float_power",
    "mod",
    "fmod",
    "remainder",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "heaviside",
    "clip",
    "where",
    "isnan",
    "isinf",
    "isfinite",
    "isclose",
    "hypot",
    "degrees",
    "radians",
    "deg2rad",
    "rad2deg",
    "polyval",
    "nan_to_num",
    "real",
    "imag",
    "add",
    "subtract",
    "multiply",
    "divide",
    "true_divide",
    "floor_divide",
    "reciprocal",
    "negative",
    "positive",
    "logical_and",
    "logical_or",
    "logical_not",
    "logical_xor",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "equal",
    "not_equal",
    "sinc",
    "signbit",
    "copysign",
    "array",
    "asarray",
    "float64",
    "float32",
    "sum",
    "mean",
    "median",
    "std",
    "prod",
    "max",
    "min",
    "amax",
    "amin",
    "any",
    "all",
]
"""Names of numpy functions that a program may call."""

KEYWORDS = {"a_min", "a_max", "decimals", "nan", "posinf", "neginf", "loc", "scale", "low", "high", "lam"}
"""Arguments that may be given by name; none of them says where a result is put."""

MOST_DECIMALS = 400
"""More than any float has. numpy computes ten to that power, as a whole number, which for 2**31 takes seconds."""

CONSTANTS = ("pi", "e", "inf", "nan", "euler_gamma")

DRAWS: dict[str, Callable[..., float]] = {
    "normal": lambda rng, loc=0.0, scale=1.0: rng.normal(loc, scale),
    "uniform": lambda rng, low=0.0, high=1.0: rng.uniform(low, high),
    "poisson": lambda rng, lam=1.0: rng.poisson(lam),
    "randn": lambda rng: rng.normal(),
    "rand": lambda rng: rng.uniform(),
    "random": lambda rng: rng.uniform(),
}
"""`numpy.random`, one number at a time."""

RANDOM = "random_numbers"
"""The name under which `numpy.random` is lent: the sandbox keeps "random" for its own module."""

STRING_CONSTANTS = [
    "ascii_letters",
    "ascii_lowercase",
    "ascii_uppercase",
    "digits",
    "hexdigits",
    "octdigits",
    "punctuation",
    "printable",
    "whitespace",
]


def safe_argument(value: Any) -> Any:
    """`value` where it is a number, a truth value or a short list of them. Raises TypeError or OverflowError."""
    if isinstance(value, bool | float | complex):
        return value
    if isinstance(value, int):
        # As float, or numpy would fall back on Python's unbounded integers.
        return value if abs(value) < 2**53 else float(value)
    if isinstance(value, list | tuple):
        if len(value) > LONGEST_LIST:
            raise TypeError(f"lists may have {LONGEST_LIST:,} numbers at most")
        return [_number(item) for item in value]
    raise TypeError(f"numbers or lists of numbers only, not {type(value).__name__}")


def _number(value: Any) -> Any:
    """An item of a list: lists do not nest."""
    if isinstance(value, list | tuple):
        raise TypeError("lists of numbers may not hold lists")
    return safe_argument(value)


def _checked(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def call(*args: Any, **named: Any) -> Any:
        if name in ("round", "around"):
            decimals = [*args[1:], *named.values()]
            if not all(isinstance(number, int) and abs(number) <= MOST_DECIMALS for number in decimals):
                raise TypeError(f"numpy.{name} takes {MOST_DECIMALS} decimals at most")
        with np.errstate(all="ignore"):
            result = np.asarray(function(*map(safe_argument, args), **_named(name, named)))
        if result.size > LONGEST_LIST or result.dtype == object:
            raise TypeError(f"numpy.{name} cannot be used like this here")
        return result.tolist()

    return call


def _named(name: str, named: dict[str, Any]) -> dict[str, Any]:
    refused = sorted(set(named) - KEYWORDS)
    if refused:
        raise TypeError(f"numpy.{name} takes no argument {refused[0]!r} here")
    return {key: safe_argument(value) for key, value in named.items()}


@lru_cache(maxsize=1)
def _functions() -> dict[str, Callable[..., Any]]:
    return {name: _checked(name) for name in ELEMENTWISE}


def lent_modules(deadline: float, seed: int) -> dict[str, ExternalModule]:
    """`numpy` and `string` for one program. After `deadline` (time.monotonic) their functions raise TimeoutError.

    What numpy draws at random follows from `seed`.
    """
    from pydantic_monty import ExternalModule

    rng = np.random.default_rng(seed)

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            if time.monotonic() > deadline:
                raise TimeoutError("time limit exceeded")
            return function(*args, **named)

        return call

    def draw(name: str) -> Callable[..., float]:
        return timed(lambda *args, **named: float(DRAWS[name](rng, *map(safe_argument, args), **_named(name, named))))

    numbers: dict[str, Any] = {name: timed(function) for name, function in _functions().items()}
    numbers |= {name: float(getattr(np, name)) for name in CONSTANTS}
    numbers[RANDOM] = ExternalModule({name: draw(name) for name in DRAWS})
    texts = {name: getattr(string, name) for name in STRING_CONSTANTS}
    return {"numpy": ExternalModule(numbers), "string": ExternalModule(texts)}
