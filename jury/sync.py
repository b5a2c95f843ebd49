"""The thin synchronous edge: one background event loop for every `..._sync` call of the process.

The loop stays, so that connections are reused from call to call, and the calls work inside a running loop (notebooks).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def _background() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="jury", daemon=True).start()
            _loop = loop
        return _loop


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine; its exceptions are raised here. An interrupt cancels the work."""
    loop = _background()
    if asyncio._get_running_loop() is loop:  # pyright: ignore[reportPrivateUsage] - the one call that never raises
        work.close()
        raise RuntimeError("a ..._sync function was called by a judge on jury's own loop; use `await` there")
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def iterate(source: AsyncIterator[T]) -> Iterator[T]:
    """The elements of an async iterator, one by one; closing this generator closes the iterator."""
    try:
        while True:
            try:
                yield run(_next(source))
            except StopAsyncIteration:
                return
    finally:
        close = getattr(source, "aclose", None)
        if close is not None:
            run(close())


async def _next(source: AsyncIterator[T]) -> T:
    return await anext(source)
