from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import betabinom

from jury.errors import ConfigError
from jury.stats import beta_binomial, effective_votes, panel_worth, vote_share


@given(st.integers(1, 60), st.floats(0, 1))
def test_effective_votes_lie_between_one_and_all(judges: int, rho: float) -> None:
    assert 1 - 1e-9 <= effective_votes(judges, rho).value <= judges + 1e-9


def test_effective_votes_at_the_ends() -> None:
    assert effective_votes(5, 0.0).value == 5
    assert effective_votes(5, 1.0).value == 1
    assert effective_votes(3, -0.5).reason == "no_finite_estimate"
    with pytest.raises(ConfigError):
        effective_votes(3, 1.5)


def correlated(judges: int, items: int, shared: float, seed: int) -> tuple[list[list[str]], list[str]]:
    """Judges with error rate 0.3 that copy one common error with probability `shared`: correlation shared^2."""
    rng = np.random.default_rng(seed)
    common = rng.random(items) < 0.3
    own = rng.random((items, judges)) < 0.3
    copies = rng.random((items, judges)) < shared
    wrong = np.where(copies, common[:, None], own)
    return [["F" if w else "P" for w in row] for row in wrong], ["P"] * items


def test_correlation_of_errors_is_recovered() -> None:
    ratings, truth = correlated(6, 4000, 0.7, seed=1)
    found = panel_worth(ratings, truth, seed=1, replicates=200)
    assert found.correlation.low < 0.49 < found.correlation.high
    assert found.votes.low < effective_votes(6, 0.49).value < found.votes.high


def test_pairs_against_numpy() -> None:
    ratings, truth = correlated(3, 50, 0.5, seed=2)
    found = panel_worth(ratings, truth)
    wrong = np.array([[vote != "P" for vote in row] for row in ratings], dtype=float)
    wanted = np.corrcoef(wrong.T)
    assert all(found.pairs[i, j] == pytest.approx(wanted[i, j]) for i, j in found.pairs)
    assert found.correlation.value == pytest.approx(np.mean([wanted[i, j] for i, j in found.pairs]))


def test_missing_votes_and_labels_are_left_out() -> None:
    ratings = [["P", "P"], ["F", "F"], ["P", "F"], ["P", "P"]]
    padded = [*ratings, ["P", None], ["F", "F"]]
    one, other = panel_worth(ratings, ["P", "P", "P", "F"]), panel_worth(padded, ["P", "P", "P", "F", "P", None])
    assert other.pairs[0, 1] == pytest.approx(one.pairs[0, 1])


def test_a_label_that_no_judge_ever_gave_makes_all_of_them_wrong() -> None:
    assert panel_worth([["P", "F"], ["F", "P"]], ["NA", "NA"]).correlation.reason == "no_variation"


def test_undefined_worth() -> None:
    assert panel_worth([["P"]], ["P"]).correlation.reason == "too_few_raters"
    assert panel_worth([["P", "P"]], [None]).votes.reason == "no_data"
    assert panel_worth([["P", "P"]] * 3, ["P"] * 3).votes.reason == "no_variation"
    with pytest.raises(ConfigError, match="labels for"):
        panel_worth([["P", "P"]], [])


@given(st.integers(0, 30), st.integers(0, 30))
def test_vote_share_mirrors(passes: int, fails: int) -> None:
    one, other = vote_share(passes, passes + fails), vote_share(fails, passes + fails)
    assert one.above_half + other.above_half == pytest.approx(1.0)
    assert one.share.low == pytest.approx(1 - other.share.high)
    assert one.share.low < one.share.value < one.share.high


@pytest.mark.parametrize("seed", range(5))
def test_beta_binomial_against_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    votes = rng.integers(2, 8, size=40)
    passes = rng.binomial(votes, rng.beta(1.2, 0.8, size=40))
    fit = beta_binomial(passes.tolist(), votes.tolist())

    def loss(x: np.ndarray) -> float:
        return -float(betabinom.logpmf(passes, votes, *np.exp(x)).sum())

    best = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10})
    assert fit.loglik == pytest.approx(-best.fun, abs=1e-6)
    assert (fit.alpha, fit.beta) == pytest.approx(tuple(np.exp(best.x)), rel=1e-3)


def test_beta_binomial_at_its_ends() -> None:
    even = beta_binomial([2] * 10, [4] * 10)
    assert (even.rho.value, even.alpha, even.mean.value) == (0.0, None, 0.5)
    assert "no more alike" in even.rho.note
    unanimous = beta_binomial([3, 3, 3, 0], [3, 3, 3, 3])
    assert (unanimous.rho.value, unanimous.alpha, unanimous.mean.value) == (1.0, None, 0.75)
    assert beta_binomial([3, 3], [3, 3]).rho.reason == "no_variation"
    assert beta_binomial([1, 0], [1, 1]).rho.reason == "no_overlap"
    assert beta_binomial([], []).rho.reason == "no_data"
