"""What a target function reports of its cost beside its output. Reads it; asks nobody."""

from __future__ import annotations

import logging
from dataclasses import fields
from functools import lru_cache
from typing import Any, cast

from jury.errors import ReplyError
from jury.providers.function import read_usage
from jury.results import Usage
from jury.scales import shown

logger = logging.getLogger("jury.targets")
_USAGE = frozenset(f.name for f in fields(Usage))


def with_usage(given: object) -> tuple[Any, Usage | None]:
    """An output, and what it cost where the function says so: `(output, {"cost": 0.01})` or `(output, Usage(...))`."""
    result: Any = given
    if not isinstance(given, tuple) or len(cast("tuple[Any, ...]", given)) != 2:
        return result, None
    output, told = cast("tuple[Any, Any]", result)
    if isinstance(told, Usage):
        return output, _known({name: getattr(told, name) for name in _USAGE})
    if isinstance(told, dict) and told and set(names := cast("dict[str, Any]", told)) <= _USAGE:
        return output, _known(names)
    return result, None


def _known(told: dict[str, Any]) -> Usage:
    """What a target reports, as far as it can be: its output is paid for and kept, whatever it says of the price."""
    counts: dict[str, Any] = {"calls": 1}
    for name, value in told.items():
        try:
            counts[name] = getattr(read_usage({name: value}), name)
        except ReplyError:
            _doubt(name, shown(value))
    return Usage(**counts)


@lru_cache(maxsize=100)
def _doubt(name: str, given: str) -> None:
    """Once for each that is told."""
    logger.warning("the target reports %s %s, which is no amount: it counts as unknown", name, given)
