"""Two systems, or two judges, on the same items: McNemar's test and the difference of the rates with its interval.

A pair counts only where both sides gave PASS or FAIL; what was dropped is counted. For different items see
`intervals.newcombe`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jury.errors import ConfigError
from jury.stats.distributions import chi2_tail, normal_two_sided, sign_test, z_value
from jury.stats.estimate import Estimate, undefined
from jury.stats.resampling import REPLICATES, bootstrap, resamples
from jury.stats.table import IntArray, is_missing


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """How two sides did on the same items; `dropped` items had no PASS or FAIL on one side at least."""

    only_a: int
    only_b: int
    both: int
    neither: int
    dropped: int = 0

    @property
    def n(self) -> int:
        return self.only_a + self.only_b + self.both + self.neither


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """What `mcnemar` found. `difference` is the pass rate of a minus that of b; `n` of it counts the pairs.

    p-values are two-sided, of "no difference": `exact_p` (binomial), `mid_p` (less conservative), `chi2_p` and
    `chi2_corrected_p` (large samples: 25 discordant pairs or more; None without any).
    """

    counts: PairedCounts
    difference: Estimate
    exact_p: float | None
    mid_p: float | None
    chi2_p: float | None
    chi2_corrected: float | None
    chi2_corrected_p: float | None


def paired_counts(
    a: Sequence[object], b: Sequence[object], *, passed: object = "PASS", failed: object = "FAIL"
) -> PairedCounts:
    """Count two lists of verdicts on the same items; anything but `passed` and `failed` drops the pair.

    >>> paired_counts(["PASS", "PASS", "NA", None], ["PASS", "FAIL", "PASS", "FAIL"])
    PairedCounts(only_a=1, only_b=0, both=1, neither=0, dropped=2)
    """
    if len(a) != len(b):
        raise ConfigError(f"{len(a)} and {len(b)} verdicts are not of the same items")
    cells = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    dropped = 0
    for one, other in zip(a, b, strict=True):
        if one not in (passed, failed) or other not in (passed, failed):
            dropped += 1
        else:
            cells[one == passed, other == passed] += 1
    return PairedCounts(cells[True, False], cells[False, True], cells[True, True], cells[False, False], dropped)


def mcnemar(counts: PairedCounts, *, level: float = 0.95, adjusted: bool = True) -> PairedComparison:
    """McNemar's test and the difference of two paired rates, in [-1, 1].

    The interval is that of Bonett and Price (one discordant pair more on each side), or with `adjusted=False` Wald's,
    which has no width where no pair is discordant. No pairs at all: `no_data`.

    Sources: McNemar 1947 (10.1007/BF02295996); Bonett and Price 2012 (10.3102/1076998611411915).

    >>> found = mcnemar(PairedCounts(only_a=21, only_b=9, both=60, neither=30), adjusted=False)
    >>> print(found.difference, round(found.exact_p, 7), round(found.mid_p, 7))  # statsmodels 0.15.0
    0.100 [0.012, 0.188] 0.0427739 0.0294494
    """
    z = z_value(level)
    b, c, n = counts.only_a, counts.only_b, counts.n
    if min(b, c, counts.both, counts.neither) < 0:
        raise ConfigError("counts are not negative")
    if n == 0:
        return PairedComparison(counts, undefined("no_data", level=level), None, None, None, None, None)
    gap = (b - c) / n
    extra = 1 if adjusted else 0
    p, q, size = (b + extra) / (n + 2 * extra), (c + extra) / (n + 2 * extra), n + 2 * extra
    se = math.sqrt(max(p + q - (p - q) ** 2, 0.0) / size)
    low, high = max(-1.0, p - q - z * se), min(1.0, p - q + z * se)
    if se == 0.0:
        difference = Estimate(gap, reason="no_variation", n=n, level=level)
    else:
        difference = Estimate(gap, min(low, gap), max(high, gap), n=n, se=se, level=level)
    exact, mid = sign_test(b, b + c), sign_test(b, b + c, mid=True)
    if b + c == 0:
        return PairedComparison(counts, difference, exact, mid, None, None, None)
    corrected = max(abs(b - c) - 1, 0) ** 2 / (b + c)
    plain = (b - c) ** 2 / (b + c)
    return PairedComparison(counts, difference, exact, mid, chi2_tail(plain), corrected, chi2_tail(corrected))


def mean_gap(gaps: Sequence[float], *, far: float = 1.0, level: float = 0.95) -> tuple[Estimate, float | None]:
    """The mean of differences between shares, each in [-1, 1], and the two-sided p-value of "it is 0".

    Bonett and Price's interval for paired rates carried over to fractions: one entry more on each side, at the distance
    `far` in (0, 1], which is how far a single entry may well lie from 0. Resampling a few entries most of which are
    alike is far too narrow. Both follow from one standard error, so that p < 0.05 where the 95% interval excludes 0. No
    entries: `no_data`.

    Source: Bonett and Price 2012 (10.3102/1076998611411915). Coverage: benchmarks/coverage.py.

    >>> found, p = mean_gap([1.0] * 21 + [-1.0] * 9 + [0.0] * 90)  # as mcnemar: 12/122 -+ 1.96 * 0.0457
    >>> print(found, round(p, 3))
    0.100 [0.009, 0.188] 0.031
    """
    z = z_value(level)
    if not gaps:
        return undefined("no_data", level=level), None
    n, total = len(gaps), math.fsum(gaps)
    value, centre = total / n, total / (n + 2)
    se = math.sqrt((math.fsum(gap * gap for gap in gaps) + 2.0 * far * far) / (n + 2) - centre * centre)
    se /= math.sqrt(n + 2)
    low, high = max(-1.0, min(value, centre - z * se)), min(1.0, max(value, centre + z * se))
    return Estimate(value, low, high, n=n, se=se, level=level), normal_two_sided(centre / se)


@dataclass(frozen=True, slots=True)
class PairedBootstrap:
    """A mean difference with a bootstrap interval; `share_not_above` is the share of replicates at or below 0."""

    difference: Estimate
    share_not_above: float | None
    dropped: int


def paired_bootstrap(
    a: Sequence[float | None],
    b: Sequence[float | None],
    *,
    seed: int,
    clusters: Sequence[object] | None = None,
    replicates: int = REPLICATES,
    level: float = 0.95,
) -> PairedBootstrap:
    """Mean of a minus b over the items that both have (booleans or numbers; None drops the pair).

    Items, or `clusters` of items, are redrawn with their pairs kept. `seed` is a whole number, since the draws are
    made twice. Equal differences have no interval (`no_variation`); no common item is `no_overlap`.

    >>> found = paired_bootstrap([1, 1, 1, 0, None], [0, 1, 0, 0, 1], seed=3)
    >>> found.difference.value, found.dropped  # by hand: (1 + 0 + 1 + 0) / 4
    (0.5, 1)
    """
    if len(a) != len(b):
        raise ConfigError(f"{len(a)} and {len(b)} values are not of the same items")
    kept = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if not is_missing(x) and not is_missing(y)]
    dropped = len(a) - len(kept)
    if not kept:
        return PairedBootstrap(undefined("no_overlap", level=level), None, dropped)
    gaps = np.array([float(a[i] or 0) - float(b[i] or 0) for i in kept], dtype=np.float64)
    names = None if clusters is None else [clusters[i] for i in kept]

    def statistic(rows: IntArray) -> float:
        return float(gaps[rows].mean())

    found = bootstrap(statistic, len(gaps), seed=seed, replicates=replicates, level=level, clusters=names)
    draws = resamples(len(gaps), replicates=replicates, seed=seed, clusters=names)
    below = sum(statistic(rows) <= 1e-12 for rows in draws)
    return PairedBootstrap(found, below / replicates, dropped)
