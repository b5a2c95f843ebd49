"""`jury judge -o` and `jury compare -o`: a run folder like any other, which goes on where it was left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jury.store import Label, Run
from tests.command import jury as command_line

ROOT = Path(__file__).parent.parent
Jury = Callable[..., tuple[int, str, str]]
JUDGES = """
import os, time

def counted(who):
    with open("calls.txt", "a") as file:
        file.write(who + "\\n")

def short(output):
    counted(output)
    return len(output) < 4, "counted its letters"

def other(output):
    counted("other " + output)
    return True

def waits(output):
    counted(output)
    while not os.path.exists("go"):
        time.sleep(0.01)
    return True

def longer(response_a, response_b):
    counted(response_a)
    return "A" if len(response_a) > len(response_b) else "B"
"""
SHORT = ("judge", "rows.jsonl", "-c", "c", "-j", "checks.py:short", "-o", "out")
LONGER = ("compare", "a.jsonl", "b.jsonl", "-j", "checks.py:longer", "-o", "out")


@pytest.fixture
def home(bare_folder: Path) -> Path:
    tmp_path = bare_folder
    (tmp_path / "checks.py").write_text(JUDGES)
    rows(6)
    sides = {"a": [{"id": n, "question": f"q{n}", "answer": "a" * (n + 1)} for n in range(4)]}
    sides["b"] = [{"id": n, "answer": "bb"} for n in range(4)]
    for name, side in sides.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in side))
    return tmp_path


@pytest.fixture
def jury(home: Path, capsys: pytest.CaptureFixture[str]) -> Jury:
    return partial(command_line, capsys)


def rows(n: int, name: str = "rows.jsonl") -> None:
    Path(name).write_text(
        "".join(json.dumps({"id": f"r{i}", "input": "q", "output": "x" * i}) + "\n" for i in range(n))
    )


def calls() -> list[str]:
    return Path("calls.txt").read_text().splitlines() if Path("calls.txt").exists() else []


def said(out: str) -> dict[str, Any]:
    found = json.loads(out)
    return {**found, "summary": {k: v for k, v in found["summary"].items() if k != "seconds"}}


@pytest.mark.parametrize(("command", "kind", "n"), [(SHORT, "pointwise", 6), (LONGER, "pairwise", 4)])
def test_the_folder_is_a_run_and_is_not_asked_again(jury: Jury, command: tuple[str, ...], kind: str, n: int) -> None:
    code, out, _ = jury(*command, "--json")
    asked = calls()
    assert code == 0
    run = Run.open("out")
    assert (run.kind, run.manifest.finished, len(list(run.results()))) == (kind, True, n)
    assert [item.number for item in run.items()] == list(range(n))
    again, out_again, err = jury(*command, "--json")
    assert (again, said(out_again), err) == (0, said(out), "")
    assert calls() == asked
    assert json.loads(Path("out/summary.json").read_text()) == json.loads(out_again)["summary"]
    assert f"before {n} rows were judged before" in " ".join(jury(*command)[1].split())


def test_what_reads_a_run_reads_it(jury: Jury) -> None:
    jury(*SHORT)
    assert "4 passed, 2 failed" in jury("show", "out")[1]
    assert "counted its letters" in jury("show", "out", "r5")[1]
    assert jury("report", "out", "--format", "csv")[1].count("\n") == 7
    assert "6 items from 6 judgments" in " ".join(jury("replay", "out")[1].split())
    Run.open("out").add_label(Label("r1", "ann", True))
    assert [label.item for label in Run.open("out").labels()] == ["r1"]


def test_a_judge_model_is_known_again_with_its_prompt(jury: Jury, home: Path) -> None:
    replies = [{"explanation": f"reason {i}", "value": i > 0} for i in range(6)]
    (home / "s.json").write_text(json.dumps(replies))
    command = ("judge", "rows.jsonl", "-c", "c", "-j", "scripted/s.json", "-o", "out", "--concurrency", "1", "--json")
    first = said(jury(*command)[1])
    assert first["summary"]["n_fail"] == 1
    assert said(jury(*command)[1]) == first  # another call would have found the script at its end
    assert "exactly as sent" in jury("show", "out", "r1", "--prompt")[1]
    assert "0, and 6 that are known" in jury(*command[:-1], "--estimate")[1]


def test_another_judge_is_asked_alone_and_told(jury: Jury) -> None:
    jury(*SHORT)
    before, asked = Path("out/results.jsonl").read_bytes(), len(calls())
    code, out, err = jury(*SHORT, "-j", "checks.py:other")
    assert code == 0
    assert "changed since the last time: judge other is new" in err
    assert {call.split()[0] for call in calls()[asked:]} == {"other"}
    assert "inconclusive" in out
    assert Path("out/results.jsonl").read_bytes().startswith(before)


def test_the_data_may_grow_and_a_part_of_it_is_shown_alone(jury: Jury) -> None:
    assert "before" not in jury(*SHORT, "--limit", "2")[1]
    assert len(calls()) == 2
    grown = jury(*SHORT)[1]
    assert "4 passed, 2 failed" in grown
    assert "before     2 rows were judged before, and not asked about again" in grown
    assert len(calls()) == 6
    code, out, _ = jury(*SHORT, "--limit", "5", "--fail-under", "0.8", "--json")
    assert (code, [r["item_id"] for r in json.loads(out)["results"]]) == (0, ["r0", "r1", "r2", "r3", "r4"])
    assert jury(*SHORT, "--fail-under", "0.8")[0] == 1
    assert len(calls()) == 6


def test_a_pipe_is_known_again(jury: Jury, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in (6, 3):
        rows(n)
        with (home / "rows.jsonl").open() as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            code, out, _ = jury("judge", "-", "-c", "c", "-j", "checks.py:short", "-o", "out", "--json")
        assert (code, len(json.loads(out)["results"])) == (0, n)
    assert len(calls()) == 6


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("judge", "more.jsonl", *SHORT[2:]), "out holds results on rows.jsonl, not more.jsonl"),
        (LONGER, "out holds a pointwise run, this one is pairwise"),
    ],
)
def test_a_folder_of_something_else_stays_as_it_is(jury: Jury, command: tuple[str, ...], says: str) -> None:
    rows(2, "more.jsonl")
    jury(*SHORT)
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    code, out, err = jury(*command)
    assert (code, out) == (2, "")
    assert says in err
    assert {name: Path("out", name).read_bytes() for name in before if name.endswith("l")} == {
        name: data for name, data in before.items() if name.endswith("l")
    }
    assert Path("out/summary.json").read_bytes() == before["summary.json"]
    assert jury(*command, "--overwrite")[0] == 0
    assert {item.id for item in Run.open("out").items()} != {f"r{i}" for i in range(6)}


def test_labels_are_not_overwritten(jury: Jury) -> None:
    jury(*SHORT)
    Run.open("out").add_label(Label("r1", "ann", True))
    code, _, err = jury(*SHORT, "--overwrite")
    assert (code, "labels.jsonl" in err) == (2, True)
    assert len(list(Run.open("out").results())) == 6


def test_bare_results_are_left_alone(jury: Jury, home: Path) -> None:
    (home / "out").mkdir()
    (home / "out/results.jsonl").write_text('{"status": "decided"}\n')
    code, _, err = jury(*SHORT)
    assert (code, "--overwrite" in err) == (2, True)
    assert calls() == []
    assert jury(*SHORT, "--overwrite")[0] == 0
    assert len(list(Run.open("out").results())) == 6


def test_an_edited_prompt_is_refused_as_in_every_run(jury: Jury, home: Path) -> None:
    own = ("judge", "rows.jsonl", "--prompt", "own.md", "-j", "checks.py:short", "-o", "out")
    head = "---\nname: own\nversion: 1\nkind: pointwise\n---\n"
    (home / "own.md").write_text(head + "Good? {{output.response}}\n")
    assert jury(*own)[0] == 0
    (home / "own.md").write_text(head + "Fine? {{output.response}}\n")
    code, _, err = jury(*own)
    assert (code, "another text of own 1" in err) == (2, True)
    assert jury(*own, "--edited-prompt")[0] == 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_killed_command_goes_on_where_it_was(home: Path, jury: Jury, how: signal.Signals) -> None:
    rows(40)
    arguments = ("judge", "rows.jsonl", "-c", "c", "-j", "checks.py:waits", "-o", "out", "--concurrency", "2")
    process = subprocess.Popen(
        [sys.executable, "-m", "jury", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 120
    while len(calls()) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(how)
    if how != signal.SIGKILL:
        assert process.stderr is not None
        assert "what is in flight is finished" in process.stderr.readline()
    else:
        process.wait(timeout=120)
    (home / "go").touch()
    out, err = process.communicate(timeout=120)
    done = len(list(Run.open("out").results()))
    assert done < 40
    if how != signal.SIGKILL:
        assert process.returncode == 130
        assert f"interrupted: {done} of 40 rows judged, kept in out/results.jsonl" in err
        assert f"{done} passed" in out
        assert json.loads(Path("out/summary.json").read_text())["complete"] is False
    asked = len(calls())
    assert asked - done <= (2 if how == signal.SIGKILL else 0)
    code, out, err = jury(*arguments)
    assert (code, "40 passed" in out, err) == (0, True, "")
    assert len(calls()) - asked == 40 - done
    assert json.loads(Path("out/summary.json").read_text())["complete"] is True


@pytest.mark.parametrize("name", ["items.jsonl", "outputs.jsonl", "results.jsonl", "shown.jsonl"])
@pytest.mark.parametrize("more", [(), ("--overwrite",)])
def test_the_data_is_never_a_file_of_its_run_folder(jury: Jury, name: str, more: tuple[str, ...]) -> None:
    data = json.dumps({"id": "r1", "input": "q", "output": "xx"})  # without a line end: a torn end to a run
    Path(name).write_text(data)
    for file in (name, f"{name[:4]}*.jsonl"):
        code, _, err = jury("judge", file, "-c", "c", "-j", "checks.py:short", "-o", ".", *more)
        assert (code, "choose another folder" in err) == (2, True)
    assert (Path(name).read_text(), Path("lock").exists(), calls()) == (data, False, [])


@pytest.mark.parametrize("name", ["items.jsonl", "outputs.jsonl", "manifest.json"])
@pytest.mark.parametrize("more", [(), ("--overwrite",)])
def test_files_that_are_of_no_run_stay(jury: Jury, home: Path, name: str, more: tuple[str, ...]) -> None:
    (home / "out").mkdir()
    (home / "out" / name).write_text('{"name": "mine"}')
    code, _, err = jury(*SHORT, *more)
    assert (code, name in err, calls()) == (2, True, [])
    assert (home / "out" / name).read_text() == '{"name": "mine"}'


def test_two_other_files_are_not_mixed_with_those_of_the_folder(jury: Jury, home: Path) -> None:
    jury(*LONGER)
    (home / "c.jsonl").write_text((home / "b.jsonl").read_text().replace("bb", "cccc"))
    other = ("compare", "a.jsonl", "c.jsonl", *LONGER[3:])
    before = Path("out/results.jsonl").read_bytes()
    code, _, err = jury(*other)
    assert (code, "holds results on a.jsonl and b.jsonl, not a.jsonl and c.jsonl" in err) == (2, True)
    assert Path("out/results.jsonl").read_bytes() == before
    assert jury("compare", str(home / "a.jsonl"), "b.jsonl", *LONGER[3:])[0] == 0
    assert jury(*other, "--overwrite")[0] == 0


def test_two_files_are_known_from_the_first_moment_on(jury: Jury, home: Path) -> None:
    jury(*LONGER)
    Path("out/summary.json").unlink()  # as after a first pass that was killed
    (home / "c.jsonl").write_text((home / "b.jsonl").read_text().replace("bb", "cccc"))
    before = Path("out/results.jsonl").read_bytes()
    for files in (("a.jsonl", "c.jsonl"), ("b.jsonl", "a.jsonl")):
        code, _, err = jury("compare", *files, *LONGER[3:])
        told = f"holds results on a.jsonl and b.jsonl, not {' and '.join(files)}"
        assert (code, told in err) == (2, True)
    assert Path("out/results.jsonl").read_bytes() == before
    assert jury(*LONGER)[0] == 0


def test_a_row_file_and_two_files_are_not_mixed(jury: Jury, home: Path) -> None:
    pairs = [{"id": n, "question": "q", "response_a": "aaa", "response_b": "b"} for n in range(2)]
    (home / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pairs))
    assert jury("compare", "pairs.jsonl", *LONGER[3:])[0] == 0
    code, _, err = jury(*LONGER)
    assert (code, "holds results on pairs.jsonl, not a.jsonl and b.jsonl" in err) == (2, True)
    assert jury(*LONGER[:-1], "two")[0] == 0
    code, _, err = jury("compare", "pairs.jsonl", *LONGER[3:-1], "two")
    assert (code, "holds results on a.jsonl and b.jsonl, not pairs.jsonl" in err) == (2, True)


def test_two_files_of_an_earlier_version_are_known_by_their_summary(jury: Jury, home: Path) -> None:
    jury(*LONGER)
    manifest = json.loads(Path("out/manifest.json").read_text())
    del manifest["data"]["joined"]
    Path("out/manifest.json").write_text(json.dumps(manifest))
    code, _, err = jury("compare", "b.jsonl", "a.jsonl", *LONGER[3:])
    assert (code, "holds results on a.jsonl and b.jsonl, not b.jsonl and a.jsonl" in err) == (2, True)
    assert jury(*LONGER)[0] == 0
