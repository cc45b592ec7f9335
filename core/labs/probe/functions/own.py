"""Functions that a person writes: a formula, a few lines of Python, or typed pairs."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....sandbox import sandbox
from .base import Category, FindFunction, UndefinedInputError, Value, as_number, read_number

TRIED: dict[str, tuple[float | str, ...]] = {
    "numeric": (-100.0, -1.0, 0.0, 0.5, 1.0, 3.0, 100.0),
    "strings": ("banana", "Hello, World!", "a1 b2", "x"),
}
"""Inputs of which new code must work on at least one."""


class CodeFunction(FindFunction):
    """Python that someone wrote, run only in the sandbox. `source` is what they typed."""

    code: str
    source: str

    @property
    def kind(self) -> str:
        return "own code"

    @property
    def parameters(self) -> dict[str, Any]:
        return {"code": self.code}

    @property
    def domain(self) -> tuple[float, float] | None:
        return (-100.0, 100.0) if self.category == "numeric" else None

    @property
    def is_stochastic(self) -> bool:
        return "random" in self.code

    def describe(self) -> str:
        return self.source

    def read(self, text: str) -> Any:
        return read_number(text) if self.category == "numeric" else text

    def outputs(self, inputs: Sequence[Any], rng: np.random.Generator) -> list[Value | None]:
        values = sandbox.evaluate(self.code, inputs, seed=int(rng.integers(2**31))).values
        return [self.typed(value) for value in values]

    def typed(self, value: Value | None) -> Value | None:
        """Return a value of the function's type: a text function that returns a number gives it as a text."""
        return f"{value:g}" if self.category == "strings" and isinstance(value, float) else value

    def __call__(self, x: Any, rng: np.random.Generator) -> Value:
        result = sandbox.evaluate(self.code, [x], seed=int(rng.integers(2**31)))
        if result.values[0] is None:
            raise UndefinedInputError(f"your code has no value here: {result.errors[0]}")
        typed = self.typed(result.values[0])
        assert typed is not None
        return typed


def from_code(name: str, category: Category, text: str) -> CodeFunction:
    """Return the function that `text` defines: lines of Python with a `def`, or a formula of x such as "3 * x^2 +
    sin(x)".

    Raises ValueError, with the sandbox's reason, if it works on none of a few inputs.
    """
    if why := trouble(category, text):
        raise ValueError(f"This function gives no value: {why}")
    return CodeFunction(id=name, category=category, code=as_code(text), source=text)


def trouble(category: Category, text: str) -> str:
    """Return why `text`, a formula or Python, works on none of a few inputs; an empty string if it works on some."""
    code = as_code(text)
    result = sandbox.evaluate(code, TRIED[category])
    if any(value is not None for value in result.values):
        return ""
    why = str(result.errors[0])
    if code == text:
        return why
    mended = _TIMES.sub(r"\1 * ", text)
    if mended != text and any(value is not None for value in sandbox.evaluate(as_code(mended), TRIED[category]).values):
        return f"a multiplication needs its sign. Write {mended.strip()}"
    # The parser's message mentions the parentheses that we put around a formula.
    return "it cannot be read as a formula of x; look at its signs and parentheses" if "SyntaxError" in why else why


_TIMES = re.compile(r"((?<![\w.])\d{1,40}(?:\.\d{1,40})?(?![\d.eE])|\)|\bx\b(?=\s*[\d(x]))[ \t]{0,9}(?=[A-Za-z(])")
"""A number, a closing parenthesis or x with a name or a parenthesis right behind it: 3 x, 2(x + 1), (x)(x)."""


def as_code(text: str) -> str:
    """Return `text` if it defines a function, else code for the function of x that it writes as a formula."""
    return text if sandbox.tested_function(text, "repaired") else _from_formula(text)


_OF_MATH = "sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, exp, log, log2, log10, sqrt, floor, ceil, pi, e"


def _from_formula(text: str) -> str:
    formula = re.sub(r"^\s*(?:f\s*\(\s*x\s*\)|y)\s*=(?!=)", "", text.strip()).replace("^", "**")
    return f"from math import {_OF_MATH}\ndef f(x):\n    return ({formula.strip()})\n"


class PairsFunction(FindFunction):
    """A function of typed pairs; other inputs have no value."""

    pairs: dict[str, str]

    @property
    def kind(self) -> str:
        return "own pairs"

    @property
    def parameters(self) -> dict[str, Any]:
        return {"pairs": dict(self.pairs)}

    @property
    def is_stochastic(self) -> bool:
        return False

    def describe(self) -> str:
        pairs = "One pair that was" if len(self.pairs) == 1 else f"{len(self.pairs)} pairs that were"
        return f"{pairs} typed in; other inputs have no value."

    def __call__(self, x: str, rng: np.random.Generator) -> str:
        typed = {_input(self.category, key): output for key, output in self.pairs.items()}
        try:
            return typed[_input(self.category, x)]
        except KeyError:
            raise UndefinedInputError("it is not among the pairs") from None


def _input(category: Category, text: str) -> float | str:
    """Return the key of an input: for a numeric function 1, 1.0 and 1e0 are the same."""
    number = as_number(text) if category == "numeric" else None
    return text.strip() if number is None else number


def from_pairs(name: str, category: Category, pairs: Mapping[str, str]) -> PairsFunction:
    """Return a function of `pairs` alone; if an input occurs twice, the last pair is used. Raises ValueError if there
    are none.
    """
    if not pairs:
        raise ValueError("Type at least one pair of input and output.")
    unique = {_input(category, key): (key.strip(), output) for key, output in pairs.items()}
    return PairsFunction(id=name, category=category, pairs=dict(unique.values()))
