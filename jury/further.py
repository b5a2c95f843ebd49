"""Further fields of a reply, which the front matter of a prompt asks for beside the verdict: their schema and reading.

    fields:
      violations: [{rule: integer, event: string}]   # a list of objects
      tags: [string]                                 # a list of texts
      severe: boolean                                # or string, integer

The verdict decides. A field that is missing or of another form is noted, and the vote stands. Knows no verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from jury.errors import ConfigError

Object = Mapping[str, Any]
_TYPES = {"string": str, "boolean": bool, "integer": int}
_TAKEN = ("explanation", "abstain", "value", "evidence")  # what a reply about one answer or a pair holds by itself


def declared_fields(meta: Object, name: str) -> dict[str, Any]:
    """The fields that the front matter of a prompt about one answer or a pair asks for. Raises `ConfigError`."""
    found: Any = meta.get("fields") or {}
    if not isinstance(found, Mapping):
        raise ConfigError(f"{name}: fields are a mapping from names to forms, got {found!s:.80}")
    fields = {str(key): form for key, form in cast("Mapping[Any, Any]", found).items()}
    check_forms(name, fields)
    taken = [key for key in fields if key in _TAKEN]
    if taken:
        raise ConfigError(f"{name}: a field cannot be named {' or '.join(taken)}: a reply has that by itself")
    return fields


def check_forms(name: str, fields: Object) -> None:
    """Raises `ConfigError` for a form that there is not."""
    for key, form in fields.items():
        if not key.strip():
            raise ConfigError(f"{name}: a field without a name")
        if not _is_form(form):
            raise ConfigError(
                f"{name}: field {key}: a form is string, boolean, integer, a list of one of them, or [{{name: form}}], "
                f"got {form!r}"
            )


def _is_form(form: Any) -> bool:
    if not isinstance(form, list):
        return isinstance(form, str) and form in _TYPES
    items = cast("list[Any]", form)
    inner = items[0] if len(items) == 1 else None
    if isinstance(inner, Mapping):
        parts = list(cast("Object", inner).values())
        return bool(parts) and all(isinstance(v, str) and v in _TYPES for v in parts)
    return isinstance(inner, str) and inner in _TYPES


def form_schema(form: Any) -> dict[str, Any]:
    """The JSON schema of a field."""
    if not isinstance(form, list):
        return {"type": form}
    inner: Any = cast("list[Any]", form)[0]
    items: dict[str, Any] = {"type": inner}
    if isinstance(inner, Mapping):
        parts = {k: {"type": v} for k, v in cast("Object", inner).items()}
        items = {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}
    return {"type": "array", "items": items}


def formed(found: Object, forms: Object) -> tuple[dict[str, Any], list[str]]:
    """The fields of a reply in their forms, and notes on what is not there, was put right, or does not fit."""
    fields, notes = dict(found), list[str]()
    for name, form in forms.items():
        if fields.get(name) is None:
            notes.append(f"no field {name}")
            continue
        fields[name], problem = _formed(fields[name], form)
        if problem:
            notes.append(f"field {name}: {problem}")
    return fields, notes


def _formed(value: Any, form: Any) -> tuple[Any, str | None]:
    """A field's value in its form, and what was wrong with it. What cannot be taken without a guess stays as it is."""
    if not isinstance(form, list):
        right = isinstance(value, _TYPES[form]) and not (form == "integer" and isinstance(value, bool))
        return value, None if right else f"expected {form}, got {value!r:.60}"
    inner: Any = cast("list[Any]", form)[0]
    wanted = _TYPES[inner] if isinstance(inner, str) else Mapping
    problem = None
    if isinstance(value, wanted):
        problem = "given as a single one"
        items: list[Any] = [cast("Any", value)] if value else []
    elif isinstance(value, list):
        items = cast("list[Any]", value)
    else:
        return value, f"expected a list, got {value!r:.60}"
    if not all(isinstance(item, wanted) and not (wanted is int and isinstance(item, bool)) for item in items):
        return items, f"expected a list of {inner if isinstance(inner, str) else 'object'}s"
    if isinstance(inner, Mapping):
        problem = next((told for item in items if (told := _misfit(item, cast("Object", inner)))), problem)
    return items, problem


def _misfit(item: Object, parts: Object) -> str | None:
    """The first part of an object that is missing or of another form, in a word."""
    for name, form in parts.items():
        if name not in item:
            return f"an object without {name}"
        if _formed(item[name], form)[1]:
            return f"{name}: {_formed(item[name], form)[1]}"
    return None
