"""Which tags of a template can never be filled, and what they may have meant. Knows names, not values.

A name inside a section is looked up in the section's element first, then outwards, as when rendering. Where the element
may hold anything (`row`, the arguments of a call), nothing is said: whether the name exists depends on the item.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from jury.lookup import Path, match, write_path
from jury.names import BARE, OPEN, OPTIONAL, Known

_NO_TEXT = "stays as written; an object has no text of its own"
_EFFECTS = {"variable": "stays as written", "section": "never shown", "inverted": "always shown"}
_LONGEST = 100  # names beyond this are no typing errors
_HINTS = 20  # suggestions are costly: a text full of braces needs none after these


@dataclass(slots=True)
class Tag:
    """One tag that may lack a value. `sort`: `variable`, `section`, `inverted`, `partial` or `broken`.

    `scope` is the section around it in whose value its name is looked up first; an inverted section has none.
    """

    sort: str
    name: str
    raw: str
    line: int
    scope: Tag | None = None
    path: Path = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """A tag that cannot be filled: its name, the tag as written, its line from 1, and why in a few words."""

    name: str
    raw: str
    line: int
    why: str

    def __str__(self) -> str:
        raw = self.raw if len(self.raw) <= 80 else f"{self.raw[:77]}..."
        return f"{raw} (line {self.line}; {self.why})"


def unknown_tags(tags: Sequence[Tag], known: Known) -> list[Unknown]:
    """The tags that no item can fill, the first of each name, in order."""
    frames: dict[int, tuple[Known, ...]] = {}
    found: dict[str, Unknown] = {}
    for tag in tags:
        around = frames[id(tag.scope)] if tag.scope else (known,)
        if tag.sort == "section":
            place = _resolve(around, tag.path)
            frames[id(tag)] = (*around, OPEN if place is None else place.item or place)
        if tag.name in found:
            continue
        why = _why(tag, around, known, hints=len(found) < _HINTS)
        if why:
            found[tag.name] = Unknown(tag.name, tag.raw, tag.line, why)
    return list(found.values())


def _why(tag: Tag, frames: tuple[Known, ...], known: Known, *, hints: bool) -> str | None:
    if tag.sort == "partial":
        return "stays as written; partials are not read"
    if tag.sort == "broken":
        return "stays as written; no name in it"
    if tag.name == ".":
        whole = tag.scope is None or tag.scope.name in BARE
        return _NO_TEXT if whole and tag.sort == "variable" else None
    if tag.sort == "variable" and tag.name in BARE:
        inner = _resolve(frames[1:], tag.path)
        return None if inner is not None and not inner.keys else _family(_resolve((known,), tag.path), tag.name)
    if _resolve(frames, tag.path) is not None:
        return None
    if tag.sort != "variable" and tag.name in OPTIONAL:
        return None
    near = _nearest(tag, known) if hints else None
    return _EFFECTS[tag.sort] + (f"; did you mean {near}?" if near else "; unknown name")


def _family(place: Known | None, name: str) -> str:
    if place is None or not place.keys:
        return _NO_TEXT
    return f"{_NO_TEXT}, there are " + ", ".join(place.paths(f"{name}."))


def _resolve(frames: Sequence[Known], path: Path) -> Known | None:
    if not path:
        return frames[-1]
    for frame in reversed(frames):
        if frame.open:
            return OPEN
        hit = match(frame.keys, path, 0)
        if hit is not None:
            return _walk(frame.keys[hit[0]], path, hit[1])[0]
    return None


def _walk(place: Known, path: Path, at: int) -> tuple[Known | None, Known, int]:
    """The place at the end of the path, or None; the last place that exists, and the step that leads nowhere."""
    while at < len(path):
        if place.open:
            return OPEN, place, at
        hit = match(place.keys, path, at)
        if hit is not None:
            place, at = place.keys[hit[0]], hit[1]
        elif place.item is not None and path[at][1] is not None:
            place, at = place.item, at + 1
        else:
            return None, place, at
    return place, place, at


def _nearest(tag: Tag, known: Known) -> str | None:
    """A name beside the one that failed, else the nearest of all names."""
    if len(tag.name) > _LONGEST:
        return None
    _, last, at = _walk(known, tag.path, 0)
    step = tag.path[at][0] if at < len(tag.path) else None
    if step and at:
        beside = _closest(step, list(last.keys))
        if beside:
            return write_path((*tag.path[:at], (beside, None)))
    return _closest(tag.name, list(known.paths()))


def _closest(name: str, names: list[str]) -> str | None:
    same = [n for n in names if n.casefold() == name.casefold()]
    return (same or get_close_matches(name, names, 1) or [None])[0]
