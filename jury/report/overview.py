"""The top of the page: what the run is, its rate and coverage, spend, what the panel was worth. Static HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from jury.report import words
from jury.report.layout import SIGNS, badge, capital, first, interval, key, meter, sentence, strip
from jury.report.markup import Content, Markup, own, remark, tag
from jury.report.parts import Head, Report, Target
from jury.wording import COUNTED

_LOW = 0.95  # a share of items with a verdict; below it the others may differ from them
_LONG = 400  # characters of what was asked; the rest is folded
KINDS = {"pointwise": "one answer each", "pairwise": "pairs of answers", "rubric": "by a rubric", "session": "sessions"}


def mast(report: Report) -> Markup:
    """Title, what was asked, tiles, what the panel was worth."""
    head = report.head
    over = ["jury report", KINDS.get(head.kind, head.kind), _day(head.created), f"jury {head.jury_version}"]
    return tag(
        "header",
        tag("p", [tag("span", o) for o in over if o and not o.endswith(" ")], class_="over"),
        tag("h1", own(head.name or "A run")),
        _asked(head.criteria),
        tag("p", "The run is not finished: this is what there is of it.", class_="card warned note-line")
        if not head.finished
        else None,
        tag("div", tiles(report), class_="tiles" if head.gate is None else "tiles five"),
        _worth(head),
        [remark(note, class_="note-line") for note in report.notes],
        class_="mast",
    )


def _asked(criteria: str) -> list[Markup | None]:
    """What was asked: the beginning, and the rest on request."""
    text = criteria.strip()
    start, _, rest = text.partition("\n\n")
    if not rest and len(text) > _LONG:
        start, rest = text[:_LONG].rsplit(" ", 1)[0] + " …", text
    more = tag("details", tag("summary", "All that was asked"), own(rest, "p", class_="lead"), class_="data")
    return [own(start, "p", class_="lead") if start else None, more if rest else None]


def tiles(report: Report) -> list[Markup | None]:
    """The numbers that are read first: of many candidates who leads, since A and B are others in each pair."""
    head, pairs = report.head, report.pairs
    many = pairs is not None and len(pairs.ranking) > 2
    lead = _leader(pairs.ranking) if pairs and many else _rate(head)
    return [lead, _coverage(head), _corrected(head), _gate(head), _spend(head)]


def _tile(name: str, big: Content, *rest: Content, main: bool = False) -> Markup:
    kind = "card tile main" if main else "card tile"
    size = "big quiet" if big == words.UNDEFINED else "big"
    return tag("div", tag("h2", capital(name)), tag("p", big, class_=size), rest, class_=kind)


def _rate(head: Head) -> Markup:
    rate = head.rate
    if rate.value is None and head.mean is not None:
        low, high = head.scale.get("low"), head.scale.get("high")
        told = f"on a scale from {low:g} to {high:g}" if low is not None and high is not None else ""
        return _tile("mean score", first(head.mean), _note(interval(head.mean)), _note(told), main=True)
    of = f"{_number(rate.hits)} of {words.count(rate.n, 'item')}" if rate.value is not None else rate.why
    if rate.value is not None and head.kind != "pairwise":
        of += " that passed or failed"
    return _tile(
        head.rate_name,
        first(rate),
        meter(rate) if rate.value is not None else None,
        _note(interval(rate)),
        _note(of),
        _note(f"mean score {head.mean.text}") if head.mean is not None else None,
        main=True,
    )


def _leader(ranking: Sequence[Target]) -> Markup:
    """Who is first of a ranking, and whether that is settled."""
    best = ranking[0]
    level = [t.name for t in ranking[1:] if t.ranks is not None and t.ranks[0] == 1]
    if best.ranks is None:
        told = "the ranking is not settled"
    elif best.ranks[1] == 1:
        told = "first within its 95% interval"
    else:
        told = f"rank {best.ranks[0]} to {best.ranks[1]} within its 95% interval: no winner yet"
    others = f"{words.count(len(level), 'other')} may be first too" if level else ""
    name = tag("span", own(best.name), class_="name")
    return _tile(f"first of {len(ranking)} candidates", name, _note(told), _note(others), main=True)


def _coverage(head: Head) -> Markup:
    rest = {k: n for k, n in head.outcomes.items() if n}
    low = ": see why before you quote the rate" if (head.coverage.value or 0.0) < _LOW else ""
    items = [tag("li", key(k), f"{n:,} ", COUNTED.get(k, SIGNS.get(k, ("", k))[1])) for k, n in rest.items()]
    return _tile(
        "coverage",
        head.coverage.text,
        strip(rest),
        tag("ul", items, class_="legend"),
        _note(f"{head.answered:,} of {words.count(head.total, 'item')} have a usable verdict{low}"),
        main=True,
    )


def _corrected(head: Head) -> Markup:
    name = "corrected rate"
    if head.corrected is not None:
        shown = (meter(head.corrected), _note(interval(head.corrected)), _note("what people would have found"))
        return _tile(name, first(head.corrected), *shown)
    return _tile(name, "n/a", _note(head.corrected_why), _note(f"{words.count(head.labels, 'label')} so far"))


def _gate(head: Head) -> Markup | None:
    if head.gate is None:
        return None
    word, told = _gate_words(head.gate)
    return _tile("gate", badge({"pass": "pass", "fail": "fail"}.get(word, "inconclusive"), word), _note(told))


def _gate_words(gate: Mapping[str, Any]) -> tuple[str, str]:
    """The outcome, and each check in words; of one that no longer holds, that alone."""
    if gate.get("expired"):
        return "expired", f"The run has changed since: it was {gate.get('was') or 'undecided'}. Run jury gate again."
    checks = cast("list[Any]", gate["checks"]) if isinstance(gate.get("checks"), list) else []
    told: list[str] = []
    for check in checks:
        if isinstance(check, Mapping):
            one = cast("Mapping[str, Any]", check)
            wanted = " ".join(str(one[k]) for k in ("name", "condition") if one.get(k))
            told.append(f"{wanted}: {one.get('outcome') or 'undecided'}")
    return str(gate.get("outcome") or "undecided"), "; ".join(told)


def _spend(head: Head) -> Markup:
    tokens = [
        f"{n:,} tokens {word}" for n, word in ((head.input_tokens, "in"), (head.output_tokens, "out")) if n is not None
    ]
    saved = f", {head.calls_saved:,} saved by stopping early" if head.calls_saved else ""
    return _tile(
        "spent",
        head.cost_text or "unknown",
        _note(f"{words.count(head.calls, 'call')}{saved}"),
        _note(", ".join(tokens)),
    )


def _worth(head: Head) -> Markup | None:
    if not head.worth:
        return None
    names = [seat.id for seat in head.seats]
    lines = [remark(sentence(one, names), "li") for one in head.worth]
    return tag("div", tag("h2", "Was the jury worth it?"), tag("ul", lines), class_="card worth")


def _note(text: str) -> Markup | None:
    return remark(text, class_="note") if text else None


def _number(value: float | None) -> str:
    return "0" if value is None else f"{value:,.1f}".removesuffix(".0")


def _day(created: str) -> str:
    try:
        found = datetime.fromisoformat(created)
    except ValueError:
        return ""
    return f"{found.day} {found:%B %Y}"
