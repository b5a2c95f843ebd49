"""A rubric run as lines in the JSON shapes `critic` and `rubric` that users of such prompts know, one an item."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from jury.errors import ConfigError
from jury.results import PanelResult
from jury.rubrics.rubric import Rubric
from jury.rubrics.seeds import seed_report
from jury.store import Run


def seed_lines(run: Run, format: str) -> Iterator[str]:
    """The items with a result, in the order of the data. Raises `ConfigError` for a run without a rubric."""
    given = cast("Mapping[str, Any] | None", run.manifest.spec.get("rubric"))
    if run.kind != "rubric" or not given:
        raise ConfigError(f"{run.folder}: --format {format} is for runs with a rubric; this is a {run.kind} run")
    rubric = Rubric.from_dict(given)
    for item, result in run.results():
        if isinstance(result, PanelResult):
            yield json.dumps({"id": item.id, **seed_report(rubric, result, format)}, ensure_ascii=False) + "\n"
