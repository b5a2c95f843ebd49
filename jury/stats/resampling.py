"""Bootstrap resampling of items or of clusters of items, percentile intervals, and the mean as the plainest use.

Every function takes `seed`: a whole number or a numpy Generator. A replicate of a statistic that is undefined is never
replaced by a number: it is dropped and counted, and with too few left there is no interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from jury.errors import ConfigError
from jury.stats.distributions import check_level
from jury.stats.estimate import Estimate
from jury.stats.table import IntArray

Seed: TypeAlias = int | np.random.Generator
REPLICATES = 2000
_CELLS = 4_000_000  # of one block of index rows: 32 MB


def generator(seed: Seed) -> np.random.Generator:
    """The generator itself, or a new one from a whole number; no seed, no result: it could not be repeated."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise ConfigError(f"seed is a whole number or a numpy Generator, got {seed!r}")
    return np.random.default_rng(int(seed))


def groups_of(clusters: Sequence[object]) -> list[IntArray]:
    """The positions of each cluster, clusters in order of first appearance."""
    found: dict[object, list[int]] = {}
    for position, name in enumerate(clusters):
        found.setdefault(name, []).append(position)
    return [np.array(places, dtype=np.int64) for places in found.values()]


def resamples(
    n: int, *, replicates: int = REPLICATES, seed: Seed, clusters: Sequence[object] | None = None
) -> Iterator[IntArray]:
    """Index arrays of bootstrap samples of n items; with `clusters` (one name for each item) whole clusters are drawn.

    Without clusters every sample has n indices, the rows of one `integers(0, n, size=(replicates, n))`.

    >>> [len(rows) for rows in resamples(4, replicates=2, seed=1)]
    [4, 4]
    """
    if n < 1 or replicates < 1:
        raise ConfigError(f"a bootstrap needs items and replicates, got {n} and {replicates}")
    rng = generator(seed)
    groups: list[IntArray] | None = None
    if clusters is not None:
        if len(clusters) != n:
            raise ConfigError(f"{len(clusters)} cluster names for {n} items")
        groups = groups_of(clusters)
    units = n if groups is None else len(groups)
    block = max(1, _CELLS // units)
    for start in range(0, replicates, block):
        drawn: IntArray = rng.integers(0, units, size=(min(block, replicates - start), units))
        for row in drawn:
            picked: list[int] = row.tolist()
            yield row if groups is None else np.concatenate([groups[g] for g in picked])


def percentile_interval(values: Sequence[float], level: float) -> tuple[float, float]:
    """Linear-interpolation quantiles that leave (1 - level) / 2 on each side."""
    tail = (1.0 - check_level(level)) / 2.0
    low, high = np.quantile(np.asarray(values, dtype=np.float64), [tail, 1.0 - tail])
    return float(low), float(high)


def bootstrap(
    statistic: Callable[[IntArray], float | None],
    n: int,
    *,
    seed: Seed,
    replicates: int = REPLICATES,
    level: float = 0.95,
    clusters: Sequence[object] | None = None,
) -> Estimate:
    """Percentile interval of any statistic of n items.

    `statistic` gets the indices of a sample (with repetition) and returns a finite number, or None where it is
    undefined. `value` is the statistic of the items as they are. Undefined replicates are dropped and counted in
    `note`; if fewer than half are left there is no interval (`too_few_replicates`), and none either if all replicates
    are equal (`no_variation`): a width of zero would claim certainty. Below 20 items or clusters `note` says so.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13.

    >>> values = np.array([1.0, 2.0, 3.0, 4.0])
    >>> print(bootstrap(lambda rows: float(values[rows].mean()), 4, seed=3))
    2.500 [1.500, 3.500]
    """
    check_level(level)
    point = statistic(np.arange(n, dtype=np.int64)) if n else None
    if point is None:
        return Estimate(None, reason="no_data", level=level, note="the statistic is undefined on the whole sample")
    drawn = [statistic(rows) for rows in resamples(n, replicates=replicates, seed=seed, clusters=clusters)]
    values = [v for v in drawn if v is not None and math.isfinite(v)]
    units = n if clusters is None else len(set(clusters))
    notes = [f"only {units} independent units"] if units < 20 else []
    if len(values) < len(drawn):
        notes.append(f"{len(drawn) - len(values)} of {len(drawn)} replicates were undefined and dropped")
    note = "; ".join(notes)
    if 2 * len(values) < len(drawn) or not values:
        return Estimate(point, reason="too_few_replicates", n=n, level=level, note=note)
    low, high = percentile_interval(values, level)
    if low == high or max(values) - min(values) < 1e-12:
        return Estimate(point, reason="no_variation", n=n, level=level, note=note)
    return Estimate(point, low, high, n=n, se=float(np.std(values, ddof=1)), level=level, note=note)


def bootstrap_mean(
    values: Sequence[float],
    *,
    seed: Seed,
    level: float = 0.95,
    replicates: int = REPLICATES,
    clusters: Sequence[object] | None = None,
) -> Estimate:
    """A mean with a percentile bootstrap interval over values, or over `clusters` of values.

    Equal values have a mean but no interval (`no_variation`): resampling them would give a width of zero. For shares of
    0 and 1 Wilson's interval is better. No values are `no_data`; NaN is a `ConfigError`.

    >>> print(bootstrap_mean([0.2, 0.4, 0.4, 0.9, 1.0], seed=7))
    0.580 [0.320, 0.860]
    >>> bootstrap_mean([1, 1, 1], seed=7).interval is None
    True
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ConfigError("values are a flat list of finite numbers")

    def statistic(rows: IntArray) -> float:
        return float(array[rows].mean())

    return bootstrap(statistic, len(array), seed=seed, replicates=replicates, level=level, clusters=clusters)
