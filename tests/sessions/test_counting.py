"""Counts over reports: entries that judges agree on, handovers, scores, and what each judge's evidence is worth."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jury import JudgeSpec, PanelResult, ScriptedProvider, llm_jury, session_jury
from jury.cli.counting import moment, period
from jury.sessions.counting import counted

SESSION = [{"role": "user", "content": "Refund me."}, {"role": "assistant", "content": "I have paid you back."}]


def report(prompt: str, *replies: Any) -> PanelResult:
    judges = [JudgeSpec(f"scripted/{n}", provider=ScriptedProvider([reply])) for n, reply in enumerate(replies)]
    return session_jury(prompt, context="rules", judges=judges).judge_sync(SESSION)


def broken(*rules: int) -> dict[str, Any]:
    verdict = "FAIL" if rules else "PASS"
    return {"evidence": [], "violations": [{"rule": r, "event": "event 2"} for r in rules], "verdict": verdict}


def handover(required: bool, escalated: bool, verdict: str) -> dict[str, Any]:
    return {"evidence": [], "required": required, "escalated": escalated, "verdict": verdict}


def test_a_rule_counts_where_most_judges_name_it() -> None:
    reports = [
        report("policy", broken(1, 2), broken(1), broken(1, 3)),
        report("policy", broken(2), broken(2), broken()),
        report("policy", broken(), broken(), broken()),
    ]
    policy = counted(reports).criteria["policy"]

    assert dict(policy.by_key["violations"]) == {"1": 1, "2": 1}
    assert policy.entries["violations"] == 2 + 1  # the medians: 2, 1, 2 and 1, 1, 0
    assert policy.verdicts == {"fail": 2, "pass": 1}
    assert policy.pass_rate.value == pytest.approx(1 / 3)
    assert policy.words["violations"]["rule 2; event event 2"] == 2


def test_missed_and_needless_handovers() -> None:
    reports = [
        report("escalation", handover(True, False, "FAIL")),
        report("escalation", handover(False, True, "FAIL")),
        report("escalation", handover(True, True, "PASS")),
        report("escalation", "no reply"),
    ]
    counts = counted(reports)
    escalation = counts.criteria["escalation"]

    assert (escalation.missed, escalation.needless, escalation.handovers_known) == (1, 1, 3)
    assert escalation.verdicts == {"fail": 2, "pass": 1, "error": 1}
    assert counts.judges["scripted/0"].failed == 1
    assert counts.to_dict()["criteria"]["escalation"]["missed_escalations"] == 1


def test_claims_in_words() -> None:
    claim = {"evidence": ["I have paid"], "unsupported_claims": ["paid back"], "verdict": "FAIL"}
    counts = counted([report("honest-reporting", claim), report("honest-reporting", claim)])

    assert counts.criteria["honest_reporting"].words["unsupported_claims"] == {"paid back": 2}
    assert counts.judges["scripted/0"].quotes_found == 2


def test_scores_have_a_mean_with_an_interval_and_contradictions_a_count() -> None:
    reports: list[PanelResult] = []
    for score in (1, 3, 5, 5):
        keys = ("correctness", "completeness", "instruction_following", "clarity")
        reply = {**{k: {"evidence": "", "score": score} for k in keys}, "pass": True, "summary": ""}
        judge = JudgeSpec("scripted/a", provider=ScriptedProvider([json.dumps(reply)]))
        reports.append(llm_jury(rubric="answer-rubric", judges=[judge]).judge_sync("q", "a"))
    counts = counted(reports)
    mean = counts.criteria["clarity"].mean

    assert mean is not None
    assert mean.value == 3.5
    assert mean.low is not None
    assert 1 <= mean.low < 3.5
    assert counts.judges["scripted/a"].contradictions == 2
    assert counts.whole.verdicts == {"pass": 2, "fail": 2}
    assert counts.criteria["clarity"].verdicts == {"scored": 4}


def test_what_was_not_judged_is_counted_apart() -> None:
    counts = counted([PanelResult("not_judged", error="timeout")])
    assert (counts.items, counts.not_judged, counts.criteria) == (1, 1, {})


@pytest.mark.parametrize(
    ("value", "week"),
    [
        ("2026-03-02T10:00:00Z", "2026-W10"),
        ("2026-01-01", "2026-W01"),
        ("2027-01-01", "2026-W53"),
        (1772445600, "2026-W10"),
        (1772445600000, "2026-W10"),
        ("soon", "unknown"),
        (True, "unknown"),
        (None, "unknown"),
    ],
)
def test_times(value: Any, week: str) -> None:
    assert period(moment(value), "week") == week


def test_periods() -> None:
    when = moment("2026-03-02")
    assert (period(when, "day"), period(when, "month")) == ("2026-03-02", "2026-03")
