"""`module:function` and `path/file.py:function` -> the function. Imports the user's code, on request only."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from jury.errors import ConfigError

_read: dict[Path, tuple[bytes, ModuleType]] = {}  # so that a function named twice is one function
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def is_function(judge: str) -> bool:
    """Does this judge name a Python function? Model ids may hold a colon too (`ollama/llama3:8b`), but have a slash."""
    home, colon, name = judge.rpartition(":")
    return bool(colon) and name.isidentifier() and (home.endswith(".py") or _MODULE.fullmatch(home) is not None)


def load_function(judge: str) -> Callable[..., Any]:
    """The function that `judge` names. Raises `ConfigError` saying what could not be found or imported."""
    home, _, name = judge.rpartition(":")
    module = _from_file(Path(home)) if home.endswith(".py") else _from_name(home)
    found = getattr(module, name, None)
    if found is None:
        near = get_close_matches(name, [n for n in dir(module) if callable(getattr(module, n))], n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise ConfigError(f"{judge}: {home} has no {name!r}{hint}")
    if not callable(found):
        kind = type(found).__name__
        named = "; by name there are model ids, functions and scripts (scripted/FILE.json)"
        raise ConfigError(f"{judge}: {name!r} is a {kind}, not a function{named if kind == 'JudgeSpec' else ''}")
    return found


def _from_name(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:  # a console script does not look into the working directory by itself
        sys.path.insert(0, here)
    return _run(name, lambda: importlib.import_module(name))


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise ConfigError(f"{path}: no such file")
    place = path.resolve()
    try:
        source = place.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    if place in _read and _read[place][0] == source:
        return _read[place][1]
    spec = importlib.util.spec_from_file_location(f"jury_judges_{path.stem}", place)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickles of the module look it up there
    loader = spec.loader

    def execute() -> ModuleType:
        loader.exec_module(module)
        return module

    _read[place] = source, _run(str(path), execute)
    return _read[place][1]


def _run(name: str, load: Callable[[], ModuleType]) -> ModuleType:
    try:
        with redirect_stdout(sys.stderr):  # what it prints is no result
            return load()
    except (Exception, SystemExit) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise ConfigError(f"{name}: cannot be imported: {type(error).__name__}: {error}{line}") from error
