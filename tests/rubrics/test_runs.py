"""Rubrics in runs: a YAML file into a folder, resumed, replayed; and versions of prompts that are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jury import ConfigError, Criterion, Labels, Numeric, Rubric, ScriptedProvider
from jury.judge import JudgeSpec
from jury.rubrics.library import load_rubric
from jury.runner import RunSpec, replay, run_sync
from jury.store import Run
from jury.versions import edited, refuse_edits

ROWS = [{"id": str(n), "input": "q", "output": f"answer {n}"} for n in range(4)]
RUBRIC = {
    "name": "short",
    "pass_rule": "right >= 4 and kind == 1",
    "criteria": [{"key": "right", "question": "Right?"}, {"key": "kind", "scale": "0/1"}],
}


def answer(request: Any) -> Any:
    """Scores for whatever is asked for; the last item is unkind."""
    scores = {"right": 5, "kind": 0 if "answer 3" in request.prompt else 1}
    wanted = request.schema["properties"].keys() & scores.keys()
    return {key: {"evidence": ["answer"], "reasoning": "r", "score": scores[key]} for key in wanted}


def spec(provider: ScriptedProvider, **more: Any) -> RunSpec:
    judges = [JudgeSpec("scripted/a", provider=provider)]
    return RunSpec.from_mapping({"rubric": RUBRIC, "judges": judges, "cache": False, **more}).with_changes(data=ROWS)


@pytest.mark.parametrize("ask", ["together", "each"])
def test_a_rubric_run_is_kept_resumed_and_replayed(tmp_path: Path, ask: str) -> None:
    provider = ScriptedProvider(answer)
    report = run_sync(spec(provider, ask=ask), tmp_path / "run")
    calls = len(provider.requests)

    assert (report.kind, calls) == ("rubric", 4 if ask == "together" else 8)
    assert (report.totals["n_pass"], report.totals["n_fail"]) == (3, 1)
    stored = Run.open(tmp_path / "run")
    results = [r for _, r in stored.results()]
    assert [[c.key for c in r.criteria] for r in results] == [["right", "kind"]] * 4
    assert stored.manifest.spec["rubric"]["pass_rule"] == RUBRIC["pass_rule"]

    again = run_sync(spec(provider, ask=ask), tmp_path / "run")
    assert (again.skipped, len(provider.requests)) == (4, calls)
    found = replay(tmp_path / "run")
    assert found.same, found
    assert found.items == 4


def test_a_changed_rule_decides_anew_from_the_recorded_scores(tmp_path: Path) -> None:
    provider = ScriptedProvider(answer)
    run_sync(spec(provider), tmp_path / "run")
    softer = {**RUBRIC, "pass_rule": "right >= 4"}
    report = run_sync(spec(provider, rubric=softer), tmp_path / "run")

    assert report.totals["n_pass"] == 4
    assert len(provider.requests) == 4  # the rule is not part of what a judge of plain scores is shown


def test_a_run_file_finds_its_rubric_beside_it(tmp_path: Path) -> None:
    (tmp_path / "short.yaml").write_text(json.dumps(RUBRIC))
    (tmp_path / "run.yaml").write_text("rubric: short.yaml\nask: each\ndata: rows.jsonl\n")
    made = RunSpec.from_file(tmp_path / "run.yaml").make_jury()
    assert RunSpec.from_file(tmp_path / "run.yaml", kind="rubric").make_jury().criteria == made.criteria
    with pytest.raises(ConfigError, match="kind rubric needs a rubric"):
        RunSpec.from_mapping({"kind": "rubric", "criteria": "x"})

    assert made.criteria.startswith("1. right (1 to 5)")
    with pytest.raises(ConfigError, match="rubrik"):
        RunSpec.from_mapping({"rubrik": "x"})


def test_rubrics_as_data_come_back_equal() -> None:
    criteria = [
        Criterion("a", "A?", anchors={5: "five", 1: "one"}, weight=2, gate=3, na=True),
        Criterion("b", scale="0/1", gate="== 1"),
        Criterion("c", scale="boolean", gate=True),
        Criterion("d", scale=Labels(["x", "y", "z"], ["x"], "z", {"x": "the best"}), gate=["x", "y"]),
        Criterion("e", scale=Numeric(0, 10, 5)),
    ]
    for rubric in (Rubric(criteria, "a >= 2", task="t", reference="r", na="skip"), load_rubric("critic")):
        data = json.loads(json.dumps(rubric.to_dict()))
        back = Rubric.from_dict(data)
        assert back.text() == rubric.text()
        assert back.rule_text == rubric.rule_text
        assert [c.measure for c in back.criteria] == [c.measure for c in rubric.criteria]
        assert (back.na, back.shape, back.reference) == (rubric.na, rubric.shape, rubric.reference)


def prompt(folder: Path, text: str, version: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "prompt.md").write_text(f"---\nname: mine\nversion: '{version}'\n---\n{text} {{{{output.response}}}}\n")
    return folder


def test_an_edited_prompt_needs_a_new_version_in_a_run(tmp_path: Path) -> None:
    def verdict(request: Any) -> Any:
        return {"explanation": "", "value": True}

    def go(text: str, version: str, **options: Any) -> Any:
        judges = [JudgeSpec("scripted/a", provider=ScriptedProvider(verdict))]
        path = str(prompt(tmp_path / "mine", text, version))
        made = RunSpec.from_mapping({"prompt": path, "judges": judges, "cache": False}).with_changes(data=ROWS)
        return run_sync(made, tmp_path / "run", **options)

    assert go("Good?", "1").judged == 4
    assert next(iter(Run.open(tmp_path / "run").manifest.prompts.values()))["name"] == "mine"
    with pytest.raises(ConfigError, match="mine 1: give the changed prompt a new version"):
        go("Very good?", "1")
    assert go("Very good?", "1", force=True).judged == 4
    assert go("Really good?", "2").judged == 4
    assert go("Good?", "1").judged == 4  # what stands there already is no edit


def test_what_is_an_edit() -> None:
    one = {"name": "p", "version": "1"}
    assert edited({"a": one}, {"a": one}) == []
    assert edited({"a": one}, {"b": one}) == ["p 1"]
    assert edited({"a": one}, {"b": {**one, "version": "2"}}) == []
    assert edited({"a": {**one, "version": "0"}}, {"b": {**one, "version": "0"}}) == []
    refuse_edits({"a": one}, {"b": one}, "here", force=True)
