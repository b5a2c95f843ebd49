"""The sessions of a run: where they come from, what each is called, what the run folder keeps of it. Judges nothing.

A run of sessions reads files in any format that `jury.transcripts` knows: a path, a pattern such as `week23/*.jsonl`, a
folder, several of them, standard input, or values in memory. Files are opened one after the other.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from glob import glob, has_magic
from itertools import count
from pathlib import Path
from typing import Any, cast

from jury.datasets import STDIN
from jury.errors import ConfigError, DataError
from jury.sessions.events import Session, chat_messages
from jury.store import StoredItem
from jury.store.lines import digest, encode
from jury.store.records import tags_of
from jury.transcripts import load_sessions
from jury.transcripts.chat import is_message
from jury.transcripts.shapes import as_list

_ENDINGS = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".json.zst", ".jsonl.zst")
_ROW = frozenset({"session", "context", "id"})


@dataclass(frozen=True, slots=True)
class Recording:
    """A session under the id and the number (from 0) that it has in a run; `context` where it has one of its own.

    `trace_id`: of the task that an agent was given.
    """

    id: str
    number: int
    session: Session
    context: str | Mapping[str, str] | None = None
    trace_id: str | None = None

    @property
    def item(self) -> StoredItem:
        """What the folder keeps: the request, the conversation, the last words."""
        session = self.session
        error = str(session.error) if session.error is not None else None
        expected = session.expected_output
        own = encode(dict(self.context)) if isinstance(self.context, Mapping) else self.context
        judged = "\0".join([session.transcript, repr(expected), own or "", error or ""])
        return StoredItem(
            id=self.id,
            number=self.number,
            digest=digest(judged.encode("utf-8", "surrogatepass")),
            tags=tags_of(session.metadata),
            trace_id=self.trace_id,
            input=session.first_request,
            messages=tuple(chat_messages(session.events, numbered=True)),
            output=session.final_message,
            expected_output=expected if isinstance(expected, str) else "" if expected is None else encode(expected),
            context=own,
            error=error,
            row={
                **({"file": session.file} if session.file else {}),
                **{k: v for k, v in session.metadata.items() if isinstance(v, str | int | float)},
            },
        )


def recordings(data: Any, format: str | None = None) -> Iterator[Recording]:
    """The sessions of `data`, one after the other, each with an id of its own.

    `data`: a path, a pattern, a folder, `-`; a `Session` or its messages; or an iterable of those and of mappings with
    `session` (a path, messages, a record), and perhaps `context` and `id`. A session without an id is called by its
    file. Raises `DataError` for what cannot be read, where it is reached, and for a pattern or folder that holds
    nothing.
    """
    taken: set[str] = set()
    for number, (name, session, context) in enumerate(_sessions(data, format)):
        stem = Path(session.file).stem if session.file else f"session-{number + 1}"
        own = next(n for n in _names(name or session.id or stem, stem) if n not in taken)
        taken.add(own)
        yield Recording(own, number, session, context)


def _names(name: str, stem: str) -> Iterator[str]:
    """What a session may be called: some tools give the same id to several."""
    yield from (name, stem)
    yield from (f"{name}#{n}" for n in count(2))


def _sessions(data: Any, format: str | None) -> Iterator[tuple[str | None, Session, Any]]:
    if isinstance(data, str | os.PathLike):
        for source in files(os.fspath(cast("str | os.PathLike[str]", data))):
            yield from ((None, s, None) for s in load_sessions(source, format))
        return
    if isinstance(data, Session):
        yield None, data, None
        return
    messages = as_list(data)
    if messages and is_message(messages[0]):  # of one session
        yield from ((None, s, None) for s in load_sessions(messages, format))
        return
    if isinstance(data, Mapping) or not hasattr(data, "__iter__"):
        raise ConfigError(
            f"data must be a path, a pattern or a list of sessions, got {type(cast('Any', data)).__name__}"
        )
    for one in data:
        if isinstance(one, str | os.PathLike | Session):
            yield from _sessions(one, format)
        elif isinstance(one, Mapping) and "session" in one and one.keys() <= _ROW:
            row = cast("Mapping[str, Any]", one)
            yield from _of_row(row, format)
        else:  # messages, a record, a trace
            yield from ((None, s, None) for s in load_sessions(cast("Any", one), format))


def _of_row(row: Mapping[str, Any], format: str | None) -> Iterator[tuple[str | None, Session, Any]]:
    given = row["session"]
    found = [given] if isinstance(given, Session) else load_sessions(given, format)
    for session in found:
        yield (None if row.get("id") is None else str(row["id"])), session, row.get("context")


def files(path: str) -> list[Any]:
    """The files that a path, a pattern or a folder names, in order; `-` is what stands on standard input.

    Raises `DataError` where a pattern or a folder holds nothing.
    """
    if path == STDIN:
        return [sys.stdin.buffer.read()]
    if os.path.isdir(path):
        found = sorted(str(p) for p in Path(path).iterdir() if p.name.endswith(_ENDINGS) and p.is_file())
        return found or _nothing(path, f"the folder holds no file that ends in {', '.join(_ENDINGS[:3])}")
    if has_magic(path) and not os.path.exists(path):
        found = sorted(p for p in glob(path, recursive=True) if Path(p).is_file())
        return found or _nothing(path, "no file is called like that")
    return [path]


def _nothing(path: str, why: str) -> Any:
    raise DataError(f"{path}: {why}", "not_found", file=path)
