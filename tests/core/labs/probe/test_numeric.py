import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.labs.probe.functions import numeric
from core.labs.probe.functions.numeric import ATOMS, GRID, Atom, Corruption, Noise, NumericFunction
from core.labs.probe.functions.source import draw_numeric_atom, generate
from tests.support.chance import tenth

RNG = np.random.default_rng(0)


def function(*atoms: Atom, **others: object) -> NumericFunction:
    return NumericFunction(id="test", atoms=atoms, **others)


def at(f: NumericFunction, *xs: float) -> list[float]:
    return [f(x, np.random.default_rng(0)) for x in xs]


LINE = Atom(name="linear", parameters={"slope": 2.0, "bias": 1.0})


@pytest.mark.parametrize(
    ("name", "parameters", "xs", "ys"),
    [
        ("linear", {"slope": 2.0, "bias": 1.0}, (-1, 0, 3), (-1, 1, 7)),
        ("polynomial", {"coefficients": (1.0, 0.0, -2.0)}, (-2, 0, 3), (2, -2, 7)),
        ("absolute", {"scale": -2.0, "bias": 3.0}, (-2, 0, 1), (-1, 3, 1)),
        ("root", {"scale": 2.0, "bias": 1.0, "degree": 2}, (0, 4, 9), (1, 5, 7)),
        ("logarithm", {"scale": 3.0, "bias": 1.0, "base": 2.0}, (1, 2, 8), (1, 4, 10)),
        ("step", {"scale": 4.0, "bias": 1.0, "at_zero": 10.0}, (-1, 0, 1), (1, 41, 5)),
        ("relu", {"scale": 2.0, "bias": 1.0, "leak": 0.5}, (-4, 0, 3), (-3, 1, 7)),
        ("constant", {"value": -7}, (-1, 0, 9), (-7, -7, -7)),
        ("reciprocal", {"scale": 2.0}, (-1, 0.5, 4), (-0.5, 1, 0.125)),
        ("gaussian", {"mean": 1.0, "sd": 2.0}, (1, 3), (0.19947114, 0.12098536)),
        ("rational", {"numerator": (1.0, 2.0), "denominator": (1.0, 0.0, 1.0)}, (0, 1, 2), (1, 1.5, 1)),
        ("rectangle", {"width": 4.0}, (-2, -1.9, 0, 2, 2.1), (1, 1, 1, 1, 0)),
        ("square_wave", {"period": 4.0, "shift": 1.0}, (1, 2, 4), (-1, 1, -1)),
        ("sin", {"amplitude": 2.0, "phase": 1.0, "period": 4.0, "bias": 3.0}, (1, 2, 4), (3, 5, 1)),
        ("cos", {"amplitude": 2.0, "phase": 1.0, "period": 4.0, "bias": 3.0}, (1, 2, 3), (5, 3, 1)),
        ("tanh", {"amplitude": 2.0, "phase": 1.0, "period": 4.0, "bias": 3.0}, (1, 99), (3, 5)),
        ("ceil", {}, (-0.5, 1.2), (0, 2)),
        ("floor", {}, (-0.5, 1.2), (-1, 1)),
    ],
)
def test_each_atom_has_its_values(name, parameters, xs, ys):
    assert at(function(Atom(name=name, parameters=parameters)), *xs) == pytest.approx(list(ys), abs=1e-7)


def test_paper_rules_forget_the_bias_of_absolute():
    atom = Atom(name="absolute", parameters={"scale": -2.0, "bias": 3.0})
    f = function(atom, rules="paper")
    assert at(f, -2) == [-4]
    assert f.ideal(np.array([-2.0])).tolist() == [-1]
    assert "3.0" not in f.describe()


def test_paper_rules_take_the_phase_for_the_period():
    atom = Atom(name="sin", parameters={"amplitude": 1.0, "phase": 4.0, "period": 1.0, "bias": 0.0})
    assert at(function(atom, rules="paper"), 2) == pytest.approx([1])
    assert at(function(atom), 2) == pytest.approx([0], abs=1e-12)


def test_paper_rules_make_a_square_wave_the_sign_of_x_where_only_its_last_line_is_copied():
    wave = Atom(name="square_wave", parameters={"period": 4.0, "shift": 0.0})
    composed = function(LINE, wave, operation="product", rules="paper")
    assert at(composed, 3, -3) == [7, 5]
    assert at(function(wave, rules="paper"), 3) == [-1]
    assert at(function(LINE, wave, operation="product"), 3) == [-7]
    for change in ({"noise": Noise(kind="normal")}, {"corruption": Corruption(low=50.0, high=60.0, mean=0.0)}):
        copied = function(wave, rules="paper", **change)
        assert copied.clean(np.array([-1.0, 0.0, 3.0])).tolist() == [-1, -1, 1]
        assert "the sign of x, -1 at 0" in copied.describe()
        assert function(wave, **change).clean(np.array([3.0])).tolist() == [-1]


def test_paper_rules_corrupt_roots_without_complex_numbers_and_intervals_without_their_ends():
    root = Atom(name="root", parameters={"scale": 2.0, "bias": 1.0, "degree": 2})
    x = np.array([-4.0, 4.0, 10.0, 11.0, 20.0])
    inside, below = Corruption(low=10.0, high=20.0, mean=0.0), Corruption(low=None, high=10.0, mean=0.0)
    y = function(root, corruption=inside, rules="paper").clean(x)
    assert np.isnan(y[0]) and y.dtype == float and y[1] == 5
    assert inside.covers(x, "paper").tolist() == [False, False, False, True, False]
    assert inside.covers(x, "repaired").tolist() == [False, False, True, True, True]
    assert below.covers(x, "paper").tolist() == [True, True, True, False, False]


def test_the_root_of_a_negative_number_is_complex_in_paper_mode_and_undefined_else():
    atom = Atom(name="root", parameters={"scale": 2.0, "bias": 1.0, "degree": 2})
    assert function(atom, rules="paper")(-4.0, RNG) == pytest.approx(1 + 4j)
    assert function(atom, rules="paper")(4.0, RNG) == 5
    assert math.isnan(function(atom)(-4.0, RNG))


def test_sums_and_products():
    floor = Atom(name="floor")
    assert at(function(LINE, floor, operation="sum"), 1.5) == [5]
    assert at(function(LINE, floor, operation="product"), 1.5) == [4]
    assert function(LINE, floor, operation="sum").kind == "linear;floor;sum_two"


@pytest.mark.parametrize(
    ("kind", "rules", "mean", "sd"),
    [
        ("normal", "paper", 0, 1),
        ("uniform", "paper", 0, 3**-0.5),
        ("poisson", "paper", 1, 1),
        ("poisson", "repaired", 0, 1),
    ],
)
def test_noise_has_its_mean_and_spread(kind, rules, mean, sd):
    f = function(LINE, noise=Noise(kind=kind), rules=rules)
    x = np.full(20_000, 3.0)
    noise = f.observe(x, np.random.default_rng(1)) - 7
    assert noise.mean() == pytest.approx(mean, abs=0.03)
    assert noise.std() == pytest.approx(sd, abs=0.03)
    assert f.is_stochastic and not function(LINE).is_stochastic
    if kind == "uniform":
        assert np.abs(noise).max() <= 1


@pytest.mark.parametrize(
    ("low", "high", "where", "inside", "outside"),
    [
        (10.0, 20.0, "inside", (10, 15, 20), (9.9, 20.1)),
        (10.0, None, "above", (10, 99), (9.9,)),
        (None, 10.0, "below", (-99, 10), (10.1,)),
    ],
)
def test_corruption_replaces_the_values_of_its_part_alone(low, high, where, inside, outside):
    f = function(LINE, corruption=Corruption(low=low, high=high, mean=500.0))
    assert f.corruption.where == where
    x = np.repeat(np.array(inside, float), 500)
    y = f.observe(x, np.random.default_rng(2))
    assert y.mean() == pytest.approx(500, abs=0.05) and y.std() == pytest.approx(0.1, abs=0.02)
    assert at(f, *outside) == [2 * x + 1 for x in outside]
    assert f.expected(np.array(inside)).tolist() == [500] * len(inside)


def test_a_function_is_data():
    for seed in range(40):
        for rules in ("paper", "repaired"):
            f = generate("numeric", seed, rules=rules)
            again = NumericFunction.model_validate_json(f.model_dump_json())
            assert again == f
            first, second = (g.observe(GRID, np.random.default_rng(3)) for g in (f, again))
            assert np.array_equal(first, second, equal_nan=True)


@settings(deadline=None, max_examples=tenth(60))
@given(st.sampled_from(sorted(ATOMS)), st.integers(0, 2**32), st.sampled_from(["paper", "repaired"]))
def test_every_drawn_atom_is_defined_on_its_domain_and_can_be_described(name, seed, rules):
    atom = draw_numeric_atom(name, np.random.default_rng(seed), rules)
    low, high = ATOMS[name].domain
    f = function(atom, low=low, high=high, rules=rules)
    x = np.linspace(low, high, 101) + 0.013
    assert np.isfinite(f.clean(x)).all()
    assert f.describe().startswith("f(x) = ")


def test_a_network_comes_close_to_a_smooth_function_and_repeats_itself():
    def bend(x):
        return 3 * np.abs(x) + 20 * np.sin(x / 15)

    first, second = (numeric.fit(bend, -100, 100, np.random.default_rng(5)) for _ in range(2))
    x = np.linspace(-100, 100, 999)
    assert first == second
    assert np.mean((first(x) - bend(x)) ** 2) < 0.01 * np.mean(bend(x) ** 2)


def network(atom: Atom, **others: object) -> NumericFunction:
    f = function(atom, **others)
    return f.model_copy(update={"mlp": numeric.fit(f.ideal, -100, 100, np.random.default_rng(5))})


def test_a_network_close_to_its_formula_is_called_an_approximation():
    f = network(LINE)
    assert f.distance() < 1e-3 and not f.differs
    assert f.describe().startswith("f(x) = 2.0 * x + 1.0. A network of 64 ReLU units approximates it")
    assert function(LINE).distance() is None and not function(LINE).differs


def test_a_network_far_from_its_formula_is_said_to_differ():
    f = network(Atom(name="reciprocal", parameters={"scale": 2.0}))
    y, formula = f.clean(GRID), f.ideal(GRID)
    assert f.distance() == pytest.approx(np.sum((y - formula) ** 2) / np.sum(y**2)) and f.distance() > 0.1
    assert f.differs
    text = f.describe()
    assert text.startswith("f(x) is a network of 64 ReLU units that was trained on 1 / (2.0 * x). It differs from it")
    assert f"is {f.distance():.2g} on the test points" in text and "approximates" not in text


def test_where_a_formula_has_no_value_its_network_is_described_alone():
    root = Atom(name="root", parameters={"scale": 2.0, "bias": 1.0, "degree": 2})
    f = function(root, rules="paper", low=0.0)
    f = f.model_copy(update={"mlp": numeric.fit(f.ideal, 0, 100, np.random.default_rng(5))})
    assert f.distance(GRID[128:228]) < 0.001 and f.differs, "beyond 100 it goes on straight"
    assert "on the other 128 there is the network alone" in f.describe()
    assert "Between 0 and 100, where it was trained, it is " in f.describe()


def test_a_network_of_paper_rules_was_trained_on_all_of_the_formula():
    wave = Atom(name="square_wave", parameters={"period": 40.0, "shift": -3.0})
    absolute = Atom(name="absolute", parameters={"scale": -2.0, "bias": 3.0})
    composed = network(wave, rules="paper").model_copy(update={"atoms": (LINE, wave), "operation": "sum"})
    assert "sin(2π / 40.0 * (x + 3.0))" in composed.describe() and composed.components == ("linear", "square_wave")
    assert "|x| + 3.0" in network(absolute, rules="paper").describe()


def test_signs_are_written_as_one_would():
    wave = Atom(name="sin", parameters={"amplitude": -2.0, "phase": -2.4, "period": 5.0, "bias": -6.6})
    poly = Atom(name="polynomial", parameters={"coefficients": (1.0, -2.0, -3.0)})
    assert function(wave).describe() == "f(x) = -2.0 * sin(2π / 5.0 * (x + 2.4)) - 6.6."
    assert function(poly).describe() == "f(x) = 1.0 x^2 - 2.0 x - 3.0."


@pytest.mark.parametrize("rules", ["paper", "repaired"])
def test_no_drawn_function_is_described_with_two_signs_in_a_row(rules):
    descriptions = [generate("numeric", seed, rules=rules).describe() for seed in range(200)]
    assert not [text for text in descriptions if "- -" in text or "+ -" in text]


def test_broken_weights_are_refused(tmp_path):
    path = tmp_path / "mlp_approx_model.pt"
    path.write_bytes(b"not a network")
    with pytest.raises(ValueError, match="holds no network"):
        numeric.load(path)
