"""Whether what a judge quotes stands in the texts of an item, where, and in which words. Knows no vote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from jury.report.parts import Quote
from jury.results import EvidenceCheck
from jury.sessions.evidence import found_as
from jury.sessions.quotes import SHORTEST, Haystack, fold
from jury.store import StoredItem
from jury.store.lines import encode

_NAMES = (
    *("input", "output", "expected_output", "context"),
    *("question", "response_a", "response_b", "reference"),  # of pairs
)


def texts_of(item: StoredItem) -> dict[str, str]:
    """The judged texts that there are, in the order to show them."""
    made = {name: getattr(item, name) or "" for name in _NAMES}
    return {name: text for name, text in made.items() if text}


@dataclass
class Texts:
    """The texts of an item by name, to look up quotes in; folded once, and only if somebody quotes."""

    by_name: Mapping[str, str]
    _names: tuple[str, ...] = field(init=False)

    @classmethod
    def of(cls, item: StoredItem) -> Texts:
        """The texts of an item; of a session its messages too."""
        return cls({**texts_of(item), **_turns(item)})

    def __post_init__(self) -> None:
        self._names = tuple(self.by_name)

    @cached_property
    def _where(self) -> Haystack:
        return Haystack(tuple(self.by_name.values()))

    def quote(self, text: str, criterion: str, check: EvidenceCheck | None) -> Quote:
        """A quote: found by the check that was made when it was judged, else looked for here."""
        field, near, words = self._place(text)
        if check is not None and not field:
            found = False if text in check.missing else None if check.references_valid else True
            return Quote(text, found, criterion)
        return Quote(text, bool(field), criterion, field, near, words)

    def _place(self, text: str) -> tuple[str, bool, tuple[str, ...]]:
        """(name of the text that holds the quote, near, words there); an empty name where none does."""
        parts = found_as(self._where, text)
        if parts:
            name = self._names[next(iter(parts.values()))]
            if text in self.by_name[name]:
                return name, False, ()
            places = [place for part in parts for place in self._where.places(part)]
            return name, any(p.near for p in places), tuple(p.words for p in places)
        short = fold(text)  # too short to be looked for with edits
        found = (n for n, t in self.by_name.items() if short and len(short) < SHORTEST and short in fold(t))
        return next(found, ""), False, ()


def _turns(item: StoredItem) -> dict[str, str]:
    """The messages and the arguments of calls as texts that can be quoted."""
    made: dict[str, str] = {}
    for number, message in enumerate(item.messages, 1):
        made[f"message {number}"] = str(message.get("content") or "")
        for call, given in enumerate(_arguments(message), 1):
            made[f"message {number}, call {call}"] = given
    return made


def _arguments(message: Mapping[str, Any]) -> Iterator[str]:
    for call in message.get("tool_calls") or ():
        given: Any = cast("Mapping[str, Any]", call.get("function") or call).get("arguments")
        yield given if isinstance(given, str) else encode({"arguments": given})
