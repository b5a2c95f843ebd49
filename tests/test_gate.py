"""`tasks.Gate` is `asyncio.Semaphore` for `async with`, on a clock that jumps."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jury.tasks import Gate
from tests import virtual_time
from tests.virtual_time import now

# (arrives at, stays for, is cancelled at): quarters and tenths keep the moments apart
JOB = st.tuples(st.integers(0, 4), st.integers(0, 4), st.none() | st.integers(0, 9))


def log(gate: Any, jobs: list[tuple[int, int, int | None]]) -> tuple[list[Any], int]:
    """Who got in and out when, and the most inside at once."""
    seen: list[Any] = []
    inside = most = 0

    async def job(number: int, arrives: int, stays: int) -> None:
        nonlocal inside, most
        await asyncio.sleep(arrives)
        async with gate:
            inside += 1
            most = max(most, inside)
            seen.append((number, "in", round(now(), 6)))
            try:
                await asyncio.sleep(stays + 0.25 + number / 1000)
            finally:
                inside -= 1
                seen.append((number, "out", round(now(), 6)))

    async def main() -> None:
        tasks = [asyncio.ensure_future(job(i, *given_[:2])) for i, given_ in enumerate(jobs)]
        for task, (*_, cancel_at) in zip(tasks, jobs, strict=True):
            if cancel_at is not None:
                asyncio.get_running_loop().call_at(cancel_at + 0.1, task.cancel)
        await asyncio.wait(tasks)

    virtual_time.run(main())
    return seen, most


@given(st.integers(1, 3), st.lists(JOB, min_size=1, max_size=10))
def test_as_a_semaphore(places: int, jobs: list[tuple[int, int, int | None]]) -> None:
    own, most = log(Gate(places), jobs)
    assert (own, most) == log(asyncio.Semaphore(places), jobs)
    assert most <= places


def test_a_place_given_to_a_task_that_is_cancelled_in_the_same_moment_is_passed_on() -> None:
    async def main() -> list[str]:
        gate, said = Gate(1), list[str]()

        async def one(name: str) -> None:
            async with gate:
                said.append(name)

        async with gate:
            first, second = asyncio.ensure_future(one("first")), asyncio.ensure_future(one("second"))
            await asyncio.sleep(0)
        first.cancel()  # its turn has come, but it has not run yet
        await asyncio.wait([first, second])
        return said

    assert virtual_time.run(main()) == ["second"]


def test_after_everybody_left_all_places_are_free() -> None:
    gate = Gate(3)
    log(gate, [(0, 1, None), (0, 1, 0), (0, 1, None), (0, 2, 1), (1, 0, 1), (1, 1, None)])
    assert gate._free == 3
    assert not any(not turn.done() for turn in gate._waiting)
