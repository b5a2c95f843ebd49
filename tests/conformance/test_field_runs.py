"""field.json: runs that are done twice in one folder, through the command line; and what comes back from a batch."""

from __future__ import annotations

import json
import re
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
    script = folder / f"{re.sub(r'[^A-Za-z0-9_-]', '-', given['judge'])}.json"
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


def spoil(results: Path, then: str) -> None:
    """What a case says that happens to the results file between the runs."""
    made = results.read_bytes()
    if cut := re.search(r"(?:cut|truncate)\D*(\d+) bytes?", then):
        results.write_bytes(made[: -int(cut[1])])
    elif re.search(r"(?:cut|delete|remove|drop)\b.*\blast (?:line|row|record)", then):
        results.write_bytes(b"".join(made.splitlines(keepends=True)[:-1]))
    elif re.search(r"\bdeleted?|\bremoved?", then):
        results.unlink()
    elif re.search(r"\bempt(?:y|ied)|\btruncated?", then):
        results.write_bytes(b"")
    elif re.search(r"\b(?:append|add)", then):
        results.write_bytes(made + (b"\n" if "blank" in then or "empty" in then else made[:20]))
    else:
        pytest.fail(f"unknown: {then}")


def run_cli_twice(folder: Path, given: Mapping[str, Any]) -> Any:
    first, second = given["first"], given["second"]
    rows = len(first["replies"])
    one_run(folder, first, rows, "first")
    results = folder / "out" / "results.jsonl"
    then = first.get("then") or given.get("then") or ""
    if then:
        spoil(results, then)
    extra = given.get("extra_rows", 0)
    lines = one_run(folder, second, rows + (extra if isinstance(extra, int) else len(extra)), "second")
    run = Run.open(folder / "out")
    history = run.manifest.history[-1]
    verdicts = [result.value for _, result in run.results()]
    return {
        "second_calls": history["asked"],
        "second_verdict": verdicts[-1],
        "final": verdicts,
        "results_lines_parse": all(isinstance(json.loads(line), dict) for line in lines),
    }


def api_of(lines: list[Any]) -> str:
    """Whose answers these are, by the shape of their lines."""
    bodies = [(line.get("response") or {}).get("body") or {} for line in lines]
    if any("result" in line for line in lines):
        return "anthropic_messages"
    return "openai_responses" if any("output" in b for b in bodies if isinstance(b, dict)) else "openai_chat"


def collect_batch(given: Mapping[str, Any]) -> Any:
    lines = [*(given.get("output") or ()), *(given.get("errors") or ())]
    batch = given["batch"]
    faults = batch.get("errors") or ()
    told = [str(f.get("message")) for f in (faults.get("data") or () if isinstance(faults, dict) else faults)]
    status = ": ".join([batch.get("status") or "unknown", *told])
    found = outcomes(given["requests"], lines, given.get("api") or api_of(lines), status)
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
