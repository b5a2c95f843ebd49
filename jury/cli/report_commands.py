"""The command `report` and its options. Loads typer alone, as `app.py` does."""

from __future__ import annotations

from typing import Annotated

import typer


def report(
    folder: Annotated[str, typer.Argument(help="A run folder, or one that `jury demo -o` made.", metavar="RUN")],
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Where to (default: RUN/report.html; other formats: stdout; - too)."
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="html, md, json, csv, junit; of a rubric run critic or rubric (default: by the ending of FILE).",
        ),
    ] = None,
    compare: Annotated[
        str | None, typer.Option(metavar="RUN2", help="The run to compare with: what is fixed, what is broken.")
    ] = None,
    earlier: Annotated[
        list[str] | None, typer.Option(metavar="RUN", help="An earlier run, for the trend of findings; repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Draws the sample of passing items.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """What came of RUN, to look at: one HTML file that needs nothing else, or tables for other programs.

    Rate with interval and coverage, judges and how they agree, findings, every item with its votes. Asks nobody. Plots
    need the extra `report`.
    """
    from jury.cli.reporting import report as start

    raise typer.Exit(start(folder, output, "json" if json else format, compare, earlier or [], seed))
