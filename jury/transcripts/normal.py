"""`events`: the normal events of `jury` itself, one JSON object a line, so that what it writes can be read back.

Takes `{i, type, ...}` with `result` on tool results, and the same with `kind` and `text`.
"""

from __future__ import annotations

from typing import Any

from jury.transcripts.draft import Draft
from jury.transcripts.reading import Document, shown
from jury.transcripts.shapes import Object
from jury.transcripts.turns import as_text

_SPOKEN = ("system", "user", "assistant", "thinking")


def _kind(body: Object) -> Any:
    return body.get("kind", body.get("type"))


def matches(document: Document) -> bool:
    """Every record is an event: other formats have types of these names too, but not with a text beside them."""
    bodies = document.bodies
    return len(bodies) == len(document.records) > 0 and all(
        _kind(body) in (*_SPOKEN, "tool_call", "tool_result") and not {"message", "role", "content"} & body.keys()
        for body in bodies
    )


def read(document: Document) -> list[Draft]:
    draft = Draft()
    for line, body in document.objects("an event"):
        kind = _kind(body)
        if kind in _SPOKEN and isinstance(body.get("text"), str):
            draft.say(kind, body["text"])
        elif kind == "tool_call":
            draft.call(body.get("id"), body.get("name"), body.get("arguments", body.get("arguments_text")))
        elif kind == "tool_result":
            flag = body.get("is_error")
            text = as_text(body.get("result", body.get("text")))
            draft.result(body.get("id"), text, flag if isinstance(flag, bool) else None, body.get("name"))
        else:
            raise document.error(f"expected an event, read {shown(body)}", line=line)
    return [draft]
