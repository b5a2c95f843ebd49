"""A provider that misbehaves for a whole run, over real HTTP: every item ends in a verdict or a named error, and the
run's own numbers are those of the server."""

from __future__ import annotations

import asyncio
import random
import threading

import pytest

from jury import JudgeSpec
from jury.providers.openai import OpenAIProvider
from jury.runner import RunSpec, replay, run
from jury.store import Run
from tests.servers.provider_server import (
    ProviderServer,
    chat_reply,
    garbage,
    hang,
    http_error,
    overloaded_529,
    rate_limited,
    reply,
    reset,
)

ROWS = [{"id": f"r{i}", "input": "q", "output": f"answer {i}"} for i in range(60)]
GOOD = {"explanation": "", "value": True}


class Storm:
    """Answers most requests well, and some of them badly, by a fixed draw for each request in order of arrival."""

    def __init__(self, faults, seed=1):
        self.faults = faults
        self.draw = random.Random(seed)
        self.sent = []
        self.lock = threading.Lock()

    def __call__(self, request):
        with self.lock:
            dice = self.draw.random()
            for name, share, make in self.faults:
                dice -= share
                if dice < 0:
                    self.sent.append(name)
                    return make()
            self.sent.append("good")
            return reply(GOOD)


FAULTS = [
    ("429", 0.08, lambda: rate_limited(retry_after=0.02)),
    ("529", 0.03, overloaded_529),
    ("500", 0.04, lambda: http_error(500)),
    ("reset", 0.03, reset),
    ("garbage", 0.02, garbage),
    ("hang", 0.02, hang),
    ("prose", 0.03, lambda: chat_reply("I like it.")),
]


def spec_of(url, timeout_s=60.0, **settings):
    provider = OpenAIProvider(api_key="k", base_url=url)
    given = {"timeout_s": timeout_s, "retries": 3, **settings}
    judges = [JudgeSpec(f"openai/mock-{i}", provider=provider, settings=given) for i in range(2)]
    return RunSpec(ROWS, {"criteria": "c", "judges": judges}, cache=False, concurrency=16)


def judged(spec, folder):
    """A pass on a loop of its own, which closes the connections when it ends."""
    return asyncio.run(run(spec, folder))


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    monkeypatch.setattr("jury.calls.BACKOFF_S", 0.01)
    monkeypatch.setattr("jury.calls.MAX_BACKOFF_S", 0.05)


def test_a_storm_ends_in_verdicts_or_named_errors_and_the_books_balance(tmp_path):
    storm = Storm(FAULTS)
    with ProviderServer(storm) as server:
        report = judged(spec_of(server.openai_url, timeout_s=3.0), tmp_path)
        assert report.finished
        assert report.totals["n_total"] == 60
        judgments = list(Run.open(tmp_path).judgments())
        assert len(judgments) == 120
        failed = [j.judgment.verdict.failure.kind for j in judgments if j.judgment.verdict.failure]
        # Every request that the server saw is in the books: a call, or a retry of one. One whose deadline came first
        # is in the books although the server may not have seen it.
        sent = sum(j.judgment.calls + j.judgment.retries for j in judgments)
        assert sent - failed.count("timeout") <= server.count("/chat/completions") <= sent
        known = {"timeout", "rate_limited", "overloaded", "server_error", "connection", "bad_body", "no_json"}
        assert set(failed) <= known
        # What came too late is no matter of retries, and on a busy machine there may be more of it.
        lost = [j for j in judgments if j.judgment.verdict.failure and j.judgment.verdict.failure.kind != "timeout"]
        assert len({j.item for j in lost}) <= 0.2 * 60
        late = {j.item for j in judgments if j.judgment.verdict.failure} - {j.item for j in lost}
        assert report.totals["n_error"] + report.totals["n_inconclusive"] <= 0.2 * 60 + len(late)
        tokens = sum(u.input_tokens for j in judgments if (u := j.judgment.usage) and u.input_tokens)
        assert report.totals["input_tokens"] == tokens
        storm.faults = []
        healed = judged(spec_of(server.openai_url), tmp_path)
        assert healed.totals["n_pass"] == 60
        assert healed.asked.live == len(failed)
        once_more = judged(spec_of(server.openai_url), tmp_path)
        assert once_more.totals == healed.totals
        assert once_more.asked.live == 0
    assert replay(tmp_path).same


def test_a_429_storm_slows_the_run_down_instead_of_ending_it(tmp_path):
    storm = Storm([("429", 1.0, lambda: rate_limited(retry_after=0.05))])

    def calm_after_thirty(request):
        if len(storm.sent) >= 30:
            storm.faults = []
        return storm(request)

    with ProviderServer(calm_after_thirty) as server:
        report = judged(spec_of(server.openai_url, retries=8), tmp_path)
        assert report.totals["n_pass"] == 60
        assert storm.sent.count("429") == 30
        assert server.count() == 120 + 30


def test_hung_sockets_cost_their_deadline_and_nobody_else(tmp_path):
    storm = Storm([("hang", 0.05, hang)], seed=3)
    with ProviderServer(storm) as server:
        report = judged(spec_of(server.openai_url, retries=0, timeout_s=2.0), tmp_path)
    hung = storm.sent.count("hang")
    assert hung > 0
    # On a busy machine a sound answer may come too late as well: it is a timeout of its own item, like the others.
    assert hung <= sum(report.totals["failures"].values()) < 40
    assert report.totals["n_total"] == 60
    assert all(name.endswith(": timeout") for name in report.totals["failures"])


def test_an_outage_is_an_error_for_every_item_and_is_healed(tmp_path):
    storm = Storm([("500", 1.0, lambda: http_error(500))])
    with ProviderServer(storm) as server:
        report = judged(spec_of(server.openai_url, retries=0), tmp_path)
        assert (report.totals["n_error"], report.totals["coverage"]) == (60, 0)
        storm.faults = []
        assert judged(spec_of(server.openai_url), tmp_path).totals["n_pass"] == 60
