"""The votes on one session: a judge's calls as its verdict on each criterion, and the panel's verdict from those.

Pure. A judge is asked once per repetition, or once per part of a long session; its calls are folded here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from jury.aggregation import Decision, Rule, decide, fold
from jury.escalation import Course, Point
from jury.results import (
    CriterionResult,
    EvidenceCheck,
    Failure,
    Judgment,
    PanelStatus,
    Reason,
    Verdict,
    Vote,
)
from jury.scales import INCONCLUSIVE, Scale, Value
from jury.sessions.criteria import SessionCriterion
from jury.sessions.evidence import SessionEvidence, references_in
from jury.sessions.windows import combine

PASS, FAIL, NA = "PASS", "FAIL", "NA"
Asked = Sequence[tuple[int, Judgment]]  # (part of the session, judgment)


def verdicts_of(criteria: Sequence[SessionCriterion], asked: Asked, rules: Mapping[str, Rule]) -> dict[str, Verdict]:
    """A judge's verdict on each criterion: parts of the session combined, then repetitions folded."""
    made: dict[str, Verdict] = {}
    for one in criteria:
        by_repetition: dict[int, list[Verdict]] = {}
        for _, judgment in asked:
            by_repetition.setdefault(judgment.repetition, []).append(_about(one.key, judgment.verdict, len(criteria)))
        folded = [Judgment("", combined(verdicts)) for verdicts in by_repetition.values()]
        made[one.key] = fold(folded, rules[one.key])
    return made


def _about(key: str, verdict: Verdict, count: int) -> Verdict:
    if count == 1 and not verdict.parts:
        return verdict
    return verdict.parts.get(key) or Verdict(
        verdict.status if verdict.status in ("error", "abstained") else "error",
        explanation=verdict.explanation,
        failure=verdict.failure or (Failure("missing_field", f"nothing about {key}") if not verdict.parts else None),
    )


def combined(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdicts on the parts of a session as one: one FAIL fails it, a part without a verdict leaves it open."""
    if len(verdicts) == 1:
        return verdicts[0]
    value = combine([str(v.value) if v.decided else None for v in verdicts])
    lists: dict[str, Any] = {}
    for verdict in verdicts:
        for name, item in verdict.fields.items():
            lists[name] = (
                [*lists[name], *item] if isinstance(item, list) and isinstance(lists.get(name), list) else item
            )
    evidence = tuple(text for v in verdicts for text in v.evidence)
    notes = tuple(dict.fromkeys(note for v in verdicts for note in v.notes))
    if value is None:
        open_one = next(v for v in verdicts if not v.decided)
        return replace(open_one, evidence=evidence, fields=lists, notes=notes)
    telling = next(v for v in verdicts if v.value == value)
    return replace(telling, evidence=evidence, fields=lists, notes=notes)


def whole(parts: Mapping[str, Verdict]) -> Verdict:
    """A judge's verdicts on all criteria as one, with the parts in it."""
    if len(parts) == 1:
        return next(iter(parts.values()))
    failed = next((v.failure for v in parts.values() if v.failure is not None), None)
    evidence = tuple(text for v in parts.values() for text in v.evidence)
    if failed is not None:
        return Verdict("error", failure=failed, evidence=evidence, parts=parts)
    value, _ = overall([(str(v.value) if v.decided else None) for v in parts.values()])
    if value is None:
        return Verdict("abstained", evidence=evidence, parts=parts)
    return Verdict("not_applicable" if value == NA else "scored", value, evidence=evidence, parts=parts)


def overall(values: Sequence[str | None]) -> tuple[str | None, bool]:
    """What verdicts on several criteria say of the session, and whether anything does.

    One FAIL is a FAIL; else a criterion without a verdict leaves it open; PASS if any passes, NA if none applies.
    """
    if FAIL in values:
        return FAIL, True
    if None in values:
        return None, True
    return (PASS if PASS in values else NA), bool(values)


_UNGONE = Course()


@dataclass(frozen=True, slots=True)
class Ballots:
    """The votes of one panel on one session, and what they were given."""

    criteria: Sequence[SessionCriterion]
    votes: Sequence[tuple[Vote, Mapping[str, Verdict]]]
    rules: Mapping[str, Rule]
    quorum: int
    seats: int
    cut: bool
    single: bool
    remarks: tuple[str, ...] = ()
    early: bool = False  # not all seats were asked, since the others cannot matter, or most likely will not
    course: Course = _UNGONE

    def results(self, evidence: SessionEvidence | None) -> list[CriterionResult]:
        """The panel's verdict on each criterion; without `evidence` no quote is looked up."""
        return [self._result(one, evidence) for one in self.criteria]

    def _result(self, one: SessionCriterion, evidence: SessionEvidence | None) -> CriterionResult:
        votes = [
            replace(vote, verdict=parts[one.key], judgments=(), evidence_check=check(evidence, parts[one.key]))
            for vote, parts in self.votes
        ]
        seated = [v for v in votes if not v.replacement]
        spare = sum(v.failed for v in seated)  # a stand-in votes on what a seat failed on, and on nothing else
        votes = [*seated, *[v for v in votes if v.replacement][:spare]]
        decision = decide(votes, self.rules[one.key], self.quorum, self.seats, single=self.single)
        partial = self.cut and one.every_event and decision.value == PASS
        told = " PASS is partial: events that could break it were left out." if partial else ""
        return CriterionResult(
            one.key,
            decision.status,
            decision.value,
            None if partial else decision.passed,
            decision.reason,
            decision.explanation + told,
            None if self.early else decision.agreement,
            tuple(votes),
            partial,
        )


@dataclass(frozen=True, slots=True)
class SessionReading:
    """`escalation.Reading` of votes on these criteria: each of them must be settled."""

    criteria: Sequence[SessionCriterion]
    rules: Mapping[str, Rule]

    @property
    def scales(self) -> Sequence[Scale]:
        return [self.rules[one.key].scale for one in self.criteria]

    def points(self, votes: Sequence[Vote]) -> Sequence[Point]:
        return [Point(self.rules[one.key].scale, self._about(one, votes)) for one in self.criteria]

    def decide(self, votes: Sequence[Vote], quorum: int, seats: int) -> Decision:
        found = [decide(self._about(one, votes), self.rules[one.key], quorum, seats) for one in self.criteria]
        return together_of(found)

    def _about(self, one: SessionCriterion, votes: Sequence[Vote]) -> list[Vote]:
        return [replace(v, verdict=_about(one.key, v.verdict, len(self.criteria))) for v in votes]


def together_of(found: Sequence[Decision | CriterionResult]) -> Decision:
    """Decisions on several criteria as one: open where one of them is. Its value tells them apart, and nothing else."""
    left = next((d for d in found if d.status == "inconclusive"), None)
    if left is not None:
        return Decision("inconclusive", INCONCLUSIVE, reason=left.reason)
    return Decision("decided", ", ".join(str(d.value) for d in found))


def check(evidence: SessionEvidence | None, verdict: Verdict) -> EvidenceCheck | None:
    """What became of a verdict's evidence, of the quote beside it, and of the events that its list fields point at.

    None where it has none of them.
    """
    if evidence is None:
        return None
    quote = verdict.fields.get("quote")
    texts = [*verdict.evidence, *([quote] if isinstance(quote, str) and quote.strip() else [])]
    known = {n for text in texts for n in references_in(text)}
    texts += [f"event {n}" for n in dict.fromkeys(_pointed(verdict)) if n not in known]
    return evidence.check(texts).counts if texts else None


def _pointed(verdict: Verdict) -> Iterator[int | str]:
    """The events in fields such as `violations: [{rule, event}]` and `bad_calls: [{step, problem}]`, by number."""
    lists = (cast("list[Any]", value) for value in verdict.fields.values() if isinstance(value, list))
    found = (cast("Mapping[str, Any]", one) for items in lists for one in items if isinstance(one, Mapping))
    for item in found:
        for name in ("event", "step"):
            given = item.get(name)
            if isinstance(given, int | str) and not isinstance(given, bool):
                text = str(given).strip()
                yield from references_in(f"event {text}" if text.isdecimal() else text)


def total(checks: Sequence[EvidenceCheck | None]) -> EvidenceCheck | None:
    """The sum of several."""
    known = [c for c in checks if c is not None]
    if not known:
        return None
    names = ("quotes_found", "quotes_missing", "references_valid", "references_invalid")
    counts = [sum(getattr(c, name) for c in known) for name in names]
    return EvidenceCheck(*counts, missing=tuple(text for c in known for text in c.missing))


def summed(criteria: Sequence[CriterionResult], votes: Sequence[Vote] = ()) -> dict[str, Any]:
    """The fields of a `PanelResult` that say what all criteria and checks come to.

    `votes`: of judges on the whole, where all were asked: of several criteria, how far judges agree on that.
    """
    if len(criteria) == 1 and not (criteria[0].code and criteria[0].passed is None and criteria[0].status == "decided"):
        names = ("status", "value", "passed", "reason", "explanation", "agreement", "partial")
        return {name: getattr(criteria[0], name) for name in names}
    rated = [c for c in criteria if not (c.code and c.status == "decided" and c.passed is None)]
    value, any_rated = overall([str(c.value) if c.status in ("decided", "not_applicable") else None for c in rated])
    partial = value == PASS and any(c.partial for c in rated)
    status: PanelStatus = "decided" if value in (PASS, FAIL) else "not_applicable" if value else "inconclusive"
    open_ones = [c for c in rated if c.status == "inconclusive"]
    reason: Reason | None = open_ones[0].reason if value is None else None
    told = {FAIL: [c for c in rated if c.value == FAIL], None: open_ones}.get(value, [])
    shown: Value = INCONCLUSIVE if value is None else value
    return {
        "status": status,
        "value": shown,
        "passed": None if partial or value not in (PASS, FAIL) else value == PASS,
        "reason": reason,
        "explanation": "; ".join(f"{c.key}: {(c.explanation or str(c.value)).rstrip('.')}" for c in told)
        if any_rated
        else "",
        "partial": partial,
        "agreement": None if status == "inconclusive" else _alike([v.value for v in votes]),
    }


def _alike(given: Sequence[Value | None]) -> float | None:
    """The share of the largest bloc, of two values or more."""
    values = [value for value in given if value is not None]
    return max(map(values.count, set(values))) / len(values) if len(values) > 1 else None
