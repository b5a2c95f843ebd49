"""The folder of conformance cases: `JURY_CASES`, or `shared/cases` beside the checkout. Finds and reads, nothing else.

Without that folder the tests of this directory are skipped; what a case means stands in the folder's own README.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def folder() -> Path:
    """Where the cases are. Skips the calling module where they are not."""
    given = os.environ.get("JURY_CASES")
    path = Path(given) if given else Path(__file__).resolve().parents[3] / "shared" / "cases"
    if not path.is_dir():
        pytest.skip(f"no conformance cases at {path}: set JURY_CASES to their folder", allow_module_level=True)
    return path


def load(name: str) -> Any:
    """The parsed file; `{"special": "nan"}` and its like are floats already. Skips where the folder lacks the file."""
    path = folder() / name
    if not path.is_file():
        pytest.skip(f"the folder of cases holds no {name}", allow_module_level=True)
    return json.loads(path.read_text("utf-8"), object_hook=_revive)


def params(cases: Iterable[dict[str, Any]], xfail: Callable[[dict[str, Any]], str | None] | None = None) -> list[Any]:
    """One test parameter a case, named by its id or its index. `xfail` says why a case cannot pass yet, or None."""
    made: list[Any] = []
    for index, case in enumerate(cases):
        reason = xfail(case) if xfail else None
        marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
        made.append(pytest.param(case, id=str(case.get("id", index)), marks=marks))
    return made


def _revive(value: dict[str, Any]) -> Any:
    return _SPECIAL[value["special"]] if list(value) == ["special"] and value["special"] in _SPECIAL else value
