"""The body of a 200, of any of the three APIs -> `Reply`, or the `ProviderError` that it really is. Pure.

`read_reply(api, status, body)`: text pieces are joined, a model's reasoning is never the answer, a cut, refused,
filtered or empty reply is told apart, unknown usage stays unknown, and a shape that is none of the API's is `bad_body`,
not a crash. What the text says is `parsing.py`; what it cost is `prices.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from jury.errors import ProviderError
from jury.providers import complaints, faults
from jury.results import Reply, Usage
from jury.values import too_deep

Api = Literal["openai_chat", "openai_responses", "anthropic_messages"]

_CUT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
MOST = 10**12  # tokens or US dollars that anybody is believed: sums must stay numbers
_FILTERED = frozenset({"content_filter", "safety", "prohibited_content", "blocklist", "recitation", "spii"})


@dataclass(slots=True)
class _Found:
    """What a body holds before it is judged. `tools`: inputs of tool calls, an object or the text of one."""

    texts: list[str] = field(default_factory=list[str])
    refusals: list[str] = field(default_factory=list[str])
    tools: list[Any] = field(default_factory=list[Any])
    stop: str = ""


def read_reply(
    api: str,
    status: int,
    body: Any,
    headers: Mapping[str, str] | None = None,
    *,
    structured: bool = True,
    secrets: Iterable[str] = (),
) -> Reply:
    """The reply in one answer of `api`; raises `ProviderError`, with its `usage` where the failed call reported tokens.

    `body`: bytes, text, or parsed JSON. A forced tool's input is `data` if it is one object, and `text` in any case.
    """
    if status >= 300:
        raise faults.from_status(status, headers, body, structured=structured, secrets=secrets)
    parsed = decode(body) if isinstance(body, bytes | str) else body
    used = usage(api, cast("Mapping[str, Any]", parsed).get("usage")) if isinstance(parsed, Mapping) else None
    try:
        if complaints.is_error(parsed):
            raise faults.from_status(status, headers, parsed, structured=structured, secrets=secrets)
        if not isinstance(parsed, Mapping):
            raise _bad(f"the answer is no JSON object but {type(parsed).__name__}")
        given = cast("Mapping[str, Any]", parsed)
        found = _READERS[api](given)
        return _reply(found, given, used, _turn(api, given) if found.tools else None)
    except ProviderError as error:
        error.usage = used
        raise


def decode(body: bytes | str) -> Any:
    """The JSON of a body. Raises `ProviderError` `bad_body`, worth another attempt: something on the way broke it."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        pass
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    if not text.strip():
        raise ProviderError("bad_body", "the answer is blank", retry=True)
    said = complaints.read(text).message
    what = said if text.lstrip().startswith("<") else f"no JSON: {said[:120]}"
    raise ProviderError("bad_body", f"the answer is {what}", retry=True)


def usage(api: str, given: Any) -> Usage | None:
    """The tokens a body reports; None if it reports none. Input tokens include cached ones, in every API."""
    if not isinstance(given, Mapping):
        return None
    named = cast("Mapping[str, Any]", given)
    if api == "anthropic_messages":
        cached, written = tokens(named.get("cache_read_input_tokens")), tokens(named.get("cache_creation_input_tokens"))
        fresh = tokens(named.get("input_tokens"))
        into = None if fresh is None else fresh + (cached or 0) + (written or 0)
        out = tokens(named.get("output_tokens"))
    else:
        chat = api == "openai_chat"
        into = tokens(named.get("prompt_tokens" if chat else "input_tokens"))
        out = tokens(named.get("completion_tokens" if chat else "output_tokens"))
        details: Any = named.get("prompt_tokens_details" if chat else "input_tokens_details")
        cached = tokens(named.get("prompt_cache_hit_tokens"))  # DeepSeek
        if isinstance(details, Mapping):
            cached = tokens(cast("Mapping[str, Any]", details).get("cached_tokens"))
    if into is None and out is None:
        return None
    return Usage(calls=1, input_tokens=into, output_tokens=out, cached_input_tokens=cached)


def tokens(value: Any) -> int | None:
    """A count of tokens as a body reports it; None for what can be none: below zero, no whole number, beyond reason."""
    count = int(value) if isinstance(value, float) and value.is_integer() else value
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MOST else None


def dollars(value: Any) -> float | None:
    """US dollars as a body reports them; None for what can be none: below zero, no number, beyond reason."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST
    return float(value) if known else None


def _reply(found: _Found, body: Mapping[str, Any], used: Usage | None, turn: Any) -> Reply:
    """Judge what was found, worst first: a filtered, refused or cut reply is no answer even where it holds text."""
    stop = found.stop.lower()
    text = "".join(found.texts)
    if stop in _FILTERED:
        raise ProviderError("content_filter", "the provider's content filter stopped the reply")
    refusal = " ".join(r for r in found.refusals if r.strip()).strip()
    if refusal or stop == "refusal":
        said = refusal or text.strip()
        raise ProviderError("refused", f"the model refused: {said or 'no reason given'}", context={"said": said})
    if stop == "model_context_window_exceeded":
        raise ProviderError("context_too_long", "the prompt and the reply do not fit the model's context window")
    if stop in _CUT:
        written = f" after {used.output_tokens} tokens" if used and used.output_tokens is not None else ""
        raise ProviderError("truncated", f"the reply was cut at the token limit{written}; raise max_tokens")
    data: Any = None
    if found.tools:
        text, data = _tool_input(found.tools)
    if not text.strip() and data is None:
        raise ProviderError("empty", "the reply holds no text")
    model = body.get("model")
    named = model if isinstance(model, str) else None
    return Reply(text=text, data=data, model=named, usage=used, message=turn)


def _turn(api: str, body: Mapping[str, Any]) -> Any:
    """What the model said, as `messages.to_output` takes it; the body was read before."""
    if api == "openai_responses":
        return body["output"]
    return [
        body["choices"][0]["message"] if api == "openai_chat" else {"role": "assistant", "content": body["content"]}
    ]


def _tool_input(inputs: list[Any]) -> tuple[str, Any]:
    """(text, object). Calls that differ are all in the text, for the parser to find them in conflict."""
    if any(too_deep(i) for i in inputs):
        raise ProviderError("bad_body", "the input of a tool call is nested too deeply")
    texts = [i if isinstance(i, str) else json.dumps(i, ensure_ascii=False) for i in inputs]
    if len(set(texts)) > 1:
        return "\n".join(texts), None
    value = inputs[0]
    if isinstance(value, str):
        try:
            value = json.loads(value, object_pairs_hook=_unique)
        except (ValueError, RecursionError):
            value = None
        value = None if too_deep(value) else value  # the parser says what is wrong with the text
    return texts[0], cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({k for k, _ in pairs}) < len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def _chat(body: Mapping[str, Any]) -> _Found:
    if "choices" not in body:
        raise _bad("no `choices` in the answer")
    choices: Any = body["choices"]
    if choices is None or choices == []:
        return _Found()
    choice = _object(_list(choices, "choices")[0], "choices[0]")
    if choice.get("error"):
        raise faults.from_status(200, None, {"error": choice["error"]})
    found = _Found(stop=_word(choice.get("finish_reason")))
    if found.stop in ("error", "insufficient_system_resource"):
        raise ProviderError("overloaded", f"the provider stopped the reply: {found.stop}", retry=True)
    if choice.get("message") is None and (found.stop or "message" in choice):
        return found  # a filter may leave nothing of it: why it stopped tells
    message = _object(choice.get("message"), "choices[0].message")
    _parts(message.get("content"), found, "choices[0].message.content")
    if isinstance(message.get("refusal"), str):
        found.refusals.append(message["refusal"])
    for call in _list(message.get("tool_calls") or [], "tool_calls"):
        function = _object(_object(call, "tool_calls[]").get("function"), "tool_calls[].function")
        found.tools.append(_arguments(function.get("arguments")))
    return found


def _responses(body: Mapping[str, Any]) -> _Found:
    status = _word(body.get("status"))
    if status in ("failed", "cancelled", "in_progress", "queued"):
        raise ProviderError("server_error", f"the response is {status}, not completed", retry=True)
    if "output" not in body:
        raise _bad("no `output` in the answer")
    found = _Found()
    if status == "incomplete":
        details: Any = body.get("incomplete_details")
        reason = cast("Mapping[str, Any]", details).get("reason") if isinstance(details, Mapping) else None
        found.stop = _word(reason) or "max_output_tokens"
    for entry in _list(body["output"] or [], "output"):
        item = _object(entry, "output[]")
        if item.get("type") == "message":
            _parts(item.get("content"), found, "output[].content")
        elif item.get("type") == "function_call":
            found.tools.append(_arguments(item.get("arguments")))
    return found


def _messages(body: Mapping[str, Any]) -> _Found:
    if "content" not in body:
        raise _bad("no `content` in the answer")
    found = _Found(stop=_word(body.get("stop_reason")))
    details: Any = body.get("stop_details")
    if found.stop == "refusal" and isinstance(details, Mapping):
        found.refusals.append(_word(cast("Mapping[str, Any]", details).get("explanation")))
    _parts(body["content"], found, "content")
    return found


_READERS: dict[str, Callable[[Mapping[str, Any]], _Found]] = {
    "openai_chat": _chat,
    "openai_responses": _responses,
    "anthropic_messages": _messages,
}


def _parts(content: Any, found: _Found, where: str) -> None:
    """Text, or a list of parts; those of other kinds (thinking, reasoning, citations) are no answer: left out."""
    if content is None:
        return
    if isinstance(content, str):
        found.texts.append(content)
        return
    for entry in _list(content, where):
        if isinstance(entry, str):
            found.texts.append(entry)
            continue
        part = _object(entry, f"{where}[]")
        kind = part.get("type")
        if kind in ("text", "output_text"):
            if not isinstance(part.get("text"), str):
                raise _bad(f"{where}[].text is no text")
            found.texts.append(part["text"])
        elif kind == "refusal":
            found.refusals.append(_word(part.get("refusal")) or "no reason given")
        elif kind == "tool_use":
            found.tools.append(part.get("input"))


def _arguments(value: Any) -> Any:
    """OpenAI's arguments are the text of an object; some servers send the object itself, or nothing."""
    return cast("Any", value) if isinstance(value, str | dict) else ""


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _bad(f"{where} is no list but {type(value).__name__}")
    return cast("list[Any]", value)


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _bad(f"{where} is no object but {type(value).__name__}")
    return cast("Mapping[str, Any]", value)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _bad(detail: str) -> ProviderError:
    return ProviderError("bad_body", f"{detail}: not the shape of this API")
