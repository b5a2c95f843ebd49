"""When a vote is settled: the seats that have not answered cannot change the verdict any more. Pure arithmetic.

`stop="decided"` never changes a verdict. A pending seat may yet vote for anything, abstain, fail, or fail and be
replaced by a stand-in: in all cases it adds at most one vote. So the extreme completions decide: nobody else votes, or
all the pending ones vote alike. If these all give the same outcome, every other completion does too:

- plurality, majority, unanimity: a winner must survive that all pending votes go to any one rival; no winner must
  remain none although all pending votes go to any one value (docs/design/stopping.md has the proof; a test checks it
  over all small panels).
- numbers: each rule is monotone in every vote, so for each number of further votes the outcome lies between "all
  lowest" and "all highest"; a trimmed mean with unequal weights is not, and settles only where all votes are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jury.aggregation import Ballot, Rule
from jury.scales import Numeric

_UNKNOWN = object()  # an outcome that a tie-break function would have to decide: never equal to another one


def settled(votes: Sequence[Ballot], rule: Rule, quorum: int, pending: Sequence[float]) -> bool:
    """Whether no completion changes the outcome. `pending`: the largest weight each vote still to come may have."""
    deciding = [v for v in votes if v.decided]
    return _settled([v.value for v in deciding], [v.weight for v in deciding], rule, quorum, pending)


def next_wave(votes: Sequence[Ballot], rule: Rule, quorum: int, pending: Sequence[float]) -> int:
    """How many more seats to ask at once: the fewest that could settle the vote; 0 where it is settled."""
    deciding = [v for v in votes if v.decided]
    values, weights = [v.value for v in deciding], [v.weight for v in deciding]
    if _settled(values, weights, rule, quorum, pending):
        return 0
    candidates = _extremes(rule)
    if rule.name == "unanimous" and len(candidates) > 1 and not values:
        return min(2, len(pending))  # the first two may differ
    for size in range(1, len(pending)):
        for value in candidates:
            more = [value] * size
            if _settled(values + more, weights + list(pending[:size]), rule, quorum, pending[size:]):
                return size
    return len(pending)


def _settled(values: list[Any], weights: list[float], rule: Rule, quorum: int, pending: Sequence[float]) -> bool:
    if not pending:
        return True
    if len(values) + len(pending) < quorum:
        return True
    first = _outcome(values, weights, rule, quorum)
    numeric = isinstance(rule.scale, Numeric)
    for count in range(1, len(pending) + 1) if numeric else (len(pending),):
        more = sorted(pending, reverse=True)[:count]
        for value in _extremes(rule):
            if _outcome(values + [value] * count, weights + more, rule, quorum) != first:
                return False
    return first is not _UNKNOWN


def _extremes(rule: Rule) -> tuple[Any, ...]:
    scale = rule.scale
    return (scale.low, scale.high) if isinstance(scale, Numeric) else scale.values


def _outcome(values: list[Any], weights: list[float], rule: Rule, quorum: int) -> Any:
    if len(values) < quorum or not values:
        return None
    if rule.tie_break is not None:
        outcome = Rule(rule.name, rule.scale).combine(values, weights)
        return _UNKNOWN if outcome.reason == "tie" else outcome.value
    return rule.combine(values, weights).value
