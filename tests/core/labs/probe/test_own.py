import numpy as np
import pytest

from core.labs.probe.functions.base import UndefinedInputError
from core.labs.probe.functions.numeric import Atom, NumericFunction
from core.labs.probe.functions.source import CodeFunction, from_code, from_pairs

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("text", ["3 * x^2 + 1", "f(x) = 3*x**2 + 1", "def g(x):\n    return 3 * x * x + 1"])
def test_a_formula_or_python(text):
    f = from_code("mine", "numeric", text)
    assert f(f.read("2"), RNG) == 13
    assert f.outputs([0.0, 1.0], RNG) == [1, 4]
    assert CodeFunction.model_validate_json(f.model_dump_json()) == f


def test_functions_of_texts_and_of_mathematics():
    assert from_code("mine", "strings", "x[::-1]")("abc", RNG) == "cba"
    assert from_code("mine", "numeric", "sin(x) + cos(0)")(0.0, RNG) == 1


def test_an_input_without_a_value_says_why():
    f = from_code("mine", "numeric", "1 / x")
    with pytest.raises(UndefinedInputError, match="ZeroDivisionError"):
        f(0.0, RNG)
    assert f.outputs([0.0, 2.0], RNG) == [None, 0.5]


@pytest.mark.parametrize("text", ["", "open('/etc/passwd').read()", "x +", "y + 1", "while True: pass"])
def test_what_never_works_is_refused(text):
    with pytest.raises(ValueError, match="gives no value"):
        from_code("mine", "numeric", text)


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("3 x + 1", "3 * x + 1"),
        ("3x", "3 * x"),
        ("2(x + 1)", "2 * (x + 1)"),
        ("(x + 1)(x - 1)", "(x + 1) * (x - 1)"),
        ("1.5 sin(x)", "1.5 * sin(x)"),
        ("2^x - 4 x^2", "2^x - 4 * x^2"),
    ],
)
def test_a_forgotten_sign_is_told_in_words(text, mended):
    with pytest.raises(ValueError, match="gives no value") as told:
        from_code("mine", "numeric", text)
    assert str(told.value).endswith(f"Write {mended}")
    assert from_code("mine", "numeric", mended)


def test_the_parsers_own_parentheses_are_not_spoken_of():
    with pytest.raises(ValueError) as told:
        from_code("mine", "numeric", "x + ) 3")
    assert "Expected" not in str(told.value) and "formula of x" in str(told.value)


@pytest.mark.parametrize("text", ["log2(x + 200)", "1e3 * x", "atan(x)", "2.5e-3*x"])
def test_names_and_numbers_with_letters_need_no_sign(text):
    assert from_code("mine", "numeric", text).source == text


def test_typed_pairs():
    f = from_pairs("mine", "relations", {"France ": "Paris"})
    assert f(" France", RNG) == "Paris"
    with pytest.raises(UndefinedInputError, match="not among the pairs"):
        f("Spain", RNG)


def test_typed_numbers_are_the_same_however_they_are_written():
    f = from_pairs("mine", "numeric", {"1": "3", "−2.50": "4", "word": "5", "1.0": "6"})
    assert [f(x, RNG) for x in ("1", "1.0", " 1e0", "-2.5", "word")] == ["6", "6", "6", "4", "5"]
    assert list(f.pairs) == ["1.0", "−2.50", "word"]
    with pytest.raises(UndefinedInputError):
        from_pairs("mine", "strings", {"1": "3"})("1.0", RNG)


def test_numbers_are_read_from_text():
    f = NumericFunction(id="x", atoms=(Atom(name="floor"),))
    assert f.read("−1.5") == -1.5
    assert f.outputs([1.5, -0.5], RNG) == [1, -1]
    for text in ("cat", "nan", "inf", "1e999"):
        with pytest.raises(UndefinedInputError):
            f.read(text)
