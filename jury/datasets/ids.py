"""Ids seen so far, in flat memory: the first thousands in a dictionary, the rest in a private file paged by SQLite."""

from __future__ import annotations

import sqlite3
from types import TracebackType

IN_MEMORY = 4_000  # ids; less than 1 MB


class SeenIds:
    """Remembers in which row, and at which line, an id came first."""

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self._few: dict[str, tuple[int, int]] = {}
        self._limit = in_memory
        self._many: sqlite3.Connection | None = None

    def before(self, item_id: str, number: int, line: int) -> tuple[int, int] | None:
        """Row number and line that had this id before; None, and these are remembered, if none had."""
        if self._many is None:
            if item_id in self._few:
                return self._few[item_id]
            self._few[item_id] = (number, line)
            if len(self._few) >= self._limit:
                self._spill()
            return None
        added = self._many.execute("INSERT OR IGNORE INTO seen VALUES (?, ?, ?)", (item_id, number, line))
        if added.rowcount:
            return None
        return self._many.execute("SELECT number, line FROM seen WHERE id = ?", (item_id,)).fetchone()

    def _spill(self) -> None:
        # An empty name is a temporary database on disk that SQLite deletes itself; nothing in it outlives this object.
        self._many = sqlite3.connect("", isolation_level=None)
        self._many.execute("PRAGMA journal_mode = OFF")
        self._many.execute("PRAGMA cache_size = -1000")  # KiB
        self._many.execute("CREATE TABLE seen (id TEXT PRIMARY KEY, number INTEGER, line INTEGER) WITHOUT ROWID")
        self._many.execute("BEGIN")
        self._many.executemany("INSERT INTO seen VALUES (?, ?, ?)", ((i, *at) for i, at in self._few.items()))
        self._few.clear()

    def __enter__(self) -> SeenIds:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._many is not None:
            self._many.close()
