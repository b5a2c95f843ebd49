"""Weights from a judge's own consistency over both orders of a pair; no label is needed.

A judge that says the same whichever answer is shown first follows the content; recorded votes show that this predicts
how often it agrees with people (r 0.5 to 0.97). Two steps: weights from consistency alone; and, from eight judges on,
agreement with the most consistent third. A method that never changes with the order (a reward model) is not reliable
for that: such judges count as average ones, and where they are half of the panel, order says nothing at all.
"""

from __future__ import annotations

import numpy as np

from jury.stats.table import FloatArray
from jury.weighing.fitted import Fitted, evidence_of, plurality_of
from jury.weighing.table import VoteTable

ENOUGH_PAIRS = 20
BLIND = 0.97  # a consistency that no judge reaches by reading both answers in order
POWER, REFINED_POWER, REFINED_SHARE = 12, 4, 0.75
FLOOR = 0.55  # of agreement with the most consistent judges: below it a judge adds noise
LARGE_PANEL = 8


def consistency_of(table: VoteTable) -> FloatArray:
    """Share of pairs with the same vote in both orders, by judge, (same + 1) / (pairs + 2)."""
    if table.second is None:
        return np.full(len(table.judges), 0.5)
    both = (table.first >= 0) & (table.second >= 0)
    same = both & (table.first == table.second)
    return (same.sum(axis=0) + 1.0) / (both.sum(axis=0) + 2.0)


def fit_consistency(table: VoteTable) -> Fitted:
    """Weigh judges by their consistency, or all alike with a note saying why not.

    The weights add up to the number of judges; the confidence is a share of them ("votes only").
    """
    asked = "consistency"
    if table.second is None or table.sides is None:
        return plurality_of(table, asked, "consistency needs pairs shown in both orders: all judges count alike")
    fewest = min(((table.first >= 0) & (table.second >= 0)).sum(axis=0).tolist(), default=0)
    if fewest < ENOUGH_PAIRS:
        word = f"a judge has {fewest} pairs in both orders, {ENOUGH_PAIRS} are needed"
        return plurality_of(table, asked, f"{word}: all judges count alike")
    found = consistency_of(table)
    blind = found > BLIND
    if 2 * int(blind.sum()) >= len(found):
        word = f"{int(blind.sum())} of {len(found)} judges never change with the order"
        return plurality_of(table, asked, f"{word}, so consistency says nothing: all judges count alike")
    steady = np.where(blind, np.median(found[~blind]), found)
    weights = _share(steady**POWER)
    if len(found) >= LARGE_PANEL:
        weights = (1 - REFINED_SHARE) * weights + REFINED_SHARE * _refined(table.signed(), steady)
    scaled = _tempered(weights)
    return Fitted(
        asked, table.judges, table.labels, evidence_of(scaled, table), (0.0,) * len(table.labels), "votes only", asked,
        n_items=table.n,
    )  # fmt: skip


def _refined(signed: FloatArray, steady: FloatArray) -> FloatArray:
    """Weights from the agreement with the most consistent third, each judge's own vote left out."""
    kept = max(3, round(len(steady) / 3))
    anchor = (steady >= np.sort(steady)[-kept] - 1e-9).astype(np.float64)
    others = (signed @ anchor)[:, None] - signed * anchor
    sure = np.abs(others)
    agreement = (signed * np.sign(others) * sure).sum(axis=0) / np.maximum(sure.sum(axis=0), 1e-9)
    rate = np.clip((1.0 + agreement) / 2.0, 0.02, 0.98)
    raw = np.where(rate > FLOOR, np.log(rate / (1.0 - rate)) ** REFINED_POWER, 0.0) * steady**8
    return _share(raw)


def _share(weights: FloatArray) -> FloatArray:
    total = float(weights.sum())
    return weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))


UNANIMOUS = 3.0  # log odds where all weight is on one side: 0.95, about what unanimous panels reach on recorded votes


def _tempered(weights: FloatArray) -> FloatArray:
    """Scaled so that a unanimous panel claims 0.95, no more: votes cannot say what judges get wrong together."""
    return UNANIMOUS * weights
