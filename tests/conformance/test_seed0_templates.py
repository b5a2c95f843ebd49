"""seed0_templates.json: the seven session prompts have the structure of the templates that they stand for."""

from __future__ import annotations

from typing import Any

import pytest

from jury.prompts import PromptSpec, load, names
from jury.sessions.legacy import LegacyTemplate
from jury.sessions.reply import ReplySpec
from jury.templates import Template
from tests.conformance.cases import load as load_cases
from tests.conformance.cases import params

TEMPLATES = load_cases("seed0_templates.json")["templates"]
SHOWN = {"string": "string", "boolean": "boolean", "array": "list"}


def prompt(key: str) -> PromptSpec:
    return next(spec for name in names() if (spec := load(name)).meta.get("key") == key)


def form(schema: dict[str, Any]) -> str:
    if schema["type"] != "array":
        return SHOWN[schema["type"]]
    return "list of objects" if schema["items"]["type"] == "object" else f"list of {schema['items']['type']}s"


@pytest.mark.parametrize("case", params([{**t, "id": t["key"]} for t in TEMPLATES]))
def test_structure(case: dict[str, Any]) -> None:
    spec = prompt(case["key"])
    reply = ReplySpec.from_meta(spec.meta, spec.name)
    properties = reply.schema()["properties"]
    used = Template(spec.user).names

    assert list(reply.verdicts) == case["verdicts"]
    assert {name: form(schema) for name, schema in properties.items()} == case["reply_fields"]
    assert next(iter(properties)) == "evidence"
    assert list(properties)[-1] == "verdict"
    for name, keys in case["object_fields"].items():
        assert sorted(properties[name]["items"]["properties"]) == sorted(keys)
    assert spec.meta["needs_context"] is case["needs_context"] is ("context" in used)
    assert "session.transcript" in used
    assert ("fence" in used) is case["untrusted_data_line"]


@pytest.mark.parametrize("case", params([{**t, "id": t["key"]} for t in TEMPLATES]))
def test_a_template_in_the_old_style_runs_as_it_is(case: dict[str, Any]) -> None:
    example = case["json_example_unescaped"]
    source = "\n".join(
        [*(f"{{{name}}}" for name in case["placeholders"]), example.replace("{", "{{").replace("}", "}}")]
    )
    template = LegacyTemplate(source)

    assert list(template.names) == case["placeholders"]
    rendered = template.render({"transcript": "a {b} {context}", "context": "rules"})
    assert rendered.endswith(example)
    assert "a {b} {context}" in rendered
