"""The shared cache on a server: Redis or PostgreSQL, under the same keys as the file of `cache.py`.

    JURY_CACHE=redis://cache.internal:6379/0        pip install 'jury-llm[redis]'
    JURY_CACHE=postgresql://jury@db.internal/evals  pip install 'jury-llm[postgres]'

A password stands in the address (or in `PGPASSWORD`) and in no message. A server that fails is left alone for half a
minute: the run goes on without, and asks it again. Knows no jury and no folder.
"""

from __future__ import annotations

import itertools
import json
import logging
import math
import os
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlsplit

from jury.cache_base import Cache, Stats, Together, shown, storable
from jury.errors import ConfigError, MissingExtra

logger = logging.getLogger("jury.cache")
VERSION = 1
TIMEOUT_S = 3.0  # for a connection and for an answer
_PENDING, _PENDING_S = 64, 1.0  # entries, and seconds, that a kill can cost; the run folder has them all the same
_PAUSE_S = 30.0
_DAY_S = 86_400
_TABLE = f"jury_judgments_{VERSION}"
_ABOUT = f"jury-about:{VERSION}"


class ServerCache(ABC):
    """What both have in common: entries are sent in bundles, a fault is told once and followed by a pause.

    May be used from several threads. `faults`: what the client raises.
    """

    slow = True
    faults: tuple[type[Exception], ...] = (OSError,)

    def __init__(self, url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = shown(url)
        self._clock = clock
        self._lock = threading.Lock()
        self._new: dict[str, tuple[str, str]] = {}
        self._lookups = Together(self._known)
        self._flushed = clock()
        self._silent_until = clock()

    def get(self, key: str) -> str | None:
        return self._lookups.get(key)

    def _known(self, keys: list[str]) -> dict[str, str]:
        with self._lock:
            found = {key: self._new[key][0] for key in keys if key in self._new}
            wanted = [key for key in keys if key not in found]
            if wanted and self._clock() >= self._silent_until:
                try:
                    found |= self._read(wanted)
                except self.faults as error:
                    self._broken(error)
            return found

    def put(self, key: str, value: str, model: str) -> None:
        with self._lock:
            self._new[key] = (storable(value), model)
            if len(self._new) >= _PENDING or not 0 <= self._clock() - self._flushed < _PENDING_S:
                self._flush()

    def close(self) -> None:
        with self._lock:
            self._flush()
            with suppress(*self.faults):
                self._leave()

    def stats(self) -> Stats:
        """Counts and sizes; a walk over everything. Raises `OSError` and what the client raises."""
        with self._lock:
            self._flush()
            return self._stats()

    def prune(self, *, unused_days: float | None = None, max_bytes: int | None = None, everything: bool = False) -> int:
        """As `SqliteCache.prune`."""
        if (unused_days or 0) < 0 or (max_bytes or 0) < 0:
            raise ConfigError("an age and a size are at least 0")
        with self._lock:
            self._flush()
            return self._prune(None if unused_days is None else unused_days * _DAY_S, max_bytes, everything)

    def _flush(self) -> None:
        new, self._new, self._flushed = self._new, {}, self._clock()
        if not new or self._clock() < self._silent_until:
            return
        try:
            self._write(new)
        except self.faults as error:
            self._broken(error)

    def _broken(self, error: Exception) -> None:
        self._silent_until = self._clock() + _PAUSE_S
        logger.warning("the cache %s failed (%s); going on without it for %g s", self.path, said(error), _PAUSE_S)

    @abstractmethod
    def _read(self, keys: list[str]) -> dict[str, str]: ...
    @abstractmethod
    def _write(self, new: dict[str, tuple[str, str]]) -> None: ...
    @abstractmethod
    def _stats(self) -> Stats: ...
    @abstractmethod
    def _prune(self, unused_s: float | None, max_bytes: int | None, everything: bool) -> int: ...
    @abstractmethod
    def _leave(self) -> None: ...


class RedisCache(ServerCache):
    """One text under `jury:1:<key>` for each judgment. The server's own clock of idle keys tells what is unused.

    Reading an entry sets that clock, so what statistics tell of it stands in a hash of its own, `jury-about:1`.
    """

    def __init__(self, url: str, **more: Any) -> None:
        super().__init__(url, **more)
        try:
            import redis
        except ImportError:
            raise MissingExtra.of("a cache in Redis needs an extra", "redis") from None
        self.faults = (OSError, redis.RedisError)
        self._db: Any = cast("Any", redis.Redis).from_url(
            url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S, retry=None
        )
        self._db.ping()

    def _read(self, keys: list[str]) -> dict[str, str]:
        values = self._db.mget([_name(key) for key in keys])
        return {k: cast("bytes", v).decode("utf-8", "replace") for k, v in zip(keys, values, strict=True) if v}

    def _write(self, new: dict[str, tuple[str, str]]) -> None:
        lines = self._db.pipeline(transaction=False)
        for key, (value, _) in new.items():
            lines.set(_name(key), value, nx=True)
        made = [key for key, done in zip(new, lines.execute(), strict=True) if done]
        if made:
            now = int(time.time())
            self._db.hset(_ABOUT, mapping={k: f"{now} {new[k][1]}".encode("utf-8", "replace") for k in made})

    def _stats(self) -> Stats:
        count = size = 0
        models: Counter[str] = Counter()
        first, last = math.inf, 0
        for names in self._names():
            count += len(names)
            size += sum(self._each(names, "memory_usage"))
            for about in filter(None, self._db.hmget(_ABOUT, [_key(name) for name in names])):
                made, _, model = cast("bytes", about).decode("utf-8", "replace").partition(" ")
                first, last = min(first, int(made)), max(last, int(made))
                models[model] += 1
        ranks = sorted(models.items(), key=lambda each: (-each[1], each[0]))
        return Stats(self.path, count, size, (int(first), last) if ranks else None, tuple(ranks))

    def _prune(self, unused_s: float | None, max_bytes: int | None, everything: bool) -> int:
        gone = 0
        kept: list[tuple[float, bytes, int]] = []
        self._forget_missing()
        for names in self._names():
            idle = self._each(names, "object", "idletime")
            old = [
                n for n, s in zip(names, idle, strict=True) if everything or (unused_s is not None and s >= unused_s)
            ]
            gone += self._remove(old)
            if max_bytes is not None:
                left = [(s, n) for n, s in zip(names, idle, strict=True) if n not in set(old)]
                sizes = self._each([n for _, n in left], "memory_usage")
                kept += [(s, n, size) for (s, n), size in zip(left, sizes, strict=True)]
        if max_bytes is not None:
            kept.sort(reverse=True)  # the longest unused first
            over = sum(size for _, _, size in kept) - max_bytes
            before = itertools.accumulate((size for _, _, size in kept), initial=0)
            too_much = [name for (_, name, _), size in zip(kept, before, strict=False) if size < over]
            for some in range(0, len(too_much), 1000):
                gone += self._remove(too_much[some : some + 1000])
        return gone

    def _remove(self, names: list[bytes]) -> int:
        if not names:
            return 0
        self._db.hdel(_ABOUT, *(_key(name) for name in names))
        return int(self._db.unlink(*names))

    def _forget_missing(self) -> None:
        """What is known about entries that the server itself has thrown out."""
        keys = [cast("bytes", key) for key, _ in self._db.hscan_iter(_ABOUT, count=1000)]
        for some in range(0, len(keys), 1000):
            part = keys[some : some + 1000]
            there = self._each([_name(key.decode()).encode() for key in part], "exists")
            if gone := [key for key, found in zip(part, there, strict=True) if not found]:
                self._db.hdel(_ABOUT, *gone)

    def _names(self) -> Iterator[list[bytes]]:
        names: list[bytes] = []
        for name in self._db.scan_iter(match=_name("*"), count=1000):
            names.append(name)
            if len(names) == 1000:
                yield names
                names = []
        if names:
            yield names

    def _each(self, names: Sequence[bytes], command: str, *before: str) -> list[int]:
        lines = self._db.pipeline(transaction=False)
        for name in names:
            getattr(lines, command)(*before, name)
        return [int(n or 0) for n in lines.execute()] if names else []

    def _leave(self) -> None:
        self._db.close()


class PostgresCache(ServerCache):
    """One row for each judgment in `jury_judgments_1`, which is made where it is missing."""

    def __init__(self, url: str, **more: Any) -> None:
        super().__init__(url, **more)
        try:
            import pg8000.native
        except ImportError:
            raise MissingExtra.of("a cache in PostgreSQL needs an extra", "postgres") from None
        self._make = pg8000.native.Connection
        self.faults = (OSError, pg8000.native.Error)
        self._given = _connection(url)
        self._db: Any = None
        self._used: set[str] = set()
        with suppress(pg8000.native.DatabaseError):  # two at once: the other one has made it, or the next line tells
            self._run(
                f"CREATE TABLE IF NOT EXISTS {_TABLE} (k bytea PRIMARY KEY, value text NOT NULL, model text NOT NULL, "
                "made bigint NOT NULL, used bigint NOT NULL)"
            )
        self._run(f"SELECT 1 FROM {_TABLE} LIMIT 1")

    def _run(self, text: str, **values: Any) -> list[Any]:
        if self._db is None:
            self._db = self._make(**self._given)
        try:
            return self._db.run(text, **values) or []
        except (OSError, *self.faults) as error:
            if not _refused(error):  # the connection itself: the next one asks over a new one
                self._drop()
            raise

    def _drop(self) -> None:
        old, self._db = self._db, None
        with suppress(*self.faults):
            old.close()

    def _read(self, keys: list[str]) -> dict[str, str]:
        wanted = ",".join(rf'"\\x{key}"' for key in keys)
        which = "k = ANY(CAST(:keys AS bytea[]))"
        rows = self._run(f"SELECT encode(k, 'hex'), value FROM {_TABLE} WHERE {which}", keys=f"{{{wanted}}}")
        self._used.update(key for key, _ in rows)
        return dict(rows)

    def _write(self, new: dict[str, tuple[str, str]]) -> None:
        now = int(time.time())
        rows = json.dumps([{"k": k, "v": value, "m": model} for k, (value, model) in new.items()])
        self._run(
            f"INSERT INTO {_TABLE} SELECT decode(r->>'k', 'hex'), r->>'v', r->>'m', :now, :now "
            "FROM json_array_elements(CAST(:rows AS json)) AS r ON CONFLICT DO NOTHING",
            now=now,
            rows=rows,
        )
        used, self._used = self._used, set()
        if used:
            self._run(
                f"UPDATE {_TABLE} SET used = :now WHERE k IN "
                "(SELECT decode(r, 'hex') FROM json_array_elements_text(CAST(:keys AS json)) AS r)",
                now=now,
                keys=json.dumps(sorted(used)),
            )

    def _stats(self) -> Stats:
        size = f"pg_total_relation_size('{_TABLE}')"
        count, oldest, newest, size = self._run(f"SELECT count(*), min(made), max(made), {size} FROM {_TABLE}")[0]
        models = self._run(f"SELECT model, count(*) FROM {_TABLE} GROUP BY model ORDER BY 2 DESC, 1")
        made = (oldest, newest) if count else None
        return Stats(self.path, count, size, made, tuple((str(m), int(n)) for m, n in models))

    def _prune(self, unused_s: float | None, max_bytes: int | None, everything: bool) -> int:
        gone = 0
        if everything or unused_s is not None:
            limit = time.time() + 1 if everything else time.time() - cast("float", unused_s)
            gone += self._delete("used <= :limit", limit=int(limit))
        if max_bytes is not None:
            total = "sum(length(value) + 64) OVER (ORDER BY used DESC, k)"  # about what a row takes
            over = f"k IN (SELECT k FROM (SELECT k, {total} AS size FROM {_TABLE}) AS s WHERE size > :most)"
            gone += self._delete(over, most=max_bytes)
        return gone

    def _delete(self, which: str, **values: Any) -> int:
        return len(self._run(f"DELETE FROM {_TABLE} WHERE {which} RETURNING 1", **values))

    def _flush(self) -> None:
        if not self._new and self._used and self._clock() >= self._silent_until:
            self._new, self._flushed = {}, self._clock()
            try:
                self._write({})
            except self.faults as error:
                self._broken(error)
            return
        super()._flush()

    def _leave(self) -> None:
        if self._db is not None:
            self._db.close()


_KINDS: dict[str, type[ServerCache]] = {
    "redis": RedisCache,
    "rediss": RedisCache,
    "postgres": PostgresCache,
    "postgresql": PostgresCache,
}


def connected(url: str) -> Cache | None:
    """The cache at an address; None, with a warning, where the server does not answer or refuses.

    Raises `ConfigError` for another kind of address, `MissingExtra`.
    """
    try:
        return connect(url)
    except (OSError, *client_errors()) as error:
        logger.warning("the cache %s cannot be used (%s); going on without", shown(url), said(error))
        return None


def connect(url: str) -> ServerCache:
    """The cache at an address. Raises `ConfigError`, `MissingExtra`, `OSError` and what the client raises."""
    scheme = url.partition("://")[0].lower()
    if scheme not in _KINDS:
        raise ConfigError(f"a cache is a path, or an address that begins with {', '.join(_KINDS)}; got {scheme}://...")
    return _KINDS[scheme](url)


def client_errors() -> tuple[type[Exception], ...]:
    """What the clients that are installed raise, besides `OSError`."""
    found: list[type[Exception]] = []
    with suppress(ImportError):
        import redis

        found.append(redis.RedisError)
    with suppress(ImportError):
        import pg8000.exceptions

        found.append(pg8000.exceptions.Error)
    return tuple(found)


def _name(key: str) -> str:
    return f"jury:{VERSION}:{key}"


def _key(name: bytes) -> bytes:
    return name.rpartition(b":")[2]


def _connection(url: str) -> dict[str, Any]:
    """The parts of an address as the client of PostgreSQL wants them; the usual variables fill what is missing."""
    parts = urlsplit(url)
    wanted = parse_qs(parts.query).get("sslmode", ["prefer"])[0]
    given: dict[str, Any] = {
        "user": unquote(parts.username or os.environ.get("PGUSER", "postgres")),
        "host": parts.hostname or "localhost",
        "port": parts.port or 5432,
        "database": unquote(parts.path.lstrip("/")) or os.environ.get("PGDATABASE"),
        "password": unquote(parts.password) if parts.password else os.environ.get("PGPASSWORD"),
        "timeout": TIMEOUT_S,
        "application_name": "jury",
    }
    if wanted in ("require", "verify-ca", "verify-full"):
        given["ssl_context"] = True
    return {k: v for k, v in given.items() if v is not None}


def _refused(error: Exception) -> bool:
    """Whether the server answered, with a refusal."""
    return type(error).__name__ == "DatabaseError"


def said(error: Exception) -> str:
    """The fault of a client in one line, as far as it may be shown."""
    told: Any = error.args[0] if error.args else error
    if isinstance(told, dict):  # PostgreSQL's fields
        told = cast("dict[str, Any]", told).get("M", "refused")
    return f"{type(error).__name__}: {' '.join(str(told).split())[:200]}"
