"""*Found* requires code that gives the function's values point by point; the words have a verdict of their own."""

import math

import pytest

from core.labs.probe.evaluate import ABSOLUTE, RELATIVE, agreement
from core.labs.probe.functions.source import load
from core.labs.probe.report import ProbeReport
from core.labs.probe.tasks import ProbeSpec
from core.labs.probe.verdict import list_remarks, of_words
from tests.core.labs.probe.playing import play


def given(own: str, code: str, description: str = "It is told in code.", **spec: object) -> ProbeReport:
    said = {"description": description, "code": code}
    return play(ProbeSpec.model_validate({"own": own, "interpreter": "given", "given": said, **spec}))[0]


def test_values_agree_within_a_share_or_a_small_step() -> None:
    truth = [1000.0, 1000.0, 0.0, 0.0, None, 2.0]
    near = [1000 * (1 + 0.9 * RELATIVE), 1000 * (1 + 3 * RELATIVE), 0.9 * ABSOLUTE, 3 * ABSOLUTE, 7.0, None]
    assert agreement(truth, near)[:2] == (2, 5)
    assert agreement([0.01, 0.0], [0.01, ABSOLUTE]).agreed == 1, "a small function is held to a smaller step"
    assert not agreement([], []).is_whole and not agreement([None], [None]).is_whole
    with pytest.raises(ValueError):
        agreement([1.0], [])


def test_a_parabola_is_not_a_parabola_with_a_sine() -> None:
    view, _ = play(ProbeSpec(own="3*x^2+sin(x)", interpreter="fit"))
    error = view.value("nmse")
    assert error is not None and error < 1e-6 and view.value("nmse_success") == 1, "by the paper's measure a success"
    outcome, sentence = view.judgement
    assert outcome == "close" and sentence.startswith("It came close: the code's error is less than 0.1%")
    assert "found" not in sentence


def test_knots_are_not_the_function_between_them() -> None:
    knots = [(-128 + 256 * k / 105) for k in range(106)]
    values = [k**3 for k in knots]
    code = (
        f"X = {knots}\nY = {values}\ndef f(x):\n    k = min(int((x + 128) * 105 / 256), 104)\n"
        "    return Y[k] + (Y[k + 1] - Y[k]) * (x - X[k]) / (X[k + 1] - X[k])"
    )
    view = given("x^3", code)
    error = view.value("nmse")
    assert error is not None and error < 1e-6
    assert view.judgement.outcome == "close"


@pytest.mark.parametrize("code", ["x / 7 + 12", "0.142857 * x + 12"])
def test_code_that_gives_every_value_has_found_it(code: str) -> None:
    outcome, sentence = given("x/7 + 12", f"def f(x):\n    return {code}").judgement
    assert outcome == "found"
    assert sentence == (
        "It found the function: the code gives its value at all 256 test points, to within 0.001% of its value, or "
        "0.0001 near zero."
    )


def test_a_tiny_function_is_not_found_by_zero() -> None:
    assert given("0.00001 * sin(x)", "def f(x):\n    return 0").judgement.outcome == "missed"
    assert given("0.00001 * sin(x)", "def f(x):\n    return 0.000011 * math.sin(x)").judgement.outcome == "close"


def test_the_words_are_judged_apart_from_the_code() -> None:
    seed = {"own": "", "category": "strings", "function": "strings-3"}
    function = load(ProbeSpec.model_validate({**seed, "interpreter": "you"}))
    right = given(code="def f(x):\n    return x", description=function.describe(), **seed)
    assert of_words(right).startswith("Its description names ") and "Left out" not in of_words(right)
    wrong = given(code="def f(x):\n    return x", description="I cannot tell.", **seed)
    assert of_words(wrong).startswith("Its description names no part of the function. Left out: ")
    assert "our checks cannot judge it" in of_words(given("2*x", "def f(x):\n    return 2 * x"))
    assert "none, only code" in of_words(given("2*x", "def f(x):\n    return 2 * x", description=""))


def test_both_values_of_the_worst_point_are_told_apart() -> None:
    lines = [
        line
        for line in list_remarks(given("1000000 + x", "def f(x):\n    return 1000000 + x + 15"))
        if "Farthest" in line
    ]
    assert len(lines) == 1
    function, code = (float(part.split()[-1]) for part in lines[0].rstrip(".").split(","))
    assert not math.isclose(function, code, rel_tol=1e-9)
