"""Rates of a run, and the pass rate corrected for the judge's error rates (Rogan and Gladen).

Which correction is valid depends on how the labels were drawn, and no function can see that from the numbers:

    labels drawn            use
    at random               `ppi.ppi_mean` or `ppi.stratified_rate`; `rogan_gladen` is valid too, but wider
    by the judge's verdict  `ppi.stratified_rate` (also with unequal shares)
    by the human class, or  `rogan_gladen`: it only needs error rates that carry over
    from an older period
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jury.errors import ConfigError
from jury.stats.accuracy import Confusion
from jury.stats.distributions import check_level, z_value
from jury.stats.estimate import Estimate, undefined
from jury.stats.intervals import check_counts, wilson
from jury.stats.resampling import Seed, generator
from jury.stats.table import FloatArray


@dataclass(frozen=True, slots=True)
class VerdictRates:
    """The rates of a run, each with Wilson's interval and its own base.

    `pass_rate` is over PASS + FAIL; `coverage` (PASS, FAIL and NA), `error_rate` and `inconclusive_rate` over all that
    was attempted; `na_rate` over all that is no error. `bounds` holds the pass rate if every inconclusive item and
    every error had failed, and if they had all passed: what selection by errors could hide.
    """

    pass_rate: Estimate
    coverage: Estimate
    error_rate: Estimate
    inconclusive_rate: Estimate
    na_rate: Estimate
    bounds: tuple[float, float] | None


def verdict_rates(
    passed: int, failed: int, *, na: int = 0, inconclusive: int = 0, errors: int = 0, level: float = 0.95
) -> VerdictRates:
    """Rates from counts of items. Targets that were never judged are not attempted: leave them out.

    A rate without a base is `no_data`.

    >>> rates = verdict_rates(41, 9, na=30, inconclusive=4, errors=6)
    >>> print(rates.pass_rate, rates.error_rate.value, round(rates.na_rate.value, 3))  # interval: statsmodels 0.15.0
    0.820 [0.692, 0.902] 0.06666666666666667 0.357
    """
    if min(passed, failed, na, inconclusive, errors) < 0:
        raise ConfigError("counts are not negative")
    attempted = passed + failed + na + inconclusive + errors
    unknown = inconclusive + errors
    base = passed + failed + unknown
    return VerdictRates(
        wilson(passed, passed + failed, level=level),
        wilson(passed + failed + na, attempted, level=level),
        wilson(errors, attempted, level=level),
        wilson(inconclusive, attempted, level=level),
        wilson(na, attempted - errors, level=level),
        (passed / base, (passed + unknown) / base) if base else None,
    )


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """A pass rate corrected for the judge's errors. `estimate` is clipped to [0, 1], `unclipped` is not.

    `observed` is the judge's own rate; `youden` is TPR + TNR - 1.
    """

    estimate: Estimate
    unclipped: float | None
    observed: Estimate
    tpr: Estimate
    tnr: Estimate
    youden: float | None


def _clip(x: float) -> float:
    return min(1.0, max(0.0, x))


def _delta(rate: float, tpr: float, tnr: float, sizes: tuple[float, float, float]) -> tuple[float, float]:
    """The corrected rate and its standard error by the delta method; sizes are all items, human PASS, human FAIL."""
    n, n_pass, n_fail = sizes
    j = tpr + tnr - 1.0
    theta = (rate + tnr - 1.0) / j
    variance = (
        rate * (1 - rate) / n + (1 - theta) ** 2 * tnr * (1 - tnr) / n_fail + theta**2 * tpr * (1 - tpr) / n_pass
    ) / j**2
    return theta, math.sqrt(variance)


def rogan_gladen(
    labelled: Confusion, judge_pass: int, judge_total: int, *, level: float = 0.95, adjusted: bool = True
) -> CorrectedRate:
    """The pass rate that people would give, from a judge's rate and its error rates on labelled items.

    theta = (p + TNR - 1) / (TPR + TNR - 1) for the judge's rate p over `judge_total` items. Valid if TPR and TNR are
    the same in both sets; the labelled set may be balanced by class. A class without labels is `no_data`;
    TPR + TNR <= 1 is `no_better_than_chance`. The interval is that of Lang and Reiczigel (pseudo-counts; it keeps its
    level with few or no errors among the labels); with `adjusted=False` it is that of the delta method, too narrow for
    a judge without errors.

    Sources: Rogan and Gladen 1978 (10.1093/oxfordjournals.aje.a112510); Lang and Reiczigel 2014
    (10.1016/j.prevetmed.2013.09.015); for judges of language models arXiv 2511.21140.

    >>> table = Confusion(tp=54, fn=6, fp=7, tn=33)
    >>> print(rogan_gladen(table, 640, 1000, adjusted=False).estimate)  # judgy 0.1.0 gives the value 0.6413793
    0.641 [0.543, 0.739]
    >>> rogan_gladen(Confusion(tp=5, fn=5, fp=6, tn=4), 30, 60).estimate.reason
    'no_better_than_chance'
    """
    check_counts(judge_pass, judge_total)
    z = z_value(level)
    n_pass, n_fail = labelled.tp + labelled.fn, labelled.tn + labelled.fp
    observed = wilson(judge_pass, judge_total, level=level)
    tpr, tnr = wilson(labelled.tp, n_pass, level=level), wilson(labelled.tn, n_fail, level=level)
    if observed.value is None or tpr.value is None or tnr.value is None:
        note = "the correction needs judged items and labels of both classes"
        return CorrectedRate(undefined("no_data", note, level=level), None, observed, tpr, tnr, None)
    youden = tpr.value + tnr.value - 1.0
    if youden <= 1e-12:
        return CorrectedRate(
            undefined("no_better_than_chance", n=labelled.n, level=level), None, observed, tpr, tnr, youden
        )
    theta, se = _delta(observed.value, tpr.value, tnr.value, (judge_total, n_pass, n_fail))
    low, high = theta - z * se, theta + z * se
    if adjusted:
        low, high = _adjusted(labelled, judge_pass, judge_total, z)
    note = "" if 0.0 <= theta <= 1.0 else f"clipped from {theta:.3f}"
    low, high = min(_clip(low), _clip(theta)), max(_clip(high), _clip(theta))
    estimate = Estimate(_clip(theta), low, high, n=labelled.n, se=se, level=level, note=note)
    return CorrectedRate(estimate, theta, observed, tpr, tnr, youden)


def _adjusted(labelled: Confusion, judge_pass: int, judge_total: int, z: float) -> tuple[float, float]:
    """The interval of Lang and Reiczigel: the delta method after adding pseudo-counts, with a shift of the centre."""
    n, n_pass, n_fail = judge_total + z * z, labelled.tp + labelled.fn + 2.0, labelled.tn + labelled.fp + 2.0
    rate = (judge_pass + z * z / 2) / n
    tpr, tnr = (labelled.tp + 1.0) / n_pass, (labelled.tn + 1.0) / n_fail
    if tpr + tnr <= 1.0 + 1e-9:
        return 0.0, 1.0
    theta, se = _delta(rate, tpr, tnr, (n, n_pass, n_fail))
    theta = _clip(theta)
    shift = 2 * z * z * (theta * tpr * (1 - tpr) / n_pass - (1 - theta) * tnr * (1 - tnr) / n_fail)
    return theta + shift - z * se, theta + shift + z * se


def rogan_gladen_bootstrap(
    labelled: Confusion,
    judge_pass: int,
    judge_total: int,
    *,
    seed: Seed,
    replicates: int = 20_000,
    level: float = 0.95,
) -> CorrectedRate:
    """`rogan_gladen` with a parametric bootstrap interval that redraws the labelled and the judged items.

    A replicate with TPR + TNR <= 1 says nothing: it counts as 0 for the lower end and as 1 for the upper one, so that a
    weak judge widens the interval instead of being left out; `note` counts these. With an accurate judge and 50 labels
    it covers about 92% (benchmarks/coverage.py): `rogan_gladen` itself is the better default.

    >>> table = Confusion(tp=54, fn=6, fp=7, tn=33)
    >>> low, high = rogan_gladen_bootstrap(table, 640, 1000, seed=1).estimate.interval
    >>> round(low, 2), round(high, 2)  # numpy 1.26.4, another stream: 0.538 to 0.744
    (0.54, 0.74)
    """
    check_level(level)
    plain = rogan_gladen(labelled, judge_pass, judge_total, level=level, adjusted=False)
    if plain.estimate.value is None or plain.tpr.value is None or plain.tnr.value is None:
        return plain
    rng = generator(seed)

    def draw(n: int, share: float) -> FloatArray:
        return rng.binomial(n, share, size=replicates) / n

    tpr = draw(labelled.tp + labelled.fn, plain.tpr.value)
    tnr = draw(labelled.tn + labelled.fp, plain.tnr.value)
    rate = draw(judge_total, judge_pass / judge_total)
    usable = tpr + tnr - 1.0 > 1e-12
    theta = np.clip((rate + tnr - 1.0) / np.where(usable, tpr + tnr - 1.0, 1.0), 0.0, 1.0)
    tail = (1.0 - level) / 2.0
    low = float(np.quantile(np.where(usable, theta, 0.0), tail))
    high = float(np.quantile(np.where(usable, theta, 1.0), 1.0 - tail))
    lost = replicates - int(usable.sum())
    notes = [plain.estimate.note, f"{lost} of {replicates} replicates no better than chance" if lost else ""]
    estimate = Estimate(
        plain.estimate.value, low, high, n=labelled.n, level=level, note="; ".join(note for note in notes if note)
    )
    return CorrectedRate(estimate, plain.unclipped, plain.observed, plain.tpr, plain.tnr, plain.youden)
