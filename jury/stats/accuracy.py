"""A judge against people: the confusion table, TPR, TNR, accuracy and kappa, each with its interval.

"Positive" is a PASS. How many labels that takes is in `planning.py`, what to do with the error rates in `rates.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from jury.errors import ConfigError
from jury.stats.agreement import cohen_kappa
from jury.stats.estimate import Estimate, undefined
from jury.stats.intervals import clopper_pearson, wilson
from jury.stats.table import is_missing

BinomialInterval = Callable[..., Estimate]


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of a judge's verdicts against human labels.

    `tp`, `fn`, `fp`, `tn` count the rows where both said PASS or FAIL; `cells` counts all pairs (human, judge) of
    usable values, "not applicable" included; `dropped` the rows where one side gave none.
    """

    tp: int
    fn: int
    fp: int
    tn: int
    cells: dict[tuple[object, object], int] = field(default_factory=dict[tuple[object, object], int])
    dropped: int = 0

    @property
    def n(self) -> int:
        return self.tp + self.fn + self.fp + self.tn

    @property
    def outside(self) -> int:
        """Rows with two usable values of which at least one is neither PASS nor FAIL."""
        return sum(self.cells.values()) - self.n if self.cells else 0


@dataclass(frozen=True, slots=True)
class JudgeAccuracy:
    """What `judge_accuracy` found. Accept a judge on the lower ends of `tpr` and `tnr`, not on the shares."""

    tpr: Estimate
    tnr: Estimate
    accuracy: Estimate
    balanced_accuracy: Estimate
    kappa: Estimate

    @property
    def youden(self) -> float | None:
        """TPR + TNR - 1: 0 for a judge that guesses."""
        if self.tpr.value is None or self.tnr.value is None:
            return None
        return self.tpr.value + self.tnr.value - 1.0


def confusion(
    judge: Sequence[object], human: Sequence[object], *, passed: object = "PASS", failed: object = "FAIL"
) -> Confusion:
    """Count a judge's verdicts against labels of the same items; None or NaN on either side drops the row.

    >>> table = confusion(["PASS", "FAIL", "NA", None], ["PASS", "PASS", "FAIL", "FAIL"])
    >>> table.tp, table.fn, table.outside, table.dropped
    (1, 1, 1, 1)
    """
    if len(judge) != len(human):
        raise ConfigError(f"{len(judge)} verdicts and {len(human)} labels are not of the same items")
    cells: dict[tuple[object, object], int] = {}
    dropped = 0
    for said, label in zip(judge, human, strict=True):
        if is_missing(said) or is_missing(label):
            dropped += 1
        else:
            cells[label, said] = cells.get((label, said), 0) + 1
    four = [cells.get(cell, 0) for cell in ((passed, passed), (passed, failed), (failed, passed), (failed, failed))]
    return Confusion(*four, cells=cells, dropped=dropped)


def _balanced(tpr: Estimate, tnr: Estimate, level: float) -> Estimate:
    """The mean of two independent shares, its ends from theirs (as in Newcombe's interval of a difference)."""
    a, b = tpr.interval, tnr.interval
    if tpr.value is None or tnr.value is None or a is None or b is None:
        return undefined("no_data", "one class has no labels", level=level)
    value = (tpr.value + tnr.value) / 2
    low = value - math.hypot(tpr.value - a[0], tnr.value - b[0]) / 2
    high = value + math.hypot(a[1] - tpr.value, b[1] - tnr.value) / 2
    return Estimate(value, max(0.0, low), min(1.0, high), n=tpr.n + tnr.n, level=level)


def judge_accuracy(table: Confusion, *, level: float = 0.95, exact: bool = False) -> JudgeAccuracy:
    """TPR = judge PASS | human PASS, TNR = judge FAIL | human FAIL, accuracy, their mean, and kappa.

    Wilson's intervals, or with `exact` those of Clopper and Pearson. A class without labels is `no_data`.

    >>> found = judge_accuracy(Confusion(tp=54, fn=6, fp=7, tn=33))  # intervals: statsmodels 0.15.0
    >>> print(found.tpr, "|", found.tnr, "|", round(found.kappa.value, 7))
    0.900 [0.799, 0.953] | 0.825 [0.681, 0.913] | 0.7280335
    """
    interval: BinomialInterval = clopper_pearson if exact else wilson
    tpr = interval(table.tp, table.tp + table.fn, level=level)
    tnr = interval(table.tn, table.tn + table.fp, level=level)
    counts = ((table.tp, "P", "P"), (table.fn, "P", "F"), (table.fp, "F", "P"), (table.tn, "F", "F"))
    human = [label for count, label, _ in counts for _ in range(count)]
    judge = [said for count, _, said in counts for _ in range(count)]
    return JudgeAccuracy(
        tpr,
        tnr,
        interval(table.tp + table.tn, table.n, level=level),
        _balanced(tpr, tnr, level),
        cohen_kappa(human, judge, scale=["F", "P"], level=level),
    )
