"""`together` does what `gather` with its tasks cancelled on failure does, in less time; on a clock that jumps."""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.tasks import together
from tests import virtual_time
from tests.virtual_time import now

# (takes, fails): whole seconds, plus a hundredth for each place so that no two end at once
JOB = st.tuples(st.integers(0, 4), st.booleans())


async def usual(work: Any) -> Any:
    tasks = [asyncio.ensure_future(w) for w in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def told(how: Any, jobs: list[tuple[int, bool]], cancel_at: int | None) -> list[Any]:
    """All that happened, and when."""
    said: list[Any] = []

    async def job(place: int, takes: int, fails: bool) -> int:
        try:
            await asyncio.sleep(takes + place / 100)
        except asyncio.CancelledError:
            said.append((place, "cancelled", round(now(), 6)))
            raise
        said.append((place, "fails" if fails else "done", round(now(), 6)))
        if fails:
            raise ValueError(place)
        return place

    async def main() -> None:
        task = asyncio.ensure_future(how([job(i, *given_) for i, given_ in enumerate(jobs)]))
        if cancel_at is not None:
            asyncio.get_running_loop().call_at(cancel_at + 0.5, task.cancel)
        await asyncio.wait([task])
        outcome = "cancelled" if task.cancelled() else repr(task.exception() or task.result())
        said.append((outcome, round(now(), 6)))

    virtual_time.run(main())
    return said


@given(st.lists(JOB, min_size=2, max_size=6), st.none() | st.integers(0, 4))
def test_as_gather(jobs: list[tuple[int, bool]], cancel_at: int | None) -> None:
    assert told(together, jobs, cancel_at) == told(usual, jobs, cancel_at)


def test_a_failure_of_a_later_one_does_not_wait_for_the_first() -> None:
    assert told(together, [(4, False), (0, True), (4, False)], None) == [
        (1, "fails", 0.01),
        (0, "cancelled", 0.01),
        (2, "cancelled", 0.01),
        ("ValueError(1)", 0.01),
    ]


def test_one_alone_gets_no_task_of_its_own() -> None:
    async def main() -> bool:
        me = asyncio.current_task()

        async def same() -> bool:
            return asyncio.current_task() is me

        return (await together([same()]))[0]

    assert virtual_time.run(main())


def test_one_that_fails_at_once_leaves_none_that_never_began() -> None:
    async def fails() -> None:
        raise KeyError("at once")

    async def never() -> None:
        raise AssertionError("cancelled before its first step")

    with pytest.raises(KeyError, match="at once"):
        virtual_time.run(together([fails(), never(), never()]))


def test_nested_ones_that_are_cancelled_twice_leave_none_that_never_began() -> None:
    async def fails() -> None:
        raise ValueError("first")

    async def pair() -> None:
        await together([fails(), fails()])

    async def go() -> None:
        with pytest.raises(ValueError, match="first"):
            await together([pair(), pair(), pair()])
        gc.collect()  # what was never awaited says so when it goes

    asyncio.run(go())


def test_an_exception_is_raised_as_it_is() -> None:
    error = ValueError("own")

    async def fails() -> None:
        raise error

    async def waits() -> None:
        await asyncio.sleep(9)

    with pytest.raises(ValueError, match="own") as caught:
        virtual_time.run(together([waits(), fails()]))
    assert caught.value is error
    assert caught.value.__suppress_context__


def test_a_cancellation_that_a_piece_of_work_keeps_to_itself_cancels_the_rest() -> None:
    said: list[str] = []

    async def stubborn() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(9)
        said.append("goes on")

    async def usual() -> None:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            said.append("cancelled")
            raise

    async def main() -> None:
        task = asyncio.ensure_future(together([stubborn(), usual()]))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    virtual_time.run(main())
    assert said == ["goes on", "cancelled"]


def test_a_failure_in_a_task_that_was_cancelled_before_is_raised_as_it_is() -> None:
    async def fails() -> None:
        raise ValueError("own")

    async def main() -> None:
        try:
            await asyncio.sleep(9)
        finally:
            with pytest.raises(ValueError, match="own"):
                await together([fails(), fails()])

    async def cancelled() -> None:
        task = asyncio.ensure_future(main())
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    virtual_time.run(cancelled())
