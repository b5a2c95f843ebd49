"""What comes out: `Usage`, `Reply`, `Failure`, `Verdict`, `Judgment`, `Vote`, `PairVote`, `PanelResult`, `Comparison`.

A jury of several criteria adds `CriterionResult`s to its result.

Frozen values, one direction: Reply -> Verdict -> Judgment -> Vote -> PanelResult. They dump to plain JSON
(`to_dict`, `to_json`) and load back equal (`from_dict`, `from_json`); pydantic is loaded only for that way back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Literal, Self, cast

from jury.brief import Brief, Row, of_criterion, of_result
from jury.errors import DataError
from jury.frozen import frozen
from jury.plain import load, to_plain
from jury.scales import INCONCLUSIVE

Status = Literal["scored", "not_applicable", "abstained", "error"]
PanelStatus = Literal["decided", "not_applicable", "inconclusive", "not_judged"]
Reason = Literal["tie", "no_majority", "quorum", "errors", "abstained", "rule", "stopped", "budget", "deadline"]
Order = Literal["none", "ab", "ba"]
Rung = Literal["schema", "tool", "json", "text", "direct"]  # `direct`: no ladder
Winner = Literal["A", "B", "tie", "inconclusive"]
Flip = Literal["primacy", "recency", "mixed"]
DECIDED = ("scored", "not_applicable")  # the statuses that hold a value


@frozen
class Usage:
    """Tokens and money of one or more paid calls. None is unknown, never zero.

    `calls` counts the calls that reported tokens; `cost` is in US dollars, known only if every call has a price. An
    empty one is an answer that reported nothing: it adds no tokens to a sum, and makes the cost unknown.
    """

    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    cost: float | None = None

    @staticmethod
    def total(parts: Iterable[Usage | None]) -> Usage | None:
        """The sum; None if no part is known. A cost is known only where every part has one."""
        known = [p for p in parts if p is not None]
        if len(known) <= 1:
            return known[0] if known else None
        calls, into, out, cost = 0, 0, 0, 0.0
        cached: int | None = None
        told = False
        for p in known:
            if not p.calls and p.input_tokens is None and p.output_tokens is None and p.cost is None:
                cost = None
                continue
            told = True
            calls += p.calls
            into = None if into is None or p.input_tokens is None else into + p.input_tokens
            out = None if out is None or p.output_tokens is None else out + p.output_tokens
            cost = None if cost is None or p.cost is None else cost + p.cost
            if p.cached_input_tokens is not None:
                cached = (cached or 0) + p.cached_input_tokens
        return Usage(calls, into, out, cached, cost) if told else Usage()


@frozen
class Reply:
    """What a provider answered: the text for the parser, or `data` where a forced tool gave its input as an object.

    `retries` counts the failed attempts before this one; `usage` includes theirs. `notes` name what had to be adapted
    (e.g. `temperature`: the model refused the setting and ran without it). `message`: all that was said, in the shape
    of the API, where tools were called; judges have no use for it, targets do.
    """

    text: str
    data: Any = None
    model: str | None = None
    usage: Usage | None = None
    retries: int = 0
    latency_s: float = 0.0
    notes: tuple[str, ...] = ()
    message: Any = None


@frozen
class Failure:
    """Why there is no verdict: the `kind` and `detail` of a `CallError` (`errors.py` lists the kinds)."""

    kind: str
    detail: str
    status: int | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


@frozen
class Verdict:
    """One judge's answer, read. `value` is set if the status is `scored` or `not_applicable`, `failure` if `error`.

    `evidence` holds quotes or references; `fields` whatever else the prompt asked for (violations, bad calls, ...).
    `parts`: the verdicts by criterion, where one reply is about several. `notes`: what was put right in reading it.
    """

    status: Status
    value: bool | str | float | None = None
    explanation: str = ""
    failure: Failure | None = None
    evidence: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    parts: Mapping[str, Verdict] = field(default_factory=dict[str, "Verdict"])
    notes: tuple[str, ...] = ()

    @property
    def decided(self) -> bool:
        return self.status in DECIDED


@frozen
class Judgment:
    """One question to one judge: at most a few paid calls (rungs of the ladder, one re-ask), one verdict.

    `order` is `ab` or `ba` in a comparison. `verdict` is as the judge said it: in `ba` its "A" is the slot, not the
    response. `calls` counts the calls made, `retries` the failed transports among them. `criterion`: the one that was
    asked about, where each is asked about by itself, or `a+b` of a session. `prompt`: the digest of its texts, with the
    name and version that they go by.
    """

    judge: str
    verdict: Verdict
    repetition: int = 0
    order: Order = "none"
    rung: Rung = "direct"
    reply: str | None = None
    model: str | None = None
    usage: Usage | None = None
    calls: int = 1
    retries: int = 0
    reasked: bool = False
    latency_s: float = 0.0
    notes: tuple[str, ...] = ()
    criterion: str | None = None
    prompt: str | None = None
    prompt_name: str | None = None
    prompt_version: str | None = None


@frozen
class EvidenceCheck:
    """How much of a vote's evidence is there: quotes looked up in what was judged, references to events.

    `missing`: the pieces that quote what is not there, or name an event that does not exist.
    """

    quotes_found: int = 0
    quotes_missing: int = 0
    references_valid: int = 0
    references_invalid: int = 0
    missing: tuple[str, ...] = ()


@frozen
class Vote:
    """A judge's one vote, its repetitions folded. `replacement` marks a stand-in."""

    judge: str
    verdict: Verdict
    judgments: tuple[Judgment, ...] = ()
    replacement: bool = False
    weight: float = 1.0
    evidence_check: EvidenceCheck | None = None

    @property
    def value(self) -> bool | str | float | None:
        verdict = self.verdict
        return verdict.value if verdict.status in DECIDED else None

    @property
    def decided(self) -> bool:
        return self.verdict.status in DECIDED

    @property
    def abstained(self) -> bool:
        return self.verdict.status == "abstained"

    @property
    def failed(self) -> bool:
        return self.verdict.status == "error"

    @property
    def explanation(self) -> str:
        return self.verdict.explanation

    @property
    def error(self) -> str | None:
        return str(self.verdict.failure) if self.verdict.failure else None

    @property
    def unasked(self) -> bool:
        """Whether a call of it was not made, for want of money."""
        return any(j.verdict.failure is not None and j.verdict.failure.kind == "budget" for j in self.judgments)

    @property
    def failed_calls(self) -> int:
        return sum(j.verdict.status == "error" for j in self.judgments)

    @property
    def usage(self) -> Usage | None:
        return Usage.total(j.usage for j in self.judgments)


@frozen
class PairVote:
    """A judge's vote on a pair, in terms of the responses; None is no vote (flip, missing order, abstention, error).

    `completed`: both orders gave a verdict. `flipped`: they did, and differ; `flip_kind` says how: `primacy` (the first
    slot both times), `recency` (the second), `mixed` (a tie against a side).
    """

    judge: str
    vote: Literal["A", "B", "tie"] | None = None
    flipped: bool = False
    flip_kind: Flip | None = None
    completed: bool = False
    explanation: str = ""
    failure: Failure | None = None
    abstained: bool = False
    judgments: tuple[Judgment, ...] = ()
    replacement: bool = False
    weight: float = 1.0

    @property
    def decided(self) -> bool:
        return self.vote is not None

    @property
    def value(self) -> str | None:
        return self.vote

    @property
    def failed(self) -> bool:
        return self.failure is not None

    @property
    def error(self) -> str | None:
        return str(self.failure) if self.failure else None

    @property
    def unasked(self) -> bool:
        """Whether a call of it was not made, for want of money."""
        return any(j.verdict.failure is not None and j.verdict.failure.kind == "budget" for j in self.judgments)

    @property
    def failed_calls(self) -> int:
        return sum(j.verdict.status == "error" for j in self.judgments)

    @property
    def usage(self) -> Usage | None:
        return Usage.total(j.usage for j in self.judgments)


@frozen
class _Result(Brief):
    """What a verdict on an item and on a pair have in common.

    `seats`: seats that were to vote; `seats_used`: votes that decided, stand-ins included. `agreement`: share of the
    largest bloc of deciding votes, None below two, for numbers, in rotation, without a verdict and where seats were
    left unasked. `tie`: a tie-break decided. `calls_saved`: calls that early stopping did not make. `errors`: what the
    target reported, by side. `confidence`: probability that people would agree, where the aggregator was fitted
    (`jury.weighing`), and `confidence_source` what that rests on: `labels`, `votes only` (no label supports it), or
    `none`. `tier`: of a cascade, the one that settled the item or the last, from 1; `for_people`: none did, and people
    come next; `checked`: all seats were asked by lot although fewer would have settled it, and say the same or not.
    """

    status: PanelStatus
    reason: Reason | None = None
    explanation: str = ""
    seats: int = 0
    seats_used: int = 0
    agreement: float | None = None
    tie: bool = False
    usage: Usage | None = None
    calls: int = 0
    calls_saved: int = 0
    item_id: str | None = None
    trace_id: str | None = None
    notes: tuple[str, ...] = ()
    confidence: float | None = None
    confidence_source: str | None = None
    tier: int | None = None
    for_people: bool = False
    checked: Literal["same", "differs"] | None = None

    @property
    def inconclusive(self) -> bool:
        return self.status in ("inconclusive", "not_judged")

    @property
    def cost(self) -> float | None:
        """US dollars of all calls of this verdict; None where a price or a token count is unknown."""
        return self.usage.cost if self.usage else None

    def _brief(self) -> list[Row]:
        return of_result(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; `passed` is dumped as `pass`."""
        return cast("dict[str, Any]", to_plain(self))

    def to_json(self, indent: int | None = None) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent, allow_nan=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The value that `to_dict` dumped. Raises `DataError` naming what is wrong."""
        return cast("Self", load(cls, data))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"a stored {cls.__name__} is not JSON: {error}", "bad_json") from None
        return cls.from_dict(data)


@frozen
class CriterionResult(Brief):
    """A panel's verdict on one criterion of several. `votes` hold each judge's verdict on it, without its judgments.

    `passed`: by the criterion's own gate or scale, None without one. `partial`: a PASS on a session that was cut.
    `code`: found by a code check, no judge was asked.
    """

    key: str
    status: PanelStatus
    value: bool | str | float = INCONCLUSIVE
    passed: bool | None = None
    reason: Reason | None = None
    explanation: str = ""
    agreement: float | None = None
    votes: tuple[Vote, ...] = ()
    partial: bool = False
    code: bool = False

    def _brief(self) -> list[Row]:
        return of_criterion(self)


@frozen
class PanelResult(_Result):
    """A panel's verdict on one item. `value` is `"inconclusive"` and `passed` None where there is none.

    `criteria`: the verdicts by criterion, in a jury of several. `contested`: to gate each judge's scores and vote gives
    another verdict than to vote on each criterion and gate. `contradictions`: by judge, how its own word on passing
    contradicts its scores. `partial`: a PASS on a session that was cut (docs/reference/statuses.md).
    """

    value: bool | str | float = INCONCLUSIVE
    passed: bool | None = None
    mean: float | None = None
    std: float | None = None
    votes: tuple[Vote, ...] = ()
    error: str | None = None  # of the target, where the item was not judged
    criteria: tuple[CriterionResult, ...] = ()
    contested: bool = False
    contradictions: Mapping[str, str] = field(default_factory=dict[str, str])
    partial: bool = False

    @property
    def failed_seats(self) -> int:
        return sum(v.failed for v in self.votes if not v.replacement)

    @property
    def stand_ins_used(self) -> int:
        return sum(v.replacement for v in self.votes)


@frozen
class Comparison(_Result):
    """A panel's verdict on a pair. `errors` holds the error of each side that failed, under "A" and "B"."""

    winner: Winner = INCONCLUSIVE
    votes: tuple[PairVote, ...] = ()
    errors: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def flips(self) -> int:
        return sum(v.flipped for v in self.votes)

    @property
    def failed_seats(self) -> int:
        return sum(v.failed for v in self.votes if not v.replacement)

    @property
    def stand_ins_used(self) -> int:
        return sum(v.replacement for v in self.votes)
