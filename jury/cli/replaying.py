"""`jury replay`: what the log gives, beside what the results say."""

from __future__ import annotations

from dataclasses import asdict

from jury.cli import exits, tables
from jury.cli.progress import Progress
from jury.cli.writing import print_json
from jury.runner import ReplayReport
from jury.runner import replay as replay_folder
from jury.summary import count

_SHOWN = 20


def replay(folder: str, as_json: bool) -> int:
    """Runs `jury replay`; returns the exit code. Raises `DataError`."""
    with Progress("items"):  # shows what the store has to say about torn lines
        report = replay_folder(folder)
    if as_json:
        print_json({**asdict(report), "same": report.same})
    else:
        _print(report)
    return exits.OK if report.same else exits.BELOW


def _print(report: ReplayReport) -> None:
    console = tables.stdout()
    for damage in report.damage[:_SHOWN]:
        console.print(f"changed: {damage}", style="red")
    for d in report.differences[:_SHOWN]:
        console.print(f"{d.item}: {d.what}: stored {d.stored}, replayed {d.replayed}", style="yellow")
    left = len(report.differences) - _SHOWN
    if left > 0:
        console.print(f"... and {left} more (--json shows all)")
    damaged = f"{count(len(report.damage), 'place is', 'places are')} damaged"
    chain = damaged if report.damage else "every line is as it was written"
    same = "all verdicts are the same" if report.same else count(len(report.differences), "difference")
    tables.facts(
        console,
        [
            ("replayed", f"{count(report.items, 'item')} from {count(report.judgments, 'judgment')}: {same}"),
            ("chain", chain),
            *([("note", "the rule is a function: votes were compared, verdicts were not")] if report.unfolded else []),
        ],
    )
