"""A model provider that costs next to nothing: Chat Completions, Responses and Messages over loopback HTTP.

    with MockProvider() as mock:       # its own process, on core 0 where there is more than one
        ... mock.openai_url, mock.anthropic_url ...
        mock.stats()                   # {"requests": ..., "bytes": ...} since the last call

Every request gets the same verdict, with usage, after `latency_s`. It reads only what it needs of a request (path,
length), so that on a core of its own it is never the bottleneck. `tests/servers/` has the one that scripts and fails.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

VERDICT = {
    "explanation": "The answer names the capital that the reference names, gives the river it lies on, and adds "
    "nothing that the criteria forbid.",
    "abstain": False,
    "value": True,
}
# For programs whose reply schema has other keys and takes no more than those.
PLAIN_VERDICT = {"value": True, "explanation": VERDICT["explanation"]}
_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)


def _chat(said: str) -> Any:
    return {
        "id": "chatcmpl-000000000000000000000001",
        "object": "chat.completion",
        "created": 1_780_000_000,
        "model": "mock-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": said, "refusal": None, "annotations": []},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 420,
            "completion_tokens": 38,
            "total_tokens": 458,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": None,
    }


def _responses(said: str) -> Any:
    return {
        "id": "resp_000000000000000000000001",
        "object": "response",
        "created_at": 1_780_000_000,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": "mock-1",
        "output": [
            {
                "type": "message",
                "id": "msg_1",
                "status": "completed",
                "role": "assistant",
                "content": [{"type": "output_text", "text": said, "annotations": []}],
            }
        ],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 420,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 38,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 458,
        },
    }


def _messages(content: list[Any], stop_reason: str) -> Any:
    return {
        "id": "msg_000000000000000000000001",
        "type": "message",
        "role": "assistant",
        "model": "mock-1",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 420,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 38,
        },
    }


def _packed(value: Any, headers: str = "") -> bytes:
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n{headers}\r\n"
    return head.encode() + body


_OPENAI_HEADERS = "x-request-id: req_1\r\nx-ratelimit-remaining-requests: 9999\r\nopenai-processing-ms: 12\r\n"
_ANTHROPIC_HEADERS = "request-id: req_1\r\nanthropic-ratelimit-requests-remaining: 3999\r\n"


class _Answers:
    """The bytes of every answer, made once."""

    def __init__(self, plain: bool) -> None:
        said = json.dumps(PLAIN_VERDICT if plain else VERDICT)
        tool = {"type": "tool_use", "id": "toolu_1", "name": "verdict", "input": VERDICT}
        self.chat = _packed(_chat(said), _OPENAI_HEADERS)
        self.responses = _packed(_responses(said), _OPENAI_HEADERS)
        self.text = _packed(_messages([{"type": "text", "text": said}], "end_turn"), _ANTHROPIC_HEADERS)
        self.tool = _packed(_messages([tool], "tool_use"), _ANTHROPIC_HEADERS)

    def to(self, head: bytes, body: bytes) -> bytes:
        path = head[: head.index(b"\r\n")]
        if b"/chat/completions" in path:
            return self.chat
        if b"/responses" in path:
            return self.responses
        return self.tool if b'"tool_choice"' in body else self.text


class _Connection(asyncio.Protocol):
    counts = {"requests": 0, "bytes": 0}  # noqa: RUF012 - one count for the process
    answers: _Answers
    latency_s = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.buffer = b""

    def data_received(self, data: bytes) -> None:
        buffer = self.buffer + data if self.buffer else data
        while (end := buffer.find(b"\r\n\r\n")) >= 0:
            found = _LENGTH.search(buffer, 0, end)
            size = end + 4 + (int(found.group(1)) if found else 0)
            if len(buffer) < size:
                break
            self.answer(buffer[:end], buffer[end + 4 : size])
            buffer = buffer[size:]
        self.buffer = buffer

    def answer(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"GET /stats"):
            self.transport.write(_packed(self.counts))
            self.counts.update(requests=0, bytes=0)
            return
        self.counts["requests"] += 1
        self.counts["bytes"] += len(body)
        answer = self.answers.to(head, body)
        if self.latency_s:
            asyncio.get_running_loop().call_later(self.latency_s, self.transport.write, answer)
        else:
            self.transport.write(answer)


async def _serve(port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Connection, "127.0.0.1", port, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)  # ends with its parent
    server.close()


def pin(core: int) -> None:
    """Keeps this process on one core, where the system can do that and has another one."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
    if len(cores) > 1:
        os.sched_setaffinity(0, {cores[core % len(cores)]})


class MockProvider:
    """The server in a process of its own, for a `with` block. `plain`: a verdict of `value` and `explanation` only."""

    def __init__(self, *, latency_s: float = 0.0, plain: bool = False) -> None:
        self._command = [sys.executable, "-m", "benchmarks.mock_provider", "--latency", str(latency_s)]
        if plain:
            self._command.append("--plain")

    def __enter__(self) -> Self:
        root = Path(__file__).parent.parent
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root)
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}"
        self.openai_url, self.anthropic_url = f"{self.url}/v1", self.url
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def stats(self) -> dict[str, int]:
        """Requests and body bytes since the last time."""
        with urllib.request.urlopen(f"{self.url}/stats") as answer:
            return json.load(answer)


def main() -> None:
    parser = argparse.ArgumentParser(description="A mock model provider on the loopback address.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--plain", action="store_true", help="a verdict of two keys")
    options = parser.parse_args()
    pin(0)
    _Connection.latency_s = options.latency
    _Connection.answers = _Answers(options.plain)
    asyncio.run(_serve(options.port))


if __name__ == "__main__":
    main()
