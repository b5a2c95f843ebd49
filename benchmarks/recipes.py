"""The usual ways to combine votes with a few labels, as a yardstick: nothing of `jury` is used here.

Each takes signed votes (items, judges) in [-1, 1] and truths 0 or 1 of labelled items, and votes of others; it gives
scores of the others, above 0 for the first side.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Recipe = Callable[[Array, Array, Array], Array]


def majority(votes: Array, right: Array, others: Array) -> Array:
    return others.mean(axis=1)


def _accuracy(votes: Array, right: Array) -> Array:
    hits = (1.0 + votes * np.where(right > 0.5, 1.0, -1.0)[:, None]) / 2.0
    return (hits.sum(axis=0) + 1.0) / (len(right) + 2.0)


def best_judge(votes: Array, right: Array, others: Array) -> Array:
    rates = _accuracy(votes, right)
    return others @ (rates >= rates.max() - 1e-9).astype(float)


def log_odds(votes: Array, right: Array, others: Array) -> Array:
    rates = _accuracy(votes, right)
    return others @ np.log(rates / (1.0 - rates))


def squared_log_odds(votes: Array, right: Array, others: Array) -> Array:
    rates = _accuracy(votes, right)
    return others @ np.where(rates > 0.55, np.log(rates / (1.0 - rates)) ** 2, 0.0)


def ridge(votes: Array, right: Array, others: Array) -> Array:
    """Logistic regression with a penalty of half the squared weights (C = 1)."""
    design = np.column_stack([np.ones(len(votes)), votes])
    penalty = np.diag([1e-6, *[1.0] * votes.shape[1]])
    point = np.zeros(design.shape[1])
    for _ in range(15):
        chance = 1.0 / (1.0 + np.exp(-np.clip(design @ point, -30, 30)))
        curvature = (design * (chance * (1 - chance))[:, None]).T @ design + penalty
        step = np.linalg.solve(curvature, design.T @ (right - chance) - penalty @ point)
        point = point + step
        if np.abs(step).max() < 1e-6:
            break
    return point[0] + others @ point[1:]


RECIPES: dict[str, Recipe] = {
    "majority": majority,
    "best judge": best_judge,
    "log-odds": log_odds,
    "log-odds squared": squared_log_odds,
    "ridge": ridge,
}


def accuracy(scores: Array, right: Array) -> float:
    """Share right in percent, a score of 0 half right."""
    hit = np.where(np.abs(scores) < 1e-9, 0.5, (scores > 0) == (right > 0.5))
    return 100.0 * float(hit.mean())


def plurality_accuracy(codes: NDArray[np.int64], labels: int, gold: NDArray[np.int64]) -> float:
    """Accuracy in percent of the most voted label, a tie of k labels 1/k right."""
    counts = np.stack([(codes == k).sum(axis=1) for k in range(labels)], axis=1)
    top = counts == counts.max(axis=1, keepdims=True)
    return 100.0 * float(np.mean(top[np.arange(len(gold)), gold] / top.sum(axis=1)))
