"""Which tags of a template can never be filled, and what they may have meant. Knows names, not values.

A name inside a section is looked up in the section's element first, then outwards, as when rendering. Where the element
may hold anything (`row`, the arguments of a call), nothing is said: whether the name exists depends on the item.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from jury.lookup import Path, match, parse_path, write_path
from jury.names import ANY_TEXT, BARE, FAMILIES, OPEN, OPTIONAL, SIDES, Known, meant

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


def meant_by(tag: Tag, frames: Sequence[Any]) -> str | None:
    """The name of a text that a tag without a value may have meant, among the values of an item, innermost first."""
    if not tag.path or len(tag.name) > _LONGEST:
        return None
    for frame in reversed(frames):
        known = Known.of(frame)
        near = _nearest(tag.path, (known,))
        if near and near != tag.name and not _walk(known, parse_path(near), 0)[1].keys:
            return near
    return None


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
        return None if inner is not None and not inner.keys else _family(tag, known)
    if _resolve(frames, tag.path) is not None:
        return None
    if tag.sort != "variable" and tag.name in OPTIONAL:
        return None
    near = _nearest(tag.path, frames) if hints and len(tag.name) <= _LONGEST else None
    return _EFFECTS[tag.sort] + (f"; did you mean {near}?" if near else "; unknown name")


def _family(tag: Tag, known: Known) -> str:
    place = _resolve((known,), tag.path)
    if place is None:
        side = f"{SIDES[0]}.{tag.name}."
        place = _resolve((known,), ((SIDES[0], None), *tag.path))
        return _NO_TEXT + (f", there are {', '.join(place.paths(side))}" if place else "")
    if not place.keys:
        return _NO_TEXT
    likely = _meant(tag.path[-1][0] or "", tag.path[:-1], (known,))
    there = dict.fromkeys([*([likely] if likely else ()), *place.paths(f"{tag.name}.")])
    return f"{_NO_TEXT}, there are " + ", ".join(there)


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


def _nearest(path: Path, frames: tuple[Known, ...]) -> str | None:
    """The same name in other letters, else what it is another word for, else the nearest beside it or of all names."""
    known = frames[0]
    place, last, at = _walk(known, path, 0)
    if place is not None:
        return None if write_path(path) in BARE else write_path(path)
    step = path[at][0]
    if step:
        same = next((key for key in last.keys if key.casefold() == step.casefold()), None)
        found = same and _nearest((*path[:at], (same, path[at][1]), *path[at + 1 :]), frames)
        if found:
            return found
        if not last.keys:  # a text or a list, of which nothing has a name
            return write_path(path[:at])
        if not at and step in FAMILIES and SIDES[0] in known.keys:  # of a pair: of one side of it
            within = ((SIDES[0], None), *path)
            return write_path(within) if _walk(known, within, 0)[0] else _nearest(within, frames)
        found = _meant(step, path[:at], frames)
        if found:
            return found
        beside = get_close_matches(step, list(last.keys), 1) if at else []
        if beside:
            return write_path((*path[:at], (beside[0], None)))
    return (get_close_matches(write_path(path), list(known.paths()), 1) or [None])[0]


def _meant(word: str, before: Path, frames: tuple[Known, ...]) -> str | None:
    """The field that people mean by a word: one of what stands before it, else further out.

    Further out a word for any text is no field's: the object before it says there what is meant.
    """
    word = word.casefold()
    if before:
        place, prefix = _walk(frames[0], before, 0)[0], f"{write_path(before)}."
        there = set(place.paths(prefix)) if place else set[str]()
        found = next((prefix + field for field in meant(word) if prefix + field in there), None)
        outwards = (before[-1][0] or "") if word in ANY_TEXT else word
        return found or _meant(outwards, before[:-1], frames)
    for frame in reversed(frames[-1:] if word in ANY_TEXT else frames):
        there = set(frame.paths())
        found = next((field for field in meant(word) if field in there), None)
        if found:
            return found
    return None
