"""What labels say, in sentences, for the page and for the terminal alike. Computes nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from jury.label.findings import FEW, Findings, Needed
from jury.stats import Estimate
from jury.summary import count


def percent(estimate: Estimate) -> str:
    """`86% [74, 93]`, or why there is none."""
    if estimate.value is None:
        return f"not known: {estimate.why}"
    ends = estimate.interval
    return f"{100 * estimate.value:.0f}%" + (f" [{100 * ends[0]:.0f}, {100 * ends[1]:.0f}]" if ends else "")


def sayings(found: Findings) -> list[str]:
    """The headline, then what is missing, then what to beware of."""
    if found.labels == 0:
        return ["There are no labels yet.", *found.notes]
    panel = found.rows[0]
    made: list[str] = []
    if found.measure == "alpha":
        common = count(panel.agreement.n, "item")
        made.append(f"Krippendorff's alpha of you and the panel: {number(panel.beyond)} on {common}.")
    elif panel.agreement.value is None:
        made.append("The panel and you have no item in common yet.")
    else:
        equal = round(panel.agreement.value * panel.agreement.n)
        share = percent(panel.agreement)
        made.append(f"The panel agrees with you on {equal} of {count(panel.agreement.n, 'item')}: {share}.")
    if found.na:
        made.append(f"{count(found.na, 'item')} you called NA, left out of agreement.")
    if found.needed is not None:
        made.append(_missing(found.needed))
    return [*made, *found.notes]


def _missing(needed: Needed) -> str:
    points = f"±{100 * needed.precision:g} points"
    if not needed.more:
        return f"Agreement with the panel is known to {points}: enough labels."
    planned = f"if agreement is near {100 * needed.planned_with:.0f}%"
    if needed.have < FEW:
        planned += f", as is usual: yours is counted on from {FEW} labels on"
    most = f", {needed.at_most} at most" if needed.at_most > needed.total else ""
    if needed.total <= needed.items:
        return f"{count(needed.more, 'more label')} for {points} ({needed.total} in all {planned}{most})."
    reach = f"all of its {needed.items} give ±{100 * needed.reach:.0f} points"
    takes = f"{points} takes {count(needed.total, 'label')} {planned}{most}"
    return f"{takes}; the run has fewer items: {reach}. Judge more items."


def number(estimate: Estimate) -> str:
    """`0.73 [0.59, 0.86]`, or n/a."""
    if estimate.value is None:
        return "n/a"
    ends = estimate.interval
    return f"{estimate.value:.2f}" + (f" [{ends[0]:.2f}, {ends[1]:.2f}]" if ends else "")


def as_data(found: Findings) -> dict[str, Any]:
    """Findings as JSON values, with the sentences."""
    made = asdict(found)
    if found.needed is not None:
        made["needed"]["more"] = found.needed.more
    return {**made, "sayings": sayings(found)}
