"""Whether a program failed because of something that Python has and the sandbox lacks; then nothing is known about it.

This is decided by the error alone. A module, function or method that exists nowhere is the program's own mistake.
"""

import builtins
import importlib
import re
import sys
import tomllib
from functools import lru_cache
from pathlib import Path

# The names in `names.toml`: what the sandbox provides, and what it knows but does not provide.


NAMED = {
    group: tuple(names.split())
    for group, names in tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8")).items()
}
"""The names by group, in the file's order."""


NOT_RUNNABLE = "not runnable here"
"""The result of such a program, instead of right or wrong. Its error begins with these words."""

PACKAGES = NAMED["packages"]

LOOKED_INTO = NAMED["looked_into"]

FORMERLY = frozenset(f"numpy.{name}" for name in NAMED["formerly"])

TYPES = {
    "ndarray": "numpy.ndarray",
    "_lent_poly1d": "numpy.poly1d",
    "_lent_vectorize": "numpy.vectorize",
    "_lent_Polynomial": "numpy.polynomial.Polynomial",
    "_lent_Distribution": "scipy.stats.norm",
    "re.Match": "re.Match",
    "re.Pattern": "re.Pattern",
}
"""Types of the sandbox, and the real types that they replace."""

_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_IMPORTED = re.compile(r"ImportError: cannot import name '(\w+)' from '([\w.]+)'")
_OF_MODULE = re.compile(r"AttributeError: module '([\w.]+)' has no attribute '(\w+)'")
_OF_TYPE = re.compile(r"AttributeError: (?:type object )?'([\w.]+)'(?: object)? has no attribute '(\w+)'")
_NAME = re.compile(r"NameError: name '(\w+)' is not defined")
_REFUSED = re.compile(r"PermissionError|TimeoutError: sleep limit|TypeError: cannot create 'object' instances")


def mark_unsupported(error: str, code: str) -> str:
    """Mark the `error` of the program `code` as `NOT_RUNNABLE` if it is. The program cannot add the mark itself."""
    while error.startswith(NOT_RUNNABLE):
        error = error.removeprefix(NOT_RUNNABLE).lstrip(": ")
    return f"{NOT_RUNNABLE}: {error}" if _is_lacking(error, code) else error


def not_runnable(error: str | None) -> bool:
    """Whether the error has that mark."""
    return (error or "").startswith(NOT_RUNNABLE)


def cause(error: str) -> str:
    """Return the error without the mark."""
    return error.removeprefix(f"{NOT_RUNNABLE}: ")


def _is_lacking(error: str, code: str) -> bool:
    if error.startswith("NotImplementedError"):
        # Partly lent functions raise this error; a program may also use it for its own purposes.
        return "NotImplementedError" not in code
    if match := _MODULE.match(error):
        return _exists(match[1])
    if match := _IMPORTED.match(error):
        return _exists(f"{match[2]}.{match[1]}")
    if match := _OF_MODULE.match(error):
        return _exists(f"{match[1]}.{match[2]}")
    if match := _OF_TYPE.match(error):
        return _has(match[1], match[2], numbers="np" in code or "numpy" in code)
    if match := _NAME.match(error):
        return hasattr(builtins, match[1])
    return _REFUSED.match(error) is not None


def _has(kind: str, name: str, numbers: bool) -> bool:
    """Whether values of the type have the method or field in Python. numpy's scalars are plain numbers in the
    sandbox.
    """
    if kind in TYPES:
        return _exists(f"{TYPES[kind]}.{name}")
    real = getattr(builtins, kind, None)
    if not isinstance(real, type):
        return False
    return hasattr(real, name) or (numbers and kind in ("float", "int", "bool") and _exists(f"numpy.float64.{name}"))


@lru_cache(maxsize=1_000)
def _exists(path: str) -> bool:
    """Whether there is such a module, in Python or in a known package, or such a name in one."""
    root, *names = path.split(".")
    if root not in LOOKED_INTO:
        return root in sys.stdlib_module_names or root in PACKAGES
    if path in FORMERLY:
        return True
    found = importlib.import_module(root)
    for name in names:
        if not hasattr(found, name):
            return False
        found = getattr(found, name)
    return True
