"""When a result is what a case expects: the rules of the cases' README and FIELD.md, in one place."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TOLERANCE = 1e-9
# What the cases call by one of their own names and `jury` tells apart.
FINER = {"not_found": "bad_request", "schema_refused": "bad_request", "server_error": "overloaded"}


@dataclass(frozen=True)
class Failed:
    """An operation ended in a clear error of this kind. `retry`: may the same request be sent again."""

    kind: str
    message: str
    retry: bool = False


def same(found: Any, wanted: Any, tolerance: float = TOLERANCE) -> bool:
    """Equal: numbers within the tolerance, no boolean is a number, lists and objects element by element."""
    if isinstance(wanted, bool) or isinstance(found, bool) or wanted is None or found is None:
        return found is wanted
    if isinstance(wanted, int | float):
        number = isinstance(found, int | float)
        return number and (found == wanted or math.isclose(found, wanted, rel_tol=0.0, abs_tol=tolerance))
    if isinstance(wanted, list):
        listed = isinstance(found, list | tuple) and len(found) == len(wanted)
        return listed and all(same(f, w, tolerance) for f, w in zip(found, wanted, strict=True))
    if isinstance(wanted, Mapping):
        keyed = isinstance(found, Mapping) and found.keys() == wanted.keys()
        return keyed and all(same(found[k], w, tolerance) for k, w in wanted.items())
    return type(found) is type(wanted) and found == wanted


def fits(found: Any, expect: Mapping[str, Any]) -> bool:
    """Whether a result (or `Failed`) is right by a field case's `expect`."""
    if "any_of" in expect:
        shared = {k: v for k, v in expect.items() if k != "any_of"}
        return any(fits(found, {**shared, **one}) for one in expect["any_of"])
    if "error" in expect:
        return _is_error(found, expect)
    if isinstance(found, Failed):
        return False
    tolerance = expect.get("tol", TOLERANCE)
    if "ok_schema" in expect:
        return _bare(found) == _bare(expect["ok_schema"])
    if "ok_json" in expect and not same(json.loads(found), expect["ok_json"], tolerance):
        return False
    if "ok" in expect and not _ok(found, expect["ok"], tolerance):
        return False
    return not any(text in found for text in expect.get("not_contains", ()))


def says(message: str, text: str) -> bool:
    """Whether a message holds a text, case ignored; `a|b` means one of them."""
    return any(part.lower() in message.lower() for part in text.split("|"))


def _is_error(found: Any, expect: Mapping[str, Any]) -> bool:
    if not isinstance(found, Failed):
        return False
    wanted = expect["error"]
    if "retry" in expect and found.retry is not expect["retry"]:
        return False
    return wanted["kind"] in (found.kind, FINER.get(found.kind)) and all(
        says(found.message, text) for text in wanted.get("says", ())
    )


def _ok(found: Any, wanted: Any, tolerance: float) -> bool:
    """Every key of a wanted object must be there and equal, other keys may be there; lists element by element."""
    if isinstance(wanted, list):
        listed = isinstance(found, list | tuple) and len(found) == len(wanted)
        return listed and all(_ok(f, w, tolerance) for f, w in zip(found, wanted, strict=True))
    if not isinstance(wanted, Mapping):
        return same(found, wanted, tolerance)
    return isinstance(found, Mapping) and all(_key(found, key, value, tolerance) for key, value in wanted.items())


def _key(found: Mapping[str, Any], key: str, wanted: Any, tolerance: float) -> bool:
    if key == "wait_s_between":
        return wanted[0] <= found["wait_s"] <= wanted[1]
    if key == "kind" and wanted in FINER.values():
        return wanted in (found.get("kind"), FINER.get(found.get("kind", "")))
    name = key.removesuffix("_any_of")
    if name not in found:
        return False
    if name != key:
        return any(same(found[name], one, tolerance) for one in wanted)
    if key == "request":  # it is sent as it is: nothing may be left in it
        return same(found[name], wanted, tolerance)
    return _ok(found[name], wanted, tolerance)


def _bare(schema: Any) -> Any:
    """A schema without its descriptions."""
    if isinstance(schema, Mapping):
        return {k: _bare(v) for k, v in schema.items() if not (k == "description" and isinstance(v, str))}
    return [_bare(v) for v in schema] if isinstance(schema, list) else schema
