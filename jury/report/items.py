"""The items of a run as a report shows them: verdict, flags to filter by, texts, votes, prompts as they were asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jury.audit import Audited
from jury.audit.reading import Judged
from jury.report import words
from jury.report.asking import Prompts
from jury.report.log import Log
from jury.report.parts import ItemFacts, PartFacts
from jury.report.quoting import Texts, texts_of
from jury.report.votes import unstable, vote
from jury.results import Comparison, CriterionResult, PanelResult
from jury.store import StoredItem
from jury.summary import outcome, unasked

_NO_FIELDS: Mapping[str, Any] = {}


def items(audit: Audited) -> tuple[ItemFacts, ...]:
    """Every item that has a result, in the order of the data."""
    log, prompts = Log(audit.run), Prompts(audit.run)
    people: dict[str, dict[str, Any]] = {}
    for name, labels in audit.people.items():
        for item, value in labels.items():
            people.setdefault(item, {})[name] = value
    return tuple(_item(audit, one, log, prompts, people.get(one.item.id, {})) for one in audit.judged)


def word_of(result: PanelResult | Comparison) -> str:
    """The outcome of a result: a word of `ItemFacts.outcome`."""
    if unasked(result):
        return "not_judged"
    if isinstance(result, PanelResult):
        return outcome(result)
    if result.status == "not_judged":
        return "not_judged"
    return "error" if result.reason == "errors" else result.winner


def _item(audit: Audited, one: Judged, log: Log, prompts: Prompts, people: Mapping[str, Any]) -> ItemFacts:
    item, result = one.item, one.result
    texts = texts_of(item)
    found = Texts.of(item)
    votes = tuple(vote(audit, v, found, log, item.id) for v in result.votes)
    single = result if isinstance(result, PanelResult) else None
    value: Any = one.said
    return ItemFacts(
        id=item.id,
        number=item.number,
        outcome=word_of(result),
        word=words.shown(value) if value is not None else word_of(result).replace("_", " "),
        status=result.status,
        value=value,
        passed=single.passed if single else None,
        reason=result.reason or "",
        explanation=result.explanation,
        agreement=result.agreement,
        flags=tuple(_flags(audit, one, any(q.found is False for v in votes for q in v.quotes))),
        tags=item.tags,
        texts=texts,
        messages=item.messages,
        error=_error(item, result),
        votes=votes,
        parts=tuple(_part(c) for c in single.criteria) if single else (),
        asked=prompts.asked(item, result, log),
        people=dict(people),
        cost=result.cost,
        calls=result.calls,
        trace_id=item.trace_id or result.trace_id or "",
        notes=result.notes,
        row=dict(item.row),
    )


def _error(item: StoredItem, result: PanelResult | Comparison) -> str:
    if isinstance(result, PanelResult):
        return result.error or item.error or ""
    return item.error or "; ".join(f"{side}: {why}" for side, why in result.errors.items())


def _flags(audit: Audited, one: Judged, missing: bool) -> Iterator[str]:
    """What the item can be filtered by (`parts.FLAGS`)."""
    result = one.result
    word = word_of(result)
    if word == "fail":
        yield "failed"
    if len({audit.counted(v.value) for v in result.votes if v.decided}) > 1:
        yield "split"
    if isinstance(result, PanelResult) and result.contested:
        yield "contested"
    if any(unstable(v) for v in result.votes):
        yield "unstable"
    if result.for_people:
        yield "for_people"
    if word == "na":
        yield "na"
    if word == "error" or result.status == "not_judged":
        yield "error"
    elif word == "not_judged":
        yield "not_judged"
    if missing:
        yield "evidence_missing"


def _part(found: CriterionResult) -> PartFacts:
    decided = found.status in ("decided", "not_applicable")
    deciding = (v for v in found.votes if v.decided and v.value == found.value)
    fields = next((v.verdict.fields for v in deciding if v.verdict.fields), _NO_FIELDS)
    return PartFacts(
        key=found.key,
        status=found.status,
        value=found.value if decided else None,
        passed=found.passed,
        explanation=found.explanation,
        agreement=found.agreement,
        fields=dict(fields),
    )
