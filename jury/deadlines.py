"""`asyncio.timeout` for many short waits of the same length: one timer for an event loop instead of one for each wait.

    with Deadline(90.0) as deadline:   # TimeoutError if the block takes longer; `deadline.expired` tells whose it is
        reply = await ...

A judge call that comes back in time costs no timer at all, which is a third of what `call` costs. Semantics as
`asyncio.timeout`: the task is cancelled, and the cancellation leaves the block as `TimeoutError` unless the task was
cancelled from elsewhere too.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from jury.kept import Kept

_NEVER = float("inf")


class Deadline:
    """A block that must end within `seconds`; for use once, inside a task. `expired`: it did not."""

    __slots__ = ("_cancelling", "_open", "_task", "at", "expired", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.expired = False

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        if task is None:
            raise RuntimeError("a deadline needs a task")
        self._task = task
        self._cancelling = task.cancelling()
        at = self.at = loop.time() + self.seconds
        timer = _timers.of(loop)
        opened = self._open = timer.open
        opened[self] = None
        if at < timer.set_for:
            timer.set(loop, at)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.expired:
            del self._open[self]
        elif self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def expire(self) -> None:
        self.expired = True
        self._task.cancel()


class _Timer:
    """The open deadlines of one event loop. Holds no reference to the loop, so that it goes when the loop goes.

    A timer once set is never taken back: it finds that its deadline was met, and is set anew for the nearest open one.
    """

    __slots__ = ("__weakref__", "open", "set_for")

    def __init__(self) -> None:
        self.open: dict[Deadline, None] = {}
        self.set_for = _NEVER

    def set(self, loop: asyncio.AbstractEventLoop, at: float) -> None:
        self.set_for = at
        loop.call_at(at, self._ring, loop, at)

    def _ring(self, loop: asyncio.AbstractEventLoop, at: float) -> None:
        if at != self.set_for:  # a nearer one was set meanwhile, and has set the next
            return
        for deadline in [d for d in self.open if d.at <= at]:
            del self.open[deadline]
            deadline.expire()
        self.set_for = _NEVER
        nearest = min((d.at for d in self.open), default=_NEVER)
        if nearest < _NEVER:
            self.set(loop, nearest)


_timers = Kept(_Timer)
