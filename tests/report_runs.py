"""Small runs whose every number can be counted by hand, for the tests of reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jury import JudgeSpec, ScriptedProvider
from jury.errors import CallError
from jury.providers.base import Request
from jury.runner import RunSpec, run_sync
from jury.store import Run

Answer = Callable[[str], Any]


def seat(name: str, answer: Answer) -> JudgeSpec:
    """A judge that answers by what it reads; an object is dumped as JSON."""

    def reply(request: Request) -> str:
        said = answer(request.turns[0].text)
        return said if isinstance(said, str) else json.dumps(said)

    return JudgeSpec(f"scripted/{name}", id=name, provider=ScriptedProvider(reply))


def run(folder: Path, rows: Sequence[dict[str, Any]], kind: str = "pointwise", **jury: Any) -> Run:
    """A run of these rows in this folder."""
    run_sync(RunSpec(list(rows), jury, kind=kind, cache=False), folder)
    return Run.open(folder)


def sums(folder: Path) -> Run:
    """Nine sums by three judges.

    s0 to s5 are right, s6 and s7 wrong (`22`), s8 errored. `odd` fails s5 as well, and gives no JSON on s1; every judge
    quotes the answer, and `odd` on s0 what is not there.
    """

    def says(name: str) -> Answer:
        def answer(text: str) -> Any:
            if name == "odd" and "1 + 1" in text:
                return "I cannot say."
            right = "22" not in text and not (name == "odd" and "5 + 5" in text)
            quote = "no such words" if name == "odd" and "0 + 0" in text else "The sum is"
            why = "The sum is added correctly." if right else "The digits are joined, they are not added."
            return {"evidence": [quote], "explanation": why, "value": right}

        return answer

    rows: list[dict[str, Any]] = [
        {"id": f"s{i}", "input": f"{i} + {i}", "output": f"The sum is {2 * i}.", "tags": ["small"]} for i in range(6)
    ]
    rows += [{"id": f"s{i}", "input": "2 + 2", "output": "The sum is 22."} for i in (6, 7)]
    rows.append({"id": "s8", "input": "8 + 8", "output": "", "error": "timed out"})
    judges = [seat(name, says(name)) for name in ("one", "two", "odd")]
    return run(folder, rows, criteria="The sum is right.", judges=judges, reask=0)


def broken(row: dict[str, Any]) -> Any:
    """A judge function that fails, or says what its row says."""
    if row.get("fault"):
        raise CallError("server_error", row["fault"])
    return {"value": row["said"], "explanation": row.get("why", "")}
