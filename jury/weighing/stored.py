"""Weights on the disk: reading them where an aggregator is asked for by path, and what they hold for.

`jury calibrate RUN` leaves them in RUN/calibration.json. They hold for judges, models, prompts and criteria as they
were then: another prompt is another judge, and its old weights say nothing of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from jury.errors import ConfigError, DataError, unread
from jury.weighing.fitted import Fitted

FILE = "calibration.json"
KINDS = ("model", "prompt", "criteria", "function")  # what of a seat must be as it was


def is_path(aggregator: object) -> bool:
    """Whether an `aggregator` names a file or a run folder, not a rule."""
    if not isinstance(aggregator, str):
        return False
    return (
        "/" in aggregator or "\\" in aggregator or aggregator.endswith(".json") or (Path(aggregator) / FILE).is_file()
    )


def stored_weights(path: str | Path) -> Fitted:
    """The weights in a run folder or a file of them. Raises `ConfigError` where there are none."""
    given = Path(path)
    file = given / FILE if given.is_dir() else given
    if not file.is_file():
        raise ConfigError(f"aggregator: {given} holds no weights: `jury calibrate RUN` makes {FILE}")
    try:
        data: Any = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"aggregator: {file} cannot be read: {unread(error)}") from None
    values: Mapping[str, Any] = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    try:
        return Fitted.from_dict(cast("Mapping[str, Any]", values.get("weights") or values))
    except DataError as error:
        raise ConfigError(f"aggregator: {file}: {error}") from None


def held_for(criteria: str, seats: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What weights hold for, by seat: `id`, `model`, `prompt` (a digest) and `function` of each, as manifests have it.

    >>> held_for("Right.", [{"id": "x", "model": "a/b", "prompt": "p1"}])["x"]["model"]
    'a/b'
    """
    digest = hashlib.sha256(criteria.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return {
        str(seat.get("id")): {
            "model": seat.get("model"),
            "prompt": seat.get("prompt"),
            "criteria": digest,
            **({"function": seat["function"]} if seat.get("function") else {}),
        }
        for seat in seats
    }


def expired(made_for: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Why weights no longer hold, from what they were made for and what `held_for` says now; empty where they do.

    >>> expired({"x": {"model": "a"}}, {"x": {"model": "b"}})
    'the model of x was a and is b'
    """
    if set(now) != set(made_for):
        return f"the judges were {sorted(made_for)} and are {sorted(now)}"
    for judge, was in made_for.items():
        for what in KINDS:
            if what in was and was[what] != now[judge].get(what):
                if what in ("criteria", "function"):
                    return f"the {what} of {judge} changed"
                return f"the {what} of {judge} was {was[what]} and is {now[judge].get(what)}"
    return ""


def check_weights(fitted: Fitted, criteria: str, seats: Iterable[Mapping[str, Any]]) -> None:
    """Raises `ConfigError` where weights that say what they hold for do not hold for these seats."""
    why = expired(fitted.holds_for, held_for(criteria, seats)) if fitted.holds_for else ""
    if why:
        raise ConfigError(f"aggregator: the weights have expired: {why}; run `jury calibrate` on a run of these judges")
