"""A full reply schema -> what each API takes of it, the words that put it into a prompt, and a check of a reply. Pure.

`for_openai` and `for_anthropic` close every object and require every key, at every depth, and leave out what the API
refuses; a bound that left the schema is told to the model as a description, and the scales check it when the verdict is
read. `check` holds any reply against a full schema; no jury needs it, whose replies the scales and rubrics read.
`prepared` does each schema once, not once per call.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

TOOL = "verdict"  # the name of the schema and of the forced tool
TOOL_DESCRIPTION = "Give the verdict."

_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"})
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems")
_TOLD = (*_BOUNDS, "minLength", "maxLength", "pattern", "format", "uniqueItems")
_PLAIN = ("description", "title", "enum", "const", "$ref")
_ANYTHING = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"}]


def for_openai(schema: Mapping[str, Any], *, bounds: bool = True) -> dict[str, Any]:
    """The schema for OpenAI's strict mode. Without `bounds` (fine-tuned models, other vendors) no number is limited."""
    return _Target(frozenset((*_BOUNDS, "pattern", "format") if bounds else ())).node(schema)


def for_anthropic(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema for Anthropic's structured outputs, which know no bounds but `minItems` 0 and 1."""
    return _Target(frozenset({"format"}), few_items=True, type_lists=False).node(schema)


_prepared: dict[tuple[int, str], tuple[Mapping[str, Any], Any]] = {}
_MOST = 256


def prepared(schema: Mapping[str, Any], use: str, make: Callable[[Mapping[str, Any]], Any]) -> Any:
    """`make(schema)`, made once per schema object and use. The schema must not change afterwards."""
    key = (id(schema), use)
    held = _prepared.get(key)
    if held is None or held[0] is not schema:  # the entry holds the schema, so its id is not given to another
        if len(_prepared) >= _MOST:
            _prepared.clear()
        held = _prepared[key] = (schema, make(schema))
    return held[1]


def schema_text(schema: Mapping[str, Any]) -> str:
    """The wording that asks for a reply of this schema, for the rungs where no API enforces it."""
    shown = json.dumps(schema, ensure_ascii=False, indent=1)
    return (
        "Reply with one JSON object and nothing else: no text before or after it, no code fence. It has the keys of "
        f"this JSON schema, in this order, and keeps to its types and limits:\n{shown}"
    )


class _Target:
    """One API's dialect. `kept`: keywords it takes beyond the plain ones."""

    def __init__(self, kept: frozenset[str], *, few_items: bool = False, type_lists: bool = True) -> None:
        self._kept = kept
        self._few_items = few_items
        self._type_lists = type_lists

    def node(self, given: Any) -> dict[str, Any]:
        if not isinstance(given, Mapping) or not given:  # `true`, `{}`: anything goes, which strict modes cannot say
            return {"anyOf": [dict(x) for x in _ANYTHING]}
        schema = _merged(cast("Mapping[str, Any]", given))
        made: dict[str, Any] = {}
        for name in ("$defs", "definitions"):
            if isinstance(schema.get(name), Mapping):
                made[name] = {k: self.node(v) for k, v in cast("Mapping[str, Any]", schema[name]).items()}
        if "$ref" in schema:  # beside a reference nothing else may stand
            return {**made, "$ref": schema["$ref"]}
        kinds = _types(schema)
        if not self._type_lists and len(kinds) > 1 and "enum" not in schema:
            return {**made, "anyOf": [self.node({**schema, "type": kind}) for kind in kinds]}
        if kinds and "const" not in schema:
            made["type"] = schema.get("type", kinds[0])
        self._fill(schema, kinds, made)
        return made

    def _fill(self, schema: Mapping[str, Any], kinds: list[str], made: dict[str, Any]) -> None:
        made.update({name: schema[name] for name in _PLAIN if name in schema})
        if "const" in schema and "type" in schema:
            made["type"] = schema["type"]
        options: Any = schema.get("anyOf") or schema.get("oneOf")
        if isinstance(options, list):
            made["anyOf"] = [self.node(option) for option in cast("list[Any]", options)]
        if "object" in kinds:
            properties = cast("Mapping[str, Any]", schema.get("properties") or {})
            made["properties"] = {name: self.node(value) for name, value in properties.items()}
            made["required"] = list(properties)
            made["additionalProperties"] = False
        if "array" in kinds:
            made["items"] = self._items(schema)
        if not {"type", "anyOf", "enum", "const"} & set(made):
            made["anyOf"] = [dict(x) for x in _ANYTHING]
        left = [name for name in _TOLD if name in schema and not self._keep(name, schema[name], made)]
        if left:
            limits = ", ".join(f"{name} {json.dumps(schema[name], ensure_ascii=False)}" for name in left)
            made["description"] = " ".join((str(made.get("description", "")), f"({limits})")).strip()

    def _items(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        places: Any = schema.get("prefixItems") or schema.get("items")
        if not isinstance(places, list):
            return self.node(places) if isinstance(places, Mapping) and places else {"type": "string"}
        options = [self.node(place) for place in cast("list[Any]", places)]
        return options[0] if len(options) == 1 else {"anyOf": options}

    def _keep(self, name: str, value: Any, made: dict[str, Any]) -> bool:
        few = self._few_items and name == "minItems" and value in (0, 1)
        if few or (name in self._kept and (name != "format" or value in _FORMATS)):
            made[name] = value
            return True
        return False


def _merged(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """`allOf` folded into the schema around it: its properties together, of other keywords the last."""
    parts: Any = schema.get("allOf")
    if not isinstance(parts, list):
        return schema
    whole: dict[str, Any] = {}
    for part in (*cast("list[Any]", parts), {k: v for k, v in schema.items() if k != "allOf"}):
        if isinstance(part, Mapping):
            given = _merged(cast("Mapping[str, Any]", part))
            properties: dict[str, Any] = {**(whole.get("properties") or {}), **(given.get("properties") or {})}
            whole = {**whole, **given}
            if properties:
                whole["properties"] = properties
    return whole


def _types(schema: Mapping[str, Any]) -> list[str]:
    kind: Any = schema.get("type")
    if isinstance(kind, list):
        return [str(k) for k in cast("list[Any]", kind)]
    if isinstance(kind, str):
        return [kind]
    if "properties" in schema:
        return ["object"]
    return ["array"] if "items" in schema or "prefixItems" in schema else []


def check(reply: Any, schema: Mapping[str, Any]) -> str | None:
    """The kind of `ReplyError` that a parsed reply earns against the full schema; None where it satisfies it.

    `missing_field`, `wrong_type` (an unexpected key too), `bad_verdict` (not a listed value, not of the pattern) or
    `out_of_range` (any bound: of a number, of a length, of a number of items). References are followed.
    """
    return _check(reply, schema, schema)


def _check(value: Any, given: Any, root: Mapping[str, Any]) -> str | None:
    if not isinstance(given, Mapping):
        return "wrong_type" if given is False else None
    schema = cast("Mapping[str, Any]", given)
    if isinstance(schema.get("$ref"), str):
        return _check(value, _resolve(schema["$ref"], root), root)
    if "type" in schema and not any(_is(value, kind) for kind in _types(schema)):
        return "wrong_type"
    if "enum" in schema and not any(_same(value, v) for v in schema["enum"]):
        return "bad_verdict"
    if "const" in schema and not _same(value, schema["const"]):
        return "bad_verdict"
    for part in schema.get("allOf") or ():
        if (found := _check(value, part, root)) is not None:
            return found
    options: Any = schema.get("anyOf") or schema.get("oneOf")
    if options:
        results = [_check(value, option, root) for option in options]
        if None not in results:  # the complaint of the branch that came closest: it got past the type
            return next((r for r in results if r != "wrong_type"), "wrong_type")
    if isinstance(value, dict):
        return _check_object(cast("dict[str, Any]", value), schema, root)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        found = _outside(len(items), schema, "minItems", "maxItems")
        if schema.get("uniqueItems") and any(_same(a, b) for i, a in enumerate(items) for b in items[:i]):
            found = "out_of_range"
        kinds = [_check(item, schema.get("items", True), root) for item in items]
        return found or next((k for k in kinds if k), None)
    if isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            return "bad_verdict"
        return _outside(len(value), schema, "minLength", "maxLength")
    return _check_number(value, schema) if _is(value, "number") else None


def _check_object(value: dict[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any]) -> str | None:
    if any(name not in value for name in schema.get("required") or ()):
        return "missing_field"
    properties: Any = schema.get("properties") or {}
    for name, item in value.items():
        rule: Any = properties[name] if name in properties else schema.get("additionalProperties", True)
        if (found := _check(item, rule, root)) is not None:
            return found
    return None


def _check_number(value: float, schema: Mapping[str, Any]) -> str | None:
    above = schema.get("exclusiveMinimum", -math.inf) < value < schema.get("exclusiveMaximum", math.inf)
    if not math.isfinite(value) or not above:
        return "out_of_range"
    step = schema.get("multipleOf")
    if step and abs(value / step - round(value / step)) > 1e-9:
        return "out_of_range"
    return _outside(value, schema, "minimum", "maximum")


def _outside(value: float, schema: Mapping[str, Any], low: str, high: str) -> str | None:
    return None if schema.get(low, -math.inf) <= value <= schema.get(high, math.inf) else "out_of_range"


def _is(value: Any, kind: str) -> bool:
    """Of a JSON type: `true` is no number, 4.0 is an integer."""
    if kind in ("number", "integer"):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and (kind == "number" or float(value).is_integer())
    types: dict[str, Any] = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}
    return isinstance(value, types.get(kind, ()))


def _same(a: Any, b: Any) -> bool:
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def _resolve(ref: str, root: Mapping[str, Any]) -> Any:
    found: Any = root
    for step in ref.removeprefix("#").strip("/").split("/"):
        if step:
            name = step.replace("~1", "/").replace("~0", "~")
            found = cast("Mapping[str, Any]", found).get(name, True) if isinstance(found, Mapping) else True
    return found
