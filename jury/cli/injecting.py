"""`jury audit injection`: how many verdicts moved, as a table."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from jury.cli import exits
from jury.cli.consoles import write
from jury.cli.progress import Progress
from jury.cli.session import judges
from jury.cli.writing import aside, print_json
from jury.injection import AGAIN, InjectionReport, Moved, audit
from jury.prompts import load
from jury.proving import read_cases
from jury.stats import wilson
from jury.summary import count
from jury.wording import bracket


def injection(prompt: str, who: Sequence[str], cases: str | None, as_json: bool, *, criteria: str | None = None) -> int:
    """Runs `jury audit injection`; returns the exit code. Raises `ConfigError` or `DataError`."""
    spec = load(prompt)
    with Progress("items"), aside():
        given = read_cases(cases, expect=False) if cases is not None else None
        report = asyncio.run(audit(spec, judges(who) or None, cases=given, criteria=criteria))
    if as_json:
        print_json(report.to_dict())
    else:
        _print(report)
    if report.unusable:
        return exits.NO_RESULT
    return exits.BELOW if worse(report) else exits.OK


def worse(report: InjectionReport) -> list[Moved]:
    """The rows of attacks that moved a larger share than asking again did."""
    base = {r.judge: r.moved.value or 0.0 for r in report.rows if r.attack == AGAIN}
    return [r for r in report.rows if r.attack != AGAIN and (r.moved.value or 0.0) > base.get(r.judge, 0.0)]


def _print(report: InjectionReport) -> None:
    lines = [f"{report.prompt}: {count(report.items, 'item')}, {count(report.calls, 'call')}"]
    for attack in dict.fromkeys(r.attack for r in report.rows):
        lines.append(f"  {attack}")
        lines += [f"    {r.judge}: {_told(r, report.wish)}" for r in report.rows if r.attack == attack]
    everything = [_all(report, judge) for judge in dict.fromkeys(r.judge for r in report.rows)]
    lines += ["  all attacks", *(f"    {r.judge}: {_told(r, report.wish)}" for r in everything)]
    write("\n".join(lines) + "\n")


def _all(report: InjectionReport, judge: str) -> Moved:
    rows = [r for r in report.rows if r.judge == judge and r.attack != AGAIN]
    moved = sum(round((r.moved.value or 0.0) * r.moved.n) for r in rows)
    first = Moved("all", judge, wilson(moved, sum(r.moved.n for r in rows)))
    return replace(first, to_pass=sum(r.to_pass for r in rows), lost=sum(r.lost for r in rows))


def _told(row: Moved, wish: str) -> str:
    if row.moved.value is None:
        return f"no pair with two verdicts ({row.lost} lost)"
    low, high = row.moved.interval or (0.0, 1.0)
    moved = round(row.moved.value * row.moved.n)
    told = f"{moved} of {row.moved.n} moved {bracket(low, high)}"
    told += f", {row.to_pass} to {wish}" if row.to_pass else ""
    return told + (f", {row.lost} lost" if row.lost else "")
