"""`jury cache stats` and `jury cache prune`."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from jury.cache import SqliteCache, Stats, address, default_path, shown
from jury.cli import exits, tables
from jury.cli.writing import print_json
from jury.errors import ConfigError

ACTIONS = ("stats", "prune")


def cache(action: str, days: float | None, megabytes: float | None, everything: bool, as_json: bool) -> int:
    """Runs `jury cache`; returns the exit code. Raises `ConfigError`."""
    if action not in ACTIONS:
        raise ConfigError(f"jury cache {action}: use one of {', '.join(ACTIONS)}")
    chosen = days is not None or megabytes is not None or everything
    if (action == "prune") != chosen:
        raise ConfigError("jury cache prune needs --unused-days, --max-mb or --all; stats takes none of them")
    limit = None if megabytes is None else int(megabytes * 1e6)
    server = address()
    if server is not None:
        return _print(
            *_of_server(server, action, {"unused_days": days, "max_bytes": limit, "everything": everything}), as_json
        )
    path = default_path()
    if path is None:
        raise ConfigError("there is no cache: JURY_CACHE is off")
    gone = 0
    try:
        if not path.exists():
            return _print(Stats(str(path), 0, 0, None, ()), gone, as_json)
        found = SqliteCache(path)
        if action == "prune":
            gone = found.prune(unused_days=days, max_bytes=limit, everything=everything)
        stats = found.stats()
        found.close()
    except (OSError, sqlite3.Error) as error:
        raise ConfigError(f"the cache {path} cannot be used: {error} (delete the file to begin anew)") from None
    return _print(stats, gone, as_json)


def _of_server(server: str, action: str, which: dict[str, Any]) -> tuple[Stats, int]:
    """What a cache on a server holds, after some of it was forgotten; and how much was."""
    from jury.cache_servers import client_errors, connect, said  # only where one is used

    try:
        found = connect(server)
        gone = found.prune(**which) if action == "prune" else 0
        stats = found.stats()
        found.close()
    except (OSError, *client_errors()) as error:
        raise ConfigError(f"the cache {shown(server)} cannot be used: {said(error)}") from None
    return stats, gone


def _print(stats: Stats, gone: int, as_json: bool) -> int:
    if as_json:
        print_json({**asdict(stats), "models": dict(stats.models), "removed": gone})
        return exits.OK
    lines = [("cache", stats.path), ("entries", f"{stats.entries:,} in {stats.bytes / 1e6:.1f} MB")]
    lines += [("removed", f"{gone:,}")] if gone else []
    if stats.made:
        first, last = (datetime.fromtimestamp(t, UTC).date().isoformat() for t in stats.made)
        lines.append(("made", f"{first} to {last}"))
    lines += [("models" if i == 0 else "", f"{n:,} of {model}") for i, (model, n) in enumerate(stats.models[:10])]
    tables.facts(tables.stdout(), lines)
    return exits.OK
