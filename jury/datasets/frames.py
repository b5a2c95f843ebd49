"""Parquet, saved Hugging Face datasets, data frames and iterables -> records. Streams; loads packages on use only.

Missing numbers of a frame (NaN, NaT, NA) are null; numpy and pandas values become Python's. Lines are row numbers here.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from jury.errors import DataError, MissingExtra

Record = tuple[int, Mapping[str, Any]]
_BATCH = 1024
_DICT, _STATE = "dataset_dict.json", "state.json"  # what `save_to_disk` writes


def is_parquet(path: Path) -> bool:
    """Does the file end in `.parquet`, or begin as Parquet does? Pipes are not looked into: what is read is gone."""
    if path.suffix.lower() == ".parquet":
        return path.is_file()
    if not path.is_file():
        return False
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
    if (path / _DICT).is_file():
        splits = cast("list[str]", json.loads((path / _DICT).read_text("utf-8")).get("splits", []))
        if len(splits) != 1:
            named = " or ".join(str(path / s) for s in splits)
            raise DataError(f"{path} holds several splits: give {named}", "unreadable", file=str(path))
        path = path / splits[0]
    if not (path / _STATE).is_file():
        raise DataError(f"{path} is a folder, and no saved dataset: give a file", "unreadable", file=str(path))
    arrow = _arrow(path)
    files = [path / f["filename"] for f in json.loads((path / _STATE).read_text("utf-8")).get("_data_files", [])]
    try:
        yield from _numbered(batch for file in files for batch in _stream(arrow, file))
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read: {error}", "unreadable", file=str(path)) from None


def read_frame(frame: Any) -> Iterator[Record]:
    """The rows of a polars or pandas frame, or of any iterable of mappings (a list, a Hugging Face dataset)."""
    if hasattr(frame, "iter_rows"):  # polars
        yield from enumerate(frame.iter_rows(named=True), 1)
    elif hasattr(frame, "itertuples"):  # pandas
        names = _distinct([str(c) for c in frame.columns], "frame")
        for number, cells in enumerate(frame.itertuples(index=False, name=None), 1):
            yield number, {name: _plain(cell) for name, cell in zip(names, cells, strict=True)}
    elif isinstance(frame, str | bytes | Mapping) or not isinstance(frame, Iterable):
        kind = type(cast("Any", frame)).__name__
        raise DataError(f"rows come from a path, a frame or an iterable of mappings, not from a {kind}", "unreadable")
    else:
        for number, row in enumerate(cast("Iterable[Any]", frame), 1):
            if not isinstance(row, dict) and not isinstance(row, Mapping):  # the usual kind is told faster
                message = f"row {number}: a row must be a mapping, this is a {type(row).__name__}"
                raise DataError(message, "not_object", line=number)
            yield number, cast("Mapping[str, Any]", row)


def _stream(arrow: Any, file: Path) -> Iterator[Any]:
    with arrow.memory_map(str(file)) as source, arrow.ipc.open_stream(source) as batches:
        yield from batches


def _numbered(batches: Iterable[Any]) -> Iterator[Record]:
    number = 0
    for batch in batches:
        for row in batch.to_pylist():
            number += 1
            yield number, row


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
