"""One request to one provider, made to arrive: a deadline per attempt, retries with back-off, tokens of all attempts.

What is sent, whether an error is worth a retry (`CallError.retry`) and what a reply means are not decided here. Limits
on calls in flight belong to the caller: a deadline starts when an attempt starts, so time in a queue does not count.

- An attempt that takes longer than `settings.timeout_s` is cancelled and ends the call: kind `timeout`, no retry. The
  provider may have worked and charged for it all the same, and a prompt that took too long once tends to do so again.
- An error with `retry` set (a rate limit, an overload, a 5xx, a lost connection) is tried again at most
  `settings.retries` times. Before retry n (from 1) the wait is drawn evenly from the upper half of
  `BACKOFF_S * 2**(n-1)` seconds, at most `MAX_BACKOFF_S`. Where the provider said how long to wait, the draw starts at
  that time instead: a retry is never early, and callers that were turned away together do not come back together.
- A provider that asks for more than `MAX_WAIT_S` is not waited for: its error is raised at once and says so. One call
  thus waits at most `retries * (MAX_WAIT_S + MAX_BACKOFF_S / 2)` seconds.
- Cancellation passes through untouched, during an attempt and during a wait.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any

from jury.deadlines import Deadline
from jury.errors import CallError, ProviderError, ReplyError
from jury.providers.base import Provider, Request
from jury.results import Reply, Usage
from jury.scales import shown

BACKOFF_S = 0.5  # where the official clients of both providers start
MAX_BACKOFF_S = 16.0
MAX_WAIT_S = 60.0  # a limit per minute is waited for, a limit per hour or day is not


async def call(
    provider: Provider,
    request: Request,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    rng: Callable[[], float] = random.random,
) -> Reply:
    """The provider's reply with `retries`, `latency_s` (of the attempt that succeeded) and the `usage` of all attempts.

    Raises the `CallError` of the last attempt. Its `usage` is the total of all attempts (None if none reported any),
    `context["attempts"]` their number. `sleep` takes seconds, `rng` gives numbers from 0 to below 1.

    A provider with an `admit` method (`governed.py`) is asked before each attempt; what it gives is told the outcome.
    """
    settings = request.settings
    timeout_s = math.inf if getattr(provider, "keeps_deadline", False) else settings.timeout_s
    admit: Callable[[Request], Awaitable[Any]] | None = getattr(provider, "admit", None)
    failed: list[CallError] = []
    while True:
        admitted = None if admit is None else await admit(request)
        outcome: Reply | CallError | None = None
        started = clock()
        deadline = Deadline(timeout_s)
        try:
            with deadline:
                given: Any = await provider.complete(request)
            if not isinstance(given, Reply):
                raise TypeError(f"{type(provider).__name__}.complete gave {shown(given)} instead of a Reply")
            reply = outcome = given
        except CallError as caught:
            error = outcome = caught
        except TimeoutError:
            if not deadline.expired:
                raise  # not this deadline: a provider that did not name its own
            error = outcome = ProviderError("timeout", f"no reply within {settings.timeout_s:g} s")
        else:
            latency = clock() - started
            usage, notes = reply.usage, reply.notes
            if usage is not None and not _possible(usage):
                usage, notes = Usage(), (*notes, f"impossible usage taken as unknown: {usage}")
            if failed:
                usage = Usage.total([*(e.usage for e in failed), usage])
            # Every field by its place: `replace` would take a quarter of this function's time.
            return Reply(reply.text, reply.data, reply.model, usage, len(failed), latency, notes, reply.message)
        finally:
            if admitted is not None:
                admitted.done(outcome)
        failed.append(error)
        pause = wait_before(error, len(failed), settings.retries, rng=rng)
        if pause is None:
            raise _last(failed, settings.retries) from error
        await sleep(pause)


def wait_before(
    error: CallError,
    failed: int,
    retries: int,
    *,
    max_wait_s: float = MAX_WAIT_S,
    rng: Callable[[], float] = random.random,
) -> float | None:
    """Seconds to wait after `failed` failed attempts, the last of them with `error`; None where no other follows."""
    asked = error.retry_after_s or 0.0
    if not error.retry or failed > retries or asked > max_wait_s:
        return None
    half = min(BACKOFF_S * 2 ** (failed - 1), MAX_BACKOFF_S) / 2
    return max(half, asked) + half * rng()  # in this order a NaN loses


def _possible(usage: Usage) -> bool:
    """Whether a provider's own count can be added up: a NaN or a negative number would spoil every sum and budget."""
    cost, into, out, cached = usage.cost, usage.input_tokens, usage.output_tokens, usage.cached_input_tokens
    try:
        return (
            (cost is None or 0 <= cost < math.inf)
            and (into is None or 0 <= into < math.inf)
            and (out is None or 0 <= out < math.inf)
            and (cached is None or 0 <= cached < math.inf)
            and 0 <= usage.calls < math.inf
        )
    except TypeError:  # not even numbers
        return False


def _last(failed: list[CallError], retries: int) -> CallError:
    """The last error anew, with what all attempts cost: the provider's own may be shared, so it is not written to."""
    error = failed[-1]
    detail = error.detail
    asked = error.retry_after_s or 0.0
    if error.retry and asked > MAX_WAIT_S and len(failed) <= retries:
        detail += f" (asked to wait {asked:g} s; a call waits {MAX_WAIT_S:g} s at most)"
    made = (ReplyError if isinstance(error, ReplyError) else ProviderError)(
        error.kind,
        detail,
        retry=error.retry,
        retry_after_s=error.retry_after_s,
        status=error.status,
        usage=Usage.total(e.usage for e in failed),
        context={**error.context, "attempts": len(failed)},
    )
    made.judge, made.item, made.prompt = error.judge, error.item, error.prompt
    return made
