"""One vote as a report shows it: verdict, reasons by criterion, quotes with whether they are there, raw replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jury.audit import Audited
from jury.report import words
from jury.report.log import Log
from jury.report.parts import Answer, PartFacts, Quote, VoteFacts
from jury.report.quoting import Texts
from jury.results import PairVote, Verdict, Vote
from jury.sessions.quotes import INNER_QUOTES, MAX_QUOTE, fold

_NO_FIELDS: Mapping[str, Any] = {}


def vote(audit: Audited, given: Vote | PairVote, texts: Texts, log: Log, item: str) -> VoteFacts:
    """`texts` are those of the item, `log` what judgments.jsonl adds."""
    paired = isinstance(given, PairVote)
    failure = given.failure if paired else given.verdict.failure
    usage = given.usage
    answers = tuple(_answer(j, log, item) for j in given.judgments)
    if paired:
        verdicts = [j.verdict for j in given.judgments]
        quotes = tuple(texts.quote(q, "", None) for v in verdicts for q in v.evidence if q.strip())
        parts, fields = (), next((v.fields for v in verdicts if v.fields), _NO_FIELDS)
    else:
        quotes = tuple(_quotes(given, texts))
        parts = tuple(_part(key, v) for key, v in given.verdict.parts.items())
        fields = given.verdict.fields
    return VoteFacts(
        judge=given.judge,
        status=_status(given),
        value=given.value,
        passed=audit.passed(given.value) if given.decided else None,
        word=_word(given),
        explanation=given.explanation,
        failure=str(failure) if failure else "",
        failure_kind=failure.kind if failure else "",
        flip_kind=(given.flip_kind or "") if paired else "",
        quotes=tuple(dict.fromkeys(quotes)),
        parts=parts,
        fields=dict(fields),
        answers=answers,
        cost=usage.cost if usage else None,
        weight=given.weight,
        stand_in=given.replacement,
    )


def unstable(given: Vote | PairVote) -> bool:
    """Whether a judge contradicted itself: another verdict when asked again, or in the other order."""
    if isinstance(given, PairVote) and given.flipped:
        return True
    said: dict[tuple[str, str | None], set[Any]] = {}
    for judgment in given.judgments:
        if judgment.verdict.decided:
            said.setdefault((judgment.order, judgment.criterion), set()).add(judgment.verdict.value)
    return any(len(values) > 1 for values in said.values())


def _quotes(given: Vote, texts: Texts) -> Iterator[Quote]:
    check = given.evidence_check
    for key, verdict in given.verdict.parts.items() or (("", given.verdict),):
        for text in verdict.evidence:
            if not text.strip():
                continue
            quote = texts.quote(text, key, check)
            # Some replies give their reason as their evidence: where it quotes nothing, it is no quote.
            if quote.found or text != verdict.explanation or INNER_QUOTES.search(fold(text[:MAX_QUOTE])):
                yield quote


def _part(key: str, verdict: Verdict) -> PartFacts:
    explanation = verdict.explanation or (str(verdict.failure) if verdict.failure else "")
    return PartFacts(key, verdict.status, verdict.value, None, explanation, None, dict(verdict.fields))


def _status(given: Vote | PairVote) -> str:
    if isinstance(given, Vote):
        return given.verdict.status
    if given.flipped:
        return "flip"
    return "scored" if given.decided else "error" if given.failed else "abstained"


def _word(given: Vote | PairVote) -> str:
    if isinstance(given, PairVote) and given.flipped:
        return "flip"
    if given.decided:
        return words.shown(given.value)
    return "error" if given.failed else "abstained"


def _answer(judgment: Any, log: Log, item: str) -> Answer:
    verdict: Verdict = judgment.verdict
    entry = log.entry(item, judgment)
    return Answer(
        reply=judgment.reply,
        order=judgment.order,
        repetition=judgment.repetition,
        criterion=judgment.criterion,
        status=verdict.status,
        value=verdict.value,
        failure=str(verdict.failure) if verdict.failure else "",
        prompt=judgment.prompt or "",
        rung=judgment.rung,
        model=judgment.model or "",
        calls=judgment.calls,
        retries=judgment.retries,
        latency_s=judgment.latency_s,
        source=entry.source,
        at=entry.at,
    )
