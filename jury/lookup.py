"""Paths into plain data: `a.b`, `a[0]`, `a[-1]`, `a.0`. Reaches keys of objects and elements of lists, nothing else.

No attribute, no method, no letter of a text, and nothing is called. A key that holds dots is found by its parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Final, cast

# A key, an index, or both: `.0` is the key "0" of an object and the first element of a list.
Step = tuple[str | None, int | None]
Path = tuple[Step, ...]
MISSING: Final = object()
_DICT: Any = (
    dict  # as Any, so that comparing a type with them leaves the value an Any: a cast costs as much as a look-up
)
_LIST: Any = list
_NO_KEYS = frozenset({str, int, float, bool, list, type(None)})
_JOIN = 8  # parts that a key holding dots may span
_INDEXED = re.compile(r"([^\[\]]*)((?:\[-?[0-9]{1,9}\])+)")


def parse_path(name: str) -> Path:
    """The steps of a name; none for `.`, the innermost value itself. Every text is a path, if only to nothing."""
    if name == ".":
        return ()
    steps: list[Step] = []
    for part in name.split("."):
        indexed = _INDEXED.fullmatch(part)
        key = indexed[1] if indexed else part
        number = int(key) if key.isascii() and key.isdigit() and len(key) < 10 else None
        steps.append((key, number))
        if indexed:
            steps += [(None, int(i)) for i in indexed[2][1:-1].split("][")]
    return tuple(steps)


def write_path(path: Path) -> str:
    """The name of a path."""
    return "".join([f"[{index}]" if key is None else f".{key}" for key, index in path]).removeprefix(".")


def finder(path: Path, *, top: bool) -> Callable[[Sequence[Any]], Any]:
    """`find` for one path. `top`: the first frame, a dict, is all there is; short paths then need no search."""
    keys = [key for key, _ in path]
    if top and len(keys) == 1:
        only = keys[0]
        return lambda frames: frames[0].get(only, MISSING)
    if top and len(keys) == 2 and keys[1] is not None:
        first, second = keys

        def family(frames: Sequence[Any]) -> Any:
            value = frames[0].get(first)
            return value[second] if type(value) is _DICT and second in value else _search(frames, path)

        return family
    return lambda frames: find(frames, path)


def find(frames: Sequence[Any], path: Path) -> Any:
    """The value at a path, or `MISSING`. The last frame that has the first step decides, whatever follows it."""
    if not path:
        return frames[-1]
    head = path[0][0]
    for frame in reversed(frames):
        if type(frame) is _DICT:
            if head in frame:
                value: Any = frame[head]
                break
        elif type(frame) not in _NO_KEYS:
            return _search(frames, path)
    else:
        return _search(frames, path)
    for key, index in path[1:]:  # the common shapes first: this runs for every tag of every prompt
        if type(value) is _DICT and key in value:
            value = value[key]
        elif type(value) is _LIST and index is not None and -len(value) <= index < len(value):
            value = value[index]
        else:
            return _search(frames, path)
    return value


def _search(frames: Sequence[Any], path: Path) -> Any:
    """The same with all the rules: other mappings, tuples, and keys that hold dots."""
    for frame in reversed(frames):
        hit = match(cast("Mapping[Any, Any]", frame), path, 0) if isinstance(frame, Mapping) else None
        if hit is not None:
            return _below(frame[hit[0]], path, hit[1])
    return MISSING


def _below(value: Any, path: Path, at: int) -> Any:
    while at < len(path):
        index = path[at][1]
        if isinstance(value, Mapping):
            pairs = cast("Mapping[Any, Any]", value)
            hit = match(pairs, path, at)
            if hit is None:
                return MISSING
            value, at = pairs[hit[0]], hit[1]
        elif isinstance(value, list | tuple) and index is not None:
            entries = cast("Sequence[Any]", value)
            if not -len(entries) <= index < len(entries):
                return MISSING
            value, at = entries[index], at + 1
        else:
            return MISSING
    return value


def match(keys: Container[Any], path: Path, at: int) -> tuple[str, int] | None:
    """The key with which the path goes on, and the number of the step after it; None if there is no such key."""
    joined = ""
    for end in range(at, min(len(path), at + _JOIN)):
        key = path[end][0]
        if key is None:
            return None
        joined = key if end == at else f"{joined}.{key}"
        if joined in keys:
            return joined, end + 1
    return None
