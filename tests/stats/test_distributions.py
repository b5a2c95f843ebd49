"""Against scipy, on a grid and on random arguments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from jury.errors import ConfigError
from jury.stats import distributions as ours

SHAPES = [0.3, 0.5, 1.0, 2.0, 7.5, 40.0, 900.0]


@pytest.mark.parametrize("a", SHAPES)
@pytest.mark.parametrize("b", SHAPES)
def test_beta(a: float, b: float) -> None:
    for x in (0.001, 0.1, 0.5, 0.77, 0.999):
        assert ours.beta_cdf(x, a, b) == pytest.approx(reference.beta.cdf(x, a, b), abs=1e-11)
    for p in (0.0005, 0.025, 0.5, 0.975, 0.9995):
        x = ours.beta_quantile(p, a, b)
        assert x == pytest.approx(reference.beta.ppf(p, a, b), rel=1e-9, abs=1e-12)


def test_beta_ends() -> None:
    assert ours.beta_cdf(0.0, 2, 3) == 0.0
    assert ours.beta_cdf(1.0, 2, 3) == 1.0
    assert ours.beta_quantile(0.0, 2, 3) == 0.0
    assert ours.beta_quantile(1.0, 2, 3) == 1.0


@given(st.integers(1, 300), st.one_of(st.sampled_from([0.0, 1.0]), st.floats(1e-9, 1 - 1e-9)), st.data())
def test_binomial(n: int, p: float, data: st.DataObject) -> None:
    k = data.draw(st.integers(-1, n + 1))
    assert ours.binomial_pmf(k, n, p) == pytest.approx(reference.binom.pmf(k, n, p), abs=1e-11)
    assert ours.binomial_cdf(k, n, p) == pytest.approx(reference.binom.cdf(k, n, p), abs=1e-11)


@pytest.mark.parametrize(("k", "n"), [(0, 1), (3, 7), (21, 30), (15, 30), (900, 1990), (980, 2001), (1200, 2500)])
def test_sign_test(k: int, n: int) -> None:
    exact = reference.binomtest(k, n).pvalue
    assert ours.sign_test(k, n) == pytest.approx(exact, abs=1e-12)
    middle = min(1.0, 2 * reference.binom.cdf(min(k, n - k), n, 0.5) - reference.binom.pmf(k, n, 0.5))
    assert ours.sign_test(k, n, mid=True) == pytest.approx(middle, abs=1e-11)


def test_sign_test_of_nothing_and_of_nonsense() -> None:
    assert ours.sign_test(0, 0) == 1.0
    with pytest.raises(ConfigError):
        ours.sign_test(3, 2)


@pytest.mark.parametrize("df", [1, 2, 5, 30, 1000])
def test_t(df: float) -> None:
    for level in (0.8, 0.95, 0.999):
        assert ours.t_value(level, df) == pytest.approx(reference.t.ppf(0.5 + level / 2, df), rel=1e-9)
    assert ours.t_two_sided(-1.7, df) == pytest.approx(2 * reference.t.sf(1.7, df), abs=1e-11)


def test_normal_and_chi_square() -> None:
    for x in (0.0, 0.3, 1.96, 5.0):
        assert ours.normal_two_sided(-x) == pytest.approx(2 * reference.norm.sf(x), abs=1e-14)
        assert ours.chi2_tail(x) == pytest.approx(reference.chi2.sf(x, 1), abs=1e-14)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95.0, float("nan")])
def test_a_level_lies_between_0_and_1(level: float) -> None:
    with pytest.raises(ConfigError, match="level"):
        ours.z_value(level)
