"""`jury watch`: what is new is counted once, nothing is held, and it ends as the run ends."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time
from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from jury.cli import watching
from jury.cli.__main__ import main
from jury.cli.following import Following, count_items, is_written
from jury.cli.pace import Pace, lasting
from jury.cli.watching import Watch
from jury.errors import DataError
from jury.results import Failure, PanelResult, Usage, Verdict, Vote
from jury.runner import RunSpec
from jury.runner.describe import source_of
from jury.runner.totals import Totals
from jury.scales import Boolean
from jury.store import RunManifest, RunWriter, StoredItem, StoredResult
from jury.store.locking import FolderLock
from tests.audit.runs import manifest, pairwise

DEAD = 2**22 + 1  # above what Linux gives to a process


@pytest.fixture
def home(bare_folder):
    return bare_folder


def jury(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    out, err = capsys.readouterr()
    return int(left.value.code or 0), out, err


def result(item: str, passed: bool | None, *, cost: float | None = 0.5) -> PanelResult:
    usage = Usage(1, 1, 1, cost=cost)
    if passed is None:
        vote = Vote("x", Verdict("error", failure=Failure("timeout", "slow")))
        return PanelResult("inconclusive", "errors", seats=1, votes=(vote,), item_id=item, usage=usage)
    vote = Vote("x", Verdict("scored", passed))
    return PanelResult(
        "decided", value=passed, passed=passed, seats=1, seats_used=1, votes=(vote,), item_id=item, usage=usage
    )


def add(writer: RunWriter, item: str, passed: bool | None, **more) -> None:
    number = int(item[1:])
    writer.add_item(StoredItem(item, number, f"d{number}", output="o"))
    writer.add_result(StoredResult(item, number, result(item, passed, **more)))


def test_a_finished_run_is_one_line_and_its_end(home, capsys):
    with RunWriter(home / "run") as writer:
        writer.save(manifest("pointwise", ["x"], Boolean()))
        for i in range(4):
            add(writer, f"i{i}", i > 0)
    code, out, err = jury(capsys, "watch", "run")
    assert (code, err) == (0, "")
    assert out == ("4 items · pass rate 75% [30.1, 95.4] · 3 passed, 1 failed · $2.00\nfinished   jury show run\n")
    code, out, _ = jury(capsys, "watch", "run", "--json")
    assert out.count("\n") == 1
    said = json.loads(out)
    assert (code, said["done"], said["n_pass"], said["finished"], said["running"]) == (0, 4, 3, True, False)
    assert said["interval"] == pytest.approx([0.3006, 0.9544], abs=1e-4)


def test_nothing_usable_is_3_and_an_early_end_is_told(home, capsys):
    with RunWriter(home / "run") as writer:
        writer.save(manifest("pointwise", ["x"], Boolean()))
        add(writer, "i0", None)
        assert jury(capsys, "show", "run")[0] == 0
    assert jury(capsys, "watch", "run")[0] == 3
    for last, code, says in (
        ({"halted": True}, 130, "interrupted; the same jury run goes on"),
        ({"fault": "line 4: torn"}, 2, "ended before its end (line 4: torn)"),
        (None, 2, "ended before its end; the same jury run goes on"),
    ):
        with RunWriter(home / "run") as writer:
            writer.save(manifest("pointwise", ["x"], Boolean(), finished=False, history=(last,) if last else ()))
        found, out, _ = jury(capsys, "watch", "run")
        assert found == code
        assert says in out


def test_a_folder_that_is_not_there(home, capsys):
    (home / "runs").mkdir()
    pairwise(home / "runs" / "check", [{"x": ("A", "A")}])
    code, out, err = jury(capsys, "watch", "runs/chek", "--wait", "0")
    assert (code, out) == (2, "")
    assert err == "error: runs/chek: no run folder (did you mean runs/check?)\n"
    (home / "file").write_text("x")
    assert jury(capsys, "watch", "file", "--wait", "0")[0] == 2
    (home / "foreign").mkdir()
    (home / "foreign" / "manifest.json").write_text('{"format": 99, "kind": "pointwise"}')
    code, _, err = jury(capsys, "watch", "foreign")
    assert code == 2
    assert "newer jury" in err
    assert jury(capsys, "watch", "runs/check", "--every", "-1")[0] == 2


def test_it_waits_with_a_word(home):
    said: list[str] = []
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds
        if now[0] > 3:
            pairwise(home / "run", [{"x": ("A", "A")}]) if not (home / "run").exists() else None

    one = Watch(Following(home / "run"), every=1, wait=60, clock=lambda: now[0], sleep=sleep)
    one.found(said.append)
    assert said == [f"waiting up to 60 s for {home / 'run'}: no run has begun there"]
    assert 3 < now[0] < 5
    assert one.seen.done == 1
    with pytest.raises(DataError, match="no run folder"):
        Watch(Following(home / "no"), every=1, wait=9, clock=lambda: now[0], sleep=sleep).found(said.append)
    assert now[0] > 12


def test_a_run_that_goes_on_is_followed_to_its_end(home):
    """The pace and the lines: a clock of its own, a writer in the same process."""
    now = [0.0]
    lines: list[str] = []
    writer = RunWriter(home / "run")
    writer.save(manifest("pointwise", ["x"], Boolean(), finished=False))
    left = [f"i{n}" for n in range(6)]

    def sleep(_: float) -> None:
        now[0] += 1.0
        if left:
            add(writer, left.pop(0), len(left) % 2 == 0)
        else:
            writer.save(manifest("pointwise", ["x"], Boolean()))
            writer.__exit__()

    one = Watch(Following(home / "run"), every=1, wait=0, clock=lambda: now[0], sleep=sleep)
    one.found(lines.append)
    one.total = 6
    one.follow(lambda: lines.append(one.line))
    assert lines[0] == "0 of 6 items · pass rate undefined · 0 passed, 0 failed"
    assert lines[2].startswith("2 of 6 items · pass rate 50%")
    assert "left" not in lines[2]
    assert lines[3].endswith("· 2 s left")
    assert lines[-1].startswith("6 of 6 items")
    assert "left" not in lines[-1]
    assert not one.seen.running
    assert len(lines) == 8


def test_whole_lines_count_once_and_the_last_one_of_an_item(home):
    with RunWriter(home / "run") as writer:
        writer.save(manifest("pointwise", ["x"], Boolean(), finished=False))
        add(writer, "i0", None, cost=None)
        seen = Following(home / "run")
        assert seen.look()
        assert (seen.done, seen.failed, seen.totals.counts["error"], seen.totals.unpriced) == (1, 1, 1, 1)
        assert seen.running
        path = home / "run" / "results.jsonl"
        whole = path.read_bytes()
        with path.open("ab") as file:
            file.write(b'{"item":"i1","res')
        seen.look()
        assert seen.done == 1
        path.write_bytes(whole)  # as a writer repairs it
        add(writer, "i0", True)
        add(writer, "i1", True)
        with path.open("ab") as file:
            file.write(b"no json\n[]\n")
        seen.look()
        assert (seen.done, seen.failed, seen.totals.counts["error"], seen.totals.counts["pass"]) == (2, 0, 0, 2)
        assert (seen.totals.cost, seen.totals.unpriced) == (1.0, 0)
        path.write_bytes(b"")
        seen.look()
        assert (seen.done, seen.totals.cost) == (0, 0.0)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([True, False, None])), max_size=12), st.data())
def test_any_looks_in_between_count_as_one_at_the_end(tmp_path_factory, written, data):
    folder = tmp_path_factory.mktemp("runs") / "run"
    seen = Following(folder)
    with RunWriter(folder) as writer:
        writer.save(manifest("pointwise", ["x"], Boolean(), finished=False))
        for number, passed in written:
            add(writer, f"i{number}", passed)
            if data.draw(st.booleans()):
                seen.look()
    seen.look()
    last = dict(written)
    plain = Totals("pointwise")
    for number, passed in last.items():
        plain.add(result(f"i{number}", passed).to_dict())
    assert +seen.totals.counts == plain.counts
    assert (seen.done, seen.totals.cost, seen.failed) == (len(last), plain.cost, plain.failures.total())


def test_who_writes_is_told_by_the_lock_that_is_not_touched(home):
    folder = home / "run"
    folder.mkdir()
    assert not is_written(folder)
    lock = FolderLock(folder)
    assert is_written(folder)
    with pytest.raises(DataError, match="another process"):  # it is still held
        FolderLock(folder)
    lock.release()
    assert not is_written(folder)
    FolderLock(folder).release()  # and nobody else has it
    said = {"pid": DEAD, "host": socket.gethostname(), "since": "x"}
    (folder / "lock").write_text(json.dumps(said))
    assert not is_written(folder)
    (folder / "lock").write_text(json.dumps({**said, "host": "another"}))
    assert is_written(folder)
    (folder / "lock").write_text("[1]")
    assert not is_written(folder)


def test_how_many_items_the_data_hold(home):
    (home / "rows.jsonl").write_text("".join(json.dumps({"input": "q", "output": str(i)}) + "\n" for i in range(5)))
    path = str(home / "rows.jsonl")
    assert count_items(RunManifest("pointwise", "r", data={"path": path})) == 5
    assert count_items(RunManifest("pointwise", "r", spec={"limit": 2}, data={"path": path})) == 2
    assert count_items(RunManifest("pointwise", "r", data={"path": "-"})) is None
    assert count_items(RunManifest("pointwise", "r", data={"path": "gone.jsonl"})) is None
    assert count_items(RunManifest("pairwise", "r", data={"path": path})) is None  # no pairs in it


def test_folders_patterns_lists_and_questions_for_a_target_are_counted(home, tmp_path):
    for n in (1, 2):
        (home / f"part-{n}.jsonl").write_text('{"input": "q", "output": "a"}\n' * n)
        (home / f"asked-{n}.jsonl").write_text('{"input": "q"}\n' * n)
    assert count_items(RunManifest("pointwise", "r", data={"path": str(home / "part-*.jsonl")})) == 3
    made = source_of(RunSpec([str(home / "part-1.jsonl"), home / "part-*.jsonl"]))
    assert count_items(RunManifest("pointwise", "r", data=made)) == 4
    asked = {"path": str(home / "asked-*.jsonl")}
    assert count_items(RunManifest("pointwise", "r", spec={"target": "openai/m"}, data=asked)) == 3
    two = {"targets": {"a": "openai/m", "b": "openai/n"}}
    assert count_items(RunManifest("pairwise", "r", spec=two, data=asked)) == 3
    (tmp_path / "talks").mkdir()
    for n in range(3):
        (tmp_path / "talks" / f"{n}.json").write_text('[{"role": "user", "content": "q"}]')
    assert count_items(RunManifest("session", "r", data={"path": str(tmp_path / "talks")})) == 3
    os.mkfifo(tmp_path / "pipe")
    assert count_items(RunManifest("pointwise", "r", data={"path": str(tmp_path / "pipe")})) is None


def test_what_cannot_be_counted_is_said_to_be_unknown(home):
    one = Watch(Following(home / "run"), 1, 1)
    assert one.counted == "0 items"  # nobody has looked yet
    one.tried = one.seen.running = True
    assert one.counted == "0 items of an unknown total"
    one.seen.running = False
    assert one.counted == "0 items"


def test_lines_are_not_more_often_than_asked(home):
    """A run of its own process, seen from a pipe: some lines, the last word, and the code of the run."""
    (home / "slow.py").write_text(
        "import os, time\ndef slow(output):\n    time.sleep(0.02)\n"
        "    while len(output) == 39 and not os.path.exists('seen'): time.sleep(0.02)\n    return len(output) > 3\n"
    )
    (home / "rows.jsonl").write_text("".join(json.dumps({"input": "q", "output": "x" * i}) + "\n" for i in range(40)))
    spec = {"data": "rows.jsonl", "criteria": "c", "judges": ["slow.py:slow"], "concurrency": 1}
    (home / "check.yaml").write_text(json.dumps(spec))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-m", "jury"]
    with (
        subprocess.Popen([*command, "run", "check.yaml", "--json"], **pipes) as run,
        subprocess.Popen([*command, "watch", "runs/check", "--every", "0", "--wait", "120"], **pipes) as watch,
    ):
        lines = []
        for line in watch.stdout:
            lines.append(line.rstrip("\n"))
            if " of 40 items" in line:
                (home / "seen").touch()  # the last row ends once the watch knows how many there are
        (home / "seen").touch()
        run.communicate(timeout=120)
        _, err = watch.communicate(timeout=120)
    assert watch.returncode == 0, err
    assert lines[-1].startswith("finished   ")
    assert lines[-1].endswith("-m jury show runs/check")  # as this one was called
    assert lines[-2].startswith("40 of 40 items · pass rate 90%")
    assert len(lines) == len(set(lines))


def test_a_long_name_leaves_room_for_how_far_it_is_and_nothing_is_cut(home):
    name = "a-run-with-a-name-that-fills-the-line-of-a-narrow-terminal"
    with RunWriter(home / name) as writer:
        writer.save(manifest("pointwise", ["x"], Boolean(), finished=False))
        for item, passed in (("i0", True), ("i1", False), ("i2", None)):
            add(writer, item, passed)
        one = Watch(Following(home / name), 5.0, 0.0, total=40)
        assert one.seen.look()
        console = Console(file=StringIO(), width=60)
        with watching._Live(one, console) as live:
            console.print(live._drawn())
    shown = console.file.getvalue()
    assert all(len(line) <= 60 for line in shown.splitlines())
    assert "… ━" in shown
    assert "3 of 40 items" in shown
    assert " ".join(one.line.split(" · ")[2].split()) in " ".join(shown.split())


@pytest.mark.parametrize("no_color", [False, True])
def test_live_on_a_terminal(home, no_color):
    (home / "rows.jsonl").write_text('{"input": "q", "output": "a"}\n' * 4)
    data = {"path": str(home / "rows.jsonl")}
    with RunWriter(home / "run") as writer:
        writer.save(manifest("pointwise", ["x"], Boolean(), finished=False, data=data))
        add(writer, "i0", True)
        env = {**os.environ, "TERM": "xterm", "COLUMNS": "60", **({"NO_COLOR": "1"} if no_color else {})}
        master, slave = pty.openpty()
        command = [sys.executable, "-m", "jury", "watch", "run"]
        watch = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env)
        os.close(slave)
        shown = _read(master, lambda text: "1 of 4 items" in text)
        add(writer, "i1", False)
        shown += _read(master, lambda text: "1 passed, 1 failed" in text)
        writer.save(manifest("pointwise", ["x"], Boolean()))
    shown += _read(master, lambda text: "finished" in text)
    assert watch.wait(timeout=120) == 0
    os.close(master)
    assert "jury show run" in shown
    assert ("\x1b[3" in shown or "\x1b[9" in shown) is not no_color
    assert shown.rstrip().endswith("jury show run")
    assert "\x1b[?25h" in shown  # the cursor is back


def test_ctrl_c_ends_the_watch_and_not_the_run(home):
    with RunWriter(home / "run") as writer:
        writer.save(manifest("pointwise", ["x"], Boolean(), finished=False))
        add(writer, "i0", True)
        command = [sys.executable, "-m", "jury", "watch", "run"]
        watch = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert watch.stdout is not None
        assert watch.stdout.readline().startswith("1 item ")
        watch.send_signal(signal.SIGINT)
        _, err = watch.communicate(timeout=120)
        assert (watch.returncode, err) == (130, "")
        add(writer, "i1", True)  # the lock is still the writer's


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (119, "119 s"), (600, "10 min"), (9000, "2.5 h")])
def test_time_left_in_words(seconds, text):
    assert lasting(seconds) == text


def test_what_is_left_is_told_once_it_can_be_told():
    """64 calls at once of 10 s each: the first result says nothing of the pace, the first wave does."""
    now = [0.0]
    pace = Pace(lambda: now[0])
    told = []
    for result in range(1, 257):
        now[0] = 10.0 * (1 + (result - 1) // 64) + (result - 1) % 64 / 100
        told.append(pace.left_s(result, 640 - result))
    assert told[:64] == [None] * 64
    right = [10 * (640 - n) / 64 for n in range(1, 257)]
    assert all(abs(left / due - 1) < 0.6 for left, due in zip(told[64:], right[64:], strict=True))
    assert pace.left_s(640, 0) is None


def _read(master: int, enough, timeout: float = 120) -> str:
    text, until = "", time.monotonic() + timeout
    while not enough(text) and time.monotonic() < until:
        if select.select([master], [], [], 0.1)[0]:
            try:
                text += os.read(master, 65536).decode("utf-8", "replace")
            except OSError:  # the terminal was left
                break
    return text


def test_lines_come_every_second_at_first_and_more_rarely_later(home):
    now = [0.0]
    one = Watch(Following(home / "run"), every=10, wait=0, clock=lambda: now[0])
    assert one.pause == 1
    now[0] = 50
    assert one.pause == 5
    now[0] = 500
    assert one.pause == 10
    assert Watch(Following(home / "run"), every=0, wait=0).pause == 0
