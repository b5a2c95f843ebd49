"""Every example runs as its page says, against a local server in the place of providers."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.obliging import environment, server

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "examples" / "README.md").read_text("utf-8")
COMMANDS = re.findall(r"`((?:python )?examples/[^`]+)`", PAGE)


def test_every_example_is_on_the_page():
    named = " ".join(COMMANDS)
    files = [p for p in (ROOT / "examples").rglob("*") if p.suffix in (".py", ".sh")]
    assert len(files) == len(COMMANDS) > 3
    assert all(str(p.relative_to(ROOT)) in named for p in files)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_an_example_runs(command, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    scripts = tmp_path / "bin"
    scripts.mkdir()
    for name, module in (("jury", "-m jury"), ("python", "")):
        (scripts / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        (scripts / name).chmod(0o755)
    with server() as provider:
        env = environment(provider, tmp_path / "home")
        env["PATH"] = f"{scripts}:{env['PATH']}"
        done = subprocess.run(
            command.split(), cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode in (0, 1, 4), done.stdout + done.stderr
        assert provider.count() > 1
        assert "Traceback" not in done.stderr
        assert done.stdout.strip()


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_without_its_file_says_how_it_is_called(example):
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert f"examples/{example.name} " in done.stderr
