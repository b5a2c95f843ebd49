"""The SQLite file of an index: its tables, how it is opened, what is damage. What stands in them is `index.py`'s."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import suppress
from pathlib import Path

from jury.errors import DataError
from jury.store.lines import check_no_link

logger = logging.getLogger("jury.store")
_VERSION = 4
_WAL = 8000  # pages (32 MB) before they go to their places: most are written several times until then
# Results stand in the order of the items, since that is how they are asked for: each under the number of its item.
_SCHEMA = """
CREATE TABLE read (file TEXT PRIMARY KEY, upto INTEGER NOT NULL);
CREATE TABLE items (k INTEGER PRIMARY KEY, number INTEGER NOT NULL, pos INTEGER NOT NULL, digest INTEGER NOT NULL);
CREATE TABLE results (
    number INTEGER, k INTEGER, pos INTEGER NOT NULL, seal INTEGER NOT NULL, mark INTEGER NOT NULL,
    complete INTEGER NOT NULL, brief TEXT NOT NULL, PRIMARY KEY (number, k)
) WITHOUT ROWID;
CREATE TABLE judged (k INTEGER PRIMARY KEY, pos INTEGER NOT NULL);
CREATE TABLE outputs (k INTEGER PRIMARY KEY, pos INTEGER NOT NULL);
CREATE TABLE shown (k INTEGER PRIMARY KEY);
"""


def private() -> sqlite3.Connection:
    """Tables that nobody else sees, in a file that is gone with them."""
    db = sqlite3.connect("", isolation_level=None)  # an empty name: a file that SQLite deletes itself
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA cache_size = -2000")
    db.executescript(_SCHEMA)
    return db


def opened(path: Path) -> sqlite3.Connection:
    """The index file; a new one where it is missing, damaged or of another version. On a full disk a private one.

    Raises `DataError`: `locked`, `unwritable`.
    """
    check_no_link(path)
    for attempt in range(2):
        try:
            db = sqlite3.connect(path, timeout=1, isolation_level=None)
            try:
                # One process writes, and nobody else opens it: no look-up needs to ask for a lock.
                db.execute("PRAGMA locking_mode = EXCLUSIVE")
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")
                db.execute("PRAGMA cache_size = -1000")  # KiB
                db.execute(f"PRAGMA wal_autocheckpoint = {_WAL}")
                version = db.execute("PRAGMA user_version").fetchone()[0]
                if version == 0:
                    db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")
                elif version != _VERSION:
                    raise sqlite3.DatabaseError(f"version {version}")
                db.execute("SELECT count(*) FROM read").fetchone()
            except BaseException:
                db.close()
                raise
            return db
        except sqlite3.Error as error:
            if _code(error) == sqlite3.SQLITE_BUSY:
                raise DataError(f"{path} is held by another program: end it first", "locked", file=str(path)) from None
            logger.warning("%s cannot be used (%s); it is made anew from the files", path, error)
            if attempt == 0:
                remove(path)
    return private()


def damaged(error: sqlite3.Error) -> bool:
    """Whether an error means that the file does not hold what SQLite wrote into it."""
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _code(error: sqlite3.Error) -> int:
    """SQLite's own number of an error, 0 of one that is not SQLite's."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def remove(path: Path) -> None:
    """The index file, with what SQLite keeps beside it."""
    for end in ("", "-wal", "-shm"):
        with suppress(OSError):
            Path(f"{path}{end}").unlink()
