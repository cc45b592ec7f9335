import math
import time

import pytest

from core.events import Rules
from core.labs.probe import parse
from core.sandbox import sandbox
from core.sandbox.rewriting import mark_unsupported, not_runnable
from core.sandbox.sandbox import evaluate
from tests.core.labs.probe.hostile import HOSTILE, LENT


def values(code: str, *inputs: float | str, **options: object) -> list:
    result = evaluate(code, list(inputs), **options)
    assert result.error is None, result.error
    return list(result.values)


@pytest.mark.parametrize(("programs", "many"), [(HOSTILE, 60), (LENT, 50)])
def test_hostile_programs_are_refused_and_the_next_one_is_scored(programs: list[str], many: int) -> None:
    assert len(programs) == len(set(programs)) == many
    for program in programs:
        start = time.monotonic()
        result = evaluate(program, [1.0], seconds=0.1)
        assert result.values == (None,) and result.errors[0], program
        assert time.monotonic() - start < 10, program
        assert values("def f(x):\n    return x + 1", 1.0) == [2.0], program


@pytest.mark.parametrize(
    ("code", "x", "y"),
    [
        ("def f(x):\n    return 2 * x + 1", 3.0, 7.0),
        ("import numpy as np\ndef f(x):\n    return np.sin(x) + np.pi", 0.0, math.pi),
        ("from numpy import where, abs\ndef f(x):\n    return where(x > 0, abs(x), -1)", -2.0, -1.0),
        ("def f(x):\n    return np.clip(x, a_min=0, a_max=3)", 9.0, 3.0),
        ("import numpy\ndef f(x: float) -> float:\n    return numpy.heaviside(x, 0.5)", 0.0, 0.5),
        ("f = lambda x: math.sqrt(x)", 9.0, 3.0),
        ("def f(x):\n    return np.log(x)", -1.0, None),
        ("def f(x):\n    return max([x, 2])", 1.0, 2.0),
        ("def f(x):\n    return x > 1", 2.0, 1.0),
        ("def f(x):\n    return np.polyval([1, 0, -1], x)", 3.0, 8.0),
    ],
)
def test_what_models_write_about_numbers_runs(code, x, y):
    [value] = values(code, x)
    assert math.isnan(value) if y is None else value == pytest.approx(y)


def test_what_models_write_about_texts_runs():
    rotate = (
        "import string\ndef f(text):\n    out = ''\n    for c in text:\n        k = string.ascii_lowercase.find(c)\n"
        "        out += string.ascii_lowercase[(k + 1) % 26] if k >= 0 else c\n    return out"
    )
    assert values(rotate, "abz!", "") == ["bca!", ""]
    assert values("def f(s):\n    return ''.join(sorted(set(s)))", "banana") == ["abn"]


def test_an_attribute_that_is_called_like_a_method_of_texts_is_its_own():
    assert values(
        "class A:\n    pass\ndef f(x):\n    a = A()\n    a.count = x\n    a.count += 1\n    return a.count", 3.0
    ) == [4]


def test_what_is_yielded_one_by_one_and_from_another_comes_in_its_order():
    code = "def g(n):\n    yield 'a'\n    yield from n\n    yield 'd'\ndef f(s):\n    return ''.join(g(s))"
    assert values(code, "bc") == ["abcd"]


def test_a_dictionary_that_keeps_its_order_is_one_by_either_name():
    for name in (
        "import collections\nOrdered = collections.OrderedDict",
        "from collections import OrderedDict as Ordered",
    ):
        assert values(f"{name}\ndef f(s):\n    return ''.join(Ordered.fromkeys(s))", "banana") == ["ban"]


@pytest.mark.parametrize(
    "context", ["open('a') as file", "np.ignored()", "quiet()", "np.errstate(), open('a') as file"]
)
def test_a_context_is_passed_over_only_where_it_quiets_warnings(context):
    assert values("def f(x):\n    with np.errstate(all='ignore'):\n        return x", 1.0) == [1.0]
    assert evaluate(f"def f(x):\n    with {context}:\n        return x", [1.0]).errors[0]


def test_random_numbers_are_lent_and_repeat_themselves():
    code = "import numpy as np\ndef f(x):\n    return x + np.random.normal(0, 1)"
    first = values(code, 1.0, 1.0)
    assert first == values(code, 1.0, 1.0) and first[0] != first[1]


def test_an_empty_shape_is_a_single_number():
    """As the published corrupted scripts draw."""
    code = (
        "import numpy as np\ndef f(x):\n    x = np.array(x)\n    y = np.random.normal(loc=x, scale=0.0, size=x.shape)"
    )
    assert values(f"{code}\n    return np.where(x > 2, 7 * y, y)", 1.0, 3.0) == [1.0, 21.0]


def test_errors_belong_to_their_input():
    result = evaluate("def f(x):\n    return 1 / x", [1.0, 0.0, 2.0])
    assert result.values == (1.0, None, 0.5)
    assert result.errors[0] is None and result.errors[1].startswith("ZeroDivisionError")


def test_an_endless_loop_on_one_text_leaves_the_others():
    result = evaluate("def f(s):\n    while s == 'b':\n        pass\n    return s", ["a", "b", "c"], seconds=0.6)
    assert result.values == ("a", None, "c")
    assert "TimeoutError" in result.errors[1]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("", "no code"),
        ("x = 3", "defines no function"),
        ("def f(x):\n  return (", "Syntax"),
        ("def f(x):\n    return x\n" + "#" * 20_000, "longer than"),
        ("import pandas\ndef f(x):\n    return x", "pandas"),
        ("def f(x):\n    return None", "returned nothing"),
        ("def f(x):\n    return [1, 2]", "returned a list"),
        ("def f(x):\n    return np.sin('a')", "numbers only"),
        ("def f(x):\n    return np.sin(x, out=3)", "takes no argument 'out'"),
        ("def f(x):\n    return np.sum([1] * 100000)", "1,000 numbers at most"),
    ],
)
def test_what_cannot_be_scored_says_why(code, error):
    result = evaluate(code, [1.0])
    assert result.values == (None,) and error in result.errors[0]


@pytest.mark.parametrize(
    "below",
    [
        "def test_f():\n    assert f(0) == 1",
        "def main():\n    print(f(float(input())))",
        "import sys\nif __name__ == '__main__':\n    print(f(float(sys.argv[1])))",
        'if (__name__=="__main__"):\n    print(f(float(input("x? "))))',
    ],
)
def test_tests_and_scripts_below_the_function_are_not_the_function(below: str) -> None:
    code = f"def f(x):\n    return 2 * x\n\n{below}"
    assert sandbox.tested_function(code, "repaired") == "f"
    assert sandbox.evaluate(code, [1.5]).values == (3.0,)
    text = f"[CODE]:\n```python\ndef f(x):\n    return 2 * x\n```\nTests:\n```python\n{below}\n```"
    assert sandbox.evaluate(parse.interpretation(text, "repaired").code, [1.5]).values == (3.0,)


def test_the_tested_function_is_the_last_def_anywhere_or_at_top_level():
    nested = "def f(x):\n    def g(y):\n        return y\n    return g(x)"
    assert sandbox.tested_function(nested, "paper") == "g"
    assert sandbox.tested_function(nested, "repaired") == "f"
    assert sandbox.tested_function("def a(x):\n    return 1\n\nb = lambda x: 2\n", "repaired") == "b"
    assert evaluate(nested, [1.0], rules="paper").error == "NameError: name 'g' is not defined"
    assert values(nested, 1.0) == [1.0]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("def f(x):\n    return x\n# the def of g(x) is not here", None),
        ('def f(x):\n    """Unlike a def h(x) elsewhere."""\n    return x', "h"),
        ("def f(x):\n    return x\n# def of", "of"),
        ("def f (x):\n    return x", "f"),
        ("f = lambda x: max(x, 0)", None),
        ("def f(x):\n    undef = 'undef f('\n    return x", "f"),
        ("return 1", None),
        ("", None),
    ],
)
def test_paper_rules_look_behind_the_last_def_whatever_it_is(code: str, name: str | None) -> None:
    assert sandbox.tested_function(code, "paper") == name


def test_a_def_in_a_comment_leaves_paper_rules_without_a_function() -> None:
    code = "def f(x):\n    return x\n# That def shows it (I think)."
    assert evaluate(code, [2.0]).values == (2.0,)
    assert "NameError" in str(evaluate(code.replace("shows it", "shows"), [2.0], rules="paper").error)
    assert "no name" in str(evaluate(code, [2.0], rules="paper").error)


@pytest.mark.parametrize(
    ("returned", "paper"),
    [("[x]", None), ("(x,)", None), ("[[x]]", None), ("np.array([x])", 2.0), ("np.array(x)", 2.0), ("x", 2.0)],
)
def test_a_list_of_one_is_its_element_by_repaired_rules_and_an_array_by_both(
    returned: str, paper: float | None
) -> None:
    code = f"import numpy as np\ndef f(x):\n    return {returned}"
    assert evaluate(code, [2.0]).values == (2.0,)
    assert evaluate(code, [2.0], rules="paper").values == (paper,)


@pytest.mark.parametrize(
    ("code", "lacking"),
    [
        ("import pandas\ndef f(x):\n    return x", True),
        ("import pandaz\ndef f(x):\n    return x", False),
        ("import textwrap\ndef f(x):\n    return x", True),
        ("def f(x):\n    import enum\n    return x", True),
        ("from collections import ChainMop\ndef f(x):\n    return x", False),
        ("import collections\ndef f(x):\n    return collections.ChainMap({})", True),
        ("def f(x):\n    return math.sinn(x)", False),
        ("def f(x):\n    return np.sinn(x)", False),
        ("def f(x):\n    return np.sum([x], axis=0)", True),
        ("def f(x):\n    return np.sum([x], axes=0)", False),
        ("def f(x):\n    return np.array([[x, x], [x, x]])[0][0]", True),
        ("def f(x):\n    return np.array(['a', 'b'])[0]", True),
        ("def f(x):\n    return np.sin('a')", False),
        ("def f(x):\n    return np.array([x, x]).T[0]", True),
        ("def f(x):\n    return np.array([x, x]).t[0]", False),
        ("def f(x):\n    return np.random.weibull(1)", True),
        ("def f(x):\n    return np.trapz([x, x])", True),
        ("from scipy.stats import weibull_mix\ndef f(x):\n    return 1", False),
        ("from scipy.stats import norm\ndef f(x):\n    return norm.ppf(0.5)", True),
        ("from scipy.interpolate import interp1d\ndef f(x):\n    return 1", True),
        ("def f(x):\n    return bytearray(b'a')[0]", True),
        ("def f(x):\n    return bytearay(b'a')[0]", False),
        ("def f(x):\n    return '{a}'.format_map({'a': 'b'})", True),
        ("def f(x):\n    return float.fromhex('1')", True),
        ("def f(x):\n    return open('a').read()", True),
        ("def f(x):\n    raise NotImplementedError('to be done')", False),
        ("def f(x):\n    raise ValueError('not runnable here: no')", False),
        ("from collections import ChainMap\ndef f(x):\n    return x", True),
        ("def f(x):\n    return np.fft.fft([x])", True),
        ("from scipy.stats import weibull_min\ndef f(x):\n    return 1", True),
        ("class A:\n    pass\nclass B(A):\n    pass\ndef f(x):\n    return x", True),
        ("def f(x):\n    return x.upper()", False),
        ("def f(x):\n    return g(x)", False),
        ("def f(x):\n    return 1 / 0", False),
        ("def f(x):\n    return (", False),
        ("", False),
    ],
)
def test_what_is_not_lent_is_told_from_what_is_wrong(code: str, lacking: bool) -> None:
    [error] = evaluate(code, [1.0]).errors
    assert error and not_runnable(error) is lacking


def test_a_program_cannot_say_of_itself_that_it_is_not_runnable() -> None:
    code = (
        "class T:\n    __name__ = 'not runnable here'\ndef type(x):\n    return T()\n"
        "def f(x):\n    raise ValueError('no')"
    )
    [error] = evaluate(code, [1.0]).errors
    assert error == "ValueError: no" or not not_runnable(error)
    assert not not_runnable(mark_unsupported("not runnable here: not runnable here: ValueError: no", code))
    assert mark_unsupported("not runnable here: ValueError: no", code) == "ValueError: no"


def test_an_empty_list_of_inputs_is_no_error():
    assert evaluate("def f(x):\n    return x", []).values == ()


@pytest.mark.parametrize("rules", ["paper", "repaired"])
@pytest.mark.parametrize("imported", ["import random", "import numpy as np"])
def test_what_is_drawn_at_random_follows_from_the_seed(rules: Rules, imported: str) -> None:
    draw = "random.uniform(0, 1)" if imported == "import random" else "np.random.uniform(0, 1)"
    code = f"{imported}\ndef f(x):\n    return {draw}"
    first, again, other = (evaluate(code, [1.0, 2.0], rules=rules, seed=seed).values for seed in (3, 3, 4))
    assert first == again != other and first[0] != first[1]


def test_seeding_lends_a_program_nothing_that_it_did_not_import() -> None:
    result = evaluate("def f(x):\n    return random.random()", [1.0], rules="paper")
    assert result.values == (None,) and "random" in str(result.errors[0])
