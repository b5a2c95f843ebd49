"""Claude Code: the JSON Lines log of a session.

Traps: one line per content block, the lines of one answer sharing `message.id`; lines with `isSidechain` belong to
sub-agents, lines with `isMeta` and texts in the command tags are written by the program, not by the user; snapshots,
summaries and other types are no conversation; a resumed session repeats lines. The file has no system prompt.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from jury.transcripts.chat import is_message
from jury.transcripts.draft import Draft, target_error, text_id
from jury.transcripts.reading import Document, shown
from jury.transcripts.shapes import EMPTY, Object, as_list, as_object, words
from jury.transcripts.turns import add_message, as_text, role_of

Line = tuple[int | None, Object]
_TYPES = ("user", "assistant")
_INJECTED = re.compile(
    r"<(command-name|command-message|command-args|command-contents|local-command-stdout|local-command-stderr"
    r"|local-command-caveat|system-reminder|bash-input|bash-stdout|bash-stderr|user-prompt-submit-hook)>.*?</\1>",
    re.DOTALL,
)
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_INTERRUPTED = "[Request interrupted by user"


def matches(document: Document) -> bool:
    return any(_is_line(body) for body in document.bodies)


def _is_line(body: Object) -> bool:
    return body.get("type") in _TYPES and is_message(body.get("message"))


def read(document: Document) -> list[Draft]:
    lines: list[Line] = []
    seen: set[str] = set()
    for line, body in document.objects("a line of a session log"):
        if not isinstance(body.get("type"), str) and ("messages" in body or role_of(body) is not None):
            raise document.error(f"expected a line of a session log, read {shown(body)}", line=line)
        if body.get("type") not in _TYPES or body.get("isMeta"):
            continue
        if not is_message(body.get("message")):
            raise document.error(f"expected a message, read {shown(body.get('message'))}", line=line)
        uuid = words(body.get("uuid"))
        if uuid is None or uuid not in seen:
            seen.add(uuid or "")
            lines.append((line, body))
    own = [(line, body) for line, body in lines if not body.get("isSidechain")]
    draft = Draft()
    if not own and lines:
        draft.note("every line belongs to a sub-agent: its own session was read")
    elif len(own) < len(lines):
        draft.note(f"lines of sub-agents were left out: {len(lines) - len(own)}")
    for _, group in groupby(own or lines, key=_answer):
        _turn(draft, [body for _, body in group])
    return [draft]


def _answer(line: Line) -> tuple[str, Any]:
    """What holds the lines of one answer together; a user line stands alone."""
    body = line[1]
    message_id = _message(body).get("id")
    if body.get("type") == "assistant" and message_id and not body.get("isApiErrorMessage"):
        return "assistant", message_id
    return "line", id(body)


def _message(body: Object) -> Object:
    return as_object(body.get("message")) or EMPTY


def _turn(draft: Draft, lines: list[Object]) -> None:
    first = lines[0]
    draft.id = draft.id or text_id(first.get("sessionId"))
    draft.at(first.get("timestamp"))
    message = _message(first)
    if first.get("isApiErrorMessage"):
        draft.error = target_error(as_text(message.get("content")) or "the model could not be called")
        return
    if first["type"] == "user":
        _user(draft, first, message)
        return
    draft.error = None  # the agent went on after a failed call
    draft.model = words(message.get("model")) or draft.model
    blocks = [block for line in lines for block in _blocks(_message(line).get("content"))]
    add_message(draft, {"role": "assistant", "content": blocks}, flag=False)


def _user(draft: Draft, line: Object, message: Object) -> None:
    if line.get("isCompactSummary"):
        draft.say("system", as_text(message.get("content")))
        draft.note("a summary that the program wrote of earlier turns stands as a system message")
        return
    blocks: list[Any] = []
    for block in _blocks(message.get("content")):
        body = as_object(block)
        if body is not None and body.get("type") != "text":
            blocks.append(body)
            continue
        kept = _own_words(block if body is None else as_text(body.get("text")))
        if kept:
            blocks.append(kept)
    if blocks:
        draft.error = None
        add_message(draft, {"role": "user", "content": blocks}, flag=False)


def _own_words(text: str) -> str:
    """What the user wrote: without what the program put in tags, without the note of an interruption.

    A command with arguments is the user's request; one without is an act on the program.
    """
    if text.startswith(_INTERRUPTED):
        return ""
    name, arguments = _COMMAND.search(text), _ARGUMENTS.search(text)
    if name and arguments and arguments[1].strip():
        return f"{name[1].strip()} {arguments[1].strip()}"
    return text if not _INJECTED.search(text) else _INJECTED.sub("", text).strip()


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [content]
    return [b for b in as_list(content) if isinstance(b, str) or as_object(b) is not None]
