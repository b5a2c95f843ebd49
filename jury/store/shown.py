"""What prompts about sessions were filled in with, as lines of shown.jsonl: each value once.

Two kinds of lines: a value under its digest, and which values stood under which names of a prompt for an item, however
many judges saw them. Other runs need none of it: their items are the texts that their prompts show.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

from jury.store.lines import digest, encode, parse

SHOWN = "shown.jsonl"
_VALUE = re.compile(rb'\{"text":"([0-9a-f]{32})","value":')


@dataclass(frozen=True, slots=True)
class Shown:
    """The names of one prompt about an item. `names`: a mapping, nested, whose ends are digests of values."""

    item: str
    criterion: str
    prompt: str
    names: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return {"item": self.item, "criterion": self.criterion, "prompt": self.prompt, "names": self.names}

    @property
    def digest(self) -> str:
        return digest(encode(self.to_dict()).encode("utf-8", "surrogatepass"))


def taken(namespace: Mapping[str, Any], wanted: Iterable[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(digests by name, values by digest) of what a prompt that uses these paths can show of a namespace."""
    values: dict[str, Any] = {}
    paths = tuple(wanted)

    def below(part: Mapping[str, Any], before: str, whole: bool) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, value in part.items():
            path = f"{before}{name}"
            all_of_it = whole or path in paths
            if not all_of_it and not any(p.startswith((f"{path}.", f"{path}[")) for p in paths):
                continue
            if isinstance(value, Mapping):
                made[name] = below(cast("Mapping[str, Any]", value), f"{path}.", all_of_it)
            else:
                made[name] = _kept(value, values)
        return made

    return below(namespace, "", False), values


def _kept(value: Any, values: dict[str, Any]) -> str:
    name = digest(encode({"value": value}).encode("utf-8", "surrogatepass"))
    values[name] = value
    return name


def value_line(name: str, value: Any) -> dict[str, Any]:
    """The line of a value."""
    return {"text": name, "value": value}


def shown_from(line: Mapping[str, Any]) -> Shown | None:
    """The names in a line; None where it is none of them."""
    item, criterion, prompt, names = (line.get(f.name) for f in fields(Shown))
    if not (isinstance(item, str) and isinstance(criterion, str) and isinstance(prompt, str)):
        return None
    return Shown(item, criterion, prompt, cast("Mapping[str, Any]", names)) if isinstance(names, Mapping) else None


class ShownFile:
    """The file of a folder, read: what the prompts of an item were filled in with. In memory are places, not texts."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / SHOWN
        self._places: dict[str, int] = {}
        self._lines: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
        self._item = ""
        self._values: dict[str, Any] = {}  # of that item
        if self._path.exists():
            self._read()

    def names(self, item: str, criterion: str, prompt: str) -> Iterator[dict[str, Any]]:
        """The names of a prompt (its digest) about an item, the last ones first; one for each part of a session."""
        if item != self._item:
            self._item, self._values = item, {}
        for names in reversed(self._lines.get((item, criterion, prompt), [])):
            with suppress(KeyError, TypeError):  # a value that was lost, or a name that was changed
                yield self._filled(names)

    def _read(self) -> None:
        place = 0
        with self._path.open("rb") as file:
            for data in file:
                value = _VALUE.match(data)
                if value is not None:
                    self._places[value[1].decode()] = place
                elif (line := shown_from(parse(data) or {})) is not None:
                    self._lines.setdefault((line.item, line.criterion, line.prompt), []).append(line.names)
                place += len(data)

    def _filled(self, names: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._value(part) for name, part in names.items()}

    def _value(self, name: Any) -> Any:
        if isinstance(name, Mapping):
            return self._filled(cast("Mapping[str, Any]", name))
        if name not in self._values:
            with self._path.open("rb") as file:
                file.seek(self._places[name])
                self._values[name] = (parse(file.readline()) or {})["value"]
        return self._values[name]
