"""What stands between a seat and its judge in a run: recalls what was recorded, records what is asked.

Questions that are the same in everything are asked once. Decides nothing about votes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from jury.keys import Question
from jury.results import Judgment, Usage
from jury.store import RunWriter, StoredJudgment

_PAID_ELSEWHERE = Usage(0, 0, 0, 0, 0.0)


@dataclass
class Asked:
    """What came of the questions of one pass."""

    live: int = 0
    recalled: int = 0  # recorded in this folder before
    same: int = 0  # of an identical item
    failed: int = 0
    cost: float = 0.0
    unpriced: int = 0

    def count(self, judgment: Judgment) -> None:
        self.live += 1
        self.failed += judgment.verdict.status == "error"
        usage = judgment.usage
        if usage is not None and usage.cost is None:
            self.unpriced += 1
        self.cost += (usage.cost if usage else None) or 0.0


class Keeper:
    """The recorder of one pass (`judge.Recorder`). `prices`: by seat, where its price comes from."""

    def __init__(self, writer: RunWriter, prices: Mapping[str, str | None]) -> None:
        self.asked = Asked()
        self._writer = writer
        self._prices = prices
        self._flying: dict[str, asyncio.Future[Judgment | None]] = {}

    async def judged(self, question: Question, ask: Callable[[], Awaitable[Judgment]]) -> Judgment:
        """The judgment on a question: the one that is known, or a new one, recorded before it is used."""
        while question.key in self._flying:  # the same question of another item is being asked just now
            known = await asyncio.shield(self._flying[question.key])
            if known is not None:
                return self._copy(question, known)
        stored = self._writer.recall(question.key)
        if stored is not None:
            if stored.item != question.item:
                return self._copy(question, stored.judgment)
            self.asked.recalled += 1
            return replace(stored.judgment, judge=question.judge)
        flying = self._flying[question.key] = asyncio.get_running_loop().create_future()
        known = None
        try:
            made = await ask()
            self.asked.count(made)
            self._record(question, made)
            known = made if made.verdict.status != "error" else None  # another item may have better luck
        finally:
            del self._flying[question.key]
            flying.set_result(known)
        return made

    def _copy(self, question: Question, judgment: Judgment) -> Judgment:
        self.asked.same += 1
        made = replace(judgment, judge=question.judge, usage=_PAID_ELSEWHERE, calls=0, retries=0, latency_s=0.0)
        self._record(question, made, "same")
        return made

    def _record(self, question: Question, judgment: Judgment, source: str | None = None) -> None:
        priced = judgment.usage is not None and judgment.usage.cost is not None and source is None
        self._writer.add_judgment(
            StoredJudgment(
                key=question.key,
                item=question.item or "",
                judgment=judgment,
                request=question.request,
                price_source=self._prices.get(question.judge) if priced else None,
                at=now(),
                source=source,
            )
        )


def now() -> str:
    """The time in UTC, as records have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
