"""One criterion of several against people."""

from __future__ import annotations

import json

import pytest

from jury import JudgeSpec, ScriptedProvider, llm_jury
from jury.audit import audited, calibrate, criteria_of, of_criterion, read_labels
from jury.audit.calibrating import PANEL
from jury.cli.__main__ import main
from jury.errors import ConfigError
from jury.runner import RunSpec, run_sync
from jury.store import Label, Run
from tests.audit.runs import pointwise

RUBRIC = {
    "criteria": [
        {"key": "right", "question": "Is it right?", "scale": "1-5", "gate": 4},
        {"key": "polite", "question": "Is it polite?", "scale": "0/1", "na": True},
    ]
}


@pytest.fixture
def run(tmp_path):
    """Forty answers: one judge is always right about both criteria, the other one finds nothing polite."""

    def answer(request):
        number = int(request.prompt.split("answer-")[1].split("!")[0])
        polite = 0 if request.judge == "stern" else number % 2
        scores = {"right": 5 if number % 4 else 2, "polite": polite}
        return {**{k: {"evidence": [], "reasoning": "", "score": v} for k, v in scores.items()}, "summary": ""}

    provider = ScriptedProvider(answer)
    judges = [JudgeSpec(f"scripted/{n}", id=n, provider=provider) for n in ("fair", "stern", "fair too")]
    rows = [{"id": str(i), "input": "?", "output": f"answer-{i}!"} for i in range(40)]
    run_sync(RunSpec(rows, llm_jury(rubric=RUBRIC, judges=judges), cache=False), tmp_path / "run")
    made = Run.open(tmp_path / "run")
    for i in range(40):
        values = {"right": 4 if i % 4 else 1, "polite": "NA" if i == 7 else bool(i % 2)}
        made.add_label(Label(str(i), "ann", bool(i % 4), values, sampling="random"))
    return made


def test_each_criterion_has_its_own_scale_labels_and_judges(run):
    assert list(criteria_of(run)) == ["right", "polite"]
    right = of_criterion(run, "right")
    assert right.labels == (False, True)  # a score passes at the criterion's gate
    assert right.verdicts() == right.truth() == [bool(i % 4) for i in range(40)]
    polite = of_criterion(run, "polite")
    assert sum(v is None for v in polite.truth()) == 1
    assert set(polite.votes_of("stern")) == {False}
    found = calibrate(polite, sampled="random")
    by_name = {row.name: row for row in found.rows}
    assert by_name[PANEL].agreement.value == 1.0
    assert by_name["stern"].agreement.value < 0.8


def test_a_criterion_that_is_none_is_named_with_those_there_are(run, tmp_path):
    with pytest.raises(ConfigError, match="right, polite"):
        of_criterion(run, "kind")
    with pytest.raises(ConfigError, match="as a whole"):
        of_criterion(pointwise(tmp_path / "plain", [{"x": True}]), "right")


def test_labels_by_criterion_come_from_a_file_too(run, tmp_path):
    (tmp_path / "l.jsonl").write_text(json.dumps({"item": "3", "labeller": "bob", "values": {"polite": False}}) + "\n")
    given = read_labels(tmp_path / "l.jsonl")
    assert [one.label for one in of_criterion(run, "polite", given).labelled()] == [False]
    assert audited(run, given).labelled() == []


def test_the_command_prints_and_keeps_nothing(run, capsys):
    for extra, code in ([], 0), (["--test"], 2):
        with pytest.raises(SystemExit) as ended:
            main(["calibrate", str(run.folder), "--criterion", "polite", "--json", *extra])
        assert int(ended.value.code or 0) == code
        said = capsys.readouterr()
        if not code:
            assert [r["name"] for r in json.loads(said.out)["rows"]] == [PANEL, "fair", "stern", "fair too"]
    assert not (run.folder / "calibration.json").exists()
