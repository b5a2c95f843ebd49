"""How a judge is to answer: `ReplyFormat`, the JSON schema of a reply with its two readers.

A jury with one verdict an item has the format of its scale. Rubrics and sessions bring their own, and go the same way
through seats, the ladder and the record. Knows no prompt, no seat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

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
    def of(cls, scale: Scale) -> ReplyFormat:
        """One verdict on this scale, with its explanation."""
        return cls(
            reply_schema(scale),
            lambda text, data: read_reply(text, scale, data),
            lambda value: read_result(value, scale),
            scale.na,
        )
