"""What judged texts may do to a terminal: nothing, wherever a command prints them."""

from __future__ import annotations

import io
import json

import pytest
from rich.table import Table
from rich.text import Text

from jury.cli.__main__ import main
from jury.cli.consoles import Careful

ACTING = "\x1b[2J\x1b]0;title\x07\x9b31m\u202eevil\u2066\u2028\r"
MARKS = frozenset(ACTING) - {"0", "1", "2", "3", ";", "[", "]", "J", "m", *"titleevil"}


@pytest.fixture
def run(bare_folder):
    """A finished run whose ids, judges, criteria, texts and reasons are all hostile."""
    tmp_path = bare_folder
    replies = [json.dumps({"explanation": ACTING, "value": value}) for value in (True, False)]
    (tmp_path / "replies.json").write_text(json.dumps([*replies, None]))
    rows = [{"id": f"{n}{ACTING}", "input": ACTING, "output": ACTING, "tags": [ACTING]} for n in range(3)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "checks.py").write_text(f"def code(output):\n    raise ValueError({ACTING!r})\n")
    judge = {"model": f"scripted/{tmp_path}/replies.json", "id": f"a{ACTING}", "retries": 0, "reask": 0}
    spec = {"data": "rows.jsonl", "criteria": ACTING, "judges": [judge, "checks.py:code"]}
    (tmp_path / "check.yaml").write_text(json.dumps({**spec, "min_successful_judges": 1, "concurrency": 1}))
    return tmp_path


def test_no_command_passes_on_what_would_act_on_a_terminal(run, capsys):
    said = ""
    commands = ["run check.yaml", "show runs/check", "show runs/check #1 --full", "counts runs/check"]
    commands += ["stability runs/check", "watch runs/check", "replay runs/check", "gate runs/check --pass-rate >=0.5"]
    commands += [f"show runs/check nothing{ACTING}", "show runs/check #1 --prompt"]
    for command in commands:
        with pytest.raises(SystemExit):
            main(command.split(" "))
        out, err = capsys.readouterr()
        shown = out + err
        found = MARKS & set(shown if "--prompt" not in command else err)  # a prompt in a pipe is what was sent
        assert not found, (command, found)
        said += shown
    assert said.count("\\x1b[2J") > 10  # it is shown


@pytest.mark.parametrize("terminal", [False, True])
def test_a_console_shows_what_would_act_in_whatever_form_it_comes(terminal):
    table = Table("judge")
    table.add_row(ACTING)
    table.add_row(Text(ACTING, style="red"))
    stream = io.StringIO()
    console = Careful(file=stream, force_terminal=terminal, color_system=None, width=200)
    for thing in (ACTING, Text.assemble((ACTING, "bold")), table):
        console.print(thing)
    console.rule(ACTING)
    assert not MARKS & set(stream.getvalue())
    assert stream.getvalue().count("\\x1b[2J") == 5


def test_a_column_is_as_wide_as_what_it_shows():
    table = Table("judge", box=None, pad_edge=False)
    table.add_column("votes")
    table.add_row("\x1b[31ma", "1")
    stream = io.StringIO()
    Careful(file=stream, width=80).print(table)
    head, row = stream.getvalue().splitlines()
    assert head.index("votes") == row.index("1", row.index("ma"))
