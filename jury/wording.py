"""How numbers and verdicts are written for people, in one place: counts, shares, money, outcomes, reasons.

Knows no result by name, and imports nothing of the package.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
# An outcome as a verdict is told in a cell, and as many of them are counted.
COUNTED = {"pass": "passed", "fail": "failed", "na": "NA", "a": "A", "b": "B"}
FLIPS = {
    "primacy": "took the first answer both times",
    "recency": "took the second answer both times",
    "mixed": "a tie against a side",
}
_REASONS = {
    "tie": "tied",
    "no_majority": "no majority",
    "quorum": "too few votes",
    "errors": "no usable reply",
    "abstained": "abstained",
    "rule": "no word from the aggregator",
    "stopped": "stopped",
    "budget": "no money left",
    "deadline": "out of time",
}


def count(n: int, word: str, many: str | None = None) -> str:
    """A number of things.

    >>> count(1, "item"), count(2000, "item"), count(1, "person", "people")
    ('1 item', '2,000 items', '1 person')
    """
    return f"{n:,} {word if n == 1 else many or word + 's'}"


def percent(part: float, whole: float) -> str:
    """A share as text; what is not all is never 100%, what is not nothing never 0%, and of nothing there is no share.

    >>> percent(1, 3000), percent(2999, 3000), percent(1, 300), percent(3, 4), percent(0, 0)
    ('<0.1%', '>99.9%', '0.3%', '75%', 'n/a')
    """
    if not whole:
        return "n/a"
    share = part / whole
    text = f"{100 * share:.1f}".removesuffix(".0")
    if share > 0 and text == "0":
        return "<0.1%"
    return ">99.9%" if share < 1 and text == "100" else f"{text}%"


def dollars(amount: float) -> str:
    """US dollars; what is not nothing is never shown as nothing, and never with an exponent.

    >>> dollars(0), dollars(1234.5), dollars(0.5), dollars(0.01234), dollars(0.0000123), dollars(1.4e-6), dollars(2e-9)
    ('$0', '$1,234.50', '$0.50', '$0.0123', '$0.000012', '$0.0000014', '<$0.000001')
    """
    if amount == 0:
        return "$0"
    if amount < 0:
        return f"-{dollars(-amount)}"
    if amount < 1e-6:
        return "<$0.000001"
    if amount >= 1 or (amount >= 0.01 and abs(amount - round(amount, 2)) < 1e-9):
        return f"${amount:,.2f}"
    places = 4 + sum(amount < small for small in (1e-3, 1e-4, 1e-5))  # two digits that say something, at least
    return f"${amount:.{places}f}"


def bracket(low: float, high: float) -> str:
    """The 95% interval of a share on a terminal, in per cent.

    >>> bracket(0.747, 0.8834)
    '[74.7, 88.3]'
    """
    return f"[{100 * low:.1f}, {100 * high:.1f}]"


def counted(counts: Iterable[tuple[str, int]]) -> str:
    """Outcomes with how many there are, by the words of `outcome` or of a winner.

    >>> counted([("pass", 12), ("fail", 0), ("not_judged", 3)])
    '12 passed, 0 failed, 3 not judged'
    """
    return ", ".join(f"{n:,} {COUNTED.get(word, word.replace('_', ' '))}" for word, n in counts)


def reason(name: str | None) -> str:
    """Why there is no verdict, in words; empty for no reason."""
    return _REASONS.get(name or "", (name or "").replace("_", " "))


def reasons(counts: Mapping[str, int]) -> str:
    """How many have no verdict, by reason, the most frequent first.

    >>> reasons({"quorum": 1, "tie": 2})
    '2 tied, 1 too few votes'
    """
    return ", ".join(f"{n:,} {reason(name)}" for name, n in sorted(counts.items(), key=lambda one: -one[1]))


def flips(counts: Mapping[str, int]) -> str:
    """How votes changed with the order of the answers, the most frequent kind first.

    >>> flips({"primacy": 2, "recency": 0, "mixed": 3})
    '3 a tie against a side, 2 took the first answer both times'
    """
    told = sorted(counts.items(), key=lambda one: -one[1])
    return ", ".join(f"{n:,} {FLIPS.get(kind, kind)}" for kind, n in told if n)


def value_word(value: object) -> str:
    """A verdict's value, or a label's.

    >>> value_word(True), value_word("helpful"), value_word(4.0), value_word(12345.6), value_word(None)
    ('pass', 'helpful', '4', '12,346', 'n/a')
    """
    if isinstance(value, bool):
        return "pass" if value else "fail"
    if isinstance(value, int | float):
        if value != value or value in (float("inf"), float("-inf")):
            return "n/a"
        return f"{value:.4g}" if abs(value) < 9999.5 else f"{value:,.0f}"
    return "n/a" if value is None else str(value)


def marked(value: object, passed: bool | None) -> str:
    """A value, and whether it passes where that is not said already.

    >>> marked(4.0, True), marked(False, False), marked("PASS", True)
    ('4 (pass)', 'fail', 'PASS')
    """
    text = value_word(value)
    if isinstance(value, bool) or passed is None or text.casefold() in ("pass", "fail"):
        return text
    return f"{text} ({value_word(passed)})"


def visible(text: str) -> str:
    """Control characters and marks that turn the direction of writing, as escapes: judged texts move no cursor."""
    return _ACTING.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def shorten(text: str, length: int) -> str:
    """A text on one line, cut to a length; what would act on a terminal is shown as an escape."""
    flat = visible(" ".join(text[: 50 * length].split()))
    return flat if len(flat) <= length else flat[: length - 1].rstrip() + "…"
