"""Parquet, saved Hugging Face datasets, data frames and iterables -> records. Streams; loads packages on use only.

Missing numbers (NaN, NaT, NA) are null; numpy and pandas values become Python's. Lines are row numbers here.
"""

from __future__ import annotations

import importlib
import json
import os.path
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from jury.errors import DataError, JuryError, MissingExtra
from jury.redaction import told

Record = tuple[int, Mapping[str, Any]]
_BATCH = 1024
_USUAL = frozenset({str, int, bool, type(None), list, dict})
_DICT, _STATE = "dataset_dict.json", "state.json"  # what `save_to_disk` writes


def is_parquet(path: Path) -> bool:
    """Does the file end in `.parquet`, or begin as Parquet does? Pipes are not looked into: what is read is gone."""
    if not os.path.isfile(path):  # unlike `Path.is_file` it raises nothing where no look is allowed
        return False
    if path.suffix.lower() == ".parquet":
        return True
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError:
        return False


def read_parquet(path: Path) -> Iterator[Record]:
    """The rows of a Parquet file, in batches. Raises `MissingExtra` without pyarrow."""
    arrow, parquet = _arrow(path), importlib.import_module("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            _distinct(file.schema_arrow.names, str(path))
            yield from _numbered(file.iter_batches(batch_size=_BATCH))
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read: {error}", "unreadable", file=str(path)) from None


def read_folder(path: Path) -> Iterator[Record]:
    """The rows of a folder that `Dataset.save_to_disk` wrote; of one split, where it holds several."""
    if os.path.isfile(path / _DICT):
        splits = _listed(path / _DICT, lambda state: [path / name for name in state["splits"]])
        if len(splits) != 1:
            named = " or ".join(map(str, splits)) or "a file: this one names none"
            raise DataError(f"{path} holds several splits: give {named}", "unreadable", file=str(path))
        path = splits[0]
    if not os.path.isfile(path / _STATE):
        told = "is a folder, and no saved dataset: give a file, or a pattern such as"
        raise DataError(f"{path} {told} {path / _example(path)}", "unreadable", file=str(path))
    files = _listed(path / _STATE, lambda state: [path / file["filename"] for file in state["_data_files"]])
    arrow = _arrow(path)
    try:
        yield from _numbered(batch for file in files for batch in _stream(arrow, file))
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read: {error}", "unreadable", file=str(path)) from None


def _listed(path: Path, read: Callable[[Any], list[Path]]) -> list[Path]:
    """The files that a part of a saved dataset names."""
    try:
        return read(json.loads(path.read_bytes()))
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        why = (error.strerror or error) if isinstance(error, OSError) else "it is damaged, or not of a saved dataset"
        raise DataError(f"{path}: cannot be read: {why}", "unreadable", file=str(path)) from None


def _example(path: Path) -> str:
    """A pattern for the files in a folder, by the ending that most of them have."""
    with suppress(OSError):
        endings = Counter(file.suffix for file in path.iterdir() if file.suffix)
        return f"*{max(endings, key=lambda e: (endings[e], e), default='.jsonl')}"
    return "*.jsonl"


def read_frame(frame: Any) -> Iterator[Record]:
    """The rows of a polars or pandas frame, or of any iterable of mappings (a list, a Hugging Face dataset)."""
    if hasattr(frame, "iter_rows"):  # polars
        yield from ((number, _record(row)) for number, row in enumerate(frame.iter_rows(named=True), 1))
    elif hasattr(frame, "itertuples"):  # pandas
        names = _distinct([str(c) for c in frame.columns], "frame")
        for number, cells in enumerate(frame.itertuples(index=False, name=None), 1):
            yield number, {name: _plain(cell) for name, cell in zip(names, cells, strict=True)}
    elif isinstance(frame, str | bytes | Mapping) or not isinstance(frame, Iterable):
        kind = type(cast("Any", frame)).__name__
        raise DataError(f"rows come from a path, a frame or an iterable of mappings, not from a {kind}", "unreadable")
    else:
        for number, row in enumerate(_given(cast("Iterable[Any]", frame)), 1):
            if not isinstance(row, dict) and not isinstance(row, Mapping):  # the usual kind is told faster
                message = f"row {number}: a row must be a mapping, this is a {type(row).__name__}"
                raise DataError(message, "not_object", line=number)
            yield number, _record(cast("Mapping[str, Any]", row))


def _given(data: Iterable[Any]) -> Iterator[Any]:
    """What an iterable of the caller's gives. What it raises is a fault of the data: in a run, calls in flight end."""
    number = 0
    try:
        for number, row in enumerate(data, 1):  # noqa: B007 - how far it came
            yield row
    except JuryError:
        raise
    except Exception as error:
        raise DataError(f"row {number + 1}: the data raised {told(error)}", "unreadable", line=number + 1) from error


def _stream(arrow: Any, file: Path) -> Iterator[Any]:
    with arrow.memory_map(str(file)) as source, arrow.ipc.open_stream(source) as batches:
        yield from batches


def _numbered(batches: Iterable[Any]) -> Iterator[Record]:
    number = 0
    for batch in batches:
        for row in batch.to_pylist():
            number += 1
            yield number, _record(row)


def _record(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row, with null for what is missing and Python's values for those of numpy and pandas."""
    odd = [n for n, cell in row.items() if type(cell) not in _USUAL and not (type(cell) is float and cell == cell)]
    return {**row, **{name: _plain(row[name]) for name in odd}} if odd else row


def _distinct(names: list[str], what: str) -> list[str]:
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise DataError(f"{what}: the column {twice!r} occurs twice", "duplicate_column")
    return names


def _plain(cell: Any) -> Any:
    """A cell as Python has it."""
    if isinstance(cell, str | list | dict) or cell is None:
        return cast("Any", cell)
    item = getattr(cell, "item", None)
    value = item() if callable(item) and getattr(cell, "shape", None) == () else cell
    if type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value):
        return None
    listed = getattr(value, "tolist", None)
    return listed() if callable(listed) else value


def _arrow(path: Path) -> Any:
    try:
        importlib.import_module("pyarrow.ipc")
        return importlib.import_module("pyarrow")
    except ImportError:
        raise MissingExtra(f"{path}: reading this needs the package pyarrow: pip install pyarrow") from None
