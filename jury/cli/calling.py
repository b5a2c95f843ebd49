"""How this program was called, so that a command to copy runs where it is pasted."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path


def called() -> str:
    """`jury`; its path where the shell does not find it under that name; `python -m jury` where that was called."""
    path = Path(sys.argv[0])
    if path.parts[-2:] == ("jury", "__main__.py"):
        return f"{_python()} -m jury"
    if path.name not in ("jury", "jury.exe") or shutil.which("jury") == str(path.absolute()):
        return "jury"
    return _short(path)


def _python() -> str:
    """The interpreter, by its name where the shell finds this one under it."""
    here = Path(sys.executable)
    names = ("python", "python3", here.name)
    return next((name for name in names if shutil.which(name) == str(here)), None) or _short(here)


def _short(path: Path) -> str:
    return shlex.quote(os.path.relpath(path) if path.absolute().is_relative_to(Path.cwd()) else str(path))
