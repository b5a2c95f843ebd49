"""`events`: the normal events of `jury` itself, one JSON object a line, so that what it writes can be read back.

Takes `{i, type, ...}` with `result` on tool results, and the same with `kind` and `text`.
"""

from __future__ import annotations

from typing import Any

from jury.sessions.events import Event
from jury.transcripts.draft import Draft
from jury.transcripts.reading import Document, shown
from jury.transcripts.shapes import Object, as_object
from jury.transcripts.turns import as_text

_SPOKEN = ("system", "user", "assistant", "thinking")
_KINDS = (*_SPOKEN, "tool_call", "tool_result", "gap")


def _kind(body: Object) -> Any:
    return body.get("kind", body.get("type"))


def matches(document: Document) -> bool:
    """The first record is an event: other formats have types of these names too, but not with a text beside them.

    One that is none after it is an error of its line.
    """
    first = as_object(document.records[0].value) if document.records else None
    return first is not None and _kind(first) in _KINDS and not {"message", "role", "content"} & first.keys()


def read(document: Document) -> list[Draft]:
    draft = Draft()
    for line, body in document.objects("an event"):
        kind = _kind(body)
        if kind in _SPOKEN and isinstance(body.get("text"), str):
            draft.say(kind, body["text"])
        elif kind == "gap":
            draft.events.append(Event(0, "gap", as_text(body.get("text"))))
            draft.note("the recording itself has gaps")
        elif kind == "tool_call":
            draft.call(body.get("id"), body.get("name"), body.get("arguments", body.get("arguments_text")))
        elif kind == "tool_result":
            flag = body.get("is_error")
            text = as_text(body.get("result", body.get("text")))
            draft.result(body.get("id"), text, flag if isinstance(flag, bool) else None, body.get("name"))
        else:
            read = shown(body) if kind is None or kind in _KINDS else f"the type {shown(kind)}"
            raise document.error(f"expected an event, read {read}", line=line)
    return [draft]
