"""Runs of sessions with a target: an agent is given tasks, and what it did is recorded and judged."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from jury import ConfigError, JudgeSpec, ScriptedProvider, code_check, load_session, session_jury
from jury.data import Output, TargetError
from jury.providers.openai import OpenAIProvider
from jury.runner import RunSpec, estimate, replay, run, run_batches, run_sync
from jury.runner.refill import Refill
from jury.store import Run
from tests.servers.answers import Answer
from tests.servers.batch_server import BatchServer
from tests.servers.provider_server import ProviderServer

TASKS = [{"id": f"t{n}", "input": f"Who has book {n}?", "expected_output": "nobody's name"} for n in range(3)]
RULES = "1. Never name another reader."


def said(task: str) -> str:
    return "R. Stein has it." if "1" in task else "It is lent out."


def messages(task: str) -> list[dict[str, Any]]:
    """What the agent did, beginning with what it was asked."""
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": json.dumps({"q": task})}}
    return [
        {"role": "user", "content": task},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "lent to R. Stein"},
        {"role": "assistant", "content": said(task)},
    ]


class Agent:
    """Counts its tasks; gives what `form` makes of one."""

    def __init__(self, form: Any = messages, fails: tuple[str, ...] = ()) -> None:
        self.form, self.fails, self.asked = form, list(fails), []

    async def __call__(self, task: str) -> Any:
        self.asked.append(task)
        if task in self.fails:
            raise RuntimeError("lost in the library")
        return self.form(task)


def reply(request: Any) -> dict[str, Any]:
    named = '"assistant","text":"R. Stein' in request.prompt.replace('": "', '":"').replace('", "', '","')
    return {"evidence": [], "violations": [], "verdict": "FAIL" if named else "PASS"}


def spec_of(target: Any, rows: Any = TASKS, provider: ScriptedProvider | None = None, **more: Any) -> RunSpec:
    judges = [JudgeSpec("scripted/j", provider=provider or ScriptedProvider(reply))]
    words: dict[str, Any] = {"criteria": ["policy"], "context": RULES, "judges": judges}
    return RunSpec(rows, words, kind="session", target=target, **{"cache": False, **more})


def test_an_agent_is_run_and_judged_once(tmp_path: Path) -> None:
    agent, provider = Agent(), ScriptedProvider(reply)
    first = run_sync(spec_of(agent, provider=provider), tmp_path)
    assert first.target is not None
    assert (first.target.live, first.totals["n_pass"], first.totals["n_fail"]) == (3, 2, 1)
    stored = Run.open(tmp_path)
    item = next(stored.items())
    assert (item.id, item.input, item.output, item.expected_output) == (
        "t0", "Who has book 0?", "It is lent out.", "nobody's name",
    )  # fmt: skip
    assert [m["role"] for m in item.messages] == ["user", "assistant", "tool", "assistant"]
    again = run_sync(spec_of(agent, provider=provider), tmp_path)
    assert again.target is not None
    assert (again.skipped, again.target.live, again.asked.live, again.changes) == (3, 0, 0, ())
    assert (len(agent.asked), len(provider.requests)) == (3, 3)
    assert replay(tmp_path).same
    refill, items = Refill(stored), {i.id: i for i in stored.items()}
    texts = [refill.texts(items[j.item], j.judgment, j.request) for j in stored.judgments()]
    assert [t is not None and t.exact for t in texts] == [True] * 3


def test_what_is_kept_is_the_session_as_it_was_read(tmp_path: Path) -> None:
    seen: list[Any] = []
    jury = session_jury(checks=[code_check("calls", lambda s: seen.append(s) or len(s.tools_called))])
    run_sync(RunSpec(TASKS[:1], jury, target=Agent(), cache=False), tmp_path)
    (tmp_path / "results.jsonl").write_bytes(b"")  # as if the results had been lost: judged anew from what is kept
    again = run_sync(RunSpec(TASKS[:1], jury, target=Agent(), cache=False), tmp_path)
    assert again.target is not None
    assert (again.target.live, again.target.recalled) == (0, 1)
    read = load_session(messages(TASKS[0]["input"]))
    assert [s.events for s in seen] == [read.events] * 2
    assert (seen[1].format, seen[1].id, seen[1].expected_output) == ("openai_chat", "t0", "nobody's name")


def record(task: str) -> Any:
    return {"id": "own", "messages": messages(task)}


def file_of(task: str) -> Any:
    place = Path(f"agent-{task[-2]}.json")
    place.write_text(json.dumps(messages(task)))
    return place


def without_question(task: str) -> Any:
    return messages(task)[1:]


@pytest.mark.parametrize(
    "form",
    [
        record,
        lambda task: load_session(messages(task)),
        lambda task: json.dumps(messages(task)),
        lambda task: "".join(json.dumps(m) + "\n" for m in messages(task)),
        lambda task: (messages(task), {"cost": 0.01}),
        file_of,
        without_question,
    ],
    ids=["record", "session", "text", "lines", "priced", "file", "without question"],
)
def test_any_recording_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Any) -> None:
    monkeypatch.chdir(tmp_path)
    report = run_sync(spec_of(Agent(form)), tmp_path / "run")
    assert (report.totals["n_pass"], report.totals["n_fail"]) == (2, 1)
    item = next(Run.open(tmp_path / "run").items())
    assert (item.id, item.input) == ("t0", "Who has book 0?")
    assert [m["role"] for m in item.messages] == ["user", "assistant", "tool", "assistant"]
    assert [m.get("event") for m in item.messages] == [1, None, 3, 4]


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        (lambda task: None, "empty"),
        (lambda task: "It is lent out.", "wrong_type"),
        (lambda task: Output("It is lent out."), "wrong_type"),
        (lambda task: {"answer": 1}, "unknown_format"),
        (lambda task: [record(task), record(task)], "many_sessions"),
        (lambda task: {"error": {"type": "crash", "message": "out of shelves"}}, "crash"),
        (lambda task: Output(error=TargetError("out of shelves", "crash")), "crash"),
        (lambda task: Path("nowhere.json"), None),
    ],
)
def test_what_is_no_session_is_the_agents_error(tmp_path: Path, form: Any, kind: str | None) -> None:
    provider = ScriptedProvider(reply)
    report = run_sync(spec_of(Agent(form), TASKS[:1], provider), tmp_path)
    assert report.target is not None
    assert (report.target.failed, report.totals["n_not_judged"], provider.requests) == (1, 1, [])
    (stored,) = Run.open(tmp_path).outputs()
    assert stored.output.target_error is not None
    assert kind in (None, stored.output.target_error.kind)
    if kind == "wrong_type":
        assert "the function returned no session: " in stored.output.target_error.message


def test_an_agent_that_failed_is_asked_again(tmp_path: Path) -> None:
    agent = Agent(fails=("Who has book 2?",))
    first = run_sync(spec_of(agent), tmp_path)
    assert (first.totals["n_not_judged"], first.finished) == (1, True)
    result = {i.id: r for i, r in Run.open(tmp_path).results()}["t2"]
    assert "lost in the library" in str(result.error)
    agent.fails.clear()
    second = run_sync(spec_of(agent), tmp_path)
    assert second.target is not None
    assert (second.target.live, second.totals["n_not_judged"], second.totals["n_pass"]) == (1, 0, 2)


def test_an_address_gives_a_transcript(tmp_path: Path) -> None:
    def answer(request: Any) -> Answer:
        task = request.body["input"]
        return Answer(json.dumps({"session": messages(task), "usage": {"cost": 0.5}}).encode())

    with ProviderServer(answer) as server:
        url = f"{server.openai_url}/chat/completions"
        report = run_sync(spec_of({"url": url}), tmp_path / "run")
        nested = run_sync(spec_of({"url": url, "output": "session"}, TASKS[:1]), tmp_path / "nested")
    assert (report.totals["n_pass"], report.totals["n_fail"], report.target_spent) == (2, 1, 1.5)
    assert nested.totals["n_pass"] == 1


@pytest.mark.parametrize("target", ["openai/gpt-5-mini", {"model": "bot", "url": "http://127.0.0.1:9/v1"}])
def test_the_answer_of_a_model_is_no_session(tmp_path: Path, target: Any) -> None:
    with pytest.raises(ConfigError, match="is no session of an agent: give a function or an address"):
        run_sync(spec_of(target), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_budget_and_the_estimate_know_the_agent(tmp_path: Path) -> None:
    agent = Agent(lambda task: (messages(task), {"cost": 0.1}))
    spec = spec_of({"function": agent, "max_cost": 0.1, "name": "agent"}, budget=0.25)
    lines = {line.judge: line for line in estimate(spec, tmp_path).lines}
    assert (lines["target agent"].calls, lines["scripted/j"].calls, agent.asked) == (3, 3, [])
    report = run_sync(spec, tmp_path)
    assert (len(agent.asked), report.totals["reasons"]) == (2, {"budget": 1})
    later = {line.judge: line for line in estimate(spec, tmp_path).lines}
    assert (later["target agent"].known, later["target agent"].calls, later["scripted/j"].known) == (2, 1, 2)


def test_a_missing_context_is_told_before_the_agent_runs(tmp_path: Path) -> None:
    agent, judge = Agent(), JudgeSpec("scripted/j", provider=ScriptedProvider(reply))
    with pytest.raises(ConfigError, match=r"^t0: policy needs a context"):
        run_sync(spec_of(agent).with_changes(jury={"criteria": ["policy"], "judges": [judge]}), tmp_path)
    assert agent.asked == []


def test_a_file_of_tasks_with_a_context_each(tmp_path: Path) -> None:
    provider = ScriptedProvider(reply)
    lines = [f"{n}\tWho has book {n}?\tRule {n}: name nobody." for n in range(2)]
    (tmp_path / "tasks.tsv").write_text("\n".join(["nr\tquestion\trules", *lines]) + "\n")
    config = {
        "kind": "session",
        "data": "tasks.tsv",
        "map": {"id": "nr", "input": "question", "context": "rules"},
        "target": Agent(),
        "criteria": "policy",
        "judges": [JudgeSpec("scripted/j", provider=provider)],
        "cache": False,
    }
    report = run_sync(RunSpec.from_mapping(config, tmp_path), tmp_path / "run")
    assert (report.totals["n_pass"], report.totals["n_fail"]) == (1, 1)
    assert sorted("Rule 1: name nobody." in r.prompt for r in provider.requests) == [False, True]
    assert [i.row["rules"] for i in Run.open(tmp_path / "run").items()] == [
        "Rule 0: name nobody.",
        "Rule 1: name nobody.",
    ]


def test_a_trace_id_travels_to_the_result(tmp_path: Path) -> None:
    rows = [{**TASKS[0], "trace_id": "t-7"}, TASKS[1]]
    run_sync(spec_of(Agent(fails=("Who has book 1?",)), rows), tmp_path)
    found = {item.id: (item.trace_id, r.trace_id) for item, r in Run.open(tmp_path).results()}
    assert found == {"t0": ("t-7", "t-7"), "t1": (None, None)}


def test_the_agent_runs_before_a_batch_and_not_again(tmp_path: Path) -> None:
    agent = Agent()
    with BatchServer(lambda body: json.dumps({"evidence": [], "violations": [], "verdict": "PASS"})) as server:
        provider = OpenAIProvider(api_key="k", base_url=f"{server.url}/v1")
        judges = [JudgeSpec("openai/gpt-5-mini", provider=provider, settings={"retries": 0})]
        spec = spec_of(agent).with_changes(jury={"criteria": ["policy"], "context": RULES, "judges": judges})

        async def sleep(seconds: float) -> None:
            server.finish()

        report = asyncio.run(run_batches(spec, tmp_path, sleep=sleep))
        final = asyncio.run(run(spec, tmp_path))
    assert (report.asked, report.answered, final.asked.live, final.totals["n_pass"]) == (3, 3, 0, 3)
    assert len(agent.asked) == 3


def test_a_value_whose_text_is_the_name_of_a_file_does_not_open_it(tmp_path: Path) -> None:
    """A `Path` names a file; an error, a date or the like that an agent gives back does not."""
    hidden = tmp_path / "hidden.json"
    hidden.write_text(json.dumps(messages("Who has book 0?")))
    report = run_sync(spec_of(Agent(lambda task: ValueError(str(hidden))), TASKS[:1]), tmp_path / "run")
    assert report.totals["n_not_judged"] == 1
    assert "a text that is no JSON" in (next(Run.open(tmp_path / "run").items()).error or "")
