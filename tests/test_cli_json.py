"""`--json`: one JSON document on standard output and nothing beside it, whatever the command; JSON Lines where said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jury.cli.__main__ import main
from tests.audit.runs import pairwise, pointwise

FUNCTIONS = """
def short(output):
    print("noise")
    return len(output) < 4
def first(response_a, response_b):
    print("noise")
    return "A"
def kind(case):
    print("noise")
    return "PASS"
def scores(output):
    print("noise")
    return {k: 5 for k in ("correctness", "completeness", "instruction_following", "clarity")}
"""
DOCUMENTS = (
    "judge rows.jsonl -c c -j f.py:short",
    "compare pairs.jsonl -j f.py:first",
    "render rows.jsonl -c c -j f.py:short",
    "check rows.jsonl -j f.py:short --call",
    "run run.yaml",
    "run run.yaml --estimate",
    "show run",
    "show run 1",
    "show run 1 --prompt",
    "watch run",
    "replay run",
    "session policy session.jsonl rules.txt -j f.py:kind",
    "counts run",
    "prompts list",
    "prompts show policy",
    "prompts check policy --no-calls",
    "prompts diff policy task-completion",
    "prompts new mine --from policy",
    "report run",
    "worth run",
    "stability run",
    "bias run",
    "diff run other",
    "gate run --pass-rate >=0.1",
    "rank pairs",
    "cache stats",
)
LINES = ("rubric answer-rubric rows.jsonl -j f.py:scores",)


@pytest.fixture
def home(bare_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path = bare_folder
    monkeypatch.setenv("JURY_CACHE", str(tmp_path / "cache.sqlite"))
    votes: list[dict[str, Any]] = [{"x": [i % 3 > 0, i % 3 > 0], "y": [i % 2 > 0, True]} for i in range(12)]
    pointwise(tmp_path / "run", votes, labels={i: i % 3 > 0 for i in range(12)})
    pointwise(tmp_path / "other", votes)
    played = [{"row": {"model_a": a, "model_b": b}} for a, b in (("m", "n"), ("n", "m"), ("m", "n"))]
    pairwise(tmp_path / "pairs", [{"x": ("A", "A")}, {"x": ("A", "A")}, {"x": ("A", "B")}], items=played)
    (tmp_path / "f.py").write_text(FUNCTIONS)
    (tmp_path / "rows.jsonl").write_text('{"input": "q", "output": "\\u2028 a"}\n{"input": "q", "output": "long"}\n')
    (tmp_path / "pairs.jsonl").write_text('{"question": "q", "response_a": "a", "response_b": "b"}\n')
    (tmp_path / "session.jsonl").write_text('{"role": "user", "content": "q"}\n{"role": "assistant", "content": "a"}\n')
    (tmp_path / "rules.txt").write_text("1. Be kind.\n")
    (tmp_path / "run.yaml").write_text(json.dumps({"data": "rows.jsonl", "criteria": "c", "judges": ["f.py:short"]}))
    return tmp_path


def out_of(capsys: pytest.CaptureFixture[str], command: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as left:
        main([*command.split(), "--json"])
    out, err = capsys.readouterr()
    assert "noise" not in out
    assert left.value.code != 2, err
    return int(left.value.code or 0), out


@pytest.mark.parametrize("command", DOCUMENTS)
@pytest.mark.usefixtures("home")
def test_one_document(capsys: pytest.CaptureFixture[str], command: str) -> None:
    _, out = out_of(capsys, command)
    json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


@pytest.mark.parametrize("command", LINES)
@pytest.mark.usefixtures("home")
def test_one_document_a_line(capsys: pytest.CaptureFixture[str], command: str) -> None:
    _, out = out_of(capsys, command)
    assert [isinstance(json.loads(line), dict) for line in out.split("\n")[:-1]] == [True, True]


@pytest.mark.parametrize("columns", ["40", "80"])
def test_what_people_read_fits_the_terminal(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for command in (
        "show run",
        "show run 1",
        "show pairs",
        "show pairs #3",
        "run run.yaml",
        "check rows.jsonl -j f.py:short",
    ):
        with pytest.raises(SystemExit):
            main(command.split())
        lines = capsys.readouterr().out.splitlines()
        told = [line for line in lines if "jury show" not in line]  # a command to copy is not broken
        assert max(map(len, told)) <= int(columns), command
