"""What every cache of judgments has: two methods for a run, figures for people; and what may be written down of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


class Cache(Protocol):
    """What a run needs of a cache. Neither method raises: a cache that fails is a cache that knows nothing.

    `slow`: asking it takes a trip over the network, so it is asked in a thread. Its methods may be called from several.
    """

    slow: bool

    def get(self, key: str) -> str | None: ...
    def put(self, key: str, value: str, model: str) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Stats:
    """What a cache holds. `made` is when the oldest and the newest entry were put in (seconds since 1970)."""

    path: str
    entries: int
    bytes: int
    made: tuple[int, int] | None
    models: tuple[tuple[str, int], ...]


class _Lookup:
    """One key that a thread waits for. `leads`: it is this thread that looks up, for all that wait."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.value: str | None = None
        self.leads = False
        self.ready = threading.Event()


class Together:
    """Lookups of several threads over one wire: those that wait while one is under way go together in the next."""

    def __init__(self, find: Callable[[list[str]], dict[str, str]]) -> None:
        self._find = find
        self._lock = threading.Lock()
        self._waiting: list[_Lookup] = []
        self._busy = False

    def get(self, key: str) -> str | None:
        mine = _Lookup(key)
        with self._lock:
            self._waiting.append(mine)
            mine.leads, self._busy = not self._busy, True
        if not mine.leads:
            mine.ready.wait()  # for the value, or for the lead
        if mine.leads:
            self._lead()
        return mine.value

    def _lead(self) -> None:
        with self._lock:
            asked, self._waiting = self._waiting, []
        found: dict[str, str] = {}
        try:
            found = self._find(list({each.key for each in asked}))
        finally:
            for each in asked:
                each.value = found.get(each.key)
                each.ready.set()
            with self._lock:
                if self._waiting:
                    self._waiting[0].leads = True
                    self._waiting[0].ready.set()
                self._busy = bool(self._waiting)


def shown(where: Any) -> Any:
    """A cache as it may be written down: an address without its name and password."""
    if not isinstance(where, str) or "://" not in where:
        return where
    scheme, _, rest = where.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}"


def storable(value: str) -> str:
    """A JSON text that every store takes: half a surrogate pair, as some replies hold, is escaped."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(value), separators=(",", ":"))
    return value
