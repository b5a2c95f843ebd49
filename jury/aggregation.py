"""Votes in, decision out; pure. Which votes there are is `panel.py`'s business, when enough of them are is
`stopping.py`'s.

A `Rule` is one way to combine values: `mode` (plurality), `majority` (more than half of the deciding votes),
`unanimous` for booleans and labels; `mean_std`, `median`, `trimmed_mean` (without the lowest and the highest of three
or more), `min`, `max` for numbers; or a function over all votes. Weights count in every built-in rule but `unanimous`,
`min` and `max`.
"""

from __future__ import annotations

import math
from asyncio import CancelledError
from collections import Counter
from collections.abc import Callable, Sequence
from inspect import iscoroutinefunction
from typing import Any, Protocol, cast, runtime_checkable

from jury.errors import ConfigError, ReplyError
from jury.frozen import frozen
from jury.redaction import told
from jury.results import Judgment, PanelStatus, Reason, Verdict
from jury.scales import INCONCLUSIVE, Labels, Numeric, Scale, Value, native, shown
from jury.wording import count

CATEGORICAL = ("mode", "majority", "unanimous")
WEIGHED = ("consistency", "dawid_skene", "labelled", "calibrated", "auto")  # fitted on a run: jury.weighing
NUMERIC = ("mean_std", "median", "trimmed_mean", "min", "max")
_EPSILON = 1e-9  # of all weight: 0.1 + 0.2 against 0.3 is a tie
# What a caller's own function may raise at the cost of one verdict; a key that was pressed is no fault of it.
_RAISED = (Exception, SystemExit, GeneratorExit, CancelledError)


class Ballot(Protocol):
    """What a rule sees of a vote (`Vote` and `PairVote` both fit)."""

    @property
    def judge(self) -> str: ...
    @property
    def value(self) -> Any: ...
    @property
    def decided(self) -> bool: ...
    @property
    def failed(self) -> bool: ...
    @property
    def abstained(self) -> bool: ...
    @property
    def explanation(self) -> str: ...
    @property
    def error(self) -> str | None: ...
    @property
    def unasked(self) -> bool: ...
    @property
    def replacement(self) -> bool: ...
    @property
    def weight(self) -> float: ...


@frozen
class Outcome:
    """What a rule makes of values: a value, or None with the reason. `tie` says that a tie-break chose it."""

    value: Value | None
    reason: Reason | None = None
    tie: bool = False
    detail: str = ""


@runtime_checkable
class Weigher(Protocol):
    """An aggregator that says how sure it is (`jury.weighing.Fitted`). `source`: labels, votes only, or none."""

    @property
    def source(self) -> str: ...
    @property
    def labels(self) -> tuple[Any, ...]: ...
    def weigh(self, votes: Any) -> tuple[Any, float | None]: ...


@frozen
class Rule:
    """A rule for a scale. `name` is one of the built-in names or `function`.

    `waiting` names a weighing that was asked for by name: it has nothing to go by before it is fitted on a run, so
    until then the votes count alike.
    """

    name: str
    scale: Scale
    function: Callable[[Sequence[Any]], Any] | None = None
    tie_break: Callable[[Sequence[Any]], Any] | None = None
    waiting: str = ""

    @classmethod
    def of(cls, given: Any, scale: Scale, tie_break: Any = None) -> Rule:
        """The rule for an `aggregator` argument (None: `mode`, or `mean_std` for numbers). Raises `ConfigError`."""
        if tie_break is not None and not callable(tie_break):
            raise ConfigError(
                f"tie_break must be a function from the deciding values to one of them, got {tie_break!r}"
            )
        for name, function in (("tie_break", tie_break), ("aggregator", given)):
            if iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
                raise ConfigError(f"{name} must be a plain function, not an async one: nothing awaits it")
        allowed = NUMERIC if isinstance(scale, Numeric) else CATEGORICAL
        if given is None:
            return cls(allowed[0], scale, tie_break=tie_break)
        _check_weights(given, scale)
        if callable(given):
            return cls("function", scale, given, tie_break)
        if given in WEIGHED:
            return cls(allowed[0], scale, tie_break=tie_break, waiting=given)
        if given not in allowed:
            what = "a numeric" if isinstance(scale, Numeric) else "a boolean or labelled"
            other = given in CATEGORICAL + NUMERIC
            why = f"does not fit {what} panel" if other else "is not known"
            raise ConfigError(
                f"aggregator {given!r} {why}; use one of {list(allowed + WEIGHED)}, or a function over the votes"
            )
        return cls(given, scale, tie_break=tie_break)

    def combine(self, values: Sequence[Any], weights: Sequence[float]) -> Outcome:
        """Deciding values and their weights, by a built-in rule. At least one value."""
        if not any(weights):
            weights = [1.0] * len(values)  # nobody's word counts more than another's
        if self.name in NUMERIC:
            return Outcome(_numeric(self.name, values, weights))
        totals: dict[Any, float] = {}
        for value, weight in zip(values, weights, strict=True):
            totals[value] = totals.get(value, 0.0) + weight
        best, whole = max(totals.values()), math.fsum(weights)
        leaders = [v for v, w in totals.items() if w >= best - _EPSILON * whole]
        if self.name == "unanimous":
            return Outcome(values[0]) if len(totals) == 1 else Outcome(None, "no_majority", detail="not all agree")
        if self.name == "majority":
            if best > (0.5 + _EPSILON) * whole:
                return Outcome(leaders[0])
            if len(leaders) == 1:
                detail = f"{_say(leaders[0])} leads without more than half of the deciding votes"
                return Outcome(None, "no_majority", detail=detail)
            return Outcome(None, "tie", detail=_tied(leaders, values))
        if len(leaders) == 1:
            return Outcome(leaders[0])
        return self._break(leaders, values)

    def _break(self, leaders: Sequence[Any], values: Sequence[Any]) -> Outcome:
        detail = _tied(leaders, values)
        if self.tie_break is not None:
            try:
                chosen = native(self.tie_break(list(values)))
            except _RAISED as error:  # the caller's code; the votes must survive it
                chosen, detail = None, f"{detail}; the tie-break raised {told(error)}"
            if chosen is not None:
                if any(type(chosen) is type(v) and chosen == v for v in values):
                    return Outcome(chosen, tie=True, detail=detail)
                detail += f"; the tie-break answered {shown(chosen)}, for which nobody voted"
        return Outcome(None, "tie", detail=detail)


@frozen
class Decision:
    """A panel's outcome on one item, before it becomes a result. `deciding`: how many votes decided."""

    status: PanelStatus
    value: Value
    passed: bool | None = None
    reason: Reason | None = None
    explanation: str = ""
    agreement: float | None = None
    tie: bool = False
    mean: float | None = None
    std: float | None = None
    confidence: float | None = None
    confidence_source: str | None = None
    deciding: int = 0


def decide(votes: Sequence[Ballot], rule: Rule, quorum: int, seats: int, *, single: bool = False) -> Decision:
    """The decision on the votes of all asked judges, stand-ins included. `single`: one judge only, by rotation."""
    deciding = [v for v in votes if v.decided]
    if len(deciding) < quorum or not deciding:
        return _no_quorum(votes, len(deciding), quorum, seats)
    values = [v.value for v in deciding]
    same = values.count(values[0]) == len(values)
    if rule.name == "function":
        outcome = _custom(rule, votes)
    elif same and rule.name in ("mode", "mean_std"):  # what both come to, and what most panels do
        outcome = Outcome(values[0])
    else:
        outcome = rule.combine(values, [v.weight for v in deciding])
    if outcome.value is None:
        why = f"No verdict: {outcome.detail}."
        return Decision("inconclusive", INCONCLUSIVE, None, outcome.reason, why, deciding=len(deciding))
    value = outcome.value
    scale = rule.scale
    numbers = [float(v) for v in values] if not isinstance(scale, Labels) and not single else []
    mean = None if not numbers else numbers[0] if same else _mean(numbers)
    counted = not isinstance(scale, Numeric) and len(values) > 1 and not single
    status: PanelStatus = "not_applicable" if scale.na is not None and value == scale.na else "decided"
    explanation = explain(deciding, value)
    sure, source = _confidence(rule, deciding)
    if outcome.tie:
        explanation = f"Tie-break ({outcome.detail}): {explanation}".rstrip(": ")
    passed = None if status == "not_applicable" else scale.passes(value)
    agreement = None if not counted else 1.0 if same else max(map(values.count, set(values))) / len(values)
    std = None if mean is None else 0.0 if same else math.sqrt(_mean([(x - mean) ** 2 for x in numbers]))
    return Decision(
        status, value, passed, None, explanation, agreement, outcome.tie, mean, std, sure, source, len(deciding)
    )


def _check_weights(given: Any, scale: Scale) -> None:
    if isinstance(given, Weigher) and set(given.labels) - set(scale.values):
        raise ConfigError(f"the weights are of verdicts {list(given.labels)}, the panel's are {list(scale.values)}")


def _confidence(rule: Rule, deciding: Sequence[Ballot]) -> tuple[float | None, str | None]:
    """The probability that people would agree, and what it rests on; a plain rule claims none."""
    if rule.function is not None and isinstance(rule.function, Weigher):  # a look at a protocol is slow
        source = rule.function.source
        return (None if source == "none" else rule.function.weigh(deciding)[1]), source
    return None, "none" if rule.waiting else None


def explain(votes: Sequence[Ballot], value: Any) -> str:
    """The reasons of a judge on the winning side; for a number that nobody gave, those of the nearest judge."""
    for vote in votes:
        if vote.value == value and vote.explanation:
            return vote.explanation
    numbers = [v for v in votes if v.explanation and isinstance(v.value, int | float)]
    if numbers and isinstance(value, int | float) and not isinstance(value, bool):
        nearest = min(numbers, key=lambda v: abs(cast("float", v.value) - value))
        return f"{nearest.judge} gave {nearest.value:g}: {nearest.explanation}"
    return ""


def fold(judgments: Sequence[Judgment], rule: Rule) -> Verdict:
    """The one verdict of a judge's repetitions, by the panel's own rule (plurality for labels; the mean for a
    function).

    Failed and abstained calls are left out. Without any value the judge abstained if any call did, else it failed.
    """
    if len(judgments) == 1:
        return judgments[0].verdict
    verdicts = [j.verdict for j in judgments]
    decided = [v for v in verdicts if v.decided]
    if not decided:
        return next((v for v in verdicts if v.status == "abstained"), verdicts[-1])
    numeric = isinstance(rule.scale, Numeric)
    name = (rule.name if rule.name in NUMERIC else "mean_std") if numeric else "mode"
    own = Rule(name, rule.scale, tie_break=rule.tie_break)
    outcome = own.combine([v.value for v in decided], [1.0] * len(decided))
    if outcome.value is None:
        return Verdict("abstained", explanation=f"The judge disagrees with itself: {outcome.detail}.")
    exact = next((v for v in decided if v.value == outcome.value), None)
    if exact is not None:
        return exact
    nearest = min(decided, key=lambda v: abs(cast("float", v.value) - cast("float", outcome.value)))
    return Verdict("scored", outcome.value, nearest.explanation, evidence=nearest.evidence, fields=nearest.fields)


def _custom(rule: Rule, votes: Sequence[Ballot]) -> Outcome:
    """A caller's own rule.

    What it raises or returns off the scale is no verdict and says so: nothing paid for is lost.
    """
    function = cast("Callable[[Sequence[Any]], Any]", rule.function)
    try:
        value = function(tuple(votes))
    except _RAISED as error:  # the caller's code; its votes must survive it
        return Outcome(None, "rule", detail=f"the aggregator raised {told(error)}")
    if value is None and isinstance(rule.function, Weigher):
        return Outcome(None, "tie", detail="the weights of both sides are equal")
    if value is None:
        return Outcome(None, "rule", detail="the aggregator gave none")
    try:
        return Outcome(rule.scale.read(value))
    except ReplyError as error:
        return Outcome(None, "rule", detail=f"the aggregator gave no value of the scale: {error.detail}")


def _no_quorum(votes: Sequence[Ballot], deciding: int, quorum: int, seats: int) -> Decision:
    errors = [f"{v.judge}: {v.error}" for v in votes if v.failed]
    abstained = sum(v.abstained for v in votes)
    reason: Reason = "quorum"
    if deciding == 0 and errors and len(errors) == len(votes):
        reason = "errors"
        detail = f"no judge gave a usable reply. Last error: {errors[-1]}"
    elif deciding == 0 and abstained and abstained + len(errors) == len(votes):
        reason = "abstained"
        detail = (
            "every judge abstained" if not errors else f"abstained or failed, all of them. Last error: {errors[-1]}"
        )
        said = next((v.explanation for v in votes if v.abstained and v.explanation), "")
        detail += f". {said}".rstrip(". ") if said else ""
    else:
        detail = f"{deciding} of {count(seats, 'judge')} decided, {quorum} {'is' if quorum == 1 else 'are'} needed"
        if errors:
            detail += f". Last error: {errors[-1]}"
    return Decision("inconclusive", INCONCLUSIVE, None, reason, f"No verdict: {detail}.", deciding=deciding)


def _numeric(name: str, values: Sequence[float], weights: Sequence[float]) -> float:
    pairs = sorted(zip(values, weights, strict=True))
    if name == "min":
        return pairs[0][0]
    if name == "max":
        return pairs[-1][0]
    # A vote without weight moves nothing, neither the middle nor what is trimmed.
    pairs = [(v, w) for v, w in pairs if w > 0]
    if name == "trimmed_mean" and len(pairs) >= 3:
        pairs = pairs[1:-1]
    total = math.fsum(w for _, w in pairs)
    if name == "median":
        return _median(pairs, total)
    if pairs[0][0] == pairs[-1][0]:
        return pairs[0][0]
    return min(max(math.fsum(v * w for v, w in pairs) / total, pairs[0][0]), pairs[-1][0])


def _median(pairs: Sequence[tuple[float, float]], total: float) -> float:
    """The value where half of the weight lies on either side; the middle of two where it falls between them."""
    below = 0.0
    for i, (value, weight) in enumerate(pairs):
        below += weight
        if below > (0.5 + _EPSILON) * total:
            return value
        if below >= (0.5 - _EPSILON) * total:
            return (value + pairs[i + 1][0]) / 2
    return pairs[-1][0]


def _mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def _tied(leaders: Sequence[Any], values: Sequence[Any]) -> str:
    counts = Counter(values)
    weighed = len({counts[v] for v in leaders}) > 1  # what looks unequal is equal by the weights
    tie = "a tie by weight" if weighed else "a tie"
    *others, last = [f"{_say(v)} ({counts[v]})" for v in leaders]
    return f"{tie} between {', '.join(others)} and {last}"


def _say(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
