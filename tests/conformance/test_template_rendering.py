"""template_rendering.json: a template, the namespace built from a case, and the exact text that must come out."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from jury import DataPoint, namespace
from jury.data import ResponsePair
from jury.messages import to_output
from jury.templates import Template, check
from tests.conformance.cases import load, params
from tests.conformance.seats import output


def values(case: dict[str, Any], wanted: frozenset[str] | None) -> dict[str, Any]:
    given = case["given"]
    if case["kind"] == "pairwise":
        sides = (to_output(output(given[side])) for side in ("response_a", "response_b"))
        return namespace.pairwise(ResponsePair(given["question"], *sides), criteria=given["criteria"], wanted=wanted)
    point = DataPoint(
        input={"messages": given["messages"]} if "messages" in given else given.get("inputs"),
        expected_output=given.get("expected_output"),
        system_instructions=given.get("system_instructions", ""),
    )
    made = to_output(output(given["output"]))
    return namespace.pointwise(point, made, criteria=given["criteria"], wanted=wanted)


@pytest.mark.parametrize("case", params(load("template_rendering.json")))
def test_template_rendering(
    case: dict[str, Any], caplog: pytest.LogCaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in case.get("files", {}).items():
        (tmp_path / name).write_text(content, "utf-8")
    caplog.set_level(logging.WARNING, "jury.templates")
    try:
        template = Template(case["template"])
    except ValueError:
        assert case.get("or_value_error")
        return
    check(template, namespace.known(case["kind"]))
    text = template.render(values(case, frozenset(template.names)))
    assert text == template.render(values(case, None))  # leaving out what is not wanted changes nothing

    expected = case.get("expect_rendered")
    if isinstance(expected, dict):
        expected = expected["before"] + expected["repeat"] * expected["times"] + expected["after"]
    assert expected is None or text == expected
    assert all(part in text for part in case.get("expect_contains", ()))
    assert not any(part in text for part in case.get("expect_not_contains", ()))
    warned = any(record.name == "jury.templates" for record in caplog.records)
    assert case["expect_warning"] in (None, warned)
