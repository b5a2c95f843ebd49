"""Anthropic: JSON `{system, messages}`, or one message with content blocks a line.

Traps: tool results are blocks of a user message, which is not the user speaking; several results stand in one message;
`is_error` is there only when true; thinking blocks, redacted ones without a text.
"""

from __future__ import annotations

from jury.transcripts.chat import add_records, is_message, read_record
from jury.transcripts.draft import Draft
from jury.transcripts.reading import Document
from jury.transcripts.shapes import Object, objects

_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use")


def has_blocks(message: Object) -> bool:
    """Does a message hold content blocks that only this API knows?"""
    return is_message(message) and any(b.get("type") in _BLOCKS for b in objects(message.get("content")))


def matches(document: Document) -> bool:
    for body in document.bodies:
        if isinstance(body.get("messages"), list):
            if "system" in body or any(has_blocks(m) for m in objects(body["messages"])):
                return True
        elif "role" in body and has_blocks(body):
            return True
    return False


def read(document: Document) -> list[Draft]:
    """One session a record with `messages`; else all records are the messages of one session."""
    found = document.objects("a message or a record with messages")
    if any("messages" in body for _, body in found):
        return [read_record(document, body, line, flag=False) for line, body in found]
    draft = Draft()
    add_records(document, draft, document.records, flag=False)
    return [draft]
