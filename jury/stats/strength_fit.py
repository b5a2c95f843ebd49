"""The fit behind `ranking.py`: Newton's method on the concave log-likelihood, and the covariance of the parameters.

Whether a maximum exists is asked before (`games.existence`); what the numbers mean is said in `ranking.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jury.stats.games import Pairs
from jury.stats.table import FloatArray
from jury.stats.tie_models import TieModel, curvature, likelihood, slopes


@dataclass(frozen=True, slots=True)
class StrengthFit:
    """Parameters (strengths, then the tie parameter where it is free), log-likelihood and Hessian at the maximum."""

    parameters: FloatArray
    free: bool
    loglik: float
    hessian: FloatArray
    converged: bool


def _derivatives(
    pairs: Pairs, model: TieModel, x: FloatArray, free: bool, penalty: float
) -> tuple[float, FloatArray, FloatArray]:
    """Penalised log-likelihood, gradient and negative Hessian."""
    m, counts = len(pairs.items), pairs.counts
    gap = x[pairs.first] - x[pairs.second]
    eta = float(x[m]) if free else None
    loglik = likelihood(model, gap, eta, counts)
    d_gap, d_eta = slopes(model, gap, eta)
    h_gap, h_cross, h_eta = curvature(model, gap, eta, counts)
    size = m + int(free)
    gradient, hessian = np.zeros(size), np.zeros((size, size))
    pull = (counts * d_gap).sum(axis=1)
    np.add.at(gradient, pairs.first, pull)
    np.add.at(gradient, pairs.second, -pull)
    for one, other, sign in ((0, 0, 1.0), (1, 1, 1.0), (0, 1, -1.0), (1, 0, -1.0)):
        ends = (pairs.first, pairs.second)
        np.add.at(hessian, (ends[one], ends[other]), sign * h_gap)
    if free:
        gradient[m] = float((counts * d_eta).sum())
        for index, sign in ((pairs.first, 1.0), (pairs.second, -1.0)):
            np.add.at(hessian[:m, m], index, sign * h_cross)
        hessian[m, :m] = hessian[:m, m]
        hessian[m, m] = float(h_eta.sum())
    gradient[:m] -= 2.0 * penalty * x[:m]
    hessian[np.arange(m), np.arange(m)] += 2.0 * penalty
    return loglik - penalty * float((x[:m] ** 2).sum()), gradient, hessian


def _gauge(pairs: Pairs, size: int, penalty: float) -> FloatArray:
    """What makes the Hessian regular: strengths are free up to a constant unless a penalty holds them."""
    gauge = np.zeros((size, size))
    if not penalty:
        gauge[: len(pairs.items), : len(pairs.items)] = 1.0 / len(pairs.items)
    return gauge


def maximise(pairs: Pairs, model: TieModel, *, penalty: float = 0.0, start: FloatArray | None = None) -> StrengthFit:
    """Newton's method with step halving. Without ties among the games the tie parameter is left out."""
    counts = pairs.counts
    m = len(pairs.items)
    free = model != "half" and bool(counts[:, 2].any())
    x = np.zeros(m + int(free))
    if free:
        x[m] = 0.0 if model == "davidson" else 0.5
    if start is not None and len(start) == len(x):
        x = start.copy()
    gauge = _gauge(pairs, len(x), penalty)
    value, gradient, hessian = _derivatives(pairs, model, x, free, penalty)
    converged = False
    for _ in range(200):
        step = np.linalg.solve(hessian + gauge, gradient)
        if float(np.abs(step).max()) < 1e-11:
            converged = True
            break
        size = min(1.0, 5.0 / float(np.abs(step).max()))
        for _ in range(60):
            trial = x + size * step
            if model != "rao_kupper" or not free or trial[m] > 1e-9:
                found = _derivatives(pairs, model, trial, free, penalty)
                if math.isfinite(found[0]) and found[0] >= value - 1e-10 * max(1.0, abs(value)):
                    x, (value, gradient, hessian) = trial, found
                    break
            size /= 2.0
        else:
            break
    return StrengthFit(x, free, value, hessian, converged)


def covariance(pairs: Pairs, fit: StrengthFit, model: TieModel, penalty: float, robust: bool) -> FloatArray:
    """Inverse information, or the sandwich around the scores of games or clusters."""
    m = len(pairs.items)
    gauge = _gauge(pairs, len(fit.parameters), penalty)
    bread = np.linalg.inv(fit.hessian + gauge) - gauge
    if robust:
        gap = fit.parameters[pairs.first] - fit.parameters[pairs.second]
        d_gap, d_eta = slopes(model, gap, float(fit.parameters[m]) if fit.free else None)
        scores = np.zeros((3 * len(pairs.counts), len(fit.parameters)))
        rows = np.arange(3 * len(pairs.counts))
        scores[rows, np.repeat(pairs.first, 3)] = d_gap.ravel()
        scores[rows, np.repeat(pairs.second, 3)] = -d_gap.ravel()
        if fit.free:
            scores[:, m] = d_eta.ravel()
        if pairs.by_cluster is None:
            filling = (scores * pairs.counts.reshape(-1, 1)).T @ scores
        else:
            sums = pairs.by_cluster @ scores
            filling = (sums.T @ sums) * (len(sums) / max(len(sums) - 1, 1))
        bread = bread @ filling @ bread
    return bread[:m, :m]
