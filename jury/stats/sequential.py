"""Asking judges one after another: when the outcome is certain, when it is likely enough, and how often that is wrong.

Works on counts and probabilities in plain Python; the rule by which the panel itself stops, on real votes, is
`jury.stopping`. The bounds hold for independent judges of known accuracy. Shared errors break them: with accuracy 0.8
and error correlation 0.4, five agreeing judges claim 0.999 and are right in 0.866 (`votes.effective_votes` tempers).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from jury.errors import ConfigError

Counts: TypeAlias = Mapping[str, int]
OutcomeRule: TypeAlias = Callable[[Counts], str]


def strict_majority(*, usable: Sequence[str] = ("PASS", "FAIL", "NA"), quorum: int = 1) -> OutcomeRule:
    """The value with more than half of the usable votes, else INCONCLUSIVE; also below the quorum of usable votes.

    Where every vote is an ERROR the outcome is ERROR.

    >>> rule = strict_majority(quorum=2)
    >>> rule({"PASS": 2, "FAIL": 1}), rule({"PASS": 1, "ABSTAIN": 1}), rule({"ERROR": 3})
    ('PASS', 'INCONCLUSIVE', 'ERROR')
    """

    def rule(counts: Counts) -> str:
        votes = {value: counts.get(value, 0) for value in usable}
        total = sum(votes.values())
        if counts.get("ERROR", 0) and counts.get("ERROR", 0) == sum(counts.values()):
            return "ERROR"
        if total < max(quorum, 1):
            return "INCONCLUSIVE"
        return next((value for value, count in votes.items() if 2 * count > total), "INCONCLUSIVE")

    return rule


def plurality(*, usable: Sequence[str] = ("PASS", "FAIL", "NA")) -> OutcomeRule:
    """The value with the most usable votes; INCONCLUSIVE for a tie or no vote.

    >>> plurality()({"PASS": 2, "FAIL": 1, "NA": 1})
    'PASS'
    """

    def rule(counts: Counts) -> str:
        top = max((counts.get(value, 0) for value in usable), default=0)
        leaders = [value for value in usable if counts.get(value, 0) == top]
        return leaders[0] if top and len(leaders) == 1 else "INCONCLUSIVE"

    return rule


def veto(*, against: str = "FAIL", otherwise: str = "PASS") -> OutcomeRule:
    """One vote `against` decides; `otherwise` needs at least one vote of its own.

    >>> veto()({"PASS": 4, "FAIL": 1}), veto()({"PASS": 4}), veto()({"ABSTAIN": 1})
    ('FAIL', 'PASS', 'INCONCLUSIVE')
    """

    def rule(counts: Counts) -> str:
        if counts.get(against, 0):
            return against
        return otherwise if counts.get(otherwise, 0) else "INCONCLUSIVE"

    return rule


def reachable_outcomes(votes: Counts, planned: int, possible: Sequence[str], rule: OutcomeRule) -> frozenset[str]:
    """All outcomes that the votes still to come can lead to; one alone means that asking may stop.

    `planned` is the number of votes in the end, `possible` what a vote may be (ABSTAIN and ERROR belong to it unless
    they are ruled out). Counts are tried, not sequences: C(m + v - 1, v - 1) of them for m votes of v values.

    >>> sorted(reachable_outcomes({"PASS": 3}, 5, ["PASS", "FAIL", "ABSTAIN"], strict_majority()))
    ['PASS']
    >>> sorted(reachable_outcomes({"PASS": 2, "FAIL": 1}, 5, ["PASS", "FAIL"], strict_majority()))
    ['FAIL', 'PASS']
    """
    left = planned - sum(votes.values())
    if left < 0 or not possible:
        raise ConfigError("more votes than planned, or no possible vote")
    found: set[str] = set()
    for more in itertools.combinations_with_replacement(sorted(set(possible)), left):
        counts = dict(votes)
        for value in more:
            counts[value] = counts.get(value, 0) + 1
        found.add(rule(counts))
    return frozenset(found)


def _check_rates(rates: Sequence[tuple[float, float]], prior: float) -> None:
    if not 0.0 < prior < 1.0 or any(not 0.0 < rate < 1.0 for pair in rates for rate in pair):
        raise ConfigError("the prior and all TPR and TNR lie strictly between 0 and 1")


def _shift(passed: bool, tpr: float, tnr: float) -> float:
    """What one vote adds to the log odds of PASS."""
    return math.log(tpr / (1.0 - tnr)) if passed else math.log((1.0 - tpr) / tnr)


@dataclass(frozen=True, slots=True)
class BayesPath:
    """Posterior of PASS after each vote, after which vote (from 1) asking stops, and the verdict there.

    `stop_after` and `verdict` are None where the votes never become sure enough.
    """

    posterior: tuple[float, ...]
    stop_after: int | None
    verdict: str | None


def bayes_path(
    votes: Sequence[str | None],
    rates: Sequence[tuple[float, float]],
    *,
    prior: float = 0.5,
    epsilon: float = 0.05,
    temper: float = 1.0,
) -> BayesPath:
    """Update P(PASS) vote by vote and stop once max(P, 1 - P) >= 1 - epsilon.

    `votes` are "PASS", "FAIL" or None (no usable vote: no update); `rates` holds (TPR, TNR) of the judge of each vote,
    strictly inside (0, 1): take lower confidence bounds. `temper` in (0, 1] scales what each vote adds.
    P(wrong | stopped) <= epsilon whatever the order, if the judges err independently.

    >>> rates = [(0.9, 0.85), (0.8, 0.9), (0.75, 0.7), (0.9, 0.85), (0.8, 0.9)]
    >>> path = bayes_path(["PASS", None, "FAIL", "PASS", "PASS"], rates, prior=0.6)
    >>> [round(p, 4) for p in path.posterior], path.stop_after, path.verdict  # Bayes' rule by hand
    ([0.9, 0.9, 0.7627, 0.9507, 0.9936], 4, 'PASS')
    """
    _check_rates(rates, prior)
    if len(votes) > len(rates) or not 0.0 < temper <= 1.0:
        raise ConfigError("every vote needs the rates of its judge, and temper lies in (0, 1]")
    odds = math.log(prior / (1.0 - prior))
    posterior: list[float] = []
    stop: int | None = None
    for number, (vote, (tpr, tnr)) in enumerate(zip(votes, rates, strict=False), start=1):
        if vote not in ("PASS", "FAIL", None):
            raise ConfigError(f"a vote is PASS, FAIL or None, got {vote!r}")
        if vote is not None:
            odds += temper * _shift(vote == "PASS", tpr, tnr)
        p = 1.0 / (1.0 + math.exp(-odds))
        posterior.append(p)
        if stop is None and max(p, 1.0 - p) >= 1.0 - epsilon:
            stop = number
    verdict = None if stop is None else "PASS" if posterior[stop - 1] >= 0.5 else "FAIL"
    return BayesPath(tuple(posterior), stop, verdict)


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """What stopping by `bayes_path` does on average over items, for independent judges with these rates."""

    stopped_and_wrong: float
    undecided: float
    wrong_given_stopped: float | None
    expected_votes: float


def bayes_operating(
    rates: Sequence[tuple[float, float]], *, prior: float = 0.5, epsilon: float = 0.05
) -> OperatingPoint:
    """Error, undecided share and mean number of votes of `bayes_path`, exactly, over all sequences of votes.

    Every judge gives a vote. Cost grows as 2^judges: at most 20. `wrong_given_stopped` is None where it never stops.

    >>> rates = [(0.9, 0.85), (0.8, 0.9), (0.75, 0.7), (0.9, 0.85), (0.8, 0.9)]
    >>> point = bayes_operating(rates, prior=0.6)  # enumeration of all vote sequences
    >>> round(point.wrong_given_stopped, 7), round(point.undecided, 6), round(point.expected_votes, 5)
    (0.0251165, 0.057832, 2.62274)
    """
    _check_rates(rates, prior)
    if len(rates) > 20:
        raise ConfigError("at most 20 judges can be enumerated")
    wrong = undecided = votes = 0.0
    # Each state: how many judges were asked, log odds, and the joint chance of these votes with PASS and with FAIL.
    pending = [(0, math.log(prior / (1.0 - prior)), prior, 1.0 - prior)]
    while pending:
        asked, odds, with_pass, with_fail = pending.pop()
        p = 1.0 / (1.0 + math.exp(-odds))
        if asked and max(p, 1.0 - p) >= 1.0 - epsilon:
            wrong += with_fail if p >= 0.5 else with_pass
            votes += asked * (with_pass + with_fail)
        elif asked == len(rates):
            undecided += with_pass + with_fail
            votes += asked * (with_pass + with_fail)
        else:
            tpr, tnr = rates[asked]
            pending.append((asked + 1, odds + _shift(True, tpr, tnr), with_pass * tpr, with_fail * (1.0 - tnr)))
            pending.append((asked + 1, odds + _shift(False, tpr, tnr), with_pass * (1.0 - tpr), with_fail * tnr))
    stopped = 1.0 - undecided
    return OperatingPoint(wrong, undecided, wrong / stopped if stopped > 1e-15 else None, votes)


def wald_bounds(alpha: float = 0.05, beta: float = 0.05) -> tuple[float, float]:
    """Lower and upper bound of the log likelihood ratio in Wald's sequential test.

    The true errors are at most alpha / (1 - beta) and beta / (1 - alpha).

    Source: Wald 1945 (10.1214/aoms/1177731118).

    >>> [round(bound, 4) for bound in wald_bounds()]  # by hand: log 19
    [-2.9444, 2.9444]
    """
    if not (0.0 < alpha < 1.0 and 0.0 < beta < 1.0 and alpha + beta < 1.0):
        raise ConfigError("alpha and beta are positive and add up to less than 1")
    return math.log(beta / (1.0 - alpha)), math.log((1.0 - beta) / alpha)
