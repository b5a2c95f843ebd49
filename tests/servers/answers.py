"""What the scripted server can answer: bodies in the shapes that OpenAI and Anthropic document, and the ways they fail.

Every maker returns an `Answer`. `provider_server.py` sends them; nothing here opens a socket.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Style = Literal["chat", "responses", "messages", "models"]
Action = Literal["answer", "reset", "close", "cut", "raw"]
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Answer:
    """One answer. `body`: bytes, a text, or a JSON value; or a function of the request's style and model.

    `delay_s` waits before answering, `together` until so many requests are in flight. `action`: `reset` (RST instead of
    an answer), `close` (no byte, then FIN), `cut` (half of the body, then FIN), `raw` (the body's bytes as they are,
    without an HTTP head).
    """

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    together: int = 0
    action: Action = "answer"
    content_type: str = "application/json"

    def after(self, seconds: float) -> Answer:
        """The same answer, `seconds` later."""
        return replace(self, delay_s=seconds)

    def once_in_flight(self, requests: int) -> Answer:
        """The same answer, once so many requests have been in flight at a time; in a minute all the same."""
        return replace(self, together=requests)

    def with_headers(self, **headers: str) -> Answer:
        """The same answer with more headers; `_` in a name stands for `-`."""
        return replace(self, headers={**self.headers, **{k.replace("_", "-"): v for k, v in headers.items()}})


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _next_id(prefix: str) -> str:
    return f"{prefix}{next(_numbers):024d}"


# Chat Completions


def chat_reply(
    content: Any = "",
    *,
    finish_reason: str = "stop",
    refusal: str | None = None,
    usage: tuple[int, int] | None = (120, 30),
    cached: int = 0,
    message: Mapping[str, Any] | None = None,
) -> Answer:
    """A `chat.completion`. A `content` that is no text is sent as its JSON; `usage` is (input, output) tokens."""

    def body(style: Style, model: str) -> Any:
        said = {
            "role": "assistant",
            "content": _text(content),
            "refusal": refusal,
            "annotations": [],
            **(message or {}),
        }
        made: dict[str, Any] = {
            "id": _next_id("chatcmpl-"),
            "object": "chat.completion",
            "created": 1_780_000_000,
            "model": model,
            "choices": [{"index": 0, "message": said, "logprobs": None, "finish_reason": finish_reason}],
            "service_tier": "default",
            "system_fingerprint": None,
        }
        if usage:
            made["usage"] = {
                "prompt_tokens": usage[0],
                "completion_tokens": usage[1],
                "total_tokens": sum(usage),
                "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
                "completion_tokens_details": {
                    "reasoning_tokens": 0,
                    "audio_tokens": 0,
                    "accepted_prediction_tokens": 0,
                    "rejected_prediction_tokens": 0,
                },
            }
        return made

    return Answer(body)


def chat_refusal(text: str = "I'm sorry, I can't help with that.") -> Answer:
    return chat_reply(None, refusal=text)


def chat_length_cut(text: str = '{"explanation": "The answer says') -> Answer:
    return chat_reply(text, finish_reason="length")


def chat_content_filter(text: str = "") -> Answer:
    return chat_reply(text, finish_reason="content_filter")


def chat_empty() -> Answer:
    return chat_reply("")


def chat_tool(arguments: Any, name: str = "verdict") -> Answer:
    """A forced function call; `arguments` as an object or as the raw text the model wrote."""
    function = {"name": name, "arguments": _text(arguments)}
    call = {"id": _next_id("call_"), "type": "function", "function": function}
    return chat_reply(None, finish_reason="tool_calls", message={"tool_calls": [call]})


# Responses


def responses_reply(
    text: Any = "",
    *,
    status: str = "completed",
    incomplete: str | None = None,
    error: Mapping[str, Any] | None = None,
    content: list[Any] | None = None,
    output: list[Any] | None = None,
    usage: tuple[int, int] | None = (120, 30),
    cached: int = 0,
) -> Answer:
    """A `response` object with one message; `content` replaces the message's parts, `output` all items."""

    def body(style: Style, model: str) -> Any:
        part = {"type": "output_text", "text": _text(text), "annotations": [], "logprobs": []}
        said = {
            "type": "message",
            "id": _next_id("msg_"),
            "status": "incomplete" if incomplete else "completed",
            "role": "assistant",
            "content": [part] if content is None else content,
        }
        return {
            "id": _next_id("resp_"),
            "object": "response",
            "created_at": 1_780_000_000,
            "status": "incomplete" if incomplete else status,
            "error": error,
            "incomplete_details": {"reason": incomplete} if incomplete else None,
            "instructions": None,
            "max_output_tokens": None,
            "model": model,
            "output": [said] if output is None else output,
            "parallel_tool_calls": True,
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None},
            "store": True,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": usage
            and {
                "input_tokens": usage[0],
                "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
                "output_tokens": usage[1],
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": sum(usage),
            },
            "user": None,
            "metadata": {},
        }

    return Answer(body)


def responses_refusal(text: str = "I'm sorry, I can't help with that.") -> Answer:
    return responses_reply(content=[{"type": "refusal", "refusal": text}])


def responses_length_cut(text: str = '{"explanation": "The answer says') -> Answer:
    return responses_reply(text, incomplete="max_output_tokens")


def responses_content_filter(text: str = "") -> Answer:
    return responses_reply(text, incomplete="content_filter")


def responses_empty() -> Answer:
    return responses_reply(output=[{"type": "reasoning", "id": _next_id("rs_"), "summary": []}])


def responses_failed(code: str = "server_error", message: str = "The model failed to generate a response.") -> Answer:
    """A 200 whose `status` is `failed`."""
    return responses_reply(status="failed", error={"code": code, "message": message}, output=[], usage=None)


# Messages


def messages_reply(
    content: Any = "",
    *,
    stop_reason: str = "end_turn",
    usage: tuple[int, int] | None = (120, 30),
    cached: int = 0,
) -> Answer:
    """A `message`. A list of content blocks is sent as it is, anything else becomes one text block."""

    def body(style: Style, model: str) -> Any:
        made: dict[str, Any] = {
            "id": _next_id("msg_"),
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": content if isinstance(content, list) else [{"type": "text", "text": _text(content)}],
            "stop_reason": stop_reason,
            "stop_sequence": None,
        }
        if usage:
            made["usage"] = {
                "input_tokens": usage[0],
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": cached,
                "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
                "output_tokens": usage[1],
                "service_tier": "standard",
            }
        return made

    return Answer(body)


def messages_tool(input: Any, name: str = "verdict", *, text: str | None = None) -> Answer:
    """A forced tool call, after a text block where `text` is given."""
    blocks: list[Any] = [{"type": "text", "text": text}] if text else []
    blocks.append({"type": "tool_use", "id": _next_id("toolu_"), "name": name, "input": input})
    return messages_reply(blocks, stop_reason="tool_use")


def messages_thinking_then_text(text: Any, thinking: str = "Let me compare the two.") -> Answer:
    thought = {"type": "thinking", "thinking": thinking, "signature": "c2lnbmVk"}
    return messages_reply([thought, {"type": "text", "text": _text(text)}])


def messages_refusal(text: str | None = None) -> Answer:
    return messages_reply([{"type": "text", "text": text}] if text else [], stop_reason="refusal")


def messages_length_cut(text: str = '{"explanation": "The answer says') -> Answer:
    return messages_reply(text, stop_reason="max_tokens")


def messages_empty() -> Answer:
    return messages_reply([])


# Any API


def reply(content: Any = "", **given: Any) -> Answer:
    """A good reply in the shape of whichever endpoint is asked. Keywords: `usage`, `cached`."""

    def body(style: Style, model: str) -> Any:
        maker: Any = {"responses": responses_reply, "messages": messages_reply}.get(style, chat_reply)
        return maker(content, **given).body(style, model)

    return Answer(body)


def json_body(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Any JSON value: for a 200 that is not the API's shape."""
    return Answer(json.dumps(value).encode(), status, headers or {})


_ANTHROPIC_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_OPENAI_ERRORS = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}


def http_error(
    status: int,
    body: Any = None,
    headers: Mapping[str, str] | None = None,
    *,
    message: str | None = None,
    param: str | None = None,
    code: str | None = None,
) -> Answer:
    """An error status. Without `body`, the asked API's error object with this `message` (`param`, `code`: OpenAI's)."""
    said = message or f"scripted {status}"

    def made(style: Style, model: str) -> Any:
        if style == "messages":
            error = {"type": _ANTHROPIC_ERRORS.get(status, "api_error"), "message": said}
            return {"type": "error", "error": error, "request_id": _next_id("req_")}
        kind, usual = _OPENAI_ERRORS.get(status, ("server_error" if status >= 500 else "invalid_request_error", None))
        return {"error": {"message": said, "type": kind, "param": param, "code": code or usual}}

    return Answer(made if body is None else body, status, headers or {})


def rate_limited(retry_after: float | str | None = None, message: str = "Rate limit reached for requests.") -> Answer:
    return http_error(429, headers={} if retry_after is None else {"retry-after": str(retry_after)}, message=message)


def overloaded_529(retry_after: float | str | None = None) -> Answer:
    return http_error(
        529, headers={} if retry_after is None else {"retry-after": str(retry_after)}, message="Overloaded"
    )


def context_too_long() -> Answer:
    """400, in the words of whichever API is asked."""

    def made(style: Style, model: str) -> Any:
        if style == "messages":
            said = "prompt is too long: 212934 tokens > 200000 maximum"
            return {"type": "error", "error": {"type": "invalid_request_error", "message": said}}
        said = "Your input exceeds the context window of this model. Please adjust your input and try again."
        param = "input" if style == "responses" else "messages"
        error = {"message": said, "type": "invalid_request_error", "param": param, "code": "context_length_exceeded"}
        return {"error": error}

    return Answer(made, 400)


def azure_content_filter() -> Answer:
    """Azure blocks a prompt with a 400."""
    said = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
    error = {"message": said, "type": None, "param": "prompt", "code": "content_filter", "status": 400}
    return Answer({"error": {**error, "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, 400)


def reset() -> Answer:
    """The connection is reset (RST) after the request was read."""
    return Answer(action="reset")


def closed() -> Answer:
    """The connection is closed (FIN) without a byte."""
    return Answer(action="close")


def hang(seconds: float = 3600.0, then: Answer | None = None) -> Answer:
    """Silence for `seconds` (at most until the server stops), then `then` or the end of the connection."""
    return (then or closed()).after(seconds)


def cut_body(answer: Answer | None = None) -> Answer:
    """Half of the body that was announced, then the end of the connection."""
    return replace(answer or reply("a text long enough to be cut in the middle"), action="cut")


def garbage(body: bytes = b'{"id": "chatcmpl-1", "choices": [{"mess') -> Answer:
    """200, said to be JSON, and not; try `b"\\xff"` too, which is no UTF-8 either."""
    return Answer(body)


def not_http() -> Answer:
    return Answer(b"\x00\x01SSH-2.0-OpenSSH_9.6\r\n", action="raw")


def html_page(status: int = 200) -> Answer:
    """What a proxy or a captive portal sends."""
    page = "<!doctype html><html><head><title>Welcome</title></head><body>Please log in.</body></html>"
    return Answer(page, status, content_type="text/html; charset=utf-8")


def redirect(to: str, status: int = 307) -> Answer:
    return Answer(b"", status, {"location": to})
