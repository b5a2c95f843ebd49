"""How numbers and verdicts are written, and what a result prints."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jury
from jury import Criterion, Labels, Rubric, llm_jury, llm_jury_pairwise, wording
from jury.results import PanelResult, Usage, Verdict, Vote
from jury.runner import RunSpec, run_sync
from jury.summary import Summary, summarize, win_rate


def test_the_examples_hold():
    assert doctest.testmod(wording).failed == 0 < doctest.testmod(wording).attempted


@given(st.floats(min_value=0, max_value=1e9, exclude_min=True))
def test_money_that_is_something_is_never_shown_as_nothing(amount):
    text = wording.dollars(amount)
    assert "e" not in text
    assert any(digit in text for digit in "123456789")
    shown = float(text.replace("$", "").replace(",", "").removeprefix("<"))
    assert shown == pytest.approx(amount, rel=0.06) or amount < 1e-6


def test_no_other_place_writes_money():
    money = re.compile(r"""\$\{[^}]*:[,.\dgf]+\}|\$\$\{""")
    found = [
        str(path)
        for kind in ("*.py", "*.js")
        for path in Path(jury.__file__).parent.rglob(kind)
        if path.name != "wording.py" and money.search(path.read_text("utf-8"))
    ]
    assert found == []


def good(output):
    return True, "It is <b>fine</b>."


def also(output):
    return True


def bad(output):
    return False, "No\x1b[31m way,\nreally."


def broken(output):
    raise ValueError("out of paper")


def test_a_result_prints_the_verdict_and_who_voted_what():
    result = llm_jury(criteria="c", judges=[good, also, bad]).judge_sync(input="q", output="a")
    assert str(result).split("\n") == [
        "pass  2 of 3 voted pass, agreement 0.67",
        "  good  pass  It is <b>fine</b>.",
        "  also  pass",
        "  bad   fail  No\\x1b[31m way, really.",
    ]
    assert "&lt;b&gt;fine" in result._repr_html_()
    assert "<b>fine" not in result._repr_html_()
    printed: list[str] = []
    result._repr_pretty_(SimpleNamespace(text=printed.append), cycle=False)
    assert printed == [str(result)]
    assert repr(result).startswith("PanelResult(status='decided'")
    assert "judgments=" in repr(result)


def test_why_there_is_no_verdict():
    result = llm_jury(criteria="c", judges=[good, bad, broken]).judge_sync(input="q", output="a")
    assert str(result).startswith("inconclusive (tied)  2 of 3 votes decided\n")
    assert re.search(r"\n  broken +error +exception: ValueError: out of paper", str(result))
    errored = llm_jury(criteria="c", judges=[good]).judge_sync(input="q", output=jury.Output(error="it fell"))
    assert str(errored).startswith("not judged")
    assert "it fell" in str(errored)
    ruled = llm_jury(criteria="c", judges=[good, bad], aggregator=lambda votes: 1 / 0).judge_sync(input="q", output="a")
    assert "\n  why   No verdict: the aggregator raised ZeroDivisionError: division by zero.\n" in str(ruled)


def test_a_pair_and_a_rubric():
    pair = llm_jury_pairwise(judges=[lambda response_a, response_b: "A", longer])
    shown = str(pair.compare_sync(question="q", response_a="xx", response_b="y"))
    assert shown.startswith("inconclusive (too few votes)")
    assert "flip" in shown
    assert "longer" in shown
    rubric = Rubric((Criterion("clear", "Is it clear?", Labels(["yes", "no"], ["yes"])),))
    result = llm_jury(rubric=rubric, judges=[lambda case: {"clear": "yes"}]).judge_sync(input="q", output="a")
    assert "  clear" in str(result)
    assert str(result.criteria[0]).startswith("clear: ")


def longer(response_a, response_b):
    return "A" if len(response_a) > len(response_b) else "B"


def test_many_votes_are_cut_and_money_is_told():
    votes = tuple(Vote(f"judge-{n}", Verdict("scored", True)) for n in range(20))
    result = PanelResult("decided", value=True, passed=True, votes=votes, seats=20, seats_used=20, calls=20,
                         usage=Usage(20, 10, 10, cost=0.00002))  # fmt: skip
    lines = str(result).split("\n")
    assert len(lines) == 15
    assert lines[-2].split() == ["…", "8", "more", "votes"]
    assert lines[-1].split("  ")[-1].strip() == "$0.000020 (20 calls)"


def test_a_summary_a_win_rate_and_a_run(tmp_path):
    found = summarize(["pass", "pass", "fail", "error", "na"])
    assert str(found) == "pass rate 66.7%  2 passed, 1 failed\n  coverage  80%, 4 of 5: 1 NA, 1 error"
    assert "<table>" in found._repr_html_()
    assert repr(found).startswith("Summary(n_total=5")
    assert str(Summary()).startswith("pass rate undefined")
    assert str(win_rate(["A", "tie", "inconclusive"])).startswith("win rate A 75%  1 A, 0 B, 1 tie\n  coverage  66.7%")
    done = run_sync(RunSpec([{"input": "q", "output": "a"}], llm_jury(criteria="c", judges=[good])), tmp_path / "run")
    assert str(done).startswith("pass rate 100%  1 passed, 0 failed")
    assert str(tmp_path / "run") in str(done)
