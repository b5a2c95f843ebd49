"""How calls are spread over the clients of a loop. The life of clients over real HTTP is in test_providers_http.py."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.providers.clients import Made, PerLoop, Shared

MOST = 4


class Fake:
    """Answers a call when it is told to."""

    def __init__(self) -> None:
        self.waiting: list[asyncio.Future[bytes]] = []
        self.peak = 0
        self.closed = False

    async def post(self, path: str, *, cast_to: Any, body: Any, options: Any) -> bytes:
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.waiting.append(future)
        self.peak = max(self.peak, len(self.waiting))
        try:
            return await future
        finally:
            self.waiting.remove(future)

    async def close(self) -> None:
        self.closed = True


class Factory:
    def __init__(self, share: int | None) -> None:
        self.share = share
        self.made: list[Fake] = []

    def __call__(self) -> Made:
        self.made.append(Fake())
        return Made(self.made[-1], self.share)


async def play(factory: Factory, steps: list[int]) -> int:
    """Start a call (0) or end one of those in flight; gives the most that were in flight."""
    shared = Shared(factory)
    calls: set[asyncio.Task[bytes]] = set()
    most = 0
    for step in steps:
        waiting = [f for fake in factory.made for f in fake.waiting]
        if step == 0 or not waiting:
            calls.add(asyncio.create_task(shared.post("/x", cast_to=bytes, body={}, options={})))
        elif step % 5 == 1:
            waiting[step % len(waiting)].set_exception(OSError("lost"))  # a failed call frees its place as well
        else:
            waiting[step % len(waiting)].set_result(b"")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        most = max(most, sum(len(fake.waiting) for fake in factory.made))
    for task in calls:
        task.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert all(share.in_flight == 0 for share in shared._shares)
    await shared.close()
    assert all(fake.closed for fake in factory.made)
    return most


@given(st.lists(st.integers(0, 9), max_size=80))
def test_small_pools_open_no_more_connections_than_one_pool_would(steps: list[int]) -> None:
    factory = Factory(MOST)
    most = asyncio.run(play(factory, steps))
    assert sum(fake.peak for fake in factory.made) == most
    assert all(fake.peak <= MOST for fake in factory.made)
    assert len(factory.made) == max(1, -(-most // MOST))


@given(st.lists(st.integers(0, 9), max_size=40))
def test_without_a_share_one_client_takes_all(steps: list[int]) -> None:
    factory = Factory(None)
    asyncio.run(play(factory, steps))
    assert len(factory.made) == 1


def test_a_client_that_cannot_be_made_leaves_nothing_behind() -> None:
    def fail() -> Made:
        raise ValueError("no key")

    clients = PerLoop(fail)

    async def get() -> None:
        await clients.get()

    for _ in range(2):
        with pytest.raises(ValueError, match="no key"):
            asyncio.run(get())
    assert clients._held == {}


def test_loops_that_were_closed_without_shutting_down_are_forgotten() -> None:
    factory = Factory(None)
    clients = PerLoop(factory)
    old = asyncio.new_event_loop()
    old.run_until_complete(clients.get())
    [(_, guard)] = clients._held.values()
    old.close()

    async def get() -> int:
        await clients.get()
        return len(clients._held)

    assert asyncio.run(get()) == 1
    assert len(factory.made) == 2
    asyncio.run(_finish(guard))


async def _finish(guard: Any) -> None:
    """The generator of a loop that never ended it; closed here so that nothing is left to the collector."""
    await guard.aclose()
