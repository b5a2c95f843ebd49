"""Is what a judge quotes really there? Quotes looked up in the judged text, references to events in the session.

`TextEvidence` and `SessionEvidence` are built once for an item and check the evidence of every vote; looking up a quote
is in `quotes.py`. Knows texts and events; no judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from jury.results import EvidenceCheck
from jury.sessions.events import Session
from jury.sessions.quotes import EXACT_BELOW, INNER_QUOTES, MAX_QUOTE, SHORTEST, Haystack, fold

Kind = Literal["quote", "reference", "both"]
_REFERENCE = re.compile(
    r"(?<![\w.])(?:events?|steps?|lines?|messages?|msgs?|turns?|ev|e|i|#)\s*[#.:=]?\s*"
    r"(\d{1,6}(?:\s*(?:-|to|,|and|&|,\s*and)\s*(?:events?\s*|e|#)?\d{1,6}(?![\w.%]))*)(?![\w%]|\.\d)"
    r"|(?<!\w)\[(\d{1,6})\]"
)
_NOTHING = frozenset({"", "none", "n/a", "na", "null", "nothing", "no evidence", "not applicable"})
_ID = re.compile(r"[A-Za-z]+_[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Checked:
    """One piece of evidence. `found`: all that it quotes is there (None: it only refers). `event`: where.

    `references` are the events it names, `invalid` those that do not exist.
    """

    text: str
    kind: Kind
    found: bool | None = None
    event: int | None = None
    references: tuple[int | str, ...] = ()
    invalid: tuple[int | str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.found is not False and not self.invalid


@dataclass(frozen=True, slots=True)
class EvidenceReport:
    """All evidence of one vote, and the counts that a vote carries."""

    items: tuple[Checked, ...] = ()

    @property
    def quotes_found(self) -> int:
        return sum(item.found is True for item in self.items)

    @property
    def quotes_missing(self) -> int:
        return sum(item.found is False for item in self.items)

    @property
    def references_valid(self) -> int:
        return sum(len(item.references) - len(item.invalid) for item in self.items)

    @property
    def references_invalid(self) -> int:
        return sum(len(item.invalid) for item in self.items)

    @property
    def counts(self) -> EvidenceCheck:
        """What a vote carries of it."""
        return EvidenceCheck(
            self.quotes_found,
            self.quotes_missing,
            self.references_valid,
            self.references_invalid,
            tuple(item.text for item in self.items if not item.ok),
        )

    def to_dict(self) -> dict[str, int]:
        return {
            "quotes_found": self.quotes_found,
            "quotes_missing": self.quotes_missing,
            "references_valid": self.references_valid,
            "references_invalid": self.references_invalid,
        }


class TextEvidence:
    """Checks quotes against texts, such as an answer and its question. Built once, used for all votes on the item."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts

    @cached_property
    def haystack(self) -> Haystack:
        return Haystack(self._texts)

    def check(self, evidence: Iterable[str]) -> EvidenceReport:
        return EvidenceReport(tuple(self._one(text) for text in evidence if says_something(text)))

    def _one(self, text: str) -> Checked:
        place = find_any(self.haystack, text)
        return Checked(text, "quote", place is not None, place)


class SessionEvidence:
    """Checks quotes and references against a session.

    `events 3 and 5`, `step 4`, `e4`, `#4`, `[4]` and ids of calls are references. Quotes may be of an event's text or
    of its line in the transcript. A text that refers and is no quote itself is judged by its references alone.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._numbers = {event.i for event in session.events}
        self._ids = {event.id for event in session.events if event.id}

    @cached_property
    def haystacks(self) -> tuple[Haystack, Haystack]:
        """The texts of the events, and their lines."""
        events = [event for event in self._session.events if event.type != "gap"]
        numbers = [event.i for event in events]
        return Haystack([e.text for e in events], numbers), Haystack([e.line() for e in events], numbers)

    def check(self, evidence: Iterable[str]) -> EvidenceReport:
        return EvidenceReport(tuple(self._one(text) for text in evidence if says_something(text)))

    def _one(self, text: str) -> Checked:
        references = references_in(text[:MAX_QUOTE], self._ids)
        invalid = tuple(r for r in references if r not in self._numbers and r not in self._ids)
        place = None
        if not references or len(without_references(text[:MAX_QUOTE], self._ids)) >= SHORTEST:
            found = (find_any(haystack, text) for haystack in self.haystacks)
            place = next((place for place in found if place is not None), None)
        if place is None and references and not INNER_QUOTES.search(fold(text[:MAX_QUOTE])):
            return Checked(text, "reference", None, None, references, invalid)
        return Checked(text, "both" if references else "quote", place is not None, place, references, invalid)


def says_something(text: str) -> bool:
    """Is this evidence, and not a word for its absence?"""
    return text.strip(" .-\t\r\n\"'").casefold() not in _NOTHING


def without_references(text: str, ids: Iterable[str] = ()) -> str:
    """What is left of a text without the events it names and the signs around them."""
    known = set(ids)
    rest = _REFERENCE.sub("", _lower_words(text))
    return _ID.sub(lambda m: "" if m[0] in known else m[0], rest).strip(" ()[]:;,.-")


def references_in(text: str, ids: Iterable[str] = ()) -> tuple[int | str, ...]:
    """The events that a text names: numbers after a word such as `event`, ranges by their ends, and known ids.

    Letters alone before a number count in lower case (`e4`); `E4` is the name of a rule as often as not.
    """
    found: list[int | str] = []
    for match in _REFERENCE.finditer(_lower_words(text)):
        found += [int(number) for number in re.findall(r"\d+", match[1] or match[2])]
    known = set(ids)
    found += [word for word in _ID.findall(text) if word in known]
    return tuple(dict.fromkeys(found))


def _lower_words(text: str) -> str:
    return re.sub(r"\b(?:Event|Step|Line|Message|Turn)", lambda m: m[0].lower(), text)


def find_any(haystack: Haystack, text: str) -> int | None:
    """The label of the place for a text, else for all that it quotes, else for the text without its references."""
    return next(iter(found_as(haystack, text).values()), None)


def found_as(haystack: Haystack, text: str) -> dict[str, int]:
    """What of a text is there, with labels: the text, else all that it quotes, else the text without its references."""
    label = haystack.find(text)
    if label is not None:
        return {text: label}
    folded = fold(text[:MAX_QUOTE])
    inner = [a or b for a, b in INNER_QUOTES.findall(folded)]
    rest = without_references(folded)
    if not inner and (rest == folded or len(rest) < EXACT_BELOW):
        return {}
    found = {part: haystack.find(part) for part in inner or [rest]}
    labels = {part: label for part, label in found.items() if label is not None}
    return labels if len(labels) == len(found) else {}
