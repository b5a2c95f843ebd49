"""Weights by path: a run's calibration as the aggregator of the next run, refused once it has expired."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from jury import llm_jury
from jury.audit import audited, calibrate, keep, weights_from
from jury.cli.__main__ import main
from jury.errors import ConfigError
from jury.keys import function_name
from jury.runner import RunSpec, run_sync
from jury.store import Label, Run
from jury.weighing import is_path, stored_weights

JUDGES = """
def good(row):
    return row["truth"] if int(row["id"]) % 20 else not row["truth"]

def no(row):
    return False

def never(row):
    return False
"""


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A calibrated run of three judges of which one knows, and the configuration of the next one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judges.py").write_text(JUDGES)
    rows = [{"id": str(i), "input": "?", "output": f"answer {i}", "truth": i % 3 > 0} for i in range(120)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (tmp_path / "eval.yaml").write_text(
        "data: rows.jsonl\ncriteria: Right.\njudges: [judges.py:good, judges.py:no, judges.py:never]\n"
    )
    with pytest.raises(SystemExit):
        main(["run", "eval.yaml"])
    run = Run.open("runs/eval")
    for row in rows:
        run.add_label(Label(row["id"], "ann", row["truth"], sampling="random"))
    keep(run, calibrate(audited(run), sampled="random"))
    (tmp_path / "next.yaml").write_text((tmp_path / "eval.yaml").read_text() + "aggregator: runs/eval\n")
    return tmp_path


def ran(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return int(ended.value.code or 0)


def test_a_run_takes_the_weights_of_another_run(workplace):
    assert Run.open("runs/eval").manifest.totals["pass_rate"] == 0.0  # two of three say no
    assert ran("run", "next.yaml") == 0
    run = Run.open("runs/next")
    assert run.manifest.totals["pass_rate"] == pytest.approx(2 / 3, abs=0.06)
    _, result = next(iter(run.results()))
    assert result.confidence_source == "labels"


def test_a_single_command_takes_them_too(workplace, capsys):
    judges = "judges.py:good,judges.py:no,judges.py:never"
    command = ("judge", "rows.jsonl", "-c", "Right.", "-j", judges, "--json", "--aggregator")
    assert ran(*command, "runs/eval/calibration.json") == 0
    assert json.loads(capsys.readouterr().out)["summary"]["pass_rate"] > 0.5
    assert ran(*command, "runs/nowhere") == 2
    assert "no weights" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("criteria: Right.", "criteria: Polite.", "criteria of"),
        (", judges.py:never]", "]", "the judges were"),
    ],
)
def test_weights_of_other_judges_or_criteria_are_refused(workplace, capsys, old, new, word):
    text = (workplace / "next.yaml").read_text()
    (workplace / "next.yaml").write_text(text.replace(old, new))
    assert ran("run", "next.yaml") == 2
    assert word in capsys.readouterr().err


def test_a_changed_judge_function_is_another_judge(workplace, capsys):
    (workplace / "judges.py").write_text(JUDGES.replace("% 20", "% 21"))
    assert ran("run", "next.yaml") == 2
    assert "function of good changed" in capsys.readouterr().err


def test_other_weights_are_another_rule(workplace):
    """A folder judged with one set of weights is folded anew with another one, and nobody is asked again."""
    first = weights_from(audited("runs/eval"))
    other = replace(first, prior=tuple(p + 9.0 * (k == 0) for k, p in enumerate(first.prior)))
    assert function_name(first) != function_name(other)
    assert function_name(first) == function_name(replace(first))
    asked = []

    def good(row):
        asked.append(row["id"])
        return row["truth"]

    rows = [{"id": str(i), "output": str(i), "truth": True} for i in range(3)]
    unbound = {"holds_for": {}, "judges": ("good", "no", "never")}
    for weights, passed in ((first, 3), (other, 0)):
        config = {"criteria": "c", "judges": [good], "aggregator": replace(weights, **unbound)}
        assert run_sync(RunSpec(rows, config), "runs/again").totals["n_pass"] == passed
    assert len(asked) == 3


def test_what_is_no_path_is_a_rule(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not is_path("mode")
    assert not is_path(None)
    with pytest.raises(ConfigError, match="is not known"):
        llm_jury(criteria="c", judges=[lambda output: True], aggregator="mod")
    (tmp_path / "w.json").write_text("[]")
    for wrong, word in (("w.json", "not stored weights"), ("gone.json", "no weights")):
        with pytest.raises(ConfigError, match=word):
            stored_weights(wrong)
