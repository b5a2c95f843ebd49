"""Batch APIs: many requests in one file, answers within a day at half the price. OpenAI's Batch, Anthropic's Message
Batches. Here: submitting, asking how far it is, reading what came back. What is asked and what is kept is not.

Results come in any order, in one file or two, and some not at all; `outcomes` puts them in the order of the requests.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol, cast
from urllib.parse import quote

from jury.errors import ConfigError, ProviderError
from jury.providers import bodies
from jury.providers.base import Provider, Request
from jury.providers.bodies import Api
from jury.providers.remote import RemoteProvider
from jury.redaction import redact
from jury.results import Reply
from jury.scales import shown

MOST_REQUESTS = 10_000  # of one batch: both APIs allow more, but what fails together is asked again together
MOST_BYTES = 50_000_000
PRICE = 0.5  # of the list price, with both vendors
_SKEW = timedelta(minutes=15)  # by which a vendor's clock may be behind the one of this machine
_OPENAI_DONE = frozenset({"completed", "failed", "expired", "cancelled"})


@dataclass(frozen=True, slots=True)
class State:
    """How far a batch is. `why`: what the vendor says where it failed as a whole; `done`: no more results will come."""

    status: str
    done: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Results:
    """What came back, as the vendor's lines. `torn`: lines besides these that are no JSON."""

    lines: Sequence[Mapping[str, Any]] = ()
    torn: int = 0

    def nearly(self, asked: int) -> bool:
        """Whether nothing but a few torn lines is wrong with it: it was not cut short, and is no other page."""
        return self.torn <= len(self.lines) and len(self.lines) + self.torn == asked


class BatchApi(Protocol):
    """One vendor's batches. Methods raise `ProviderError`."""

    api: Api

    async def submit(self, requests: Sequence[tuple[str, Mapping[str, Any]]], token: str) -> str:
        """Sends (id, body) pairs; returns the batch's name at the vendor."""
        ...

    async def state(self, batch: str) -> State: ...

    async def results(self, batch: str) -> Results:
        """What came back of a batch that is done."""
        ...

    async def find(self, token: str, since: datetime, count: int, known: Collection[str]) -> str | None:
        """A batch that was submitted under this token, where the answer to `submit` was lost. `known`: other ones."""
        ...


def batch_api(provider: Provider) -> BatchApi | None:
    """The batches of a provider; None where it has none (compatible endpoints, local models, functions)."""
    if not isinstance(provider, RemoteProvider):
        return None
    if provider.endpoint.api == "anthropic":
        return AnthropicBatches(provider)
    return OpenAIBatches(provider) if provider.name in ("openai", "openai-responses") else None


def body_of(provider: Provider, request: Request) -> dict[str, Any]:
    """A request as a line of a batch. Raises `ConfigError` for a provider without batches."""
    if not isinstance(provider, RemoteProvider):
        raise ConfigError(f"{provider.name} has no batches")
    return provider.call(request).body


def outcomes(
    ids: Iterable[str], lines: Iterable[Mapping[str, Any]], api: Api, why_missing: str = "completed"
) -> dict[str, Reply | ProviderError]:
    """What became of each request, in the order of `ids`. The body of a reply is read as that of a live call.

    `why_missing`: the batch's status, for requests that have no line. A line of an id that was never asked is left out.
    """
    found: dict[str, Reply | ProviderError] = {}
    for line in lines:
        found.setdefault(str(line.get("custom_id")), _outcome(line, api))
    missing = f"the batch gave no result for it (status: {why_missing})"
    return {i: found.get(i) or ProviderError("bad_body", missing, retry=True) for i in ids}


def body_of_line(line: Mapping[str, Any]) -> Any:
    """The reply's own JSON in a line, if there is one."""
    result = _object(line.get("result"))
    return result.get("message") if result else _object(line.get("response")).get("body")


def _outcome(line: Mapping[str, Any], api: Api) -> Reply | ProviderError:
    result = _object(line.get("result"))
    response = _object(line.get("response"))
    status, body, error = 200, body_of_line(line), _object(line.get("error"))
    if result:
        kind = str(result.get("type"))
        if kind == "errored":
            body = result.get("error")
            status = 500 if _object(_object(body).get("error")).get("type") == "api_error" else 400
        elif kind != "succeeded":
            return _ended(kind, f"the request {kind} with its batch")
    elif response:
        code: Any = response.get("status_code") or 0
        if not isinstance(code, int):
            return ProviderError("bad_body", f"the line has no status but {shown(code)}")
        status = code
    else:
        return _ended(str(error.get("code")), str(error.get("message") or "no response and no error"))
    try:
        return bodies.read_reply(api, status, body)
    except ProviderError as failure:
        return failure


def _ended(code: str, message: str) -> ProviderError:
    """A request that was never worked on."""
    return ProviderError("timeout" if "expired" in code else "server_error", redact(f"{code}: {message}"), retry=True)


class OpenAIBatches:
    """A file of requests, a batch over it, a file of answers and perhaps one of errors."""

    def __init__(self, provider: RemoteProvider) -> None:
        self._provider = provider
        responses = provider.endpoint.api == "responses"
        self.api: Api = "openai_responses" if responses else "openai_chat"
        self._url = "/v1/responses" if responses else "/v1/chat/completions"

    async def submit(self, requests: Sequence[tuple[str, Mapping[str, Any]]], token: str) -> str:
        lines = (
            json.dumps({"custom_id": i, "method": "POST", "url": self._url, "body": body}, ensure_ascii=False)
            for i, body in requests
        )
        data = "\n".join(lines).encode("utf-8", "replace")
        client = await self._provider.sdk()
        with self._provider.translating():
            file = await client.files.create(file=(f"{token}.jsonl", data, "application/jsonl"), purpose="batch")
            made = await client.batches.create(
                input_file_id=file.id,
                endpoint=self._url,
                completion_window="24h",
                metadata={"jury": token},
            )
        return str(made.id)

    async def state(self, batch: str) -> State:
        client = await self._provider.sdk()
        with self._provider.translating():
            found = await client.batches.retrieve(batch)
        told: list[Any] = list(getattr(found.errors, "data", None) or ())
        why = "; ".join(str(getattr(e, "message", "")) for e in told[:3])
        return State(found.status, found.status in _OPENAI_DONE, why)

    async def results(self, batch: str) -> Results:
        client = await self._provider.sdk()
        with self._provider.translating():
            found = await client.batches.retrieve(batch)
            files = [f for f in (found.output_file_id, found.error_file_id) if f]
            texts = [(await client.files.content(f)).text for f in files]
        return _results("\n".join(texts))

    async def find(self, token: str, since: datetime, count: int, known: Collection[str]) -> str | None:
        client = await self._provider.sdk()
        with self._provider.translating():
            page = await client.batches.list(limit=100)
        return next((str(b.id) for b in page.data if _object(b.metadata).get("jury") == token), None)


class AnthropicBatches:
    """One request with all requests in it. There is no room for a token: a lost one is known by its time and size."""

    api: Api = "anthropic_messages"

    def __init__(self, provider: RemoteProvider) -> None:
        self._provider = provider

    async def submit(self, requests: Sequence[tuple[str, Mapping[str, Any]]], token: str) -> str:
        client = await self._provider.sdk()
        with self._provider.translating():
            made = await client.messages.batches.create(
                requests=[{"custom_id": i, "params": dict(body)} for i, body in requests]
            )
        return str(made.id)

    async def state(self, batch: str) -> State:
        client = await self._provider.sdk()
        with self._provider.translating():
            found = await client.messages.batches.retrieve(batch)
        return State(found.processing_status, found.processing_status == "ended")

    async def results(self, batch: str) -> Results:
        client = await self._provider.sdk()
        path = f"/v1/messages/batches/{quote(batch, safe='')}/results"  # the SDK's own reader ends at a torn line
        with self._provider.translating():
            data: bytes = await client.get(path, cast_to=bytes, options={"headers": {"Accept": "application/binary"}})
        return _results(data.decode("utf-8", "replace"))

    async def find(self, token: str, since: datetime, count: int, known: Collection[str]) -> str | None:
        client = await self._provider.sdk()
        with self._provider.translating():
            page = await client.messages.batches.list(limit=100)
        sent = {str(found.id): found.created_at for found in page.data if _size(found.request_counts) == count}
        near = [name for name, at in sent.items() if name not in known and at >= since - _SKEW]
        return min(near, key=lambda name: abs(sent[name] - since), default=None)


def _size(counts: Any) -> int:
    return counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired


def _results(text: str) -> Results:
    made: list[Mapping[str, Any]] = []
    torn = 0
    for line in text.split("\n"):  # of line breaks JSON escapes this one alone: replies may hold others
        if line.strip():
            try:
                made.append(_object(bodies.decode(line)))
            except ProviderError:
                torn += 1
    return Results(made, torn)


def _object(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
