"""Sessions into a run folder: every judgment recorded before it is used, and what is there is not asked again.

The way of `jury session -o DIR`, for a jury and sessions that are there already; `jury run` reads them from files.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from jury.results import PanelResult
from jury.runner.engine import run
from jury.runner.recordings import recordings
from jury.runner.spec import RunSpec
from jury.sessions.events import Session
from jury.sessions.judging import SessionJury
from jury.store import Run


async def record(
    jury: SessionJury,
    sessions: Sequence[Session],
    folder: str | Path,
    *,
    force: bool = False,
    budget: float | None = None,
    on_change: Callable[[str], object] = lambda change: None,
) -> AsyncIterator[PanelResult]:
    """The reports on sessions, in their order, kept in a run folder of kind `session`.

    `budget`: US dollars that the folder may cost, all passes together. `on_change` hears what is different from the
    pass before. Raises `ConfigError` where a prompt was edited
    under a version that the folder has results of, unless `force`, or a context is missing; `DataError` where the
    folder is locked, foreign or cannot be written.
    """
    jury.check_context()
    named = [{"session": replace(one.session, id=one.id)} for one in recordings(list(sessions))]
    spec = RunSpec(named, jury, concurrency=jury.spec.max_concurrency, budget=budget)
    report = await run(spec, folder, force=force)
    for change in report.changes:
        on_change(change)
    if report.fault is not None:
        raise report.fault
    wanted = {one["session"].id for one in named}
    for item, result in Run.open(folder).results():
        if item.id in wanted and isinstance(result, PanelResult):
            yield result
