"""Recordings as they come: several agents in one trace, answers beside the messages, cut attributes, empty sessions."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from jury.errors import DataError
from jury.transcripts import load_session, load_sessions
from tests.test_transcripts import lines, told

CALL = {"id": "c", "type": "function", "function": {"name": "ask_expert", "arguments": "{}"}}
MAIN = [{"role": "user", "content": "q"}, {"role": "assistant", "content": None, "tool_calls": [CALL]}]
DONE = [*MAIN, {"role": "tool", "tool_call_id": "c", "content": "5"}]
SUB = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"sub {n}"} for n in range(7)]


def generation(at: int, given: Any, made: Any) -> dict[str, Any]:
    return {"id": f"g{at}", "type": "GENERATION", "traceId": "X", "startTime": str(at), "input": given, "output": made}


def span(at: int, given: str, made: str) -> dict[str, Any]:
    values = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": given, "gen_ai.output.messages": made}
    attributes = [{"key": k, "value": {"stringValue": v}} for k, v in values.items()]
    return {"traceId": "t", "spanId": str(at), "name": "chat", "startTimeUnixNano": str(at), "attributes": attributes}


def parts(*messages: tuple[str, str]) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in messages])


def otel(*spans: dict[str, Any]) -> str:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]})


class TestSeveralAgents:
    def test_the_agent_and_not_the_longer_talk_of_its_expert(self):
        trace = {
            "id": "X",
            "observations": [
                generation(1, MAIN[:1], MAIN[1]),
                generation(2, SUB, "sub 7"),
                generation(3, DONE, "It is 5."),
            ],
        }
        session = load_session(trace)
        assert told(session)[-1] == ("assistant", "It is 5.")
        assert [e.text for e in session.events if e.type == "user"] == ["q"]
        assert session.notes == ("model calls of other conversations (a sub-agent, a title) were left out: 1",)

    def test_what_the_trace_was_asked_tells_which_is_the_agent(self):
        check = [generation(n, [{"role": "user", "content": "Is this safe?"}], "yes") for n in (0, 9)]
        main = [generation(1, MAIN[:1], MAIN[1]), generation(3, DONE, "It is 5.")]
        asked = load_session({"id": "X", "input": "q", "observations": [*check, *main]})
        assert told(asked)[0] == ("user", "q")

    def test_spans_of_an_expert(self):
        talk = [("user" if n % 2 == 0 else "assistant", f"sub {n}") for n in range(5)]
        session = load_session(
            otel(
                span(1, parts(("user", "q")), parts(("assistant", "let me ask"))),
                span(2, parts(*talk), parts(("assistant", "sub"))),
                span(3, parts(("user", "q"), ("assistant", "let me ask"), ("user", "and?")), parts(("assistant", "5"))),
            )
        )
        assert [text for _, text in told(session)] == ["q", "let me ask", "and?", "5"]

    def test_lines_of_sub_agents_are_counted(self):
        def line(kind: str, text: str, **more: Any) -> dict[str, Any]:
            return {"type": kind, "uuid": text, "message": {"role": kind, "content": text}, **more}

        session = load_session(
            lines(line("user", "q"), line("user", "s", isSidechain=True), line("assistant", "a"), {"type": "summary"})
        )
        assert (told(session), session.notes) == (
            [("user", "q"), ("assistant", "a")],
            ("lines of sub-agents were left out: 1",),
        )


class TestTornAndCut:
    def test_a_span_with_half_of_its_messages_is_left_out(self):
        whole = span(1, parts(("user", "q")), parts(("assistant", "a")))
        torn = span(2, parts(("user", "q"), ("assistant", "a"), ("user", "more"))[:-20], parts(("assistant", "b")))
        session = load_session(otel(whole, torn))
        assert told(session) == [("user", "q"), ("assistant", "a")]
        assert "torn messages" in session.notes[0]
        with pytest.raises(DataError, match="cut off the messages of 1"):
            load_session(otel(torn))

    def test_a_line_of_another_format_is_named(self):
        with pytest.raises(DataError, match=r"line 2: expected a line of a session log, read .* messages"):
            load_sessions(
                lines({"type": "user", "message": {"role": "user", "content": "x"}}, {"messages": [{"role": "user"}]})
            )

    @pytest.mark.parametrize(
        ("second", "says"),
        [
            ({"role": "critic", "content": "y"}, "the role critic"),
            ({"content": "y"}, "an object with the keys content"),
            ([1], r"\[1\]"),
        ],
    )
    def test_a_message_without_a_known_role(self, second: Any, says: str):
        with pytest.raises(DataError, match=f"line 2: expected a message with a role, read {says}"):
            load_session(lines({"role": "user", "content": "x"}, second))

    def test_an_event_of_no_known_type(self):
        with pytest.raises(DataError, match="line 2: expected an event, read the type asistant"):
            load_session(lines({"type": "user", "text": "x"}, {"type": "asistant", "text": "y"}))

    def test_a_cut_session_can_be_read_back(self):
        session = load_session(
            lines(
                {"i": 1, "type": "user", "text": "x"},
                {"type": "gap", "text": "3 events left out"},
                {"i": 5, "type": "assistant", "text": "y"},
            )
        )
        assert told(session)[1] == ("gap", "3 events left out")
        assert session.notes == ("the recording itself has gaps",)


class TestEmpty:
    def test_sessions_without_a_message_are_named(self, caplog: pytest.LogCaptureFixture):
        text = lines({"id": "a", "messages": [{"role": "user", "content": "x"}]}, {"id": "b", "messages": []})
        with caplog.at_level(logging.WARNING, "jury"):
            assert [s.id for s in load_sessions(text)] == ["a"]
        assert "of 2 sessions these hold no message: 2 (b)" in caplog.text

    def test_a_response_that_failed_without_a_word(self):
        made = {"object": "response", "id": "r", "status": "failed", "error": None, "input": "hi", "output": []}
        assert str(load_session(made).error) == "the response failed"

    def test_a_response_that_was_cut(self):
        said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "half"}]}
        made = {
            "object": "response",
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
            "output": [said],
        }
        session = load_session(made)
        assert (session.error, session.notes) == (None, ("the response is incomplete: max_output_tokens",))

    def test_a_sample_that_ran_into_a_limit(self):
        sample = {"id": 1, "epoch": 1, "target": "x", "messages": MAIN[:1], "limit": {"type": "token", "limit": 5}}
        assert load_session({"samples": [sample]}).notes == ("the sample ended at a limit (token)",)


class TestOtherPlaces:
    def test_a_trace_of_plain_functions(self):
        def run(id: str, kind: str, parent: str | None, **more: Any) -> dict[str, Any]:
            return {"id": id, "trace_id": "T", "run_type": kind, "parent_run_id": parent, "name": id, **more}

        session = load_session(
            lines(
                run("root", "chain", None, inputs={"question": "2+2?"}, outputs={"answer": "4"}),
                run("add", "tool", "root", inputs={"a": 2, "b": 2}, outputs=None, error="no numbers"),
            )
        )
        assert told(session) == [
            ("user", "2+2?"),
            ("call", None, "add", {"a": 2, "b": 2}),
            ("result", None, "add", True, "no numbers"),
            ("assistant", "4"),
        ]

    @pytest.mark.parametrize(
        "beside",
        [
            {"response": {"role": "assistant", "content": "a"}},
            {"completion": "a"},
            {"response": {"choices": [{"message": {"role": "assistant", "content": "a"}}]}},
        ],
    )
    def test_an_answer_beside_the_messages(self, beside: dict[str, Any]):
        record = {"messages": [{"role": "user", "content": "q"}], **beside}
        assert told(load_session(record)) == [("user", "q"), ("assistant", "a")]
        answered = {"messages": [*record["messages"], {"role": "assistant", "content": "own"}], **beside}
        assert told(load_session(answered))[-1] == ("assistant", "own")
        assert len(load_session(answered).events) == 2

    def test_an_answer_in_sound(self):
        spoken = {"role": "assistant", "content": None, "audio": {"id": "a", "data": "UklG", "transcript": "hello"}}
        assert told(load_session([{"role": "user", "content": "q"}, spoken]))[-1] == ("assistant", "hello")

    def test_media_by_what_they_are_of(self):
        message = {
            "role": "user",
            "parts": [
                {"type": "blob", "mime_type": "image/png", "content": "AAAA"},
                {"type": "uri", "modality": "audio", "uri": "https://x.example/a"},
                {"type": "text", "content": "what?"},
            ],
        }
        asked = span(1, json.dumps([message]), parts(("assistant", "a")))
        assert told(load_session(otel(asked)))[0] == ("user", "[image]\n[audio]\nwhat?")

    def test_a_tool_of_the_vendor_that_failed(self):
        blocks = [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "s",
                "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
            },
        ]
        session = load_session({"system": "", "messages": [*MAIN[:1], {"role": "assistant", "content": blocks}]})
        assert [e.is_error for e in session.events if e.type == "tool_result"] == [True]


class TestWhen:
    """The time at which a session began, for counts by week."""

    @pytest.mark.parametrize(
        ("source", "began"),
        [
            (
                {"type": "user", "timestamp": "2026-03-02T08:00:00.000Z", "message": {"role": "user", "content": "x"}},
                "2026-03-02T08:00:00.000Z",
            ),
            (
                {
                    "id": "X",
                    "observations": [{**generation(0, [{"role": "user", "content": "q"}], "a")}],
                    "timestamp": 1,
                },
                None,
            ),
            ({"object": "response", "created_at": 1772438400, "input": "q", "output": []}, "2026-03-02T08:00:00.000Z"),
            (
                {
                    "eval": {"created": "2026-03-02T08:00:00+00:00"},
                    "samples": [{"id": 1, "messages": [{"role": "user", "content": "x"}]}],
                },
                "2026-03-02T08:00:00+00:00",
            ),
            ({"messages": [{"role": "user", "content": "x"}], "metadata": {"time": "2026-01-01"}}, "2026-01-01"),
        ],
    )
    def test_it_is_in_the_metadata(self, source: dict[str, Any], began: str | None):
        assert load_session([source] if "type" in source else source).metadata.get("time") == began

    def test_the_first_line_or_span_counts(self):
        def line(text: str, at: str) -> dict[str, Any]:
            item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
            return {"timestamp": at, "type": "response_item", "payload": item}

        codex = load_session(lines(line("a", "2026-03-02T08:00:00Z"), line("b", "2026-03-09T08:00:00Z")))
        assert codex.metadata == {"time": "2026-03-02T08:00:00Z"}
        spans = [span(1772438400000000000 + n, parts(("user", "q")), parts(("assistant", "a"))) for n in (5, 0)]
        assert load_session(otel(*spans)).metadata == {"time": "2026-03-02T08:00:00.000Z"}


@pytest.mark.parametrize(
    "source", [5, None, True, 2.5, object(), bytearray(b"[]"), "a\0b"], ids=lambda s: type(s).__name__
)
def test_what_can_be_no_session_is_told_by_its_type(source: Any) -> None:
    for read in (load_session, load_sessions):
        with pytest.raises(DataError, match="cannot be"):
            read(source)


@pytest.mark.parametrize(
    ("given", "made", "said"),
    [
        ('[{"role": "user", "content": "Hi"}]', '"Hello"', "Hello"),
        ("Hi", '"Hello"', '"Hello"'),  # the input is a plain text, so the quotes are the agent's own
        ('[{"role": "user", "content": "Hi"}]', '"Hello" she said', '"Hello" she said'),
    ],
)
def test_the_last_text_of_a_trace_is_encoded_as_its_input_is(given: str, made: str, said: str) -> None:
    session = load_session(json.dumps({"id": "t", "input": given, "output": made}))
    assert [(event.type, event.text) for event in session.events] == [("user", "Hi"), ("assistant", said)]
