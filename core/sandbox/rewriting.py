"""Rewrites model-written code into the Python that monty knows.

Monty has no numpy arrays, no `str.translate`, no `del`, no generators, no methods as values. Code that uses these is
rewritten into equivalent code with helpers that `prelude` defines inside the sandbox. Nothing is run here, and code
that cannot be parsed is left unchanged, so that monty reports the error.
"""

import ast
import builtins
import importlib
import re
import sys
import tomllib
from functools import lru_cache
from pathlib import Path

# Whether a program failed because of something that Python has and the sandbox lacks; then nothing is known about
# it.
#
# This is decided by the error alone. A module, function or method that exists nowhere is the program's own mistake.


# The names in `names.toml`: what the sandbox provides, and what it knows but does not provide.


NAMED = {
    group: tuple(names.split())
    for group, names in tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8")).items()
}
"""The names by group, in the file's order."""


NOT_RUNNABLE = "not runnable here"
"""The result of such a program, instead of right or wrong. Its error begins with these words."""

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
    if root not in NAMED["looked_into"]:
        return root in sys.stdlib_module_names or root in NAMED["packages"]
    if path in FORMERLY:
        return True
    found = importlib.import_module(root)
    for name in names:
        if not hasattr(found, name):
            return False
        found = getattr(found, name)
    return True


LENT = ("numpy", "scipy", "string", "operator", "statistics", "heapq", "warnings")
"""Modules that are replaced by ours."""

NAMED_MODULE = "_lent_{}"

METHODS = NAMED["methods"]

_TYPES = {"str", "list", "dict", "set", "tuple", "float", "int"}
_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
    ast.NotEq: "not_equal",
}


def names_numbers(code: str) -> bool:
    """Whether `code` names numpy or scipy."""
    return re.search(r"\b(?:np|numpy|scipy)\b", code) is not None


def rewritten(code: str) -> str:
    """Rewrite `code` for monty. Never raises, whatever `code` is."""
    try:
        tree = _Rewriter(names_numbers(code)).visit(ast.parse(code))
        return ast.unparse(ast.fix_missing_locations(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _call(name: str, *args: ast.expr, of: ast.Call | None = None) -> ast.Call:
    """Return a call of the helper `name`; the arguments of the call `of` are appended."""
    rest = of.args if of else []
    return ast.Call(_name(f"_lent_{name}"), [*args, *rest], of.keywords if of else [])


def _assigned(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _inside(path: str) -> ast.expr:
    """Return an expression for the lent module, or for something in it: "numpy.random.normal"."""
    root, *rest = path.split(".")
    node: ast.expr = _name(NAMED_MODULE.format(root))
    for name in rest:
        node = ast.Attribute(node, name, ast.Load())
    return node


class _Rewriter(ast.NodeTransformer):
    def __init__(self, numbers: bool) -> None:
        self.numbers = numbers

    # Modules.

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for alias in node.names:
            root = alias.name.split(".")[0]
            if root not in LENT:
                made.append(ast.Import([alias]))
            elif alias.asname:
                made.append(_assigned(alias.asname, _inside(alias.name)))
            else:
                made.append(_assigned(root, _inside(root)))
        return made

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        module = node.module or ""
        made: list[ast.stmt] = []
        for alias in node.names:
            name = alias.asname or alias.name
            if module.split(".")[0] in LENT and alias.name != "*" and not node.level:
                made.append(_assigned(name, _inside(f"{module}.{alias.name}")))
            elif (module, alias.name) == ("collections", "OrderedDict"):
                made.append(_assigned(name, _name("dict")))
            elif (module, alias.name) == ("re", "sub"):
                made.append(_assigned(name, _name("_lent_re_sub")))
            else:
                made.append(ast.ImportFrom(module, [alias], node.level))
        return made

    # Methods.

    def visit_Call(self, node: ast.Call) -> ast.expr:
        func = node.func
        if (
            isinstance(func, ast.Name)
            and func.id == "next"
            and node.args
            and isinstance(node.args[0], ast.GeneratorExp)
        ):
            made = node.args[0]
            node.args[0] = ast.Call(_name("iter"), [ast.ListComp(made.elt, made.generators)], [])
        node.args = [self.visit(one) for one in node.args]
        node.keywords = [self.visit(one) for one in node.keywords]
        if not isinstance(func, ast.Attribute):
            node.func = self.visit(func)
            return node
        of = func.value.id if isinstance(func.value, ast.Name) else ""
        if of == "str" and func.attr == "maketrans":
            return _call("maketrans", of=node)
        if of == "re" and func.attr == "sub":
            return _call("re_sub", of=node)
        if of in _TYPES and func.attr in METHODS:
            return ast.Call(self._of_type(func.attr), node.args, node.keywords)
        func.value = self.visit(func.value)
        if func.attr in ("translate", "sub"):
            return _call(f"{func.attr}_of", func.value, of=node)
        if func.attr in NAMED["of_numbers"]:
            return _call("of_number", func.value, ast.Constant(func.attr), of=node)
        if func.attr == "OrderedDict":
            return ast.Call(_name("dict"), node.args, node.keywords)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        of = node.value.id if isinstance(node.value, ast.Name) else ""
        if of == "collections" and node.attr == "OrderedDict":
            return _name("dict")
        if not isinstance(node.ctx, ast.Load) or node.attr not in METHODS:
            node.value = self.visit(node.value)
            return node
        if of in _TYPES:
            return self._of_type(node.attr)
        return _call("bound", self.visit(node.value), ast.Constant(node.attr))

    def _of_type(self, method: str) -> ast.expr:
        return ast.Subscript(_name("_lent_methods"), ast.Constant(method), ast.Load())

    # Statements.

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                at = self.visit(target.slice)
                if isinstance(at, ast.Slice):
                    ends = [end or ast.Constant(None) for end in (at.lower, at.upper, at.step)]
                    at = ast.Call(_name("slice"), ends, [])
                made.append(ast.Expr(_call("delete", self.visit(target.value), at)))
            elif not isinstance(target, ast.Name):
                made.append(ast.Delete([target]))
        return made or [ast.Pass()]

    def visit_With(self, node: ast.With) -> ast.stmt:
        self.generic_visit(node)
        calls = [one.context_expr for one in node.items if one.optional_vars is None]
        quiet = [
            isinstance(one, ast.Call)
            and isinstance(one.func, ast.Attribute)
            and one.func.attr in ("errstate", "catch_warnings")
            for one in calls
        ]
        if len(quiet) == len(node.items) and all(quiet):
            return ast.If(ast.Constant(True), node.body, [])
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        self.generic_visit(node)
        if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in _own(node.body)):
            # Collects everything it yields in one list; readers see no difference, except for a generator that never
            # ends.
            gathered = ast.Call(_name("iter"), [_name("_lent_yielded")], [])
            body = [_Gatherer().visit(one) for one in node.body]
            node.body = [_assigned("_lent_yielded", ast.List([], ast.Load())), *body, ast.Return(gathered)]
        return node

    # Arrays.

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        kind = _COMPARED.get(type(node.ops[0]))
        if self.numbers and kind and len(node.ops) == 1:
            return _call(kind, node.left, node.comparators[0])
        return node

    def _tested(self, node: ast.If | ast.While | ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if self.numbers:
            node.test = _call("truth", node.test)
        return node

    visit_If = visit_While = visit_IfExp = _tested


_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def _own(body: list[ast.stmt]) -> list[ast.AST]:
    """Return all nodes of a function's body except those of nested functions."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, _NESTED):
            waiting += ast.iter_child_nodes(node)
    return found


class _Gatherer(ast.NodeTransformer):
    """Rewrites a generator's body so that it collects what it yields in a list."""

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        if isinstance(node.value, ast.Yield):
            return self._gathers("append", node.value.value or ast.Constant(None))
        if isinstance(node.value, ast.YieldFrom):
            return self._gathers("extend", node.value.value)
        return node

    @staticmethod
    def _gathers(how: str, value: ast.expr) -> ast.stmt:
        return ast.Expr(ast.Call(ast.Attribute(_name("_lent_yielded"), how, ast.Load()), [value], []))

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        return ast.Return(ast.Call(_name("iter"), [_name("_lent_yielded")], []))

    def _nested(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_Lambda = visit_ClassDef = _nested
