"""OpenAI chat: `openai_chat` (one message a line, or a list) and `openai_chat_record` (one `{messages, ...}` a line).

Traps: `content` is null beside calls, `tool_calls` may be null, arguments are a JSON text that may not parse, and a
tool message cannot say that the tool failed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jury.transcripts.draft import Draft, target_error, text_id
from jury.transcripts.reading import Document, Record, shown
from jury.transcripts.shapes import EMPTY, Object, as_list, as_object, objects, words
from jury.transcripts.turns import add_message, role_of


def is_message(value: Any) -> bool:
    body = as_object(value)
    return body is not None and role_of(body) is not None


def is_messages(value: Any) -> bool:
    items = as_list(value)
    return bool(items) and all(is_message(m) for m in items)


def matches_messages(document: Document) -> bool:
    """Any line is a chat message: a broken one among them is an error of its line, not another format."""
    return any("role" in body and is_message(body) for body in document.bodies)


def matches_records(document: Document) -> bool:
    return any(is_messages(body.get("messages")) for body in document.bodies)


def read_messages(document: Document) -> list[Draft]:
    draft = Draft()
    add_records(document, draft, document.records, flag=None)
    return [draft]


def read_records(document: Document) -> list[Draft]:
    """One session a record."""
    records = document.objects('a record with "messages"')
    return [read_record(document, record, line, flag=None) for line, record in records]


def read_record(document: Document, record: Object, line: int | None, *, flag: bool | None) -> Draft:
    """A record that holds a whole conversation: `system` beside or among its `messages`."""
    messages = record.get("messages")
    if not isinstance(messages, list):
        raise document.error(f'expected a record with "messages", read {shown(record)}', line=line)
    draft = Draft(
        id=text_id(record.get("id")),
        error=target_error(record.get("error")),
        model=words(record.get("model")),
        tools=tuple(as_list(record.get("tools"))),
        metadata=dict(as_object(record.get("metadata")) or {}),
    )
    if record.get("system"):
        add_message(draft, {"role": "system", "content": record["system"]}, flag=None)
    add_values(document, draft, as_list(record["messages"]), line, flag=flag)
    if draft.events and draft.events[-1].type in ("user", "tool_result"):
        _answer(draft, record, flag)
    return draft


def _answer(draft: Draft, record: Object, flag: bool | None) -> None:
    """The answer where it stands beside the messages that were sent, as logs of requests have it."""
    for key in ("response", "completion", "output"):
        given = record.get(key)
        body = as_object(given) or EMPTY
        choice = (objects(body.get("choices")) or [EMPTY])[0]
        message = as_object(choice.get("message")) or body
        if isinstance(given, str):
            message = {"role": "assistant", "content": given}
        if role_of(message) == "assistant":
            add_message(draft, message, flag=flag)
            return


def add_values(document: Document, draft: Draft, values: Iterable[Any], line: int | None, *, flag: bool | None) -> None:
    """The messages of one record into a draft."""
    add_records(document, draft, (Record(value, line) for value in values), flag=flag)


def add_records(document: Document, draft: Draft, records: Iterable[Record], *, flag: bool | None) -> None:
    """Messages into a draft; one that is none is a `DataError` of its line."""
    for number, record in enumerate(records, 1):
        body = as_object(record.value)
        if body is None or role_of(body) is None:
            role = None if body is None else body.get("role")
            read = shown(record.value) if role is None else f"the role {shown(role)}"
            raise document.error(f"expected a message with a role, read {read} (message {number})", line=record.line)
        add_message(draft, body, flag=flag)
