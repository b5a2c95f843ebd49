"""Weights from 25 labels or more by people: how often each judge is right, and as much regression as labels bear.

With few labels a simple rule beats a regression, with more or with odd judges the regression wins; which, depends on
the panel. So both are fitted and mixed by how well they predict labels that they have not seen:

    steady    each judge's weight is the fourth power of its log odds of being right; accuracies are drawn together as
              far as their differences could be chance (Cochran's between-judge variance)
    free      a logistic regression that may leave these weights by as much as a normal prior of 0.5 lets it
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jury.stats.table import Category, FloatArray, IntArray
from jury.stats.tie_models import logistic
from jury.weighing.fitted import Fitted, evidence_of, nested, plurality_of
from jury.weighing.table import VoteTable

ENOUGH_LABELS = 25
POWER, FLOOR = 4, 0.55
FREEDOM = 0.5  # standard deviation of what the free fit may add to a weight
FOLDS = 8
_STEADY_FIRST = -0.25  # prior log odds of the free fit
_SCALE_PRECISION = 10.0  # how hard the size of the log odds is held at what was fitted


def fit_labelled(table: VoteTable, truth: Sequence[Category | None]) -> Fitted:
    """Weigh judges by their votes on labelled items, or all alike with a note where labels are too few.

    `truth` has one label an item, None for no label. Confidences are fitted probabilities that people would agree.
    """
    asked = "labelled"
    gold = table.codes_of(truth)
    sides = table.sides
    known = np.flatnonzero(gold >= 0 if sides is None else (gold == sides[0]) | (gold == sides[1]))
    if len(known) < ENOUGH_LABELS or len(np.unique(gold[known])) < 2:
        least = f"{len(known)} usable labels of {len(np.unique(gold[known]))} kinds"
        return plurality_of(table, asked, f"{least}, {ENOUGH_LABELS} of two kinds are needed: all judges count alike")
    labelled = table.rows(known)
    if sides is None:
        return _many(table, labelled, gold[known])
    votes = labelled.signed()
    right = (gold[known] == sides[0]).astype(np.float64)
    intercept, weights = mixed(votes, right)
    prior = np.full(len(table.labels), -3.0 if len(table.labels) > 2 else 0.0)
    prior[sides[0]], prior[sides[1]] = intercept / 2, -intercept / 2
    return Fitted(
        asked, table.judges, table.labels, evidence_of(weights, table), tuple(prior.tolist()), "labels", asked,
        n_items=table.n, n_labels=len(known),
    )  # fmt: skip


def mixed(votes: FloatArray, right: FloatArray) -> tuple[float, FloatArray]:
    """Intercept and weights on signed votes: the steady and the free fit, mixed by their predictions across folds.

    Both are scaled at the end so that confidences are true of the labels that each fold had not seen.
    """
    shuffled = np.random.default_rng(0).permutation(len(right))
    shuffled = shuffled[np.argsort(right[shuffled], kind="stable")]  # every fold gets its share of both kinds
    unseen = np.zeros((2, len(right)))
    for fold in range(FOLDS):
        held = shuffled[fold::FOLDS]
        rest = np.setdiff1d(np.arange(len(right)), held)
        for which, freedom in enumerate((0.0, FREEDOM)):
            intercept, weights = fitted(votes[rest], right[rest], freedom)
            unseen[which, held] = intercept + votes[held] @ weights
    chance = np.clip(logistic(unseen), 0.02, 0.98)
    scores = (right * np.log(chance) + (1.0 - right) * np.log(1.0 - chance)).sum(axis=1)
    free = float(logistic(np.array([scores[1] - scores[0] + _STEADY_FIRST]))[0])
    shares = np.array([1.0 - free, free])
    scale = logit_mode((shares @ unseen)[:, None], right, np.array([1.0]), np.array([_SCALE_PRECISION]))
    steady_fit, free_fit = fitted(votes, right, 0.0), fitted(votes, right, FREEDOM)
    size = float(np.clip(scale[0], 0.2, 2.0))
    intercept = size * (shares[0] * steady_fit[0] + shares[1] * free_fit[0])
    return intercept, size * (shares[0] * steady_fit[1] + shares[1] * free_fit[1])


def fitted(votes: FloatArray, right: FloatArray, freedom: float) -> tuple[float, FloatArray]:
    """One fit; `freedom` 0 keeps the weights in the proportions of `steady_weights`."""
    base = steady_weights(accuracies(votes, right))
    columns = [np.ones(len(votes)), votes @ base]
    mean, precision = [0.0, 3.0], [25.0, 1.0 / 9.0]
    if not freedom:
        point = logit_mode(np.column_stack(columns), right, np.array(mean), np.array(precision))
        return float(point[0]), point[1] * base
    judges = votes.shape[1]
    design = np.column_stack([*columns, votes])
    mean, precision = mean + [0.0] * judges, precision + [1.0 / freedom**2] * judges
    point = logit_mode(design, right, np.array(mean), np.array(precision))
    return float(point[0]), point[1] * base + point[2:]


def accuracies(votes: FloatArray, right: FloatArray) -> FloatArray:
    """Share of right votes by judge (a tie half), drawn towards their mean by what chance explains of their spread."""
    n = len(right)
    hits = (1.0 + votes * np.where(right > 0.5, 1.0, -1.0)[:, None]) / 2.0
    rates = (hits.sum(axis=0) + 1.0) / (n + 2.0)
    spread = float(rates.var())
    chance = float((hits - hits.mean(axis=1, keepdims=True)).var(axis=0).mean()) / max(n - 1, 1)
    kept = max(0.0, spread - min(1.0, 12.0 / n) * chance) / spread if spread > 0 else 0.0
    return rates.mean() + kept * (rates - rates.mean())


def steady_weights(rates: FloatArray) -> FloatArray:
    """Weights that add up to 1 from shares of right votes; a judge below `FLOOR` gets none unless all are."""
    inside = np.clip(rates, 0.02, 0.98)
    floor = min(FLOOR, float(inside.max()) - 1e-9)
    raw = np.where(inside > floor, np.maximum(np.log(inside / (1.0 - inside)), 0.0) ** POWER, 0.0)
    total = float(raw.sum())
    return raw / total if total > 0 else np.full(len(raw), 1.0 / len(raw))


def logit_mode(design: FloatArray, right: FloatArray, mean: FloatArray, precision: FloatArray) -> FloatArray:
    """The mode of a logistic regression under independent normal priors, by Newton steps of bounded length.

    `mean` and `precision` (one over the variance) have one entry a column of `design`; `right` holds 0 and 1.
    """
    point = mean.copy()
    for _ in range(25):
        chance = logistic(design @ point)
        gradient = design.T @ (right - chance) - precision * (point - mean)
        curvature = (design * (chance * (1.0 - chance))[:, None]).T @ design + np.diag(precision)
        step = np.linalg.solve(curvature, gradient)
        size = float(np.abs(step).max())
        point = point + step * min(1.0, 3.0 / max(size, 1e-12))
        if size < 1e-6:
            break
    return point


def _many(table: VoteTable, labelled: VoteTable, gold: IntArray) -> Fitted:
    """More than two labels: steady weights, and one strength fitted so that confidences are true on the labels."""
    hits = labelled.hot()[np.arange(len(gold)), :, gold]
    base = steady_weights(accuracies(2.0 * hits - 1.0, np.ones(len(gold))))
    unit = np.array(evidence_of(base, table))
    scores = labelled.hot().reshape(len(gold), -1) @ unit.reshape(-1, len(table.labels))
    own = scores[np.arange(len(gold)), gold]
    best, strength = -np.inf, 1.0
    for tried in np.geomspace(0.5, 12.0, 40).tolist():
        logs = tried * scores
        top = logs.max(axis=1)
        total = float((tried * own - top - np.log(np.exp(logs - top[:, None]).sum(axis=1))).sum())
        if total > best:
            best, strength = total, tried
    counts = np.bincount(gold, minlength=len(table.labels)) + 5.0
    prior = 0.25 * np.log(counts / counts.sum())
    return Fitted(
        "labelled", table.judges, table.labels, nested(strength * unit), tuple(prior.tolist()), "labels", "labelled",
        n_items=table.n, n_labels=len(gold),
    )  # fmt: skip
