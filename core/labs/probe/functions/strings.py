"""String functions: one of 67 atoms, or an outer one applied to the result of an inner one (paper §2.2)."""

import string
from collections.abc import Callable
from typing import Any

import numpy as np
from pydantic import Field

from ....events import Frozen
from ....package_data import table
from . import string_atoms
from .base import Category, FindFunction, UndefinedInputError


class StringAtomKind(Frozen):
    """A kind of string atom. `apply` accepts the text, then the parameters in their order, then `rng` if `is_random`.
    `code` is how it is written without a function of ours; empty if it needs one.
    """

    apply: Callable[..., str]
    description: str
    parameters: tuple[str, ...] = ()
    is_random: bool = False
    sampled: bool = True
    code: str = ""


_TABLES = table("find/string_atoms")

STRING_ATOMS = {
    name: StringAtomKind(apply=getattr(string_atoms, name), **entry) for name, entry in _TABLES["atom"].items()
}

OUTER = tuple(name for name, kind in STRING_ATOMS.items() if kind.sampled)
"""The 67 atoms that are sampled."""

NEVER_INNER = {"get_first_character", "get_last_character", "get_mid_character", "map_string"}

INNER = (*(name for name in OUTER if name not in NEVER_INNER), "remove_digits")
"""The pool of inner atoms: 63, with remove_digits twice."""

_AVOIDED = {outer: set(group["inner"]) for group in _TABLES["avoid"] for outer in group["outer"]}

TRIED: dict[str, list[str]] = _TABLES["tried"]
"""Atoms by how they change the lengths of texts, the likely ones first."""


def avoided(outer: str) -> set[str]:
    """Return the names that are never sampled as inner atom under `outer`, with the gaps of the original list
    (docs/measuring.md §4.2).
    """
    return _AVOIDED.get(outer, set()) | {outer}


class StringAtom(Frozen):
    """One atom with its parameters: `number` 1 to 9, `index` 1 to 9, `letter`, `text` of 1 to 5 ASCII letters, `old`
    and `new` letters, `index1` and `index2` 0 to 9, `shift` 0 to 25, `mapping` the 26 images of a to z.
    """

    name: str
    parameters: dict[str, int | str] = Field(default_factory=dict)

    def apply(self, text: str, rng: np.random.Generator) -> str:
        """Apply the atom to a text. Raises IndexError, KeyError, ValueError or TypeError as the published script
        would.
        """
        kind = STRING_ATOMS[self.name]
        values = [self.parameters[name] for name in kind.parameters]
        return kind.apply(text, *values, rng) if kind.is_random else kind.apply(text, *values)

    def describe(self) -> str:
        """Return what the atom does, as a phrase with its parameters filled in."""
        return STRING_ATOMS[self.name].description.format(**self.parameters)


class StringFunction(FindFunction):
    """`outer(inner(text))`, or `outer(text)` without an inner atom."""

    category: Category = "strings"
    outer: StringAtom
    inner: StringAtom | None = None
    misrecorded: tuple[str, ...] = ()
    """For a published function: texts whose recorded output is not the function's own."""

    @property
    def kind(self) -> str:
        """Such as "reverse_string", or "outer;inner;compose_1input_1input"."""
        return f"{self.outer.name};{self.inner.name};compose_1input_1input" if self.inner else self.outer.name

    @property
    def parameters(self) -> dict[str, Any]:
        return self.model_dump(include={"outer", "inner"}, exclude_none=True)

    @property
    def is_stochastic(self) -> bool:
        return any(STRING_ATOMS[atom.name].is_random for atom in self.atoms)

    @property
    def atoms(self) -> tuple[StringAtom, ...]:
        """The atoms in the order in which they are applied."""
        return (self.outer,) if self.inner is None else (self.inner, self.outer)

    def __call__(self, x: str, rng: np.random.Generator) -> str:
        try:
            return self.outer.apply(x if self.inner is None else self.inner.apply(x, rng), rng)
        except IndexError:
            raise UndefinedInputError("the function needs a character that this text does not have") from None
        except KeyError:
            raise UndefinedInputError("the function would have to write a number above thirty as a word") from None
        except (ValueError, TypeError):
            raise UndefinedInputError("the function cannot handle a letter outside the English alphabet here") from None

    def describe(self) -> str:
        if self.inner is None:
            return f"The function{_said(self.outer)}."
        return f"The function first{_said(self.inner)}; from the result it then{_said(self.outer)}."


def _said(atom: StringAtom) -> str:
    """Return what an atom does, so that it continues a sentence."""
    words = atom.describe()
    return f", {words}" if words.startswith(("for ", "where ")) else f" {words}"


def letter(rng: np.random.Generator) -> str:
    """Return one of the 52 letters a–z and A–Z, all equally likely."""
    return string.ascii_letters[rng.integers(52)]


def draw_atom(name: str, rng: np.random.Generator) -> StringAtom:
    """Return the atom `name` with newly sampled parameters, all uniform (docs/measuring.md §4.2)."""
    names = STRING_ATOMS[name].parameters
    return StringAtom(name=name, parameters=dict(zip(names, _drawn(names, rng), strict=True)))


def _drawn(names: tuple[str, ...], rng: np.random.Generator) -> list[int] | list[str]:
    match names:
        case ("number",) | ("index",):
            return [int(rng.integers(1, 10))]
        case ("index1", "index2"):
            return [int(index) for index in rng.choice(10, 2, replace=False)]
        case ("shift",):
            return [int(rng.integers(26))]
        case ("letter",):
            return [letter(rng)]
        case ("old", "new"):
            return [str(character) for character in rng.choice(list(string.ascii_letters), 2, replace=False)]
        case ("text",):
            return ["".join(letter(rng) for _ in range(int(rng.integers(1, 6))))]
        case ("mapping",):
            return ["".join(rng.permutation(list(string.ascii_lowercase)))]
    return []
