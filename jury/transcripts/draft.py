"""A session while it is read: `Draft` collects events in order, then makes the `Session`. No format lives here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast

from jury.data import TargetError
from jury.sessions.events import Event, EventType, Session, answers


@dataclass(frozen=True, slots=True)
class ToolRun:
    """What a trace says about one run of a tool, beside the messages: whether it failed, and its text."""

    name: str | None
    text: str
    is_error: bool
    id: str | None = None
    arguments: Any = None


@dataclass
class Draft:
    """Events so far, and what is known of the session. Texts without a sign are left out, user messages apart."""

    id: str | None = None
    error: TargetError | None = None
    expected_output: Any = None
    model: str | None = None
    tools: tuple[Any, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    events: list[Event] = field(default_factory=list[Event])
    notes: list[str] = field(default_factory=list[str])
    _names: dict[str, str | None] = field(default_factory=dict[str, "str | None"])

    def say(self, kind: EventType, text: str | None) -> None:
        """A text of somebody: `system`, `user`, `assistant` or `thinking`."""
        if text or (kind == "user" and text is not None):
            self.events.append(Event(0, kind, text or ""))

    def call(self, id: Any, name: Any, arguments: Any) -> None:
        call_id = text_id(id)
        label = None if name is None else str(name)
        if call_id is not None:
            self._names[call_id] = label
        self.events.append(Event(0, "tool_call", id=call_id, name=label, arguments=read_arguments(arguments)))

    def result(self, id: Any, text: str, is_error: bool | None, name: Any = None) -> None:
        call_id = text_id(id)
        label = self._names.get(call_id or "") or (None if name is None else str(name))
        self.events.append(Event(0, "tool_result", text, call_id, label, is_error=is_error))

    def at(self, time: Any) -> None:
        """When the session began, from its first time: an ISO text, or digits since 1970 in any usual unit."""
        text = moment(time)
        if text and "time" not in self.metadata:
            self.metadata = {**self.metadata, "time": text}

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def apply(self, runs: Sequence[ToolRun]) -> None:
        """What the trace knows about tool runs: flags for the results, and results for calls that have none.

        A run belongs to the call with its id; without an id to the first of its name and arguments, or of its name.
        """
        left = list(runs)
        result_of = answers(self.events)
        place = {id(event): at for at, event in enumerate(self.events)}
        added: list[tuple[int, Event]] = []
        for at, call in enumerate(self.events):
            run = _run_of(call, left) if call.type == "tool_call" else None
            if run is None:
                continue
            left.remove(run)
            result = result_of.get(at)
            if result is None:
                added.append((at, Event(0, "tool_result", run.text, call.id, call.name, is_error=run.is_error)))
                continue
            self.events[place[id(result)]] = replace(
                result,
                is_error=run.is_error or result.is_error or False,
                text=result.text or run.text,
                name=result.name or call.name,
            )
        for at, event in reversed(added):
            while at + 1 < len(self.events) and self.events[at + 1].type in ("tool_call", "tool_result"):
                at += 1
            self.events.insert(at + 1, event)

    def finish(self, format: str, file: str | None) -> Session:
        """The session, its events numbered from 1; a result without a name takes that of its call."""
        place = {id(event): at for at, event in enumerate(self.events)}
        for at, result in answers(self.events).items():
            if result.name is None:
                self.events[place[id(result)]] = replace(result, name=self.events[at].name)
        return Session(
            events=tuple(replace(event, i=number) for number, event in enumerate(self.events, 1)),
            format=format,
            id=self.id,
            error=self.error,
            expected_output=self.expected_output,
            model=self.model,
            tools=self.tools,
            file=file,
            notes=tuple(self.notes),
            metadata=self.metadata,
        )


def _run_of(call: Event, runs: Sequence[ToolRun]) -> ToolRun | None:
    for run in runs:
        if run.id is not None and run.id == call.id:
            return run
    named = [run for run in runs if run.name == call.name and (run.id is None or call.id is None)]
    same = (run for run in named if read_arguments(run.arguments) == call.arguments)
    return next(same, named[0] if named else None)


def read_arguments(value: Any) -> Any:
    """Arguments as an object; a text that is no JSON object stays as the model sent it."""
    if value is None or value == "":
        return {}
    if isinstance(value, str):
        try:
            made: Any = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return cast("Any", made) if isinstance(made, dict) else value
    return value


def moment(value: Any) -> str | None:
    """A time as an ISO text: seconds, milliseconds, microseconds or nanoseconds since 1970, or a text that is one."""
    text = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not text.strip():
        return None
    if not re.fullmatch(r"\d{9,19}(?:\.\d+)?", text):
        return text if re.match(r"\d{4}-\d\d-\d\d", text) else None
    digits = len(text.partition(".")[0])
    seconds = float(text) / 10 ** (0 if digits < 12 else 3 if digits < 15 else 6 if digits < 18 else 9)
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def text_id(value: Any) -> str | None:
    """An id as a text; null and blank are no id."""
    return None if value is None or value == "" else str(value)


def target_error(value: Any) -> TargetError | None:
    """What a recording says went wrong with the target: a text, or an object with message, type and code."""
    if value is None or value is False or value == "" or value == {}:
        return None
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        kind = given.get("error_type") or given.get("type")
        message = given.get("message") or given.get("detail") or given.get("error")
        return TargetError(
            "" if message is None else str(message), None if kind is None else str(kind), given.get("code")
        )
    return TargetError(str(value))
