"""Batches over HTTP: submitted once, collected in any order, surviving a restart; what failed is asked live."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from jury import ConfigError, JudgeSpec, ProviderError, Reply, ScriptedProvider
from jury.cli.__main__ import main
from jury.providers import registry
from jury.providers.anthropic import AnthropicProvider
from jury.providers.batches import batch_api, body_of, outcomes
from jury.providers.openai import OpenAIProvider
from jury.runner import RunSpec, batching, replay, run, run_batches, run_sync
from jury.runner.entries import entries
from jury.runner.questions import questions
from jury.runner.under_way import last_words, still_open
from jury.store import Run, RunWriter
from tests.servers.batch_server import BatchServer

ROWS = [{"id": f"r{i}", "input": "q", "output": f"answer-{i}."} for i in range(5)]


@pytest.fixture
def server():
    with BatchServer() as one:
        yield one


@pytest.fixture(params=["openai", "anthropic"])
def vendor(request, server):
    """A seat of a vendor at the server's address."""
    if request.param == "openai":
        model, provider = "openai/gpt-5-mini", OpenAIProvider(api_key="k", base_url=f"{server.url}/v1")
    else:
        model, provider = "anthropic/claude-haiku-4-5", AnthropicProvider(api_key="k", base_url=server.url)
    return JudgeSpec(model, provider=provider, id="j", settings={"retries": 0, "reask": 0})


def spec_of(*judges, rows=ROWS, **own):
    return RunSpec(rows, {"criteria": "c", "judges": list(judges)}, cache=False, **own)


def batched(spec, folder, server, *, status="completed", sleeps=None):
    """The batches of a run, with a server that has done its work after the first look."""

    async def sleep(seconds):
        server.finish(status)
        if sleeps is not None:
            sleeps.append(seconds)

    said = []
    report = asyncio.run(run_batches(spec, folder, poll_s=7, sleep=sleep, say=said.append))
    return report, said


def test_a_run_in_one_batch(tmp_path, server, vendor):
    sleeps = []
    report, said = batched(spec_of(vendor), tmp_path, server, sleeps=sleeps)
    assert (report.batches, report.asked, report.answered, report.failed) == (1, 5, 5, 0)
    assert sleeps == [7]
    assert len(server.lines) == len({line["custom_id"] for line in server.lines}) == 5
    assert any("5 questions submitted" in text for text in said)
    final = asyncio.run(run(spec_of(vendor), tmp_path))
    assert (final.asked.live, final.asked.recalled, final.totals["n_pass"]) == (0, 5, 5)
    judgments = list(Run.open(tmp_path).judgments())
    assert {j.source for j in judgments} == {"batch"}
    name = "gpt-5-mini" if "gpt" in vendor.model else "claude-haiku-4-5"
    per_million = {"gpt-5-mini": (0.25, 2.0), "claude-haiku-4-5": (1.0, 5.0)}[name]
    full = (1000 * per_million[0] + 100 * per_million[1]) / 1e6
    assert final.totals["cost"] == pytest.approx(5 * full / 2)  # half the listed price
    assert replay(tmp_path).same


def test_a_target_makes_its_outputs_before_the_batch(tmp_path, server, vendor):
    asked = []

    def bot(input):
        asked.append(input)
        return f"answer to {input}."

    rows = [{"id": f"r{i}", "input": f"q{i}"} for i in range(4)]
    report, _ = batched(spec_of(vendor, rows=rows, target=bot), tmp_path, server)
    assert (report.batches, report.asked, report.answered) == (1, 4, 4)
    final = asyncio.run(run(spec_of(vendor, rows=rows, target=bot), tmp_path))
    assert (final.asked.live, final.target.live, final.target.recalled) == (0, 0, 4)
    assert sorted(asked) == ["q0", "q1", "q2", "q3"]
    assert [i.output for i in Run.open(tmp_path).items()] == [f"answer to q{i}." for i in range(4)]


def seat_like(vendor, name, max_tokens):
    return replace(vendor, id=name, settings={"retries": 0, "reask": 0, "max_tokens": max_tokens})


def differing(body):
    """The judge with the short replies fails the answers 1 and 2, the others nothing."""
    text = json.dumps(body)
    strict = body.get("max_tokens", body.get("max_completion_tokens")) == 77
    return json.dumps({"explanation": "e", "value": not (strict and ("answer-1." in text or "answer-2." in text))})


def test_of_a_cascade_every_tier_goes_into_batches(tmp_path, server, vendor):
    server.answer = differing
    panel = [vendor, seat_like(vendor, "k", 77), seat_like(vendor, "m", 88), seat_like(vendor, "n", 99)]
    cascade = {"tiers": [["j", "k"], ["m"], ["n"]], "check": 0}
    spec = RunSpec(ROWS, {"criteria": "c", "judges": panel, "escalate": cascade}, cache=False)
    report, _ = batched(spec, tmp_path, server)
    assert (report.batches, report.asked, report.answered) == (2, 12, 12)
    assert [len(lines) for lines in map(questions_of, (tmp_path / "batch-1.jsonl", tmp_path / "batch-2.jsonl"))] == [
        10,
        2,
    ]
    final = asyncio.run(run(spec, tmp_path))
    assert (final.asked.live, final.totals["tiers"]) == (0, {"1": 3, "2": 2})
    assert batched(spec, tmp_path, server)[0].batches == 0


def test_items_drawn_to_be_checked_go_whole_into_the_first_batch(tmp_path, server, vendor):
    cascade = {"tiers": [["j"], ["k"]], "check": 1}
    spec = RunSpec(
        ROWS, {"criteria": "c", "judges": [vendor, seat_like(vendor, "k", 77)], "escalate": cascade}, cache=False
    )
    report, _ = batched(spec, tmp_path, server)
    assert (report.batches, report.asked) == (1, 10)


def test_a_first_tier_without_batches_is_asked_live_and_decides_what_is_sent(tmp_path, server, vendor):
    asked = []

    def quick(output):
        asked.append(output)
        return output == "answer-0."

    judges = [JudgeSpec(function=quick, id="quick"), JudgeSpec(function=lambda output: True, id="kind"), vendor]
    cascade = {"tiers": [["quick", "kind"], ["j"]], "check": 0}
    spec = RunSpec(ROWS, {"criteria": "c", "judges": judges, "escalate": cascade}, cache=False)
    report, _ = batched(spec, tmp_path, server)
    assert (report.batches, report.asked, len(asked)) == (1, 4, 5)
    final = asyncio.run(run(spec, tmp_path))
    assert (final.asked.live, final.totals["tiers"], len(asked)) == (0, {"1": 1, "2": 4}, 5)


def questions_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("ask", ["together", "each"])
def test_a_rubric_goes_into_batches(tmp_path, server, vendor, ask):
    rubric = {
        "name": "r",
        "pass_rule": "right >= 4 and kind == 1",
        "criteria": [{"key": "right", "question": "?"}, {"key": "kind", "scale": "0/1"}],
    }

    def answer(body):
        text = json.dumps(body)
        scores = {"right": 5, "kind": 0 if "answer-3." in text else 1}
        given = {k: {"evidence": [], "reasoning": "r", "score": v} for k, v in scores.items() if f'"{k}' in text}
        return json.dumps(given)

    server.answer = answer
    told = {"rubric": rubric, "ask": ask, "permute": True, "judges": [vendor], "cache": False}
    spec = RunSpec.from_mapping(told).with_changes(data=ROWS)
    report, _ = batched(spec, tmp_path, server)
    assert (report.asked, report.answered) == ((5, 5) if ask == "together" else (10, 10))
    final = asyncio.run(run(spec, tmp_path))
    assert (final.asked.live, final.totals["n_pass"], final.totals["n_fail"]) == (0, 4, 1)
    assert replay(tmp_path).same


def test_which_order_of_the_criteria_was_asked_counts_functions_too(tmp_path, server, vendor):
    keys = ("kind", "right")
    rubric = {"name": "r", "criteria": [{"key": keys[0], "scale": "0/1"}, {"key": keys[1], "question": "?"}]}
    server.answer = lambda body: json.dumps({k: {"evidence": [], "reasoning": "r", "score": 1} for k in keys})
    told = {"rubric": rubric, "permute": True, "judges": [lambda output: dict.fromkeys(keys, 1), vendor]}
    spec = RunSpec.from_mapping({**told, "cache": False}).with_changes(data=ROWS[:1])
    batched(spec, tmp_path, server)
    asked = [case for seat, case, _ in questions(spec.make_jury(), next(entries(spec))) if seat.name == "j"]
    assert [j.judgment.notes for j in Run.open(tmp_path).judgments()] == [case.format.notes for case in asked]


def test_what_another_run_paid_for_is_in_no_batch(tmp_path, server, vendor):
    spec = replace(spec_of(vendor, rows=ROWS[:3]), cache=str(tmp_path / "cache.db"))
    first = RunSpec(ROWS, spec.jury, cache=spec.cache)
    batched(spec, tmp_path / "one", server)
    asyncio.run(run(spec, tmp_path / "one"))
    report, _ = batched(first, tmp_path / "two", server)
    in_cache = sum(j.source == "cache" for j in Run.open(tmp_path / "two").judgments())
    assert (report.asked, in_cache) in ((2, 3), (5, 0))


def test_the_target_and_the_batches_share_one_budget(tmp_path, server, vendor):
    asked, seen = [], []

    def bot(input):
        asked.append(input)
        return f"answer to {input}.", {"cost": 0.01}

    rows = [{"id": f"r{i}", "input": f"q{i}"} for i in range(6)]
    spec = spec_of(vendor, rows=rows, target={"function": bot, "max_cost": 0.01}, budget=0.05, concurrency=1)

    async def sleep(seconds):
        most = sum(line.get("most") or 0 for line in questions_of(tmp_path / "batches.jsonl"))
        seen.append(len(asked) * 0.01 + most)
        server.finish()

    asyncio.run(run_batches(spec, tmp_path, sleep=sleep))
    assert 0 < len(asked) < 6
    assert seen
    assert seen[0] <= 0.05
    final = asyncio.run(run(spec, tmp_path))
    assert final.spent <= 0.05


def test_a_budget_for_batches_needs_prices(tmp_path, server):
    nobody = JudgeSpec(
        "openai/no-such-model", provider=OpenAIProvider(api_key="k", base_url=f"{server.url}/v1"), id="j"
    )
    with pytest.raises(ConfigError, match="a budget needs a price for openai/no-such-model"):
        asyncio.run(run_batches(spec_of(nobody, budget=5), tmp_path))
    assert server.submitted == 0


@pytest.mark.parametrize("at", [1, 3, 5, 6])
def test_a_kill_while_a_batch_is_taken_in_counts_nothing_twice(tmp_path, server, vendor, monkeypatch, at):
    server.answer = lambda body: '{"value": true}' if "answer-0." in json.dumps(body) else "no json at all"
    batched(spec_of(vendor), tmp_path / "whole", server)
    whole = list(Run.open(tmp_path / "whole").judgments())
    steps = []

    def counted(real):
        def step(self, *given, **told):
            if told.get("state", "collected") == "collected":  # each judgment, and the note that all are there
                steps.append(1)
                if len(steps) == at:
                    raise KeyboardInterrupt
            return real(self, *given, **told)

        return step

    with monkeypatch.context() as patch:
        patch.setattr(RunWriter, "add_judgment", counted(RunWriter.add_judgment))
        patch.setattr(batching._Batches, "_note", counted(batching._Batches._note))
        with pytest.raises(KeyboardInterrupt):
            batched(spec_of(vendor), tmp_path / "killed", server)
    report, _ = batched(spec_of(vendor), tmp_path / "killed", server)
    again = list(Run.open(tmp_path / "killed").judgments())
    assert (report.answered, report.failed) == (1, 4)
    assert sorted(j.key for j in again) == sorted(j.key for j in whole)
    assert len({j.key for j in again}) == len(again) == 5
    with RunWriter(tmp_path / "whole") as one, RunWriter(tmp_path / "killed") as other:
        assert other.cost == pytest.approx(one.cost)


def test_what_failed_is_asked_live_or_in_the_next_batch(tmp_path, server, vendor):
    server.fate = {"answer-1.": "error", "answer-2.": "expired", "answer-3.": "missing", "answer-4.": "server_error"}
    report, said = batched(spec_of(vendor), tmp_path, server, status="expired")
    assert (report.answered, report.failed) == (1, 4)
    assert any("1 of 5 answered" in line for line in said)
    told = [line for line in said if " x " in line]  # by kind, with the first one's words
    assert [sum(f"1 x {kind}: " in line for line in told) for kind in ("timeout", "bad_body", "server_error")] == [
        1
    ] * 3
    assert len(told) == 4
    kinds = {j.item: j.judgment.verdict.failure for j in Run.open(tmp_path).judgments()}
    assert kinds["r0"] is None
    assert "too long" in kinds["r1"].detail or "context length" in kinds["r1"].detail
    assert kinds["r2"].kind == "timeout"
    assert "gave no result" in kinds["r3"].detail
    server.fate = {}
    again, _ = batched(spec_of(vendor), tmp_path, server)
    assert (again.batches, again.asked, again.answered) == (1, 4, 4)
    assert len(server.lines) == 9
    final = asyncio.run(run(spec_of(vendor), tmp_path))
    assert (final.asked.live, final.totals["n_pass"]) == (0, 5)


def test_a_kill_while_it_waits_submits_nothing_twice(tmp_path, server, vendor):
    async def killed(seconds):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run_batches(spec_of(vendor), tmp_path, sleep=killed))
    assert server.submitted == 1
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run_batches(spec_of(vendor), tmp_path, sleep=killed))
    assert server.submitted == 1
    server.finish()
    report, _ = batched(spec_of(vendor), tmp_path, server)
    assert (server.submitted, report.batches, report.answered) == (1, 0, 5)


@pytest.mark.parametrize("step", ["state", "results"])
def test_a_vendor_that_is_down_for_a_while_is_waited_for(tmp_path, server, vendor, monkeypatch, step):
    api = type(batch_api(vendor.provider))
    real, looks = getattr(api, step), []

    async def down(self, batch):
        looks.append(batch)
        if len(looks) < 4:
            raise ProviderError("connection", "reset", retry=True)
        return await real(self, batch)

    monkeypatch.setattr(api, step, down)
    report, said = batched(spec_of(vendor), tmp_path, server)
    assert (server.submitted, report.answered, len(looks)) == (1, 5, 4)
    assert sum("reset; it is looked at again" in text for text in said) == 3

    async def unknown(self, batch):
        raise ProviderError("auth", "no such key")

    monkeypatch.setattr(api, "state", unknown)
    with pytest.raises(ProviderError, match="no such key"):
        batched(spec_of(vendor), tmp_path / "other", server)


def test_a_live_run_does_not_pay_for_what_is_under_way(tmp_path, server, vendor):
    async def killed(seconds):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run_batches(spec_of(vendor), tmp_path, sleep=killed))
    with pytest.raises(ConfigError, match=r"5 questions of .* are in batches that are under way"):
        run_sync(spec_of(vendor), tmp_path)
    server.finish()
    batched(spec_of(vendor), tmp_path, server)
    assert run_sync(spec_of(vendor), tmp_path).asked.live == 0


def test_a_lost_answer_to_a_submission_is_looked_for(tmp_path, server, vendor):
    server.drop_next_create = True
    server.vendor_created = "2099-01-01T00:00:00Z"
    said = []
    with pytest.raises(ProviderError) as raised:
        asyncio.run(run_batches(spec_of(vendor), tmp_path, say=said.append))
    assert said == ["batch 1: nobody knows whether it arrived; the next start looks for it before it sends"]
    assert raised.value.kind == "connection"
    assert server.submitted == 1
    report, _ = batched(spec_of(vendor), tmp_path, server)
    assert (server.submitted, report.answered) == (1, 5)


def minutes_ago(minutes):
    return (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")


def test_a_lost_answer_is_found_also_where_the_vendors_clock_is_behind(tmp_path, server, vendor):
    server.drop_next_create = True
    server.vendor_created = minutes_ago(5)
    with pytest.raises(ProviderError):
        batched(spec_of(vendor), tmp_path, server)
    report, _ = batched(spec_of(vendor), tmp_path, server)
    assert (server.submitted, report.answered) == (1, 5)


def test_an_earlier_batch_of_the_same_size_is_not_taken_for_a_lost_one(tmp_path, server, vendor, monkeypatch):
    server.vendor_created = minutes_ago(1)
    batched(spec_of(vendor), tmp_path, server)
    api = type(batch_api(vendor.provider))

    async def lost(self, requests, token):
        raise ProviderError("connection", "reset")

    other = [{**row, "output": f"{row['output']} and more"} for row in ROWS]
    with monkeypatch.context() as cut:
        cut.setattr(api, "submit", lost)
        with pytest.raises(ProviderError):
            batched(spec_of(vendor, rows=other), tmp_path, server)
    report, _ = batched(spec_of(vendor, rows=other), tmp_path, server)
    assert (server.submitted, report.answered) == (2, 5)


def test_a_submission_that_never_arrived_is_sent_again(tmp_path, server, vendor, monkeypatch):
    api = type(batch_api(vendor.provider))
    real = api.submit

    async def lost(self, requests, token):
        raise ProviderError("connection", "reset")

    monkeypatch.setattr(api, "submit", lost)
    with pytest.raises(ProviderError):
        batched(spec_of(vendor), tmp_path, server)
    monkeypatch.setattr(api, "submit", real)
    report, _ = batched(spec_of(vendor), tmp_path, server)
    assert (server.submitted, report.answered) == (1, 5)


def test_a_refused_batch_is_not_looked_for(tmp_path, server, vendor, monkeypatch):
    api = type(batch_api(vendor.provider))

    async def refused(self, requests, token):
        raise ProviderError("bad_request", "too large")

    with monkeypatch.context() as patch:
        patch.setattr(api, "submit", refused)
        with pytest.raises(ProviderError, match="too large"):
            batched(spec_of(vendor), tmp_path, server)
    report, _ = batched(spec_of(vendor), tmp_path, server)
    assert (report.batches, report.answered) == (1, 5)


def test_more_data_asks_only_what_is_new_and_large_runs_make_several(tmp_path, server, vendor, monkeypatch):
    batched(spec_of(vendor, rows=ROWS[:2]), tmp_path, server)
    monkeypatch.setattr("jury.runner.batching.MOST_REQUESTS", 2)
    report, _ = batched(spec_of(vendor), tmp_path, server)
    assert (report.batches, report.asked) == (2, 3)
    assert server.submitted == 3


def test_identical_items_are_sent_once(tmp_path, server, vendor):
    rows = [{"id": str(i), "input": "q", "output": "same"} for i in range(4)]
    report, _ = batched(spec_of(vendor, rows=rows), tmp_path, server)
    assert report.asked == 1
    final = asyncio.run(run(spec_of(vendor, rows=rows), tmp_path))
    assert (final.asked.live, final.totals["n_pass"]) == (0, 4)


def test_an_unreadable_reply_is_asked_live(tmp_path, server, vendor):
    server.answer = lambda body: "no json at all" if "answer-1." in json.dumps(body) else '{"value": true}'
    report, _ = batched(spec_of(vendor), tmp_path, server)
    assert (report.answered, report.failed) == (4, 1)
    failed = [j for j in Run.open(tmp_path).judgments() if j.judgment.verdict.failure]
    assert [j.judgment.verdict.failure.kind for j in failed] == ["no_json"]
    assert failed[0].judgment.usage.cost > 0  # it was paid


def test_a_reply_with_odd_line_breaks_is_one_reply(tmp_path, server, vendor):
    said = "one\u2028two\u0085three"
    server.answer = lambda body: json.dumps({"explanation": said, "value": True}, ensure_ascii=False)
    report, _ = batched(spec_of(vendor), tmp_path, server)
    assert (report.answered, report.failed) == (5, 0)
    assert {j.judgment.verdict.explanation for j in Run.open(tmp_path).judgments()} == {said}


def torn(text):
    lines = text.split("\n")
    return "\n".join([lines[0], lines[1][:40], *lines[2:]])


def test_a_line_that_stays_torn_costs_its_own_answer_alone(tmp_path, server, vendor):
    looks = []
    server.spoil = lambda text: looks.append(text) or torn(text)
    spec = spec_of(vendor, budget=1.0)
    report, said = batched(spec, tmp_path, server)
    assert (report.answered, report.failed, len(looks)) == (4, 1, 2)
    assert sum("1 line of its results cannot be read: what is missing is asked again" in text for text in said) == 1
    history = Run.open(tmp_path).manifest.history
    assert any(line.get("unsure", 0) > 0 for line in history)  # nobody knows what the torn answer did cost
    server.spoil = str
    again, _ = batched(spec, tmp_path, server)
    assert (again.asked, again.answered) == (1, 1)


def test_of_two_answers_one_may_stay_torn(tmp_path, server, vendor):
    server.spoil = torn
    report, _ = batched(spec_of(vendor, rows=ROWS[:2]), tmp_path, server)
    assert (report.answered, report.failed) == (1, 1)


@pytest.mark.parametrize(
    ("rows", "spoil", "answered"),
    [
        (1, lambda text: text[:40], 0),
        (5, lambda text: "<html>gone</html>", 0),
        (5, lambda text: "\n".join(text.split("\n")[:3])[:-40], 2),
    ],
)
def test_results_that_can_never_be_read_are_errors_of_the_batch(tmp_path, server, vendor, rows, spoil, answered):
    looks = []
    server.spoil = lambda text: looks.append(text) or spoil(text)
    spec = spec_of(vendor, rows=ROWS[:rows], budget=1.0)
    report, said = batched(spec, tmp_path, server)
    assert (report.answered, report.failed, len(looks)) == (answered, rows - answered, 5)
    assert sum("it is looked at again" in text for text in said) == 4
    failures = [f for j in Run.open(tmp_path).judgments() if (f := j.judgment.verdict.failure) is not None]
    assert {f.kind for f in failures} == {"bad_body"}
    assert all("1 line of its results cannot be read, looked at 5 times" in f.detail for f in failures)
    with RunWriter(tmp_path) as writer:
        assert sum(line.get("unsure", 0) for line in writer.manifest.history) > 0
    server.spoil = str
    again, _ = batched(spec, tmp_path, server)
    assert (again.asked, again.answered) == (rows - answered, rows - answered)
    assert asyncio.run(run(spec, tmp_path)).totals["n_pass"] == rows


def test_lines_that_are_torn_by_turns_are_all_read(tmp_path, server, vendor):
    looks = []

    def one_of_them(text):
        looks.append(text)
        lines = text.split("\n")
        kept = lines[:3] if len(looks) == 1 else lines[3:]
        return "\n".join([*kept, "{torn"])

    server.spoil = one_of_them
    report, _ = batched(spec_of(vendor), tmp_path, server)
    assert (report.answered, report.failed, len(looks), server.submitted) == (5, 0, 2, 1)


@pytest.mark.parametrize("spoil", [torn, lambda text: text[:-40], lambda text: "<html>busy</html>\n" * 5])
def test_results_that_are_torn_on_their_way_are_looked_at_again(tmp_path, server, vendor, spoil):
    looks = []

    def once(text):
        looks.append(text)
        return spoil(text) if len(looks) == 1 else text

    server.spoil = once
    report, said = batched(spec_of(vendor), tmp_path, server)
    assert (report.answered, report.failed, server.submitted) == (5, 0, 1)
    assert sum("it is looked at again" in text for text in said) == 1


@pytest.mark.parametrize("spoil", [lambda text: "\n".join(text.split("\n")[:3])[:-40], lambda text: "no\n" * 5])
def test_results_that_were_cut_short_are_never_taken_for_all(tmp_path, server, vendor, spoil):
    looks = []

    def thrice(text):
        looks.append(text)
        return spoil(text) if len(looks) < 4 else text

    server.spoil = thrice
    assert batched(spec_of(vendor), tmp_path, server)[0].answered == 5
    assert len(looks) == 4


def test_the_budget_holds_for_batches(tmp_path, server, vendor):
    report, _ = batched(spec_of(vendor, budget=0.0), tmp_path, server)
    assert (report.batches, report.unsent) == (0, 5)
    assert server.submitted == 0


def test_what_is_under_way_is_in_the_budget_after_a_restart(tmp_path, server, vendor):
    async def killed(seconds):
        raise KeyboardInterrupt

    spec = spec_of(vendor, budget=0.005 if "gpt" in vendor.model else 0.02)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(run_batches(spec, tmp_path, sleep=killed))
    assert server.submitted == 1
    assert 0 < len(server.lines) < 5


def test_a_batch_of_a_vendor_who_left_the_panel_is_not_waited_for(tmp_path, server, vendor):
    async def killed(seconds):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run_batches(spec_of(vendor), tmp_path, sleep=killed))
    other = JudgeSpec("scripted/x", provider=ScriptedProvider(lambda r: '{"value": true}'))
    sleeps = []
    report, said = batched(spec_of(other), tmp_path, server, sleeps=sleeps)
    assert (report.batches, sleeps) == (0, [])
    assert any("no judge of" in text for text in said)
    back, _ = batched(spec_of(vendor), tmp_path, server)
    assert (server.submitted, back.answered) == (1, 5)


def test_seats_without_batches_are_left_for_the_live_pass(tmp_path, server, vendor):
    other = JudgeSpec("scripted/x", provider=ScriptedProvider(lambda r: '{"value": true}'))
    spec = spec_of(vendor, other, JudgeSpec(function=lambda output: True, id="f"))
    report, _ = batched(spec, tmp_path, server)
    assert report.asked == 5
    final = asyncio.run(run(spec, tmp_path))
    assert (final.asked.live, final.asked.recalled) == (10, 5)
    with pytest.raises(ConfigError, match="no batches"):
        body_of(other.provider, None)


def test_standard_input_is_no_data_for_batches(tmp_path, server, vendor):
    with pytest.raises(ConfigError, match="give a file instead of standard input"):
        batched(spec_of(vendor, rows="-"), tmp_path, server)
    assert server.submitted == 0


def test_outcomes_are_in_the_order_of_the_requests():
    lines = [
        {"custom_id": "b", "result": {"type": "canceled"}},
        {"custom_id": "never asked", "result": {"type": "expired"}},
        {"custom_id": "a", "response": {"status_code": 200, "body": {"choices": []}}},
    ]
    found = outcomes(["a", "b", "c"], lines, "openai_chat", "cancelled")
    assert list(found) == ["a", "b", "c"]
    assert found["a"].kind == "empty"
    assert "canceled" in found["b"].detail
    assert "status: cancelled" in found["c"].detail
    assert not any(isinstance(f, Reply) for f in found.values())


@pytest.mark.parametrize("line", ['{"x": 1}', '{"batch": "z", "state": "planned"}', '{"batch": 3, "state": 7}'])
def test_a_line_that_is_about_no_batch_is_passed_over(tmp_path, caplog, line):
    (tmp_path / "batches.jsonl").write_text(f'{line}\n{{"batch": 1, "state": "submitted", "id": "b"}}\n')
    assert still_open(last_words(tmp_path)) == {1: {"batch": 1, "state": "submitted", "id": "b"}}
    assert "byte 0: not a word about a batch" in caplog.text


def test_the_command_line(tmp_path, server, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    registry.reset()
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in ROWS))
    config = {"data": "rows.jsonl", "criteria": "c", "judges": [{"model": "openai/gpt-5-mini", "retries": 0}]}
    (tmp_path / "run.yaml").write_text(json.dumps(config))
    finish = server.create

    def create(*arguments):
        made = finish(*arguments)
        server.finish()
        return made

    monkeypatch.setattr(server, "create", create)
    with pytest.raises(SystemExit) as left:
        main(["run", "run.yaml", "--batch", "--poll", "0.01"])
    out, err = capsys.readouterr()
    assert left.value.code == 0
    assert "5 questions submitted" in err
    assert "pass rate  100% [56.6, 100.0]  5 passed, 0 failed" in out
    assert server.submitted == 1
    registry.reset()


@pytest.mark.parametrize("status", ["abc", [1], float("inf"), {"a": 1}])
def test_a_line_of_a_batch_with_a_status_that_is_none_spoils_no_other(status):
    lines = [{"custom_id": "a", "response": {"status_code": status, "body": {}}}, {"custom_id": "b", "error": None}]
    found = outcomes(["a", "b"], lines, "openai_chat")
    assert [getattr(one, "kind", None) for one in found.values()] == ["bad_body", "server_error"]


def test_what_a_batch_says_of_a_request_holds_no_key():
    line = {"custom_id": "a", "error": {"code": "x", "message": "bad key sk-abcdefghijklmnop"}}
    assert "abcdefgh" not in str(outcomes(["a"], [line], "openai_chat")["a"])
