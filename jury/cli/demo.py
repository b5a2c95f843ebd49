"""`jury demo`: the first run. Shows the model being put together, the verdicts, and what to try next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from jury.cli import exits, tables
from jury.cli.calling import called
from jury.cli.progress import Progress
from jury.cli.tally import Tally
from jury.cli.writing import Folder, print_json, write_summary
from jury.demo import DemoRun, items, pairs, run_demo

PAIRS = "comparisons.jsonl"
EXAMPLE = "examples/answers.jsonl"


def demo(output: str | None, overwrite: bool, json: bool) -> int:
    """Runs the demo; returns the exit code. Raises `MissingExtra` where the local model cannot be had."""
    with Folder(output, overwrite=overwrite) as folder, Folder(output, overwrite=overwrite, results=PAIRS) as other:
        with Progress("verdicts") as progress:

            def loaded(name: str) -> None:
                progress.say(f"{name} is ready")
                progress.start(len(items()) + len(pairs()))

            def told(result: Any) -> None:
                progress.add("pairs" if hasattr(result, "winner") else "answers")

            found = run_demo(on_load=progress.load, on_loaded=loaded, on_verdict=told)
        for result in found.results:
            folder.add(result)
        for comparison in found.comparisons:
            other.add(comparison)
        answers, compared = _tally(found.results), _tally(found.comparisons)
        summary = _summary(found, answers)
        write_summary(output, summary)
    if json:
        results = [r.to_dict() for r in found.results]
        print_json({"results": results, "comparisons": [c.to_dict() for c in found.comparisons], "summary": summary})
    else:
        _print(found, answers, compared, output)
    return exits.of_summary(answers.summary(), None, None)[0]


def _tally(results: Sequence[Any]) -> Tally:
    tally = Tally(len(results))
    for number, result in enumerate(results, 1):
        tally.add(number, result)
    return tally


def _summary(found: DemoRun, answers: Tally) -> dict[str, Any]:
    return {
        **answers.summary().to_dict(),
        "model": found.model,
        "caught": list(found.caught),
        "missed": list(found.missed),
        "wronged": list(found.wronged),
        "winners": [c.winner for c in found.comparisons],
        "load_seconds": round(found.load_s, 3),
        "judge_seconds": round(found.judge_s, 3),
        "notes": list(found.notes),
    }


def _print(found: DemoRun, answers: Tally, compared: Tally, output: str | None) -> None:
    console = tables.stdout()
    _heading(console, "Is each answer right?")
    tables.verdict_table(answers, console)
    tables.facts(console, tables.summary_lines(answers.summary(), answers))
    console.print()
    _heading(console, "Which of two answers is better?")
    tables.verdict_table(compared, console)
    tables.facts(console, tables.comparison_lines(compared.win_rate(), compared))
    console.print()
    for note in found.notes:
        tables.show(console, Text(note))
    console.print()
    verdicts = len(found.results) + len(found.comparisons)
    lines: list[tuple[str, str | Text]] = [
        ("time", f"model ready in {found.load_s:.1f} s, {verdicts} verdicts in {found.judge_s:.1f} s"),
        *([("results", output)] if output else []),
        ("next", f'{called()} judge {_data()} -c "The answer is right." -j {found.model}'),
        ("", "the same with -j openai/<model>,anthropic/<model> once their keys are set"),
    ]
    tables.facts(console, lines)


def _data() -> str:
    """A file of answers to try next: the example of the checkout, where this is one."""
    return EXAMPLE if Path(EXAMPLE).is_file() else "answers.jsonl"


def _heading(console: Console, text: str) -> None:
    console.print(Text(text, style="bold"))
