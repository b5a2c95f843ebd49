"""Likelihoods of one comparison with a possible tie: `half`, `davidson`, `rao_kupper`. Formulas only.

For pairs with strength gap x (first minus second) and outcomes in the order win of first, win of second, tie:

    half        P(win) = L(x), a tie is half of each win; no tie parameter
    davidson    P ∝ exp(x/2), exp(-x/2), exp(eta)        nu = exp(eta)
    rao_kupper  P(win) = L(x - eta), P(loss) = L(-x - eta)   theta = exp(eta), eta > 0

with L the logistic function. `eta` None: no ties were seen, so that the parameter is at its end (nu 0, theta 1). All
arrays have one row a pair; results with three columns follow the outcomes. Source: see `ranking.bradley_terry`.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np

from jury.stats.table import FloatArray

TieModel: TypeAlias = Literal["half", "davidson", "rao_kupper"]


def log_logistic(x: FloatArray) -> FloatArray:
    """log of the logistic function, without overflow."""
    return -np.logaddexp(0.0, -x)


def logistic(x: FloatArray) -> FloatArray:
    """1 / (1 + exp(-x)), without overflow."""
    return np.exp(log_logistic(x))


def _davidson(gap: FloatArray, eta: float) -> FloatArray:
    """Log-probabilities of the outcomes, shape (pairs, 3)."""
    logits = np.stack([gap / 2.0, -gap / 2.0, np.full_like(gap, eta)], axis=1)
    top = logits.max(axis=1, keepdims=True)
    return logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))


def likelihood(model: TieModel, gap: FloatArray, eta: float | None, counts: FloatArray) -> float:
    """Log-likelihood of the counts (pairs, 3)."""
    won, lost, tied = counts.T
    if eta is None:
        logs = (won + tied / 2) * log_logistic(gap) + (lost + tied / 2) * log_logistic(-gap)
        return float(logs.sum())
    if model == "davidson":
        return float((counts * _davidson(gap, eta)).sum())
    logs = (won + tied) * log_logistic(gap - eta) + (lost + tied) * log_logistic(-gap - eta)
    return float(logs.sum()) + float(tied.sum()) * math.log(math.expm1(2.0 * eta))


def slopes(model: TieModel, gap: FloatArray, eta: float | None) -> tuple[FloatArray, FloatArray]:
    """Derivatives of each outcome's log-probability by the gap and by eta, each of shape (pairs, 3)."""
    if eta is None:
        up, down = logistic(-gap), -logistic(gap)
        by_gap = np.stack([up, down, (up + down) / 2.0], axis=1)
        return by_gap, np.zeros_like(by_gap)
    if model == "davidson":
        p = np.exp(_davidson(gap, eta))
        mean = (p[:, 0] - p[:, 1]) / 2.0
        by_gap = np.stack([0.5 - mean, -0.5 - mean, -mean], axis=1)
        return by_gap, np.stack([-p[:, 2], -p[:, 2], 1.0 - p[:, 2]], axis=1)
    up, down = logistic(eta - gap), logistic(eta + gap)
    tie = 2.0 / -math.expm1(-2.0 * eta)
    by_gap = np.stack([up, -down, up - down], axis=1)
    return by_gap, np.stack([-up, -down, tie - up - down], axis=1)


def curvature(
    model: TieModel, gap: FloatArray, eta: float | None, counts: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Negative second derivatives of the log-likelihood of each pair: by gap twice, by gap and eta, by eta twice."""
    won, lost, tied = counts.T
    total = counts.sum(axis=1)
    if eta is None:
        spread = logistic(gap) * logistic(-gap)
        return total * spread, np.zeros_like(gap), np.zeros_like(gap)
    if model == "davidson":
        p = np.exp(_davidson(gap, eta))
        mean = (p[:, 0] - p[:, 1]) / 2.0
        by_gap = total * ((p[:, 0] + p[:, 1]) / 4.0 - mean**2)
        return by_gap, total * (-mean * p[:, 2]), total * p[:, 2] * (1.0 - p[:, 2])
    up = (won + tied) * logistic(gap - eta) * logistic(eta - gap)
    down = (lost + tied) * logistic(-gap - eta) * logistic(eta + gap)
    bend = 4.0 * math.exp(-2.0 * eta) / math.expm1(-2.0 * eta) ** 2
    return up + down, down - up, up + down + tied * bend
