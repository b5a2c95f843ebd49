"""Doing several awaitables at once, in order, leaving no strays. Imports nothing of the package."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


async def together(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """The results in the order given. The first exception cancels the others, waits for them, and is raised."""
    if len(work) == 1:
        return [await work[0]]
    tasks = [asyncio.create_task(w) for w in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for t in tasks:
            t.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


class Limiter:
    """One limit of calls in flight, usable from several event loops (a semaphore belongs to one)."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    def here(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        semaphore = self._by_loop.get(loop)
        if semaphore is None:
            semaphore = self._by_loop[loop] = asyncio.Semaphore(self.limit)
        return semaphore
