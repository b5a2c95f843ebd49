"""`jury session`: recordings that are given by mistake, and what its JSON says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import jury

SESSION = [
    {"role": "user", "content": "Who has Winter Birds?"},
    {"role": "assistant", "content": "R. Stein has it until 9 May."},
]


@pytest.fixture
def folder(bare_folder: Path) -> Path:
    for name in ("s.json", "t.json"):
        (bare_folder / name).write_text(json.dumps(SESSION))
    (bare_folder / "rules.txt").write_text("1. Never name another reader.\n")
    (bare_folder / "judge.py").write_text(
        "def kind(case): return ('FAIL', 'names a reader') if 'Stein' in str(case.answer.text) else 'PASS'\n"
    )
    return bare_folder


def session(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    return jury(capsys, "session", *arguments, "-j", "judge.py:kind")


def test_a_second_recording_is_not_taken_for_the_rules(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = session(capsys, "policy", "s.json", "t.json")
    assert (code, out) == (2, "")
    assert "t.json is a recording, and stands where the CONTEXT does" in err
    assert session(capsys, "policy", "s.json", "--context", "policy=t.json")[0] == 0

    tool = {"type": "function", "function": {"name": "lend", "description": "Lends a book.", "parameters": {}}}
    (folder / "tools.json").write_text(json.dumps([tool]))
    assert session(capsys, "tool-use", "s.json", "tools.json")[0] == 0


def test_the_reason_of_a_judge_stands_beside_its_verdict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads(session(capsys, "policy", "s.json", "rules.txt")[1])
    assert (report["verdict"], report["explanation"]) == ("FAIL", "names a reader")


def test_an_unknown_format_says_what_a_recording_can_be_written_as(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "odd.json").write_text('{"turns": [{"who": "user", "text": "hello"}]}')
    code, _, err = session(capsys, "policy", "odd.json", "rules.txt")
    assert code == 2
    assert '[{"role": "user", "content": "..."}' in err


def test_texts_are_shown_without_any_judge(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("JURY_JUDGES", "JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    code, out, _ = jury(capsys, "session", "policy", "s.json", "rules.txt", "--render")
    assert code == 0
    assert "R. Stein has it until 9 May." in out
    assert jury(capsys, "session", "policy", "s.json", "rules.txt")[0] == 2
    assert jury(capsys, "session", "-", "s.json", "--check", "judge.py:kind", "--render")[0] == 0
