"""The bar of a run at 80 columns: how far it is and the time left stay, whatever there is to tell below."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from jury.cli.run_progress import RunProgress


def result(passed, *failures):
    votes = [{"judge": f"openai/gpt-5-mini-{i}", "failure": {"kind": kind}} for i, kind in enumerate(failures)]
    usage = {"input_tokens": 9, "output_tokens": 9, "cost": 0.001}
    reason = {"status": "inconclusive", "reason": "tie"} if passed is None else {"status": "decided"}
    return {**reason, "pass": passed, "calls": 2, "calls_saved": 1, "usage": usage, "votes": votes}


@pytest.fixture
def bar(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    with RunProgress("pointwise") as made:
        made._console = Console(file=StringIO(), force_terminal=True, width=80)
        yield made


def shown(progress):
    console = Console(file=StringIO(), width=80)
    for part in progress._bar.get_renderables():
        console.print(part)
    return console.file.getvalue()


def test_nothing_is_cut_off(bar):
    bar.start(600)
    for number in range(120):
        bar.hear("x", result(number % 3 > 0, *(["server_error", "no_json"] if number % 4 == 0 else [])))
    bar.hear("x", result(None))
    bar._bar.update(bar._task, left="36 s left")
    first, *rest = shown(bar).splitlines()
    assert "121/600" in first
    assert "36 s left" in first
    told = " ".join(" ".join(rest).split())
    assert told == (
        "pass rate 66.7% · 80 passed, 40 failed, 1 inconclusive · coverage 99% · $0.1210, 121 calls saved · "
        "failed: 30 openai/gpt-5-mini-0: server_error, 30 openai/gpt-5-mini-1: no_json"
    )


def test_before_the_first_result_there_is_the_bar_alone(bar):
    bar.start(3)
    assert len(shown(bar).splitlines()) == 1


def test_of_pairs_the_rate_is_that_of_a():
    progress = RunProgress("pairwise")
    assert progress.words == ""
    for winner in ("A", "tie", "B", "A"):
        progress.totals.add({"status": "decided", "winner": winner})
    assert progress.words == "win rate A 62.5%"
