"""What the front matter of a prompt declares counts wherever it is used, and its version goes with the votes."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from jury import ConfigError, JudgeSpec, ScriptedProvider, llm_jury, llm_jury_pairwise
from jury.cli.__main__ import main
from jury.cli.prompt_view import asked_of
from jury.declared import declared_scale, kind_of
from jury.further import formed
from jury.prompts import PromptSpec, load
from jury.proving import problems
from jury.runner import RunSpec, run_sync
from jury.scales import Boolean, Labels
from jury.store import Run
from jury.versions import edited

TEXT = "<{{fence}} answer>\n{{output.response}}\n</{{fence}}>\n"


def write(folder: Path, text: str = TEXT, name: str = "refunds", **meta: object) -> Path:
    home = folder / name
    home.mkdir(exist_ok=True)
    front = {"name": name, "version": "2", "changelog": {"2": "as it is"}, **meta}
    (home / "prompt.md").write_text(f"---\n{json.dumps(front)}\n---\n{text}", "utf-8")
    return home


def judge(*values: object) -> JudgeSpec:
    return JudgeSpec("scripted/a", provider=ScriptedProvider([{"explanation": "e", "value": v} for v in values]))


def invoke(*arguments: str) -> object:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


def good(output: str) -> str:
    return "good" if output == "fine" else "bad"


def test_verdicts_of_the_front_matter_are_the_scale(tmp_path):
    spec = load(write(tmp_path, verdicts=["good", "bad", "NA"], passing=["good"]))
    assert declared_scale(spec) == Labels(["good", "bad", "NA"], passing=["good"], na="NA")
    jury = llm_jury(prompt=spec, judges=[judge("good", "NA")])
    results = [jury.judge_sync(input="q", output="a") for _ in range(2)]
    assert [(r.value, r.passed, r.status) for r in results] == [
        ("good", True, "decided"),
        ("NA", None, "not_applicable"),
    ]


def test_pass_passes_where_nothing_is_said_and_meanings_are_told(tmp_path):
    spec = load(write(tmp_path, verdicts={"PASS": "all is well", "FAIL": "it is not"}))
    scale = declared_scale(spec)
    assert isinstance(scale, Labels)
    assert (scale.passing, scale.na, "all is well" in scale.describe()) == (("PASS",), None, True)


def test_yes_and_no_are_true_and_false_in_yaml(tmp_path):
    home = write(tmp_path)
    (home / "prompt.md").write_text(f"---\nname: x\nverdicts: [yes, no]\n---\n{TEXT}", "utf-8")
    assert declared_scale(load(home)) == Boolean()


@pytest.mark.parametrize(
    ("meta", "told"),
    [
        ({"verdicts": [1, 2, 3]}, "quote numbers"),
        ({"verdicts": "PASS"}, "a list of texts"),
        ({"verdicts": ["a", "b"], "passing": ["c"]}, "not among labels"),
        ({"verdicts": ["a", "A"]}, "twice"),
        ({"passing": ["a"]}, "need verdicts"),
        ({"verdicts": [True, True]}, "true and false"),
    ],
)
def test_what_cannot_be_meant_is_an_error_when_the_jury_is_made_and_a_problem_of_the_prompt(tmp_path, meta, told):
    spec = load(write(tmp_path, **meta))
    with pytest.raises(ConfigError, match=told):
        llm_jury(prompt=spec, judges=[judge(True)])
    assert [p for p in problems(spec) if told in p]


def test_the_caller_stands_above_the_prompt_and_a_difference_is_told(tmp_path, caplog):
    spec = load(write(tmp_path, verdicts=["good", "bad"], passing=["good"]))
    with caplog.at_level(logging.WARNING):
        assert llm_jury(prompt=spec, judges=[judge()], passing_labels=["bad"]).scale.passing == ("bad",)
        assert llm_jury(prompt=spec, judges=[judge()], scale=Labels(["bad", "good"])).scale.passing == ()
        assert not caplog.records
        assert llm_jury(prompt=spec, judges=[judge()], labels=["x", "y"]).scale.values == ("x", "y")
    assert [r.message for r in caplog.records] == [
        'the prompt refunds declares one of "good", "bad"; the jury is told to ask for one of "x", "y"'
    ]


def test_a_prompt_with_a_rubric_makes_a_rubric_jury():
    scores = {"task_fulfillment": 5, "conciseness": 3, "professional_tone": 1, "formatting": 1}
    jury = llm_jury(prompt=load("critic"), judges=[lambda output: scores])
    result = jury.judge_sync(input="q", output="a")
    assert (result.passed, [c.key for c in result.criteria]) == (True, list(scores))
    with pytest.raises(ConfigError, match="criteria and scales of its own"):
        llm_jury(prompt=load("critic"), criteria="right", judges=[good])


def test_a_rubric_by_path_is_asked_about_with_the_text_of_its_own_prompt(tmp_path, caplog):
    rubric = {"criteria": {"right": {"question": "Is it?", "scale": "1-5"}}}
    home = write(tmp_path, "Mine: {{rubric}}\n" + TEXT, rubric=rubric, kind="rubric")
    jury = llm_jury(rubric=str(home), judges=[judge()])
    assert jury.render(input="q", output="a")["scripted/a"]["user"].startswith("Mine: 1. right")
    assert jury.panel.prompts[0].spec.version == "2"
    shaped = write(tmp_path, "Mine: {{rubric}}\n" + TEXT, name="shaped", rubric={**rubric, "shape": "critic"})
    with caplog.at_level(logging.WARNING):
        each = llm_jury(rubric=str(shaped), ask="each", judges=[judge()])
    assert each.panel.prompts[0].spec.name == "rubric"
    assert "shaped asks for all criteria at once" in caplog.text


@pytest.mark.parametrize(
    ("make", "name", "told"),
    [
        (llm_jury, "policy", "sessions of agents"),
        (llm_jury, "pairwise", "compares two responses"),
        (llm_jury, "rubric", "criteria of a rubric"),
        (llm_jury, "joint-session", "not asked by itself"),
        (llm_jury_pairwise, "critic", "criteria of a rubric"),
        (llm_jury_pairwise, "pointwise", "one answer"),
    ],
)
def test_a_prompt_of_another_kind_is_refused(make, name, told):
    with pytest.raises(ConfigError, match=told):
        make(prompt=load(name), criteria="c", judges=[judge()])


def test_a_transcript_template_is_no_prompt_about_one_answer(tmp_path):
    file = tmp_path / "t.txt"
    file.write_text("Rate {transcript}", "utf-8")
    with pytest.raises(ConfigError, match="sessions of agents"):
        llm_jury(prompt=load(file), judges=[judge()])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{{session.transcript}}", "session"),
        ("{{#session.errors}}x{{/session.errors}}", "session"),
        ("{{response_a.response}}", "pairwise"),
        ("{{output.response}}", "pointwise"),
    ],
)
def test_the_kind_of_a_prompt_that_does_not_say_it_is_in_its_names(text, kind):
    assert kind_of(PromptSpec("x", text)) == kind


def test_name_version_and_digest_are_in_every_judgment(tmp_path):
    spec = load(write(tmp_path))
    jury = llm_jury(prompt=spec, judges=[judge(True), good])
    made = jury.judge_sync(input="q", output="a").to_dict()
    asked, function = (v["judgments"][0] for v in made["votes"])
    assert [asked[k] for k in ("prompt", "prompt_name", "prompt_version")] == [
        jury.panel.prompts[0].digest,  # the shipped system text in it
        "refunds",
        "2",
    ]
    assert not {"prompt", "prompt_name", "prompt_version"} & function.keys()


def test_an_own_system_text_makes_it_a_prompt_without_a_version():
    jury = llm_jury(criteria="c", system_prompt="Be strict.", judges=[judge(True), JudgeSpec("scripted/b")])
    assert [(p.spec.name, p.spec.version) for p in jury.panel.prompts] == [("pointwise", "0")]
    assert llm_jury(criteria="c", judges=[judge()]).panel.prompts[0].spec.version == load("pointwise").version


def test_a_seat_may_have_a_versioned_prompt_of_its_own(tmp_path):
    write(tmp_path, "Strictly: " + TEXT, name="strict")
    (tmp_path / "a.jsonl").write_text('{"input": "q", "output": "a"}\n', "utf-8")
    given = {"data": "a.jsonl", "criteria": "c", "judges": [{"model": "scripted/a", "prompt": "strict"}]}
    jury = RunSpec.from_mapping(given, tmp_path).make_jury()
    spec = jury.panel.seats[0].prompt.spec
    assert (spec.name, spec.version, spec.system) == ("strict", "2", load("pointwise").system)
    with pytest.raises(ConfigError, match="no prompt named 'strikt'"):
        RunSpec.from_mapping({**given, "judges": [{"model": "scripted/a", "prompt": "strikt"}]}, tmp_path)


def test_an_edit_under_an_old_version_is_refused_unless_forced(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"input": "q", "output": "a"}\n', "utf-8")

    def run(force: bool = False) -> None:
        jury = llm_jury(prompt=load(tmp_path / "refunds"), judges=[judge("PASS")])
        run_sync(RunSpec(str(tmp_path / "a.jsonl"), jury, cache=False), tmp_path / "run", force=force)

    write(tmp_path, verdicts=["PASS", "FAIL"])
    run()
    write(tmp_path, "Now: " + TEXT, verdicts=["PASS", "FAIL"])
    with pytest.raises(ConfigError, match="another text of refunds 2"):
        run()
    write(tmp_path, verdicts=["PASS", "FAIL", "NA"])  # the text as it was, another set of verdicts
    with pytest.raises(ConfigError, match="another text of refunds 2"):
        run()
    run(force=True)
    write(tmp_path, verdicts=["PASS", "FAIL", "NA"], version="3")
    run()
    assert {p["version"] for p in Run.open(tmp_path / "run").manifest.prompts.values()} == {"3"}


def test_prompts_kept_without_front_matter_are_compared_by_their_text():
    old = {"d": {"name": "a", "version": "1"}}
    new = {"name": "a", "version": "1", "meta": {"verdicts": ["PASS", "FAIL"]}}
    assert edited(old, {"d": new}) == []
    assert edited({"d": new}, {"d": {**new, "meta": {"verdicts": ["x", "y"]}}}) == ["a 1"]
    assert edited(old, {"e": {**new, "version": "0"}}) == []


def test_the_command_line_takes_the_verdicts_and_tells_the_version(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, verdicts=["good", "bad"], passing=["good"])
    Path("a.jsonl").write_text('{"input": "q", "output": "fine"}\n{"input": "q", "output": "poor"}\n', "utf-8")
    Path("j.py").write_text('def f(output):\n    return "good" if output == "fine" else "bad"\n', "utf-8")
    assert invoke("judge", "a.jsonl", "--prompt", "refunds", "-j", "j.py:f", "-o", "out", "--json") == 0
    summary = json.loads(capsys.readouterr().out)["summary"]
    assert summary["pass_rate"] == 0.5
    assert [(p["name"], p["version"], len(p["digest"])) for p in summary["prompts"]] == [("refunds", "2", 16)]
    assert json.loads(Path("out/summary.json").read_text("utf-8"))["prompts"] == summary["prompts"]
    Path("run.yaml").write_text("data: a.jsonl\nprompt: refunds\njudges: ['j.py:f']\n", "utf-8")
    assert invoke("run", "run.yaml", "-o", "run", "--json") == 0
    assert json.loads(capsys.readouterr().out)["pass_rate"] == 0.5
    with pytest.raises(SystemExit):
        main(["report", "run", "--format", "critic"])
    assert "is for runs with a rubric; this is a pointwise run" in capsys.readouterr().err
    assert invoke("judge", "a.jsonl", "--prompt", "policy", "-j", "j.py:f") == 2
    assert "jury session" in capsys.readouterr().err


@pytest.mark.parametrize("how", ["run", "judge"])
def test_a_run_with_a_rubric_is_reported_in_the_shapes_of_its_seeds(tmp_path, monkeypatch, capfd, how):
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text('{"id": "one", "input": "q", "output": "fine"}\n', "utf-8")
    scores = {"task_fulfillment": 5, "conciseness": 3, "professional_tone": 0, "formatting": 1}
    Path("j.py").write_text(f"def f(output):\n    return {scores}\n", "utf-8")
    Path("run.yaml").write_text("data: a.jsonl\nprompt: critic\njudges: ['j.py:f']\n", "utf-8")
    asked = {"run": ["run", "run.yaml"], "judge": ["judge", "a.jsonl", "--prompt", "critic", "-j", "j.py:f"]}
    assert invoke(*asked[how], "-o", "out") == 0
    capfd.readouterr()
    assert invoke("report", "out", "--format", "critic") == 0
    line = json.loads(capfd.readouterr().out)
    assert (line["id"], line["evaluation_report"]["summary"]["pipeline_status"]) == ("one", "FAIL")
    assert {k: v["score"] for k, v in line["evaluation_report"]["metrics"].items()} == scores
    assert invoke("report", "out", "--format", "rubric", "-o", "r.jsonl") == 0
    line = json.loads(Path("r.jsonl").read_text("utf-8"))
    assert (line["pass"], line["professional_tone"]["score"]) == (False, 0)


ASKED = {"gaps": [{"line": "integer", "what": "string"}], "severe": "boolean"}
FULL = {"explanation": "e", "gaps": [{"line": 3, "what": "no total"}], "severe": True, "abstain": False, "value": False}


def test_fields_of_the_front_matter_are_asked_back_and_kept(tmp_path):
    provider = ScriptedProvider([FULL, {"explanation": "e", "severe": "very", "value": True}])
    seat = JudgeSpec("scripted/a", provider=provider)
    jury = llm_jury(prompt=load(write(tmp_path, fields=ASKED)), judges=[seat])
    told, short = (jury.judge_sync(input="q", output="a").votes[0].verdict for _ in range(2))
    schema = provider.requests[0].schema
    assert schema is not None
    assert list(schema["properties"]) == schema["required"] == ["explanation", "gaps", "severe", "abstain", "value"]
    assert schema["properties"]["gaps"]["items"]["properties"] == {
        "line": {"type": "integer"},
        "what": {"type": "string"},
    }
    assert (told.value, told.fields, told.notes) == (False, {"gaps": FULL["gaps"], "severe": True}, ())
    assert short.value is True  # the verdict decides; what does not fit is noted
    assert short.notes == ("no field gaps", "field severe: expected boolean, got 'very'")


def test_fields_are_asked_of_pairs_too(tmp_path):
    text = "<{{fence}}>{{response_a.output.response}} or {{response_b.output.response}}</{{fence}}>"
    provider = ScriptedProvider([{"explanation": "e", "severe": True, "value": "A"}] * 2)
    spec = load(write(tmp_path, text, kind="pairwise", fields={"severe": "boolean"}))
    llm_jury_pairwise(prompt=spec, judges=[JudgeSpec("scripted/a", provider=provider)]).compare_sync(
        question="q", response_a="x", response_b="y"
    )
    assert all("severe" in (request.schema or {})["required"] for request in provider.requests)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"value": "string"}, "cannot be named value"),
        ({"x": "text"}, "field x: a form is"),
        ([1], "are a mapping"),
        ({" ": "string"}, "without a name"),
    ],
)
def test_fields_that_cannot_be_asked_for_are_told(tmp_path, fields, says):
    spec = load(write(tmp_path, fields=fields))
    assert says in problems(spec)[0]
    with pytest.raises(ConfigError, match=says):
        llm_jury(prompt=spec, judges=[judge(True)])


def test_other_fields_ask_anew_and_a_run_knows_what_was_sent(tmp_path):
    data = [{"input": "q", "output": "a", "id": "1"}]
    texts = []
    for version, fields in (("1", {}), ("2", {"severe": "boolean"}), ("2", {"severe": "boolean"})):
        provider = ScriptedProvider([{"explanation": "e", "severe": True, "value": True}])
        spec = load(write(tmp_path, version=version, fields=fields))
        jury = llm_jury(prompt=spec, judges=[JudgeSpec("scripted/a", provider=provider)])
        run_sync(RunSpec(data=data, jury=jury), tmp_path / "run")
        texts.append(len(provider.requests))
    assert texts == [1, 1, 0]
    run = Run.open(tmp_path / "run")
    (stored,) = run.results()
    (asked,) = asked_of(run, *stored)
    assert asked.judgment.verdict.fields == {"severe": True}
    assert asked.texts is not None
    assert asked.texts.exact


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ([{"rule": 1, "event": "e"}], None),
        ([{"rule": 1, "event": "e", "more": 2}], None),
        ([], None),
        ([{"rule": 1}], "field v: an object without event"),
        ([{"rule": 1, "event": "e"}, {"rule": "1", "event": "e"}], "field v: rule: expected integer, got '1'"),
        ([{"rule": True, "event": "e"}], "field v: rule: expected integer, got True"),
    ],
)
def test_the_parts_of_a_field_are_held_to_their_forms_too(given, note):
    found, notes = formed({"v": given}, {"v": [{"rule": "integer", "event": "string"}]})
    assert found == {"v": given}  # it is kept as it is: the verdict stands
    assert notes == ([note] if note else [])
