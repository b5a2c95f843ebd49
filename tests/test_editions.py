"""Prompts side by side: what is shown of one is what results carry; two versions differ wherever they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jury import JudgeSpec, ScriptedProvider, llm_jury, llm_jury_pairwise, session_jury
from jury.cli.__main__ import main
from jury.prompts import load
from jury.runner import RunSpec, run_sync

ANSWER = "Is it right? {{criteria}}\n<{{fence}} answer>\n{{output.response}}\n</{{fence}}>"
PAIR = "<{{fence}} a>{{response_a.output.response}}</{{fence}}> <{{fence}} b>{{response_b.output.response}}</{{fence}}>"
RUBRIC = {"criteria": [{"key": "clear", "question": "Is it clear?", "scale": "1-5"}], "pass_rule": "clear >= 3"}
MESSAGES = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]


def write(path: Path, text: str, **meta: object) -> str:
    front = f"---\n{json.dumps(meta)}\n---\n" if meta else ""
    path.write_text(f"{front}{text}\n", "utf-8")
    return str(path)


def seat(*replies: Any) -> JudgeSpec:
    return JudgeSpec("scripted/a", provider=ScriptedProvider(list(replies)))


def invoke(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[Any, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def digest_of_pointwise(path: str) -> str | None:
    jury = llm_jury(criteria="c", prompt=load(path), judges=[seat({"value": True})])
    return jury.judge_sync(input="q", output="a").votes[0].judgments[0].prompt


def digest_of_pair(path: str) -> str | None:
    jury = llm_jury_pairwise(prompt=load(path), judges=[seat(*[{"value": "A"}] * 2)])
    return jury.compare_sync(question="q", response_a="x", response_b="y").votes[0].judgments[0].prompt


def digest_of_rubric(path: str) -> str | None:
    jury = llm_jury(prompt=load(path), judges=[seat({"clear": {"evidence": "e", "score": 4}})])
    return jury.judge_sync(input="q", output="a").votes[0].judgments[0].prompt


def digest_of_session(path: str) -> str | None:
    jury = session_jury(path, judges=[seat({"evidence": ["e"], "verdict": "PASS"})])
    return jury.judge_sync(MESSAGES).votes[0].judgments[0].prompt


@pytest.mark.parametrize(
    ("text", "meta", "recorded"),
    [
        (ANSWER, {}, digest_of_pointwise),
        (ANSWER, {"name": "n", "version": "1", "system": "Own words."}, digest_of_pointwise),
        (PAIR, {"name": "n", "version": "1"}, digest_of_pair),
        (f"{{{{rubric}}}}\n{ANSWER}", {"name": "n", "kind": "rubric", "rubric": RUBRIC}, digest_of_rubric),
        ("<{{fence}} s>{{session.transcript}}</{{fence}}>", {"name": "n", "kind": "session"}, digest_of_session),
        ("Judge it: {transcript}\nPASS or FAIL.", {"system": "never sent"}, digest_of_session),
    ],
)
def test_the_digest_that_is_shown_is_the_one_that_results_carry(tmp_path, capsys, text, meta, recorded):
    path = write(tmp_path / "mine.md", text, **meta)
    shown = json.loads(invoke(capsys, "prompts", "show", path, "--json")[1])
    assert shown["digest"] == recorded(path)
    (checked,) = json.loads(invoke(capsys, "prompts", "check", path, "--no-calls", "--json")[1])
    assert checked["digest"] == shown["digest"]


def test_a_system_text_that_is_not_the_prompts_own_is_marked(tmp_path, capsys):
    bare = write(tmp_path / "bare.md", ANSWER)
    out = invoke(capsys, "prompts", "show", bare)[1]
    assert "--- system (the shipped one: this prompt has none) ---" in out
    assert load("pointwise").system in out
    assert "the shipped one" not in invoke(capsys, "prompts", "show", "pointwise")[1]


def judged(tmp_path: Path, name: str, text: str, version: str, *further: JudgeSpec) -> str:
    path = write(tmp_path / "mine.md", text, name="mine", version=version)
    jury = llm_jury(criteria="c", prompt=load(path), judges=[seat({"value": True}), *further])
    run_sync(RunSpec(data=[{"input": "q", "output": "a"}], jury=jury), tmp_path / name)
    return str(tmp_path / name)


def test_two_run_folders_and_a_file_show_what_changed_between_versions(tmp_path, capsys):
    old = judged(tmp_path, "old", ANSWER, "1")
    new = judged(tmp_path, "new", ANSWER.replace("right", "wholly right"), "2")
    code, out, _ = invoke(capsys, "prompts", "diff", old, new)
    assert code == 1
    assert f"--- {old}: mine 1 (" in out
    assert "-Is it right? {{criteria}}\n+Is it wholly right? {{criteria}}" in out
    assert "-version: '1'\n+version: '2'" in out
    assert invoke(capsys, "prompts", "diff", new, str(tmp_path / "mine.md"))[:2] == (0, "")
    found = json.loads(invoke(capsys, "prompts", "diff", str(tmp_path / "mine.md"), old, "--json")[1])
    assert (found["a"]["version"], found["b"]["version"], found["same"]) == ("2", "1", False)
    assert found["a"]["digest"] != found["b"]["digest"]


def test_a_folder_that_holds_two_versions_shows_the_one_its_judges_had_last(tmp_path, capsys):
    runs = judged(tmp_path, "run", ANSWER, "1")
    judged(tmp_path, "run", ANSWER.replace("right", "wrong"), "2")
    assert invoke(capsys, "prompts", "diff", runs, str(tmp_path / "mine.md"))[0] == 0
    judged(tmp_path, "run", ANSWER, "1")  # and back
    assert "Is it wrong?" not in invoke(capsys, "prompts", "diff", runs, str(tmp_path / "mine.md"))[1]


def test_several_prompts_of_runs_are_paired_by_name(tmp_path, capsys):
    strict = load(write(tmp_path / "strict.md", ANSWER.replace("right", "flawless"), name="strict", version="1"))
    second = JudgeSpec("scripted/b", prompt=strict, provider=ScriptedProvider([{"value": True}]))
    both = judged(tmp_path, "both", ANSWER, "1", second)
    one = judged(tmp_path, "one", ANSWER, "1")
    code, out, _ = invoke(capsys, "prompts", "diff", both, one)
    assert code == 1
    assert f"+++ {one}: no prompt strict" in out
    assert f"{one}: mine" not in out  # alike
    assert len(json.loads(invoke(capsys, "prompts", "diff", both, one, "--json")[1])["prompts"]) == 2
    assert invoke(capsys, "prompts", "diff", both, str(tmp_path / "strict.md"))[0] == 0
    code, _, err = invoke(capsys, "prompts", "diff", "tone", both)
    assert code == 2
    assert "holds no prompt named 'tone'; it holds mine, strict" in err


@pytest.mark.parametrize(("text", "meta"), [("{{#a}}", {}), (ANSWER, {"kind": "rubric", "rubric": {"criteria": 3}})])
def test_a_broken_prompt_is_shown_and_its_fault_is_told(tmp_path, capsys, text, meta):
    path = write(tmp_path / "mine.md", text, name="mine", version="1", changelog={"1": "x"}, **meta)
    assert invoke(capsys, "prompts", "show", path)[0] == 0
    code, out, _ = invoke(capsys, "prompts", "check", path, "--no-calls")
    assert (code, "problem:" in out) == (1, True)
