"""`--budget` and `--estimate` of the commands that judge a file: nothing is paid beyond the one, or with the other."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jury.providers import registry
from tests.command import jury
from tests.servers.answers import reply
from tests.servers.provider_server import ProviderServer

Run = Callable[..., tuple[int, str, str]]
PRICE = {"input": 100_000, "output": 100_000}  # a call of some hundred tokens costs some dozen dollars


@pytest.fixture
def server() -> Any:
    with ProviderServer() as made:
        yield made


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: Any) -> Run:
    """Runs the command in a folder with data, and a judge `house/m` whose calls cost money."""
    for name in ("JURY_JUDGES", "JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOUSE_KEY", "k")
    monkeypatch.setenv("JURY_CACHE", str(tmp_path / "cache.sqlite"))
    settings = {
        "providers": {"house": {"base_url": f"{server.url}/v1", "key_env": "HOUSE_KEY"}},
        "prices": {"house/m": PRICE},
    }
    (tmp_path / "jury.yaml").write_text(json.dumps(settings))
    monkeypatch.setenv("JURY_CONFIG", str(tmp_path / "jury.yaml"))
    registry.reset()
    rows = [{"id": f"r{i}", "input": "q", "output": f"a{i}"} for i in range(4)]
    pairs = [{"id": f"p{i}", "question": "q", "response_a": "a", "response_b": "b"} for i in range(4)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(r) + "\n" for r in pairs))
    (tmp_path / "s.jsonl").write_text('{"role": "user", "content": "q"}\n{"role": "assistant", "content": "a"}\n')
    (tmp_path / "rules.txt").write_text("1. Be kind.\n")

    return partial(jury, capsys)


COMMANDS = {
    "judge": ("judge", "rows.jsonl", "-c", "c"),
    "compare": ("compare", "pairs.jsonl"),
    "rubric": ("rubric", "answer-rubric", "rows.jsonl"),
    "session": ("session", "policy", "s.jsonl", "rules.txt"),
}


@pytest.mark.parametrize(("command", "calls"), [("judge", 4), ("compare", 8), ("rubric", 4), ("session", 1)])
def test_a_quote_asks_nobody(run: Run, server: Any, command: str, calls: int) -> None:
    code, out, _ = run(*COMMANDS[command], "-j", "house/m", "--estimate", "--json")
    said = json.loads(out)
    assert (code, said["calls"], said["cost"] > 1) == (0, calls, True)
    code, out, _ = run(*COMMANDS[command], "-j", "house/m", "--estimate")
    assert (code, "at most $" in out) == (0, True)
    assert not server.requests


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_no_call_starts_that_could_exceed_the_budget(run: Run, server: Any, command: str) -> None:
    code, _, err = run(*COMMANDS[command], "-j", "house/m", "--budget", "0.01")
    assert code == 3
    assert not server.requests
    assert "error:" not in err
    code, _, err = run(*COMMANDS[command], "-j", "house/other", "--budget", "5")
    assert (code, "a budget needs a price for house/other" in err) == (2, True)
    code, _, err = run(*COMMANDS[command], "-j", "house/m", "--budget", "-1")
    assert (code, err) == (2, "error: --budget must be an amount of US dollars from 0, got -1\n")


def test_what_was_judged_in_time_counts_and_the_rest_is_told(run: Run, server: Any) -> None:
    server.script(reply({"explanation": "e", "value": True}))
    told = (*COMMANDS["judge"], "-j", "house/m", "--max-tokens", "10", "--concurrency", "1", "--budget", "215")
    code, out, _ = run(*told, "--json")
    said = json.loads(out)["summary"]
    n = said["reasons"]["budget"]
    assert (code, said["n_pass"], said["n_inconclusive"]) == (0, 4 - n, n)
    assert 1 <= n <= 3
    assert len(server.requests) == 4 - n
    assert said["spent"] <= said["budget"] == 215
    code, out, _ = run(*told)
    assert "not asked about" in out
    assert f"{4 - n} of 4: {n} not judged ({n} budget)" in out
    assert "inconclusive" not in out


def test_more_money_goes_on_in_the_folder(run: Run, server: Any) -> None:
    server.script(reply({"explanation": "e", "value": True}))
    told = (*COMMANDS["judge"], "-j", "house/m", "--max-tokens", "10", "--concurrency", "1", "-o", "out", "--json")
    said = json.loads(run(*told, "--budget", "215")[1])["summary"]
    n = len(server.requests)
    assert (1 <= n <= 3, said["n_pass"], said["reasons"]) == (True, n, {"budget": 4 - n})
    assert said["spent"] <= said["budget"] == 215
    again = json.loads(run(*told, "--budget", "215")[1])["summary"]
    assert (again["n_pass"], again["spent"], len(server.requests)) == (n, said["spent"], n)
    code, out, _ = run(*told, "--budget", "100000")
    assert (code, json.loads(out)["summary"]["n_pass"], len(server.requests)) == (0, 4, 4)


def test_sessions_and_rubrics_say_what_was_not_asked(run: Run) -> None:
    for command in ("session", "rubric"):
        for folder in ((), ("-o", f"into-{command}")):
            _, out, err = run(*COMMANDS[command], "-j", "house/m", "--budget", "0.01", *folder)
            assert "the budget is used up" in err
            assert "Not judged: the budget of $0.01" in out
            assert "check --call" not in out  # nobody was asked: a test call would tell nothing
            assert "ERROR" not in out
        assert run("replay", f"into-{command}")[0] == 0


def test_a_run_whose_budget_ends_says_what_was_judged_and_what_more_money_does(run: Run, server: Any) -> None:
    server.script(reply({"explanation": "e", "value": True}))
    config = {"data": "rows.jsonl", "criteria": "c", "judges": ["house/m"], "max_tokens": 10, "concurrency": 1}
    Path("check.yaml").write_text(json.dumps(config))
    code, out, _ = run("run", "check.yaml", "--budget", "215")
    told = " ".join(out.split())
    n = 4 - len(server.requests)
    assert (code, 1 <= n <= 3) == (0, True)
    assert f"{n} items not asked about" in told or f"{n} item not asked about" in told
    assert "; a larger one asks about them" in told
    assert "x house/m: budget" not in told  # the line on the budget says it
    again = " ".join(run("run", "check.yaml", "--budget", "215")[1].split())
    assert "judged now" not in again
    assert f"{4 - n} items were judged before" in again or f"{4 - n} item was judged before" in again
    assert json.loads(run("run", "check.yaml", "--budget", "100000", "--json")[1])["judged"] == n


def test_the_judge_without_a_price_is_named(run: Run, server: Any) -> None:
    server.script(reply({"explanation": "e", "value": True}))
    both = (*COMMANDS["judge"], "-j", "house/m,house/new")
    _, out, _ = run(*both, "--estimate")
    assert "unknown: no price for house/new (`prices` in jury.yaml, or `max_cost` of a" in " ".join(out.split())
    _, out, _ = run(*both)
    assert "unknown (no price or no token count of house/new)" in " ".join(out.split())
