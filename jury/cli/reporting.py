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
    other = None if compare is None else open_run(compare)
    with Progress("items") as progress:
        made = facts(run, other=other, earlier=[open_run(e) for e in earlier], seed=seed)
        content = written(made, name)
        path = None if output == "-" or (output is None and name != "html") else Path(output or run.folder / PAGE)
        if path is not None:
            _write(path, content)
            progress.say(f"{path}: {made.head.rate_name} {made.head.rate.text}, {made.head.total:,} items")
    if path is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    return exits.OK if made.head.answered else exits.NO_RESULT


def _format(output: str | None, format: str | None) -> str:
    if format is None:
        return _ENDINGS.get(Path(output).suffix.lower(), "html") if output else "html"
    if format not in FORMATS:
        raise ConfigError(f"--format is {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, got {format!r}")
    return format


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all: a page that somebody has open is replaced in one step."""
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from None
