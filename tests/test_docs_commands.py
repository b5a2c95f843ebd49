"""Every `jury ...` line of the README and of docs/ runs, as typed, against a local server in the place of providers.

The folder holds what the pages speak of: data files, configurations, earlier runs. Left out are, by what they are,
lines that wait: `jury watch`, for a batch (which has servers and tests of its own), and the demo, which CI runs with
its real model. What people would say to `jury label` comes from a file.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.servers.obliging import environment
from tests.servers.obliging import server as obliging_server

ROOT = Path(__file__).parent.parent
PAGES = [p for p in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if p.name != "cli.md"]
LINE = re.compile(r"^(?: {4}|\$ )?(jury [a-z].*)$", re.MULTILINE)
WAITING = ("watch", "demo")
JUDGES = "openai/gpt-5-mini,anthropic/claude-haiku-4-5"
FINE = (0, 1, 4)  # fine, below a mark, undecided: what the data decides; 2 and 3 are mistakes of the page


def lines(page: Path) -> list[str]:
    """The page's commands in their order, `-j ...`, `-j a,b,c` and `ITEM` filled in, without what follows a `#`."""
    found: list[str] = []
    for text in LINE.findall(page.read_text("utf-8")):
        command = shlex.join(
            shlex.split(re.sub(r"-j (\.\.\.|a,b,c)", f"-j {JUDGES}", text).replace(" ITEM", " i1"), comments=True)
        )
        if command.split()[1] == "label":  # what a person would say comes from a file
            found.append(f"jury calibrate {command.split()[2]} --labels labels.csv --sampled random --keep-labels")
        elif command.split()[1] not in WAITING and "--batch" not in command:
            found.append(command)
    return found


def jury(command: str, folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    arguments = shlex.split(command)[1:]
    return subprocess.run(
        [sys.executable, "-m", "jury", *arguments],
        cwd=folder, env=env, input="y\n", capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def furnish(folder: Path, env: dict[str, str]) -> None:
    """What the pages take for granted."""
    rows = [
        {"id": f"i{n}", "input": f"Question {n}?", "output": f"Answer {n}.", "expected_output": f"Answer {n}.",
         "tags": ["easy"]} for n in range(60)
    ]  # fmt: skip
    pairs = [{"id": f"p{n}", "question": f"Q{n}?", "response_a": "One.", "response_b": "Two."} for n in range(4)]
    session = [
        {"role": "user", "content": "Can you drop the fee?"},
        {"role": "assistant", "content": "Done, the fee is gone."},
    ]
    _write(folder / "answers.jsonl", rows)
    _write(folder / "pairs.jsonl", pairs)
    _write(folder / "session.jsonl", session)
    _write(folder / "capitals.jsonl", rows[:3])
    (folder / "judges.py").write_text(
        "def names_the_capital(output, expected_output):\n    return output == expected_output\n"
    )
    (folder / "yes.json").write_text('{"scripted/yes.json": {"explanation": "It always is.", "value": true}}')
    (folder / "week23").mkdir()
    _write(folder / "week23" / "one.jsonl", session)
    _write(folder / "contest.jsonl", [
        {"question": f"Q{n}?", "model": model, "answer": f"{model} says {n}."} for n in range(8) for model in "mno"
    ])  # fmt: skip
    (folder / "rules.txt").write_text("1. Waive a fee only up to 5 EUR.\n")
    labels = "".join(f"i{n},{'false' if n % 3 == 0 else 'true'},ann\n" for n in range(60))
    (folder / "labels.csv").write_text(f"item,value,labeller\n{labels}")
    (folder / "templates").mkdir()
    (folder / "templates" / "refunds.txt").write_text("Is {{output.response}} right about {{input.all_messages}}?\n")
    config = (
        "data: answers.jsonl\ncriteria: The answer is right.\njudges: [openai/gpt-5-mini, anthropic/claude-haiku-4-5]\n"
    )
    for name in ("check", "eval"):
        (folder / f"{name}.yaml").write_text(config)
    for name in ("now", "then", "new", "old", "anchors-then", "anchors-now", "eval"):
        _must(jury(f"jury run eval.yaml -o runs/{name}", folder, env))
    _must(jury("jury calibrate runs/eval --labels labels.csv --sampled random --keep-labels", folder, env))
    _must(jury(f"jury session policy session.jsonl rules.txt -j {JUDGES} -o runs/week22", folder, env))


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _must(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode in FINE, f"{shlex.join(map(str, done.args))}\n{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="module")
def furnished(tmp_path_factory):
    """A furnished folder to copy, and the environment of its commands."""
    with obliging_server() as server:
        env = environment(server, tmp_path_factory.mktemp("home"))
        folder = tmp_path_factory.mktemp("furnished")
        furnish(folder, env)
        yield folder, env


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if lines(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_commands_of_a_page_run(page, furnished, tmp_path):
    furnished_folder, env = furnished
    folder = tmp_path / "work"
    subprocess.run(["cp", "-r", str(furnished_folder), str(folder)], check=True)
    for command in lines(page):
        done = jury(command, folder, env)
        assert done.returncode in FINE, f"{page.name}: {command}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr


def test_pages_have_commands():
    assert sum(len(lines(p)) for p in PAGES) > 10
