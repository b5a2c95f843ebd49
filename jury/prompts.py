"""The prompt library: a prompt is text with a name and a version, never a string in the code.

A prompt is a folder with `prompt.md` (YAML front matter, then the user text as Mustache) and perhaps `system.md`; or a
single file, with or without front matter. Shipped ones are found by name, own ones by path. The digest is over
what is rendered (system and user text), so that an edit without a new version shows.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from jury.config import parse_yaml
from jury.errors import ConfigError

PROMPT_FILE, SYSTEM_FILE = "prompt.md", "system.md"
UNVERSIONED = "0"
_FENCE = "---"
_VERSION = re.compile(r"^version:[ \t]+([0-9]+\.[0-9]+)[ \t]*(?:#.*)?$", re.MULTILINE)
_LONGEST = 80  # characters of a name in an error


@dataclass(frozen=True, slots=True)
class PromptSpec:
    """A prompt with its front matter. `user` and `system` are Mustache; `system` may be empty."""

    name: str
    user: str
    system: str = ""
    version: str = UNVERSIONED
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    path: str | None = None

    @property
    def digest(self) -> str:
        """16 hex digits over what is rendered."""
        text = f"{self.system}\x00{self.user}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=8).hexdigest()

    def kept(self) -> dict[str, Any]:
        """As a run folder keeps it: whole, so that its file can be put back."""
        made = {"name": self.name, "version": self.version, "system": self.system, "user": self.user}
        return {
            **made,
            **({"meta": dict(self.meta)} if self.meta else {}),
            **({"path": self.path} if self.path else {}),
        }

    @classmethod
    def of_kept(cls, given: Mapping[str, Any]) -> PromptSpec:
        """A prompt that `kept` wrote, or an older version of it, which kept the texts alone."""
        name, user, system, version = (str(given.get(key) or "") for key in ("name", "user", "system", "version"))
        return cls(name, user, system, version, given.get("meta") or {}, given.get("path"))


def library() -> Path:
    """The folder of the shipped prompts: inside the wheel, or beside the package in a checkout."""
    packed = Path(__file__).parent / "_prompts"
    return packed if packed.is_dir() else Path(__file__).parent.parent / "prompts"


def names() -> tuple[str, ...]:
    """The shipped prompts, sorted."""
    return tuple(sorted(p.name for p in library().iterdir() if (p / PROMPT_FILE).is_file()))


@lru_cache(maxsize=256)
def shipped(name: str) -> PromptSpec:
    """A shipped prompt. Raises `ConfigError` with the nearest names for one that does not exist."""
    if name not in names():
        near = get_close_matches(name[:_LONGEST], names(), 3)
        told = f"nearest: {', '.join(near)}" if near else f"there are: {', '.join(names())}"
        raise ConfigError(f"no prompt named {name[:_LONGEST]!r}; {told}")
    return read(library() / name)


def load(name_or_path: str | Path) -> PromptSpec:
    """A prompt by its shipped name or by the path of its folder or file. Raises `ConfigError`."""
    if not isinstance(cast("Any", name_or_path), str | Path):
        raise ConfigError(f"a prompt is named by a text or a path, got {type(name_or_path).__name__}")
    try:
        there = bool(name_or_path) and bool(os.stat(name_or_path))
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.ELOOP):  # something is there, or nobody may know
            raise ConfigError(f"{name_or_path}: cannot be read: {error.strerror}") from None
        there = False
    except ValueError:  # what can be no path
        there = False
    return read(Path(name_or_path)) if there else shipped(str(name_or_path))


def read(path: Path) -> PromptSpec:
    """The prompt in a folder or a file. Raises `ConfigError` naming the file and what is wrong."""
    file = path / PROMPT_FILE if path.is_dir() else path
    meta, user = _split(_text(file), file)
    system = path / SYSTEM_FILE
    return PromptSpec(
        name=str(meta.get("name") or (path.name if path.is_dir() else path.stem)),
        user=user,
        system=_text(system).rstrip("\n") if path.is_dir() and system.is_file() else str(meta.get("system") or ""),
        version=str(meta.get("version", UNVERSIONED)),
        meta=meta,
        path=str(path),
    )


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: a prompt must be UTF-8 text ({error.reason} at byte {error.start})") from None
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from None


def _split(text: str, file: Path) -> tuple[Mapping[str, Any], str]:
    """Front matter and body; a file that does not open with `---` is all body."""
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return {}, text.rstrip("\n")
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise ConfigError(f"{file}: the front matter opened by `---` in line 1 is never closed")
    head = "\n".join(lines[1:end])
    given: Any = parse_yaml(head, file, what="the front matter of ", first=2) or {}
    if not isinstance(given, dict):
        raise ConfigError(f"{file}: the front matter must be a mapping")
    meta = cast("dict[str, Any]", given)
    if isinstance(meta.get("version"), float) and (written := _VERSION.search(head)):
        meta["version"] = written[1]  # as it is written: 1.10 is not 1.1
    return meta, "\n".join(lines[end + 1 :]).strip("\n")
