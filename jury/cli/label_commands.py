"""The command `label` and its options. Loads typer alone, as `app.py` does."""

from __future__ import annotations

from typing import Annotated

import typer


def label(
    folder: Annotated[str, typer.Argument(help="A run folder.", metavar="RUN")],
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Who labels (default: your name on this computer).")
    ] = None,
    sampling: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="random: rates follow from it; disagreement: what judges disagree on comes first; people: what a "
            "cascade left to people.",
        ),
    ] = "random",
    n: Annotated[
        int | None, typer.Option("--n", metavar="N", help="Items to label (default: what --precision needs).")
    ] = None,
    precision: Annotated[
        float, typer.Option(metavar="SHARE", help="Half-width of the interval that is aimed at.")
    ] = 0.05,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the random order; people share it.")] = 0,
    show_verdict: Annotated[
        bool, typer.Option("--show-verdict", help="Show the panel's verdict (default: blind); labels say so.")
    ] = False,
    port: Annotated[int, typer.Option(metavar="P", help="On 127.0.0.1 (default: any free one).")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, open no browser.")] = False,
    json: Annotated[bool, typer.Option("--json", help="What the labels say, as JSON on standard output.")] = False,
) -> None:
    """People's labels on the items of RUN: a page on this computer, one item at a time, kept in RUN/labels.jsonl.

    Every label is on disk before the next item shows; the same command again goes on where its labeller stopped. It
    ends with "Finish and close" on the page, or with Ctrl-C (a closed tab does not end it), and says what the labels
    say. Needs the extra `label`.
    """
    from jury.cli.labelling import LabelOptions
    from jury.cli.labelling import label as start

    plan = (name, sampling, n, seed, precision, show_verdict)
    raise typer.Exit(start(folder, LabelOptions(*plan, port=port, browser=not no_browser, as_data=json)))
