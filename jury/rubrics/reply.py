"""A judge's reply to a rubric: its JSON schema, and the object read into scores. Never a guess.

Three shapes, told apart by the rubric's `shape` when asking and by their own keys when reading:

    plain    {key: {evidence: [quotes], reasoning, score}, ..., summary}
    rubric   {key: {evidence: text, score}, ..., pass, summary}
    critic   {evaluation_report: {metrics: {key: {reasoning, score}}, summary: {overall_verdict, pipeline_status,
             failure_reason}}}

Evidence stands before the score in all of them. Unknown and missing criteria, wrong types and scores off the scale are
`ReplyError`s. `pass` and `pipeline_status` are kept, to be compared with what the scores imply (`contradiction`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from jury.errors import ReplyError
from jury.rubrics.criterion import Criterion
from jury.rubrics.rubric import Decision, Rubric
from jury.scales import Value

Object = Mapping[str, Any]
BESIDE = ("summary", "pass", "passed", "overall_verdict", "pipeline_status", "failure_reason", "abstain", "explanation")
_QUOTES, _REASONS = ("evidence", "quote"), ("reasoning", "explanation")


@dataclass(frozen=True, slots=True)
class CriterionScore:
    """One criterion as one judge scored it. `value` None: called not applicable, where that is allowed."""

    key: str
    value: Value | None
    evidence: tuple[str, ...] = ()
    reasoning: str = ""

    @property
    def not_applicable(self) -> bool:
        return self.value is None


@dataclass(frozen=True, slots=True)
class RubricReply:
    """One judge's scores by key, in the rubric's order. `own_pass` is what the judge itself says, if it says anything.

    `abstained`: the judge declined; then there are no scores.
    """

    scores: Mapping[str, CriterionScore] = field(default_factory=dict[str, CriterionScore])
    own_pass: bool | None = None
    summary: str = ""
    failure_reason: str = ""
    abstained: bool = False

    @property
    def values(self) -> dict[str, Value | None]:
        return {key: score.value for key, score in self.scores.items()}

    @property
    def na(self) -> frozenset[str]:
        return frozenset(key for key, score in self.scores.items() if score.not_applicable)

    @property
    def evidence(self) -> tuple[str, ...]:
        return tuple(text for score in self.scores.values() for text in score.evidence)


def reply_keys(rubric: Rubric) -> tuple[str, ...]:
    """What makes two objects of one reply disagree: the keys for `parsing.find_object`."""
    return (*rubric.keys, "evaluation_report", "pass", "abstain")


def reply_schema(rubric: Rubric, number: int = 0) -> dict[str, Any]:
    """The JSON schema of a reply, in the order of ask `number`: evidence first in every criterion, own verdict last."""
    order = rubric.order(number)
    criteria = {key: _criterion_schema(rubric, rubric[key], rubric.labels(key, number)) for key in order}
    text = {"type": "string"}
    if rubric.shape == "critic":
        status = {"type": "string", "enum": ["PASS", "FAIL"]}
        reason = {"anyOf": [text, {"type": "null"}]}
        summary = _object({"overall_verdict": text, "failure_reason": reason, "pipeline_status": status})
        return _object({"evaluation_report": _object({"metrics": _object(criteria), "summary": summary})})
    if rubric.shape == "rubric":
        return _object({**criteria, "summary": text, "pass": {"type": "boolean"}})
    return _object({**criteria, "summary": text})


def criterion_schema(rubric: Rubric, key: str, number: int = 0) -> dict[str, Any]:
    """The schema of a reply about one criterion alone (`ask="each"`)."""
    return _object({key: _criterion_schema(rubric, rubric[key], rubric.labels(key, number))})


def _criterion_schema(rubric: Rubric, criterion: Criterion, labels: Sequence[str] | None) -> dict[str, Any]:
    text = {"type": "string"}
    before: dict[str, Any] = {"evidence": {"type": "array", "items": text}, "reasoning": text}
    if rubric.shape == "rubric":
        before = {"evidence": text}
    elif rubric.shape == "critic":
        before = {"reasoning": text}
    return _object({**before, "score": criterion.score_schema(labels)})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_reply(rubric: Rubric, found: Object, only: str | None = None) -> RubricReply:
    """The scores in a reply object. `only`: a reply about this criterion alone.

    Raises `ReplyError`: missing_field, wrong_type, out_of_range, bad_verdict (a label that is not on the list, or a
    criterion that the rubric does not have).
    """
    if found.get("abstain") is True:
        return RubricReply(abstained=True, summary=_text(found.get("summary", found.get("explanation"))))
    criteria, beside = _laid_out(found)
    keys = rubric.keys if only is None else (only,)
    missing = [key for key in keys if key not in criteria]
    unknown = [key for key in criteria if key not in keys and _is_scored(key, criteria[key])]
    if missing:
        extra = f"; it has {', '.join(unknown)} instead" if unknown else ""
        raise ReplyError("missing_field", f"no score for {', '.join(missing)}{extra}")
    if unknown:
        raise ReplyError("bad_verdict", f"the rubric has no criterion {', '.join(unknown)}")
    return RubricReply(
        scores={key: _score(rubric[key], criteria[key]) for key in keys},
        own_pass=_own_pass(beside),
        summary=_text(beside.get("summary", beside.get("overall_verdict"))),
        failure_reason=_text(beside.get("failure_reason")),
    )


def _laid_out(found: Object) -> tuple[Object, Object]:
    """The criteria of a reply, and what stands beside them."""
    report = found.get("evaluation_report")
    if report is None:
        return found, found
    if not isinstance(report, Mapping):
        raise ReplyError("wrong_type", "evaluation_report must be an object")
    body = cast("Object", report)
    metrics, summary = body.get("metrics"), body.get("summary")
    if not isinstance(metrics, Mapping):
        raise ReplyError("missing_field", "evaluation_report has no metrics")
    return cast("Object", metrics), cast("Object", summary) if isinstance(summary, Mapping) else {"summary": summary}


def _is_scored(key: str, value: Any) -> bool:
    """Is an unknown key a criterion? An object, or a number; a text or a list is a remark."""
    return key not in BESIDE and (isinstance(value, Mapping | int | float))


def _score(criterion: Criterion, given: Any) -> CriterionScore:
    if not isinstance(given, Mapping):
        raise ReplyError("wrong_type", f"{criterion.key}: expected an object with evidence and score")
    body = cast("Object", given)
    if "score" not in body:
        raise ReplyError("missing_field", f"{criterion.key}: no score")
    found = next((body[k] for k in _QUOTES if body.get(k)), None)
    items = cast("list[Any]", found) if isinstance(found, list) else [found]
    reasoning = next((body[k] for k in _REASONS if isinstance(body.get(k), str) and body[k]), "")
    return CriterionScore(
        criterion.key,
        criterion.read(body["score"]),
        tuple(text for item in items if (text := _text(item))),
        _text(reasoning),
    )


def _own_pass(beside: Object) -> bool | None:
    """The judge's own verdict; None where it gives none that can be read."""
    given = next((beside[k] for k in ("pipeline_status", "pass", "passed") if beside.get(k) is not None), None)
    if isinstance(given, bool):
        return given
    words = {"pass": True, "passed": True, "true": True, "fail": False, "failed": False, "false": False}
    return words.get(given.strip().casefold()) if isinstance(given, str) else None


def _text(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else str(value)
    return text.encode("utf-8", "replace").decode()  # half of a surrogate pair cannot be stored


def contradiction(reply: RubricReply, decision: Decision) -> str | None:
    """How the judge's own verdict contradicts its scores; None where it does not, or says nothing."""
    if reply.own_pass is None or decision.passed is None or reply.own_pass == decision.passed:
        return None
    said, implied = ("pass", "fail") if reply.own_pass else ("fail", "pass")
    why = f": {'; '.join(decision.breached)}" if decision.breached else ""
    return f"says {said}, but its scores imply {implied}{why}"
