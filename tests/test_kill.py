"""A run that is killed again and again: it ends with the results of an undisturbed one, and pays for nothing twice."""

from __future__ import annotations

import contextlib
import hashlib
import json
import socketserver
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from jury.runner import replay
from jury.store import Run
from tests import kill_nursery

ROOT = Path(__file__).parent.parent


class Server(socketserver.ThreadingTCPServer):
    """Answers each question the same way every time, after some milliseconds, and counts."""

    allow_reuse_address = True
    daemon_threads = True
    asked: Counter[str]


class Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        question = self.rfile.readline().decode().strip()
        if not question:
            return
        with self.server.lock:
            self.server.asked[question] += 1
        number = int(hashlib.sha256(question.encode()).hexdigest(), 16)
        time.sleep(0.002 + number % 5 / 1000)
        with contextlib.suppress(OSError):  # whoever asked was killed
            self.wfile.write(kill_nursery.REPLIES[number % 7 == 0].encode() + b"\n")


def results(folder: Path) -> list[object]:
    """Everything about the results but how long they took."""

    def timeless(value: object) -> object:
        if isinstance(value, dict):
            return {k: timeless(v) for k, v in value.items() if k != "latency_s"}
        return [timeless(v) for v in value] if isinstance(value, list) else value

    return [timeless(r.to_dict()) for _, r in Run.open(folder).results()]


@pytest.mark.parametrize("kills", [pytest.param(12, id="a-few"), pytest.param(200, id="many", marks=pytest.mark.slow)])
@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_kills_cost_nothing_but_the_calls_in_flight(tmp_path, kills):
    server = Server(("127.0.0.1", 0), Handler)
    server.asked, server.lock = Counter(), threading.Lock()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    port = server.server_address[1]
    try:
        assert kill_nursery.once(port, str(tmp_path / "undisturbed")) == 0
        undisturbed = sum(server.asked.values())
        server.asked.clear()
        command = [sys.executable, "-m", "tests.kill_nursery", str(port), str(tmp_path / "k"), str(kills), "1"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
    finally:
        server.shutdown()
        server.server_close()
    assert said["kills"] == kills
    expected = results(tmp_path / "undisturbed")
    assert undisturbed == 3 * 2 * kill_nursery.ITEMS == sum(r["calls"] for r in expected)
    for number in range(said["folders"]):
        folder = tmp_path / "k" / str(number)
        assert results(folder) == expected
        recorded = Counter(j.key for j in Run.open(folder).judgments())
        assert len(recorded) == undisturbed
        assert set(recorded.values()) == {1}  # what was paid for and recorded was never asked again
        assert Run.open(folder).damage() == []
        assert replay(folder).same
        assert Run.open(folder).manifest.totals["cost"] == pytest.approx(0.01 * undisturbed)
    calls = sum(server.asked.values())
    in_flight = kill_nursery.spec(port).concurrency
    assert calls <= undisturbed * said["folders"] + kills * in_flight


@pytest.mark.parametrize("kills", [pytest.param(8, id="a-few"), pytest.param(100, id="many", marks=pytest.mark.slow)])
@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_kills_of_a_run_with_a_target_and_a_cascade(tmp_path, kills):
    server = Server(("127.0.0.1", 0), Handler)
    server.asked, server.lock = Counter(), threading.Lock()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    port = server.server_address[1]
    try:
        assert kill_nursery.once(port, str(tmp_path / "undisturbed"), "target") == 0
        undisturbed = Counter(server.asked)
        server.asked.clear()
        command = [
            sys.executable,
            "-m",
            "tests.kill_nursery",
            str(port),
            str(tmp_path / "k"),
            str(kills),
            "2",
            "target",
        ]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
    finally:
        server.shutdown()
        server.server_close()
    assert set(undisturbed.values()) == {1}
    expected = results(tmp_path / "undisturbed")
    assert {r["tier"] for r in expected} == {1, 2}
    outputs = {o.item: o.output for o in Run.open(tmp_path / "undisturbed").outputs()}
    assert len(outputs) == kill_nursery.ITEMS
    for number in range(said["folders"]):
        run = Run.open(tmp_path / "k" / str(number))
        assert results(run.folder) == expected
        assert {o.item: o.output for o in run.outputs()} == outputs
        for keys in (Counter(o.key for o in run.outputs()), Counter(j.key for j in run.judgments())):
            assert set(keys.values()) == {1}  # what was paid for and recorded was never asked again
        assert len(list(run.judgments())) == undisturbed.total() - kill_nursery.ITEMS
        assert run.damage() == []
        assert replay(run.folder).same
        assert run.manifest.totals["target_cost"] == pytest.approx(0.02 * kill_nursery.ITEMS)
    # So many calls of the judges' provider, and as many of the target.
    in_flight = 2 * kill_nursery.with_target(port).concurrency
    assert server.asked.total() <= undisturbed.total() * said["folders"] + kills * in_flight
