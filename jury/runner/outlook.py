"""What is still to come: where a run that its budget ended stands, and how often a cascade goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from jury.budget import Budget
from jury.clocks import unasked
from jury.results import Comparison, PanelResult
from jury.runner.describe import AnyJury, cascade_of
from jury.store import Run
from jury.store.manifest import FILE as MANIFEST
from jury.wording import dollars

R = TypeVar("R", bound=PanelResult | Comparison)
ASSUMED = 1 / 3  # of the items on which a tier does not agree, before anything is known
_ENOUGH = 20  # results that tell more than the assumption


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
        rated, good = totals["n_a"] + totals["n_b"] + totals["n_tie"], totals["n_a"] + totals["n_tie"] / 2
    else:
        rated, good = totals["n_pass"] + totals["n_fail"], totals["n_pass"]
    judged = totals["n_total"] - left - totals["n_not_judged"]
    rest = spent / judged * left if judged else None
    if not rated:
        return Outlook(None, None, None, left, rest)
    interval = wilson(good, rated)
    return Outlook(good / rated, interval.low, interval.high, left, rest)


def for_money(result: R, budget: Budget | None) -> R:
    """A result that has no verdict because calls could not be paid says so."""
    if budget is None or result.status != "inconclusive" or not budget.closed:
        return result
    failures = (j.verdict.failure for v in result.votes for j in v.judgments)
    if not any(f is not None and f.kind == "budget" for f in failures):
        return result
    told = f"Not judged: {budget.why or f'the budget of {dollars(budget.limit)} does not allow it'}."
    return unasked(result, "budget", told)


def reach(jury: AnyJury, folder: Path) -> tuple[dict[str, float], tuple[str, ...]]:
    """By judge of a cascade, the share of items that come to it; and a sentence that says where that is from."""
    cascade = cascade_of(jury)
    if cascade is None:
        return {}, ()
    reached = _tiers_of(folder, cascade)
    seen = reached.total()
    tiers = len(cascade["tiers"])
    if seen >= _ENOUGH:
        shares = [sum(n for tier, n in reached.items() if tier > below) / seen for below in range(tiers)]
        told = f"as on the {seen:,} items in the folder"
    else:
        shares = [ASSUMED**below for below in range(tiers)]
        told = "an assumption, until the folder holds 20 items of this cascade"
    shares = [share + cascade["check"] * (1 - share) for share in shares]  # some are asked in full, by lot
    asked = ", ".join(f"tier {n} on {share:.0%}" for n, share in enumerate(shares, 1))
    return (
        {judge: share for names, share in zip(cascade["tiers"], shares, strict=True) for judge in names},
        (f"cascade: {asked} of the items ({told}); at most all of them are asked everywhere",),
    )


def _tiers_of(folder: Path, cascade: Mapping[str, Any]) -> Counter[int]:
    """How many items of a folder came to which tier, by their last results; none where it had another cascade."""
    if not (folder / MANIFEST).exists():
        return Counter()
    run = Run.open(folder)
    if run.manifest.spec.get("escalate") != cascade:
        return Counter()
    results: Iterator[Any] = ((line or {}).get("result") or {} for _, line in run.lines())
    return Counter(tier for result in results if isinstance(tier := result.get("tier"), int))
