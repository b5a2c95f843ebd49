"""`calls.call`: deadlines, retries, waits and counted tokens, on a clock that jumps."""

from __future__ import annotations

import asyncio
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.calls import BACKOFF_S, MAX_BACKOFF_S, MAX_WAIT_S, call
from jury.errors import PROVIDER_KINDS, CallError, ProviderError, ReplyError
from jury.providers.base import Request, Settings, Turn
from jury.providers.scripted import ScriptedProvider
from jury.results import Reply, Usage
from tests import virtual_time

REQUEST = Request("m", "", (Turn("user", "Judge."),))


def asking(**settings: Any) -> Request:
    return replace(REQUEST, settings=Settings(**settings))


def busy(kind: str = "rate_limited", *, retry: bool = True, **given: Any) -> ProviderError:
    return ProviderError(kind, "no", retry=retry, **given)


class Waits:
    """Stands in for `asyncio.sleep` and keeps what was asked of it."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def play(script: list[Any], request: Request = REQUEST, draw: float = 0.0) -> tuple[Any, list[float], int]:
    """What came out (a reply or the error raised), the waits, and the number of attempts."""
    waits, provider = Waits(), ScriptedProvider(script)

    async def main() -> Any:
        try:
            return await call(provider, request, clock=virtual_time.now, sleep=waits, rng=lambda: draw)
        except CallError as error:
            return error

    return virtual_time.run(main()), waits.seconds, len(provider.requests)


class Slow:
    """A provider whose attempts take the given seconds and then give the given outcome."""

    name = "slow"

    def __init__(self, *attempts: tuple[float, Any]) -> None:
        self.attempts = list(attempts)
        self.cancelled = 0

    def rungs(self, model: str, settings: Any = None) -> tuple[Any, ...]:
        return ("text",)

    async def complete(self, request: Request) -> Reply:
        seconds, outcome = self.attempts.pop(0)
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def slow_call(provider: Slow, request: Request = REQUEST) -> Any:
    async def main() -> Any:
        return await call(provider, request, clock=virtual_time.now, rng=lambda: 0.0), virtual_time.now()

    return virtual_time.run(main())


def test_a_reply_passes_with_its_latency() -> None:
    given = Reply("text", data={"a": 1}, model="m-1", usage=Usage(1, 10, 5), notes=("temperature",))
    reply, _ = slow_call(Slow((3.5, given)))
    assert reply == replace(given, latency_s=3.5)


def test_the_given_reply_is_not_written_to() -> None:
    given = Reply("text")
    reply, _, _ = play([busy(), given])
    assert (reply.retries, given.retries) == (1, 0)


@pytest.mark.parametrize(
    "usage",
    [
        Usage(1, 10, 2, None, float("nan")),
        Usage(1, 10, 2, None, -0.5),
        Usage(1, 10, 2, None, float("inf")),
        Usage(1, 10, 2, None, "free"),  # type: ignore[arg-type]
        Usage(1, -10, 2),
        Usage(1, 10, float("nan")),  # type: ignore[arg-type]
    ],
)
def test_an_impossible_usage_is_unknown_and_named(usage: Usage) -> None:
    reply, _, _ = play([Reply("x", usage=usage, notes=("temperature",))])
    assert reply.usage == Usage()
    assert reply.notes[0] == "temperature"
    assert "impossible usage taken as unknown" in reply.notes[1]


def test_a_possible_usage_is_left_alone() -> None:
    usage = Usage(1, 0, 2, None, 0.0)
    reply, _, _ = play([Reply("x", usage=usage)])
    assert (reply.usage, reply.notes) == (usage, ())


def test_back_off_doubles_up_to_its_bound() -> None:
    steps = [BACKOFF_S * 2**n for n in range(5)] + [MAX_BACKOFF_S] * 2
    for draw, share in ((0.0, 0.5), (0.5, 0.75), (1.0, 1.0)):
        reply, waits, attempts = play([busy()] * 7 + ["yes"], asking(retries=7), draw)
        assert waits == pytest.approx([share * s for s in steps])
        assert (reply.text, reply.retries, attempts) == ("yes", 7, 8)


@given(
    asked=st.none() | st.floats(0, MAX_WAIT_S),
    retries=st.integers(1, 12),
    draw=st.floats(0, 1, exclude_max=True),
)
def test_a_wait_is_never_early_and_always_bounded(asked: float | None, retries: int, draw: float) -> None:
    reply, waits, _ = play([busy(retry_after_s=asked)] * retries + ["yes"], asking(retries=retries), draw)
    assert reply.retries == len(waits) == retries
    assert all((asked or 0) <= wait <= max(asked or 0, MAX_BACKOFF_S / 2) + MAX_BACKOFF_S / 2 for wait in waits)
    assert all(wait >= BACKOFF_S / 2 for wait in waits)  # also where the provider asked for 0 s


def test_callers_told_the_same_time_do_not_come_back_together() -> None:
    waits = [play([busy(retry_after_s=5.0), "yes"], draw=draw)[1][0] for draw in (0.0, 0.5, 0.9)]
    assert waits == pytest.approx([5.0, 5.0 + 0.25 * 0.5, 5.0 + 0.25 * 0.9])


@pytest.mark.parametrize("asked", [float("nan"), -3.0, 0.0])
def test_an_odd_retry_after_is_plain_back_off(asked: float) -> None:
    assert play([busy(retry_after_s=asked), "yes"])[1] == [BACKOFF_S / 2]


@pytest.mark.parametrize("asked", [MAX_WAIT_S + 0.001, 3600.0, float("inf")])
def test_a_retry_after_beyond_the_bound_becomes_the_error(asked: float) -> None:
    error, waits, attempts = play([busy(retry_after_s=asked), "yes"])
    assert (waits, attempts) == ([], 1)
    assert (error.kind, error.retry_after_s) == ("rate_limited", asked)
    assert error.detail == f"no (asked to wait {asked:g} s; a call waits 60 s at most)"


def test_a_retry_after_at_the_bound_is_waited_for() -> None:
    reply, waits, _ = play([busy(retry_after_s=MAX_WAIT_S), "yes"])
    assert (reply.text, waits) == ("yes", [MAX_WAIT_S])


@pytest.mark.parametrize("kind", PROVIDER_KINDS)
def test_only_the_error_says_whether_a_retry_can_help(kind: str) -> None:
    error, waits, attempts = play([busy(kind, retry=False, retry_after_s=1.0), "yes"])
    assert (error.kind, waits, attempts) == (kind, [], 1)
    reply, _, attempts = play([busy(kind), "yes"])
    assert (reply.text, attempts) == ("yes", 2)


@pytest.mark.parametrize("retries", [0, 1, 2, 5])
def test_retries_are_counted(retries: int) -> None:
    error, waits, attempts = play([busy()] * 9, asking(retries=retries))
    assert (attempts, len(waits), error.context["attempts"]) == (retries + 1, retries, retries + 1)
    assert error.detail == "no"


def test_the_last_error_is_the_one_that_is_raised() -> None:
    first, last = busy("overloaded", status=529), busy("auth", retry=False, status=401, context={"param": "x"})
    last.judge, last.item, last.prompt = "j", "i", "p"
    error, _, _ = play([first, last])
    assert type(error) is ProviderError
    assert (error.kind, error.status, error.retry) == ("auth", 401, False)
    assert error.context == {"param": "x", "attempts": 2}
    assert (error.judge, error.item, error.prompt) == ("j", "i", "p")
    assert error.__cause__ is last


def test_tokens_of_failed_attempts_are_in_the_reply() -> None:
    cut = busy("server_error", usage=Usage(1, 100, 7, cost=0.25))
    reply, _, _ = play([busy(), cut, Reply("yes", usage=Usage(1, 100, 20, cost=0.5))])
    assert reply.usage == Usage(2, 200, 27, cost=0.75)
    reply, _, _ = play([cut, Reply("yes")])
    assert reply.usage == Usage(1, 100, 7, cost=0.25)


def test_tokens_of_all_attempts_are_in_the_error() -> None:
    cut = busy("server_error", usage=Usage(1, 100, 7))
    error, _, _ = play([cut, busy(), cut, "never"])
    assert error.usage == Usage(2, 200, 14)
    assert play([busy()] * 3)[0].usage is None


def test_an_error_that_a_provider_raises_again_and_again_is_not_written_to() -> None:
    shared = busy("server_error", usage=Usage(1, 100, 7))
    for _ in range(2):
        assert play([shared] * 3)[0].usage == Usage(3, 300, 21)
    assert (shared.usage, shared.context, shared.detail) == (Usage(1, 100, 7), {}, "no")


def test_a_reply_error_stays_one() -> None:
    error, _, attempts = play([ReplyError("empty", "nothing"), "yes"])
    assert (type(error), error.kind, attempts) == (ReplyError, "empty", 1)


def test_silence_ends_at_the_deadline_and_is_not_paid_for_twice() -> None:
    provider = Slow((1e6, Reply("late")), (0, Reply("second")))
    with pytest.raises(ProviderError, match=r"timeout: no reply within 90 s") as caught:
        slow_call(provider)
    assert (provider.cancelled, len(provider.attempts)) == (1, 1)
    assert (caught.value.retry, caught.value.context["attempts"], caught.value.usage) == (False, 1, None)


def test_a_deadline_after_failed_attempts_carries_their_tokens() -> None:
    provider = Slow((1, busy("server_error", usage=Usage(1, 100, 7))), (1e6, Reply("late")))
    with pytest.raises(ProviderError) as caught:
        slow_call(provider)
    assert (caught.value.kind, caught.value.usage) == ("timeout", Usage(1, 100, 7))


def test_every_attempt_has_the_whole_deadline() -> None:
    provider = Slow((80, busy("connection")), (80, busy("connection")), (80, Reply("yes")))
    reply, at = slow_call(provider)
    assert (reply.retries, reply.latency_s) == (2, 80)
    assert at == pytest.approx(3 * 80 + BACKOFF_S / 2 + BACKOFF_S)


def test_a_providers_own_timeout_error_is_not_taken_for_the_deadline() -> None:
    with pytest.raises(TimeoutError, match="inner") as caught:
        slow_call(Slow((1, TimeoutError("inner"))))
    assert not isinstance(caught.value, CallError)


def test_a_providers_timeout_may_be_retried_if_it_says_so() -> None:
    reply, _ = slow_call(Slow((1, busy("timeout")), (1, Reply("yes"))))
    assert reply.retries == 1


def cancel_at(second: float, provider: Slow) -> tuple[bool, float]:
    async def main() -> tuple[bool, float]:
        task = asyncio.ensure_future(call(provider, REQUEST, rng=lambda: 0.0))
        await asyncio.sleep(second)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled(), virtual_time.now()

    return virtual_time.run(main())


def test_cancellation_passes_through_an_attempt() -> None:
    provider = Slow((50, Reply("late")), (0, Reply("second")))
    assert cancel_at(10, provider) == (True, 10)
    assert (provider.cancelled, len(provider.attempts)) == (1, 1)


def test_cancellation_passes_through_a_wait() -> None:
    provider = Slow((1, busy(retry_after_s=30.0)), (0, Reply("second")))
    assert cancel_at(10, provider) == (True, 10)
    assert (provider.cancelled, len(provider.attempts)) == (0, 1)


@pytest.mark.parametrize("error", [KeyError("bug"), ValueError("bug"), KeyboardInterrupt()])
def test_what_is_no_call_error_is_not_caught(error: BaseException) -> None:
    def raising(_: Request) -> Any:
        raise error

    provider = ScriptedProvider(raising)
    with pytest.raises(type(error)):
        asyncio.run(call(provider, REQUEST))
    assert len(provider.requests) == 1


def test_the_request_is_sent_unchanged_every_time() -> None:
    provider = ScriptedProvider([busy(), busy(), "yes"])
    request = asking(temperature=0.3)
    asyncio.run(call(provider, request, sleep=Waits()))
    assert [r is request for r in provider.requests] == [True] * 3


def test_the_defaults_wait_on_the_event_loop() -> None:
    async def main() -> float:
        await call(ScriptedProvider([busy(retry_after_s=20.0), "yes"]), REQUEST)
        return virtual_time.now()

    assert 20.0 <= virtual_time.run(main()) <= 20.0 + BACKOFF_S / 2


def test_virtual_time_fails_on_a_deadlock() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="no timer"):
        virtual_time.run(main())


def test_no_field_of_a_reply_is_lost() -> None:
    """`call` names every field of `Reply` by its place: a new one must be added there too."""
    values = ("text", {"a": 1}, "m-1", Usage(1, 10, 5), 0, 2.0, ("note",), {"role": "assistant"})
    given = Reply(*values)
    assert [getattr(given, f.name) for f in fields(Reply)] == list(values)
    reply, _ = slow_call(Slow((2.0, given)))
    assert reply == given


def test_a_provider_that_admits_is_told_what_became_of_each_attempt() -> None:
    told: list[Any] = []

    class Admitting(ScriptedProvider):
        async def admit(self, request: Request) -> Any:
            told.append("asked")
            return self

        def done(self, outcome: Any) -> None:
            told.append(outcome)

    error = busy()
    provider = Admitting([error, "fine"])
    reply = asyncio.run(call(provider, asking(retries=1), sleep=Waits()))
    assert (reply.text, told[:3], told[3].text) == ("fine", ["asked", error, "asked"], "fine")
    told.clear()
    provider = Admitting([RuntimeError("a bug")])
    with pytest.raises(RuntimeError):
        asyncio.run(call(provider, asking()))
    assert told == ["asked", None]


def test_what_is_not_admitted_is_not_sent() -> None:
    class Full(ScriptedProvider):
        async def admit(self, request: Request) -> Any:
            raise ProviderError("budget", "no money")

    provider = Full(["never"])
    with pytest.raises(ProviderError, match="no money"):
        asyncio.run(call(provider, asking(retries=3)))
    assert provider.requests == []


def test_a_provider_that_keeps_the_deadline_itself_is_not_cut_off():
    class Patient:
        name = "patient"
        keeps_deadline = True

        def rungs(self, model: str, settings: Any = None) -> tuple[Any, ...]:
            return ("text",)

        async def complete(self, request: Request) -> Reply:
            await asyncio.sleep(0.05)  # its queue, say
            return Reply("done")

    request = Request("m", "s", (), settings=Settings(timeout_s=0.01))
    assert asyncio.run(call(Patient(), request)).text == "done"


@pytest.mark.parametrize("given", ["{}", None, {"text": "{}"}])
def test_a_provider_that_gives_something_else_than_a_reply_is_told_so(given: Any) -> None:
    class Plain(ScriptedProvider):
        async def complete(self, request: Request) -> Any:
            return given

    with pytest.raises(TypeError, match=r"Plain\.complete gave .* instead of a Reply"):
        asyncio.run(call(Plain([]), asking()))
