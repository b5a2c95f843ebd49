"""How many labels, items or runs it takes, before they are paid for. Whole numbers out; nothing is estimated here."""

from __future__ import annotations

import math

from jury.errors import ConfigError
from jury.stats.distributions import binomial_pmf, check_level, sign_test, z_value
from jury.stats.intervals import wilson

_LIMIT = 1_000_000
_RUN = 25  # the half-width saws up and down with n: this many sizes in a row must reach the target


def _share(p: float, what: str) -> float:
    if not 0.0 <= p <= 1.0:
        raise ConfigError(f"{what} lies in [0, 1], got {p!r}")
    return p


def labels_for_half_width(p: float, half_width: float, *, level: float = 0.95, normal: bool = False) -> int:
    """Labels needed so that the interval of a rate near `p` is at most `half_width` on average of its two sides.

    The smallest n whose Wilson interval at round(p * n) successes is narrow enough, and for the next 24 sizes too; with
    `normal` the textbook z^2 p (1 - p) / h^2, which is too small near 0 and 1. For TPR and TNR this is per class.

    >>> labels_for_half_width(0.9, 0.05), labels_for_half_width(0.9, 0.05, normal=True)  # statsmodels 0.15.0
    (141, 139)
    """
    _share(p, "a rate")
    if not 0.0 < half_width < 0.5:
        raise ConfigError(f"a half-width lies between 0 and 0.5, got {half_width!r}")
    z = z_value(level)
    if normal:
        return math.ceil(z * z * p * (1.0 - p) / half_width**2 - 1e-9)
    n, run = 0, 0
    while run < _RUN:
        n += 1
        ends = wilson(round(p * n), n, level=level).interval
        run = run + 1 if ends is not None and (ends[1] - ends[0]) / 2.0 <= half_width else 0
        if n > _LIMIT:
            raise ConfigError(f"more than {_LIMIT} labels")
    return n - _RUN + 1


def random_labels_for_class(needed: int, share: float) -> int:
    """Random labels expected to hold `needed` of a class that makes up `share` of the items.

    >>> random_labels_for_class(50, 0.1)  # by hand
    500
    """
    if needed < 0 or not 0.0 < share <= 1.0:
        raise ConfigError("needs a count and a share above 0")
    return math.ceil(needed / share - 1e-9)


def largest_rate_without_failure(n: int, *, level: float = 0.95) -> float:
    """Upper bound of a failure rate after n trials without one (one-sided, exact): 1 - (1 - level)^(1/n).

    >>> round(largest_rate_without_failure(60), 4)  # by hand; the rule of three says 3/60 = 0.05
    0.0487
    """
    if n < 1:
        raise ConfigError("needs a trial")
    return 1.0 - (1.0 - check_level(level)) ** (1.0 / n)


def chance_to_see_flip(rate: float, runs: int) -> float:
    """Chance that `runs` runs of an item show two different verdicts, if each run differs from the usual with `rate`.

    >>> [round(chance_to_see_flip(p, r), 2) for p in (0.1, 0.2) for r in (3, 5)]  # by hand: 1 - p^r - (1-p)^r
    [0.27, 0.41, 0.48, 0.67]
    """
    _share(rate, "a rate")
    if runs < 1:
        raise ConfigError("needs a run")
    return 1.0 - rate**runs - (1.0 - rate) ** runs


def mcnemar_power(n: int, only_a: float, only_b: float, *, alpha: float = 0.05) -> float:
    """Chance that McNemar's exact test on n shared items finds a difference, for these shares of discordant items.

    Exact for the test: summed over the number of discordant items and their split.

    >>> round(mcnemar_power(200, 0.2, 0.1), 3)  # 200 000 simulated tests (scipy 1.17.1, seed 1): 0.703
    0.703
    """
    discordant = _share(only_a + only_b, "the share of discordant items")
    if n < 1 or min(only_a, only_b) < 0:
        raise ConfigError("needs items and shares")
    if discordant == 0.0:
        return 0.0
    power, spread = 0.0, 8.0 * math.sqrt(n * discordant * (1.0 - discordant)) + 10.0
    for m in range(max(0, int(n * discordant - spread)), min(n, int(n * discordant + spread)) + 1):
        critical = _critical(m, alpha)
        if critical is None:
            continue
        share = only_a / discordant
        tail = sum(binomial_pmf(k, m, share) + binomial_pmf(m - k, m, share) for k in range(critical + 1))
        power += binomial_pmf(m, n, discordant) * tail
    return min(1.0, power)


def _critical(m: int, alpha: float) -> int | None:
    """The largest k below m/2 with a two-sided p-value of at most alpha; None if there is none."""
    low, high = -1, (m - 1) // 2
    while low < high:
        middle = (low + high + 1) // 2
        if sign_test(middle, m) <= alpha:
            low = middle
        else:
            high = middle - 1
    return None if low < 0 else low


def items_for_comparison(only_a: float, only_b: float, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """Shared items needed to see that a passes more often than b, where these shares of items are discordant.

    The normal approximation for McNemar's test; `mcnemar_power` gives the exact power of a size. Equal shares never
    differ: `ConfigError`.

    Source: Connor 1987 (10.2307/2531961).

    >>> items_for_comparison(0.2, 0.1)  # by hand: (1.959964 * sqrt(.3) + .841621 * sqrt(.29))^2 / .01 = 233.1
    234
    """
    discordant, gap = _share(only_a + only_b, "the share of discordant items"), abs(only_a - only_b)
    if gap == 0.0 or min(only_a, only_b) < 0:
        raise ConfigError("equal shares of discordant items are no difference to find")
    z_alpha, z_power = z_value(1.0 - alpha), z_value(2.0 * check_level(power) - 1.0) if power > 0.5 else 0.0
    root = z_alpha * math.sqrt(discordant) + z_power * math.sqrt(discordant - gap * gap)
    return math.ceil(root * root / (gap * gap) - 1e-9)


def pass_rate_false_alarm(rate: float, threshold: float, n: int) -> float:
    """Chance that n items with true pass rate `rate` show a rate below `threshold`: a gate without an interval.

    >>> round(pass_rate_false_alarm(0.92, 0.9, 50), 2)  # scipy 1.17.1: binom.cdf(44, 50, 0.92) = 0.208
    0.21
    """
    _share(rate, "a rate")
    if n < 1:
        raise ConfigError("needs an item")
    needed = math.ceil(_share(threshold, "a threshold") * n - 1e-9)
    return min(1.0, math.fsum(binomial_pmf(k, n, rate) for k in range(needed)))
