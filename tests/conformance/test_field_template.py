"""field.json, area `template`: whole namespaces as they are given, and which placeholders are named in warnings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from jury.data import Output, ResponsePair
from jury.errors import TemplateError
from jury.names import Known
from jury.namespace import known, pairwise
from jury.templates import Template, check
from tests.conformance.cases import load, params
from tests.conformance.comparing import Failed, fits


def render(given: Mapping[str, Any]) -> str:
    template = Template(given["template"])
    check(template, Known.of(given["context"]), strict=given.get("strict", False))
    return template.render(given["context"])


def render_pairwise(given: Mapping[str, Any]) -> str:
    template = Template(given["template"])
    check(template, known("pairwise"))
    pair = ResponsePair(given["question"], Output(given["a"]), Output(given["b"]))
    return template.render(pairwise(pair, criteria="", wanted=frozenset(template.names)))


OPERATIONS: dict[str, Callable[[Mapping[str, Any]], str]] = {"render": render, "render_pairwise": render_pairwise}


def not_offered(case: Mapping[str, Any]) -> str | None:
    return None if case["op"] in OPERATIONS else f"not offered yet: {case['op']}"


ELSEWHERE = ("render_format",)  # test_field_sessions.py
FILE = load("field.json")["cases"]
CASES = [c for c in FILE if (c["area"] == "template" or c["op"] in OPERATIONS) and c["op"] not in ELSEWHERE]


@pytest.mark.parametrize("case", params(CASES, not_offered))
def test_field(case: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "jury.templates")
    try:
        found: Any = OPERATIONS[case["op"]](case["input"])
    except TemplateError as error:
        found = Failed(error.kind, str(error))
    warned = {name for record in caplog.records for name in getattr(record, "placeholders", ())}
    expect = case["expect"]
    forms = [{**expect, **form} for form in expect.get("any_of", [{}])]
    assert any(right(found, warned, form) for form in forms), (found, warned)


def right(found: Any, warned: set[str], expect: dict[str, Any]) -> bool:
    form = {k: v for k, v in expect.items() if k != "any_of"}
    return fits(found, form) and ("warns" not in form or set(form["warns"]) == warned)
