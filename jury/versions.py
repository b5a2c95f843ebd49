"""Prompts with versions: a changed text needs a new one. Compares names, versions and digests; reads no prompt file.

A prompt without a version of its own (a text in a call or a file without front matter) may change freely: its digest
stands in every key all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jury.errors import ConfigError

UNVERSIONED = "0"


def edited(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The prompts that were edited under a version that has results: `name version`. Prompts by digest."""
    old = {(p.get("name"), p.get("version")): digest for digest, p in before.items()}
    found: list[str] = []
    for digest, prompt in now.items():
        known = old.get((prompt.get("name"), prompt.get("version")))
        if known is not None and known != digest and digest not in before and prompt.get("version") != UNVERSIONED:
            found.append(f"{prompt.get('name')} {prompt.get('version')}")
    return found


def refuse_edits(before: Mapping[str, Any], now: Mapping[str, Any], where: str, *, force: bool = False) -> None:
    """Raises `ConfigError` where a prompt was edited in silence and results of the old text exist; not with `force`."""
    found = edited(before, now)
    if found and not force:
        raise ConfigError(
            f"{where} holds results of another text of {', '.join(found)}: give the changed prompt a new version (and "
            "a line in its changelog), take another folder, or say --edited-prompt (force=True in Python)"
        )
