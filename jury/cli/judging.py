"""`jury judge` and `jury compare`: from the options to the exit code."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from jury import __version__
from jury.budget import Budget
from jury.cli import exits, keeping, tables
from jury.cli.asked import Asked, listed, pairwise, pointwise
from jury.cli.calling import called
from jury.cli.items import Items, comes_once, no_input, pair_fields, pairs_of
from jury.cli.paying import capped, left_lines, quoted
from jury.cli.progress import Progress
from jury.cli.run_progress import RunProgress
from jury.cli.tally import Tally
from jury.cli.writing import RESULTS, JsonStream, aside, write_summary
from jury.datasets import parse_map, to_item
from jury.errors import ConfigError, JuryError
from jury.pairwise import PairwiseJury
from jury.panel import Panel
from jury.pointwise import Jury
from jury.providers import registry
from jury.runner import RunSpec
from jury.runner.outlook import for_money
from jury.scales import Labels, Numeric, Scale
from jury.store import scale_to_dict
from jury.summary import WinRate
from jury.wording import count


@dataclass
class _Run:
    """One run: results in, lines and counts out, until it ends or is interrupted."""

    asked: Asked
    jury: Jury | PairwiseJury
    progress: Progress
    items: Items[Any]
    stream: JsonStream
    tally: Tally
    budget: Budget | None = None
    spent: float = 0.0
    before: int = 0  # rows that the folder held with a verdict
    interrupted: bool = False
    fault: JuryError | None = None

    def go(self, results: Callable[[], AsyncIterator[Any]]) -> None:
        """Judges all items: in the run folder of `-o`, else with `results`, which keeps nothing."""
        if self.asked.output is not None:
            self._kept(Path(self.asked.output), cast("RunProgress", self.progress))
        else:
            self.budget = capped(self.jury, self.asked.budget)
            self.progress.start(self.items.count())
            self._all_of(results())
            self.spent = self.budget.spent if self.budget else 0.0
        self.tally.empty = self.items.empty

    def _kept(self, folder: Path, progress: RunProgress) -> None:
        asked, ids = self.asked, self.items.ids()
        keeping.check_apart(folder, asked.file, asked.other)
        progress.start(None if ids is None else len(ids))
        spec = _spec(asked, self.jury)
        report = keeping.ask(spec, self.jury, folder, progress, overwrite=asked.overwrite, force=asked.force)
        self.fault = report.fault if report else None
        self.interrupted = report is None or report.halted
        self.spent = report.spent if report else 0.0
        self.before = report.skipped if report else 0
        for number, result in keeping.kept(folder, ids, progress.done):
            self.stream.add(result)
            self.tally.add(number, result)
        progress.done = self.tally.n

    def _all_of(self, results: AsyncIterator[Any]) -> None:
        """Takes all results. An interrupt or a fault of the data ends them; what came before counts."""
        try:
            with aside():
                asyncio.run(self._take(results))  # on Ctrl-C it cancels the calls in flight and closes the iterator
            self.fault = self.items.fault
        except KeyboardInterrupt:
            self.interrupted = True
        except JuryError as error:
            self.fault = error

    async def _take(self, results: AsyncIterator[Any]) -> None:
        async for found in results:
            result = for_money(found, self.budget)
            self.stream.add(result)
            self.progress.add(self.tally.add(self.items.number(result.item_id), result))

    def finish(self, counts: Mapping[str, Any], scale: Scale | None = None) -> None:
        """Writes the summary, and with `--json` the end of what stdout got. `scale`: None for pairs."""
        panel, budget = self.jury.panel, self.asked.budget
        summary = {
            **counts,
            "reasons": dict(self.tally.reasons.most_common()),
            "judges": [s.name for s in panel.seats],
            "prompts": [{"name": p.spec.name, "version": p.spec.version, "digest": p.digest} for p in panel.prompts],
            "file": self.asked.file,
            **({"file_b": self.asked.other} if self.asked.other else {}),
            "criteria": self.asked.criteria,
            **({} if scale is None else {"scale": scale_to_dict(scale)}),
            "data": {k: v for k, v in self._data().items() if v},
            **({} if budget is None else {"budget": float(budget), "spent": self.spent}),
            "seconds": round(self.progress.seconds, 3),
            "complete": not self.interrupted and self.fault is None,
            "jury": __version__,
        }
        write_summary(self.asked.output, summary)
        self.stream.finish(summary)

    def _data(self) -> dict[str, Any]:
        """How the file was read, so that a report can show its texts beside the results."""
        asked = self.asked
        read = {"encoding": asked.encoding, "delimiter": asked.delimiter, "limit": asked.limit}
        return {"map": dict(parse_map(asked.map)), **read}

    def left(self, counts: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """What the budget left out, and what the folder held before."""
        before = f"{count(self.before, 'row was', 'rows were')} judged before, and not asked about again"
        lines = left_lines({**counts, "reasons": self.tally.reasons}, self.spent)
        return [*lines, ("before", before)] if self.before else lines

    def code(self, earned: exits.Verdict) -> int:
        """The exit code, with the last words on stderr."""
        code, why = earned
        folder = self.asked.output
        kept = f"kept in {Path(folder) / RESULTS}" if folder is not None else "not kept: no -o DIR was given"
        if self.fault is not None:
            self.progress.say(f"error: {self.fault}")
        if self.fault is not None or self.interrupted:
            how = "stopped" if self.fault else "interrupted"
            self.progress.say(f"{how}: {self.progress.told} judged, {kept}")
            return exits.USAGE if self.fault else exits.INTERRUPTED
        self.progress.note(why)
        return code


def judge(asked: Asked) -> int:
    """Runs `jury judge`; returns the exit code. Raises `ConfigError` or `DataError` before the first call."""
    asked.check()
    with _progress(asked, "pointwise", "rows") as progress:
        jury = pointwise(asked)
        if asked.fail_under is not None and not _has_pass_mark(jury.scale):
            raise ConfigError("--fail-under needs to know what passes: --passing LABELS, or --threshold for a score")
        if asked.estimate:
            return quoted(_spec(asked, jury), asked.output, asked.json)
        ready(jury.panel)
        progress.note(no_input(asked, jury.panel.wanted))
        items = Items(asked, to_item, lambda item: item[0].id)
        run = _Run(asked, jury, progress, items, JsonStream(asked.json), _tally(asked, jury.panel))
        run.go(lambda: jury.judge_many(items, ordered=False))
        summary = run.tally.summary()
        rubric = {} if jury.method is None else {"rubric": jury.method.rubric.to_dict()}
        run.finish({**summary.to_dict(), **rubric}, jury.scale)
    if not asked.json and run.tally.n:
        console = tables.stdout()
        tables.verdict_table(run.tally, console)
        tables.facts(
            console,
            [
                *tables.summary_lines(summary, run.tally),
                *run.left(summary.to_dict()),
                *_next(asked, run, "judge", _mark(jury.scale)),
            ],
        )
    return run.code(exits.of_summary(summary, asked.fail_under, asked.min_coverage))


def compare(asked: Asked) -> int:
    """Runs `jury compare`; returns the exit code. Raises `ConfigError` or `DataError` before the first call."""
    asked.check()
    if asked.other and any(map(comes_once, (asked.file, asked.other))):
        raise ConfigError("two files are joined by id, so both are read twice: neither may be a pipe")
    with _progress(asked, "pairwise", "pairs") as progress:
        jury = pairwise(asked)
        if asked.estimate:
            return quoted(_spec(asked, jury), asked.output, asked.json)
        ready(jury.panel)
        progress.note(no_input(asked, jury.panel.wanted))
        items = Items(asked, pair_fields, lambda pair: pair["id"])
        run = _Run(asked, jury, progress, items, JsonStream(asked.json), _tally(asked, jury.panel))
        run.go(lambda: jury.compare_many(items, ordered=False))
        rate = run.tally.win_rate()
        run.finish(_counts(rate, run.tally))
    if not asked.json and run.tally.n:
        console = tables.stdout()
        tables.verdict_table(run.tally, console)
        tables.facts(
            console,
            [
                *([("A, B", f"{asked.file}, {asked.other}")] if asked.other else []),
                *tables.comparison_lines(rate, run.tally),
                *run.left(_counts(rate, run.tally)),
                *_next(asked, run, "compare"),
            ],
        )
    return run.code(exits.of_comparisons(rate, asked.fail_under, asked.min_coverage))


def _progress(asked: Asked, kind: str, what: str) -> Progress:
    """What stderr shows: a run in a folder tells its results itself."""
    return Progress(what) if asked.output is None else RunProgress(kind, what)


def _tally(asked: Asked, panel: Panel) -> Tally:
    free = all(s.function is not None for s in (*panel.seats, *panel.stand_ins))
    return Tally(asked.show, judges=[s.name for s in panel.seats], free=free)


def _spec(asked: Asked, jury: Jury | PairwiseJury) -> RunSpec:
    """The same as a run."""
    how = {"concurrency": jury.spec.max_concurrency, "budget": asked.budget}
    read = {"limit": asked.limit, "encoding": asked.encoding, "delimiter": asked.delimiter}
    if asked.other:
        return RunSpec(pairs_of(asked), jury, limit=asked.limit, **cast("Any", how))
    return RunSpec(asked.file, jury, map=parse_map(asked.map), **cast("Any", {**read, **how}))


def _counts(rate: WinRate, tally: Tally) -> dict[str, Any]:
    undecided = {f"n_{k.replace(' ', '_')}": tally.outcomes[k] for k in ("inconclusive", "error", "not judged")}
    return {
        "win_rate_a": rate.win_rate_a,
        "coverage": rate.coverage,
        "n_total": rate.n_total,
        "n_a": rate.n_a,
        "n_b": rate.n_b,
        "n_tie": rate.n_tie,
        **undecided,
        "flips": dict(tally.flips),
        "n_both_orders": tally.both_orders,
        "calls": tally.calls,
        "calls_saved": tally.saved,
        "cost": tally.usage.cost if tally.usage else None,
    }


def ready(panel: Panel) -> None:
    """What can be known before the first call: every provider is known, and not every key is missing."""
    missing = {s.name: why for s in panel.seats if s.function is None and (why := missing_key(s))}
    if missing and len(missing) == len(panel.seats):
        raise ConfigError("; ".join(dict.fromkeys(missing.values())) + " (or judge without any key: jury demo)")
    panel.lone = False  # an exception of the only judge function costs its item, not the run


def missing_key(seat: Any) -> str | None:
    """Why a seat's calls cannot be paid, or None. Raises `ConfigError` for a provider that nobody knows."""
    name = seat.provider.name
    return None if seat.spec.provider is not None else registry.key_problem(name)


def _has_pass_mark(scale: Scale) -> bool:
    if isinstance(scale, Labels):
        return bool(scale.passing)
    return not isinstance(scale, Numeric) or scale.threshold is not None


def _mark(scale: Scale) -> str | None:
    """Where no rate can follow from the verdicts: what would make it one."""
    if _has_pass_mark(scale):
        return None
    if isinstance(scale, Labels):
        return f"--passing {shlex.quote(next(iter(scale.labels)))}   the labels that pass: then there is a rate"
    return "--threshold SCORE   the score that passes: then there is a rate"


def _next(asked: Asked, run: _Run, command: str, mark: str | None = None) -> list[tuple[str, str]]:
    """Where the results are, and what to try next: two lines at most."""
    lines: list[str] = []
    name = called()
    shown, odd = run.tally.shown
    failed = next((k for k in shown if odd or getattr(k.result, "passed", None) is False), None)
    if mark is not None:
        lines.append(mark)
    answered_nothing = len(run.tally.errors) == len(run.tally.judges) and not run.tally.free
    if answered_nothing and any(kind != "budget" for _, kind in run.tally.errors):
        lines.append(f"{name} check --call --judges ...   one test call to each judge")
    if failed is not None and not asked.other and not comes_once(asked.file):
        lines.append(f"{name} render {asked.file} --row {failed.number} ...   the exact texts the judges read")
    if not asked.output:
        lines.append(f"{name} {command} ... -o DIR   keeps every vote with its reason")
    else:
        folder, item = shlex.quote(asked.output), shlex.quote((failed or shown[0]).name) if shown else 1
        lines.insert(0, f"{name} show {folder} {item}   who voted what on that item, and why")
        lines.append(f"{name} report {folder}   every item with its votes, findings, how judges agree")
    if len(listed(asked.judges)) == 1:
        lines.append("--judges a,b,c   several judges: one is one opinion")
    where = [("results", str(Path(asked.output) / RESULTS))] if asked.output else []
    return [*where, *(("next" if i == 0 else "", text) for i, text in enumerate(lines[:2]))]
