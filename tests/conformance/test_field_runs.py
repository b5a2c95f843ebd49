"""field.json: runs that are done twice in one folder, through the command line; and what comes back from a batch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from jury.cli.__main__ import main
from jury.providers import registry
from jury.providers.batches import outcomes
from jury.results import Reply
from jury.store import Run
from tests.conformance.cases import load, params
from tests.conformance.comparing import fits, says

LABELS = ["PASS", "FAIL", "NA"]


def one_run(folder: Path, given: Mapping[str, Any], rows: int, name: str) -> list[Any]:
    """`jury run` with one scripted judge whose model is a file of replies; the lines of the results file."""
    script = folder / f"{given['judge']}.json"
    script.write_text(json.dumps([r and r.replace('"verdict"', '"value"') for r in given["replies"]]))
    registry.reset()  # a script is read once in a process
    data = folder / f"{name}.jsonl"
    data.write_text("".join(json.dumps({"id": f"r{i}", "input": "q", "output": f"a{i}"}) + "\n" for i in range(rows)))
    config = {
        "data": data.name,
        "criteria": "Is it right?",
        "prompt": given["template"] + " {{criteria}} {{output.response}}",
        "judges": [{"model": f"scripted/{script}", "retries": 0}],
        "labels": LABELS,
        "passing": ["PASS"],
        "na": "NA",
        "concurrency": 1,
        **given.get("settings", {}),
    }
    (folder / "run.yaml").write_text(json.dumps(config))
    with pytest.raises(SystemExit) as left:
        main(["run", str(folder / "run.yaml"), "-o", str(folder / "out")])
    assert left.value.code in (0, 3)
    return (folder / "out" / "results.jsonl").read_text("utf-8").splitlines()


def run_cli_twice(folder: Path, given: Mapping[str, Any]) -> Any:
    first, second = given["first"], given["second"]
    rows = len(first["replies"])
    one_run(folder, first, rows, "first")
    results = folder / "out" / "results.jsonl"
    then = first.get("then") or given.get("then") or ""
    if then:
        assert then == "cut the last 20 bytes of the results file"
        results.write_bytes(results.read_bytes()[:-20])
    lines = one_run(folder, second, rows + len(given.get("extra_rows", ())), "second")
    run = Run.open(folder / "out")
    history = run.manifest.history[-1]
    verdicts = [result.value for _, result in run.results()]
    return {
        "second_calls": history["asked"],
        "second_verdict": verdicts[-1],
        "final": verdicts,
        "results_lines_parse": all(isinstance(json.loads(line), dict) for line in lines),
    }


def collect_batch(given: Mapping[str, Any]) -> Any:
    lines = [*(given["output"] or ()), *(given["errors"] or ())]
    found = outcomes(given["requests"], lines, given.get("api", "openai_chat"), given["batch"]["status"])
    texts = {i: {"text": o.text} if isinstance(o, Reply) else {"error": str(o)} for i, o in found.items()}
    return {"results": [{"id": i, **text} for i, text in texts.items()]}


def holds(found: Any, expect: Mapping[str, Any]) -> bool:
    """As `fits`, but that an `error` of a result is a text that the recorded message contains."""
    if "any_of" in expect:
        return any(holds(found, one) for one in expect["any_of"])
    wanted = expect["ok"]["results"]
    if len(wanted) != len(found["results"]):
        return False
    return all(
        says(f.get("error", ""), w["error"]) and f["id"] == w["id"] if "error" in w else fits(f, {"ok": w})
        for f, w in zip(found["results"], wanted, strict=True)
    )


def cases(operation: str) -> list[Any]:
    return params(c for c in load("field.json")["cases"] if c["op"] == operation)


@pytest.mark.parametrize("case", cases("collect_batch"))
def test_field_batch(case: dict[str, Any]) -> None:
    found = collect_batch(case["input"])
    assert holds(found, case["expect"]), found


@pytest.mark.parametrize("case", cases("run_cli_twice"))
def test_field(case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JURY_JUDGES", raising=False)
    monkeypatch.delenv("JURY_CONFIG", raising=False)
    found = run_cli_twice(tmp_path, case["input"])
    assert fits(found, case["expect"]), found
