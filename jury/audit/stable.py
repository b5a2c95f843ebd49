"""The same question asked again: how often each judge contradicts itself, and on which items. From stored judgments.

A run with repetitions holds what is needed (`repetitions: 3` in its configuration), and any run can be asked again
about some of its items (`again.py`). Of pairs, the same order asked again is noise; the swapped order adds the slot:
only what differs beyond the noise is position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jury.audit.reading import Audited
from jury.audit.repeats import Repeats, all_orders, both_orders, first_of, repeats
from jury.stats import Estimate, Retest, beyond_noise, flip_rate, position_bias, undefined
from jury.stats.bias import PositionBias


@dataclass(frozen=True, slots=True)
class JudgeStability:
    """`retest` is of the same order asked again, `swapped` of the two orders (None for single answers).

    `reordered`: share of the items on which answers differ, over all orders in which a permuted rubric was shown (None
    for other runs). `beyond`: how much oftener two answers differ where the order differs than where it is the same;
    over what was asked in several orders and in one of them twice.
    """

    judge: str
    retest: Retest
    swapped: PositionBias | None
    beyond: Estimate
    reordered: Estimate | None = None


@dataclass(frozen=True, slots=True)
class Stability:
    """By judge, and the items on which judges disagree with themselves most: (item, mean disagreement), worst first.

    `items` counts those of which a question was asked twice. `repetitions` is the largest number of times a question
    was asked; flip rates of different numbers cannot be compared, disagreements can.
    """

    judges: tuple[JudgeStability, ...]
    unstable: tuple[tuple[str, float], ...]
    items: int
    repetitions: int
    reason: str = ""


def stability(audit: Audited, *, seed: int = 0, most: int = 20) -> Stability:
    """Flips and disagreement of each judge with itself; undefined without repetitions, and `reason` says so."""
    asked = repeats(audit)
    by_item: dict[str, list[float]] = {}
    found: list[JudgeStability] = []
    for judge in audit.judges:
        own = [r for r in asked if r.judge == judge]
        retest = flip_rate([r.values for r in own], seed=seed, clusters=[r.item for r in own])
        for one, disagreement in zip(own, retest.by_item, strict=True):
            if disagreement is not None:
                by_item.setdefault(one.item, []).append(disagreement)
        both = both_orders(own)
        swapped = position_bias([(first_of(a), first_of(b)) for a, b in both]) if audit.paired and both else None
        orders = all_orders(own) if audit.run.manifest.spec.get("permute") else None
        told = [[first_of(one) for one in shown] for shown in orders or ()]
        reordered = None if orders is None else flip_rate(told).flip_rate
        beyond = _beyond(both if orders is None else orders, audit.paired or orders is not None)
        found.append(JudgeStability(judge, retest, swapped, beyond, reordered))
    largest = max((len(r.values) for r in asked), default=0)
    ranked = sorted(((i, sum(v) / len(v)) for i, v in by_item.items()), key=lambda pair: (-pair[1], pair[0]))
    worst = tuple(pair for pair in ranked if pair[1] > 0)[:most]
    reason = "" if largest > 1 else _IN_ORDERS if audit.run.manifest.spec.get("permute") else _ONCE
    return Stability(tuple(found), worst, len(by_item), largest, reason)


_ONCE = "every question was asked once: run it with `repetitions: 3`, or ask again: `jury stability RUN --ask 50`"

_IN_ORDERS = "no order of this permuted rubric was asked twice: ask the same ones again: `jury stability RUN --ask 50`"


def _beyond(shown: Sequence[Sequence[Repeats]], ordered: bool) -> Estimate:
    if not ordered:
        return undefined("no_data", "single answers have no order")
    return beyond_noise([[one.by_content for one in orders] for orders in shown])
