"""Find where a file uses a lab's name as such: compared with `lab.name`, as a key of labs, or as an argument `lab`.

A lab may have any word as its name, so the same word as a field, a method or a status does not count.
"""

import ast
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

KEYED = {"labs", "lab_pages"}
"""Names, in small letters, of mappings whose keys are lab names."""


class Takes(NamedTuple):
    """The position at which a function takes a lab's name, and its minimum number of arguments."""

    place: int
    least: int


class Uses:
    """The uses in one file, returned by `found`. `takes` holds the functions that are given a lab by its name."""

    def __init__(self, tree: ast.AST, names: Collection[str], takes: Mapping[str, Takes]) -> None:
        self.tree, self.names, self.takes = tree, names, takes
        self.literals = {
            target.id: node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        loops = (node for node in ast.walk(tree) if isinstance(node, ast.For | ast.comprehension))
        self.labs = {"lab"} | {
            name.id
            for loop in loops
            if any(last(one) in KEYED for one in ast.walk(loop.iter))
            for name in ast.walk(loop.target)
            if isinstance(name, ast.Name)
        }

    def found(self) -> Iterator[tuple[int, str]]:
        """Yield the line and name of each use."""
        for node in ast.walk(self.tree):
            for word in self._said(node):
                if isinstance(word, ast.Constant) and word.value in self.names:
                    yield word.lineno, str(word.value)

    def _said(self, node: ast.AST) -> list[ast.expr]:
        """The expressions at places in the node where a lab's name belongs."""
        if isinstance(node, ast.Compare):
            sides = [one for side in (node.left, *node.comparators) for one in self._items(side)]
            return sides if any(map(self._is_lab, sides)) else []
        if isinstance(node, ast.Match):
            values = [one.value for case in node.cases for one in ast.walk(case) if isinstance(one, ast.MatchValue)]
            return values if self._is_lab(node.subject) else []
        if isinstance(node, ast.Subscript):
            return self._looked_up(node.value, node.slice)
        if isinstance(node, ast.keyword):
            return [node.value] if node.arg == "lab" else []
        return self._called(node) if isinstance(node, ast.Call) else []

    def _called(self, call: ast.Call) -> list[ast.expr]:
        takes = self.takes.get(last(call.func))
        said = []
        if takes and len(call.args) + len(call.keywords) >= takes.least:
            said = call.args[takes.place : takes.place + 1]
        if isinstance(call.func, ast.Attribute) and call.args:
            if call.func.attr in ("get", "pop"):
                said += self._looked_up(call.func.value, call.args[0])
            if call.func.attr in ("startswith", "endswith") and self._is_lab(call.func.value):
                said += self._items(call.args[0])
        return said

    def _looked_up(self, held: ast.expr, key: ast.expr) -> list[ast.expr]:
        return [key] if last(held) in KEYED else self._items(held) if self._is_lab(key) else []

    def _items(self, side: ast.expr) -> list[ast.expr]:
        """The items of a literal (the keys of a dictionary), also if it is a named literal of this file; otherwise the
        expression itself.
        """
        literal = self.literals.get(side.id, side) if isinstance(side, ast.Name) else side
        if isinstance(literal, ast.Call) and last(literal.func) in ("frozenset", "set", "tuple") and literal.args:
            literal = literal.args[0]
        if isinstance(literal, ast.Dict):
            return [key for key in literal.keys if key is not None]
        return list(literal.elts) if isinstance(literal, ast.Tuple | ast.List | ast.Set) else [side]

    def _is_lab(self, side: ast.expr) -> bool:
        """Whether it is a lab or the name of one: `lab`, `run.lab`, `row["lab"]`, `lab.name`, `labs()[x].name`."""
        if isinstance(side, ast.Attribute) and side.attr == "name":
            return last(side.value) in self.labs | KEYED
        return last(side) == "lab"


def last(side: ast.AST) -> str:
    """The last name of an expression: `run.lab` and `row["lab"]` end in `lab`; `labs()` and `labs()[x]` in `labs`."""
    if isinstance(side, ast.Call):
        if last(side.func) in ("get", "str") and side.args and isinstance(side.args[0], ast.Constant):
            return str(side.args[0].value)
        return last(side.func)
    if isinstance(side, ast.Subscript):
        return str(side.slice.value) if isinstance(side.slice, ast.Constant) else last(side.value)
    name = side.attr if isinstance(side, ast.Attribute) else side.id if isinstance(side, ast.Name) else ""
    return name.lower()


def taking_a_lab(trees: Collection[ast.AST]) -> dict[str, Takes]:
    """The functions that take a lab's name as an argument `lab: str`."""
    found = {}
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = [one for one in node.args.args if one.arg != "self"]
            for place, one in enumerate(given):
                if one.arg == "lab" and one.annotation and ast.unparse(one.annotation) == "str":
                    found[node.name] = Takes(place, len(given) - len(node.args.defaults))
    return found
