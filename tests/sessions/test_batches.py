"""Sessions through batch APIs over HTTP: the results are those of a live run, and nothing is paid for twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jury import ConfigError, JudgeSpec, code_check, session_jury
from jury.providers.anthropic import AnthropicProvider
from jury.providers.openai import OpenAIProvider
from jury.runner import BatchReport, RunReport, RunSpec, replay, run, run_batches
from jury.runner.refill import Refill
from jury.store import Run
from tests.servers.batch_server import BatchServer
from tests.servers.obliging import ROOT
from tests.servers.provider_server import ProviderServer, Recorded

SAID = {"a": "It is lent out.", "b": "R. Stein has it.", "c": "On the shelf."}


def schema_of(body: dict[str, Any]) -> dict[str, Any]:
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    return schema or body["output_config"]["format"]["schema"]


def reply(body: dict[str, Any]) -> dict[str, Any]:
    """A FAIL for whoever names a reader; asked about several criteria, the same for each."""
    named = "Stein" in json.dumps(body)

    def one(properties: dict[str, Any]) -> dict[str, Any]:
        fields = {name: [] for name in properties if name not in ("verdict", "quote")}
        quote = {"quote": "Stein"} if "quote" in properties else {}
        return {**fields, **quote, "evidence": ["event 2"], "verdict": "FAIL" if named else "PASS"}

    properties = schema_of(body)["properties"]
    if "verdict" in properties:
        return one(properties)
    return {key: one(part["properties"]) for key, part in properties.items()}


def answered(request: Recorded) -> Any:
    return reply(request.body)


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer(lambda body: json.dumps(reply(body))) as one:
        yield one


@pytest.fixture(params=["openai", "anthropic"])
def vendor(request: Any) -> str:
    return str(request.param)


def seat(vendor: str, url: str, name: str = "j", max_tokens: int = 500) -> JudgeSpec:
    provider = (
        OpenAIProvider(api_key="k", base_url=f"{url}/v1")
        if vendor == "openai"
        else AnthropicProvider(api_key="k", base_url=url)
    )
    model = "openai/gpt-5-mini" if vendor == "openai" else "anthropic/claude-haiku-4-5"
    return JudgeSpec(model, provider=provider, id=name, settings={"retries": 0, "reask": 0, "max_tokens": max_tokens})


def write(folder: Path, turns: int = 1, times: int = 1) -> None:
    for name, said in SAID.items():
        turn = [{"role": "user", "content": f"Where is {name}?"}, {"role": "assistant", "content": said * times}]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(m) + "\n" for m in turn * turns))


def spec_of(folder: Path, *seats: JudgeSpec, **more: Any) -> RunSpec:
    words = {
        "kind": "session",
        "data": "?.jsonl",
        "criteria": ["policy", "tone"],
        "context": "1. Never name another reader.",
        "judges": list(seats),
        "cache": False,
    }
    return RunSpec.from_mapping({**words, **more}, folder)


def batched(spec: RunSpec, folder: Path, server: BatchServer, status: str = "completed") -> BatchReport:
    async def sleep(seconds: float) -> None:
        server.finish(status)

    return asyncio.run(run_batches(spec, folder, sleep=sleep))


def judged(spec: RunSpec, folder: Path) -> RunReport:
    return asyncio.run(run(spec, folder))


def told(folder: Path) -> list[Any]:
    """Everything that a reader of the results sees, apart from money and time."""
    return [
        (
            item.id,
            r.status,
            r.value,
            r.partial,
            r.notes,
            r.calls,
            [(c.key, c.value, c.passed, c.partial, [(v.judge, v.value, v.evidence_check) for v in c.votes])
             for c in r.criteria],
            [(v.judge, [(j.criterion, j.repetition, j.notes, j.verdict) for j in v.judgments]) for v in r.votes],
        )
        for item, r in Run.open(folder).results()
    ]  # fmt: skip


@pytest.mark.parametrize("ask", ["each", "together"])
@pytest.mark.parametrize("long", ["fit", "windows"])
def test_results_are_those_of_a_live_run(tmp_path: Path, server: BatchServer, vendor: str, ask: str, long: str) -> None:
    write(tmp_path, turns=6, times=6)
    how: dict[str, Any] = {"ask": ask, "long": long, "session_tokens": 300, "repetitions": 2}
    how["criteria"] = ["policy", "tone", "task-completion"]
    spec = spec_of(tmp_path, seat(vendor, server.url), **how)
    report = batched(spec, tmp_path / "batch", server)
    assert report.asked == report.answered == len(server.lines) > 0
    final = judged(spec, tmp_path / "batch")
    with ProviderServer(answered) as live:
        url = live.openai_url.removesuffix("/v1")
        judged(spec_of(tmp_path, seat(vendor, url), **how), tmp_path / "live")
        assert live.count() == report.asked
    assert (final.asked.live, final.totals["n_fail"], final.totals["n_total"]) == (0, 1, 3)
    assert told(tmp_path / "batch") == told(tmp_path / "live")
    assert any(j.judgment.notes for j in Run.open(tmp_path / "batch").judgments())  # a part, or what was cut
    assert {j.source for j in Run.open(tmp_path / "batch").judgments()} == {"batch"}
    assert replay(tmp_path / "batch").same
    again = judged(spec, tmp_path / "batch")
    assert (again.skipped, again.asked.live) == (3, 0)
    assert batched(spec, tmp_path / "batch", server).batches == 0


def test_the_prompts_can_be_read_again(tmp_path: Path, server: BatchServer, vendor: str) -> None:
    write(tmp_path)
    spec = spec_of(tmp_path, seat(vendor, server.url))
    batched(spec, tmp_path / "run", server)
    judged(spec, tmp_path / "run")
    stored = Run.open(tmp_path / "run")
    items, refill = {item.id: item for item in stored.items()}, Refill(stored)
    texts = [refill.texts(items[j.item], j.judgment, j.request) for j in stored.judgments()]
    assert [t is not None and t.exact for t in texts] == [True] * 6


def test_what_failed_is_asked_in_the_next_batch_or_live(tmp_path: Path, server: BatchServer, vendor: str) -> None:
    write(tmp_path)
    spec = spec_of(tmp_path, seat(vendor, server.url))
    server.fate = {"Where is a": "expired", "Where is b": "error", "Where is c": "missing"}
    first = batched(spec, tmp_path / "run", server, "expired")
    assert (first.asked, first.answered, first.failed) == (6, 0, 6)
    kinds = {j.item: j.judgment.verdict.failure for j in Run.open(tmp_path / "run").judgments()}
    assert kinds["a"] is not None
    assert kinds["a"].kind == "timeout"
    assert {j.judgment.criterion for j in Run.open(tmp_path / "run").judgments()} == {"policy", "tone"}
    server.fate = {"Where is b": "server_error"}
    second = batched(spec, tmp_path / "run", server)
    assert (second.batches, second.asked, second.answered) == (1, 6, 4)
    with ProviderServer(answered) as live:
        url = live.openai_url.removesuffix("/v1")
        final = judged(spec_of(tmp_path, seat(vendor, url)), tmp_path / "run")
        assert live.count() == 2
    assert (final.asked.live, final.asked.recalled, final.totals["n_pass"], final.totals["n_fail"]) == (2, 4, 2, 1)


def test_one_criterion_more_asks_about_that_alone(tmp_path: Path, server: BatchServer, vendor: str) -> None:
    write(tmp_path)
    batched(spec_of(tmp_path, seat(vendor, server.url), criteria="policy"), tmp_path / "run", server)
    report = batched(spec_of(tmp_path, seat(vendor, server.url)), tmp_path / "run", server)
    assert (report.asked, len(server.lines)) == (3, 6)


def test_a_criterion_that_is_gone_is_not_taken_in(tmp_path: Path, server: BatchServer, vendor: str) -> None:
    write(tmp_path)
    spec = spec_of(tmp_path, seat(vendor, server.url))

    async def killed(seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run_batches(spec, tmp_path / "run", sleep=killed))
    server.finish()
    report = batched(spec_of(tmp_path, seat(vendor, server.url), criteria="tone"), tmp_path / "run", server)
    assert (report.batches, report.answered, report.failed) == (0, 3, 3)
    assert {j.judgment.criterion for j in Run.open(tmp_path / "run").judgments()} == {"tone"}


@pytest.mark.parametrize("ask", ["each", "together"])
def test_of_a_cascade_every_tier_goes_into_batches(tmp_path: Path, server: BatchServer, vendor: str, ask: str) -> None:
    def differing(body: dict[str, Any]) -> str:
        """The first judge passes everything, of both criteria only the policy is open then."""
        made = reply(body)
        strict = body.get("max_tokens", body.get("max_completion_tokens")) != 77
        parts: list[Any] = [made] if "verdict" in made else list(made.values())
        about_tone = "verdict" in made and "violations" not in made
        for part in parts:
            part["verdict"] = "FAIL" if strict and "Stein" in json.dumps(body) and not about_tone else "PASS"
        return json.dumps(made)

    server.answer = differing
    write(tmp_path)
    cascade = {"tiers": [["cheap", "sure"], ["last"]], "check": 0}

    def at(url: str) -> RunSpec:
        seats = [seat(vendor, url, name, limit) for name, limit in (("cheap", 77), ("sure", 88), ("last", 99))]
        return spec_of(tmp_path, *seats, ask=ask, escalate=cascade)

    spec = at(server.url)
    report = batched(spec, tmp_path / "run", server)
    calls = 2 if ask == "each" else 1
    assert (report.batches, report.asked, report.answered) == (2, 3 * 2 * calls + 1, 3 * 2 * calls + 1)
    final = judged(spec, tmp_path / "run")
    assert (final.asked.live, final.totals["tiers"], final.totals["n_fail"]) == (0, {"1": 2, "2": 1}, 1)
    assert replay(tmp_path / "run").same
    with ProviderServer(lambda request: json.loads(differing(request.body))) as live:
        judged(at(live.openai_url.removesuffix("/v1")), tmp_path / "live")
        assert live.count() == report.asked
    assert told(tmp_path / "run") == told(tmp_path / "live")


def test_a_first_tier_without_batches_is_asked_live(tmp_path: Path, server: BatchServer, vendor: str) -> None:
    asked = []

    def quick(output: Any) -> str:
        asked.append(output)
        return "FAIL" if "Stein" in str(output) else "PASS"

    write(tmp_path)
    judges = [JudgeSpec(function=quick, id="quick"), JudgeSpec(function=lambda output: "PASS", id="kind")]
    cascade = {"tiers": [["quick", "kind"], ["j"]], "check": 0}
    spec = spec_of(tmp_path, *judges, seat(vendor, server.url), criteria="policy", escalate=cascade)
    report = batched(spec, tmp_path / "run", server)
    assert (report.asked, len(asked)) == (1, 3)
    final = judged(spec, tmp_path / "run")
    assert (final.asked.live, final.totals["tiers"], len(asked)) == (0, {"1": 2, "2": 1}, 3)


def test_the_budget_holds(tmp_path: Path, server: BatchServer, vendor: str) -> None:
    write(tmp_path)
    report = batched(spec_of(tmp_path, seat(vendor, server.url), budget=0.0), tmp_path / "run", server)
    assert (report.batches, report.unsent, server.submitted) == (0, 6, 0)


def test_a_missing_context_is_told_before_anything_is_sent(tmp_path: Path, server: BatchServer) -> None:
    write(tmp_path)
    spec = replace(spec_of(tmp_path, seat("openai", server.url)), jury={"criteria": ["policy"], "judges": ["openai/x"]})
    with pytest.raises(ConfigError, match="policy needs a context"):
        batched(spec, tmp_path / "run", server)
    assert server.submitted == 0


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_command_is_started_again_and_submits_nothing_twice(tmp_path: Path, server: BatchServer) -> None:
    write(tmp_path)
    config = {
        "kind": "session",
        "data": "?.jsonl",
        "criteria": "tone",
        "context": "Be kind.",
        "judges": [{"model": "openai/gpt-5-mini", "retries": 0}],
        "cache": False,
    }
    (tmp_path / "week.yaml").write_text(json.dumps(config))
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG")}
    environment = {**keep, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "OPENAI_API_KEY": "k"}
    environment["OPENAI_BASE_URL"] = f"{server.url}/v1"
    command = [sys.executable, "-m", "jury", "run", "week.yaml", "--batch", "--poll", "0.05", "--json"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as first:
        assert first.stderr is not None
        for line in first.stderr:
            if "submitted" in line:
                break
        first.send_signal(signal.SIGKILL)
    assert server.submitted == 1
    server.finish()
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "3 of 3 answered" in done.stderr
    assert server.submitted == 1
    totals = json.loads(done.stdout)
    assert (totals["n_pass"], totals["n_fail"], totals["asked"], totals["recalled"]) == (2, 1, 0, 3)


def test_checks_alone_have_nothing_to_send(tmp_path: Path, server: BatchServer) -> None:
    write(tmp_path)
    jury = session_jury(checks=[code_check("answered", lambda s: bool(s.final_message))])
    spec = RunSpec(str(tmp_path / "?.jsonl"), jury, cache=False)
    assert batched(spec, tmp_path / "run", server).batches == 0
    assert judged(spec, tmp_path / "run").totals["n_pass"] == 3
