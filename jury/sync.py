"""The thin synchronous edge: one background event loop for every `..._sync` call of the process.

The loop stays, so that connections are reused from call to call, and the calls work inside a running loop (notebooks).
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Self, TypeVar, cast

T = TypeVar("T")
NO_ROWS = (str, bytes, bytearray, memoryview, Mapping)  # one item, or a mistake, though they can be iterated over
_PATIENCE_S = 5.0  # how long an interrupt waits for the work it cancelled
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def _background() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            loop = asyncio.new_event_loop()
            threading.Thread(target=_serve, args=(loop,), name="jury", daemon=True).start()
            _loop = loop
        return _loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):  # raised by a task: its caller gets it, the loop goes on for the others
            continue
        return


def _forked() -> None:
    """A child process has the loop of its parent, and no thread that serves it."""
    global _lock, _loop
    _lock, _loop = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def run(work: Coroutine[Any, Any, T], desk: Desk | None = None) -> T:
    """The result of a coroutine; its exceptions are raised here. An interrupt cancels the work."""
    loop = _background()
    if asyncio._get_running_loop() is loop:  # pyright: ignore[reportPrivateUsage] - the one call that never raises
        work.close()
        raise RuntimeError("a ..._sync function was called by a judge on jury's own loop; use `await` there")
    ended = threading.Event()
    future = asyncio.run_coroutine_threadsafe(_told(work, ended), loop)
    try:
        if desk is not None:
            future.add_done_callback(desk.close)
            desk.serve()
        return future.result()
    except BaseException:
        if future.cancel():
            ended.wait(_PATIENCE_S)  # what it holds is free before anybody goes on
        raise


async def _told(work: Coroutine[Any, Any, T], ended: threading.Event) -> T:
    try:
        return await work
    finally:
        ended.set()


def iterate(rows: Any, results: Callable[[Any], AsyncIterator[T]]) -> Iterator[T]:
    """What `results` makes of the rows, one by one; closing this generator closes the async iterator."""
    made = hasattr(rows, "__iter__") and not isinstance(rows, (list, tuple, *NO_ROWS))
    desk = Desk(cast("Iterable[Any]", rows)) if made else None
    source = results(rows if desk is None else desk)
    steps: list[asyncio.Task[Any]] = []
    try:
        while True:
            try:
                yield run(_next(source, steps), desk)
            except StopAsyncIteration:
                return
    finally:
        run(_closed(source, steps))


async def _next(source: AsyncIterator[T], steps: list[asyncio.Task[Any]]) -> T:
    steps[:] = [cast("asyncio.Task[Any]", asyncio.current_task())]
    return await anext(source)


async def _closed(source: AsyncIterator[Any], steps: list[asyncio.Task[Any]]) -> None:
    """Closes an async iterator. An interrupt that came before `run` held the step it had started left that running."""
    for step in steps:
        if not step.done():
            step.cancel()
            await asyncio.wait([step])
    close = getattr(source, "aclose", None)
    if close is not None:
        await close()


class Desk:
    """Rows for the loop, read in the thread that waits for the results.

    So a generator that takes its time holds up nobody else's calls, an interrupt reaches it, and a cursor that belongs
    to its thread stays there.
    """

    def __init__(self, rows: Iterable[Any]) -> None:
        self._rows = iter(rows)
        self._asked: SimpleQueue[Future[list[Any]] | None] = SimpleQueue()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        answer: Future[list[Any]] = Future()
        self._asked.put(answer)
        for row in await asyncio.wrap_future(answer):
            return row
        raise StopAsyncIteration

    def serve(self) -> None:
        """Reads rows as they are asked for, until `close`."""
        while (answer := self._asked.get()) is not None:
            if not answer.set_running_or_notify_cancel():
                continue
            try:
                row = [next(self._rows)]
            except StopIteration:
                row = []
            except Exception as error:  # noqa: BLE001 - the caller's code; raised where the row is waited for
                answer.set_exception(error)
                continue
            answer.set_result(row)

    def close(self, _: object = None) -> None:
        self._asked.put(None)
