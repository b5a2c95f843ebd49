from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from jury import Comparison, PanelResult, Summary, Usage, WinRate, llm_jury, llm_jury_pairwise, summarize, win_rate
from jury.cli import exits, tables
from jury.cli.__main__ import main
from jury.cli.asked import listed, pairs_of, score_range
from jury.cli.functions import is_function
from jury.cli.options import check_values
from jury.cli.progress import Progress
from jury.cli.tables import money, percent
from jury.cli.tally import Kept, Tally
from jury.demo import DemoRun, items, pairs
from jury.errors import ConfigError, MissingExtra

ROOT = Path(__file__).parent.parent
Run = Callable[..., tuple[int, str, str]]
JUDGES = """
import time

def exact(output, expected_output): return output == expected_output, "compared letter by letter"
def short(output): return len(output) < 8
def broken(output): raise RuntimeError("the judge is ill")
def slow(output): time.sleep(0.2); return True
def noisy(output): print("noise"); return True
def telling(output): raise RuntimeError("401 for key sk-abcdefghijklmnop")
def hostile(output): return True, "\\ud800 \\x1b[2J \\u202e turned"
def first(response_a, response_b): return "A"
def longer(response_a, response_b): return "A" if len(response_a) > len(response_b) else "B"
def fuller(response_a, response_b):
    a, b = len(response_a), len(response_b)
    return "tie" if a == b else "A" if a > b else "B"
limit = 3
"""
ANSWERS = [
    {"id": "q1", "question": "Capital of France?", "answer": "Paris", "expected": "Paris"},
    {"id": "q2", "question": "Capital of Australia?", "answer": "Sydney", "expected": "Canberra"},
    {"id": "q3", "question": "Café “où”?", "answer": "日本", "expected": "日本"},
    {"id": "q4", "question": "?", "error": "timed out"},
]
PAIRS = [
    {"question": "q", "response_a": "long answer", "response_b": "short"},
    {"question": "q", "response_a": "no", "response_b": "yes, indeed"},
]


@pytest.fixture
def run(bare_folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command in a folder with data and judges: (exit code, stdout, stderr)."""
    write_files(bare_folder)

    def invoke(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main([str(a) for a in arguments])
        told = capsys.readouterr()
        assert isinstance(stop.value.code, int)
        return stop.value.code, told.out, told.err

    return invoke


def write_files(folder: Path) -> None:
    (folder / "checks.py").write_text(JUDGES, "utf-8")
    (folder / "answers.jsonl").write_text("".join(json.dumps(r) + "\n" for r in ANSWERS), "utf-8")
    (folder / "pairs.jsonl").write_text("".join(json.dumps(r) + "\n" for r in PAIRS), "utf-8")


def script(path: str, *replies: Any) -> str:
    Path(path).write_text(json.dumps(list(replies)), "utf-8")
    return f"scripted/{path}"


RIGHT = ("judge", "answers.jsonl", "-c", "The answer is right.")


# --- starting


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["judge", "--help"], ["compare", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = f"""
import sys
from jury.cli.__main__ import main
try:
    main({arguments!r})
except SystemExit as stop:
    assert stop.code in (0, None), stop.code
heavy = {{"openai", "anthropic", "numpy", "httpx", "yaml", "asyncio", "sqlite3"}}
if len({arguments!r}) == 1:  # the pages of commands are typer's, whose newer versions use pydantic
    heavy |= {{"pydantic", "pydantic_core", "typer", "click", "rich"}}
print(sorted(heavy & set(sys.modules)), sorted(m for m in sys.modules if m.startswith("jury.")), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr.startswith("[] ")
    assert set(done.stderr[3:].strip("[]\n").replace("'", "").split(", ")) <= {
        "jury.cli",
        "jury.cli.__main__",
        "jury.cli.app",
        "jury.cli.commands",
        "jury.cli.front",
        "jury.cli.options",
        "jury.errors",
    }
    assert "jury" in done.stdout


def test_the_module_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "jury", "--version"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("jury 0.")


def test_wrong_options_are_usage_errors(run: Run) -> None:
    assert run("judge")[0] == 2
    assert run("judge", "answers.jsonl", "--nonsense")[0] == 2
    assert run("nonsense")[0] == 2


# --- judge


def test_a_table_with_who_voted_what_in_80_columns(run: Run) -> None:
    code, out, err = run(*RIGHT, "-j", "checks.py:exact,checks:short")
    assert code == 0
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line != line.rstrip() for line in lines)
    assert "\x1b" not in out
    assert lines[0].split() == ["judges", "1", "exact"]
    assert lines[1].split() == ["2", "short"]
    votes = {line.split()[1]: line.split()[2:5] for line in lines if line.split()[:1] and line.split()[0].isdigit()}
    assert votes["q1"] == ["pass", "pass", "pass"]
    assert votes["q2"][0] == "inconclusive"
    assert "pass rate  100% [34.2, 100.0]  2 passed, 0 failed" in out
    assert "agreement  66.7%  unanimous on 2 of 3" in out  # the tie is an item on which two judges decided
    assert "cost       $0  (6 calls)" in out
    assert "coverage   50%  2 of 4: 1 inconclusive, 1 not judged" in out
    assert "timed out" in out
    assert "-o DIR" in out
    assert err == ""


def test_json_is_strict_and_loads_back(run: Run) -> None:
    code, out, _ = run(*RIGHT, "-j", "checks:exact,checks:short", "--json", "--concurrency", "1")
    found = json.loads(out, parse_constant=lambda text: pytest.fail(f"{text} is no JSON"))
    assert code == 0
    assert [r["item_id"] for r in found["results"]] == ["q1", "q2", "q3", "q4"]
    results = [PanelResult.from_dict(r) for r in found["results"]]
    assert summarize(results).to_dict().items() <= found["summary"].items()
    assert found["summary"]["pass_rate"] == 1.0
    assert found["summary"]["complete"] is True


def test_the_folder_holds_a_line_for_each_result(run: Run, tmp_path: Path) -> None:
    code, out, _ = run(*RIGHT, "-j", "checks:exact", "-o", "runs/one")
    assert code == 0
    lines = (tmp_path / "runs/one/results.jsonl").read_text("utf-8").splitlines()
    assert {PanelResult.from_json(line).item_id for line in lines} == {"q1", "q2", "q3", "q4"}
    summary = json.loads((tmp_path / "runs/one/summary.json").read_text("utf-8"))
    assert (summary["n_pass"], summary["n_fail"], summary["n_not_judged"]) == (2, 1, 1)
    assert "runs/one/results.jsonl" in out


def test_results_are_not_overwritten_silently(run: Run, tmp_path: Path) -> None:
    run(*RIGHT, "-j", "checks:exact", "-o", "out")
    before = (tmp_path / "out/results.jsonl").read_bytes()
    (tmp_path / "other.jsonl").write_text('{"answer": "x"}\n')
    code, out, err = run("judge", "other.jsonl", "-c", "c", "-j", "checks:short", "-o", "out")
    assert (code, out) == (2, "")
    assert "out holds results on answers.jsonl, not other.jsonl" in err
    assert "--overwrite" in err
    assert (tmp_path / "out/results.jsonl").read_bytes() == before
    assert run(*RIGHT, "-j", "checks:short", "-o", "out", "--overwrite", "--limit", "1")[0] == 0
    assert len((tmp_path / "out/results.jsonl").read_bytes().splitlines()) == 1


def test_a_folder_that_cannot_be_written_is_told_before_the_first_call(run: Run) -> None:
    code, _, err = run(*RIGHT, "-j", "checks:exact", "-o", "answers.jsonl/out")
    assert code == 2
    assert "cannot be written" in err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--fail-under", "0.6"], 0),
        (["--fail-under", "0.7"], 1),
        (["--min-coverage", "0.75"], 0),
        (["--min-coverage", "0.8"], 3),
        (["--fail-under", "0.7", "--min-coverage", "0.8"], 3),
        (["--fail-under", "80"], 2),
        (["--limit", "0"], 2),
        (["--limit", "1", "--fail-under", "1"], 0),
        (["--repetitions", "0"], 2),
        (["--min-successful-judges", "2"], 2),
        (["--range", "high"], 2),
        (["--labels", "good,bad", "--fail-under", "0.5"], 2),
        (["--range", "1-5", "--fail-under", "0.5"], 2),
        (["--na", "NA", "--threshold", "1"], 2),
        (["--map", "output=anser"], 2),
        (["--map", "nonsense=answer"], 2),
        (["--var", "nonsense"], 2),
        (["--prompt", "absent.md"], 2),
        (["--system", "absent.md"], 2),
        (["--stop", "maybe"], 2),
    ],
)
def test_exit_codes(run: Run, options: list[str], code: int) -> None:
    found, out, err = run(*RIGHT, "-j", "checks:exact", *options)
    assert found == code
    assert "Traceback" not in err
    if code == 2:
        assert out == ""
        assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--fail-under", "0.7"], "pass rate 0.666667 is below --fail-under 0.7"),
        (["--fail-under", "0.7", "--json"], "pass rate 0.666667 is below --fail-under 0.7"),
        (["--min-coverage", "0.8"], "coverage 0.75 is below --min-coverage 0.8"),
        (["--fail-under", "0.6", "--min-coverage", "0.7"], ""),
    ],
)
def test_the_mark_that_was_missed_is_named_on_stderr(run: Run, options: list[str], says: str) -> None:
    assert run(*RIGHT, "-j", "checks:exact", *options)[2].strip() == says


def test_a_share_above_one_is_asked_back(run: Run) -> None:
    assert "did you mean 0.8?" in run(*RIGHT, "-j", "checks:exact", "--fail-under", "80")[2]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "no rows"),
        ('{"id": 1, "question": "q", "answer": "a"}\n{"id": 2, "ques', "line 2"),
        ('{"id": 1, "answer": "a"}\n{"id": 1, "answer": "b"}\n', "'1'"),
        ('{"id": 1, "q": "a"}\n', "--map output="),
        ('{"id": 1, "answer": "a"}\n{"id": 2}\n', "line 2"),
    ],
)
def test_a_wrong_file_is_told_before_the_first_call(run: Run, tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "bad.jsonl").write_text(content, "utf-8")
    code, out, err = run("judge", "bad.jsonl", "-c", "x", "-j", "checks:exact", "-o", "out")
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_an_outage_is_no_bad_score(run: Run) -> None:
    judge = script("fail.json", None, None, None)
    code, out, _ = run(*RIGHT, "-j", judge, "--fail-under", "0.9")
    assert code == 3
    assert "undefined" in out
    assert "3 server_error by scripted/fail.json" in out


def test_a_judge_function_that_raises_costs_its_vote_not_the_run(run: Run) -> None:
    code, out, _ = run(*RIGHT, "-j", "checks:broken")
    assert code == 3
    assert "the judge is ill" in out
    code, out, _ = run(*RIGHT, "-j", "checks:broken,checks:exact", "--min-successful-judges", "1")
    assert code == 0
    assert "2 passed, 1 failed" in out


def test_labels_with_na(run: Run) -> None:
    judge = script("s.json", {"value": "good"}, {"value": "bad"}, {"value": "n/a"})
    options = ("--labels", "good,bad,n/a", "--passing", "good", "--na", "n/a", "--concurrency", "1")
    code, out, _ = run(*RIGHT, "-j", judge, *options)
    assert code == 0
    assert "good (pass)" in out
    assert "pass rate  50% [9.5, 90.5]  1 passed, 1 failed" in out
    assert "3 of 4: 1 NA" in out
    assert "--passing" not in out
    judge = script("t.json", {"value": "bad"}, {"value": "bad"}, {"value": "bad"})
    assert "--passing good   the labels that pass" in run(*RIGHT, "-j", judge, "--labels", "good,bad")[1]


def test_a_score_without_threshold_has_a_mean_and_no_rate(run: Run) -> None:
    judge = script("s.json", {"value": 4}, {"value": 1}, {"value": 5})
    code, out, _ = run(*RIGHT, "-j", judge, "--range", "1-5", "--concurrency", "1")
    assert code == 0
    assert "mean" in out
    assert "3.33" in out
    assert "pass rate" not in out


def test_a_score_with_threshold_passes(run: Run) -> None:
    judge = script("s.json", {"value": 4}, {"value": 1}, {"value": 5})
    _, out, _ = run(*RIGHT, "-j", judge, "--range", "1-5", "--threshold", "4", "--json", "--concurrency", "1")
    assert [r["pass"] for r in json.loads(out)["results"]] == [True, False, True, None]


def test_an_own_prompt_names_what_it_cannot_fill(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("“{{output.response}}” {{outptu.response}} {{row.expected}} {{topic}}", "utf-8")
    judge = script("s.json", *[{"value": True}] * 3)
    code, _, err = run("judge", "answers.jsonl", "--prompt", "p.md", "--var", "topic=geo", "-j", judge)
    assert code == 0
    assert err.count("outptu.response") == 1
    assert "did you mean output.response?" in err
    code, _, err = run("judge", "answers.jsonl", "--prompt", "p.md", "--var", "topic=geo", "-j", judge, "--strict")
    assert code == 2


def test_a_file_without_questions_is_pointed_out(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("answer\nyes\n", "utf-8")
    judge = script("s.json", {"value": True})
    assert "no column for the input" in run("judge", "a.csv", "-c", "polite", "-j", judge)[2]
    (tmp_path / "p.md").write_text("Polite? {{output.response}}", "utf-8")
    assert run("judge", "a.csv", "--prompt", "p.md", "-j", judge)[2] == ""


def test_missing_keys_are_told_before_the_first_call(run: Run) -> None:
    code, _, err = run(*RIGHT, "-j", "openai/gpt-5-mini,anthropic/claude-haiku-4-5")
    assert code == 2
    assert "OPENAI_API_KEY" in err
    assert "ANTHROPIC_API_KEY" in err
    code, _, err = run(*RIGHT, "-j", "opnai/gpt-5-mini")
    assert code == 2
    assert "did you mean openai" in err


def test_standard_input_is_judged_as_it_comes(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    good = '{"answer": "x", "expected": "x"}\n'
    for text, code in ((good * 3, 0), (good * 3 + "{torn", 2)):
        (tmp_path / "in").write_text(text, "utf-8")
        with (tmp_path / "in").open(encoding="utf-8") as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            found, out, err = run("judge", "-", "-c", "right", "-j", "checks:exact", "-o", f"out{code}")
        assert found == code
        assert "3 passed" in out
        assert len((tmp_path / f"out{code}/results.jsonl").read_text("utf-8").splitlines()) == 3
        assert json.loads((tmp_path / f"out{code}/summary.json").read_text("utf-8"))["complete"] is (code == 0)
        assert ("line 4" in err and "3 rows judged, kept in" in err) is (code == 2)


def test_many_rows_show_those_that_did_not_pass(run: Run, tmp_path: Path) -> None:
    rows = [{"answer": "x", "expected": "y" if i % 10 == 3 else "x"} for i in range(60)]
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    _, out, _ = run("judge", "many.jsonl", "-c", "right", "-j", "checks:exact", "--show", "4")
    shown = [line.split()[0] for line in out.splitlines() if line.split()[:1] and line.split()[0].isdigit()]
    assert shown == ["4", "14", "24", "34"]
    assert "the first 4 of 6 rows that did not pass, of 60" in out
    _, out, _ = run("judge", "many.jsonl", "-c", "right", "-j", "checks:exact", "-o", "out")
    assert "6 rows that did not pass, of 60" in out
    assert "90% [79.9, 95.3]  54 passed, 6 failed" in out


# --- compare


def test_compare_shows_flips(run: Run) -> None:
    code, out, _ = run("compare", "pairs.jsonl", "-j", "checks:longer,checks:first", "--min-successful-judges", "1")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert len(re.findall(r"\bflip\b", out)) == 2
    assert "win rate A" in out
    words = " ".join(out.split())
    assert "2 of 4 votes changed with the order (2 took the first answer both times)" in words
    assert "by judge: first 2 of 2" in words
    assert "winner open: the interval holds 50%" in words


def test_two_files_of_answers_are_joined_by_id(run: Run, tmp_path: Path) -> None:
    ours = [{"id": n, "question": f"q{n}", "answer": "x" * (n + 2)} for n in range(3)]
    theirs = [{"id": str(n), "output": "y" * (2 * n + 1), "error": ""} for n in reversed(range(3))]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(r) + "\n" for r in ours))
    (tmp_path / "b.json").write_text(json.dumps(theirs))
    code, out, _ = run("compare", "a.jsonl", "b.json", "-j", "checks:fuller", "-o", "out")
    assert code == 0
    assert "A, B        a.jsonl, b.json" in out
    assert "win rate A  50%" in out
    assert "1 A, 1 B, 1 tie" in out
    kept = [Comparison.from_json(line) for line in (tmp_path / "out/results.jsonl").read_text().splitlines()]
    assert sorted((r.item_id, r.winner) for r in kept) == [("0", "A"), ("1", "tie"), ("2", "B")]
    shown = run("show", "out", "2")[1]
    assert "question\n  q2\n\nresponse A\n  xxxx\n\nresponse B\n  yyyyy\n" in shown
    code, out, _ = run("compare", "b.json", "a.jsonl", "-j", "checks:longer", "--json", "--limit", "1")
    assert (code, json.loads(out)["results"][0]["winner"]) == (0, "A")
    assert "calls  6, and 0" in run("compare", "a.jsonl", "b.json", "-j", "checks:fuller", "--estimate")[1]


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ([{"id": 1, "answer": "y"}], "1 id of a.jsonl is not in b.jsonl: '0'"),
        ([{"id": n, "answer": "y"} for n in range(6)], "4 ids of b.jsonl are not in a.jsonl: '2', '3', '4', ..."),
        ([{"id": 0, "answer": "y"}, {"id": 1, "answer": "y"}, {"id": 1, "answer": "z"}], "the id '1' occurs twice"),
        ([{"id": 0, "answer": "y"}, {"answer": "y"}], "b.jsonl, line 2: no id; two files are joined by it"),
        ([{"id": 0, "question": "other", "answer": "y"}, {"id": 1, "answer": "y"}], "not the same question"),
        ([{"id": 0, "answer": "y"}, {"id": 1, "text": "y"}], "no column for the output"),
    ],
)
def test_files_that_do_not_belong_together_are_told_before_any_call(
    run: Run, tmp_path: Path, other: list[dict[str, Any]], says: str
) -> None:
    for name, given in (("a", [{"id": n, "question": "q", "answer": "x"} for n in range(2)]), ("b", other)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in given))
    code, out, err = run("compare", "a.jsonl", "b.jsonl", "-j", "checks:longer", "-o", "out")
    assert (code, out) == (2, "")
    assert says in err
    assert not (tmp_path / "out/results.jsonl").exists()
    assert "neither may be a pipe" in run("compare", "a.jsonl", "-", "-j", "checks:longer")[2]


def test_compare_in_json(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("compare", "pairs.jsonl", "-j", "checks:longer", "--json", "-o", "out", "--fail-under", "0.6")
    found = json.loads(out)
    assert code == 1
    comparisons = [Comparison.from_dict(r) for r in found["results"]]
    assert sorted(c.winner for c in comparisons) == ["A", "B"]
    assert found["summary"]["win_rate_a"] == 0.5
    assert found["summary"]["flips"] == {}
    assert found["summary"]["n_both_orders"] == 2
    lines = (tmp_path / "out/results.jsonl").read_text("utf-8").splitlines()
    assert {Comparison.from_json(line).winner for line in lines} == {"A", "B"}


def test_compare_one_order_only(run: Run) -> None:
    _, out, _ = run("compare", "pairs.jsonl", "-j", "checks:first", "--no-swap", "--json")
    assert json.loads(out)["summary"]["win_rate_a"] == 1.0


# --- render and check


def test_render_shows_the_exact_texts(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("Is it “right”?\n[b]{{output.response}}[/b] " + "long " * 40, "utf-8")
    code, out, err = run("render", "answers.jsonl", "--row", "3", "--prompt", "p.md", "-j", "openai/x,checks:short")
    assert (code, err) == (0, "")
    assert "Is it “right”?\n[b]日本[/b] " + "long " * 40 + "\n" in out
    assert "openai/x" in out
    _, out, _ = run("render", "answers.jsonl", "--row", "3", "--prompt", "p.md", "--json")
    assert json.loads(out)["judges"]["(any judge)"]["user"].startswith("Is it “right”?\n[b]日本")


def test_render_of_pairs_and_of_errored_rows(run: Run) -> None:
    _, out, _ = run("render", "pairs.jsonl", "--json")
    assert set(json.loads(out)["judges"]["(any judge)"]) == {"system", "user", "user_swapped"}
    code, out, _ = run("render", "answers.jsonl", "--row", "4", "-c", "x")
    assert code == 0
    assert "not judged: the target errored (timed out)" in out


def test_render_of_a_row_that_is_not_there(run: Run) -> None:
    code, _, err = run("render", "answers.jsonl", "--row", "9", "-c", "x")
    assert code == 2
    assert "4 rows" in err
    assert "9" in err


def test_check_says_what_is_missing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("{{output.response}} {{outptu.response}}", "utf-8")
    code, out, _ = run("check", "answers.jsonl", "--prompt", "p.md", "-j", "openai/gpt-5-mini,checks:short", "--json")
    found = json.loads(out)
    assert code == 2
    assert "did you mean output.response?" in found["prompt"]["unknown"][0]
    assert [bool(j["problem"]) for j in found["judges"]] == [True, False]
    assert found["data"]["rows"] == 4
    assert found["data"]["fields"]["expected_output"] == "expected"
    code, out, _ = run("check", "answers.jsonl", "--prompt", "p.md", "-j", "openai/gpt-5-mini,checks:short")
    assert code == 2
    assert max(map(len, out.splitlines())) <= 80
    assert "OPENAI_API_KEY" in out


def test_check_reads_all_of_the_configuration(run: Run, tmp_path: Path) -> None:
    settings = tmp_path / "jury.yaml"
    settings.write_text(
        "prices: {my/model: {input: 1, output: 2}}\nproviders: {my: {base_url: 'http://127.0.0.1:1/v1'}}\n"
    )
    code, out, _ = run("check", "answers.jsonl", "-j", "checks:short")
    assert (code, "jury.yaml: as it should be" in out) == (0, True)
    settings.write_text(
        "prices:\n  openai/gpt-5-mini: {input: cheap, output: 2}\n  gpt-5: {input: 1, output: 2}\n"
        "  my/model: {inputs: 1}\n  my/other: {input: -1, output: 2}\n  my/good: {input: 0, output: 0}\n"
        "providers:\n  mine: {base_urll: 'http://x'}\n  plain: {base_url: 'ftp://x'}\n"
    )
    code, out, _ = run("check", "answers.jsonl", "-j", "checks:short", "--json")
    problems = json.loads(out)["configuration"]["problems"]
    assert code == 2
    assert [p.partition(":")[0].split(" ")[0] for p in problems] == [
        "providers.mine",
        "plain",
        "prices.openai/gpt-5-mini.input",
        "prices.gpt-5",
        "prices.my/model",
        "prices.my/other.input",
    ]
    code, out, _ = run("check", "answers.jsonl", "-j", "checks:short")
    assert code == 2
    assert "got 'cheap'" in out
    assert max(map(len, out.splitlines())) <= 80


def test_check_with_a_call(run: Run) -> None:
    good, bad = script("good.json", {"value": True}), script("bad.json", None)
    assert run("check", "-j", good, "--call")[0] == 0
    code, out, _ = run("check", "-j", f"{bad},checks:short", "--call", "--json")
    assert code == 3
    first, second = json.loads(out)["judges"]
    assert "server_error" in first["error"]
    assert second["value"] is True
    assert run("check")[0] == 2


# --- demo


def fake_demo(*, on_load: Any, on_loaded: Any, on_verdict: Any) -> DemoRun:
    """The demo with judges that know the answers, instead of the model."""
    for done in range(0, 1100, 100):
        on_load(done * 10**6, 1000 * 10**6)
    on_loaded("tiny")

    def told(result: Any) -> Any:
        on_verdict(result)
        return result

    right = {i.answer: i.right for i in items()}
    jury = llm_jury(criteria="x", judges=[lambda output: (right[output], "by heart")])
    compare = llm_jury_pairwise(judges=[lambda response_a, response_b: max("AB", key=len)])
    results = [told(jury.judge_sync(**i.row(n))) for n, i in enumerate(items())]
    comparisons = [told(compare.compare_sync(**p.row(n))) for n, p in enumerate(pairs())]
    return DemoRun("local/tiny", items(), pairs(), tuple(results), tuple(comparisons), 1.0, 2.0)


def test_demo(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("jury.cli.demo.run_demo", fake_demo)
    code, out, err = run("demo", "-o", "out")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "Is each answer right?" in out
    assert "Which of two answers is better?" in out
    assert "one opinion" in out
    assert "jury judge" in out
    assert "tiny is ready" in err
    assert 2 <= err.count("putting the model together") <= 6
    assert len((tmp_path / "out/results.jsonl").read_text("utf-8").splitlines()) == len(items())
    assert len((tmp_path / "out/comparisons.jsonl").read_text("utf-8").splitlines()) == len(pairs())
    assert run("demo", "-o", "out")[0] == 2
    code, out, _ = run("demo", "--json", "-o", "out", "--overwrite")
    found = json.loads(out)
    assert code == 0
    assert found["summary"]["missed"] == []
    assert len(found["comparisons"]) == len(pairs())


def test_demo_without_the_extra_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(**_: Any) -> DemoRun:
        raise MissingExtra('pip install "jury-llm[local]"')

    monkeypatch.setattr("jury.cli.demo.run_demo", absent)
    code, out, err = run("demo")
    assert (code, out) == (2, "")
    assert 'pip install "jury-llm[local]"' in err


# --- judges that are functions


@pytest.mark.parametrize(
    ("judge", "expected"),
    [
        ("checks:exact", True),
        ("my.checks:exact", True),
        ("dir/checks.py:exact", True),
        ("openai/gpt-5", False),
        ("ollama/llama3:8b", False),
        ("openrouter/a/b:free", False),
        ("scripted/a.json", False),
        ("checks", False),
    ],
)
def test_which_judges_are_functions(judge: str, expected: bool) -> None:
    assert is_function(judge) is expected


@pytest.mark.parametrize(
    ("judge", "says"),
    [
        ("checks:exakt", "did you mean exact?"),
        ("checks:limit", "not a function"),
        ("nowhere:exact", "nowhere"),
        ("absent.py:exact", "no such file"),
        ("ill.py:exact", "ZeroDivisionError"),
        ("torn.py:exact", "SyntaxError"),
    ],
)
def test_functions_that_cannot_be_had(run: Run, tmp_path: Path, judge: str, says: str) -> None:
    (tmp_path / "ill.py").write_text("1 / 0\n", "utf-8")
    (tmp_path / "torn.py").write_text("def exact(:\n", "utf-8")
    code, _, err = run(*RIGHT, "-j", judge)
    assert code == 2
    assert says in err
    assert "Traceback" not in err


# --- small rules


def test_exit_code_of_a_summary() -> None:
    assert exits.of_summary(Summary(), None, None)[0] == 3
    assert exits.of_summary(Summary(n_total=2, n_na=2), None, None)[0] == 0
    assert exits.of_summary(Summary(n_total=2, n_na=2), 0.5, None)[0] == 3
    assert exits.of_summary(Summary(n_total=10, n_pass=7, n_fail=3), 0.7, None)[0] == 0
    assert exits.of_summary(Summary(n_total=10, n_pass=7, n_fail=3), 0.71, None)[0] == 1
    assert exits.of_summary(Summary(n_total=10, n_pass=1, n_error=9), 1.0, 0.5)[0] == 3
    assert exits.of_comparisons(win_rate(["A", "B", "tie"]), 0.5, None)[0] == 0
    assert exits.of_comparisons(win_rate(["A", "B", "B"]), 0.5, None)[0] == 1
    assert exits.of_comparisons(WinRate(None, 0, 0, 0, 3), None, None)[0] == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1-5", (1, 5)), ("0..1", (0, 1)), ("-1:1", (-1, 1)), ("-5--1", (-5, -1)), ("0.5, 2.5", (0.5, 2.5))],
)
def test_score_range(text: str, expected: tuple[float, float]) -> None:
    assert score_range(text) == expected


def test_lists_and_pairs() -> None:
    assert listed(["a, b", "c,,"]) == ["a", "b", "c"]
    assert pairs_of(["a=b=c", "d="]) == {"a": "b=c", "d": ""}
    with pytest.raises(ConfigError):
        pairs_of(["=x"])
    with pytest.raises(ConfigError, match=r"did you mean 0\.5"):
        check_values({"min_coverage": 50.0})


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 7, "0%"), (7, 7, "100%"), (1, 3, "33.3%"), (9999, 10000, ">99.9%"), (1, 10000, "<0.1%"), (1, 2, "50%")],
)
def test_a_share_is_never_rounded_to_all_or_nothing(part: int, whole: int, text: str) -> None:
    assert percent(part, whole) == text


def test_unknown_money_is_unknown() -> None:
    assert money(None, 3) == "not reported  (3 calls)"
    assert money(Usage(1, 10, 5, cost=None), 1).startswith("unknown")
    assert money(Usage(1, 10, 5, cost=0.0), 1) == "$0  (1 call, 10 tokens in, 5 out)"
    assert money(Usage(1, 1000, 5, cost=0.01234), 2) == "$0.0123  (2 calls, 1,000 tokens in, 5 out)"
    assert money(Usage(1, None, None, cost=12.5), 2) == "$12.50  (2 calls)"


def test_the_tally_stays_small() -> None:
    tally = Tally(3)
    for number in range(500, 0, -1):
        tally.add(number, PanelResult(status="decided", value=number % 2 == 0, passed=number % 2 == 0))
    shown, only_odd = tally.shown
    assert only_odd
    assert [k.number for k in shown] == [1, 3, 5]
    assert tally.outcomes == {"pass": 250, "fail": 250}
    assert len(tally._odd) <= 6  # pyright: ignore[reportPrivateUsage] # that it is bounded is the point


def test_progress_without_a_terminal_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("jury.cli.progress.EVERY_S", 0.0)
    with Progress("rows") as progress:
        progress.start(3)
        progress.add("pass")
        progress.add("fail")
        progress.add("pass")
    assert capsys.readouterr().err.splitlines() == [
        "1 of 3 rows: 1 passed",
        "2 of 3 rows: 1 passed, 1 failed",
        "3 of 3 rows: 2 passed, 1 failed",
    ]


# --- a real process


def test_texts_of_judges_do_not_act_on_the_terminal(run: Run) -> None:
    code, out, _ = run("judge", "answers.jsonl", "-c", "c", "-j", "checks.py:hostile", "--limit", "1")
    assert code == 0
    assert "\\ud800 \\x1b[2J \\u202e turned" in out
    assert "\x1b[2J" not in out


def test_a_narrow_terminal_gets_the_verdicts_and_no_broken_words(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    judges = "checks.py:exact,checks.py:short,checks.py:broken"
    _, out, _ = run("judge", "answers.jsonl", "-c", "c", "-j", judges, "--limit", "2")
    heading = next(line for line in out.splitlines() if "verdict" in line)
    assert "why" not in heading
    assert "…" not in heading
    assert max(map(len, out.splitlines())) <= 40


def test_on_a_narrow_terminal_the_reasons_have_lines_of_their_own(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "It names the city that was asked for, and nothing that was not asked for"
    for name in "abc":
        Path(f"{name}.json").write_text(json.dumps([{"explanation": said, "value": True}] * 6))
    judges = ",".join(f"scripted/{name}.json" for name in "abc")
    told = {}
    for width in ("120", "46", "20"):
        monkeypatch.setenv("COLUMNS", width)
        code, out, err = run("judge", "answers.jsonl", "-c", "c", "-j", judges, "--limit", "2")
        assert (code, err) == (0, "")
        told[width] = out
    assert "row why" not in told["120"]
    reasons = told["46"].split("row why\n")[1].splitlines()[:4]
    assert max(map(len, reasons)) <= 46
    assert [" ".join(f"{a} {b}".split()) for a, b in (reasons[:2], reasons[2:])] == [f"1 {said}", f"2 {said}"]
    assert "  1 It names" in told["20"].split("row why")[1]


def test_what_judge_functions_print_is_no_result(run: Run) -> None:
    code, out, err = run("judge", "answers.jsonl", "-c", "c", "-j", "checks.py:noisy", "--limit", "2", "--json")
    assert code == 0
    assert json.loads(out)["summary"]["n_pass"] == 2
    assert err.count("noise") == 2


def test_keys_in_the_errors_of_functions_are_hidden(run: Run) -> None:
    _, out, _ = run("judge", "answers.jsonl", "-c", "c", "-j", "checks.py:telling", "--limit", "1", "--json")
    assert "sk-abc" not in out
    assert "[key hidden]" in out


def test_a_test_call_tells_what_the_only_function_raised(run: Run) -> None:
    code, out, _ = run("check", "-j", "checks.py:broken", "--call")
    assert code == exits.NO_RESULT
    assert "the judge is ill" in out


@pytest.mark.parametrize("wrong", [("-o", ""), ("--show", "-1"), ("--timeout", "0"), ("--timeout", "nan")])
def test_options_without_a_sense_are_refused(run: Run, wrong: tuple[str, str]) -> None:
    code, out, err = run("judge", "answers.jsonl", "-c", "c", "-j", "checks.py:exact", *wrong)
    assert (code, out) == (exits.USAGE, "")
    assert wrong[0] in err


def shell(tmp_path: Path, command: str) -> tuple[int, str]:
    """The exit code and stderr of `jury ...`, with stdout as the shell says."""
    write_files(tmp_path)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    line = f"{sys.executable} -m jury {command}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
@pytest.mark.parametrize(
    "command",
    ["judge answers.jsonl -c c -j checks.py:exact", "judge answers.jsonl -c c -j checks.py:exact --json", "--version"],
)
def test_a_full_standard_output_is_one_line(tmp_path: Path, command: str) -> None:
    code, err = shell(tmp_path, f"{command} > /dev/full")
    assert code == exits.USAGE
    assert err.startswith("error: standard output: ")
    assert err.count("\n") == 1


def test_a_reader_that_goes_away_is_no_bad_rate(tmp_path: Path) -> None:
    write_files(tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "jury", "judge", "answers.jsonl", "-c", "c", "-j", "checks.py:exact", "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=env, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (exits.CLOSED, "")


@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_without_a_folder_what_was_judged_by_an_interrupt_is_shown(
    tmp_path: Path, how: signal.Signals, ignored: bool
) -> None:
    if ignored and how == signal.SIGINT:
        return
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"answer": str(i)}) + "\n" for i in range(5)))
    (tmp_path / "stuck.py").write_text(
        "import asyncio\nasync def yes(output):\n"
        "    if output == '3':\n        open('waits', 'w').close()\n        await asyncio.sleep(600)\n    return True\n"
    )
    command = [sys.executable, "-m", "jury", "judge", "rows.jsonl", "-c", "c", "-j", "stuck.py:yes"]
    command += ["--concurrency", "1"]
    ignore = ["/bin/sh", "-c", 'trap "" INT; exec "$0" "$@"'] if ignored else []  # as a script's background job is
    with subprocess.Popen(
        [*ignore, *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        end = time.monotonic() + 120
        while not (tmp_path / "waits").exists() and time.monotonic() < end and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(how)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "interrupted: 3 of 5 rows judged, not kept: no -o DIR was given" in err
    assert "3 passed, 0 failed" in out


def test_an_interrupt_keeps_what_was_judged(tmp_path: Path) -> None:
    write_files(tmp_path)
    rows = "".join(json.dumps({"id": i, "answer": "x"}) + "\n" for i in range(990))
    (tmp_path / "many.jsonl").write_text(rows, "utf-8")
    command = [sys.executable, "-m", "jury", "judge", "many.jsonl", "-c", "x", "-j", "checks:slow"]
    process = subprocess.Popen(
        [*command, "--concurrency", "2", "-o", "out"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    results = tmp_path / "out/results.jsonl"
    deadline = time.monotonic() + 120
    while not (results.exists() and results.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    done = [PanelResult.from_json(line) for line in results.read_text("utf-8").splitlines()]
    assert 0 < len(done) < 990
    assert f"interrupted: {len(done)} of 990 rows judged, kept in" in err
    assert "Traceback" not in err
    assert f"{len(done)} passed" in out
    summary = json.loads((tmp_path / "out/summary.json").read_text("utf-8"))
    assert (summary["n_total"], summary["complete"]) == (len(done), False)


@pytest.mark.parametrize("no_color", [False, True])
def test_colours_on_a_terminal_unless_they_are_not_wanted(tmp_path: Path, no_color: bool) -> None:
    write_files(tmp_path)
    outer, inner = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "CI", "COLUMNS")}
    env |= {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **({"NO_COLOR": "1"} if no_color else {})}
    command = [sys.executable, "-m", "jury", "judge", "answers.jsonl", "-c", "x", "-j", "checks:exact"]
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdin=inner, stdout=inner, stderr=inner) as process:
        os.close(inner)
        told = b""
        while select.select([outer], [], [], 120)[0]:
            try:
                part = os.read(outer, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            told += part
    os.close(outer)
    assert process.returncode == 0
    assert b"2 passed, 1 failed" in told
    assert (b"\x1b[32m" in told) is not no_color


def test_an_ascii_locale_changes_nothing(tmp_path: Path) -> None:
    write_files(tmp_path)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-m", "jury", "render", "answers.jsonl", "--row", "3", "-c", "größer als “gut” 😀"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, check=True)
    text = done.stdout.decode("utf-8")
    assert "größer als “gut” 😀" in text
    assert "Café “où”?" in text
    (tmp_path / "answers.jsonl").rename(tmp_path / "réponses.jsonl")
    command = [sys.executable, "-m", "jury", "judge", "réponses.jsonl", "-c", "é", "-j", "checks:exact", "-o", "où"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, check=True)
    assert "2 passed" in done.stdout.decode("utf-8")
    assert (tmp_path / "où/summary.json").exists()


def test_a_long_id_does_not_push_out_the_reasons() -> None:
    ids = ["order/2026/11/30/customer-918273645-second-letter", "退款請求-二〇二六年十一月-第二封信"]
    reasons = ["the refund is promised after the deadline", "返品規則に違反しています。" * 20]
    results = [
        PanelResult("decided", value=False, passed=False, item_id=one, explanation=why)
        for one, why in zip(ids, reasons, strict=True)
    ]
    console = Console(file=StringIO(), width=80, color_system=None)
    tables.rows_table([Kept(i, one) for i, one in enumerate(results, 1)], ["a", "b"], console)
    lines = console.file.getvalue().splitlines()
    assert "the refund is promised after the" in " ".join(lines)
    assert max(map(cell_len, lines)) <= 80
    assert len(lines) <= 2 + 2 + 2 + 2  # judges, head, two lines each
