"""How numbers are written for people: shares that never round to all or nothing, differences, money."""

from __future__ import annotations

from jury.report.parts import Rate
from jury.stats import Estimate
from jury.wording import count, dollars, percent
from jury.wording import value_word as shown

UNDEFINED = "n/a"
__all__ = ["UNDEFINED", "count", "money", "number", "percent", "points", "rate", "share", "shown"]


def share(value: float | None) -> str:
    """A share in [0, 1] as text, by the rule of `percent`.

    >>> share(1.0), share(0.9999), share(None)
    ('100%', '>99.9%', 'n/a')
    """
    return UNDEFINED if value is None else percent(value, 1.0)


def rate(found: Estimate, hits: float | None = None) -> Rate:
    """A share with its interval: `82% (69.2% to 90.2%)`."""
    if found.value is None:
        return _made(found, hits, UNDEFINED)
    ends = found.interval
    return _made(found, hits, share(found.value) + (f" ({share(ends[0])} to {share(ends[1])})" if ends else ""))


def number(found: Estimate, digits: int = 2) -> Rate:
    """A number with its interval: `0.73 (0.59 to 0.86)`."""
    if found.value is None:
        return _made(found, None, UNDEFINED)
    ends = found.interval
    interval = f" ({ends[0]:z.{digits}f} to {ends[1]:z.{digits}f})" if ends else ""
    return _made(found, None, f"{found.value:z.{digits}f}{interval}")


def points(found: Estimate) -> Rate:
    """A difference of shares: `+3.1 points (-0.4 to +6.6)`."""
    if found.value is None:
        return _made(found, None, UNDEFINED)
    ends = found.interval
    interval = f" ({100 * ends[0]:+.1f} to {100 * ends[1]:+.1f})" if ends else ""
    return _made(found, None, f"{100 * found.value:+.1f} points{interval}")


def money(cost: float | None, calls: int) -> str:
    """US dollars; what is not known is not shown as nothing.

    >>> money(0.0312, 12), money(None, 3), money(None, 0)
    ('$0.0312', 'unknown', '$0')
    """
    return "unknown" if cost is None and calls else dollars(cost or 0.0)


def _made(found: Estimate, hits: float | None, text: str) -> Rate:
    return Rate(found.value, found.low, found.high, found.n, hits, found.level, text, found.why)
