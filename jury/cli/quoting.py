"""What a run, or asking about a part of one again, would ask and cost."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table

from jury.cli import exits, tables
from jury.cli.functions import load_function
from jury.cli.writing import print_json
from jury.runner import Quote, RunSpec, estimate

_LONGEST = 28  # letters of an id that stands in the table itself


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
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    judges = [line.judge for line in made.lines]
    if max(map(len, judges), default=0) > _LONGEST:  # an id that breaks in the middle cannot be copied
        for number, judge in enumerate(judges, 1):
            tables.told(console, f"{'judges' if number == 1 else '      '} {number} {judge}", whole=True)
        judges = [str(number) for number in range(1, len(judges) + 1)]
    table.add_column("judge", no_wrap=True)
    for name in ("calls", "known", "tokens in", "tokens out", "likely", "at most"):
        table.add_column(name, justify="right", no_wrap=True)
    for judge, line in zip(judges, made.lines, strict=True):
        counts = (line.calls, line.known, line.input_tokens, line.output_tokens)
        table.add_row(judge, *(f"{n:,.0f}" for n in counts), dollars(line.cost), dollars(line.most))
    tables.show(console, table)
    console.print()
    tables.facts(
        console,
        [
            ("items", f"{made.items:,}, {made.sampled:,} of them looked at"),
            ("calls", f"{made.calls:,}, and {made.known:,} that are known"),
            ("cost", f"about {dollars(made.cost)}, at most {dollars(made.most)}"),
            *(("", note) for note in made.notes),
        ],
    )


def dollars(amount: float | None) -> str:
    """An amount as people read it; `no price` where nobody knows one."""
    if amount is None:
        return "no price"
    return f"${amount:.4f}" if amount < 1 else f"${amount:,.2f}"
