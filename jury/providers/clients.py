"""SDK clients: one per provider and running event loop, closed with the loop. Knows no provider and no call.

A client belongs to the loop that its connections live in. Two `asyncio.run` after another get one each; the first is
closed when its loop shuts down its async generators, or at exit, so that no connection is left open.
"""

from __future__ import annotations

import asyncio
import atexit
import importlib
import os
import threading
from collections.abc import AsyncGenerator, Callable
from typing import Any, Protocol
from weakref import WeakSet

from jury.errors import MissingExtra

MOST_CONNECTIONS = 1024
MOST_IDLE = 512  # kept alive: above the usual number in flight, so that a run does not reconnect


class Client(Protocol):
    """What is asked of an SDK client. `post` is public in both SDKs and spares the walk over every parameter."""

    async def post(self, path: str, *, cast_to: type[bytes], body: object, options: Any) -> bytes: ...

    async def close(self) -> None: ...


class PerLoop:
    """The client of the running loop, made on first use. Safe to call from several loops in several threads."""

    def __init__(self, make: Callable[[], Client]) -> None:
        self._make = make
        self._held: dict[asyncio.AbstractEventLoop, tuple[Client, AsyncGenerator[None]]] = {}
        self._lock = threading.Lock()
        _all.add(self)

    async def get(self) -> Client:
        loop = asyncio.get_running_loop()
        held = self._held.get(loop)
        if held is None:
            client = self._make()
            guard = self._guard(loop, client)
            await anext(guard)  # from here on the loop knows the generator, and closes it when it shuts down
            with self._lock:
                for old in [x for x in self._held if x.is_closed()]:  # a loop that was closed without shutting down
                    del self._held[old]
                held = self._held[loop] = (client, guard)
        return held[0]

    async def close(self) -> None:
        """Close the running loop's client; a later `get` makes another."""
        held = self._held.get(asyncio.get_running_loop())
        if held is not None:
            await held[1].aclose()

    async def _guard(self, loop: asyncio.AbstractEventLoop, client: Client) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(loop, None)
            await client.close()

    def close_elsewhere(self) -> None:
        """At exit: close the clients of loops that run in other threads."""
        for loop, (_, guard) in list(self._held.items()):
            if loop.is_running():
                done = asyncio.run_coroutine_threadsafe(guard.aclose(), loop)
                try:
                    done.result(timeout=1.0)
                except (TimeoutError, RuntimeError, OSError):
                    done.cancel()


_all: WeakSet[PerLoop] = WeakSet()


@atexit.register
def _close_all() -> None:
    for held in list(_all):
        held.close_elsewhere()


def http_client(sdk: Any) -> Any:
    """The transport for an SDK (the module `openai` or `anthropic`): aiohttp where installed, at half the CPU a call.

    `JURY_TRANSPORT`: `aiohttp`, or `httpx` for the SDK's default. Redirects are not followed: a key stays with its
    host.
    """
    wanted = os.environ.get("JURY_TRANSPORT", "")
    # The HTTP library differs between versions of an SDK: it is where the SDK's client class comes from.
    base = next(c for c in sdk.DefaultAsyncHttpxClient.__mro__ if c.__name__ == "AsyncClient")
    library = importlib.import_module(base.__module__.partition(".")[0])
    limits = library.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=MOST_IDLE)
    if wanted not in ("httpx", "default") and hasattr(sdk, "DefaultAioHttpClient"):
        try:
            return sdk.DefaultAioHttpClient(limits=limits, follow_redirects=False)
        except RuntimeError:  # the SDK's word for a missing extra
            if wanted == "aiohttp":
                raise MissingExtra("JURY_TRANSPORT=aiohttp needs: pip install 'jury-llm[aiohttp]'") from None
    return sdk.DefaultAsyncHttpxClient(limits=limits, follow_redirects=False)
