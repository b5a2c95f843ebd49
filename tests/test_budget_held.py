"""Money, counted by the provider: whatever it answers, what it charges stays within the budget."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jury import JudgeSpec, sync
from jury.cli.__main__ import main
from jury.providers import registry
from jury.runner import RunSpec, run
from jury.store import Run
from jury.store.at_risk import FILE
from tests.servers.provider_server import ProviderServer, chat_reply, garbage, hang, http_error, rate_limited, reset

PRICE = {"input": 1000, "output": 4000}  # US dollars per million tokens
ROOT = Path(__file__).parent.parent


class Till:
    """A provider that charges for what it worked on, also where its answer is lost or cannot be read."""

    def __init__(self, values: dict[str, Any], *, hangs: bool = True, seed: int = 1) -> None:
        self.values = values
        self.losses = [(0.20, reset), (0.25, garbage), *([(0.28, hang)] if hangs else [])]
        self.charged = 0.0
        self.draw = random.Random(seed)
        self.lock = threading.Lock()

    def __call__(self, request: Any) -> Any:
        with self.lock:
            dice = self.draw.random()
            if dice < 0.10:
                return rate_limited(retry_after=0.01)
            if dice < 0.15:
                return http_error(500)
            most = request.body.get("max_tokens") or request.body["max_completion_tokens"]
            used = (len(request.raw) // 4, self.draw.randint(1, most))
            self.charged += (used[0] * PRICE["input"] + used[1] * PRICE["output"]) / 1e6
            lost = next((make for share, make in self.losses if dice < share), None)
            if lost is not None:
                return lost()
            said = "I like it." if dice < 0.40 else json.dumps(self.values)
            return chat_reply(said, usage=used, finish_reason="stop" if dice < 0.95 else "length")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A folder with data, and a way to let a till answer for `house/a` and `house/b`."""
    for name in ("JURY_JUDGES", "JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("jury.calls.BACKOFF_S", 0.01)
    monkeypatch.setattr("jury.calls.MAX_BACKOFF_S", 0.05)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOUSE_KEY", "k")
    monkeypatch.setenv("JURY_CACHE", "off")
    monkeypatch.setenv("JURY_CONFIG", str(tmp_path / "jury.yaml"))
    rows = [{"id": f"r{i}", "input": "q", "output": f"a{i} " + "x" * (i % 7) * 40} for i in range(120)]
    pairs = [{"id": f"p{i}", "question": "q", "response_a": f"a{i}", "response_b": "b"} for i in range(60)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(r) + "\n" for r in pairs))
    for number in range(20):
        turns = [{"role": "user", "content": f"q{number}"}, {"role": "assistant", "content": "a"}]
        (tmp_path / f"s{number}.jsonl").write_text("".join(json.dumps(t) + "\n" for t in turns))
    (tmp_path / "rules.txt").write_text("1. Be kind.\n")

    def served(server: ProviderServer) -> None:
        settings = {
            "providers": {"house": {"base_url": f"{server.url}/v1", "key_env": "HOUSE_KEY"}},
            "prices": {"house/a": PRICE, "house/b": PRICE},
        }
        (tmp_path / "jury.yaml").write_text(json.dumps(settings))
        registry.reset()

    yield served
    if "house" in (tmp_path / "jury.yaml").read_text():  # the loop of the commands goes on, and its client with it
        sync.run(registry.provider("house").close())
        registry.reset()


def jury(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return int(left.value.code or 0)


GOOD = {"explanation": "e", "value": True}
PANEL = ("-j", "house/a", "-j", "house/b", "--timeout", "60", "--concurrency", "64")
COMMANDS = {
    "judge": ("judge", "rows.jsonl", "-c", "c", *PANEL, "--repetitions", "2", "--stand-ins", "house/a"),
    "compare": ("compare", "pairs.jsonl", *PANEL),
    "rubric": ("rubric", "answer-rubric", "rows.jsonl", *PANEL[:4]),
    "session": ("session", "policy", "s*.jsonl", "rules.txt", *PANEL[:4]),
}


@pytest.mark.parametrize("budget", [30.0, 90.0])
@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_commands(place: Any, command: str, budget: float) -> None:
    till = Till(GOOD if command != "compare" else {"explanation": "e", "winner": "A", "value": "A"}, hangs=False)
    with ProviderServer(till) as server:
        place(server)
        code = jury(*COMMANDS[command], "--max-tokens", "20", "--budget", str(budget), "--json")
    assert code in (0, 3)
    assert till.charged > 0
    assert till.charged <= budget + 1e-9


RUNS = {
    "panel": {"criteria": "c", "repetitions": 2, "stand_ins": ["house/a"]},
    "each": {"rubric": "answer-rubric", "ask": "each"},
    "cascade": {"criteria": "c", "escalate": [["house/a"], "rest"]},
    "stopping": {"criteria": "c", "stop": "decided"},
}


@pytest.mark.parametrize("budget", [30.0, 90.0])
@pytest.mark.parametrize("kind", sorted(RUNS))
def test_runs_and_all_their_passes(place: Any, tmp_path: Path, kind: str, budget: float) -> None:
    till = Till(GOOD)
    given = {"judges": ["house/a", "house/b"], "max_tokens": 20, "timeout": 0.5, "retries": 3, **RUNS[kind]}
    with ProviderServer(till) as server:
        place(server)
        for _ in range(3):
            spec = RunSpec("rows.jsonl", given, budget=budget, cache=False)
            report = asyncio.run(run(spec, tmp_path / "run"))
            assert till.charged <= report.spent + report.unsure + 1e-9
    assert till.charged > 0
    assert report.spent + report.unsure <= budget + 1e-9


def test_a_kill_in_the_middle_of_calls(place: Any, tmp_path: Path) -> None:
    """The provider may have charged for what was in flight: the next pass knows, and does not pay beyond the budget."""
    till = Till(GOOD)
    till.draw = Steady()
    with ProviderServer(till) as server:
        place(server)
        (tmp_path / "check.yaml").write_text(
            json.dumps({"data": "rows.jsonl", "criteria": "c", "judges": ["house/a"], "max_tokens": 20})
        )
        command = [sys.executable, "-m", "jury", "run", "check.yaml", "--budget", "20", "--concurrency", "4", "-o", "r"]
        path = {**os.environ, "PYTHONPATH": str(ROOT)}
        answered = 0

        def few(request: Any) -> Any:
            nonlocal answered
            answer = till(request)
            answered += 1
            return answer if answered <= 3 else hang()

        server.script(few)
        with subprocess.Popen(command, env=path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            while len(server.requests) < 7 and child.poll() is None:
                time.sleep(0.01)
            os.kill(child.pid, signal.SIGKILL)
        assert len(server.requests) == 7
        assert (tmp_path / "r" / FILE).exists()
        server.script(till)
        spec = RunSpec.from_file("check.yaml", budget=20.0)
        for _ in range(2):
            report = asyncio.run(run(spec, tmp_path / "r"))
            assert not (tmp_path / "r" / FILE).exists()
            lost = [h for h in Run.open(tmp_path / "r").manifest.history if h.get("killed")]
            assert len(lost) == 1
            assert report.unsure == pytest.approx(lost[0]["unsure"])
    most = report.unsure / 4  # of each of the four that were in flight
    assert till.charged <= report.spent + report.unsure <= 20
    assert report.totals["reasons"]["budget"] > 0
    assert report.spent + report.unsure > 20 - 2 * most  # and what was not at risk was still spent


class Steady(random.Random):
    """Every request gets a good answer."""

    def random(self) -> float:
        return 0.5


def test_a_pass_that_ends_leaves_no_record_and_one_without_a_budget_makes_none(tmp_path: Path) -> None:
    def spec(**more: Any) -> RunSpec:
        judge = JudgeSpec(function=lambda output: {"value": True, "usage": {"cost": 0.25}}, id="f", max_cost=0.5)
        return RunSpec([{"id": "1", "output": "o"}], {"criteria": "c", "judges": [judge]}, cache=False, **more)

    for number, budget in enumerate((None, 1.0)):
        report = asyncio.run(run(spec(budget=budget), tmp_path / str(number)))
        assert report.finished
        assert not (tmp_path / str(number) / FILE).exists()


@pytest.mark.parametrize("found", [b"", b"{", b'{"dollars": "1"}', b'{"dollars": NaN}', b"\x00\xff"])
def test_a_record_that_cannot_be_read_stops_nobody(tmp_path: Path, found: bytes) -> None:
    (tmp_path / FILE).write_bytes(found)
    judge = JudgeSpec(function=lambda output: True, id="f")
    spec = RunSpec([{"id": "1", "output": "o"}], {"criteria": "c", "judges": [judge]}, cache=False, budget=1.0)
    assert asyncio.run(run(spec, tmp_path)).finished


def test_of_functions_that_say_no_max_cost_the_first_call_goes_alone(tmp_path: Path) -> None:
    asked: list[str] = []
    third = asyncio.Event()

    async def judge(output: str) -> dict[str, Any]:
        asked.append(output)
        if len(asked) == 2 and not paying:
            await asyncio.wait_for(third.wait(), 80)  # it is not alone any more
        if len(asked) == 3:
            third.set()
        return {"value": True, **({"usage": {"cost": 0.1}} if paying else {})}

    rows = [{"id": str(i), "output": f"o{i}"} for i in range(20)]
    spec = RunSpec(rows, {"criteria": "c", "judges": [judge]}, cache=False, budget=5.0)
    paying = True
    report = asyncio.run(run(spec, tmp_path / "paying"))
    assert (len(asked), report.spent, report.totals["reasons"]) == (1, 0.1, {"budget": 19})
    overdrawn = replace(spec, budget=0.05)
    report = asyncio.run(run(overdrawn, tmp_path / "paying"))  # not one call more
    assert (len(asked), report.spent, report.totals["reasons"]) == (1, 0.1, {"budget": 19})
    paying = False
    asked.clear()
    report = asyncio.run(run(spec, tmp_path / "free"))
    assert (report.totals["n_pass"], report.spent) == (20, 0)


@pytest.mark.parametrize("failing", ["raises", "off the scale"])
def test_a_call_that_failed_says_nothing_of_what_others_cost(tmp_path: Path, failing: str) -> None:
    asked: list[str] = []
    at_once, most = 0, 0

    async def judge(output: str) -> Any:
        nonlocal at_once, most
        asked.append(output)
        number, at_once = len(asked), at_once + 1
        most = max(most, at_once)
        try:
            await asyncio.sleep(0)
            if number < 4 and failing == "raises":
                raise RuntimeError("down")
            return {"value": True, "usage": {"cost": 0.4}} if number >= 4 else "neither"
        finally:
            at_once -= 1

    rows = [{"id": str(i), "output": f"o{i}"} for i in range(20)]
    spec = RunSpec(rows, {"criteria": "c", "judges": [judge]}, cache=False, budget=5.0)
    report = asyncio.run(run(spec, tmp_path))
    assert (len(asked), most, report.spent) == (4, 1, 0.4)
    assert report.totals["reasons"] == {"errors": 3, "budget": 16}


FUNCTION = """
def second_look(output):
    with open("asked", "a") as file:
        file.write("x")
    return {"value": True, "usage": {"cost": 1.0}}
"""


def test_what_functions_cost_counts_in_commands_without_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": f"r{i}", "input": "q", "output": f"a{i}"} for i in range(9)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (tmp_path / "silent.py").write_text(FUNCTION)
    (tmp_path / "told.py").write_text(f"{FUNCTION}second_look.max_cost = 1.5")
    asked = tmp_path / "asked"
    for file, calls in (("silent.py", 1), ("told.py", 4)):
        code = jury("judge", "rows.jsonl", "-c", "c", "-j", f"{file}:second_look", "--budget", "4.75", "--json")
        out, err = capsys.readouterr()
        said = json.loads(out)["summary"]
        assert (code, len(asked.read_text()), said["spent"], said["reasons"]) == (
            0,
            calls,
            calls,
            {"budget": 9 - calls},
        )
        assert ("says no max_cost" in err) == (file == "silent.py")
        asked.unlink()


@pytest.mark.parametrize("usage", [{"cost": "0.5"}, {"cost": float("nan")}, "half a dollar"])
@pytest.mark.parametrize("kind", ["plain", "rubric"])
def test_a_cost_that_cannot_be_read_is_not_taken_for_nothing(tmp_path: Path, usage: Any, kind: str) -> None:
    asked: list[str] = []

    def judge(output: str) -> dict[str, Any]:
        asked.append(output)
        return {**({"value": True} if kind == "plain" else {"clear": 4}), "usage": usage}

    criteria = {"criteria": "c"} if kind == "plain" else {"rubric": {"criteria": [{"key": "clear", "scale": "1-5"}]}}
    rows = [{"id": str(i), "output": f"o{i}"} for i in range(20)]
    spec = RunSpec(rows, {**criteria, "judges": [JudgeSpec(function=judge, id="f")]}, cache=False, budget=5.0)
    report = asyncio.run(run(spec, tmp_path / "silent"))
    assert (len(asked), report.totals["reasons"].get("budget")) == (1, 19)
    asked.clear()
    stated = replace(spec, jury={**criteria, "judges": [JudgeSpec(function=judge, id="f", max_cost=1.0)]})
    report = asyncio.run(run(stated, tmp_path / "stated"))
    assert (len(asked), report.spent) == (5, 5.0)


def test_what_a_rubric_function_tells_of_its_cost_counts(tmp_path: Path) -> None:
    rubric = {"criteria": [{"key": "clear", "scale": "1-5"}]}
    judge = JudgeSpec(function=lambda output: {"clear": 4, "usage": {"cost": 0.25}}, id="f", max_cost=0.5)
    rows = [{"id": str(i), "output": f"o{i}"} for i in range(3)]
    spec = RunSpec(rows, {"rubric": rubric, "judges": [judge]}, cache=False, budget=5.0)
    assert asyncio.run(run(spec, tmp_path)).spent == 0.75
