"""Parameters that a model refuses: the next request body, and what was lost on the way. Pure but for `Memory`.

`max_tokens` becomes `max_completion_tokens` (or the other way round); `temperature` and any extra that is not supported
are left out. Both are named in the result. A value that is merely wrong (a temperature of 3) is the caller's to mend:
it is not dropped. What carries the question or the form of the reply is never touched; that is the ladder's business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jury.providers import complaints

LIMITS = ("max_tokens", "max_completion_tokens")  # the two names in Chat Completions
_LIMIT_OF = {"openai_responses": "max_output_tokens", "anthropic_messages": "max_tokens"}

# Never left out: the question, the form of the reply, and what the API cannot do without.
_KEPT = frozenset(
    {"model", "messages", "input", "system", "instructions", "stream"}
    | {"response_format", "text", "tools", "tool_choice", "output_config", "output_format"}
)
_UNSUPPORTED = re.compile(
    r"unsupported|not support|n[o']t supported|unknown (parameter|field|name|argument)|unrecogni[sz]ed|not permitted"
    r"|extra_forbidden|not allowed|isn't allowed|deprecated|may only be set|only the default|cannot find field"
    r"|not available|cannot both be|unexpected keyword|not compatible|incompatible|removed|is not valid for this model"
)

_WRONG_VALUE = re.compile(
    r"must be|between|at most|at least|less than|greater than|out of range|too (large|small|high)"
)
_COMMON = frozenset({"model", "messages", "input", "system", "text", "tools", "user", "stop", "n", "store", "metadata"})


def adapt(
    body: Mapping[str, Any], status: int, error: Any, api: str = "openai_chat"
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """(next body, names of the parameters that it lost); the body unchanged where the error is about something else.

    `error`: the error body as it came. A token limit under its other name is no loss.
    """
    after, lost, _ = _adapted(body, status, error, api)
    return after, lost


@dataclass(slots=True)
class Memory:
    """What one model was found to refuse: applied to every later request, for the life of the process."""

    renamed: dict[str, str] = field(default_factory=dict[str, str])
    dropped: set[str] = field(default_factory=set[str])

    def apply(self, body: dict[str, Any]) -> tuple[str, ...]:
        """Change a new body as learned; gives the names of what it lost, and `old as new` of what has another name."""
        moved: dict[str, str] = {}
        for old, new in self.renamed.items():
            if old in body:
                body.setdefault(new, body.pop(old))
                moved[new] = f"{old} as {new}"
        lost = [name for name in body if name in self.dropped]
        for name in lost:
            del body[name]
        return (*lost, *(note for new, note in moved.items() if new not in lost))

    def learn(self, body: Mapping[str, Any], status: int, error: Any, api: str) -> bool:
        """Take an error in; whether there is something to change about this body."""
        _, lost, renamed = _adapted(body, status, error, api)
        for old, new in renamed.items():
            if self.renamed.pop(new, None) is not None:  # both names are refused: leave the limit to the provider
                self.dropped.update((old, new))
            else:
                self.renamed[old] = new
        self.dropped.update(lost)
        return bool(lost or renamed)


def _adapted(
    body: Mapping[str, Any], status: int, error: Any, api: str
) -> tuple[dict[str, Any], tuple[str, ...], dict[str, str]]:
    after = dict(body)
    lost: list[str] = []
    renamed: dict[str, str] = {}
    for name in _refused(body, status, error):
        if name == "max_tokens" and api == "anthropic_messages":  # cannot do without it
            continue
        other = _other_limit(name, error, api)
        if other is None:
            del after[name]
            lost.append(name)
        else:
            after.setdefault(other, after.pop(name))
            renamed[name] = other
    return after, tuple(lost), renamed


def _other_limit(name: str, error: Any, api: str) -> str | None:
    """The other name of a token limit: the one that the error recommends, else the one that the API knows."""
    if name not in (*LIMITS, *_LIMIT_OF.values()):
        return None
    advice = re.search(r"\buse\W+(max_\w*tokens)\b", complaints.read(error).message, re.IGNORECASE)
    other = advice.group(1) if advice else _LIMIT_OF.get(api) or LIMITS[name == LIMITS[0]]
    return other if other != name else None


def _refused(body: Mapping[str, Any], status: int, error: Any) -> tuple[str, ...]:
    """Which of a body's parameters an error calls unsupported."""
    if status not in (400, 422):
        return ()
    told = complaints.read(error)
    if not _UNSUPPORTED.search(told.words) or (_WRONG_VALUE.search(told.words) and "unsupported_" not in told.code):
        return ()
    named = [p for p in told.params if p in body] or _spoken(body, told.message)
    return tuple(p for p in named if p not in _KEPT)


def _spoken(body: Mapping[str, Any], message: str) -> list[str]:
    """The parameter that a sentence is about: the first in quotes, else the first that no sentence uses by chance."""
    own = {_plain(name): name for name in body}
    quoted = [own[_plain(w)] for w in re.findall(r"[`'\"]([A-Za-z_.]+)[`'\"]", message) if _plain(w) in own]
    words = [own[_plain(w)] for w in re.findall(r"[A-Za-z_]+", message) if _plain(w) in own]
    return (quoted or [w for w in words if w not in _COMMON])[:1]


def _plain(name: str) -> str:
    """`presence_penalty` and `presencePenalty` are one name."""
    return name.replace("_", "").lower()
