"""docs/reference/cli.md says what the commands say."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from typer.main import get_command

from jury.cli import app

MAKER = Path(__file__).parent.parent / "docs" / "reference" / "make_cli.py"


def test_the_page_is_what_the_commands_say():
    spec = importlib.util.spec_from_file_location("make_cli", MAKER)
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    assert maker.PAGE.read_text("utf-8") == maker.page(), "run: python docs/reference/make_cli.py"


def test_no_bracket_of_a_help_text_is_taken_for_a_colour(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    for name in app.COMMANDS:
        made = app.make([name])
        group = get_command(made)
        for words, command in each(name, group.commands[name]):
            said = (command.help or "") + "".join(p.help or "" for p in command.params if hasattr(p, "help"))
            with pytest.raises(SystemExit):
                group([*words, "--help"], prog_name="jury")
            shown = "".join(capsys.readouterr().out.replace("│", "").split())
            for bracket in re.findall(r"\[[^\]]*\]", said):
                assert "".join(bracket.split()) in shown, (words, bracket)


def each(name, command):
    """A command, or those of a family of them, with the words that call it."""
    if not hasattr(command, "commands"):
        yield [name], command
    for sub, one in getattr(command, "commands", {}).items():
        yield [name, sub], one
