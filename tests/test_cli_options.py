"""Options of the command line: one value is given once, a list may come in parts, errors name what was typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from jury.cli import app
from jury.cli.functions import load_function
from tests.command import jury

CHECKS = "def ok(output):\n    return True\n\n\ndef first(response_a):\n    return 'A'\n"
POINTWISE = ("judge", "rows.jsonl", "-c", "c", "-j", "checks.py:ok")


@pytest.fixture
def home(bare_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path = bare_folder
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "checks.py").write_text(CHECKS)
    (tmp_path / "rows.jsonl").write_text('{"input": "q", "output": "a"}\n')
    (tmp_path / "session.json").write_text('[{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]')
    (tmp_path / "run.yaml").write_text('{"data": "rows.jsonl", "criteria": "c", "judges": ["checks.py:ok"]}')
    return tmp_path


@pytest.mark.parametrize("budget", ["-1", "nan", "inf"])
@pytest.mark.usefixtures("home")
def test_a_budget_that_is_none_is_told_by_its_option(capsys: pytest.CaptureFixture[str], budget: str) -> None:
    commands = [
        POINTWISE,
        (*POINTWISE, "-o", "out", "--overwrite"),
        (*POINTWISE, "--estimate"),
        ("run", "run.yaml"),
        ("session", "tone", "session.json", "-j", "checks.py:ok"),
        ("stability", "r", "--ask", "2"),
        ("rank", "r"),
    ]
    for command in commands:
        code, _, err = jury(capsys, *command, "--budget", budget)
        assert (code, err) == (2, f"error: --budget must be an amount of US dollars from 0, got {budget}\n")


@pytest.mark.parametrize("value", ["-1", "nan", "2"])
@pytest.mark.usefixtures("home")
def test_a_share_or_a_level_that_is_none_is_told_by_its_option(capsys: pytest.CaptureFixture[str], value: str) -> None:
    rubric = ("rubric", "answer-rubric", "rows.jsonl", "-j", "checks.py:ok")
    gates = (("gate", "r"), ("run", "run.yaml"), POINTWISE)
    for command in (*((*gate, "--min-coverage") for gate in gates), (*rubric, "--fail-under")):
        code, _, err = jury(capsys, *command, value)
        assert (code, err.startswith(f"error: {command[-1]} is a share from 0 to 1, got {value}")) == (2, True)
    for command in (("diff", "r", "s", "--level"), ("gate", "r", "--level"), ("drift", "r", "s", "--alpha")):
        code, _, err = jury(capsys, *command, value)
        assert (code, err) == (2, f"error: {command[-1]} lies between 0 and 1, got {value}\n")


@pytest.mark.usefixtures("home")
def test_which_session_and_how_sure_are_told_by_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    number = ("session", "tone", "session.json", "-j", "checks.py:ok", "--number")
    assert jury(capsys, *number, "0")[2] == "error: --number must be a whole number from 1, got 0\n"
    assert "holds 1 session; there is no number 3" in jury(capsys, *number, "3")[2]
    assert jury(capsys, "label", "r", "--precision", "2")[2].startswith("error: --precision is a half-width between 0")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((*POINTWISE, "-c", "another"), "--criteria/-c"),
        ((*POINTWISE, "--prompt=a.md", "--prompt", "b.md"), "--prompt"),
        ((*POINTWISE, "--limit", "1", "--limit", "1"), "--limit"),
        (("compare", "rows.jsonl", "--swap", "--no-swap"), "--swap"),
        (("run", "run.yaml", "-o", "a", "--output", "b"), "-o/--output"),
        (("session", "tone", "session.json", "--ask", "each", "--ask", "together"), "--ask"),
        (("prompts", "check", "tone", "--no-calls", "--repetitions", "2", "--repetitions", "3"), "--repetitions"),
        (("audit", "injection", "tone", "--cases", "a", "--cases", "b"), "--cases"),
    ],
)
def test_an_option_of_one_value_is_given_once(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], named: str
) -> None:
    code, out, err = jury(capsys, *arguments)
    assert (code, out) == (2, "")
    assert f"{named} takes one value, and is given 2 times." in err


def test_lists_add_up_and_a_switch_may_be_said_twice(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "more.py").write_text("def never(output):\n    return False\n")
    code, out, _ = jury(capsys, *POINTWISE, "-j", "more.py:never", "--var", "a=1", "--var", "b=2", "--json", "--json")
    assert code == 3  # one against one
    assert json.loads(out)["summary"]["judges"] == ["ok", "never"]


def test_every_list_says_so(home: Path) -> None:
    for name in app.COMMANDS:
        group: Any = get_command(app.make([name]))
        for command in leaves(group.commands[name]):
            for option in command.params:
                if option.param_type_name == "option" and option.multiple:
                    words = " ".join(option.help.casefold().split())
                    assert "repeatable" in words or "several times" in words, (name, option.opts)


def test_every_value_has_a_name_in_the_help() -> None:
    for name in app.COMMANDS:
        group: Any = get_command(app.make([name]))
        for command in leaves(group.commands[name]):
            for option in command.params:
                if option.param_type_name == "argument" or not option.is_flag:
                    assert option.metavar, (name, option.opts)


def leaves(command: Any) -> list[Any]:
    return (
        [leaf for c in command.commands.values() for leaf in leaves(c)] if hasattr(command, "commands") else [command]
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((*POINTWISE, "--concurrency", "0"), "--concurrency must be a whole number from 1, got 0"),
        ((*POINTWISE, "--repetitions", "0"), "--repetitions must be a whole number from 1, got 0"),
        ((*POINTWISE, "--min-successful-judges", "5"), "--min-successful-judges is 5, but the panel has 1 judge"),
        ((*POINTWISE, "--timeout", "1e12"), "--timeout must be above 0 and at most 10,000,000 seconds"),
        ((*POINTWISE, "--timeout", "0"), "--timeout must be above 0"),
        ((*POINTWISE, "--range", "5-1"), "--range must rise"),
        ((*POINTWISE, "--range", "1-5", "--threshold", "7"), "--threshold 7.0 lies outside --range"),
        ((*POINTWISE, "--labels", "a,b", "--passing", "c"), "--passing holds 'c'"),
        ((*POINTWISE, "--var", "criteria=1"), "--var: criteria: a documented name"),
        ((*POINTWISE, "--limit", "0"), "--limit must be a whole number from 1, got 0"),
        (("compare", "rows.jsonl", "-j", "checks.py:first", "--concurrency", "-1"), "--concurrency must be"),
        (("run", "run.yaml", "--concurrency", "0"), "error: --concurrency must be"),
        (("run", "run.yaml", "--limit", "0"), "error: --limit must be"),
        (("rubric", "answer-rubric", "rows.jsonl", "-j", "checks.py:ok", "--limit", "-1"), "--limit must be"),
        (("rubric", "answer-rubric", "rows.jsonl", "-j", "checks.py:ok", "--max-tokens", "0"), "--max-tokens must be"),
        (("session", "tone", "session.json", "-j", "checks.py:ok", "--session-tokens", "0"), "--session-tokens must"),
        (("session", "tone", "session.json", "-j", "checks.py:ok", "--timeout", "0"), "--timeout must be"),
        (("session", "tone", "session.json", "-j", "checks.py:ok", "--long", "x"), "--long is 'fit' or 'windows'"),
    ],
)
def test_errors_name_what_was_typed(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    code, out, err = jury(capsys, *arguments)
    assert (code, out) == (2, "")
    assert told in err


def test_a_configuration_file_keeps_its_own_words(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "run.yaml").write_text('{"data": "rows.jsonl", "criteria": "c", "judges": ["checks.py:ok"], "limit": 0}')
    assert jury(capsys, "run", "run.yaml")[2] == "error: run.yaml: limit must be a whole number from 1, got 0\n"


def test_a_function_named_twice_is_one_judge(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = jury(capsys, *POINTWISE, "-j", "checks.py:ok", "--json")
    found = json.loads(out)
    assert (code, found["summary"]["judges"], found["summary"]["calls"]) == (0, ["ok"], 1)
    assert "judge ok is named 2 times" in err


def test_a_file_of_functions_is_read_once_until_it_changes(home: Path) -> None:
    first = load_function("checks.py:ok")
    assert load_function("checks.py:ok") is first
    assert load_function(f"{home}/checks.py:ok") is first
    (home / "checks.py").write_text(CHECKS.replace("True", "False"))
    assert load_function("checks.py:ok")("x") is False


def test_a_seat_named_as_a_function_is_told_what_has_a_name(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "seats.py").write_text("from jury import JudgeSpec\nseat = JudgeSpec('scripted/a')\nnumber = 3\n")
    code, _, err = jury(capsys, "judge", "rows.jsonl", "-c", "c", "-j", "seats.py:seat")
    assert code == 2
    assert "'seat' is a JudgeSpec, not a function; by name there are model ids, functions and scripts" in err
    assert (
        jury(capsys, "judge", "rows.jsonl", "-c", "c", "-j", "seats.py:number")[2].rstrip().endswith("not a function")
    )


def test_who_names_no_judge_is_told_the_option(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("JURY_JUDGES", "JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    code, _, err = jury(capsys, "judge", "rows.jsonl", "-c", "c")
    assert code == 2
    assert "no judges: name them (judges=[...], --judges)" in err
    assert (
        "say which function in it, checks.py:NAME"
        in jury(capsys, "judge", "rows.jsonl", "-c", "c", "-j", "checks.py")[2]
    )
