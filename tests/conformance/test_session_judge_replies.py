"""session_judge_replies.json: replies of a session judge, read by the jury of a session prompt."""

from __future__ import annotations

from typing import Any

import pytest

from jury import JudgeSpec, ScriptedProvider, session_jury
from tests.conformance.cases import load, params

SESSION = [{"role": "user", "content": "Renew my loan."}, {"role": "assistant", "content": "Renewed until 18 May."}]


@pytest.mark.parametrize("case", params(load("session_judge_replies.json")["cases"]))
def test_session_judge_replies(case: dict[str, Any]) -> None:
    prompt = "tone" if "NA" in case["allowed"] else "policy"
    judge = JudgeSpec("scripted/a", provider=ScriptedProvider([case["reply"]]))
    result = session_jury(prompt, context="rules", judges=[judge]).judge_sync(SESSION)

    verdict = result.votes[0].verdict
    found = "ERROR" if verdict.status == "error" else verdict.value
    assert found in (case["wanted"], *case.get("also_ok", ()))
    assert all(isinstance(text, str) for text in verdict.evidence)
    assert result.criteria[0].reason in (("errors",) if found == "ERROR" else (None,))
