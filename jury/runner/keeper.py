"""What stands between a seat and its judge in a run: recalls what was recorded, records what is asked.

Questions that are the same in everything are asked once. Decides nothing about votes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import cast

from jury.allowances import in_line
from jury.budget import Purse
from jury.cache import Cache
from jury.errors import DataError, ProviderError
from jury.keys import Question
from jury.providers.function import UNREADABLE
from jury.results import Failure, Judgment, Order, Usage, Verdict
from jury.store import RunWriter, StoredJudgment
from jury.store.lines import encode, parse

logger = logging.getLogger("jury.runner")
_PAID_ELSEWHERE = Usage(0, 0, 0, 0, 0.0)


@dataclass
class Asked:
    """What came of the questions of one pass."""

    live: int = 0
    recalled: int = 0  # recorded in this folder before
    same: int = 0  # of an identical item
    cached: int = 0  # of another run
    refused: int = 0  # not asked, for want of money
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
    """The recorder of one pass (`judge.Recorder`). `prices`: by seat, where its price comes from; `purses`: of the
    judge functions.

    A judgment is looked for among the questions in flight, in the folder, in the cache; in this order.
    """

    def __init__(
        self,
        writer: RunWriter,
        prices: Mapping[str, str | None],
        cache: Cache | None = None,
        purses: Mapping[str, Purse] | None = None,
    ) -> None:
        self.asked = Asked()
        self._purses = purses or {}
        self._cache = cache
        self._writer = writer
        self._prices = prices
        self._flying: dict[str, asyncio.Future[Judgment | None]] = {}
        self._news: set[str] = set()

    def news(self, item: str) -> bool:
        """Whether anything was recorded of an item since this was asked last."""
        found = item in self._news
        self._news.discard(item)
        return found

    async def judged(self, question: Question, ask: Callable[[], Awaitable[Judgment]]) -> Judgment:
        """The judgment on a question: the one that is known, or a new one, recorded before it is used."""
        while question.key in self._flying:  # the same question of another item is being asked just now
            with in_line():
                known = await asyncio.shield(self._flying[question.key])
            if known is not None:
                return self._copy(question, known, "same")
        stored = self._writer.recall(question.key)
        if stored is not None:
            if stored.item != question.item:
                return self._copy(question, stored.judgment, "same")
            self.asked.recalled += 1
            return replace(stored.judgment, judge=question.judge)
        slow = self._cache is not None and self._cache.slow
        cached = None if slow else self._cached(question)
        if cached is not None:
            return self._copy(question, cached, "cache")
        flying = self._flying[question.key] = asyncio.get_running_loop().create_future()
        known = None
        try:
            if slow and (cached := await asyncio.to_thread(self._cached, question)) is not None:
                known = self._copy(question, cached, "cache")
                return known
            made = await paid(self._purses.get(question.judge), question, ask)
            if made.verdict.failure is not None and made.verdict.failure.kind == "budget":
                self.asked.refused += 1
                return made  # nobody was asked: there is nothing to record
            self.asked.count(made)
            stored = self._record(question, made)
            if self._cache is not None and not question.plain and made.verdict.status != "error":
                await self._keep(self._cache, question.key, encode(stored.to_dict()), made.model or "")
            known = made if made.verdict.status != "error" else None  # another item may have better luck
        finally:
            del self._flying[question.key]
            flying.set_result(known)
        return made

    async def known(self, question: Question) -> Judgment | None:
        """What another run paid for, recorded here."""
        cached = await asyncio.to_thread(self._cached, question) if self._cache is not None else None
        made = None if cached is None else self._copy(question, cached, "cache")
        self.news(question.item or "")  # nobody asks for it
        return made

    @staticmethod
    async def _keep(cache: Cache, *entry: str) -> None:
        if cache.slow:
            await asyncio.to_thread(cache.put, *entry)
        else:
            cache.put(*entry)

    def _cached(self, question: Question) -> Judgment | None:
        text = self._cache.get(question.key) if self._cache is not None and not question.plain else None
        if text is None:
            return None
        try:
            return StoredJudgment.from_dict(parse(text.encode("utf-8", "surrogatepass")) or {}).judgment
        except DataError as error:
            logger.warning("an entry of the cache cannot be read (%s); its question is asked", error)
            return None

    def _copy(self, question: Question, judgment: Judgment, source: str) -> Judgment:
        """A judgment that was paid for elsewhere, as one of this item."""
        if source == "same":
            self.asked.same += 1
        else:
            self.asked.cached += 1
        made = replace(judgment, judge=question.judge, usage=_PAID_ELSEWHERE, calls=0, retries=0, latency_s=0.0)
        self._record(question, made, source)
        return made

    def _record(self, question: Question, judgment: Judgment, source: str | None = None) -> StoredJudgment:
        priced = judgment.usage is not None and judgment.usage.cost is not None and source is None
        stored = StoredJudgment(
            key=question.key,
            item=question.item or "",
            judgment=judgment,
            request=question.request,
            price_source=self._prices.get(question.judge) if priced else None,
            at=now(),
            source=source,
        )
        self._writer.add_judgment(stored)
        self._news.add(stored.item)
        return stored


class Payer:
    """The recorder of judges without a folder (`judge.Recorder`): it minds their money, and keeps nothing."""

    def __init__(self, purses: Mapping[str, Purse]) -> None:
        self._purses = purses

    async def judged(self, question: Question, ask: Callable[[], Awaitable[Judgment]]) -> Judgment:
        return await paid(self._purses.get(question.judge), question, ask)


async def paid(purse: Purse | None, question: Question, ask: Callable[[], Awaitable[Judgment]]) -> Judgment:
    """`ask`, with the money for it set aside where it is a function's."""
    if purse is None:
        return await ask()
    try:
        reserved = await purse.reserve()
    except ProviderError as error:
        verdict = Verdict("error", failure=Failure(error.kind, error.detail))
        return Judgment(question.judge, verdict, question.repetition, cast("Order", question.order), calls=0)
    try:
        made = await ask()
    except BaseException:
        purse.lost(reserved)
        raise
    said = made.usage.cost if made.usage is not None else None
    unreadable, failed = made.usage is UNREADABLE, made.verdict.status == "error"
    cost = purse.settle(reserved, said, unreadable=unreadable, failed=failed)
    if cost is None or cost == said:
        return made
    return replace(made, usage=replace(made.usage or Usage(1), cost=cost))


def now() -> str:
    """The time in UTC, as records have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
