"""JSON Lines and JSON documents -> (line, object). Strict JSON: no NaN, no doubled keys, no half records.

JSON Lines are read line by line. A document (an array of objects, or an object that holds one) is read whole.
"""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Iterable, Iterator
from itertools import chain
from typing import Any, cast

from jury.datasets.source import Source
from jury.errors import DataError

Record = tuple[int, dict[str, Any]]
_BLANKS = " \t\r\n"  # what JSON takes for white space
_LISTS = ("rows", "data", "items", "examples", "records", "samples", "instances")  # usual names of the list of rows


class _Fault(ValueError):
    """Something that Python's reader takes and that is wrong all the same."""

    def __init__(self, message: str, kind: str = "bad_json") -> None:
        super().__init__(message)
        self.kind = kind


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Fault(f"the key {twice!r} occurs twice in one object", "duplicate_column")
    return made


def _constant(text: str) -> Any:
    raise _Fault(f"{text} is not JSON; write null")


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _Fault(f"{text} is too large for a number")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)


def read_json(source: Source, *, lines_only: bool) -> Iterator[Record]:
    """JSON Lines, or (unless `lines_only`) a document; an array is read as an array under any name."""
    lines = source.lines()
    seen: list[tuple[int, str]] = []
    filled: list[str] = []
    by_line = lines_only
    for number, text in lines:
        seen.append((number, text))
        if text.strip():
            filled.append(text.lstrip(_BLANKS + "\ufeff"))
            by_line = by_line or _is_row(filled[0], alone=len(filled) == 1)
            if by_line or len(filled) == 2:
                break
    if not filled:
        return
    if by_line and not filled[0].startswith("["):
        yield from _records(source, chain(seen, lines))
    else:
        yield from _Document(source, "".join(text for _, text in chain(seen, lines)).lstrip("\ufeff")).rows()


def looks_like_json(text: str) -> bool:
    """Does this first line begin a JSON object or array?"""
    return text.lstrip("\ufeff \t\r\n").startswith(("{", "["))


def _records(source: Source, lines: Iterable[tuple[int, str]]) -> Iterator[Record]:
    for number, text in lines:
        if not text.strip():
            continue
        body = text.strip(_BLANKS + "\ufeff")  # files put together keep the mark of each part
        try:
            value, end = _DECODER.raw_decode(body)
            if end < len(body):
                raise _Fault(_leftover(body[end:], end))
            _check_text(text, value)
        except (ValueError, RecursionError) as error:
            hint = _hint(body) if isinstance(error, json.JSONDecodeError) else ""
            raise _fault(source, error, number, hint) from None
        if not isinstance(value, dict):
            raise source.error(f"a row must be a JSON object, this is {_kind_of(value)}", "not_object", number)
        yield number, cast("dict[str, Any]", value)


class _Document:
    """One JSON text, walked element by element, so that every row knows its line."""

    def __init__(self, source: Source, text: str) -> None:
        self.source, self.text = source, text
        self._counted = (0, 1)  # (position, its line): lines are counted onwards, not from the start each time

    def rows(self) -> Iterator[Record]:
        start = self._skip(0)
        if self.text.startswith("[", start):
            end = yield from self._elements(start)
            self._end(end)
        elif self.text.startswith("{", start):
            yield from self._from_object(start)
        else:
            value, end = self._value(start)
            self._end(end)
            message = f"rows must be JSON objects, this is {_kind_of(value)}"
            raise self.source.error(message, "not_object", self._line(start))

    def _from_object(self, start: int) -> Iterator[Record]:
        members = self._members(start)
        lists = [(k, at) for k, at, v in members if k != "messages" and _is_rows(v, k)]
        if len(lists) > 1:
            lists = [(k, at) for k, at in lists if k in _LISTS] or lists
        if len(lists) > 1:
            names = ", ".join(k for k, _ in lists)
            raise self.source.error(f"holds several lists ({names}); keep the one with the rows", "not_object")
        if lists:
            yield from self._elements(lists[0][1])
        elif members:
            yield self._line(start), {k: v for k, _, v in members}

    def _elements(self, start: int) -> Generator[Record, None, int]:
        """The objects of the array at `start`; returns the position after it."""
        position = self._skip(start + 1)
        if self.text.startswith("]", position):
            return position + 1
        while True:
            value, end = self._value(position)
            line = self._line(position)
            if not isinstance(value, dict):
                raise self.source.error(f"a row must be a JSON object, this is {_kind_of(value)}", "not_object", line)
            yield line, cast("dict[str, Any]", value)
            position = self._skip(end)
            if self.text.startswith("]", position):
                return position + 1
            position = self._skip(self._expect(",", position, "a comma or the end of the array"))

    def _members(self, start: int) -> list[tuple[str, int, Any]]:
        """(key, position of the value, value) of the object at `start`, which must end the text."""
        found: list[tuple[str, int, Any]] = []
        whole, end = self._value(start)
        self._end(end)
        position = self._skip(start + 1)
        for key, value in cast("dict[str, Any]", whole).items():  # in the order of the text: doubled keys are errors
            _, position = self._value(position)
            position = self._skip(self._skip(position) + 1)
            found.append((key, position, value))
            _, position = self._value(position)
            position = self._skip(self._skip(position) + 1)
        return found

    def _value(self, position: int) -> tuple[Any, int]:
        try:
            value, end = _DECODER.raw_decode(self.text, position)
            _check_text(self.text[position:end], value)
        except json.JSONDecodeError as error:
            raise _fault(self.source, error, self._line(min(error.pos, len(self.text)))) from None
        except (ValueError, RecursionError) as error:
            raise _fault(self.source, error, self._line(position)) from None
        return value, end

    def _expect(self, sign: str, position: int, what: str) -> int:
        if not self.text.startswith(sign, position):
            found = "the file ends" if position >= len(self.text) else f"there is {self.text[position]!r}"
            raise self.source.error(f"JSON needs {what}, but {found}", "bad_json", self._line(position))
        return position + 1

    def _end(self, position: int) -> None:
        if self._skip(position) < len(self.text):
            raise self.source.error("more text after the end of the JSON value", "bad_json", self._line(position))

    def _skip(self, position: int) -> int:
        while position < len(self.text) and self.text[position] in _BLANKS:
            position += 1
        return position

    def _line(self, position: int) -> int:
        at, line = self._counted
        if position < at:
            at, line = 0, 1
        line += self.text.count("\n", at, position)
        self._counted = (position, line)
        return line


def _is_rows(value: Any, key: str) -> bool:
    if not isinstance(value, list):
        return False
    items = cast("list[Any]", value)
    return all(isinstance(i, dict) for i in items) if items else key in _LISTS


def _is_row(text: str, *, alone: bool) -> bool:
    """Is this first line a row, and not a document or its beginning?

    A whole object is one, unless it stands `alone` so far and may hold the rows: then another line has to tell.
    """
    body = text.strip(_BLANKS + "\ufeff")
    try:
        value, end = json.JSONDecoder().raw_decode(body)
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict) or end < len(body):
        return False
    members = cast("dict[str, Any]", value)
    return not alone or (bool(members) and not any(k != "messages" and _is_rows(v, k) for k, v in members.items()))


def _check_text(text: str, value: Any) -> None:
    """Half of a surrogate pair can be written in JSON and in no UTF-8 file: the results could not be saved."""
    if "\\ud" not in text and "\\uD" not in text:
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _Fault("a text holds half of a surrogate pair (\\ud800 to \\udfff), which is no character") from None


def _fault(source: Source, error: Exception, line: int, hint: str = "") -> DataError:
    if isinstance(error, _Fault):
        return source.error(str(error), error.kind, line)
    if isinstance(error, json.JSONDecodeError):
        return source.error(f"not valid JSON: {error.msg} (character {error.colno}){hint}", "bad_json", line)
    if isinstance(error, RecursionError):
        return source.error("nested too deeply", "bad_json", line)
    # All that is left: Python reads whole numbers of up to 4300 digits.
    return source.error("a whole number has more digits than can be read; write it as a text", "bad_json", line)


def _leftover(rest: str, end: int) -> str:
    if rest.strip(_BLANKS) == ",":
        return "a comma after the object: in JSON Lines every line stands alone"
    return f"not valid JSON: more text after the first value (character {end + 1})"


def _hint(body: str) -> str:
    if body == "{":
        return ". A JSON document over several lines? Name it .json"
    if not body.startswith(("{", "[")):
        return ". Every line must be one JSON object; a table is named .csv or .tsv"
    return "" if body.endswith("}") else ". The line seems to be cut off" if body.startswith("{") else ""


def _kind_of(value: Any) -> str:
    if isinstance(value, list):
        return "an array"
    names = {str: "a text", bool: "true or false", type(None): "null", dict: "an object"}
    return names.get(cast("type[Any]", type(value)), "a number")
