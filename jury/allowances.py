"""How long asking may take: so many seconds for a vote, for an item. Waiting in line is not counted.

    allowance = Allowance(30.0, "vote_deadline_s")
    judgment = await within((allowance,), ask)      # OutOfTime when the 30 s are over; the work is cancelled

What is asked at once counts once, and time in which everything under way waits in line (for a place, for money) does
not count: a full provider is no slow judge. `in_line` marks such a wait from inside. Imports nothing of the package.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
_held: ContextVar[tuple[Allowance, ...]] = ContextVar("allowances", default=())


class OutOfTime(Exception):
    """The allowance that is used up; raised by `within`."""

    def __init__(self, allowance: Allowance) -> None:
        super().__init__(f"{allowance.name} of {allowance.seconds:g} s")
        self.allowance = allowance


class Allowance:
    """So many seconds, for several pieces of work in one event loop. `over`: they are used up."""

    __slots__ = ("_busy", "_guards", "_left", "_since", "_timer", "name", "over", "seconds")

    def __init__(self, seconds: float, name: str) -> None:
        self.seconds = seconds
        self.name = name
        self.over = False
        self._left = seconds
        self._busy = 0  # pieces of work that do not wait in line
        self._guards: list[_Guard] = []
        self._timer: asyncio.TimerHandle | None = None
        self._since = 0.0

    def begin(self, guard: _Guard) -> None:
        self._guards.append(guard)
        self.go()

    def end(self, guard: _Guard) -> None:
        self._guards.remove(guard)
        self.wait()

    def go(self) -> None:
        """One piece of work is under way, or has got its place."""
        self._busy += 1
        if self._busy == 1 and not self.over:
            loop = asyncio.get_running_loop()
            self._since = loop.time()
            self._timer = loop.call_later(self._left, self._expire)

    def wait(self) -> None:
        """One piece of work has ended, or stands in line."""
        self._busy -= 1
        if self._busy == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._left = max(0.0, self._left - (asyncio.get_running_loop().time() - self._since))

    def _expire(self) -> None:
        self.over, self._timer = True, None
        for guard in list(self._guards):
            guard.fire(self)


class _Guard:
    """One piece of work in one task, cancelled once by whichever allowance is used up first."""

    __slots__ = ("_cancelling", "_task", "fired")

    def __init__(self, task: asyncio.Task[object]) -> None:
        self._task = task
        self._cancelling = task.cancelling()
        self.fired: Allowance | None = None

    def fire(self, allowance: Allowance) -> None:
        if self.fired is None:
            self.fired = allowance
            self._task.cancel()

    def mine(self) -> bool:
        """Whether a cancellation is this guard's, and nobody else's besides."""
        return self.fired is not None and self._task.cancelling() - 1 <= self._cancelling

    def leave(self) -> None:
        """Takes its cancellation back, also from work that heard of it and gave something else."""
        if self.fired is not None:
            self._task.uncancel()


async def within(allowances: Sequence[Allowance], work: Callable[[], Awaitable[T]]) -> T:
    """What the work gives. Raises `OutOfTime` where an allowance is used up, or was before it began."""
    for allowance in allowances:
        if allowance.over:
            raise OutOfTime(allowance)
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("an allowance needs a task")
    guard = _Guard(task)
    token = _held.set((*_held.get(), *allowances))
    for allowance in allowances:
        allowance.begin(guard)
    try:
        return await work()
    except asyncio.CancelledError:
        if guard.mine() and guard.fired is not None:
            raise OutOfTime(guard.fired) from None
        raise
    finally:
        for allowance in allowances:
            allowance.end(guard)
        guard.leave()
        _held.reset(token)


@contextmanager
def in_line() -> Generator[None]:
    """Around a wait for a place or for money: no allowance of this task counts it."""
    held = _held.get()
    for allowance in held:
        allowance.wait()
    try:
        yield
    finally:
        for allowance in held:
            allowance.go()
