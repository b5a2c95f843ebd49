"""What an agent gives back, as a session; and a session as an output that a run folder can keep, and back.

An agent returns a recording in any format that `jury.transcripts` knows: messages, events, a record, a trace, a
`Session`, the path of a file, or JSON as a text. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from os import PathLike
from typing import Any, cast

from jury.data import DataPoint, Output
from jury.errors import ConfigError, DataError
from jury.messages import text_of, to_messages, to_output
from jury.sessions.events import Event, EventType, Session
from jury.targets.spec import TargetSpec
from jury.targets.target import Reading
from jury.transcripts import load_session
from jury.values import plain

_SPEAKERS: Mapping[str, EventType] = {"system": "system", "developer": "system", "assistant": "assistant"}
_KEPT = ("events", "format", "id", "expected_output", "model", "tools", "file", "notes", "metadata")


def session_reading(spec: TargetSpec, format: str | None) -> Reading:
    """How the session is read from what this target gives. Raises `ConfigError` for a model, whose answer is none."""
    if spec.model is not None:
        raise ConfigError(
            f"target: the answer of {spec.label} is no session of an agent: give a function or an address that returns "
            "a transcript (kind: pointwise judges single answers)"
        )
    return Reading(lambda value: _output(value, format), "session", f" session {format or ''}", "session")


def _output(value: Any, format: str | None) -> Output:
    if isinstance(value, Output) and value.target_error is not None:
        return value
    try:
        session = _session(value, format)
    except DataError:
        failed = to_output(value) if isinstance(value, Mapping) else Output()  # {"error": ...} in place of a session
        if failed.target_error is None:
            raise
        return failed
    kept = {name: plain(getattr(session, name), f"session.{name}") for name in _KEPT}
    kept["events"] = [{k: v for k, v in event.items() if v is not None} for event in kept["events"]]
    told = {name: part for name, part in kept.items() if part not in (None, [], {})}
    return Output(session.final_message, error=session.error, model=session.model, value={"session": told})


def _session(value: Any, format: str | None) -> Session:
    if isinstance(value, Session):
        return value
    if isinstance(value, Output):
        raise DataError("an answer alone: return the messages of the session", "wrong_type")
    if isinstance(value, str):
        if not value.lstrip().startswith(("{", "[")):  # it would be taken for the name of a file
            how = "return messages, a record, or the path of a file as a Path"
            raise DataError(f"a text that is no JSON: {how}", "wrong_type")
        return load_session(value, format)
    if isinstance(value, bytes | PathLike):
        return load_session(cast("Any", value), format)
    told = plain(value, "session")
    return _session(told, format) if isinstance(told, str) else load_session(told, format)


def session_of(output: Output, point: DataPoint) -> Session:
    """The session that was kept, of this task; what was asked stands before it where it holds no word of a user."""
    if output.target_error is not None:
        return Session((), id=point.id, error=output.target_error)
    told = cast("Mapping[str, Any]", cast("Mapping[str, Any]", output.value)["session"])
    known = {f.name for f in fields(Session)}
    given: dict[str, Any] = {name: part for name, part in told.items() if name in known}
    given |= {name: tuple(given.get(name, ())) for name in ("tools", "notes")}
    events = [Event(**event) for event in given.pop("events", ())]
    if not any(event.type == "user" for event in events):
        events = [*_asked(point), *events]
        events = [replace(event, i=number) for number, event in enumerate(events, 1)]
    made = Session(tuple(events), **given)
    expected = point.expected_output if made.expected_output is None else made.expected_output
    return replace(made, id=point.id, expected_output=expected, metadata={**point.row, **made.metadata})


def _asked(point: DataPoint) -> list[Event]:
    """The task as events."""
    told = [Event(0, "system", point.system_instructions)] if point.system_instructions else []
    turns = to_messages(point)
    return told + [Event(0, _SPEAKERS.get(turn.role, "user"), text_of(turn.content)) for turn in turns]
