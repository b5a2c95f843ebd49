"""errored_targets.json: which outputs are never judged, and what such a result says."""

from __future__ import annotations

from typing import Any

import pytest

from jury import DataPoint, JudgeSpec, llm_jury, llm_jury_pairwise
from tests.conformance.cases import load, params
from tests.conformance.seats import Script, keywords, output


@pytest.mark.parametrize("case", params(load("errored_targets.json")))
def test_errored_targets(case: dict[str, Any]) -> None:
    script = Script()
    value = 0.5 if case["jury"].get("verdict_kind") == "numeric" else case["jury"].get("labels", [True])[0]
    pointwise = case["kind"] == "pointwise"

    def seat(name: str) -> JudgeSpec:
        return script.judge(name, [value]) if pointwise else script.pair_judge(name, {"ab": ["A"], "ba": ["B"]})

    given = keywords(case["jury"], seat)
    result: Any
    if pointwise:
        point = DataPoint(input="A question?", number=case.get("row"))
        result = llm_jury(**given).judge_sync(point, output(case["output"]))
        found: dict[str, Any] = {"value": result.value, "passed": result.passed}
    else:
        sides = output(case["response_a"]), output(case["response_b"])
        result = llm_jury_pairwise(**given).compare_sync("A question?", *sides)
        found = {"winner": result.winner}
    expect = dict(case["expect"])
    calls = script.calls.total()
    found |= {"judged": calls > 0, "calls": calls, "votes": len(result.votes)}

    assert expect.pop("explanation_contains", "") in result.explanation
    assert {k: found[k] for k in expect} == expect
    assert (result.status == "not_judged") is not found["judged"]
