"""A recorded agent session as normal events: `Event`, `Session`. What a session judge reads, whatever tool recorded it.

Here: the event type, the split into input and output, the transcript text and the `session.*` names. Not here: the
shapes of other tools (`transcripts/`), cutting to a length (`fit.py`). Imports `data` only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from jury.data import DataPoint, Output, OutputItem, Reasoning, TargetError, Text, ToolCall

_encode = json.JSONEncoder(ensure_ascii=False).encode
EventType = Literal["system", "user", "assistant", "thinking", "tool_call", "tool_result", "gap"]


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `i` counts from 1 and never changes, so that a cut session keeps its references.

    `text` is what was said, and the result's text on a `tool_result`. `arguments` of a `tool_call` is an object, or the
    text as the model sent it where that is no JSON object. `is_error` is None where the format cannot say. A `gap`
    stands for events that were left out; its `i` is the first of them.
    """

    i: int
    type: EventType
    text: str = ""
    id: str | None = None
    name: str | None = None
    arguments: Any = None
    is_error: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """The event as JSON values, keys in the order in which a judge reads them."""
        if self.type == "tool_call":
            key = "arguments_text" if isinstance(self.arguments, str) else "arguments"
            return {"i": self.i, "type": self.type, "id": self.id, "name": self.name, key: self.arguments}
        if self.type == "tool_result":
            return {
                "i": self.i,
                "type": self.type,
                "id": self.id,
                "name": self.name,
                "is_error": self.is_error,
                "result": self.text,
            }
        if self.type == "gap":
            return {"type": self.type, "text": self.text}
        return {"i": self.i, "type": self.type, "text": self.text}

    def line(self) -> str:
        """One line of a transcript: the event as JSON, non-ASCII text readable."""
        return _encode(self.to_dict())


def answers(events: Sequence[Event]) -> dict[int, Event]:
    """The result of each call, by the place (from 0) of the call in `events`.

    A result answers the latest open call with its id: some targets start their ids anew in every turn. A result without
    an id answers the oldest open call of its name, or the oldest of all.
    """
    found: dict[int, Event] = {}
    pending: list[int] = []
    for at, event in enumerate(events):
        if event.type == "tool_call":
            pending.append(at)
        elif event.type == "tool_result":
            match = _answered(events, pending, event)
            if match is not None:
                pending.remove(match)
                found[match] = event
    return found


def _answered(events: Sequence[Event], pending: Sequence[int], result: Event) -> int | None:
    if result.id is not None:
        return next((at for at in reversed(pending) if events[at].id == result.id), None)
    if result.name is not None:
        return next((at for at in pending if events[at].name == result.name), None)
    return pending[0] if pending else None


@dataclass(frozen=True)
class Session:
    """A whole session, read. `error` says that the target failed: such a session is never judged.

    `tools` are the tool declarations where the recording has them. `notes` name what was skipped or supposed while
    reading. `file` and `format` say where it came from.
    """

    events: tuple[Event, ...]
    format: str = "events"
    id: str | None = None
    error: TargetError | None = None
    expected_output: Any = None
    model: str | None = None
    tools: tuple[Any, ...] = ()
    file: str | None = None
    notes: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @cached_property
    def transcript(self) -> str:
        """One JSON event a line: what stands for `{transcript}`."""
        return "\n".join(event.line() for event in self.events)

    @cached_property
    def split(self) -> int:
        """How many events are input: all up to the last user message; without one, the leading system messages."""
        for at in range(len(self.events) - 1, -1, -1):
            if self.events[at].type == "user":
                return at + 1
        return next((at for at, event in enumerate(self.events) if event.type != "system"), len(self.events))

    @property
    def first_request(self) -> str:
        """The text of the first user message that has one."""
        return next((e.text for e in self.events if e.type == "user" and e.text), "")

    @property
    def final_message(self) -> str:
        """The text of the last assistant message; empty where the agent said nothing."""
        return next((e.text for e in reversed(self.events) if e.type == "assistant" and e.text), "")

    @cached_property
    def tools_called(self) -> tuple[ToolCall, ...]:
        """Every call of the session with its result (None: the recording has none)."""
        return self._calls(0)

    def _calls(self, start: int) -> tuple[ToolCall, ...]:
        results = answers(self.events)
        return tuple(
            _tool_call(event, results.get(at))
            for at, event in enumerate(self.events)
            if at >= start and event.type == "tool_call"
        )

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The input part as chat messages (arguments as JSON text, as in the chat format); reasoning is left out."""
        return chat_messages(self.events[: self.split])

    @property
    def data(self) -> DataPoint:
        """The input part: what the target was asked."""
        return DataPoint(input=self.messages, expected_output=self.expected_output, id=self.id)

    @cached_property
    def output(self) -> Output:
        """The output part: everything after the last user message, in its true order.

        `text` is the last assistant message that has text; `items` hold all of them, with reasoning and calls.
        """
        results = answers(self.events)
        items: list[OutputItem] = []
        text = ""
        for at in range(self.split, len(self.events)):
            event = self.events[at]
            if event.type == "assistant":
                items.append(Text(event.text))
                text = event.text or text
            elif event.type == "thinking":
                items.append(Reasoning(event.text))
            elif event.type == "tool_call":
                items.append(_tool_call(event, results.get(at)))
        return Output(text=text, items=items, error=self.error, model=self.model)

    def namespace(self) -> dict[str, Any]:
        """What stands under `session.*` in a prompt."""
        return {
            "transcript": self.transcript,
            "events": [event.to_dict() for event in self.events],
            "tools_called": [call_dict(call) for call in self.tools_called],
            "final_message": self.final_message,
            "first_request": self.first_request,
            "event_count": len(self.events),
            "tool_errors": sum(event.is_error is True for event in self.events),
            "cut": "",
        }


def call_dict(call: ToolCall) -> dict[str, Any]:
    """A call as it stands in `tools_called`: name, arguments, result (text or None), id."""
    return {"name": call.name, "arguments": call.arguments, "result": call.result, "id": call.id}


def _tool_call(event: Event, result: Event | None) -> ToolCall:
    return ToolCall(
        name=event.name or "",
        arguments=event.arguments,
        result=result.text if result else None,
        id=event.id,
        is_error=bool(result and result.is_error),
    )


def chat_messages(events: Sequence[Event], *, numbered: bool = False) -> list[dict[str, Any]]:
    """Events in the chat shape: a text and the calls right after it are one assistant message.

    `numbered` adds each event's number as `event`, by which judges refer to it: to messages with a text, and to calls.
    """
    messages: list[dict[str, Any]] = []
    for event in events:
        number = {"event": event.i} if numbered else {}
        if event.type in ("system", "user", "assistant"):
            messages.append({"role": event.type, "content": event.text, **number})
        elif event.type == "tool_call":
            last: dict[str, Any] | None = messages[-1] if messages else None
            if last is None or last["role"] != "assistant":
                last = {"role": "assistant", "content": None}
                messages.append(last)
            last["tool_calls"] = [*last.get("tool_calls", ()), {**_chat_call(event), **number}]
        elif event.type == "tool_result":
            messages.append({"role": "tool", "tool_call_id": event.id, "content": event.text, **number})
    return messages


def _chat_call(event: Event) -> dict[str, Any]:
    arguments = event.arguments
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": event.id, "type": "function", "function": {"name": event.name, "arguments": text}}
