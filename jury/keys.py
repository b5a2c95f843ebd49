"""The key of a judgment: a digest of everything that shapes the vote, and of nothing else. Pure.

In it: provider and model, both rendered texts, the reply schema, the settings that change a reply (temperature, limit
of tokens, structured output, re-asks, extra), the order of a pair, the repetition. Not in it: the seat's name and
weight, deadlines, retries, and how votes are combined. For a judge function: its name, its code and what it is given.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from tokenize import TokenError
from types import CodeType
from typing import Any, cast

from jury.providers.base import Settings
from jury.redaction import keyless

_VERSION = "1"


@dataclass(frozen=True, slots=True)
class Question:
    """One question to one judge, before it is asked. `request` digests what would be sent, `key` what would come back.

    `item` is the id of the item, if it has one. `plain`: asked of a function or a script, which no other run can reuse.
    """

    key: str
    request: str
    judge: str
    item: str | None
    order: str
    repetition: int
    plain: bool = False


class KeyMaker:
    """Digests for one seat; what does not depend on the item is digested once."""

    def __init__(self, who: str, schema: Mapping[str, Any] | None, settings: Settings | None, na: str | None) -> None:
        shaping = {"who": who, "schema": schema, "na": na, "settings": shaping_settings(settings) if settings else None}
        self._start = hashlib.sha256(f"{_VERSION}\0{json.dumps(shaping, sort_keys=True, default=repr)}\0".encode())

    def request(self, *texts: str) -> str:
        """The digest of what is sent: the texts behind the seat's own part."""
        made = self._start.copy()
        for text in texts:
            data = text.encode("utf-8", "surrogatepass")
            made.update(b"%d\0" % len(data))  # or ("a", "bc") and ("ab", "c") would be one
            made.update(data)
        return made.hexdigest()

    def key(self, request: str, order: str, repetition: int) -> str:
        return hashlib.sha256(f"{request}\0{order}\0{repetition}".encode()).hexdigest()


def shaping_settings(settings: Settings) -> dict[str, Any]:
    """The settings that can change a reply."""
    return {
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "structured_output": settings.structured_output,
        "reask": settings.reask,
        "extra": keyless(settings.extra),  # with another key it is the same question
    }


def function_name(function: Callable[..., Any]) -> str:
    """A judge function by name, code and what it holds: a changed function is another judge, and so is each of several
    that one function made with other values.
    """
    name = f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', type(function).__qualname__)}"
    code = getattr(function, "__code__", None)
    try:
        source = inspect.getsource(function)
        if name.endswith("<lambda>"):  # the source is its line, which may hold several
            source += _compiled(code)
    except (OSError, TypeError, SyntaxError, TokenError):  # built in, typed at a prompt, or its file has changed since
        source = _compiled(code)
    source += "".join(_held(function))
    return f"function {name} {hashlib.sha256(source.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _compiled(code: CodeType | None) -> str:
    """What a function does, as far as Python knows it; with what is defined inside it."""
    if code is None:
        return ""
    inner = [_compiled(c) if isinstance(c, CodeType) else _text(c) for c in code.co_consts]
    return f"{code.co_code!r} {code.co_names!r} {inner}"


def _held(function: Any) -> Iterator[str]:
    """What a function carries besides its code: the values it closes over, its defaults, its object's attributes.

    Only values that do not change by themselves count: a list that fills up makes no other judge.
    """
    for cell in getattr(function, "__closure__", None) or ():
        try:
            yield f"\n{_text(cell.cell_contents)}"
        except ValueError:  # not filled yet
            yield "\n"
    own = function if hasattr(function, "__code__") else None
    holder = getattr(function, "__self__", None) or (function if own is None else None)
    held: dict[str, Any] = {n: getattr(function, n, None) for n in ("__defaults__", "func", "args")}
    slots: Any = getattr(cast("Any", holder).__class__, "__slots__", ())
    held.update({n: getattr(holder, n, None) for n in ((slots,) if isinstance(slots, str) else slots)})
    for carrier, attribute in ((function, "__kwdefaults__"), (function, "keywords"), (holder, "__dict__")):
        held.update(getattr(carrier, attribute, None) or {})
    for name, value in held.items():
        if value is not None:
            yield f"\n{name} {_text(value)}"


def _text(value: Any) -> str:
    """A value as text: what cannot change in full, a function by its code, all else by its type."""
    code = getattr(value, "__code__", None)
    if code is not None:
        return f"{getattr(value, '__qualname__', '')} {code.co_code!r} {code.co_names!r}"
    if isinstance(value, tuple | frozenset):
        parts = [_text(v) for v in cast("tuple[Any, ...]", value)]
        return f"({', '.join(parts if isinstance(value, tuple) else sorted(parts))})"
    return repr(value) if isinstance(value, str | int | float | bytes | None) else type(value).__qualname__
