"""In which order items are shown to people: `random`, from which rates follow, the judges' `disagreement` first, or
those alone that a cascade left to `people`.

The random order is that of a digest of seed and item id: the same for every labeller and every start, and unmoved when
a run grows, so its first n items are a random sample whenever somebody stops. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal

from jury.results import DECIDED
from jury.stats import percent_agreement

Sampling = Literal["random", "disagreement", "people"]
SAMPLINGS: tuple[Sampling, ...] = ("random", "disagreement", "people")


def ordered(results: Iterable[tuple[str, Mapping[str, Any]]], sampling: Sampling, seed: int) -> list[str]:
    """Ids of the items to label, from results as they are stored; of an item that comes again the last one counts.

    An item whose target failed was never judged and is left out.
    """
    found: dict[str, tuple[float, bytes]] = {}
    for item, result in results:
        found.pop(item, None)
        wanted = sampling != "people" or result.get("for_people")
        if wanted and result.get("status") != "not_judged":
            first = -disagreement(result) if sampling == "disagreement" else 0.0
            found[item] = (first, drawn(seed, item))
    return sorted(found, key=lambda item: (*found[item], item))


def drawn(seed: int, item: str, purpose: str = "order") -> bytes:
    """Digits that stand for a random draw about an item; the same again for the same seed."""
    return hashlib.sha256(f"label {purpose} {seed} {item}".encode("utf-8", "surrogatepass")).digest()


def first_shown(seed: int, labeller: str, item: str) -> str:
    """`ab` or `ba`: which answer of a pair this labeller sees first. Each labeller has coin flips of their own."""
    return "ab" if drawn(seed, item, f"sides {labeller}")[0] % 2 else "ba"


def disagreement(result: Mapping[str, Any]) -> float:
    """How far the judges are from one voice, of a result as it is stored: 0 is one voice.

    The share of disagreeing pairs of votes; of numbers their standard deviation. A judge that contradicted itself when
    the order was swapped counts with both its votes; a verdict that was not reached counts one half or more.
    """
    std = result.get("std")
    if isinstance(std, float) and not isinstance(result.get("value"), bool | str):
        return std
    votes: list[str] = []
    given: list[Mapping[str, Any]] = result.get("votes") or []
    for vote in given:
        if vote.get("flipped"):
            votes += ["A", "B"]
            continue
        verdict: Mapping[str, Any] = vote.get("verdict") or {}
        value = vote.get("vote") if verdict.get("status") not in DECIDED else verdict.get("value")
        if value is not None:
            votes.append(str(value))
    apart = _apart(tuple(sorted(votes)))
    return max(apart, 0.5) if result.get("status") == "inconclusive" else apart


@cache
def _apart(votes: tuple[str, ...]) -> float:
    seen = percent_agreement([votes]).value if len(votes) > 1 else None
    return 0.0 if seen is None else 1.0 - seen
