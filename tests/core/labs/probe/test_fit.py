import math

import numpy as np
import pytest

from core.labs.probe.claim_extraction import claimed_intervals, claimed_noise, noise_identified
from core.labs.probe.evaluate import interval_iou, nmse
from core.labs.probe.functions.base import UndefinedInputError
from core.labs.probe.functions.numeric import ATOMS, GRID, Atom, Corruption, Noise, NumericFunction
from core.labs.probe.functions.source import PARTS, SINGLES, draw_numeric_atom, draw_string
from core.labs.probe.functions.strings import OUTER, STRING_ATOMS, StringAtom, StringFunction, draw_atom
from core.labs.probe.interpreters.fit import BUDGET, code_of, fit_numeric, fit_string
from core.labs.probe.parse import interpretation
from core.sandbox.sandbox import evaluate


def scored(f: NumericFunction, seed: int = 0):
    """The baseline's finding on `f`, and its score: read back from its text, run in the sandbox."""
    rng = np.random.default_rng(seed)
    finding = fit_numeric(lambda xs: [f(x, rng) for x in xs])
    assert len(finding.probes) <= BUDGET
    code = interpretation(finding.text, "repaired").code
    result = evaluate(code, GRID.tolist(), rules=f.rules)
    return finding, nmse(f.observe(GRID, rng), result.values, f.rules)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SINGLES)
def test_clean_atoms_are_recovered(name):
    low, high = ATOMS[name].domain
    rng = np.random.default_rng(11)
    wins = 0
    for _ in range(3):
        f = NumericFunction(id="x", atoms=(draw_numeric_atom(name, rng, "repaired"),), low=low, high=high)
        wins += scored(f)[1].success
    assert wins >= 2 if name == "square_wave" else wins == 3


@pytest.mark.thorough
def test_most_compositions_are_recovered():
    rng = np.random.default_rng(5)
    wins = 0
    for k in range(8):
        atoms = tuple(draw_numeric_atom(str(rng.choice(PARTS)), rng, "repaired") for _ in range(2))
        wins += scored(NumericFunction(id="x", atoms=atoms, operation=("sum", "product")[k % 2]))[1].success
    assert wins >= 6


RELU = Atom(name="relu", parameters={"scale": 3.0, "bias": 2.0, "leak": 0.2})


@pytest.mark.parametrize(("low", "high"), [(20.0, 31.5), (40.0, None), (None, -33.0)])
def test_a_corrupted_part_is_located_and_bounded(low, high):
    f = NumericFunction(id="x", atoms=(RELU,), corruption=Corruption(low=low, high=high, mean=60.0))
    finding, score = scored(f)
    assert score.success
    assert interval_iou(f.corruption, claimed_intervals(finding.domain)) > 0.98


@pytest.mark.parametrize("kind", ["normal", "uniform", "poisson"])
def test_noise_is_distinguished_from_corruption_and_named(kind):
    f = NumericFunction(id="x", atoms=(RELU,), noise=Noise(kind=kind))
    finding, score = scored(f)
    assert score.success and finding.family == "relu"
    assert noise_identified(f, finding.description) is True
    assert claimed_intervals(finding.domain) == ()


def test_a_clean_function_is_said_to_have_neither():
    finding, score = scored(NumericFunction(id="x", atoms=(RELU,)))
    assert score.value < 1e-12
    assert "noise" not in finding.description and claimed_intervals(finding.domain) == ()


@pytest.mark.parametrize("value", [None, float("nan"), "text", 1e308])
def test_a_box_that_gives_nothing_useful_does_no_harm(value):
    finding = fit_numeric(lambda xs: [value] * len(xs))
    assert interpretation(finding.text, "repaired").code.startswith("import math")


@pytest.mark.parametrize("budget", [0, 1, 10, 30, 60])
@pytest.mark.parametrize("corrupted", [True, False])
def test_a_small_budget_is_kept(budget, corrupted):
    corruption = Corruption(low=None, high=100.0, mean=60.0) if corrupted else None
    f = NumericFunction(id="x", atoms=(RELU,), corruption=corruption)
    finding = fit_numeric(lambda xs: f.outputs(xs, np.random.default_rng(0)), budget=budget)
    assert len(finding.probes) <= budget
    assert evaluate(finding.code, [1.0]).error is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("budget", [1, 7, 10, 30, 200])
@pytest.mark.parametrize(
    "function",
    [
        math.exp,
        lambda x: x**x,
        lambda x: -math.exp(x),
        math.gamma,
        lambda x: 9e99 if x > 3 else x,
        lambda x: 1e-300 * x,
    ],
)
def test_no_function_makes_it_raise(function, budget):
    def observe(xs):
        values = []
        for x in xs:
            try:
                values.append(function(x))
            except (ArithmeticError, ValueError):
                values.append(None)
        return values

    finding = fit_numeric(observe, budget=budget)
    assert len(finding.probes) <= budget and finding.code.startswith("import math")


@pytest.mark.parametrize("budget", [3, 10])
def test_with_few_calls_it_says_so(budget):
    finding = fit_numeric(lambda xs: [2 * x + 1 for x in xs], budget=budget)
    assert "Too few calls to tell" in finding.domain and "No interval" not in finding.domain
    if budget == 10:
        assert finding.description.startswith("As far as 5 inputs tell, the function is linear")
        assert finding.probes[0][0] == -128 and finding.probes[4][0] == 128


def test_few_calls_tell_no_kind_of_noise():
    rng = np.random.default_rng(0)
    finding = fit_numeric(lambda xs: [x + rng.normal() for x in xs], budget=16)
    assert "there is noise" in finding.description and claimed_noise(finding.description) is None


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x if x <= 50 else None, "Defined up to about 4"),
        (lambda x: x if x >= 50 else None, "Defined from about 5"),
        (lambda x: x if abs(x) < 50 else None, "no usable number below and above"),
        (lambda x: 1 / x if x else None, "at 1 of the 166 inputs first tried, namely 0."),
        (lambda x: x, "Defined everywhere that was probed."),
        (lambda x: None, "Only 0 of the 166 inputs tried"),
    ],
)
def test_it_says_where_it_saw_numbers(function, words):
    finding = fit_numeric(lambda xs: [function(x) for x in xs])
    assert words in finding.domain and claimed_intervals(finding.domain) == ()


def test_of_a_function_with_known_inputs_it_asks_nothing_else():
    finding = fit_numeric(lambda xs: [3 * x for x in xs], inputs=[1.0, 2.0, 2.0, 5.0, 9.0])
    assert {x for x, _ in finding.probes} == {1.0, 2.0, 5.0, 9.0} and finding.family == "linear"
    asked = [x for x, _ in fit_numeric(lambda xs: xs, budget=10, inputs=range(100)).probes]
    assert len(asked) == 10 and {min(asked), max(asked)} == {0, 99}


def test_texts_beyond_the_budget_are_no_texts_without_output():
    finding = fit_string(lambda texts: [text.upper() for text in texts], budget=5)
    assert len(finding.probes) == 5 and "no output" not in finding.domain
    assert finding.description.startswith("Seen for 5 texts only: ") and "upper case" in finding.description
    assert fit_string(lambda texts: [text.upper() for text in texts]).description.startswith("The function puts")


def test_texts_without_output_are_counted():
    refusing = fit_string(lambda texts: [None if text == "banana" else text.upper() for text in texts])
    assert refusing.domain == "It gave no output for 1 of the 38 texts tried, such as 'banana'."
    silent = fit_string(lambda texts: [None] * len(texts))
    assert silent.description == "It gave nothing to explain." and silent.family == "none"


def observing(f: StringFunction, seed: int = 0):
    rng = np.random.default_rng(seed)

    def observe(texts):
        outputs = []
        for text in texts:
            try:
                outputs.append(f(text, rng))
            except UndefinedInputError:
                outputs.append(None)
        return outputs

    return observe


TEXTS = ("Some other Text 12", "zigzag", "Umbrella", "no", "planet Mars", "aZ", "Ink", "the end", "apples7")


def test_most_string_functions_are_recovered_and_written_as_code():
    right = 0
    for seed in range(25):
        f = draw_string("x", np.random.default_rng(seed))
        observe = observing(f)
        finding = fit_string(observe)
        truths = observe(TEXTS)
        result = evaluate(interpretation(finding.text, "repaired").code, TEXTS)
        right += all(y is None or y == value for y, value in zip(truths, result.values, strict=True))
    assert right >= 22


STEADY = [name for name in OUTER if not STRING_ATOMS[name].is_random]


@pytest.mark.parametrize("name", STEADY)
def test_the_code_written_for_each_atom_does_what_the_atom_does(name):
    f = StringFunction(id="x", outer=draw_atom(name, np.random.default_rng(3)))
    result = evaluate(code_of(f), TEXTS)
    assert list(result.values) == observing(f)(TEXTS), result.error


def test_written_code_holds_the_docstrings_of_helpers_only_whose_names_do_not_say_enough():
    rotated = StringFunction(id="x", outer=StringAtom(name="add_len_to_string"))
    assert code_of(rotated).count('"""') == 2
    assert "A letter moved `by` places round the alphabet" in code_of(rotated)
    reversed_text = StringFunction(id="x", outer=StringAtom(name="reverse_string"))
    assert "def reverse_string(text: str) -> str:\n    return text[::-1]" in code_of(reversed_text)
