"""Distribution functions that the intervals need, in plain Python: normal, beta, binomial, Student's t, chi-square.

They spare a dependency on scipy and are tested against it. No estimator lives here.

The incomplete beta function is a continued fraction evaluated by Lentz's method (Numerical Recipes, 6.4; DLMF 8.17.22).
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

from jury.errors import ConfigError

_STANDARD = NormalDist()
_TINY = 1e-300


def check_level(level: float) -> float:
    """The confidence level, if it lies strictly between 0 and 1; else `ConfigError`."""
    if not 0.0 < level < 1.0:
        raise ConfigError(f"a confidence level lies between 0 and 1, got {level!r}")
    return level


def z_value(level: float) -> float:
    """Two-sided normal quantile of a confidence level in (0, 1).

    >>> round(z_value(0.95), 6)
    1.959964
    """
    return _STANDARD.inv_cdf(0.5 + check_level(level) / 2)


def normal_two_sided(x: float) -> float:
    """P(|Z| >= |x|): the two-sided p-value of a normal statistic.

    >>> round(normal_two_sided(1.959964), 6)
    0.05
    """
    return math.erfc(abs(x) / math.sqrt(2.0))


def chi2_tail(x: float) -> float:
    """P(X >= x) for a chi-square X with one degree of freedom, x >= 0."""
    return math.erfc(math.sqrt(max(x, 0.0) / 2.0))


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, for x below its mean."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, 20_000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 + numerator * d
            d = 1.0 / (d if abs(d) > _TINY else _TINY)
            c = 1.0 + numerator / c
            c = c if abs(c) > _TINY else _TINY
            step = c * d
            value *= step
        if abs(step - 1.0) < 1e-16:
            break
    return value


def beta_cdf(x: float, a: float, b: float) -> float:
    """P(X <= x) for a Beta(a, b) variable, a and b above 0; accurate to about 1e-11 for a and b up to some thousands.

    >>> round(1 - beta_cdf(0.5, 5, 2), 6)
    0.890625
    """
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1.0) / (a + b + 2.0):
        return min(1.0, front * _fraction(a, b, x) / a)
    return max(0.0, 1.0 - front * _fraction(b, a, 1.0 - x) / b)


def beta_quantile(p: float, a: float, b: float) -> float:
    """The x with P(X <= x) = p for a Beta(a, b) variable; p in [0, 1]. Safeguarded Newton inside a bisection.

    >>> [round(beta_quantile(p, 5, 2), 6) for p in (0.025, 0.975)]
    [0.358765, 0.956728]
    """
    if p <= 0.0:
        return 0.0
    if p >= 1.0:
        return 1.0
    p, a, b = float(p), float(a), float(b)
    low, high, x = 0.0, 1.0, a / (a + b)
    log_scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    for _ in range(1200):
        gap = beta_cdf(x, a, b) - p
        if gap > 0:
            high = x
        else:
            low = x
        density = math.exp(log_scale + (a - 1) * math.log(x) + (b - 1) * math.log1p(-x))
        new = x - gap / density if density > 0 else low
        if not low < new < high:
            new = (low + high) / 2
        if new in (low, high) or abs(new - x) <= 2e-16 * x:
            return new
        x = new
    return x


def binomial_pmf(k: int, n: int, p: float) -> float:
    """P(X = k) for X ~ Binomial(n, p)."""
    if not 0 <= k <= n:
        return 0.0
    if p in (0.0, 1.0):
        return 1.0 if k == n * int(p) else 0.0
    choose = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(choose + k * math.log(p) + (n - k) * math.log1p(-p))


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X <= k) for X ~ Binomial(n, p).

    >>> round(binomial_cdf(9, 30, 0.5), 6)
    0.021387
    """
    if k < 0:
        return 0.0
    if k >= n:
        return 1.0
    return 1.0 - beta_cdf(p, k + 1, n - k)


def sign_test(k: int, n: int, *, mid: bool = False) -> float:
    """Two-sided exact p-value of k successes in n fair trials; `mid` gives the mid-p value. n = 0 gives 1.

    >>> round(sign_test(21, 30), 6), round(sign_test(21, 30, mid=True), 6)
    (0.042774, 0.029449)
    """
    if not 0 <= k <= n:
        raise ConfigError(f"{k} successes in {n} trials")
    if n == 0:
        return 1.0
    small = min(k, n - k)
    if n > 2000:  # the exact sum below grows with n squared
        tail, point = binomial_cdf(small, n, 0.5), binomial_pmf(small, n, 0.5)
    else:
        point_count = total = 1
        for i in range(1, small + 1):
            point_count = point_count * (n - i + 1) // i
            total += point_count
        tail, point = float(Fraction(total, 1 << n)), float(Fraction(point_count, 1 << n))
    return min(1.0, 2 * tail - (point if mid else 0.0))


def t_two_sided(t: float, df: float) -> float:
    """P(|T| >= |t|) for Student's t with df > 0 degrees of freedom.

    >>> round(t_two_sided(2.228139, 10), 5)
    0.05
    """
    return beta_cdf(df / (df + t * t), df / 2.0, 0.5)


def t_value(level: float, df: float) -> float:
    """Two-sided quantile of Student's t: P(|T| <= t) = level.

    >>> round(t_value(0.95, 10), 6)
    2.228139
    """
    x = beta_quantile(1.0 - check_level(level), df / 2.0, 0.5)
    return math.sqrt(df * (1.0 - x) / x)
