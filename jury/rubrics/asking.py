"""How a jury asks about a rubric, and what it makes of the answers: `RubricMethod`.

One reply is one verdict with a part for each criterion; its own value is what the scores imply. Votes are taken on each
criterion, then the rule is applied in code (`outcome.py`). Knows formats and votes; asks nobody itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from jury.aggregation import NUMERIC, Decision, Rule, decide, explain
from jury.data import DataPoint, Output
from jury.errors import ConfigError, ReplyError
from jury.escalation import Point
from jury.formats import ReplyFormat
from jury.judge import Case, Seat
from jury.keys import function_name
from jury.messages import text_of, to_messages
from jury.panel import Panel
from jury.parsing import given_object
from jury.providers.function import read_result, usage_of
from jury.results import CriterionResult, Failure, Judgment, PanelStatus, Reason, Usage, Verdict, Vote
from jury.rubrics.criterion import Criterion
from jury.rubrics.outcome import RubricOutcome, outcome, tied
from jury.rubrics.reply import CriterionScore, RubricReply, contradiction, criterion_schema, read_reply, reply_keys
from jury.rubrics.reply import reply_schema as rubric_schema
from jury.rubrics.rubric import Rubric
from jury.scales import INCONCLUSIVE, Boolean, Numeric, Scale, Value
from jury.sessions.evidence import TextEvidence

Ask = Literal["together", "each"]
NA = "NA"
_OWN = ("own_pass", "failure_reason")


class RubricMethod:
    """A rubric with the way it is asked about.

    `ask`: all criteria in one call, or one call `each`. `permute`: criteria and options in another order for every
    judge and repetition, balanced; each judgment's notes say which. `number_rule` folds scores of several judges.
    Raises `ConfigError`.
    """

    def __init__(
        self,
        rubric: Rubric,
        ask: str = "together",
        *,
        permute: bool = False,
        aggregator: Any = None,
        tie_break: Any = None,
    ) -> None:
        if ask not in ("together", "each"):
            raise ConfigError(f"ask is 'together' (one call) or 'each' (one call per criterion), got {ask!r}")
        if aggregator is not None and aggregator not in NUMERIC:
            raise ConfigError(
                f"a rubric's scores are combined by one of {list(NUMERIC)}, got aggregator={aggregator!r}"
            )
        self.rubric = rubric
        self.ask: Ask = ask
        self.permute = permute
        self._numbers = aggregator or "median"
        self._tie_break = tie_break
        self._rules = {c.key: _rule(c, self._numbers, tie_break) for c in rubric.criteria}
        self._alone = {c.key: _alone(rubric, c) for c in rubric.criteria}
        self._formats: dict[tuple[int, str | None], ReplyFormat] = {}

    @property
    def settings(self) -> dict[str, Any]:
        """How it was made, beside the rubric: plain values."""
        return {"ask": self.ask, "permute": self.permute, "aggregator": self._numbers}

    @property
    def shaping(self) -> dict[str, Any]:
        """What shapes a verdict beside the texts."""
        ties = function_name(self._tie_break) if self._tie_break else None
        return {"rubric": self.rubric.to_dict(), **self.settings, "tie_break": ties}

    def rounds(self, number: int, *, whole: bool = False) -> list[tuple[dict[str, Any], ReplyFormat]]:
        """What is asked in ask `number` (over judges and repetitions): the names of each prompt, and its format.

        `whole`: all criteria at once, as a judge function is asked.
        """
        number = number if self.permute else 0
        order = self.rubric.order(number)
        if self.ask == "together" or whole:
            return [(self.rubric.namespace(number), self.format(number))]
        reference = {"context": self.rubric.reference} if self.rubric.reference else {}
        return [({"rubric": self._text(key, number), **reference}, self.format(number, key)) for key in order]

    def cases(self, panel: Panel, make: Callable[[Mapping[str, Any]], Case]) -> Callable[[Seat, int], Sequence[Case]]:
        """The cases of one item by seat and repetition. `make` builds one from the names that the rubric adds."""
        places = {id(s): place for place, s in enumerate((*panel.seats, *panel.stand_ins))}
        made: dict[tuple[int, bool], list[Case]] = {}

        def cases(seat: Seat, repetition: int) -> Sequence[Case]:
            number = places[id(seat)] * panel.spec.repetitions + repetition if self.permute else 0
            whole = seat.function is not None
            if (number, whole) not in made:
                made[number, whole] = []
                for names, how in self.rounds(number, whole=whole):
                    case = make(names)
                    case.format = how
                    made[number, whole].append(case)
            return made[number, whole]

        return cases

    def _text(self, key: str, number: int) -> str:
        task = f"What the answers are for: {self.rubric.task}\n\n" if self.rubric.task else ""
        return task + self.rubric[key].describe(self.rubric.labels(key, number))

    def format(self, number: int, only: str | None = None) -> ReplyFormat:
        """The format of ask `number`."""
        known = self._formats.get((number, only))
        if known is None:
            rubric = self.rubric
            schema = rubric_schema(rubric, number) if only is None else criterion_schema(rubric, only, number)
            known = ReplyFormat(
                schema=schema,
                read=lambda text, data: self._read(text, data, only),
                result=self._result,
                notes=(self._order_note(number, only),) if self.permute else (),
                criterion=only,
            )
            self._formats[number, only] = known
        return known

    def format_of(self, number: int, only: str | None = None) -> ReplyFormat:
        """The format of ask `number`, counted over judges and repetitions, where an order is drawn for each."""
        return self.format(number if self.permute else 0, only)

    def _order_note(self, number: int, only: str | None) -> str:
        keys = self.rubric.order(number) if only is None else (only,)
        shown = [f"{k} ({'|'.join(labels)})" if (labels := self.rubric.labels(k, number)) else k for k in keys]
        return f"order: {', '.join(shown)}"

    def _read(self, text: str | None, data: Any, only: str | None) -> Verdict:
        try:
            given = given_object(text, data, reply_keys(self.rubric))
            return self.verdict(read_reply(self.rubric, given, only), only)
        except ReplyError as error:
            return Verdict("error", failure=Failure(error.kind, error.detail))

    def _result(self, value: Any) -> tuple[Verdict, Usage | None]:
        """A function's scores: `{key: score}`, or `(score, reason)` or an object as score; the parts of a `Verdict`."""
        if value is None:
            return Verdict("abstained"), None
        if isinstance(value, Verdict):
            if value.status == "error" or not (value.decided or value.parts):
                return read_result(value, Boolean())
            value = {"summary": value.explanation, **{k: _said(part) for k, part in value.parts.items()}}
        if not isinstance(value, Mapping):
            detail = f"a judge function returns a score for each criterion, got {type(value).__name__}"
            return Verdict("error", failure=Failure("wrong_type", detail)), None
        given = dict(cast("Mapping[str, Any]", value))
        usage, fault = usage_of(None if "usage" in self.rubric.keys else given.pop("usage", None))
        if fault is not None:
            return fault, usage
        scores = {k: _scored(self.rubric[k], v) if k in self.rubric.keys else v for k, v in given.items()}
        return self._read(None, scores, None), usage

    def verdict(self, reply: RubricReply, only: str | None = None) -> Verdict:
        """A reply as one verdict: a part for each criterion, and the value that the scores imply.

        Where they settle nothing, since a criterion does not apply, the judge abstains from it; its parts count.
        """
        if reply.abstained:
            return Verdict("abstained", explanation=reply.summary)
        parts = {key: _part(self.rubric[key], score) for key, score in reply.scores.items()}
        if only is not None:
            return replace(parts[only], parts=parts)
        decision = self.rubric.decide(reply.values, reply.na)
        contradicted = contradiction(reply, decision)
        own = {"own_pass": reply.own_pass, "failure_reason": reply.failure_reason}
        explanation = reply.summary or "; ".join((*decision.breached, *decision.open))
        return Verdict(
            "abstained" if decision.passed is None else "scored",
            decision.passed,
            explanation,
            evidence=reply.evidence,
            fields={k: v for k, v in own.items() if v not in (None, "")},
            parts=parts,
            notes=(contradicted,) if contradicted else (),
        )

    def fold(self, judgments: Sequence[Judgment]) -> Verdict:
        """A judge's calls on one item as its one verdict: repetitions and criteria that were asked about one by one."""
        if len(judgments) == 1 and self.ask == "together":
            return judgments[0].verdict
        replies = self._replies(judgments)
        if not replies:
            verdicts = [j.verdict for j in judgments]
            return next((v for v in verdicts if v.status == "abstained"), verdicts[-1])
        found = outcome(self.rubric, {str(i): r for i, r in enumerate(replies)}, self._folded)
        scores = {
            key: self._nearest(key, value, replies)
            for key, value in found.values.items()
            if value is not None or key in found.na
        }
        missing = [key for key in self.rubric.keys if not any(key in r.scores for r in replies)]
        own = [r for r in replies if r.own_pass is not None]
        first = next((r for r in replies if r.summary), replies[0])
        reply = RubricReply(scores, own[0].own_pass if len(own) == 1 else None, first.summary)
        made = self.verdict(reply)
        contradicted = tuple(dict.fromkeys(note for j in judgments for note in j.verdict.notes))
        made = replace(made, notes=contradicted)
        failure = next((j.verdict.failure for j in judgments if j.criterion in missing and j.verdict.failure), None)
        if missing:  # a judge that could not be read on one criterion has not judged the item
            lost = failure or Failure("missing_field", f"no score for {', '.join(missing)}")
            return replace(made, status="error", value=None, failure=lost)
        return made

    def _replies(self, judgments: Sequence[Judgment]) -> list[RubricReply]:
        """One reply for each repetition that gave any scores."""
        by_repetition: dict[int, dict[str, CriterionScore]] = {}
        beside: dict[int, Verdict] = {}
        for judgment in judgments:
            if judgment.verdict.parts:
                scores = by_repetition.setdefault(judgment.repetition, {})
                scores.update({key: _score(key, part) for key, part in judgment.verdict.parts.items()})
                beside[judgment.repetition] = judgment.verdict
        return [reply_of(beside[n], scores, alone=self.ask == "each") for n, scores in by_repetition.items()]

    def _nearest(self, key: str, value: Value | None, replies: Sequence[RubricReply]) -> CriterionScore:
        """The folded score with the evidence of the repetition that gave it, or gave the nearest."""
        given = [r.scores[key] for r in replies if key in r.scores]
        exact = next((s for s in given if s.value == value), None)
        if exact is not None or value is None:
            return exact or CriterionScore(key, None)
        numbers = [s for s in given if isinstance(s.value, int | float)]
        near = min(numbers, key=lambda s: abs(float(cast("float", s.value)) - float(value)))
        return replace(near, value=value)

    def _folded(self, criterion: Criterion, values: Sequence[Value], weights: Sequence[float]) -> Value | None:
        return self._rules[criterion.key].combine(values, weights).value

    def outcome(self, votes: Sequence[Vote]) -> RubricOutcome:
        """Both decisions over the votes that hold scores."""
        replies = {v.judge: reply_of(v.verdict) for v in votes if counted(v)}
        return outcome(self.rubric, replies, self._folded, {v.judge: v.weight for v in votes})

    def checked(self, point: DataPoint, answer: Output, votes: Sequence[Vote]) -> list[Vote]:
        """The votes, with what became of the quotes in them."""
        texts = [text_of(m.content) for m in to_messages(point)]
        where = TextEvidence(answer.text, *texts, point.context or "", self.rubric.reference)
        parts = [[q for part in v.verdict.parts.values() for q in part.evidence] for v in votes]
        return [replace(v, evidence_check=where.check(p).counts) if p else v for v, p in zip(votes, parts, strict=True)]

    def decided(self, votes: Sequence[Vote], quorum: int, seats: int) -> tuple[Decision, dict[str, Any]]:
        """What the panel decided on the item, and the fields of a `PanelResult` that tell how."""
        usable = [v for v in votes if counted(v)]
        if len(usable) < quorum or not usable:
            none = decide(votes, Rule("mode", Boolean()), quorum, seats)
            return replace(none, deciding=len(usable)), {}
        found = self.outcome(votes)
        criteria = tuple(self._criterion(c, found, usable) for c in self.rubric.criteria)
        status, reason = _status(found, criteria)
        passed = found.decision.passed
        words = [d.passed for d in found.by_judge.values()]
        agree = max(map(words.count, set(words))) / len(words) if len(words) > 1 and passed is not None else None
        decision = Decision(
            status,
            NA if status == "not_applicable" else INCONCLUSIVE if passed is None else passed,
            passed,
            reason,
            _explained(found, usable),
            agree,
            mean=self.rubric.weighted_mean(found.values),
            deciding=len(usable),
        )
        contradictions = {v.judge: "; ".join(v.verdict.notes) for v in usable if v.verdict.notes}
        return decision, {"criteria": criteria, "contested": found.contested, "contradictions": contradictions}

    @property
    def scales(self) -> Sequence[Scale]:
        """`escalation.Reading`: whether the item passes, and the scores, which `within` alone tells apart."""
        return (Boolean(), *(p.scale for p in self._points(()) if isinstance(p.scale, Numeric)))

    def points(self, votes: Sequence[Vote]) -> Sequence[Point]:
        """`escalation.Reading`: whether the item passes by each judge's own scores, and every criterion."""
        return (Point(Boolean(), votes), *self._points(votes))

    def decide(self, votes: Sequence[Vote], quorum: int, seats: int) -> Decision:
        """`escalation.Reading`: open, too, where most judges say something else by their own scores."""
        decision, told = self.decided(votes, quorum, seats)
        return Decision("inconclusive", INCONCLUSIVE) if told.get("contested") else decision

    def _points(self, votes: Sequence[Vote]) -> list[Point]:
        none = Verdict("error")
        made: list[Point] = []
        for criterion in self.rubric.criteria:
            scale = criterion.measure
            if isinstance(scale, Numeric):
                scale = replace(scale, threshold=scale.low)  # any score passes it
            parts = [replace(v, verdict=v.verdict.parts.get(criterion.key, none)) for v in votes]
            made.append(Point(scale, parts, last=False))
        return made

    def _criterion(self, criterion: Criterion, found: RubricOutcome, votes: Sequence[Vote]) -> CriterionResult:
        key = criterion.key
        value = found.values[key]
        parts = [replace(v, verdict=v.verdict.parts[key], judgments=()) for v in votes if key in v.verdict.parts]
        status: PanelStatus = "not_applicable" if key in found.na else "inconclusive" if value is None else "decided"
        alone = self._alone[key]
        values = [v.value for v in parts if v.verdict.status == "scored"]
        counts = not isinstance(criterion.measure, Numeric) and len(values) > 1 and value is not None
        return CriterionResult(
            key,
            status,
            NA if status == "not_applicable" else INCONCLUSIVE if value is None else value,
            alone.decide({key: value}).passed if alone is not None and value is not None else None,
            "tie" if status == "inconclusive" else None,
            explain(parts, value) if status != "inconclusive" else tied([v.value for v in parts]),
            max(map(values.count, set(values))) / len(values) if counts else None,
            tuple(parts),
        )


def counted(vote: Vote) -> bool:
    """Whether a vote holds scores: it is neither an error nor an abstention from all of them."""
    return bool(vote.verdict.parts) and not vote.failed


def reply_of(
    verdict: Verdict, scores: Mapping[str, CriterionScore] | None = None, *, alone: bool = False
) -> RubricReply:
    """The scores in a verdict. `alone`: the verdict is about one criterion, its own words are no summary."""
    given = {key: _score(key, part) for key, part in verdict.parts.items()} if scores is None else dict(scores)
    own = verdict.fields.get("own_pass")
    return RubricReply(given, own if isinstance(own, bool) else None, "" if alone else verdict.explanation)


def _score(key: str, part: Verdict) -> CriterionScore:
    value = part.value if part.status == "scored" else None
    return CriterionScore(key, value, part.evidence, part.explanation)


def _part(criterion: Criterion, score: CriterionScore) -> Verdict:
    reason = score.reasoning or "; ".join(score.evidence)
    if score.not_applicable:
        return Verdict("not_applicable", criterion.measure.na or NA, reason, evidence=score.evidence)
    return Verdict("scored", score.value, reason, evidence=score.evidence)


def _scored(criterion: Criterion, given: Any) -> Mapping[str, Any]:
    """A function's score as a reply says it. On 0/1 it may return True or False, which is what a result holds there."""
    made: dict[str, Any]
    if isinstance(given, Mapping):
        made = dict(cast("Mapping[str, Any]", given))
    else:
        pair = cast("tuple[Any, ...]", given) if isinstance(given, tuple) else (given,)
        made = {"reasoning": str(pair[1]), "score": pair[0]} if len(pair) == 2 else {"score": given}
    if criterion.zero_one and isinstance(made.get("score"), bool):
        made["score"] = int(made["score"])
    return made


def _said(part: Any) -> Any:
    """A part of a function's own verdict as the function's score."""
    if not isinstance(part, Verdict):
        return part
    beside = {"evidence": list(part.evidence), "reasoning": part.explanation}
    return {**beside, "score": part.value} if part.decided else beside


def _rule(criterion: Criterion, numbers: str, tie_break: Any) -> Rule:
    return Rule(numbers if isinstance(criterion.measure, Numeric) else "mode", criterion.measure, tie_break=tie_break)


def _alone(rubric: Rubric, criterion: Criterion) -> Rubric | None:
    """A rubric of this criterion, which says whether it passes by itself; None where nothing says that."""
    if criterion.gate_text is None and criterion.default_text is None:
        return None
    return Rubric([criterion], name=f"{rubric.name}, {criterion.key}")


def _status(found: RubricOutcome, criteria: Sequence[CriterionResult]) -> tuple[PanelStatus, Reason | None]:
    if found.decision.passed is not None:
        return "decided", None
    if all(c.status == "not_applicable" for c in criteria):
        return "not_applicable", None
    return "inconclusive", "tie" if any(c.status == "inconclusive" for c in criteria) else "rule"


def _explained(found: RubricOutcome, votes: Sequence[Vote]) -> str:
    decision = found.decision
    if decision.passed is None:
        text = f"No verdict: {'; '.join(decision.open) or 'no criterion applies'}."
    elif decision.passed:
        text = next((v.verdict.explanation for v in votes if v.verdict.value is True and v.verdict.explanation), "")
    else:
        text = f"Not met: {'; '.join(decision.breached)}."
    if found.contested:
        word = "pass" if found.judges_passed else "fail"
        text += f" Contested: by their own scores, most judges {word} it."
    return text.strip()
