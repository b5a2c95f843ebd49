"""Two seats with the same text but other further fields: each is asked for its own, also when a run is asked again."""

from __future__ import annotations

import json

from jury import JudgeSpec, ScriptedProvider, llm_jury
from jury.audit import Again, ask_again_sync, jury_of
from jury.prompts import PromptSpec
from jury.runner import RunSpec, run_sync
from jury.store import Run

TEXT = "Is it good? {{log.output}}"


def seat(name, provider, **meta):
    return JudgeSpec("scripted/m", id=name, provider=provider, prompt=PromptSpec(name, TEXT, meta=meta))


def said(**fields):
    return json.dumps({"explanation": "", "value": True, **fields})


def three():
    replies = [ScriptedProvider(lambda request, name=name: said(severe=True, tags=[name])) for name in "abc"]
    judges = [
        seat("a", replies[0], fields={"severe": "boolean"}),
        seat("b", replies[1], fields={"tags": ["string"]}),
        seat("c", replies[2]),
    ]
    return llm_jury(criteria="c", judges=judges), replies


def test_each_seat_is_asked_for_its_own_fields():
    jury, replies = three()
    result = jury.judge_sync("q", "o")
    asked = [set(provider.requests[0].schema["properties"]) for provider in replies]
    assert [names & {"severe", "tags"} for names in asked] == [{"severe"}, {"tags"}, set()]
    assert [vote.verdict.fields.get("severe") for vote in result.votes[:1]] == [True]
    assert result.votes[1].verdict.fields["tags"] == ["b"]


def test_seats_that_ask_the_same_share_a_prompt():
    one = ScriptedProvider(lambda request: said(severe=True))
    judges = [seat(name, one, fields={"severe": "boolean"}) for name in "ab"]
    panel = llm_jury(criteria="c", judges=judges).panel
    assert panel.seats[0].prompt is panel.seats[1].prompt


def test_a_run_is_asked_again_for_the_same_fields(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "replies.json").write_text(json.dumps([said(severe=True, tags=["x"])] * 20))
    model = "scripted/replies.json"
    judges = [
        JudgeSpec(model, id="a", prompt=PromptSpec("a", TEXT, meta={"fields": {"severe": "boolean"}})),
        JudgeSpec(model, id="b", prompt=PromptSpec("b", TEXT, meta={"fields": {"tags": ["string"]}})),
    ]
    rows = [{"id": "1", "input": "q", "output": "o"}]
    run_sync(RunSpec(rows, llm_jury(criteria="c", judges=judges), cache=False), tmp_path / "r")
    run = Run.open(tmp_path / "r")
    assert [s.fields for s in jury_of(run).panel.seats] == [{"severe": "boolean"}, {"tags": ["string"]}]
    assert ask_again_sync(run, Again(items=1, repetitions=2)).asked.live == 2
