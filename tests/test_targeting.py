"""Runs with a target: outputs are recorded before they are judged, made once, and errors of the target are its own."""

from __future__ import annotations

import asyncio
import json

import pytest

from jury import ConfigError, JudgeSpec, ProviderError, Reply, ScriptedProvider, Usage
from jury.data import ToolCall
from jury.providers.clients import Shared
from jury.runner import RunSpec, estimate, replay, run_sync
from jury.store import Run
from jury.targets import TargetSpec
from tests.servers.answers import Answer, chat_reply
from tests.servers.provider_server import ProviderServer

ROWS = [{"id": f"r{i}", "input": f"q{i}", "output": "an old one"} for i in range(5)]


class Bot:
    """A target that counts; fails where a text occurs in the question."""

    def __init__(self, *fails):
        self.fails = list(fails)
        self.asked = []

    async def __call__(self, input):
        self.asked.append(input)
        if input in self.fails:
            raise RuntimeError(f"no idea about {input}")
        return f"the answer to {input}"


def judge(request):
    return {"explanation": "e", "value": "q3" not in request.prompt.partition("answer to")[2][:4]}


def spec_of(target, rows=ROWS, provider=None, **options):
    judges = [JudgeSpec("scripted/j", provider=provider or ScriptedProvider(judge))]
    return RunSpec(rows, {"criteria": "c", "judges": judges, "retries": 0}, target=target, cache=False, **options)


def test_outputs_are_made_and_judged_once(tmp_path):
    bot, provider = Bot(), ScriptedProvider(judge)
    first = run_sync(spec_of(bot, provider=provider), tmp_path)
    assert (first.judged, first.target.live, first.totals["n_pass"], first.totals["n_fail"]) == (5, 5, 4, 1)
    assert [i.output for i in Run.open(tmp_path).items()] == [f"the answer to q{i}" for i in range(5)]
    again = run_sync(spec_of(bot, provider=provider), tmp_path)
    assert (again.skipped, again.target.live, again.asked.live, again.changes) == (5, 0, 0, ())
    assert (len(bot.asked), len(provider.requests)) == (5, 5)
    assert again.totals == first.totals
    assert replay(tmp_path).same
    assert Run.open(tmp_path).damage() == []


def test_a_target_that_errored_is_not_judged_and_is_asked_again(tmp_path):
    bot, provider = Bot("q1", "q2"), ScriptedProvider(judge)
    first = run_sync(spec_of(bot, provider=provider), tmp_path)
    assert (first.target.failed, first.totals["n_not_judged"], len(provider.requests)) == (2, 2, 3)
    result = {i.id: r for i, r in Run.open(tmp_path).results()}["r1"]
    assert result.status == "not_judged"
    assert result.error == "exception: RuntimeError: no idea about q1"
    kept = run_sync(spec_of(bot, provider=provider), tmp_path, keep_errors=True)
    assert (kept.skipped, kept.target.live) == (5, 0)
    bot.fails.clear()
    healed = run_sync(spec_of(bot, provider=provider), tmp_path)
    assert (healed.skipped, healed.target.live, healed.totals["n_not_judged"]) == (3, 2, 0)
    assert [i.output for i in Run.open(tmp_path).items()] == [f"the answer to q{i}" for i in range(5)]
    assert replay(tmp_path).same


def test_judges_that_fail_do_not_ask_the_target_again(tmp_path):
    bot = Bot()
    run_sync(spec_of(bot, provider=ScriptedProvider([])), tmp_path)
    second = run_sync(spec_of(bot), tmp_path)
    assert (second.target.live, second.target.recalled, second.asked.live) == (0, 5, 5)
    assert len(bot.asked) == 5


def test_another_target_is_said_and_asked(tmp_path):
    one, two = ScriptedProvider([Reply("one")] * 5), ScriptedProvider([Reply("two")] * 5)
    run_sync(spec_of(TargetSpec(model="scripted/a", provider=one)), tmp_path)
    second = run_sync(spec_of(TargetSpec(model="scripted/b", provider=two)), tmp_path)
    assert second.changes == ("target changed from scripted/a to scripted/b",)
    assert second.target.live == 5
    assert second.asked.live == 5  # other outputs are other questions
    assert {i.output for i in Run.open(tmp_path).items()} == {"two"}
    third = run_sync(spec_of(None), tmp_path)
    assert third.changes == ("the outputs come from the data again, from no target",)


def test_identical_questions_are_asked_once(tmp_path):
    bot = Bot()
    rows = [{"id": f"r{i}", "input": f"q{i % 2}"} for i in range(6)]
    report = run_sync(spec_of(bot, rows), tmp_path)
    assert (report.target.live, report.target.same, sorted(bot.asked)) == (2, 4, ["q0", "q1"])
    assert [o.item for o in Run.open(tmp_path).outputs() if o.source != "same"] == ["r0", "r1"]
    assert {o.item for o in Run.open(tmp_path).outputs()} == {f"r{i}" for i in range(6)}


def test_the_targets_money_is_apart_from_the_judges(tmp_path):
    paid = ScriptedProvider(lambda request: Reply("an answer", usage=Usage(1, 10, 5, cost=0.5)))
    costly = ScriptedProvider(lambda r: Reply('{"value": true}', usage=Usage(1, 3, 1, cost=0.01)))
    report = run_sync(spec_of(TargetSpec(model="scripted/m", provider=paid), provider=costly), tmp_path)
    assert report.target.cost == pytest.approx(2.5)
    assert (report.target_spent, report.spent) == (pytest.approx(2.5), pytest.approx(2.55))
    assert report.totals["cost"] == report.asked.cost == pytest.approx(0.05)
    manifest = Run.open(tmp_path).manifest
    assert manifest.totals["target_cost"] == pytest.approx(2.5)
    assert manifest.history[-1]["target"]["cost"] == pytest.approx(2.5)
    assert run_sync(spec_of(TargetSpec(model="scripted/m", provider=paid)), tmp_path).target_spent == pytest.approx(2.5)


class Priced(ScriptedProvider):
    """One that has a price, so that a budget counts it."""


def test_a_budget_holds_for_the_target_too(tmp_path, monkeypatch):
    monkeypatch.setenv("JURY_CONFIG", str(tmp_path / "jury.yaml"))
    (tmp_path / "jury.yaml").write_text("prices: {shop/m: {input: 1000, output: 1000}}\n")
    shop = Priced(lambda r: Reply("an answer", usage=Usage(1, 10, 10, cost=0.02)), name="shop")
    target = TargetSpec(
        model="shop/m", provider=shop, settings=TargetSpec.of({"model": "x/m", "max_tokens": 20}).settings
    )
    report = run_sync(spec_of(target, budget=0.45, concurrency=1), tmp_path / "run")
    assert 0 < len(shop.requests) < 5
    assert report.target.refused == 5 - len(shop.requests)
    assert report.totals["reasons"] == {"budget": report.target.refused}
    assert report.spent <= 0.45
    rest = run_sync(spec_of(target, budget=90.0), tmp_path / "run")
    assert (rest.totals["n_total"], rest.totals["reasons"], len(shop.requests)) == (5, {}, 5)


def test_what_is_judged_is_what_can_be_read_back(tmp_path):
    def answer(input):
        return {"items": ({"n": 1},), "when": None}

    provider = ScriptedProvider(judge)
    run_sync(spec_of(answer, provider=ScriptedProvider([])), tmp_path)
    first = run_sync(spec_of(answer, provider=provider), tmp_path)
    assert first.target.recalled == 5
    cut = tmp_path / "results.jsonl"
    cut.write_bytes(b"")  # as if the results had been lost: judged anew, from what is recorded
    again = run_sync(spec_of(answer, provider=provider), tmp_path)
    assert (again.target.live, again.asked.live) == (0, 0)


def test_a_tool_call_survives(tmp_path):
    from jury import AgentResponse

    run_sync(spec_of(lambda x: AgentResponse("done", tool_calls=[ToolCall("look", {"q": x})]), ROWS[:1]), tmp_path)
    (stored,) = Run.open(tmp_path).outputs()
    assert stored.output.tool_calls[0].arguments == {"q": "q0"}


def test_a_tool_call_in_a_reply_is_shown_to_the_judges(tmp_path):
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q": "shelf 4"}'}}
    provider = ScriptedProvider(lambda request: {"explanation": "e", "value": "shelf 4" in request.prompt})
    judges = [JudgeSpec("scripted/j", provider=provider, prompt="Calls: {{{output.tools_called}}}")]
    with ProviderServer(chat_reply(None, finish_reason="tool_calls", message={"tool_calls": [call]})) as server:
        target = {"model": "bot", "url": server.openai_url, "extra": {"tools": [{"type": "function"}]}}
        report = run_sync(RunSpec(ROWS[:1], {"criteria": "c", "judges": judges}, target=target, cache=False), tmp_path)
        assert server.requests[0].body["tools"] == [{"type": "function"}]
    assert report.totals["n_pass"] == 1
    (stored,) = Run.open(tmp_path).outputs()
    assert [c.name for c in stored.output.tool_calls] == ["look"]


def test_estimate_knows_the_target(tmp_path, monkeypatch):
    monkeypatch.setenv("JURY_CONFIG", str(tmp_path / "jury.yaml"))
    (tmp_path / "jury.yaml").write_text("prices: {shop/m: {input: 1, output: 2}}\n")
    shop = ScriptedProvider(lambda r: Reply("an answer"), name="shop")
    target = TargetSpec(model="shop/m", provider=shop)
    quote = estimate(spec_of(target), tmp_path / "run")
    lines = {line.judge: line for line in quote.lines}
    assert lines["target shop/m"].calls == 5
    assert 0 < lines["target shop/m"].cost < lines["target shop/m"].most
    assert lines["scripted/j"].calls == 5
    assert shop.requests == []
    run_sync(spec_of(target, limit=3), tmp_path / "run")
    later = {line.judge: line for line in estimate(spec_of(target), tmp_path / "run").lines}
    assert (later["target shop/m"].known, later["target shop/m"].calls) == (3, 2)
    assert later["scripted/j"].known >= 3


@pytest.mark.parametrize("target", [{"function": lambda case: "a"}, {"url": "http://127.0.0.1:9/answer"}])
def test_what_nobody_knows_is_quoted_as_unknown_and_never_as_free(tmp_path, target):
    unknown = estimate(spec_of(target), tmp_path / "run")
    assert [(x.cost, x.most) for x in unknown.lines if x.judge.startswith("target")] == [(None, None)]
    assert (unknown.cost, unknown.most) == (None, None)
    stated = estimate(spec_of({**target, "max_cost": 0.02}), tmp_path / "run")
    (line,) = (x for x in stated.lines if x.judge.startswith("target"))
    assert (line.calls, line.cost, line.most) == (5, pytest.approx(0.1), pytest.approx(0.1))
    free = estimate(spec_of({**target, "max_cost": 0}), tmp_path / "run")
    assert (free.cost, free.most) == (0.0, 0.0)


def test_outputs_that_are_there_cost_nothing_more(tmp_path):
    spec = spec_of({"function": lambda case: "a", "name": "bot"})
    run_sync(spec, tmp_path / "run")
    (line,) = (x for x in estimate(spec, tmp_path / "run").lines if x.judge == "target bot")
    assert (line.known, line.calls, line.cost) == (5, 0, 0.0)


def test_a_run_without_input_or_of_another_kind(tmp_path):
    report = run_sync(spec_of(Bot(), [{"id": "a", "output": "x"}]), tmp_path)
    assert "input" in str(report.fault)
    with pytest.raises(ConfigError, match="a pair has two sides: write targets: "):
        RunSpec(ROWS, {}, kind="pairwise", target="openai/x")
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        run_sync(spec_of("openai/gpt-5-mini"), tmp_path / "other")


def test_the_manifest_names_the_target(tmp_path):
    run_sync(spec_of({"function": Bot(), "name": "bot", "timeout": 5}), tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["data"]["target"]["name"] == "bot"
    assert manifest["spec"]["target"] == {"function": "Bot", "name": "bot", "timeout": 5}


def test_functions_run_a_limited_number_at_once(tmp_path):
    now = most = 0

    async def slow(input):
        nonlocal now, most
        now += 1
        most = max(most, now)
        for _ in range(100):
            await asyncio.sleep(0)
        now -= 1
        return "a"

    rows = [{"id": str(i), "input": f"q{i}"} for i in range(30)]
    run_sync(spec_of(slow, rows, limits={"target": {"concurrency": 3}}), tmp_path)
    assert most == 3


def test_a_lost_provider_is_the_targets_error(tmp_path):
    broken = ScriptedProvider([ProviderError("auth", "no such key", status=401)] * 5)
    report = run_sync(spec_of(TargetSpec(model="scripted/m", provider=broken)), tmp_path)
    assert report.totals["n_not_judged"] == 5
    assert report.finished


def priced_bot(asked, cost):
    def bot(input):
        asked.append(input)
        return "an answer" if cost is None else ("an answer", {"cost": cost})

    return bot


def test_a_budget_needs_to_know_what_a_function_or_an_address_can_cost(tmp_path):
    asked = []
    for target in (priced_bot(asked, 0.25), {"url": "http://127.0.0.1:9/ask"}):
        with pytest.raises(ConfigError, match=r"one call of .* can cost at most: add max_cost"):
            run_sync(spec_of(target, budget=0.5), tmp_path)
    assert asked == []
    with pytest.raises(ConfigError, match="a model has a price"):
        TargetSpec.of({"model": "openai/x", "max_cost": 0.1})
    with pytest.raises(ConfigError, match="amount of US dollars"):
        TargetSpec.of({"url": "http://127.0.0.1:9/ask", "max_cost": -1})


@pytest.mark.parametrize("cost", [0.25, None])
def test_no_call_of_a_function_starts_that_could_exceed_the_budget(tmp_path, cost):
    asked = []
    target = {"function": priced_bot(asked, cost), "max_cost": 0.25}
    spec = spec_of(target, budget=0.6)
    report = run_sync(spec, tmp_path)  # many at once
    assert len(asked) == 2
    assert (report.target.refused, report.spent) == (3, 0.5)  # one that does not say costs its most
    passed = report.totals["n_pass"]  # a judge who comes after the budget was closed is not asked either
    assert report.totals["reasons"] == {"budget": 5 - passed}
    assert run_sync(spec.with_changes(budget=0.8), tmp_path).spent == 0.75  # over all passes
    assert run_sync(spec.with_changes(budget=10), tmp_path).totals["n_pass"] == 5
    assert len(asked) == 5


def test_a_function_that_costs_more_than_it_says_ends_the_asking(tmp_path, caplog):
    asked = []
    target = {"function": priced_bot(asked, 0.25), "max_cost": 0.1}
    report = run_sync(spec_of(target, budget=9, limits={"target": {"concurrency": 1}}), tmp_path)
    assert (len(asked), report.spent) == (1, 0.25)
    assert report.totals["reasons"] == {"budget": 5}  # the judge of the first is not asked either
    assert "the target bot did cost $0.25 and has max_cost 0.1" in caplog.text


def test_a_judge_function_that_costs_something_says_how_much(tmp_path, caplog):
    asked = []

    def paying(output):
        asked.append(output)
        return {"value": True, "usage": {"cost": 0.25}}

    rows = [{"id": str(i), "output": f"o{i}"} for i in range(6)]

    def spec(**more):
        judge = JudgeSpec(function=paying, **more)
        return RunSpec(rows, {"criteria": "c", "judges": [judge]}, cache=False, budget=0.9, concurrency=1)

    silent = run_sync(spec(), tmp_path / "silent")
    assert len(asked) < 6
    assert silent.totals["reasons"]["budget"] == 6 - len(asked)
    assert "judge paying did cost $0.25 and says no max_cost" in caplog.text
    asked.clear()
    capped = run_sync(spec(max_cost=0.25), tmp_path / "capped")
    assert (len(asked), capped.spent) == (3, 0.75)
    assert capped.totals["reasons"] == {"budget": 3}
    free = RunSpec(rows, {"criteria": "c", "judges": [lambda output: True]}, cache=False, budget=0.0)
    assert run_sync(free, tmp_path / "free").totals["n_pass"] == 6
    with pytest.raises(ConfigError, match="max_cost is for functions"):
        JudgeSpec("openai/x", max_cost=1)


@pytest.mark.parametrize("model", [None, "bot"])
def test_connections_to_an_address_are_closed_with_the_run(tmp_path, monkeypatch, model):
    closed = []
    close = Shared.close

    async def told(self):
        closed.append(self)
        await close(self)

    monkeypatch.setattr(Shared, "close", told)
    answer = chat_reply("the answer to q") if model else Answer(b'{"output": "the answer to q"}')
    with ProviderServer(lambda request: answer) as server:
        url = server.openai_url if model else f"{server.openai_url}/chat/completions"
        report = run_sync(spec_of({"url": url, "model": model}, rows=ROWS[:2]), tmp_path)
    assert report.totals["n_pass"] == 2
    assert len(closed) == 1


def test_a_key_that_is_missing_is_told_before_the_first_call(tmp_path, monkeypatch):
    monkeypatch.delenv("BOT_KEY", raising=False)
    target = {"model": "bot", "url": "http://127.0.0.1:9/v1", "key_env": "BOT_KEY"}
    with pytest.raises(ConfigError, match=r"target: .*BOT_KEY"):
        run_sync(spec_of(target), tmp_path)
    assert not (tmp_path / "manifest.json").exists()
