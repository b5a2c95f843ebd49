"""What the providers over an official SDK have in common: one call, refused parameters, errors, tokens and money.

`RemoteProvider.complete` sends a body through the client's public `post`, as bytes out and bytes in: the SDK keeps its
connections, headers and exceptions, and its walk over every parameter and its typed reply are spared (about a quarter
of the CPU of a call). The SDK's own retries are off. What goes into a body is in `openai.py` and `anthropic.py`.
"""

from __future__ import annotations

import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from jury.errors import ConfigError, ProviderError
from jury.providers import bodies, faults, prices, schemas
from jury.providers.adapt import Memory
from jury.providers.base import Request
from jury.providers.bodies import Api
from jury.providers.clients import Client, Made, PerLoop, Shared
from jury.providers.endpoints import Endpoint
from jury.results import Reply, Usage

_ADAPTATIONS = 4  # refused parameters that one call mends at most: each costs an unpaid round trip, once per model


@dataclass(frozen=True, slots=True)
class Call:
    """One request as it goes out. `lost`: settings that were left out beforehand."""

    api: Api
    path: str
    body: dict[str, Any]
    lost: tuple[str, ...] = ()


class RemoteProvider(ABC):
    """A provider over an SDK. `client`: a caller's own asynchronous one, used as it is; else one is made per loop."""

    def __init__(self, endpoint: Endpoint, client: Any = None) -> None:
        self.endpoint = endpoint
        self._own = client
        self._clients = PerLoop(self._make)
        self._memory: dict[tuple[Api, str], Memory] = {}
        self._prices: dict[str, prices.Price | None] = {}
        self._secrets: set[str] = set()  # what must not stand in an error text
        if client is not None:
            _must_be_async(client)
            for name in ("api_key", "auth_token"):
                given = getattr(client, name, None)
                self._hide(given if isinstance(given, str) else None)

    @property
    def name(self) -> str:
        return self.endpoint.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.endpoint.base_url!r})"

    async def complete(self, request: Request) -> Reply:
        """One reply. Raises `ProviderError`; sends again only to leave out a parameter that the model refuses."""
        call = self.call(request)
        if request.model not in self._prices:  # before anything is paid: a price may be set up wrongly
            self._prices[request.model] = prices.find(self.name, request.model)
        client = self._own if self._own is not None else await self._clients.get()
        memory = self._memory.get((call.api, request.model))
        structured = request.rung != "text"
        for attempt in range(_ADAPTATIONS + 1):
            body = dict(call.body)
            lost = (*call.lost, *memory.apply(body)) if memory else call.lost
            try:
                answer = await self._send(client, call.path, body, request.settings.timeout_s)
            except self._errors() as error:
                status = getattr(error, "status_code", 0)
                if attempt < _ADAPTATIONS and status in (400, 422):
                    memory = self._memory.setdefault((call.api, request.model), Memory())
                    if memory.learn(body, status, faults.body_of(error), call.api):
                        continue
                # Not `from error`: its chain holds the request, and the request holds the key.
                raise faults.from_exception(error, structured=structured, secrets=self._secrets) from None
            return self._read(call, request, answer, lost, structured)
        raise AssertionError("the last attempt returns or raises")

    async def sdk(self) -> Any:
        """The SDK's client for the running loop, for what is no judge call (`batches.py`). Raises `ProviderError`."""
        if self._own is not None:
            return self._own
        held = await self._clients.get()
        return held.first if isinstance(held, Shared) else held

    @contextmanager
    def translating(self) -> Generator[None]:
        """What the SDK raises inside leaves as a `ProviderError` without keys."""
        try:
            yield
        except self._errors() as error:
            raise faults.from_exception(error, structured=False, secrets=self._secrets) from None

    async def close(self) -> None:
        """Close the client of the running loop. A caller's own client stays open."""
        await self._clients.close()

    @abstractmethod
    def call(self, request: Request) -> Call:
        """The request as this API takes it. Pure."""

    @abstractmethod
    def _make(self) -> Made:
        """A client for the running loop. Raises `ProviderError` `auth` without a key."""

    @abstractmethod
    def _sdk_error(self) -> type[Exception]:
        """The root of what the SDK raises."""

    def _errors(self) -> tuple[type[Exception], ...]:
        """What a call that failed may raise: not everything of the transport comes wrapped by the SDK."""
        transport = sys.modules.get("aiohttp")
        own = (self._sdk_error(), OSError)
        return own if transport is None else (*own, transport.ClientError)

    async def _send(self, client: Any, path: str, body: dict[str, Any], timeout_s: float) -> Any:
        options = {"max_retries": 0, "timeout": timeout_s, "follow_redirects": False}
        if hasattr(client, "post"):
            return await cast("Client", client).post(path, cast_to=bytes, body=body, options=options)
        answer = self._create(client, path)(**body)
        if not inspect.isawaitable(answer):
            raise ConfigError(f"client {type(client).__name__} is not asynchronous: its methods must be awaitable")
        return _plain(await answer)

    def _create(self, client: Any, path: str) -> Any:
        """The typed method of a caller's client that has no `post`."""
        raise ConfigError(f"{type(client).__name__} has neither `post` nor a method for {path}")

    def _read(self, call: Call, request: Request, answer: Any, lost: tuple[str, ...], structured: bool) -> Reply:
        parsed = bodies.decode(answer) if isinstance(answer, bytes | str) else answer
        if isinstance(parsed, str):
            raise ProviderError("bad_body", "the answer is no JSON object but a text: not the shape of this API")
        try:
            reply = bodies.read_reply(call.api, 200, parsed, structured=structured, secrets=self._secrets)
        except ProviderError as error:
            error.usage = self._priced(request.model, error.usage, parsed)
            raise
        usage = self._priced(request.model, reply.usage, parsed)
        notes = tuple(dict.fromkeys(lost)) if lost else ()
        # Here and below every field by its place: `replace` takes several times as long.
        return Reply(reply.text, reply.data, reply.model, usage, reply.retries, reply.latency_s, notes, reply.message)

    def _priced(self, model: str, usage: Usage | None, body: Any) -> Usage | None:
        if usage is None:
            return None
        if self.name == "openrouter":  # says itself what it charged, in US dollars
            cost = bodies.dollars(body["usage"].get("cost"))
        else:
            cost = prices.cost(self._prices[model], usage, body)
        return Usage(usage.calls, usage.input_tokens, usage.output_tokens, usage.cached_input_tokens, cost)

    def _hide(self, key: str | None) -> str | None:
        """The key, remembered as one that no error text may hold."""
        if key:
            self._secrets.add(key)
        return key


def merged(body: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """A body with a seat's `extra`, which wins; two objects of one name are united (an effort beside our format)."""
    for name, value in extra.items():
        mine = body.get(name)
        if isinstance(mine, Mapping) and isinstance(value, Mapping):
            value = {**cast("Mapping[str, Any]", mine), **cast("Mapping[str, Any]", value)}
        body[name] = value
    return body


def system_text(request: Request) -> str:
    """The system text, with the words that ask for the schema where no API enforces it."""
    if request.schema is None or request.rung not in ("json", "text"):
        return request.system
    wording = schemas.prepared(request.schema, "text", schemas.schema_text)
    return f"{request.system}\n\n{wording}" if request.system else wording


def ambient_headers(variable: str | None, key: str, omit: Any, *names: str) -> dict[str, Any]:
    """Headers that keep an SDK's variables from another host: what it would send of them is left out there.

    `variable`: the text of the SDK's custom headers, one `Name: value` a line.
    """
    lines = [line.partition(":")[0].strip() for line in (variable or "").splitlines() if ":" in line]
    headers: dict[str, Any] = dict.fromkeys((*names, *lines), omit)
    return {n: f"Bearer {key}" if n.lower() == "authorization" else v for n, v in headers.items()}


def _must_be_async(client: Any) -> None:
    post = getattr(client, "post", None)
    if post is not None and not inspect.iscoroutinefunction(post):
        kind = type(client).__name__
        raise ConfigError(f"client is a {kind}, which blocks the event loop: pass an Async{kind.removeprefix('Async')}")


def _plain(reply: Any) -> Any:
    """A typed reply as JSON values."""
    if isinstance(reply, Mapping | bytes | str):
        return cast("Any", reply)
    dump = getattr(reply, "model_dump", None) or getattr(reply, "to_dict", None)
    return dump() if callable(dump) else reply
