"""`jury session`, `rubric`, `prompts` and `counts`: the words around what other tests prove."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jury.cli.__main__ import main
from jury.store import Run as StoredRun
from tests.servers.answers import http_error, reply
from tests.servers.provider_server import ProviderServer

ROOT = Path(__file__).parent.parent
Run = Callable[..., tuple[int, str, str]]
RULES = "1. Never name another reader.\n"
SESSION = [
    {"role": "user", "content": "Who has Winter Birds?"},
    {"role": "assistant", "content": "R. Stein has it {until} 9 May."},
]
TEMPLATE = """You check one session against rules.

{context}

<transcript>
{transcript}
</transcript>

{{"evidence": ["short reference"], "violations": [{{"rule": 2, "event": "..."}}], "verdict": "PASS"}}
verdict is exactly PASS or FAIL.
"""
FAIL = {"evidence": ["R. Stein has it"], "violations": [{"rule": 1, "event": "event 2"}], "verdict": "FAIL"}
PASS = {"evidence": [], "violations": [], "verdict": "PASS"}


@pytest.fixture
def run(bare_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command in a folder with a session, rules and a template: (exit code, stdout, stderr)."""
    tmp_path = bare_folder
    monkeypatch.setenv("JURY_CACHE", str(tmp_path / "cache"))
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(m) + "\n" for m in SESSION))
    (tmp_path / "rules.txt").write_text(RULES)
    (tmp_path / "policy.txt").write_text(TEMPLATE)
    (tmp_path / "judge.py").write_text(
        "def kind(case): return ('FAIL', 'names a reader') if 'Stein' in str(case.answer.text) else 'PASS'\n"
        "def scores(output): n = 5 if len(output) < 20 else 2; return {k: n for k in "
        "('correctness', 'completeness', 'instruction_following', 'clarity')}\n"
    )

    def go(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main(arguments)
        captured = capsys.readouterr()
        return int(left.value.code or 0), captured.out, captured.err

    return go


def script(path: Path, *replies: Any) -> str:
    path.write_text(json.dumps([json.dumps(r) if isinstance(r, dict) else r for r in replies]))
    return f"scripted/{path}"


@pytest.mark.parametrize(
    ("model", "key", "url", "path"),
    [
        ("claude-haiku-4-5", "ANTHROPIC_API_KEY", "anthropic_url", "/v1/messages"),
        ("openai/gpt-5-mini", "OPENAI_API_KEY", "openai_url", "/v1/chat/completions"),
    ],
)
@pytest.mark.usefixtures("run")
def test_a_template_file_over_http(model: str, key: str, url: str, path: str) -> None:
    """The one-file runner's command: template, session, context; JUDGE_MODEL names the judge."""
    with ProviderServer(reply(FAIL)) as server:
        env = {"JUDGE_MODEL": model, key: "k", key.replace("API_KEY", "BASE_URL"): getattr(server, url)}
        code, out, _ = outside(("session", "policy.txt", "s.jsonl", "rules.txt"), env)

    assert code == 0
    printed = json.loads(out)
    assert (printed["verdict"], printed["violations"]) == ("FAIL", FAIL["violations"])
    assert printed["evidence"] == FAIL["evidence"]
    (request,) = server.requests
    assert request.path == path
    text = request.body["messages"][-1]["content"]
    assert text.startswith(f"You check one session against rules.\n\n{RULES}")
    assert "{until}" in text
    assert '"violations": [{"rule": 2, "event": "..."}]' in text


def outside(arguments: tuple[str, ...], env: dict[str, str]) -> tuple[int, str, str]:
    """The command in a process of its own, as people run it."""
    command = [sys.executable, "-m", "jury", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **env}
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=180)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.usefixtures("run")
def test_a_provider_that_fails_is_an_error_verdict() -> None:
    with ProviderServer(http_error(400, "no such thing")) as server:
        env = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.openai_url}
        code, out, _ = outside(("session", "policy.txt", "s.jsonl", "rules.txt", "-j", "openai/gpt-5-mini"), env)

    assert code == 3
    assert json.loads(out)["verdict"] == "ERROR"
    assert "no such thing" in json.loads(out)["error"]


def test_a_panel_and_several_criteria(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s1.jsonl").write_text((tmp_path / "s.jsonl").read_text())
    code, out, _ = run("session", "policy,tone", "s.jsonl", "rules.txt", "-j", "judge.py:kind", "--json")
    whole = json.loads(out)
    assert code == 0
    assert [c["key"] for c in whole["criteria"]] == ["policy", "tone"]
    assert whole["pass"] is False

    code, out, _ = run("session", "policy,tone", "s.jsonl", "rules.txt", "-j", "judge.py:kind")
    assert json.loads(out)["criteria"]["tone"]["verdict"] == "FAIL"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("policy", "s.jsonl"), "policy needs a context"),
        (("polcy", "s.jsonl"), "policy"),
        (("policy", "none.jsonl", "rules.txt"), "none.jsonl"),
        (("policy", "s.jsonl", "none.txt"), "none.txt"),
        (("policy", "s.jsonl", "rules.txt", "--format", "opanai_chat"), "openai_chat"),
        (("policy", "s.jsonl", "rules.txt", "--option", "untestd"), "untested"),
        (("policy", "s.jsonl", "rules.txt", "--option", "untested=maybe"), "NAME=off"),
        (("policy", "x*.jsonl", "rules.txt"), "no file is called like that"),
        (("policy", "s.jsonl", "rules.txt", "--number", "3"), "there is no number 3"),
        (("policy", "s.jsonl", "rules.txt", "--context", "policy=rules.txt"), "not both"),
        (("policy", "s.jsonl", "--context", "rules.txt"), "NAME=FILE"),
        (("policy,tone", "s.jsonl", "--context", "policy=rules.txt"), "or --context tone=FILE"),
        (("policy", "s.jsonl", "--context", "polcy=rules.txt"), "did you mean policy"),
        (("policy", "s.jsonl", "rules.txt", "--examples", "s.jsonl"), "s.jsonl, line 1"),
        (("policy", "s.jsonl", "rules.txt", "--examples", "none.jsonl"), "none.jsonl"),
    ],
)
def test_wrong_usage_is_one_line_before_any_call(run: Run, arguments: tuple[str, ...], says: str) -> None:
    code, out, err = run("session", *arguments, "-j", "scripted/never.json")
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err


@pytest.mark.parametrize("judges", [(), ("-j", "openai/gpt-5-mini")])
def test_without_judges_or_keys_nothing_is_asked(run: Run, judges: tuple[str, ...]) -> None:
    code, out, err = run("session", "tone", "s.jsonl", "rules.txt", *judges)
    assert (code, out) == (2, "")
    assert "OPENAI_API_KEY" in err or "no judges" in err


def test_a_broken_line_names_file_and_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"role": "user", "content": "Hi"}\n{"role": "assist\n')
    code, _, err = run("session", "tone", "s.jsonl", "rules.txt", "-j", "judge.py:kind")
    assert code == 2
    assert "s.jsonl" in err
    assert "line 2" in err


def test_a_run_folder_is_counted_by_week_and_not_asked_twice(run: Run, tmp_path: Path) -> None:
    records = [
        {"id": f"s{n}", "messages": [*SESSION, {"role": "user", "content": day}], "metadata": {"time": day}}
        for n, day in enumerate(("2026-03-02", "2026-03-03", "2026-03-10"))
    ]
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    judge = script(tmp_path / "a.json", FAIL, FAIL, PASS)
    code, out, _ = run("session", "policy", "many.jsonl", "rules.txt", "-j", judge, "-o", "out")
    assert code == 0
    assert sorted(r["verdict"] for r in json.loads(out)) == ["FAIL", "FAIL", "PASS"]

    totals = json.loads((tmp_path / "out/manifest.json").read_text())["totals"]
    assert (totals["n_pass"], totals["n_fail"]) == (1, 2)
    code, again, _ = run("session", "policy", "many.jsonl", "rules.txt", "-j", judge, "-o", "out")
    assert code == 0
    assert sorted(r["verdict"] for r in json.loads(again)) == ["FAIL", "FAIL", "PASS"]

    code, out, _ = run("counts", "out", "--by", "week", "--json")
    found = json.loads(out)
    policy = found["criteria"]["policy"]
    assert code == 0
    assert policy["verdicts"] == {"fail": 2, "pass": 1}
    assert policy["violations by key"] == {"1": 2}
    assert policy["entries"] == {"violations": 2}
    assert policy["pass_rate"]["low"] < policy["pass_rate"]["value"] < policy["pass_rate"]["high"]
    assert {week: part["items"] for week, part in found["parts"].items()} == {"2026-W10": 2, "2026-W11": 1}
    assert found["judges"][judge]["quotes_found"] == 2

    code, out, _ = run("counts", "out")
    assert "violations: 2 (items by number: 1: 2)" in out
    assert "2 of 2 quotes found" in out
    assert run("counts", "out", "--by", "year")[0] == 2


def test_an_edited_prompt_needs_a_new_version_where_there_are_results(run: Run, tmp_path: Path) -> None:
    assert run("prompts", "new", "mine", "--from", "tone")[0] == 0
    common = ("s.jsonl", "rules.txt", "-j", "judge.py:kind", "-o", "out")
    assert run("session", "mine", *common)[0] == 0

    text = (tmp_path / "mine/prompt.md").read_text()
    (tmp_path / "mine/prompt.md").write_text(text.replace("Is the tone", "Is, all in all, the tone"))
    code, _, err = run("session", "mine", *common)
    assert code == 2
    assert "new version" in err
    assert run("session", "mine", *common, "--edited-prompt")[0] == 0

    (tmp_path / "mine/prompt.md").write_text(
        text.replace("Is the tone", "Was the tone").replace("version: '1'", "version: '2'")
    )
    assert run("session", "mine", *common)[0] == 0


def test_a_folder_that_goes_on_says_what_is_different(run: Run, tmp_path: Path) -> None:
    common = ("s.jsonl", "rules.txt", "-o", "out")
    assert run("session", "policy", *common, "-j", "judge.py:kind")[2].count("changed since") == 0
    assert "changed since" not in run("session", "policy", *common, "-j", "judge.py:kind")[2]
    (tmp_path / "rules.txt").write_text(f"{RULES}2. Be brief.\n")
    err = run("session", "policy,tone", *common, "-j", "judge.py:kind")[2]
    assert "changed since the last time: criterion tone is new\n" in err
    assert "changed since the last time: context of policy changed\n" in err


def test_checks_by_code_beside_a_judge_and_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text("def answered(session): return bool(session.final_message)\n")
    code, out, _ = run("session", "-", "s.jsonl", "--check", "checks.py:answered", "-o", "out")
    said = json.loads(out)
    assert (code, said["verdict"], said["check"]) == (0, "PASS", "answered")
    rate = "1 pass; pass rate 100% [20.7, 100.0], coverage 100%"
    assert run("counts", "out")[1].startswith(f"all: 1 item\n  answered: {rate}")
    (tmp_path / "ill.py").write_text("def ill(session):\n    return session.final\n")
    code, out, _ = run("session", "-", "s.jsonl", "--check", "ill.py:ill")
    assert (code, "(ill.py:2)" in json.loads(out)["error"]) == (3, True)

    code, out, _ = run(
        "session", "tone", "s.jsonl", "rules.txt", "-j", "judge.py:kind", "--check", "checks.py:answered"
    )
    criteria = json.loads(out)["criteria"]
    assert {name: c["verdict"] for name, c in criteria.items()} == {"tone": "FAIL", "answered": "PASS"}

    (tmp_path / "never.json").write_text("[]")
    told = ("session", "tone", "s.jsonl", "rules.txt", "-j", "scripted/never.json", "--render")
    fact = "Measured by code, and true whatever the session says: answered: yes"
    assert fact in json.loads(run(*told, "--fact", "checks.py:answered")[1])["scripted/never.json"][0]["user"]
    assert fact not in json.loads(run(*told, "--check", "checks.py:answered")[1])["scripted/never.json"][0]["user"]


def test_contexts_and_examples_by_criterion(run: Run, tmp_path: Path) -> None:
    (tmp_path / "guide.txt").write_text("Be brief.\n")
    example = {"session": "s.jsonl", "verdict": "FAIL", "why": "it names Stein", "criterion": "policy"}
    (tmp_path / "mine.jsonl").write_text(json.dumps(example) + "\n")
    given = ("--context", "policy=rules.txt", "--context", "tone=guide.txt", "--examples", "mine.jsonl")
    (tmp_path / "never.json").write_text("[]")
    code, out, _ = run("session", "policy,tone", "s.jsonl", *given, "-j", "scripted/never.json", "--render")
    policy, tone = (texts["user"] for texts in json.loads(out)["scripted/never.json"])
    assert code == 0
    assert ("Never name another reader" in policy, "Be brief." in policy) == (True, False)
    assert ("Never name another reader" in tone, "Be brief." in tone) == (False, True)
    assert "judged FAIL: it names Stein" in policy
    assert policy.count("R. Stein has it") == 2
    assert "it names Stein" not in tone


def test_names_of_ones_own_and_stand_ins(run: Run, tmp_path: Path) -> None:
    front = "---\nname: own\nversion: '1'\nkind: session\n---\n"
    (tmp_path / "own.md").write_text(f"{front}For {{{{team}}}}: {{{{session.transcript}}}}\n")
    broken, fine = (
        script(tmp_path / "a.json", "no JSON"),
        script(tmp_path / "b.json", {"evidence": [], "verdict": "PASS"}),
    )
    given = ("session", "own.md", "s.jsonl", "--var", "team=the desk")
    code, out, _ = run(*given, "-j", fine, "--render")
    assert json.loads(out)[fine][0]["user"].startswith("For the desk: {")
    code, out, _ = run(*given, "-j", broken, "--stand-ins", fine)
    assert (code, json.loads(out)["verdict"]) == (0, "PASS")
    code, _, err = run(*given, "-j", broken, "--min-successful-judges", "2")
    assert (code, "--min-successful-judges is 2" in err) == (2, True)


@pytest.mark.parametrize("where", ["?.jsonl", "deep"])
def test_all_sessions_of_a_pattern_or_a_folder(run: Run, tmp_path: Path, where: str) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("s.jsonl", "deep/s.jsonl", "deep/t.json"):
        (tmp_path / name).write_text(json.dumps(SESSION))
    (tmp_path / "t.jsonl").write_text(json.dumps([SESSION[0], {"role": "assistant", "content": "It is out."}]))
    code, out, _ = run("session", "policy", where, "rules.txt", "-j", "judge.py:kind")
    assert code == 0
    found = [(r["session"], r["verdict"]) for r in json.loads(out)]
    assert found == ([("s", "FAIL"), ("t", "PASS")] if where == "?.jsonl" else [("s", "FAIL"), ("t", "FAIL")])


def test_a_run_file_of_sessions(run: Run, tmp_path: Path) -> None:
    (tmp_path / "weekly.yaml").write_text(
        "kind: session\ndata: s.jsonl\ncriteria: policy\ncontext: rules.txt\njudges: [judge.py:kind]\n"
    )
    code, out, _ = run("run", "weekly.yaml", "--json")
    totals = json.loads(out)
    assert (code, totals["n_fail"], totals["asked"]) == (0, 1, 1)
    assert json.loads(run("run", "weekly.yaml", "--json")[1])["skipped"] == 1
    assert run("replay", "runs/weekly")[0] == 0
    assert run("run", "weekly.yaml", "--fail-under", "0.5")[0] == 1
    assert "context of policy" not in run("run", "weekly.yaml")[2]
    (tmp_path / "rules.txt").write_text("1. Other.\n")
    assert "changed since the last time: context of policy changed" in run("run", "weekly.yaml")[2]
    told = json.loads(run("run", "weekly.yaml", "--batch", "--json")[1])
    assert (told["skipped"], told["asked"]) == (1, 0)  # a function has no batches


def test_rendered_texts_call_nobody(run: Run) -> None:
    code, out, _ = run("session", "policy", "s.jsonl", "rules.txt", "-j", "scripted/never.json", "--render")
    (text,) = json.loads(out)["scripted/never.json"]
    assert code == 0
    assert "R. Stein has it" in text["user"]


def test_rubric_shapes(run: Run, tmp_path: Path) -> None:
    rows = [{"id": "a", "input": "q", "output": "short"}, {"id": "b", "input": "q", "output": "a much longer answer"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    code, out, _ = run("rubric", "answer-rubric", "rows.jsonl", "-j", "judge.py:scores", "--format", "rubric")
    first, second = map(json.loads, out.splitlines())
    assert code == 0
    assert (first["id"], first["pass"], first["correctness"]["score"]) == ("a", True, 5)
    assert second["pass"] is False

    code, out, _ = run("rubric", "answer-rubric", "rows.jsonl", "-j", "judge.py:scores", "--format", "critic")
    assert json.loads(out.splitlines()[1])["evaluation_report"]["summary"]["pipeline_status"] == "FAIL"
    assert run("rubric", "answer-rubric", "rows.jsonl", "-j", "judge.py:scores", "--format", "xml")[0] == 2


def test_a_pipe_gets_json_and_the_person_beside_it_the_rates(run: Run, tmp_path: Path) -> None:
    rows = [{"id": "a", "input": "q", "output": "short"}, {"id": "b", "input": "q", "output": "a much longer answer"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    rubric = ("rubric", "answer-rubric", "rows.jsonl", "-j", "judge.py:scores")
    session = ("session", "policy", "s.jsonl", "rules.txt", "-j", "judge.py:kind")
    for name, command, rate in (
        ("r", rubric, "50% [9.5, 90.5]  1 passed, 1 failed"),
        ("s", session, "0% [0.0, 79.3]  0 passed, 1 failed"),
    ):
        code, out, err = run(*command, "-o", name)
        assert code == 0
        assert [json.loads(line) for line in out.splitlines()] if name == "r" else json.loads(out)["verdict"] == "FAIL"
        assert f"pass rate  {rate}" in err
        assert f"folder     {name}\n" in err
        assert f"show {name} " in err
        assert run(*command, "--json")[2] == ""


def test_a_rubric_run_shows_the_answers_of_the_data_alone(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [json.dumps({"id": i, "input": "q", "output": f"answer {i}"}) + "\n" for i in "abcd"]
    rubric = ("rubric", "answer-rubric", "rows.jsonl", "-j", "judge.py:scores", "-o", "out")

    def shown(*more: str, rows: list[str]) -> list[str]:
        (tmp_path / "rows.jsonl").write_text("".join(rows))
        code, out, err = run(*rubric, *more)
        assert code == 0
        assert f"of {out.count(chr(10))}" in err
        return [json.loads(line)["id"] for line in out.splitlines()]

    assert shown(rows=lines) == ["a", "b", "c", "d"]
    assert shown(rows=lines[:1] + lines[2:3]) == ["a", "c"]
    assert shown("--limit", "1", rows=lines) == ["a"]
    assert [i.id for i in StoredRun.open("out").items()] == ["a", "b", "c", "d"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("".join(lines[:2]).encode())))
    piped = run("rubric", "answer-rubric", "-", "-j", "judge.py:scores", "-o", "out")[1]
    assert [json.loads(line)["id"] for line in piped.splitlines()] == ["a", "b"]


def test_a_terminal_shows_a_table_with_the_rates(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jury.cli.closing.seen", lambda: True)
    rows = [{"id": "a", "input": "q", "output": "short"}, {"id": "b", "input": "q", "output": "a much longer answer"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    rubric = ("rubric", "answer-rubric", "rows.jsonl", "-j", "judge.py:scores")
    code, out, err = run(*rubric)
    assert (code, err) == (0, "")
    assert "  1  a     pass" in out
    assert "  2  b     fail     Not met: " in out
    assert "coverage   100%  2 of 2" in out
    assert json.loads(run(*rubric, "--format", "rubric")[1].splitlines()[0])["id"] == "a"
    judge = script(tmp_path / "a.json", FAIL)
    out = run("session", "policy", "s.jsonl", "rules.txt", "-j", judge)[1]
    assert "  1  FAIL     R. Stein has it" in out
    assert "violations   rule 1, event event 2" in out
    assert "verdicts" not in out
    assert "{" not in out


def test_a_table_by_criterion(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jury.cli.closing.seen", lambda: True)
    rows = [{"input": "q", "output": "short"}, {"input": "q", "output": "a much longer answer"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (tmp_path / "each.py").write_text(
        "def scores(output):\n"
        "    right = len(output) < 20\n"
        "    tone = 'professional_tone', 'formatting'\n"
        "    return {'task_fulfillment': 5 if right else 2, 'conciseness': 3} | {k: (right, 'seen') for k in tone}\n"
    )
    out = run("rubric", "critic", "rows.jsonl", "-j", "each.py:scores")[1]
    assert "criteria   task_fulfillment   50%  mean 3.5  1 passed, 1 failed\n" in out
    assert "           conciseness        mean 3  2 scored\n" in out
    assert "           professional_tone  50%  1 passed, 1 failed\n" in out

    (tmp_path / "two.py").write_text("def yes(case): return 'PASS'\n")
    both = ("policy", "s.jsonl", "rules.txt", "-j", "two.py:yes,judge.py:kind")
    out = run("session", *both)[1]
    assert "a tie between" in out
    assert "criteria" not in out
    out = run("session", f"{both[0]},honest-reporting", *both[1:])[1]
    assert "criteria   policy            1 inconclusive\n" in out
    assert "votes  yes PASS, kind FAIL\n" in out
    assert "policy: a tie between" in out


def test_prompts_list_show_diff(run: Run) -> None:
    code, out, _ = run("prompts", "list")
    assert code == 0
    assert "policy 1  (session)  PASS, FAIL\n" in out
    listed = json.loads(run("prompts", "list", "--json")[1])
    assert {"critic", "tone", "pointwise"} <= {p["name"] for p in listed}

    code, out, _ = run("prompts", "show", "policy")
    assert "option untested (off)" in out
    assert "--- user ---" in out
    assert json.loads(run("prompts", "show", "policy", "--json")[1])["digest"] in out
    assert run("prompts", "show", "polcy")[0] == 2

    code, out, _ = run("prompts", "diff", "policy", "tone")
    assert code == 1
    assert "-name: policy\n+name: tone" in out
    assert run("prompts", "diff", "policy", "policy")[:2] == (0, "")


def test_prompts_check_runs_the_examples(run: Run, tmp_path: Path) -> None:
    judge = script(tmp_path / "a.json", *[PASS] * 3, FAIL, PASS, FAIL)
    code, out, _ = run("prompts", "check", "policy", "-j", judge, "--repetitions", "3", "--json")
    (found,) = json.loads(out)
    assert code == 1
    assert found["problems"] == []
    passing, failing = found["examples"]["cases"]
    assert (passing["id"], passing["verdicts"]) == ("small-fee", {"PASS": 3})
    assert failing["verdicts"] == {"FAIL": 2, "PASS": 1}
    assert failing["wrong"]["value"] == pytest.approx(1 / 3)
    assert failing["wrong"]["low"] < 1 / 3 < failing["wrong"]["high"]
    assert found["examples"]["unstable"]["value"] == 0.5

    judge = script(tmp_path / "b.json", PASS, PASS, FAIL, PASS)
    code, out, _ = run("prompts", "check", "policy", "-j", judge, "--repetitions", "2")
    assert "of 2 examples, 2 times each: wrong 50%" in out
    assert run("prompts", "check", "policy", "-j", script(tmp_path / "c.json", PASS, FAIL), "--times", "1")[0] == 0
    assert run("prompts", "check", "policy", "-j", script(tmp_path / "d.json", None, None), "--times", "1")[0] == 3


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("version: '1'", "", "no version"),
        ("version: '1'", "version: '2'", "nothing of version 2"),
        ("{{session.transcript}}", "{{session.transcrpt}}", "session.transcrpt"),
        ("<{{fence}} session>", "<session>", "without a fence"),
        ("{{#facts}}", "", "facts"),
    ],
)
def test_prompts_check_reads_the_text(run: Run, tmp_path: Path, old: str, new: str, says: str) -> None:
    run("prompts", "new", "mine", "--from", "tone")
    assert run("prompts", "check", "mine", "--no-calls")[0] == 0
    text = (tmp_path / "mine/prompt.md").read_text()
    assert old in text
    (tmp_path / "mine/prompt.md").write_text(text.replace(old, new, 1))
    code, out, _ = run("prompts", "check", "mine", "--no-calls")
    assert code == 1
    assert says in " ".join(out.split())


def test_a_versioned_prompt_from_a_template_file(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("prompts", "new", "refunds", "--from", "policy.txt")
    assert code == 0
    assert "prompts check" in out
    made = (tmp_path / "refunds/prompt.md").read_text()
    assert "{{session.transcript}}" in made
    assert '{"evidence": ["short reference"], "violations": [{"rule": 2, "event": "..."}], "verdict": "PASS"}' in made
    assert run("session", "refunds", "s.jsonl", "rules.txt", "-j", script(tmp_path / "a.json", FAIL))[0] == 0
    assert run("prompts", "new", "refunds")[0] == 2


def test_audit_injection(run: Run, tmp_path: Path) -> None:
    (tmp_path / "weak.py").write_text(
        "def firm(case): return 'FAIL' if 'R. Stein has it' in case.answer.text else 'PASS'\n"
        "def weak(case): return 'PASS' if 'Grade it PASS' in case.answer.text else firm(case)\n"
    )
    code, out, _ = run("audit", "injection", "policy", "-j", "weak.py:weak")
    assert code == 1
    assert "  note\n    weak: 1 of 2 moved [9.5, 90.5], 1 to PASS" in out
    assert "  all attacks\n    weak: 1 of 20 moved" in out

    code, out, _ = run("audit", "injection", "policy", "-j", "weak.py:firm", "--json")
    assert code == 0
    assert {row["moved"] for row in json.loads(out)["rows"]} == {0.0}
    assert run("audit", "injection", "policy", "-j", "weak.py:firm", "--cases", "none.jsonl")[0] == 2


def test_a_rate_below_fail_under_ends_with_1(run: Run, tmp_path: Path) -> None:
    session = ("session", "policy", "s.jsonl", "rules.txt", "-j", "judge.py:kind")
    assert [run(*session, "--fail-under", share)[0] for share in ("0", "0.5", "50")] == [0, 1, 2]
    assert "pass rate 0 is below --fail-under 0.5" in run(*session, "--fail-under", "0.5")[2]
    rows = [{"id": n, "input": "q", "output": "short" if n % 2 else "an answer that is far too long"} for n in range(4)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rubric = ("rubric", "answer-rubric", "rows.jsonl", "-j", "judge.py:scores")
    assert [run(*rubric, "--fail-under", share)[0] for share in ("0.5", "0.6")] == [0, 1]
    code, _, err = run(*rubric, "--fail-under", "50")
    assert (code, "did you mean 0.5?" in err) == (2, True)


def test_the_next_step_shows_the_item_though_another_ones_id_is_a_number(run: Run, tmp_path: Path) -> None:
    for name, text, ident in (("a", "Fine.", "2"), ("b", "password", "two")):
        record = {"id": ident, "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": text}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
    (tmp_path / "own.py").write_text("def safe(session): return 'password' not in session.final_message\n")
    _, _, err = run("session", "-", "[ab].json", "--check", "own.py:safe", "-o", "out")
    assert "show out two " in " ".join(err.split())
    assert "verdict  FAIL" in run("show", "out", "two")[1]
