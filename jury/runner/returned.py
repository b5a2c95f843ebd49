"""The questions of a batch as lines of `batch-N.jsonl`, and what comes back of them as judgments. Sends nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from jury.errors import ProviderError
from jury.formats import ReplyFormat
from jury.judge import Case, Seat
from jury.keys import Question
from jury.pointwise import Jury
from jury.providers import prices
from jury.providers.base import rungs_of
from jury.providers.batches import PRICE
from jury.results import Failure, Judgment, Reply, Rung, Usage, Verdict
from jury.runner.describe import AnyJury, panels_of
from jury.sessions.judging import SessionJury


def line_of(seat: Seat, case: Case, question: Question) -> dict[str, Any]:
    """A question as its batch keeps it, without what is sent: enough to read the answer after a restart."""
    how = case.format or seat.format
    return {
        "key": question.key,
        "item": question.item or "",
        "judge": question.judge,
        "order": question.order,
        "request": question.request,
        "repetition": question.repetition,
        "criterion": how.criterion,
        "prompt": seat.prompt.digest,
        **({"notes": list(how.notes)} if how.notes else {}),
    }


class Asked:
    """The seats of a jury that are models. A session jury has one for each judge and call, the others one a judge."""

    def __init__(self, jury: AnyJury) -> None:
        self._jury = jury
        seats = [seat for panel in panels_of(jury) for seat in panel.seats if seat.function is None]
        self._seats = {(seat.name, self._about(seat.format.criterion)): seat for seat in seats}

    @property
    def seats(self) -> list[Seat]:
        return list(self._seats.values())

    def _about(self, criterion: str | None) -> str | None:
        return criterion if isinstance(self._jury, SessionJury) else None

    def judgment(self, asked: Mapping[str, Any], outcome: Reply | ProviderError, body: Any) -> Judgment | None:
        """What came of a line; None where the panel has changed since: it is paid for, and nobody wants it."""
        seat = self._seats.get((str(asked["judge"]), self._about(asked.get("criterion"))))
        if seat is None:
            return None
        how = self._format(seat, asked)
        made = Judgment(
            seat.name,
            Verdict("error"),
            int(asked["repetition"]),
            asked["order"],
            notes=how.notes,
            criterion=how.criterion,
            prompt=asked.get("prompt"),
        )
        if not isinstance(outcome, Reply):
            failure = Failure(outcome.kind, outcome.detail, outcome.status)
            return replace(made, verdict=Verdict("error", failure=failure), usage=outcome.usage)
        return replace(
            made,
            verdict=how.read(outcome.text, outcome.data),
            reply=outcome.text,
            model=outcome.model,
            usage=_priced(seat, outcome.usage, body),
            rung=rung_of(seat),
        )

    def _format(self, seat: Seat, asked: Mapping[str, Any]) -> ReplyFormat:
        """How the question was to be answered: of a rubric, which criteria in which order; of a session, which part."""
        jury = self._jury
        if isinstance(jury, SessionJury):
            return replace(seat.format, notes=tuple(asked.get("notes") or ()))
        if not isinstance(jury, Jury) or jury.method is None:
            return seat.format
        place = [s.name for s in jury.panel.seats].index(seat.name)  # as `RubricMethod.cases` counts
        return jury.method.format_of(place * jury.spec.repetitions + int(asked["repetition"]), asked.get("criterion"))


def rung_of(seat: Seat) -> Rung:
    """The best way to ask: a batch has no second one."""
    return rungs_of(seat.provider, seat.model, seat.settings)[0]


def _priced(seat: Seat, usage: Usage | None, body: Any) -> Usage | None:
    """The usage of a reply with its price, which is half the listed one."""
    if usage is None:
        return None
    price = prices.find(seat.provider.name, seat.model)
    reply = dict(cast("Mapping[str, Any]", body)) if isinstance(body, Mapping) else {}
    for part in (reply, used := dict(cast("Mapping[str, Any]", reply.get("usage") or {}))):
        part.pop("service_tier", None)  # it says "batch", whose price is not listed but known
    reply["usage"] = used
    cost = prices.cost(price, usage, reply)
    return replace(usage, cost=None if cost is None else cost * PRICE)
