"""Items and results of a run, read one by one when they are needed; what is kept of each is where its line stands."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping
from typing import Any

from jury.label.questions import mapping
from jury.store import Run, StoredItem
from jury.store.lines import parse, read_lines
from jury.store.records import Result
from jury.store.run import result_of

ITEMS, RESULTS = "items.jsonl", "results.jsonl"


class Source:
    """A run as it stood when this was made. Of an item the last line counts, as everywhere."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._items = {str(line.get("id")): place for place, line in read_lines(run.folder / ITEMS)}
        self._results: dict[str, int] = {}

    def results(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """(item, result as it is stored) for every line; an item that was judged again comes again."""
        for place, line in read_lines(self._run.folder / RESULTS):
            item = str(line.get("item"))
            if item in self._items:
                self._results[item] = place
                yield item, mapping(line.get("result"))

    def item(self, item: str) -> StoredItem:
        return StoredItem.from_dict(self._line(ITEMS, self._items[item]))

    def result(self, item: str) -> Result:
        """Raises `DataError` where it cannot be read."""
        return result_of(self._run.kind, self._line(RESULTS, self._results[item]))

    def part(self, items: Collection[str]) -> Run:
        """The run with these items alone, for whoever reads its results."""
        return _Part(self._run, self, [item for item in self._results if item in items])

    def _line(self, name: str, place: int) -> dict[str, Any]:
        with (self._run.folder / name).open("rb") as file:
            file.seek(place)
            return parse(file.readline()) or {}


class _Part(Run):
    """A run of which only some items are read: people label hundreds of ten thousand."""

    def __init__(self, run: Run, source: Source, items: list[str]) -> None:
        super().__init__(run.folder, run.manifest)
        self._source, self._chosen = source, items

    def results(self) -> Generator[tuple[StoredItem, Result]]:
        for item in self._chosen:
            yield self._source.item(item), self._source.result(item)
