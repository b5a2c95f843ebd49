"""What asking fewer saved, and what is known of its price: early verdicts that the full panel was asked about too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jury.runner.totals import Totals
from jury.store import RunManifest
from jury.wording import count


def stopping(manifest: RunManifest, totals: Totals) -> tuple[str, str] | None:
    """`stopping` or `cascade`, and how it went; None where everybody was asked in any case."""
    stop = manifest.spec.get("stop")
    if totals.tiers:
        return "cascade", _cascade(totals)
    if stop is None or not totals.n_total:
        return None
    saved = f"{count(totals.calls_saved, 'call')} saved" if totals.calls_saved else "no call saved"
    if not isinstance(stop, float):
        return "stopping", f"{saved}; every verdict is that of the full panel"
    parts = [saved, _bound(stop, _foresight(manifest))]
    if totals.checked:
        parts.append(f"on {count(totals.checked.total(), 'item')} polled in full as a check {_differs(totals)}")
    return "stopping", "; ".join(part for part in parts if part)


def _cascade(totals: Totals) -> str:
    """How many items each tier had the last word on."""
    told = ", ".join(f"{totals.tiers[tier]:,} by tier {tier}" for tier in sorted(totals.tiers))
    people = f"; {totals.for_people:,} of them for people (jury label --sampling people)" if totals.for_people else ""
    saved = f"; {count(totals.calls_saved, 'call')} saved" if totals.calls_saved else ""
    checked = f"; on {totals.checked.total():,} asked in full as a check {_differs(totals)}" if totals.checked else ""
    return f"settled {told}{people}{saved}{checked}"


def _differs(totals: Totals) -> str:
    """On how many of the checked items the full panel says something else, with the share's 95% interval (Wilson)."""
    from jury.stats.intervals import wilson  # numpy, on this path only

    differed = totals.checked["differs"]
    ends = wilson(differed, totals.checked.total())
    low, high = (100 * (end or 0.0) for end in (ends.low, ends.high))
    return f"{differed:,} {'differs' if differed == 1 else 'differ'} [{low:.1f}%, {high:.1f}%]"


def _foresight(manifest: RunManifest) -> Mapping[str, Any]:
    """Of the last pass that had some; empty while the first one is under way."""
    found: Any = next((past["foresight"] for past in reversed(manifest.history) if past.get("foresight")), None)
    return found or {}


def _bound(stop: float, seen: Mapping[str, Any]) -> str:
    """What is promised: by what was learned, the share of verdicts that asking everybody would have changed."""
    bound, learned, needed = seen.get("bound"), seen.get("learned"), seen.get("needed")
    if bound is not None:
        allowed = f"{100 - 100 * stop:.3g}%"
        return f"at most {bound:.1%} of verdicts differ from the full panel's, 95% sure ({allowed} allowed)"
    if learned is None:
        return ""
    if needed and learned < needed:
        return f"all judges are asked until {needed:,} items were polled in full, {learned:,} are"
    return f"all judges are asked: {learned:,} items polled in full do not show that fewer would say the same"
