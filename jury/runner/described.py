"""What the manifest of a session run says of its criteria, and what of it has changed since the last pass.

It holds all that a replay needs to read replies and to decide anew: verdicts, fields and contradictions of every
criterion, and which share a call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from jury.judge import Prompt
from jury.keys import function_name
from jury.prompts import PromptSpec
from jury.scales import Labels
from jury.sessions.criteria import SessionCriterion
from jury.sessions.judging import SessionJury, shared_calls
from jury.sessions.reply import ReplySpec
from jury.store import scale_to_dict
from jury.store.lines import digest

_WORDS = ("ask", "long", "session_tokens")


def session_scale() -> dict[str, Any]:
    """The scale of a report as a whole."""
    return scale_to_dict(Labels(["PASS", "FAIL", "NA"], passing=["PASS"], na="NA"))


def criteria_of(jury: SessionJury) -> dict[str, Any]:
    """The criteria of a jury as JSON values, by key. `context`: the text that judges go by, where the jury has one."""
    return {
        one.key: {
            "prompt": one.prompt.spec.digest,
            "options": dict(one.options),
            "verdicts": list(one.reply.verdicts),
            "fields": dict(one.reply.fields),
            "contradictions": {k: list(v) for k, v in one.reply.contradictions.items()},
            "every_event": one.every_event,
            "context": one.with_context(jury.context).context,
            "examples": _examples(one),
        }
        for one in jury.criteria
    }


def _examples(one: SessionCriterion) -> str | None:
    if not one.examples:
        return None
    return digest(json.dumps(one.examples, default=str).encode("utf-8", "surrogatepass"))


def session_shaping(jury: SessionJury) -> dict[str, Any]:
    """Everything about a session jury that can change a result, beside its panel."""
    return {
        "criteria": criteria_of(jury),
        "checks": [
            (c.name, function_name(c.function), c.passes and function_name(c.passes), c.fact) for c in jury.checks
        ],
        **{word: getattr(jury, word) for word in _WORDS},
    }


def session_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What is different between the `spec`s of two manifests of session runs, in sentences."""
    old, new = (cast("dict[str, dict[str, Any]]", spec.get("criteria") or {}) for spec in (before, now))
    were, are = ([*spec.get("criteria", ()), *spec.get("checks", ())] for spec in (before, now))
    said = [f"criterion {key} is new" for key in are if key not in were]
    said += [f"criterion {key} is gone" for key in were if key not in are]
    said += [
        f"{what} of {key} changed"
        for key in new
        if key in old
        for what in ("prompt", "options", "context", "examples")
        if old[key].get(what) != new[key].get(what)
    ]
    return said + [f"{word} changed" for word in _WORDS if before.get(word) != now.get(word)]


def stored_criteria(spec: Mapping[str, Any]) -> list[tuple[SessionCriterion, ...]]:
    """The criteria of a manifest's `spec`, those that share a call together: enough to read replies, not to ask."""
    blank = Prompt(PromptSpec("stored", ""))
    made = [
        SessionCriterion(
            key,
            blank,
            ReplySpec(key, tuple(about["verdicts"]), about.get("fields") or {}, about.get("contradictions") or {}),
            every_event=bool(about.get("every_event", True)),
        )
        for key, about in cast("dict[str, dict[str, Any]]", spec.get("criteria") or {}).items()
    ]
    return shared_calls(made, str(spec.get("ask", "each")), str(spec.get("long", "fit")))
