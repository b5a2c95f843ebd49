"""Money: no call starts that could cost more than is left, whatever the calls turn out to cost."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury import ConfigError, JudgeSpec, ProviderError, Reply, Request, ScriptedProvider, Settings, Turn, Usage
from jury.budget import Budget
from jury.governed import Governed, most_cost, tokens
from jury.limits import Limits, Throttle
from jury.providers.endpoints import Endpoint
from jury.providers.openai import OpenAIProvider
from jury.providers.prices import Price
from jury.runner import RunSpec, replay, run_sync
from jury.runner import run as judged
from jury.store import Run
from tests.virtual_time import now, run

ROWS = [{"id": f"r{i}", "input": "q", "output": f"answer {i}"} for i in range(30)]


@given(
    st.floats(0, 10),
    st.lists(st.tuples(st.floats(0.01, 3), st.floats(0, 1), st.floats(0, 5)), max_size=40),
)
def test_what_is_spent_and_reserved_never_passes_the_limit(limit, calls):
    async def main():
        budget = Budget(limit)
        real = refused = 0.0

        async def call(most, share, seconds):
            nonlocal real, refused
            try:
                await budget.reserve(most)
            except ProviderError:
                refused += 1
                return
            assert budget.left >= -1e-9
            await asyncio.sleep(seconds)
            real += most * share
            budget.settle(most, most * share)

        await asyncio.gather(*(call(*c) for c in calls))
        return budget, real, refused

    budget, real, refused = run(main())
    assert real <= limit + 1e-9
    assert budget.spent == pytest.approx(real)
    assert budget.closed == (refused > 0)
    assert budget.left == pytest.approx(limit - real)


def test_a_call_waits_for_what_others_did_not_use():
    async def main():
        budget = Budget(1.0)
        for _ in range(5):
            await budget.reserve(0.2)
        waits = asyncio.ensure_future(budget.reserve(0.3))
        await asyncio.sleep(1)
        assert not waits.done()
        budget.settle(0.2, 0.01)
        budget.settle(0.2, 0.01)
        await waits
        return budget.closed

    assert run(main()) is False


def test_once_closed_it_stays_closed_also_for_cheap_calls():
    async def main():
        budget = Budget(1.0, spent=0.95)
        with pytest.raises(ProviderError, match=r"\$0\.95 of \$1\.00 are spent"):
            await budget.reserve(0.2)
        with pytest.raises(ProviderError):
            await budget.reserve(0.001)

    run(main())


def test_unknown_and_lost_costs_count_in_full():
    async def main():
        budget = Budget(1.0)
        await budget.reserve(0.3)
        await budget.reserve(0.3)
        budget.settle(0.3, None)
        budget.settle(0.3, None, unsure=True)
        return budget

    budget = run(main())
    assert (budget.spent, budget.unsure) == (0.3, 0.3)
    assert budget.left == pytest.approx(0.4)


def test_who_is_cancelled_in_line_reserves_nothing():
    async def main():
        budget = Budget(1.0)
        await budget.reserve(0.9)
        waits = asyncio.ensure_future(budget.reserve(0.5))
        await asyncio.sleep(0)
        waits.cancel()
        await asyncio.gather(waits, return_exceptions=True)
        budget.settle(0.9, 0.1)
        return budget.left

    assert run(main()) == pytest.approx(0.9)


@pytest.mark.parametrize("wrong", [-1, "5", True, float("nan"), float("inf")])
def test_wrong_budgets(wrong):
    with pytest.raises(ConfigError, match="budget must be"):
        Budget(wrong)


def test_the_most_a_request_can_take():
    schema = {"type": "object"}
    request = Request("m", "sys", (Turn("user", "héé"),), schema, settings=Settings(max_tokens=100))
    estimate = tokens(request)
    assert estimate.most_out == 100
    assert estimate.most_in >= 3 + 5 + len(json.dumps(schema))
    many = tokens(Request("m", "", (), settings=Settings(max_tokens=100, extra={"n": 3, "max_completion_tokens": 500})))
    assert many.most_out == 1500
    price = Price(1.0, 10.0, 0.1, 1.25, input_limit=10_000)
    assert most_cost(price, estimate) == pytest.approx((estimate.most_in * 1.25 + 1000) / 1e6)
    long = tokens(Request("m", "x" * 20_000, ()))
    assert most_cost(price, long) == pytest.approx(2 * (long.most_in * 1.25 + 40_960) / 1e6)


def test_what_lost_and_refused_calls_cost():
    async def outcome(result):
        budget = Budget(100.0)
        governed = Governed(ScriptedProvider([]), Throttle(Limits(), now), budget)
        governed._prices["m"] = Price(1.0, 10.0)
        admitted = await governed.admit(Request("m", "", (), settings=Settings(max_tokens=100_000)))
        admitted.done(result)
        assert governed.throttle.active == 0
        return round(budget.spent, 3), round(budget.unsure, 3)

    spent = Usage(1, 10, 10, cost=0.25)
    assert run(outcome(Reply("x", usage=spent))) == (0.25, 0)
    assert run(outcome(Reply("x"))) == (1.0, 0)
    assert run(outcome(ProviderError("truncated", "cut", usage=spent))) == (0.25, 0)
    assert run(outcome(ProviderError("rate_limited", "no"))) == (0, 0)
    assert run(outcome(ProviderError("bad_request", "no"))) == (0, 0)
    assert run(outcome(ProviderError("timeout", "no"))) == (0, 1.0)
    assert run(outcome(None)) == (0, 1.0)


def test_a_provider_that_is_not_there_costs_nothing(tmp_path, priced):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        provider = OpenAIProvider(Endpoint("paid", url, key="k"))
        report = asyncio.run(judged(spec_of(provider, 10.5), tmp_path))  # nobody listens there
    assert (report.totals["n_error"], report.unsure, report.totals["reasons"]) == (30, 0, {"errors": 30})


def test_what_may_have_been_paid_is_in_the_budget_of_all_passes_to_come(tmp_path, priced):
    def silent(request):
        raise ProviderError("timeout", "no reply")

    first = run_sync(spec_of(ScriptedProvider(silent, name="paid", rungs=("json",)), 10.5), tmp_path)
    assert first.unsure == 10.0
    again = run_sync(spec_of(paid(), 10.5), tmp_path)
    assert (again.asked.live, again.unsure) == (0, 10.0)
    more = run_sync(spec_of(paid(), 15.5), tmp_path)
    assert (more.asked.live, more.spent, more.unsure) == (4, 4.0, 10.0)


def test_answers_that_say_nothing_of_their_cost_count_in_all_passes(tmp_path, priced):
    provider = paid(cost=None)
    assert run_sync(spec_of(provider, 10.5), tmp_path).totals["n_pass"] == 5
    assert run_sync(spec_of(provider, 10.5), tmp_path).asked.live == 0
    assert len(provider.requests) == 5


@pytest.fixture
def priced(tmp_path, monkeypatch):
    """`paid/m` costs a dollar a token of output."""
    path = tmp_path / "jury.yaml"
    path.write_text("prices:\n  paid/m: {input: 0, output: 1000000}\n")
    monkeypatch.setenv("JURY_CONFIG", str(path))


def paid(cost=1.0, fails=()):
    def answer(request):
        if any(text in request.prompt for text in fails):
            return None
        usage = Usage(1, 10, 1, cost=cost)
        return Reply('{"explanation": "e", "value": true}', model="m", usage=usage)

    return ScriptedProvider(answer, name="paid", rungs=("json",))


def spec_of(provider, budget, rows=ROWS, **options):
    settings = {"max_tokens": 2, "retries": 0}
    judges = [JudgeSpec("paid/m", provider=provider, id=f"j{i}", settings=settings) for i in range(1)]
    return RunSpec(rows, {"criteria": "c", "judges": judges, **options}, budget=budget, cache=False)


def test_a_run_stops_asking_at_its_budget(tmp_path, priced):
    provider = paid()
    report = run_sync(spec_of(provider, 10.5), tmp_path)
    assert report.finished
    assert len(provider.requests) == 9  # a tenth could have cost two dollars, with one and a half left
    assert report.spent == 9.0
    assert report.totals["n_pass"] == 9
    assert report.totals["reasons"] == {"budget": 21}
    assert report.totals["coverage"] == pytest.approx(9 / 30)
    assert report.asked.refused == 21
    results = [r for _, r in Run.open(tmp_path).results() if r.reason == "budget"]
    assert all("budget of $10.50" in r.explanation and r.calls == 0 for r in results)
    assert len(list(Run.open(tmp_path).judgments())) == 9
    assert replay(tmp_path).same


def test_the_budget_is_of_the_folder_not_of_the_pass(tmp_path, priced):
    provider = paid()
    run_sync(spec_of(provider, 10.5), tmp_path)
    again = run_sync(spec_of(provider, 10.5), tmp_path)
    assert (again.asked.live, again.spent) == (0, 9.0)
    (tmp_path / "index.sqlite").unlink()  # what was spent stands in the log
    more = run_sync(spec_of(provider, 20.0), tmp_path)
    assert (more.asked.live, more.spent, more.totals["n_pass"]) == (10, 19.0, 19)
    assert run_sync(spec_of(provider, 100), tmp_path).totals["n_pass"] == 30
    assert len(provider.requests) == 30


def test_what_failed_stays_as_it_was_found_where_there_is_no_money_to_ask_again(tmp_path):
    def bad(output):
        raise ValueError("no such thing")

    def spec(budget):
        judges = [JudgeSpec(function=bad, max_cost=1.0)]
        return RunSpec(ROWS, {"criteria": "c", "judges": judges}, budget=budget, cache=False)

    first = run_sync(spec(5), tmp_path)
    assert first.totals["reasons"] == {"errors": 5, "budget": 25}
    again = run_sync(spec(5), tmp_path)
    assert (again.asked.live, again.judged, again.skipped) == (0, 0, 5)
    assert again.totals == first.totals
    failed = [r for _, r in Run.open(tmp_path).results() if r.reason == "errors"]
    assert all("no such thing" in r.explanation for r in failed)
    assert len(failed) == 5
    assert replay(tmp_path).same
    more = run_sync(spec(8), tmp_path)  # three more calls, whomever they are about
    assert (more.asked.live, more.totals["reasons"]["errors"] + more.totals["reasons"]["budget"]) == (3, 30)
    assert replay(tmp_path).same


def test_what_is_known_is_judged_without_money(tmp_path, priced):
    run_sync(spec_of(paid(), 100), tmp_path)
    rows = [*ROWS, {"id": "new", "input": "q", "output": "another"}]
    report = run_sync(spec_of(paid(), 30, rows=rows, aggregator="majority"), tmp_path)
    assert report.totals["n_pass"] == 30
    assert report.totals["reasons"] == {"budget": 1}


def test_a_budget_of_nothing_asks_nobody(tmp_path, priced):
    provider = paid()
    report = run_sync(spec_of(provider, 0), tmp_path)
    assert provider.requests == []
    assert report.totals["reasons"] == {"budget": 30}


def test_a_budget_needs_prices(tmp_path):
    with pytest.raises(ConfigError, match="a budget needs a price for paid/m"):
        run_sync(spec_of(paid(), 5), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert run_sync(spec_of(paid(), None), tmp_path / "run").judged == 30


def test_wrong_limits_are_told_before_the_first_call(tmp_path):
    spec = RunSpec(ROWS, {"criteria": "c", "judges": ["scripted/x"]}, limits={"scripted": {"rpm": 5}})
    with pytest.raises(ConfigError, match=r"limits.scripted: known are concurrency, requests_per_minute"):
        run_sync(spec, tmp_path)
