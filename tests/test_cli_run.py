"""`jury run` and `jury replay`: one file in, one folder out, and the exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from jury.cache import SqliteCache
from jury.cli.__main__ import main
from jury.providers import registry
from jury.runner import RunReport, RunSpec, run_sync
from jury.store import Run

YES, NO = '{"explanation": "yes", "value": true}', '{"explanation": "no", "value": false}'


@pytest.fixture
def home(bare_folder):
    """A folder with data, a script of replies and a configuration, and the way to change them."""
    write(bare_folder)
    return bare_folder


def write(folder: Path, replies=(YES, NO, YES), rows: int = 3, **config) -> None:
    registry.reset()
    (folder / "a.json").write_text(json.dumps(list(replies)))
    (folder / "rows.jsonl").write_text(
        "".join(json.dumps({"id": f"r{i}", "input": "q", "output": f"a{i}"}) + "\n" for i in range(rows))
    )
    judges = [{"model": f"scripted/{folder}/a.json", "id": "a", "retries": 0}]
    whole = {"data": "rows.jsonl", "criteria": "c", "judges": judges, "concurrency": 1, **config}
    (folder / "check.yaml").write_text(json.dumps(whole))


def jury(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    out, err = capsys.readouterr()
    return int(left.value.code or 0), out, err


def test_a_run_and_the_same_again(home, capsys):
    code, out, err = jury(capsys, "run", "check.yaml")
    assert code == 0
    assert "66.7% [20.8, 93.9]  2 passed, 1 failed" in out
    assert "100%  3 of 3" in out
    assert "3 questions" in out
    assert "runs/check" in out
    commands = [line for line in out.splitlines() if "jury show" in line or "jury report" in line]
    assert [line.split("   ")[0].strip() for line in (line[line.index("jury") :] for line in commands)] == [
        "jury show runs/check",
        "jury show runs/check 1",
        "jury report runs/check",
    ]
    assert "error" not in err
    code, out, _ = jury(capsys, "run", "check.yaml")
    assert code == 0
    assert "0 questions; 3 items were judged before" in out
    assert Run.open(home / "runs" / "check").manifest.finished


def test_json(home, capsys):
    _, out, _ = jury(capsys, "run", "check.yaml", "--json", "-o", "elsewhere")
    said = json.loads(out)
    assert (said["pass_rate"], said["n_fail"], said["asked"], said["folder"]) == (2 / 3, 1, 3, "elsewhere")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("map: input=q", "map must be a mapping"),
        ("map: [input]", "map must be a mapping"),
        ("map: {input: 5}", "map must be a mapping"),
        ("limits: 5", "limits must be a mapping by provider"),
        ("limits: {openai: 5}", "limits must be a mapping by provider"),
        ("cache: 5", "cache must be true, false"),
        ("cache: [a]", "cache must be true, false"),
        ("name: [a]", "name must be a text"),
        ("name: ../../elsewhere", "name must be that of a folder under runs/"),
        ("name: .", "name must be that of a folder under runs/"),
        (r'name: "a\nb"', "name must be that of a folder under runs/"),
        ("encoding: 5", "encoding must be a text"),
        ("delimiter: 5", "delimiter must be a text"),
        ("limit: " + "9" * 400, "limit must be a whole number from 1, got more than 1,000,000,000,000"),
        ("criteria: other", "line 4, column 1, is not a readable YAML file: the key 'criteria' stands twice"),
    ],
)
def test_a_wrong_configuration_ends_with_one_sentence(home, capsys, words, says):
    (home / "own.yaml").write_text(f"data: rows.jsonl\ncriteria: c\njudges: [f.py:f]\n{words}\n")
    code, out, err = jury(capsys, "run", "own.yaml")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert says in err


@pytest.mark.parametrize(
    "command", ["judge {} -c c -j vllm/m", "show {}", "prompts new {}", "render {} -c c -j vllm/m"]
)
def test_a_name_that_no_file_can_have_is_not_blamed_on_standard_output(home, capsys, command):
    code, out, err = jury(capsys, *command.format("x" * 5000).split())
    assert (code, out) == (2, "")
    assert err.startswith("error: xxx")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "says"), [("options: 5", "options must be a"), ("examples: 5", "examples must be a")]
)
def test_a_wrong_configuration_of_sessions_does_too(home, capsys, words, says):
    (home / "f.py").write_text("def f(case): return 'PASS'\n")
    (home / "s.json").write_text('[{"role": "user", "content": "q"}]')
    (home / "own.yaml").write_text(f"kind: session\ndata: s.json\ncriteria: tone\njudges: [f.py:f]\n{words}\n")
    code, out, err = jury(capsys, "run", "own.yaml")
    assert (code, out) == (2, "")
    assert says in err


def test_merged_keys_may_be_given_again(home, capsys):
    (home / "f.py").write_text("def f(output): return True\n")
    judges = "judges:\n  - &one {function: f.py:f, weight: 1}\n  - {<<: *one, id: two, weight: 2}\n"
    (home / "own.yaml").write_text(f"data: rows.jsonl\ncriteria: c\n{judges}")
    assert jury(capsys, "run", "own.yaml")[0] == 0


@pytest.mark.parametrize(
    ("replies", "options", "code", "says"),
    [
        ([YES, NO, YES], ["--fail-under", "0.9"], 1, "pass rate 0.666667 is below --fail-under 0.9"),
        ([YES, NO, YES], ["--fail-under", "0.6"], 0, ""),
        ([None, None, None], [], 3, ""),
        ([YES, None, None], ["--min-coverage", "0.5"], 3, "coverage 0.333333 is below --min-coverage 0.5"),
        ([YES, None, None], [], 0, ""),
        ([YES, NO, YES], ["--fail-under", "70"], 2, "did you mean 0.7?"),
    ],
)
def test_exit_codes(home, capsys, replies, options, code, says):
    write(home, replies)
    found, _, err = jury(capsys, "run", "check.yaml", *options)
    assert found == code
    assert says in err


def test_failures_are_named_and_healed(home, capsys):
    write(home, [YES, None, None])
    _, out, _ = jury(capsys, "run", "check.yaml")
    assert "2 x a: server_error" in out
    assert "33.3%  1 of 3: 2 error" in out
    write(home, [YES, YES])
    _, out, _ = jury(capsys, "run", "check.yaml", "--keep-errors")
    assert "0 questions" in out
    _, out, _ = jury(capsys, "run", "check.yaml")
    assert "2 questions; 2 items judged now; 1 item was judged before" in out


def test_a_change_is_said(home, capsys):
    jury(capsys, "run", "check.yaml")
    write(home, criteria="another")
    _, _, err = jury(capsys, "run", "check.yaml")
    assert "changed since the last time: criteria changed from c to another" in err


def test_wrong_data_is_told_before_the_first_call(home, capsys):
    with (home / "rows.jsonl").open("a") as file:
        file.write('{"id": "torn')
    code, _, err = jury(capsys, "run", "check.yaml")
    assert code == 2
    assert "line 4" in err
    assert not (home / "runs").exists()


def test_wrong_configuration(home, capsys):
    write(home, criterion="x")
    code, _, err = jury(capsys, "run", "check.yaml")
    assert code == 2
    assert "did you mean criteria" in err
    code, _, err = jury(capsys, "run", "nowhere.yaml")
    assert code == 2
    assert "nowhere.yaml" in err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--limit", "0"), "limit must be a whole number from 1, got 0"),
        (("--concurrency", "0"), "concurrency must be a whole number from 1, got 0"),
        (("-o", " "), "-o needs the name of a folder"),
        (("-o", "rows.jsonl"), "rows.jsonl: cannot be written: a file of that name is there"),
        (("-o", "rows.jsonl/x"), "a part of its path is a file"),
        (("--poll", "-1"), "--poll"),
    ],
)
def test_options_without_a_sense(home, capsys, options, says):
    code, out, err = jury(capsys, "run", "check.yaml", *options)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a: [1\nb: 2\n", "broken.yaml, line 2, column 2, is not a readable YAML file: expected ',' or ']'"),
        (b"\xff\xfe\x00", "not UTF-8 (byte 0)"),
        (b"- 1\n", "must hold a mapping, got list"),
        (b"", "must hold a mapping"),
        (b"a: \x01\n", "not a readable YAML file"),
        (b"[" * 5000, "not a readable YAML file"),
    ],
)
def test_a_broken_configuration_is_one_line(home, capsys, content, says):
    (home / "broken.yaml").write_bytes(content)
    code, out, err = jury(capsys, "run", "broken.yaml")
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


def test_a_configuration_that_is_not_there_names_a_near_one(home, capsys):
    assert "no such file (did you mean check.yaml?)" in jury(capsys, "run", "chek.yaml")[2]
    assert "there is no folder nowhere" in jury(capsys, "run", "nowhere/check.yaml")[2]
    (home / "folder").mkdir()
    assert "folder: cannot be read" in jury(capsys, "run", "folder")[2]
    (home / "rows.csv").write_text("input,output\nq,a\n")
    assert "rows.csv is data: a run takes the configuration that names it" in jury(capsys, "run", "rows.csv")[2]


def test_pairs(home, capsys):
    (home / "pairs.csv").write_text("question,response_a,response_b\nq,one,two\nq,three,four\n")
    write(home, ['{"value": "A"}', '{"value": "B"}', '{"value": "A"}', '{"value": "A"}'], kind="pairwise")
    code, out, _ = jury(capsys, "run", "check.yaml", "-d", "pairs.csv")
    assert code == 0
    assert "100% [20.7, 100.0]  1 A, 0 B, 0 tie" in out
    assert "50%  1 of 2: 1 inconclusive" in out


def test_replay(home, capsys):
    jury(capsys, "run", "check.yaml")
    code, out, _ = jury(capsys, "replay", "runs/check")
    assert code == 0
    assert "3 items from 3 judgments: all verdicts are the same" in out
    path = home / "runs" / "check" / "results.jsonl"
    path.write_text(path.read_text().replace('"value":false,"pass":false', '"value":true,"pass":true', 1))
    code, out, _ = jury(capsys, "replay", "runs/check")
    assert code == 1
    assert "r1: verdict: stored True, replayed False" in out
    assert "results.jsonl" in out
    code, out, _ = jury(capsys, "replay", "runs/check", "--json")
    assert json.loads(out)["same"] is False
    assert jury(capsys, "replay", "nowhere")[0] == 2


def test_an_interrupt_finishes_what_is_in_flight(home):
    (home / "slow.py").write_text("import time\ndef slow(output):\n    time.sleep(0.15)\n    return True\n")
    write(home, rows=400, judges=["slow.py:slow"])
    command = [sys.executable, "-m", "jury", "run", "check.yaml"]
    run = subprocess.Popen(command, cwd=home, stderr=subprocess.PIPE, text=True, env={**os.environ, "CI": "1"})
    results = home / "runs" / "check" / "results.jsonl"
    deadline = time.monotonic() + 120
    while not (results.exists() and results.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=120)
    assert run.returncode == 130, err
    assert "what is in flight is finished" in err
    found = Run.open(home / "runs" / "check")
    judged = sum(1 for _ in found.results())
    assert 0 < judged < 400
    assert judged == sum(1 for _ in found.judgments()) == found.manifest.totals["n_pass"]
    assert found.manifest.finished is False


def test_the_cache_in_numbers(home, capsys, monkeypatch):
    monkeypatch.setenv("JURY_CACHE", str(home / "c.sqlite"))
    code, out, _ = jury(capsys, "cache", "stats")
    assert (code, "0 in 0.0 MB" in out) == (0, True)
    assert not (home / "c.sqlite").exists()
    cache = SqliteCache(home / "c.sqlite")
    cache.put("ab" * 32, "x", "some-model")
    cache.close()
    code, out, _ = jury(capsys, "cache", "stats", "--json")
    assert json.loads(out)["models"] == {"some-model": 1}
    code, out, _ = jury(capsys, "cache", "prune", "--unused-days", "1")
    assert "1 in" in out
    code, out, _ = jury(capsys, "cache", "prune", "--all", "--json")
    assert (code, json.loads(out)["removed"], json.loads(out)["entries"]) == (0, 1, 0)


@pytest.mark.parametrize("arguments", [["empty"], ["prune"], ["stats", "--all"]])
def test_wrong_words_for_the_cache(home, capsys, monkeypatch, arguments):
    monkeypatch.setenv("JURY_CACHE", str(home / "c.sqlite"))
    assert jury(capsys, "cache", *arguments)[0] == 2


def test_a_damaged_or_absent_cache_is_told(home, capsys, monkeypatch):
    assert jury(capsys, "cache", "stats")[0] == 2  # switched off
    monkeypatch.setenv("JURY_CACHE", str(home / "c.sqlite"))
    (home / "c.sqlite").write_bytes(b"no database" * 1000)
    code, _, err = jury(capsys, "cache", "stats")
    assert code == 2
    assert "delete the file" in err
    code, _, err = jury(capsys, "run", "check.yaml")
    assert code == 0
    assert "going on without" in err
    code, _, err = jury(capsys, "run", "check.yaml", "--no-cache", "-o", "other")
    assert "going on without" not in err


def test_a_target_from_a_file(home, capsys):
    (home / "bot.py").write_text(
        "import os\n"
        "def answer(input, row):\n"
        "    if row['id'] == 'r1' and 'DOWN' in os.environ:\n"
        "        raise RuntimeError('out of order')\n"
        "    return 'the answer', {'cost': 0.25}\n"
    )
    (home / "rows.jsonl").write_text("".join(json.dumps({"id": f"r{i}", "input": f"q{i}"}) + "\n" for i in range(3)))
    config = json.loads((home / "check.yaml").read_text())
    (home / "check.yaml").write_text(json.dumps({**config, "target": "bot.py:answer", "data": "*.jsonl"}))
    os.environ["DOWN"] = "1"
    try:
        code, out, _ = jury(capsys, "run", "check.yaml")
    finally:
        del os.environ["DOWN"]
    assert code == 0
    assert "3 outputs, 1 errored; $0.50 now, $0.50 in all" in out
    assert "1 not judged" in out
    code, out, _ = jury(capsys, "run", "check.yaml", "--json")
    told = json.loads(out)
    assert (code, told["target"]["live"], told["target"]["cost"], told["n_not_judged"]) == (0, 1, 0.25, 0)
    assert told["target_cost"] == 0.75
    (home / "quiet.py").write_text("def answer(input): return 'the answer'\n")
    (home / "check.yaml").write_text(json.dumps({**config, "target": "quiet.py:answer", "data": "*.jsonl"}))
    told = jury(capsys, "run", "check.yaml", "-o", "runs/quiet")[1]
    assert "3 outputs; it reports no cost\n" in told  # nobody knows: it may well have called a model


def test_the_live_line_has_the_targets_money_in_it():
    from jury.cli.run_progress import RunProgress

    progress = RunProgress("pointwise")
    paid = {"status": "decided", "pass": True, "usage": {"cost": 0.01}}
    for spent in (0.5, 1.0):
        progress.hear("pass", {**paid, "target_spent": spent})
    assert "$1.02" in progress.words
    plain = RunProgress("pointwise")
    plain.hear("pass", paid)
    assert "$0.01" in plain.words


def functions(home, code: str, rows: list[dict[str, str]], names: str) -> None:
    (home / "own.py").write_text(code)
    (home / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    judges = [f"own.py:{name}" for name in names.split()]
    (home / "own.yaml").write_text(json.dumps({"data": "rows.jsonl", "criteria": "c", "judges": judges}))


def test_what_a_judge_function_raises_has_its_place_and_functions_cost_nothing(home, capsys):
    code = "import json\n\ndef broken(output):\n    return json.loads(output)\n\ndef fine(output): return True\n"
    functions(home, code, [{"id": "r", "output": "no JSON"}, {"id": "s", "output": " "}], "broken fine")
    _, out, _ = jury(capsys, "run", "own.yaml")
    assert "failed     2 x broken: exception: JSONDecodeError: Expecting value" in out
    assert "(own.py:4)" in " ".join(out.split())  # the user's line, not that of the library that it called
    assert "$0 now; $0 in all, 4 calls" in out
    assert "1 empty output, judged like any other" in out
    assert "next       jury show runs/own" in out
    _, out, _ = jury(capsys, "show", "runs/own")
    assert "(own.py:4)" in " ".join(out.split())
    assert "1 empty output" in out
    assert "cost     $0  (2 calls)" in jury(capsys, "show", "runs/own", "r")[1]
    _, out, _ = jury(capsys, "judge", "rows.jsonl", "-c", "c", "-j", "own.py:broken")
    assert "(own.py:4)" in " ".join(out.split())
    assert "cost       $0  (2 calls)" in out
    assert "check --call" not in out
    assert "1 empty output" in out


def test_votes_are_counted_by_what_they_say(home, capsys):
    code = "def a(output): return False\n\ndef b(output): return False\n\ndef c(output): return True\n"
    functions(home, code, [{"id": "r", "output": "x"}], "a b c")
    jury(capsys, "run", "own.yaml")
    assert "verdict  fail  2 of 3 voted fail, agreement 66.7%" in jury(capsys, "show", "runs/own", "r")[1]


def test_items_on_which_two_judges_tied_are_in_the_agreement(home, capsys):
    code = "def a(output): return output == 'x'\n\ndef b(output): return True\n"
    functions(home, code, [{"id": "r", "output": "x"}, {"id": "s", "output": "y"}], "a b")
    jury(capsys, "run", "own.yaml")
    assert "agreement  50%  unanimous on 1 of 2" in jury(capsys, "show", "runs/own")[1]


def test_what_a_change_settles_anew_was_not_judged_before(home, capsys):
    functions(home, "def a(output): return True\n", [{"id": "r", "output": "x"}], "a")
    jury(capsys, "run", "own.yaml")
    (home / "own.yaml").write_text((home / "own.yaml").read_text().replace('"c"', '"d"'))
    assert "1 known; 1 item judged now\n" in jury(capsys, "run", "own.yaml")[1]


def test_a_run_that_was_stopped_says_how_far_it_came(home, capsys):
    code = (
        "import os, signal\n\ndef a(output):\n"
        "    if output == '2': os.kill(os.getpid(), signal.SIGINT)\n    return True\n"
    )
    functions(home, code, [{"id": f"r{i}", "output": str(i)} for i in range(400)], "a")
    code, out, _ = jury(capsys, "run", "own.yaml")
    assert code == 130
    assert "of 400 judged; the same command goes on" in " ".join(out.split())
    shown = jury(capsys, "show", "runs/own")[1]
    assert "of 400 judged; the same jury run goes on" in " ".join(shown.split())
    made = json.loads(jury(capsys, "show", "runs/own", "--json")[1])
    assert (made["finished"], made["n_items"]) == (False, 400)
    assert made["n_total"] < 400


def test_an_estimate_breaks_no_id(home, capsys):
    model = "openai/a-model-whose-name-is-longer-than-the-table-has-room-for"
    (home / "own.yaml").write_text(json.dumps({"data": "rows.jsonl", "criteria": "c", "judges": [model]}))
    out = jury(capsys, "run", "own.yaml", "--estimate")[1]
    assert f"judges 1 {model}" in out
    assert "tokens out" in out


def test_a_run_under_way_can_be_looked_at_and_a_second_one_is_refused(home, capsys):
    """Who reads needs neither the lock nor the index of the one who writes, and takes nothing from them."""
    goes_on, waits = threading.Event(), threading.Event()

    def judge(output: str) -> bool:
        if output == "a2":
            waits.set()
            goes_on.wait(80)
        return output != "a1"

    spec = RunSpec("rows.jsonl", {"criteria": "c", "judges": [judge]}, concurrency=1, cache=False)
    reports: list[RunReport] = []
    running = threading.Thread(target=lambda: reports.append(run_sync(spec, "runs/check")))
    running.start()
    try:
        assert waits.wait(120)
        code, out, err = jury(capsys, "show", "runs/check", "--json")
        assert (code, json.loads(out)["n_pass"], json.loads(out)["n_fail"], err) == (0, 1, 1, "")
        code, out, err = jury(capsys, "show", "runs/check", "r1")
        assert code == 0
        assert "a1" in out
        code, out, err = jury(capsys, "replay", "runs/check", "--json")
        assert (code, json.loads(out)["items"], json.loads(out)["damage"]) == (0, 2, [])
        code, out, err = jury(capsys, "report", "runs/check", "--format", "json", "-o", "page.json")
        assert code == 0
        code, out, err = jury(capsys, "run", "check.yaml")
        assert code == 2
        assert f"being written by another process (process {os.getpid()} on " in err
        assert "wait for it to end" in err
    finally:
        goes_on.set()
        running.join(120)
    assert [(r.judged, r.finished, r.fault) for r in reports] == [(3, True, None)]
    assert Run.open("runs/check").damage() == []


def test_the_rule_may_be_a_function_of_a_file(home, capsys):
    (home / "rules.py").write_text(
        "def veto(votes): return all(v.value for v in votes if v.decided)\n"
        "def yes(output): return True\n"
        "def short(output): return len(output) < 3\n"
    )
    rows = [{"id": name, "input": "q", "output": name} for name in ("ab", "abcd")]
    (home / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    judges = ["rules.py:yes", "rules.py:short"]
    config = {"data": "rows.jsonl", "criteria": "c", "judges": judges, "aggregator": "rules.py:veto"}
    (home / "ruled.yaml").write_text(json.dumps(config))
    code, out, _ = jury(capsys, "run", "ruled.yaml", "--json")
    assert (code, json.loads(out)["n_pass"], json.loads(out)["n_fail"]) == (0, 1, 1)  # by the usual rule a tie
    code, out, _ = jury(capsys, "replay", "runs/ruled")
    assert (code, "the rule is a function" in out) == (0, True)
    told = ("judge", "rows.jsonl", "-c", "c", "-j", ",".join(judges), "--json", "--aggregator")
    code, out, _ = jury(capsys, *told, "rules.py:veto")
    assert (code, json.loads(out)["summary"]["n_fail"]) == (0, 1)
    code, _, err = jury(capsys, *told, "rules.py:vetto")
    assert (code, "did you mean veto?" in err) == (2, True)


def test_functions_of_a_run_file_are_found_beside_it_and_those_of_the_command_line_here(home, capsys):
    there = home / "there"
    there.mkdir()
    (there / "own.py").write_text(
        "def bot(input): return 'ab'\n"
        "def good(output): return True\n"
        "def all_of(votes): return all(v.value for v in votes)\n"
    )
    (home / "own.py").write_text("def good(output): return False\n")
    (home / "here.py").write_text("def bad(output): return False\n")
    (there / "rows.jsonl").write_text('{"id": "1", "input": "q"}\n')
    config = {
        "data": "rows.jsonl",
        "criteria": "c",
        "target": {"function": "own.py:bot"},
        "aggregator": "own.py:all_of",
    }
    (there / "run.yaml").write_text(
        json.dumps({**config, "judges": ["own.py:good", {"function": "own.py:good", "id": "2"}]})
    )
    code, out, _ = jury(capsys, "run", "there/run.yaml", "--json")
    assert (code, json.loads(out)["n_pass"]) == (0, 1)
    code, out, _ = jury(capsys, "run", "there/run.yaml", "--json", "-o", "runs/other", "--judges", "own.py:good")
    assert (code, json.loads(out)["n_fail"]) == (0, 1)
    (there / "run.yaml").write_text(json.dumps({**config, "judges": ["here.py:bad"]}))  # not there, but here
    assert json.loads(jury(capsys, "run", "there/run.yaml", "--json", "-o", "runs/here")[1])["n_fail"] == 1
