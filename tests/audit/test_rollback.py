"""A version that agrees less with people is taken back: prompts into their files, weights into their folder."""

from __future__ import annotations

import json

import pytest

from jury.audit import audited, calibrate, keep, roll_back, roll_back_weights
from jury.audit.keeping import load_calibration
from jury.cli.__main__ import main
from jury.errors import ConfigError, DataError
from jury.keys import function_name
from jury.prompts import load
from jury.providers import registry
from jury.runner import RunSpec, run_sync
from jury.store import Label, Run
from jury.weighing import stored_weights
from tests.audit.runs import pointwise

OLD = """---
name: answers
version: '1'
description: what it asks
changelog: {'1': first}
---
Old question about {{output.response}}
"""
NEW = OLD.replace("'1'", "'2'").replace("Old question", "New question")


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A prompt of two versions, a run of each with a scripted judge, and labels: the new version is wrong."""
    monkeypatch.chdir(tmp_path)
    registry.reset()
    for name, value in (("good", "true"), ("bad", "false")):
        (tmp_path / f"{name}.json").write_text(json.dumps({"j": f'{{"explanation": "", "value": {value}}}'}))
    folder = tmp_path / "answers"
    folder.mkdir()
    rows = [{"id": str(i), "input": "?", "output": f"a{i}"} for i in range(60)]
    for text, judge in ((OLD, "good"), (NEW, "bad")):
        (folder / "prompt.md").write_text(text)
        (folder / "system.md").write_text(f"You are {judge}.\n")
        config = {"prompt": "answers", "judges": [{"model": f"scripted/{judge}.json", "id": "j"}]}
        spec = RunSpec.from_mapping({"data": rows, "cache": False, **config})
        run_sync(spec, f"runs/{judge}")
    (tmp_path / "labels.csv").write_text("item,label\n" + "".join(f"{i},pass\n" for i in range(60)))
    yield tmp_path
    registry.reset()


def manifests():
    return Run.open("runs/bad").manifest, Run.open("runs/good").manifest


def test_the_earlier_version_is_in_the_file_again(workplace):
    found = roll_back(*manifests())
    assert [(p.name, p.restored, p.rejected) for p in found] == [("answers", "1", "2")]
    now = load("answers")
    assert (now.version, now.user, now.system) == ("1", "Old question about {{output.response}}", "You are good.")
    assert now.meta["description"] == "what it asks"
    assert now.digest in Run.open("runs/good").manifest.prompts
    assert (workplace / "answers" / "rejected-2.md").read_text() == NEW
    assert (workplace / "answers" / "rejected-2.system.md").read_text() == "You are bad.\n"


def test_the_gate_takes_back_what_fails(workplace, capsys):
    command = ["gate", "runs/bad", "runs/good", "--agreement", "--labels", "labels.csv"]
    with pytest.raises(SystemExit) as ended:
        main([*command, "--no-rollback"])
    assert ended.value.code == 1
    assert load("answers").version == "2"
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 1
    assert "rolled back: answers holds version 1 of answers, 2 is in" in " ".join(capsys.readouterr().out.split())
    assert load("answers").version == "1"
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 1  # the gate fails whether or not there is still something to put back
    assert "nothing to roll back" in capsys.readouterr().out
    assert load("answers").version == "1"
    with pytest.raises(SystemExit) as ended:
        main(["gate", "runs/good", "runs/bad", *command[3:]])
    assert ended.value.code == 0
    assert load("answers").version == "1"


def test_what_was_edited_since_is_left_alone(workplace):
    (workplace / "answers" / "prompt.md").write_text(NEW.replace("New", "Newer"))
    with pytest.raises(ConfigError, match="edited since"):
        roll_back(*manifests())
    assert "Newer" in (workplace / "answers" / "prompt.md").read_text()


def test_the_same_prompts_leave_nothing_to_put_back(workplace):
    new, old = manifests()
    assert roll_back(new, new) == []
    assert roll_back(old, old) == []


def test_texts_and_shipped_prompts_have_no_file_to_put_back(workplace):
    rows = [{"id": "1", "output": "x"}]
    judge = {"judges": [{"model": "scripted/good.json", "id": "j"}]}
    for name, config in (
        ("text", {"prompt": "Other: {{output.response}}"}),
        ("text2", {"prompt": "Another: {{output.response}}"}),
        ("shipped", {"criteria": "c"}),
    ):
        run_sync(RunSpec.from_mapping({"data": rows, "cache": False, **judge, **config}), f"runs/{name}")
    text, other, shipped = (Run.open(f"runs/{n}").manifest for n in ("text", "text2", "shipped"))
    with pytest.raises(ConfigError, match="no file"):
        roll_back(text, other)
    with pytest.raises(ConfigError, match="no version to put back"):
        roll_back(shipped, text)


def test_a_single_file_is_put_back_too(workplace):
    rows = [{"id": "1", "output": "x"}]
    judge = {"judges": [{"model": "scripted/good.json", "id": "j"}]}
    file = workplace / "one.md"
    for n, text in enumerate((OLD, NEW)):
        file.write_text(text)
        run_sync(RunSpec.from_mapping({"data": rows, "cache": False, "prompt": "one.md", **judge}), f"runs/one{n}")
    roll_back(Run.open("runs/one1").manifest, Run.open("runs/one0").manifest)
    assert load("one.md").user == load(workplace / "one.md").user == "Old question about {{output.response}}"
    assert load("one.md").system == ""
    assert (workplace / "one.rejected-2.md").read_text() == NEW


def test_weights_have_one_step_back(tmp_path):
    rows = [{"id": str(i), "output": "x", "truth": i % 3 > 0} for i in range(120)]

    def right(row):
        return row["truth"]

    def wrong(row):
        return not row["truth"] if int(row["id"]) % 5 else row["truth"]

    run_sync(RunSpec(rows, {"criteria": "c", "judges": [right, wrong]}), tmp_path / "run")
    run = Run.open(tmp_path / "run")
    with pytest.raises(DataError, match="no earlier weights"):
        roll_back_weights(run.folder)
    for turn in (False, True):
        for row in rows:
            run.add_label(Label(row["id"], "ann", row["truth"] != turn))
        keep(run, calibrate(audited(run), sampled="random"))
        keep(run, calibrate(audited(run), sampled="random"))  # the same once more is no step
    second = load_calibration(run)["weights"]
    first = roll_back_weights(run.folder)
    assert first.weights["right"] > first.weights["wrong"]
    assert load_calibration(run)["weights"] == first.to_dict() | {"holds_for": second["holds_for"]}
    assert roll_back_weights(run.folder).weights["wrong"] > 0.0
    assert load_calibration(run)["weights"] == second


def test_weights_that_new_was_not_judged_with_are_left_alone(tmp_path, capsys):
    """A gate that is run twice must not put the rejected weights back again."""
    labelled = pointwise(
        tmp_path / "labelled",
        [{"x": i % 3 > 0, "y": i % 2 > 0} for i in range(120)],
        labels={i: i % 3 > 0 for i in range(120)},
    )
    keep(labelled, calibrate(audited(labelled), sampled="random"))
    wrong = audited(labelled, [Label(str(i), "me", i % 2 > 0) for i in range(120)])
    keep(labelled, calibrate(wrong, sampled="random"))
    folder = str(labelled.folder)
    votes = [{"x": i % 3 > 0, "y": i % 2 > 0} for i in range(120)]
    rule = function_name(stored_weights(folder))
    opposite = [{"x": not row["x"], "y": row["y"]} for row in votes]
    pointwise(tmp_path / "new", opposite, rule=rule, spec={"aggregator": folder}, prompts={})
    pointwise(tmp_path / "old", votes, prompts={})
    labels = tmp_path / "labels.csv"
    labels.write_text("item,label\n" + "".join(f"{i},{'pass' if i % 3 else 'fail'}\n" for i in range(120)))
    command = ["gate", str(tmp_path / "new"), str(tmp_path / "old"), "--agreement", "--labels", str(labels)]
    said = []
    for _ in range(2):
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert ended.value.code == 1
        said.append(capsys.readouterr().out)
        assert function_name(stored_weights(folder)) != rule
    assert "holds its earlier weights" in said[0]
    assert "not rolled back" in said[1]
