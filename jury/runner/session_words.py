"""The words of a run file about sessions, and the files that its words name. Opens examples and contexts alone."""

from __future__ import annotations

from collections.abc import Mapping
from glob import has_magic
from pathlib import Path
from typing import Any, cast

from jury.datasets import STDIN
from jury.errors import ConfigError, unread
from jury.sessions.examples import read_examples

_NAMES = ("judges", "stand_ins", "aggregator", "checks", "target", "targets", "function", "a", "b")  # of functions


def session_words(given: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """The words as `session_jury` takes them: prompts, contexts and examples that are files are found beside `base`.

    Raises `ConfigError`, and `DataError` for examples that cannot be read.
    """
    made = dict(given)
    criteria: Any = made.get("criteria")
    if criteria is not None:
        names = [n.strip() for n in criteria.split(",")] if isinstance(criteria, str) else criteria
        if not isinstance(names, list | tuple):
            raise ConfigError(f"criteria must be the names of session prompts, got {criteria!r}")
        made["criteria"] = [_prompt(name, base) for name in cast("list[Any]", names)]
    context: Any = made.get("context")
    if isinstance(context, Mapping):
        made["context"] = {key: _context(text, base) for key, text in cast("Mapping[str, Any]", context).items()}
    elif context is not None:
        made["context"] = _context(context, base)
    examples: Any = made.get("examples")
    if isinstance(examples, str):
        made["examples"] = read_examples(base / examples)
    elif isinstance(examples, list):
        made["examples"] = [_row(one, base) for one in cast("list[Any]", examples)]
    return made


def placed(given: Any, base: Path) -> Any:
    """`file.py:function`, by itself or in a list or mapping, from the folder of the run file where it is there."""
    if isinstance(given, str):
        home, _, name = given.rpartition(":")
        return f"{base / home}:{name}" if home.endswith(".py") and (base / home).is_file() else given
    if isinstance(given, list):
        return [placed(one, base) for one in cast("list[Any]", given)]
    if isinstance(given, Mapping):
        return {k: placed(v, base) if k in _NAMES else v for k, v in cast("Mapping[str, Any]", given).items()}
    return given


def beside(data: Any, base: Path) -> Any:
    """The data of a run file, paths and patterns seen from its folder."""
    if isinstance(data, str):
        return data if data == STDIN else str(base / data)
    if isinstance(data, list):
        return [beside(one, base) if isinstance(one, str) else _row(one, base) for one in cast("list[Any]", data)]
    return data


def _row(one: Any, base: Path) -> Any:
    """`{session: file, context: file or text}` of a run file."""
    if not isinstance(one, Mapping):
        return one
    row = dict(cast("Mapping[str, Any]", one))
    if not isinstance(row.get("session"), str):
        return row
    row["session"] = str(base / row["session"])
    if row.get("context") is not None:
        row["context"] = _context(row["context"], base)
    return row


def _prompt(name: Any, base: Path) -> Any:
    return str(base / name) if isinstance(name, str) and (base / name).exists() else name


def _context(given: Any, base: Path) -> str:
    """A text, or the file that it names. One word that looks like a file and is none would be taken for the rules."""
    if not isinstance(given, str):
        raise ConfigError(f"context must be a text or a file, got {given!r}")
    one_word = bool(given.strip()) and len(given.split()) == 1 and not has_magic(given)
    if "\n" not in given and len(given) < 1000 and (base / given).is_file():
        try:
            return (base / given).read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"context: {base / given} cannot be read: {unread(error)}") from None
    if one_word and ("/" in given or Path(given).suffix):
        raise ConfigError(f"context: there is no file {base / given}")
    return given
