"""Codex: the JSON Lines rollout of a session, `{timestamp, type, payload}` a line.

Traps: `response_item` lines are the conversation, `event_msg` lines repeat its texts; the program injects texts as the
user, such as `<environment_context>`; that a command failed only shows as `Exit code: N` at the head of its output, in
older files as `metadata.exit_code` of a JSON text. The system prompt of the program is no part of the session.
"""

from __future__ import annotations

import re
from typing import Any

from jury.transcripts.draft import Draft, target_error, text_id
from jury.transcripts.reading import Document, opened, shown
from jury.transcripts.responses import add_item, is_item, output_text
from jury.transcripts.shapes import EMPTY, Object, as_list, as_object, words
from jury.transcripts.turns import as_text, role_of

_WRAPPED = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_INJECTED = re.compile(r"\s*(?:<([a-z][a-z_ -]*)>.*</\1>\s*\Z|# AGENTS\.md instructions\b)", re.DOTALL)
_EXIT = re.compile(r"^(?:Exit code|Process exited with code):? (-?\d+)\b", re.MULTILINE)
_OUTPUT_STARTS = re.compile(r"^(?:Output|Stdout):", re.MULTILINE)


def matches(document: Document) -> bool:
    """Wrapped lines, or the bare items of the first versions behind their record of the session's state."""
    return any(
        (body.get("type") in _WRAPPED and "payload" in body) or body.get("record_type") == "state"
        for body in document.bodies
    )


def read(document: Document) -> list[Draft]:
    draft = Draft()
    failure: Any = None
    for line, body in document.objects("a line of a rollout"):
        kind = body.get("type")
        draft.at(body.get("timestamp"))
        payload = as_object(body.get("payload")) if kind in _WRAPPED else body
        if payload is None:
            raise document.error(f"expected a payload, read {shown(body.get('payload'))}", line=line)
        if kind == "session_meta":
            draft.id = draft.id or text_id(payload.get("id"))
        elif kind == "turn_context":
            draft.model = words(payload.get("model")) or draft.model
        elif kind == "event_msg" and payload.get("type") == "error":
            failure = payload.get("message") or "the agent failed"
        elif kind == "response_item" or (kind not in _WRAPPED and is_item(payload)):
            failure = None
            _item(draft, payload)
    draft.error = target_error(failure)
    return [draft]


def _item(draft: Draft, item: Object) -> None:
    kind = item.get("type")
    if kind == "message" and role_of(item) in ("user", "system"):
        parts = [p for p in _parts(item.get("content")) if not _INJECTED.match(as_text([p] if p else ""))]
        if parts:
            add_item(draft, {**item, "content": parts})
    elif kind in _OUTPUTS:
        text, is_error = output_text(item.get("output"))
        draft.result(item.get("call_id") or item.get("id"), text, _failed(text) if is_error is None else is_error)
    else:
        add_item(draft, item)


def _parts(content: Any) -> list[Any]:
    return [{"type": "input_text", "text": content}] if isinstance(content, str) else as_list(content)


def _failed(text: str) -> bool | None:
    """What the head of an output says of its command; None where it says nothing."""
    inner = as_object(opened(text))
    if inner is not None:
        code = (as_object(inner.get("metadata")) or EMPTY).get("exit_code")
        return code != 0 if isinstance(code, int) else None
    start = _OUTPUT_STARTS.search(text)
    match = _EXIT.search(text, 0, start.start() if start else len(text))
    return int(match[1]) != 0 if match else None
