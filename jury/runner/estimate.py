"""What a run will ask and cost, from a sample of its data, before anything is paid. Calls nobody.

Input tokens are counted at four characters each, output tokens as the replies recorded in the folder have them (a usual
reply where there are none). `most` is a bound: every byte a token, every reply as long as it may be. Calls that early
stopping will spare and calls for unreadable replies are not foreseen.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from jury.cache import Cache, opened
from jury.data import Output
from jury.errors import ConfigError, DataError
from jury.governed import FREE, most_cost, tokens
from jury.governed import Estimate as Tokens
from jury.providers import prices
from jury.runner.describe import AnyJury
from jury.runner.entries import Entry, entries, from_stdin
from jury.runner.governors import stated_cost
from jury.runner.outlook import reach
from jury.runner.producing import errored, filled
from jury.runner.questions import questions
from jury.runner.spec import Loader, RunSpec
from jury.runner.targeting import recorded
from jury.sessions.judging import SessionJury
from jury.store import Run
from jury.store.index import Index
from jury.targets import Question, Target

SAMPLE = 200
USUAL_REPLY = 150  # tokens of an explanation of a few sentences and a value
_LOGGED = 2000  # judgments looked at to see how long replies are


@dataclass
class Line:
    """One judge. `cost` and `most` are US dollars; None where nobody knows the price."""

    judge: str
    calls: float = 0.0
    known: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    cost: float | None = 0.0
    most: float | None = 0.0

    def likely(self, share: float) -> Line:
        """Where a cascade asks this judge about a share of the items: so much of all but the most it can cost."""
        if share >= 1:
            return self
        cost = None if self.cost is None else self.cost * share
        calls, into, out = (n * share for n in (self.calls, self.input_tokens, self.output_tokens))
        return replace(self, calls=calls, input_tokens=into, output_tokens=out, cost=cost)

    def scaled(self, factor: float) -> Line:
        def times(value: float | None) -> float | None:
            return None if value is None else value * factor

        return Line(
            self.judge,
            round(self.calls * factor),
            round(self.known * factor),
            round(self.input_tokens * factor),
            round(self.output_tokens * factor),
            times(self.cost),
            times(self.most),
        )


@dataclass(frozen=True, slots=True)
class Quote:
    """`known` questions need no call: they are answered in the folder or the cache. `notes`: what was assumed."""

    items: int
    sampled: int
    lines: tuple[Line, ...] = field(default=())
    notes: tuple[str, ...] = ()

    @property
    def calls(self) -> int:
        return int(sum(line.calls for line in self.lines))

    @property
    def known(self) -> int:
        return int(sum(line.known for line in self.lines))

    @property
    def cost(self) -> float | None:
        return _sum([line.cost for line in self.lines])

    @property
    def most(self) -> float | None:
        return _sum([line.most for line in self.lines])


def estimate(spec: RunSpec, folder: str | Path, *, sample: int = SAMPLE, load: Loader | None = None) -> Quote:
    """The quote for a run into a folder, which need not exist. Raises `ConfigError`, `DataError`."""
    if from_stdin(spec):
        raise ConfigError("an estimate reads the data twice: give a file instead of standard input")
    jury = spec.make_jury(load)
    items, chosen = _sampled(entries(spec), sample)
    return quoted(jury, chosen, items, folder, cache=spec.cache, targets=spec.make_targets(load))


def quoted(
    jury: AnyJury,
    chosen: Sequence[Entry],
    items: int,
    folder: str | Path,
    *,
    cache: bool | str = True,
    targets: Mapping[str, Target] | None = None,
) -> Quote:
    """The quote for as many items as `items`, of which `chosen` are looked at; what `folder` or cache know is free."""
    store = opened(cache)
    index = Index(Path(folder), private=True) if Path(folder).is_dir() else None
    lengths = _lengths(folder)
    shares, notes = reach(jury, Path(folder))
    lines: dict[str, Line] = {}
    try:
        for entry in chosen:
            more = 0
            if targets:
                entry, more = _of_targets(jury, targets, entry, lines, (Path(folder), index))
            _add(jury, entry, lines, lengths, (index, store), more)
    finally:
        if index is not None:
            index.close()
        if store is not None:
            store.close()
    factor = items / len(chosen) if chosen else 0.0
    scaled = [line.likely(shares.get(line.judge, 1.0)).scaled(factor) for line in lines.values()]
    return Quote(items, len(chosen), tuple(scaled), notes)


def _add(
    jury: AnyJury,
    entry: Entry,
    lines: dict[str, Line],
    lengths: dict[str, float],
    known: tuple[Index | None, Cache | None],
    more: int = 0,
) -> None:
    """`more`: tokens by which the output may be longer than the one that stands for it here."""
    index, cache = known
    for seat, case, repetition in questions(jury, entry):
        line = lines.setdefault(seat.name, Line(seat.name))
        question = seat.question(case, repetition)
        there = index is not None and index.judged(question.key) is not None
        if there or (cache is not None and not question.plain and cache.get(question.key) is not None):
            line.known += 1
            continue
        line.calls += 1
        if seat.function is not None:
            _state(line, stated_cost(seat) or 0.0)  # one that says nothing is free
            continue
        needed = tokens(seat.request(case, repetition))
        out = min(lengths.get(seat.name, USUAL_REPLY), needed.most_out)
        line.input_tokens += needed.likely
        line.output_tokens += out
        _pay(line, _price(seat.provider.name, seat.model), replace(needed, most_in=needed.most_in + more), out)


def _pay(line: Line, price: prices.Price | None, needed: Tokens, out: float) -> None:
    if price is None:
        line.cost = line.most = None
    elif line.cost is not None and line.most is not None:
        line.cost += (needed.likely * price.input + out * price.output) / 1e6
        line.most += most_cost(price, needed)


def _state(line: Line, each: float | None) -> None:
    """A call without a list price: what it costs at most is what it costs; None where nobody said."""
    if each is None:
        line.cost = line.most = None
    elif line.cost is not None and line.most is not None:
        line.cost += each
        line.most += each


def _of_targets(
    jury: AnyJury, targets: Mapping[str, Target], entry: Entry, lines: dict[str, Line], known: tuple[Path, Index | None]
) -> tuple[Entry, int]:
    """The item with the outputs that the folder holds; else with some of a usual length, and how much longer all of
    them may be."""
    if entry.point is None or errored(entry):
        return filled(entry, {}, isinstance(jury, SessionJury)), 0
    made: dict[str, Output] = {}
    more = 0
    for side, target in targets.items():
        question = target.question(entry.point)
        made[side] = there if (there := _of_target(side, target, question, lines, known)) else _stand_in(jury)
        more += 0 if there else _longest(jury, target)
    return filled(entry, made, isinstance(jury, SessionJury)), more


def _of_target(
    side: str, target: Target, question: Question, lines: dict[str, Line], known: tuple[Path, Index | None]
) -> Output | None:
    """The output that the folder holds. The target's own call has a line of its own; what a function or an address
    costs nobody knows before but who wrote its `max_cost`."""
    name = f"target {f'{side} ' if side else ''}{target.spec.label}"
    line = lines.setdefault(name, Line(name))
    there = recorded(*known, question)
    if there is not None:
        line.known += 1
        return there
    line.calls += 1
    provider = target.provider
    if target.spec.model is None:
        _state(line, target.spec.max_cost)
    elif provider is not None and question.request is not None:
        needed = tokens(question.request)
        out = min(USUAL_REPLY, needed.most_out)
        line.input_tokens += needed.likely
        line.output_tokens += out
        _pay(line, _price(provider.name, target.model), needed, out)
    return None


def _stand_in(jury: AnyJury) -> Output:
    """An output of a usual length: four characters each token. Of a session one request and one answer."""
    text = "word" * USUAL_REPLY
    if isinstance(jury, SessionJury):
        return Output(value={"session": {"events": [{"i": 1, "type": "assistant", "text": text}]}})
    return Output(text)


def _longest(jury: AnyJury, target: Target) -> int:
    """By how many bytes an output may be longer than the one that stands for it."""
    return 4 * (jury.session_tokens if isinstance(jury, SessionJury) else target.spec.settings.max_tokens)


def _price(provider: str, model: str) -> prices.Price | None:
    found = prices.find(provider, model)
    return prices.Price(0.0, 0.0) if found is None and provider in FREE else found


def _sampled(source: Iterator[Entry], size: int) -> tuple[int, list[Entry]]:
    """How many items there are, and some of them, each with the same chance. The same ones every time."""
    draw = random.Random(0)
    chosen: list[Entry] = []
    count = 0
    for count, entry in enumerate(source, 1):
        if len(chosen) < size:
            chosen.append(entry)
        elif (place := draw.randrange(count)) < size:
            chosen[place] = entry
    return count, chosen


def _lengths(folder: str | Path) -> dict[str, float]:
    """Output tokens of a usual reply by judge, as far as the log knows."""
    sums: dict[str, tuple[int, int]] = {}
    with suppress(DataError):
        for stored in islice(Run.open(folder).judgments(), _LOGGED):
            usage = stored.judgment.usage
            if usage is not None and usage.output_tokens and usage.calls:
                total, calls = sums.get(stored.judge, (0, 0))
                sums[stored.judge] = (total + usage.output_tokens, calls + usage.calls)
    return {judge: total / calls for judge, (total, calls) in sums.items()}


def _sum(parts: list[float | None]) -> float | None:
    known = [p for p in parts if p is not None]
    return sum(known) if len(known) == len(parts) else None
