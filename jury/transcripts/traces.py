"""What the traces of several tools have in common: messages inside inputs and outputs, and which run tells the most.

Used by `langsmith.py`, `langfuse.py` and `otel.py`. Messages are brought to the plain shape that `turns.py` reads.
"""

from __future__ import annotations

from typing import Any

from jury.transcripts.chat import is_message
from jury.transcripts.draft import Draft
from jury.transcripts.reading import opened
from jury.transcripts.shapes import Object, as_list, as_object, objects
from jury.transcripts.turns import as_text, role_of

_WRAPPERS = ("messages", "message", "output", "input", "outputs", "generations", "choices")


def messages_of(value: Any) -> list[Any]:
    """The messages inside inputs or outputs, whatever wraps them; [] where there are none."""
    value = opened(value)
    body = as_object(value)
    if body is None:
        items = as_list(value)
        if items and isinstance(items[0], list) and not _is_pair(items[0]):  # batches: the first is this conversation
            return messages_of(items[0])
        found = [plain(item) for item in items]
        return found if found and all(is_message(m) for m in found) else []
    if is_message(plain(body)):
        return [plain(body)]
    for key in _WRAPPERS:
        inner = _answer(body.get(key)) if key in ("generations", "choices") else body.get(key)
        found = messages_of(inner)
        if found:
            return found
    return []


def _answer(value: Any) -> Any:
    """The message of the first generation or choice."""
    while isinstance(value, list) and value:
        value = as_list(value)[0]
    body = as_object(value)
    return None if body is None else body.get("message")


def plain(message: Any) -> Any:
    """A LangChain message without its serialisation; a pair such as `["human", text]` as a message."""
    body = as_object(message)
    if body is None:
        return {"role": message[0], "content": message[1]} if _is_pair(message) else message
    serialised = body.get("type") == "constructor"
    inner = as_object(body.get("kwargs") if serialised else body.get("data"))
    if inner is None:
        return body
    name = (as_list(body.get("id")) or [""])[-1] if serialised else body.get("type")
    return {**inner, "type": name}


def _is_pair(value: Any) -> bool:
    items = as_list(value)
    return len(items) == 2 and all(isinstance(p, str) for p in items)


def longest(draft: Draft, conversations: list[list[Any]], request: str | None = None) -> list[Any]:
    """The conversation of the agent itself that tells the most; of equally long ones the last.

    `conversations` are those of the model calls, in time. Each call repeats what came before it, so the last one tells
    the whole. A trace can hold others too: of a sub-agent, of a check, for a title. They open with another request; the
    agent's own is the one that opens with `request` (what the trace says it was asked), else the one that was there the
    longest time. Notes say what was left out.
    """
    if not conversations:
        return []
    groups: dict[str, list[int]] = {}
    for at, conversation in enumerate(conversations):
        groups.setdefault(_opening(conversation), []).append(at)
    asked = request.strip() if request else None

    def rank(opening: str) -> tuple[bool, int, int]:
        places = groups[opening]
        return opening == asked, places[-1] - places[0], max(len(conversations[at]) for at in places)

    best = max(groups, key=rank)  # of equals the first: an agent speaks before those that it calls
    found: list[Any] = []
    for at in groups[best]:
        found = conversations[at] if len(conversations[at]) >= len(found) else found
    if len(conversations[groups[best][-1]]) < len(found):
        draft.note("the last model call shows less than an earlier one: the longest was read")
    others = len(conversations) - len(groups[best])
    if others:
        draft.note(f"model calls of other conversations (a sub-agent, a title) were left out: {others}")
    return found


def _opening(conversation: list[Any]) -> str:
    """The first message of a user in a conversation, as a text; else its first message."""
    spoken = objects(conversation)
    first = next((m for m in spoken if role_of(m) == "user"), spoken[0] if spoken else {})
    return as_text(first.get("content", first.get("parts"))).strip()


def as_answer(output: Any) -> list[Any]:
    """The message or messages in an output; a text is one too."""
    output = opened(output)
    if isinstance(output, str):
        return [{"role": "assistant", "content": output}]
    body: Object = as_object(output) or {}
    if "role" not in body and ("content" in body or "tool_calls" in body):
        return [{"role": "assistant", **body}]
    return messages_of(output)


def spans_under(value: Any, *path: str) -> list[Object]:
    """The objects at a path of lists, such as resources, scopes, spans; names in either spelling."""
    found = objects(value)
    for step in path:
        found = [inner for body in found for inner in objects(body.get(step) or body.get(_snake(step)))]
    return found


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
