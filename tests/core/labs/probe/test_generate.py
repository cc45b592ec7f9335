from collections import Counter

import numpy as np
import pytest

from core.events import Rules
from core.labs.probe.evaluate import SUCCESS, noise_floor
from core.labs.probe.functions.base import DIFFICULTIES
from core.labs.probe.functions.numeric import GRID
from core.labs.probe.functions.source import difficulty_of, draw_numeric, draw_numeric_atom, generate
from core.rulesets import RULES


def test_numeric_functions_come_in_the_published_proportions():
    """1,000 published: 150 networks, 191 corrupted, 176 noised, 150 compositions."""
    rng = np.random.default_rng(0)
    drawn = [draw_numeric("x", rng, "paper") for _ in range(800)]
    share = {
        "mlp": np.mean([f.mlp is not None for f in drawn]),
        "corrupted": np.mean([f.corruption is not None for f in drawn]),
        "noised": np.mean([f.noise is not None for f in drawn]),
        "composed": np.mean([f.operation is not None for f in drawn]),
    }
    assert share == pytest.approx({"mlp": 0.15, "corrupted": 0.191, "noised": 0.176, "composed": 0.15}, abs=0.05)
    assert set(Counter(f.noise.kind for f in drawn if f.noise)) == {"normal", "uniform", "poisson"}


@pytest.mark.parametrize("rules", RULES)
def test_the_orders_of_rational_functions_are_the_authors(rules: Rules) -> None:
    """The numerator's is drawn first, 0 to 4, then the denominator's, above it and at most 5."""
    rng = np.random.default_rng(1)
    drawn = [draw_numeric_atom("rational", rng, rules).parameters for _ in range(4_000)]
    orders = [(len(one["numerator"]) - 1, len(one["denominator"]) - 1) for one in drawn]
    above, below = Counter(one for one, _ in orders), Counter(one for _, one in orders)
    assert {order: count / 4_000 for order, count in above.items()} == pytest.approx(
        dict.fromkeys(range(5), 0.2), abs=0.02
    )
    expected = {order: sum(0.2 / (5 - lower) for lower in range(order)) for order in range(1, 6)}
    assert {order: count / 4_000 for order, count in below.items()} == pytest.approx(expected, abs=0.02)
    assert np.mean(orders, axis=0) == pytest.approx([2.0, 4.0], abs=0.06)
    assert all(lower < higher for lower, higher in orders)


@pytest.mark.parametrize("category", ["numeric", "strings"])
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_a_seed_stands_for_one_function_of_the_wanted_difficulty(category, difficulty):
    functions = [generate(category, seed, difficulty=difficulty) for seed in range(12)]
    assert {difficulty_of(f) for f in functions} == {difficulty}
    assert functions == [generate(category, seed, difficulty=difficulty) for seed in range(12)]
    assert len({f.id for f in functions}) == 12


@pytest.mark.parametrize("difficulty", [None, "medium"])
def test_repaired_rules_draw_only_functions_that_can_be_won(difficulty):
    drawn = [f for seed in range(300) if (f := generate("numeric", seed, difficulty=difficulty)).is_stochastic]
    assert len(drawn) > 90
    floors = {f.id: noise_floor(f, np.random.default_rng(1), 5) for f in drawn}
    assert {id: floor for id, floor in floors.items() if floor is None or floor >= SUCCESS} == {}


def test_repaired_rules_keep_noise_below_the_signal_and_intervals_within_the_domain():
    for seed in range(80):
        f = generate("numeric", seed, difficulty="medium")
        if f.noise is not None:  # type: ignore[attr-defined]
            y = f.clean(GRID)  # type: ignore[attr-defined]
            y = y[np.isfinite(y)]
            assert f.noise.size <= max(0.21 * np.sqrt(np.mean(y**2)), 1e-9) or not np.any(y)  # type: ignore[attr-defined]
        if f.corruption is not None and f.corruption.where == "inside":  # type: ignore[attr-defined]
            assert f.low <= f.corruption.low < f.corruption.high <= f.high  # type: ignore[attr-defined]
            assert 5 <= f.corruption.high - f.corruption.low <= 20  # type: ignore[attr-defined]


def test_the_first_example_stays_what_it_is():
    """The start page and the documents speak of this function."""
    f = generate("numeric", 1753, difficulty="medium")
    assert f.kind == "linear" and (f.corruption.low, f.corruption.high) == pytest.approx((57.9, 75.757), abs=1e-3)  # type: ignore[attr-defined]
    assert f.clean(np.array([-100.0])) == pytest.approx(-787.2)  # type: ignore[attr-defined]
