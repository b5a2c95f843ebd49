"""Keys leave no trace: what goes into an error text passes through `redact`. Knows no provider; holds no key."""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN = "[key hidden]"

# What looks like a key, for those that a server echoes and nobody here was given.
_KEYLIKE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|fw|r8|hf)[-_][\w*.\-]{6,}"  # prefixes that vendors put before their keys
    r"|\bAIza[\w\-]{16,}"
    r"|(?<=Bearer )[\w.\-~+/=*]{6,}",
    re.IGNORECASE,
)
_SHORTEST = 6  # a shorter "key" (say "none", for a local server) is an ordinary word


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without the given keys and without whatever looks like one."""
    for secret in secrets:
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, HIDDEN)
    return _KEYLIKE.sub(HIDDEN, text)
