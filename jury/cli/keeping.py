"""The run folder of a command: what is missing there is asked, and what came of it is read back. Prints no result."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jury.budget import Budget
from jury.cli.run_progress import RunProgress
from jury.cli.writing import SUMMARY, aside
from jury.errors import ConfigError, DataError
from jury.results import Comparison, PanelResult
from jury.runner import Halt, RunReport, RunSpec
from jury.runner import run as run_spec
from jury.runner.describe import AnyJury, seats_of, source_of
from jury.runner.entries import begun, from_stdin
from jury.runner.governors import Governors
from jury.store import Run, clear
from jury.store.index import RESULTS
from jury.store.manifest import FILE
from jury.store.writer import FILES


async def interruptible(spec: RunSpec, folder: Path, say: Callable[[str], None], **options: Any) -> RunReport:
    """The run; the first interrupt lets what is in flight finish, the second one ends it at once."""
    halt = Halt()
    work = asyncio.ensure_future(run_spec(spec, folder, halt=halt, **options))

    def interrupt() -> None:
        if halt.asked:
            work.cancel()
        else:
            say("interrupted: what is in flight is finished and kept; once more to end at once")
            halt.set()

    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError, RuntimeError):  # elsewhere than on POSIX, or not in the main thread
        loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        return await work
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def ask(
    spec: RunSpec, jury: AnyJury, folder: Path, progress: RunProgress, *, overwrite: bool, force: bool
) -> RunReport | None:
    """Asks what a folder lacks of a run; None where it was ended at once. Says what is different from the last time.

    Raises `ConfigError` where the folder holds other data or no run at all, unless `overwrite` empties it, and what
    `runner.run` raises.
    """
    if overwrite:
        Governors(spec, None if spec.budget is None else Budget(spec.budget)).check(seats_of(jury))  # nothing is lost
        if from_stdin(spec):
            spec = begun(spec)  # where nothing comes, nothing is lost
        clear(folder)
    else:
        _refuse_others(folder, spec)

    def hear(word: str, result: Any) -> None:
        if not progress.done:
            (folder / SUMMARY).unlink(missing_ok=True)  # a summary of other results must not stand beside these
        progress.hear(word, result)

    try:
        with aside():
            report = asyncio.run(interruptible(spec, folder, progress.say, on_result=hear, force=force))
    except KeyboardInterrupt:
        return None
    for change in report.changes:
        progress.changed(change)
    return report


def check_apart(folder: Path, *data: str | None) -> None:
    """Raises `ConfigError` where the data, a pattern too, is a file that the run would write, empty or take away."""
    for file in data:
        asked = Path(file).resolve() if file else None
        for own in ((folder / name).resolve() for name in (*FILES, SUMMARY)):
            if asked is not None and (own == asked or (own.exists() and own.match(str(asked)))):
                raise ConfigError(f"{file}: a run in {folder} writes a file of that name: choose another folder")


def kept(folder: Path, ids: set[str] | None, n: int) -> Iterator[tuple[int, PanelResult | Comparison]]:
    """The results on these items with their row numbers, in the order of the data; a folder may hold other items too.

    `ids` None: of data that comes once; then they are its first `n` rows.
    """
    if (folder / FILE).exists():
        for one in Run.open(folder).stored_results():
            if one.number < n if ids is None else one.item in ids:
                yield one.number + 1, one.result


def _refuse_others(folder: Path, spec: RunSpec) -> None:
    """Raises `ConfigError` where a folder holds results on another file, or such as are no run."""
    held = folder / RESULTS
    if held.is_file() and held.stat().st_size and not (folder / FILE).exists():
        raise ConfigError(f"{held} holds results already: choose another folder, or --overwrite")
    before, now = _files(folder, spec.kind), source_of(spec)
    asked = now.get("joined") or [now["path"]]
    if before is None or asked == [None] or from_stdin(spec):
        return
    if before != asked and [Path(f).resolve() for f in before] != [Path(f).resolve() for f in asked]:
        told = f"{' and '.join(before)}, not {' and '.join(asked)}"
        raise ConfigError(f"{folder} holds results on {told}: choose another folder, or --overwrite")


def _files(folder: Path, kind: str) -> list[str] | None:
    """The file that a run judges, or the two; None where it names none, is new or of another kind."""
    try:
        manifest = Run.open(folder).manifest
        if (manifest.kind == "pairwise") != (kind == "pairwise"):
            return None
        data: Any = manifest.data
        if data.get("path") or data.get("joined"):
            return data.get("joined") or [data["path"]]
        said: Any = json.loads((folder / SUMMARY).read_bytes())  # two files of an earlier version
        return [str(said[key]) for key in ("file", "file_b")]
    except (DataError, OSError, ValueError, LookupError, TypeError):
        return None  # of which the run says what is wrong with it
