"""`jury cache stats` and `jury cache prune`."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from jury.cache import SqliteCache, Stats, default_path
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
    path = default_path()
    if path is None:
        raise ConfigError("there is no cache: JURY_CACHE is off")
    gone = 0
    try:
        if not path.exists():
            return _print(Stats(str(path), 0, 0, None, ()), gone, as_json)
        found = SqliteCache(path)
        if action == "prune":
            limit = None if megabytes is None else int(megabytes * 1e6)
            gone = found.prune(unused_days=days, max_bytes=limit, everything=everything)
        stats = found.stats()
        found.close()
    except (OSError, sqlite3.Error) as error:
        raise ConfigError(f"the cache {path} cannot be used: {error} (delete the file to begin anew)") from None
    return _print(stats, gone, as_json)


def _print(stats: Stats, gone: int, as_json: bool) -> int:
    if as_json:
        print_json({**asdict(stats), "models": dict(stats.models), "removed": gone})
        return exits.OK
    lines = [("cache", str(Path(stats.path))), ("entries", f"{stats.entries:,} in {stats.bytes / 1e6:.1f} MB")]
    lines += [("removed", f"{gone:,}")] if gone else []
    if stats.made:
        first, last = (datetime.fromtimestamp(t, UTC).date().isoformat() for t in stats.made)
        lines.append(("made", f"{first} to {last}"))
    lines += [("models" if i == 0 else "", f"{n:,} of {model}") for i, (model, n) in enumerate(stats.models[:10])]
    tables.facts(tables.stdout(), lines)
    return exits.OK
