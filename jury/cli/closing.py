"""The last screen of `jury rubric` and `jury session`: table and rates on a terminal; of a pipe, the rates on stderr.

A pipe gets JSON, which other programs read; the person beside it still sees what came of it.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Mapping
from typing import Any, cast

from rich.text import Text

from jury.cli import tables
from jury.cli.calling import called
from jury.cli.progress import stderr
from jury.cli.tally import Tally
from jury.runner.describe import AnyJury, seats_of
from jury.summary import outcome

ROWS = 20  # of the table
_SAID = ("session", "verdict", "agreement", "cost", "criteria")  # stands in the table, as do the votes on one criterion


def seen() -> bool:
    """Does a person look at stdout?"""
    return sys.stdout.isatty()


def tally_of(jury: AnyJury) -> Tally:
    """An empty tally for the results of a jury."""
    return Tally(ROWS, free=all(seat.function is not None for seat in seats_of(jury)))


def tell(tally: Tally, folder: str | None, command: str, *, table: bool | None = None) -> None:
    """What came of it all; with the `table` where stdout holds nothing else: by default on a terminal."""
    if not tally.n:
        return
    if seen() if table is None else table:
        console = tables.stdout()
        tables.verdict_table(tally, console)
    else:
        console = stderr()
        console.soft_wrap = False
    tables.facts(console, [*tables.summary_lines(tally.summary(), tally), *_where(tally, folder, command)])


def _where(tally: Tally, folder: str | None, command: str) -> Iterable[tuple[str, str | Text]]:
    name = called()
    if folder is None:
        yield "next", f"{name} {command} ... -o DIR   keeps every vote with its reason"
        return
    yield "folder", folder
    shown, _ = tally.shown
    first = next((k for k in shown if outcome(k.result) not in ("pass", "unrated", "na")), shown[0])
    yield "next", f"{name} show {shlex.quote(folder)} {shlex.quote(first.name)}   who voted what on that item, and why"
    yield "", f"{name} report {shlex.quote(folder)}   every item with its votes, findings, how judges agree"


def details(report: Mapping[str, Any]) -> None:
    """What the report on one session says beyond its verdict, criterion by criterion."""
    console = tables.stdout()
    several = report.get("criteria")
    for key, one in (several or {"": report}).items():
        console.print()
        if key:
            console.print(
                Text.assemble((key, "bold"), "  ", tables.word(str(one["verdict"]), str(one["verdict"]).lower()))
            )
        said = _SAID if several else (*_SAID, "votes")
        told = [(name.replace("_", " "), value) for name, value in one.items() if name not in said and value]
        tables.facts(console, [line for name, value in told for line in _listed(name, value)])


def _listed(name: str, value: Any) -> list[tuple[str, str | Text]]:
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [(name if i == 0 else "", tables.shorten(_plain(one), 300)) for i, one in enumerate(values)]


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {_plain(v)}" for k, v in cast("Mapping[str, Any]", value).items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
