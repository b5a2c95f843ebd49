"""In which order items are shown to people: `random`, from which rates follow, or the judges' `disagreement` first.

The random order is that of a digest of seed and item id: the same for every labeller and every start, and unmoved when
a run grows, so its first n items are a random sample whenever somebody stops. Pure but for reading results.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Literal

from jury.results import Comparison, PanelResult
from jury.stats import percent_agreement
from jury.store import StoredResult

Sampling = Literal["random", "disagreement"]
SAMPLINGS: tuple[Sampling, ...] = ("random", "disagreement")


def ordered(results: Iterable[StoredResult], sampling: Sampling, seed: int) -> list[str]:
    """Ids of the items to label. An item whose target failed was never judged and is left out."""
    found: list[tuple[float, bytes, str]] = []
    for one in results:
        if one.result.status != "not_judged":
            first = -disagreement(one.result) if sampling == "disagreement" else 0.0
            found.append((first, drawn(seed, one.item), one.item))
    return [item for _, _, item in sorted(found)]


def drawn(seed: int, item: str, purpose: str = "order") -> bytes:
    """Digits that stand for a random draw about an item; the same again for the same seed."""
    return hashlib.sha256(f"label {purpose} {seed} {item}".encode("utf-8", "surrogatepass")).digest()


def first_shown(seed: int, labeller: str, item: str) -> str:
    """`ab` or `ba`: which answer of a pair this labeller sees first. Each labeller has coin flips of their own."""
    return "ab" if drawn(seed, item, f"sides {labeller}")[0] % 2 else "ba"


def disagreement(result: PanelResult | Comparison) -> float:
    """How far the judges are from one voice: 0 is one voice, 1 is two by two against each other.

    The share of disagreeing pairs of votes; of numbers their standard deviation. A judge that contradicted itself when
    the order was swapped counts with both its votes; a verdict that was not reached counts one half or more.
    """
    votes: list[object] = []
    for vote in result.votes:
        if isinstance(result, Comparison) and getattr(vote, "flipped", False):
            votes += ["A", "B"]
        elif vote.value is not None:
            votes.append(vote.value)
    if isinstance(result, PanelResult) and result.std is not None and not isinstance(result.value, bool | str):
        return result.std
    seen = percent_agreement([votes]).value if len(votes) > 1 else None
    apart = 0.0 if seen is None else 1.0 - seen
    return max(apart, 0.5) if result.status == "inconclusive" else apart
