"""One message of any known shape -> events. Shared by the formats; each of them only knows its own wrapping.

Reads chat messages, content blocks, LangChain messages, Inspect messages and OpenTelemetry parts: they differ in the
names of the keys, not in what they say. Within a stretch of one assistant message the order is thinking, text, calls;
its texts are joined without a separator, those of other roles by a newline. A result inside a message ends the stretch
before it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from jury.sessions.events import EventType
from jury.transcripts.draft import Draft, target_error, text_id
from jury.transcripts.shapes import EMPTY, Object, as_list, as_object, first, objects, words

Role = Literal["system", "user", "assistant", "tool"]

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
}
_TEXT = ("text", "input_text", "output_text", "refusal", "summary_text", "reasoning_text")
_THINKING = ("thinking", "reasoning", "redacted_thinking", "reasoning_content")
_CALL = ("tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "function_call", "server_tool_call")
_RESULT = ("tool_result", "tool_call_response", "server_tool_call_response", "function_call_output")
_MEDIA_DATA = (
    "source",
    "image_url",
    "input_audio",
    "file",
    "file_id",
    "file_data",
    "image",
    "audio",
    "video",
    "data",
    "url",
)
MEDIA = {"image": "[image]", "audio": "[audio]", "video": "[video]", "document": "[file]", "file": "[file]"}


def role_of(message: Object) -> Role | None:
    """Who speaks, or None for an object that is no message."""
    role = message.get("role")
    if role is None and isinstance(message.get("type"), str):
        role = cast("str", message["type"]).removesuffix("MessageChunk").removesuffix("Message").lower()
    return _ROLES.get(role) if isinstance(role, str) else None


@dataclass
class _Stretch:
    thinking: list[str] = field(default_factory=list[str])
    texts: list[str] = field(default_factory=list[str])
    calls: list[tuple[Any, Any, Any]] = field(default_factory=list[tuple[Any, Any, Any]])

    def flush(self, draft: Draft, role: Role) -> None:
        for text in self.thinking:
            draft.say("thinking", text)
        if self.texts and role == "tool":
            draft.note("text beside the results of a tool message was left out")
        elif self.texts:
            draft.say(cast("EventType", role), ("" if role == "assistant" else "\n").join(self.texts))
        for call in self.calls:
            draft.call(*call)
        self.thinking, self.texts, self.calls = [], [], []


def add_message(draft: Draft, message: Object, *, flag: bool | None) -> None:
    """The events of one message. `flag` is `is_error` of a result that says nothing about it.

    Raises `ValueError` for an object without a known role.
    """
    role = role_of(message)
    if role is None:
        raise ValueError(f"no known role: {message.get('role', message.get('type'))!r}")
    content = message.get("content", message.get("parts"))
    if role == "tool" and not _has_results(content):
        _tool_message(draft, message, content, flag)
        return
    stretch = _Stretch(thinking=_reasoning(message))
    made: list[tuple[Any, Any, Any]] = []
    for part in _parts(content):
        _part(draft, stretch, part, role, flag, made)
    spoken = as_object(message.get("audio")) or EMPTY  # an answer in sound has its words beside it
    for instead in (message.get("refusal"), spoken.get("transcript")):
        if isinstance(instead, str) and not stretch.texts:
            stretch.texts.append(instead)
    stretch.calls.extend(call for call in _calls(message) if not _repeated(call, made))
    stretch.flush(draft, role)


def _part(
    draft: Draft, stretch: _Stretch, part: Any, role: Role, flag: bool | None, made: list[tuple[Any, Any, Any]]
) -> None:
    if isinstance(part, str):
        stretch.texts.append(part)
        return
    kind = str(part.get("type") or "text")
    if kind in _THINKING:
        stretch.thinking.extend(t for t in [thinking_text(part)] if t)
    elif kind in _CALL:
        call = (first(part, "call_id", "id"), part.get("name"), first(part, "input", "arguments", "args"))
        made.append(call)
        stretch.calls.append(call)
    elif kind in _RESULT or kind.endswith("_tool_result"):
        stretch.flush(draft, role)
        draft.result(
            first(part, "tool_use_id", "call_id", "id"),
            as_text(first(part, "content", "response", "result", "output")),
            _flag(part, flag),
            part.get("name"),
        )
    else:
        stretch.texts.append(part_text(part))


def _tool_message(draft: Draft, message: Object, content: Any, flag: bool | None) -> None:
    error = target_error(message.get("error"))
    text = as_text(content) or (error.message if error else "")
    name = message.get("name") or message.get("function")
    draft.result(message.get("tool_call_id"), text, True if error else _flag(message, flag), name)


def _flag(value: Object, flag: bool | None) -> bool | None:
    given = value.get("is_error", value.get("isError"))
    if isinstance(given, bool):
        return given
    inner = as_object(value.get("content"))
    if inner is not None and str(inner.get("type")).endswith("_tool_result_error"):  # of a tool of the vendor's
        return True
    status = value.get("status")
    return status == "error" if status in ("error", "success") else flag


def _reasoning(message: Object) -> list[str]:
    for place in (message, as_object(message.get("additional_kwargs")) or EMPTY):
        found = words(place.get("reasoning_content")) or words(place.get("reasoning"))
        if found:
            return [found]
    return []


def _calls(message: Object) -> list[tuple[Any, Any, Any]]:
    """The calls beside the content: chat's, LangChain's and Inspect's keys, and the one call of early chat models."""
    given = [*objects(message.get("tool_calls")), *objects(message.get("invalid_tool_calls"))]
    if as_object(message.get("function_call")):
        given.append({"function": message["function_call"]})
    return [_call(call) for call in given]


def _call(call: Object) -> tuple[Any, Any, Any]:
    inner = first(call, "function", "custom")
    body = as_object(inner) or call
    name = inner if isinstance(inner, str) else body.get("name")
    return call.get("id"), name, first(body, "arguments", "args", "input")


def _repeated(call: tuple[Any, Any, Any], made: list[tuple[Any, Any, Any]]) -> bool:
    """Was this call a block of the same message already?"""
    if text_id(call[0]) is not None:
        return any(other[0] == call[0] for other in made)
    return call in made


def _has_results(content: Any) -> bool:
    return any(part.get("type") in _RESULT for part in objects(content))


def _parts(content: Any) -> list[str | Object]:
    """The parts of a content; a text is one part, and so is any value that is no list."""
    found: list[str | Object] = []
    for part in as_list(content) if isinstance(content, list) else [content]:
        body = as_object(part)
        if body is not None:
            found.append(body if "type" in body or "text" in body else as_text(part))
        elif part is not None:
            found.append(as_text(part))
    return found


def thinking_text(part: Object) -> str:
    """The readable text of a reasoning block or item: its own text, else its summary; hidden reasoning has neither."""
    for key in ("thinking", "reasoning", "text", "content", "summary"):
        found = words(part.get(key)) or "\n".join(filter(None, map(part_text, objects(part.get(key)))))
        if found:
            return found
    return ""


def part_text(part: Object) -> str:
    """A content part as text; media become `[image]`, `[audio]`, `[video]` or `[file]`."""
    kind = str(part.get("type") or "text")
    if kind in _TEXT:
        value = first(part, "text", "refusal", "content")
        inner = as_object(value)
        return as_text(value if inner is None else inner.get("value"))
    of = f"{kind} {part.get('modality') or part.get('mime_type') or ''}"  # a blob or an address says of what
    return next((mark for word, mark in MEDIA.items() if word in of), words(part.get("text")) or f"[{kind}]")


def as_text(value: Any) -> str:
    """Null as nothing, a text as it is, content parts by lines, any other value as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    parts = objects(value)
    if parts and len(parts) == len(value) and all(map(_is_part, parts)):
        return "\n".join(map(part_text, parts))
    return json.dumps(value, ensure_ascii=False)


def _is_part(value: Object) -> bool:
    """A content part, and not data that happens to have a `type`, such as the entries of a folder."""
    kind = str(value.get("type"))
    if kind in _TEXT:
        return isinstance(first(value, "text", "refusal", "content"), str)
    return any(word in kind for word in MEDIA) and any(key in value for key in _MEDIA_DATA)
