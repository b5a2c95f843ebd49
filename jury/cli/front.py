"""The first page: `jury --help` and `jury` alone, in plain words. The pages of the commands are typer's.

Loads neither typer nor rich: they are most of what a start costs.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import TextIO

from jury.cli.app import COMMANDS, GROUPS, HELP

WIDEST, NARROWEST = 80, 30
_OPTIONS = {"-h, --help": "Show this page and exit.", "--version": "Show the version and exit."}


def asks_for_it(arguments: list[str]) -> bool:
    """Is it the page of the whole that these arguments ask for?"""
    return not arguments or arguments in (["--help"], ["-h"])


def show(arguments: list[str]) -> int:
    """Prints the page; returns the exit code. Without any argument it is an answer to wrong usage, on stderr."""
    out = sys.stdout if arguments else sys.stderr
    out.write(page(shutil.get_terminal_size().columns, bold=_colours(out)))
    return 0 if arguments else 2


def page(columns: int, *, bold: bool = False) -> str:
    """The page for a terminal of so many columns."""
    width = max(NARROWEST, min(columns, WIDEST))
    title = "\x1b[1m{}\x1b[0m" if bold else "{}"
    lines = [f"{title.format('Usage:')} jury COMMAND [OPTIONS]", "", *textwrap.wrap(HELP, width)]
    for name, entries in (*_groups(), ("Options", _OPTIONS)):
        lines += ["", title.format(name), *_entries(entries, width)]
    return "\n".join([*lines, "", *textwrap.wrap("jury COMMAND --help shows the options of a command.", width), ""])


def _groups() -> Iterator[tuple[str, dict[str, str]]]:
    """The commands by what they are for; those that no group names come last."""
    left = dict(COMMANDS)
    for title, names in GROUPS.items():
        yield title, {name: left.pop(name) for name in names if name in left}
    if left:
        yield "More", left


def _entries(entries: dict[str, str], width: int) -> Iterator[str]:
    indent = 2 + max(map(len, (*COMMANDS, *_OPTIONS))) + 2
    for name, text in entries.items():
        told = textwrap.wrap(text, width - indent)
        yield f"  {name}".ljust(indent) + told[0]
        yield from (" " * indent + line for line in told[1:])


def _colours(out: TextIO) -> bool:
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
