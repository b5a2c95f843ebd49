"""`facts`: from a run to everything a report shows of it. Puts the parts together; each part has a module."""

from __future__ import annotations

from collections.abc import Sequence

from jury.audit import Audited, Worth, audited, worth
from jury.report.heads import head
from jury.report.items import items
from jury.report.panels import panel
from jury.report.parts import Report
from jury.store import Run


def facts(run: Run, *, other: Run | None = None, earlier: Sequence[Run] = (), seed: int = 0) -> Report:
    """What a report shows of a run. Raises `DataError` for a damaged folder.

    `other` is the run to compare with, `earlier` are runs of the same name for the trend of findings, oldest first.
    `seed` draws the sample of passing items and the bootstrap intervals: the same run and seed give the same report.
    """
    audit = audited(run)
    valued = _valued(audit, seed)
    return Report(
        head=head(audit, valued, seed),
        panel=panel(audit, valued, seed),
        items=items(audit),
        prompts=dict(run.manifest.prompts),
    )


def _valued(audit: Audited, seed: int) -> Worth | None:
    """What the panel is worth; None where votes are plain numbers, which no statistic of it is defined for."""
    return worth(audit, seed=seed) if audit.labels and audit.judged else None
