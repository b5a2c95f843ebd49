"""The commands of the auditor and their options. Loads typer alone, as `app.py` does."""

from __future__ import annotations

from typing import Annotated

import typer

Folder = Annotated[str, typer.Argument(help="A run folder.", metavar="RUN")]
Labels = Annotated[
    str | None,
    typer.Option("--labels", metavar="FILE", help="People's labels as CSV or JSONL (default: those of the run)."),
]
Json = Annotated[bool, typer.Option("--json", help="As JSON on standard output.")]
Level = Annotated[float, typer.Option("--level", metavar="SHARE", help="Of all intervals.")]


_ASK = "Ask again"
Ask = Annotated[
    int | None,
    typer.Option("--ask", metavar="N", help="Ask the judges again about N items, into RUN.", rich_help_panel=_ASK),
]
Config = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="RUN's configuration, where a judge is a function.", rich_help_panel=_ASK),
]
Seed = Annotated[int, typer.Option(metavar="N", help="Which items are drawn.", rich_help_panel=_ASK)]
Estimate = Annotated[
    bool, typer.Option("--estimate", help="Calls, tokens and money. Calls nobody.", rich_help_panel=_ASK)
]
Budget = Annotated[
    float | None, typer.Option(metavar="DOLLARS", help="No call starts that could exceed it.", rich_help_panel=_ASK)
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask whether it may cost that.", rich_help_panel=_ASK)]


def calibrate(
    folder: Folder,
    sampled: Annotated[
        str | None,
        typer.Option(metavar="HOW", help="How the labels were drawn: random, by-class, by-verdict or other."),
    ] = None,
    labels: Labels = None,
    keep_labels: Annotated[
        bool, typer.Option("--keep-labels", help="Keep the labels of FILE in RUN, beside those that are there.")
    ] = False,
    criterion: Annotated[
        str | None, typer.Option(metavar="KEY", help="One criterion of a rubric or of sessions by itself.")
    ] = None,
    test: Annotated[bool, typer.Option("--test", help="The test half: once for each version of the judges.")] = False,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="An item that a prompt shows, but not word for word; repeatable."),
    ] = None,
    json: Json = False,
) -> None:
    """Judges and panel of RUN against people: accuracy, kappa, disagreements, the pass rate people would give.

    Half of the labels (by item id, always the same) is for development, the other for the test. Weights for later runs
    are fitted on the first half and kept in RUN/calibration.json; they expire with the model or prompt of a judge.
    """
    given = locals()
    from jury.cli.auditing import CalibrateOptions
    from jury.cli.auditing import calibrate as start

    raise typer.Exit(start(CalibrateOptions(**{n: v for n, v in given.items() if v is not None})))


def stability(
    folder: Folder,
    ask: Ask = None,
    repetitions: Annotated[
        int, typer.Option(metavar="N", help="How often in all, in each order.", rich_help_panel=_ASK)
    ] = 3,
    config: Config = None,
    seed: Seed = 0,
    estimate: Estimate = False,
    budget: Budget = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """How often each judge of RUN contradicts itself when it is asked again; of pairs, when they are swapped too.

    Read from a run with `repetitions: 3`; or ask now: `--ask 50` puts the same questions about 50 items to the same
    judges, three times in all. What they say is kept in RUN and never paid for twice; its verdicts stay as they are.
    """
    given = locals()
    from jury.cli.asking_again import AskOptions
    from jury.cli.auditing import stability as start

    raise typer.Exit(start(folder, AskOptions(**{n: v for n, v in given.items() if n != "folder"})))


def bias(
    folder: Folder,
    ask: Ask = None,
    config: Config = None,
    seed: Seed = 0,
    estimate: Estimate = False,
    budget: Budget = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Where the judges of RUN lean: the slot, the length, their own family. Effect sizes first, p-values by Holm.

    Families are those of the run's targets, else of the rows' `model`, or `model_a` and `model_b`. Pairs that were
    shown in one order only can be asked about in the other one: `--ask 50`.
    """
    given = locals()
    from jury.cli.asking_again import AskOptions
    from jury.cli.auditing import bias as start

    raise typer.Exit(start(folder, AskOptions(**{n: v for n, v in given.items() if n != "folder"}, repetitions=1)))


def worth(folder: Folder, labels: Labels = None, json: Json = False) -> None:
    """What the panel of RUN is worth: independent votes, the best single judge, the cheapest judges that would do."""
    from jury.cli.auditing import worth as start

    raise typer.Exit(start(folder, labels, json))


def diff(
    first: Annotated[str, typer.Argument(metavar="RUN_A", help="The run to compare with.")],
    second: Annotated[str, typer.Argument(metavar="RUN_B", help="The run that is compared.")],
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Also where criteria, judges or prompts differ; they are named.")
    ] = False,
    level: Level = 0.95,
    json: Json = False,
) -> None:
    """RUN_B against RUN_A on the same items: the paired difference with its interval, McNemar's test, flipped items.

    Refused (2) where what judged the items is not the same.
    """
    from jury.cli.audit_gates import diff as start

    raise typer.Exit(start(first, second, anyway, level, json))


_CONTEST = "Compare"


def rank(
    folders: Annotated[list[str], typer.Argument(metavar="RUN...", help="Pairwise run folders.")],
    name_a: Annotated[str, typer.Option(metavar="FIELD", help="The row's field that names response A's target.")] = (
        "model_a"
    ),
    name_b: Annotated[str, typer.Option(metavar="FIELD", help="The row's field that names response B's.")] = "model_b",
    answers: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Answers of many targets (question, model, answer); or one file of each, given several times or as "
            "'bots/*.jsonl'.",
            rich_help_panel=_CONTEST,
        ),
    ] = None,
    comparisons: Annotated[
        int, typer.Option(metavar="N", help="So many in all, in RUN.", rich_help_panel=_CONTEST)
    ] = 100,
    config: Annotated[
        str | None, typer.Option(metavar="FILE", help="A pairwise run as YAML.", rich_help_panel=_CONTEST)
    ] = None,
    judges: Annotated[
        list[str] | None,
        typer.Option(
            "--judges", "-j", metavar="A,B,C", help="Who compares them; repeatable.", rich_help_panel=_CONTEST
        ),
    ] = None,
    criteria: Annotated[
        str | None,
        typer.Option("--criteria", "-c", metavar="TEXT", help="What makes one better.", rich_help_panel=_CONTEST),
    ] = None,
    map: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="FIELD=COLUMN,...", help="Columns of FILE; repeatable.", rich_help_panel=_CONTEST
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the first round.", rich_help_panel=_CONTEST)] = 0,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Calls, tokens and money. Calls nobody.", rich_help_panel=_CONTEST)
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(metavar="DOLLARS", help="No call starts that could exceed it.", rich_help_panel=_CONTEST),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask whether it may cost that.", rich_help_panel=_CONTEST)
    ] = False,
    json: Json = False,
) -> None:
    """Ranks the targets of pairwise runs (Bradley-Terry) with intervals, and names the pairs to compare next.

    With --answers they are compared first, in Swiss rounds: calls are spent where the order is open. RUN keeps every
    comparison; the same command with more of them goes on. Targets that no comparison connects are never ranked
    against each other.
    """
    given = locals()
    from jury.cli.audit_gates import rank as start
    from jury.cli.contesting import ContestOptions

    options = {n: given[n] for n in ContestOptions.__dataclass_fields__ if given[n] is not None}
    raise typer.Exit(start(folders, name_a, name_b, ContestOptions(**options)))


def gate(
    folders: Annotated[list[str], typer.Argument(metavar="RUN", help="A run folder; with --agreement: NEW OLD.")],
    pass_rate: Annotated[
        str | None, typer.Option(metavar="'>=SHARE'", help="Of the verdicts that pass or fail.")
    ] = None,
    error_rate: Annotated[
        str | None, typer.Option(metavar="'<=SHARE'", help="Of the items nobody could judge.")
    ] = None,
    min_coverage: Annotated[float | None, typer.Option(metavar="SHARE", help="Items with a usable verdict.")] = None,
    by: Annotated[str | None, typer.Option(metavar="tag", help="`tag`: the pass rate of each tag too.")] = None,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="NEW must not agree less with people than OLD.")
    ] = False,
    margin: Annotated[float, typer.Option(metavar="SHARE", help="Agreement that NEW may lose.")] = 0.02,
    rollback: Annotated[
        bool,
        typer.Option("--rollback/--no-rollback", help="Where NEW fails, its prompts and weights become OLD's again."),
    ] = True,
    labels: Labels = None,
    level: Level = 0.95,
    json: Json = False,
) -> None:
    """For CI: pass (0), fail (1) or undecided (4), from intervals.

    A gate passes where the whole interval reaches the mark, fails where none of it does. Errors are gated apart. With
    --agreement a failing NEW is taken back, unless --no-rollback: the files of its prompts hold OLD's version again
    (NEW's stays beside as rejected-VERSION.md), and a calibration that NEW was weighed by holds its earlier weights.
    """
    from jury.cli.audit_gates import GateOptions
    from jury.cli.audit_gates import gate as start

    given = locals()
    options = {name: given[name] for name in GateOptions.__dataclass_fields__}
    raise typer.Exit(start(GateOptions(**options)))


def drift(
    then: Annotated[str, typer.Argument(metavar="THEN", help="The anchors as judged then.")],
    now: Annotated[str, typer.Argument(metavar="NOW", help="The same anchors judged now.")],
    system_then: Annotated[str | None, typer.Option(metavar="RUN", help="The system then.")] = None,
    system_now: Annotated[str | None, typer.Option(metavar="RUN", help="The system now.")] = None,
    alpha: Annotated[float, typer.Option(metavar="SHARE", help="Chance of a false alarm.")] = 0.05,
    json: Json = False,
) -> None:
    """Did the judge drift or the system? By anchors: old outputs, frozen, judged again.

    Exit code 1 for any drift, 3 where no anchor has a verdict in both runs.
    """
    from jury.cli.audit_gates import drift as start

    raise typer.Exit(start(then, now, system_then, system_now, alpha, json))
