"""What a run, or asking about a part of one again, would ask and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table

from jury.cli import exits, tables
from jury.cli.functions import load_function
from jury.cli.writing import print_json
from jury.runner import Quote, RunSpec, estimate

_WIDE = 10_000  # columns: what a table would take
_HEADS = ("calls", "known", "tokens in", "tokens out", "likely", "at most")


def quote(spec: RunSpec, folder: Path, as_json: bool) -> int:
    """Prints the quote; returns the exit code. Raises `ConfigError`, `DataError`."""
    say(estimate(spec, folder, load=load_function), as_json)
    return exits.OK


def say(made: Quote, as_json: bool) -> None:
    """Prints a quote."""
    if as_json:
        sums = {"calls": made.calls, "known": made.known, "cost": made.cost, "most": made.most}
        sums |= {"notes": list(made.notes)} if made.notes else {}
        print_json({"items": made.items, "sampled": made.sampled, **sums, "judges": [asdict(x) for x in made.lines]})
        return
    console = tables.stdout()
    judges = [line.judge for line in made.lines]
    table = _table(made, judges)
    wide = console.measure(table, options=console.options.update(max_width=_WIDE)).maximum > console.width
    if wide:  # neither an id nor a number is cut: ids stand above the table
        for number, judge in enumerate(judges, 1):
            tables.told(console, f"{'judges' if number == 1 else '      '} {number} {judge}", whole=True)
        table = _table(made, [str(number) for number in range(1, len(judges) + 1)])
    tables.show(console, table)
    console.print()
    tables.facts(
        console,
        [
            ("items", f"{made.items:,}, {made.sampled:,} of them looked at"),
            ("calls", f"{made.calls:,}, and {made.known:,} that are known"),
            ("cost", _cost(made)),
            *(("", note) for note in made.notes),
        ],
    )


def _cost(made: Quote) -> str:
    """What all of it costs, or which price is missing."""
    if made.cost is not None:
        return f"about {dollars(made.cost)}, at most {dollars(made.most)}"
    missing = ", ".join(tables.visible(line.judge) for line in made.lines if line.cost is None)
    return f"unknown: no price for {missing} (`prices` in jury.yaml, or `max_cost` of a function or an address)"


def _table(made: Quote, judges: Sequence[str]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("judge", no_wrap=True)
    for name in _HEADS:
        table.add_column(name, justify="right", no_wrap=True)
    for judge, line in zip(judges, made.lines, strict=True):
        counts = (line.calls, line.known, line.input_tokens, line.output_tokens)
        table.add_row(judge, *(f"{n:,.0f}" for n in counts), dollars(line.cost), dollars(line.most))
    return table


def dollars(amount: float | None) -> str:
    """An amount as people read it; `no price` where nobody knows one."""
    return "no price" if amount is None else tables.dollars(amount)
