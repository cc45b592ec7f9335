import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events import Rules
from core.labs.probe.claim_extraction import (
    claimed_noise,
    components_identified,
    coverage,
    evidence,
    longest_gap,
    noise_identified,
    probed_corruption,
)
from core.labs.probe.evaluate import (
    exact_match,
    held_out_points,
    held_out_texts,
    interval_iou,
    nmse,
    noise_floor,
    picked,
)
from core.labs.probe.functions.numeric import GRID, Atom, Corruption, Noise, NumericFunction
from core.labs.probe.functions.strings import StringAtom, StringFunction
from core.labs.probe.parse import choice_is_correct
from core.score import Score


def whole(score: Score) -> tuple[float | None, bool, str, int]:
    return score.value, score.success, score.reason, score.n


def counted(score: Score) -> tuple[float | None, int | None, int, int, int | None]:
    return score.value, score.hits, score.n, score.of, score.detail.get("stopped")


NAN, INF = float("nan"), float("inf")


def line(**others: object) -> NumericFunction:
    atom = Atom(name="linear", parameters={"slope": 2.0, "bias": 1.0})
    return NumericFunction(id="line", atoms=(atom,), **others)


def test_the_grid_has_256_points_at_the_halves():
    assert len(GRID) == 256 and GRID[0] == -127.5 and GRID[-1] == 127.5


def test_nmse_is_squared_error_over_squared_truth():
    assert whole(nmse([3.0, 4.0], [3.0, 3.0])) == (1 / 25, True, "", 2)
    assert nmse([1.0, 1.0], [1.0, 1 - 0.2**0.5]).value == pytest.approx(0.1)


def test_success_is_strictly_below_a_tenth():
    exactly = nmse([1.0] * 10, [1.0] * 9 + [0.0])
    assert exactly.value == 0.1 and not exactly.success
    assert nmse([1.0] * 11, [1.0] * 10 + [0.0]).success


@pytest.mark.parametrize("rules", ["paper", "repaired"])
def test_points_without_truth_are_skipped_points_without_estimate_are_not(rules):
    assert whole(nmse([NAN, INF, 2.0], [None, NAN, 2.0], rules)) == (0.0, True, "", 1)
    for missing in (None, NAN):
        score = nmse([1.0, 2.0], [1.0, missing], rules)
        assert score.value is None and not score.success and "point 2 of 2" in score.reason


def test_a_truth_of_zero_is_undefined_by_paper_rules():
    assert nmse([0.0, 0.0], [0.0, 0.0], "paper").value is None
    assert whole(nmse([0.0, 0.0], [0.0, 0.0], "repaired")) == (0.0, True, "", 2)
    assert "zero at every point" in nmse([0.0, 0.0], [0.0, 1.0], "repaired").reason


def test_complex_values_count_by_their_size_in_paper_mode_and_are_no_numbers_else():
    assert nmse([3 + 4j], [3 + 4j], "paper").value == 0
    assert nmse([3 + 4j], [3 + 0j], "paper").value == pytest.approx(16 / 25)
    assert nmse([3.0], [3 + 4j], "repaired").value is None
    assert whole(nmse([3 + 4j, 2 + 0j], [None, 2 + 0j])) == (0.0, True, "", 1)
    assert nmse([3 + 4j], [3 + 4j]).n == 0


def test_what_is_too_large_to_be_squared_is_compared_all_the_same():
    assert nmse([1e300, -1e300], [1e300, -0.8e300]).value == pytest.approx(0.02)
    assert "infinite" in nmse([1.0, 2.0], [1e300, 2.0]).reason


@pytest.mark.parametrize("rules", ["paper", "repaired"])
def test_texts_are_no_truth(rules):
    assert whole(nmse(["a", 2.0], [1.0, 2.0], rules)) == (0.0, True, "", 1)
    assert nmse(["a", "b"], [1.0, 2.0], rules).value is None


def test_as_many_estimates_as_truths():
    with pytest.raises(ValueError, match="2 true values, but 1"):
        nmse([1.0, 2.0], [1.0])


@given(st.lists(st.floats(-1e6, 1e6).filter(lambda x: abs(x) > 1e-3), min_size=1), st.floats(0.1, 10))
def test_nmse_knows_no_units(truth, scale):
    """Scaling both leaves the score: an estimate a tenth too large scores 0.01 everywhere."""
    estimate = [1.1 * scale * value for value in truth]
    assert nmse([scale * value for value in truth], estimate).value == pytest.approx(0.01)


def test_the_noise_floor_tells_what_can_be_won():
    rng = np.random.default_rng(0)
    assert noise_floor(line(), rng) == 0
    assert noise_floor(line(noise=Noise(kind="normal")), rng) == pytest.approx(
        1 / np.mean((2 * GRID + 1) ** 2), rel=0.2
    )
    flat = NumericFunction(
        id="flat", atoms=(Atom(name="constant", parameters={"value": 0}),), noise=Noise(kind="normal")
    )
    assert noise_floor(flat, rng) == pytest.approx(1)
    corrupted = line(corruption=Corruption(low=10, high=20, mean=50.0))
    assert noise_floor(corrupted, rng) < 1e-4


def test_a_perfect_description_knows_the_mean_of_poisson_noise():
    """Around 0 with mean 1: the mean square is 2 (variance 1), of which the best constant leaves the variance."""
    flat = Atom(name="constant", parameters={"value": 0})
    lifted = NumericFunction(id="flat", atoms=(flat,), noise=Noise(kind="poisson"), rules="paper")
    assert noise_floor(lifted, np.random.default_rng(0), 200, "paper") == pytest.approx(0.5, abs=0.02)
    assert lifted.expected(GRID).tolist() == [1.0] * 256
    centred = lifted.model_copy(update={"rules": "repaired"})
    assert noise_floor(centred, np.random.default_rng(0)) == pytest.approx(1)


def test_the_floor_is_undefined_where_the_error_is():
    nothing = NumericFunction(id="zero", atoms=(Atom(name="constant", parameters={"value": 0}),))
    assert noise_floor(nothing, np.random.default_rng(0)) == 0
    assert noise_floor(nothing, np.random.default_rng(0), rules="paper") is None


def test_exact_match_counts_every_item_or_stops_as_the_paper_does():
    inputs, truths = ["a", "b'", "c", "d"], ["1", "2", "3", "4"]
    assert counted(exact_match(inputs, truths, ["1", "2", "x", "4"])) == (0.75, 3, 4, 4, None)
    assert counted(exact_match(inputs, truths, ["1", "2", "x", "4"], "paper")) == (0.5, 1, 2, 4, 1)
    assert counted(exact_match(["a", "b", "c"], ["1", "2", "3"], ["1", None, "3"], "paper")) == (0.5, 1, 2, 3, 1)
    assert exact_match(["a", "b", "c"], ["1", "2", "3"], ["1", None, "3"]).value == pytest.approx(2 / 3)
    assert exact_match([], [], []).value is None


def test_unit_tests_by_both_rules():
    replies = ["[ANSWER]: 3 (not 1)", "Example 2", "no idea"]

    def score(rules: Rules) -> Score:
        return picked([choice_is_correct(reply, n, rules) for n, reply in enumerate(replies, start=1)])

    assert counted(score("paper")) == (2 / 3, 2, 3, 3, None)
    assert counted(score("repaired")) == (0.5, 1, 2, 3, None)


@pytest.mark.parametrize(
    ("truth", "claimed", "iou"),
    [
        ((0.0, 10.0), [(0.0, 10.0)], 1.0),
        ((0.0, 10.0), [(5.0, 15.0)], 1 / 3),
        ((0.0, 10.0), [], 0.0),
        ((118.0, None), [(118.0, INF)], 1.0),
        ((None, -108.0), [(-INF, -118.0)], 0.5),
        ((0.0, 10.0), [(0.0, 4.0), (2.0, 5.0)], 0.5),
        (None, [(1.0, 2.0)], 0.0),
        (None, [], None),
    ],
)
def test_interval_overlap(truth, claimed, iou):
    corruption = None if truth is None else Corruption(low=truth[0], high=truth[1], mean=0)
    assert interval_iou(corruption, claimed) == (None if iou is None else pytest.approx(iou))


def test_noise_is_identified_by_name():
    assert claimed_noise("linear with normally distributed noise") == "normal"
    assert claimed_noise("there is uniform noise of about 1") == "uniform"
    assert claimed_noise("a normal distribution curve") is None
    assert claimed_noise("There is no Gaussian noise.") is None
    assert claimed_noise("There is neither normal nor uniform noise, nor Poisson noise") is None
    assert claimed_noise("The noise isn't Gaussian but uniform.") == "uniform"
    assert claimed_noise("No corruption, normal noise.") == "normal"
    assert claimed_noise("Noise of no more than 1, uniform") == "uniform"
    assert noise_identified(line(noise=Noise(kind="poisson")), "Poisson noise") is True
    assert noise_identified(line(noise=Noise(kind="poisson")), "some noise") is False
    assert noise_identified(line(), "no noise") is None
    assert noise_identified(line(), "uniform noise") is False


def test_components_are_identified_by_the_words_for_them():
    step = Atom(name="step", parameters={"scale": 1.0, "bias": 0.0, "at_zero": 0.0})
    f = line().model_copy(update={"atoms": (*line().atoms, step), "operation": "sum"})
    assert components_identified(f, "a straight line with a jump at zero")[:3] == (("linear", "step"), (), ())
    assert components_identified(f, "a sine wave")[:3] == ((), ("linear", "step"), ("sine",))
    assert components_identified(f, "a sine wave", "paper")[:2] == ((), ("linear", "step"))
    reverse = StringFunction(id="r", outer=StringAtom(name="reverse_string"))
    assert components_identified(reverse, "Writes the text backwards.").present == ("writes the text backwards",)
    assert components_identified(reverse, "Counts vowels.").absent == ("writes the text backwards",)


def test_held_out_points_were_never_probed():
    probed = list(np.linspace(-128, 128, 50))
    points = held_out_points(probed, np.random.default_rng(0))
    assert len(points) == 64 and not set(points) & set(probed)


def test_held_out_texts_were_never_probed():
    rng = np.random.default_rng
    texts = held_out_texts([], rng(0))
    assert len(set(texts)) == 10 and texts == held_out_texts([], rng(0))
    assert not set(held_out_texts(texts, rng(0))) & set(texts)


PROBES = [("3", "7.0041"), ("3", "7.9"), ("cat", "tac"), ("5", "11")]


def test_quoted_outputs_are_held_against_the_calls_made():
    quoted = evidence('f(3) = 7.0 and f("cat") -> "tac", f(5) = 12, f(9) = 1', PROBES)
    assert quoted.supported == (("3", "7.0"), ("cat", "tac"))
    assert quoted.contradicted == (("5", "12"),)
    assert quoted.unseen == (("9", "1"),)


def test_a_call_that_was_never_made_contradicts_nothing():
    made = [("5.3", "12.1"), ("0.3333333", "1.1"), ("-2", "7")]
    assert evidence("f(5) = 40 and f(5) = 12", made).unseen == (("5", "40"), ("5", "12"))
    assert evidence("f(0.33) = 1.1", made).supported == (("0.33", "1.1"),), "an input may be rounded"
    assert evidence("f(0.33) = 2", made).unseen == (("0.33", "2"),)
    assert evidence("f(-2.0) = 8", made).contradicted == (("-2.0", "8"),)


def test_coverage_and_gaps():
    assert coverage([]) == 0
    assert coverage(list(GRID)) == 1
    assert coverage([0.0, 0.1, 500.0]) == 1 / 32
    assert longest_gap([0.0]) in ((-128.0, 0.0), (0.0, 128.0))
    assert longest_gap([-128.0, -100.0, 100.0, 128.0]) == (-100.0, 100.0)


def test_whether_anyone_looked_into_the_corrupted_part():
    corruption = Corruption(low=10, high=20, mean=0)
    assert probed_corruption(corruption, [1.0, 12.0, 20.0]) == 2
    assert probed_corruption(corruption, [1.0]) == probed_corruption(corruption, []) == 0
    assert probed_corruption(None, [1.0]) is None
