"""What a numbered rule says, and what an event holds that a judge only names: for the titles of findings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from jury.store import RunManifest

_LONG = 70  # characters of a rule or of an event
_NAMING = re.compile(r"\b(?:events?|steps?|turns?|and|to|e(?=\d))|\d+|[\s,;.:&#()\[\]-]+", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,9}")


def rule_name(manifest: RunManifest, criterion: str, rule: str) -> str:
    """`rule 2 (Never name a reader.)` for `violation 2`, where the criterion's context numbers its rules."""
    kind, _, key = rule.rpartition(" ")
    if kind != "violation":
        return rule
    text = _rule(manifest, criterion, key)
    return f"rule {key} ({text})" if text else f"rule {key}"


def _rule(manifest: RunManifest, criterion: str, key: str) -> str:
    known: Any = manifest.spec.get("criteria")
    one: Any = cast("Mapping[str, Any]", known).get(criterion) if isinstance(known, Mapping) else None
    context: Any = cast("Mapping[str, Any]", one).get("context") if isinstance(one, Mapping) else None
    if not isinstance(context, str):
        return ""
    found = re.search(rf"^[^\S\n]*(?:[-*#]+\s*)?(?:rule\s+)?{re.escape(key)}\s*[.):]\s*(\S.*)$", context, re.I | re.M)
    return _cut(found[1]) if found else ""


def event_text(text: str, messages: Sequence[Mapping[str, Any]]) -> str:
    """A text that only names events (`event 2`), with what the first of them says; any other text as it is."""
    number = _NUMBER.search(text)
    if number is None or _NAMING.sub("", text):
        return text
    said = _cut(_said(int(number[0]), messages))
    return f"{text}: “{said}”" if said else text


def _said(event: int, messages: Sequence[Mapping[str, Any]]) -> str:
    for message in messages:
        if message.get("event") == event:
            return str(message.get("content") or "")
        for call in cast("Sequence[Mapping[str, Any]]", message.get("tool_calls") or ()):
            if call.get("event") == event:
                function = cast("Mapping[str, Any]", call.get("function") or {})
                return f"{function.get('name')}({function.get('arguments') or ''})"
    return ""


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONG else flat[: _LONG - 1].rstrip() + "…"
