"""`Halt`: ends a pass early, also one that waits for the next row of another program. Knows nothing of runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


class Halt:
    """Ends a pass early: no further item is begun, those in flight are finished and kept. `set` from any thread."""

    def __init__(self) -> None:
        self.asked = False
        self._told: list[Callable[[], None]] = []

    def set(self) -> None:
        self.asked = True
        for tell in list(self._told):
            tell()

    async def before(self, work: Awaitable[T]) -> T | None:
        """What comes of `work`, or None as soon as the halt is asked for; the work is cancelled then."""
        loop = asyncio.get_running_loop()
        halted: asyncio.Future[None] = loop.create_future()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(lambda: None if halted.done() else halted.set_result(None))

        self._told.append(tell)
        working = asyncio.ensure_future(work)
        try:
            if not self.asked:
                await asyncio.wait({working, halted}, return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else None
        finally:
            self._told.remove(tell)
            halted.cancel()
            working.cancel()
