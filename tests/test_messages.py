"""The shapes people have: chat messages, Responses items, content blocks, SDK objects, and any JSON value."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury import namespace, shapes
from jury.data import DataPoint, Message, Output, Reasoning, ResponsePair, TargetError, Text, ToolCall
from jury.errors import DataError
from jury.messages import output_of, question_text, read_messages, text_of, to_messages, to_output
from jury.values import pretty


@pytest.fixture(autouse=True)
def _a_fresh_process() -> None:
    shapes._warn_media.cache_clear()


def call(name: str, arguments: Any, call_id: str | None = None) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


TWO, THREE = '{"a": 2}', '{"a": 3}'
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "2+2 and 3+3?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [call("add", '{"a": 2}', "k1"), call("add", '{"a": 3}', "k2")],
    },
    {"role": "tool", "tool_call_id": "k2", "content": "6"},
    {"role": "tool", "tool_call_id": "k1", "content": [{"type": "text", "text": "4"}]},
    {"role": "assistant", "content": "4 and 6."},
]
ITEMS = [
    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "2+2 and 3+3?"}]},
    {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "Two calls."}]},
    {"type": "function_call", "id": "f1", "call_id": "k1", "name": "add", "arguments": '{"a": 2}'},
    {"type": "function_call", "id": "f2", "call_id": "k2", "name": "add", "arguments": '{"a": 3}'},
    {"type": "function_call_output", "call_id": "k2", "output": "6"},
    {"type": "function_call_output", "call_id": "k1", "output": [{"type": "input_text", "text": "4"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "4 and 6."}]},
]
BLOCKS = [
    {"role": "user", "content": "2+2 and 3+3?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Two calls.", "signature": "s"},
            {"type": "tool_use", "id": "k1", "name": "add", "input": {"a": 2}},
            {"type": "tool_use", "id": "k2", "name": "add", "input": {"a": 3}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "k2", "content": "6"},
            {"type": "tool_result", "tool_use_id": "k1", "content": [{"type": "text", "text": "4"}]},
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "4 and 6."}]},
]


# Answers


@pytest.mark.parametrize(("shape", "parsed"), [(CHAT, False), (ITEMS, False), (BLOCKS, True)])
def test_a_conversation_gives_its_last_text_and_its_calls_with_results(shape: list[Any], parsed: bool) -> None:
    output = to_output(shape)
    assert output.text == "4 and 6."
    arguments: list[Any] = [{"a": 2}, {"a": 3}] if parsed else ['{"a": 2}', '{"a": 3}']
    assert output.tool_calls == (ToolCall("add", arguments[0], "4", "k1"), ToolCall("add", arguments[1], "6", "k2"))
    assert output.value is None
    assert output_of(read_messages(shape)).items == output.items


@pytest.mark.parametrize("shape", [ITEMS, BLOCKS])
def test_the_order_of_reasoning_calls_and_text_is_kept(shape: list[Any]) -> None:
    assert [type(i) for i in to_output(shape).items] == [Reasoning, ToolCall, ToolCall, Text]
    assert to_output(shape).reasoning == "Two calls."


def test_only_what_follows_the_last_user_message_is_the_answer() -> None:
    earlier = [
        {"role": "user", "content": "q1"},
        {"role": "assistant", "content": "a1", "tool_calls": [call("old", "{}", "k0")]},
        {"role": "tool", "tool_call_id": "k0", "content": "r0"},
    ]
    output = to_output([*earlier, *CHAT[1:]])
    assert output.text == "4 and 6."
    assert [c.id for c in output.tool_calls] == ["k1", "k2"]
    assert to_output([*CHAT, {"role": "user", "content": "thanks"}]) == Output()


def test_of_several_assistant_messages_the_last_with_text_counts() -> None:
    messages = [{"role": "assistant", "content": t} for t in ("one", "two", "", None)]
    output = to_output(messages)
    assert output.text == "two"
    assert output.items == (Text("one"), Text("two"))


def test_blocks_of_one_message_are_joined_without_a_separator_in_their_order() -> None:
    blocks = [
        {"type": "text", "text": "It is "},
        {"type": "tool_use", "id": "t", "name": "look", "input": {}},
        {"type": "tool_result", "tool_use_id": "t", "content": "4", "is_error": True},
        {"type": "text", "text": "four."},
    ]
    expected = (Text("It is "), ToolCall("look", {}, "4", "t", is_error=True), Text("four."))
    for shape in (blocks, {"role": "assistant", "content": blocks}, [{"role": "assistant", "content": blocks}]):
        output = to_output(shape)
        assert (output.text, output.items) == ("It is four.", expected)


def test_text_beside_calls_comes_first_and_reasoning_before_it() -> None:
    message = {
        "role": "assistant",
        "content": "Looking.",
        "reasoning_content": "hm",
        "tool_calls": [call("look", "{}")],
    }
    assert to_output(message).items == (Reasoning("hm"), Text("Looking."), ToolCall("look", "{}"))


@pytest.mark.parametrize(
    ("call_", "expected"),
    [
        (call("f", '{"a": 1}', "k"), ToolCall("f", '{"a": 1}', None, "k")),
        (call("f", None), ToolCall("f", {})),
        ({"id": "k", "type": "custom", "custom": {"name": "f", "input": "raw"}}, ToolCall("f", "raw", None, "k")),
        ({"id": "k", "name": "f", "args": {"a": 1}}, ToolCall("f", {"a": 1}, None, "k")),
        ({"id": "k", "function": "f", "arguments": {"a": 1}}, ToolCall("f", {"a": 1}, None, "k")),
        (ToolCall("f", {"a": 1}, "r"), ToolCall("f", {"a": 1}, "r")),
    ],
)
def test_shapes_of_calls(call_: Any, expected: ToolCall) -> None:
    assert to_output([Message("assistant", "", (call_,))]).tool_calls == (expected,)


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([{"content": "r1"}, {"content": "r2"}], ["r1", "r2"]),
        ([{"content": "r2", "name": "g"}, {"content": "r1"}], ["r1", "r2"]),
        ([{"content": {"rows": 2}, "tool_call_id": "k1"}], [{"rows": 2}, None]),
        ([{"content": None, "tool_call_id": "k1"}], ["", None]),
    ],
)
def test_results_find_their_calls(results: list[dict[str, Any]], expected: list[Any]) -> None:
    calls = {"role": "assistant", "content": "", "tool_calls": [call("f", "{}", "k1"), call("g", "{}", "k2")]}
    output = to_output([calls, *({"role": "tool", **r} for r in results)])
    assert [c.result for c in output.tool_calls] == expected


def test_ids_may_come_again_in_a_later_turn() -> None:
    turn = [{"role": "assistant", "tool_calls": [call("f", "{}", "0")]}, {"role": "tool", "tool_call_id": "0"}]
    shape = [turn[0], {**turn[1], "content": "first"}, turn[0], {**turn[1], "content": "second"}]
    assert [c.result for c in to_output(shape).tool_calls] == ["first", "second"]


def test_a_result_without_a_call_is_shown_all_the_same() -> None:
    shape = [
        {"role": "tool", "tool_call_id": "k9", "name": "add", "content": "4"},
        {"role": "assistant", "content": "4"},
    ]
    assert to_output(shape).tool_calls == (ToolCall("add", {}, "4", "k9"),)


def test_a_refusal_is_the_answer() -> None:
    assert to_output({"role": "assistant", "content": None, "refusal": "I will not."}).text == "I will not."
    assert to_output([{"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}]).text == "No."


def test_hosted_tools_are_calls() -> None:
    item = {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "x"}}
    assert to_output([item, *ITEMS[-1:]]).tool_calls == (ToolCall("web_search", {"action": {"query": "x"}}, None, "w"),)


def answered(*items: dict[str, Any]) -> Output:
    """A Responses object in which these items stand before the answer."""
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "4"}]}
    return to_output({"object": "response", "output": [*items, said]})


@pytest.mark.parametrize(
    ("item", "call"),
    [
        (
            {"type": "mcp_call", "id": "m", "server_label": "s", "name": "add", "arguments": "{}", "output": "4"},
            ToolCall("add", "{}", "4", "m"),
        ),
        (
            {"type": "mcp_call", "id": "m", "name": "add", "arguments": "{}", "output": None, "error": "gone"},
            ToolCall("add", "{}", "gone", "m", is_error=True),
        ),
        (
            {"type": "mcp_approval_request", "id": "m", "server_label": "s", "name": "add", "arguments": "{}"},
            ToolCall("add", "{}", None, "m"),
        ),
        (
            {
                "type": "code_interpreter_call",
                "id": "c",
                "status": "completed",
                "code": "2+2",
                "outputs": [{"logs": "4"}],
            },
            ToolCall("code_interpreter", {"code": "2+2"}, [{"logs": "4"}], "c"),
        ),
        (
            {"type": "file_search_call", "id": "f", "status": "completed", "queries": ["sum"], "results": None},
            ToolCall("file_search", {"queries": ["sum"]}, None, "f"),
        ),
        (
            {"type": "image_generation_call", "id": "i", "status": "completed", "result": "aGVs", "size": None},
            ToolCall("image_generation", {}, "[image]", "i"),
        ),
        (
            {"type": "program", "id": "p", "call_id": "k", "code": "2+2"},
            ToolCall("program", {"call_id": "k", "code": "2+2"}, None, "k"),
        ),
    ],
)
def test_calls_of_hosted_tools_keep_what_they_found(item: dict[str, Any], call: ToolCall) -> None:
    assert answered(item).tool_calls == (call,)
    assert answered(item).text == "4"


@pytest.mark.parametrize(
    ("call", "result", "shown"),
    [
        (
            {"type": "computer_call", "id": "a", "call_id": "k", "status": "completed"},
            {
                "type": "computer_call_output",
                "call_id": "k",
                "output": {"type": "computer_screenshot", "image_url": "u"},
            },
            "[image]",
        ),
        (
            {"type": "tool_search_call", "id": "a", "call_id": "k", "status": "completed", "arguments": {}},
            {"type": "tool_search_output", "id": "b", "call_id": "k", "tools": [{"name": "add"}]},
            '{\n  "name": "add"\n}',
        ),
        (
            {"type": "program", "id": "a", "call_id": "k", "code": "2+2"},
            {"type": "program_output", "id": "b", "call_id": "k", "result": "4", "status": "completed"},
            "4",
        ),
    ],
)
def test_outputs_find_their_call(call: dict[str, Any], result: dict[str, Any], shown: str) -> None:
    assert [c.result for c in answered(call, result).tool_calls] == [shown]


@pytest.mark.parametrize(
    "item",
    [
        {"type": "mcp_list_tools", "id": "l", "server_label": "s", "tools": [{"name": "add"}]},
        {"type": "mcp_approval_response", "id": "a", "approval_request_id": "m", "approve": True},
        {"type": "compaction", "id": "c", "encrypted_content": "zz"},
    ],
)
def test_what_an_api_notes_beside_an_answer_is_no_part_of_it(item: dict[str, Any]) -> None:
    assert answered(item) == Output("4")
    assert to_output([item, {"type": "output_text", "text": "4"}]) == Output("4")


def test_a_spoken_answer_is_what_was_said() -> None:
    spoken = {"role": "assistant", "content": None, "audio": {"id": "a", "data": "aGVs", "transcript": "Four."}}
    assert to_output([spoken]) == Output("Four.")
    assert to_output({**spoken, "audio": {"id": "a", "data": "aGVs"}}) == Output("[audio]")


def test_an_error_beside_a_call_is_its_result() -> None:
    given: Any = [{"name": "f", "arguments": {}, "error": "timeout"}, {"name": "g", "args": {}, "output": 0}]
    assert to_output(Output("a", tool_calls=given)).tool_calls == (
        ToolCall("f", {}, "timeout", is_error=True),
        ToolCall("g", {}, 0),
    )


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("2+2?", "2+2?"),
        (None, ""),
        (0, "0"),
        ([], "[]"),
        ({"a": 2}, '{\n  "a": 2\n}'),
        ([{"role": "user", "content": [{"type": "text", "text": "2+2?"}, {"type": "image_url"}]}], "2+2?\n[image]"),
        (
            {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}]},
            "system: Be brief.\n\nuser: 2+2?",
        ),
        ([Message("user", "2+2?"), Message("assistant", "hm", kind="reasoning")], "2+2?"),
    ],
)
def test_a_question_is_one_text(question: Any, text: str) -> None:
    assert question_text(question) == text
    pair = ResponsePair(question, Output("4"), Output("5"))
    assert namespace.pairwise(pair, criteria="c", wanted=frozenset({"question"}))["question"] == text


def test_our_own_types_alone_and_in_lists() -> None:
    items = [Reasoning("r"), ToolCall("f", {}, "x", "k"), Text("a"), Text("b")]
    assert to_output(items) == Output(items=items)
    assert to_output(Text("a")) == Output("a")
    assert to_output(Message("assistant", "a")) == Output("a")
    assert to_output([Message("user", "q"), Message("assistant", "a")]) == Output("a")


def test_objects_of_the_sdks() -> None:
    from anthropic.types import Message as AnthropicMessage
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response

    chat = ChatCompletion.model_validate(
        {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "4"}}],
        }
    )
    response = Response.model_validate(
        {
            "id": "r",
            "object": "response",
            "created_at": 1,
            "model": "m",
            "output": [
                {
                    "id": "m1",
                    "type": "message",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": "4 and 6.", "annotations": []}],
                }
            ],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }
    )
    message = AnthropicMessage.model_validate(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "text", "text": "4"}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    assert to_output(chat) == to_output(chat.model_dump()) == Output("4", model="m")
    assert to_output(chat.choices[0].message) == Output("4")
    assert to_output(response) == Output("4 and 6.", model="m")
    assert to_output(response.output) == Output("4 and 6.")
    assert to_output(message) == Output("4", model="m")
    assert to_output(message.content) == Output("4")


@pytest.mark.parametrize(
    "beside",
    [
        {"parsed": {"sum": 4}, "refusal": None},
        {"reasoning": None, "reasoning_details": [{"type": "reasoning.text", "text": "2+2"}]},
        {"thinking_blocks": None, "provider_specific_fields": {"citations": None}},
    ],
)
def test_a_lone_message_with_what_sdks_put_beside_it(beside: dict[str, Any]) -> None:
    assert to_output({"role": "assistant", "content": "4", **beside}) == Output("4")


def test_a_record_with_items_and_an_error() -> None:
    record = {"output": [{"type": "output_text", "text": "The h"}], "model": "m", "finish_reason": "error"}
    failed = {**record, "error": {"message": "cut", "error_type": "timeout", "code": None}}
    assert to_output(record) == Output("The h", model="m")
    assert to_output(failed) == Output("The h", model="m", error=TargetError("cut", "timeout"))


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (TargetError("slow", "timeout"), TargetError("slow", "timeout")),
        (ValueError("no answer"), TargetError("no answer", "ValueError")),
        (TimeoutError(), TargetError("", "TimeoutError")),
    ],
)
def test_an_error_in_place_of_an_answer_is_an_errored_target(value: Any, error: TargetError) -> None:
    assert to_output(value) == Output(error=error)


# Values that are none of these


@pytest.mark.parametrize(
    ("value", "text"), [(None, ""), ("", ""), ("a", "a"), (42, "42"), (0.125, "0.125"), (False, "False"), (0, "0")]
)
def test_plain_values(value: Any, text: str) -> None:
    assert to_output(value).text == text


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        ["a", 1, None],
        {"response": "x", "confidence": 0.9},
        {"role": "assistant", "content": "x", "score": 1},
        {"role": "user", "content": "x"},
        {"role": "admin", "content": "x"},
        {"messages": [{"role": "assistant", "content": "x"}]},
        {"content": "x"},
        {"tool_calls": []},
        {"output": [{"type": "text", "text": "x"}]},
        {"choices": []},
        {"object": "chat.completion", "choices": [{"message": "x"}]},
        [{"role": "assistant", "content": "x"}, "y"],
        [{"role": "user", "content": "only a question"}],
        [{"text": "a"}, {"text": "b"}],
        [{"type": "phone_call", "id": 3}],
        [{"type": "reasoning", "score": 3}],
        [{"type": "image", "url": "x"}],
        [{"type": "text"}],
        [[{"type": "text", "text": "x"}]],
    ],
)
def test_any_other_value_is_shown_in_full(value: Any) -> None:
    output = to_output(value)
    assert output.text == pretty(value)
    assert (output.value, output.error) == (value, None)


@given(st.recursive(st.none() | st.text() | st.integers(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)))
def test_every_json_value_is_an_output(value: Any) -> None:
    assert isinstance(to_output(value), Output)
    assert all(isinstance(m, Message) for m in to_messages(DataPoint({"value": value})))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("boom", TargetError("boom")),
        ({"message": "quota", "type": "rate", "code": 429}, TargetError("quota", "rate", 429)),
        ({"message": "", "detail": "x"}, TargetError(pretty({"message": "", "detail": "x"}))),
    ],
)
def test_an_object_with_an_error_is_an_errored_target(error: Any, expected: TargetError) -> None:
    assert to_output({"error": error, "answer": 4}).error == expected


@pytest.mark.parametrize("error", [None, "", {}, False, True, 0, 1, [], ["x"]])
def test_an_error_is_a_text_or_an_object_and_not_empty(error: Any) -> None:
    assert to_output({"error": error, "answer": 4}).error is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (b"x", "output is bytes"),
        (object(), "output is of type object"),
        ({"a": [b"x"]}, r"output\.a\[0\] is bytes"),
        (
            [{"role": "assistant", "content": "x", "tool_calls": "no"}],
            r"output\[0\]\.tool_calls is a text; expected a list",
        ),
        (
            [{"role": "assistant", "tool_calls": [{"id": "1"}]}],
            r"output\[0\]\.tool_calls\[0\] is a tool call without a name",
        ),
        ([{"role": "assistant", "tool_calls": ["x"]}], r"output\[0\]\.tool_calls\[0\] is a text"),
        (Output(text=5), r"Output\.text is a value of type int; expected a text"),  # type: ignore[arg-type]
        (Output(items=["a"]), r"Output\.items\[0\] is a text"),  # type: ignore[list-item]
        (Output("a", tool_calls=[{"id": "f"}]), r"Output\.tool_calls\[0\] is a tool call without a name"),  # type: ignore[list-item]
        (Output("a", tool_calls=["f"]), r"Output\.tool_calls\[0\] is a text"),  # type: ignore[list-item]
        (Output(error=5), r"Output\.error is a value of type int"),  # type: ignore[arg-type]
        (Message(5), r"output\[0\]\.role is a value of type int"),  # type: ignore[arg-type]
    ],
)
def test_a_broken_shape_is_named(value: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        to_output(value)


def test_an_output_is_taken_as_it_is() -> None:
    output = Output("a", tool_calls=[ToolCall("f")], error="boom")
    assert to_output(output) is output
    assert to_output(Output(value={"a": 1})) == Output('{\n  "a": 1\n}', value={"a": 1})


# Inputs


def pairs(data: Any) -> list[tuple[str, str]]:
    return [(m.role, text_of(m.content)) for m in to_messages(DataPoint(data))]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("q", [("user", "q")]),
        (None, []),
        ([], []),
        ({"messages": []}, []),
        ({"input": "q"}, [("user", "q")]),
        ({"input": [{"role": "user", "content": "q"}]}, [("user", "q")]),
        ({"input": "q", "more": 1}, [("user", pretty({"input": "q", "more": 1}))]),
        ({"messages": "q"}, [("user", pretty({"messages": "q"}))]),
        ({"city": "Lisbon"}, [("user", pretty({"city": "Lisbon"}))]),
        (["a", 1], [("user", pretty(["a", 1]))]),
        (5, [("user", "5")]),
        (Message("system", "s"), [("system", "s")]),
        ({"role": "user", "content": "q"}, [("user", "q")]),
        ({"role": "user", "content": "q", "age": 3}, [("user", pretty({"role": "user", "content": "q", "age": 3}))]),
        ({"messages": [{"content": "q"}, {"role": "ai", "content": "a"}]}, [("user", "q"), ("ai", "a")]),
        ({"messages": [{"role": "user"}, {"role": "user", "content": 12}]}, [("user", ""), ("user", "12")]),
        ({"system": "s", "messages": [{"role": "user", "content": "q"}]}, [("system", "s"), ("user", "q")]),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], [("user", "a\nb")]),
        ([Message("user", "q"), {"role": "assistant", "content": "a"}], [("user", "q"), ("assistant", "a")]),
        (ITEMS[:2], [("system", "Be brief."), ("user", "2+2 and 3+3?")]),
    ],
)
def test_shapes_of_inputs(data: Any, expected: list[tuple[str, str]]) -> None:
    assert pairs(data) == expected


@pytest.mark.parametrize("shape", [CHAT, ITEMS, BLOCKS])
def test_calls_and_results_stay_in_an_input(shape: list[Any]) -> None:
    messages = to_messages(DataPoint(shape))
    calls = [c for m in messages for c in m.tool_calls]
    assert [(c.name, c.id, c.result) for c in calls] == [("add", "k1", "4"), ("add", "k2", "6")]
    assert [text_of(m.content) for m in messages if m.role == "tool"] == ["6", "4"]
    assert messages[-1].content in ("4 and 6.", [{"type": "text", "text": "4 and 6."}], ITEMS[-1]["content"])


def test_thoughts_are_messages_of_their_own() -> None:
    kinds = [(m.kind, text_of(m.content)) for m in read_messages(BLOCKS)]
    assert ("reasoning", "Two calls.") in kinds
    assert read_messages([{"role": "assistant", "content": "a", "reasoning": "r"}]) == (
        Message("assistant", "r", kind="reasoning"),
        Message("assistant", "a"),
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([{"role": "user", "content": "q"}, "x"], r"input\[1\] is a text"),
        ([{"role": "user", "content": "q"}, {"x": 1}], r"input\[1\] is an object without role and content"),
        ({"messages": ["x"]}, r"input\.messages\[0\] is a text; expected an object"),
        ({"messages": [None]}, r"input\.messages\[0\] is null"),
        ({"messages": [{"role": 5, "content": "x"}]}, r"input\.messages\[0\]\.role is a value of type int"),
        ({"messages": [{"role": "user", "content": b"x"}]}, r"input\.messages\[0\]\.content is bytes"),
        (b"x", "input is bytes"),
    ],
)
def test_a_broken_input_is_named(data: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        to_messages(DataPoint(data))


# Contents


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        (None, ""),
        (12, "12"),
        ({"a": 1}, pretty({"a": 1})),
        ({"type": "text", "text": "a"}, "a"),
        ([], ""),
        ([{"type": "text", "text": "a"}, "b", {"text": "c"}], "a\nb\nc"),
        ([{"type": "text", "text": {"value": "v", "annotations": []}}], "v"),
        ([{"type": "text", "text": None}], ""),
        ([{"odd": 1}], pretty({"odd": 1})),
        ([{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "a"}], "a"),
        ([Text("a"), Reasoning("r"), ToolCall("f")], "a"),
        ([{"type": "image_url", "image_url": {"url": "data:..."}}], "[image]"),
        ([{"type": "input_image", "image_url": "x"}, {"type": "image", "source": {}}], "[image]\n[image]"),
        ([{"type": "input_audio", "input_audio": {}}, {"type": "video_url"}], "[audio]\n[video]"),
        ([{"type": "input_file", "file_id": "f"}, {"type": "document", "source": {}}], "[file]\n[file]"),
    ],
)
def test_text_of(content: Any, text: str) -> None:
    assert text_of(content) == text


def test_media_are_warned_about_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    for _ in range(3):
        to_output([{"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}])
        text_of([{"type": "input_audio"}])
    assert [(r.name, "[image]" in r.message) for r in caplog.records] == [("jury.messages", True)]


def test_tuples_and_mappings_are_read_like_lists_and_objects() -> None:
    from types import MappingProxyType

    frozen = tuple(MappingProxyType(json.loads(json.dumps(m))) for m in CHAT)
    assert to_output(frozen) == to_output(CHAT)
    assert to_messages(DataPoint(MappingProxyType({"messages": frozen}))) == to_messages(DataPoint(CHAT))


@pytest.mark.parametrize(
    "given",
    [
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'},
        {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}},
        {"name": "f", "arguments": {"a": 1}, "id": "c"},
    ],
    ids=["chat", "responses", "block", "plain"],
)
def test_the_calls_of_an_output_may_be_as_their_maker_had_them(given: dict[str, Any]) -> None:
    arguments = given.get("function", given).get("arguments", {"a": 1})
    wanted = ToolCall("f", arguments, 3, "c")
    told: Any = [{**given, "result": 3}, ToolCall("g")]
    output = to_output(Output("Done.", tool_calls=told))
    assert output == Output("Done.", tool_calls=[wanted, ToolCall("g")])
    assert to_output(Output("Done.", tool_calls=[told[0], told[0]])).tool_calls == (wanted, wanted)


def test_what_cut_an_answer_short_may_be_an_exception_and_its_keys_are_hidden() -> None:
    partial = to_output(Output("The first half", error=TimeoutError("late")))  # type: ignore[arg-type]
    assert (partial.text, str(partial.error)) == ("The first half", "TimeoutError: late")
    assert "sk-0123456789abcdefghij" not in str(to_output(ValueError("401 for sk-0123456789abcdefghij")).error)


@pytest.mark.parametrize("message", ["", "  "])
def test_an_error_without_words_says_so(message: str) -> None:
    assert str(TargetError(message)) == "no message"
    assert str(TargetError(message, "timeout")) == "timeout: no message"
