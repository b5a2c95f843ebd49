"""Rows of the data as items on their way to the jury: what is judged, and what the run folder keeps of it."""

from __future__ import annotations

import hashlib
import json
import marshal
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

from jury.data import DataPoint, Output, ResponsePair
from jury.datasets import STDIN, Row, rows, to_item, to_pair, to_question
from jury.errors import ConfigError, DataError
from jury.frozen import frozen
from jury.judge import Case, Seat
from jury.messages import text_of, to_messages
from jury.runner.recordings import Recording, recordings
from jury.runner.spec import RunSpec
from jury.store import StoredItem
from jury.store.lines import digest, encode
from jury.store.records import tags_of

Source = Row | Recording  # what an item is made of


@frozen
class Entry:
    """One item: `item` is what the folder keeps, `point` and `output` (or `pair`, `recording`) what the jury gets.

    Where a target makes the output, `output` is None until it has, and the item's digest is of what it is asked; so are
    `recording` and `pair`, of which `half` is what the data says.
    The rest is of items that are asked about again: `asked` says who alone is asked, with the criterion, `times` how
    often each question is put, `questions` what they are where the jury cannot make them. `mark`: as of `mark_of`.
    """

    item: StoredItem
    point: DataPoint | None = None
    output: Output | None = None
    pair: ResponsePair | None = None
    half: ResponsePair | None = None
    recording: Recording | None = None
    asked: frozenset[tuple[str, str | None]] | None = None  # None: everybody whose turn it is
    times: int = 1
    questions: tuple[tuple[Seat, Case], ...] = ()
    mark: int = 0


def entries(spec: RunSpec) -> Iterator[Entry]:
    """The items of a run's data, one after the other. Raises `DataError` where it is reached."""
    return (made(spec, source) for source in sources(spec))


def sources(spec: RunSpec) -> Iterator[Source]:
    """What the items of a run are made of, one after the other. Raises `DataError` where it is reached."""
    if spec.data is None:
        raise ConfigError("data: which file is to be judged?")
    if isinstance(spec.data, Begun):
        yield from spec.data.rows
        return
    if spec.kind == "session" and spec.target is None:
        yield from islice(recordings(spec.data, spec.format), spec.limit)
        return
    found = rows(spec.data, mapping=spec.map or None, encoding=spec.encoding, delimiter=spec.delimiter)
    yield from islice(found, spec.limit)


def made(spec: RunSpec, source: Source, mark: int = 0) -> Entry:
    """The item that is made of a row or a session. Raises `DataError`."""
    if isinstance(source, Recording):
        return Entry(source.item, recording=source)
    if spec.targets is not None:
        half = to_pair(source, spec.targets)
        return Entry(pair_entry(half).item, point=to_question(source), half=half, mark=mark)
    return entry_of(source, spec.kind, mark) if spec.target is None else item_entry(to_question(source), None, mark)


def mark_of(source: Source, seal: str) -> int:
    """63 bits of a row and of what it is judged by: where they are the same, so is the item with all its texts.

    0 where they cannot be had: of sessions, and of rows with other values than JSON has. Not kept in any file but the
    index: it may be made in another way at any time.
    """
    if isinstance(source, Recording):
        return 0
    try:
        row = cast("Any", (seal, source.number, source.values, source.mapped))
        data = marshal.dumps(row, 2)  # 2: no references, so that the same values are the same bytes
    except ValueError:
        return 0
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big") >> 1


def entry_of(row: Row, kind: str, mark: int = 0) -> Entry:
    """One row as an item (or a pair, where `kind` is `pairwise`). Raises `DataError`."""
    return pair_entry(to_pair(row), mark) if kind == "pairwise" else item_entry(*to_item(row), mark)


class Begun(str):
    """The name of data that can be read once, with its rows, of which the first was looked at."""

    rows: Iterator[Source]


def begun(spec: RunSpec) -> RunSpec:
    """A run over data that can be read once, when it has given its first row. Raises `DataError` for one that is none,
    and where none comes."""
    found = sources(spec)
    first = next(found)
    made(spec, first)
    data = Begun(spec.data)
    data.rows = chain((first,), found)
    return spec.with_changes(data=data)


def from_stdin(spec: RunSpec) -> bool:
    """Whether the data can be read once only (standard input, a pipe), and reading may wait for another program."""
    if not isinstance(spec.data, str):
        return False
    path = Path(spec.data)
    return spec.data == STDIN or (path.exists() and not path.is_file() and not path.is_dir())


def item_entry(point: DataPoint, made: Output | None, mark: int = 0) -> Entry:
    """A data point and its output as an item; without one as a question to a target."""
    output = made or Output()
    question, messages = _asked(point)
    error = output.target_error
    kept: dict[str, Any] = {
        "trace_id": point.trace_id,
        "input": question,
        "messages": messages,
        "output": output.text if output.value is None else _shown(output.value),
        "expected_output": _shown(point.expected_output),
        "context": point.context,
        "error": str(error) if error is not None else None,
        "row": point.row,
    }
    more = repr((output.items, point.system_instructions)) if len(output.items) != 1 else point.system_instructions
    item = StoredItem(
        id=str(point.id),
        number=point.number or 0,
        digest=_digest(point.id, kept, more),
        tags=tags_of(point.row or {}),
        **kept,
    )
    return Entry(item, point=point, output=made, mark=mark)


def pair_entry(pair: ResponsePair, mark: int = 0) -> Entry:
    """Two answers to one question as an item."""
    sides = (pair.response_a, pair.response_b)
    errors = [f"response {n}: {o.target_error}" for n, o in zip("AB", sides, strict=True) if o.target_error is not None]
    kept: dict[str, Any] = {
        "trace_id": pair.trace_id,
        "question": pair.question,
        "response_a": _side(pair.response_a),
        "response_b": _side(pair.response_b),
        "reference": pair.reference,
        "error": "; ".join(errors) or None,
        "row": pair.row,
    }
    item = StoredItem(
        id=str(pair.id),
        number=pair.number or 0,
        digest=_digest(pair.id, kept, repr(sides)),
        tags=tags_of(pair.row or {}),
        **kept,
    )
    return Entry(item, pair=pair, mark=mark)


def _digest(name: Any, kept: Mapping[str, Any], more: str) -> str:
    """Over everything that judges could see; the id, the number and the trace are not shown to them."""
    shown = {k: v for k, v in kept.items() if v and k != "trace_id"}
    try:
        text = encode(shown)
    except RecursionError:
        raise DataError(f"item {name}: its data is nested too deep to be kept (or holds itself)", "too_deep") from None
    except DataError as error:
        raise DataError(f"item {name}: {error}", error.kind) from None
    return digest(f"{text}\0{more}".encode("utf-8", "surrogatepass"))


def _asked(point: DataPoint) -> tuple[str, tuple[Mapping[str, Any], ...]]:
    if point.input is None or isinstance(point.input, str):
        return point.input or "", ()
    turns = to_messages(point)
    if len(turns) == 1 and turns[0].role == "user":
        return text_of(turns[0].content), ()
    messages = tuple({"role": t.role, "content": text_of(t.content)} for t in turns)
    return "\n\n".join(f"{m['role']}: {m['content']}" for m in messages), messages


def _side(output: Output) -> str:
    return output.text if output.value is None else _shown(output.value)


def _shown(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)
