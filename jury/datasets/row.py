"""`Row`: one record of a data file, and where it stands. Reads nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from jury.errors import DataError
from jury.frozen import frozen


@frozen
class Row:
    """One record of a data file.

    `values` are the columns as the file has them (cells of a table are texts). `mapped` holds what a column map made of
    them, by field name (`columns.py`). `line` is where the record starts, from 1, header and blank lines counted;
    `number` its place among the rows, from 1.
    """

    values: Mapping[str, Any]
    line: int = 1
    number: int = 1
    file: str = ""
    mapped: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def place(self) -> str:
        """`answers.jsonl, line 7`, as error messages begin."""
        return f"{self.file}, line {self.line}" if self.file else f"line {self.line}"


def id_text(value: Any) -> str | None:
    """An id as every results file writes it: number 1 and text "1" are the same; null and blank are no id."""
    if value is None:
        return None
    text = value if isinstance(value, str) else json_text(value)
    return text if text.strip() else None


def json_text(value: Any, indent: int | None = None) -> str:
    """A value as JSON; what JSON does not know as its text. Raises `DataError`."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    except (ValueError, RecursionError):
        told = "holds itself, is nested too deeply or has a whole number of more digits than can be written"
        raise DataError(f"a value {told}", "wrong_type") from None
