"""JSON values taken by their shape: object, list, text. Everything else counts as not there. Knows no format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

Object = Mapping[str, Any]
EMPTY: Object = {}


def as_object(value: Any) -> Object | None:
    return cast("Object", value) if isinstance(value, Mapping) else None


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def objects(value: Any) -> list[Object]:
    """The objects among the entries of a list."""
    return [cast("Object", item) for item in as_list(value) if isinstance(item, Mapping)]


def words(value: Any) -> str | None:
    """A text that is not empty."""
    return value if isinstance(value, str) and value else None


def first(body: Object, *keys: str) -> Any:
    """The value of the first of some keys that is there and not null."""
    return next((body[key] for key in keys if body.get(key) is not None), None)
