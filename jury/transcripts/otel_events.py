"""OpenTelemetry before conventions 1.37: messages in span events or in numbered attributes. Used by `otel.py` alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from jury.transcripts.reading import opened
from jury.transcripts.shapes import EMPTY, Object, as_list, as_object, first

_ROLE = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message\Z")
_NUMBERED = re.compile(r"gen_ai\.(prompt|completion)\.(\d+)\.(.+)\Z")


def messages_in_events(attributes: Object, events: Sequence[tuple[str, Object]]) -> list[Any]:
    """The messages of one span; [] where there are none."""
    found: list[Any] = []
    for name, body in events:
        match = _ROLE.match(name)
        if match:
            found.append({"role": match[1], **_body(body)})
        elif name == "gen_ai.choice":
            inner = as_object(opened(body.get("message")))
            found.append({"role": "assistant", **_body(body if inner is None else inner)})
        elif name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
            found.extend(_texts(body, "user" if name.endswith("prompt") else "assistant"))
    return found or _numbered(attributes)


def _body(body: Object) -> dict[str, Any]:
    """The fields of a message in an event, JSON inside texts opened; the id of a tool message names its call."""
    made = {k: opened(v) if k == "tool_calls" else v for k, v in body.items() if k != "role"}
    return {**made, "tool_call_id": first(body, "tool_call_id", "id")}


def _texts(body: Object, role: str) -> list[Any]:
    value = opened(first(body, "gen_ai.prompt", "gen_ai.completion"))
    return [{"role": role, "content": value}] if isinstance(value, str) else as_list(value)


def _numbered(attributes: Object) -> list[Any]:
    """`gen_ai.prompt.0.content` and its like, prompts first."""
    found: dict[tuple[bool, int], dict[str, Any]] = {}
    for key, value in attributes.items():
        match = _NUMBERED.match(key)
        if match:
            _set(found.setdefault((match[1] == "completion", int(match[2])), {}), match[3].split("."), value)
    messages: list[Any] = []
    for (is_answer, _), message in sorted(found.items(), key=lambda item: item[0]):
        calls = as_object(message.get("tool_calls")) or EMPTY
        message["tool_calls"] = [call for _, call in sorted(calls.items())]
        messages.append({"role": "assistant" if is_answer else "user", **message})
    return messages


def _set(message: dict[str, Any], path: list[str], value: Any) -> None:
    for step in path[:-1]:
        inner = message.setdefault(step, {})
        if not isinstance(inner, dict):
            return
        message = cast("dict[str, Any]", inner)
    message[path[-1]] = value
