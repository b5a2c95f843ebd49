"""The rate of a run in words, with its interval, from its `Totals`; what is in no rate; what it cost."""

from __future__ import annotations

import shlex
from typing import cast

from jury.cli import tables
from jury.runner.totals import Totals
from jury.stats import wilson
from jury.summary import beside
from jury.wording import bracket, counted


def quoted(text: str) -> str:
    """An argument as a shell takes it."""
    return shlex.quote(text)


def interval(totals: Totals) -> tuple[float, float] | None:
    """The 95% interval (Wilson) of the pass rate; of A's win rate a tie is half, and rounded down. None without one."""
    good, rated = totals.rated
    if totals.kind == "pairwise":
        good += totals.counts["tie"] // 2
    if not rated:
        return None
    estimate = wilson(good, rated)
    return cast("tuple[float, float]", estimate.interval)


def rate_words(totals: Totals) -> str:
    """`82.5% [74.7, 88.3]`, or `undefined`."""
    good, rated = totals.rated
    ends = interval(totals)
    if ends is None:
        return "undefined"
    tie, half = (totals.counts["tie"], 2) if totals.kind == "pairwise" else (0, 1)
    return f"{tables.percent(half * good + tie, half * rated)} {bracket(*ends)}"


def count_words(totals: Totals) -> str:
    """`99 passed, 21 failed`; `3 A, 4 B, 1 tie`."""
    names = ("a", "b", "tie") if totals.kind == "pairwise" else ("pass", "fail")
    return counted((name, totals.counts[name]) for name in names)


def other_words(totals: Totals) -> str:
    """`2 NA, 1 error, 3 not judged (3 budget)`: what is in no rate."""
    return beside(totals.counts, totals.reasons)


def spent(totals: Totals) -> str:
    """What the calls behind the results cost; unknown is unknown."""
    cost = "unknown (a price is missing)" if totals.unpriced else tables.dollars(totals.cost)
    saved = f", {tables.count(totals.calls_saved, 'call')} saved" if totals.calls_saved else ""
    return f"{cost}  ({tables.count(totals.calls, 'call')}{saved})"
