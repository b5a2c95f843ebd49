"""Where the lines of an item and of a key stand. Made from the files, may be deleted at any time, flat in memory.

A file of SQLite in the folder (`index.sqlite`) for a writer, a private temporary one for a reader. It knows how far it
has read each file, so opening a folder again reads only what came after.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from jury.errors import DataError
from jury.frozen import frozen
from jury.store.keys import Keys
from jury.store.lines import encode, read_lines, unwritable
from jury.store.outputs import OUTPUTS
from jury.store.records import FREE_SOURCES, brief, complete
from jury.store.shown import SHOWN, shown_from
from jury.store.tables import damaged, opened, remove
from jury.store.tables import private as private_tables

logger = logging.getLogger("jury.store")
FILE = "index.sqlite"
ITEMS, JUDGMENTS, RESULTS = "items.jsonl", "judgments.jsonl", "results.jsonl"
_COST, _TARGET_COST = "$", "$ of the target"  # rows of `read` that are no files
_STAMP = "@ "  # and such: when a file was changed last, as of a clean end
_AHEAD = 256  # results read at once, in the order of the items
_PENDING = 8000  # entries kept in memory before they are written; about 2 MB
_RESULT = "SELECT number, r.pos, seal, complete, brief FROM items i JOIN results r USING (number, k) WHERE k = ?"
_MARKED = "SELECT mark, complete, brief FROM results WHERE number >= ? AND number < ? AND mark <> 0"
_ADD_RESULT = "INSERT OR REPLACE INTO results SELECT number, k, ?, ?, ?, ?, ? FROM items WHERE k = ?"
_MOVE = "UPDATE OR REPLACE results SET number = ? WHERE k = ? AND number = (SELECT number FROM items WHERE k = ?)"
_KEYED = ("items", "judged", "outputs", "shown")
_MARK = "UPDATE results SET mark = ? WHERE k = ? AND number = (SELECT number FROM items WHERE k = ?)"


@lru_cache(maxsize=1024)  # the keys of what is in flight: each is needed several times
def short(text: str) -> int:
    """63 bits of a text. Whoever finds a line by them compares the whole text: two texts may share them."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 1


@frozen
class Known:
    """What the index knows of an item's result. `brief`: what counts of it, as JSON (`records.brief`).

    `number`: of the item, None as long as the result is pending, which is when it has its `mark`.
    """

    pos: int
    seal: int
    complete: bool
    brief: str
    number: int | None = None
    mark: int = 0


class Index:
    """The index of one folder. `private`: a temporary one, for a folder that is only read; `only_places`: it is asked
    for `places` alone."""

    def __init__(self, folder: Path, *, private: bool = False, only_places: bool = False) -> None:
        self._folder = folder
        self._only_places = only_places
        self._files = (ITEMS, RESULTS) if only_places else (ITEMS, RESULTS, JUDGMENTS, OUTPUTS, SHOWN)
        self._items: dict[int, tuple[int, int, int]] = {}
        self._results: dict[int, Known] = {}
        self._judged: dict[int, int] = {}
        self._outputs: dict[int, int] = {}
        self._shown: set[int] = set()
        self._marks: dict[int, int] = {}
        self._near: dict[int, tuple[bool, str]] = {}  # by their marks the results from `_first` on
        self._first = -_AHEAD
        self._keys: Keys | None = None  # of all tables; made when the first one is looked for
        self._pending = 0
        self._private = private
        self._upto: dict[str, int] = {}
        self._cost = self._target_cost = 0  # of what was paid for here, in billionths of a dollar
        self._db = private_tables() if private else opened(folder / FILE)
        read: dict[str, int] = dict(self._db.execute("SELECT file, upto FROM read"))
        self._stamps = {file[len(_STAMP) :]: read.pop(file) for file in list(read) if file.startswith(_STAMP)}
        self._upto.update(read)
        self._cost = self._upto.pop(_COST, 0)
        self._target_cost = self._upto.pop(_TARGET_COST, 0)
        try:
            self._catch_up()
        except BaseException:
            self._db.close()
            raise

    def item(self, item_id: str) -> tuple[int, int, int] | None:
        """Number, place and short digest of an item."""
        k = short(item_id)
        return self._items.get(k) or self._one("SELECT number, pos, digest FROM items WHERE k = ?", k)

    def result(self, item_id: str) -> Known | None:
        """What is known of the last result of an item; one whose item was lost is none."""
        k = short(item_id)
        if k in self._results:
            return self._results[k]
        row = self._one(_RESULT, k)
        return Known(row[1], row[2], bool(row[3]), row[4], row[0]) if row else None

    def marked(self, number: int, mark: int) -> tuple[bool, str] | None:
        """(complete, brief) of the result of the item with this number, if it bears this mark.

        For items in the order of their numbers: many are read at once.
        """
        if not 0 <= number - self._first < _AHEAD:
            self._near = {m: (bool(c), b) for m, c, b in self._all(_MARKED, number, number + _AHEAD)}
            self._first = number
        return self._near.get(mark)

    def add_mark(self, item_id: str, mark: int) -> None:
        self._marks[short(item_id)] = mark
        self._full()

    def judged(self, key: str) -> int | None:
        """Where the last usable judgment with this key stands."""
        k = short(key)
        if k in self._judged:
            return self._judged[k]
        row = self._one("SELECT pos FROM judged WHERE k = ?", k)
        return row[0] if row else None

    def output(self, key: str) -> int | None:
        """Where the target's output with this key stands; one that errored is none."""
        k = short(key)
        if k in self._outputs:
            return self._outputs[k]
        row = self._one("SELECT pos FROM outputs WHERE k = ?", k)
        return row[0] if row else None

    def shown(self, digest: str) -> bool:
        """Whether the line with this digest stands in shown.jsonl."""
        k = short(digest)
        return k in self._shown or self._one("SELECT 1 FROM shown WHERE k = ?", k) is not None

    def add_shown(self, digest: str) -> None:
        self._shown.add(short(digest))
        self._full()

    def add_item(self, item_id: str, number: int, pos: int, digest: str) -> None:
        self._items[short(item_id)] = (number, pos, short(digest))
        self._full()

    def add_result(self, item_id: str, pos: int, seal: str, result: Mapping[str, Any], mark: int = 0) -> None:
        k = short(item_id)
        self._marks.pop(k, None)  # that of the result before
        self._results[k] = Known(pos, short(seal), complete(result), encode(brief(result)), mark=mark)
        self._full()

    def add_judged(self, key: str, pos: int) -> None:
        self._judged[short(key)] = pos
        self._full()

    def add_output(self, key: str, pos: int) -> None:
        self._outputs[short(key)] = pos
        self._full()

    @property
    def cost(self) -> float:
        """US dollars of all judgments, the failed ones included, that were paid for in this folder."""
        return self._cost / 1e9

    def add_cost(self, dollars: float | None) -> None:
        self._cost += round((dollars or 0.0) * 1e9)

    @property
    def target_cost(self) -> float:
        """US dollars that the target's outputs cost here, the errored ones included."""
        return self._target_cost / 1e9

    def add_target_cost(self, dollars: float | None) -> None:
        self._target_cost += round((dollars or 0.0) * 1e9)

    def reached(self, file: str, size: int) -> None:
        """The lines of this file up to `size` bytes are in the index."""
        self._upto[file] = size

    def count(self) -> int:
        """How many items there are."""
        self.flush()
        return self._all("SELECT count(*) FROM items")[0][0]

    def places(self) -> Iterator[tuple[int, int | None]]:
        """(place of the item, place of its last result) in the order of the items' numbers."""
        self.flush()
        joined = "items i LEFT JOIN results r USING (number, k)"
        yield from self._db.execute(f"SELECT i.pos, r.pos FROM {joined} ORDER BY number, i.pos")

    def flush(self) -> None:
        """Writes what is pending, with how far the files are read, in one step. Raises `DataError` on a full disk."""
        try:
            self._write()
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            if damaged(error) and not self._private:
                self._make_anew(error)
                return
            full = "full" in str(error)
            raise unwritable(self._folder / FILE, OSError(errno.ENOSPC if full else None, str(error))) from None
        if self._keys is not None:
            self._keys.add(self._items, self._judged, self._outputs, self._shown)
        self._forget()

    def _forget(self) -> None:
        for pending in (self._items, self._results, self._judged, self._outputs, self._shown, self._marks):
            pending.clear()
        self._pending = 0

    def _one(self, query: str, k: int) -> Any:
        """The row with this key, or None."""
        if self._keys is None:
            self._keys = self._all_keys()
        return next(iter(self._all(query, k)), None) if k in self._keys else None

    def _all_keys(self) -> Keys:
        keys, last = Keys(), -1
        for table in _KEYED:
            while rows := self._all(f"SELECT k FROM {table} WHERE k > ? ORDER BY k LIMIT {_PENDING}", last):
                keys.add(row[0] for row in rows)
                last = rows[-1][0]
            last = -1
        return keys

    def _all(self, query: str, *given: int) -> list[Any]:
        try:
            return self._db.execute(query, given).fetchall()
        except sqlite3.DatabaseError as error:
            if not damaged(error) or self._private:
                raise
            self._make_anew(error)
            return self._db.execute(query, given).fetchall()

    def _make_anew(self, error: sqlite3.Error) -> None:
        """From the files, in which every line stands before it is added here."""
        path = self._folder / FILE
        logger.warning("%s is damaged (%s); it is made anew from the files", path, error)
        self._db.close()
        remove(path)
        self._db = opened(path)
        self._forget()
        self._keys, self._first = None, -_AHEAD
        self._upto.clear()
        self._cost = self._target_cost = 0
        self._catch_up()

    def _write(self) -> None:
        db = self._db
        items, results = sorted(self._items.items()), sorted(self._results.items())  # neighbours share a page
        db.execute("BEGIN")
        db.executemany(_MOVE, ((v[0], k, k) for k, v in items))
        db.executemany("INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?)", ((k, *v) for k, v in items))
        db.executemany(_ADD_RESULT, ((v.pos, v.seal, v.mark, v.complete, v.brief, k) for k, v in results))
        db.executemany(_MARK, ((mark, k, k) for k, mark in self._marks.items()))
        db.executemany("INSERT OR REPLACE INTO judged VALUES (?, ?)", sorted(self._judged.items()))
        db.executemany("INSERT OR REPLACE INTO outputs VALUES (?, ?)", sorted(self._outputs.items()))
        db.executemany("INSERT OR IGNORE INTO shown VALUES (?)", ((k,) for k in self._shown))
        read = {**self._upto, _COST: self._cost, _TARGET_COST: self._target_cost}
        read |= {f"{_STAMP}{file}": changed for file, changed in self._stamps.items()}
        db.execute("DELETE FROM read")
        db.executemany("INSERT INTO read VALUES (?, ?)", read.items())
        db.execute("COMMIT")

    def close(self) -> None:
        self._stamps = {file: _changed(self._folder / file) for file in self._upto}
        with suppress(DataError):  # it can be made again from the files
            self.flush()
        self._db.close()

    def _full(self) -> None:
        self._pending += 1
        if self._pending >= _PENDING:
            self.flush()

    def _catch_up(self) -> None:
        sizes = {f: path.stat().st_size if (path := self._folder / f).exists() else 0 for f in self._files}
        other = [f for f, size in sizes.items() if self._upto.get(f, 0) > size or self._replaced(f)]
        if other:  # cut or changed by other hands: what it knows of them is nothing to rely on
            logger.warning("%s: not as it was left; the index is made anew", self._folder / other[0])
            tables = ("read", "items", "results", "judged", "outputs", "shown")
            self._db.executescript("".join(f"DELETE FROM {table};" for table in tables))
            self._upto.clear()
            self._cost = self._target_cost = 0
        self._stamps = {}
        for file, size in sizes.items():
            for pos, line in read_lines(self._folder / file, self._upto.get(file, 0)):
                try:
                    self._add(file, pos, line)
                except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
                    logger.warning("%s, byte %d: not a record of a run; it is passed over", self._folder / file, pos)
            self._upto[file] = size
        self.flush()

    def _replaced(self, file: str) -> bool:
        return file in self._stamps and self._stamps[file] != _changed(self._folder / file)

    def _add(self, file: str, pos: int, line: dict[str, Any]) -> None:
        if file == ITEMS:
            number = line["number"]
            if not isinstance(number, int) or abs(number) >= 1 << 62:
                raise ValueError("no number of an item")
            self.add_item(str(line["id"]), number, pos, str(line.get("digest") or ""))
        elif file == RESULTS and isinstance(line.get("item"), str):
            result = line.get("result")
            if isinstance(result, dict) and self._only_places:
                self._results[short(line["item"])] = Known(pos, 0, False, "")
                self._full()
            elif isinstance(result, dict):
                self.add_result(str(line["item"]), pos, str(line.get("seal") or ""), cast("dict[str, Any]", result))
        elif file == JUDGMENTS and isinstance(line.get("key"), str):
            verdict = line.get("verdict")
            if line.get("source") not in FREE_SOURCES:
                usage = line.get("usage")
                self.add_cost(cast("dict[str, Any]", usage).get("cost") if isinstance(usage, dict) else None)
            failed = not isinstance(verdict, dict) or cast("dict[str, Any]", verdict).get("status") == "error"
            if not failed and line.get("source") != "same":  # the identical item has the one that was paid for
                self.add_judged(str(line["key"]), pos)
        elif file == OUTPUTS and isinstance(line.get("key"), str):
            usage, output = line.get("usage"), line.get("output")
            if line.get("source") != "same":
                self.add_target_cost(cast("dict[str, Any]", usage).get("cost") if isinstance(usage, dict) else None)
                if isinstance(output, dict) and not cast("dict[str, Any]", output).get("error"):
                    self.add_output(str(line["key"]), pos)
        elif file == SHOWN:
            shown = shown_from(line)
            self.add_shown(shown.digest if shown is not None else str(line.get("text")))


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0
