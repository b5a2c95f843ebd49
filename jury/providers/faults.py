"""What a failed call means: HTTP status, headers and body, or an exception of a client -> `ProviderError`. Pure.

Decides the kind, whether the same request may be sent again, and how long the provider asked to wait. Sending again is
`calls.py`; a good body is `bodies.py`; a refused parameter that can be left out is `adapt.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast

from jury.errors import ProviderError
from jury.providers import complaints
from jury.providers.complaints import Complaint
from jury.providers.waits import retry_after
from jury.redaction import redact

_TOO_LONG = re.compile(
    r"context_length_exceeded|string_above_max_length|request_too_large|maximum context length|context (window|limit)"
    r"|context length|prompt is too long|(input|prompt|request) is too (long|large)|too many (input )?tokens"
    r"|reduce the length|exceeds? the max(imum)?( allowed)? (number of |input )tokens|input token count"
)
_FILTERED = re.compile(
    r"content_filter|content_policy|responsibleaipolicyviolation|content management policy|content filter"
    r"|content policy|safety system|(was|were|been) flagged|requires moderation"
)
_KEY = re.compile(r"(incorrect|invalid|no|missing) api[ _]key|api key (not valid|is missing|expired)|unauthorized")
_SCHEMA = re.compile(
    r"response_?format|json_schema|json_object|json mode|output_config|output_format|text\.format|structured output"
    r"|tool_choice|\btools?\b|tool_use_failed|function.?call|\bschema\b|grammar|guided|json_validate_failed"
    r"|failed to generate json|requested parameters"
)
_SCHEMA_PARAMS = frozenset(
    {"response_format", "text", "tools", "tool_choice", "functions", "function_call", "output_config", "output_format"}
)
_NO_MODEL = re.compile(
    r"model_not_found|invalid_model|invalid model|unknown model|model not exist|not a valid model"
    r"|model\b.{0,120}\b(does not exist|not found|no longer available)"
)
_NO_MONEY = re.compile(r"insufficient_quota|billing|exceeded your current quota|credit balance|insufficient balance")
_NEVER_FITS = re.compile(r"request too large")  # of a rate limit: one request is more than a minute's allowance

# Error types and codes that come inside a 200, as the status they would have had.
_STATUS_OF = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "timeout_error": 504,
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "badrequesterror": 400,
}

# Classes by name, of the SDKs, httpx and aiohttp. Over aiohttp a connection that was dropped comes as a time-out of
# the SDK: what lies behind tells them apart.
_TIMEOUTS = frozenset({"APITimeoutError", "TimeoutException", "TimeoutError"})
_CONNECTIONS = frozenset({"APIConnectionError", "OSError", "TransportError", "ClientError"})
_DROPPED = frozenset({"ServerDisconnectedError", "ClientOSError", "ConnectionError"})
# There was no connection, so nothing was sent, and nothing can have been charged.
_NEVER_THERE = frozenset(
    {"ConnectError", "ConnectTimeout", "PoolTimeout", "ClientConnectorError", "ConnectionTimeoutError"}
    | {"ConnectionRefusedError", "gaierror"}
)


def from_status(
    status: int,
    headers: Mapping[str, str] | None,
    body: Any,
    *,
    structured: bool = True,
    secrets: Iterable[str] = (),
    now: datetime | str | None = None,
) -> ProviderError:
    """The error of an answer that failed, by its status or by an error object inside a 200.

    `body`: parsed JSON, text, bytes or None. `structured`: the request asked for a schema, a tool or JSON mode, so that
    another rung may do better. `secrets` are kept out of the text.
    """
    told = complaints.read(body)
    status = status if status >= 300 else _inner_status(told)
    kind, retry = _classify(status, told, structured)
    named = {str(k).lower(): str(v) for k, v in (headers or {}).items()}
    if named.get("x-should-retry") == "false":
        retry = False
    said = told.message or "no explanation"
    if 300 <= status < 400:
        said = (
            f"redirected to {_host(named.get('location', ''))}; redirects are not followed, so that a key stays with "
        )
        said += "the host it was given for: name the final address as base URL"
    return ProviderError(
        kind,
        redact(f"HTTP {status}: {said}", secrets),
        retry=retry,
        retry_after_s=retry_after(named, body, now) if retry else None,
        status=status,
    )


def from_exception(error: BaseException, *, structured: bool = True, secrets: Iterable[str] = ()) -> ProviderError:
    """The error behind an exception of a client: an HTTP status, a time-out, or a connection that broke.

    Works by shape, so that no SDK is imported. The chain of the exception may hold the request and its key: raise the
    result `from None`.
    """
    secrets = tuple(secrets)
    status = getattr(error, "status_code", None)
    names = _names(error)
    if "APIResponseValidationError" in names:
        return ProviderError("bad_body", redact(f"the client could not read the answer: {error}", secrets))
    if isinstance(status, int):
        headers = getattr(getattr(error, "response", None), "headers", None)
        return from_status(status, headers, body_of(error), structured=structured, secrets=secrets)
    chain = _chain(error)
    behind = {name for link in chain for name in _names(link)}
    if names & _TIMEOUTS and (behind & {"TimeoutError"} or not behind & _DROPPED):
        sent = _sent(behind)  # where no connection was made in time, nothing can be paid for twice
        return ProviderError("timeout", "the provider was silent for too long", retry=bool(sent), context=sent)
    said = next((text for text in (" ".join(str(link).split()) for link in chain[1:] or chain) if text), str(error))[
        :300
    ]
    if names & (_TIMEOUTS | _CONNECTIONS):
        # What a client complains of before anything was sent (a bad header, a bad URL) is the same the next time.
        unsent = bool(behind & {"LocalProtocolError", "UnsupportedProtocol", "InvalidURL"})
        context = {"unsent": True} if unsent else _sent(behind)
        return ProviderError("connection", redact(f"no answer: {said}", secrets), retry=not unsent, context=context)
    return ProviderError("bad_request", redact(f"the client refused the call: {said}", secrets))


def _sent(behind: set[str]) -> dict[str, bool]:
    return {"unsent": True} if behind & _NEVER_THERE else {}


def _inner_status(told: Complaint) -> int:
    for word in (*told.code.split(), told.type):
        if word.isdigit() and 400 <= int(word) < 600:
            return int(word)
        if word.lower() in _STATUS_OF:
            return _STATUS_OF[word.lower()]
    return 500


def _classify(status: int, told: Complaint, structured: bool) -> tuple[str, bool]:
    """(kind, worth another attempt)."""
    words = told.words
    if status < 400 or status == 404:
        lacking = structured and status == 404 and "endpoints" in words  # OpenRouter: no host of the model can do it
        return ("schema_refused" if lacking and _SCHEMA.search(words) else "not_found"), False
    if status in (401, 402):
        return "auth", False
    if status == 403:
        return ("content_filter" if _FILTERED.search(words) else "auth"), False
    if status == 413:
        return "context_too_long", False
    if status == 408:
        return "timeout", True
    if status in (409, 425):
        return "overloaded", True  # a lock, or too early: gone in a moment
    if status == 429:
        return "rate_limited", not (_NO_MONEY.search(words) or _NEVER_FITS.search(words))
    if status in (503, 529):
        return "overloaded", True
    if status >= 500:
        return "server_error", status not in (501, 505)
    return _of_bad_request(told, words, structured), False


def _of_bad_request(told: Complaint, words: str, structured: bool) -> str:
    if _TOO_LONG.search(words):
        return "context_too_long"
    if _FILTERED.search(words):
        return "content_filter"
    if _KEY.search(words):
        return "auth"
    if structured and (_SCHEMA_PARAMS.intersection(told.params) or _SCHEMA.search(words)):
        return "schema_refused"
    return "not_found" if _NO_MODEL.search(words) else "bad_request"


def _names(error: BaseException) -> set[str]:
    return {c.__name__ for c in type(error).__mro__}


def _chain(error: BaseException) -> list[BaseException]:
    """The exception and what led to it, outermost first."""
    links = [error]
    while (behind := links[-1].__cause__ or links[-1].__context__) is not None and behind not in links:
        links.append(behind)
    return links


def body_of(error: BaseException) -> Any:
    """The whole body behind an exception: a client may have kept only a part of it there, or could not read it."""
    try:
        text: Any = cast("Any", error).response.text
    except (AttributeError, RuntimeError):  # no response, or one whose body was never read
        text = None
    return text if isinstance(text, str) else getattr(error, "body", None)


def _host(location: str) -> str:
    match = re.match(r"https?://([^/?#@]+@)?([^/?#]+)", location)
    return match.group(2) if match else "another path of the same host"
