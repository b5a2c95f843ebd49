"""How numbers of the auditor are written: a value with its interval, or why there is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rich.table import Table

from jury.cli.tables import show, stdout
from jury.plain import to_plain
from jury.stats import Estimate
from jury.wording import value_word


def share(estimate: Estimate) -> str:
    """`82.0% [69.2, 90.2]`, or the reason."""
    if estimate.value is None:
        return f"undefined: {estimate.why}"
    ends = estimate.interval
    interval = f" [{100 * ends[0]:.1f}, {100 * ends[1]:.1f}]" if ends else ""
    return f"{100 * estimate.value:.1f}%{interval}" + (f" ({estimate.why})" if not ends and estimate.why else "")


def points(estimate: Estimate) -> str:
    """A difference of shares: `+3.1 points [-0.4, +6.6]`, or the reason."""
    if estimate.value is None:
        return f"undefined: {estimate.why}"
    ends = estimate.interval
    interval = f" [{100 * ends[0]:+.1f}, {100 * ends[1]:+.1f}]" if ends else f" (no interval: {estimate.why})"
    return f"{100 * estimate.value:+.1f} points{interval}"


def number(estimate: Estimate, digits: int = 2) -> str:
    """`0.73 [0.59, 0.86]`, or the reason."""
    if estimate.value is None:
        return f"undefined: {estimate.why}"
    ends = estimate.interval
    interval = f" [{ends[0]:.{digits}f}, {ends[1]:.{digits}f}]" if ends else ""
    return f"{estimate.value:.{digits}f}{interval}"


UNKNOWN = "n/a"


def cell(text: Callable[[Estimate], str], estimate: Estimate) -> str:
    """A number in a table: `n/a` where there is none; `reasons` says why once, below the table."""
    return UNKNOWN if estimate.value is None else text(replace(estimate, note=""))


def reasons(*estimates: Estimate) -> list[str]:
    """Why numbers are not there, each reason once."""
    return [f"{UNKNOWN}: {why}" for why in dict.fromkeys(short_why(e) for e in estimates if e.value is None)]


def short_why(estimate: Estimate) -> str:
    """The reason of one number: its own sentence where it has one."""
    return estimate.note or estimate.why


def said(value: object) -> str:
    """A verdict or a label as a word: `pass` and `fail`, a label, a score."""
    return "-" if value is None else value_word(value)


def p_value(p: float | None) -> str:
    return "-" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """A table under a title; nothing without rows."""
    if not rows:
        return
    made = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        made.add_row(*row)
    console = stdout()
    console.print()
    console.print(title, style="bold", markup=False, soft_wrap=True)
    show(console, made)


def as_json(value: Any) -> None:
    print(json.dumps(to_plain(value), ensure_ascii=False, indent=2, allow_nan=False))


def told(lines: tuple[str, ...] | list[str]) -> None:
    """Sentences, one a line."""
    console = stdout()
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
