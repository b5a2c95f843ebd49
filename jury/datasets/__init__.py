"""Data files -> rows -> items. JSONL, JSON, CSV and TSV, from a file or standard input, plain, .gz or .zst.

    packed.py     gzip, zstd                source.py bytes -> numbered lines: encoding, byte order marks
    jsonlines.py  lines -> objects          table.py  lines -> rows of a table
    columns.py    which column is which field, and the column map
    items.py      `to_item`, `to_pair`      ids.py    duplicate ids, in flat memory

Rows are streamed: the whole file is never in memory, but for a JSON document (an array is one JSON text). Whatever is
wrong with a file is a `DataError` with its file, its line and one of these kinds: `not_found`, `unreadable`,
`encoding`, `bad_json`, `bad_csv`, `not_object`, `no_rows`, `delimiter`, `duplicate_id`, `duplicate_column`,
`missing_column`, `ambiguous_column`, `ragged_row`. No session exports here, and nothing of judging.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jury.datasets.columns import FIELDS, ColumnMap, find, missing, parse_map
from jury.datasets.ids import SeenIds
from jury.datasets.items import item_id, to_item, to_pair
from jury.datasets.jsonlines import looks_like_json, read_json
from jury.datasets.row import Row, id_text
from jury.datasets.source import STDIN, Source
from jury.datasets.table import read_table

__all__ = ["FIELDS", "STDIN", "ColumnMap", "Row", "find", "item_id", "parse_map", "rows", "to_item", "to_pair"]

_TABLES = (".csv", ".tsv", ".tab")
_LINES = (".jsonl", ".ndjson")


def rows(
    path: str | Path,
    needs: Sequence[str] = (),
    mapping: Mapping[str, str] | None = None,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Iterator[Row]:
    """The rows of a data file, one after the other. `path` `-` is standard input.

    `needs`: columns that every row must have. `mapping`: field -> column, path or template (`columns.ColumnMap`).
    `encoding`: of a file that is not UTF-8. `delimiter`: of a table, where it cannot be told.
    A wrong mapping raises `ConfigError` at once; a fault of the file raises `DataError` when it is reached.
    """
    columns = ColumnMap(mapping)
    return _walk(path, tuple(needs), columns, encoding, delimiter)


def _walk(
    path: str | Path, needs: tuple[str, ...], columns: ColumnMap, encoding: str | None, delimiter: str | None
) -> Iterator[Row]:
    with Source(path, encoding) as source, SeenIds() as seen:
        number = 0
        for number, (line, values) in enumerate(_records(source, delimiter), 1):
            row = Row(values, line, number, source.name)
            absent = [name for name in needs if name not in values]
            if absent:
                raise missing(row, absent)
            mapped = columns.apply(row)
            row = replace(row, mapped=mapped) if mapped else row
            _check_id(row, seen, source)
            yield row
        if not number:
            raise source.error("no rows", "no_rows")


def _records(source: Source, delimiter: str | None) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if source.stem.endswith(_TABLES):
        return read_table(source, delimiter)
    if source.stem.endswith(_LINES):
        return read_json(source, lines_only=True)
    if source.stem.endswith(".json") or looks_like_json(source.first_text()):
        return read_json(source, lines_only=False)
    return read_table(source, delimiter)


def _check_id(row: Row, seen: SeenIds, source: Source) -> None:
    found = find(row, "id")
    text = id_text(found.value) if found else None
    if text is None:
        return
    earlier = seen.before(text, row.number, row.line)
    if earlier is not None:
        number, line = earlier
        message = f"the id {text!r} occurs twice, in rows {number} and {row.number} (lines {line} and {row.line})"
        message += "; results are kept by id (to use row numbers instead: --map id=)"
        raise source.error(message, "duplicate_id", row.line)
