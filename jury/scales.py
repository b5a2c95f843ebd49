"""What a verdict may be: `Boolean`, `Labels`, `Numeric`. One union instead of a `verdict_kind` string.

A scale knows its values, which of them pass, how a judge is told about them and the schema of a reply. `read` takes
one value of a reply or of a judge function and either returns a value of the scale or raises `ReplyError`: letter case
and outer spaces of a label are forgiven, and how its accents are encoded; the texts "true" and "0.8" are read;
nothing is clamped, rescaled or guessed.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from jury.errors import ConfigError, ReplyError

Value = bool | str | float
INCONCLUSIVE = "inconclusive"
NA_TEXTS = ("na", "n/a", "not applicable", "not_applicable")  # how judges write that, where it may be said
_NAMED = 30  # labels in an error
LARGEST = 1e100  # of a score: squares of differences must stay numbers
TOLERANCE = 1e-9  # of a threshold: three equal scores of 0.7 have the float mean 0.6999999999999998, and pass at 0.7


def native(value: Any) -> Any:
    """numpy's scalars as Python's own; a judge function may return them."""
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "shape", None) == ():
        return item()
    return value


@dataclass(frozen=True, slots=True)
class Boolean:
    """True or false; true passes."""

    true_means: str = "the output meets the criteria"
    false_means: str = "it does not"

    @property
    def values(self) -> tuple[Value, ...]:
        return (True, False)

    na: None = field(default=None, init=False)

    def read(self, value: Any) -> bool:
        if isinstance(value, bool):
            return value
        value = native(value)
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.strip().casefold() in ("true", "false"):
            return value.strip().casefold() == "true"
        raise ReplyError("wrong_type", f"expected true or false, got {shown(value)}")

    def passes(self, value: Value) -> bool | None:
        return bool(value)

    def value_schema(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def describe(self) -> str:
        return f"true if {self.true_means}, false if {self.false_means}"


@dataclass(frozen=True, slots=True)
class Labels:
    """One label of a list.

    `passing`: the labels that pass; without any, `passed` stays None. `descriptions` say what a label means. `na`: the
    label that means "does not apply": it takes part in the vote, and where it wins the item is `not_applicable`.
    """

    labels: Sequence[str] | Mapping[str, str | None]
    passing: Sequence[str] = ()
    na: str | None = None
    descriptions: Mapping[str, str] = field(default_factory=dict[str, str])
    _folded: Mapping[str, str] = field(default_factory=dict[str, str], init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = self.labels
        if isinstance(given, str):
            raise ConfigError("labels must be a list of texts, not one text")
        if isinstance(given, Mapping):
            object.__setattr__(self, "descriptions", {k: v for k, v in given.items() if v})
            for name, meaning in given.items():
                if meaning is not None and not isinstance(cast("Any", meaning), str):
                    raise ConfigError(f"labels: what {name!r} means must be a text or None, got {meaning!r}")
        if not isinstance(cast("Any", given), Iterable):
            raise ConfigError(f"labels must be a list of texts, got {given!r}")
        names: list[Any] = sorted(given, key=str) if isinstance(given, set | frozenset) else list(given)
        for name in names:
            if not isinstance(name, str):
                raise ConfigError(f"labels must be texts, got {name!r}")
            if not name.strip():
                raise ConfigError("labels must not be blank")
            if name.strip().casefold() == INCONCLUSIVE:
                raise ConfigError(f"labels must not hold {name!r}: it is the word for the absence of a verdict")
        folded: dict[str, str] = {}
        for name in names:
            key = _fold(name)
            if key in folded:
                raise ConfigError(f"labels holds {name!r} twice (letter case and outer spaces do not count)")
            folded[key] = name
        if len(names) < 2:
            raise ConfigError(f"labels needs at least two labels, got {len(names)}")
        if isinstance(self.passing, str) or not isinstance(cast("Any", self.passing), Iterable):
            raise ConfigError(f"passing_labels must be a list of texts, got {self.passing!r}")
        object.__setattr__(self, "passing", tuple(self.passing))
        known = set(names)
        for name in cast("tuple[Any, ...]", self.passing):
            if not isinstance(name, str) or name not in known:
                raise ConfigError(f"passing_labels holds {name!r}, which is not among labels {_listed(names)}")
        if self.na is not None and self.na not in names:
            raise ConfigError(f"na={self.na!r} is not among labels {_listed(names)}")
        if self.na is not None and self.na in self.passing:
            raise ConfigError(
                f"na={self.na!r} cannot be one of passing_labels: not applicable is neither pass nor fail"
            )
        object.__setattr__(self, "labels", tuple(names))
        object.__setattr__(self, "_folded", folded)

    @property
    def values(self) -> tuple[Value, ...]:
        return tuple(self.labels)

    def read(self, value: Any) -> str:
        value = native(value)
        if not isinstance(value, str):
            raise ReplyError("wrong_type", f"expected one of {_listed(self.labels)}, got {shown(value)}")
        label = self._folded.get(_fold(value))
        if label is None:
            raise ReplyError("bad_verdict", f"{shown(value)} is not one of {_listed(self.labels)}")
        return label

    def passes(self, value: Value) -> bool | None:
        if value == self.na or not self.passing:
            return None
        return value in self.passing

    def value_schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.labels)}

    def describe(self) -> str:
        lines = [f'"{x}" ({self.descriptions[x]})' if x in self.descriptions else f'"{x}"' for x in self.labels]
        return "one of " + ", ".join(lines)


@dataclass(frozen=True, slots=True)
class Numeric:
    """A number from `low` to `high`, both included; at or above `threshold` it passes (None: `passed` stays None).

    `levels` (2-10 names) are the steps of the scale, evenly spaced from `low` to `high`; they are shown to the judge.
    """

    low: float = 0.0
    high: float = 1.0
    threshold: float | None = 0.5
    levels: Sequence[str] = ()
    na: None = field(default=None, init=False)

    def __post_init__(self) -> None:
        for bound in (self.low, self.high):
            if isinstance(bound, bool) or not isinstance(bound, int | float) or not abs(bound) <= LARGEST:
                limit = f"from {-LARGEST:g} to {LARGEST:g}"
                got = f"[{shown(self.low)}, {shown(self.high)}]"
                raise ConfigError(f"score_range needs two finite numbers {limit}, got {got}")
        if not self.low < self.high:
            raise ConfigError(f"score_range must rise: {shown(self.low)} is not below {shown(self.high)}")
        if self.threshold is not None:
            bad = isinstance(self.threshold, bool) or not isinstance(self.threshold, int | float)
            if bad or not self.low <= self.threshold <= self.high:
                raise ConfigError(
                    f"threshold {shown(self.threshold)} lies outside score_range [{self.low!r}, {self.high!r}]"
                )
        object.__setattr__(self, "levels", _levels(self.levels))

    @property
    def values(self) -> tuple[Value, ...]:
        return ()

    def read(self, value: Any) -> float:
        value = native(value)
        if isinstance(value, str):
            try:
                value = float(value) if value.strip().isascii() and "_" not in value else None
            except ValueError:
                value = None
            if value is None:
                raise ReplyError("wrong_type", "expected a number, got a text that is none")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ReplyError("wrong_type", f"expected a number, got {shown(value)}")
        try:
            value = float(value)
        except OverflowError:
            raise ReplyError("out_of_range", "the number is too large for any scale") from None
        if not math.isfinite(value):
            raise ReplyError("out_of_range", f"{value} is not a finite number")
        if not self.low <= value <= self.high:
            raise ReplyError(
                "out_of_range", f"{_number(value)} lies outside {_number(self.low)} to {_number(self.high)}"
            )
        return value + 0.0  # -0.0 is nought

    def passes(self, value: Value) -> bool | None:
        if self.threshold is None or isinstance(value, str):
            return None
        return value >= self.threshold - TOLERANCE * max(abs(self.threshold), min(1.0, self.high - self.low))

    def value_schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": self.low, "maximum": self.high}

    def describe(self) -> str:
        text = f"a number from {_number(self.low)} to {_number(self.high)}"
        if self.levels:
            step = (self.high - self.low) / (len(self.levels) - 1)
            text += ": " + ", ".join(f"{self.low + i * step:g} = {name}" for i, name in enumerate(self.levels))
        return text


Scale = Boolean | Labels | Numeric


def _number(value: float) -> str:
    """As short as it can be told: 1 for 1.0, but 1.0000000001 in full."""
    return text if float(text := f"{value:g}") == value else repr(value)


def _levels(given: Any) -> tuple[str, ...]:
    listed = isinstance(given, Iterable) and not isinstance(given, str)
    names = list(cast("Iterable[Any]", given)) if listed else []
    if not listed or not all(isinstance(n, str) and n.strip() for n in names):
        raise ConfigError(f"levels must be a list of texts that are not blank, got {given!r}")
    if len({_fold(n) for n in names}) < len(names):
        raise ConfigError(f"levels must differ, got {names}")
    if names and not 2 <= len(names) <= 10:
        raise ConfigError(f"levels needs 2 to 10 names, got {len(names)}")
    return tuple(names)


def _fold(label: str) -> str:
    """To compare by: letter case, outer spaces, and whether an accent is a character of its own do not count."""
    text = label.strip()
    if text.isascii():
        return text.casefold()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def _listed(names: Iterable[str]) -> str:
    """Labels in an error, which a judge may be shown: all of a usual scale, the first of a long one."""
    given = list(names)
    told = [shown(name) for name in given[:_NAMED]]
    return f"[{', '.join(told)}{f' and {len(given) - _NAMED} more' if len(given) > _NAMED else ''}]"


def shown(value: Any) -> str:
    """A value as an error names it, in at most 80 characters."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a number of more digits than Python writes, or whatever an own repr raises
        text = f"a {type(value).__name__} that cannot be written out"
    return text if len(text) <= 80 else text[:77] + "..."


def reply_schema(scale: Scale, *, abstain: bool = True) -> dict[str, Any]:
    """The JSON schema of one reply: explanation first, value last: reasons are written before the verdict.

    With `abstain`, the judge may set `abstain` to true and leave `value` null.
    """
    value = scale.value_schema()
    properties: dict[str, Any] = {"explanation": {"type": "string"}}
    if abstain:
        properties["abstain"] = {"type": "boolean"}
        value = {"anyOf": [value, {"type": "null"}]}
    properties["value"] = value
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
