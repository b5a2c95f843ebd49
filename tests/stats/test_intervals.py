from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from jury.errors import ConfigError
from jury.stats import bootstrap_mean, clopper_pearson, newcombe, wald_difference, wilson

counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_shares_against_scipy(pair: tuple[int, int], level: float) -> None:
    k, n = pair
    test = reference.binomtest(k, n)
    for ours, method in ((wilson, "wilson"), (clopper_pearson, "exact")):
        found, wanted = ours(k, n, level=level), test.proportion_ci(level, method=method)
        assert found.value == k / n
        assert found.interval == pytest.approx((wanted.low, wanted.high), abs=1e-9)


@given(counts)
def test_shares_hold_their_value_inside_0_and_1(pair: tuple[int, int]) -> None:
    for interval in (wilson, clopper_pearson):
        found = interval(*pair)
        assert 0.0 <= found.low <= found.value <= found.high <= 1.0
        assert (found.low == 0.0) == (pair[0] == 0)
        assert (found.high == 1.0) == (pair[0] == pair[1])


@given(counts)
def test_pass_and_fail_mirror_each_other(pair: tuple[int, int]) -> None:
    k, n = pair
    for interval in (wilson, clopper_pearson):
        one, other = interval(k, n), interval(n - k, n)
        assert one.interval == pytest.approx((1 - other.high, 1 - other.low), abs=1e-12)


@given(counts, counts)
def test_difference_of_shares(first: tuple[int, int], second: tuple[int, int]) -> None:
    there, back = newcombe(*first, *second), newcombe(*second, *first)
    assert -1.0 <= there.low <= there.value <= there.high <= 1.0
    assert there.interval == pytest.approx((-back.high, -back.low), abs=1e-12)


def test_no_trials() -> None:
    assert wilson(0, 0).reason == clopper_pearson(0, 0).reason == "no_data"
    assert newcombe(1, 2, 0, 0).reason == wald_difference(1, 2, 0, 0).reason == "no_data"
    assert wald_difference(3, 3, 0, 4).reason == "no_variation"


@pytest.mark.parametrize(("k", "n"), [(3, 2), (-1, 2), (0, -1)])
def test_impossible_counts(k: int, n: int) -> None:
    for interval in (wilson, clopper_pearson):
        with pytest.raises(ConfigError, match="successes"):
            interval(k, n)


def test_mean_of_nothing_equal_values_and_nan() -> None:
    assert bootstrap_mean([], seed=1).reason == "no_data"
    same = bootstrap_mean([0.25] * 30, seed=1)
    assert (same.value, same.interval, same.reason) == (0.25, None, "no_variation")
    with pytest.raises(ConfigError, match="finite"):
        bootstrap_mean([0.1, float("nan")], seed=1)
