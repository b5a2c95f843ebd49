"""Where a run that its budget ended stands: how wide the interval on its rate is, and what the rest would cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Outlook:
    """`rate` with its 95% interval, None where nothing was rated; `left` items for about `rest` dollars.

    The interval is Wilson's over the items that were judged: those that were left out are the last of the data, and it
    holds for all of the data only where its order says nothing.
    """

    rate: float | None
    low: float | None
    high: float | None
    left: int
    rest: float | None


def outlook(totals: Mapping[str, Any], spent: float) -> Outlook | None:
    """None where the budget left nothing out. `totals` as the manifest has them."""
    left = int(totals.get("reasons", {}).get("budget", 0))
    if not left:
        return None
    from jury.stats.intervals import wilson  # numpy, on this path only

    if "win_rate_a" in totals:
        rated, good = totals["n_a"] + totals["n_b"] + totals["n_tie"], totals["n_a"] + totals["n_tie"] // 2
    else:
        rated, good = totals["n_pass"] + totals["n_fail"], totals["n_pass"]
    judged = totals["n_total"] - left - totals["n_not_judged"]
    rest = spent / judged * left if judged else None
    if not rated:
        return Outlook(None, None, None, left, rest)
    interval = wilson(good, rated)
    return Outlook(good / rated, interval.low, interval.high, left, rest)
