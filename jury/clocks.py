"""Asking the seats about one item, within its limits: places among the calls in flight, and deadlines.

The item has a deadline, and so has each vote on it: what is not there in time is a failure of kind `deadline`.

What was said before is kept and decides as usual; what is still under way is given up, and its seat asked again by the
next pass of a run. Decides nothing about votes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

from jury.allowances import Allowance, OutOfTime, within
from jury.judge import Case, Seat
from jury.results import Comparison, CriterionResult, Failure, Judgment, PanelResult, Verdict
from jury.tasks import together

KIND = "deadline"
R = TypeVar("R", bound=PanelResult | Comparison)


def unasked(result: R, kind: Literal["deadline", "budget"], told: str) -> R:
    """A result that has no verdict for want of time or money, and those of its criteria that have none either."""
    if not isinstance(result, PanelResult):
        return replace(result, reason=kind, explanation=told)

    def lacking(c: CriterionResult) -> bool:
        failures = [v.verdict.failure for v in c.votes if v.verdict.failure]
        return c.reason in ("errors", "quorum") and any(f.kind == kind for f in failures)

    criteria = [replace(c, reason=kind, explanation=told) if lacking(c) else c for c in result.criteria]
    return replace(result, reason=kind, explanation=told, criteria=tuple(criteria))


class ItemClock:
    """For one item: `vote_s` seconds for each seat's vote, `item_s` for all; None is no limit. `item`: its id.

    `gate`: the places of calls in flight. Made in the task that asks.
    """

    __slots__ = ("_gate", "_heard", "_item", "_task", "_vote_s", "item")

    def __init__(self, vote_s: float | None, item_s: float | None, item: str | None, gate: asyncio.Semaphore) -> None:
        self.item = item
        self._gate = gate
        self._task = asyncio.current_task()
        self._heard = self._task.cancelling() if self._task else 0
        self._vote_s = vote_s
        self._item = None if item_s is None else Allowance(item_s, "item_deadline_s")

    @property
    def over(self) -> bool:
        """Whether the item's time is used up: nobody else is asked."""
        return self._item is not None and self._item.over

    async def asked(
        self, seat: Seat, questions: Sequence[tuple[Case, int]], *, propagate: bool = False
    ) -> list[Judgment]:
        """What a seat says to each case, the number of its repetition beside it; all at once. Flags: `Seat.ask`."""
        ask = self._voter(seat)
        work: list[Coroutine[Any, Any, Judgment]] = []
        for case, repetition in questions:  # no comprehension: it would make a cell of every name in it, for each vote
            work.append(self._in_its_place(ask, case, repetition, propagate))
        return [await work[0]] if len(work) == 1 else await together(work)

    async def _in_its_place(
        self, ask: Callable[..., Awaitable[Judgment]], case: Case, repetition: int, propagate: bool
    ) -> Judgment:
        waits = self._gate.locked()
        await self._gate.acquire()  # `async with` makes three coroutines of it
        try:
            if waits and self._task and self._task.cancelling() > self._heard:
                raise asyncio.CancelledError  # the place is that of a call that was cancelled a moment ago
            return await ask(case, repetition, propagate=propagate)
        finally:
            self._gate.release()

    def _voter(self, seat: Seat) -> Callable[..., Awaitable[Judgment]]:
        """`seat.ask` for one vote, within its time and the item's."""
        if self._vote_s is None and self._item is None:
            return seat.ask
        vote = None if self._vote_s is None else Allowance(self._vote_s, "vote_deadline_s")
        limits = [a for a in (vote, self._item) if a is not None]

        async def ask(case: Case, repetition: int = 0, **how: Any) -> Judgment:
            try:
                return await within(limits, lambda: seat.ask(case, repetition, **how))
            except OutOfTime as late:
                failure = Failure(KIND, f"no answer in time ({late})")
                criterion = case.format.criterion if case.format else None
                verdict = Verdict("error", failure=failure)
                return Judgment(seat.name, verdict, repetition, case.order, calls=0, criterion=criterion)

        return ask

    def told(self, result: R) -> R:
        """The result, saying who was late: as its reason where there is no verdict, else in a note."""
        if self._vote_s is None and self._item is None:
            return result
        failures = [(v.judge, j.verdict.failure) for v in result.votes for j in v.judgments if j.verdict.failure]
        late = {judge: failure.detail for judge, failure in failures if failure.kind == KIND}
        if not late:
            return result
        why = f"{', '.join(late)}: {next(iter(late.values()))}"
        broken = result.reason == "errors" and any(failure.kind != KIND for _, failure in failures)
        whole = sum(not v.failed_calls for v in result.votes) >= result.seats  # others stood in for those who were late
        if result.status == "inconclusive" and not broken and not whole:
            return unasked(result, KIND, f"No verdict: {why}.")
        return replace(result, notes=(*result.notes, f"{KIND}: {why}"))
