"""`jury run`: from the options to the exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from rich.text import Text

from jury.cli import exits, tables
from jury.cli.asked import listed
from jury.cli.calling import called
from jury.cli.functions import is_function, load_function
from jury.cli.items import holds_nothing
from jury.cli.keeping import interruptible
from jury.cli.options import check_counts
from jury.cli.paying import left_lines
from jury.cli.progress import Progress
from jury.cli.quoting import quote
from jury.cli.rates import count_words, other_words, quoted, rate_words
from jury.cli.run_progress import RunProgress
from jury.cli.writing import aside, print_json
from jury.config import named_judges
from jury.errors import ConfigError
from jury.runner import RunReport, RunSpec, outlook, run_batches
from jury.runner.entries import entries, from_stdin
from jury.runner.targeting import Outcomes
from jury.runner.totals import Totals


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of `jury run`, as they were given."""

    config: str
    data: str | None = None
    output: str | None = None
    judges: Sequence[str] | None = None
    limit: int | None = None
    concurrency: int | None = None
    keep_errors: bool = False
    force: bool = False
    no_cache: bool = False
    estimate: bool = False
    budget: float | None = None
    batch: bool = False
    poll: float = 60.0
    json: bool = False
    fail_under: float | None = None
    min_coverage: float | None = None


def run(options: RunOptions) -> int:
    """Runs `jury run`; returns the exit code. Raises `ConfigError` or `DataError` before the first call."""
    spec = _spec(options)
    folder = Path(options.output) if options.output else Path("runs") / (spec.name or Path(options.config).stem)
    if options.estimate:
        return quote(spec, folder, options.json)
    progress = RunProgress(spec.kind)
    with progress, aside():
        if options.batch:
            asyncio.run(run_batches(spec, folder, poll_s=options.poll, load=load_function, say=progress.say))
        total, empty = (None, 0) if from_stdin(spec) else _counted(spec)
        progress.start(total)
        report = asyncio.run(
            interruptible(
                spec,
                folder,
                progress.say,
                keep_errors=options.keep_errors,
                force=options.force,
                load=load_function,
                on_result=progress.hear,
            )
        )
    for change in report.changes:
        progress.changed(change)
    if report.fault is not None:
        progress.say(f"error: {report.fault}")
    _print(report, _Seen(total, empty, progress.totals), options.json)
    if report.fault is not None:
        return exits.USAGE
    return exits.INTERRUPTED if report.halted else _code(report, options, progress)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is known beside the report: items of the data (None: nobody knows) and those among them without an output,
    and all results as they were heard of.
    """

    total: int | None
    empty: int
    heard: Totals


def _counted(spec: RunSpec) -> tuple[int, int]:
    total = empty = 0
    for entry in entries(spec):
        total += 1
        outputs = (entry.output,) if entry.pair is None else (entry.pair.response_a, entry.pair.response_b)
        empty += sum(map(holds_nothing, outputs))
    return total, empty


def _spec(options: RunOptions) -> RunSpec:
    if options.output is not None and not options.output.strip():
        raise ConfigError("-o needs the name of a folder, got an empty one")
    check_counts(limit=options.limit, concurrency=options.concurrency)
    if not options.poll >= 0:
        raise ConfigError(f"--poll is a number of seconds from 0, got {options.poll:g}")
    given = {"judges": listed(options.judges or ()), "limit": options.limit, "concurrency": options.concurrency}
    spec = RunSpec.from_file(options.config, **{k: v for k, v in given.items() if v not in (None, [])})
    changes: dict[str, Any] = {"data": options.data} if options.data is not None else {}
    if options.no_cache:
        changes["cache"] = False
    if options.budget is not None:
        changes["budget"] = options.budget
    return seated(spec.with_changes(**changes))


def seated(spec: RunSpec) -> RunSpec:
    """With the default judges named in it where functions are among them: the package itself knows model ids alone."""
    jury = cast("Mapping[str, Any]", spec.jury)  # of a file: a mapping
    named = () if jury.get("judges") or jury.get("cascade") else named_judges()
    if not any(is_function(j) for j in named):
        return spec
    return spec.with_changes(jury={**jury, "judges": list(named)})


def _code(report: RunReport, options: RunOptions, progress: Progress) -> int:
    totals = report.totals
    what = "pass rate" if "pass_rate" in totals else "win rate A"
    rate = totals.get("pass_rate", totals.get("win_rate_a"))
    code, why = exits.of_rate(rate, totals["coverage"], options.fail_under, options.min_coverage, what)
    progress.note(why)
    return code


def _print(report: RunReport, seen: _Seen, as_json: bool) -> None:
    asked = report.asked
    if as_json:
        print_json(
            {
                **report.totals,
                "folder": str(report.folder),
                "judged": report.judged,
                "skipped": report.skipped,
                "asked": asked.live,
                "recalled": asked.recalled,
                "same": asked.same,
                "cached": asked.cached,
                "spent": None if asked.unpriced else asked.cost,
                **({"target": asdict(report.target)} if report.target is not None else {}),
                **({"targets": {s: asdict(o) for s, o in report.targets.items()}} if report.targets else {}),
                "unsure": report.unsure,
                "outlook": asdict(left) if (left := outlook(report.totals, report.spent)) else None,
                "finished": report.finished,
                "items": seen.total,
                "changes": list(report.changes),
            }
        )
        return
    tables.facts(tables.stdout(), _lines(report, seen))


def _lines(report: RunReport, seen: _Seen) -> list[tuple[str, str | Text]]:
    totals, asked = report.totals, report.asked
    lines: list[tuple[str, str | Text]] = [("", "")] if not totals["n_total"] else []
    if not report.finished:
        lines.append(("so far", Text(tables.so_far(totals["n_total"], seen.total), style="bold")))
    rate = Text(f"{rate_words(seen.heard)}  {count_words(seen.heard)}", style="bold")
    lines.append(("win rate A" if report.kind == "pairwise" else "pass rate", rate))
    if totals["n_total"]:
        usable = round(totals["coverage"] * totals["n_total"])
        others = other_words(seen.heard)
        told = f"{tables.percent(usable, totals['n_total'])}  {usable:,} of {totals['n_total']:,}"
        lines.append(("coverage", f"{told}: {others}" if others else told))
    if report.stopping is not None:
        lines.append(report.stopping)
    left = left_lines(totals, report.spent, "; a larger one asks about them")
    failures = [(kind, n) for kind, n in totals["failures"].items() if not (left and kind.endswith(": budget"))]
    for kind, n in failures[:5]:
        detail = seen.heard.details.get(kind)
        lines.append(("failed", f"{n} x {kind}" + (f": {tables.shorten(detail, 160)}" if detail else "")))
    if seen.empty:
        lines.append(("note", tables.empty(seen.empty)))
    lines.append(("asked", _asked(report)))
    lines += _targets(report)
    spent = "unknown (a price is missing)" if asked.unpriced else tables.dollars(asked.cost)
    whose = "judges" if report.target is not None else "cost"
    lines.append((whose, f"{spent} now; {_cost(report)} in all, {tables.count(totals['calls'], 'call')}"))
    if report.unsure:
        lines.append(("", f"and at most {tables.dollars(report.unsure)} for calls that were lost on the way"))
    lines += left
    lines.append(("folder", str(report.folder)))
    return [*lines, *_next(report)]


def _asked(report: RunReport) -> str:
    """What was asked now, what was known, and how many items needed nothing."""
    asked = report.asked
    known = asked.recalled + asked.same + asked.cached
    told = f"{tables.count(asked.live, 'question')}" + (f", {known:,} known" if known else "")
    if report.judged and (known or report.skipped):
        told += f"; {tables.count(report.judged, 'item')} judged now"
    if report.skipped:
        told += f"; {tables.count(report.skipped, 'item')} {'was' if report.skipped == 1 else 'were'} judged before"
    return told


def _next(report: RunReport) -> list[tuple[str, str | Text]]:
    """What to try next."""
    name, folder = called(), quoted(str(report.folder))
    lines = [
        f"{name} show {folder}   the items to look at",
        f"{name} show {folder} 1   who voted what on one, and why",
        f"{name} report {folder}   every item with its votes, findings, how judges agree",
    ]
    return [("next" if i == 0 else "", text) for i, text in enumerate(lines)]


def _targets(report: RunReport) -> list[tuple[str, str | Text]]:
    """What was asked of the target, or of that of each side; its money is in no other line."""
    if report.target is None:
        return []
    in_all = "" if report.target.silent and not report.target_spent else tables.dollars(report.target_spent) + " in all"
    if not report.targets:
        return [("target", ", ".join(filter(None, (_made(report.target), in_all))))]
    sides = [(f"target {side}", _made(asked)) for side, asked in report.targets.items()]
    return [*sides, *([("targets", in_all)] if in_all else [])]


def _made(made: Outcomes) -> str:
    """How many outputs of a target, and for how much."""
    known = f", {made.recalled + made.same:,} known" if made.recalled + made.same else ""
    errored = f", {made.failed:,} errored" if made.failed else ""
    cost = "unknown (a price is missing)" if made.unpriced else tables.dollars(made.cost)
    told = "it reports no cost" if made.silent and not (made.unpriced or made.cost) else f"{cost} now"
    return f"{tables.count(made.live, 'output')}{known}{errored}; {told}"


def _cost(report: RunReport) -> str:
    """What the judges cost in all passes, failed and replaced answers included."""
    unknown = report.totals["cost"] is None
    return "unknown" if unknown else tables.dollars(report.spent - report.target_spent)
