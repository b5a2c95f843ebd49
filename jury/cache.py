"""The cache that runs and processes share: judgments by their key, in one SQLite file. Knows no jury and no folder.

The key says everything that shaped a vote (`keys.py`), so an entry never goes stale; failures are never put in. The
file is `$JURY_CACHE`, or `judgments.sqlite` in the user's cache folder; `JURY_CACHE=off` means none, an address means
Redis or PostgreSQL instead (`cache_servers.py`). Whatever is wrong with it (it cannot be written, is damaged, is of
another version, is not there) is a warning, and the run goes on without.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from jury.cache_base import Cache, Stats, shown, storable
from jury.errors import ConfigError

__all__ = ["Cache", "SqliteCache", "Stats", "address", "default_path", "opened", "shown"]

logger = logging.getLogger("jury.cache")
VERSION = 1
_PENDING, _PENDING_S = 64, 1.0  # entries, and seconds, that a kill can cost; the run folder has them all the same
_DAY_S = 86_400
_SCHEMA = """
CREATE TABLE judgments (
    k BLOB PRIMARY KEY, value TEXT NOT NULL, model TEXT NOT NULL, made INTEGER NOT NULL, used INTEGER NOT NULL
) WITHOUT ROWID;
"""


def default_path() -> Path | None:
    """Where the cache is, None where it is switched off."""
    given = os.environ.get("JURY_CACHE", "").strip()
    if given:
        return None if given.lower() in ("off", "0", "no", "none") else Path(given).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "jury" / "judgments.sqlite"


def address(where: bool | str | Path | None = True) -> str | None:
    """The server that is meant, if one is: its address, with the password that may be in it."""
    text = os.environ.get("JURY_CACHE", "").strip() if where is True else str(where or "")
    return text if "://" in text else None


def opened(where: bool | str | Path | None = True) -> Cache | None:
    """The cache to use: the default one, the one at a path or an address, or none (False, or it cannot be opened).

    Raises `ConfigError` for an address of another kind of server, `MissingExtra` where its client is not installed.
    """
    server = address(where)
    if server is not None:
        from jury.cache_servers import connected  # only where one is used

        return connected(server)
    path = default_path() if where is True else Path(where).expanduser() if where else None
    if path is None:
        return None
    try:
        return SqliteCache(path)
    except (OSError, sqlite3.Error) as error:
        logger.warning("the cache %s cannot be used (%s); going on without", path, error)
        return None


class SqliteCache:
    """One file, shared by processes; to be used in one thread. Making it raises `sqlite3.Error` or `OSError`."""

    slow = False

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._clock = clock
        self._new: dict[bytes, tuple[str, str]] = {}
        self._used: set[bytes] = set()
        self._flushed = clock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, timeout=10, isolation_level=None)
        try:
            self._prepare()
        except BaseException:
            self._db.close()
            raise

    def _prepare(self) -> None:
        db = self._db
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -2000")  # KiB
        db.execute("BEGIN IMMEDIATE")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            db.execute(_SCHEMA)
            db.execute(f"PRAGMA user_version = {VERSION}")
        elif version != VERSION:
            raise sqlite3.DatabaseError(f"it is of version {version}, this jury uses {VERSION}")
        db.execute("COMMIT")
        db.execute("SELECT count(*) FROM (SELECT 1 FROM judgments LIMIT 1)").fetchone()

    def get(self, key: str) -> str | None:
        k = bytes.fromhex(key)
        if k in self._new:
            return self._new[k][0]
        try:
            row = self._db.execute("SELECT value FROM judgments WHERE k = ?", (k,)).fetchone()
        except sqlite3.Error as error:
            self._broken(error)
            return None
        if row is None:
            return None
        self._used.add(k)
        return row[0]

    def put(self, key: str, value: str, model: str) -> None:
        self._new[bytes.fromhex(key)] = (storable(value), model)
        if len(self._new) >= _PENDING or not 0 <= self._clock() - self._flushed < _PENDING_S:
            self._flush()

    def close(self) -> None:
        self._flush()
        with suppress(sqlite3.Error):
            self._db.close()

    def stats(self) -> Stats:
        """Counts and sizes; a walk over the whole file. Raises `sqlite3.Error`."""
        self._flush()
        count, oldest, newest = self._db.execute("SELECT count(*), min(made), max(made) FROM judgments").fetchone()
        models = self._db.execute("SELECT model, count(*) AS n FROM judgments GROUP BY model ORDER BY n DESC, model")
        made = (oldest, newest) if count else None
        return Stats(str(self.path), count, self._bytes(), made, tuple(models.fetchall()))

    def prune(self, *, unused_days: float | None = None, max_bytes: int | None = None, everything: bool = False) -> int:
        """Forgets entries: those not used for so many days, the longest unused above a size, or all. Returns how many.

        Raises `ConfigError` for a size or an age below 0, `sqlite3.Error`.
        """
        if (unused_days or 0) < 0 or (max_bytes or 0) < 0:
            raise ConfigError("an age and a size are at least 0")
        self._flush()
        gone = 0
        if everything:
            gone += self._db.execute("DELETE FROM judgments").rowcount
        if unused_days is not None:
            limit = int(self._clock() - unused_days * _DAY_S)
            gone += self._db.execute("DELETE FROM judgments WHERE used <= ?", (limit,)).rowcount
        if gone:
            self._db.execute("VACUUM")
        while max_bytes is not None and self._bytes() > max_bytes:
            few = max(1, self._db.execute("SELECT count(*) FROM judgments").fetchone()[0] // 10)
            oldest = "SELECT k FROM judgments ORDER BY used LIMIT ?"
            removed = self._db.execute(f"DELETE FROM judgments WHERE k IN ({oldest})", (few,)).rowcount
            if not removed:
                break
            gone += removed
            self._db.execute("VACUUM")
        return gone

    def _bytes(self) -> int:
        pages, size = (self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        return pages * size

    def _flush(self) -> None:
        new, used, now = self._new, self._used, int(self._clock())
        self._new, self._used, self._flushed = {}, set(), self._clock()
        if not new and not used:
            return
        try:
            self._db.execute("BEGIN IMMEDIATE")
            rows = ((k, value, model, now, now) for k, (value, model) in new.items())
            self._db.executemany("INSERT OR IGNORE INTO judgments VALUES (?, ?, ?, ?, ?)", rows)
            self._db.executemany("UPDATE judgments SET used = ? WHERE k = ?", ((now, k) for k in used))
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            self._broken(error)

    def _broken(self, error: sqlite3.Error) -> None:
        logger.warning("the cache %s failed (%s); judgments are not kept there", self.path, error)
