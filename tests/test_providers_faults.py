"""What a failed call means: kinds, retries, waits; the words of an error body; keys in no text."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.errors import PROVIDER_KINDS
from jury.providers import complaints
from jury.providers.faults import from_exception, from_status
from jury.providers.waits import retry_after
from jury.redaction import HIDDEN, redact

NOW = datetime(2026, 10, 21, 7, 27, tzinfo=UTC)


def openai_error(message: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def anthropic_error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


KINDS = [
    (400, openai_error("Bad value.", "invalid_value", "seed"), "bad_request", False),
    (400, openai_error("maximum context length is 8192 tokens", "context_length_exceeded"), "context_too_long", False),
    (400, anthropic_error("invalid_request_error", "prompt is too long: 2 > 1 maximum"), "context_too_long", False),
    (400, {"object": "error", "message": "Please reduce the length of the messages."}, "context_too_long", False),
    (400, openai_error("Invalid prompt: it was flagged as violating our usage policy."), "content_filter", False),
    (
        400,
        {"error": {"message": "Filtered.", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
        "content_filter",
        False,
    ),
    (
        400,
        anthropic_error("invalid_request_error", "Output blocked by content filtering policy"),
        "content_filter",
        False,
    ),
    (
        400,
        openai_error("Invalid schema for response_format 'verdict'", param="response_format"),
        "schema_refused",
        False,
    ),
    (400, openai_error("This response_format type is unavailable now"), "schema_refused", False),
    (400, anthropic_error("invalid_request_error", "output_config.format: not supported"), "schema_refused", False),
    (
        400,
        anthropic_error("invalid_request_error", "tool_choice forces tool use while thinking"),
        "schema_refused",
        False,
    ),
    (400, openai_error("Failed to generate JSON.", "json_validate_failed"), "schema_refused", False),
    (400, [{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}], "auth", False),
    (400, {"code": "x", "error": "Incorrect API key provided: ab***yz."}, "auth", False),
    (400, {"error": {"message": "Model Not Exist", "type": "invalid_request_error"}}, "not_found", False),
    (401, openai_error("bad key", "invalid_api_key"), "auth", False),
    (402, openai_error("Insufficient Balance"), "auth", False),
    (403, anthropic_error("permission_error", "no access to this model"), "auth", False),
    (403, {"error": {"code": 403, "message": "Your input was flagged"}}, "content_filter", False),
    (404, openai_error("The model `x` does not exist", "model_not_found"), "not_found", False),
    (404, {"error": {"message": "No endpoints found that support the requested parameters"}}, "schema_refused", False),
    (404, "<html><title>Not here</title></html>", "not_found", False),
    (408, None, "timeout", True),
    (409, None, "overloaded", True),
    (413, anthropic_error("request_too_large", "Request exceeds 32 MB"), "context_too_long", False),
    (
        422,
        {"detail": [{"loc": ["body", "messages"], "msg": "Field required", "type": "missing"}]},
        "bad_request",
        False,
    ),
    (429, openai_error("Rate limit reached", "rate_limit_exceeded"), "rate_limited", True),
    (429, openai_error("You exceeded your current quota", "insufficient_quota"), "rate_limited", False),
    (429, openai_error("Request too large for m: Limit 6000, Requested 7000"), "rate_limited", False),
    (500, anthropic_error("api_error", "Internal server error"), "server_error", True),
    (501, None, "server_error", False),
    (502, "<html>Bad gateway</html>", "server_error", True),
    (503, None, "overloaded", True),
    (504, None, "server_error", True),
    (529, anthropic_error("overloaded_error", "Overloaded"), "overloaded", True),
    (307, "", "not_found", False),
]


@pytest.mark.parametrize(("status", "body", "kind", "retry"), KINDS)
def test_each_status_and_body_has_its_kind(status: int, body: Any, kind: str, retry: bool) -> None:
    error = from_status(status, {}, body)
    assert (error.kind, error.retry, error.status) == (kind, retry, status)
    assert from_status(status, {}, json.dumps(body).encode() if body is not None else b"").kind == kind


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (anthropic_error("overloaded_error", "Overloaded"), "overloaded", 529),
        (anthropic_error("rate_limit_error", "Slow down"), "rate_limited", 429),
        ({"error": {"code": 429, "message": "upstream"}}, "rate_limited", 429),
        ({"error": {"code": "502", "message": "upstream"}}, "server_error", 502),
        ({"error": "the model is loading"}, "server_error", 500),
        (openai_error("maximum context length", "context_length_exceeded"), "context_too_long", 400),
    ],
)
def test_an_error_object_inside_a_200_counts_as_its_own_status(body: Any, kind: str, status: int) -> None:
    error = from_status(200, None, body)
    assert (error.kind, error.status) == (kind, status)


def test_a_schema_is_refused_only_where_one_was_sent() -> None:
    body = openai_error("Invalid schema", param="response_format")
    assert from_status(400, {}, body, structured=False).kind == "bad_request"


def test_the_server_may_forbid_another_attempt() -> None:
    assert not from_status(503, {"X-Should-Retry": "false"}, None).retry
    assert not from_status(401, {"x-should-retry": "true"}, None).retry


_KEYS = ("error", "message", "code", "type", "param", "detail", "loc", "msg", "details")
ANY_BODY = st.recursive(
    st.none() | st.text() | st.integers() | st.floats(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(_KEYS), inner),
    max_leaves=8,
)


@given(st.integers(300, 599), ANY_BODY)
def test_any_body_gives_a_known_kind_and_never_a_crash(status: int, body: Any) -> None:
    error = from_status(status, {"retry-after": "5"}, body)
    assert error.kind in PROVIDER_KINDS
    assert error.retry or error.retry_after_s is None
    assert isinstance(complaints.is_error(body), bool)


@pytest.mark.parametrize(
    ("headers", "body", "wait"),
    [
        ({"retry-after": "7"}, None, 7.0),
        ({"retry-after": "7, 30"}, None, 30.0),
        ({"retry-after": "7, soon"}, None, None),
        ({"Retry-After": "1.5"}, None, 1.5),
        ({"RETRY-AFTER-MS": "1500"}, None, 1.5),
        ({"retry-after": "2", "retry-after-ms": "500"}, None, 2.0),
        ({"Retry-After": "Wed, 21 Oct 2026 07:27:30 GMT"}, None, 30.0),
        ({"Retry-After": "Wed, 21 Oct 2026 07:00:00 GMT"}, None, None),
        ({"retry-after": "nan"}, None, None),
        ({"retry-after": "inf"}, None, None),
        ({"retry-after": "-3"}, None, None),
        ({"retry-after": "0"}, None, None),
        ({"retry-after": "soon"}, None, None),
        ({"retry-after": ""}, None, None),
        ({}, {"error": {"details": [{"@type": "x/google.rpc.RetryInfo", "retryDelay": "34.5s"}]}}, 34.5),
        ({}, [{"error": {"details": [{"retryDelay": "34s"}, "x"]}}], 34.0),
        ({}, {"error": {"details": [{"retryDelay": 34}]}}, None),
        (None, None, None),
    ],
)
def test_how_long_a_provider_asks_to_wait(headers: Any, body: Any, wait: float | None) -> None:
    assert retry_after(headers, body, NOW) == wait


def test_a_date_is_taken_against_the_servers_own_clock() -> None:
    there = datetime(2030, 1, 1, tzinfo=UTC)
    headers = {"date": format_datetime(there, True), "retry-after": format_datetime(there + timedelta(seconds=9), True)}
    assert retry_after(headers) == 9.0


@given(st.text() | st.floats().map(str) | st.integers().map(str))
def test_no_header_makes_a_negative_or_endless_wait(value: str) -> None:
    wait = retry_after({"retry-after": value}, None, NOW)
    assert wait is None or 0 < wait < float("inf")


class APITimeoutError(Exception):
    """As the SDKs name it."""


class APIConnectionError(Exception):
    """As the SDKs name it."""


class ServerDisconnectedError(Exception):
    """As aiohttp names it."""


class ConnectTimeout(Exception):
    """As httpx names it."""


class LocalProtocolError(Exception):
    """As httpx names it."""


def raised(error: Exception, cause: Exception | None) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind", "retry"),
    [
        (raised(APITimeoutError("Request timed out."), None), "timeout", False),
        (raised(APITimeoutError("Request timed out."), TimeoutError()), "timeout", False),
        (raised(APITimeoutError("Request timed out."), ConnectTimeout()), "timeout", True),  # nothing was sent
        (raised(APITimeoutError("Request timed out."), ServerDisconnectedError("gone")), "connection", True),
        (raised(APITimeoutError("Request timed out."), ConnectionResetError(104, "reset")), "connection", True),
        (raised(APIConnectionError("Connection error."), OSError("refused")), "connection", True),
        (raised(APIConnectionError("Connection error."), LocalProtocolError("Illegal header")), "connection", False),
        (ConnectionResetError("reset"), "connection", True),
        (TimeoutError(), "timeout", False),
        (ValueError("workload identity"), "bad_request", False),
    ],
)
def test_exceptions_are_read_by_shape(error: Exception, kind: str, retry: bool) -> None:
    made = from_exception(error)
    assert (made.kind, made.retry) == (kind, retry)


def test_a_dropped_connection_says_why() -> None:
    error = raised(APIConnectionError("Connection error."), OSError(111, "Connection refused"))
    assert "Connection refused" in from_exception(error).detail


KEY = "my-own-key-0123456789"


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {KEY}.",
        f"Illegal header value b'Bearer {KEY}'",
        "Incorrect API key provided: sk-proj-abc***********wxyz. You can find your key",
        "sent Authorization: Bearer abcdef.ghijkl-123456",
        "key gsk_abcdefgh12345678 is revoked",
        "API key AIzaSyA-1234567890abcdefgh is not valid",
    ],
)
def test_no_key_is_left_in_a_text(text: str) -> None:
    clean = redact(text, [KEY])
    assert HIDDEN in clean
    for secret in (KEY, "sk-proj", "wxyz", "ghijkl", "gsk_", "AIza"):
        assert secret not in clean


def test_ordinary_words_stay() -> None:
    text = "risk-averse answers; task-specific; the model asks-for more; none of them"
    assert redact(text, ["none", ""]) == text


def test_errors_hide_the_key_that_was_sent() -> None:
    assert KEY not in str(from_status(401, {}, openai_error(f"bad key {KEY}"), secrets=[KEY]))
    error = raised(APIConnectionError("Connection error."), LocalProtocolError(f"Illegal header value b'Bearer {KEY}'"))
    assert KEY not in str(from_exception(error, secrets=[KEY]))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "a"}}, "a"),
        ({"error": "a"}, "a"),
        ({"message": "a", "code": 3}, "a"),
        ({"detail": "a"}, "a"),
        ({"detail": [{"loc": ["body", "n"], "msg": "b"}, "c"]}, "body.n: b; c"),
        ({"message": {"detail": [{"loc": ["body", "n"], "msg": "b"}]}}, "body.n: b"),
        ('{"error": {"message": "a"}}', "a"),
        (b"plain  words\n", "plain words"),
        ("<!doctype html><title> Sign\n in </title>", "an HTML page: Sign in"),
        ("<p>x", "an HTML page"),
        ({"error": {"code": "why"}}, "why"),
        (None, ""),
        (7, "7"),
        ("x" * 2000, "x" * 597 + "..."),
    ],
)
def test_every_shape_of_complaint_is_read(body: Any, message: str) -> None:
    assert complaints.read(body).message == message
