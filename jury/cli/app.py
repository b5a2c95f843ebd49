"""The root of the command line. Only the command that is asked for gets its options: to read all costs time.

`jury --help` is the first thing people run and `front.py` prints it from the words here, so this module loads nothing:
typer comes with the first command.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

HELP = "Juries of judges: verdicts on the outputs of models and agents, with who voted what and why."
COMMANDS = {
    "demo": "A first run without any key: a small local model and functions judge shipped items.",
    "judge": "Is each answer in a file good enough?",
    "compare": "Which of two answers is better, in each row of a file or in two files?",
    "render": "The exact text that each judge would get for one row. Calls nobody.",
    "check": "Is everything in place: the prompt, the judges and their keys, the data?",
    "session": "Did the agent do its job in a recorded session? By policy, tone, tool use, ...",
    "rubric": "Each answer in a file scored on several criteria.",
    "prompts": "The shipped prompts and your own: list, show, check, diff, new.",
    "run": "A whole data set into a run folder; again, only what is missing or failed is asked.",
    "watch": "Follows a run under way: items done, the rate so far, failures, money, time left.",
    "show": "What came of a run; or one item of it: texts, verdict, who voted what and why.",
    "label": "People's labels in minutes: a page on this computer, one item at a time, blind to the panel.",
    "report": "What came of a run, to look at: one HTML file; Markdown, JSON, CSV or JUnit.",
    "replay": "Every verdict of a run folder again from its log, offline: what differs, what was changed?",
    "audit": "Can judged text move a verdict? Attacks on a panel.",
    "counts": "What many reports have in common: violations by rule, bad calls, scores by criterion.",
    "calibrate": "A run against people's labels: agreement, the rate people would give, weights.",
    "worth": "What the panel of a run is worth: independent votes, the best single judge, fewer judges.",
    "stability": "How often each judge of a run contradicts itself.",
    "bias": "Where the judges of a run lean: the slot, the length, their own family.",
    "diff": "Two runs on the same items: the paired difference and the flipped items.",
    "rank": "Many targets from pairwise runs, with intervals.",
    "gate": "For CI: pass (0), fail (1) or undecided (4), from intervals.",
    "drift": "Did the judge drift or the system? By a frozen set judged again.",
    "cache": "The judgments that runs share: how many there are, and forgetting some.",
}
GROUPS = {
    "First steps": ("demo", "judge", "compare", "render", "check"),
    "Sessions, rubrics, prompts": ("session", "rubric", "prompts"),
    "Runs": ("run", "watch", "show", "report", "label", "replay", "counts", "cache"),
    "Can it be trusted?": ("calibrate", "worth", "stability", "bias", "audit", "drift"),
    "Comparing and deciding": ("diff", "rank", "gate"),
}
# Names that options had once, by command: they work as before, and no page shows them.
RENAMED = {
    "prompts": {"--times": "--repetitions"},
    "show": {"--limit": "--show"},
    "run": {"--force": "--edited-prompt"},
    "session": {"--force": "--edited-prompt"},
    "rubric": {"--force": "--edited-prompt"},
}
_OF_RUNS = ("run", "watch", "show", "replay", "cache")
_OF_AUDIT = ("calibrate", "worth", "stability", "bias", "diff", "rank", "gate", "drift")
_OF_SESSIONS = ("session", "rubric", "prompts", "counts", "audit")


def make(arguments: Sequence[str]) -> typer.Typer:
    """The application for these arguments: the command they name in full, of the others the name and one line."""
    import typer

    from jury.cli.options import Command

    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        help=HELP,
    )
    shown = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version and exit.")

    def root(version: bool = shown) -> None:
        """Nothing by itself: see the commands."""

    app.callback()(root)
    asked = next((a for a in arguments if not a.startswith("-")), None)
    for name, line in COMMANDS.items():
        if name == asked:
            found = getattr(import_module(f"jury.cli.{_module(name)}"), name)
            if isinstance(found, typer.Typer):  # a family of commands
                for member in found.registered_commands:
                    member.cls = Command
                app.add_typer(found, name=name, short_help=line)
            else:
                app.command(name, cls=Command, short_help=line, help=_plain(found.__doc__))(found)
        else:
            app.command(name, help=line)(_other)
    return app


def renamed(arguments: Sequence[str]) -> list[str]:
    """The arguments with the names that the options of their command have now."""
    known = RENAMED.get(next((a for a in arguments if not a.startswith("-")), ""), {})
    made: list[str] = []
    for place, argument in enumerate(arguments):
        if argument == "--":
            return [*made, *arguments[place:]]
        name, sign, value = argument.partition("=")
        made.append(f"{known.get(name, name)}{sign}{value}")
    return made


def _module(name: str) -> str:
    if name in _OF_SESSIONS:
        return "session_commands"
    if name in _OF_AUDIT:
        return "audit_commands"
    if name in ("label", "report"):
        return f"{name}_commands"
    return "run_commands" if name in _OF_RUNS else "commands"


def _plain(text: str | None) -> str:
    """A help text as typer shows it well: a paragraph is one line, and `[local]` is no colour."""
    return re.sub(r"(?=\[[a-z#/@])", r"\\", re.sub(r"(?<=\S)\n(?=\S)", " ", cleandoc(text or "")))


def _version(wanted: bool) -> None:
    if wanted:
        import typer

        from jury import __version__

        typer.echo(f"jury {__version__}")
        raise typer.Exit


def _other() -> None:
    """Stands for a command that was not asked for."""
