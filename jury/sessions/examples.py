"""A user's own judged sessions from a file: JSON Lines of `{session, verdict, why, criterion}`. Judges nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from jury.errors import DataError, unread

_KEYS = ("session", "verdict", "expect", "why", "criterion", "context", "id")


def read_examples(path: str | Path) -> list[dict[str, Any]] | dict[str, list[dict[str, Any]]]:
    """What `session_jury(examples=...)` takes, from a file with one example a line.

    `session` holds messages, a record, or the path of a recording beside the file; `verdict` (or `expect`, as in the
    `cases.jsonl` of a prompt) is what a right judge says, `why` a reason that the prompt shows. With `criterion` on
    every line the examples are told apart by it. Raises `DataError` naming file and line.
    """
    file = Path(path)
    try:
        lines = file.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: cannot be read: {unread(error)}", "unreadable", file=str(file)) from None
    found = [_example(file, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise DataError(f"{file}: holds no example", "no_rows", file=str(file))
    named = [one for one in found if "criterion" in one]
    if not named:
        return found
    if len(named) < len(found):
        raise DataError(f"{file}: some examples name a criterion and some do not", "bad_shape", file=str(file))
    by_criterion: dict[str, list[dict[str, Any]]] = {}
    for one in named:
        by_criterion.setdefault(str(one.pop("criterion")), []).append(one)
    return by_criterion


def _example(file: Path, number: int, line: str) -> dict[str, Any]:
    def wrong(why: str, kind: str) -> DataError:
        return DataError(f"{file}, line {number}: {why}", kind, file=str(file), line=number)

    try:
        given: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise wrong(f"not JSON: {error}", "bad_json") from None
    if not isinstance(given, Mapping) or "session" not in given or not {"verdict", "expect"} & given.keys():
        raise wrong('an example is an object with "session" and "verdict"', "not_object")
    one = dict(cast("Mapping[str, Any]", given))
    unknown = [key for key in one if key not in _KEYS]
    if unknown:
        raise wrong(f"unknown {', '.join(unknown)}; known are {', '.join(_KEYS)}", "bad_shape")
    session = one["session"]
    if isinstance(session, str) and "\n" not in session and not session.lstrip().startswith(("{", "[")):
        one["session"] = str(file.parent / session)
    return one
