"""Telling chat messages, Responses items and content blocks apart, and reading them as turns. Used by `messages.py`.

Every object is sorted by its own fields. A result of a tool finds its call by id, wherever the two stand. No `Output`
and no `DataPoint` here: what is an answer and what is an input is not this module's business.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, cast

from jury.data import Message, Reasoning, Text, ToolCall
from jury.errors import DataError
from jury.values import show

log = logging.getLogger("jury.messages")

Object = dict[str, Any]
Typed = Message | Text | Reasoning | ToolCall
ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
SYSTEM = frozenset({"system", "developer"})
TOOL = frozenset({"tool", "function"})
MEDIA = {"image": "[image]", "audio": "[audio]", "video": "[video]", "file": "[file]", "document": "[file]"} | {
    "computer_screenshot": "[image]",
    "container_upload": "[file]",
}
_TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"})
_THOUGHTS = {"thinking": "thinking", "redacted_thinking": "data", "reasoning": "summary"} | {
    "compaction": "encrypted_content",
    # What an API notes beside an answer, which is nothing that the target said or did: never shown.
    "mcp_list_tools": "tools",
    "mcp_tool_listing": "tools",
    "mcp_approval_response": "approve",
}
_OWN_CALLS = frozenset({"function_call", "custom_tool_call", "tool_call", "mcp_call", "mcp_approval_request"})
_RESULTS = ("result", "results", "output", "outputs")  # where a call of a hosted tool holds its own result


@dataclass(slots=True)
class Turn:
    """One message while it is read. `content` is a text, a list of parts, or any other JSON value."""

    role: str
    content: Any
    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    name: str | None = None
    call_id: str | None = None  # of the call that a tool's message answers
    is_error: bool = False
    thought: str = ""  # given beside the content, not inside it
    orphan: bool = False  # a result whose call is not there

    @property
    def is_list(self) -> bool:
        return isinstance(self.content, list | tuple)


def sort_of(entry: Any) -> str | None:
    """`message`, `text`, `thought`, `call`, `result` or `media`; None for a value that is none of them."""
    if isinstance(entry, Typed):
        names = {Message: "message", Text: "text", Reasoning: "thought", ToolCall: "call"}
        return names[type(entry)]
    if not isinstance(entry, dict):
        return None
    item = cast("Object", entry)
    kind = item.get("type")
    role = item.get("role")
    if (
        isinstance(role, str)
        and role in ROLES
        and not item.keys().isdisjoint(("content", "tool_calls", "function_call"))
    ):
        return "message"
    return _sort_by_type(kind, item) if isinstance(kind, str) else None


def _sort_by_type(kind: str, item: Object) -> str | None:
    if kind == "message":
        return "message" if "content" in item else None
    if kind in _TEXTS:
        return "text" if "text" in item or "refusal" in item else None
    if kind in _THOUGHTS:
        return "thought" if not item.keys().isdisjoint((_THOUGHTS[kind], "text", "content")) else None
    if kind.endswith("tool_result"):
        return "result" if "tool_use_id" in item else None
    if kind.endswith("_output"):
        return "result" if "call_id" in item else None
    if kind.endswith("tool_use") or kind in _OWN_CALLS:
        return "call" if isinstance(item.get("name"), str) else None
    if kind.endswith("_call") or kind == "program":  # a hosted tool: the type is its name
        told = "status" in item or "call_id" in item
        return "call" if told and isinstance(item.get("id"), str) else None
    return "media" if _media(item) else None


def _media(part: Object) -> str | None:
    kind = str(part.get("type")).removeprefix("input_").removeprefix("output_").removesuffix("_url")
    return MEDIA.get(kind)


def text_of(content: Any) -> str:
    """The text of a message's content: text parts joined by a line break, media as `[image]`, `[audio]`, `[file]`.

    Thoughts, calls and results inside the content are left out, they are told apart elsewhere. Other parts are JSON.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        texts = [part_text(p) for p in cast("list[Any]", content)]
        return "\n".join([t for t in texts if t is not None])
    return part_text(content) or ""


def part_text(part: Any) -> str | None:
    """The text of one part of a content; None for a thought, a call or a result."""
    match sort_of(part):
        case "text":
            return part.text if isinstance(part, Text) else _text(part)
        case "media":
            _warn_media()
            return _media(part)
        case "thought" | "call" | "result":
            return None
        case _:
            bare = isinstance(part, dict) and set(cast("Object", part)) == {"text"}
            return _text(cast("Object", part)) if bare else show(part)


def _text(part: Object) -> str:
    text = part.get("text", part.get("refusal"))
    if isinstance(text, dict):  # {"value": ..., "annotations": [...]}
        text = cast("Object", text).get("value", cast("Object", text))
    return show(text)


@cache  # once per process
def _warn_media() -> None:
    log.warning("judges read text only: images, audio and files are shown to them as [image], [audio], [file]")


def thought_of(part: Any) -> str:
    """The text of a thought; blank where the provider kept it to itself."""
    if isinstance(part, Reasoning):
        return part.text
    for key in ("thinking", "text", "content", "summary"):
        if part.get(key):
            return text_of(part[key])
    return ""


def read_turns(entries: list[Any], where: str) -> list[Turn]:
    """Messages as turns; items and blocks that stand in a row without a role are one turn of the assistant."""
    turns: list[Turn] = []
    run: list[Any] = []
    for i, entry in enumerate(entries):
        if sort_of(entry) in ("message", None):
            _close(run, turns, where)
            turns.extend(_message(entry, f"{where}[{i}]"))
        else:
            run.append(entry)
    _close(run, turns, where)
    _attach(turns)
    return turns


def _close(run: list[Any], turns: list[Turn], where: str) -> None:
    if run:
        turns.extend(_split(Turn("assistant", list(run)), where))
        run.clear()


def _message(entry: Any, where: str) -> list[Turn]:
    if isinstance(entry, Message):
        return _own_message(entry, where)
    if not isinstance(entry, dict):
        raise DataError(f"{where} is {kind_of(entry)}; expected an object with role and content", "not_object")
    item = cast("Object", entry)
    role = item.get("role", "assistant" if item.get("type") == "message" else "user")
    if not isinstance(role, str):
        raise DataError(f"{where}.role is {kind_of(role)}; expected a text", "wrong_type")
    if role == "developer" and item.get("type") == "message":
        role = "system"
    content = item.get("content")
    audio = item.get("audio")
    if not content and isinstance(audio, dict):  # spoken: what was said, where the API wrote it down
        said = cast("Object", audio).get("transcript")
        content = said if isinstance(said, str) and said else [{"type": "audio"}]
    thought = item.get("reasoning_content") or item.get("reasoning")
    return _split(
        Turn(
            role,
            (item.get("refusal") or "") if content is None else content,
            _calls(item, where),
            name=_text_or_none(item.get("name")),
            call_id=_text_or_none(item.get("tool_call_id")),
            is_error=item.get("is_error") is True,
            thought=thought if isinstance(thought, str) else "",
        ),
        where,
    )


def _calls(item: Object, where: str) -> list[ToolCall]:
    """The calls beside a chat message's content."""
    calls: Any = item.get("tool_calls") or []
    if not isinstance(calls, list):
        raise DataError(f"{where}.tool_calls is {kind_of(calls)}; expected a list", "wrong_type")
    read = [call_of(c, f"{where}.tool_calls[{i}]") for i, c in enumerate(cast("list[Any]", calls))]
    if item.get("function_call"):
        read.append(call_of(item["function_call"], f"{where}.function_call"))
    return read


def _own_message(message: Message, where: str) -> list[Turn]:
    if not isinstance(message.role, str):
        raise DataError(f"{where}.role is {kind_of(message.role)}; expected a text", "wrong_type")
    calls = [c if isinstance(c, ToolCall) else call_of(c, f"{where}.tool_calls") for c in message.tool_calls]
    if message.kind == "reasoning":
        return [Turn(message.role, [Reasoning(text_of(message.content))], calls)]
    return _split(Turn(message.role, message.content, calls, message.name, message.tool_call_id), where)


def _split(turn: Turn, where: str) -> list[Turn]:
    """Calls found in the content join the turn's; results found there become turns of the tool."""
    if not turn.is_list:
        return [turn]
    parts: list[Any] = []
    results: list[Turn] = []
    found: list[ToolCall] = []
    for i, part in enumerate(turn.content):
        sort = sort_of(part)
        if sort == "result":
            results.append(_result(part))
            continue
        if sort == "call":
            found.append(part if isinstance(part, ToolCall) else call_of(part, f"{where}[{i}]"))
        parts.append(part)
    turn.content = parts
    known = [(c.name, c.id) for c in turn.calls[: len(found)]]
    if known != [(c.name, c.id) for c in found]:  # else the calls were read from this content before
        turn.calls = found + turn.calls
    if turn.role != "user":
        return [turn, *results]
    return [*results, turn] if parts or not results else results  # a user's message of results is nobody speaking


def _result(part: Object) -> Turn:
    call_id = _text_or_none(part.get("tool_use_id", part.get("call_id")))
    content = next((part[k] for k in ("content", "output", "result", "tools") if k in part), "")
    return Turn("tool", content, call_id=call_id, is_error=part.get("is_error") is True)


def call_of(entry: Any, where: str) -> ToolCall:
    if not isinstance(entry, dict):
        raise DataError(f"{where} is {kind_of(entry)}; expected an object with the name of a tool", "not_object")
    item = cast("Object", entry)
    inner = item.get("function", item.get("custom"))
    source = cast("Object", inner) if isinstance(inner, dict) else item
    name = inner if isinstance(inner, str) else source.get("name")
    kind = str(item.get("type", ""))
    if name is None and (kind.endswith("_call") or kind == "program") and kind not in _OWN_CALLS:
        name = kind.removesuffix("_call")
        beside = ("type", "id", "status", "error", *_RESULTS)
        arguments: Any = {k: v for k, v in item.items() if k not in beside and v is not None}
    else:
        given = [source[k] for k in ("arguments", "input", "args") if source.get(k) is not None]
        arguments = given[0] if given else {}
    if not isinstance(name, str):
        raise DataError(f"{where} is a tool call without a name", "missing_field")
    call_id = _text_or_none(item.get("call_id") or item.get("id"))
    result, failed = _own_result(item, kind)
    return ToolCall(name, arguments, result, call_id, failed)


def _own_result(item: Object, kind: str) -> tuple[Any, bool]:
    """What a call itself says of its result, as hosted tools do, and whether it failed."""
    error = item.get("error") or None
    result = next((item[k] for k in _RESULTS if item.get(k) is not None), error)
    if kind == "image_generation_call" and isinstance(result, str) and not error:  # the image, as a text
        _warn_media()
        result = MEDIA["image"]
    return result, error is not None or item.get("is_error") is True


def _attach(turns: list[Turn]) -> None:
    """Gives every call the result that names it; a result without an id goes to the first call still open."""
    waiting: list[tuple[Turn, int]] = []
    answered: set[str] = set()
    for turn in turns:
        if turn.role not in TOOL:
            waiting += [(turn, i) for i, call in enumerate(turn.calls) if call.result is None]
            answered.update(c.id for c in turn.calls if c.result is not None and c.id)
            continue
        at = _fitting(waiting, turn)
        if at is None:
            turn.orphan = turn.call_id is None or turn.call_id not in answered
            continue
        owner, number = waiting.pop(at)
        owner.calls[number] = replace(owner.calls[number], result=result_of(turn), is_error=turn.is_error)
        answered.add(turn.call_id or "")


def _fitting(waiting: list[tuple[Turn, int]], turn: Turn) -> int | None:
    names = [owner.calls[number] for owner, number in waiting]
    if turn.call_id is not None:  # the latest call of that id: some models count from one in every turn
        return next((i for i in reversed(range(len(names))) if names[i].id == turn.call_id), None)
    return next((i for i, call in enumerate(names) if turn.name in (None, call.name)), None)


def result_of(turn: Turn) -> Any:
    """What a tool's turn says: an object as it is, everything else as text."""
    content: Any = turn.content
    return cast("Object", content) if isinstance(content, dict) and not sort_of(content) else text_of(content)


def kind_of(value: Any) -> str:
    """What a value is, for an error message."""
    if isinstance(value, dict):
        return "an object without role and content"
    names: dict[type, str] = {str: "a text", list: "a list", type(None): "null"}
    return names.get(type(cast("object", value)), f"a value of type {type(cast('object', value)).__name__}")


def _text_or_none(value: Any) -> str | None:
    return None if value is None else str(value)
