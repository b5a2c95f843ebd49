"""`facts`: from a run to everything a report shows of it. Puts the parts together; each part has a module."""

from __future__ import annotations

import random
from collections.abc import Sequence

from jury.audit import Audited, Worth, audited, worth
from jury.report import words
from jury.report.criteria import criteria
from jury.report.findings import findings
from jury.report.heads import head
from jury.report.items import items
from jury.report.opening import LooseRun
from jury.report.pairing import difference, pairs
from jury.report.panels import panel
from jury.report.parts import ItemFacts, Report
from jury.store import Run

SAMPLE = 10  # passing items to read


def facts(run: Run, *, other: Run | None = None, earlier: Sequence[Run] = (), seed: int = 0) -> Report:
    """What a report shows of a run. Raises `DataError` for a damaged folder.

    `other` is the run to compare with, `earlier` are runs of the same name for the trend of findings, oldest first.
    `seed` draws the sample of passing items and the bootstrap intervals: the same run and seed give the same report.
    """
    audit = audited(run)
    valued = _valued(audit, seed)
    first = head(audit, valued, seed)
    shown = items(audit)
    against = None
    if other is not None:
        second = audited(other)
        against = difference(audit, second, head(second, None, seed))
    return Report(
        head=first,
        panel=panel(audit, shown, valued, seed),
        items=shown,
        findings=findings(audit, shown, [audited(r) for r in earlier]),
        sample=_sample(shown, seed),
        criteria=criteria(audit, seed),
        pairs=pairs(audit, first, seed),
        difference=against,
        prompts=dict(run.manifest.prompts),
        notes=_notes(audit),
    )


def _valued(audit: Audited, seed: int) -> Worth | None:
    """What the panel is worth; None where votes are plain numbers, which no statistic of it is defined for."""
    return worth(audit, seed=seed) if audit.labels and audit.judged else None


def _sample(shown: Sequence[ItemFacts], seed: int) -> tuple[str, ...]:
    """Passing items (of pairs: decided ones), drawn at random."""
    passing = [item.id for item in shown if item.outcome in ("pass", "A", "B", "tie")]
    return tuple(random.Random(seed).sample(passing, min(SAMPLE, len(passing))))


def _notes(audit: Audited) -> tuple[str, ...]:
    """What a reader must know before the numbers."""
    found: list[str] = []
    if not audit.run.manifest.finished:
        waiting = sum(result is None for _, result in audit.run.lines())
        left = f"; {words.count(waiting, 'item')} wait for a verdict" if waiting else ""
        found.append(f"The run is not finished: numbers are of the items that were judged so far{left}.")
    if isinstance(audit.run, LooseRun):
        found.append("Made of results alone: prompts, settings and the log of judgments are kept in run folders.")
        found += [audit.run.missing] if audit.run.missing else []
    if not audit.judged:
        found.append("The run has no results yet.")
    return tuple(found)
