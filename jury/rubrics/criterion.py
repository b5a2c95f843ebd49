"""One criterion of a rubric: `Criterion`. Its scale, how a judge is told about it, how its score is read.

A score is what `scales.py` reads, with one addition: a 0/1 criterion is asked for as the number 0 or 1 and kept as
false or true. Knows no pass rule beyond its own gate, no other criterion, no judge.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from jury.errors import ConfigError, ReplyError
from jury.rubrics.rule_parser import COMPARISONS, KEY, WORDS
from jury.scales import NA_TEXTS, Boolean, Labels, Numeric, Scale, Value

ZERO_ONE = "0/1"
_YES_NO = ("boolean", "bool", "true/false", "yes/no")
_BETWEEN = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:-|to|\.\.)\s*(-?\d+(?:\.\d+)?)\s*\Z")
RESERVED = ("pass", "passed", "summary", "evaluation_report", "metrics", "criteria", "abstain", "explanation")


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion.

    `key`: a name of letters, digits, `_` and `-`. `question`: what the judge answers. `scale`: a scale, or as text or
    data `"1-5"`, `"0/1"`, `"boolean"`, `[1, 5]`, a list of labels, or a mapping with `labels`, or with `low`, `high`.
    `anchors`: what single scores mean. `weight` counts in weighted means. `gate`: what this score must be for the item
    to pass (`4` means at least 4; also `"== 1"`, `true`, a label, labels). `na`: may be called not applicable.
    """

    key: str
    question: str = ""
    scale: Scale | str | Sequence[Any] | Mapping[str, Any] = "1-5"
    anchors: Mapping[Any, str] = field(default_factory=dict[Any, str])
    weight: float = 1.0
    gate: Any = None
    na: bool = False
    zero_one: bool = field(default=False)

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or not KEY.fullmatch(self.key):
            raise ConfigError(f"a criterion's key needs letters, digits, _ and - alone, got {self.key!r}")
        if self.key in WORDS or self.key in RESERVED:
            raise ConfigError(f"a criterion cannot be called {self.key!r}: the word has another meaning")
        if isinstance(self.weight, bool) or not isinstance(self.weight, int | float) or not self.weight >= 0:
            raise ConfigError(f"{self.key}: weight must be a number of at least 0, got {self.weight!r}")
        if isinstance(self.scale, str) and self.scale.strip() == ZERO_ONE:
            object.__setattr__(self, "zero_one", True)
        object.__setattr__(self, "scale", read_scale(self.scale, self.key))
        object.__setattr__(self, "anchors", {self._anchor(k): str(v) for k, v in self.anchors.items()})

    @property
    def measure(self) -> Scale:
        """The scale with its declared type (a text or data was read when the criterion was made)."""
        return cast("Scale", self.scale)

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The labels, or None for a criterion with a number."""
        return tuple(self.measure.labels) if isinstance(self.measure, Labels) else None

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest number; 0 and 1 for a 0/1 or true/false criterion."""
        return (self.measure.low, self.measure.high) if isinstance(self.measure, Numeric) else (0.0, 1.0)

    @property
    def gate_text(self) -> str | None:
        """The gate as a pass rule, or None."""
        gate = self.gate
        if gate is None:
            return None
        if isinstance(gate, bool):
            return f"{self.key} == {str(gate).lower()}"
        if isinstance(gate, int | float):
            return f"{self.key} {'==' if isinstance(self.measure, Boolean) else '>='} {gate:g}"
        if isinstance(gate, str):
            bare = gate.strip()
            is_rule = bare.startswith((*COMPARISONS, "=", "in ", "in(", "not in"))
            return f"{self.key} {bare}" if is_rule else f"{self.key} == {quoted(bare)}"
        if isinstance(gate, Sequence):
            return f"{self.key} in ({', '.join(quoted(str(g)) for g in cast('Sequence[Any]', gate))})"
        raise ConfigError(f"{self.key}: a gate is a number, true, a label, labels or a comparison, got {gate!r}")

    @property
    def default_text(self) -> str | None:
        """What the scale alone calls a pass, as a pass rule; None where it says nothing."""
        scale = self.measure
        if isinstance(scale, Numeric):
            return None if scale.threshold is None else f"{self.key} >= {scale.threshold:g}"
        if isinstance(scale, Boolean):
            return f"{self.key} == 1"
        return f"{self.key} in ({', '.join(map(quoted, scale.passing))})" if scale.passing else None

    def to_dict(self) -> dict[str, Any]:
        """As data that `Rubric.from_dict` reads; what is empty is left out."""
        made = {
            "key": self.key,
            "question": self.question,
            "scale": ZERO_ONE if self.zero_one else scale_data(self.measure),
            "anchors": dict(self.anchors),
            "weight": None if self.weight == 1.0 else self.weight,
            "gate": self.gate,
            "na": self.na or None,
        }
        return {name: value for name, value in made.items() if value not in (None, "", {})}

    def read(self, value: Any) -> Value | None:
        """A score of the scale; None for not applicable. Raises `ReplyError` that names the criterion."""
        is_na = value is None or (isinstance(value, str) and value.strip().casefold() in NA_TEXTS)
        if self.na and is_na:
            return None
        try:
            score = self._zero_one(value) if self.zero_one else self.measure.read(value)
        except ReplyError as error:
            raise ReplyError(error.kind, f"{self.key}: {error.detail}") from None
        return None if score == self.measure.na else score

    def _zero_one(self, value: Any) -> bool:
        return bool(Numeric(0, 1, None).read(value)) if value in (0, 1, 0.0, 1.0, "0", "1") else self._refuse(value)

    def _refuse(self, value: Any) -> bool:
        Numeric(0, 1, None).read(value)  # says what is wrong with what is no number, or lies outside
        raise ReplyError("out_of_range", f"expected 0 or 1, got {value!r:.40}")

    def score_schema(self, labels: Sequence[str] | None = None) -> dict[str, Any]:
        """The JSON schema of the score; with `na`, null stands for not applicable. `labels`: in another order."""
        if self.zero_one:
            schema: dict[str, Any] = {"type": "integer", "enum": [0, 1]}
        else:
            schema = dict(self.measure.value_schema())
            if labels is not None and "enum" in schema:
                schema["enum"] = list(labels)
        return {"anyOf": [schema, {"type": "null"}]} if self.na else schema

    def describe(self, labels: Sequence[str] | None = None) -> str:
        """The lines a judge reads: key, range, question, anchors. `labels`: the options in another order."""
        if self.zero_one:
            what = "0 or 1"
        elif isinstance(self.measure, Boolean):
            what = "true or false"
        elif isinstance(self.measure, Numeric):
            what = f"{self.measure.low:g} to {self.measure.high:g}"
        else:
            what = "one of " + ", ".join(labels or self.measure.labels)
        na = "; null where it does not apply" if self.na else ""
        lines = [f"{self.key} ({what}{na})" + (f": {self.question}" if self.question else "")]
        order = list(labels) if labels else [k for k, _ in sorted(self._meanings().items(), key=_high_first)]
        lines += [f"  {_shown(k)} = {self._meanings()[k]}" for k in order if k in self._meanings()]
        return "\n".join(lines)

    def _meanings(self) -> dict[Any, str]:
        if isinstance(self.measure, Labels):
            return {**self.measure.descriptions, **self.anchors}
        if isinstance(self.measure, Boolean) and not self.zero_one:
            return {"true" if key else "false": text for key, text in self.anchors.items()}
        return dict(self.anchors)

    def _anchor(self, key: Any) -> Any:
        """An anchor's score, as the scale has it. Raises `ConfigError` for one that is no score of the scale."""
        try:
            if isinstance(self.measure, Boolean):
                return int(self.measure.read(key)) if isinstance(key, bool) else int(self._zero_one(key))
            value = self.measure.read(key)
        except ReplyError as error:
            raise ConfigError(f"{self.key}: the anchor {key!r} is no score of the scale: {error.detail}") from None
        return value


def _high_first(item: tuple[Any, str]) -> tuple[bool, float]:
    return isinstance(item[0], str), 0.0 if isinstance(item[0], str) else -float(item[0])


def _shown(key: Any) -> str:
    return f"{key:g}" if isinstance(key, float) else str(key)


def quoted(label: str) -> str:
    """A label as a text of the rule language."""
    mark = '"' if "'" in label else "'"
    return f"{mark}{label}{mark}"


def scale_data(scale: Scale) -> Any:
    """A scale as `read_scale` reads it."""
    if isinstance(scale, Boolean):
        return "boolean"
    made: dict[str, Any]
    if isinstance(scale, Labels):
        made = {"labels": list(scale.labels), "passing": list(scale.passing), "na": scale.na}
        made["descriptions"] = dict(scale.descriptions)
    else:
        made = {"low": scale.low, "high": scale.high, "threshold": scale.threshold, "levels": list(scale.levels)}
    return {k: v for k, v in made.items() if v not in (None, [], {})}


def read_scale(given: Any, key: str) -> Scale:
    """A scale from what rubrics say. Raises `ConfigError` naming the criterion."""
    if isinstance(given, Boolean | Labels | Numeric):
        return given
    try:
        if isinstance(given, str):
            return _scale_text(given)
        if isinstance(given, Mapping):
            return _scale_mapping(cast("Mapping[str, Any]", given))
        if isinstance(given, Sequence):
            items = list(cast("Sequence[Any]", given))
            if len(items) == 2 and all(isinstance(v, int | float) and not isinstance(v, bool) for v in items):
                return Numeric(items[0], items[1], None)
            return Labels(items)
    except ConfigError as error:
        raise ConfigError(f"{key}: {error}") from None
    raise ConfigError(f"{key}: a scale is a text such as 1-5, two numbers, labels or a mapping, got {given!r}")


def _scale_text(text: str) -> Scale:
    if text.strip().casefold() in (*_YES_NO, ZERO_ONE):
        return Boolean()
    match = _BETWEEN.match(text)
    if match is None:
        raise ConfigError(f"unknown scale {text!r}; write 1-5, 0/1, boolean or a list of labels")
    return Numeric(float(match[1]), float(match[2]), None)


def _scale_mapping(given: Mapping[str, Any]) -> Scale:
    known = {"labels": ("labels", "passing", "na", "descriptions"), "low": ("low", "high", "threshold", "levels")}
    kind = "labels" if "labels" in given else "low"
    extra = [k for k in given if k not in known[kind]]
    if extra or kind not in given:
        raise ConfigError(
            f"a scale has {', '.join(known['labels'])} or {', '.join(known['low'])}; got {', '.join(given)}"
        )
    if kind == "labels":
        return Labels(**{str(k): v for k, v in given.items()})
    return Numeric(given["low"], given.get("high", 1.0), given.get("threshold"), given.get("levels", ()))
