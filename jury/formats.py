"""How a judge is to answer: `ReplyFormat`, the JSON schema of a reply with its two readers.

A jury with one verdict an item has the format of its scale. Rubrics and sessions bring their own, and go the same way
through seats, the ladder and the record. Knows no prompt, no seat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from jury.further import form_schema, formed
from jury.parsing import read_reply
from jury.providers.function import read_result
from jury.results import Usage, Verdict
from jury.scales import Scale, reply_schema


@dataclass(frozen=True, slots=True)
class ReplyFormat:
    """`schema` of a reply; `read(text, data)` is a model's reply as a verdict, `result(value)` a judge function's.

    Neither raises `ReplyError`: what cannot be read is a verdict with status `error`. `notes` go into every judgment
    that was asked for in this format, `criterion` too: the one it is about, where each is asked for by itself.
    """

    schema: Mapping[str, Any]
    read: Callable[[str | None, Any], Verdict]
    result: Callable[[Any], tuple[Verdict, Usage | None]]
    na: str | None = None
    notes: tuple[str, ...] = ()
    criterion: str | None = None

    @classmethod
    def of(cls, scale: Scale, fields: Mapping[str, Any] | None = None) -> ReplyFormat:
        """One verdict on this scale, with its explanation, and the further `fields` of the prompt (`further.py`)."""
        return cls(
            _with_fields(reply_schema(scale), fields) if fields else reply_schema(scale),
            lambda text, data: _read(text, data, scale, fields) if fields else read_reply(text, scale, data),
            lambda value: read_result(value, scale),
            scale.na,
        )


def _with_fields(schema: dict[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields after the explanation: what a verdict rests on is written before it."""
    explanation, *verdict = schema["properties"].items()
    properties = dict([explanation, *((name, form_schema(form)) for name, form in fields.items()), *verdict])
    return {**schema, "properties": properties, "required": list(properties)}


def _read(text: str | None, data: Any, scale: Scale, fields: Mapping[str, Any]) -> Verdict:
    verdict = read_reply(text, scale, data)
    if not verdict.decided:
        return verdict
    found, notes = formed(verdict.fields, fields)
    return replace(verdict, fields=found, notes=(*verdict.notes, *notes))
