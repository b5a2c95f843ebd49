"""Logistic regression by Newton's method, for a handful of columns; a ridge where the data are separated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jury.stats.table import FloatArray
from jury.stats.tie_models import log_logistic, logistic

RIDGE = 0.01


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """Coefficients in the order of the columns and their covariance; `ridge` above 0 says they were held back."""

    coefficients: FloatArray
    covariance: FloatArray
    loglik: float
    ridge: float


def fit_logistic(design: FloatArray, outcome: FloatArray, *, ridge: float = 0.0) -> LogisticFit:
    """Fit P(outcome) = logistic(design @ coefficients); outcomes lie in [0, 1]. The intercept is a column of ones.

    `ridge` times the sum of squared coefficients is taken from the log-likelihood. Where the data are separated (no
    finite maximum) or the columns are collinear, the fit is repeated with `RIDGE`.

    >>> fit = fit_logistic(np.ones((4, 1)), np.array([1.0, 1.0, 1.0, 0.0]))
    >>> round(float(fit.coefficients[0]), 6)  # by hand: log 3
    1.098612
    """
    x = np.zeros(design.shape[1])

    def objective(point: FloatArray) -> float:
        z = design @ point
        terms = outcome * log_logistic(z) + (1.0 - outcome) * log_logistic(-z)
        return float(terms.sum()) - ridge * float((point**2).sum())

    value = objective(x)
    for _ in range(100):
        p = logistic(design @ x)
        gradient = design.T @ (outcome - p) - 2.0 * ridge * x
        hessian = (design * (p * (1.0 - p))[:, None]).T @ design + 2.0 * ridge * np.eye(len(x))
        if np.linalg.matrix_rank(hessian) < len(x):
            break
        step = np.linalg.solve(hessian, gradient)
        if float(np.abs(step).max()) < 1e-10:
            loglik = value + ridge * float((x**2).sum())
            if not ridge and bool((np.abs(outcome - p) < 1e-6).all()):
                break  # every outcome is as good as certain: the climb only stopped
            return LogisticFit(x, np.linalg.inv(hessian).astype(np.float64), loglik, ridge)
        size = 1.0
        while objective(x + size * step) < value - 1e-12 * abs(value) and size > 1e-8:
            size /= 2.0
        x = x + size * step
        value = objective(x)
        if float(np.abs(x).max()) > 1e3:
            break
    if ridge >= RIDGE:
        return LogisticFit(x, np.full((len(x), len(x)), np.nan), value, ridge)
    return fit_logistic(design, outcome, ridge=RIDGE)
