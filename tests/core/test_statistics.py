import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.statistics import wilson


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
