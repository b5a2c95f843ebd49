"""`load_rows` of field.json: translates names, nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from jury.datasets import rows
from jury.errors import DataError
from tests.conformance.cases import folder, load

CASES = [c for c in load("field.json")["cases"] if c["op"] == "load_rows"]

# Another process, for the cases that name a locale.
READER = """
import json, sys
from jury.datasets import rows
print(json.dumps([dict(r.values) for r in rows(sys.argv[1])]))
"""


@pytest.mark.parametrize("case", CASES, ids=[c["id"] for c in CASES])
def test_field(case: dict[str, Any]) -> None:
    given = case["input"]
    path = str(folder() / given["file"])
    try:
        if "locale" in given:
            env = {**os.environ, "LC_ALL": given["locale"], "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
            done = subprocess.run([sys.executable, "-c", READER, path], env=env, capture_output=True, check=True)
            found: list[dict[str, Any]] | DataError = json.loads(done.stdout)
        else:
            found = [dict(r.values) for r in rows(path, needs=tuple(given.get("needs", ())))]
    except DataError as error:
        found = error
    wanted = case["expect"].get("any_of", [case["expect"]])
    assert any(fits(found, w) for w in wanted), found


def fits(found: list[dict[str, Any]] | DataError, want: dict[str, Any]) -> bool:
    if isinstance(found, DataError):
        error = want.get("error")
        return bool(error) and found.kind == error["kind"] and all(says(str(found), t) for t in error.get("says", []))
    ok = want.get("ok")
    if not ok:
        return False
    lengths = {column: [len(r[column]) for r in found] for column in ok.get("lengths", {})}
    return (
        ok.get("row_count", len(found)) == len(found)
        and ok.get("lengths", {}) == lengths
        and ("rows" not in ok or (len(found) == len(ok["rows"]) and all(map(same, found, ok["rows"]))))
    )


def same(row: dict[str, Any], want: dict[str, Any]) -> bool:
    for key, value in want.items():
        if key.endswith("_any_of"):
            if row.get(key.removesuffix("_any_of")) not in value:
                return False
        elif key not in row or type(row[key]) is not type(value) or row[key] != value:
            return False
    return True


def says(message: str, text: str) -> bool:
    return any(part.lower() in message.lower() for part in text.split("|"))
