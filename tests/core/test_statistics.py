from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.statistics import alpha, kappa, wilson


def test_wilson_is_scipys():
    from scipy.stats import binomtest

    for n in (1, 2, 5, 10, 97):
        for hits in range(n + 1):
            interval = binomtest(hits, n).proportion_ci(method="wilson")
            assert wilson(hits / n, n) == pytest.approx((interval.low, interval.high), abs=1e-12)


@given(st.floats(0, 1), st.integers(1, 10_000))
def test_it_holds_the_share_and_stays_between_0_and_1(share, n):
    low, high = wilson(share, n)
    assert 0 <= low <= share <= high <= 1


LABEL = st.sampled_from(["yes", "no", "unknown"])
PAIRS = st.lists(st.tuples(LABEL, LABEL), min_size=1, max_size=30)


@given(PAIRS)
@settings(deadline=None)
def test_kappa_is_scikit_learns_and_what_stands_behind_it_its_definition(pairs):
    from sklearn.metrics import cohen_kappa_score

    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    assume(len({*a, *b}) > 1)
    got = kappa(a, b)
    assert got.value == pytest.approx(cohen_kappa_score(a, b), abs=1e-9)
    first, second = Counter(a), Counter(b)
    assert (got.n, got.agreed) == (len(pairs), pytest.approx(sum(x == y for x, y in pairs) / len(pairs)))
    assert got.by_chance == pytest.approx(sum(first[label] * second[label] for label in first) / len(pairs) ** 2)


def test_kappa_of_little_is_undefined_and_what_one_left_out_does_not_count():
    assert kappa([], []) == (None, 0, None, None)
    assert kappa([None, "yes"], ["yes", None]) == (None, 0, None, None)
    assert kappa(["yes"] * 3, ["yes"] * 3) == (None, 3, 1.0, 1.0)
    assert kappa(["yes"] * 3, ["no"] * 3) == (0.0, 3, 0.0, 0.0)
    assert kappa(["yes", "no", None], ["yes", "no", "yes"]) == (1.0, 2, 1.0, 0.5)
    with pytest.raises(ValueError):
        kappa(["yes"], [])


def test_kappa_of_cohens_kind_of_table():
    """40 yes-yes, 10 yes-no, 15 no-yes, 35 no-no: 0.75 agreed, 0.5 by chance."""
    pairs = [("yes", "yes")] * 40 + [("yes", "no")] * 10 + [("no", "yes")] * 15 + [("no", "no")] * 35
    got = kappa([x for x, _ in pairs], [y for _, y in pairs])
    assert got == (pytest.approx(0.5), 100, pytest.approx(0.75), pytest.approx(0.5))


KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
"""Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section D: four observers, twelve units."""


def test_alpha_of_krippendorffs_example():
    assert alpha(KRIPPENDORFF) == pytest.approx(0.743, abs=5e-4)
    assert alpha(KRIPPENDORFF, "interval") == pytest.approx(0.849, abs=5e-4)


def by_pairs(coders, far):
    """Alpha from its definition, every pair of labels by itself: within the items, and among all that count."""
    items = [[label for label in item if label is not None] for item in zip(*coders, strict=True)]
    items = [item for item in items if len(item) > 1]
    pool = [label for item in items for label in item]
    within = sum(far(x, y) / (len(item) - 1) for item in items for x in item for y in item)
    among = sum(far(x, y) for x in pool for y in pool) / (len(pool) - 1)
    return 1 - within / among if pool and among else None


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(st.sampled_from([None, 1, 2, 5]), min_size=n, max_size=n), min_size=2, max_size=4)
    )
)
@settings(deadline=None)
def test_alpha_is_its_definition(coders):
    assert alpha(coders) == pytest.approx(by_pairs(coders, lambda x, y: x != y))
    assert alpha(coders, "interval") == pytest.approx(by_pairs(coders, lambda x, y: (x - y) ** 2))


def test_alpha_of_little_is_undefined():
    assert alpha([]) is None
    assert alpha([["yes", None], [None, "no"]]) is None
    assert alpha([["yes", "yes", "no"], ["yes", "yes", None]]) is None
    with pytest.raises(ValueError):
        alpha([["yes"], []])
