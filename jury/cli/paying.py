"""Money before the judges of the commands that go without a run folder: a hard cap, or a quote instead of verdicts."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.text import Text

from jury.budget import Budget
from jury.cli.quoting import quote
from jury.runner import RunSpec, outlook
from jury.runner.describe import AnyJury, seats_of
from jury.runner.governors import Governors, purses
from jury.runner.keeper import Payer
from jury.wording import count, dollars


def capped(jury: AnyJury, limit: float | None) -> Budget | None:
    """Puts a budget before every judge, where there is one; the jury asks nobody beyond it from now on.

    Raises `ConfigError` for an amount that is none, and for a judge whose price nobody knows.
    """
    if limit is None:
        return None
    budget = Budget(limit)
    govern = Governors(RunSpec(concurrency=max(1, jury.spec.max_concurrency)), budget)
    govern.check(seats_of(jury))
    payer = Payer(purses(seats_of(jury), budget))
    for seat in seats_of(jury):
        seat.route(govern.before)
        if seat.function is not None:
            seat.recorder = payer
    return budget


def quoted(spec: RunSpec, folder: str | None, as_json: bool) -> int:
    """Prints what the judges would be asked and cost; returns the exit code.

    `folder`: of a run, where what was asked before costs nothing. Raises `ConfigError`, `DataError`.
    """
    if folder is not None:
        return quote(spec, Path(folder), as_json)
    with tempfile.TemporaryDirectory() as empty:
        return quote(spec.with_changes(cache=False), Path(empty), as_json)


def left_out(n: int) -> str | None:
    """What to say where money did not reach for `n` items; None for none."""
    return f"the budget is used up: {count(n, 'item')} not asked about" if n else None


def left_lines(totals: Mapping[str, Any], spent: float, more: str = "") -> list[tuple[str, str | Text]]:
    """Where a run stands that its budget ended; nothing where it left nothing out. `totals` as of a manifest.

    `more`: what a larger budget does.
    """
    left = outlook(totals, spent)
    if left is None:
        return []
    rest = f", about {dollars(left.rest)}" if left.rest is not None else ""
    told = f"used up: {count(left.left, 'item')} not asked about{rest}"
    return [("budget", told + more)]
