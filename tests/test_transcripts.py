"""Session exports -> events: one trap of one format a test, with the smallest recording that has it."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury.errors import ConfigError, DataError
from jury.sessions.events import Event, Session, answers
from jury.transcripts import FORMATS, load_session, load_sessions

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"id": 7}'}}


def lines(*records: Any) -> str:
    return "\n".join(json.dumps(r) for r in records) + "\n"


def told(session: Session) -> list[tuple[Any, ...]]:
    """The events, as short as they can be compared."""
    short: list[tuple[Any, ...]] = []
    for e in session.events:
        if e.type == "tool_call":
            short.append(("call", e.id, e.name, e.arguments))
        elif e.type == "tool_result":
            short.append(("result", e.id, e.name, e.is_error, e.text))
        else:
            short.append((e.type, e.text))
    return short


class TestChat:
    def test_null_content_and_null_calls(self):
        session = load_session(
            lines(
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": None, "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "c1", "content": "ok"},
                {"role": "assistant", "content": "Done", "tool_calls": None},
            )
        )
        assert told(session) == [
            ("user", "Hi"),
            ("call", "c1", "look", {"id": 7}),
            ("result", "c1", "look", None, "ok"),
            ("assistant", "Done"),
        ]

    def test_arguments_that_do_not_parse_stay_text(self):
        broken = {"id": "c1", "function": {"name": "look", "arguments": '{"id": 7'}}
        session = load_session([{"role": "assistant", "content": "x", "tool_calls": [broken]}])
        assert session.events[1].arguments == '{"id": 7'
        assert session.events[1].to_dict()["arguments_text"] == '{"id": 7'
        assert session.messages == []

    def test_legacy_function_call_and_reasoning(self):
        session = load_session(
            [
                {"role": "developer", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}]},
                {
                    "role": "assistant",
                    "reasoning_content": "hm",
                    "content": None,
                    "function_call": {"name": "f", "arguments": ""},
                },
                {"role": "function", "name": "f", "content": "1"},
                {"role": "assistant", "content": None, "refusal": "No."},
            ]
        )
        assert told(session) == [
            ("system", "Be brief."),
            ("user", "a\n[image]"),
            ("thinking", "hm"),
            ("call", None, "f", {}),
            ("result", None, "f", None, "1"),
            ("assistant", "No."),
        ]
        assert session.tools_called[0].result == "1"

    def test_records_are_sessions(self):
        text = lines({"id": "a", "messages": [{"role": "user", "content": "1"}]}, {"id": "b", "messages": []})
        assert [s.id for s in load_sessions(lines(*[json.loads(line) for line in text.splitlines()][:1]))] == ["a"]
        both = lines(
            {"id": "a", "messages": [{"role": "user", "content": "1"}]},
            {"id": "b", "messages": [{"role": "user", "content": "2"}], "tools": [{"name": "t"}], "error": "down"},
        )
        with pytest.raises(DataError, match="2 sessions") as caught:
            load_session(both)
        assert caught.value.kind == "many_sessions"
        second = load_session(both, number=2)
        assert second.id == "b"
        assert second.tools == ({"name": "t"},)
        assert second.error is not None
        with pytest.raises(DataError, match="no number 3"):
            load_session(both, number=3)


class TestAnthropic:
    MESSAGES: tuple[dict[str, Any], ...] = (
        {"role": "user", "content": "Fix"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "plan", "signature": "s"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "tool_use", "id": "t1", "name": "a", "input": {}},
                {"type": "text", "text": "One. "},
                {"type": "text", "text": "Two."},
                {"type": "tool_use", "id": "t2", "name": "b", "input": {"k": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "r1"}]},
                {"type": "tool_result", "tool_use_id": "t2", "content": "boom", "is_error": True},
                {"type": "text", "text": "and hurry"},
            ],
        },
    )
    EVENTS = (
        ("user", "Fix"),
        ("thinking", "plan"),
        ("assistant", "One. Two."),
        ("call", "t1", "a", {}),
        ("call", "t2", "b", {"k": 1}),
        ("result", "t1", "a", False, "r1"),
        ("result", "t2", "b", True, "boom"),
        ("user", "and hurry"),
    )

    def test_blocks_text_before_calls_results_before_words(self):
        session = load_session({"system": [{"type": "text", "text": "S"}], "messages": list(self.MESSAGES)})
        assert session.format == "anthropic"
        assert told(session) == [("system", "S"), *self.EVENTS]

    def test_a_message_a_line(self):
        session = load_session(lines(*self.MESSAGES))
        assert session.format == "anthropic"
        assert told(session) == list(self.EVENTS)

    def test_a_hosted_tool_keeps_its_answer_before_what_was_made_of_it(self):
        content = [
            {"type": "text", "text": "I search."},
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"title": "T"}]},
            {"type": "text", "text": "Found."},
        ]
        session = load_session([{"role": "user", "content": "?"}, {"role": "assistant", "content": content}])
        assert [e[0] for e in told(session)] == ["user", "assistant", "call", "result", "assistant"]
        assert session.final_message == "Found."


class TestResponses:
    def test_items_joined_by_call_id(self):
        session = load_session(
            lines(
                {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "S"}]},
                {"type": "message", "role": "user", "content": "Q"},
                {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "why"}]},
                {"type": "reasoning", "id": "r2", "summary": [], "encrypted_content": "x"},
                {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "id": "fo_1", "call_id": "c1", "output": "done"},
                {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "q"}},
                {"type": "mcp_call", "id": "m1", "name": "g", "arguments": "{}", "output": None, "error": "refused"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A"}]},
            )
        )
        assert told(session) == [
            ("system", "S"),
            ("user", "Q"),
            ("thinking", "why"),
            ("call", "c1", "f", {}),
            ("result", "c1", "f", None, "done"),
            ("call", "ws_1", "web_search", {"query": "q"}),
            ("call", "m1", "g", {}),
            ("result", "m1", "g", True, "refused"),
            ("assistant", "A"),
        ]

    def test_response_objects_in_a_chain_are_one_session(self):
        def response(id: str, before: str | None, asked: str, said: str, **more: Any) -> dict[str, Any]:
            output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}]
            body = {"object": "response", "id": id, "previous_response_id": before, "instructions": "S"}
            return {**body, "input": asked, "output": output, **more}

        one = response("r1", None, "Q1", "A1")
        two = response("r2", "r1", "Q2", "A2", error={"code": "server_error", "message": "broke"})
        session = load_session(lines(one, two))
        assert [e[-1] for e in told(session)] == ["S", "Q1", "A1", "Q2", "A2"]
        assert session.error is not None
        assert session.error.code == "server_error"
        assert len(load_sessions(lines(one, response("r9", None, "Q", "A")))) == 2


class TestLangSmith:
    ASKED: tuple[dict[str, Any], ...] = ({"type": "system", "content": "S"}, {"type": "human", "content": "Q"})
    CALLED: tuple[dict[str, Any], ...] = (
        {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c1", "type": "tool_call"}]},
    )

    def run(self, id: str, kind: str, inputs: Any, outputs: Any, **more: Any) -> dict[str, Any]:
        parent = None if id == "root" else "root"
        body = {"id": id, "trace_id": "root", "parent_run_id": parent, "run_type": kind, "name": more.pop("name", id)}
        return {**body, "start_time": id, "inputs": inputs, "outputs": outputs, "error": None, **more}

    def test_root_and_children_count_once(self):
        answer = [{"type": "tool", "content": "1", "tool_call_id": "c1", "name": "f", "status": "success"}]
        last = [{"type": "ai", "content": "A"}]
        whole = [*self.ASKED, *self.CALLED, *answer, *last]
        session = load_session(
            lines(
                self.run("child", "llm", {"messages": [[*self.ASKED]]}, {"generations": [[{"message": last[0]}]]}),
                self.run("root", "chain", {"messages": [*self.ASKED]}, {"messages": whole}),
            )
        )
        assert told(session) == [
            ("system", "S"),
            ("user", "Q"),
            ("call", "c1", "f", {"a": 1}),
            ("result", "c1", "f", False, "1"),
            ("assistant", "A"),
        ]

    def test_a_failed_root_is_told_by_its_longest_call_and_its_tools(self):
        generation = {"generations": [[{"message": self.CALLED[0]}]]}
        session = load_session(
            lines(
                self.run("root", "chain", {"messages": [*self.ASKED]}, None, error="ToolError('boom')"),
                self.run("a", "llm", {"messages": [[*self.ASKED]]}, generation),
                self.run("b", "tool", {"input": '{"a": 1}'}, None, name="f", error="boom"),
            )
        )
        assert told(session)[-2:] == [("call", "c1", "f", {"a": 1}), ("result", "c1", "f", True, "boom")]
        assert session.error is not None

    def test_serialised_messages(self):
        kwargs = {"content": "Q", "type": "human"}
        message = {"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": kwargs}
        session = load_session(
            lines(self.run("root", "chain", {"messages": [message]}, {"output": {"type": "ai", "content": "A"}}))
        )
        assert told(session) == [("user", "Q"), ("assistant", "A")]


class TestLangfuse:
    @staticmethod
    def generation(at: str, given: Any, made: Any, **more: Any) -> dict[str, Any]:
        return {"id": at, "type": "GENERATION", "startTime": at, "input": given, "output": made, **more}

    ASKED: tuple[dict[str, Any], ...] = ({"role": "user", "content": "Q"},)
    CALLED: ClassVar[dict[str, Any]] = {"role": "assistant", "content": None, "tool_calls": [CALL]}

    def test_last_generation_and_flags_of_tools(self):
        result = {"role": "tool", "tool_call_id": "c1", "content": "no route"}
        observations = [
            self.generation("3", [*self.ASKED, self.CALLED, result], {"role": "assistant", "content": "A"}),
            {
                "type": "TOOL",
                "startTime": "2",
                "name": "look",
                "level": "ERROR",
                "statusMessage": "no route",
                "output": None,
            },
            self.generation("1", [*self.ASKED], self.CALLED),
        ]
        session = load_session({"id": "t", "input": "Q", "output": "A", "observations": observations})
        assert told(session) == [
            ("user", "Q"),
            ("call", "c1", "look", {"id": 7}),
            ("result", "c1", "look", True, "no route"),
            ("assistant", "A"),
        ]

    def test_a_tool_that_no_generation_saw_answers_its_call(self):
        observations = [
            self.generation("1", [*self.ASKED], self.CALLED),
            {
                "type": "TOOL",
                "startTime": "2",
                "name": "look",
                "level": "DEFAULT",
                "output": {"n": 1},
                "metadata": {"tool_call_id": "c1"},
            },
        ]
        session = load_session({"id": "t", "input": "Q", "output": None, "observations": observations})
        assert told(session)[-1] == ("result", "c1", "look", False, '{"n": 1}')

    def test_a_title_made_at_the_end_is_not_the_conversation(self):
        observations = [
            self.generation("1", [*self.ASKED, {"role": "assistant", "content": "A"}, *self.ASKED], "A2"),
            self.generation("9", [{"role": "user", "content": "Make a title"}], "Title"),
        ]
        session = load_session({"id": "t", "input": "Q", "output": "A", "observations": observations})
        assert session.final_message == "A2"
        assert session.notes

    def test_json_inside_texts_and_generations_without_messages(self):
        given = json.dumps({"messages": [*self.ASKED]})
        trace = {"id": "t", "input": given, "output": json.dumps({"role": "assistant", "content": "A"})}
        assert told(load_session(lines(trace))) == [("user", "Q"), ("assistant", "A")]
        tool = {"type": "TOOL", "startTime": "1", "name": "f", "level": "DEFAULT", "input": {"a": 1}, "output": "r"}
        masked = {"id": "t", "input": "Q", "output": "A", "observations": [tool, self.generation("2", None, None)]}
        assert [e[0] for e in told(load_session(masked))] == ["user", "call", "result", "assistant"]

    def test_a_failed_generation_at_the_end_is_the_targets_error(self):
        failed = self.generation("1", [*self.ASKED], None, level="ERROR", statusMessage="429 too many requests")
        session = load_session({"id": "t", "input": "Q", "output": None, "observations": [failed]})
        assert str(session.error) == "429 too many requests"


class TestOtel:
    @staticmethod
    def span(at: int, operation: str, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
        pairs = {"gen_ai.operation.name": operation, **attributes}
        typed = [
            {"key": k, "value": {"stringValue": v if isinstance(v, str) else json.dumps(v)}} for k, v in pairs.items()
        ]
        return {
            "traceId": "t",
            "spanId": str(at),
            "name": operation,
            "startTimeUnixNano": str(at),
            "attributes": typed,
            **more,
        }

    @staticmethod
    def export(*spans: dict[str, Any]) -> dict[str, Any]:
        return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}

    ASKED: tuple[dict[str, Any], ...] = ({"role": "user", "parts": [{"type": "text", "content": "Q"}]},)
    CALLED: tuple[dict[str, Any], ...] = (
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "why"},
                {"type": "tool_call", "id": "c1", "name": "f", "arguments": {"a": 1}},
            ],
        },
    )

    def test_last_chat_span_system_text_and_status_of_tools(self):
        result = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": {"error": "no"}}]}
        said = [{"role": "assistant", "parts": [{"type": "text", "content": "A"}]}]
        tool = self.span(2, "execute_tool", {"gen_ai.tool.name": "f", "gen_ai.tool.call.id": "c1"}, status={"code": 2})
        first = self.span(1, "chat", {"gen_ai.input.messages": [*self.ASKED], "gen_ai.output.messages": [*self.CALLED]})
        history = [*self.ASKED, *self.CALLED, result]
        system = [{"type": "text", "content": "S"}]
        last = self.span(
            3,
            "chat",
            {"gen_ai.input.messages": history, "gen_ai.output.messages": said, "gen_ai.system_instructions": system},
        )
        session = load_session(self.export(last, tool, first))
        assert told(session) == [
            ("system", "S"),
            ("user", "Q"),
            ("thinking", "why"),
            ("call", "c1", "f", {"a": 1}),
            ("result", "c1", "f", True, '{"error": "no"}'),
            ("assistant", "A"),
        ]

    def test_spans_without_messages_say_so(self):
        with pytest.raises(DataError, match="did not capture the content") as caught:
            load_session(self.export(self.span(1, "chat", {"gen_ai.request.model": "m"})))
        assert caught.value.kind == "no_messages"

    def test_messages_in_span_events(self):
        events = [
            {"name": "gen_ai.user.message", "attributes": {"content": "Q"}},
            {"name": "gen_ai.assistant.message", "attributes": {"tool_calls": json.dumps([CALL])}},
            {"name": "gen_ai.tool.message", "attributes": {"id": "c1", "content": "r"}},
            {"name": "gen_ai.choice", "attributes": {"message": json.dumps({"content": "A"}), "finish_reason": "stop"}},
        ]
        span = {"name": "chat m", "traceId": "t", "attributes": {"gen_ai.operation.name": "chat"}, "events": events}
        assert told(load_session(lines(span))) == [
            ("user", "Q"),
            ("call", "c1", "look", {"id": 7}),
            ("result", "c1", "look", None, "r"),
            ("assistant", "A"),
        ]

    def test_numbered_attributes(self):
        attributes = {
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "Q",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.tool_calls.0.name": "f",
            "gen_ai.completion.0.tool_calls.0.arguments": "{}",
        }
        assert told(load_session({"name": "chat", "attributes": attributes})) == [
            ("user", "Q"),
            ("call", None, "f", {}),
        ]

    def test_conversations_are_sessions(self):
        spans = [
            {
                **self.span(1, "chat", {"gen_ai.input.messages": [*self.ASKED], "gen_ai.conversation.id": name}),
                "traceId": name,
            }
            for name in ("a", "b")
        ]
        assert [s.id for s in load_sessions(self.export(*spans))] == ["a", "b"]


class TestClaudeCode:
    @staticmethod
    def line(kind: str, content: Any, **more: Any) -> dict[str, Any]:
        message: dict[str, Any] = {"role": kind, "content": content}
        if "answer" in more:
            message["id"] = more.pop("answer")
        return {"type": kind, "message": message, "sessionId": "s", **more}

    def test_what_is_no_conversation_is_skipped(self):
        line = self.line
        session = load_session(
            lines(
                {"type": "summary", "summary": "title"},
                {"type": "file-history-snapshot", "snapshot": {}},
                line("user", "<command-name>/clear</command-name>"),
                line("user", "Caveat", isMeta=True),
                line("user", "sub task", isSidechain=True),
                line("user", "Fix it<system-reminder>be careful</system-reminder>", uuid="u1"),
                line("user", "Fix it", uuid="u1"),
                line("assistant", [{"type": "text", "text": "a "}], answer="m1"),
                line("assistant", [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}], answer="m1"),
                line("assistant", [{"type": "text", "text": "b"}], answer="m1"),
                line("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "x", "is_error": True}]),
                line("user", [{"type": "text", "text": "[Request interrupted by user]"}]),
                line("user", "<command-name>/review</command-name><command-args>src</command-args>"),
            )
        )
        assert session.format == "claude_code"
        assert session.id == "s"
        assert told(session) == [
            ("user", "Fix it"),
            ("assistant", "a b"),
            ("call", "t1", "Read", {}),
            ("result", "t1", "Read", True, "x"),
            ("user", "/review src"),
        ]

    def test_a_failed_call_of_the_model_at_the_end_is_the_targets_error(self):
        failed = self.line("assistant", [{"type": "text", "text": "API Error: 500"}], isApiErrorMessage=True)
        said = self.line("assistant", [{"type": "text", "text": "Here"}], answer="m2")
        asked = self.line("user", "Q")
        assert str(load_session(lines(asked, failed)).error) == "API Error: 500"
        assert load_session(lines(asked, failed, said)).error is None

    def test_a_sub_agents_own_file_is_read(self):
        session = load_session(lines(self.line("user", "sub task", isSidechain=True)))
        assert told(session) == [("user", "sub task")]
        assert "sub-agent" in session.notes[0]


class TestCodex:
    @staticmethod
    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": "t", "type": "response_item", "payload": payload}

    def call(self, output: Any) -> Session:
        return load_session(
            lines(
                {"type": "session_meta", "payload": {"id": "s"}},
                self.item(type="function_call", name="shell", arguments="{}", call_id="c1"),
                self.item(type="function_call_output", call_id="c1", output=output),
            )
        )

    @pytest.mark.parametrize(
        ("output", "flag"),
        [
            ("Exit code: 0\nWall time: 0.3 seconds\nOutput:\nok", False),
            ("Exit code: 2\nWall time: 0.3 seconds\nOutput:\nno", True),
            ("Exit code: 0\nOutput:\nExit code: 9", False),
            ("Chunk ID: 1\nProcess exited with code 1\nOutput:\n", True),
            ('{"output": "no", "metadata": {"exit_code": 1}}', True),
            ('{"output": "ok", "metadata": {"exit_code": 0}}', False),
            ("Plan updated", None),
            ({"content": "denied", "success": False}, True),
        ],
    )
    def test_failure_shows_in_the_output(self, output: Any, flag: bool | None):
        assert self.call(output).events[-1].is_error is flag

    def test_injected_texts_and_repetitions(self):
        session = load_session(
            lines(
                {"type": "session_meta", "payload": {"id": "s", "base_instructions": {"text": "S"}}},
                self.item(
                    type="message",
                    role="developer",
                    content=[{"type": "input_text", "text": "<permissions>x</permissions>"}],
                ),
                self.item(
                    type="message",
                    role="user",
                    content=[{"type": "input_text", "text": "# AGENTS.md instructions for /x"}],
                ),
                self.item(
                    type="message",
                    role="user",
                    content=[
                        {"type": "input_text", "text": "<environment_context>\n<cwd>x</cwd>\n</environment_context>"}
                    ],
                ),
                self.item(type="message", role="user", content=[{"type": "input_text", "text": "Fix <b>this</b>"}]),
                {"type": "event_msg", "payload": {"type": "user_message", "message": "Fix <b>this</b>"}},
                {"type": "event_msg", "payload": {"type": "error", "message": "stream lost"}},
            )
        )
        assert told(session) == [("user", "Fix <b>this</b>")]
        assert str(session.error) == "stream lost"


class TestInspect:
    @staticmethod
    def log(*samples: dict[str, Any]) -> dict[str, Any]:
        return {"version": 2, "status": "success", "eval": {}, "samples": list(samples)}

    def test_errors_of_tools_reasoning_and_target(self):
        messages = [
            {"role": "user", "content": "Q"},
            {
                "role": "assistant",
                "content": [{"type": "reasoning", "reasoning": "why"}, {"type": "text", "text": "look"}],
                "tool_calls": [{"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}}],
            },
            {
                "role": "tool",
                "content": "",
                "tool_call_id": "c1",
                "function": "bash",
                "error": {"type": "timeout", "message": "too slow"},
            },
        ]
        session = load_session(self.log({"id": 1, "epoch": 1, "target": ["17"], "messages": messages}))
        assert session.expected_output == "17"
        assert told(session)[1:] == [
            ("thinking", "why"),
            ("assistant", "look"),
            ("call", "c1", "bash", {"cmd": "ls"}),
            ("result", "c1", "bash", True, "too slow"),
        ]

    def test_texts_kept_apart_and_failed_samples(self):
        messages = [{"role": "user", "content": "attachment://h1"}]
        sample = {
            "id": 1,
            "target": "",
            "messages": messages,
            "attachments": {"h1": "long"},
            "error": {"message": "died"},
        }
        session = load_session(self.log(sample))
        assert told(session) == [("user", "long")]
        assert session.expected_output is None
        assert str(session.error) == "died"

    def test_packed_logs_say_what_to_do(self, tmp_path):
        with pytest.raises(DataError, match="inspect log convert"):
            load_session(tmp_path / "x.eval")


class TestEvaluatorq:
    @staticmethod
    def result(inputs: Any, *outputs: Any) -> dict[str, Any]:
        return {
            "dataPoint": {"inputs": inputs, "expectedOutput": 4},
            "jobResults": [{"jobName": "j", "output": o} for o in outputs],
        }

    def test_calls_hold_their_results(self):
        item = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}", "result": "r"}
        output = {
            "output": [{"type": "reasoning", "text": "why"}, item, {"type": "output_text", "text": "A"}],
            "error": None,
        }
        session = load_session(self.result({"input": "Q"}, output))
        assert session.expected_output == 4
        assert told(session) == [
            ("user", "Q"),
            ("thinking", "why"),
            ("call", "c1", "f", {}),
            ("result", "c1", "f", None, "r"),
            ("assistant", "A"),
        ]

    def test_other_inputs_plain_outputs_and_errors(self):
        session = load_session(self.result({"a": 1}, "A"))
        assert told(session) == [("user", '{\n  "a": 1\n}'), ("assistant", "A")]
        failed = load_session(
            self.result({"input": "Q"}, {"output": [], "error": {"message": "late", "error_type": "timeout"}})
        )
        assert failed.error is not None
        assert (failed.error.kind, failed.error.message) == ("timeout", "late")
        assert len(load_sessions(self.result({"input": "Q"}, "A", "B"))) == 2


class TestBrokenInput:
    def test_a_broken_line_is_named_with_what_was_read(self, tmp_path):
        file = tmp_path / "s.jsonl"
        file.write_text('{"role": "user", "content": "Hi"}\n\n{"role": "assistant", "content": "Hel\n', "utf-8")
        with pytest.raises(DataError) as caught:
            load_session(file)
        assert (caught.value.file, caught.value.line, caught.value.kind) == (str(file), 3, "bad_json")
        assert '"Hel' in str(caught.value)

    def test_a_line_of_another_shape(self):
        with pytest.raises(DataError, match="line 2: expected a message with a role, read an object with the keys foo"):
            load_session(lines({"role": "user", "content": "Hi"}, {"foo": 1}))
        with pytest.raises(DataError, match=r"line 2.*read 42"):
            load_session(lines({"role": "user", "content": "Hi"}, 42), "claude_code")

    def test_a_broken_document_names_its_line(self):
        with pytest.raises(DataError) as caught:
            load_session('{\n "messages": [\n  {"role": "user" "content": "x"}\n ]\n}')
        assert caught.value.line == 3

    @pytest.mark.parametrize("text", ["", "  \n\n", "\ufeff"])
    def test_nothing(self, text: str):
        with pytest.raises(DataError, match="empty"):
            load_session(text)

    def test_unknown_shapes_and_formats(self, tmp_path):
        with pytest.raises(DataError, match="no known format; read: an object with the keys a") as caught:
            load_session({"a": 1})
        assert caught.value.kind == "unknown_format"
        with pytest.raises(ConfigError, match="did you mean openai_chat"):
            load_session("[]", "openai_chatt")
        with pytest.raises(DataError, match="no such file"):
            load_session(str(tmp_path / "missing.jsonl"))
        with pytest.raises(DataError, match="no message"):
            load_session([{"role": "assistant", "content": ""}])

    def test_bytes_that_are_no_text(self, tmp_path):
        file = tmp_path / "s.jsonl"
        file.write_bytes(b'{"role": "user", "content": "ok"}\n{"role": "user", "content": "\xff"}\n')
        with pytest.raises(DataError) as caught:
            load_session(file)
        assert (caught.value.kind, caught.value.line) == ("encoding", 2)

    def test_half_a_character_can_be_sent(self):
        session = load_session('{"role": "user", "content": "cut \\ud83d"}')
        session.transcript.encode("utf-8")
        assert session.first_request == "cut \ufffd"

    def test_line_separators_inside_a_text_are_text(self):
        session = load_session('{"role": "user", "content": "a\u2028b"}\n{"role": "assistant", "content": "c"}\n')
        assert session.first_request == "a\u2028b"

    @pytest.mark.parametrize("name", FORMATS)
    def test_a_forced_format_that_does_not_fit_is_a_clear_error(self, name: str):
        with pytest.raises(DataError):
            load_session(lines({"unlike": 1}, {"unlike": 2}), name)


class TestSession:
    def test_ids_that_start_anew_answer_the_latest_call(self):
        events = [
            Event(1, "tool_call", id="c", name="a", arguments={}),
            Event(2, "tool_result", "one", "c"),
            Event(3, "tool_call", id="c", name="b", arguments={}),
            Event(4, "tool_result", "two", "c"),
        ]
        assert {at: e.text for at, e in answers(events).items()} == {0: "one", 2: "two"}

    def test_split_and_output(self):
        session = load_session(
            [
                {"role": "user", "content": "1"},
                {"role": "assistant", "content": "a", "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "c1", "content": "r"},
                {"role": "user", "content": "2"},
                {"role": "assistant", "content": "b", "tool_calls": [{**CALL, "id": "c2"}]},
                {"role": "tool", "tool_call_id": "c2", "content": "r2"},
                {"role": "assistant", "content": "c"},
            ]
        )
        assert session.output.text == "c"
        assert [c.id for c in session.output.tool_calls] == ["c2"]
        assert [c.id for c in session.tools_called] == ["c1", "c2"]
        assert [m["role"] for m in session.messages] == ["user", "assistant", "tool", "user"]
        assert session.messages[1]["tool_calls"][0]["function"]["arguments"] == '{"id": 7}'

    def test_without_a_user_the_system_text_is_the_input(self):
        session = load_session([{"role": "system", "content": "S"}, {"role": "assistant", "content": "Hi"}])
        assert session.split == 1
        assert session.output.text == "Hi"

    def test_namespace(self):
        session = load_session([{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}])
        names = session.namespace()
        assert names["first_request"] == "Q"
        assert names["final_message"] == "A"
        assert names["transcript"].count("\n") == 1
        assert names["cut"] == ""


TEXT = st.text(max_size=20)
EVENTS = st.lists(
    st.one_of(
        st.builds(
            lambda k, t: {"type": k, "text": t},
            st.sampled_from(["system", "user", "assistant", "thinking"]),
            TEXT.filter(bool),
        ),
        st.builds(
            lambda i, n: {"type": "tool_call", "id": i, "name": n, "arguments": {}},
            TEXT.filter(bool),
            TEXT.filter(bool),
        ),
        st.builds(
            lambda i, t, e: {"type": "tool_result", "id": i, "result": t, "is_error": e},
            TEXT.filter(bool),
            TEXT,
            st.sampled_from([True, False, None]),
        ),
    ),
    min_size=1,
    max_size=12,
)


@given(EVENTS)
@settings(deadline=None)
def test_events_survive_the_way_out_and_back(events: list[dict[str, Any]]):
    session = load_session(events, "events")
    again = load_session(session.transcript + "\n", "events")
    assert again.events == session.events
    assert len(session.output.tool_calls) <= len(session.tools_called) == sum(e["type"] == "tool_call" for e in events)


# fmt: off
WORDS = st.sampled_from([
    "role", "type", "content", "messages", "message", "payload", "uuid", "run_type", "inputs", "outputs",
    "observations", "input", "output", "traceId", "id", "name", "resourceSpans", "scopeSpans", "spans",
    "attributes", "key", "value", "dataPoint", "jobResults", "samples", "eval", "tool_calls", "function",
    "arguments", "call_id", "parts", "user", "assistant", "tool", "response_item", "function_call", "chain",
    "GENERATION", "gen_ai.input.messages",
])
# fmt: on
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS | st.just('[{"role": "user"}]'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)


@given(st.lists(st.dictionaries(WORDS, JSON, max_size=5), max_size=3), st.sampled_from([None, *FORMATS]))
@settings(deadline=None, max_examples=300)
def test_other_shapes_are_a_clear_error_or_a_session(records: list[Any], name: str | None):
    try:
        sessions = load_sessions(records, name)
    except DataError:
        return  # any other exception fails the test
    for session in sessions:
        assert session.events or session.error
        assert len(session.transcript.split("\n")) == max(len(session.events), 1)
        session.namespace()
        assert session.output.error == session.error
