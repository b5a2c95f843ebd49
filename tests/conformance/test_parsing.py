"""parsing.json: a complete reply, read for a scale."""

from __future__ import annotations

from typing import Any

import pytest

from jury import Boolean, Labels, Numeric
from jury.parsing import read_reply
from jury.scales import Scale
from tests.conformance.cases import load, params
from tests.conformance.comparing import same


def scale_of(case: dict[str, Any]) -> Scale:
    if case["kind"] == "labels":
        return Labels(case["labels"])
    return Numeric(*case["score_range"], threshold=None) if case["kind"] == "numeric" else Boolean()


@pytest.mark.parametrize("case", params(load("parsing.json")))
def test_parsing(case: dict[str, Any]) -> None:
    verdict = read_reply(case["reply"], scale_of(case))

    found: dict[str, Any] = {"outcome": {"scored": "value", "abstained": "abstain", "error": "error"}[verdict.status]}
    if found["outcome"] == "value":
        found |= {"value": verdict.value, "explanation": verdict.explanation}
    right = [case["expect"], *case.get("also_ok", ())]
    assert any(all(same(found.get(key), value) for key, value in one.items()) for one in right), (verdict, right)
