"""Prompts with versions: a changed text needs a new one. Compares names, versions and digests; reads no prompt file.

A prompt without a version of its own (a text in a call or a file without front matter) may change freely: its digest
stands in every key all the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jury.errors import ConfigError
from jury.prompts import UNVERSIONED, PromptSpec

_SHAPING = ("verdicts", "passing", "na", "rubric", "fields", "options")  # of the front matter: what is asked back


def with_system(spec: PromptSpec, own: str | None, default: str = "") -> PromptSpec:
    """The prompt with a caller's `own` system text, which makes it one without a version.

    `default` is its system text where it has none and nobody gives one.
    """
    if own is None or own == spec.system:
        return spec if spec.system or own == "" else replace(spec, system=default)
    return replace(spec, system=own, version=UNVERSIONED)


def edited(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The prompts that were edited under a version that has results: `name version`. Prompts by digest.

    An edit is another text, or other verdicts, fields, options or another rubric in the front matter.
    """
    found: list[str] = []
    for digest, prompt in now.items():
        name, version = prompt.get("name"), prompt.get("version")
        old = {d: p for d, p in before.items() if (p.get("name"), p.get("version")) == (name, version)}
        known = digest in before if digest not in old else _asks(old[digest], prompt)
        if old and not known and version != UNVERSIONED:
            found.append(f"{name} {version}")
    return found


def _asks(old: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Do two prompts with one text ask for the same back? Yes where the older one is kept without its front matter."""
    if "meta" not in old or "meta" not in now:
        return True
    before, after = ([p["meta"].get(key) for key in _SHAPING] for p in (old, now))
    return _as_json(before) == _as_json(after)


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def refuse_edits(before: Mapping[str, Any], now: Mapping[str, Any], where: str, *, force: bool = False) -> None:
    """Raises `ConfigError` where a prompt was edited in silence and results of the old text exist; not with `force`."""
    found = edited(before, now)
    if found and not force:
        raise ConfigError(
            f"{where} holds results of another text of {', '.join(found)}: give the changed prompt a new version (and "
            "a line in its changelog), take another folder, or say --edited-prompt (force=True in Python)"
        )
