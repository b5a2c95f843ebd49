"""The commands for sessions, rubrics and prompts, with their options. Loads typer alone, as `app.py` does."""

from __future__ import annotations

from typing import Annotated

import typer

from jury.cli.commands import Budget, Estimate, FailUnder

_HOW, _RESULT = "How", "Results"

Judges = Annotated[
    list[str] | None,
    typer.Option("--judges", "-j", metavar="A,B,C", help="Who judges (default: $JUDGE_MODEL); repeatable."),
]
Json = Annotated[bool, typer.Option("--json", help="JSON on standard output.", rich_help_panel=_RESULT)]
Votes = Annotated[bool, typer.Option("--json", help="Everything as JSON, every vote in it.", rich_help_panel=_RESULT)]
Criteria = Annotated[
    str | None, typer.Option("--criteria", "-c", metavar="TEXT", help="For examples that bring none of their own.")
]
Repetitions = Annotated[int | None, typer.Option(metavar="N", help="Each judge N times.", rich_help_panel=_HOW)]
Temperature = Annotated[
    float | None, typer.Option(metavar="T", help="Of the models' answers (default: 0).", rich_help_panel=_HOW)
]
MaxTokens = Annotated[int | None, typer.Option(metavar="N", help="Of one reply.", rich_help_panel=_HOW)]
Timeout = Annotated[float | None, typer.Option(metavar="SECONDS", help="Deadline of one call.", rich_help_panel=_HOW)]


def session(
    prompt: Annotated[
        str, typer.Argument(help="Shipped prompts (policy,tone), a folder, or a {transcript} file.", metavar="PROMPT")
    ],
    session: Annotated[
        str, typer.Argument(help="What some tool exports: a file, a folder, 'a/*.jsonl', or -.", metavar="SESSION")
    ],
    context: Annotated[str | None, typer.Argument(help="Rules, tools or guide to go by.", metavar="[CONTEXT]")] = None,
    judges: Judges = None,
    format: Annotated[
        str | None, typer.Option(metavar="NAME", help="The session's format, where its shape is not clear.")
    ] = None,
    number: Annotated[int | None, typer.Option(metavar="N", help="One session of a file with several.")] = None,
    options: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME", help="Turn an option on (NAME=off: off); repeatable."),
    ] = None,
    contexts: Annotated[
        list[str] | None,
        typer.Option(
            "--context", metavar="NAME=FILE", help="The context of one criterion, where each has its own; repeatable."
        ),
    ] = None,
    examples: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Judged sessions of your own: {session, verdict, why} a line."),
    ] = None,
    checks: Annotated[
        list[str] | None,
        typer.Option(
            "--check", metavar="FILE.py:FUNCTION", help="A check by code; PROMPT - for checks alone. Repeatable."
        ),
    ] = None,
    facts: Annotated[
        list[str] | None,
        typer.Option(
            "--fact", metavar="FILE.py:FUNCTION", help="A check whose result the judges are told too; repeatable."
        ),
    ] = None,
    ask: Annotated[str, typer.Option(metavar="each|together", help="One call per criterion, or one for all.")] = "each",
    long: Annotated[str, typer.Option(metavar="fit|windows", help="What becomes of a long session.")] = "fit",
    session_tokens: Annotated[int | None, typer.Option(metavar="N", help="How long is too long.")] = None,
    variables: Annotated[
        list[str] | None,
        typer.Option("--var", metavar="NAME=VALUE", help="A name of your own for your own prompt; repeatable."),
    ] = None,
    stand_ins: Annotated[
        list[str] | None,
        typer.Option(
            "--stand-ins", metavar="D,E", help="Judges asked where others failed; repeatable.", rich_help_panel=_HOW
        ),
    ] = None,
    min_successful_judges: Annotated[
        int | None,
        typer.Option(metavar="N", help="Votes a verdict needs (default: more than half).", rich_help_panel=_HOW),
    ] = None,
    repetitions: Repetitions = None,
    temperature: Temperature = None,
    max_tokens: MaxTokens = None,
    timeout: Timeout = None,
    estimate: Estimate = False,
    budget: Budget = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="DIR", help="A run folder.", rich_help_panel=_RESULT)
    ] = None,
    force: Annotated[
        bool, typer.Option("--edited-prompt", help="Also with a prompt edited under its old version.")
    ] = False,
    fail_under: FailUnder = None,
    render: Annotated[
        bool, typer.Option("--render", help="The exact texts instead of a verdict. Calls nobody.")
    ] = False,
    json: Votes = False,
) -> None:
    """Did the agent do its job? Verdict, evidence and fields on one session or all of a file.

    A table with the rates on a terminal; JSON in a pipe, and with --json with every vote.

    Exit codes: 0 fine, 1 below --fail-under, 2 wrong usage or data, 3 no usable verdict.
    """
    given = locals()
    from jury.cli.session import session as start

    raise typer.Exit(start(given))


def rubric(
    rubric: Annotated[str, typer.Argument(help="critic, answer-rubric, a YAML file or a prompt.", metavar="RUBRIC")],
    file: Annotated[str, typer.Argument(help="Questions and answers to score.", metavar="FILE")],
    judges: Judges = None,
    format: Annotated[
        str | None, typer.Option(metavar="critic|rubric", help="The JSON shape of a seed.", rich_help_panel=_RESULT)
    ] = None,
    task: Annotated[str | None, typer.Option(metavar="TEXT", help="What the answers are for.")] = None,
    reference: Annotated[str | None, typer.Option(metavar="FILE", help="What is known to be true.")] = None,
    ask: Annotated[str, typer.Option(metavar="each|together", help="One call, or one per criterion.")] = "together",
    permute: Annotated[bool, typer.Option("--permute", help="Another order of criteria for each judge.")] = False,
    map: Annotated[
        list[str] | None, typer.Option("--map", metavar="FIELD=COLUMN,...", help="Columns of FILE; repeatable.")
    ] = None,
    limit: Annotated[int | None, typer.Option(metavar="N", help="The first N rows only.")] = None,
    repetitions: Repetitions = None,
    temperature: Temperature = None,
    max_tokens: MaxTokens = None,
    timeout: Timeout = None,
    estimate: Estimate = False,
    budget: Budget = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="A run folder: what it holds is not asked again.",
            rich_help_panel=_RESULT,
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--edited-prompt", help="Also with a prompt edited under its old version.")
    ] = False,
    fail_under: FailUnder = None,
    json: Votes = False,
) -> None:
    """Each answer in FILE scored on several criteria: scores, evidence, verdict.

    A table with the rates on a terminal; in a pipe, with --format and with --json one JSON object a line.

    Exit codes: 0 fine, 1 below --fail-under, 2 wrong usage or data, 3 no usable verdict.
    """
    given = locals()
    from jury.cli.rubric import rubric as start

    raise typer.Exit(start(given))


prompts = typer.Typer(no_args_is_help=True, help="The shipped prompts and your own: list, show, check, diff, new.")


@prompts.command("list")
def prompts_list(json: Json = False) -> None:
    """The shipped prompts: name, version, kind, verdicts or criteria, and what each asks."""
    from jury.cli.library import list_prompts

    raise typer.Exit(list_prompts(json))


@prompts.command("show")
def prompts_show(
    name: Annotated[str, typer.Argument(help="A shipped name, or the path of a prompt.", metavar="PROMPT")],
    json: Json = False,
) -> None:
    """One prompt whole: version, digest, what it asks back, options, changelog, and its texts."""
    from jury.cli.library import show_prompt

    raise typer.Exit(show_prompt(name, json))


@prompts.command("check")
def prompts_check(
    names: Annotated[list[str], typer.Argument(help="Shipped names or paths.", metavar="PROMPT...")],
    judges: Judges = None,
    repetitions: Annotated[int, typer.Option(metavar="N", help="How often each example is asked.")] = 5,
    criteria: Criteria = None,
    no_calls: Annotated[bool, typer.Option("--no-calls", help="The text alone.")] = False,
    json: Json = False,
) -> None:
    """What is wrong with a prompt; and its own examples N times through the panel: wrong and unstable verdicts.

    Exit codes: 0 nothing wrong, 1 a problem, or a wrong or unstable verdict, 2 wrong usage, 3 no usable verdict.
    """
    from jury.cli.library import check_prompts

    raise typer.Exit(check_prompts(names, judges or (), repetitions, no_calls, json, criteria=criteria))


@prompts.command("diff")
def prompts_diff(
    first: Annotated[str, typer.Argument(help="A shipped name, a path, or a run folder.", metavar="A")],
    second: Annotated[str, typer.Argument(help="A shipped name, a path, or a run folder.", metavar="B")],
    json: Json = False,
) -> None:
    """What is different between two prompts, line by line, with their digests. Exit code 1 where anything is.

    Of a run folder those that its judges had last; with several in it, they are paired by name.
    """
    from jury.cli.library import diff_prompts

    raise typer.Exit(diff_prompts(first, second, json))


@prompts.command("new")
def prompts_new(
    folder: Annotated[
        str, typer.Argument(help="The folder of the new prompt; its name is the prompt's.", metavar="DIR")
    ],
    source: Annotated[
        str | None, typer.Option("--from", metavar="PROMPT", help="A shipped name, a path, or a {transcript} file.")
    ] = None,
    json: Json = False,
) -> None:
    """A prompt of your own to start from, with version, changelog and examples."""
    from jury.cli.library import new_prompt

    raise typer.Exit(new_prompt(folder, source, json))


def counts(
    runs: Annotated[list[str], typer.Argument(help="Run folders.", metavar="RUN...")],
    by: Annotated[str | None, typer.Option(metavar="day|week|month|run", help="Counts apart for each.")] = None,
    json: Json = False,
) -> None:
    """What is in many reports: violations by rule, unsupported claims, bad calls, handovers, scores by criterion.

    The time of an item is its own (`time`, `timestamp`, `created_at` or `date` of the session), else of its judging.
    """
    from jury.cli.counting import counts as start

    raise typer.Exit(start(runs, by, json))


audit = typer.Typer(no_args_is_help=True, help="Can judged text move a verdict? Attacks on a panel.")


@audit.callback()
def audit_root() -> None:
    """Can judged text move a verdict? Attacks on a panel."""


@audit.command("injection")
def audit_injection(
    prompt: Annotated[
        str, typer.Argument(help="policy, critic, pointwise, pairwise, ..., or a path.", metavar="PROMPT")
    ],
    judges: Judges = None,
    cases: Annotated[
        str | None, typer.Option(metavar="FILE", help="Items to attack (default: the prompt's own examples).")
    ] = None,
    criteria: Criteria = None,
    json: Json = False,
) -> None:
    """A panel on clean items and on attacked twins: how many verdicts moved, by judge and by attack.

    Exit codes: 0 no attack moved more verdicts than asking again does, 1 one did, 2 wrong usage, 3 no usable verdict.
    """
    from jury.cli.injecting import injection

    raise typer.Exit(injection(prompt, judges or (), cases, json, criteria=criteria))
