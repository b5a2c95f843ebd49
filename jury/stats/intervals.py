"""Intervals of shares and of differences of shares: Wilson, Clopper-Pearson, Newcombe. Loads no numpy.

Counts in, an `Estimate` out. Means are in `resampling.py`, corrected rates in `rates.py`, paired differences in
`paired.py`.
"""

from __future__ import annotations

import math

from jury.errors import ConfigError
from jury.stats.distributions import beta_quantile, check_level, z_value
from jury.stats.estimate import Estimate, undefined


def check_counts(successes: float, n: int) -> None:
    """`ConfigError` unless 0 <= successes <= n."""
    if not 0 <= successes <= n:
        raise ConfigError(f"{successes} successes in {n} trials")


def wilson(successes: float, n: int, *, level: float = 0.95) -> Estimate:
    """A share with Wilson's score interval: the default everywhere. n = 0 is `no_data`.

    The ends lie in [0, 1] without rounding slack: 0 of n starts at exactly 0, n of n ends at exactly 1. A tie may count
    half.

    Sources: Wilson 1927 (10.1080/01621459.1927.10502953); Brown, Cai and DasGupta 2001 (10.1214/ss/1009213286).

    >>> print(wilson(54, 60))  # statsmodels 0.15.0: 0.7985054 to 0.9533572
    0.900 [0.799, 0.953]
    >>> wilson(10, 10).high
    1.0
    """
    check_counts(successes, n)
    z = z_value(level)
    if n == 0:
        return undefined("no_data", level=level)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Estimate(share, low, high, n=n, level=level)


def clopper_pearson(successes: int, n: int, *, level: float = 0.95) -> Estimate:
    """A share with the exact interval of Clopper and Pearson: guaranteed coverage, wider than Wilson's.

    n = 0 is `no_data`; 0 of n starts at exactly 0, n of n ends at exactly 1.

    Source: Clopper and Pearson 1934 (10.1093/biomet/26.4.404).

    >>> print(clopper_pearson(54, 60))  # statsmodels 0.15.0: 0.7949423 to 0.9624087
    0.900 [0.795, 0.962]
    """
    check_counts(successes, n)
    tail = (1.0 - check_level(level)) / 2.0
    if n == 0:
        return undefined("no_data", level=level)
    low = 0.0 if successes == 0 else beta_quantile(tail, successes, n - successes + 1)
    high = 1.0 if successes == n else beta_quantile(1.0 - tail, successes + 1, n - successes)
    return Estimate(successes / n, low, high, n=n, level=level)


def newcombe(first: int, n_first: int, second: int, n_second: int, *, level: float = 0.95) -> Estimate:
    """Difference of two independent shares, first minus second, with Newcombe's interval; `n` is n_first + n_second.

    A group without trials is `no_data`. For the same items in both groups use `paired.mcnemar`.

    Source: Newcombe 1998, method 10 (10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I).

    >>> print(newcombe(62, 100, 91, 200))  # statsmodels 0.15.0: 0.0451023 to 0.2767315
    0.165 [0.045, 0.277]
    """
    a, b = wilson(first, n_first, level=level), wilson(second, n_second, level=level)
    if a.value is None or b.value is None or a.low is None or a.high is None or b.low is None or b.high is None:
        return undefined("no_data", level=level)
    gap = a.value - b.value
    low = gap - math.hypot(a.value - a.low, b.high - b.value)
    high = gap + math.hypot(a.high - a.value, b.value - b.low)
    return Estimate(gap, low, high, n=n_first + n_second, level=level)


def wald_difference(first: int, n_first: int, second: int, n_second: int, *, level: float = 0.95) -> Estimate:
    """The same difference with the textbook normal interval, for comparison: too narrow for small groups.

    Two groups that each agree with themselves throughout have no interval (`no_variation`).

    >>> print(wald_difference(62, 100, 91, 200))  # statsmodels 0.15.0: 0.0474696 to 0.2825304
    0.165 [0.047, 0.283]
    """
    check_counts(first, n_first)
    check_counts(second, n_second)
    z = z_value(level)
    if not n_first or not n_second:
        return undefined("no_data", level=level)
    p, q, n = first / n_first, second / n_second, n_first + n_second
    se = math.sqrt(p * (1 - p) / n_first + q * (1 - q) / n_second)
    if se == 0.0:
        return Estimate(p - q, reason="no_variation", n=n, level=level)
    return Estimate(p - q, p - q - z * se, p - q + z * se, n=n, se=se, level=level)
