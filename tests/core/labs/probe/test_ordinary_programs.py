"""Programs in the style of models give the same results in the sandbox as in Python."""

import itertools
import math
import tomllib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.events import Rules
from core.sandbox.modules import DISTRIBUTIONS, SPECIAL
from core.sandbox.rewriting import names_numbers, rewritten
from core.sandbox.sandbox import evaluate

PROGRAMS = tomllib.loads((Path(__file__).parents[3] / "data/programs.toml").read_text(encoding="utf-8"))
INPUTS: dict[str, list[Any]] = {
    "numeric": [-7.5, -2.0, 0.5, 3.0, 42.5],
    "strings": ["banana", "Hello World 42", "a", "level", ""],
}
IMPORTS = "import math\nimport random\nimport re\nimport string\nimport numpy\nimport numpy as np\n"


def outcome_in_python(code: str, x: Any) -> Any:
    """A number, a text, or None if it raises an error. The programs are our own."""
    names: dict[str, Any] = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        exec(IMPORTS + code, names)
        try:
            made = names["f"](x)
        except Exception:
            return None
    return made if isinstance(made, str) else np.asarray(made).item()


def same(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str) or one is None or other is None:
        return bool(one == other)
    return bool(
        one == other or (one != one and other != other) or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    )


def held_against_python(code: str, inputs: list[Any]) -> None:
    result = evaluate(code, inputs)
    assert result.error is None, (code, result.error)
    for x, value, error in zip(inputs, result.values, result.errors, strict=True):
        assert same(value, outcome_in_python(code, x)), (code, x, value, error)


def test_there_are_many() -> None:
    assert len(PROGRAMS["numeric"]) >= 50 and len(PROGRAMS["strings"]) >= 30
    codes = [one["code"] for category in INPUTS for one in PROGRAMS[category]]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("category", INPUTS)
def test_an_ordinary_program_gives_what_it_gives_in_python(category: str) -> None:
    for one in PROGRAMS[category]:
        held_against_python(one["code"], INPUTS[category])


ARRAYS = ["np.array([1, -2, 3])", "np.array([0.5, 0.0, -4.0])", "np.array([True, False, True])", "np.array(2.5)", "x"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "<", ">=", "==", "!="]
MADE = [
    f"({a}) {o} ({b})"
    for a, b in itertools.product(ARRAYS, ARRAYS)
    for o in OPERATORS
    # numpy makes a byte of what is counted with truth values; no program means that.
    if (a, b) != ("x", "x") and not ("True" in a and "True" in b and o not in "==!=<*")
]


@pytest.mark.parametrize("operator", OPERATORS)
def test_arithmetic_of_arrays_is_numpys(operator: str) -> None:
    some = [one for one in MADE if f") {operator} (" in one]
    lines = [f"lambda x: np.sum(np.asarray({one}) * np.array([1.0, 10.0, 100.0]))" for one in some]
    code = "parts = [\n" + ",\n".join(lines) + "\n]\nx0 = {}\ndef f(k):\n    return parts[int(k)](x0)"
    for x in (-1.5, 0.0, 3.0):
        held_against_python(code.replace("{}", str(x)), [float(k) for k in range(len(some))])


INDEXED = [
    "a[1]",
    "a[-1]",
    "a[1:].sum()",
    "a[::-1][0]",
    "a[a > 0].size",
    "a[[0, 2]].max()",
    "a[np.array([1, 1])].sum()",
    "a[a > 100].sum()",
    "len(a)",
    "a.shape[0] + a.ndim",
    "a[7]",
    "a[[True]]",
    "float(a)",
    "a.astype(int).sum()",
    "np.array([2.7]).astype(int)[0]",
    "(~(a > 0)).sum()",
    "a.copy().tolist()[0]",
    "list(a)[2]",
    "max(a) - min(a)",
    "sum(a)",
    "3 in a",
    "sorted(a)[0]",
    "(a @ a)",
    "abs(a).sum()",
    "-a[0]",
    "np.array([1, 2])[0] / 0.5",
    "np.array(5.0).item() + np.array(4)",
]


def test_what_is_taken_out_of_an_array_is_what_numpy_takes() -> None:
    for expression in INDEXED:
        held_against_python(f"def f(x):\n    a = np.array([1.0, -2.0, x])\n    return {expression}", [3.0, -7.5])


@pytest.mark.parametrize(
    "statements",
    [
        "a[0] = 9",
        "a[a < 0] = 0",
        "a[1:] = [7, 8]",
        "a[:] = x",
        "a *= 2",
        "a[[0, 1]] = -1",
        "a[0] = 2.9\n    a = np.array([1, 2, 3])\n    a[0] = 2.9",
        "a[5] = 1",
        "a[a > 0] = [1, 2, 3, 4]",
        "b = a.copy()\n    b[0] = 100",
        "b = a\n    b[0] = 100",
        "a.fill(4)",
        "a.sort()",
    ],
)
def test_what_is_put_into_an_array_is_there(statements: str) -> None:
    code = f"def f(x):\n    a = np.array([1.0, -2.0, x])\n    {statements}\n    return a @ np.array([1, 10, 100])"
    held_against_python(code, [3.0])


SHAPES = {"t": "2.5", "gamma": "1.7", "poisson": "3.2", "binom": "6, 0.3"}


@pytest.mark.parametrize("what", ["density", "cdf", "sf"])
def test_distributions_are_scipys(what: str) -> None:
    for name, distribution in DISTRIBUTIONS.items():
        discrete = distribution.discrete
        asked = ("pmf" if discrete else "pdf") if what == "density" else what
        given = "".join(f", {one}" for one in SHAPES.get(name, "").split(", ") if one)
        placed = "loc=1" if discrete else "loc=1, scale=2.5"
        code = f"from scipy import stats\ndef f(x):\n    return stats.{name}.{asked}(x{given}, {placed})"
        held_against_python(code, [-3.0, -0.25, 0.0, 1.0, 2.0, 2.5, 4.0, 9.0])
        held_against_python(code.replace(f"(x{given}, {placed})", f"(x{given})"), [-1.0, 0.0, 0.5, 1.0, 3.0])


def test_special_functions_are_scipys() -> None:
    for name in SPECIAL:
        if name not in ("beta", "betaln", "comb", "binom", "xlogy"):
            held_against_python(f"from scipy.special import {name}\ndef f(x):\n    return {name}(x)", [0.25, 0.5, 1.0])


@pytest.mark.parametrize(
    "wave", ["square(x)", "square(x, 0.3)", "square(x, duty=0.7)", "sawtooth(x)", "sawtooth(x, 0.4)"]
)
def test_waves_are_scipys(wave: str) -> None:
    held_against_python(
        f"from scipy import signal\ndef f(x):\n    return signal.{wave}", [-7.1, -1.0, 0.0, 0.3, 2.9, 40.0]
    )


@pytest.mark.parametrize(
    "draw",
    [
        "np.random.default_rng(7).normal(2, 3)",
        "np.random.default_rng(7).integers(0, 10)",
        "np.random.default_rng(3).uniform(-1, 1)",
    ],
)
def test_a_seeded_generator_draws_what_numpys_draws(draw: str) -> None:
    held_against_python(f"def f(x):\n    return x + {draw}", [1.0, 2.0])


def test_a_generator_goes_on_and_several_stand_apart() -> None:
    made = "rng = np.random.default_rng(1)\nother = np.random.default_rng(1)"
    code = f"{made}\ndef f(x):\n    return rng.normal() - other.normal() * x"
    first, second = evaluate(code, [0.0, 1.0]).values
    assert first != 0 and second == 0
    again = evaluate("def f(x):\n    return np.random.default_rng().normal()", [0.0, 1.0], seed=3).values
    assert (
        again[0] != again[1]
        and again == evaluate("def f(x):\n    return np.random.default_rng().normal()", [0.0, 1.0], seed=3).values
    )


@pytest.mark.parametrize("rules", ["paper", "repaired"])
def test_paper_rules_lend_nothing_that_was_not_imported(rules: Rules) -> None:
    result = evaluate("def f(x):\n    return np.select([x > 0], [1.0], 2.0)", [1.0], rules=rules)
    assert result.values == ((1.0,) if rules == "repaired" else (None,))
    imported = evaluate("import numpy as np\ndef f(x):\n    return np.select([x > 0], [1.0], 2.0)", [1.0], rules=rules)
    assert imported.values == (1.0,)


@pytest.mark.parametrize(
    "code",
    ["def f(x:\n  return", "def f(x):\n    return " + "-" * 15_000 + "x", "(" * 300, "\x00", "x = " + "[" * 5_000, ""],
)
def test_what_cannot_be_read_is_left_as_it_is(code: str) -> None:
    assert rewritten(code) == code


def test_only_programs_that_name_numpy_carry_arrays() -> None:
    assert names_numbers("import numpy") and names_numbers("y = np.pi") and names_numbers("from scipy import stats")
    assert not names_numbers("snp = 1\nnumpyish = 2")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("del a[0]", "_lent_delete(a, 0)"),
        ("map(str.upper, s)", "map(_lent_methods['upper'], s)"),
        ("import numpy.random as r", "r = _lent_numpy.random"),
        ("from numpy import sin as s, pi", "s = _lent_numpy.sin\npi = _lent_numpy.pi"),
        ("import math, string", "import math\nstring = _lent_string"),
        ("a.upper()", "a.upper()"),
        ("'%s' % x", "'%s' % x"),
    ],
)
def test_how_it_is_put(written: str, read: str) -> None:
    assert rewritten(written) == read
