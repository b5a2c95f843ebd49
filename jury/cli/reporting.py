"""`jury report`: from the options to the file and the exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from jury.cli import exits
from jury.cli.progress import Progress
from jury.errors import ConfigError
from jury.report.facts import facts
from jury.report.formats import FORMATS, written
from jury.report.opening import open_run
from jury.report.seeds import seed_lines
from jury.rubrics.seeds import FORMATS as SEED_FORMATS
from jury.store import Run
from jury.summary import count
from jury.wording import bracket, percent

_ENDINGS = {".html": "html", ".htm": "html", ".md": "md", ".json": "json", ".csv": "csv", ".xml": "junit"}
PAGE = "report.html"


def report(
    folder: str, output: str | None, format: str | None, compare: str | None, earlier: Sequence[str], seed: int
) -> int:
    """0, or 3 where the run has no usable verdict (the report is written all the same).

    Raises `ConfigError` or `DataError`.
    """
    name = _format(output, format)
    run = open_run(folder)
    if name in SEED_FORMATS:
        return _seed(run, name, output)
    other = None if compare is None else open_run(compare)
    with Progress("items") as progress:
        made = facts(run, other=other, earlier=[open_run(e) for e in earlier], seed=seed)
        content = written(made, name)
        path = None if output == "-" or (output is None and name != "html") else Path(output or run.folder / PAGE)
        if path is not None:
            _write(path, content)
            head = made.head
            rate, (low, high) = head.rate, (head.rate.low, head.rate.high)
            told = rate.text if low is None or high is None else f"{percent(rate.value or 0, 1)} {bracket(low, high)}"
            told = f"{head.rate_name} {told}, coverage {head.coverage.text}"
            progress.say(f"{path}: {told}, {count(head.total, 'item')}")
    if path is None:
        _print(content)
    return exits.OK if made.head.answered else exits.NO_RESULT


def _format(output: str | None, format: str | None) -> str:
    if format is None:
        return _ENDINGS.get(Path(output).suffix.lower(), "html") if output else "html"
    if format not in (*FORMATS, *SEED_FORMATS):
        words = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}; of a rubric run also {' or '.join(SEED_FORMATS)}"
        raise ConfigError(f"--format is {words}; got {format!r}")
    return format


def _seed(run: Run, name: str, output: str | None) -> int:
    lines = list(seed_lines(run, name))
    content = "".join(lines).encode("utf-8", "backslashreplace")
    if output in (None, "-"):
        _print(content)
    else:
        _write(Path(output), content)
    return exits.OK if lines else exits.NO_RESULT


def _print(content: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all: a page that somebody has open is replaced in one step."""
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from None
