"""Prompts of session runs made again from the run folder: byte for byte what the provider got."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jury import JudgeSpec, ScriptedProvider, code_check, session_jury
from jury.cli.prompt_view import asked_of
from jury.report.facts import facts
from jury.runner import RunSpec, run_sync
from jury.runner.replay import replay
from jury.store import Run
from jury.store.shown import SHOWN

RULES = "1. Never name {{another}} reader.\n"
TALK = [
    {"role": "user", "content": "Who has 'Winter Birds'? <é {{context}}>"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"t": "birds"}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "R. Stein until 9 May\nshelf 3"},
    {"role": "assistant", "content": "R. Stein has it."},
]
LONG = [
    TALK[0],
    *({"role": r, "content": f"{n}. " + "said " * 80} for n in range(30) for r in ("assistant", "user")),
    TALK[-1],
]
LEGACY = 'Rules: {context}\n\n{transcript}\n\n{{"evidence": ["reference"], "verdict": "PASS"}}\nPASS or FAIL.\n'
OWN = "---\nname: own\nversion: '1'\nkind: session\n---\nFor {{team}}: {{output.response}} {{session.events}}\n"


def recorded(tmp_path: Path, criteria: Any, data: Any = None, **options: Any) -> tuple[Run, ScriptedProvider]:
    provider = ScriptedProvider(lambda request: "{}" if "broken" in request.model else '{"verdict": "PASS"}')
    judges = [
        JudgeSpec("scripted/a", provider=provider, id="first", settings={"temperature": 0.5}),
        JudgeSpec("scripted/broken", provider=provider, id="second"),
        JudgeSpec(function=lambda case: "PASS", id="code"),
    ]
    given = {"context": RULES, "retries": 0, "reask": 0, **options}
    jury = session_jury(criteria, judges=judges, **given)
    sessions = data or [{"session": TALK, "id": "short"}, {"session": [*TALK, *TALK], "id": "twice"}]
    run_sync(RunSpec(sessions, jury, kind="session"), tmp_path / "run")
    return Run.open(tmp_path / "run"), provider


def sent(provider: ScriptedProvider) -> set[tuple[str, str, str]]:
    return {(r.judge or "", r.system, r.turns[0].text) for r in provider.requests}


def shown(run: Run) -> set[tuple[str, str, str]]:
    """(judge, system, user) as `jury show --prompt` tells them, each said to be exact."""
    made = set[tuple[str, str, str]]()
    for item, result in run.results():
        for one in asked_of(run, item, result):
            assert (one.texts is None) == (one.judgment.judge == "code")
            if one.texts is not None:
                assert one.texts.exact, one.who
                made.add((one.judgment.judge, one.texts.system, one.texts.user))
    return made


def answered(session: Any) -> bool:
    return bool(session.final_message)


EXAMPLE = {"criterion": "policy", "verdict": "FAIL", "why": "it names <Stein>", "session": TALK}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ask": "together"},
        {"examples": [EXAMPLE], "checks": [code_check("answered", answered, fact=True)], "repetitions": 2},
        {"context": {"policy": RULES, "tone": "Be kind."}, "prompts": None},
    ],
    ids=["each", "together", "examples and facts", "context by criterion"],
)
def test_prompts_are_those_that_were_sent(tmp_path: Path, options: dict[str, Any]) -> None:
    options.pop("prompts", None)
    run, provider = recorded(tmp_path, ["policy", "tone"], **options)
    assert len(sent(provider)) > 3
    assert shown(run) == sent(provider)


@pytest.mark.parametrize("long", ["fit", "windows"])
def test_cut_sessions_and_parts_of_sessions(tmp_path: Path, long: str) -> None:
    run, provider = recorded(tmp_path, "policy", [{"session": LONG, "id": "long"}], long=long, session_tokens=1500)
    asked = sent(provider)
    assert len({user for _, _, user in asked}) == (1 if long == "fit" else len(asked) // 2)
    assert len(asked) == 2 or long == "windows"
    assert shown(run) == asked
    report = {(one.user, one.exact) for item in facts(run).items for one in item.asked}
    assert report == {(user, True) for _, _, user in asked}


def test_prompts_of_ones_own_and_templates_in_the_format_style(tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text(OWN)
    (tmp_path / "legacy.txt").write_text(LEGACY)
    criteria = [tmp_path / "own.md", tmp_path / "legacy.txt"]
    run, provider = recorded(tmp_path, criteria, variables={"team": ["desk", {"n": 1}]})
    assert shown(run) == sent(provider)


def test_values_are_kept_once_however_many_judges_and_criteria(tmp_path: Path) -> None:
    run, _ = recorded(tmp_path, ["policy", "tone", "tool-use"], [{"session": LONG, "id": "long"}], repetitions=3)
    text = (run.folder / SHOWN).read_text()
    assert text.count("29. said said") == 2  # the assistant's and the user's
    assert run.damage() == []
    assert replay(run.folder).same
    size = len(text)
    run_sync(RunSpec([{"session": LONG, "id": "long"}], _again(3), kind="session"), run.folder)
    assert len((run.folder / SHOWN).read_text()) == size  # nothing new to keep
    (run.folder / SHOWN).write_text(text.replace("29. said", "29. SAID"))
    assert any(SHOWN in place for place in Run.open(run.folder).damage())


def _again(repetitions: int) -> Any:
    provider = ScriptedProvider(lambda request: '{"verdict": "PASS"}')
    judges = [JudgeSpec("scripted/a", provider=provider, id="first", settings={"temperature": 0.5})]
    given: dict[str, Any] = {"context": RULES, "retries": 0, "reask": 0, "repetitions": repetitions}
    return session_jury(["policy", "tone", "tool-use"], judges=judges, **given)


def test_a_line_that_a_kill_cut_short_is_written_again(tmp_path: Path) -> None:
    run, _ = recorded(tmp_path, "policy", [{"session": TALK, "id": "short"}])
    path = run.folder / SHOWN
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])  # the names; the values stand before them
    (run.folder / "results.jsonl").unlink()
    run, provider = recorded(tmp_path, "policy", [{"session": TALK, "id": "short"}])
    assert path.read_bytes() == whole
    assert not any(r.judge == "first" for r in provider.requests)  # recalled, and its prompt is shown all the same
    assert {judge for judge, _, _ in shown(run)} == {"first", "second"}


def test_folders_of_older_versions_show_the_template(tmp_path: Path) -> None:
    run, _ = recorded(tmp_path, "policy", [{"session": TALK, "id": "short"}])
    (run.folder / SHOWN).unlink()
    manifest = json.loads((run.folder / "manifest.json").read_text())
    del manifest["heads"][SHOWN]
    (run.folder / "manifest.json").write_text(json.dumps(manifest))
    run = Run.open(run.folder)
    assert run.damage() == []
    item, result = next(run.results())
    texts = [one.texts for one in asked_of(run, item, result) if one.texts is not None]
    assert {(t.filled, t.exact, "{{session.transcript}}" in t.user) for t in texts} == {(False, False, True)}
