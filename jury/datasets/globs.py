"""Patterns of file names: `logs/*.jsonl`, `**/answers-??.csv.gz` -> the files, in the order of their names."""

from __future__ import annotations

import glob
import os.path
from pathlib import Path
from typing import Any

from jury.errors import DataError

_MARKS = frozenset("*?[")


def is_glob(data: Any) -> bool:
    """Whether this is a pattern, and no file that has such a name."""
    return isinstance(data, str | Path) and bool(_MARKS & set(str(data))) and not os.path.exists(data)


def files_of(pattern: str | Path) -> list[Path]:
    """The files that match, sorted by name; hidden ones and folders are left out. Raises `DataError` for none."""
    found = sorted(glob.glob(str(Path(pattern).expanduser()), recursive=True))
    files = [Path(f) for f in found if Path(f).is_file()]
    if not files:
        told = "only folders match" if found else "no file matches"
        raise DataError(f"{pattern}: {told}", "not_found", file=str(pattern))
    return files
