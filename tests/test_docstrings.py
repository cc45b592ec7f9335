"""Public modules, classes and functions of `core/` have docstrings, which name the errors that they raise."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
INSIDE = ROOT / "core" / "sandbox" / "prelude"
"""Programs for the sandbox's interpreter: they define what models' code calls, under numpy's names."""
FILES = sorted(path for path in (ROOT / "core").rglob("*.py") if path.parent != INSIDE or path.stem == "__init__")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Public(NamedTuple):
    """A public definition of a module: its place, its name with those of its classes, and these classes."""

    where: str
    name: str
    node: Definition
    classes: tuple[str, ...]


def public_definitions(body: list[ast.stmt], file: str, classes: tuple[str, ...] = ()) -> Iterator[Public]:
    """Yield the definitions whose names, and whose classes' names, have no leading underscore. Overloads are documented
    once, by the definition that follows them.
    """
    for node in body:
        if not isinstance(node, Definition) or node.name.startswith("_"):
            continue
        if any(ast.unparse(decorator) in ("overload", "typing.overload") for decorator in node.decorator_list):
            continue
        yield Public(f"{file}:{node.lineno}", ".".join((*classes, node.name)), node, classes)
        if isinstance(node, ast.ClassDef):
            yield from public_definitions(node.body, file, (*classes, node.name))


def raised_in(node: Definition) -> Iterator[str]:
    """Yield the names of the error classes that the function's own body raises: `raise X`, `raise X(..)`, and `raise
    x(..)` by its own name if x makes an error. Re-raising a caught error, and helpers inside the body, do not count.
    """
    pending: list[ast.AST] = list(node.body)
    while pending:
        part = pending.pop()
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(part, ast.Raise) and part.exc is not None:
            error = part.exc.func if isinstance(part.exc, ast.Call) else part.exc
            name = error.attr if isinstance(error, ast.Attribute) else getattr(error, "id", "")
            if name[:1].isupper():
                yield name
        pending += ast.iter_child_nodes(part)


def inherited(module: str, public: Public) -> str:
    """The docstring of the method in the nearest class of `core/` from which this one's class inherits it, or ""."""
    holder: object = importlib.import_module(module)
    for name in public.classes:
        holder = getattr(holder, name)
    for base in getattr(holder, "__mro__", ())[1:]:
        if base.__module__.startswith("core."):
            method = vars(base).get(public.node.name)
            if method is not None and method.__doc__:
                return str(method.__doc__)
    return ""


def undocumented(source: str, file: str, module: str | None = None) -> list[str]:
    """The public definitions without a docstring of their own or, if `module` is given, one of the parent class."""
    tree = ast.parse(source)
    missing = [] if ast.get_docstring(tree) else [f"{file} itself"]
    for public in public_definitions(tree.body, file):
        if not ast.get_docstring(public.node) and not (module and public.classes and inherited(module, public)):
            missing.append(f"{public.where} {public.name}")
    return missing


def silent_about_errors(source: str, file: str, module: str | None = None) -> list[str]:
    """The public functions that raise an error which is named neither in their docstring nor in their class's or
    module's.
    """
    tree = ast.parse(source)
    around = {(): ast.get_docstring(tree) or ""}
    silent = []
    for public in public_definitions(tree.body, file):
        own = ast.get_docstring(public.node) or ""
        if isinstance(public.node, ast.ClassDef):
            around[(*public.classes, public.node.name)] = own
            continue
        said = "\n".join([own, around[()], around[public.classes]])
        if module and public.classes:
            said += inherited(module, public)
        silent += [
            f"{public.where} {public.name} raises {error}" for error in raised_in(public.node) if error not in said
        ]
    return silent


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_everything_public_in_core_is_documented():
    missing = []
    for path in FILES:
        missing += undocumented(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)), module_of(path))
    assert missing == []


def test_errors_that_public_functions_raise_are_named():
    silent = []
    for path in FILES:
        silent += silent_about_errors(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)), module_of(path))
    assert silent == []


# Tests of the checks themselves

BARE = '''
class Open:
    """It is."""
    def method(self): ...
    def _hidden(self): ...
class _Closed:
    def method(self): ...
def function(): ...
async def waits():
    """It does."""
'''


def test_what_lacks_a_docstring_is_noticed():
    assert undocumented(BARE, "x.py") == ["x.py itself", "x.py:4 Open.method", "x.py:8 function"]
    assert undocumented(f'"""A module."""{BARE}', "x.py") == ["x.py:4 Open.method", "x.py:8 function"]


def test_a_method_may_be_documented_by_the_class_it_comes_from():
    path = ROOT / "core" / "labs" / "ask" / "controls.py"
    source = path.read_text(encoding="utf-8")
    assert [name for name in undocumented(source, "x.py") if "Steadfast.explain" in name]
    assert not [name for name in undocumented(source, "x.py", module_of(path)) if "Steadfast.explain" in name]


def test_an_error_that_is_not_named_is_noticed():
    def silent(doc: str, body: str) -> list[str]:
        return silent_about_errors(f'def f(x):\n    """{doc}"""\n    {body}\n', "x.py")

    assert silent("It.", "raise ValueError(x)") == ["x.py:1 f raises ValueError"]
    assert silent("It.", "raise errors.Refused from None") == ["x.py:1 f raises Refused"]
    assert silent("Raises ValueError.", "raise ValueError(x)") == []
    assert silent("It.", "try:\n        pass\n    except OSError:\n        raise") == []
    assert silent("It.", "def inner():\n        raise ValueError") == []
