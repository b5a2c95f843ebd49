"""Keys leave no trace: what goes into an error text passes through `redact`, settings and addresses that a run folder
keeps through `keyless` and `address`. Knows no provider; holds no key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

HIDDEN = "[key hidden]"

# What looks like a key, for those that a server echoes and nobody here was given.
_KEYLIKE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|fw|r8|hf)[-_][\w*.\-]{6,}"  # prefixes that vendors put before their keys
    r"|\bAIza[\w\-]{16,}"
    r"|(?<=Bearer )[\w.\-~+/=*]{6,}",
    re.IGNORECASE,
)
_SHORTEST = 6  # a shorter "key" (say "none", for a local server) is an ordinary word


# What a header, a field or a part of an address is called that holds one. `max_tokens` and `prompt_cache_key` do not.
_SECRET = (
    "authorization|cookie|password|passwd|secret|signature|sig|credentials?|token"
    "|(?:api|access|auth|private|subscription)[-_]?key"
)
_NAMED = re.compile(rf"(?:^|[-_])(?:{_SECRET})$", re.IGNORECASE)
_PART = re.compile(rf"([?&;](?:[^=&;#]*[-_])?(?:{_SECRET}|key|code)=)[^&;#]*", re.IGNORECASE)


def keyless(value: Any) -> Any:
    """JSON data with what its names say is a key hidden: `extra_headers: {Authorization: ...}`."""
    if isinstance(value, Mapping):
        pairs = cast("Mapping[Any, Any]", value).items()
        return {k: HIDDEN if v and _NAMED.search(str(k)) and isinstance(v, str) else keyless(v) for k, v in pairs}
    if isinstance(value, list | tuple):
        return [keyless(v) for v in cast("list[Any]", value)]
    return value


def address(url: str) -> str:
    """A URL without the keys in its query."""
    return _PART.sub(rf"\1{HIDDEN}", url)


def told(error: BaseException) -> str:
    """An exception of somebody else's code in a word: its type and text, no key in it; also where it has no text."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - its own code makes its text
        text = "(it has no text that can be read)"
    return redact(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without the given keys and without whatever looks like one."""
    for secret in secrets:
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, HIDDEN)
    return _KEYLIKE.sub(HIDDEN, text)
