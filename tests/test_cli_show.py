"""`jury show`: a run in one screen, and one item with every vote and its reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jury.cli.__main__ import main
from jury.results import EvidenceCheck, Judgment, PanelResult, Usage, Verdict, Vote
from jury.scales import Boolean, Labels
from jury.store import Label, Run, RunWriter, StoredItem, StoredResult
from tests.audit.runs import manifest, pairwise, pointwise

YES, NO = '{"explanation": "it says so", "value": true}', '{"explanation": "it does not", "value": false}'


@pytest.fixture
def home(bare_folder):
    return bare_folder


def jury(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    out, err = capsys.readouterr()
    return int(left.value.code or 0), out, err


def judged(home: Path, capsys, replies=(YES, NO, None), **config) -> None:
    """Three rows by one scripted judge and a function, into runs/check."""
    (home / "a.json").write_text(json.dumps(list(replies)))
    (home / "checks.py").write_text("def short(output): return len(output) < 8, 'counted'\n")
    rows = [
        {"id": "paris", "input": "Capital of France?", "output": "Paris", "expected_output": "Paris"},
        {"id": "oslo", "input": "Capital of Norway?", "output": "Bergen " * 400, "expected_output": "Oslo"},
        {"input": "?", "output": "\x1b[2J\u202e evil"},
        {"id": "late", "input": "?", "error": "timed out"},
    ]
    (home / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    judges = [{"model": f"scripted/{home}/a.json", "id": "a", "retries": 0, "reask": 0}, "checks.py:short"]
    spec = {"data": "rows.jsonl", "criteria": "The answer is right.", "judges": judges, "concurrency": 1, **config}
    (home / "check.yaml").write_text(json.dumps(spec))
    assert jury(capsys, "run", "check.yaml")[0] in (0, 3)


def test_a_run_in_one_screen(home, capsys):
    judged(home, capsys)
    code, out, err = jury(capsys, "show", "runs/check")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    for words in (
        "check: pointwise, finished 20",
        "pass rate  50% [9.5, 90.5]  1 passed, 1 failed",
        "coverage   50%  2 of 4: 1 inconclusive, 1 not judged",
        "failures   1 x a: server_error",
        "  2  oslo  fail",
        "  4  late  not judged",
        "3 of 4 items failed or have no verdict",
        "jury show runs/check oslo",
    ):
        assert words in out, words
    assert "paris" not in out


def test_the_number_of_rows_is_bounded(home, capsys):
    judged(home, capsys)
    _, out, _ = jury(capsys, "show", "runs/check", "--show", "1")
    assert "oslo" in out
    assert "1 shown (--show)" in out
    assert "late" not in out
    _, out, _ = jury(capsys, "show", "runs/check", "--show", "0")
    assert "oslo" not in out
    assert jury(capsys, "show", "runs/check", "--show", "-1")[0] == 2
    assert jury(capsys, "show", "runs/check", "--limit", "0")[1] == out  # as it was called once


def test_split_votes_are_shown_though_the_item_passed(home, capsys):
    pointwise(home / "run", [{"x": True, "y": True, "z": False}, {"x": True, "y": True, "z": True}])
    code, out, _ = jury(capsys, "show", "run", "--json")
    said = json.loads(out)
    assert (code, said["n_split"], said["pass_rate"]) == (0, 0, 1.0)  # these results hold no agreement
    run = Run.open(home / "run")
    results = list(run.results())
    with RunWriter(home / "run") as writer:
        for item, result in results:
            agreement = 2 / 3 if item.id == "0" else 1.0
            writer.add_result(StoredResult(item.id, item.number, _with(result, agreement=agreement)))
    said = json.loads(jury(capsys, "show", "run", "--json")[1])
    assert (said["n_split"], [i["id"] for i in said["items"]]) == (1, ["0"])
    assert "judges were split on 1" in jury(capsys, "show", "run")[1]


def _with(result, **changes):
    return type(result).from_dict({**result.to_dict(), **changes})


def test_json_of_a_run(home, capsys):
    judged(home, capsys)
    code, out, _ = jury(capsys, "show", "runs/check", "--json")
    said = json.loads(out)
    assert code == 0
    assert (said["kind"], said["finished"], said["n_fail"], said["n_waiting"]) == ("pointwise", True, 1, 0)
    assert said["interval"] == pytest.approx([0.0945, 0.9055], abs=1e-3)
    assert [(i["id"], i["number"], i["outcome"]) for i in said["items"]] == [
        ("oslo", 2, "fail"),
        ("#3", 3, "inconclusive"),
        ("late", 4, "not_judged"),
    ]


def test_one_item_by_id_and_by_number(home, capsys):
    judged(home, capsys)
    _, by_id, _ = jury(capsys, "show", "runs/check", "oslo")
    assert by_id == jury(capsys, "show", "runs/check", "2")[1] == jury(capsys, "show", "runs/check", "#2")[1]
    assert max(map(len, by_id.splitlines())) <= 80
    for words in (
        "item  oslo · number 2",
        "  Capital of Norway?",
        "  Oslo",
        "more characters (--full)",
        "verdict  fail  2 of 2 voted fail, agreement 100%",
        "a  fail",
        "  it does not",
        "short  fail",
        "  counted",
    ):
        assert words in by_id, words
    assert by_id.count("Bergen") < 200
    assert jury(capsys, "show", "runs/check", "oslo", "--full")[1].count("Bergen") == 400


def test_a_very_long_text_is_written_as_it_is(home, capsys):
    text = "one line of many\n" * 10_000 + "\x1b[2J the end"
    pointwise(home / "run", [{"x": True}], items=[{"output": text}])
    _, out, _ = jury(capsys, "show", "run", "0", "--full")
    assert out.count("  one line of many\n") == 10_000
    assert "  \\x1b[2J the end\n" in out
    assert len(jury(capsys, "show", "run", "0")[1]) < 3000


def test_failures_and_texts_that_would_act_on_a_terminal(home, capsys):
    judged(home, capsys)
    code, out, _ = jury(capsys, "show", "runs/check", "3")
    assert code == 0
    assert "\\x1b[2J\\u202e evil" in out
    assert "\x1b" not in out
    assert "a  error" in out
    assert "server_error: scripted failure" in out
    assert "1 of 2 votes" in out
    _, out, _ = jury(capsys, "show", "runs/check", "late")
    assert "error of the target\n  timed out" in out
    assert "nobody was asked" in out


def test_the_exact_prompt_and_the_raw_reply(home, capsys):
    judged(home, capsys)
    code, out, _ = jury(capsys, "show", "runs/check", "paris", "--prompt")
    assert code == 0
    assert "exactly as sent" in out
    assert "Criteria:\nThe answer is right.\n" in out
    assert f"reply · a {'─' * 70}\n{YES}\n" in out
    made = json.loads(jury(capsys, "show", "runs/check", "paris", "--prompt", "--json")[1])
    first, second = made["judgments"]
    assert (first["judgment"]["reply"], first["asked"]["exact"], second["asked"]) == (YES, True, None)
    assert "Capital of France?" in first["asked"]["user"]
    _, out, _ = jury(capsys, "show", "runs/check", "3", "--prompt")
    assert "no reply · a" in out
    assert "nobody was asked" in jury(capsys, "show", "runs/check", "late", "--prompt")[1]


def test_json_of_an_item_loads_back(home, capsys):
    judged(home, capsys)
    Run.open("runs/check").add_label(Label("oslo", "ann", False, note="Bergen is no capital"))
    made = json.loads(jury(capsys, "show", "runs/check", "oslo", "--json")[1])
    assert made["item"]["expected_output"] == "Oslo"
    assert PanelResult.from_dict(made["result"]).votes[0].judge == "a"
    assert made["labels"][0]["note"] == "Bergen is no capital"
    assert "judgments" not in made
    _, out, _ = jury(capsys, "show", "runs/check", "oslo")
    assert "label    ann: fail (Bergen is no capital)" in out
    assert "labels     1 by 1 person" in jury(capsys, "show", "runs/check")[1]


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("osl", "did you mean oslo?"),
        ("pariss", "did you mean paris?"),
        ("99", "it holds 4 items, found by id or by number from 1"),
        ("0", "it holds 4 items"),
        ("", "no item ''"),
        ("٣", "no item"),
        ("9" * 5000, "99…'"),
        ("x" * 5000, "xx…'"),
    ],
)
def test_an_unknown_item_names_near_ones(home, capsys, wanted, says):
    judged(home, capsys)
    code, out, err = jury(capsys, "show", "runs/check", wanted)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("columns", ["0", "1", "nonsense"])
def test_an_odd_terminal_still_shows_it(home, capsys, monkeypatch, columns):
    judged(home, capsys)
    monkeypatch.setenv("COLUMNS", columns)
    _, out, _ = jury(capsys, "show", "runs/check", "paris")
    assert "Paris" in out
    assert "verdict" in out


def test_what_is_no_run(home, capsys):
    (home / "empty").mkdir()
    (home / "file").write_text("x")
    for folder, says in (("nowhere", "no such folder"), ("empty", "no run folder"), ("file", "file")):
        code, out, err = jury(capsys, "show", folder)
        assert (code, out) == (2, "")
        assert says in err
    judged(home, capsys)
    code, _, err = jury(capsys, "show", "runs/check", "--prompt")
    assert code == 2
    assert "one item" in err


def test_a_run_under_way_with_a_torn_line(home, capsys):
    with RunWriter(home / "run") as writer:
        writer.save(manifest("pointwise", ["x"], Boolean(), finished=False))
        for i in range(3):
            writer.add_item(StoredItem(f"i{i}", i, f"d{i}", output="o"))
        vote = Vote("x", Verdict("scored", True, "good"), (Judgment("x", Verdict("scored", True)),))
        result = PanelResult("decided", value=True, passed=True, seats=1, seats_used=1, votes=(vote,), item_id="i0")
        writer.add_result(StoredResult("i0", 0, result))
        with (home / "run" / "results.jsonl").open("ab") as file:
            file.write(b'{"item":"i1","number":1,"resu')
        code, out, err = jury(capsys, "show", "run")  # while the writer holds the lock
        assert code == 0
        assert "not finished" in out
        assert "so far     1 judged, not finished; the same jury run goes on" in out
        assert "waiting    2 items without a verdict yet" in out
        assert "the last line is cut off" in err
        code, out, _ = jury(capsys, "show", "run", "i1")
        assert code == 0
        assert "verdict  none yet" in out


def test_quotes_that_are_not_there_and_repetitions(home, capsys):
    verdict = Verdict("scored", "FAIL", "why", evidence=("is there", "is not"), fields={"violations": [{"rule": 1}]})
    asked = tuple(
        Judgment("x", Verdict("scored", v), n, model="other-model", usage=Usage(1, 5, 5, cost=0.01), calls=2, retries=1)
        for n, v in enumerate(("FAIL", "PASS"))
    )
    vote = Vote(
        "x", verdict, asked, replacement=True, weight=2.0, evidence_check=EvidenceCheck(1, 1, missing=("is not",))
    )
    chat = (
        {"role": "user", "content": "hello"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "look", "arguments": '{"at": 1}'}, "event": 2}]},
        *({"role": "tool", "content": f"turn {n}"} for n in range(30)),
    )
    with RunWriter(home / "run") as writer:
        writer.save(manifest("session", ["x"], Labels(["PASS", "FAIL"], ["PASS"])))
        writer.add_item(StoredItem("s", 0, "d", messages=chat, output="bye"))
        result = PanelResult(
            "decided", value="FAIL", passed=False, seats=1, seats_used=1, votes=(vote,), item_id="s", calls=4
        )
        writer.add_result(StoredResult("s", 0, result))
    _, out, _ = jury(capsys, "show", "run", "s")
    for words in (
        "  user: hello\n",
        '  2 assistant calls look({"at": 1})\n',
        "… 20 more messages (--full)",
        "x  FAIL*  a stand-in · weight 2 · answered by other-model · $0.02 · 4 calls, 2 of them retries",
        "asked 2 times: FAIL, PASS",
        "  found: “is there”\n",
        "  not found: “is not”\n",
        'violations: [{"rule": 1}]',
        "1 quote found, 1 not found",
    ):
        assert " ".join(words.split()) in " ".join(out.split()), words
    assert "turn 15" not in out
    assert "turn 15" in jury(capsys, "show", "run", "s", "--full")[1]


def test_pairs_say_what_was_said_in_each_order(home, capsys):
    texts = [{"question": "q", "response_a": "one", "response_b": "two", "reference": "two"}] * 3
    pairwise(home / "run", [{"x": ("A", "B")}, {"x": ("A", "A")}, {"x": ("B", "B")}], items=texts)
    _, out, _ = jury(capsys, "show", "run")
    assert "win rate A  50% [9.5, 90.5]  1 A, 1 B, 0 tie" in out
    assert "winner      open: the interval holds 50%" in out
    assert "flips       1 took the first answer both times" in out
    assert "judges were split on 1" in out
    _, out, _ = jury(capsys, "show", "run", "#1")
    assert "response A\n  one\n\nresponse B\n  two" in out
    assert "x  flip" in out
    assert "  with A shown first: A\n  with B shown first: B\n" in out


def test_rubric_scores_by_criterion(home, capsys):
    (home / "judge.py").write_text(
        "def scores(output): n = 5 if len(output) < 20 else 2; return {k: (n, f'{k} is {n}') for k in "
        "('correctness', 'completeness', 'instruction_following', 'clarity')}\n"
    )
    judged(home, capsys)
    spec = {"data": "rows.jsonl", "rubric": "answer-rubric", "judges": ["judge.py:scores"]}
    (home / "rubric.yaml").write_text(json.dumps(spec))
    assert jury(capsys, "run", "rubric.yaml")[0] == 0
    _, out, _ = jury(capsys, "show", "runs/rubric", "oslo")
    assert "verdict  fail" in out
    assert "\ncorrectness  2" in out
    assert "  clarity  2\n    clarity is 2\n" in out
    _, out, _ = jury(capsys, "show", "runs/rubric")
    assert "rubric, finished" in out
    assert "\ncriteria   1. correctness" in out
    numbered = [line[11:14] for line in out.splitlines() if line[11:12].isdigit() and line[12:13] == "."]
    assert numbered == ["1. ", "2. ", "3. ", "4. "]


def test_what_jury_judge_left_behind_is_shown_too(home, capsys):
    judged(home, capsys)
    code, out, _ = jury(capsys, "judge", "rows.jsonl", "-c", "c", "-j", "checks.py:short", "-o", "out dir")
    assert code == 0
    assert "jury show 'out dir' oslo " in out
    code, out, _ = jury(capsys, "show", "out dir")
    assert code == 0
    assert "pass rate  33.3% [6.1, 79.2]  1 passed, 2 failed" in out
    assert "  2  oslo  fail" in out
    _, out, _ = jury(capsys, "show", "out dir", "oslo", "--prompt")
    assert "  Capital of Norway?" in out
    assert "short  fail" in out
    assert "judge functions are called with the texts above" in out
