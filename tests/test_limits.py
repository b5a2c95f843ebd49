"""The line before a provider: how its limit grows and falls, rates per minute, one pause for all."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury import ConfigError, ProviderError, Reply, Request, Turn, Usage
from jury.calls import call
from jury.governed import Governed
from jury.limits import START, Limits, Pace, Throttle
from tests.virtual_time import now, run


async def one(throttle, seconds=1.0, *, away=None, tokens=1.0, log=None):
    """A call that takes `seconds`; with `away` it is turned away and told to wait so long."""
    entered = await throttle.enter(tokens)
    if log is not None:
        log.append(entered)
    try:
        await asyncio.sleep(seconds)
        if away is None:
            throttle.went_well(entered)
        else:
            throttle.was_turned_away(entered, away)
    finally:
        throttle.leave(entered)


def test_the_limit_doubles_with_each_round_up_to_the_most():
    async def main():
        throttle = Throttle(Limits(concurrency=100), now)
        log = []
        await asyncio.gather(*(one(throttle, log=log) for _ in range(300)))
        return throttle, [log.count(t) for t in sorted(set(log))]

    throttle, rounds = run(main())
    assert rounds[0] == START
    assert rounds[1] >= 2 * START - 2
    assert max(rounds) <= 100
    assert sum(rounds) == 300
    assert throttle.active == 0


def test_never_more_in_flight_than_allowed():
    async def main():
        throttle = Throttle(Limits(concurrency=5), now)
        most = 0

        async def call():
            nonlocal most
            entered = await throttle.enter(1)
            most = max(most, throttle.active)
            await asyncio.sleep(0.1)
            throttle.went_well(entered)
            throttle.leave(entered)

        await asyncio.gather(*(call() for _ in range(50)))
        return most

    assert run(main()) == 5


def test_being_turned_away_halves_the_limit_once_for_all_that_were_under_way():
    async def main():
        throttle = Throttle(Limits(concurrency=64), now)
        throttle.limit = 40.0
        await asyncio.gather(*(one(throttle, away=0) for _ in range(40)))
        assert throttle.limit == 20.0
        await asyncio.gather(*(one(throttle, away=0) for _ in range(20)))
        assert throttle.limit == 10.0
        await asyncio.gather(*(one(throttle) for _ in range(30)))
        return throttle.limit

    assert 10.5 < run(main()) < 14  # by one a round, not doubling any more


def test_one_pause_for_all():
    async def main():
        throttle = Throttle(Limits(), now)
        log = []
        await one(throttle, 0.5, away=10.0)
        await asyncio.gather(*(one(throttle, log=log) for _ in range(20)))
        return log

    log = run(main())
    assert min(log) == pytest.approx(10.5)


def test_a_pause_is_a_minute_at_most():
    async def main():
        throttle = Throttle(Limits(), now)
        await one(throttle, 0.0, away=86_400)
        await one(throttle, 0.0)
        return now()

    assert run(main()) == pytest.approx(60.0)


def test_a_slow_provider_is_not_asked_more():
    async def main():
        throttle = Throttle(Limits(concurrency=1000), now)
        await asyncio.gather(*(one(throttle, 1.0) for _ in range(100)))
        before = throttle.limit
        await asyncio.gather(*(one(throttle, 30.0) for _ in range(300)))
        return before, throttle.limit

    before, after = run(main())
    assert before > 3 * START
    assert after < 2 * before


def test_requests_per_minute():
    async def main():
        throttle = Throttle(Limits(requests_per_minute=60), now)
        log = []
        await asyncio.gather(*(one(throttle, 0.0, log=log) for _ in range(31)))
        return log

    log = run(main())
    assert 29 <= max(log) <= 30
    assert all(sum(t <= x < t + 10 for x in log) <= 12 for t in range(25))


def test_tokens_per_minute_and_what_was_really_taken():
    async def main():
        throttle = Throttle(Limits(tokens_per_minute=6000), now)  # 100 a second
        for _ in range(10):
            entered = await throttle.enter(500)
            throttle.leave(entered, -400)  # it took a hundred
        return now()

    assert run(main()) == pytest.approx(8.0, abs=1.1)


def test_a_request_larger_than_the_rate_still_passes():
    async def main():
        throttle = Throttle(Limits(tokens_per_minute=60), now)
        await one(throttle, 0.0, tokens=600)
        await one(throttle, 0.0, tokens=600)
        return now()

    assert run(main()) == pytest.approx(599.0, abs=1.1)


def within_a_minute(log):
    """The most that came within any 60 seconds."""
    return max(sum(n for at, n in log if start <= at < start + 60) for start, _ in log)


@pytest.mark.parametrize("per_minute", [1, 10, 90, 600])
def test_no_minute_has_more_requests_than_allowed(per_minute):
    async def main():
        throttle = Throttle(Limits(requests_per_minute=per_minute), now)
        log = []
        await asyncio.gather(*(one(throttle, 0.3, log=log) for _ in range(3 * per_minute)))
        return [(at, 1) for at in log], now()

    log, took = run(main())
    assert within_a_minute(log) <= per_minute
    assert took < 60 * 3 * 1.05 + 5  # and little is left of it


@given(st.integers(400, 100_000), st.lists(st.tuples(st.integers(1, 800), st.floats(0.0, 1.0)), min_size=30))
def test_no_minute_has_more_tokens_than_allowed(per_minute, calls):
    async def main():
        throttle = Throttle(Limits(tokens_per_minute=per_minute), now)
        log = []

        async def call(thought, share):
            entered = await throttle.enter(thought)
            took = thought * share
            log.append((entered, took))
            await asyncio.sleep(2.0)
            throttle.went_well(entered)
            throttle.leave(entered, took - thought)

        await asyncio.gather(*(call(*c) for c in calls))
        return log

    assert within_a_minute(run(main())) <= max(per_minute, 800) + 1e-6


def test_what_was_taken_beyond_the_guess_is_missing_from_the_rest_of_the_minute():
    async def main():
        throttle = Throttle(Limits(tokens_per_minute=6000), now)
        log = []
        for _ in range(20):
            entered = await throttle.enter(100)
            log.append((entered, 2000))
            await asyncio.sleep(0.1)
            throttle.leave(entered, 1900)
        return log

    assert within_a_minute(run(main())) <= 6000


@pytest.mark.parametrize(("out", "dense", "slowest"), [(150, 1, 1.0), (500, 4, 3.0), (1500, 4, 20.0)])
def test_no_minute_has_more_tokens_than_allowed_though_nobody_knows_them_before(out, dense, slowest):
    """Texts that take four times the usual tokens, replies of any length: what is not known yet is guessed high."""
    draw, log = random.Random(3), []

    class Vendor:
        name = "vendor"

        async def complete(self, request):
            used = (len(request.prompt) * dense // 4, int(out * draw.uniform(0.5, 1.5)))
            log.append((now(), sum(used)))
            await asyncio.sleep(draw.uniform(0.5, 1) * slowest)
            return Reply("x", usage=Usage(1, *used))

    async def main():
        governed = Governed(Vendor(), Throttle(Limits(tokens_per_minute=60_000), now))
        texts = ["x" * draw.randint(200, 4000) for _ in range(300)]
        await asyncio.gather(*(call(governed, Request("m", "", (Turn("user", t),)), clock=now) for t in texts))
        return now()

    took = run(main())
    assert within_a_minute(log) <= 60_000 * 1.02  # of replies that are longer than those so far
    assert sum(n for _, n in log) / took > 0.8 * 1000  # and the allowance is used


def test_what_a_provider_has_not_read_took_no_tokens():
    class Absent:
        name = "absent"

        async def complete(self, request):
            raise error

    async def main():
        governed = Governed(Absent(), Throttle(Limits(tokens_per_minute=6000), now))
        request = Request("m", "", (Turn("user", "x" * 400),))
        for _ in range(20):
            with pytest.raises(ProviderError):
                await call(governed, request, clock=now)
        return now()

    error = ProviderError("connection", "refused", context={"unsent": True})
    assert run(main()) == 0
    error = ProviderError("connection", "reset")  # nobody knows how far it came
    assert run(main()) > 60


def test_who_is_cancelled_in_line_takes_no_place():
    async def main():
        throttle = Throttle(Limits(concurrency=1), now)
        first = asyncio.ensure_future(one(throttle, 5.0))
        await asyncio.sleep(0)
        waiting = [asyncio.ensure_future(one(throttle, 1.0)) for _ in range(3)]
        await asyncio.sleep(1)
        waiting[0].cancel()
        first.cancel()  # and one that is let in and cancelled at the same moment
        await asyncio.sleep(0)
        waiting[1].cancel()
        await asyncio.gather(first, *waiting, return_exceptions=True)
        assert throttle.active == 0
        await one(throttle, 1.0)

    run(main())


def test_a_clock_that_jumps_back_gives_nothing_and_blocks_nothing():
    pace = Pace(60, 1000.0)
    assert pace.wait(1000.0) == 0
    pace.take(1)
    assert pace.wait(10.0) > 0
    assert pace.wait(12.0) == 0


def test_a_clock_that_jumps_does_not_block_a_used_up_minute_for_longer():
    pace = Pace(2, 1000.0)
    for at in (1000.0, 1030.0):
        assert pace.wait(at) == 0
        pace.take(1)
    assert 0 < pace.wait(10.0) <= 61  # it went back: what was just taken is still just taken
    assert pace.wait(10_000.0) == 0


@given(st.lists(st.tuples(st.floats(0, 3), st.sampled_from([None, 0.0, 0.5, 5.0])), min_size=1, max_size=60))
def test_everybody_gets_through_whatever_happens(calls):
    async def main():
        throttle = Throttle(Limits(concurrency=7, requests_per_minute=600, tokens_per_minute=6000), now)
        await asyncio.gather(*(one(throttle, s, away=away) for s, away in calls))
        return throttle

    throttle = run(main())
    assert throttle.active == 0
    assert 1 <= throttle.limit <= 7


@pytest.mark.parametrize(
    "wrong",
    [
        {"concurrency": 0},
        {"requests_per_minute": -1},
        {"tokens_per_minute": True},
        {"concurrency": float("inf")},
        {"tokens_per_minute": float("nan")},
    ],
)
def test_wrong_limits(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Limits(**wrong)
