"""session_judge_replies.json: replies of a session judge, whose verdict stands under `verdict`.

Only the reading of a reply is built so far; the session juries around it are not.
"""

from __future__ import annotations

from typing import Any

import pytest

from jury import Labels
from jury.parsing import read_reply
from tests.conformance.cases import load, params


@pytest.mark.parametrize("case", params(load("session_judge_replies.json")["cases"]))
def test_session_judge_replies(case: dict[str, Any]) -> None:
    verdict = read_reply(case["reply"], Labels(case["allowed"]), key="verdict")

    found = "ERROR" if verdict.status == "error" else verdict.value
    assert found in (case["wanted"], *case.get("also_ok", ()))
    assert all(isinstance(text, str) for text in verdict.evidence)
