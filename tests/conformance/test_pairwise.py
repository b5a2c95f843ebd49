"""pairwise.json: a comparison of two different texts by scripted judges."""

from __future__ import annotations

from typing import Any

import pytest

from jury import Comparison, llm_jury_pairwise
from tests.conformance.cases import load, params
from tests.conformance.comparing import same
from tests.conformance.seats import Script, keywords


@pytest.mark.parametrize("case", params(load("pairwise.json")))
def test_pairwise(case: dict[str, Any]) -> None:
    script = Script(case.get("usage_per_call"))
    jury = llm_jury_pairwise(**keywords(case["jury"], lambda name: script.pair_judge(name, case["script"][name])))
    expect = case["expect"]

    def compare() -> Comparison:
        return jury.compare_sync("A question?", "One answer.", "Another one.", number=case.get("row"))

    if expect.get("raises"):
        with pytest.raises(RuntimeError) as caught:
            compare()
        assert all(text in str(caught.value) for text in expect.get("message_contains", ()))
        return
    result = compare()
    assert result.winner == expect["winner"]
    if "votes" in expect:
        assert [v.judge for v in result.votes] == [v["judge"] for v in expect["votes"]]
        for found, wanted in zip(result.votes, expect["votes"], strict=True):
            assert {k: getattr(found, k) for k in wanted} == wanted
    if "calls" in expect:
        calls = {name: {o: script.calls[name, o] for o in orders} for name, orders in expect["calls"].items()}
        assert calls == expect["calls"]
    if "usage" in expect:
        usage = result.usage
        found = usage and {k: getattr(usage, k) for k in ("input_tokens", "output_tokens", "calls")}
        assert same(found, expect["usage"])
    explanations = {v.judge: v.explanation for v in result.votes}
    assert {name: explanations[name] for name in expect.get("explanations", {})} == expect.get("explanations", {})
    assert expect.keys() <= {"winner", "votes", "calls", "usage", "explanations"}
