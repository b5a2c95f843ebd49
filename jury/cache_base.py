"""What every cache of judgments has: two methods for a run, figures for people; and what may be written down of it."""

from __future__ import annotations

import json
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
