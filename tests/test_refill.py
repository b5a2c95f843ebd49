"""Prompts made again from a run folder are those that were sent, or say that they are not."""

from __future__ import annotations

from typing import Any

import pytest

from jury import JudgeSpec, ScriptedProvider
from jury.runner import RunSpec, run_sync
from jury.runner.refill import Refill
from jury.store import Run

ROWS = [
    {"id": "a", "input": "2+2?", "output": "4", "expected_output": "4", "topic": "sums"},
    {"id": "b", "input": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}], "output": "é"},
    {"id": "c", "input": "q", "context": "the source", "output": ""},
]
PAIRS = [{"id": "p", "question": "q?", "response_a": "one", "response_b": "two", "reference": "two"}]
OWN = "{{row.topic}} {{who}} {{criteria}} {{input.all_messages}} {{output.response}} {{context}}"
RUBRIC = {
    "name": "r",
    "criteria": [
        {"key": "clear", "question": "Is it clear?", "scale": {"low": 1, "high": 5}},
        {"key": "short", "question": "Is it short?", "scale": {"low": 1, "high": 5}},
    ],
    "pass_rule": "clear >= 3",
}


def sent_and_refilled(tmp_path: Any, rows: Any, kind: str = "pointwise", reply: str = '{"value": true}', **config: Any):
    """((system, user) that the provider got, the texts made again) for every judgment, in the order of the log."""
    provider = ScriptedProvider(lambda request: reply)
    judges = [JudgeSpec("scripted/a", provider=provider, id="first"), JudgeSpec("scripted/b", provider=provider)]
    spec = RunSpec(rows, {"judges": judges, "retries": 0, "reask": 0, **config}, kind=kind, concurrency=1)
    run_sync(spec, tmp_path / "run")
    run = Run.open(tmp_path / "run")
    items = {item.id: item for item in run.items()}
    again = [Refill(run).texts(items[j.item], j.judgment, j.request) for j in run.judgments()]
    sent = {(r.judge, r.system, r.turns[0].text) for r in provider.requests}
    made = {(j.judge, t.system, t.user) for j, t in zip(run.judgments(), again, strict=True) if t is not None}
    return sent, made, again


@pytest.mark.parametrize("prompt", [None, OWN])
def test_pointwise(tmp_path, prompt):
    sent, made, again = sent_and_refilled(
        tmp_path, ROWS, criteria="Right?", **({"prompt": prompt, "variables": {"who": "me"}} if prompt else {})
    )
    assert made == sent
    assert len(again) == 6
    assert all(t.exact and t.filled for t in again)


def test_pairs_in_both_orders(tmp_path):
    sent, made, again = sent_and_refilled(tmp_path, PAIRS, "pairwise", '{"value": "A"}')
    assert made == sent
    assert len(sent) == 4
    assert all(t.exact for t in again)


@pytest.mark.parametrize("ask", ["together", "each"])
@pytest.mark.parametrize("permute", [False, True])
def test_rubrics(tmp_path, ask, permute):
    sent, made, again = sent_and_refilled(
        tmp_path, ROWS, reply="{}", rubric=RUBRIC, ask=ask, permute=permute, repetitions=2
    )
    assert made == sent
    assert again
    assert all(t.exact for t in again)


def test_what_the_folder_did_not_keep_makes_it_inexact(tmp_path):
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    rows = [{"id": "a", "input": "q", "output": [{"role": "assistant", "content": "yes", "tool_calls": [call]}]}]
    prompt = "{{output.response}} {{#output.tools_called}}{{name}}{{/output.tools_called}}"
    sent, _, again = sent_and_refilled(tmp_path, rows, criteria="c", prompt=prompt)
    assert all("search" in user for _, _, user in sent)
    assert all(t.filled and not t.exact for t in again)


def test_functions_and_lost_prompts_have_none(tmp_path):
    run_sync(RunSpec(ROWS[:1], {"criteria": "c", "judges": [lambda output: True]}), tmp_path / "run")
    run = Run.open(tmp_path / "run")
    item, judgment = next(run.items()), next(run.judgments())
    assert Refill(run).texts(item, judgment.judgment, judgment.request) is None
    sent_and_refilled(tmp_path / "models", ROWS[:1], criteria="c")
    run = Run.open(tmp_path / "models" / "run")
    judgment = next(run.judgments())
    assert Refill(run).texts(item, judgment.judgment, judgment.request) is not None
    run.manifest.prompts.clear()
    assert Refill(run).texts(item, judgment.judgment, judgment.request) is None
