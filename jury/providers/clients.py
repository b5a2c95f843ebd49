"""SDK clients: made per provider and running event loop, closed with the loop. Knows no provider and no call.

A client belongs to the loop that its connections live in. Two `asyncio.run` after another get their own; the first are
closed when their loop shuts down its async generators, or at exit, so that no connection is left open.

Over the SDKs' default transport a loop has several clients once many calls are in flight: the connection pool of httpx
looks at every connection before and after each call, so that one pool for 64 calls costs more CPU than the calls
themselves. `Shared` keeps each pool small, and opens no more connections than one pool would.
"""

from __future__ import annotations

import asyncio
import atexit
import importlib
import os
import threading
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol
from weakref import WeakSet

from jury.errors import MissingExtra

MOST_CONNECTIONS = 1024
MOST_IDLE = 512  # kept alive: above the usual number in flight, so that a run does not reconnect
PER_CLIENT = 8  # connections of one httpx pool


class Client(Protocol):
    """What is asked of an SDK client. `post` is public in both SDKs and spares the walk over every parameter."""

    async def post(self, path: str, *, cast_to: type[bytes], body: object, options: Any) -> bytes: ...

    async def close(self) -> None: ...


class Made(NamedTuple):
    """A new client; `share`: from how many calls in flight another should be made beside it, None for never."""

    client: Client
    share: int | None


@dataclass(slots=True)
class _Share:
    client: Client
    in_flight: int = 0
    opened: int = 0  # most that were ever in flight: as many connections are open


class Shared:
    """A client made of small ones; belongs to one loop. Each call goes where a connection is free, if there is one."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        first = make()
        self._most = first.share
        self._shares = [_Share(first.client)]

    async def post(self, path: str, *, cast_to: type[bytes], body: object, options: Any) -> bytes:
        share = self._shares[0] if self._most is None else self._free(self._most)
        share.in_flight += 1
        share.opened = max(share.opened, share.in_flight)
        try:
            return await share.client.post(path, cast_to=cast_to, body=body, options=options)
        finally:
            share.in_flight -= 1

    @property
    def first(self) -> Client:
        """The SDK's client itself, for what is no judge call."""
        return self._shares[0].client

    async def close(self) -> None:
        for share in self._shares:
            await share.client.close()

    def _free(self, most: int) -> _Share:
        growing: _Share | None = None
        for share in self._shares:
            if share.in_flight < share.opened:
                return share
            if share.opened < most and growing is None:
                growing = share
        if growing is None:
            growing = _Share(self._make().client)
            self._shares.append(growing)
        return growing


class PerLoop:
    """The client of the running loop, made on first use. Safe to call from several loops in several threads."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._held: dict[asyncio.AbstractEventLoop, tuple[Client, AsyncGenerator[None]]] = {}
        self._lock = threading.Lock()
        _all.add(self)

    async def get(self) -> Client:
        loop = asyncio.get_running_loop()
        held = self._held.get(loop)
        if held is None:
            client = Shared(self._make)
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


class Http(NamedTuple):
    """An HTTP client for an SDK, and from how many calls in flight on a further one should be made."""

    client: Any
    share: int | None


def http_client(sdk: Any) -> Http:
    """The transport for an SDK (the module `openai` or `anthropic`): aiohttp where installed, at half the CPU a call.

    `JURY_TRANSPORT`: `aiohttp`, or `httpx` for the SDK's default. Redirects are not followed: a key stays with its
    host.
    """
    wanted = os.environ.get("JURY_TRANSPORT", "")
    library = _http_library(sdk)
    limits = library.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=MOST_IDLE)
    if wanted not in ("httpx", "default") and hasattr(sdk, "DefaultAioHttpClient"):
        try:
            return Http(sdk.DefaultAioHttpClient(limits=limits, follow_redirects=False), None)
        except RuntimeError:  # the SDK's word for a missing extra
            if wanted == "aiohttp":
                raise MissingExtra.of("JURY_TRANSPORT=aiohttp needs an extra", "aiohttp") from None
    trust = _trust(library.__name__)
    return Http(sdk.DefaultAsyncHttpxClient(limits=limits, follow_redirects=False, verify=trust), PER_CLIENT)


def _http_library(sdk: Any) -> Any:
    """httpx or httpx2: which one differs between versions of an SDK, and is where its client class comes from."""
    base = next(c for c in sdk.DefaultAsyncHttpxClient.__mro__ if c.__name__ == "AsyncClient")
    return importlib.import_module(base.__module__.partition(".")[0])


@cache
def _trust(library: str) -> Any:
    """The certificates to trust, read once: that takes longer than all else about a client."""
    return importlib.import_module(library).create_ssl_context()
