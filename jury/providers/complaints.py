"""What an error body says, whoever wrote it: `Complaint` with message, code, type and the parameters it names.

OpenAI, Anthropic, Google, FastAPI servers (vLLM, Mistral) and Ollama each wrap an error differently. Pure; what an
error means is decided in `faults.py` and `adapt.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

_LONGEST = 600  # characters of a message that are kept


@dataclass(frozen=True, slots=True)
class Complaint:
    """`params`: top-level names of the request body that the error points at, by a field of its own (not in prose)."""

    message: str = ""
    code: str = ""
    type: str = ""
    params: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """All it says, in lower case, to look for words in."""
        return f"{self.code} {self.type} {self.message}".lower()


def read(body: Any) -> Complaint:
    """The error in a body: parsed JSON, a text, or None. Never raises; an unknown shape becomes the message as JSON."""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        return _text(body)
    if isinstance(body, list) and body:
        body = cast("list[Any]", body)[0]
    if not isinstance(body, Mapping):
        return Complaint() if body is None else Complaint(_short(str(cast("object", body))))
    given = cast("Mapping[str, Any]", body)
    inner: Any = given.get("error") or given
    if isinstance(inner, str):
        return Complaint(_short(inner), _word(given.get("code")), _word(given.get("type")), _params(given))
    error = cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else given
    codes = (error.get("code"), _inner_code(error), error.get("status"), *(e.get("type") for e in _entries(error)))
    code = " ".join(dict.fromkeys(w for w in map(_word, codes) if w))
    return Complaint(_message(error), code, _word(error.get("type")), _params(error))


def is_error(body: Any) -> bool:
    """Whether a body that came with a good status is an error object all the same."""
    if isinstance(body, list) and body:
        body = cast("list[Any]", body)[0]
    if not isinstance(body, Mapping):
        return False
    given = cast("Mapping[str, Any]", body)
    return given.get("type") == "error" or given.get("object") == "error" or bool(given.get("error"))


def _text(text: str) -> Complaint:
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        try:
            return read(json.loads(stripped))
        except (ValueError, RecursionError):
            pass
    if stripped[:1] == "<":
        title = re.search(r"<title[^>]*>(.*?)</title>", stripped, re.IGNORECASE | re.DOTALL)
        return Complaint("an HTML page" + (f": {_short(title.group(1))}" if title and title.group(1).strip() else ""))
    return Complaint(_short(stripped))


def _message(error: Mapping[str, Any]) -> str:
    message: Any = error.get("message")
    if isinstance(message, str) and message.strip():
        return _short(message)
    detail = _detail(error)
    if isinstance(detail, str):
        return _short(detail)
    if isinstance(detail, list):
        lines: list[str] = []
        for item in cast("list[Any]", detail):
            if isinstance(item, Mapping):
                entry = cast("Mapping[str, Any]", item)
                lines.append(f"{'.'.join(str(p) for p in _loc(entry))}: {entry.get('msg', '')}")
            else:
                lines.append(str(item))
        return _short("; ".join(lines))
    reason: Any = error.get("reason") or error.get("code") or error.get("type")
    return _short(str(reason)) if reason else _short(json.dumps(error, default=str))


def _detail(error: Mapping[str, Any]) -> Any:
    """The `detail` of FastAPI servers; Mistral puts it into `message`."""
    message: Any = error.get("message")
    return cast("Mapping[str, Any]", message).get("detail") if isinstance(message, Mapping) else error.get("detail")


def _params(error: Mapping[str, Any]) -> tuple[str, ...]:
    names: list[str] = []
    param: Any = error.get("param")
    if isinstance(param, str) and param:
        names.append(re.split(r"[.\[]", param)[0])
    for entry in _entries(error):
        path = [p for p in _loc(entry) if p != "body"]
        if path:
            names.append(str(path[0]))
    return tuple(dict.fromkeys(names))


def _entries(error: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What was wrong with each field: `[{"loc": ["body", "seed"], "msg": ..., "type": "extra_forbidden"}]`."""
    detail = _detail(error)
    found = cast("list[Any]", detail) if isinstance(detail, list) else []
    return [cast("Mapping[str, Any]", item) for item in found if isinstance(item, Mapping)]


def _loc(entry: Mapping[str, Any]) -> list[Any]:
    loc: Any = entry.get("loc")
    return list(cast("list[Any]", loc)) if isinstance(loc, list | tuple) else []


def _inner_code(error: Mapping[str, Any]) -> Any:
    """Azure's reason (`ResponsibleAIPolicyViolation`) and Anthropic's `details.error_code`."""
    for name, key in (("innererror", "code"), ("details", "error_code")):
        inner: Any = error.get(name)
        if isinstance(inner, Mapping):
            return cast("Mapping[str, Any]", inner).get(key)
    return None


def _word(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
