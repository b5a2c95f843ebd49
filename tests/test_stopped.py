"""What stopping early saved and cost in verdicts: in the totals, at a run's end, in `jury show`, in the report."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace

import pytest

from jury import JudgeSpec
from jury.cli.__main__ import main
from jury.report.facts import facts
from jury.report.markdown import to_markdown
from jury.report.page import html
from jury.runner import RunSpec, run_sync
from jury.runner.stopped import stopping
from jury.runner.totals import Totals
from jury.store import Run


def judge(place):
    def vote(output):
        number = int(output.split()[1])
        hard = number % 10 == 0  # all of them guess there, most of them alike
        draw = random.Random(f"{number} {place}").random()
        return (number % 2 == 0) == (draw < (0.6 if hard else 0.97))

    return JudgeSpec(function=vote, id=f"j{place}")


def run(folder, n=400, **jury):
    rows = [{"id": str(i), "input": "q", "output": f"item {i}"} for i in range(n)]
    spec = {"criteria": "Even.", "judges": [judge(i) for i in range(5)], **jury}
    return run_sync(RunSpec(rows, spec, concurrency=4), folder)


def told(capsys, *words):
    with pytest.raises(SystemExit):
        main(words)
    return " ".join(capsys.readouterr().out.split())


def test_what_the_full_panel_says_of_checked_items_is_told_everywhere(tmp_path, capsys):
    report = run(tmp_path / "r", stop=0.9)
    results = [r for _, r in Run.open(tmp_path / "r").results()]
    n, differ = sum(r.checked is not None for r in results), sum(r.checked == "differs" for r in results)
    assert n > 5
    assert (report.totals["checked"], report.totals["differed"]) == (n, differ)
    name, words = report.stopping
    assert name == "stopping"
    assert f"on {n} items polled in full as a check {differ} differ" in words
    assert "95% sure (10% allowed)" in words
    assert words in told(capsys, "show", str(tmp_path / "r"))
    seen = facts(Run.open(tmp_path / "r"))
    assert seen.head.worth[-1] == f"stopping: {words}"
    assert f"polled in full as a check {differ} differ" in to_markdown(seen)
    assert f"polled in full as a check {differ} differ" in html(seen)
    again = run(tmp_path / "r", n=420, stop=0.9)  # what earlier passes checked still counts
    assert again.judged == 20
    assert again.totals["checked"] >= n


def test_a_run_too_short_to_learn_says_why_it_saved_nothing(tmp_path):
    assert run(tmp_path / "r", n=40, stop=0.98).stopping == (
        "stopping",
        "no call saved; all judges are asked until 149 items were polled in full, 40 are",
    )


def test_a_pass_that_turned_out_wrong_says_that_all_are_asked(tmp_path):
    run(tmp_path / "r", n=40, stop=0.98)
    manifest = Run.open(tmp_path / "r").manifest
    seen = {"learned": 300, "checked": 20, "differed": 5, "bound": None, "needed": 149}
    told = stopping(replace(manifest, history=({"foresight": seen},)), Totals("pointwise", Counter(a=1)))
    assert told == (
        "stopping",
        "no call saved; all judges are asked: 300 items polled in full do not show that fewer would say the same",
    )


def test_exact_stopping_promises_the_full_panels_verdicts(tmp_path, capsys, monkeypatch):
    full, early = run(tmp_path / "full", n=60), run(tmp_path / "early", n=60, stop="decided")
    verdicts = [[r.value for _, r in Run.open(tmp_path / name).results()] for name in ("full", "early")]
    assert verdicts[0] == verdicts[1]
    saved = full.totals["calls"] - early.totals["calls"]
    assert early.stopping == ("stopping", f"{saved} calls saved; every verdict is that of the full panel")
    assert full.stopping is None

    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text(json.dumps({"id": "a", "input": "q", "output": "item 2"}) + "\n")
    (tmp_path / "checks.py").write_text("a = lambda output: True\nb = lambda output: True\nc = lambda output: True\n")
    judges = [f"checks.py:{name}" for name in "abc"]
    config = {"data": "rows.jsonl", "criteria": "c", "judges": judges, "stop": "decided"}
    (tmp_path / "check.yaml").write_text(json.dumps(config))
    assert "stopping 1 call saved; every verdict" in told(capsys, "run", "check.yaml")


def test_a_cascade_is_told_by_show_and_report_as_by_the_run(tmp_path, capsys):
    report = run(tmp_path / "r", n=300, escalate=[["j0", "j1"], "rest", "people"])
    name, words = report.stopping
    assert name == "cascade"
    assert f"{report.totals['tiers']['1']:,} by tier 1" in words
    assert f"asked in full as a check {report.totals['differed']} differ" in words
    assert words in told(capsys, "show", str(tmp_path / "r"))
    assert facts(Run.open(tmp_path / "r")).head.worth[-1] == f"cascade: {words}"
