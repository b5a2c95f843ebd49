"""Doing several things at once: awaitables in order, leaving no strays; plain functions in threads that nobody waits
for; what functions raise kept harmless.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import os
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

from jury.kept import Kept
from jury.redaction import told

T = TypeVar("T")
MOST_THREADS = 256  # one for each function that waits; beyond them functions wait for each other


async def together(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """The results in the order given. The first exception cancels the others, waits for them, and is raised.

    A cancellation is raised too, whatever the work makes of it.
    """
    if len(work) == 1:
        return [await work[0]]
    failed: list[Exception] = []
    tasks: list[asyncio.Task[T]] = []
    loop = asyncio.get_running_loop()  # looked up once: each look asks the system for the process's number
    for w in work:
        tasks.append(loop.create_task(_one_of(tasks, failed, w)))
    me = asyncio.current_task(loop)
    heard = me.cancelling() if me else 0
    results: list[T] = []
    try:
        # One after another, for `gather` costs as much again as the tasks. A failure gets here as a cancelled task.
        for t in tasks:
            results.append(await t)
            if me and me.cancelling() > heard:
                raise asyncio.CancelledError  # it went to the task that was waited for, which kept it to itself
        return results
    except BaseException:
        for t in tasks:
            t.cancel()
        try:
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:  # also where this is cancelled once more
            for w in work:
                if inspect.getcoroutinestate(w) == inspect.CORO_CREATED:
                    w.close()  # one that was cancelled before it began
        if failed and not (me and me.cancelling() > heard):
            raise failed[0] from None
        raise


async def _one_of(tasks: Sequence[asyncio.Task[T]], failed: list[Exception], work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    except Exception as error:
        if not failed:
            failed.append(error)
            for task in tasks:
                task.cancel()
        raise


class Limiter:
    """One limit of calls in flight, usable from several event loops (a semaphore belongs to one)."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._by_loop = Kept(lambda: asyncio.Semaphore(limit), over=lambda loop: loop.is_closed())

    def gate(self) -> asyncio.Semaphore:
        """The limit as it holds in the running loop."""
        return self._by_loop.of(asyncio.get_running_loop())


async def contained(who: str, function: Callable[..., Any], given: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """What a function of somebody else's gives: an async one is awaited, a plain one runs in a thread.

    What it raises that would end the process, the event loop or the task around it is a `RuntimeError`: SystemExit, a
    cancellation of its own making, a KeyboardInterrupt in a thread (nobody presses a key there), any that is no
    `Exception`.
    """
    own_call = getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__
    try:
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(own_call):
            return await function(*given, **named)
        result = await in_thread(lambda: _called(who, function, given, named))
        return await result if inspect.isawaitable(result) else result
    except (Exception, KeyboardInterrupt):  # on the loop's own thread a key was pressed
        raise
    except BaseException as error:
        if isinstance(error, GeneratorExit) and not _from_below(error):
            raise
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling()):
            raise
        raise RuntimeError(f"{who} raised {told(error)}") from error


def _from_below(error: BaseException) -> bool:
    """Whether what was awaited raised it. Where a coroutine is closed, it begins in the frame that catches it."""
    return error.__traceback__ is not None and error.__traceback__.tb_next is not None


def _called(who: str, function: Callable[..., Any], given: Sequence[Any], named: Mapping[str, Any]) -> Any:
    try:
        return function(*given, **named)
    except BaseException as error:
        if isinstance(error, Exception) and not isinstance(error, StopIteration):
            raise
        raise RuntimeError(f"{who} raised {told(error)}") from error


async def in_thread(function: Callable[[], T]) -> T:
    """The result of a plain function, whose exceptions are raised here.

    Unlike those of `asyncio.to_thread`, the threads do not keep the process or the event loop from ending: a function
    that hangs is left behind.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            outcome = (context.run(function), None)
        except BaseException as error:  # noqa: BLE001 - handed over, and raised where it is waited for
            outcome = (None, error)
        with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits any more
            loop.call_soon_threadsafe(_settle, done, outcome)

    _threads.put(work)
    result, error = await done
    if error is not None:
        try:
            raise error
        finally:
            del error  # it holds this frame, which holds it
    return result


def _settle(future: asyncio.Future[Any], outcome: Any) -> None:
    if not future.done():
        future.set_result(outcome)


class _Threads:
    """Daemon threads, made as they are needed and kept for the next function."""

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._count = 0

    def put(self, work: Callable[[], None]) -> None:
        self._work.put(work)
        if self._idle.acquire(blocking=False):
            return
        with self._lock:
            if self._count < MOST_THREADS:
                threading.Thread(target=self._run, name=f"jury-function-{self._count}", daemon=True).start()
                self._count += 1

    def _run(self) -> None:
        while True:
            self._work.get()()
            self._idle.release()


_threads = _Threads()


def _forked() -> None:
    """A child process has none of its parent's threads."""
    global _threads
    _threads = _Threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
