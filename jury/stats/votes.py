"""How many independent votes a panel is worth, and what a count of votes says about the next judge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jury.errors import ConfigError
from jury.stats.distributions import beta_cdf, beta_quantile, check_level
from jury.stats.estimate import Estimate, Reason, undefined
from jury.stats.intervals import check_counts
from jury.stats.resampling import REPLICATES, Seed, bootstrap
from jury.stats.table import Category, FloatArray, IntArray, Ratings, is_missing, rating_table


def effective_votes(judges: int, correlation: float) -> Estimate:
    """Number of independent votes that `judges` with this mean pairwise correlation of errors are worth.

    k / (1 + (k - 1) rho), from 1 (rho = 1) to k (rho = 0); more than k for a negative rho, and `no_finite_estimate`
    where rho <= -1 / (k - 1).

    Source: Kish's design effect; for judges arXiv 2605.29800.

    >>> round(effective_votes(9, 0.4).value, 4)  # by hand: 9 / 4.2
    2.1429
    """
    if judges < 1 or not -1.0 <= correlation <= 1.0:
        raise ConfigError(f"needs a judge and a correlation in [-1, 1], got {judges} and {correlation}")
    inflation = 1.0 + (judges - 1) * correlation
    if inflation <= 1e-12:
        return undefined("no_finite_estimate", n=judges)
    return Estimate(judges / inflation, n=judges)


@dataclass(frozen=True, slots=True)
class PanelWorth:
    """How alike judges err. `correlation` is the mean over the pairs of judges, `pairs` has each pair (None: a judge
    without variation, or fewer than two common items); `votes` is `effective_votes` at the mean.
    """

    correlation: Estimate
    votes: Estimate
    pairs: dict[tuple[int, int], float | None]


def _pair_correlations(wrong: FloatArray) -> dict[tuple[int, int], float | None]:
    """Pearson correlations of the columns over their common rows; NaN is missing."""
    known = np.isfinite(wrong)
    filled, mask = np.where(known, wrong, 0.0), known.astype(np.float64)
    n, sums, squares = mask.T @ mask, filled.T @ mask, (filled**2).T @ mask
    products = filled.T @ filled
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = products / n - sums * sums.T / n**2
        variance = squares / n - (sums / n) ** 2
        correlation = covariance / np.sqrt(variance * variance.T)
    usable = (n >= 2) & (variance > 1e-12) & (variance.T > 1e-12)
    judges = len(n)
    return {
        (i, j): float(np.clip(correlation[i, j], -1.0, 1.0)) if usable[i, j] else None
        for i in range(judges)
        for j in range(i + 1, judges)
    }


def _mean_correlation(wrong: FloatArray) -> float | None:
    values = [v for v in _pair_correlations(wrong).values() if v is not None]
    return sum(values) / len(values) if values else None


def panel_worth(
    ratings: Ratings,
    truth: Sequence[Category | None],
    *,
    seed: Seed | None = None,
    clusters: Sequence[object] | None = None,
    replicates: int = REPLICATES,
) -> PanelWorth:
    """Correlation of the judges' errors against `truth` (one label for each item, None: unknown), and what it costs.

    An error is a vote that differs from the truth. With a `seed` both numbers have a bootstrap interval over items (or
    `clusters` of items). One judge: `too_few_raters`; no pair with variation in common: `no_variation`; no labelled
    item: `no_data`.

    >>> votes = [["P", "P"], ["F", "F"], ["P", "F"], ["P", "P"]]
    >>> worth = panel_worth(votes, ["P", "P", "P", "F"])  # by hand: errors 0101 and 0111, correlation 0.577
    >>> round(worth.correlation.value, 3), round(worth.votes.value, 3)
    (0.577, 1.268)
    """
    table = rating_table(ratings)
    if len(truth) != len(table.codes):
        raise ConfigError(f"{len(truth)} labels for {len(table.codes)} items")
    places: dict[tuple[bool, object], int] = {(type(c) is bool, c): k for k, c in enumerate(table.categories)}
    known = [-2 if is_missing(t) else places.get((type(t) is bool, t), -3) for t in truth]
    labels = np.array(known, dtype=np.int64)
    usable = labels != -2
    wrong = np.where(table.codes >= 0, table.codes != labels[:, None], np.nan)[usable]
    if table.n_judges < 2 or not len(wrong):
        reason: Reason = "no_data" if not len(wrong) else "too_few_raters"
        return PanelWorth(undefined(reason), undefined(reason), {})
    pairs, mean = _pair_correlations(wrong), _mean_correlation(wrong)
    if mean is None:
        nothing = undefined("no_variation", n=len(wrong))
        return PanelWorth(nothing, nothing, pairs)
    votes = effective_votes(table.n_judges, mean)
    if seed is None:
        return PanelWorth(Estimate(mean, n=len(wrong)), votes, pairs)

    def statistic(rows: IntArray) -> float | None:
        return _mean_correlation(wrong[rows])

    names = None if clusters is None else [c for c, use in zip(clusters, usable.tolist(), strict=True) if use]
    drawn = bootstrap(statistic, len(wrong), seed=seed, replicates=replicates, clusters=names)
    if drawn.low is None or drawn.high is None or votes.value is None:
        return PanelWorth(drawn, votes, pairs)
    ends = [effective_votes(table.n_judges, rho).value for rho in (drawn.high, drawn.low)]
    low, high = ends[0] or votes.value, ends[1] or float(table.n_judges)
    return PanelWorth(drawn, Estimate(votes.value, low, high, n=len(wrong)), pairs)


@dataclass(frozen=True, slots=True)
class VoteShare:
    """Posterior of the share of judges that would say PASS: `share` with its credible interval, and P(share > 1/2)."""

    share: Estimate
    above_half: float


def vote_share(passes: int, votes: int, *, prior: tuple[float, float] = (1.0, 1.0), level: float = 0.95) -> VoteShare:
    """What a count of votes says about a further judge of the same kind, not about the truth of the verdict.

    Beta(prior) before, Beta(prior + votes) after; the interval is equal-tailed.

    >>> found = vote_share(4, 5)  # scipy 1.12.0: 0.7142857, 0.3587654 to 0.9567281, 0.890625
    >>> print(found.share, round(found.above_half, 6))
    0.714 [0.359, 0.957] 0.890625
    """
    check_counts(passes, votes)
    if min(prior) <= 0:
        raise ConfigError("a beta prior has two positive numbers")
    a, b = prior[0] + passes, prior[1] + votes - passes
    tail = (1.0 - check_level(level)) / 2.0
    share = Estimate(a / (a + b), beta_quantile(tail, a, b), beta_quantile(1.0 - tail, a, b), n=votes, level=level)
    return VoteShare(share, 1.0 - beta_cdf(0.5, a, b))


@dataclass(frozen=True, slots=True)
class BetaBinomial:
    """A beta-binomial fit of votes over items; `rho` = 1 / (alpha + beta + 1): how alike the votes on one item are."""

    alpha: float | None
    beta: float | None
    mean: Estimate
    rho: Estimate
    loglik: float | None


def beta_binomial(passes: Sequence[int], votes: Sequence[int]) -> BetaBinomial:
    """Maximum likelihood of a beta-binomial for `passes` of `votes` on each item.

    Votes no more alike than chance put rho at its end 0, unanimous items at its end 1 (alpha and beta are None then).
    All votes equal: `no_variation`; no item with two votes: `no_overlap`.

    >>> fit = beta_binomial([5, 5, 4, 0, 1, 5, 0, 3, 5, 2, 0, 5, 4, 1], [5] * 14)  # scipy 1.12.0: 0.580, -23.0072487
    >>> round(fit.rho.value, 3), round(fit.loglik, 4)
    (0.58, -23.0072)
    """
    for k, n in zip(passes, votes, strict=True):
        check_counts(k, n)
    items = [(k, n) for k, n in zip(passes, votes, strict=True) if n > 0]
    total, hits = sum(n for _, n in items), sum(k for k, _ in items)
    reason: Reason | None = "no_data" if not items else "no_overlap" if max(n for _, n in items) < 2 else None
    reason = reason or ("no_variation" if hits in (0, total) else None)
    if reason:
        return BetaBinomial(None, None, undefined(reason, n=len(items)), undefined(reason, n=len(items)), None)
    mean = hits / total
    # The slope of the log-likelihood at rho = 0, the mean held: below 0 the votes are less alike than chance.
    slope = sum((k * (k - 1) / mean + (n - k) * (n - k - 1) / (1 - mean) - n * (n - 1)) / 2 for k, n in items)
    if slope <= 0:
        loglik = sum(_log_choose(n, k) + k * math.log(mean) + (n - k) * math.log(1 - mean) for k, n in items)
        note = "at its end: votes on one item are no more alike than on different ones"
        zero = Estimate(0.0, n=len(items), note=note)
        return BetaBinomial(None, None, Estimate(mean, n=len(items)), zero, loglik)
    if all(k in (0, n) for k, n in items):
        share = sum(k > 0 for k, _ in items) / len(items)
        loglik = len(items) * (share * math.log(share) + (1 - share) * math.log(1 - share))
        one = Estimate(1.0, n=len(items), note="at its end: every item is unanimous")
        return BetaBinomial(None, None, Estimate(share, n=len(items)), one, loglik)
    x = np.array([math.log(mean), math.log(1 - mean)])
    value, gradient, hessian = _beta_terms(items, x)
    for _ in range(500):
        step = _ascent(gradient, hessian)
        if float(np.abs(step).max()) < 1e-11:
            break
        size = min(1.0, 2.0 / float(np.abs(step).max()))
        while (found := _beta_terms(items, x + size * step))[0] < value - 1e-12 * abs(value) and size > 1e-10:
            size /= 2.0
        x = x + size * step
        value, gradient, hessian = found
    alpha, beta = (float(v) for v in np.exp(x))
    fitted = Estimate(alpha / (alpha + beta), n=len(items))
    return BetaBinomial(alpha, beta, fitted, Estimate(1.0 / (alpha + beta + 1.0), n=len(items)), value)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _ascent(gradient: FloatArray, hessian: FloatArray) -> FloatArray:
    """A Newton step made to climb: negative or tiny curvature is replaced by its size."""
    values, vectors = np.linalg.eigh(-hessian)
    bent = np.maximum(np.abs(values), 1e-8)
    step: FloatArray = vectors @ ((vectors.T @ gradient) / bent)
    return step


def _beta_terms(items: list[tuple[int, int]], x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Log-likelihood, gradient and Hessian by log alpha and log beta; ratios of gammas are written as products."""
    alpha, beta = (float(v) for v in np.exp(x))
    loglik, first, second, cross = 0.0, np.zeros(2), np.zeros(2), 0.0
    for k, n in items:
        loglik += _log_choose(n, k)
        for part, count in enumerate((k, n - k)):
            base = (alpha, beta)[part]
            terms = base + np.arange(count)
            loglik += float(np.log(terms).sum())
            first[part] += float((1.0 / terms).sum())
            second[part] -= float((1.0 / terms**2).sum())
        terms = alpha + beta + np.arange(n)
        loglik -= float(np.log(terms).sum())
        first -= float((1.0 / terms).sum())
        cross += float((1.0 / terms**2).sum())
    scale = np.array([alpha, beta])
    hessian = (np.diag(second) + cross) * np.outer(scale, scale) + np.diag(first * scale)
    return loglik, first * scale, hessian
