"""`jury run --batch`: the questions of a run through the vendors' batch APIs, at half the price, within a day.

What a pass would ask is sent in batches; what comes back is recorded like any judgment, and the pass that follows asks
live what is missing: failed lines, seats without batches, replies that could not be read. Of a cascade each tier goes
into batches of its own, when those of the tier before are back. Nothing is sent twice: a batch is written down
(`batches.jsonl`, and its questions in `batch-N.jsonl`) before it is submitted, and one whose answer was lost by a kill
is looked for at the vendor first. Batches, the target and live calls share one budget.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from jury.budget import Budget
from jury.cache import opened
from jury.errors import ConfigError, ProviderError
from jury.governed import most_cost, tokens
from jury.judge import Seat
from jury.providers import prices
from jury.providers.base import Request
from jury.providers.batches import (
    MOST_BYTES,
    MOST_REQUESTS,
    PRICE,
    BatchApi,
    Results,
    batch_api,
    body_of,
    body_of_line,
    outcomes,
)
from jury.results import Judgment
from jury.runner.describe import AnyJury, compared, continued, manifest_of, price_sources, seats_of
from jury.runner.entries import Entry, entries, from_stdin
from jury.runner.governors import Governors, budget_of, note_unsure, purses
from jury.runner.keeper import Keeper, now
from jury.runner.producing import Producer, named, ready_all
from jury.runner.questions import check_context, check_contexts, questions
from jury.runner.returned import Asked, line_of, rung_of
from jury.runner.spec import Loader, RunSpec
from jury.runner.tiers import Tiers
from jury.runner.under_way import FILE, last_words, still_open
from jury.store import RunWriter, StoredJudgment
from jury.store.index import JUDGMENTS
from jury.store.lines import Appender, encode, read_lines
from jury.streams import as_completed
from jury.summary import count

POLL_S = 60.0
_LOOKS = 5  # at results that cannot be read whole: what none of them shows is an error of the batch
_LONGEST = 160  # characters of why a question failed


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What came of the batches of one pass. `unsent`: questions for which the budget had no room."""

    batches: int = 0
    asked: int = 0
    answered: int = 0
    failed: int = 0
    unsent: int = 0


@dataclass
class _Chunk:
    """Questions on their way into one batch."""

    provider: str
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    size: int = 0
    most: float = 0.0  # US dollars that the batch can cost

    def add(self, asked: dict[str, Any], most: float) -> None:
        self.asked.append(asked)
        self.size += len(encode(asked["body"]))
        self.most += most

    @property
    def full(self) -> bool:
        return len(self.asked) >= MOST_REQUESTS or self.size >= MOST_BYTES


class _Batches:
    """The batches of one folder: what is written down, what is under way."""

    producer: Producer | None = None
    tiers: Tiers | None = None
    keeper: Keeper

    def __init__(
        self, spec: RunSpec, jury: AnyJury, writer: RunWriter, say: Callable[[str], None], budget: Budget | None = None
    ) -> None:
        self.spec, self.jury, self.writer, self.say, self._budget = spec, jury, writer, say, budget
        self.report = BatchReport()
        self._asked = Asked(jury)
        self._apis: dict[str, BatchApi] = {}
        for seat in self._asked.seats:
            api = batch_api(seat.provider)
            if api is not None:
                self._apis[seat.provider.name] = api
        self._sources = price_sources(jury)
        self._file = Appender(writer.folder / FILE)
        told = last_words(writer.folder)
        self._last = max(told, default=0)
        self.open = still_open(told)
        self._under_way = {str(q["key"]) for n in self.open for q in self._questions(n)}
        self._taken = self._taken_before()
        self._looks: Counter[int] = Counter()  # at results of a batch that could not be read whole
        self._seen: dict[int, dict[str, Mapping[str, Any]]] = {}  # the lines of such a one, as far as any look showed
        if budget is not None:
            budget.hold(sum(float(batch.get("most") or 0.0) for batch in self.open.values()), owed=True)

    @property
    def batched(self) -> list[str]:
        """The seats whose questions go into batches."""
        return [seat.name for seat in self._asked.seats if seat.provider.name in self._apis]

    def close(self) -> None:
        self._file.close()

    async def resume(self) -> None:
        """Batches that were written down and not known to be submitted: found at the vendor, or sent now."""
        known = {str(told["id"]) for told in last_words(self.writer.folder).values() if told.get("id")}
        for number, batch in self.open.items():
            if batch["state"] != "planned" or batch["provider"] not in self._apis:
                continue
            since = datetime.fromisoformat(str(batch["at"]).replace("Z", "+00:00"))
            name = await self._apis[batch["provider"]].find(batch["token"], since, int(batch["count"]), known)
            if name is not None:
                known.add(name)
                self._note(number, state="submitted", id=name)
            else:
                await self._submit(number, [(str(q["key"]), q["body"]) for q in self._questions(number)])

    async def send_missing(self) -> int:
        """Every question that is to be asked now, not answered and not under way, in batches. How many were sent."""
        chunks: dict[str, _Chunk] = {}
        before, short = self.report.asked, False
        self.report = replace(self.report, unsent=0)
        async for entry, wanted in self._entries():
            for seat, case, repetition in questions(self.jury, entry):
                provider = seat.provider.name if seat.function is None else ""
                if provider not in self._apis:
                    continue
                question = seat.question(case, repetition)
                if question.key in self._under_way or (wanted is not None and question.key not in wanted):
                    continue
                if self.writer.has(question.key) or await self.keeper.known(question) is not None:
                    continue
                request = replace(seat.request(case, repetition), rung=rung_of(seat))
                most = self._most(seat, request)
                short = short or not (self._budget is None or self._budget.hold(most))
                if short:  # were cheap ones sent after dear ones, the verdicts would be those of cheap items
                    self.report = replace(self.report, unsent=self.report.unsent + 1)
                    continue
                self.writer.add_item(entry.item)
                self._under_way.add(question.key)
                chunk = chunks.setdefault(provider, _Chunk(provider))
                chunk.add({**line_of(seat, case, question), "body": body_of(seat.provider, request)}, most)
                if chunk.full:
                    await self._plan(chunks.pop(provider))
        for chunk in chunks.values():
            await self._plan(chunk)
        return self.report.asked - before

    async def _entries(self) -> AsyncIterator[tuple[Entry, set[str] | None]]:
        """The items, with the keys of what is to be asked about each now (None: everything). With a target those whose
        output it makes now, live, or has made before."""

        async def ready_for(entry: Entry) -> tuple[Entry, set[str] | None] | None:
            check_context(self.jury, entry)
            made = entry if self.producer is None else await self.producer.produced(entry)
            if made is None:  # there is no money for it
                return None
            return made, None if self.tiers is None else await self.tiers.wanted(made)

        async for made in as_completed(entries(self.spec), ready_for, self.spec.concurrency, ordered=True):
            if made is not None:
                yield made

    def waiting(self) -> bool:
        """Whether a batch is under way at a vendor whom somebody of the panel can ask about it."""
        return any(batch["provider"] in self._apis for batch in self.open.values())

    async def collect(self) -> None:
        """Takes in every batch that is done. One that cannot be looked at just now is waited for like the others."""
        for number, batch in list(self.open.items()):
            api = self._apis.get(batch["provider"])
            if api is None or batch["state"] != "submitted":
                continue
            name = f"batch {number} ({batch['id']})"
            try:
                state = await api.state(batch["id"])
                results = await api.results(batch["id"]) if state.done else Results()
            except ProviderError as error:
                if not error.retry:
                    raise
                self.say(f"{name}: {error}; it is looked at again")
                continue
            if not state.done:
                self.say(f"{name}: {state.status}")
                continue
            why = f"{state.status}: {state.why}" if state.why else state.status
            seen = self._seen.setdefault(number, {})
            seen.update({str(line.get("custom_id")): line for line in results.lines})
            unread = results.torn > 0 and len(seen) < int(batch["count"])
            if unread:
                self._looks[number] += 1
                torn = f"{count(results.torn, 'line')} of its results cannot be read"
                if not self._seen_enough(number, results):
                    self.say(f"{name}: {torn}; it is looked at again")
                    continue
                why = f"{why}; {torn}, looked at {self._looks[number]} times"
                self.say(f"{name}: {torn}: what is missing is asked again")
            before = self.report.answered
            failures = self._take_in(number, list(self._seen.pop(number).values()), api, why, unread=unread)
            self.say(f"{name}: {why}, {self.report.answered - before:,} of {int(batch['count']):,} answered")
            for kind, (n, detail) in sorted(failures.items(), key=lambda one: -one[1][0]):
                self.say(f"{name}: {n:,} x {kind}: {detail[:_LONGEST]}")

    def _seen_enough(self, number: int, results: Results) -> bool:
        """Whether what is torn is given up. A few torn lines that are torn the second time too will stay so."""
        looks = self._looks[number]
        return looks >= _LOOKS or (looks > 1 and results.nearly(int(self.open[number]["count"])))

    def _take_in(
        self, number: int, lines: Sequence[Mapping[str, Any]], api: BatchApi, why: str, *, unread: bool
    ) -> dict[str, tuple[int, str]]:
        """Records what came of a batch; `unread`: some of it is paid for, and nobody knows how much. Of what failed, by
        kind, how many and the first one's words."""
        asked = {str(q["key"]): q for q in self._questions(number)}
        bodies = {str(line.get("custom_id")): body_of_line(line) for line in lines}
        answered, cost = 0, self.writer.cost
        failures: dict[str, tuple[int, str]] = {}
        for key, outcome in outcomes(asked, lines, api.api, why).items():
            judgment = self._asked.judgment(asked[key], outcome, bodies.get(key))
            if judgment is not None:
                self._record(number, asked[key], judgment)
                answered += judgment.verdict.status != "error"
                if (failure := judgment.verdict.failure) is not None:
                    n, first = failures.get(failure.kind, (0, failure.detail))
                    failures[failure.kind] = n + 1, first
        if self._budget is not None:
            most, known = float(self.open[number].get("most") or 0.0), self.writer.cost - cost
            self._budget.release(most, max(most, known) if unread else known)
        failed = len(asked) - answered
        self._note(number, state="collected", answered=answered, failed=failed)
        self.report = replace(self.report, answered=self.report.answered + answered, failed=self.report.failed + failed)
        return failures

    def _taken_before(self) -> set[tuple[Any, Any]]:
        """(batch, key) of what was recorded before a kill, of batches that are not noted as collected."""
        if not self.open:
            return set()
        lines = (line for _, line in read_lines(self.writer.folder / JUDGMENTS))
        return {(line["batch"], line.get("key")) for line in lines if line.get("batch") in self.open}

    def _record(self, number: int, asked: dict[str, Any], judgment: Judgment) -> None:
        key = str(asked["key"])
        if self.writer.has(key) or (number, key) in self._taken:
            return
        self.writer.add_judgment(
            StoredJudgment(
                key=key,
                item=str(asked["item"]),
                judgment=judgment,
                request=str(asked["request"]),
                price_source=self._sources.get(judgment.judge),
                at=now(),
                source="batch",
                batch=number,
            )
        )

    async def _plan(self, chunk: _Chunk) -> None:
        self._last += 1
        number = self._last
        self.report = replace(self.report, batches=self.report.batches + 1, asked=self.report.asked + len(chunk.asked))
        with_questions = Appender(self._path(number))
        for asked in chunk.asked:
            with_questions.append(asked)
        with_questions.close()
        about = {"provider": chunk.provider, "token": secrets.token_hex(12), "count": len(chunk.asked)}
        self._note(number, state="planned", **about, most=chunk.most)
        await self._submit(number, [(asked["key"], asked["body"]) for asked in chunk.asked])

    async def _submit(self, number: int, requests: list[tuple[str, dict[str, Any]]]) -> None:
        batch = self.open[number]
        try:
            name = await self._apis[batch["provider"]].submit(requests, batch["token"])
        except ProviderError as error:
            if error.kind in ("timeout", "connection", "server_error", "bad_body"):
                self.say(
                    f"batch {number}: nobody knows whether it arrived; the next start looks for it before it sends"
                )
                raise
            if self._budget is not None:
                self._budget.release(float(batch.get("most") or 0.0), 0.0)
            self._note(number, state="lost", why=str(error))  # refused as a whole: nothing was sent
            raise
        self._note(number, state="submitted", id=name)
        self.say(f"batch {number} ({name}): {count(len(requests), 'question')} submitted")

    @staticmethod
    def _most(seat: Seat, request: Request) -> float:
        price = prices.find(seat.provider.name, seat.model)
        return most_cost(price, tokens(request)) * PRICE if price is not None else 0.0

    def _note(self, number: int, **what: Any) -> None:
        line = {"batch": number, **what, "at": now()}
        self._file.append(line)
        self._file.sync()
        self.open[number] = {**self.open.get(number, {}), **line}
        if what["state"] in ("collected", "lost"):
            del self.open[number]

    def _questions(self, number: int) -> Iterator[dict[str, Any]]:
        for _, line in read_lines(self._path(number)):
            yield line

    def _path(self, number: int) -> Path:
        return self.writer.folder / f"batch-{number}.jsonl"


async def run_batches(
    spec: RunSpec,
    folder: str | Path,
    *,
    poll_s: float = POLL_S,
    load: Loader | None = None,
    say: Callable[[str], None] = lambda text: None,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> BatchReport:
    """Sends what is missing in batches, waits until all are done, records what came back. Interrupt it at any time.

    `say` hears of every step. Raises `ConfigError`, `DataError`, and `ProviderError` where a vendor refuses.
    """
    if from_stdin(spec):
        raise ConfigError("--batch reads the data more than once: give a file instead of standard input")
    jury, targets = spec.make_jury(load), spec.make_targets(load)
    ready_all(targets, spec)
    check_contexts(spec, jury)
    with RunWriter(folder) as writer:
        manifest = named(manifest_of(spec, jury, writer.folder.name), targets)
        compared(writer.manifest, manifest, writer.folder)
        budget = budget_of(spec, writer)
        govern = Governors(spec, budget)
        govern.check(seats_of(jury))
        batches = _Batches(spec, jury, writer, say, budget)
        writer.save(continued(writer.manifest, manifest, now()))
        with ExitStack() as at_work:
            at_work.callback(batches.close)
            cache = opened(spec.cache)
            if cache is not None:
                at_work.callback(cache.close)
            batches.keeper = Keeper(writer, price_sources(jury), cache, purses(seats_of(jury), budget))
            if jury.spec.escalate is not None:
                batches.tiers = Tiers(jury, batches.keeper, writer, batches.batched)
                at_work.enter_context(batches.tiers.at_work(govern))
            if targets:
                batches.producer = Producer(targets, spec, writer, budget)
                batches.producer.route(spec, govern)
            try:
                await _rounds(batches, poll_s, sleep)
            finally:
                if batches.producer is not None:
                    await batches.producer.close()
                note_unsure(budget, writer)
        return batches.report


async def _rounds(batches: _Batches, poll_s: float, sleep: Callable[[float], Awaitable[object]]) -> None:
    """Batches until nothing more is to be sent: the next tiers of a cascade, and what there is money for again."""
    await batches.resume()
    await batches.collect()
    while True:
        sent = await batches.send_missing()
        while batches.waiting():
            await sleep(poll_s)
            await batches.collect()
        more = batches.tiers is not None or batches.report.unsent
        if not sent or not more:
            break
    for number, batch in batches.open.items():
        batches.say(f"batch {number}: no judge of {batch['provider']} is on the panel: it stays where it is")
