"""Is a quote really in a text? `Haystack`: exact after folding, with few edits, in bounded time. Knows texts alone.

White space, letter case, typographic signs and JSON escapes do not count; a small share of edits is allowed, but none
that touches a number or a negation; parts around an ellipsis must come in their order.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

EXACT_BELOW = 12  # shorter quotes must be there as they are
PER_EDIT = 20  # one edit is allowed for so many characters, at least one
MAX_EDITS = 16
SHORTEST = 3  # characters of a part that is worth looking for
MAX_QUOTE = 4000  # of a longer quote the beginning is looked for
_WORK = 200_000  # characters that may be compared with edits for one part of a quote
_BETWEEN = "\0" * (MAX_EDITS + 1)  # no edits lead from one text into the next
_PLACE = 20  # what one more place to look at costs of that

_SIGNS = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "`": "'"}
    | {"–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-", "…": "...", "\u00a0": " ", "\u200b": "", "\ufeff": ""}
)
_ESCAPE = re.compile(r"\\+(?:u00a0|[nrt\"'/\\])")
_ELLIPSIS = re.compile(r"\s*(?:\[\s*\.{3}[^\]]{0,40}\]|\(\s*\.{3}\s*\)|\.{3,})\s*")
INNER_QUOTES = re.compile(r'"([^"]{3,}?)"|(?<![a-z0-9])\'([^\']{3,}?)\'(?![a-z0-9])')
_WEIGHTY = re.compile(r"\d+|\b(?:not|no|never|nor|none|cannot|without)\b|n't\b")  # what no edit may touch


def fold(text: str) -> str:
    """A text without what does not count: case, runs of white space, typographic signs, JSON escapes."""
    text = text.translate(_SIGNS).casefold()
    if "\\" in text:
        text = _ESCAPE.sub(lambda m: m[0][-1] if m[0][-1] in "\"'/\\" else " ", text)
    return " ".join(text.split())


def origins(text: str) -> list[int]:
    """For each sign of the folded text, which sign of the text it comes from."""
    signs = [(sign, at) for at, given in enumerate(text) for sign in given.translate(_SIGNS).casefold()]
    if "\\" in text:
        plain = "".join(sign for sign, _ in signs)
        made: list[tuple[str, int]] = []
        done = 0
        for found in _ESCAPE.finditer(plain):
            sign = plain[found.end() - 1]
            made += [*signs[done : found.start()], (sign if sign in "\"'/\\" else " ", signs[found.start()][1])]
            done = found.end()
        signs = made + signs[done:]
    kept: list[int] = []
    blank = True  # none at the beginning, one between words
    for sign, at in signs:
        if not (blank and sign.isspace()):
            kept.append(at)
        blank = sign.isspace()
    return kept


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part of a quote stands: the label of the text, the words as they are there, `near` with small edits."""

    label: int
    words: str
    near: bool = False


class Haystack:
    """Texts to look in, folded once. `labels` name the texts (such as event numbers); the same count, or none."""

    def __init__(self, texts: Sequence[str], labels: Sequence[int] = ()) -> None:
        self._texts = texts
        self._origins: dict[int, list[int]] = {}
        folded = [fold(text) for text in texts]
        self.labels = tuple(labels) or tuple(range(len(texts)))
        self.text = _BETWEEN.join(folded)
        self._starts: list[int] = []
        at = 0
        for part in folded:
            self._starts.append(at)
            at += len(part) + len(_BETWEEN)

    def find(self, quote: str) -> int | None:
        """The label of the text in which the quote begins; None if it is not there."""
        spans = self._spans(quote)
        return self.labels[self._number(spans[0][0])] if spans else None

    def places(self, quote: str) -> list[Place]:
        """Where the parts of the quote stand, with the words there; none if it is not there. Slow for long texts."""
        return [self._place(*span) for span in self._spans(quote)]

    def _spans(self, quote: str) -> list[tuple[int, int, bool]]:
        """(start, end, near) of each part of the quote, in the order of the text."""
        parts = [p for p in _ELLIPSIS.split(fold(quote)[:MAX_QUOTE].strip("\"' ")) if len(p) >= SHORTEST]
        made: list[tuple[int, int, bool]] = []
        for part in parts:
            found = self._find(part, made[-1][1] if made else 0)
            if found is None:
                return []
            made.append(found)
        return made

    def _number(self, at: int) -> int:
        return bisect_right(self._starts, at) - 1

    def _place(self, start: int, end: int, near: bool) -> Place:
        number = self._number(start)
        text, before = self._texts[number], self._starts[number]
        kept = self._origins.get(number)
        if kept is None:
            kept = self._origins[number] = [*origins(text), len(text)]
        return Place(self.labels[number], text[kept[start - before] : kept[end - before - 1] + 1], near)

    def _find(self, part: str, start: int) -> tuple[int, int, bool] | None:
        """(start, end, near) of a part at or after `start`."""
        at = self.text.find(part, start)
        if at >= 0:
            return at, at + len(part), False
        bare = part.rstrip(".,;:!?")  # the sign at the end is the judge's as often as the text's
        at = self.text.find(bare, start) if len(bare) >= SHORTEST else -1
        if at >= 0:
            return at, at + len(bare), False
        place = None if len(part) < EXACT_BELOW else self._near(part, start)
        return None if place is None else (*place, True)

    def _near(self, part: str, start: int) -> tuple[int, int] | None:
        """A place with at most the allowed number of edits.

        With k edits, one of k+1 pieces of the quote is there unchanged; only around such pieces is a comparison made.
        """
        allowed = min(max(len(part) // PER_EDIT, 1), MAX_EDITS)
        budget = _WORK // (1 + len(part) // 500)
        seen: set[int] = set()
        for offset, piece in _pieces(part, allowed + 1):
            at = self.text.find(piece, start)
            while at >= 0 and budget > 0:
                left = max(at - offset - allowed, start)
                budget -= _PLACE
                if left // (allowed + 1) not in seen:
                    seen.add(left // (allowed + 1))
                    window = self.text[left : left + len(part) + 3 * allowed + 1]
                    budget -= len(window)
                    place = _aligned(part, window, allowed)
                    if place is not None:
                        return left + place[0], left + place[1]
                at = self.text.find(piece, at + 1 + allowed // 2)
        return None


def _aligned(part: str, window: str, allowed: int) -> tuple[int, int] | None:
    """(start, end) of the best place in the window; None with too many edits, or one in a number or a negation."""
    end = near_end(part, window, allowed)
    if end is None:
        return None
    length = near_end(part[::-1], window[:end][::-1], allowed) or 0
    same = _WEIGHTY.findall(part) == _WEIGHTY.findall(window[end - length : end])
    return (end - length, end) if same else None


def _pieces(part: str, count: int) -> list[tuple[int, str]]:
    """The quote in pieces; those with the fewest gaps between words first, since they occur most rarely."""
    size = len(part) / count
    found = [(round(size * n), part[round(size * n) : round(size * (n + 1))]) for n in range(count)]
    return sorted(found, key=lambda item: item[1].count(" "))


def near_end(pattern: str, text: str, allowed: int) -> int | None:
    """The end of the best place in `text` with at most `allowed` edits to `pattern`; None if there is none.

    The bit-parallel algorithm of Myers (Journal of the ACM 46, 1999) in the form of Hyyrö, on Python's long integers.
    """
    size = len(pattern)
    masks: dict[str, int] = {}
    for place, sign in enumerate(pattern):
        masks[sign] = masks.get(sign, 0) | 1 << place
    top, full = 1 << (size - 1), (1 << size) - 1
    plus, minus, score = full, 0, size
    best, found = allowed + 1, None
    for place, sign in enumerate(text):
        mask = masks.get(sign, 0)
        across = (((mask & plus) + plus) ^ plus) | mask
        vertical = mask | minus
        up = minus | (~(across | plus) & full)
        down = plus & across
        score += 1 if up & top else -1 if down & top else 0
        up, down = (up << 1) & full, (down << 1) & full
        plus = down | (~(vertical | up) & full)
        minus = up & vertical
        if score < best:
            best, found = score, place + 1
            if best == 0:
                break
    return found
