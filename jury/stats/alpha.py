"""Krippendorff's alpha for nominal, ordinal and interval ratings, and bootstrap intervals of any measure of agreement.

All of it works on counts by item and category, so that the cost grows with the ratings and not with their pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from jury.errors import ConfigError
from jury.stats.agreement import missing_reason
from jury.stats.estimate import Estimate, undefined
from jury.stats.resampling import REPLICATES, Seed, bootstrap
from jury.stats.table import Category, FloatArray, IntArray, Ratings, RatingTable, rating_table

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]


def _squares(counts: FloatArray, rated: FloatArray, places: FloatArray) -> tuple[float, float]:
    """Observed and expected disagreement for the distance (a - b)^2 between places on a line.

    Twice the sum over pairs of (a - b)^2 is 2 (m * sum of squares - square of sum): no pair is ever formed.
    """
    total = float(rated.sum())
    places = places - float((counts.sum(axis=0) @ places) / total)  # else large equal offsets cancel badly
    sums, squares = counts @ places, counts @ places**2
    observed = float((2.0 * (rated * squares - sums**2) / (rated - 1.0)).sum()) / total
    expected = 2.0 * (total * float(squares.sum()) - float(sums.sum()) ** 2) / (total * (total - 1.0))
    return max(observed, 0.0), expected


def alpha_of_counts(counts: FloatArray, level: Level, places: FloatArray | None) -> float | None:
    """Alpha of counts by item and category; None where expected disagreement is 0.

    `places` are the categories' numbers for `interval`, any numbers in their order for `ordinal` (None: as they stand).
    """
    rated = counts.sum(axis=1)
    counts, rated = counts[rated >= 2], rated[rated >= 2]
    margins = counts.sum(axis=0)
    if (margins > 0).sum() < 2:
        return None
    if level == "nominal":
        total = float(rated.sum())
        observed = float((((rated**2) - (counts**2).sum(axis=1)) / (rated - 1.0)).sum()) / total
        expected = (total**2 - float((margins**2).sum())) / (total * (total - 1.0))
        return 1.0 - observed / expected
    line = np.arange(len(margins), dtype=np.float64) if places is None else places
    if level == "ordinal":
        # The ordinal distance between two categories is the squared gap of their mean ranks among all values.
        order = np.argsort(line, kind="stable")
        ranked = margins[order]
        line = np.empty_like(ranked)
        line[order] = np.cumsum(ranked) - ranked / 2.0
    observed, expected = _squares(counts, rated, line)
    return 1.0 - observed / expected


def _places(table: RatingTable, level: Level) -> FloatArray | None:
    if level == "nominal":
        return None
    if level == "ordinal":
        return table.ordered("ordinal alpha")
    if level == "interval":
        return table.numbers("interval alpha")
    raise ConfigError(f"the level of measurement is nominal, ordinal or interval, got {level!r}")


def krippendorff_alpha(
    ratings: Ratings, *, level: Level = "nominal", scale: Sequence[Category] | None = None
) -> Estimate:
    """Krippendorff's alpha of two or more judges, at most 1; 0 is chance, below 0 systematic disagreement.

    Items with one rating drop out; the others count whoever rated them. `level="ordinal"` needs an order (`scale`, or
    numbers), `"interval"` needs numbers. One value in the whole table is `no_variation`; 22 equal ratings and one other
    is a plain 0.

    Source: Krippendorff, Content Analysis, chapter 12; the data are his published example (nominal: 904/1216).

    >>> a = [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None]
    >>> b = [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3]
    >>> c = [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None]
    >>> d = [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None]
    >>> ratings = list(zip(a, b, c, d))
    >>> [round(krippendorff_alpha(ratings, level=level).value, 3) for level in ("nominal", "ordinal", "interval")]
    [0.743, 0.815, 0.849]
    """
    table = rating_table(ratings, scale=scale)
    places = _places(table, level) if table.categories else None
    reason = missing_reason(table)
    if reason:
        return undefined(reason)
    counts = table.counts()
    n = int((counts.sum(axis=1) >= 2).sum())
    value = alpha_of_counts(counts, level, places)
    return undefined("no_variation", n=n) if value is None else Estimate(value, n=n)


def alpha_interval(
    ratings: Ratings,
    *,
    seed: Seed,
    level: Level = "nominal",
    clusters: Sequence[object] | None = None,
    replicates: int = REPLICATES,
    confidence: float = 0.95,
) -> Estimate:
    """`krippendorff_alpha` with a percentile interval over items, or over `clusters` of items (sessions, templates).

    Items are drawn, never single ratings. A declared scale comes in through `rating_table(ratings, scale=...)`.
    Undefined replicates are dropped and counted in `note`.

    >>> ratings = [["P", "P"], ["P", "F"], ["F", "F"], ["P", "P"], ["F", "F"], ["F", "P"]]
    >>> interval = alpha_interval(ratings, seed=7)
    >>> round(interval.value, 3), interval.n  # by hand: 1 - (4/12) / (72/132)
    (0.389, 6)
    """
    table = rating_table(ratings)
    point = krippendorff_alpha(table, level=level)
    if point.value is None:
        return Estimate(None, reason=point.reason, n=point.n, level=confidence)
    counts, places = table.counts(), _places(table, level)

    def statistic(rows: IntArray) -> float | None:
        return alpha_of_counts(counts[rows], level, places)

    drawn = bootstrap(statistic, len(counts), seed=seed, replicates=replicates, level=confidence, clusters=clusters)
    ends = (drawn.low, drawn.high)
    return Estimate(point.value, *ends, reason=drawn.reason, n=point.n, se=drawn.se, level=confidence, note=drawn.note)


def agreement_interval(
    ratings: Ratings,
    measure: Callable[[RatingTable], Estimate],
    *,
    seed: Seed,
    clusters: Sequence[object] | None = None,
    replicates: int = REPLICATES,
    confidence: float = 0.95,
) -> Estimate:
    """A percentile interval over items (or clusters) for any measure of agreement, given as a function of the table.

    >>> from jury.stats.agreement import percent_agreement
    >>> ratings = [["P", "P"], ["P", "F"], ["F", "F"], ["P", "P"]]
    >>> print(agreement_interval(ratings, percent_agreement, seed=7))
    0.750 [0.250, 1.000]
    """
    table = rating_table(ratings)
    point = measure(table)
    if point.value is None:
        return Estimate(None, reason=point.reason, n=point.n, level=confidence)

    def statistic(rows: IntArray) -> float | None:
        return measure(RatingTable(table.codes[rows], table.categories, table.positions, table.declared)).value

    drawn = bootstrap(
        statistic, len(table.codes), seed=seed, replicates=replicates, level=confidence, clusters=clusters
    )
    ends = (drawn.low, drawn.high)
    return Estimate(point.value, *ends, reason=drawn.reason, n=point.n, se=drawn.se, level=confidence, note=drawn.note)
