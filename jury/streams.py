"""Many items through one async function:

a bounded number in flight, in order or as they are done. Memory stays flat.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, TypeVar

from jury.errors import ConfigError

T = TypeVar("T")
R = TypeVar("R")


async def as_completed(
    rows: Iterable[T] | AsyncIterable[T], work: Callable[[T], Awaitable[R]], in_flight: int, *, ordered: bool
) -> AsyncIterator[R]:
    """The results of `work` on each row. Rows are read as places become free, never ahead of `in_flight`.

    What `work` raises is raised here, after the tasks in flight were cancelled; so is closing the iterator early.
    """
    if in_flight < 1:
        raise ConfigError(f"in_flight must be at least 1, got {in_flight!r}")
    source = _source(rows)
    running: dict[asyncio.Future[R], None] = {}  # in the order of the rows
    done: asyncio.Queue[asyncio.Future[R]] = asyncio.Queue()
    exhausted = False
    try:
        while True:
            while not exhausted and len(running) < in_flight:
                try:
                    row = await anext(source)
                except StopAsyncIteration:
                    exhausted = True
                    break
                task = asyncio.ensure_future(work(row))
                running[task] = None
                if not ordered:
                    task.add_done_callback(done.put_nowait)
            if not running:
                return
            task = next(iter(running)) if ordered else await done.get()
            result = await task
            del running[task]
            yield result
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _source(rows: Any) -> AsyncIterator[Any]:
    if hasattr(rows, "__aiter__"):
        async for row in rows:
            yield row
    else:
        for row in rows:
            yield row
