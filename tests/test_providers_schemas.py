"""Schemas as each API takes them, the words for the rungs without one, and the local check against the full schema."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.providers import schemas
from jury.providers.schemas import check, for_anthropic, for_openai, prepared, schema_text
from jury.scales import Boolean, Labels, Numeric, reply_schema

TARGETS = [for_openai, lambda s: for_openai(s, bounds=False), for_anthropic]
SCALES = [Boolean(), Labels(["good", "bad", "NA"], passing=["good"], na="NA"), Numeric(1, 5, 3)]


def objects(schema: Any) -> list[dict[str, Any]]:
    """Every schema of an object, at every depth."""
    found: list[dict[str, Any]] = []
    if isinstance(schema, dict):
        if schema.get("type") == "object" or "properties" in schema:
            found.append(schema)
        for key, value in schema.items():
            inner = list(value.values()) if key in ("properties", "$defs", "definitions") else [value]
            found += [o for i in inner for o in objects(i)]
    if isinstance(schema, list):
        found += [o for item in schema for o in objects(item)]
    return found


def keywords(schema: Any) -> set[str]:
    """Every keyword used, at every depth; names of properties and definitions are none."""
    if isinstance(schema, list):
        return set().union(*map(keywords, schema)) if schema else set()
    if not isinstance(schema, dict):
        return set()
    used = set(schema)
    for key, value in schema.items():
        inner = list(value.values()) if key in ("properties", "$defs", "definitions") else [value]
        used |= set().union(*map(keywords, inner)) if inner and key not in ("enum", "const", "required") else set()
    return used


DEEP = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 80, "pattern": "^[A-Z]", "default": "X"},
        "items": {
            "type": "array",
            "uniqueItems": True,
            "maxItems": 3,
            "items": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "multipleOf": 2}}},
        },
        "either": {"oneOf": [{"$ref": "#/$defs/a"}, {"type": ["number", "null"], "maximum": 1}]},
        "both": {
            "allOf": [
                {"properties": {"x": {"type": "string", "format": "date"}}},
                {"properties": {"y": {"type": "string", "format": "secret"}}, "description": "Both."},
            ]
        },
        "any": {},
        "const": {"const": "yes"},
    },
    "$defs": {"a": {"type": "object", "properties": {"deep": {"type": "array"}}, "minProperties": 1}},
    "required": ["title"],
    "if": {"properties": {"title": {"const": "Z"}}},
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("schema", [DEEP, *(reply_schema(s) for s in SCALES)])
def test_every_object_is_closed_and_requires_every_key(target: Any, schema: Any) -> None:
    made = target(schema)
    assert objects(made)
    for part in objects(made):
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
    jsonschema.Draft202012Validator.check_schema(made)


@pytest.mark.parametrize("target", TARGETS)
def test_what_no_api_takes_leaves_the_schema(target: Any) -> None:
    gone = {"$schema", "default", "oneOf", "allOf", "if", "minLength", "maxLength", "uniqueItems", "minProperties"}
    assert not gone & keywords(target(DEEP))


def test_bounds_stay_for_openai_and_leave_for_the_others() -> None:
    bounds = {"minimum", "maximum", "multipleOf", "maxItems", "pattern"}
    assert bounds <= keywords(for_openai(DEEP))
    assert not bounds & keywords(for_openai(DEEP, bounds=False))
    assert not bounds & keywords(for_anthropic(DEEP))


def test_a_bound_that_left_is_told_to_the_model() -> None:
    made = for_anthropic({"type": "object", "properties": {"s": {"type": "number", "minimum": 0, "maximum": 1}}})
    assert made["properties"]["s"] == {"type": "number", "description": "(minimum 0, maximum 1)"}
    described = for_anthropic({"type": "string", "description": "A name.", "minLength": 2})
    assert described["description"] == "A name. (minLength 2)"


def test_the_order_of_the_keys_is_kept() -> None:
    for target in TARGETS:
        assert list(target(reply_schema(Boolean()))["properties"]) == ["explanation", "abstain", "value"]


def test_anthropic_gets_no_type_lists_and_only_the_small_minimum_of_items() -> None:
    made = for_anthropic({"type": ["object", "null"], "properties": {"a": {"type": "array", "minItems": 1}}})
    assert [o["type"] for o in made["anyOf"]] == ["object", "null"]
    assert made["anyOf"][0]["properties"]["a"] == {"type": "array", "items": {"type": "string"}, "minItems": 1}
    assert "minItems" not in for_anthropic({"type": "array", "items": {"type": "string"}, "minItems": 2})


def test_formats_that_are_not_known_leave() -> None:
    made = for_openai(DEEP)["properties"]["both"]["properties"]
    assert made["x"]["format"] == "date"
    assert "format" not in made["y"]


def test_nothing_stands_beside_a_reference() -> None:
    definitions = {"x": {"type": "string"}}
    field = {"$ref": "#/$defs/x", "description": "d"}
    made = for_openai({"type": "object", "properties": {"a": field}, "$defs": definitions})
    assert made["properties"]["a"] == {"$ref": "#/$defs/x"}
    assert made["$defs"] == definitions


def test_items_by_place_become_a_choice() -> None:
    made = for_openai({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]})
    assert made["items"] == {"anyOf": [{"type": "string"}, {"type": "integer"}]}


def test_the_schema_itself_is_not_changed() -> None:
    before = json.dumps(DEEP)
    for target in TARGETS:
        target(DEEP)
    assert json.dumps(DEEP) == before


def test_a_schema_is_prepared_once_per_object_and_use() -> None:
    made: list[Any] = []

    def make(schema: Any) -> Any:
        made.append(schema)
        return len(made)

    one, other = reply_schema(Boolean()), reply_schema(Boolean())
    assert [prepared(one, "a", make), prepared(one, "a", make), prepared(one, "b", make)] == [1, 1, 2]
    assert prepared(other, "a", make) == 3
    for _ in range(2 * schemas._MOST):  # many schemas made and dropped: an id that is used again is not mistaken
        fresh = reply_schema(Boolean())
        assert prepared(fresh, "a", lambda s: s) is fresh


def test_the_words_hold_the_whole_schema() -> None:
    schema = reply_schema(Numeric(1, 5, 3))
    text = schema_text(schema)
    assert "JSON" in text  # OpenAI's JSON mode asks for the word
    assert json.loads(text[text.index("{") :]) == schema


FULL = {
    "type": "object",
    "properties": {
        "score": {"type": "number", "minimum": 0, "exclusiveMaximum": 10, "multipleOf": 0.5},
        "label": {"type": "string", "enum": ["PASS", "FAIL"]},
        "kind": {"const": 1},
        "note": {"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^[a-z]*$"},
        "tags": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2, "uniqueItems": True},
        "maybe": {"anyOf": [{"type": "number", "maximum": 1}, {"type": "null"}]},
        "inner": {"$ref": "#/$defs/inner"},
        "all": {"allOf": [{"type": "integer"}, {"minimum": 3}]},
    },
    "required": ["score"],
    "additionalProperties": False,
    "$defs": {"inner": {"type": "object", "required": ["x"], "additionalProperties": {"type": "boolean"}}},
}


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ({"score": 1}, None),
        ({"score": 9.5, "label": "PASS", "kind": 1, "note": "ab", "tags": [1, 2.0], "maybe": None}, None),
        ({"score": 1, "inner": {"x": True}, "all": 3, "maybe": 1}, None),
        ({}, "missing_field"),
        ({"score": 1, "inner": {}}, "missing_field"),
        ({"score": "1"}, "wrong_type"),
        ({"score": True}, "wrong_type"),
        ({"score": None}, "wrong_type"),
        ({"score": 1, "more": 1}, "wrong_type"),
        ({"score": 1, "tags": [1.5]}, "wrong_type"),
        ({"score": 1, "maybe": "x"}, "wrong_type"),
        ({"score": 1, "inner": {"x": 1}}, "wrong_type"),
        ([], "wrong_type"),
        (None, "wrong_type"),
        ({"score": 1, "label": "pass"}, "bad_verdict"),
        ({"score": 1, "kind": True}, "bad_verdict"),
        ({"score": 1, "note": "A"}, "bad_verdict"),
        ({"score": -0.5}, "out_of_range"),
        ({"score": 10}, "out_of_range"),
        ({"score": 0.3}, "out_of_range"),
        ({"score": float("nan")}, "out_of_range"),
        ({"score": 1, "note": ""}, "out_of_range"),
        ({"score": 1, "note": "abcdef"}, "out_of_range"),
        ({"score": 1, "tags": []}, "out_of_range"),
        ({"score": 1, "tags": [1, 2, 3]}, "out_of_range"),
        ({"score": 1, "tags": [1, 1]}, "out_of_range"),
        ({"score": 1, "maybe": 1.5}, "out_of_range"),
        ({"score": 1, "all": 2}, "out_of_range"),
    ],
)
def test_a_reply_is_checked_against_the_full_schema(reply: Any, kind: str | None) -> None:
    assert check(reply, FULL) == kind


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 12) | st.sampled_from([0.3, 0.5, 9.5, "", "ab", "A", "PASS", "x" * 9]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*FULL["properties"], "x"]), inner),
    max_leaves=8,
)


@given(VALUES)
def test_the_check_agrees_with_a_full_validator(reply: Any) -> None:
    assert (check(reply, FULL) is None) == jsonschema.Draft202012Validator(FULL).is_valid(reply)


@given(st.sampled_from(SCALES), VALUES)
def test_what_the_narrower_schemas_accept_without_bounds_the_check_still_judges(scale: Any, value: Any) -> None:
    full = reply_schema(scale)
    reply = {"explanation": "", "abstain": False, "value": value}
    sent = jsonschema.Draft202012Validator(for_openai(full)).is_valid(reply)
    assert sent == (check(reply, full) is None)
    if sent:  # a target without bounds accepts no less
        assert jsonschema.Draft202012Validator(for_anthropic(full)).is_valid(reply)


def test_a_broken_reference_allows_anything_and_never_crashes() -> None:
    assert check(1, {"$ref": "#/$defs/gone"}) is None
