"""The commands around run folders and their options: `run`, `watch`, `show`, `replay`, `cache`. Loads typer alone."""

from __future__ import annotations

from typing import Annotated

import typer

_RUN, _RESULT = "Run", "Results"

Config = Annotated[str, typer.Argument(help="The run as YAML: data, criteria, judges, ...", metavar="CONFIG")]
Folder = Annotated[str, typer.Argument(help="A run folder.", metavar="RUN")]
Data = Annotated[
    str | None, typer.Option("--data", "-d", metavar="FILE", help="Instead of CONFIG's.", rich_help_panel=_RUN)
]
Output = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="DIR", help="The run folder (default: runs/<name>).", rich_help_panel=_RUN),
]
Judges = Annotated[
    list[str] | None,
    typer.Option("--judges", "-j", metavar="A,B,C", help="Instead of CONFIG's; repeatable.", rich_help_panel=_RUN),
]
Limit = Annotated[int | None, typer.Option(metavar="N", help="The first N rows only.", rich_help_panel=_RUN)]
Concurrency = Annotated[
    int | None, typer.Option(metavar="N", help="Calls at once of one provider.", rich_help_panel=_RUN)
]
KeepErrors = Annotated[
    bool, typer.Option("--keep-errors", help="Leave items that failed as they are.", rich_help_panel=_RUN)
]
Force = Annotated[
    bool,
    typer.Option("--edited-prompt", help="Also with a prompt edited under its old version.", rich_help_panel=_RUN),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Ask also what another run has asked.", rich_help_panel=_RUN)]
Estimate = Annotated[
    bool, typer.Option("--estimate", help="Calls, tokens and money, from a sample. Calls nobody.", rich_help_panel=_RUN)
]
Budget = Annotated[
    float | None,
    typer.Option(metavar="DOLLARS", help="No call starts that could exceed it.", rich_help_panel=_RUN),
]
Batch = Annotated[
    bool,
    typer.Option("--batch", help="Ask through batch APIs first: half the price, up to a day.", rich_help_panel=_RUN),
]
Poll = Annotated[float, typer.Option(metavar="SECONDS", help="Between two looks at a batch.", rich_help_panel=_RUN)]
Json = Annotated[bool, typer.Option("--json", help="The totals as JSON on standard output.", rich_help_panel=_RESULT)]
FailUnder = Annotated[
    float | None, typer.Option(metavar="SHARE", help="Exit code 1 below this rate.", rich_help_panel=_RESULT)
]
MinCoverage = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Exit code 3 where fewer items got a verdict.", rich_help_panel=_RESULT),
]


def run(
    config: Config,
    data: Data = None,
    output: Output = None,
    judges: Judges = None,
    limit: Limit = None,
    concurrency: Concurrency = None,
    keep_errors: KeepErrors = False,
    force: Force = False,
    no_cache: NoCache = False,
    estimate: Estimate = False,
    budget: Budget = None,
    batch: Batch = False,
    poll: Poll = 60.0,
    json: Json = False,
    fail_under: FailUnder = None,
    min_coverage: MinCoverage = None,
) -> None:
    """Judges a whole data set into a run folder. The same command again asks only what is missing or failed.

    Exit codes: 0 fine, 1 below --fail-under, 2 wrong usage or data, 3 no usable result or coverage below
    --min-coverage, 130 interrupted (once: what is in flight is finished and kept).
    """
    given = locals()
    from jury.cli.running import RunOptions
    from jury.cli.running import run as start

    raise typer.Exit(start(RunOptions(**given)))


def watch(
    folder: Folder,
    every: Annotated[
        float,
        typer.Option(
            "--every",
            metavar="SECONDS",
            help="At most between two lines, where it is no terminal; at first it is 1 (default: 10).",
            show_default=False,
        ),
    ] = 10.0,
    wait: Annotated[
        float,
        typer.Option(
            "--wait",
            metavar="SECONDS",
            help="For a run folder that is not there yet (default: 60).",
            show_default=False,
        ),
    ] = 60.0,
    json: Annotated[
        bool, typer.Option("--json", help="A JSON object a line, at every change.", rich_help_panel=_RESULT)
    ] = False,
) -> None:
    """Follows a run under way until it ends: items done, the rate so far with its interval, failures, money, time left.

    Live on a terminal, elsewhere a line at a change. Reads only; Ctrl-C ends the watch, not the run. Exit codes: 0 the
    run finished, 2 no run folder or the run ended before its end, 3 no usable result, 130 interrupted (either of them).
    """
    from jury.cli.watching import watch as start

    raise typer.Exit(start(folder, every, wait, json))


def show(
    folder: Folder,
    item: Annotated[
        str | None, typer.Argument(help="One item: its id, or its number from 1.", metavar="[ITEM]")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="All of the texts of ITEM.")] = False,
    prompt: Annotated[
        bool, typer.Option("--prompt", help="The exact prompt of each judge of ITEM, and its raw reply.")
    ] = False,
    rows: Annotated[
        int, typer.Option("--show", metavar="N", help="Rows in the table: items that failed or split the judges.")
    ] = 20,
    json: Annotated[bool, typer.Option("--json", help="JSON on standard output.", rich_help_panel=_RESULT)] = False,
) -> None:
    """What came of a run: rates, failures, cost, the items to look at; or one ITEM with every vote and its reason.

    Also of a run under way. Exit codes: 0 fine, 2 no run folder, or no such item.
    """
    from jury.cli.showing import show as start

    raise typer.Exit(start(folder, item, full=full, prompt=prompt, limit=rows, as_json=json))


def replay(folder: Folder, json: Json = False) -> None:
    """Every verdict again from the raw replies in RUN, offline; says which differ and whether a byte was changed.

    Exit codes: 0 all the same, 1 something differs, 2 no run folder.
    """
    from jury.cli.replaying import replay as start

    raise typer.Exit(start(folder, json))


def cache(
    action: Annotated[str, typer.Argument(help="stats or prune.", metavar="stats|prune")],
    days: Annotated[float | None, typer.Option("--unused-days", metavar="N", help="Not used for so long.")] = None,
    size: Annotated[float | None, typer.Option("--max-mb", metavar="MB", help="The longest unused above it.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of it.")] = False,
    json: Json = False,
) -> None:
    """The cache that runs share ($JURY_CACHE): how much it holds, and forgetting some of it."""
    from jury.cli.caching import cache as start

    raise typer.Exit(start(action, days, size, everything, json))
