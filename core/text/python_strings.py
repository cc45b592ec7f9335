"""Texts in Python source, read without running it: literals, f-strings and sums of these.

The authors of the papers keep their prompts in code. What a text takes from elsewhere is asked of the caller.
"""

import ast
import warnings
from collections.abc import Callable

LONGEST = 10_000
"""The longest text that is put together, in characters."""

LARGEST_SOURCE, LONGEST_LINE = 64 * 1024, 4_000
"""The largest source and the longest line that are parsed, in characters: an f-string takes Python a time that grows
with the square of its length.
"""

Resolve = Callable[[ast.expr], str]
"""Returns the text that an expression stands for, other than a literal, an f-string or a sum. Raises NoTextError."""


Function = ast.FunctionDef | ast.AsyncFunctionDef


class NoTextError(ValueError):
    """The source cannot be parsed, or an expression is not a text that can be put together without running code."""


def parse_python(source: str) -> ast.Module:
    """Return the syntax tree. Raises NoTextError."""
    if len(source) > LARGEST_SOURCE or max(map(len, source.splitlines()), default=0) > LONGEST_LINE:
        raise NoTextError("it is larger, or has longer lines, than a program with prompts")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        raise NoTextError(f"it is no Python 3 (line {error.lineno}: {error.msg})") from None
    except (ValueError, RecursionError, MemoryError):
        raise NoTextError("it is no Python 3, or is nested too deeply") from None


def text_of(node: ast.expr, resolve: Resolve) -> str:
    """Return the text of an expression, at most LONGEST characters. Raises NoTextError."""
    try:
        parts: list[str] = []
        _collect(node, resolve, parts)
    except RecursionError:
        raise NoTextError("a text is nested too deeply") from None
    if sum(map(len, parts)) > LONGEST:
        raise NoTextError(f"a text is longer than {LONGEST:,} characters")
    return "".join(parts)


def _collect(node: ast.expr, resolve: Resolve, parts: list[str]) -> None:
    match node:
        case ast.Constant(value=str(text)):
            parts.append(text)
        case ast.JoinedStr(values=values):
            for value in values:
                _collect(value, resolve, parts)
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            _collect(value, resolve, parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            _collect(left, resolve, parts)
            _collect(right, resolve, parts)
        case _:
            parts.append(resolve(node))


def functions(tree: ast.AST) -> dict[str, Function]:
    """Return the functions of a module by name, those of classes as "Class.name"."""
    found: dict[str, Function] = {}
    for node in getattr(tree, "body", []):
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{name}": inner for name, inner in functions(node).items()}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = node
    return found
