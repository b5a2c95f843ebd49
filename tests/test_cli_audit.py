"""The auditor's commands: what they print, and the exit codes that CI relies on."""

from __future__ import annotations

import json
import random
import re

import pytest

from jury import JudgeSpec, ScriptedProvider, llm_jury
from jury.cli import audit_words
from jury.cli.__main__ import main
from jury.cli.audit_words import table
from jury.providers import prices, registry
from jury.providers.prices import Price
from jury.report import words as report_words
from jury.results import Usage
from jury.runner import RunSpec, run_sync
from jury.stats import Estimate
from tests.audit.runs import pairwise, pointwise


def jury(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


@pytest.fixture
def folder(tmp_path):
    rng = random.Random(0)
    truth = {i: rng.random() < 0.7 for i in range(120)}
    rows = [{j: t if rng.random() < r else not t for j, r in (("x", 0.95), ("y", 0.7), ("z", 0.7))}
            for t in truth.values()]  # fmt: skip
    tags = [{"tags": (("odd",), ("even", "all"))[i % 2 == 0]} for i in truth]
    pointwise(tmp_path / "run", rows, labels={i: truth[i] for i in range(80)}, items=tags)
    (tmp_path / "labels.csv").write_text(
        "item,label\n" + "".join(f"{i},{'pass' if truth[i] else 'fail'}\n" for i in range(80))
    )
    return tmp_path


def test_calibrate_asks_how_labels_were_drawn(folder, capsys):
    code, _, err = jury(capsys, "calibrate", str(folder / "run"))
    assert code == 2
    assert "--sampled" in err


def test_calibrate_prints_and_keeps(folder, capsys):
    code, out, _ = jury(capsys, "calibrate", str(folder / "run"), "--sampled", "random")
    assert code == 0
    for word in ("people's", "TPR", "kappa", "disagreements", "weights: labelled", "[", "panel"):
        assert word in out, word
    assert " ".join(out.split()).endswith("in a configuration: votes count by these weights")
    assert "the rate people would give, beside the panel's" in " ".join(out.split())
    assert (folder / "run" / "calibration.json").exists()
    code, out, _ = jury(
        capsys,
        "calibrate",
        str(folder / "run"),
        "--sampled",
        "random",
        "--labels",
        str(folder / "labels.csv"),
        "--json",
    )
    data = json.loads(out)
    assert (data["n_labels"], data["weights"]["source"]) == (80, "labels")


def test_nothing_is_no_negative_number():
    small = Estimate(-0.001, -0.004, 0.004)
    assert audit_words.number(small) == "0.00 [0.00, 0.00]"
    assert report_words.number(small).text == "0.00 (0.00 to 0.00)"


def test_a_target_in_the_middle_has_no_negative_nothing(tmp_path, capsys):
    items = [{"row": {"model_a": a, "model_b": b}} for a, b in (("p", "q"), ("q", "r"), ("q", "p"), ("r", "q")) * 5]
    pairwise(tmp_path / "pairs", [{"x": ("A", "A")}, {"x": ("A", "A")}, {"x": ("B", "B")}, {"x": ("B", "B")}] * 5,
             items=items)  # fmt: skip
    code, out, err = jury(capsys, "rank", str(tmp_path / "pairs"))
    assert (code, "-0 " in out, "+0 " in out) == (0, False, True), err + out


def test_the_test_part_is_spent_and_said_so(folder, capsys):
    first = jury(capsys, "calibrate", str(folder / "run"), "--sampled", "random", "--test")[1]
    second = jury(capsys, "calibrate", str(folder / "run"), "--sampled", "random", "--test")[1]
    assert "are now spent" in first
    assert "no longer fresh" in second


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--pass-rate", ">=0.4"], 0),
        (["--pass-rate", ">=0.95"], 1),
        (["--pass-rate", ">=0.6"], 4),
        (["--pass-rate", "<=0.9", "--error-rate", "<=0.1", "--min-coverage", "0.5", "--by", "tag"], 0),
        ([], 2),
        (["--pass-rate", "lots"], 2),
        (["--pass-rate", ">=0.4", "--by", "colour"], 2),
    ],
)
def test_gate_codes(folder, capsys, arguments, code):
    got, out, err = jury(capsys, "gate", str(folder / "run"), *arguments)
    assert got == code, out + err
    assert out if code != 2 else err


def test_gate_json_has_every_number(folder, capsys):
    code, out, _ = jury(capsys, "gate", str(folder / "run"), "--pass-rate", ">=0.6", "--json")
    check = json.loads(out)["checks"][0]
    assert code == 4
    assert {"value", "low", "high", "n"} <= set(check["estimate"])
    assert check["false_alarm"] > 0


def test_no_rate_is_told_without_its_coverage(folder, capsys):
    pointwise(folder / "half", [{"x": True}] * 40 + [{"x": None}] * 20, labels=dict.fromkeys(range(9), True))
    gated = ("gate", str(folder / "half"), "--pass-rate", ">=0.5")
    calibrated = ("calibrate", str(folder / "half"), "--sampled", "random")
    for command in (gated, calibrated):
        assert re.search(r"^coverage +66.7%  40 of 60 items", jury(capsys, *command)[1], re.M)
        assert json.loads(jury(capsys, *command, "--json")[1])["coverage"]["value"] == pytest.approx(2 / 3)
    assert jury(capsys, *gated, "--min-coverage", "0.6")[1].count("coverage") == 1


def test_gate_on_agreement(folder, capsys):
    rows = [{"x": i % 2 == 0} for i in range(120)]
    pointwise(folder / "worse", rows)
    labels = ["--labels", str(folder / "labels.csv")]
    code, out, _ = jury(capsys, "gate", str(folder / "worse"), str(folder / "run"), "--agreement", *labels)
    assert code == 1
    assert "flipped items" in out
    assert jury(capsys, "gate", str(folder / "run"), str(folder / "worse"), "--agreement", *labels)[0] == 0
    assert jury(capsys, "gate", str(folder / "run"), "--agreement", *labels)[0] == 2


def test_worth_says_whether_one_judge_would_do(folder, capsys):
    code, out, _ = jury(capsys, "worth", str(folder / "run"))
    assert code == 0
    assert "independent votes" in out
    assert "x alone" in out or "its best judge, x" in out
    assert json.loads(jury(capsys, "worth", str(folder / "run"), "--json")[1])["best"] == "x"


def test_stability_and_bias(folder, capsys):
    assert jury(capsys, "stability", str(folder / "run"))[0] == 3
    pointwise(folder / "again", [{"x": [True, i > 3]} for i in range(10)])
    code, out, _ = jury(capsys, "stability", str(folder / "again"))
    assert code == 0
    assert "40.0% [" in out
    code, out, _ = jury(capsys, "bias", str(folder / "run"))
    assert code == 0
    assert "leanings" in out
    assert jury(capsys, "bias", str(folder / "run"), "--json")[0] == 0
    assert jury(capsys, "stability", str(folder / "again"), "--json")[0] == 0


def test_diff_refuses_what_was_not_judged_alike(folder, capsys):
    pointwise(folder / "other", [{"x": True}] * 120)
    code, _, err = jury(capsys, "diff", str(folder / "run"), str(folder / "other"))
    assert code == 2
    assert "judges differ" in err
    code, out, _ = jury(capsys, "diff", str(folder / "run"), str(folder / "other"), "--anyway")
    assert code == 0
    assert "B is better" in out
    assert "not alike: judges differ" in out
    same = jury(capsys, "diff", str(folder / "run"), str(folder / "run"), "--json")[1]
    assert json.loads(same)["better"] == "undecided"


def test_rank(folder, capsys):
    items = [{"row": {"model_a": a, "model_b": b}} for a, b in (("p", "q"), ("q", "r"), ("p", "r"))] * 20
    votes = [{"x": ("A", "A") if i % 5 else ("B", "B")} for i in range(60)]
    pairwise(folder / "pairs", votes, items=items)
    code, out, _ = jury(capsys, "rank", str(folder / "pairs"))
    assert code == 0
    assert out.index("\np ") < out.index("\nr ")
    data = json.loads(jury(capsys, "rank", str(folder / "pairs"), "--json")[1])
    assert [t["target"] for t in data["targets"]] == ["p", "q", "r"]
    assert jury(capsys, "rank", str(folder / "run"))[0] == 2


def test_drift(folder, capsys):
    code, out, _ = jury(capsys, "drift", str(folder / "run"), str(folder / "run"))
    assert code == 0
    assert "none" in out
    pointwise(folder / "now", [{"x": False}] * 120)
    assert jury(capsys, "drift", str(folder / "run"), str(folder / "now"), "--json")[0] == 1
    assert jury(capsys, "drift", str(folder / "run"), str(folder / "now"), "--system-then", str(folder / "run"))[0] == 2


def test_a_missing_run_is_one_line(tmp_path, capsys):
    code, _, err = jury(capsys, "worth", str(tmp_path / "nowhere"))
    assert code == 2
    assert err.count("\n") == 1


@pytest.fixture
def scripted(tmp_path, monkeypatch):
    """A finished run whose only judge is a script in the working directory."""
    monkeypatch.chdir(tmp_path)
    registry.reset()
    replies = {"scripted/w.json": '{"explanation": "yes", "value": true}'}
    (tmp_path / "w.json").write_text(json.dumps(replies))
    rows = [{"id": f"r{i}", "input": f"q{i}", "output": f"a{i}"} for i in range(8)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (tmp_path / "eval.yaml").write_text("data: rows.jsonl\ncriteria: Good.\njudges: [scripted/w.json]\ncache: false\n")
    yield tmp_path
    registry.reset()


def test_stability_asks_again_with_consent(scripted, capsys):
    assert jury(capsys, "run", "eval.yaml")[0] == 0
    code, _, err = jury(capsys, "stability", "runs/eval")
    assert code == 3
    code, out, _ = jury(capsys, "stability", "runs/eval", "--ask", "5", "--estimate", "--json")
    quote = json.loads(out)
    assert (code, quote["calls"], quote["known"], quote["items"]) == (0, 10, 5, 5)
    log = (scripted / "runs/eval/judgments.jsonl").read_text()
    code, out, err = jury(capsys, "stability", "runs/eval", "--ask", "5", "--json")
    assert code == 0, err  # a script costs nothing: there is nothing to confirm
    assert "asked 10 questions about 5 items" in err
    assert json.loads(out)["judges"][0]["retest"]["usable"] == 5
    assert (scripted / "runs/eval/judgments.jsonl").read_text().startswith(log)
    assert "asked 0 questions" in jury(capsys, "stability", "runs/eval", "--ask", "5")[2]


def test_what_costs_is_confirmed_first(scripted, capsys, monkeypatch):
    jury(capsys, "run", "eval.yaml")
    dear = Price(1.0, 2.0)
    monkeypatch.setattr(prices, "find", lambda provider, model: dear)
    code, _, err = jury(capsys, "stability", "runs/eval", "--ask", "5")
    assert code == 2
    assert "10 questions about 5 items" in err
    assert "--yes" in err
    assert jury(capsys, "stability", "runs/eval", "--ask", "5", "--yes")[0] == 0


def test_options_of_asking_need_the_asking(scripted, capsys):
    jury(capsys, "run", "eval.yaml")
    for option in ("--yes", "--estimate"):
        code, _, err = jury(capsys, "stability", "runs/eval", option)
        assert code == 2
        assert "--ask N" in err
    code, _, err = jury(capsys, "bias", "runs/eval", "--ask", "5")
    assert code == 2
    assert "no order" in err


def test_rank_compares_answers_in_rounds_first(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judges.py").write_text(
        "def longer(response_a, response_b):\n"
        "    gap = len(response_a) - len(response_b)\n"
        "    return 'tie' if not gap else 'A' if gap > 0 else 'B'\n"
    )
    answers = [
        {"ask": f"question {q}", "model": model, "said": "x" * (3 * size + q % 3)}
        for q in range(6)
        for size, model in enumerate(["poor", "fair", "good", "best"])
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(a) + "\n" for a in answers))
    command = ["rank", "runs/contest", "--answers", "answers.jsonl", "--map", "input=ask", "--map", "output=said",
               "-j", "judges.py:longer", "--criteria", "Longer."]  # fmt: skip
    code, out, _ = jury(capsys, *command, "--comparisons", "12", "--estimate", "--json")
    quote = json.loads(out)
    assert (code, quote["items"], quote["calls"]) == (0, 12, 24)
    code, out, err = jury(capsys, *command, "--comparisons", "12", "--json")
    assert code == 0, err
    assert "12 comparisons in runs/contest, $0 in all, 24 calls" in err
    assert len(err.splitlines()) < 5
    found = json.loads(out)
    assert [t["target"] for t in found["targets"]] == ["best", "good", "fair", "poor"]
    assert found["games"] == 12
    again = jury(capsys, "rank", "runs/contest")
    assert again[0] == 0
    assert "best" in again[1]
    assert "group" not in again[1]
    err = jury(capsys, *command[:-1], "Shorter.", "--comparisons", "12")[2]
    assert "changed since the last time: criteria" in err
    code, _, err = jury(capsys, "rank", "runs/contest", "--criteria", "x")
    assert code == 2
    assert "--answers" in err


def test_rank_takes_a_file_of_each_bot_whose_ids_are_those_of_the_questions(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judges.py").write_text(
        "def longer(response_a, response_b): return 'A' if len(response_a) > len(response_b) else 'B'\n"
    )
    lines = {
        name: [json.dumps({"id": f"q{q}", "input": f"question {q}", "output": "x" * size}) + "\n" for q in range(4)]
        for size, name in enumerate(["poor", "fair", "best"], 1)
    }
    for name, given in lines.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(given))
    how = ["-j", "judges.py:longer", "-c", "Longer.", "--comparisons", "12", "--json"]
    each = [part for name in lines for part in ("--answers", f"{name}.jsonl")]
    for folder, files in (("runs/each", each), ("runs/pattern", ["--answers", "*.jsonl"])):
        code, out, err = jury(capsys, "rank", folder, *files, *how)
        assert (code, [t["target"] for t in json.loads(out)["targets"]]) == (0, ["best", "fair", "poor"]), err
    (tmp_path / "all.jsonl").write_text(
        "".join(line[:-2] + f', "model": "{name}"}}\n' for name, given in lines.items() for line in given)
    )
    code, out, err = jury(capsys, "rank", "runs/one", "--answers", "all.jsonl", *how)
    assert (code, json.loads(out)["games"]) == (0, 12), err
    code, _, err = jury(capsys, "rank", "runs/none", "--answers", "best.jsonl", *how)
    assert code == 2
    assert "model" in err


def test_calibrate_without_labels_is_an_error_and_writes_nothing(folder, capsys):
    bare = folder / "bare"
    pointwise(bare, [{"x": True, "y": False}] * 30)
    code, _, err = jury(capsys, "calibrate", str(bare), "--sampled", "random")
    assert code == 2
    assert "no labels: jury label RUN, or --labels FILE" in err
    assert not (bare / "calibration.json").exists()


def test_labels_of_unknown_items_are_named(folder, capsys):
    path = folder / "some.csv"
    path.write_text("item,label\n1,pass\n2,fail\nzz,pass\nyy,fail\n")
    run = ["calibrate", str(folder / "run"), "--sampled", "random", "--labels", str(path)]
    assert "2 labels are of items that the run has no verdict on: 'yy', 'zz'" in jury(capsys, *run)[1]
    assert json.loads(jury(capsys, *run, "--json")[1])["strays"] == ["yy", "zz"]
    path.write_text("item,label\nzz,pass\n")
    code, _, err = jury(capsys, *run)
    assert code == 2
    assert "'zz'" in err


def test_a_gate_on_agreement_takes_the_labels_of_either_run(folder, capsys):
    rows = [{"x": i % 3 > 0, "y": True} for i in range(60)]
    pointwise(folder / "new", rows)
    pointwise(folder / "old", rows, labels={i: i % 3 > 0 for i in range(60)})
    agree = ["--agreement", "--json"]
    for first, second in (("new", "old"), ("old", "new")):
        out = jury(capsys, "gate", str(folder / first), str(folder / second), *agree)[1]
        assert json.loads(out)["new"]["n"] == 60
    code, _, err = jury(capsys, "gate", str(folder / "new"), str(folder / "new"), "--agreement")
    assert code == 2
    assert "no labels in NEW or OLD: pass --labels FILE or run jury label" in err


def test_a_label_of_another_output_is_not_borrowed(folder, capsys):
    pointwise(folder / "new", [{"x": True}] * 4, items=[{"output": "rewritten"}] * 4)
    pointwise(folder / "old", [{"x": True}] * 4, labels={0: True})
    assert jury(capsys, "gate", str(folder / "new"), str(folder / "old"), "--agreement")[0] == 2


def test_what_is_not_known_is_a_short_cell_and_one_sentence(folder, capsys):
    pointwise(folder / "once", [{"x": True, "y": i > 3} for i in range(10)], labels={0: True})
    out = jury(capsys, "worth", str(folder / "once"))[1]
    assert "undefined" not in out
    assert out.count("needs 20 labels") == 1
    out = jury(capsys, "stability", str(folder / "once"))[1]
    assert "undefined" not in out
    assert "n/a" in out
    out = jury(capsys, "calibrate", str(folder / "once"), "--sampled", "random")[1]
    assert "undefined" not in out
    assert "share of people's passes and of people's fails that it finds too" in out


def test_unstable_items_have_a_unit(folder, capsys):
    pointwise(folder / "again", [{"x": [True, i > 3, True]} for i in range(10)])
    out = jury(capsys, "stability", str(folder / "again"))[1]
    assert "chance that two answers differ" in out
    assert "67%" in out


def test_diff_says_pass_and_fail_and_both_rates(folder, capsys):
    pointwise(folder / "a", [{"x": i < 5} for i in range(10)])
    pointwise(folder / "b", [{"x": i < 7} for i in range(10)])
    out = jury(capsys, "diff", str(folder / "a"), str(folder / "b"))[1]
    assert "50.0% [" in out
    assert "70.0% [" in out
    assert "fail  pass" in out
    assert "True" not in out
    rates = json.loads(jury(capsys, "diff", str(folder / "a"), str(folder / "b"), "--json")[1])["rates"]
    assert (rates["first"]["value"], rates["second"]["value"]) == (0.5, 0.7)


def test_pairs_are_gated_by_the_win_rate_of_a(folder, capsys):
    pairwise(folder / "pairs", [{"x": ("A", "A"), "y": ("A", "A")}] * 20)
    out = jury(capsys, "gate", str(folder / "pairs"), "--pass-rate", ">=0.5")[1]
    assert "win rate of A" in out
    assert "pass rate" not in out


def kind(output):
    return len(output) > 8


def dear(output):
    return {"value": len(output) > 8, "usage": Usage(1, 10, 5, cost=0.02)}


def test_a_judge_function_costs_what_it_says_or_nothing(tmp_path, capsys):
    rows = [{"id": str(i), "input": "q", "output": f"answer {i}"} for i in range(10)]
    run_sync(RunSpec(rows, llm_jury(criteria="c", judges=[kind]), cache=False), tmp_path / "free")
    assert "price              free" in jury(capsys, "worth", str(tmp_path / "free"))[1]
    assert json.loads(jury(capsys, "worth", str(tmp_path / "free"), "--json")[1])["price"] == 0.0
    run_sync(RunSpec(rows, llm_jury(criteria="c", judges=[kind, dear]), cache=False), tmp_path / "paid")
    assert "$0.02 for each decided item" in jury(capsys, "worth", str(tmp_path / "paid"))[1]
    model = JudgeSpec("scripted/x", provider=ScriptedProvider(lambda request: '{"explanation": "", "value": true}'))
    run_sync(RunSpec(rows, llm_jury(criteria="c", judges=[kind, model]), cache=False), tmp_path / "open")
    assert "price              unknown" in jury(capsys, "worth", str(tmp_path / "open"))[1]


def test_a_table_that_is_too_wide_breaks_no_interval_and_no_name(capsys):
    names = [f"openrouter/some-vendor/a-very-long-model-name-{n}" for n in range(8)]
    heads = ["judge", "agreement", "TPR", "-", "kappa", "chance that two answers differ"]
    said = ["93.3% [70.2, 98.8]", "100.0% [75.8, 100.0]", "-", "0.76 [-0.32, 1.00]", "33.3% [1.0, 2.0]"]
    rows = [[name, *said] for name in names]
    table("wide", heads, rows)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert all(out.count(name) == 1 for name in names)
    assert out.count("[75.8, 100.0]") + out.count("[75.8,100.0]") == 8
    table("narrow", ["judge", "agreement", "nothing"], [["a", "93.3% [70.2, 98.8]", "-"]])
    assert capsys.readouterr().out == "\nnarrow\njudge  agreement\na      93.3% [70.2, 98.8]\n"


def test_every_reason_says_which_numbers_it_is_about():
    known, none = Estimate(0.5, reason="no_data"), Estimate(None, reason="no_data", note="no fails")
    alike = Estimate(None, reason="no_data", note="all are alike")
    cells = [(row, "TNR", none) for row in ("the panel", "a", "b")]
    cells += [(row, column, alike) for column in ("kappa", "AC1") for row in ("the panel", "b")]
    cells += [("a", "kappa", known), ("a", "AC1", none), ("the panel", "TPR", known)]
    assert audit_words.reasons(cells) == [
        "n/a in TNR; AC1 of a: no fails",
        "n/a in kappa, AC1 of the panel, b: all are alike",
    ]
    many = [(str(i), "kappa", alike) for i in range(7)] + [("x", "kappa", known)]
    assert audit_words.reasons(many) == ["n/a in kappa of 0, 1, 2, 3 and 3 more: all are alike"]
    assert audit_words.reasons([("a", "kappa", known)]) == []


def test_calibrate_says_which_cells_are_empty_and_why(tmp_path, capsys):
    rows = [{"x": True, "y": i % 4 > 0} for i in range(40)]
    pointwise(tmp_path / "run", rows, labels=dict.fromkeys(range(40), True))
    code, out, _ = jury(capsys, "calibrate", str(tmp_path / "run"), "--sampled", "random")
    told = " ".join(out.split())
    assert code == 0
    assert "n/a in TNR: nothing was observed" in told
    assert re.search(r"n/a in kappa, AC1 of [^:]*\bx\b[^:]*: all observed values are equal", told)
    assert "n/a: " not in told.split("against people")[1]


def test_a_narrow_screen_gets_each_end_of_an_interval_on_a_line_of_its_own(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    heads = ["judge", "agreement", "TPR", "TNR", "kappa"]
    table(
        "narrow",
        heads,
        [["strict", "76.9% [49.7, 91.8]", "72.7% [43.4, 90.3]", "100.0% [34.2, 100.0]", "0.45 [0.00, 0.91]"]],
    )
    out = capsys.readouterr().out
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 40
    assert out.count("91.8]") == out.count("[34.2,") == 1


def test_calibrate_calls_the_rate_of_pairs_by_its_name(tmp_path, capsys):
    pairwise(tmp_path / "pairs", [{"x": ("A", "A"), "y": ("A", "A")}, {"x": ("B", "B"), "y": ("B", "B")}] * 20)
    (tmp_path / "labels.csv").write_text("item,label\n" + "".join(f"{i},{'AB'[i % 2]}\n" for i in range(40)))
    code, out, err = jury(
        capsys, "calibrate", str(tmp_path / "pairs"), "--sampled", "random", "--labels", str(tmp_path / "labels.csv")
    )
    assert (code, "win rate A  50.0%" in out, "pass rate" in out) == (0, True, False), err + out


def test_pairs_without_names_are_no_ranking_and_a_tag_is_a_column(tmp_path, capsys):
    pairwise(tmp_path / "pairs", [{"x": ("A", "A")}] * 2)
    code, _, err = jury(capsys, "rank", str(tmp_path / "pairs"))
    assert code == 2
    assert "has no 'model_a' and 'model_b': a ranking needs the names" in " ".join(err.split())
    code, _, err = jury(capsys, "gate", str(tmp_path / "pairs"), "--pass-rate", ">=0.5", "--by", "topic")
    assert code == 2
    assert "what the data has in a column `tag` or `tags`; got 'topic'" in " ".join(err.split())


def test_what_is_odd_in_a_file_of_labels_is_told_once(tmp_path, capsys):
    pointwise(tmp_path / "run", [{"x": True}] * 3)
    (tmp_path / "l.csv").write_text("item,value\n0,pass\n0,fail\n1,pass\n")
    code, out, err = jury(
        capsys, "calibrate", str(tmp_path / "run"), "--labels", str(tmp_path / "l.csv"), "--sampled", "random", "--test"
    )
    assert code == 0
    assert err.count("warning: ") == 1
    assert "'0': the last line counts" in err
    assert "confidence  n/a: the weights are not from labels, so they claim no confidence" in " ".join(out.split("\n"))
