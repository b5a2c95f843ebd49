"""`Run`: a run folder as others read it; and the one thing they write, people's labels."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import cached_property, partial
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar, cast

from jury.errors import DataError
from jury.results import Comparison, PanelResult
from jury.scales import Scale
from jury.store.index import ITEMS, JUDGMENTS, RESULTS, Index
from jury.store.lines import Appender, broken, parse, read_lines
from jury.store.locking import waiting
from jury.store.manifest import RunManifest, scale_from_dict
from jury.store.outputs import OUTPUTS, StoredOutput
from jury.store.records import Label, Result, StoredItem, StoredJudgment, StoredResult, standing
from jury.store.shown import SHOWN

logger = logging.getLogger("jury.store")
_T = TypeVar("_T")
LABELS, SEEN = "labels.jsonl", "seen.jsonl"


class Run:
    """A run folder, read only (but for `add_label`). Safe to read while a run goes on."""

    def __init__(self, folder: Path, manifest: RunManifest) -> None:
        self.folder = folder
        self.manifest = manifest

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Raises `DataError`: `not_found`, `bad_json`, or `format` (foreign, or of a newer version)."""
        folder = Path(path)
        return cls(folder, RunManifest.read(folder))

    @property
    def kind(self) -> str:
        return self.manifest.kind

    @cached_property
    def scale(self) -> Scale:
        return scale_from_dict(self.manifest.scale)

    def items(self) -> Iterator[StoredItem]:
        """Every item once, in the order of the data, as it was judged last."""
        for item, _ in self._walk():
            yield StoredItem.from_dict(item)

    def results(self) -> Generator[tuple[StoredItem, Result]]:
        """Items with their last result, in the order of the data; an item that has none yet is left out."""
        for item, line in self._walk():
            if line is not None:
                result = made(partial(result_of, self.kind), line, RESULTS)
                if result is not None:
                    yield StoredItem.from_dict(item), result

    def stored_results(self) -> Iterator[StoredResult]:
        """The last result of every item, in the order of the data."""
        for _, line in self._walk():
            if line is not None:
                result = made(partial(result_of, self.kind), line, RESULTS)
                if result is not None:
                    yield StoredResult(line["item"], line["number"], result, str(line.get("seal", "")))

    def lines(self) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
        """Every item with its last result (None: it has none yet) as they are stored, in the order of the data.

        To count and to look for one of many; `results` gives values that were checked, which takes ten times as long.
        """
        return self._walk()

    def judgment_lines(self) -> Iterator[dict[str, Any]]:
        """The judgments as they are stored: to look for some of many."""
        for _, line in read_lines(self.folder / JUDGMENTS):
            yield line

    def judgments(self) -> Iterator[StoredJudgment]:
        """Every judgment that was recorded, in the order in which they came."""
        for _, line in read_lines(self.folder / JUDGMENTS):
            judgment = made(StoredJudgment.from_dict, line, JUDGMENTS)
            if judgment is not None:
                yield judgment

    def judgments_of(self, item_id: str) -> list[StoredJudgment]:
        """The judgments on one item, in the order in which they came; lines about others are not even parsed."""
        path = self.folder / JUDGMENTS
        if not path.exists():
            return []
        marks = tuple(json.dumps(item_id, ensure_ascii=a).encode("utf-8", "backslashreplace") for a in (False, True))
        with path.open("rb") as file:
            found = (parse(data) for data in file if any(mark in data for mark in marks))
            mine = [line for line in found if line and line.get("item") == item_id]
        judgments = (made(StoredJudgment.from_dict, line, JUDGMENTS) for line in mine)
        return [judgment for judgment in judgments if judgment is not None]

    def outputs(self) -> Iterator[StoredOutput]:
        """What the target made, in the order in which it came; empty where the data brought the outputs."""
        for _, line in read_lines(self.folder / OUTPUTS):
            yield StoredOutput.from_dict(line)

    def labels(self) -> list[Label]:
        """What people say, in the order in which they said it: of each person and item the last word, unless undone."""
        return standing(line for _, line in self.label_lines())

    def label_lines(self, start: int = 0) -> Iterator[tuple[int, Label]]:
        """(where it stands, the label) for every line, those replaced or undone later included."""
        for place, line in read_lines(self.folder / LABELS, start):
            yield place, Label.from_dict(line)

    def add_label(self, label: Label) -> None:
        """Appends one label, safe against a power cut when this returns. Raises `DataError`."""
        self._append(LABELS, [label.to_dict()])

    def seen(self, labeller: str) -> set[str]:
        """The items whose verdict this person was shown while labelling."""
        lines = (line for _, line in read_lines(self.folder / SEEN) if line.get("labeller") == labeller)
        return {item for line in lines if isinstance(item := line.get("item"), str)}

    def add_seen(self, labeller: str, items: Iterable[str]) -> None:
        """Notes whose verdict a person is about to be shown. Raises `DataError`."""
        new = sorted(set(items) - self.seen(labeller))
        if new:
            self._append(SEEN, [{"item": item, "labeller": labeller} for item in new])

    def _append(self, name: str, lines: Iterable[Mapping[str, Any]]) -> None:
        with waiting(self.folder / f"{LABELS}.lock"):  # two pages, or two threads of one, may write at once
            file = Appender(self.folder / name)
            try:
                for line in lines:
                    file.append(line)
            finally:
                file.close()

    def damage(self) -> list[str]:
        """Every place where a line was changed, lost or added since it was written; a long walk."""
        manifest = RunManifest.read(self.folder)  # another pass may have begun since this one was read
        found: list[str] = []
        for name in (ITEMS, JUDGMENTS, RESULTS, OUTPUTS, SHOWN):
            # A run that goes on, or was killed, has lines after the last one that the manifest knows.
            found += broken(self.folder / name, manifest.heads.get(name) if manifest.finished else None)
        return found

    def _walk(self) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
        items, results = self.folder / ITEMS, self.folder / RESULTS
        if not items.exists():
            return
        index = Index(self.folder, private=True, only_places=True)
        try:
            with items.open("rb") as a, results.open("rb") if results.exists() else BytesIO() as b:
                for item_at, result_at in index.places():
                    a.seek(item_at)
                    item = parse(a.readline())
                    line = None
                    if result_at is not None:
                        b.seek(result_at)
                        line = parse(b.readline())
                    if item is not None:
                        yield item, line
        finally:
            index.close()


def made(make: Callable[[dict[str, Any]], _T], line: dict[str, Any], file: str) -> _T | None:
    """What `make` makes of a line; None, with a word, where it is whole JSON and of another shape."""
    try:
        return make(line)
    except DataError as error:
        about = line.get("item") or line.get("id")
        logger.warning("%s, a line about %r: %s; it is passed over", file, about, error)
        return None


def result_of(kind: str, line: dict[str, Any]) -> Result:
    """The result in a line of results.jsonl. Raises `DataError`."""
    result: Any = line.get("result")
    if not isinstance(result, dict):
        raise DataError("not a stored result: it has no result", "bad_json")
    return (Comparison if kind == "pairwise" else PanelResult).from_dict(cast("dict[str, Any]", result))
