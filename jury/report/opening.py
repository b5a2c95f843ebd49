"""What a report can be made of: a run folder, or what `jury demo -o DIR` leaves behind.

So did `jury judge -o` and `jury compare -o` of earlier versions.

Such a folder has the results and a summary, no items and no log. The judged texts come from the data file, where it is
still there; prompts and settings are not known.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, cast

from jury.datasets import Joined, rows
from jury.errors import JuryError
from jury.runner.entries import entries
from jury.runner.spec import RunSpec
from jury.scales import Boolean, Labels, Numeric, Scale
from jury.store import Run, RunManifest, StoredItem, scale_to_dict
from jury.store.index import RESULTS
from jury.store.lines import read_lines
from jury.store.manifest import FILE

SUMMARY = "summary.json"


def open_run(path: str | Path) -> Run:
    """The run in a folder, of either kind. Raises `DataError` for any other folder."""
    folder = Path(path)
    loose = not (folder / FILE).exists() and (folder / RESULTS).is_file() and (folder / SUMMARY).is_file()
    return LooseRun(folder) if loose else Run.open(folder)


class LooseRun(Run):
    """Results without a manifest, read as a run. `missing` says what a report cannot show."""

    def __init__(self, folder: Path) -> None:
        summary = _summary(folder)
        self._lines = [line for _, line in read_lines(folder / RESULTS)]
        pairwise = any("winner" in line for line in self._lines)
        rubric = any(line.get("criteria") for line in self._lines)
        kind = "pairwise" if pairwise else "rubric" if rubric else "pointwise"
        stored: Any = summary.get("scale")
        scale = cast("dict[str, Any]", stored) if isinstance(stored, dict) else None
        at = datetime.fromtimestamp((folder / RESULTS).stat().st_mtime, UTC)
        super().__init__(
            folder,
            RunManifest(
                kind=kind,
                name=folder.name,
                created=at.isoformat(timespec="seconds").replace("+00:00", "Z"),
                jury_version=str(summary.get("jury") or ""),
                criteria=str(summary.get("criteria") or ""),
                scale=scale or scale_to_dict(_scale(self._lines, pairwise)),
                judges=tuple({"id": str(judge)} for judge in cast("list[Any]", summary.get("judges") or [])),
                spec={"rubric": summary["rubric"]} if isinstance(summary.get("rubric"), dict) else {},
                totals=summary,
                finished=bool(summary.get("complete")),
            ),
        )
        self._items, self.missing = _items(summary, kind)

    def _walk(self) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
        known = ((self._number(line, at), line) for at, line in enumerate(self._lines))
        for number, line in sorted(known, key=lambda pair: pair[0]):
            name = line.get("item_id")
            item_id = str(name) if name is not None else f"#{number + 1}"
            item = self._items.get(item_id) or StoredItem(item_id, number).to_dict()
            yield item, {"item": item_id, "number": number, "result": line}

    def _number(self, line: Mapping[str, Any], at: int) -> int:
        """The place of an item in the data; results are written as they come."""
        known = self._items.get(str(line.get("item_id")))
        return known["number"] if known else at


def _summary(folder: Path) -> dict[str, Any]:
    try:
        data: Any = json.loads((folder / SUMMARY).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        data = None  # a summary that was cut short: the results count, and a report says that the run is not finished
    return cast("dict[str, Any]", data) if isinstance(data, dict) else {}


def _items(summary: Mapping[str, Any], kind: str) -> tuple[dict[str, dict[str, Any]], str]:
    """The items of the data file by id, as they are stored; and what is to be said where they cannot be had."""
    file = summary.get("file")
    data = cast("Mapping[str, Any]", summary.get("data") or {})
    if not isinstance(file, str) or not Path(file).is_file():
        return {}, f"The judged texts are not shown: the data file {file} is not there."
    other = summary.get("file_b")
    try:
        if other:
            read = partial(
                rows, mapping=data.get("map"), encoding=data.get("encoding"), delimiter=data.get("delimiter")
            )
            spec = RunSpec(Joined((file, str(other)), read), kind="pairwise", limit=data.get("limit"))
        else:
            spec = RunSpec(file, kind="pairwise" if kind == "pairwise" else "pointwise", **data)
        return {e.item.id: e.item.to_dict() for e in entries(spec)}, ""
    except JuryError as error:
        return {}, f"The judged texts are not shown: {error}"


def _scale(lines: list[dict[str, Any]], pairwise: bool) -> Scale:
    """The scale that the results speak of, where the summary does not say: their values, and which of them passed."""
    if pairwise:
        return Labels(["A", "B", "tie"])
    usable = [line for line in lines if line.get("status") in ("decided", "not_applicable")]
    values = [line.get("value") for line in usable]
    if all(isinstance(v, bool) for v in values):
        return Boolean()
    numbers = [float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) == len(values):
        passed = [float(line["value"]) for line in usable if line.get("pass") is True]
        low = math.floor(min(numbers))
        return Numeric(low, max(math.ceil(max(numbers)), low + 1), min(passed) if passed else None)
    votes = (vote for line in lines for vote in cast("list[dict[str, Any]]", line.get("votes") or []))
    said = (cast("Mapping[str, Any]", vote.get("verdict") or {}).get("value") for vote in votes)
    labels = list(dict.fromkeys(str(v) for v in (*values, *said) if isinstance(v, str)))
    if len(labels) < 2:  # one label all over: what the others were cannot be known
        labels = [*labels, "(other)"] if labels else ["(none)", "(other)"]
    na = next((str(line["value"]) for line in usable if line["status"] == "not_applicable"), None)
    return Labels(labels, list(dict.fromkeys(str(line["value"]) for line in usable if line.get("pass") is True)), na)
