"""Rows of the data as items on their way to the jury: what is judged, and what the run folder keeps of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

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


@frozen
class Entry:
    """One item: `item` is what the folder keeps, `point` and `output` (or `pair`, `recording`) what the jury gets.

    Where a target makes the output, `output` is None until it has, and the item's digest is of what it is asked.
    The rest is of items that are asked about again: `asked` says who alone is asked, with the criterion, `times` how
    often each question is put, `questions` what they are where the jury cannot make them.
    """

    item: StoredItem
    point: DataPoint | None = None
    output: Output | None = None
    pair: ResponsePair | None = None
    recording: Recording | None = None
    asked: frozenset[tuple[str, str | None]] | None = None  # None: everybody whose turn it is
    times: int = 1
    questions: tuple[tuple[Seat, Case], ...] = ()


def entries(spec: RunSpec) -> Iterator[Entry]:
    """The items of a run's data, one after the other. Raises `DataError` where it is reached."""
    if spec.data is None:
        raise ConfigError("data: which file is to be judged?")
    if spec.kind == "session":
        for one in islice(recordings(spec.data, spec.format), spec.limit):
            yield Entry(one.item, recording=one)
        return
    found = rows(spec.data, mapping=spec.map or None, encoding=spec.encoding, delimiter=spec.delimiter)
    for row in islice(found, spec.limit):
        yield entry_of(row, spec.kind) if spec.target is None else item_entry(to_question(row), None)


def entry_of(row: Row, kind: str) -> Entry:
    """One row as an item (or a pair, where `kind` is `pairwise`). Raises `DataError`."""
    return _of_pair(row) if kind == "pairwise" else _of_item(row)


def from_stdin(spec: RunSpec) -> bool:
    """Whether the data can be read once only (standard input, a pipe), and reading may wait for another program."""
    if not isinstance(spec.data, str):
        return False
    path = Path(spec.data)
    return spec.data == STDIN or (path.exists() and not path.is_file() and not path.is_dir())


def _of_item(row: Row) -> Entry:
    return item_entry(*to_item(row))


def item_entry(point: DataPoint, made: Output | None) -> Entry:
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
    return Entry(item, point=point, output=made)


def _of_pair(row: Row) -> Entry:
    pair = to_pair(row)
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
    return Entry(item, pair=pair)


def _digest(name: Any, kept: Mapping[str, Any], more: str) -> str:
    """Over everything that judges could see; the id, the number and the trace are not shown to them."""
    shown = {k: v for k, v in kept.items() if v and k != "trace_id"}
    try:
        text = encode(shown)
    except RecursionError:
        raise DataError(f"item {name}: its data is nested too deep to be kept (or holds itself)", "too_deep") from None
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
