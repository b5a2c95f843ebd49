"""A scripted model provider on the loopback address: real HTTP, so that a test sees what the official clients see.

    with ProviderServer([rate_limited(retry_after=1), reply({"explanation": "", "value": True})]) as server:
        client = AsyncOpenAI(base_url=server.openai_url, api_key="k", max_retries=0)
        ...
        assert server.count() == 2 and server.requests[0].body["model"] == "m"

The script is an `Answer` (given to every request), a list (one each, in order of arrival; a request beyond its end gets
a 418 and is counted in `exhausted`), or a function of the recorded request, called in the server's thread. Any value
that is no `Answer` is sent as a good reply in the shape of the endpoint. The makers live in `answers.py`.
Speaks HTTP/1.1 with keep-alive; no streaming, no TLS, no chunked requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Self

from tests.servers.answers import (
    Answer,
    Style,
    azure_content_filter,
    chat_content_filter,
    chat_empty,
    chat_length_cut,
    chat_refusal,
    chat_reply,
    chat_tool,
    closed,
    context_too_long,
    cut_body,
    garbage,
    hang,
    html_page,
    http_error,
    json_body,
    messages_empty,
    messages_length_cut,
    messages_refusal,
    messages_reply,
    messages_thinking_then_text,
    messages_tool,
    not_http,
    overloaded_529,
    rate_limited,
    redirect,
    reply,
    reset,
    responses_content_filter,
    responses_empty,
    responses_failed,
    responses_length_cut,
    responses_refusal,
    responses_reply,
)

__all__ = [
    "Answer",
    "ProviderServer",
    "Recorded",
    "azure_content_filter",
    "chat_content_filter",
    "chat_empty",
    "chat_length_cut",
    "chat_refusal",
    "chat_reply",
    "chat_tool",
    "closed",
    "context_too_long",
    "cut_body",
    "garbage",
    "hang",
    "html_page",
    "http_error",
    "json_body",
    "messages_empty",
    "messages_length_cut",
    "messages_refusal",
    "messages_reply",
    "messages_thinking_then_text",
    "messages_tool",
    "not_http",
    "overloaded_529",
    "rate_limited",
    "redirect",
    "reply",
    "reset",
    "responses_content_filter",
    "responses_empty",
    "responses_failed",
    "responses_length_cut",
    "responses_refusal",
    "responses_reply",
]

Script = Answer | Sequence[Any] | Callable[["Recorded"], Any]


@dataclass(frozen=True)
class Recorded:
    """One request as it arrived. Header names are in lower case; `body` is the parsed JSON, None if there is none."""

    number: int  # from 0
    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    body: Any
    time: float  # time.monotonic()

    @property
    def style(self) -> Style:
        path = self.path.partition("?")[0]
        for end, style in (("/messages", "messages"), ("/responses", "responses"), ("/models", "models")):
            if path.endswith(end):
                return style  # type: ignore[return-value]
        return "chat"

    @property
    def model(self) -> str:
        return self.body.get("model", "") if isinstance(self.body, dict) else ""


class ProviderServer:
    """The server; a context manager. `requests`, `count()`, `connections`, `peak_in_flight`, `exhausted` count."""

    def __init__(self, script: Script = reply()) -> None:  # noqa: B008 - an Answer is frozen
        self.requests: list[Recorded] = []
        self.connections = 0
        self.peak_in_flight = 0
        self.exhausted = 0
        self.errors: list[BaseException] = []  # what a script function raised; raised again when the block ends
        self._in_flight = 0
        self._script = script
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="provider-server", daemon=True)
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    openai_url = property(lambda self: f"{self.url}/v1", doc="`base_url` of the OpenAI client")
    anthropic_url = property(lambda self: self.url, doc="`base_url` of the Anthropic client")

    @property
    def bodies(self) -> list[Any]:
        return [r.body for r in self.requests]

    def count(self, path: str = "") -> int:
        """How many requests came in, to paths that end with `path`."""
        return sum(r.path.partition("?")[0].endswith(path) for r in self.requests)

    def script(self, script: Script) -> None:
        """From now on answer by this script; a list starts at its beginning."""
        self._script = script

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(120)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(120)
        if self.errors and kind is None:
            raise self.errors[0]

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        tasks: set[asyncio.Task[None]] = set()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            task = asyncio.ensure_future(self._connection(reader, writer))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=2**24)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        # A connection that is just being accepted would be left open by asyncio, and by a task that has not begun.
        while asyncio.all_tasks() - tasks - {asyncio.current_task()}:  # noqa: ASYNC110 - asyncio's own tasks
            await asyncio.sleep(0)
        server.close()
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        stopped = False
        try:
            while (request := await self._read(reader)) is not None:
                self._in_flight += 1
                self.peak_in_flight = max(self.peak_in_flight, self._in_flight)
                try:
                    answer = self._choose(request)
                    if answer.delay_s:
                        await asyncio.sleep(answer.delay_s)
                    if answer.together:
                        await self._crowd(answer.together)
                finally:
                    self._in_flight -= 1
                if not _send(writer, request, answer):
                    break
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went away, as a cancelled call does
        except asyncio.CancelledError:
            stopped = True  # what a client does not read keeps no connection
            raise
        finally:
            writer.transport.abort() if stopped or writer.transport.is_closing() else writer.close()

    async def _crowd(self, requests: int) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(60):
                while self.peak_in_flight < requests:  # noqa: ASYNC110 - a count, not an event
                    await asyncio.sleep(0.01)

    async def _read(self, reader: asyncio.StreamReader) -> Recorded | None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines if line)}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None
        request = Recorded(len(self.requests), method, path, headers, raw, body, time.monotonic())
        self.requests.append(request)
        return request

    def _choose(self, request: Recorded) -> Answer:
        script = self._script
        if callable(script):
            try:
                chosen = script(request)
            except Exception as error:  # noqa: BLE001 - raised again in the test's thread
                self.errors.append(error)
                return http_error(418, message=f"the script raised {error!r}")
        elif isinstance(script, Answer):
            chosen = script
        else:
            chosen, self._script = (script[0], script[1:]) if script else (None, script)
            if not script:
                self.exhausted += 1
                return http_error(418, message="the script of this test server has no answer left")
        return chosen if isinstance(chosen, Answer) else reply(chosen)


def _headers(request: Recorded, answer: Answer, length: int) -> dict[str, str]:
    made = {"date": "Mon, 01 Jun 2026 00:00:00 GMT", "content-length": str(length)}
    if length:
        made["content-type"] = answer.content_type
    if request.style == "messages":
        made |= {
            "request-id": f"req_{request.number:024d}",
            "anthropic-organization-id": "00000000-0000-0000-0000-000000000000",
            "anthropic-ratelimit-requests-limit": "4000",
            "anthropic-ratelimit-requests-remaining": "3999",
            "anthropic-ratelimit-requests-reset": "2026-06-01T00:00:01Z",
            "anthropic-ratelimit-tokens-limit": "400000",
            "anthropic-ratelimit-tokens-remaining": "399000",
            "anthropic-ratelimit-tokens-reset": "2026-06-01T00:00:01Z",
        }
    else:
        made |= {
            "x-request-id": f"req_{request.number:032x}",
            "openai-organization": "org-test",
            "openai-processing-ms": "12",
            "openai-version": "2020-10-01",
            "x-ratelimit-limit-requests": "10000",
            "x-ratelimit-limit-tokens": "2000000",
            "x-ratelimit-remaining-requests": "9999",
            "x-ratelimit-remaining-tokens": "1999000",
            "x-ratelimit-reset-requests": "6ms",
            "x-ratelimit-reset-tokens": "30ms",
        }
    return made | {k.lower(): v for k, v in answer.headers.items()}


def _send(writer: asyncio.StreamWriter, request: Recorded, answer: Answer) -> bool:
    """Sends the answer; false where the connection is over."""
    if answer.action == "reset":
        sock: socket.socket = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        return False
    if answer.action == "close":
        return False
    body = answer.body(request.style, request.model) if callable(answer.body) else answer.body
    if isinstance(body, str):
        body = body.encode()
    elif not isinstance(body, bytes):
        body = json.dumps(body).encode()
    if answer.action == "raw":
        writer.write(body)
        return False
    try:
        phrase = HTTPStatus(answer.status).phrase
    except ValueError:
        phrase = "Overloaded" if answer.status == 529 else "Unknown"
    head = "".join(f"{k}: {v}\r\n" for k, v in _headers(request, answer, len(body)).items())
    sent = body[: len(body) // 2] if answer.action == "cut" else body
    writer.write(f"HTTP/1.1 {answer.status} {phrase}\r\n{head}\r\n".encode("latin-1") + sent)
    return answer.action != "cut"
