"""`run_cli` of field.json: writes the rows and the script of replies, runs the command, translates names.

A case with an environment runs in a process of its own; the others run in this one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jury.cli.__main__ import main
from jury.providers import registry
from tests.conformance.cases import load, params
from tests.conformance.comparing import fits, says

CASES = [c for c in load("field.json")["cases"] if c["op"] == "run_cli"]
CLASSES = {1: "below_threshold", 2: "usage", 3: "no_result"}
COUNTS = ("judges", "output")  # options that are not an option of the command of the same name
LABELS = ("--labels", "PASS,FAIL,NA", "--passing", "PASS", "--na", "NA")


def prepare(given: dict[str, Any], folder: Path) -> list[str]:
    """The options of `jury judge`; the files they name are in `folder`."""
    rows = [{"id": f"r{i}", "question": "q", "answer": f"answer {i}"} for i in range(given["rows"])]
    (folder / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    options = given.get("options", {})
    replies = [r and r.replace('"verdict"', '"value"') for r in given["replies"]]
    judges: list[str] = []
    for number in range(options.get("judges", 1)):
        name = f"judge{number}.json"
        repeated = [r for r in replies for _ in range(max(1, options.get("repetitions", 1)))]
        (folder / name).write_text(json.dumps(repeated), "utf-8")
        judges.append(f"scripted/{name}")
    arguments = ["rows.jsonl", "--judges", ",".join(judges), *LABELS]
    if "template_text" in given:
        (folder / "prompt.md").write_text(given["template_text"], "utf-8")
        arguments += ["--prompt", "prompt.md"]
    else:
        arguments += ["--criteria", "The answer is right."]
    for name, value in options.items():
        if name not in COUNTS:
            arguments += [f"--{name.replace('_', '-')}", str(value)]
    return arguments


def run(command: list[str], env: dict[str, str] | None, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    if env is not None:
        full = {**os.environ, "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(Path(__file__).parents[2]), **env}
        done = subprocess.run([sys.executable, "-m", "jury", *command], env=full, capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    with pytest.raises(SystemExit) as stop:
        main(command)
    assert isinstance(stop.value.code, int)
    return stop.value.code, *capsys.readouterr()


def strict_json(text: str) -> Any:
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


@pytest.mark.parametrize("case", params(CASES))
def test_field(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    registry.reset()
    given, want = case["input"], dict(case["expect"]["ok"])
    arguments = prepare(given, tmp_path)
    code, out, err = run(["judge", *arguments, "--json", "--concurrency", "1"], given.get("env"), capsys)

    assert "Traceback" not in err
    assert all(says(err, text) for text in want.pop("says", ()))
    assert not any(text in out for text in want.pop("output_not_contains", ()))
    printed = strict_json(out) if out else None
    assert not want.pop("output_is_strict_json", False) or printed is not None
    contained = want.pop("prompt_contains", ())
    if contained:
        render = ["render", "rows.jsonl", *arguments[1:], "--json"]
        texts = strict_json(run(render, given.get("env"), capsys)[1])["judges"]
        assert all(text in seat["user"] for seat in texts.values() for text in contained)
    found = {"exit": "zero" if code == 0 else "nonzero", "exit_class": CLASSES.get(code)}
    if printed is not None:
        found["summary"] = printed["summary"]
    assert fits(found, {**case["expect"], "ok": want}), (code, out, err)
