"""Rows that come through a pipe: judged as they come, ended at once, and what functions print kept apart."""

from __future__ import annotations

import array
import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command import jury

JUDGES = "def noisy(output):\n    print('noise')\n    return 'a' in output, 'looked'\n"
ROW = b'{"input": "q", "output": "a"}\n'


@pytest.fixture
def home(bare_folder: Path) -> Path:
    tmp_path = bare_folder
    (tmp_path / "checks.py").write_text(JUDGES)
    (tmp_path / "rows.jsonl").write_bytes(ROW * 3)
    spec = {"data": "-", "criteria": "c", "judges": ["checks.py:noisy"]}
    (tmp_path / "pipe.yaml").write_text(json.dumps(spec))
    return tmp_path


class Piped:
    """The command with a pipe for standard input, whose writer stays."""

    def __init__(self, *arguments: str) -> None:
        reader, self.writer = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jury", *arguments],
            stdin=reader,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "CI": "1"},
        )
        os.close(reader)

    def write(self, data: bytes) -> None:
        os.write(self.writer, data)

    def unread(self) -> int:
        found = array.array("i", [-1])
        fcntl.ioctl(self.writer, termios.FIONREAD, found)
        return found[0]

    def interrupt(self) -> tuple[int, str, str]:
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=120)  # the writer is still there
        os.close(self.writer)
        return self.process.returncode, out, err


def until(there: Callable[[], Any]) -> None:
    end = time.monotonic() + 120
    while not there() and time.monotonic() < end:
        time.sleep(0.05)
    assert there()


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_one_row_is_judged_before_the_next_comes_and_kept_at_an_interrupt(home: Path) -> None:
    results = home / "out" / "results.jsonl"
    piped = Piped("judge", "-", "-c", "c", "-j", "checks.py:noisy", "-o", "out")
    piped.write(ROW)
    until(lambda: len(lines(results)) == 1)
    piped.write(ROW)
    until(lambda: len(lines(results)) == 2)
    code, out, err = piped.interrupt()
    assert code == 130
    assert "2 passed, 0 failed" in out
    assert "interrupted: 2 rows judged, kept in out/results.jsonl" in err
    assert "Traceback" not in err
    assert "Fatal" not in err


def test_a_run_over_a_pipe_ends_at_the_first_interrupt(home: Path) -> None:
    results = home / "runs" / "pipe" / "results.jsonl"
    piped = Piped("run", "pipe.yaml", "--json")
    piped.write(ROW)
    until(lambda: len(lines(results)) == 1)
    code, out, err = piped.interrupt()
    assert code == 130
    said = json.loads(out)
    assert (said["judged"], said["finished"]) == (1, False)
    assert "what is in flight is finished" in err
    assert "noise" in err
    assert "Fatal" not in err


def test_a_pipe_that_never_says_anything_can_be_left(home: Path) -> None:
    piped = Piped("judge", "-", "-c", "c", "-j", "checks.py:noisy", "-o", "out")
    piped.write(b"\n")  # no row; once it was taken, the next one is waited for
    until(lambda: piped.unread() == 0)
    code, _, err = piped.interrupt()
    assert code == 130
    assert "0 rows judged" in err
    assert "Fatal" not in err


OVER = ("judge", "-", "-c", "other", "-j", "checks.py:noisy", "-o", "out", "--overwrite")


def test_a_folder_is_emptied_once_there_is_a_row_to_judge(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jury(capsys, "judge", "rows.jsonl", "-c", "c", "-j", "checks.py:noisy", "-o", "out")
    before = {path.name: path.read_bytes() for path in (home / "out").iterdir()}
    piped = Piped(*OVER)
    piped.write(b"\n")
    until(lambda: piped.unread() == 0)
    code, _, err = piped.interrupt()
    assert (code, err) == (130, "interrupted\n")
    for nothing, says in ((b"", "no rows"), (b'{"torn', "line 1"), (b'{"input": "q"}\n', "no column for the output")):
        piped = Piped(*OVER)
        piped.write(nothing)
        os.close(piped.writer)
        out, err = piped.process.communicate(timeout=120)
        assert (piped.process.returncode, out, says in err) == (2, "", True)
    assert {path.name: path.read_bytes() for path in (home / "out").iterdir()} == before
    piped = Piped(*OVER)
    piped.write(ROW * 2)
    os.close(piped.writer)
    out, err = piped.process.communicate(timeout=120)
    assert (piped.process.returncode, "2 passed" in out) == (0, True)
    assert len(lines(home / "out" / "results.jsonl")) == 2
    assert json.loads((home / "out" / "manifest.json").read_text())["data"]["path"] == "-"


def test_a_named_pipe_is_read_once(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(home / "fifo")
    writer = subprocess.Popen(["sh", "-c", "cat rows.jsonl > fifo"])
    code, out, _ = jury(capsys, "run", "pipe.yaml", "--data", "fifo", "--json")
    writer.wait(timeout=120)
    assert (code, json.loads(out)["n_pass"]) == (0, 3)


def test_what_functions_print_is_in_no_document(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "scores.py").write_text(
        "def scores(output):\n    print('noise')\n    return {k: 5 for k in "
        "('correctness', 'completeness', 'instruction_following', 'clarity')}\n"
        "def kind(case):\n    print('noise')\n    return 'PASS'\n"
    )
    (home / "session.jsonl").write_text('{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "a"}\n')
    (home / "rules.txt").write_text("1. Be kind.\n")
    for arguments in (
        ("run", "pipe.yaml", "--data", "rows.jsonl", "--json"),
        ("judge", "rows.jsonl", "-c", "c", "-j", "checks.py:noisy", "--json"),
        ("session", "policy", "session.jsonl", "rules.txt", "-j", "scores.py:kind", "--json"),
        ("session", "policy", "session.jsonl", "rules.txt", "-j", "scores.py:kind", "-o", "s"),
        ("check", "rows.jsonl", "-j", "checks.py:noisy", "--call", "--json"),
    ):
        code, out, err = jury(capsys, *arguments)
        assert code == 0, arguments
        json.loads(out)
        assert "noise" in err, arguments
    code, out, err = jury(capsys, "rubric", "answer-rubric", "rows.jsonl", "-j", "scores.py:scores")
    assert code == 0
    assert [json.loads(line)["status"] for line in out.splitlines()] == ["decided"] * 3
    assert err.count("noise") == 3


@pytest.mark.parametrize("where", ["JURY_JUDGES", "JUDGE_MODEL", "jury.yaml"])
def test_functions_can_be_the_default_judges(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    (home / "kind.py").write_text("def kind(case): return 'PASS'\n")
    (home / "session.jsonl").write_text('{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "a"}\n')
    (home / "rules.txt").write_text("1. Be kind.\n")
    (home / "run.yaml").write_text(json.dumps({"data": "rows.jsonl", "criteria": "c"}))

    def name(judge: str) -> None:
        if where == "jury.yaml":
            (home / "jury.yaml").write_text(json.dumps({"judges": [judge]}))
        else:
            monkeypatch.setenv(where, judge)

    name("checks.py:noisy")
    code, out, _ = jury(capsys, "judge", "rows.jsonl", "-c", "c", "--json")
    assert (code, json.loads(out)["summary"]["judges"]) == (0, ["noisy"])
    assert jury(capsys, "check", "rows.jsonl")[0] == 0
    code, out, _ = jury(capsys, "run", "run.yaml", "--json")
    assert (code, json.loads(out)["n_pass"]) == (0, 3)
    assert [j["id"] for j in json.loads((home / "runs/run/manifest.json").read_text())["judges"]] == ["noisy"]
    name("kind.py:kind")
    code, out, _ = jury(capsys, "session", "policy", "session.jsonl", "rules.txt")
    assert (code, json.loads(out)["verdict"]) == (0, "PASS")
    name("checks.py:nobody")
    code, _, err = jury(capsys, "judge", "rows.jsonl", "-c", "c")
    assert code == 2
    assert "has no 'nobody'" in err


def test_a_broken_configuration_is_named_and_not_taken_for_none(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "jury.yaml").write_text("judgess: [a/b]\n")
    code, _, err = jury(capsys, "check", "rows.jsonl")
    assert code == 2
    assert "judgess" in err


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-"])
def test_a_closed_stream_ends_no_command(home: Path, closed: str) -> None:
    command = f"{sys.executable} -m jury judge rows.jsonl -c c -j checks.py:noisy --json -o out --overwrite {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert len(lines(home / "out" / "results.jsonl")) == 3
    assert "Traceback" not in done.stderr
    assert (done.stdout == "") is (closed == ">&-")
