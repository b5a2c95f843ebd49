"""Events as chat messages: what is merged, and the numbers by which judges refer to them."""

from __future__ import annotations

from jury.sessions.events import Event, chat_messages

EVENTS = (
    Event(1, "user", "Drop the fee."),
    Event(2, "thinking", "May I?"),
    Event(3, "assistant", "I am looking."),
    Event(4, "tool_call", id="c1", name="waive", arguments={"amount": 4}),
    Event(5, "tool_result", "done", id="c1"),
    Event(6, "tool_call", id="c2", name="tell", arguments="{broken"),
    Event(7, "assistant", "It is gone."),
)


def test_numbers_are_those_of_the_events_thinking_counted():
    messages = chat_messages(EVENTS, numbered=True)
    assert [m.get("event") for m in messages] == [1, 3, 5, None, 7]
    assert [call["event"] for m in messages for call in m.get("tool_calls", ())] == [4, 6]
    assert messages[1]["tool_calls"][0]["function"]["name"] == "waive"


def test_without_numbers_it_is_the_plain_chat_shape():
    messages = chat_messages(EVENTS)
    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "assistant", "assistant"]
    assert not [m for m in messages if "event" in m]
    assert messages[3]["tool_calls"][0] == {
        "id": "c2",
        "type": "function",
        "function": {"name": "tell", "arguments": "{broken"},
    }
