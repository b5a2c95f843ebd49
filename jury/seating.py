"""Who sits on a panel: seats made of what a caller names and told apart by their names; a panel's words checked.

Asks nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, cast

from jury.errors import ConfigError
from jury.judge import JudgeSpec
from jury.providers.base import Settings

LONGEST_S = 10**7  # about four months: more than any call, less than any clock of an event loop overflows at


def seats_from(name: str, judges: Any) -> tuple[JudgeSpec, ...]:
    """A list of judge ids, functions and `JudgeSpec`s as seats. Raises `ConfigError` naming the argument."""
    if isinstance(judges, str | JudgeSpec) or callable(judges) or not isinstance(judges, Sequence):
        raise ConfigError(f"{name} must be a list of judge ids, functions and JudgeSpecs, got {judges!r}")
    return tuple(seat_of(name, judge) for judge in cast("Sequence[Any]", judges))


def seat_of(name: str, judge: Any) -> JudgeSpec:
    """A judge id, a function or a `JudgeSpec` as a seat."""
    if isinstance(judge, JudgeSpec):
        return judge
    if isinstance(judge, str):
        if not judge.strip():
            raise ConfigError(f"{name} must not {'be' if name == 'model' else 'hold'} a blank name")
        return JudgeSpec(model=judge.strip())
    if callable(judge):
        return JudgeSpec(function=judge)
    raise ConfigError(f"{name}: {judge!r} is no judge id, function or JudgeSpec")


def distinct(judges: Sequence[JudgeSpec], taken: Collection[str] = ()) -> list[JudgeSpec]:
    """Equal seats once; a model that sits twice with other settings gets a number, so that every name is its own.

    `taken`: names that are given away already. Raises `ConfigError` for an id that is.
    """
    seen: list[JudgeSpec] = []
    for judge in judges:
        if judge not in seen:
            seen.append(judge)
    used = {*taken, *(j.id for j in seen if j.id)}
    ids = [j.id for j in seen if j.id]
    twice = sorted({name for name in ids if name in taken or ids.count(name) > 1})
    if twice:
        raise ConfigError(f"judges: two different seats are called {twice[0]!r}; give each its own id")
    named: list[JudgeSpec] = []
    for judge in seen:
        if judge.id is None:
            name = next(n for n in _numbered(judge.name) if n not in used)
            used.add(name)
            named.append(judge if name == judge.name else replace(judge, id=name))
        else:
            named.append(judge)
    return named


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}#{i}" for i in count(2))


def question_of(judge: JudgeSpec) -> JudgeSpec:
    """What is asked of a seat, apart from its name, its weight and its family."""
    return replace(judge, id=None, weight=1.0, family=None, settings=judge.settings or None)


def doubles(judges: Sequence[JudgeSpec]) -> Iterator[str]:
    """What is wrong where a judge sits there twice: whoever asks it again, by whatever name, hears one opinion."""
    groups: list[list[JudgeSpec]] = []
    for judge in judges:
        same = next((g for g in groups if question_of(g[0]) == question_of(judge)), None)
        if same is None:
            groups.append([judge])
        else:
            same.append(judge)
    for group in groups:
        seats = distinct(group)
        if len(seats) > 1:
            names = ", ".join(s.name for s in seats)
            yield f"judges {names} are one judge asked the same under {len(seats)} names: its opinion counts twice over"
        elif len(group) > 1:
            yield f"judge {seats[0].name} is named {len(group)} times and sits there once: it is one opinion"


def check_stop(given: Any) -> str | float | None:
    """`stop` as a panel knows it. Raises `ConfigError`."""
    if given is None or given == "decided":
        return given
    try:
        sure = float(given) if isinstance(given, str) else given
    except ValueError:
        sure = None
    if isinstance(sure, bool) or not isinstance(sure, float) or not 0.5 < sure < 1:
        raise ConfigError(f"stop must be None, 'decided' or a probability such as 0.98, got {given!r}")
    return sure


def check_count(name: str, value: Any) -> None:
    """Raises `ConfigError` for what is no whole number from 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"{name} must be a whole number from 1, got {value!r}")


def check_calls(settings: Settings, judges: Sequence[JudgeSpec]) -> None:
    """Raises `ConfigError` naming the setting that is wrong, of the panel or of one of its judges."""
    _check_settings(settings)
    for judge in judges:
        if judge.settings is not None:
            own = judge.settings
            _check_settings(own if isinstance(own, Settings) else replace(settings, **own), f" of {judge.name}")


def _check_settings(settings: Settings, whose: str = "") -> None:
    if not isinstance(cast("Any", settings), Settings):
        raise ConfigError(f"settings{whose} must be Settings, got {settings!r}")
    check_count(f"max_tokens{whose}", settings.max_tokens)
    for name, value in (("retries", settings.retries), ("reask", settings.reask)):
        if isinstance(cast("Any", value), bool) or not isinstance(value, int) or value < 0:
            raise ConfigError(f"{name}{whose} must be a whole number from 0, got {value!r}")
    timeout: Any = settings.timeout_s
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= LONGEST_S:
        raise ConfigError(f"timeout_s{whose} must be above 0 and at most {LONGEST_S:,}, got {timeout!r}")
    heat: Any = settings.temperature
    if heat is not None and (
        isinstance(heat, bool) or not isinstance(heat, int | float) or not 0 <= heat < float("inf")
    ):
        raise ConfigError(f"temperature{whose} must be a number from 0 or None, got {heat!r}")
    if not isinstance(cast("Any", settings.structured_output), bool):
        raise ConfigError(f"structured_output{whose} must be True or False, got {settings.structured_output!r}")


def check_seconds(name: str, value: Any) -> None:
    """Raises `ConfigError` for what is no length of time above 0; None is no limit."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST_S:
        raise ConfigError(f"{name} must be above 0 and at most {LONGEST_S:,} seconds, got {value!r}")
