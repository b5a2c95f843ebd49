"""The default version of a prompt put back: what its file holds becomes again what an earlier run was judged with.

The default version of a prompt is the one in its folder. A run folder keeps its prompts whole, so that a version that
turned out worse can be taken back though nobody had kept the earlier one; the one that is taken back stays beside it as
`rejected-<version>.md`. Shipped prompts and texts in a configuration are nobody's file and are left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jury.editions import kept_prompts
from jury.errors import ConfigError
from jury.prompts import PROMPT_FILE, SYSTEM_FILE, PromptSpec, library, read
from jury.store import RunManifest


@dataclass(frozen=True, slots=True)
class PutBack:
    """A prompt whose file holds `restored` again; `rejected` is kept in `kept`."""

    name: str
    path: Path
    restored: str
    rejected: str
    kept: Path


def roll_back(new: RunManifest, old: RunManifest) -> list[PutBack]:
    """Puts back the prompts of `old` that have another text in `new`. Empty where the prompts are the same, and where
    their files hold the text of `old` already.

    Raises `ConfigError` before anything is written: where a prompt that differs has no file of its own, its file was
    edited since `new` was judged, or `old` does not hold it whole.
    """
    planned = [_planned(spec, old) for spec in kept_prompts(new) if not _held(spec, old)]
    return [_write(before, current) for before, current in planned if before.digest != current.digest]


def _held(spec: PromptSpec, manifest: RunManifest) -> bool:
    return spec.digest in manifest.prompts


def _planned(spec: PromptSpec, old: RunManifest) -> tuple[PromptSpec, PromptSpec]:
    """(what is put back, what the file holds now)."""
    before = [p for p in kept_prompts(old) if p.name == spec.name]
    if not before:
        raise ConfigError(f"prompt {spec.name}: the old run was not judged with it: there is no version to put back")
    if spec.path is None:
        raise ConfigError(
            f"prompt {spec.name}: a text in the configuration, which has no file to put a version back to"
        )
    path = Path(spec.path)
    if path.resolve().is_relative_to(library().resolve()):
        raise ConfigError(f"prompt {spec.name} is shipped: name the version you want in the configuration instead")
    current, target = read(path), before[-1]
    if current.user == target.user and current.system in ("", target.system):
        return current, current
    if current.user != spec.user or current.system not in ("", spec.system):
        raise ConfigError(f"{path} was edited since the new run was judged: put the version back by hand")
    if target.system == spec.system and not current.system:  # the default one, which is in no file
        return PromptSpec(target.name, target.user, "", target.version, target.meta, str(path)), current
    return PromptSpec(target.name, target.user, target.system, target.version, target.meta, str(path)), current


def _write(before: PromptSpec, current: PromptSpec) -> PutBack:
    path = Path(str(before.path))
    folder, is_folder = (path, True) if path.is_dir() else (path.parent, False)
    file = folder / PROMPT_FILE if is_folder else path
    stem = "" if is_folder else f"{path.stem}."
    kept = folder / f"{stem}rejected-{current.version}.md"
    meta = {k: v for k, v in before.meta.items() if is_folder or k != "system"}
    if not is_folder and before.system:
        meta["system"] = before.system
    try:
        kept.write_bytes(file.read_bytes())
        file.write_text(_text(meta, before.user), "utf-8")
        if is_folder and (before.system or current.system):
            system = folder / SYSTEM_FILE
            if system.is_file():
                (folder / f"rejected-{current.version}.system.md").write_bytes(system.read_bytes())
            system.write_text(f"{before.system}\n", "utf-8")
    except OSError as error:
        raise ConfigError(f"{error.filename or path}: cannot be written: {error.strerror}") from None
    now = read(path)
    if (now.user, now.system) != (before.user, before.system):
        raise ConfigError(f"{path}: the version put back does not read as it was; the rejected one is in {kept}")
    return PutBack(before.name, path, before.version, current.version, kept)


def _text(meta: Mapping[str, Any], user: str) -> str:
    if not meta:
        return f"{user}\n"
    import yaml

    front = yaml.safe_dump(dict(meta), sort_keys=False, allow_unicode=True, width=110)
    return f"---\n{front}---\n{user}\n"
