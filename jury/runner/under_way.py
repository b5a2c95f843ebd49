"""Which batches of a run folder are under way, as `batches.jsonl` tells it. Asks no vendor."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jury.errors import ConfigError
from jury.store.lines import read_lines
from jury.summary import count

logger = logging.getLogger("jury.runner")
FILE = "batches.jsonl"
_ENDED = ("collected", "lost")


def last_words(folder: Path) -> dict[int, dict[str, Any]]:
    """What was noted of each batch, by its number; the last word counts."""
    told: dict[int, dict[str, Any]] = {}
    for place, line in read_lines(folder / FILE):
        number = line.get("batch")
        if not isinstance(number, int) or not isinstance(line.get("state"), str):
            logger.warning("%s, byte %d: not a word about a batch; it is passed over", folder / FILE, place)
            continue
        told[number] = {**told.get(number, {}), **line}
    return told


def still_open(told: dict[int, dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """Those that were neither collected nor refused."""
    return {number: batch for number, batch in told.items() if batch["state"] not in _ENDED}


def check_none(folder: Path, providers: Iterable[str]) -> None:
    """Before a pass that asks live: what is in a batch is paid for. Raises `ConfigError`."""
    known = set(providers)
    batches = [b for b in still_open(last_words(folder)).values() if b.get("provider") in known]
    if batches:
        asked = sum(int(b.get("count") or 0) for b in batches)
        raise ConfigError(
            f"{count(asked, 'question')} of {folder} {'is' if asked == 1 else 'are'} in batches that are under way, "
            f"and paid for: go on with --batch, which collects them (or delete {FILE} there to ask them again, live)"
        )
