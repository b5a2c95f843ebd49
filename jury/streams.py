"""Many items through one async function:

a bounded number in flight, in order or as they are done. Memory stays flat.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterable
from typing import Any, TypeVar, cast

from jury.errors import ConfigError
from jury.sync import NO_ROWS

T = TypeVar("T")
R = TypeVar("R")


async def as_completed(
    rows: Iterable[T] | AsyncIterable[T], work: Callable[[T], Coroutine[Any, Any, R]], in_flight: int, *, ordered: bool
) -> AsyncIterator[R]:
    """The results of `work` on each row. Rows are read as places become free, never ahead of `in_flight`.

    A result never waits for the next row of an async source; a plain iterable that blocks holds up the loop. What
    `work` raises is raised here, after the tasks in flight were cancelled; so is closing the iterator early. What
    reading the rows raises comes last: the results of the rows before it are given first.
    """
    given: Any = in_flight
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ConfigError(f"in_flight must be a whole number from 1, got {given!r}")
    source = _Rows(rows)
    loop = asyncio.get_running_loop()
    running: dict[asyncio.Future[Any], None] = {}  # in the order of the rows
    reading: asyncio.Future[Any] | None = None
    in_turn = ordered and not source.waits  # then only the first of those that run is waited for
    done: asyncio.Queue[asyncio.Future[Any]] = asyncio.Queue()

    def start(row: Any) -> None:
        task = loop.create_task(work(row))
        running[task] = None
        if not in_turn:
            task.add_done_callback(done.put_nowait)

    try:
        while True:
            while reading is None and source.more and len(running) < in_flight:
                if source.waits:
                    reading = asyncio.ensure_future(source.coming())
                    reading.add_done_callback(done.put_nowait)
                else:
                    for row in source.there():
                        start(row)
            if reading is None and not running:
                break
            if in_turn:
                # Not `await first`: then whoever is cancelled here depends on the first to let the cancellation pass.
                await asyncio.wait((next(iter(running)),))
            elif (future := await done.get()) is reading:
                reading = None
                for row in future.result():
                    start(row)
            elif not ordered:
                del running[future]
                yield future.result()
            while ordered and running and (first := next(iter(running))).done():
                del running[first]
                yield first.result()
        if source.fault is not None:
            raise source.fault
    finally:
        left = [*running, *([reading] if reading else ())]
        for future in left:
            future.cancel()
        await asyncio.gather(*left, return_exceptions=True)


class _Rows:
    """Rows one at a time, as a list of one or none. `more`: not at the end yet; `fault`: what reading them raised."""

    def __init__(self, rows: Any) -> None:
        self.more = True
        self.fault: Exception | None = None
        self.waits = hasattr(rows, "__aiter__")
        if isinstance(rows, NO_ROWS) or not (self.waits or hasattr(rows, "__iter__")):
            kind = type(cast("object", rows)).__name__
            raise ConfigError(f"rows must be a list or another iterable of items, got {kind}: one item stands in [...]")
        self._rows = aiter(rows) if self.waits else iter(rows)

    def there(self) -> list[Any]:
        try:
            return [next(self._rows)]
        except StopIteration:
            return self._end()
        except Exception as error:  # noqa: BLE001 - the caller's code; the results paid for come first
            return self._end(error)

    async def coming(self) -> list[Any]:
        try:
            return [await anext(cast("AsyncIterator[Any]", self._rows))]
        except StopAsyncIteration:
            return self._end()
        except Exception as error:  # noqa: BLE001 - the caller's code; the results paid for come first
            return self._end(error)

    def _end(self, fault: Exception | None = None) -> list[Any]:
        self.more, self.fault = False, fault
        return []
