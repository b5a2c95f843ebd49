"""Results as plain JSON values, and back. pydantic is loaded only for the way back. Knows no result by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from jury.errors import DataError

if TYPE_CHECKING:
    from pydantic import ValidationError

Object = Mapping[str, Any]
# Left out of the dump where they say nothing: most juries never use them.
_SPARSE = frozenset(
    (
        "parts",
        "criterion",
        "prompt",
        "prompt_name",
        "prompt_version",
        "evidence_check",
        "criteria",
        "contested",
        "contradictions",
        "partial",
        "code",
        "confidence",
        "confidence_source",
        "tier",
        "for_people",
        "checked",
    )
)


_ATOMS = frozenset((type(None), str, int, float, bool))
_kind: Callable[[Any], Any] = type


@cache
def _fields(cls: type) -> tuple[Callable[[Any], tuple[Any, ...]], tuple[str, ...], tuple[str, ...]] | None:
    """Of a dataclass: what takes the fields of a value in one step, what they are called in the dump, which of them are
    left out where they say nothing."""
    if not is_dataclass(cls):
        return None
    front = ("item_id", "value", "winner", "passed", "status", "reason", "explanation", "votes")
    names = sorted((f.name for f in fields(cls)), key=lambda n: front.index(n) if n in front else len(front))

    def take_few(value: Any) -> tuple[Any, ...]:
        return tuple(getattr(value, n) for n in names)

    take = attrgetter(*names) if len(names) > 1 else take_few  # of one field it would be no tuple
    keys = tuple("pass" if n == "passed" else n for n in names)
    return take, keys, tuple(k for k in keys if k in _SPARSE)


def to_plain(value: Any) -> Any:
    """A value as JSON has it; `passed` is dumped as `pass`."""
    # A run dumps every result, so exact types are looked at before `isinstance`.
    kind = _kind(value)
    if kind in _ATOMS:
        return value
    if kind is tuple or kind is list:
        return [v if type(v) in _ATOMS else to_plain(v) for v in value] if value else []
    if (how := _fields(kind)) is not None:
        take, keys, sparse = how
        made = dict(zip(keys, take(value), strict=True))
        for key in sparse:
            if not made[key] and made[key] != "":
                del made[key]
        for key, item in made.items():
            if (its := _kind(item)) not in _ATOMS:
                made[key] = to_plain(item) if item or its is not tuple else []
        return made
    if kind is dict:
        return {str(k): to_plain(v) for k, v in value.items()} if value else {}
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(k): to_plain(v) for k, v in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, Sequence):
        return [to_plain(v) for v in cast("Sequence[Any]", value)]
    return str(value)


@cache
def _adapter(cls: type) -> Any:
    from pydantic import TypeAdapter  # at the edge only: `import jury` does without

    return TypeAdapter(cls)


@cache
def invalid() -> type[ValidationError]:
    """What pydantic raises for a value of another shape."""
    from pydantic import ValidationError

    return ValidationError


def load(cls: type, data: Mapping[str, Any]) -> Any:
    """The value of a dataclass that `to_plain` dumped, also out of a line of results.jsonl (under `result`).

    Raises `DataError` naming what is wrong.
    """
    if not isinstance(data, Mapping):
        raise DataError(f"not a stored {cls.__name__}: not a JSON object", "bad_json")
    kept: Any = data.get("result") if "status" not in data else None
    given = _renamed(cast("Object", kept) if isinstance(kept, Mapping) else data)
    if isinstance(given.get("criteria"), list):
        criteria = cast("list[Any]", given["criteria"])
        given["criteria"] = [_renamed(cast("Object", c)) if isinstance(c, Mapping) else c for c in criteria]
    try:
        return _adapter(cls).validate_python(given)
    except invalid() as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(p) for p in first["loc"])
        raise DataError(f"not a stored {cls.__name__}: {where}: {first['msg']}", "bad_json") from None


def _renamed(data: Object) -> dict[str, Any]:
    return {("passed" if k == "pass" else k): v for k, v in data.items()}
