"""A run asked again: the same questions to the same judges about some of its items. The only room here that asks.

What comes back goes into the run's own log (judgments.jsonl, append only), under the keys that a run with as many
repetitions would use: nothing is paid twice, and no verdict of the run changes. `repeats.py` reads it.
"""

from __future__ import annotations

import copy
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from jury import sync
from jury.audit.rebuilding import Loader, jury_of
from jury.audit.recorded import Recorded
from jury.budget import Budget
from jury.cache import opened
from jury.datasets import Row
from jury.datasets.columns import ColumnMap
from jury.errors import ConfigError
from jury.judge import Case, Seat
from jury.pairwise import PairwiseJury
from jury.pointwise import Jury
from jury.results import Comparison, PanelResult
from jury.runner import Quote, RunSpec
from jury.runner.describe import panels_of, price_sources, seats_of
from jury.runner.entries import Entry, entry_of
from jury.runner.estimate import quoted
from jury.runner.governors import ROUNDING, Governors, own_budget, purses
from jury.runner.keeper import Asked, Keeper, now
from jury.runner.questions import questions
from jury.seating import check_count
from jury.sessions.judging import SessionJury
from jury.store import Run, RunWriter, StoredItem
from jury.store.index import Index
from jury.streams import as_completed

_IN_FLIGHT = 64
AnyJury = Jury | PairwiseJury | SessionJury
_KINDS = {Jury: ("pointwise", "rubric"), PairwiseJury: ("pairwise",), SessionJury: ("session",)}


@dataclass(frozen=True, slots=True)
class Again:
    """What to ask again: `items` of the run, each question `repetitions` times in all, both orders of a pair.

    A rubric that is permuted is asked about in the order that each judge saw first.
    The items are drawn by their ids and the `seed`, so a larger number holds the smaller one. `budget`: US dollars that
    this may cost. Raises `ConfigError`.
    """

    items: int = 50
    repetitions: int = 3
    seed: int = 0
    budget: float | None = None

    def __post_init__(self) -> None:
        for name in ("items", "repetitions"):
            check_count(name, getattr(self, name))
        if self.budget is not None:
            Budget(self.budget)  # which says what is wrong with it


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """What came of it. `spent`: US dollars; `unsure`: the most that lost calls may have cost besides."""

    items: int
    asked: Asked
    spent: float
    unsure: float


def quote_again(run: Run, plan: Again, *, jury: AnyJury | None = None, load: Loader | None = None) -> Quote:
    """What it would cost. Calls nobody. Raises what `ask_again` raises."""
    made, chosen = _ready(run, plan, jury, load)
    index = Index(run.folder, private=True)
    try:
        _check(run, made, chosen, lambda key: index.judged(key) is not None)
    finally:
        index.close()
    return quoted(made, [entry for entry, _ in chosen], len(chosen), run.folder, cache=_cache(run))


async def ask_again(run: Run, plan: Again, *, jury: AnyJury | None = None, load: Loader | None = None) -> AskedAgain:
    """Asks what is not in the folder yet. `jury`: the run's own, where the folder cannot name it (functions, scripts).

    Raises `ConfigError` where the questions are not those of the run, or nobody's price is known under a budget;
    `DataError` where the folder is locked or cannot be written.
    """
    made, chosen = _ready(run, plan, jury, load)
    with RunWriter(run.folder) as writer:
        _check(run, made, chosen, writer.has)
        cache = opened(_cache(run))
        budget, before = own_budget(plan.budget, writer), writer.cost
        keeper = Keeper(writer, price_sources(made), cache, purses(seats_of(made), budget))
        govern = Governors(_limits(run), budget)
        seats = [seat for panel in panels_of(made) for seat in panel.seats]
        govern.check(seats)
        for seat in seats:
            seat.recorder = keeper
            seat.route(govern.before)
        started = now()

        async def ask(question: tuple[Seat, Case, int]) -> None:
            seat, case, repetition = question
            await seat.ask(case, repetition)

        try:
            async for _ in as_completed(_questions(made, chosen), ask, _IN_FLIGHT, ordered=False):
                pass
        finally:
            for seat in seats:
                seat.recorder = None
                seat.route(govern.gone)
            if cache is not None:
                cache.close()
            unsure = max(0.0, budget.spent + budget.unsure - (writer.cost - before)) if budget else 0.0
            _leave(writer, keeper.asked, plan, len(chosen), started, unsure)
    return AskedAgain(len(chosen), keeper.asked, keeper.asked.cost, unsure)


def ask_again_sync(run: Run, plan: Again, **options: Any) -> AskedAgain:
    """`ask_again` without `await`."""
    return sync.run(ask_again(run, plan, **options))


_Chosen = Sequence[tuple[Entry, PanelResult | Comparison]]


def _ready(run: Run, plan: Again, jury: AnyJury | None, load: Loader | None) -> tuple[AnyJury, _Chosen]:
    """The jury that asks as often as planned, in both orders; and the items."""
    made = copy.copy(jury or jury_of(run, load=load))
    if run.kind not in _KINDS[type(made)]:
        raise ConfigError(f"{run.folder} holds a {run.kind} run: the jury is of another kind")
    made.spec = replace(made.spec, repetitions=1, stop=None, escalate=None)  # `Entry.times` repeats what that asks
    if isinstance(made, PairwiseJury):
        made.orders = ("ab", "ba")
    chosen = _drawn(run, plan, made)
    if not chosen:
        raise ConfigError(f"{run.folder}: no item was judged without a failure: finish the run first")
    return made, chosen


def _drawn(run: Run, plan: Again, made: AnyJury) -> _Chosen:
    """Items whose judgments all came, drawn by a digest of their ids."""
    usable = [(i, r) for i, r in run.results() if i.error is None and r.votes and _whole(r)]
    usable.sort(key=lambda pair: hashlib.sha256(f"again {plan.seed} {pair[0].id}".encode()).digest())
    columns = ColumnMap(run.manifest.data.get("map") or {})
    recorded = Recorded(run, made) if isinstance(made, SessionJury) else None

    def entry(item: StoredItem) -> Entry:
        return _entry(run, item, columns) if recorded is None else recorded.entry(item)

    return [
        (replace(entry(item), asked=_voters(result), times=plan.repetitions), result)
        for item, result in usable[: plan.items]
    ]


def _whole(result: PanelResult | Comparison) -> bool:
    return all(j.verdict.status != "error" for v in result.votes for j in v.judgments)


def _voters(result: PanelResult | Comparison) -> frozenset[tuple[str, str | None]]:
    """The seats that were asked, with the criterion: where asking stopped early the others have nothing to repeat."""
    return frozenset((v.judge, j.criterion) for v in result.votes if not v.replacement for j in v.judgments)


def _entry(run: Run, item: StoredItem, columns: ColumnMap) -> Entry:
    """The item as the run saw it: from its row, under its own number."""
    row = Row(item.row, number=item.number + 1, file=str(run.folder))
    mapped = columns.apply(row)
    if run.manifest.spec.get("target"):  # which made the output: it is in no row
        mapped["output"] = item.output
    for side in cast("Mapping[str, Any]", run.manifest.spec.get("targets") or {}):
        mapped[f"response_{side}"] = item.response_a if side == "a" else item.response_b
    return entry_of(replace(row, mapped=mapped), run.kind)


def _questions(jury: AnyJury, chosen: _Chosen) -> Iterator[tuple[Seat, Case, int]]:
    for entry, _ in chosen:
        yield from questions(jury, entry)


def _check(run: Run, jury: AnyJury, chosen: _Chosen, has: Callable[[str], bool]) -> None:
    """Whether the questions are those that the run asked: their keys stand in its log, or it would be another test."""
    judged = Counter(v.judge for _, result in chosen for v in result.votes if v.judgments and not v.replacement)
    known: Counter[str] = Counter()
    for entry, _ in chosen:
        for seat, case, repetition in questions(jury, entry):
            if not repetition:
                known[seat.name] += has(seat.question(case).key)
    for judge, times in judged.items():
        if times and not known[judge]:
            raise ConfigError(
                f"what {judge} would be asked is not what it was asked in {run.folder}: prompt, settings, variables or "
                "code differ from what the folder keeps (give the run's configuration with --config)"
            )


def _limits(run: Run) -> RunSpec:
    """How much may be asked at once, as in the run."""
    spec = run.manifest.spec
    return RunSpec(concurrency=spec.get("concurrency", _IN_FLIGHT), limits=spec.get("limits") or {})


def _cache(run: Run) -> bool | str:
    return run.manifest.spec.get("cache", True)


def _leave(writer: RunWriter, asked: Asked, plan: Again, items: int, started: str, unsure: float) -> None:
    manifest = writer.manifest
    if manifest is None:
        return
    entry = {
        "started": started,
        "ended": now(),
        "again": {"items": items, "repetitions": plan.repetitions, "seed": plan.seed},
        "asked": asked.live,
        "recalled": asked.recalled,
        "same": asked.same,
        "cached": asked.cached,
        "failed": asked.failed,
        "cost": None if asked.unpriced else asked.cost,
        **({"unsure": unsure} if unsure > ROUNDING else {}),
    }
    writer.save(replace(manifest, heads=writer.heads, history=(*manifest.history, entry)))
    writer.at_risk.clear()
