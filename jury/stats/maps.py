"""Maps that turn a score (vote share, posterior) into the probability that people would say PASS: Platt, isotonic.

A map must be judged on items it was not fitted on: `cross_fitted` gives such predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from jury.errors import ConfigError
from jury.stats.logistic import fit_logistic
from jury.stats.resampling import Seed, generator, groups_of
from jury.stats.table import FloatArray, IntArray
from jury.stats.tie_models import logistic

_EDGE = 0.005  # scores of exactly 0 and 1 have no logit


def _logit(scores: FloatArray) -> FloatArray:
    inside = np.clip(scores, _EDGE, 1.0 - _EDGE)
    return np.log(inside / (1.0 - inside))


def _checked(
    scores: Sequence[float] | FloatArray, truth: Sequence[float] | FloatArray
) -> tuple[FloatArray, FloatArray]:
    x, y = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape or not len(x):
        raise ConfigError("a map needs scores and truths of the same items, at least one")
    if not np.isfinite(x).all() or not ((y >= 0) & (y <= 1)).all():
        raise ConfigError("scores are finite and truths lie in [0, 1]")
    return x, y


@dataclass(frozen=True, slots=True)
class PlattMap:
    """p = logistic(intercept + slope * logit(score)); `regularised` where the truths were separated by the score."""

    intercept: float
    slope: float
    regularised: bool

    def __call__(self, scores: Sequence[float] | FloatArray) -> FloatArray:
        return logistic(self.intercept + self.slope * _logit(np.asarray(scores, dtype=np.float64)))


def platt_map(scores: Sequence[float] | FloatArray, truth: Sequence[float] | FloatArray) -> PlattMap:
    """Platt's map for scores in [0, 1], with his targets (N+ + 1)/(N+ + 2) and 1/(N- + 2), which keep it finite.

    Good from about 25 labels on. Scores without variation give the smoothed rate. A slope below 0 (higher scores are
    less often right) is not hidden: look at it before use.

    Source: Platt 1999, Probabilistic outputs for support vector machines.

    >>> fitted = platt_map([0.2, 0.4, 0.6, 0.8, 0.9, 0.3], [0, 1, 0, 1, 1, 0])
    >>> fitted.slope > 0, bool((np.diff(fitted([0.1, 0.5, 0.9])) > 0).all())
    (True, True)
    """
    x, y = _checked(scores, truth)
    passed = float(y.sum())
    high, low = (passed + 1.0) / (passed + 2.0), 1.0 / (len(y) - passed + 2.0)
    target = y * high + (1.0 - y) * low
    logits = _logit(x)
    if float(logits.std()) < 1e-9:
        fit = fit_logistic(np.ones((len(x), 1)), target)
        return PlattMap(float(fit.coefficients[0]), 0.0, bool(fit.ridge))
    fit = fit_logistic(np.column_stack([np.ones(len(x)), logits]), target)
    return PlattMap(float(fit.coefficients[0]), float(fit.coefficients[1]), bool(fit.ridge))


@dataclass(frozen=True, slots=True)
class IsotonicMap:
    """A step-free increasing map: linear between `points`, flat beyond them; values are kept inside (0, 1)."""

    points: FloatArray
    values: FloatArray

    def __call__(self, scores: Sequence[float] | FloatArray) -> FloatArray:
        return np.interp(np.asarray(scores, dtype=np.float64), self.points, self.values)


def pool_adjacent(values: FloatArray, weights: FloatArray) -> FloatArray:
    """The closest non-decreasing sequence in weighted squares (pool adjacent violators).

    >>> pool_adjacent(np.array([1.0, 3.0, 2.0, 4.0]), np.ones(4)).tolist()  # by hand
    [1.0, 2.5, 2.5, 4.0]
    """
    means: list[float] = []
    totals: list[float] = []
    sizes: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        means, totals, sizes = [*means, value], [*totals, weight], [*sizes, 1]
        while len(means) > 1 and means[-2] >= means[-1]:
            total = totals[-2] + totals[-1]
            means[-2:] = [(means[-2] * totals[-2] + means[-1] * totals[-1]) / total]
            totals[-2:], sizes[-2:] = [total], [sizes[-2] + sizes[-1]]
    return np.repeat(np.array(means, dtype=np.float64), sizes)


def isotonic_map(scores: Sequence[float] | FloatArray, truth: Sequence[float] | FloatArray) -> IsotonicMap:
    """An increasing map without a form of its own; better than Platt's from some hundred labels on.

    Each level is smoothed as (passed + 0.5) / (n + 1), so that no block claims certainty.

    Source: Zadrozny and Elkan 2002 (10.1145/775047.775151).

    >>> fitted = isotonic_map([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    >>> fitted([0.1, 0.9]).round(3).tolist()  # by hand: 0.5 / 3 and 2.5 / 3
    [0.167, 0.833]
    """
    x, y = _checked(scores, truth)
    points, index = np.unique(x, return_inverse=True)
    weights = np.bincount(index).astype(np.float64)
    rates = np.bincount(index, weights=y) / weights
    level = pool_adjacent(rates, weights)
    _, block = np.unique(level, return_inverse=True)
    n, passed = np.bincount(block, weights=weights), np.bincount(block, weights=weights * rates)
    smooth = (passed + 0.5) / (n + 1.0)
    return IsotonicMap(points, np.maximum.accumulate(smooth[block]))


def cross_fitted(
    scores: Sequence[float] | FloatArray,
    truth: Sequence[float] | FloatArray,
    *,
    seed: Seed,
    kind: Literal["platt", "isotonic"] = "platt",
    folds: int = 5,
    clusters: Sequence[object] | None = None,
) -> FloatArray:
    """Predictions for the same items, each from a map fitted without its fold; whole `clusters` share a fold.

    >>> scores, truth = [0.1, 0.3, 0.7, 0.9] * 5, [0, 0, 1, 1] * 5
    >>> bool((cross_fitted(scores, truth, seed=1)[2:4] > 0.5).all())
    True
    """
    x, y = _checked(scores, truth)
    if clusters is not None and len(clusters) != len(x):
        raise ConfigError("one cluster name for each item")
    units: list[IntArray] = groups_of(clusters) if clusters is not None else groups_of(range(len(x)))
    if not 2 <= folds <= len(units):
        raise ConfigError(f"{folds} folds of {len(units)} independent units")
    fit = platt_map if kind == "platt" else isotonic_map
    order: list[int] = generator(seed).permutation(len(units)).tolist()
    predicted = np.empty(len(x), dtype=np.float64)
    for fold in range(folds):
        held = np.concatenate([units[u] for u in order[fold::folds]])
        rest = np.setdiff1d(np.arange(len(x)), held)
        predicted[held] = fit(x[rest], y[rest])(x[held])
    return predicted
