"""Which tier of a cascade an item has come to, as far as its folder knows: what a batch should ask next about it.

The jury itself is asked, with a recorder that hands out what is recorded and calls nobody who has batches: such a
question is wanted, and where one is, the panel goes no further. Seats without batches are asked live where a later tier
has some: what they say decides whether that is asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Generator
from contextlib import contextmanager

from jury.keys import Question
from jury.results import Failure, Judgment, Verdict
from jury.runner.describe import AnyJury, panels_of, seats_of
from jury.runner.entries import Entry
from jury.runner.governors import Governors
from jury.runner.keeper import Keeper
from jury.runner.questions import judged
from jury.store import RunWriter


class Tiers:
    """For one pass over the items of a cascade. `batched`: the seats whose questions go into batches."""

    def __init__(self, jury: AnyJury, keeper: Keeper, writer: RunWriter, batched: Collection[str]) -> None:
        self._jury = jury
        self._keeper = keeper
        self._writer = writer
        self._batched = frozenset(batched)
        self._live: set[str] = set()
        for panel in panels_of(jury):  # a session jury has one for each of its calls
            tiers = [[panel.seats[i].name for i in tier] for tier in panel.tiers]
            last = max((n for n, tier in enumerate(tiers) if self._batched.intersection(tier)), default=0)
            self._live |= {name for tier in tiers[:last] for name in tier} - self._batched
        self._wanted: dict[str, set[str]] = defaultdict(set)

    async def wanted(self, entry: Entry) -> set[str]:
        """The keys of what is to be put into a batch about this item now."""
        await judged(self._jury, entry)
        return self._wanted.pop(entry.item.id, set())

    async def judged(self, question: Question, ask: Callable[[], Awaitable[Judgment]]) -> Judgment:
        """`judge.Recorder`."""
        if self._writer.has(question.key) or question.judge in self._live:
            return await self._keeper.judged(question, ask)
        known = await self._keeper.known(question)
        if known is not None:
            return known
        if question.judge in self._batched:
            self._wanted[question.item or ""].add(question.key)
        verdict = Verdict("error", failure=Failure("budget", "not asked yet"))
        return Judgment(question.judge, verdict, question.repetition, calls=0)

    @contextmanager
    def at_work(self, govern: Governors) -> Generator[None]:
        """The recorder behind every seat; limits and money before those that are asked live."""
        seats, lone = seats_of(self._jury), [(panel, panel.lone) for panel in panels_of(self._jury)]
        for panel, _ in lone:
            panel.lone = False
        for seat in seats:
            seat.recorder = self
            if seat.name in self._live:
                seat.route(govern.before)
        try:
            yield
        finally:
            for panel, alone in lone:
                panel.lone = alone
            for seat in seats:
                seat.recorder = None
                seat.route(govern.gone)
