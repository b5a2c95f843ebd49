"""The Alternative Annotator Test: may a judge stand in for a person? Needs three people or more on the same items.

Each person is left out in turn; the judge and that person are compared by how well they match the others. The judge
wins against a person where it is not worse by `epsilon`, the price of a person's time, with errors controlled over all
people (Benjamini-Yekutieli). It passes where it wins against half of them or more.

Source: Calderon, Reichart and Dror 2025 (arXiv 2501.10970).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jury.stats import Estimate, undefined
from jury.stats.distributions import t_two_sided
from jury.stats.table import Category

FEWEST_PEOPLE, FEWEST_ITEMS = 3, 30


@dataclass(frozen=True, slots=True)
class AlternativeAnnotator:
    """`winning_rate`: share of people the judge wins against; `advantage`: mean share of items on which it matches the
    others at least as well as the person left out. `passes` is None where the test cannot be made.
    """

    winning_rate: Estimate
    advantage: Estimate
    passes: bool | None
    people: tuple[str, ...]


def alternative_annotator(
    judge: Sequence[Category | None],
    people: Mapping[str, Sequence[Category | None]],
    *,
    epsilon: float = 0.2,
    alpha: float = 0.05,
) -> AlternativeAnnotator:
    """The test on votes and labels of the same items, None for none.

    People with fewer than 30 items that others labelled too are left out; fewer than three people: `too_few_raters`.

    >>> votes = ["P", "F"] * 40
    >>> found = alternative_annotator(votes, {"ann": votes, "bob": votes, "cid": votes})
    >>> found.passes, found.winning_rate.value, found.advantage.value  # by hand: all match, so every item is a win
    (True, 1.0, 1.0)
    """
    results: dict[str, tuple[float, float]] = {}
    for name in people:
        pairs = _pairs(judge, people, name)
        if len(pairs) >= FEWEST_ITEMS:
            results[name] = _against(pairs, epsilon)
    if len(results) < FEWEST_PEOPLE:
        word = f"{len(results)} people with {FEWEST_ITEMS} common items, {FEWEST_PEOPLE} are needed"
        nothing = undefined("too_few_raters", word)
        return AlternativeAnnotator(nothing, nothing, None, tuple(results))
    wins = _rejected([p for p, _ in results.values()], alpha)
    rate = wins / len(results)
    advantage = sum(share for _, share in results.values()) / len(results)
    n = len(results)
    return AlternativeAnnotator(Estimate(rate, n=n), Estimate(advantage, n=n), rate >= 0.5, tuple(results))


def _pairs(
    judge: Sequence[Category | None], people: Mapping[str, Sequence[Category | None]], name: str
) -> list[tuple[float, float]]:
    """(share of the others the judge matches, share the person matches) on each item where all three exist."""
    found: list[tuple[float, float]] = []
    for at, (said, own) in enumerate(zip(judge, people[name], strict=True)):
        others = [labels[at] for other, labels in people.items() if other != name and labels[at] is not None]
        if said is not None and own is not None and others:
            found.append((sum(o == said for o in others) / len(others), sum(o == own for o in others) / len(others)))
    return found


def _against(pairs: Sequence[tuple[float, float]], epsilon: float) -> tuple[float, float]:
    """One-sided p-value of "the judge is worse by epsilon or more", and the share of items it does not lose."""
    n = len(pairs)
    lost = [float(own >= said) - float(said >= own) for said, own in pairs]
    mean = sum(lost) / n
    spread = math.sqrt(sum((x - mean) ** 2 for x in lost) / (n - 1))
    share = sum(said >= own for said, own in pairs) / n
    if spread < 1e-12:
        return (0.0 if mean < epsilon else 1.0), share
    t = (mean - epsilon) / (spread / math.sqrt(n))
    two = t_two_sided(t, n - 1)
    return (two / 2 if t < 0 else 1.0 - two / 2), share


def _rejected(p_values: Sequence[float], alpha: float) -> int:
    """How many hypotheses Benjamini and Yekutieli's procedure rejects."""
    m = len(p_values)
    harmonic = sum(1.0 / k for k in range(1, m + 1))
    passing = [k for k, p in enumerate(sorted(p_values), start=1) if p <= k * alpha / (m * harmonic)]
    return max(passing, default=0)
