"""The `fit` baseline for string functions: it asks about informative texts, and searches atoms and pairs of atoms.

No language model. What it finds is written as Python that needs no other module of ours.
"""

import ast
import inspect
import string
from collections.abc import Callable, Sequence
from typing import Any

from ....package_data import table
from ..functions import string_atoms
from ..functions.strings import STRING_ATOMS, StringAtom, StringFunction
from .fit import FitResult

Observe = Callable[[Sequence[str]], Sequence[str | None]]
"""The black box: an output for each text, None if it gives none."""

_EXPLAINED = (string_atoms.rotate, string_atoms.rotate_at, string_atoms.map_string)
"""Atoms whose names do not say enough: their docstring stays in the code that is written."""

_CODED = tuple(
    "".join(letter for place, letter in enumerate(alphabet, start=1) if place >> bit & 1)
    for alphabet in (string.ascii_lowercase, string.ascii_uppercase)
    for bit in range(5)
)
"""Ten texts in which every letter occurs in a different combination: the texts that react identify the letter."""

_INPUTS = table("find/inputs")

FIRST_TEXTS = (*_INPUTS["fit"], *_CODED)
"""Every letter in both cases, digits, spaces, vowels alone and none, odd and even lengths, texts of one and two."""

TEXTS = (*FIRST_TEXTS, *FIRST_TEXTS[:3], *_INPUTS["fit_more"])
"""All texts that are asked if the budget allows; a few twice, because that reveals a random function."""

BUDGET = len(TEXTS)

FEW = 10
"""Fewer texts than these leave many rules open; the words then say how few."""


def fit_string(observe: Observe, *, budget: int = BUDGET, inputs: Sequence[str] | None = None) -> FitResult:
    """Ask about the texts, and find an atom or a pair of atoms that gives everything that was seen.

    At most `budget` calls. If the function is known to have outputs only for `inputs`, it asks only about these.
    """
    from ..functions.synthesis import synthesize

    asked = (TEXTS if inputs is None else (*inputs, *inputs[:3]))[:budget]
    probes = tuple(zip(asked, observe(asked), strict=True))
    pairs = [(text, output) for text, output in probes if output is not None]
    function = synthesize(pairs) if pairs else None
    answers = dict(probes)
    refused = [text for text, output in answers.items() if output is None]
    domain = f"It gave an output for every text tried ({len(answers)})."
    if refused:
        domain = f"It gave no output for {len(refused)} of the {len(answers)} texts tried, such as {refused[0]!r}."
    description = _description(function, len(answers) - len(refused))
    code = code_of(function) if function else "def f(x):\n    return x"
    return FitResult(description, domain, code, probes, function.kind if function else "none")


def _description(function: StringFunction | None, answered: int) -> str:
    """Return what the function does, or why that is not said, given the number of texts it `answered`."""
    if answered == 0:
        return "It gave nothing to explain."
    if function is None:
        return "Too few calls to tell." if answered < FEW else "No rule of one or two steps explains what was seen."
    few = f"Seen for {answered} text{'s' * (answered > 1)} only: " if answered < FEW else ""
    return few + function.describe()


# Code


def code_of(function: StringFunction) -> str:
    """Return `function` as Python that needs only the standard library's `string` and `random`."""
    needed: dict[str, str] = {}
    expression = "x"
    for atom in function.atoms:
        expression = _call(atom, expression, needed)
    parts = ["import string", "import random", *needed.values(), f"def f(x):\n    return {expression}"]
    return "\n\n".join(parts)


def _call(atom: StringAtom, argument: str, needed: dict[str, str]) -> str:
    kind = STRING_ATOMS[atom.name]
    if kind.code:
        return kind.code.format(x=argument)
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
    """Add the source of `function`, and of everything it uses from its module, to `needed`; what is used comes
    first.
    """
    if function.__name__ in needed:
        return
    source = inspect.getsource(function).strip()
    [tree] = ast.parse(source).body
    for name in [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]:
        value = vars(string_atoms).get(name)
        if inspect.isfunction(value):
            _collect(value, needed)
        elif isinstance(value, str | dict) and name not in needed:
            needed[name] = f"{name} = {value!r}"
    if isinstance(tree, ast.FunctionDef) and ast.get_docstring(tree) and function not in _EXPLAINED:
        docstring, lines = tree.body[0], source.split("\n")
        source = "\n".join(lines[: docstring.lineno - 1] + lines[docstring.end_lineno :])
    needed[function.__name__] = source
