"""What a rubric jury says of its verdicts: reasons are no quotes, and what has no verdict says why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jury import ConfigError, JudgeSpec, ScriptedProvider, llm_jury, load_rubric
from jury.rubrics.criterion import Criterion
from jury.rubrics.rubric import Rubric
from jury.rubrics.seeds import seed_report

RUBRIC = Rubric(
    [
        Criterion("right", "Is it true?", gate=4),
        Criterion("kind", "Is it kind?", scale="0/1", gate=1),
        Criterion("form", "Has it the form that was asked for?", scale="0/1", na=True),
    ],
    "min(all) >= 1",
)


def test_a_reason_is_no_quote() -> None:
    def strict(output: str) -> dict[str, Any]:
        return {"right": (5, "looked for Paris"), "kind": (1, "polite"), "form": {"score": 1, "explanation": "short"}}

    result = llm_jury(rubric=RUBRIC, judges=[strict]).judge_sync("q", "It is Paris.")
    assert (result.votes[0].verdict.evidence, result.votes[0].evidence_check) == ((), None)
    assert [c.explanation for c in result.criteria] == ["looked for Paris", "polite", "short"]
    assert seed_report(RUBRIC, result, "rubric")["right"] == {"evidence": "looked for Paris", "score": 5}

    critic = load_rubric("critic")
    metrics = {k: {"reasoning": f"of {k}", "score": 1 if critic[k].zero_one else 5} for k in critic.keys}
    asked = json.dumps({"evaluation_report": {"metrics": metrics, "summary": {"overall_verdict": "good"}}})
    judges = [JudgeSpec("scripted/a", provider=ScriptedProvider([asked]))]
    assert llm_jury(rubric=critic, judges=judges).judge_sync("q", "a").votes[0].evidence_check is None


def test_a_tie_over_one_criterion_is_named_with_the_clause_that_it_leaves_open() -> None:
    def strict(output: str) -> dict[str, Any]:
        return {"right": 5, "kind": 1, "form": 1}

    def lax(output: str) -> dict[str, Any]:
        return {"right": 4, "kind": 1, "form": None}

    result = llm_jury(rubric=RUBRIC, judges=[strict, lax]).judge_sync("q", "a")
    assert result.explanation == "No verdict: min(all) >= 1 (right is 4.5, kind is 1, form has no verdict)."
    assert [c.explanation for c in result.criteria] == ["", "", "a tie between true (1) and NA (1)"]


def test_a_file_of_answers_is_no_rubric(tmp_path: Path) -> None:
    data = tmp_path / "answers.jsonl"
    data.write_text('{"output": "a"}\n')
    with pytest.raises(ConfigError, match=r"answers\.jsonl is data; the rubric comes first: .* answer-rubric, critic"):
        load_rubric(data)
