"""`Deadline` does what `asyncio.timeout` does, with one timer; on a clock that jumps."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import weakref
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury import deadlines
from jury.deadlines import Deadline
from tests import virtual_time
from tests.virtual_time import now

# (starts at, works for, must end within, is cancelled at), in whole seconds so that ties happen
JOB = st.tuples(st.integers(0, 5), st.integers(0, 6), st.integers(0, 6), st.none() | st.integers(0, 9))


async def _asyncio(works: float, within: float) -> None:
    async with asyncio.timeout(within):
        await asyncio.sleep(works)


async def _own(works: float, within: float) -> None:
    with Deadline(within):
        await asyncio.sleep(works)


def outcomes(block: Any, jobs: list[tuple[int, int, int, int | None]]) -> list[tuple[str, float]]:
    """How and when each job ended. Halves and tenths keep a cancellation and a deadline from one moment."""

    async def job(starts: int, works: int, within: int) -> tuple[str, float]:
        await asyncio.sleep(starts)
        try:
            await block(works + 0.5, within)
        except TimeoutError:
            return "timeout", now()
        return "done", now()

    async def main() -> list[tuple[str, float]]:
        tasks = [asyncio.ensure_future(job(*job_[:3])) for job_ in jobs]
        for task, (*_, cancel_at) in zip(tasks, jobs, strict=True):
            if cancel_at is not None:
                asyncio.get_running_loop().call_at(cancel_at + 0.1, task.cancel)
        await asyncio.wait(tasks)
        return [("cancelled", 0.0) if task.cancelled() else task.result() for task in tasks]

    return virtual_time.run(main())


@given(st.lists(JOB, min_size=1, max_size=8))
def test_as_asyncio_timeout(jobs: list[tuple[int, int, int, int | None]]) -> None:
    assert outcomes(_own, jobs) == [(how, pytest.approx(at)) for how, at in outcomes(_asyncio, jobs)]


def test_many_waits_need_one_timer() -> None:
    async def main() -> int:
        loop: Any = asyncio.get_running_loop()
        await asyncio.gather(*(_own(1, 90) for _ in range(100)))
        return sum(handle._callback.__qualname__ == "_Timer._ring" for handle in loop._scheduled)

    assert virtual_time.run(main()) == 1


def test_a_nearer_deadline_rings_first_and_the_others_still_ring() -> None:
    async def main() -> list[tuple[str, float]]:
        async def one(name: str, within: float) -> tuple[str, float]:
            with pytest.raises(TimeoutError):
                await _own(1000, within)
            return name, now()

        return await asyncio.gather(one("far", 90), one("near", 5), one("middle", 30), one("far too", 90))

    assert virtual_time.run(main()) == [("far", 90), ("near", 5), ("middle", 30), ("far too", 90)]


def test_nested_deadlines_end_each_at_its_own_time() -> None:
    async def main() -> list[Any]:
        said: list[Any] = []
        try:
            with Deadline(5) as outer:
                try:
                    with Deadline(2) as inner:
                        await asyncio.sleep(10)
                except TimeoutError:
                    said += ["inner", inner.expired, outer.expired, now()]
                await asyncio.sleep(10)
        except TimeoutError:
            said += ["outer", outer.expired, now()]
        return said

    assert virtual_time.run(main()) == ["inner", True, False, 2, "outer", True, 5]


def test_a_block_that_swallows_the_cancellation_goes_on_uncancelled() -> None:
    async def main() -> tuple[int, float]:
        with Deadline(1), contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(10)
        task = asyncio.current_task()
        assert task is not None
        await asyncio.sleep(3)
        return task.cancelling(), now()

    assert virtual_time.run(main()) == (0, 4)


def test_other_errors_of_the_block_pass() -> None:
    async def main() -> None:
        with Deadline(5):
            raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        virtual_time.run(main())


def test_it_needs_a_task() -> None:
    with pytest.raises(RuntimeError), Deadline(1):
        pass


def test_nothing_is_kept_when_a_loop_is_gone() -> None:
    async def main() -> Any:
        await _own(1, 90)
        loop = asyncio.get_running_loop()
        assert not deadlines._timers.of(loop).open
        return weakref.ref(loop)

    seen = virtual_time.run(main())
    gc.collect()
    assert seen() is None
