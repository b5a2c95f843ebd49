"""A session file, a text or values in memory -> numbered JSON records. Knows JSON and lines, no session format.

A file of JSON Lines gives one record a line; a JSON array gives its elements; any other JSON value is one record. What
is broken is named with file, line and the text that was read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, cast

from jury.datasets.source import Source
from jury.errors import DataError
from jury.transcripts.shapes import Object, as_object, objects

_SHOWN = 80
_HALF_PAIR = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON value and the line on which it begins (None: it came from memory)."""

    value: Any
    line: int | None = None


@dataclass(frozen=True)
class Document:
    """All records of one source. `file` is None for a text or for values in memory."""

    records: tuple[Record, ...]
    file: str | None = None

    def error(self, message: str, kind: str = "bad_shape", line: int | None = None) -> DataError:
        """A `DataError` that begins with the file and the line, as far as they are known."""
        where = [self.file] if self.file else []
        if line is not None:
            where.append(f"line {line}")
        text = f"{', '.join(where)}: {message}" if where else message
        return DataError(text, kind, file=self.file, line=line)

    @cached_property
    def bodies(self) -> list[Object]:
        """The records that are objects."""
        return objects([record.value for record in self.records])

    def objects(self, needs: str) -> list[tuple[int | None, Object]]:
        """The records as objects. Raises `DataError` (kind `not_object`) at the first that is none."""
        found: list[tuple[int | None, Object]] = []
        for record in self.records:
            body = as_object(record.value)
            if body is None:
                raise self.error(f"expected {needs}, read {shown(record.value)}", "not_object", record.line)
            found.append((record.line, body))
        return found


def read_source(source: str | bytes | PathLike[str] | Mapping[str, Any] | Sequence[Any]) -> Document:
    """Everything that can hold a session. A text that begins with `{` or `[`, or has several lines, is no path."""
    if isinstance(source, Mapping):
        return Document((Record(dict(source)),))
    if isinstance(source, bytes):
        try:
            return _parse(source.decode("utf-8-sig"), None)
        except UnicodeDecodeError as error:
            raise DataError(f"the session is not UTF-8 (byte {error.start})", "encoding") from None
    if isinstance(source, str):
        bare = source.lstrip("\ufeff \t\r\n")
        if bare.startswith(("{", "[")) or "\n" in source or not bare:
            return _parse(source, None)
        return _file(source)
    if isinstance(source, PathLike):
        return _file(source)
    if not isinstance(cast("Any", source), Iterable) or isinstance(source, bytearray | memoryview):
        how = "messages, a record, a text, or the path of a file"
        raise DataError(f"a session cannot be read from {type(source).__name__}: give {how}", "wrong_type")
    return Document(tuple(Record(value) for value in source))


def _file(path: str | PathLike[str]) -> Document:
    if str(path).endswith(".eval"):
        raise DataError(
            f"{path}: a packed log of Inspect; convert it first: inspect log convert --to json",
            "unreadable",
            file=str(path),
        )
    with Source(Path(path) if str(path) != "-" else "-") as opened:
        return _parse("".join(text for _, text in opened.lines()), opened.name)


def _parse(text: str, file: str | None) -> Document:
    body = text.removeprefix("\ufeff")
    nothing = Document((), file)
    if not body.strip():
        raise nothing.error("holds no session: it is empty", "no_rows")
    lines = [(number, line) for number, line in enumerate(body.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and _is_json(lines[0][1]):
        return Document(tuple(Record(_line(line, nothing, number), number) for number, line in lines), file)
    value = _whole(body, nothing)
    if isinstance(value, list):
        return Document(tuple(Record(item) for item in cast("list[Any]", value)), file)
    return Document((Record(value, lines[0][0]),), file)


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _line(line: str, document: Document, number: int) -> Any:
    try:
        return _loads(line)
    except json.JSONDecodeError as error:
        message = f"not JSON ({error.msg} at character {error.pos + 1}); read: {shown(line.strip())}"
    except (ValueError, RecursionError) as error:
        message = f"not readable as JSON ({error}); read: {shown(line.strip())}"
    raise document.error(message, "bad_json", number)


def _whole(body: str, document: Document) -> Any:
    try:
        return _loads(body)
    except json.JSONDecodeError as error:
        read = body.split("\n")[error.lineno - 1].strip()
        message = f"not JSON ({error.msg} at character {error.colno}); read: {shown(read)}"
        raise document.error(message, "bad_json", error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise document.error(f"not readable as JSON ({error})", "bad_json") from None


def _loads(text: str) -> Any:
    value = json.loads(text)
    return _mend(value) if "\\ud" in text or "\\uD" in text else value


def _mend(value: Any) -> Any:
    """Half of a surrogate pair, left by a cut in the middle of a sign, can be sent nowhere: it becomes U+FFFD."""
    if isinstance(value, str):
        return _HALF_PAIR.sub("\ufffd", value)
    if isinstance(value, list):
        return [_mend(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {_mend(key): _mend(item) for key, item in cast("dict[str, Any]", value).items()}
    return value


def shown(value: Any) -> str:
    """A value as an error message names it: objects by their keys, the rest as far as it fits."""
    if isinstance(value, dict):
        keys = ", ".join(list(map(str, cast("dict[str, Any]", value)))[:8])
        return f"an object with the keys {keys}" if keys else "an empty object"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def opened(value: Any) -> Any:
    """JSON inside a text, opened; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return _loads(value)
        except (ValueError, RecursionError):
            return value
    return value
