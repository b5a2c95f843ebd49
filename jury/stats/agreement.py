"""How much raters agree: percent agreement, Cohen, Fleiss, Randolph, Gwet, and the matrix of judge pairs.

Krippendorff's alpha and bootstrap intervals are in `alpha.py`. All take ratings as rows of items with one column a
judge (`table.rating_table` says what a rating may be) and return an `Estimate`; `n` counts the items that two or more
judges rated. Undefined (`value` None): one judge (`too_few_raters`), no item rated twice (`no_overlap`), nothing rated
(`no_data`), or chance agreement of 1 (`no_variation`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from jury.errors import ConfigError
from jury.stats.distributions import z_value
from jury.stats.estimate import Estimate, Reason, undefined
from jury.stats.table import Category, FloatArray, Ratings, RatingTable, rating_table

Weights: TypeAlias = Literal["identity", "linear", "quadratic", "ordinal"]
_ALMOST = 1e-12  # a difference of shares below this is rounding


def missing_reason(table: RatingTable) -> Reason | None:
    """Why no agreement can be measured on this table at all, or None."""
    if not table.codes.size or not (table.codes >= 0).any():
        return "no_data"
    if table.n_judges < 2:
        return "too_few_raters"
    return None if ((table.codes >= 0).sum(axis=1) >= 2).any() else "no_overlap"


def agreement_weights(positions: FloatArray, weights: Weights) -> FloatArray:
    """Weights of partial agreement between categories at these positions: 1 on the diagonal, shape (q, q)."""
    q = len(positions)
    gap = np.abs(positions[:, None] - positions[None, :])
    span = float(gap.max()) if q > 1 else 1.0
    if weights == "linear":
        return 1.0 - gap / span
    if weights == "quadratic":
        return 1.0 - (gap / span) ** 2
    if weights == "ordinal":
        rank = np.argsort(np.argsort(positions)).astype(np.float64)
        steps = np.abs(rank[:, None] - rank[None, :])
        return 1.0 - steps * (steps + 1.0) / max(q * (q - 1.0), 1.0)
    if weights == "identity":
        return np.eye(q)
    raise ConfigError(f"weights are identity, linear, quadratic or ordinal, got {weights!r}")


def _weight_matrix(table: RatingTable, weights: Weights, what: str) -> FloatArray:
    if weights == "identity":
        return np.eye(len(table.categories))
    return agreement_weights(table.ordered(what), weights)


def _observed(counts: FloatArray, matrix: FloatArray) -> FloatArray:
    """Weighted share of agreeing pairs, for each item with two or more ratings."""
    rated = counts.sum(axis=1)
    counts, rated = counts[rated >= 2], rated[rated >= 2]
    return (counts * (counts @ matrix - 1.0)).sum(axis=1) / (rated * (rated - 1.0))


def _mean_shares(counts: FloatArray) -> FloatArray:
    """Mean over the rated items of the share of each category."""
    rated = counts.sum(axis=1)
    return (counts[rated > 0] / rated[rated > 0, None]).mean(axis=0)


def percent_agreement(ratings: Ratings, *, pooled: bool = False) -> Estimate:
    """Share of agreeing pairs of judges, in [0, 1].

    The mean over items of an item's own share (Fleiss' P-bar); `pooled` instead takes all pairs together, so that items
    with more ratings weigh more. Items with one rating are left out of both. Defined without variation.

    >>> ratings = [["A", "A", "B"], ["A", None, None], [None, None, "B"]]
    >>> round(percent_agreement(ratings).value, 4)  # by hand: 1 of 3 pairs of the one item with pairs
    0.3333
    """
    table = rating_table(ratings)
    reason = missing_reason(table)
    if reason:
        return undefined(reason)
    counts = table.counts()
    rated = counts.sum(axis=1)
    shares = _observed(counts, np.eye(len(table.categories)))
    if not pooled:
        return Estimate(float(shares.mean()), n=len(shares))
    pairs = (rated * (rated - 1.0))[rated >= 2]
    return Estimate(float((shares * pairs).sum() / pairs.sum()), n=len(shares))


def mean_agreement(ratings: Ratings) -> Estimate:
    """Mean over items of the share of the votes that went to the item's most frequent value, in (0, 1].

    What a panel prints beside a verdict, averaged over items with two or more votes. It is not corrected for chance and
    never below 1 / categories; `percent_agreement` counts pairs instead.

    >>> round(mean_agreement([["A", "A", "B"], ["A", None, None], [None, None, "B"]]).value, 4)  # by hand: 2 of 3
    0.6667
    """
    table = rating_table(ratings)
    reason = missing_reason(table)
    if reason:
        return undefined(reason)
    counts = table.counts()
    rated = counts.sum(axis=1)
    shares = counts[rated >= 2].max(axis=1) / rated[rated >= 2]
    return Estimate(float(shares.mean()), n=len(shares))


def _chance_corrected(observed: float, expected: float, n: int) -> Estimate:
    if 1.0 - expected < _ALMOST:
        return undefined("no_variation", n=n)
    return Estimate((observed - expected) / (1.0 - expected), n=n)


def cohen_kappa(
    first: Sequence[object],
    second: Sequence[object],
    *,
    scale: Sequence[Category] | None = None,
    weights: Weights = "identity",
    level: float = 0.95,
) -> Estimate:
    """Cohen's kappa of two raters, in [-1, 1], with its large-sample interval.

    `first` and `second` hold one rating for each item; only items that both rated count. With `weights` other than
    identity the categories need an order: `scale`, or numbers (then partial agreement follows their distance; a
    declared scale counts ranks). Without disagreement the standard error is 0 and no interval is given. At 30
    items the interval covers about 92% (benchmarks/coverage.py).

    Sources: Cohen 1960 (10.1177/001316446002000104), 1968 (10.1037/h0026256); standard error: Fleiss, Cohen and
    Everitt 1969 (10.1037/h0028106).

    >>> a = [1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 3, 4, 5, 2, 1, 4, 5, 3, 2, 4]
    >>> b = [1, 2, 3, 4, 4, 5, 4, 2, 2, 2, 3, 5, 5, 3, 1, 4, 5, 3, 1, 3]
    >>> print(cohen_kappa(a, b))  # scikit-learn 1.9.1, statsmodels 0.15.0: 0.5611285, 0.2996516 to 0.8226055
    0.561 [0.300, 0.823]
    >>> round(cohen_kappa(a, b, weights="quadratic").value, 7)
    0.9033149
    """
    if len(first) != len(second):
        raise ConfigError(f"two raters of the same items are needed, got {len(first)} and {len(second)} ratings")
    table = rating_table(list(zip(first, second, strict=True)), scale=scale)
    return table_kappa(table, weights=weights, level=level)


def table_kappa(table: RatingTable, *, weights: Weights = "identity", level: float = 0.95) -> Estimate:
    """`cohen_kappa` of a table of two judges; one alone is `too_few_raters`, more are a `ConfigError`."""
    z = z_value(level)
    if table.n_judges > 2:
        raise ConfigError(f"kappa of a pair is of two judges, got {table.n_judges}")
    matrix = _weight_matrix(table, weights, "weighted kappa")
    reason = missing_reason(table)
    if reason:
        return undefined(reason, level=level)
    q = len(table.categories)
    both = table.codes[(table.codes >= 0).all(axis=1)]
    n = len(both)
    joint = np.bincount(both[:, 0] * q + both[:, 1], minlength=q * q).reshape(q, q) / n
    row, column = joint.sum(axis=1), joint.sum(axis=0)
    observed, expected = float((joint * matrix).sum()), float(row @ matrix @ column)
    point = _chance_corrected(observed, expected, n)
    if point.value is None:
        return undefined("no_variation", n=n, level=level)
    kappa = point.value
    spread = matrix - ((matrix @ column)[:, None] + (row @ matrix)[None, :]) * (1.0 - kappa)
    variance = float((joint * spread**2).sum()) - (kappa - expected * (1.0 - kappa)) ** 2
    se = math.sqrt(max(variance, 0.0) / n) / (1.0 - expected)
    if se < _ALMOST:
        return Estimate(kappa, reason="no_variation", n=n, level=level, note="the interval needs some variation")
    low, high = max(-1.0, kappa - z * se), min(1.0, kappa + z * se)
    return Estimate(kappa, low, high, n=n, se=se, level=level)


def fleiss_kappa(ratings: Ratings) -> Estimate:
    """Fleiss' kappa of two or more judges, at most 1; not below -1 where all items have equally many ratings.

    With unequal numbers of ratings the generalised form is used: chance agreement from the mean shares of the items
    with at least one rating, observed agreement from those with two (Gwet, Handbook of Inter-Rater Reliability); with
    equal numbers it is the classical one. `note` says which.

    Source: Fleiss 1971 (10.1037/h0031619).

    >>> round(fleiss_kappa([[1, 1, 1, 2], [2, 2, 3, 2], [3, 3, 3, 3], [1, 2, 2, 2]]).value, 7)  # statsmodels 0.15.0
    0.4216867
    """
    table = rating_table(ratings)
    reason = missing_reason(table)
    if reason:
        return undefined(reason)
    counts = table.counts()
    shares = _observed(counts, np.eye(len(table.categories)))
    equal = len(set(counts.sum(axis=1).tolist())) == 1
    result = _chance_corrected(float(shares.mean()), float((_mean_shares(counts) ** 2).sum()), len(shares))
    note = "" if equal else "generalised form: the items have unequal numbers of ratings"
    return Estimate(result.value, reason=result.reason, n=result.n, note=note)


def _categories(table: RatingTable) -> Reason | None:
    """Measures whose chance agreement counts categories need two of them: one seen and none declared is too little."""
    return "no_variation" if len(table.categories) < 2 else None


def randolph_kappa(ratings: Ratings, *, scale: Sequence[Category] | None = None) -> Estimate:
    """Randolph's free-marginal kappa: chance agreement is 1 / (number of categories); in [-1, 1].

    `scale` declares the categories; without it those seen are counted, and one alone is `no_variation`.

    Source: Randolph 2005 (ERIC ED490661).

    >>> round(randolph_kappa([["P", "P", "P"], ["P", "P", "F"], ["F", "F", "F"]]).value, 7)  # by hand: (7/9 - 1/2) * 2
    0.5555556
    """
    table = rating_table(ratings, scale=scale)
    reason = missing_reason(table) or _categories(table)
    if reason:
        return undefined(reason)
    shares = _observed(table.counts(), np.eye(len(table.categories)))
    return _chance_corrected(float(shares.mean()), 1.0 / len(table.categories), len(shares))


def gwet_ac(ratings: Ratings, *, scale: Sequence[Category] | None = None, weights: Weights = "identity") -> Estimate:
    """Gwet's AC1 (identity weights) or AC2 (others), at most 1: near the plain agreement when one verdict prevails.

    `scale` declares all categories (q in the formula), seen or not; without it those seen are used, and one alone is
    `no_variation`. Weights other than identity need an order: `scale`, or numbers.

    Source: Gwet 2008 (10.1348/000711006X126600).

    >>> paradox = [["P", "P"]] * 92 + [["P", "F"]] * 4 + [["F", "P"]] * 3 + [["F", "F"]]
    >>> round(gwet_ac(paradox).value, 5)  # irrCAC 0.4.4; kappa of the same table is 0.186
    0.92342
    """
    table = rating_table(ratings, scale=scale)
    matrix = _weight_matrix(table, weights, "AC2")
    reason = missing_reason(table) or _categories(table)
    if reason:
        return undefined(reason)
    counts = table.counts()
    q = len(table.categories)
    shares = _mean_shares(counts)
    expected = float(matrix.sum()) / (q * (q - 1.0)) * float((shares * (1.0 - shares)).sum())
    observed = _observed(counts, matrix)
    return _chance_corrected(float(observed.mean()), expected, len(observed))


@dataclass(frozen=True, slots=True)
class PairMatrix:
    """Agreement of each pair of judges: `of(i, j)` for columns i and j; the panel's mean can hide one odd judge."""

    size: int
    pairs: dict[tuple[int, int], Estimate]

    def of(self, i: int, j: int) -> Estimate:
        return self.pairs[min(i, j), max(i, j)]

    def mean_with_others(self, i: int) -> Estimate:
        """Mean of the defined values of judge i with each other judge; `n` counts these judges."""
        values = [v for j in range(self.size) if j != i and (v := self.of(i, j).value) is not None]
        return Estimate(sum(values) / len(values), n=len(values)) if values else undefined("no_overlap")


def pair_matrix(
    ratings: Ratings,
    *,
    stat: Literal["percent", "kappa"] = "kappa",
    scale: Sequence[Category] | None = None,
    weights: Weights = "identity",
) -> PairMatrix:
    """Percent agreement or Cohen's kappa of all pairs of judges (columns).

    >>> matrix = pair_matrix([["P", "P", "F"], ["F", "F", "P"], ["P", "P", "P"]])
    >>> matrix.of(0, 1).value, round(matrix.of(0, 2).value, 3)  # by hand: the same; 1/3 seen against 5/9 by chance
    (1.0, -0.5)
    """
    table = rating_table(ratings, scale=scale)
    pairs: dict[tuple[int, int], Estimate] = {}
    for i in range(table.n_judges):
        for j in range(i + 1, table.n_judges):
            two = table.columns(i, j)
            pairs[i, j] = percent_agreement(two) if stat == "percent" else table_kappa(two, weights=weights)
    return PairMatrix(table.n_judges, pairs)
