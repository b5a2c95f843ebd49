"""OpenAI Responses: JSON Lines of items, or whole response objects with `input` and `output`.

Traps: `call_id` joins a call and its output, `id` does not; the system text is a `developer` message or `instructions`;
reasoning often has only a summary; hosted tools are one item with call and result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jury.transcripts.draft import Draft, target_error, text_id
from jury.transcripts.reading import Document, shown
from jury.transcripts.shapes import EMPTY, Object, as_list, as_object, first, objects, words
from jury.transcripts.turns import add_message, as_text, role_of, thinking_text

_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output", "computer_call_output")
_HOSTED = {  # type of item -> (name shown, key of the arguments, key of the result)
    "web_search_call": ("web_search", "action", None),
    "file_search_call": ("file_search", "queries", "results"),
    "code_interpreter_call": ("code_interpreter", "code", "outputs"),
    "local_shell_call": ("local_shell", "action", None),
    "computer_call": ("computer", "action", None),
    "image_generation_call": ("image_generation", "revised_prompt", None),
}
_ITEMS = ("message", "function_call", "reasoning", "custom_tool_call", "mcp_call", *_OUTPUTS, *_HOSTED)


def is_item(body: Object) -> bool:
    return body.get("type") in _ITEMS


def matches(document: Document) -> bool:
    return any(is_item(body) or _is_response(body) for body in document.bodies)


def _is_response(body: Object) -> bool:
    items = objects(body.get("output"))
    return body.get("object") == "response" or (bool(items) and all(is_item(i) for i in items))


def read(document: Document) -> list[Draft]:
    """Items are one session; response objects are one each, unless each names the one before it."""
    found = document.objects("an item of a response")
    if not any(_is_response(body) for _, body in found):
        draft = Draft()
        for line, body in found:
            if not add_item(draft, body):
                raise document.error(f"expected an item of a response, read {shown(body)}", line=line)
        return [draft]
    drafts: dict[str, Draft] = {}
    for _, body in found:
        before = drafts.pop(str(body.get("previous_response_id") or ""), None)
        draft = before or Draft(id=text_id(body.get("id")))
        _add_response(draft, body, opens=before is None)
        drafts[text_id(body.get("id")) or f"#{len(drafts)}"] = draft
    return list(drafts.values())


def _add_response(draft: Draft, body: Object, *, opens: bool) -> None:
    if opens and isinstance(body.get("instructions"), str):
        draft.say("system", body["instructions"])
    if isinstance(body.get("input"), str):
        draft.say("user", body["input"])
    for item in [*objects(body.get("input")), *objects(body.get("output"))]:
        add_item(draft, item)
    draft.at(body.get("created_at"))
    draft.model = words(body.get("model")) or draft.model
    draft.tools = tuple(as_list(body.get("tools"))) or draft.tools
    draft.error = target_error(body.get("error"))
    status = body.get("status")
    if status in ("failed", "cancelled") and draft.error is None:
        draft.error = target_error(f"the response {status}" if status == "failed" else "the response was cancelled")
    elif status == "incomplete":
        why = words((as_object(body.get("incomplete_details")) or EMPTY).get("reason"))
        draft.note(f"the response is incomplete{f': {why}' if why else ''}")


def add_item(draft: Draft, item: Object) -> bool:
    """The events of one item. False if it is no item that is known."""
    kind = item.get("type")
    if not isinstance(kind, str | None):
        return False
    if kind == "message" or (kind is None and role_of(item) is not None):
        if role_of(item) is None:
            return False
        add_message(draft, item, flag=None)
    elif kind == "output_text":
        draft.say("assistant", as_text(item.get("text")))
    elif kind == "reasoning":
        draft.say("thinking", thinking_text(item))
    elif kind in ("function_call", "custom_tool_call", "mcp_call"):
        _call(draft, item)
    elif kind in _OUTPUTS:
        text, is_error = output_text(item.get("output"))
        draft.result(first(item, "call_id", "id"), text, is_error)
    elif kind in _HOSTED:
        _hosted(draft, item, *_HOSTED[kind])
    elif kind is not None:
        draft.note(f"items of type {kind} were left out")
    else:
        return False
    return True


def output_text(output: Any) -> tuple[str, bool | None]:
    """The text of a tool's output; the flag where the output is an object that says `success`."""
    body = as_object(output)
    if body is not None and "content" in body:
        success = body.get("success")
        return as_text(body["content"]), not success if isinstance(success, bool) else None
    return as_text(output), None


def _call(draft: Draft, item: Object) -> None:
    """A call; hosted tools and some recorders keep the result inside it."""
    call_id = first(item, "call_id", "id")
    draft.call(call_id, item.get("name"), item.get("arguments", item.get("input")))
    error = target_error(item.get("error"))
    inside = first(item, "result", "output")
    if error is not None:
        draft.result(call_id, as_text(inside) or error.message, True)
    elif inside is not None:
        draft.result(call_id, as_text(inside), None)


def _hosted(draft: Draft, item: Object, name: str, key: str, result: str | None) -> None:
    call_id = first(item, "call_id", "id")
    given = item.get(key)
    draft.call(call_id, name, given if isinstance(given, Mapping) else {key: given})
    failed = item.get("status") == "failed"
    made = item.get(result) if result else None
    if failed or made is not None:
        draft.result(call_id, as_text(made), True if failed else None)
