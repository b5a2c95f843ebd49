"""A mean or a pass rate from a few labels and many judge verdicts: PPI, PPI++, and the post-stratified rate.

`ppi_mean` takes any numbers (verdicts, vote shares, posteriors); its interval is normal and too narrow with few labels
(measured in benchmarks/coverage.py). `stratified_rate` is for verdicts and a few classes of them: nearly the same
value, and an interval that keeps its level from about 25 labels on. Neither assumes anything of the judge, but the
labelled items must be a random sample of the very items judged (`stratified_rate`: random within each class).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jury.errors import ConfigError
from jury.stats.distributions import beta_quantile, check_level, z_value
from jury.stats.estimate import Estimate, undefined
from jury.stats.intervals import check_counts
from jury.stats.table import FloatArray


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """One mean three ways: `estimate` (PPI++), `ppi` (weight 1), `labels_only` (weight 0); `weight` is PPI++'s."""

    estimate: Estimate
    ppi: Estimate
    labels_only: Estimate
    weight: float | None


def _array(values: Sequence[float], name: str) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ConfigError(f"{name} is a flat list of finite numbers")
    return array


def _weights(weights: Sequence[float] | None, n: int) -> FloatArray:
    if weights is None:
        return np.full(n, 1.0 / n)
    array = _array(weights, "weights")
    if len(array) != n or (array <= 0).any():
        raise ConfigError("sampling weights are positive, one for each label")
    return array / array.sum()


def ppi_mean(
    human: Sequence[float],
    judge: Sequence[float],
    judge_elsewhere: Sequence[float],
    *,
    level: float = 0.95,
    sampling_weights: Sequence[float] | None = None,
) -> PoweredMean:
    """The mean of the human labels over all items, from n labels and the judge's values on N other items.

    `human` and `judge` are of the same n items, `judge_elsewhere` is of the N items without labels. The value is
    w * mean(judge_elsewhere) + mean(human - w * judge), with w = Cov(human, judge) / ((1 + n/N) Var judge) clipped to
    [0, 1] for PPI++. `sampling_weights` (inverse chance of being labelled, up to a factor) undo an unequal draw.
    Fewer than two labels, or no other items: `no_data`. Labels without spread around the judge have no interval
    (`no_variation`). The interval is normal; below about 30 labels or near 0 and 1 use `stratified_rate`.

    Sources: arXiv 2301.09633, 2311.01453.

    >>> human = [1] * 60 + [0] * 40
    >>> judge = [1] * 54 + [0] * 6 + [1] * 7 + [0] * 33
    >>> found = ppi_mean(human, judge, [1] * 640 + [0] * 360)
    >>> print(found.ppi, "|", found.estimate)  # ppi-python 0.2.3: 0.63, 0.553 to 0.707; 0.6205, 0.551 to 0.690
    0.630 [0.553, 0.707] | 0.621 [0.551, 0.690]
    """
    z = z_value(level)
    y, f, g = _array(human, "human"), _array(judge, "judge"), _array(judge_elsewhere, "judge_elsewhere")
    if len(y) != len(f):
        raise ConfigError(f"{len(y)} labels and {len(f)} verdicts are not of the same items")
    if len(y) < 2 or len(g) < 1:
        nothing = undefined("no_data", "needs two labels and judged items without labels", n=len(y), level=level)
        return PoweredMean(nothing, nothing, nothing, None)
    n, total = len(y), len(g)
    w = _weights(sampling_weights, n)
    spread = float(np.var(np.concatenate([f, g])))
    covariance = float((w * (y - float(w @ y)) * (f - float(w @ f))).sum())
    tuned = 0.0 if spread <= 0 else min(1.0, max(0.0, covariance / ((1.0 + n / total) * spread)))

    def mean_with(weight: float) -> Estimate:
        residual = y - weight * f
        centre = float(w @ residual)
        variance = weight**2 * float(np.var(g)) / total + float((w**2 * (residual - centre) ** 2).sum())
        value = weight * float(g.mean()) + centre
        se = math.sqrt(variance)
        if float((w**2 * (residual - centre) ** 2).sum()) < 1e-18:
            return Estimate(value, reason="no_variation", n=n, level=level, note="no judge error among the labels")
        return Estimate(value, value - z * se, value + z * se, n=n, se=se, level=level)

    return PoweredMean(mean_with(tuned), mean_with(1.0), mean_with(0.0), tuned)


def _jeffreys(successes: int, n: int, tail: float) -> tuple[float, float]:
    """Jeffreys' interval of a share, closed at 0 and 1 where all trials agree; [0, 1] without trials."""
    low = 0.0 if successes == 0 else beta_quantile(tail, successes + 0.5, n - successes + 0.5)
    high = 1.0 if successes == n else beta_quantile(1.0 - tail, successes + 0.5, n - successes + 0.5)
    return low, high


def stratified_rate(
    human_pass: Sequence[int], human_n: Sequence[int], items: Sequence[int], *, level: float = 0.95
) -> Estimate:
    """The rate of human PASS over all items, from labels within each class of the judge's verdicts.

    One entry for each class (for a plain judge: its PASS and its FAIL): `human_pass` of `human_n` labelled items
    passed, and the judge put `items` of all items, labelled ones included, into the class. The value is the mean of the
    classes' rates weighed by `items`. Labels must be drawn at random within a class; classes may be sampled unequally,
    so that labels drawn by verdict are fine. A class with items but no labels counts as 1/2 with the interval [0, 1],
    and `note` says so. No labels at all: `no_data`.

    The estimator is Tenenbein's for double sampling (1970, 10.1080/01621459.1970.10481170); the ends join Jeffreys'
    intervals of the classes by the square-and-add rule (Zou and Donner 2008, 10.1002/sim.3095). Coverage:
    benchmarks/coverage.py. `n` counts the labels.

    >>> print(stratified_rate([54, 6], [61, 39], [640 + 61, 360 + 39]))  # by hand: (701 * 54/61 + 399 * 6/39) / 1100
    0.620 [0.547, 0.686]
    """
    tail = (1.0 - check_level(level)) / 2.0
    if not len(human_pass) == len(human_n) == len(items):
        raise ConfigError("human_pass, human_n and items have one entry for each class")
    for passed, n in zip(human_pass, human_n, strict=True):
        check_counts(passed, n)
    total, labels = sum(items), sum(human_n)
    if not labels or not total or any(count < 0 for count in items):
        return undefined("no_data", "needs labels and judged items", n=labels, level=level)
    value = below = above = mean_square = 0.0
    empty = 0
    for passed, n, count in zip(human_pass, human_n, items, strict=True):
        share = count / total
        rate = passed / n if n else 0.5
        low, high = _jeffreys(passed, n, tail) if n else (0.0, 1.0)
        empty += not n and count > 0
        value += share * rate
        mean_square += share * rate * rate
        below += (share * (rate - low)) ** 2
        above += (share * (high - rate)) ** 2
    drawn = z_value(level) ** 2 * max(mean_square - value * value, 0.0) / total  # the judged items are a sample too
    low, high = max(0.0, value - math.sqrt(below + drawn)), min(1.0, value + math.sqrt(above + drawn))
    note = f"{empty} of {len(items)} verdict classes have items but no labels" if empty else ""
    return Estimate(value, low, high, n=labels, level=level, note=note)
