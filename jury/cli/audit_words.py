"""How numbers of the auditor are written: a value with its interval, or why there is none."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from jury.cli.tables import show, stdout
from jury.plain import to_plain
from jury.stats import Estimate
from jury.wording import bracket, count, percent, value_word


def share(estimate: Estimate) -> str:
    """`82.0% [69.2, 90.2]`, or the reason."""
    if estimate.value is None:
        return f"undefined: {estimate.why}"
    ends = estimate.interval
    interval = f" {bracket(*ends)}" if ends else ""
    return f"{100 * estimate.value:.1f}%{interval}" + (f" ({estimate.why})" if not ends and estimate.why else "")


def points(estimate: Estimate) -> str:
    """A difference of shares: `+3.1 points [-0.4, +6.6]`, or the reason."""
    if estimate.value is None:
        return f"undefined: {estimate.why}"
    ends = estimate.interval
    interval = f" [{100 * ends[0]:+.1f}, {100 * ends[1]:+.1f}]" if ends else f" (no interval: {estimate.why})"
    return f"{100 * estimate.value:+.1f} points{interval}"


def covered(coverage: Estimate) -> str:
    """`66.7%  2 of 3 items have a usable verdict`."""
    if coverage.value is None:
        return UNKNOWN
    usable = round(coverage.value * coverage.n)
    return f"{percent(usable, coverage.n)}  {usable:,} of {count(coverage.n, 'item')} have a usable verdict"


def number(estimate: Estimate, digits: int = 2) -> str:
    """`0.73 [0.59, 0.86]`, or the reason."""
    if estimate.value is None:
        return f"undefined: {estimate.why}"
    ends = estimate.interval
    interval = f" [{ends[0]:z.{digits}f}, {ends[1]:z.{digits}f}]" if ends else ""
    return f"{estimate.value:z.{digits}f}{interval}"


UNKNOWN = "n/a"
NOTHING = "-"
_FEW = 4  # reasons that are told, and rows that are named for one
_INTERVAL = re.compile(r" (\[[^\[\]]*\])$")


def cell(text: Callable[[Estimate], str], estimate: Estimate) -> str:
    """A number in a table: `n/a` where there is none; `reasons` says why once, below the table."""
    return UNKNOWN if estimate.value is None else text(replace(estimate, note=""))


def reasons(cells: Iterable[tuple[str, str, Estimate]]) -> list[str]:
    """Why numbers are not there, each reason once, with where: `n/a in TNR; kappa, AC1 of the panel: ...`.

    `cells`: (row, column, number). Rows are named where a column has another reason, or a number, in others of them.
    """
    lacking: dict[str, dict[str, list[str]]] = {}
    rows: Counter[str] = Counter()
    for row, column, estimate in cells:
        rows[column] += 1
        if estimate.value is None:
            lacking.setdefault(short_why(estimate), {}).setdefault(column, []).append(row)
    found = [f"{UNKNOWN} in {_where(columns, rows)}: {why}" for why, columns in lacking.items()]
    left = len(found) - _FEW
    return [*found[:_FEW], f"{UNKNOWN}: {left} more for such reasons"] if left > 1 else found


def _where(columns: Mapping[str, Sequence[str]], rows: Mapping[str, int]) -> str:
    """Columns with the same rows stand together; one that lacks every number stands alone."""
    named: dict[str, list[str]] = {}
    for column, of in columns.items():
        more = f" and {len(of) - _FEW} more" if len(of) > _FEW else ""
        named.setdefault("" if len(of) == rows[column] else f" of {', '.join(of[:_FEW])}{more}", []).append(column)
    return "; ".join(", ".join(together) + of for of, together in named.items())


def short_why(estimate: Estimate) -> str:
    """The reason of one number: its own sentence where it has one."""
    return estimate.note or estimate.why


def said(value: object) -> str:
    """A verdict or a label as a word: `pass` and `fail`, a label, a score."""
    return "-" if value is None else value_word(value)


def p_value(p: float | None) -> str:
    return "-" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table under a title; nothing without rows, and no column in which nothing stands.

    Where it is wider than the screen, intervals stand below their numbers, and long names above the table.
    """
    if not rows:
        return
    kept = [at for at in range(len(columns)) if at == 0 or any(row[at] != NOTHING for row in rows)]
    heads, cells = [columns[at] for at in kept], [[row[at] for at in kept] for row in rows]
    console = stdout()
    console.print()
    console.print(title, style="bold", markup=False, soft_wrap=True)
    below = [[_INTERVAL.sub(r"\n\1", cell) for cell in row] for row in cells]
    close = [[cell.replace(", ", ",") if "\n[" in cell else cell for cell in row] for row in below]
    ways = [_made(heads, cells, broken=False), _made(heads, cells), _made(heads, below), _made(heads, close, gap=1)]
    made = next((way for way in ways if _width(console, way) <= console.width), ways[-1])
    if heads[0] == "judge" and _width(console, made) > console.width:
        for number, row in enumerate(cells, 1):
            console.print(f"{number} {row[0]}", markup=False, soft_wrap=True)
        close = [[str(number), *row[1:]] for number, row in enumerate(close, 1)]
        made = _made(heads, close)
    if _width(console, made) > console.width:  # then each end of an interval on a line of its own
        made = _made(heads, [[c.replace(",", ",\n") if "\n[" in c else c for c in row] for row in close], gap=1)
    show(console, made)


def _made(heads: Sequence[str], cells: Sequence[Sequence[str]], *, gap: int = 2, broken: bool = True) -> Table:
    """`broken`: heads are broken at words to what their columns need."""
    made = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0))
    for head, column in zip(heads, zip(*cells, strict=True), strict=True):
        room = max(len(line) for text in (*column, *head.split(), "") for line in text.split("\n"))
        made.add_column(Text("\n".join(wrap(head, max(room, 1))) if broken else head))
    for row in cells:
        made.add_row(*map(Text, row))
    return made


def _width(console: Console, made: Table) -> int:
    return console.measure(made, options=console.options.update(max_width=10_000)).maximum


def as_json(value: Any) -> None:
    print(json.dumps(to_plain(value), ensure_ascii=False, indent=2, allow_nan=False))


def told(lines: tuple[str, ...] | list[str]) -> None:
    """Sentences, one a line."""
    console = stdout()
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=not console.is_terminal)
