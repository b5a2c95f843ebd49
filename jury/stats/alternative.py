"""The Alternative Annotator Test: may a judge stand in for a human annotator?

Each annotator in turn is left out and compared with the judge: who agrees better with the remaining annotators? Needs
labels of three or more people, not a truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jury.errors import ConfigError
from jury.stats.distributions import t_two_sided
from jury.stats.estimate import Estimate, Reason, undefined
from jury.stats.table import FloatArray, Ratings, RatingTable, is_missing, rating_table

ENOUGH_ITEMS = 30


@dataclass(frozen=True, slots=True)
class AnnotatorDuel:
    """The judge against one annotator. `judge_share` is the share of items on which the judge does at least as well,
    `annotator_share` the same for the annotator (both count ties); `p_value` is of "worse by epsilon or more".
    """

    n: int
    judge_share: Estimate
    annotator_share: Estimate
    p_value: float | None
    won: bool


@dataclass(frozen=True, slots=True)
class AlternativeTest:
    """`winning_rate` is the share of annotators that the judge may replace; `passed` asks for half of them.

    `advantage` is the mean of the judge's shares: how often the judge does at least as well as a person. Annotators
    with fewer than 30 usable items are not tested and count in neither half; without any `reason` says so and `passed`
    is None.
    """

    winning_rate: Estimate
    advantage: Estimate
    duels: tuple[AnnotatorDuel, ...]
    passed: bool | None
    reason: Reason | None = None


def false_discovery(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """p-values corrected by Benjamini and Yekutieli for any dependence, in the order given; None stays None.

    Source: Benjamini and Yekutieli 2001 (10.1214/aos/1013699998).

    >>> [round(p, 4) for p in false_discovery([0.01, 0.04, 0.03])]  # by hand: 3 * 11/6 * p / rank, from above
    [0.055, 0.0733, 0.0733]
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    if any(not 0.0 <= p <= 1.0 for p, _ in known):
        raise ConfigError("p-values lie in [0, 1]")
    m = len(known)
    factor = sum(1.0 / k for k in range(1, m + 1))
    corrected: list[float | None] = [None] * len(p_values)
    running = 1.0
    for rank in range(m, 0, -1):
        p, i = known[rank - 1]
        running = min(running, p * m * factor / rank)
        corrected[i] = running
    return tuple(corrected)


def _scores(said: FloatArray, others: FloatArray, numeric: bool) -> FloatArray:
    """How well one voice fits the remaining annotators of each item: share of equal labels, or minus the RMSE."""
    known = np.isfinite(others)
    gap = np.where(known, others - said[:, None], 0.0)
    if numeric:
        return -np.sqrt((gap**2).sum(axis=1) / known.sum(axis=1))
    return (known & (gap == 0.0)).sum(axis=1) / known.sum(axis=1)


def _duel(judge: FloatArray, people: FloatArray, j: int, epsilon: float, numeric: bool) -> AnnotatorDuel:
    others = np.delete(people, j, axis=1)
    usable = np.isfinite(judge) & np.isfinite(people[:, j]) & np.isfinite(others).any(axis=1)
    n = int(usable.sum())
    if n < ENOUGH_ITEMS:
        nothing = undefined("too_few_items", f"{n} items, fewer than {ENOUGH_ITEMS}", n=n)
        return AnnotatorDuel(n, nothing, nothing, None, False)
    ours = _scores(judge[usable], others[usable], numeric)
    theirs = _scores(people[usable, j], others[usable], numeric)
    judge_wins, person_wins = (ours >= theirs - 1e-12).astype(np.float64), (theirs >= ours - 1e-12).astype(np.float64)
    gap = person_wins - judge_wins
    excess, spread = float(gap.mean()) - epsilon, float(gap.std(ddof=1))
    if spread == 0.0:
        p = 0.0 if excess < 0 else 1.0
    else:
        t = excess / (spread / math.sqrt(n))
        two = t_two_sided(t, n - 1)
        p = two / 2 if t < 0 else 1.0 - two / 2
    return AnnotatorDuel(n, Estimate(float(judge_wins.mean()), n=n), Estimate(float(person_wins.mean()), n=n), p, False)


def alternative_annotator_test(
    judge: Sequence[object],
    people: Ratings,
    *,
    epsilon: float = 0.2,
    alpha: float = 0.05,
    numeric: bool = False,
) -> AlternativeTest:
    """Test whether a judge may replace the annotators: one verdict an item, and rows of labels, one column a person.

    For each person a one-sided t test over the items asks whether the judge is worse by less than `epsilon` (0.2 for
    experts, 0.15 skilled people, 0.1 crowd workers); the p-values are corrected by `false_discovery`. `numeric` scores
    by distance, else by equal labels. None and NaN are no label. Fewer than three people: `too_few_raters`; nobody with
    30 items: `too_few_items`.

    Source: arXiv 2501.10970.

    >>> people = [["P", "P", "P"], ["F", "F", "P"], ["P", "F", "P"], ["F", "F", "F"]] * 10
    >>> found = alternative_annotator_test(["P", "F", "P", "F"] * 10, people)  # the judge says what the first one says
    >>> found.passed, found.duels[0].judge_share.value, found.duels[0].annotator_share.value
    (True, 1.0, 1.0)
    """
    table = rating_table(people)
    if len(judge) != len(table.codes):
        raise ConfigError(f"{len(judge)} verdicts and {len(table.codes)} rows of labels are not of the same items")
    if not 0.0 <= epsilon < 1.0:
        raise ConfigError(f"epsilon lies in [0, 1), got {epsilon!r}")
    if table.n_judges < 3:
        nothing = undefined("too_few_raters", "the test needs three people")
        return AlternativeTest(nothing, nothing, (), None, "too_few_raters")
    labels, said = _numbers(table, judge, numeric)
    duels = [_duel(said, labels, j, epsilon, numeric) for j in range(table.n_judges)]
    corrected = false_discovery([duel.p_value for duel in duels])
    duels = [
        AnnotatorDuel(d.n, d.judge_share, d.annotator_share, d.p_value, p is not None and p < alpha)
        for d, p in zip(duels, corrected, strict=True)
    ]
    tested = [d for d in duels if d.p_value is not None]
    if not tested:
        nothing = undefined("too_few_items", f"nobody has {ENOUGH_ITEMS} usable items")
        return AlternativeTest(nothing, nothing, tuple(duels), None, "too_few_items")
    rate = sum(d.won for d in tested) / len(tested)
    advantage = sum(d.judge_share.value or 0.0 for d in tested) / len(tested)
    return AlternativeTest(Estimate(rate, n=len(tested)), Estimate(advantage, n=len(tested)), tuple(duels), rate >= 0.5)


def _numbers(table: RatingTable, judge: Sequence[object], numeric: bool) -> tuple[FloatArray, FloatArray]:
    """Labels of the people and of the judge as numbers, NaN where there is none."""
    values = table.numbers("a numeric comparison") if numeric else np.arange(len(table.categories), dtype=np.float64)
    labels = np.where(table.codes >= 0, np.append(values, np.nan)[table.codes], np.nan)
    if numeric:
        if any(isinstance(v, str) for v in judge):
            raise ConfigError("a numeric comparison needs numbers from the judge")
        return labels, np.array([np.nan if is_missing(v) else float(str(v)) for v in judge], dtype=np.float64)
    places: dict[tuple[bool, object], int] = {(type(c) is bool, c): k for k, c in enumerate(table.categories)}
    said = [np.nan if is_missing(v) else float(places.get((type(v) is bool, v), -1)) for v in judge]
    return labels, np.array(said, dtype=np.float64)
