from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from jury.errors import ConfigError
from jury.stats import brier_score, cross_fitted, isotonic_map, platt_map
from jury.stats.maps import pool_adjacent

samples = st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0, 1])), min_size=1, max_size=30)


@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 5)), min_size=1, max_size=20))
def test_pooling_against_scipy(pairs: list[tuple[float, int]]) -> None:
    values, weights = np.array([v for v, _ in pairs]), np.array([float(w) for _, w in pairs])
    wanted = isotonic_regression(values, weights=weights).x
    assert pool_adjacent(values, weights) == pytest.approx(wanted, abs=1e-9)


@given(samples)
def test_maps_give_probabilities_and_isotonic_never_falls(pairs: list[tuple[float, int]]) -> None:
    scores, truth = [s for s, _ in pairs], [t for _, t in pairs]
    grid = np.linspace(0, 1, 21)
    for fitted in (platt_map(scores, truth), isotonic_map(scores, truth)):
        values = fitted(grid)
        assert np.isfinite(values).all()
        assert ((values >= 0) & (values <= 1)).all()
    assert (np.diff(isotonic_map(scores, truth)(grid)) >= -1e-12).all()


def overconfident(n: int, seed: int) -> tuple[list[float], list[int]]:
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.05, 0.95, size=n)
    truth = (rng.uniform(size=n) < p).astype(int)
    odds = 3 * np.log(p / (1 - p))  # three times as sure as it should be
    return (1 / (1 + np.exp(-odds))).tolist(), truth.tolist()


@pytest.mark.parametrize("kind", ["platt", "isotonic"])
def test_overconfidence_is_repaired_on_other_items(kind: str) -> None:
    scores, truth = overconfident(1500, 1)
    mended = cross_fitted(scores, truth, seed=1, kind=kind)
    assert brier_score(mended.tolist(), truth).value < brier_score(scores, truth).value - 0.01


def test_platt_finds_the_factor() -> None:
    fitted = platt_map(*overconfident(4000, 2))
    assert fitted.slope == pytest.approx(1 / 3, abs=0.05)
    assert fitted.intercept == pytest.approx(0.0, abs=0.1)


def test_scores_without_variation_give_the_smoothed_rate() -> None:
    fitted = platt_map([0.7, 0.7, 0.7], [1, 1, 0])
    assert fitted.slope == 0.0
    assert fitted([0.1])[0] == pytest.approx((2 * 0.75 + 1 / 3) / 3)


def test_clusters_stay_together() -> None:
    """Copies of an item in other folds would betray its label: with clusters a pure noise score stays noise."""
    rng = np.random.default_rng(4)
    scores = np.repeat(rng.uniform(size=40), 5).tolist()
    truth = np.repeat(rng.integers(0, 2, size=40), 5).tolist()
    names = np.repeat(np.arange(40), 5).tolist()
    apart = cross_fitted(scores, truth, seed=1, kind="isotonic", clusters=names)
    assert all(len({float(p) for p in apart[5 * i : 5 * i + 5]}) == 1 for i in range(40))


def test_wrong_arguments() -> None:
    for scores, truth in (([], []), ([0.5], [2]), ([float("nan")], [1]), ([0.5, 0.6], [1])):
        with pytest.raises(ConfigError):
            platt_map(scores, truth)
    with pytest.raises(ConfigError, match="folds"):
        cross_fitted([0.1, 0.2], [0, 1], seed=1, folds=3)
    with pytest.raises(ConfigError, match="cluster"):
        cross_fitted([0.1, 0.2], [0, 1], seed=1, folds=2, clusters=["a"])
