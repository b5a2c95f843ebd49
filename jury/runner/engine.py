"""One pass of a run over its data: items x panel, streaming, into a run folder. What is there is not asked again.

An item is skipped when its last result bears the seal of the same item and the same jury, and nothing about it failed.
Else its seats are asked; the keeper hands out every judgment that was recorded before. Memory holds what is in flight.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from jury import __version__, sync
from jury.brief import Brief, Row
from jury.budget import Budget
from jury.cache import opened
from jury.errors import ConfigError, DataError, JuryError
from jury.forecasting import Foresight
from jury.providers import registry
from jury.results import Comparison, PanelResult
from jury.runner.describe import (
    AnyJury,
    compared,
    continued,
    fingerprint,
    manifest_of,
    panels_of,
    price_sources,
    seats_of,
    voters,
)
from jury.runner.entries import Entry, Source, from_stdin, made, mark_of, sources
from jury.runner.governors import Governors, beyond, budget_of, purses, unsure_now
from jury.runner.halting import Halt
from jury.runner.keeper import Asked, Keeper, now
from jury.runner.memory import remember
from jury.runner.outlook import for_money
from jury.runner.producing import Producer, identity, named, ready_all, target_changes, unpaid_for
from jury.runner.questions import check_context, check_contexts, judged
from jury.runner.spec import Loader, RunSpec
from jury.runner.stopped import stopping
from jury.runner.target_words import ALONE
from jury.runner.targeting import Outcomes, history
from jury.runner.totals import Totals
from jury.runner.under_way import check_none
from jury.sessions.judging import SessionJury
from jury.store import RunManifest, RunWriter, StoredItem, StoredResult
from jury.store.index import short
from jury.store.lines import decode, digest
from jury.streams import as_completed
from jury.summary import told
from jury.tasks import in_thread

_ITEMS_PER_CALL = 2  # items in flight for each call of one provider: a slow seat must not leave the others idle
_BREATH = 200  # items skipped before the calls in flight get their turn


@dataclass(frozen=True, slots=True)
class RunReport(Brief):
    """What came of one pass. `totals` count every item of the data, `asked` the questions of this pass.

    `spent`: US dollars of all passes, the target's among them; `target`: what was asked of it in this one, None without
    one (`targets`: by side of a pair), and `target_spent` its part of the money; `unsure`: the most that lost calls of
    all may have cost besides.
    `changes`: what is different from the pass before. `fault`: why it ended early (the data, the disk), if it did.
    `stopping`: how a cascade or stopping early went, as (which of them, words).
    """

    folder: Path
    kind: str
    totals: Mapping[str, Any]
    asked: Asked
    judged: int = 0
    skipped: int = 0
    finished: bool = False
    spent: float = 0.0
    unsure: float = 0.0
    halted: bool = False
    changes: tuple[str, ...] = ()
    fault: JuryError | None = None
    target: Outcomes | None = None
    targets: Mapping[str, Outcomes] = field(default_factory=dict[str, Outcomes])
    target_spent: float = 0.0
    stopping: tuple[str, str] | None = None

    def _brief(self) -> list[Row]:
        ended = "" if self.finished else f"; not finished{f': {self.fault}' if self.fault else ''}"
        return [*told(self.totals), ("folder", f"{self.folder}{ended}", "")]


@dataclass
class _Pass:
    spec: RunSpec
    jury: AnyJury
    writer: RunWriter
    keeper: Keeper
    totals: Totals
    halt: Halt
    seal: str
    keep_errors: bool
    budget: Budget | None = None
    producer: Producer | None = None
    judged: int = 0
    skipped: int = 0
    fault: JuryError | None = None
    on_result: Callable[[str, Mapping[str, Any]], None] | None = field(default=None)
    voters: str = ""

    async def todo(self) -> AsyncIterator[Entry]:
        """The items that must be asked about; the others are counted from their last result."""
        source = sources(self.spec)
        waits = from_stdin(self.spec)
        seal = f"{__version__} {self.seal}"  # another version may read a row in another way
        while not self.halt.asked:
            try:
                found = await self.halt.before(in_thread(lambda: next(source, None))) if waits else next(source, None)
                if found is None:
                    return
                mark = mark_of(found, seal)
                stored = self._marked(found, mark)
                entry = made(self.spec, found, mark) if stored is None else None
                if entry is not None:
                    check_context(self.jury, entry)
            except JuryError as error:  # a torn row: what is in flight is paid for, and is finished first
                self.fault = error
                return
            if entry is not None:
                stored = self._done(entry)
            if stored is None:
                yield cast("Entry", entry)
                continue
            self.skipped += 1
            self._count(stored, new=False)
            if self.skipped % _BREATH == 0:
                await asyncio.sleep(0)

    def _marked(self, source: Source, mark: int) -> Mapping[str, Any] | None:
        """The result of a row that is known as it is, in brief: no item is made to find it."""
        known = self.writer.marked(source.number - 1, mark) if mark else None
        return None if known is None else self._kept(*known)

    def _done(self, entry: Entry) -> Mapping[str, Any] | None:
        """The result of an item, in brief; None where it is to be judged."""
        known = self.writer.known(entry.item.id)
        if known is None or known.seal != short(self._seal(entry)):
            return None
        if entry.mark and known.number == entry.item.number:  # as after the index was made anew
            self.writer.add_mark(entry.item.id, entry.mark)
        return self._kept(known.complete, known.brief)

    def _kept(self, complete: bool, told: str) -> Mapping[str, Any] | None:
        if not (complete or self.keep_errors):
            return None
        brief: Mapping[str, Any] = decode(told)
        errored = self.producer is not None and brief.get("status") == "not_judged"
        return None if errored and not self.keep_errors else brief

    def _seal(self, entry: Entry) -> str:
        turn = entry.item.number if self.jury.spec.assignment == "cyclic" else ""
        return digest(f"{self.seal} {entry.item.digest} {turn}".encode())

    async def work(self, entry: Entry) -> None:
        seal = self._seal(entry)
        made = entry if self.producer is None else await self.producer.produced(entry)
        item = (made or entry).item
        self.writer.add_item(item)
        if made is None:
            result: PanelResult | Comparison = unpaid_for(entry, self.budget.limit if self.budget else 0.0)
        else:
            result = for_money(await judged(self.jury, made), self.budget)
        news = self.keeper.news(item.id)
        stands = self._standing(made, item, seal) if result.reason == "budget" and not news else None
        if stands is not None:
            self.skipped += 1
            self._count(stands, new=False)
            return
        stored = self.writer.add_result(StoredResult(item.id, item.number, result, seal, self.voters), entry.mark)
        self.judged += result.reason != "budget"  # what was not asked about waits for more money
        self._count(stored, new=True)

    def _standing(self, made: Entry | None, item: StoredItem, seal: str) -> Mapping[str, Any] | None:
        """What an earlier pass came to, in brief: it stands where this one had no money to ask about the item."""
        known = self.writer.known(item.id)
        if known is None or known.seal != short(seal) or known.number != item.number:
            return None
        brief: Mapping[str, Any] = decode(known.brief)
        answered = made is not None and brief.get("status") == "not_judged"  # the target, which had an error before
        return None if answered or brief.get("reason") == "budget" else brief

    def _count(self, result: Mapping[str, Any], *, new: bool) -> None:
        word = self.totals.add(result)
        if self.on_result is not None:
            told = result if self.producer is None else {**result, "target_spent": self.producer.asked.cost}
            self.on_result(word if new else "", told)


async def run(
    spec: RunSpec,
    folder: str | Path,
    *,
    keep_errors: bool = False,
    force: bool = False,
    halt: Halt | None = None,
    load: Loader | None = None,
    on_result: Callable[[str, Mapping[str, Any]], None] | None = None,
) -> RunReport:
    """Judges what is missing or failed in the folder, and all of it in a new one.

    `keep_errors` leaves failed items as they are; `force` takes a prompt that was edited under its old version.
    `on_result` hears of every item: its outcome in a word (empty if it was judged before) and the result (then in
    brief; with a target also what that cost so far). Raises `ConfigError` before the first call (of a session that
    lacks a context when it comes to that, after what is in flight), `DataError` where the folder is locked, foreign or
    cannot be written; a fault of the data ends the pass and is in the report.
    """
    jury, targets = spec.make_jury(load), spec.make_targets(load)
    _ready(spec, jury)
    ready_all(targets, spec)
    with RunWriter(folder) as writer:
        asked = (s for panel in panels_of(jury) for s in panel.seats if s.function is None)
        check_none(writer.folder, (s.provider.name for s in asked))
        manifest = named(manifest_of(spec, jury, writer.folder.name), targets)
        changed = compared(writer.manifest, manifest, writer.folder, force=force)
        changed += target_changes(writer.manifest, manifest)
        manifest = continued(writer.manifest, manifest, now())
        writer.save(manifest)
        cache = opened(spec.cache)
        budget = budget_of(spec, writer)
        manifest = writer.manifest or manifest  # with what a killed pass may have cost
        keeper = Keeper(writer, price_sources(jury), cache, purses(seats_of(jury), budget))
        govern = Governors(spec, budget)
        seal = fingerprint(jury) + identity(targets)
        producer = Producer(targets, spec, writer, budget) if targets else None
        it = _Pass(
            spec, jury, writer, keeper, Totals(manifest.kind), halt or Halt(), seal, keep_errors, budget, producer,
            on_result=on_result, voters="" if isinstance(jury, SessionJury) else voters(jury),
        )  # fmt: skip
        started = now()
        remember(jury, writer)
        done = False
        try:
            with _governed(it, govern):
                async for _ in as_completed(it.todo(), it.work, spec.concurrency * _ITEMS_PER_CALL, ordered=False):
                    pass
            done = not it.halt.asked and it.fault is None
        except BaseException:
            with suppress(DataError):  # where the disk is full, what ended the pass is the better word
                _leave(it, manifest, started, changed, done)
            raise
        finally:
            if cache is not None:
                cache.close()
            if producer is not None:
                await producer.close()
        _leave(it, manifest, started, changed, done)
        if isinstance(it.fault, ConfigError):
            raise it.fault
        return _report(it, Path(folder), changed, done)


def run_sync(spec: RunSpec, folder: str | Path, **options: Any) -> RunReport:
    """`run` without `await`."""
    return sync.run(run(spec, folder, **options))


@contextmanager
def _governed(it: _Pass, govern: Governors) -> Generator[None]:
    """The keeper behind every seat, limits and budget before every provider, the target's included; and gone again."""
    lone = [(panel, panel.lone) for panel in panels_of(it.jury)]
    for panel, _ in lone:
        panel.lone = False  # an exception of the only judge function costs its item, not the run
    if isinstance(it.jury, SessionJury):
        it.jury.shown = it.writer.add_shown
    for seat in seats_of(it.jury):
        seat.recorder = it.keeper
        seat.route(govern.before)
    if it.producer is not None:
        it.producer.route(it.spec, govern)
    try:
        yield
    finally:
        for panel, alone in lone:
            panel.lone = alone
        if isinstance(it.jury, SessionJury):
            it.jury.shown = None
        for seat in seats_of(it.jury):
            seat.recorder = None
            seat.route(govern.gone)


def _ready(spec: RunSpec, jury: AnyJury) -> None:
    """What can be known before the first call: providers, prices where there is a budget, and not every key missing."""
    seats = [seat for panel in panels_of(jury) for seat in panel.seats]
    Governors(spec, None if spec.budget is None else Budget(spec.budget)).check(seats_of(jury))
    check_contexts(spec, jury)
    said = [why for s in seats if s.function is None and (why := _missing_key(s))]
    if said and len(said) == len(seats):
        raise ConfigError("; ".join(dict.fromkeys(said)))


def _missing_key(seat: Any) -> str | None:
    name = seat.provider.name
    return None if seat.spec.provider is not None else registry.key_problem(name)


def _leave(it: _Pass, manifest: RunManifest, started: str, changed: list[str], done: bool) -> None:
    """The manifest at the end of a pass."""
    history = (*manifest.history, _history(it, started, changed))
    it.writer.save(replace(manifest, totals=_totals(it), finished=done, heads=it.writer.heads, history=history))
    it.writer.at_risk.clear()


def _totals(it: _Pass) -> dict[str, Any]:
    """The counts; what a target cost beside what the judges did."""
    target = {} if it.producer is None else {"target_cost": it.writer.target_cost}
    return {**it.totals.to_dict(), **target}


def _report(it: _Pass, folder: Path, changed: list[str], done: bool) -> RunReport:
    writer, producer = it.writer, it.producer
    return RunReport(
        folder=folder,
        kind=it.totals.kind,
        totals=_totals(it),
        asked=it.keeper.asked,
        judged=it.judged,
        skipped=it.skipped,
        finished=done,
        halted=it.halt.asked,
        spent=writer.cost + writer.target_cost,
        unsure=beyond(it.budget, writer),
        changes=tuple(changed),
        fault=it.fault,
        target=producer.asked if producer is not None else None,
        targets={} if producer is None else {s: asked for s, asked in producer.by_side.items() if s != ALONE},
        target_spent=writer.target_cost,
        stopping=stopping(writer.manifest, it.totals) if writer.manifest else None,
    )


def _history(it: _Pass, started: str, changed: list[str]) -> dict[str, Any]:
    asked = it.keeper.asked
    return {
        "started": started,
        "ended": now(),
        "judged": it.judged,
        "skipped": it.skipped,
        "asked": asked.live,
        "recalled": asked.recalled,
        "same": asked.same,
        "cached": asked.cached,
        "failed": asked.failed,
        "cost": None if asked.unpriced else asked.cost,
        **_asked_of_targets(it),
        "changes": changed,
        "halted": it.halt.asked,
        **unsure_now(it.budget, it.writer),
        **({"foresight": asdict(seen)} if (seen := _foresight(it.jury)) else {}),
        **({"fault": str(it.fault)} if it.fault else {}),
    }


def _asked_of_targets(it: _Pass) -> dict[str, Any]:
    if it.producer is None:
        return {}
    sides = {side: history(asked) for side, asked in it.producer.by_side.items() if side != ALONE}
    return {"target": history(it.producer.asked), **({"targets": sides} if sides else {})}


def _foresight(jury: AnyJury) -> Foresight | None:
    forecaster = None if isinstance(jury, SessionJury) else jury.panel.forecaster
    return forecaster.foresight if forecaster is not None else None
