"""aggregation.json: a pointwise jury of scripted judges, run on any item."""

from __future__ import annotations

from typing import Any

import pytest

from jury import DataPoint, PanelResult, llm_jury
from tests.conformance.cases import load, params
from tests.conformance.comparing import same
from tests.conformance.seats import Script, keywords


def outcome(vote: Any) -> str:
    return "value" if vote.decided else "error" if vote.failed else "abstain"


def told(result: PanelResult) -> dict[str, Any]:
    """A result in the words of the cases."""
    usage = result.usage
    return {
        "value": result.value,
        "passed": result.passed,
        "tie": result.tie,
        "inconclusive": result.inconclusive,
        "judges_configured": result.seats,
        "judges_succeeded": result.seats_used,
        "judges_failed": result.failed_seats,
        "replacements_used": result.stand_ins_used,
        "raw_agreement": result.agreement,
        "mean": result.mean,
        "std": result.std,
        "usage": usage
        and {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "calls": usage.calls},
        "votes": [
            {
                "judge": v.judge,
                "replacement": v.replacement,
                "outcome": outcome(v),
                "value": v.value,
                "explanation": v.explanation,
                "failed_calls": v.failed_calls,
            }
            for v in result.votes
        ],
    }


@pytest.mark.parametrize("case", params(load("aggregation.json")))
def test_aggregation(case: dict[str, Any]) -> None:
    script = Script(case.get("usage_per_call"))
    jury = llm_jury(**keywords(case["jury"], lambda name: script.judge(name, case["votes"][name])))
    expect = dict(case["expect"])
    or_raises = expect.pop("or_raises", case.get("or_raises", False))

    asked: list[list[str]] = []
    result: PanelResult | None = None
    raised: RuntimeError | None = None
    try:
        for row in case.get("rows", [case.get("row")]):
            script.asked.clear()
            result = jury.judge_sync(DataPoint(input="A question?", number=row), "An answer.")
            asked.append(list(script.asked))
    except RuntimeError as error:
        raised, result = error, None

    assert raised is None or expect.get("raises") or or_raises
    assert raised is not None or not expect.get("raises")
    assert all(text in str(raised) for text in expect.get("message_contains", ()))
    if "calls" in expect:
        assert {name: script.calls[name] for name in expect["calls"]} == expect["calls"]
    if "asked" in expect:
        assert asked == expect["asked"]
    if result is None:
        return
    found = told(result)
    for index, vote in enumerate(expect.pop("votes", ())):
        assert len(found["votes"]) == len(case["expect"]["votes"])
        assert {k: found["votes"][index][k] for k in vote if not same(found["votes"][index][k], vote[k])} == {}
    assert expect.pop("explanation_contains", "") in result.explanation
    for key, value in expect.items():
        if key in found:
            assert same(found[key], value), (key, found[key], value)
        else:
            assert key in ("calls", "asked", "raises", "message_contains")
