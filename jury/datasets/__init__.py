"""Data -> rows -> items: JSONL, JSON, CSV, TSV (from files or standard input, plain, .gz, .zst), Parquet, frames.

    packed.py     gzip, zstd                source.py bytes -> numbered lines: encoding, byte order marks
    jsonlines.py  lines -> objects          table.py  lines -> rows of a table
    columns.py    which column is which field, and the column map
    frames.py     Parquet, saved Hugging Face datasets, pandas and polars frames
    items.py      `to_item`, `to_pair`      ids.py    duplicate ids, in flat memory
    joined.py     two files of answers as pairs

Rows are streamed: the whole file is never in memory, but for a JSON document (an array is one JSON text). Whatever is
wrong with a file is a `DataError` with its file, its line and one of these kinds: `not_found`, `unreadable`,
`encoding`, `bad_json`, `bad_csv`, `not_object`, `no_rows`, `delimiter`, `duplicate_id`, `duplicate_column`,
`missing_column`, `ambiguous_column`, `ragged_row`. No session exports here, and nothing of judging.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from jury.datasets.columns import FIELDS, ColumnMap, find, missing, parse_map
from jury.datasets.frames import is_parquet, read_folder, read_frame, read_parquet
from jury.datasets.globs import files_of, is_glob
from jury.datasets.ids import SeenIds
from jury.datasets.items import item_id, to_item, to_pair, to_question
from jury.datasets.joined import Joined
from jury.datasets.jsonlines import looks_like_json, read_json
from jury.datasets.row import Row, id_text
from jury.datasets.source import STDIN, Source
from jury.datasets.table import read_table
from jury.errors import DataError

__all__ = [
    "FIELDS",
    "STDIN",
    "ColumnMap",
    "Joined",
    "Row",
    "files_of",
    "find",
    "is_glob",
    "item_id",
    "parse_map",
    "records",
    "rows",
    "to_item",
    "to_pair",
    "to_question",
]

_TABLES = (".csv", ".tsv", ".tab")
_LINES = (".jsonl", ".ndjson")


def rows(
    data: Any,
    needs: Sequence[str] = (),
    mapping: Mapping[str, str] | None = None,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Iterator[Row]:
    """The rows of `data`, one after the other.

    `data`: a path (`-` is standard input), a pattern such as `logs/*.jsonl` or a list of paths and patterns (their
    rows are counted through, one file after the other), a pandas or polars frame, or an iterable of mappings.
    `needs`: columns that every row must have. `mapping`: field -> column, path or template (`columns.ColumnMap`).
    `encoding`: of a file that is not UTF-8. `delimiter`: of a table, where it cannot be told.
    A wrong mapping raises `ConfigError` at once; a fault of the file raises `DataError` when it is reached.
    """
    columns = ColumnMap(mapping)
    listed: list[Any] = list(cast("Any", data)) if isinstance(data, list | tuple) else []
    parts: list[Any] = listed if listed and all(isinstance(d, str | Path) for d in listed) else [cast("object", data)]
    return _walk(parts, (encoding, delimiter), tuple(needs), columns)


def _walk(
    parts: Sequence[Any], how: tuple[str | None, str | None], needs: tuple[str, ...], columns: ColumnMap
) -> Iterator[Row]:
    number = 0
    name = ""
    with SeenIds() as seen:
        for number, (name, line, values) in enumerate(_records_of(parts, how), 1):
            row = Row(values, line, number, name)
            if needs and (absent := [column for column in needs if column not in values]):
                raise missing(row, absent)
            if mapped := columns.apply(row):
                row = replace(row, mapped=mapped)
            _check_id(row, seen)
            yield row
    if not number:
        name = ", ".join(_open(part, *how)[0] for part in parts)
        raise DataError(f"{name}: no rows", "no_rows", file=name)


def _records_of(
    parts: Sequence[Any], how: tuple[str | None, str | None]
) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """(what it is called in errors, line, columns) of each record, file after file; patterns become their files."""
    for part in parts:
        for file in files_of(part) if is_glob(part) else [part]:
            name, records = _open(file, *how)
            for line, values in records:
                yield name, line, values


def _open(
    data: Any, encoding: str | None, delimiter: str | None
) -> tuple[str, Iterator[tuple[int, Mapping[str, Any]]]]:
    """What the data are called in errors, and their records (from 1: line, columns). Opens nothing yet."""
    if not isinstance(data, str | Path):
        return "data", read_frame(data)
    path = Path(data)
    if str(data) != STDIN and os.path.isdir(path):
        return str(data), read_folder(path)
    if str(data) != STDIN and is_parquet(path):
        return str(data), read_parquet(path)
    return "<stdin>" if str(data) == STDIN else str(data), records(data, encoding, delimiter)


def records(
    path: str | Path, encoding: str | None = None, delimiter: str | None = None
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(line, columns) of each record of one file of text, as it stands there: no column map, no ids."""
    with Source(path, encoding) as source:
        yield from _records(source, delimiter)


def _records(source: Source, delimiter: str | None) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if source.stem.endswith(_TABLES):
        return read_table(source, delimiter)
    if source.stem.endswith(_LINES):
        return read_json(source, lines_only=True)
    if source.stem.endswith(".json") or looks_like_json(source.first_text()):
        return read_json(source, lines_only=False)
    return read_table(source, delimiter)


def _check_id(row: Row, seen: SeenIds) -> None:
    found = find(row, "id")
    text = id_text(found.value) if found else None
    if text is None:
        return
    earlier = seen.before(text, row.number, row.line)
    if earlier is not None:
        number, line = earlier
        where = f"rows {number} and {row.number} (lines {line} and {row.line})"
        message = f"{row.place}: the id {text!r} occurs twice, in {where}; results are kept by id"
        message += " (to use row numbers instead: --map id=)"
        raise DataError(message, "duplicate_id", file=row.file, line=row.line)
