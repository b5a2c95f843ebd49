"""The same question asked again: how often each judge contradicts itself, and on which items. From stored judgments.

A run with repetitions holds what is needed (`repetitions: 3` in its configuration). Of pairs, the same order asked
again is noise; the swapped order adds the slot: only what flips beyond the noise is position.
"""

from __future__ import annotations

from dataclasses import dataclass

from jury.audit.reading import Audited
from jury.results import Vote
from jury.stats import Estimate, Retest, flip_rate, position_bias, undefined
from jury.stats.bias import PositionBias


@dataclass(frozen=True, slots=True)
class JudgeStability:
    """`retest` is of the same order asked again, `swapped` of the two orders (None for single answers).

    `beyond` is the swapped order's flip rate minus the retest flip rate; None where either is undefined.
    """

    judge: str
    retest: Retest
    swapped: PositionBias | None
    beyond: float | None


@dataclass(frozen=True, slots=True)
class Stability:
    """By judge, and the items on which judges disagree with themselves most: (item, mean disagreement), worst first.

    `repetitions` is the largest number of times a question was asked; flip rates of different numbers cannot be
    compared, disagreements can.
    """

    judges: tuple[JudgeStability, ...]
    unstable: tuple[tuple[str, float], ...]
    items: int
    repetitions: int
    reason: str = ""


def stability(audit: Audited, *, seed: int = 0, most: int = 20) -> Stability:
    """Flips and disagreement of each judge with itself; undefined without repetitions, and `reason` says so."""
    by_item: dict[str, list[float]] = {}
    found: list[JudgeStability] = []
    largest = 0
    for judge in audit.judges:
        runs, ids, pairs = _asked(audit, judge)
        largest = max([largest, *map(len, runs)])
        retest = flip_rate(runs, seed=seed)
        for item, disagreement in zip(ids, retest.by_item, strict=True):
            if disagreement is not None:
                by_item.setdefault(item, []).append(disagreement)
        swapped = position_bias(pairs) if audit.paired and pairs else None
        beyond = None
        if swapped and swapped.change_rate.value is not None and retest.flip_rate.value is not None:
            beyond = swapped.change_rate.value - retest.flip_rate.value
        found.append(JudgeStability(judge, retest, swapped, beyond))
    ranked = sorted(((i, sum(v) / len(v)) for i, v in by_item.items()), key=lambda pair: (-pair[1], pair[0]))
    worst = tuple(pair for pair in ranked if pair[1] > 0)[:most]
    reason = "" if largest > 1 else "every question was asked once: run it again with `repetitions: 3`"
    return Stability(tuple(found), worst, len(audit.judged), largest, reason)


def _asked(audit: Audited, judge: str) -> tuple[list[list[object]], list[str], list[tuple[str | None, str | None]]]:
    """Repeated values by item and order, the item of each, and the first values of both orders in terms of answers."""
    runs: list[list[object]] = []
    ids: list[str] = []
    pairs: list[tuple[str | None, str | None]] = []
    for one in audit.judged:
        vote = next((v for v in one.result.votes if v.judge == judge), None)
        if vote is None:
            continue
        firsts: dict[str, str | None] = {}
        for order in ("none", "ab", "ba"):
            of_order = [j.verdict for j in vote.judgments if j.order == order]
            if not of_order:
                continue
            values = [v.value if v.decided else None for v in of_order]
            runs.append([audit.counted(v) for v in values] if isinstance(vote, Vote) else list(values))
            ids.append(one.item.id)
            swap = {"A": "B", "B": "A"} if order == "ba" else {}
            firsts[order] = None if values[0] is None else swap.get(str(values[0]), str(values[0]))
        if "ab" in firsts and "ba" in firsts:
            pairs.append((firsts["ab"], firsts["ba"]))
    return runs, ids, pairs


def mean_disagreement(found: Stability) -> Estimate:
    """The mean over judges of their disagreement with themselves; None where no judge was asked twice."""
    known = [j.retest.disagreement.value for j in found.judges if j.retest.disagreement.value is not None]
    return Estimate(sum(known) / len(known), n=len(known)) if known else undefined("no_data", found.reason)
