"""Scores of several judges -> one decision per item, both ways: vote by criterion and gate, or gate by judge and vote.

The two can differ (the doctrinal paradox): no judge passes the item, and every criterion passes by majority. Such an
item is `contested`. And the JSON shapes in which the seeds of the shipped rubrics report. Pure; asks nobody.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jury.rubrics.criterion import Criterion
from jury.rubrics.reply import CriterionScore, RubricReply, contradiction
from jury.rubrics.rubric import Decision, Rubric
from jury.scales import Boolean, Labels, Value

Fold = Callable[[Criterion, Sequence[Value], Sequence[float]], Value | None]
_EPSILON = 1e-9  # of weights


@dataclass(frozen=True, slots=True)
class RubricOutcome:
    """One item. `values` are the panel's scores by criterion (None: none, or a tie), `na` what does not apply.

    `decision` gates those scores. `by_judge` holds what the scores of each judge imply; `judges_passed` is their
    majority, None for a tie or where some are open. `contested`: the two ways give different verdicts.
    `contradictions` says, by judge, how its own verdict contradicts its scores.
    """

    values: Mapping[str, Value | None]
    na: frozenset[str]
    decision: Decision
    by_judge: Mapping[str, Decision]
    judges_passed: bool | None
    contested: bool
    contradictions: Mapping[str, str]

    @property
    def passed(self) -> bool | None:
        return self.decision.passed


def fold(criterion: Criterion, values: Sequence[Value], weights: Sequence[float] = ()) -> Value | None:
    """The panel's score: the median of numbers, the majority of 0/1, the most frequent label. None for a tie.

    Weights count for 0/1 and labels; a caller with weights has a median of its own.
    """
    if not values:
        return None
    if isinstance(criterion.measure, Boolean | Labels):
        counts: Counter[Value] = Counter()
        for value, weight in zip(values, weights or [1.0] * len(values), strict=True):
            counts[value] += weight  # pyright: ignore[reportArgumentType] - a counter of weights
        best = counts.most_common(2)
        return None if len(best) > 1 and best[0][1] - best[1][1] < _EPSILON else best[0][0]
    return statistics.median(float(v) for v in values)


_NO_WEIGHTS: Mapping[str, float] = {}


def outcome(
    rubric: Rubric,
    replies: Mapping[str, RubricReply],
    fold: Fold = fold,
    weights: Mapping[str, float] = _NO_WEIGHTS,
) -> RubricOutcome:
    """Both decisions over the replies by judge; judges that failed or abstained are left out by the caller.

    A criterion that most of the judges call not applicable does not apply; as many on both sides leave it open.
    `weights` by judge, 1 where there is none.
    """
    values: dict[str, Value | None] = {}
    na: set[str] = set()
    for criterion in rubric.criteria:
        scored = [
            (r.scores[criterion.key], weights.get(j, 1.0)) for j, r in replies.items() if criterion.key in r.scores
        ]
        given = [(s.value, w) for s, w in scored if s.value is not None]
        there, absent = sum(w for _, w in given), sum(w for s, w in scored if s.value is None)
        if absent > there + _EPSILON:
            na.add(criterion.key)
        settled = given and there > absent + _EPSILON
        values[criterion.key] = fold(criterion, [v for v, _ in given], [w for _, w in given]) if settled else None
    decision = rubric.decide(values, frozenset(na))
    by_judge = {judge: rubric.decide(reply.values, reply.na) for judge, reply in replies.items()}
    judges_passed = _majority([(d.passed, weights.get(j, 1.0)) for j, d in by_judge.items()])
    found = {j: text for j, d in by_judge.items() if (text := contradiction(replies[j], d))}
    return RubricOutcome(
        values=values,
        na=frozenset(na),
        decision=decision,
        by_judge=by_judge,
        judges_passed=judges_passed,
        contested=decision.passed is not None and judges_passed is not None and decision.passed != judges_passed,
        contradictions=found,
    )


def tied(values: Sequence[Any]) -> str:
    """Why a criterion has no verdict: as many judges on one side as on the other."""
    counts = Counter(
        str(v).lower() if isinstance(v, bool) else f"{v:g}" if isinstance(v, float) else str(v) for v in values
    )
    return f"a tie between {' and '.join(f'{word} ({n})' for word, n in counts.items())}" if len(counts) > 1 else ""


def _majority(found: Sequence[tuple[bool | None, float]]) -> bool | None:
    whole = sum(w for _, w in found) + 2 * _EPSILON
    if 2 * sum(w for v, w in found if v is True) > whole:
        return True
    return False if 2 * sum(w for v, w in found if v is False) > whole else None


def seed_json(rubric: Rubric, reply: RubricReply, decision: Decision) -> dict[str, Any]:
    """Scores in the shape of the rubric's seed (`rubric.shape`), the verdict computed from them.

    `pass` is null, and `pipeline_status` `INCONCLUSIVE`, where the scores do not settle it.
    """
    plain = {k: _number(s.value, rubric[k]) for k, s in reply.scores.items()}
    if rubric.shape == "critic":
        metrics = {k: {"reasoning": _reason(s), "score": plain[k]} for k, s in reply.scores.items()}
        status = "INCONCLUSIVE" if decision.passed is None else "PASS" if decision.passed else "FAIL"
        summary = {
            "overall_verdict": reply.summary,
            "pipeline_status": status,
            "failure_reason": "; ".join(decision.breached) or None,
        }
        return {"evaluation_report": {"metrics": metrics, "summary": summary}}
    scores = {k: {"evidence": "; ".join(s.evidence) or s.reasoning, "score": plain[k]} for k, s in reply.scores.items()}
    return {**scores, "pass": decision.passed, "summary": reply.summary}


def _reason(score: CriterionScore) -> str:
    return score.reasoning or "; ".join(score.evidence)


def _number(value: Value | None, criterion: Criterion) -> Any:
    """A whole number as one, a 0/1 score as 0 or 1."""
    if isinstance(value, bool):
        return int(value) if criterion.zero_one else value
    return int(value) if isinstance(value, float) and value.is_integer() else value
