"""Session exports of other tools -> `Session`. Ten formats, told apart by their shape; `format=` forces one.

Here: the table of formats, `load_session`, `load_sessions`. Each format has its own module, which knows its wrapping
and its traps; what all messages have in common is in `turns.py`, files and broken lines in `reading.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike
from typing import Any

from jury.errors import ConfigError
from jury.sessions.events import Session
from jury.transcripts import (
    anthropic,
    chat,
    claude_code,
    codex,
    evaluatorq,
    inspect_log,
    langfuse,
    langsmith,
    normal,
    otel,
    responses,
)
from jury.transcripts.draft import Draft
from jury.transcripts.reading import Document, read_source, shown
from jury.wording import count

logger = logging.getLogger("jury.transcripts")
Source = str | bytes | PathLike[str] | Mapping[str, Any] | Sequence[Any]


@dataclass(frozen=True, slots=True)
class _Format:
    matches: Callable[[Document], bool]
    read: Callable[[Document], list[Draft]]


# In the order in which they are tried: wrappers that hold messages of other formats come before those messages.
_FORMATS: dict[str, _Format] = {
    "evaluatorq": _Format(evaluatorq.matches, evaluatorq.read),
    "inspect": _Format(inspect_log.matches, inspect_log.read),
    "otel": _Format(otel.matches, otel.read),
    "langsmith": _Format(langsmith.matches, langsmith.read),
    "langfuse": _Format(langfuse.matches, langfuse.read),
    "codex": _Format(codex.matches, codex.read),
    "claude_code": _Format(claude_code.matches, claude_code.read),
    "anthropic": _Format(anthropic.matches, anthropic.read),
    "openai_chat_record": _Format(chat.matches_records, chat.read_records),
    "events": _Format(normal.matches, normal.read),
    "openai_responses": _Format(responses.matches, responses.read),
    "openai_chat": _Format(chat.matches_messages, chat.read_messages),
}
FORMATS: tuple[str, ...] = tuple(sorted(_FORMATS))


def load_session(source: Source, format: str | None = None, *, number: int | None = None) -> Session:
    """The session in a file, a text, or values in memory (messages, a record, a trace).

    `format` forces one of `FORMATS`; otherwise the shape tells. A source with several sessions needs `number`, from 1.
    Raises `DataError` (file, line, and what was read) for what cannot be read, `ConfigError` for an unknown format.
    """
    document, sessions = _load(source, format)
    if number is None:
        if len(sessions) > 1:
            ids = ", ".join(s.id or "?" for s in sessions[:5]) + (", ..." if len(sessions) > 5 else "")
            raise document.error(
                f"holds {len(sessions)} sessions ({ids}); choose one by its number, or read all of them",
                "many_sessions",
            )
        return sessions[0]
    if not 1 <= number <= len(sessions):
        raise document.error(f"holds {count(len(sessions), 'session')}; there is no number {number}", "many_sessions")
    return sessions[number - 1]


def load_sessions(source: Source, format: str | None = None) -> list[Session]:
    """All sessions of a source, at least one. Raises as `load_session` does."""
    return _load(source, format)[1]


def _load(source: Source, format: str | None) -> tuple[Document, list[Session]]:
    if format is not None and format not in _FORMATS:
        near = get_close_matches(format, FORMATS, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ConfigError(f"unknown session format {format!r}{hint} Known: {', '.join(FORMATS)}")
    document = read_source(source)
    name = format or _detect(document)
    sessions = [draft.finish(name, document.file) for draft in _FORMATS[name].read(document)]
    found = [s for s in sessions if s.events or s.error]
    if not found:
        raise document.error(f"holds no message that could be read as {name}", "no_messages")
    if len(found) < len(sessions):
        empty = [f"{n} ({s.id})" if s.id else str(n) for n, s in enumerate(sessions, 1) if s not in found]
        where = document.file or "the source"
        logger.warning("%s: of %d sessions these hold no message: %s", where, len(sessions), ", ".join(empty))
    return document, found


def _detect(document: Document) -> str:
    for name, known in _FORMATS.items():
        if known.matches(document):
            return name
    first = document.records[0] if document.records else None
    read = shown(first.value) if first else "nothing"
    raise document.error(
        f"the session has no known format; read: {read}. Known: {', '.join(FORMATS)}. Whatever else it is can be "
        'written as messages: [{"role": "user", "content": "..."}, {"role": "assistant", "content": "..."}]',
        "unknown_format",
        first.line if first else None,
    )


__all__ = ["FORMATS", "load_session", "load_sessions"]
