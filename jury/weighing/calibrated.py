"""The panel's own verdict, with a probability that is true: vote share or mean mapped to what people say.

`fit_calibrated` keeps all judges alike and fits Platt's map of their vote share; `fit_scores` maps the scores of a
numeric panel to people's scale. Both need labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jury.errors import ConfigError
from jury.stats.table import Category, FloatArray
from jury.weighing.fitted import Fitted, evidence_of, plurality_of
from jury.weighing.labelled import ENOUGH_LABELS, logit_mode
from jury.weighing.table import VoteTable


def fit_calibrated(table: VoteTable, truth: Sequence[Category | None]) -> Fitted:
    """Equal weights, with a threshold and a strength fitted on labels; two-sided questions only.

    The verdict can differ from the plurality where the panel as a whole leans to one side.
    """
    asked = "calibrated"
    gold, sides = table.codes_of(truth), table.sides
    if sides is None:
        return plurality_of(table, asked, "calibrated needs two labels: all judges count alike")
    known = np.flatnonzero((gold == sides[0]) | (gold == sides[1]))
    if len(known) < ENOUGH_LABELS or len(np.unique(gold[known])) < 2:
        few = f"{len(known)} usable labels, {ENOUGH_LABELS} of two kinds are needed"
        return plurality_of(table, asked, f"{few}: all judges count alike")
    share = table.rows(known).signed().mean(axis=1)
    design = np.column_stack([np.ones(len(known)), share])
    right = (gold[known] == sides[0]).astype(np.float64)
    point = logit_mode(design, right, np.array([0.0, 3.0]), np.array([1.0, 1.0 / 9.0]))
    slope = max(float(point[1]), 0.1)  # a panel that is right less often than not is no panel to calibrate
    prior = np.full(len(table.labels), -3.0 if len(table.labels) > 2 else 0.0)
    prior[sides[0]], prior[sides[1]] = float(point[0]) / 2, -float(point[0]) / 2
    weights = np.full(len(table.judges), slope / len(table.judges))
    return Fitted(
        asked, table.judges, table.labels, evidence_of(weights, table), tuple(prior.tolist()), "labels", asked,
        n_items=table.n, n_labels=len(known),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScoreMap:
    """Scores of a numeric panel -> people's scale, by the mean of three maps fitted to the absolute error.

    A line through the panel's mean score; a linear mix of the judges, held near that line; and the median of what
    people said about items with a similar mean. `low` and `high` are the ends of the scale.
    """

    line: tuple[float, float]
    mix: tuple[float, ...]
    centre: tuple[float, ...]
    means: tuple[float, ...]
    said: tuple[float, ...]
    low: float
    high: float

    def __call__(self, scores: FloatArray) -> FloatArray:
        """`scores`: (items, judges), NaN for none; an item without any score gets NaN."""
        filled, mean = _filled(scores)
        line = self.line[0] + self.line[1] * mean
        mix = self.mix[0] + (filled - np.array(self.centre)) @ np.array(self.mix[1:])
        near = _near(np.array(self.means), np.array(self.said), mean)
        return np.clip((line + mix + near) / 3.0, self.low, self.high)


def fit_scores(scores: FloatArray, human: FloatArray, *, low: float, high: float) -> ScoreMap:
    """Fit a `ScoreMap` on labelled items: `scores` (items, judges) with NaN for none, `human` their scores by people.

    Fewer than `ENOUGH_LABELS` items with both: `ConfigError`.
    """
    usable = np.isfinite(human) & np.isfinite(scores).any(axis=1)
    if int(usable.sum()) < ENOUGH_LABELS:
        raise ConfigError(f"{int(usable.sum())} labelled items with a score, {ENOUGH_LABELS} are needed")
    filled, mean = _filled(scores[usable])
    said = human[usable].astype(np.float64)
    judges = filled.shape[1]
    start, centre = float(np.median(said)), filled.mean(axis=0)
    ones = np.ones(len(said))
    line = _least_absolute(np.column_stack([ones, mean - mean.mean()]), said, (start, 0.8), (1e-3, 1.0))
    mix = _least_absolute(
        np.column_stack([ones, filled - centre]), said, (start, *[0.8 / judges] * judges), (1e-3, *[10.0] * judges)
    )
    order = np.argsort(said, kind="stable")
    return ScoreMap(
        (float(line[0] - line[1] * mean.mean()), float(line[1])),
        tuple(mix.tolist()),
        tuple(centre.tolist()),
        tuple(mean[order].tolist()),
        tuple(said[order].tolist()),
        low,
        high,
    )


def _filled(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Missing scores replaced by the item's mean; the means."""
    known = np.isfinite(scores)
    with np.errstate(invalid="ignore"):
        mean = np.where(known, scores, 0.0).sum(axis=1) / known.sum(axis=1)
    return np.where(known, scores, mean[:, None]), mean


def _least_absolute(
    design: FloatArray, said: FloatArray, mean: Sequence[float], penalty: Sequence[float]
) -> FloatArray:
    """Regression to the median, drawn towards `mean`, by reweighted least squares."""
    centre, pull = np.array(mean), np.array(penalty)
    point: FloatArray = centre
    for _ in range(40):
        weight = 1.0 / np.maximum(np.abs(said - design @ point), 0.05)
        left = (design * weight[:, None]).T @ design + np.diag(pull)
        new = np.linalg.solve(left, design.T @ (weight * said) + pull * centre).astype(np.float64)
        done = float(np.abs(new - point).max()) < 1e-5
        point = new
        if done:
            break
    return point


def _near(means: FloatArray, said: FloatArray, wanted: FloatArray) -> FloatArray:
    """Weighted median of `said` (sorted) around each wanted mean score; the weight falls off as a normal curve."""
    weight = np.exp(-0.5 * ((wanted[:, None] - means[None]) / 0.4) ** 2) + 1e-4
    total = np.cumsum(weight, axis=1)
    return said[np.minimum((total < total[:, -1:] / 2).sum(axis=1), len(said) - 1)]
