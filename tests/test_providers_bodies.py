"""Bodies of a 200: what is the answer, what is an error, and what is neither."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.errors import PROVIDER_KINDS, ProviderError
from jury.providers.bodies import decode, read_reply, usage
from jury.results import Reply, Usage

CHAT, RESPONSES, MESSAGES = "openai_chat", "openai_responses", "anthropic_messages"
VERDICT = '{"explanation": "e", "value": true}'


def chat(message: Any = None, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}


def responses(*output: Any, **more: Any) -> dict[str, Any]:
    return {"status": "completed", "error": None, "output": list(output), **more}


def said(*parts: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": list(parts)}


def messages(*content: Any, stop: Any = "end_turn", **more: Any) -> dict[str, Any]:
    return {"type": "message", "content": list(content), "stop_reason": stop, **more}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call(arguments: Any) -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": "verdict", "arguments": arguments}}


def failure(api: str, body: Any, status: int = 200) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        read_reply(api, status, body)
    return caught.value


ANSWERS = [
    (CHAT, chat({"content": VERDICT}), VERDICT),
    (CHAT, chat({"content": [text('{"a":'), text(" 1}")]}), '{"a": 1}'),
    (CHAT, chat({"content": ["x", {"type": "output_text", "text": "y"}]}), "xy"),
    (CHAT, chat({"content": [{"type": "thinking", "thinking": [text("no")]}, text("yes")]}), "yes"),
    (CHAT, chat({"content": "yes", "reasoning_content": "no", "reasoning": "no"}), "yes"),
    (CHAT, chat({"content": "yes", "refusal": None, "tool_calls": None}, None), "yes"),
    (CHAT, chat({"content": "yes"}, "eos"), "yes"),
    (CHAT, json.dumps(chat({"content": "ja — да"})).encode(), "ja — да"),
    (CHAT, "\ufeff".encode() + json.dumps(chat({"content": "x"})).encode(), "x"),
    (RESPONSES, responses({"type": "reasoning", "summary": []}, said({"type": "output_text", "text": "x"})), "x"),
    (RESPONSES, responses(said({"type": "output_text", "text": "x"}, {"type": "output_text", "text": "y"})), "xy"),
    (MESSAGES, messages({"type": "thinking", "thinking": "no", "signature": "s"}, text("yes")), "yes"),
    (MESSAGES, messages({"type": "redacted_thinking", "data": "zz"}, text("a"), text("b")), "ab"),
    (MESSAGES, messages(text("yes"), stop="stop_sequence"), "yes"),
]


@pytest.mark.parametrize(("api", "body", "answer"), ANSWERS)
def test_the_answer_is_the_text_and_nothing_else(api: str, body: Any, answer: str) -> None:
    reply = read_reply(api, 200, body)
    assert (reply.text, reply.data) == (answer, None)


TOOLS = [
    (CHAT, chat({"content": None, "tool_calls": [call('{"value": true}')]}, "tool_calls")),
    (CHAT, chat({"content": "", "tool_calls": [call({"value": True})]}, "stop")),
    (CHAT, chat({"content": "Here it is.", "tool_calls": [call('{"value": true}')] * 2}, "tool_calls")),
    (RESPONSES, responses({"type": "function_call", "name": "verdict", "arguments": '{"value": true}'})),
    (MESSAGES, messages(text("I use the tool."), {"type": "tool_use", "input": {"value": True}}, stop="tool_use")),
]


@pytest.mark.parametrize(("api", "body"), TOOLS)
def test_a_forced_tools_input_is_the_answer(api: str, body: Any) -> None:
    reply = read_reply(api, 200, body)
    assert reply.data == {"value": True}
    assert json.loads(reply.text) == {"value": True}


@pytest.mark.parametrize("depth", [250, 700])
def test_a_tools_input_that_is_too_deep_is_no_crash_and_its_tokens_count(depth: int) -> None:
    deep = json.loads('{"a":' * depth + "1" + "}" * depth)
    used = {"input_tokens": 7, "output_tokens": 3}
    fault = failure(MESSAGES, messages({"type": "tool_use", "input": deep}, usage=used))
    assert (fault.kind, fault.usage and fault.usage.input_tokens) == ("bad_body", 7)
    text = json.dumps({"value": True, "more": deep})
    assert read_reply(CHAT, 200, chat({"tool_calls": [call(text)]}, "tool_calls")).data is None  # left to the parser


def test_tool_calls_that_differ_are_left_to_the_parser() -> None:
    body = chat({"tool_calls": [call('{"value": true}'), call('{"value": false}')]}, "tool_calls")
    reply = read_reply(CHAT, 200, body)
    assert reply.data is None
    assert reply.text == '{"value": true}\n{"value": false}'


@pytest.mark.parametrize("arguments", ['{"value": true, "value": false}', '{"value": tr', "[1]", "word"])
def test_tool_arguments_that_are_no_clear_object_are_only_text(arguments: str) -> None:
    reply = read_reply(CHAT, 200, chat({"tool_calls": [call(arguments)]}, "tool_calls"))
    assert (reply.text, reply.data) == (arguments, None)


FAILURES = [
    (CHAT, chat({"content": None}, "length"), "truncated"),
    (CHAT, chat({"content": VERDICT}, "length"), "truncated"),
    (CHAT, chat({"tool_calls": [call('{"val')]}, "length"), "truncated"),
    (CHAT, chat({"content": "x"}, "model_length"), "truncated"),
    (CHAT, chat({"content": None, "refusal": "No."}), "refused"),
    (CHAT, chat({"content": [{"type": "refusal", "refusal": "No."}]}), "refused"),
    (CHAT, chat({"content": "half", "refusal": "No."}, "content_filter"), "content_filter"),
    (CHAT, chat({"content": "x"}, "SAFETY"), "content_filter"),
    (CHAT, chat({"content": " \n"}), "empty"),
    (CHAT, chat({"content": ""}, "tool_calls"), "empty"),
    (CHAT, {"choices": []}, "empty"),
    (CHAT, {"choices": None}, "empty"),
    (CHAT, {"choices": [{"message": None, "finish_reason": "stop"}]}, "empty"),
    (CHAT, {"choices": [{"message": None, "finish_reason": "length"}]}, "truncated"),
    (CHAT, {"choices": [{"finish_reason": "content_filter", "index": 0}]}, "content_filter"),
    (CHAT, chat({"content": "x"}, "error"), "overloaded"),
    (CHAT, {"choices": [{"error": {"code": 502, "message": "upstream"}, "finish_reason": "error"}]}, "server_error"),
    (
        RESPONSES,
        responses(said(), incomplete_details={"reason": "content_filter"}, status="incomplete"),
        "content_filter",
    ),
    (RESPONSES, responses(status="incomplete"), "truncated"),
    (RESPONSES, responses(said({"type": "refusal", "refusal": "No."})), "refused"),
    (RESPONSES, responses({"type": "reasoning", "summary": []}), "empty"),
    (RESPONSES, responses(status="failed", error={"code": "server_error", "message": "m"}), "server_error"),
    (RESPONSES, responses(status="failed", error={"code": "rate_limit_exceeded", "message": "m"}), "rate_limited"),
    (RESPONSES, responses(status="failed"), "server_error"),
    (RESPONSES, responses(status="in_progress"), "server_error"),
    (MESSAGES, messages(text("half"), stop="max_tokens"), "truncated"),
    (MESSAGES, messages(stop="refusal", stop_details={"type": "refusal", "explanation": "No."}), "refused"),
    (MESSAGES, messages(text("I won't."), stop="refusal"), "refused"),
    (MESSAGES, messages(text("x"), stop="model_context_window_exceeded"), "context_too_long"),
    (MESSAGES, messages(), "empty"),
    (MESSAGES, messages({"type": "thinking", "thinking": "value: true"}), "empty"),
    (MESSAGES, {"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, "overloaded"),
]


@pytest.mark.parametrize(("api", "body", "kind"), FAILURES)
def test_each_way_to_give_no_answer_has_its_kind(api: str, body: Any, kind: str) -> None:
    assert failure(api, body).kind == kind


@pytest.mark.parametrize("api", [CHAT, RESPONSES, MESSAGES])
@pytest.mark.parametrize(
    "body",
    [
        None, [], [1], "words", b"", b"\xff\xfe\xfa", b"<html>Hello</html>", b'{"choices": [{"mess', 3, True, {},
        {"choices": 3}, {"choices": ["x"]}, {"choices": [{"message": "x"}]}, {"choices": [{}]},
        {"choices": [{"message": {"content": 5}}]}, {"choices": [{"message": {"content": [5]}}]},
        {"choices": [{"message": {"content": [{"type": "text", "text": 5}]}}]},
        {"choices": [{"message": {"content": "x", "tool_calls": [5]}}]},
        {"choices": [{"message": {"content": "x", "tool_calls": [{"function": 5}]}}]},
        {"output": 5}, {"output": [5]}, {"output": [{"type": "message", "content": 5}]},
        {"content": 5}, {"content": [5]},
    ],
)  # fmt: skip
def test_a_wrong_shape_is_bad_body_or_empty_and_never_a_crash(api: str, body: Any) -> None:
    assert failure(api, body).kind in ("bad_body", "empty")


_KEYS = (
    *("choices", "message", "content", "finish_reason", "output", "type", "text", "status", "usage", "stop_reason"),
    *("tool_calls", "function", "arguments", "error", "input", "refusal", "incomplete_details", "stop_details"),
    *("prompt_tokens", "input_tokens"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_KEYS),
            inner | st.sampled_from(["text", "message", "tool_use", "refusal", "length", "failed", "error"]),
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(st.sampled_from([CHAT, RESPONSES, MESSAGES]), JSON)
def test_any_json_is_a_reply_or_a_provider_error(api: str, body: Any) -> None:
    try:
        found: Any = read_reply(api, 200, body)
    except ProviderError as error:
        found = error.kind
    assert isinstance(found, Reply) or found in PROVIDER_KINDS


def test_a_refusal_keeps_the_models_words_and_a_cut_says_at_how_many_tokens() -> None:
    assert "I can't grade that" in failure(CHAT, chat({"refusal": "I can't grade that."})).detail
    cut = failure(CHAT, chat({"content": "x"}, "length", usage={"prompt_tokens": 1, "completion_tokens": 512}))
    assert "512 tokens" in cut.detail
    assert "max_tokens" in cut.detail


@pytest.mark.parametrize(
    ("api", "body"),
    [
        (CHAT, chat({"content": "x"}, "length", usage={"prompt_tokens": 10, "completion_tokens": 5})),
        (RESPONSES, responses(status="incomplete", usage={"input_tokens": 10, "output_tokens": 5})),
        (MESSAGES, messages(stop="refusal", usage={"input_tokens": 10, "output_tokens": 5})),
        (CHAT, {"choices": 3, "usage": {"prompt_tokens": 10, "completion_tokens": 5}}),
        (RESPONSES, responses(status="failed", error={"message": "m"}, usage={"input_tokens": 10, "output_tokens": 5})),
    ],
)
def test_a_failed_call_carries_the_tokens_it_cost(api: str, body: Any) -> None:
    assert failure(api, body).usage == Usage(calls=1, input_tokens=10, output_tokens=5)


TEN = {"prompt_tokens": 10, "completion_tokens": 4}


@pytest.mark.parametrize(
    ("api", "given_usage", "expected"),
    [
        (CHAT, None, None),
        (CHAT, {}, None),
        (CHAT, "many", None),
        (CHAT, {"prompt_tokens": "ten"}, None),
        (CHAT, {"prompt_tokens": True, "completion_tokens": -1}, None),
        (CHAT, {"prompt_tokens": 10**400, "completion_tokens": 1e300}, None),
        (CHAT, {"prompt_tokens": 3}, Usage(1, 3, None)),
        (CHAT, {"prompt_tokens": 3.0, "completion_tokens": 0}, Usage(1, 3, 0)),
        (CHAT, {**TEN, "prompt_tokens_details": {"cached_tokens": 2}}, Usage(1, 10, 4, 2)),
        (CHAT, {**TEN, "prompt_tokens_details": None}, Usage(1, 10, 4)),
        (CHAT, {**TEN, "prompt_cache_hit_tokens": 1}, Usage(1, 10, 4, 1)),
        (
            RESPONSES,
            {"input_tokens": 3, "output_tokens": 4, "input_tokens_details": {"cached_tokens": 2}},
            Usage(1, 3, 4, 2),
        ),
        (MESSAGES, {"input_tokens": 3, "output_tokens": 4}, Usage(1, 3, 4)),
        (
            MESSAGES,
            {"input_tokens": 3, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 7, "output_tokens": 4},
            Usage(1, 20, 4, 10),
        ),
    ],
)  # fmt: skip
def test_tokens_that_are_not_reported_are_unknown(api: str, given_usage: Any, expected: Usage | None) -> None:
    assert usage(api, given_usage) == expected


def test_a_broken_body_is_worth_another_attempt_and_a_strange_one_is_not() -> None:
    assert failure(CHAT, b'{"choices": [{"mess').retry
    assert failure(CHAT, b"<html><title>Log in</title></html>").retry
    assert not failure(CHAT, {"answer": 1}).retry
    assert "Log in" in failure(CHAT, b"<html><title>Log in</title></html>").detail


def test_a_bad_status_is_the_status_whatever_the_body() -> None:
    assert failure(CHAT, chat({"content": "x"}), 500).kind == "server_error"


def test_json_too_deep_for_the_decoder_is_a_bad_body() -> None:
    with pytest.raises(ProviderError, match="bad_body"):
        decode(b"[" * 100_000)
