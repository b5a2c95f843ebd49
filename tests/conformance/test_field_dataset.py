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
from tests.conformance.cases import folder, load, params
from tests.conformance.comparing import Failed, fits

CASES = [c for c in load("field.json")["cases"] if c["op"] == "load_rows"]

# Another process, for the cases that name a locale.
READER = """
import json, sys
from jury.datasets import rows
print(json.dumps([dict(r.values) for r in rows(sys.argv[1])]))
"""


def read(given: dict[str, Any]) -> list[dict[str, Any]]:
    path = str(folder() / given["file"])
    if "locale" not in given:
        return [dict(row.values) for row in rows(path, needs=tuple(given.get("needs", ())))]
    env = {**os.environ, "LC_ALL": given["locale"], "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", READER, path], env=env, capture_output=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", params(CASES))
def test_field(case: dict[str, Any]) -> None:
    found: Any
    try:
        records = read(case["input"])
    except DataError as error:
        found = Failed(error.kind, str(error))
    else:
        columns = [c for c in records[0] if isinstance(records[0][c], str)]
        lengths = {c: [len(r[c]) for r in records] for c in columns}
        found = {"rows": records, "row_count": len(records), "lengths": lengths}
    assert fits(found, case["expect"]), found
