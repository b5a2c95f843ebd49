"""Are the stated probabilities true? Brier score, log loss, calibration error, reliability table, coverage.

All take probabilities and outcomes of the same items. For a verdict of two sides `p` is the probability of PASS and
`truth` whether people said PASS; for more labels use `confidence_error` with the confidence in the chosen label and
whether it was right. Maps that repair probabilities are in `maps.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jury.errors import ConfigError
from jury.stats.estimate import Estimate, undefined
from jury.stats.intervals import wilson
from jury.stats.resampling import Seed, bootstrap
from jury.stats.table import FloatArray, IntArray


def check_probabilities(p: Sequence[float], truth: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """Both as arrays; `ConfigError` unless probabilities lie in [0, 1], truths are 0 or 1, and lengths agree."""
    chance, outcome = np.asarray(p, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if chance.shape != outcome.shape or chance.ndim != 1:
        raise ConfigError("probabilities and truths are flat lists of the same items")
    if not ((chance >= 0) & (chance <= 1)).all() or not ((outcome == 0) | (outcome == 1)).all():
        raise ConfigError("probabilities lie in [0, 1] and truths are 0 or 1")
    return chance, outcome


def _mean(values: FloatArray, seed: Seed | None) -> Estimate:
    if not len(values):
        return undefined("no_data")
    if seed is None:
        return Estimate(float(values.mean()), n=len(values))

    def statistic(rows: IntArray) -> float:
        return float(values[rows].mean())

    return bootstrap(statistic, len(values), seed=seed)


def brier_score(p: Sequence[float], truth: Sequence[float], *, seed: Seed | None = None) -> Estimate:
    """Mean squared error of the probabilities, in [0, 1], 0 is best: the headline, since it is proper.

    With a `seed`, a bootstrap interval over items. No items: `no_data`.

    Source: Brier 1950 (10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2).

    >>> round(brier_score([0.9, 0.6, 0.2], [1, 0, 0]).value, 6)  # by hand: (0.01 + 0.36 + 0.04) / 3
    0.136667
    """
    chance, outcome = check_probabilities(p, truth)
    return _mean((chance - outcome) ** 2, seed)


def log_loss(p: Sequence[float], truth: Sequence[float]) -> Estimate:
    """Mean of -log of the probability given to what happened, in nats, 0 is best.

    A probability of exactly 0 for what happened makes it infinite: `no_finite_estimate`, never a clipped number.

    >>> round(log_loss([0.9, 0.6], [1, 0]).value, 6)  # by hand: -(log 0.9 + log 0.4) / 2
    0.510826
    >>> log_loss([0.0], [1]).reason
    'no_finite_estimate'
    """
    chance, outcome = check_probabilities(p, truth)
    if not len(chance):
        return undefined("no_data")
    given = np.where(outcome == 1, chance, 1.0 - chance)
    impossible = int((given <= 0).sum())
    if impossible:
        return undefined("no_finite_estimate", f"{impossible} outcomes were called impossible", n=len(chance))
    return Estimate(float(-np.log(given).mean()), n=len(chance))


def confidences(p: Sequence[float], truth: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """Confidence max(p, 1-p) of the verdict "PASS if p >= 0.5", and whether that verdict was right (1 or 0).

    >>> sure, right = confidences([0.9, 0.25], [1, 1])
    >>> sure.tolist(), right.tolist()
    ([0.9, 0.75], [1.0, 0.0])
    """
    chance, outcome = check_probabilities(p, truth)
    return np.maximum(chance, 1.0 - chance), ((chance >= 0.5) == (outcome == 1)).astype(np.float64)


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Items whose confidence lies in (low, high]: how many, their mean confidence, and how often they were right."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: Estimate

    @property
    def gap(self) -> float:
        """Mean confidence minus accuracy: above 0 is overconfident."""
        return self.confidence - (self.accuracy.value or 0.0)


def _bin_of(confidence: FloatArray, bins: int) -> IntArray:
    """Bin number of (lo, hi] bins; an edge such as 0.3 belongs to the bin below it in spite of rounding."""
    return np.clip(np.ceil(confidence * bins - 1e-9).astype(np.int64) - 1, 0, bins - 1)


def reliability_table(
    confidence: Sequence[float] | FloatArray, correct: Sequence[float] | FloatArray, *, bins: int = 10
) -> tuple[ReliabilityBin, ...]:
    """Bins of equal width with at least one item, lowest first; accuracies have Wilson's interval.

    >>> table = reliability_table([0.95, 0.91, 0.62], [1, 0, 1])
    >>> [(b.low, b.n, round(b.confidence, 2), b.accuracy.value) for b in table]
    [(0.6, 1, 0.62, 1.0), (0.9, 2, 0.93, 0.5)]
    """
    sure, right = check_probabilities(list(confidence), list(correct))
    place = _bin_of(sure, bins)
    table: list[ReliabilityBin] = []
    for b in sorted(set(place.tolist())):
        inside = place == b
        accuracy = wilson(int(right[inside].sum()), int(inside.sum()))
        table.append(ReliabilityBin(b / bins, (b + 1) / bins, int(inside.sum()), float(sure[inside].mean()), accuracy))
    return tuple(table)


def _calibration_error(sure: FloatArray, right: FloatArray, bins: int) -> float:
    gaps = np.bincount(_bin_of(sure, bins), weights=sure - right, minlength=bins)
    return float(np.abs(gaps).sum()) / len(sure)


def confidence_error(
    confidence: Sequence[float] | FloatArray,
    correct: Sequence[float] | FloatArray,
    *,
    bins: int = 10,
    seed: Seed | None = None,
) -> Estimate:
    """Expected calibration error (ECE): mean gap of confidence and accuracy over `bins` (lo, hi] of equal width.

    In [0, 1], 0 is best. It is biased upwards on few items: with a `seed` a bootstrap interval over items comes along.

    Source: arXiv 1706.04599.

    >>> sure, right = confidences([0.9, 0.8, 0.1, 0.3], [1, 0, 0, 0])
    >>> round(confidence_error(sure, right).value, 6)  # by hand: (0.2 + 0.8 + 0.3) / 4
    0.325
    """
    sure, right = check_probabilities(list(confidence), list(correct))
    if bins < 1:
        raise ConfigError("at least one bin")
    if not len(sure):
        return undefined("no_data")
    if seed is None:
        return Estimate(_calibration_error(sure, right, bins), n=len(sure))

    def statistic(rows: IntArray) -> float:
        return _calibration_error(sure[rows], right[rows], bins)

    return bootstrap(statistic, len(sure), seed=seed)


@dataclass(frozen=True, slots=True)
class ConfidencePoint:
    """Items with at least this confidence: their share of all, and how often they were right."""

    threshold: float
    coverage: Estimate
    accuracy: Estimate


def coverage_and_accuracy(
    confidence: Sequence[float] | FloatArray,
    correct: Sequence[float] | FloatArray,
    thresholds: Sequence[float] = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95),
) -> tuple[ConfidencePoint, ...]:
    """What keeping only the confident verdicts buys: coverage against accuracy, each with Wilson's interval.

    >>> point = coverage_and_accuracy([0.95, 0.91, 0.62], [1, 0, 1], [0.9])[0]
    >>> round(point.coverage.value, 3), point.accuracy.value
    (0.667, 0.5)
    """
    sure, right = check_probabilities(list(confidence), list(correct))
    points: list[ConfidencePoint] = []
    for threshold in thresholds:
        kept = sure >= threshold - 1e-12
        count = int(kept.sum())
        points.append(ConfidencePoint(threshold, wilson(count, len(sure)), wilson(int(right[kept].sum()), count)))
    return tuple(points)


def mean_confidence(confidence: Sequence[float] | FloatArray) -> Estimate:
    """The accuracy that the probabilities claim; `no_data` without items.

    >>> mean_confidence([0.9, 0.7]).value  # by hand
    0.8
    """
    values = np.asarray(confidence, dtype=np.float64)
    if not len(values):
        return undefined("no_data")
    return Estimate(math.fsum(values.tolist()) / len(values), n=len(values))
