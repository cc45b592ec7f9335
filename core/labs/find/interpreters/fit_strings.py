"""The `fit` baseline for string functions: asks a set of telling texts and searches atoms and pairs of atoms.

No language model. What it finds is written as Python that stands alone.
"""

from __future__ import annotations

import ast
import inspect
import string
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from core.labs.find.functions import string_atoms
from core.labs.find.functions.strings import STRING_ATOMS, StringAtom, StringFunction
from core.labs.find.functions.synthesis import synthesize

Observe = Callable[[Sequence[str]], Sequence[str | None]]
"""The black box: an output for each text, None where it gives none."""

_EXPLAINED = (string_atoms.rotate, string_atoms.rotate_at, string_atoms.map_string)
"""Their names do not say enough: they keep their docstring where they stand in the code that is written."""

_CODED = tuple(
    "".join(letter for place, letter in enumerate(alphabet, start=1) if place >> bit & 1)
    for alphabet in (string.ascii_lowercase, string.ascii_uppercase)
    for bit in range(5)
)
"""Ten texts of which each letter is in other ones: which of them react tells any single letter from all others."""

FIRST_TEXTS = (
    "The quick brown fox jumps over a lazy dog",
    "Pack 5 dozen JUGS with 3 liquors",
    "sphinx of black quartz",
    "MIXED case Letters 42",
    "  two  spaces ",
    "banana",
    "education",
    "Hello, World!",
    "room 101",
    "abcdefghijklm",
    "nopqrstuvwxyz",
    "ABCDEFGHIJKLM",
    "NOPQRSTUVWXYZ",
    "aeiouAEIOU",
    "rhythm",
    "zebra7",
    "a",
    "Zz",
    "cat",
    "x9",
    *_CODED,
)
"""Every letter in both cases, digits, spaces, vowels alone and none, odd and even lengths, texts of one and two."""

LATER_TEXTS = (
    "Jackdaws love my big SPHINX of quartz 88",
    "waltz bad nymph",
    "level",
    "QUEUE up 2 by 2",
    "mnopqr stuv",
    "Yodel",
    "onions and Apples",
    "kayak race",
)
"""Asked afterwards: does the explanation hold for them too?"""


BUDGET = len(FIRST_TEXTS) + 3 + len(LATER_TEXTS)
"""Calls that it makes where it may."""

FEW = 10
"""Fewer texts than these leave many rules open; the words then say how few."""


class StringFinding(NamedTuple):
    """What the baseline says, and every (input, output) it saw.

    `function` is None where no atom or pair explains them.
    """

    description: str
    domain: str
    code: str
    probes: tuple[tuple[str, str | None], ...]
    function: StringFunction | None

    @property
    def text(self) -> str:
        """The same as an agent's final answer."""
        return f"[DESCRIPTION]: {self.description}\n[DOMAIN]: {self.domain}\n[CODE]:\n```python\n{self.code}\n```"


def fit_string(observe: Observe, *, budget: int = BUDGET, inputs: Sequence[str] | None = None) -> StringFinding:
    """Ask the first texts, three of them twice (a random function gives itself away), explain, and test the explanation
    on the later texts; what contradicts it is explained again with them.

    At most `budget` calls. Where the function is known to have outputs for `inputs` only, these are all it asks for.
    """
    first: Sequence[str] = FIRST_TEXTS if inputs is None else inputs
    later: Sequence[str] = LATER_TEXTS if inputs is None else ()
    asked = [*first, *first[:3]][:budget]
    probes = list(zip(asked, observe(asked), strict=True))
    function = _explained(probes)
    later = later[: budget - len(asked)]
    probes += zip(later, observe(later), strict=True)
    function = function if function and _explains(function, probes) else _explained(probes)
    seen, tried = tuple(probes), len(dict(probes))
    refused = [text for text, output in dict(probes).items() if output is None]
    domain, given = f"It gave an output for every text tried ({tried}).", tried - len(refused)
    if refused:
        domain = f"It gave no output for {len(refused)} of the {tried} texts tried, such as {refused[0]!r}."
    if function is None:
        why = "Too few calls to tell." if given < FEW else "No rule of one or two steps explains what was seen."
        return StringFinding(
            why if given else "It gave nothing to explain.", domain, "def f(x):\n    return x", seen, None
        )
    few = f"Seen for {given} text{'s' * (given > 1)} only: " if given < FEW else ""
    return StringFinding(few + function.describe(), domain, code_of(function), seen, function)


def _explained(probes: Sequence[tuple[str, str | None]]) -> StringFunction | None:
    """An atom or a pair of atoms that gives all that was seen; None also where nothing was."""
    pairs = _pairs(probes)
    return synthesize(pairs) if pairs else None


def _pairs(probes: Sequence[tuple[str, str | None]]) -> list[tuple[str, str]]:
    return [(x, y) for x, y in probes if y is not None]


def _explains(function: StringFunction, probes: Sequence[tuple[str, str | None]]) -> bool:
    if function.is_stochastic:
        return False  # a random rule explains too much: search again with all that was seen
    import numpy as np

    rng = np.random.default_rng(0)
    for x, y in _pairs(probes):
        try:
            if function(x, rng) != y:
                return False
        except ValueError:
            return False
    return True


# Code


def code_of(function: StringFunction) -> str:
    """`function` as Python that needs nothing but the standard library's `string` and `random`."""
    needed: dict[str, str] = {}
    expression = "x"
    for atom in (function.inner, function.outer):
        if atom is not None:
            expression = _call(atom, expression, needed)
    parts = ["import string", "import random", *needed.values(), f"def f(x):\n    return {expression}"]
    return "\n\n".join(parts)


_BUILT_IN = {
    "get_first_character": "{x}[0]",
    "get_last_character": "{x}[-1]",
    "convert_to_lowercase": "{x}.lower()",
    "convert_to_uppercase": "{x}.upper()",
    "capitalize_string": "{x}.capitalize()",
    "string_strip": "{x}.strip()",
    "string_lstrip": "{x}.lstrip()",
    "string_rstrip": "{x}.rstrip()",
}


def _call(atom: StringAtom, argument: str, needed: dict[str, str]) -> str:
    if atom.name in _BUILT_IN:
        return _BUILT_IN[atom.name].format(x=argument)
    kind = STRING_ATOMS[atom.name]
    if kind.is_random:
        sign = 1 if atom.name.startswith("add") else -1
        _collect(string_atoms.rotate_at, needed)
        needed["at_random"] = (
            "def at_random(text, sign):\n"
            "    return rotate_at(text, random.randrange(len(text)), sign) if text else text"
        )
        return f"at_random({argument}, {sign})"
    _collect(kind.apply, needed)
    values = [repr(atom.parameters[name]) for name in kind.parameters]
    return f"{kind.apply.__name__}({', '.join([argument, *values])})"


def _collect(function: Callable[..., Any], needed: dict[str, str]) -> None:
    """Add the source of `function` and of all it uses of its module to `needed`, what is used first."""
    if function.__name__ in needed:
        return
    for name in _names(function):
        value = vars(string_atoms).get(name)
        if inspect.isfunction(value):
            _collect(value, needed)
        elif isinstance(value, str | dict) and name not in needed:
            needed[name] = f"{name} = {value!r}"
    source = inspect.getsource(function).strip()
    needed[function.__name__] = source if function in _EXPLAINED else _without_docstring(source)


def _without_docstring(source: str) -> str:
    """The function's source without its docstring. Comments stay."""
    [function] = ast.parse(source).body
    first = function.body[0] if isinstance(function, ast.FunctionDef) else function
    if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.end_lineno):
        return source
    lines = source.split("\n")
    return "\n".join(lines[: first.lineno - 1] + lines[first.end_lineno :])


def _names(function: Callable[..., Any]) -> list[str]:
    """Global names that the function's code uses, those inside its comprehensions included."""
    pending = [function.__code__]
    names: list[str] = []
    while pending:
        code = pending.pop()
        names += code.co_names
        pending += [constant for constant in code.co_consts if inspect.iscode(constant)]
    return names
