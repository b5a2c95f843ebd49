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
from jury.stats.distributions import z_value
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


def _lowered(hits: float, trials: float, pull: float) -> float:
    """Where the log-likelihood of a share, hits * log p + (trials - hits) * log(1 - p), falls with slope `pull`."""
    both = trials + pull
    return 2.0 * hits / (both + math.sqrt(max(both * both - 4.0 * pull * hits, 0.0)))


def _fall(hits: float, trials: float, share: float) -> float:
    """How far the log-likelihood is below its top at `share`."""
    top, left = hits / trials, trials - hits
    fall = hits * math.log(top / share) if hits > 0 else 0.0
    return fall + (left * math.log((1.0 - top) / (1.0 - share)) if left > 0 else 0.0)


_FARTHEST = math.log(1e12)  # there the shares are as good as 0


def _depth(hits: Sequence[float], trials: Sequence[float], shares: Sequence[float], z: float) -> float:
    """How far below its top the weighed rate can lie before the profile likelihood ratio exceeds z squared.

    The log of the ratio is nearly a line in the log of the pull, so that false position (with Illinois' halving) takes
    a few steps from the pull that a normal likelihood would have.
    """
    classes = list(zip(hits, trials, shares, strict=True))
    variance = sum(share * share * x * (n - x) / n**3 for x, n, share in classes)
    if variance <= 0.0:
        return 0.0

    def ends(at: float) -> list[float]:
        pull = math.exp(at)
        return [_lowered(x, n, pull * share) for x, n, share in classes]

    def excess(at: float) -> float:
        fall = sum(_fall(x, n, end) for (x, n, _), end in zip(classes, ends(at), strict=True))
        return math.log(max(2.0 * fall, 1e-300) / (z * z))

    low = high = math.log(z / math.sqrt(variance))
    below = above = excess(low)
    while below > 0.0:
        low -= 1.0
        below = excess(low)
    while above < 0.0 and high < _FARTHEST:
        high += 1.0
        above = excess(high)
    at, side = high if above <= 0.0 else low, 0
    while high - low > 1e-12 * max(1.0, abs(high)) and above > 0.0 > below:
        at = (low * above - high * below) / (above - below)
        found = excess(at)
        if abs(found) < 1e-12:
            break
        if found < 0.0:
            low, below, above, side = at, found, above / 2.0 if side < 0 else above, -1
        else:
            high, above, below, side = at, found, below / 2.0 if side > 0 else below, 1
    return sum(share * (x / n - end) for (x, n, share), end in zip(classes, ends(at), strict=True))


def stratified_rate(
    human_pass: Sequence[int], human_n: Sequence[int], items: Sequence[int], *, level: float = 0.95
) -> Estimate:
    """The rate of human PASS over all items, from labels within each class of the judge's verdicts.

    One entry for each class (for a plain judge: its PASS and its FAIL): `human_pass` of `human_n` labelled items
    passed, and the judge put `items` of all items, labelled ones included, into the class. The value is the mean of the
    classes' rates weighed by `items`. Labels must be drawn at random within a class; classes may be sampled unequally,
    so that labels drawn by verdict are fine. A class with items but no labels counts as 1/2 with the interval [0, 1],
    and `note` says so. No labels at all: `no_data`.

    The estimator is Tenenbein's for double sampling (1970, 10.1080/01621459.1970.10481170). The interval holds the
    rates that a profile likelihood ratio test does not reject, after one label more in each class: of two classes it
    agrees with the verdict as far as labels and verdicts agree in both together, else it is half PASS, half FAIL. What
    the draw of the judged items adds is joined by the square-and-add rule (Zou and Donner 2008, 10.1002/sim.3095).
    Coverage: benchmarks/coverage.py. `n` counts the labels.

    >>> print(stratified_rate([54, 6], [61, 39], [640 + 61, 360 + 39]))  # by hand: (701 * 54/61 + 399 * 6/39) / 1100
    0.620 [0.547, 0.687]
    >>> found = stratified_rate([18], [20], [1000])  # scipy 1.17.1 (brentq): 0.7012298 to 0.9736696
    >>> round(found.low, 7), round(found.high, 7)
    (0.7012298, 0.9736696)
    """
    z = z_value(level)
    if not len(human_pass) == len(human_n) == len(items):
        raise ConfigError("human_pass, human_n and items have one entry for each class")
    for passed, n in zip(human_pass, human_n, strict=True):
        check_counts(passed, n)
    total, labels = sum(items), sum(human_n)
    if not labels or not total or any(count < 0 for count in items):
        return undefined("no_data", "needs labels and judged items", n=labels, level=level)
    classes = list(zip(human_pass, human_n, [count / total for count in items], strict=True))
    same = (human_pass[0] + human_n[1] - human_pass[1] + 0.5) / (labels + 1.0) if len(classes) == 2 else 0.5
    seen = [(k + (1.0 - same if at == 1 else same), n + 1.0, s) for at, (k, n, s) in enumerate(classes) if n]
    hits, trials, shares = (list(column) for column in zip(*seen, strict=True))
    empty = [share for _, n, share in classes if not n and share]
    rates = [(x / n, share) for x, n, share in seen] + [(0.5, share) for share in empty]
    centre = sum(rate * share for rate, share in rates)
    drawn = z * z * max(sum(rate * rate * share for rate, share in rates) - centre * centre, 0.0) / total
    unknown = sum((share / 2.0) ** 2 for share in empty)
    below = _depth(hits, trials, shares, z)
    above = _depth([n - x for x, n in zip(hits, trials, strict=True)], trials, shares, z)
    value = sum((k / n if n else 0.5) * share for k, n, share in classes)
    low = max(0.0, min(value, centre - math.sqrt(below * below + drawn + unknown)))
    high = min(1.0, max(value, centre + math.sqrt(above * above + drawn + unknown)))
    note = f"{len(empty)} of {len(items)} verdict classes have items but no labels" if empty else ""
    return Estimate(value, low, high, n=labels, level=level, note=note)
