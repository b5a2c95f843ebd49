"""The first page: every command on it, readable where it is read, and the exit codes around it."""

from __future__ import annotations

from typing import Any

import pytest
from typer.main import get_command

from jury.cli import app, front
from jury.cli.__main__ import main


def ended(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    told = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, told.out, told.err


@pytest.mark.parametrize("columns", [10, 40, 80, 300])
def test_every_command_is_on_the_page_once_and_no_line_is_too_long(columns: int) -> None:
    lines = front.page(columns).splitlines()
    starts = [line.split()[0] for line in lines if line.startswith("  ") and not line.startswith("   ")]
    assert sorted(starts) == sorted([*app.COMMANDS, "-h,", "--version"])
    assert max(map(len, lines)) <= max(front.NARROWEST, min(columns, front.WIDEST))
    joined = " ".join(" ".join(lines).split())
    assert all(" ".join(text.split()) in joined for text in app.COMMANDS.values())


def test_a_command_that_no_group_names_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.COMMANDS, "another", "Something else.")
    page = front.page(80)
    assert "\nMore\n  another     Something else.\n\nOptions\n" in page


def test_help_is_a_result_and_no_argument_is_wrong_usage(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for option in ("--help", "-h"):
        assert ended(capsys, option) == (0, front.page(80), "")
    assert ended(capsys) == (2, "", front.page(80))


def test_help_beside_something_else_is_still_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help", "--version"], ["judge", "--help"]):
        code, out, _ = ended(capsys, *arguments)
        assert (code, "Usage: jury" in out) == (0, True)


def test_near_names_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ended(capsys, "jugde")
    assert (code, "'judge'" in err) == (2, True)
    code, _, err = ended(capsys, "judge", "x", "--judge", "y")
    assert (code, "--judges" in err) == (2, True)


@pytest.mark.parametrize(("setting", "bold"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_titles_stand_out_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, setting: dict[str, str], bold: bool
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in setting.items():
        monkeypatch.setenv(name, value)
    assert "\x1b" not in ended(capsys, "--help")[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert ("\x1b[1mRuns\x1b[0m" in ended(capsys, "--help")[1]) is bold


def parameters(name: str) -> list[tuple[str, Any]]:
    """(full name of the command, option or argument), its sub-commands' too."""
    found: list[tuple[str, Any]] = []

    def walk(full: str, command: Any) -> None:
        for each, below in getattr(command, "commands", {}).items():
            walk(f"{full} {each}", below)
        found.extend((full, p) for p in command.params)

    whole: Any = get_command(app.make([name]))
    walk(name, whole.commands[name])
    return found


MEANINGS = {"--ask": 2, "--by": 2, "--format": 2, "--labels": 2, "--output": 2, "--prompt": 2}  # of one name


def test_an_option_is_written_alike_everywhere() -> None:
    written: dict[str, set[tuple[str, ...]]] = {}
    for name in app.COMMANDS:
        for _, p in parameters(name):
            if p.param_type_name == "option":
                written.setdefault(max(p.opts, key=len), set()).add((*sorted(p.opts), str(p.metavar)))
    several = {name: forms for name, forms in written.items() if len(forms) > 1}
    assert {name: len(forms) for name, forms in several.items()} == MEANINGS, several


def test_old_names_of_options_are_understood() -> None:
    assert app.renamed(["show", "r", "--limit=3"]) == ["show", "r", "--show=3"]
    assert app.renamed(["prompts", "check", "x", "--times", "2"]) == ["prompts", "check", "x", "--repetitions", "2"]
    assert app.renamed(["judge", "f", "--limit", "3"]) == ["judge", "f", "--limit", "3"]
    assert app.renamed(["show", "--", "--limit"]) == ["show", "--", "--limit"]
    for name, options in app.RENAMED.items():
        there = {option for _, p in parameters(name) for option in p.opts}
        assert there >= set(options.values())
        assert not there & set(options)


@pytest.mark.parametrize("name", sorted(app.COMMANDS))
def test_every_option_says_what_it_is(name: str) -> None:
    silent = [(full, p.name) for full, p in parameters(name) if not (p.help or "").strip() and not p.hidden]
    assert silent == []
