"""What is defined inside the sandbox before a program: in monty's Python, and under monty's limits.

The files beside this one are read as text and never imported. Anything that calls the program's own functions
(`re.sub`) is defined there and not among the lent functions, so that a callback that never ends is stopped like any
other code.
"""

from pathlib import Path

from ..rewriting import METHODS

_MODULES = (
    *("string", "operator", "statistics", "heapq", "warnings", "numpy", "numpy_random", "numpy_polynomial"),
    *("numpy_polynomial_polynomial", "scipy", "scipy_stats", "scipy_special", "scipy_signal", "scipy_constants"),
)
"""Each replacement of a module, or of a part of one, is its own class, so that errors name it."""

_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")
_PLAIN = {"sub": "-", "and": "&", "or": "|", "xor": "^"}
"""For two numbers, these operators are Python's; the others differ and are written out."""
_COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "not_equal": "!="}
_ASKED = (
    *("sum", "mean", "std", "var", "prod", "max", "min", "argmax", "argmin", "argsort", "cumsum", "cumprod"),
    *("any", "all", "dot", "round", "clip", "ptp"),
)
"""Methods of an array that call the lent function of the same name."""

_OPERATOR = """
    def __{0}__(self, other):
        return _lent_each(_lent_{0}, self, other)
    def __r{0}__(self, other):
        return _lent_each(_lent_{0}, other, self)
"""
_METHOD = """
    def {0}(self, *args, **named):
        return _lent_asked('{0}', self, *args, **named)
"""
_COMPARISON = """
def _lent_{0}(a, b):
    if isinstance(a, ndarray) or isinstance(b, ndarray):
        return _lent_each(lambda x, y: x {1} y, a, b)
    return a {1} b
"""
_HERE = "    # Here follow operators and methods, made in __init__.py.\n"


def _written(file: str) -> str:
    return Path(__file__).with_name(file).read_text(encoding="utf-8")


def _arrays() -> str:
    methods = [*map(_OPERATOR.format, _OPERATORS), *map(_METHOD.format, _ASKED)]
    functions = [f"def _lent_{name}(x, y): return x {sign} y\n" for name, sign in _PLAIN.items()]
    functions += [_COMPARISON.format(*one) for one in _COMPARISONS.items()]
    return "".join([_written("arrays.py").replace(_HERE, "".join(methods)), *functions])


_BOUND = "".join(f"'{name}': lambda o, *a, **k: o.{name}(*a, **k),\n" for name in METHODS)

TEXTS = (
    f"_lent_methods = {{{_BOUND}}}\n"
    + "".join(f"class lent_{name}: pass\n" for name in _MODULES)
    + _written("texts.py")
)
"""Code that is run before every program."""

NUMBERS = _arrays() + _written("numbers.py")
"""Code that is run before programs that name numpy or scipy."""
