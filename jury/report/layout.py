"""What the page is laid out with: sections, cards, verdict badges, meters, links to items. Static HTML."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from urllib.parse import quote

from jury.report.markup import Content, Markup, own, remark, tag, whole
from jury.report.parts import Rate

SIGNS = {
    "pass": ("✓", "pass"),
    "fail": ("✕", "fail"),
    "na": ("–", "NA"),
    "inconclusive": ("?", "inconclusive"),
    "error": ("!", "error"),
    "not_judged": ("∅", "not judged"),
    "unrated": ("•", "rated"),
    "A": ("A", "A"),
    "B": ("B", "B"),
    "tie": ("=", "tie"),
}


def section(title: Content, intro: str, *content: Content, id: str) -> Markup:
    """A part of the page; the links at the top lead to its id."""
    told = remark(intro, class_="intro") if intro else None
    return tag("section", tag("h2", title), told, content, class_="part", id=id)


def card(title: str, says: str, *content: Content, half: bool = False) -> Markup | None:
    """A box with a title and a sentence that says what it means; None for an empty one."""
    if not says and not any(content):
        return None
    told = remark(says, class_="says") if says else None
    return tag("div", tag("h3", title), told, content, class_="card half" if half else "card")


def link(item: str) -> Markup:
    """A link that opens an item."""
    return tag("a", own(item), href=f"#item={quote(whole(item), safe='')}")


def capital(text: str) -> str:
    """The first letter large, the others as they are."""
    return text[:1].upper() + text[1:]


def ends(rate: Rate) -> tuple[float | None, float | None, float | None, str]:
    """A rate as a plot of intervals takes it."""
    return rate.value, rate.low, rate.high, rate.text


def badge(outcome: str, word: str = "") -> Markup:
    """A verdict as a sign, a word and a colour; any two of them are enough."""
    sign, plain = SIGNS.get(outcome, ("•", outcome))
    told = own(word or plain, "span", class_="word txt")
    return tag(
        "span", None if sign == plain else tag("span", sign, aria_hidden="true"), told, class_=f"badge v-{outcome}"
    )


def sentence(text: str, names: Collection[str] = ()) -> str:
    """A remark as a sentence; a name at its head stays as it is written."""
    named = any(text.startswith(name) for name in names)
    return (text if named else capital(text)) + ("" if text.endswith((".", "!", "?")) else ".")


def first(rate: Rate) -> str:
    """The number without its interval."""
    return rate.text.partition(" (")[0]


def interval(rate: Rate) -> str:
    """The interval in words; empty where there is none."""
    ends = rate.text.partition(" (")[2].rstrip(")")
    return f"{round(100 * rate.level)}% interval {ends}" if ends else ""


def meter(rate: Rate) -> Markup:
    """A share and its interval on a line from nothing to all; the numbers stand beside it."""
    low = max(0.0, rate.low if rate.low is not None else rate.value or 0.0)
    high = min(1.0, rate.high if rate.high is not None else rate.value or 0.0)
    at = min(1.0, max(0.0, rate.value or 0.0))
    return tag(
        "svg",
        tag("rect", x="0", y="8", width="100%", height="6", rx="3", class_="track"),
        tag("rect", x=_pct(low), y="5", width=_pct(high - low), height="12", rx="3", class_="span"),
        tag("rect", x=_pct(max(0.0, at - 0.004)), y="2", width="0.8%", height="18", rx="1", class_="point"),
        class_="meter",
        aria_hidden="true",
    )


def strip(counts: Mapping[str, int]) -> Markup | None:
    """Counts as one strip; the legend beside it has the numbers."""
    total = sum(counts.values())
    if not total:
        return None
    pieces: list[Markup] = []
    at = 0.0
    for kind, n in counts.items():
        width = n / total
        pieces.append(tag("rect", x=_pct(at), y="0", width=_pct(width), height="12", class_=f"f-{kind} gap"))
        at += width
    return tag("svg", pieces, class_="strip", aria_hidden="true")


def key(kind: str) -> Markup:
    """The colour of a kind, for a legend."""
    box = tag("rect", x="0", y="0", width="10", height="10", rx="2", class_=f"f-{kind}")
    return tag("svg", box, class_="key", viewBox="0 0 10 10", aria_hidden="true")


def _pct(share: float) -> str:
    return f"{100 * share:.2f}%"
