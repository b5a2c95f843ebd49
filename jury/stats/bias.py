"""Leanings of a judge that have nothing to do with quality: position, length, its own family. And Holm's correction.

Every result has an effect size with an interval first and a p-value second; with many judges or criteria correct the
p-values with `holm`. None of these numbers proves a bias by itself: longer answers may be better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jury.errors import ConfigError
from jury.stats.accuracy import Confusion
from jury.stats.distributions import normal_two_sided, sign_test, z_value
from jury.stats.estimate import Estimate, undefined
from jury.stats.intervals import newcombe, wilson
from jury.stats.logistic import fit_logistic
from jury.stats.paired import PairedComparison, PairedCounts, mcnemar, mean_gap
from jury.stats.table import FloatArray, is_missing


@dataclass(frozen=True, slots=True)
class PositionBias:
    """Verdicts on the same pairs in both orders. Counts: `consistent`, `primacy` (the first shown won twice), `recency`
    (the second shown won twice), `mixed` (a tie against a side), `dropped` (a verdict is missing).

    `flip_rate` is primacy and recency, `change_rate` mixed ones too, both over the usable pairs; `lean` is primacy
    minus recency over the usable pairs, `p_value` the exact test of primacy against recency (None without flips).
    """

    consistent: int
    primacy: int
    recency: int
    mixed: int
    dropped: int
    consistency: Estimate
    flip_rate: Estimate
    change_rate: Estimate
    lean: Estimate
    p_value: float | None

    @property
    def n(self) -> int:
        return self.consistent + self.primacy + self.recency + self.mixed


def position_bias(verdicts: Sequence[tuple[str | None, str | None]], *, level: float = 0.95) -> PositionBias:
    """Position bias of one judge. Each entry: the winner with A shown first, and with B shown first, both by content.

    Winners are "A", "B" or "tie" (any case), None where there is no verdict: that pair is dropped and counted. Part of
    any flip rate is noise: compare with the flips of the same order asked twice (`stability.flip_rate`).

    Sources: arXiv 2305.17926, 2406.07791.

    >>> pairs = [("A", "A")] * 11 + [("A", "B")] * 6 + [("B", "A")] * 2 + [("A", "TIE")]
    >>> found = position_bias(pairs)  # statsmodels 0.15.0, scipy 1.12.0: 0.4 (0.219 to 0.613), p 0.2890625
    >>> print(found.flip_rate, found.lean.value, found.p_value)
    0.400 [0.219, 0.613] 0.2 0.2890625
    """
    consistent = primacy = recency = mixed = dropped = 0
    for pair in verdicts:
        if is_missing(pair[0]) or is_missing(pair[1]):
            dropped += 1
            continue
        first, second = (str(winner).upper() for winner in pair)
        if first not in ("A", "B", "TIE") or second not in ("A", "B", "TIE"):
            raise ConfigError(f"a winner is A, B, tie or None, got {pair!r}")
        consistent += first == second
        primacy += (first, second) == ("A", "B")
        recency += (first, second) == ("B", "A")
        mixed += first != second and "TIE" in (first, second)
    n, flips = consistent + primacy + recency + mixed, primacy + recency
    lean = mcnemar(PairedCounts(primacy, recency, 0, n - flips), level=level).difference
    return PositionBias(
        consistent,
        primacy,
        recency,
        mixed,
        dropped,
        wilson(consistent, n, level=level),
        wilson(flips, n, level=level),
        wilson(flips + mixed, n, level=level),
        lean,
        sign_test(primacy, flips) if flips else None,
    )


@dataclass(frozen=True, slots=True)
class LengthBias:
    """How the chance to win moves with length. `coefficient` is on the scale of tanh(length gap / sd).

    `raw` is the rate at which A wins, `controlled` the same at equal lengths (and, with covariates, at their zero).
    `regularised` marks a fit held back because lengths predict the winner without exception.
    """

    raw: Estimate
    controlled: Estimate
    coefficient: Estimate
    p_value: float | None
    regularised: bool = False


def length_bias(
    wins: Sequence[float | None],
    length_a: Sequence[float],
    length_b: Sequence[float],
    *,
    covariates: Sequence[Sequence[float]] = (),
    level: float = 0.95,
) -> LengthBias:
    """Logistic regression of "A wins" (1, 0, or 0.5 for a tie; None drops the pair) on the difference of lengths.

    `covariates` are further columns that explain a deserved win: the human verdict (1, 0, centred at 0.5), or the gap
    of reference scores. With them the coefficient is length given quality. Equal lengths everywhere, or always the same
    winner: `no_variation`; no pairs: `no_data`.

    Source: arXiv 2404.04475 (length-controlled win rates; two-parameter form).

    >>> found = length_bias([1, 1, 0, 1, 0, 0], [9, 8, 3, 5, 6, 2], [4, 5, 6, 6, 5, 4])
    >>> round(found.raw.value, 2), found.coefficient.value > 0, found.regularised
    (0.5, True, False)
    """
    z = z_value(level)
    if not len(wins) == len(length_a) == len(length_b) or any(len(column) != len(wins) for column in covariates):
        raise ConfigError("wins, lengths and covariates are of the same pairs")
    kept = [i for i, win in enumerate(wins) if not is_missing(win)]
    outcome = np.array([float(wins[i] or 0.0) for i in kept], dtype=np.float64)
    if not kept:
        nothing = undefined("no_data", level=level)
        return LengthBias(nothing, nothing, nothing, None)
    gap = np.array([float(length_a[i]) - float(length_b[i]) for i in kept], dtype=np.float64)
    raw = _win_rate(outcome, level)
    if float(gap.std()) == 0.0 or float(outcome.std()) == 0.0:
        nothing = undefined("no_variation", n=len(kept), level=level)
        return LengthBias(raw, nothing, nothing, None)
    others = [np.array([float(column[i]) for i in kept], dtype=np.float64) for column in covariates]
    fit = fit_logistic(np.column_stack([np.ones(len(kept)), np.tanh(gap / gap.std()), *others]), outcome)
    if not np.isfinite(fit.covariance).all():
        nothing = undefined("no_convergence", n=len(kept), level=level)
        return LengthBias(raw, nothing, nothing, None, True)
    note = "regularised: the lengths separate the winners" if fit.ridge else ""
    (base, slope), errors = fit.coefficients[:2].tolist(), np.sqrt(np.diag(fit.covariance))[:2].tolist()
    low, middle, high = (1.0 / (1.0 + math.exp(-(base + side * z * errors[0]))) for side in (-1, 0, 1))
    controlled = Estimate(middle, low, high, n=len(kept), level=level, note=note)
    ends = (slope - z * errors[1], slope + z * errors[1])
    coefficient = Estimate(slope, *ends, n=len(kept), se=errors[1], level=level, note=note)
    return LengthBias(raw, controlled, coefficient, normal_two_sided(slope / errors[1]), bool(fit.ridge))


def _win_rate(outcome: FloatArray, level: float) -> Estimate:
    """Wilson's interval where all games are decided; a tie is half a win, whose spread no binomial describes."""
    if set(np.unique(outcome).tolist()) <= {0.0, 1.0}:
        return wilson(int(outcome.sum()), len(outcome), level=level)
    value, se = float(outcome.mean()), float(outcome.std()) / math.sqrt(len(outcome))
    z = z_value(level)
    return Estimate(value, max(0.0, value - z * se), min(1.0, value + z * se), n=len(outcome), se=se, level=level)


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """A judge's rate for its own family, the other judges' rate for the same family, and the gap between the two."""

    own: Estimate
    others: Estimate
    difference: Estimate
    p_value: float | None


def self_preference(own_wins: int, own_n: int, other_wins: int, other_n: int, *, level: float = 0.95) -> SelfPreference:
    """Own-family win (or pass) rate of the own judge against that of the other judges, on different votes.

    The gap has Newcombe's interval, its p-value is that of the pooled two-sample z test. A side without votes is
    `no_data`. On the same items use `self_preference_shared`. A family that is not known is not
    computed: that is never "no bias".

    Sources: arXiv 2404.13076, 2410.21819.

    >>> print(self_preference(62, 100, 91, 200).difference)  # statsmodels 0.15.0: 0.0451023 to 0.2767315
    0.165 [0.045, 0.277]
    """
    own, others = wilson(own_wins, own_n, level=level), wilson(other_wins, other_n, level=level)
    gap = newcombe(own_wins, own_n, other_wins, other_n, level=level)
    if gap.value is None:
        return SelfPreference(own, others, gap, None)
    pooled = (own_wins + other_wins) / (own_n + other_n)
    se = math.sqrt(pooled * (1 - pooled) * (1 / own_n + 1 / other_n))
    return SelfPreference(own, others, gap, normal_two_sided(gap.value / se) if se > 0 else None)


def self_preference_paired(counts: PairedCounts, *, level: float = 0.95) -> PairedComparison:
    """The same on shared items: a is "the own judge favours its family", b "the other judge favours that family".

    >>> # by hand: (22 - 10) / 122 -+ 1.96 * sqrt((32/122 - (12/122)^2) / 122)
    >>> print(self_preference_paired(PairedCounts(only_a=21, only_b=9, both=60, neither=30)).difference)
    0.100 [0.009, 0.188]
    """
    return mcnemar(counts, level=level)


def self_preference_shared(
    own: Sequence[bool | None], others: Sequence[Sequence[bool | None]], *, level: float = 0.95
) -> SelfPreference:
    """The same on shared items with any number of other judges: `own` verdicts by item, `others` by item and judge.

    True is a verdict that favours the family, None no verdict. An item counts where the judge and somebody else voted:
    with the judge's vote minus the mean of the others' votes on it, so that what all can see in an answer is no noise,
    and the votes of others who err together are no independent ones. With one other judge it is
    `self_preference_paired`. Interval and p-value are those of `paired.mean_gap`; no such item: `no_data`.

    >>> favours = [(True, False)] * 21 + [(False, True)] * 9 + [(True, True)] * 60 + [(False, False)] * 30
    >>> print(self_preference_shared([a for a, _ in favours], [[b] for _, b in favours]).difference)  # as above
    0.100 [0.009, 0.188]
    >>> print(self_preference_shared([a for a, _ in favours], [[b] * 4 for _, b in favours]).difference)
    0.100 [0.010, 0.186]
    """
    votes = [(mine, [v for v in all_said if v is not None]) for mine, all_said in zip(own, others, strict=True)]
    shared = [(mine, said) for mine, said in votes if mine is not None and said]
    if not shared:
        nothing = undefined("no_data", level=level)
        return SelfPreference(nothing, nothing, nothing, None)
    gaps = [mine - sum(said) / len(said) for mine, said in shared]
    # A gap of one vote against k others has at most this root mean square where all votes are even and apart.
    far = math.sqrt((1.0 + sum(1.0 / len(said) for _, said in shared) / len(shared)) / 2.0)
    found, p_value = mean_gap(gaps, far=far, level=level)
    mean = sum(sum(said) / len(said) for _, said in shared) / len(shared)
    rate = wilson(sum(mine for mine, _ in shared), len(shared), level=level)
    return SelfPreference(rate, Estimate(mean, n=len(shared), level=level), found, p_value)


def false_pass_gap(own: Confusion, foreign: Confusion, *, level: float = 0.95) -> Estimate:
    """Rate at which a judge passes what people failed, on its own family's outputs minus on the others'.

    Given human labels this is the measure that quality does not confound. No human FAIL on one side: `no_data`.

    >>> print(false_pass_gap(Confusion(0, 0, 62, 38), Confusion(0, 0, 91, 109)))  # as newcombe(62, 100, 91, 200)
    0.165 [0.045, 0.277]
    """
    return newcombe(own.fp, own.fp + own.tn, foreign.fp, foreign.fp + foreign.tn, level=level)


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """p-values corrected for their number by Holm's step-down rule, in the order given; None stays None, uncounted.

    Source: Holm 1979 (Scandinavian Journal of Statistics 6, 65-70).

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005])]  # by hand: 3 * .01, 2 * .03 twice, 4 * .005
    [0.03, 0.06, 0.06, 0.02]
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    if any(not 0.0 <= p <= 1.0 for p, _ in known):
        raise ConfigError("p-values lie in [0, 1]")
    corrected: list[float | None] = [None] * len(p_values)
    running = 0.0
    for rank, (p, i) in enumerate(known):
        running = max(running, min(1.0, (len(known) - rank) * p))
        corrected[i] = running
    return tuple(corrected)
