"""Items as the page carries them: an index that is read at once, parts of details and raw replies that are not.

Each is gzip of JSON in base64: no character of it means anything to HTML.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from typing import Any, cast

from jury.report.markup import whole
from jury.report.parts import FLAGS, ItemFacts, Report, VoteFacts
from jury.wording import dollars

PER_PART = 64  # items
HEAVY = 600_000  # characters of one part, from where the next begins
MOST_TAGS = 300  # to choose from
LINE = 150  # characters of a row in the list
CHANGES = ("fixed", "broken", "changed")
_SIGNS = {"not_applicable": "n", "abstained": "a", "error": "e", "flip": "x"}
_ATOMS = frozenset((str, int, float, bool, type(None)))
_SIMPLE = frozenset((str, int, bool))
_NUMBERS = frozenset((bool, int, float))  # of which 0 says something, unlike an empty text or list
_NOTHING: frozenset[str] = frozenset()
_LISTED = ("input", "question", "output")


def packed(report: Report) -> Iterator[tuple[str, str]]:
    """(name, base64) of everything the script reads: `index`, then `part-0`, `raw-0`, `part-1`, ..."""
    parts = list(_parts(report.items))
    yield "index", _pack(_index(report, parts))
    for number, some in enumerate(parts):
        yield f"part-{number}", _pack([detail(item) for item in some])
        yield f"raw-{number}", _pack([_raw(item) for item in some])


def flags(report: Report) -> dict[str, int]:
    """What items can be filtered by, with how many there are of each."""
    made = dict[str, int]((flag, 0) for flag in FLAGS)
    for item in report.items:
        for flag in _filters(item):
            made[flag] = made.get(flag, 0) + 1
    made = {flag: n for flag, n in made.items() if n}
    if report.difference is not None:
        found = report.difference
        made |= {"fixed": len(found.fixed), "broken": len(found.broken), "changed": len(found.changed)}
    return {flag: n for flag, n in made.items() if n}


def _filters(item: ItemFacts) -> tuple[str, ...]:
    """The flags of an item on the page: one whose target failed is no error of a judge."""
    return tuple("not_judged" if f == "error" and item.outcome == "not_judged" else f for f in item.flags)


def outcomes(report: Report) -> list[str]:
    """The outcomes that occur, in the order of the head's counts."""
    found = {item.outcome for item in report.items}
    return [o for o in report.head.outcomes if o in found] + sorted(found - set(report.head.outcomes))


def tags(report: Report) -> list[str]:
    """The tags of the items, the most used first; of very many the first ones."""
    counts: dict[str, int] = {}
    for item in report.items:
        for tag in item.tags:
            counts[tag] = counts.get(tag, 0) + 1
    return sorted(counts, key=lambda t: (-counts[t], t))[:MOST_TAGS]


def line(item: ItemFacts) -> str:
    """What was judged, on one line."""
    texts = item.texts
    told = [texts[name] for name in _LISTED if texts.get(name)] or [t for t in texts.values() if t]
    found = " → ".join(" ".join(text[: 4 * LINE].split()) for text in told[:2])
    return _short(found or item.error)


def why(item: ItemFacts) -> str:
    """The reason that a person would read first."""
    against = [v for v in item.votes if v.passed is False and v.explanation]
    said = [v.explanation for v in against or item.votes if v.explanation]
    of_parts = [p.explanation for p in item.parts if p.passed is False and p.explanation]
    return _short(next(iter([*of_parts, *said]), "") or item.explanation or item.error)


def detail(item: ItemFacts) -> dict[str, Any]:
    """Everything of an item but its prompts and raw replies; what is empty is left out."""
    made: dict[str, Any] = _lean(item, frozenset(("votes", "asked", "cost")))
    if item.cost:
        made["cost"] = dollars(item.cost)
    if item.votes:
        made["votes"] = [_lean(vote, frozenset(("answers",))) for vote in item.votes]
    return made


def sign(vote: VoteFacts) -> str:
    """One letter for a vote in the list."""
    if vote.status in _SIGNS:
        return _SIGNS[vote.status]
    if vote.value in ("A", "B"):
        return str(vote.value)
    if vote.value == "tie":
        return "t"
    return "s" if vote.passed is None else "p" if vote.passed else "f"


def _raw(item: ItemFacts) -> dict[str, Any]:
    answers = [[vote.judge, _lean(vote.answers)] for vote in item.votes if vote.answers]
    lines: dict[str, int] = {}
    asked = [
        {**_lean(one, frozenset(("system", "user"))), **{n: _woven(getattr(one, n), lines) for n in ("system", "user")}}
        for one in item.asked
    ]
    return cast("dict[str, Any]", _lean({"lines": list(lines), "asked": asked, "answers": answers}))


def _woven(text: str, lines: dict[str, int]) -> list[list[int]]:
    """A text as stretches (first line, how many) of lines that the prompts of an item share, such as a transcript."""
    made: list[list[int]] = []
    for one in text.split("\n") if text else ():
        at = lines.setdefault(one, len(lines))
        if made and sum(made[-1]) == at:
            made[-1][1] += 1
        else:
            made.append([at, 1])
    return made


def _index(report: Report, parts: list[list[ItemFacts]]) -> dict[str, Any]:
    items = report.items
    judges = [j.id for j in report.panel.judges] or [s.id for s in report.head.seats]
    names, known, words = list(flags(report)), outcomes(report), tags(report)
    bits = {flag: 1 << at for at, flag in enumerate(names)}
    codes, numbers = {o: at for at, o in enumerate(known)}, {t: at for at, t in enumerate(words)}
    places = {item.id: at for at, item in enumerate(items)}
    changes = _changes(report)
    before = {c.item: c.before for c in report.difference.changed} if report.difference else {}
    return {
        "judges": judges,
        "flags": names,
        "outcomes": known,
        "tags": words,
        "id": [item.id for item in items],
        "outcome": [codes[item.outcome] for item in items],
        "word": [item.word or item.outcome for item in items],
        "flag": [sum(bits[f] for f in (*_filters(item), *changes.get(item.id, ())) if f in bits) for item in items],
        "tag": [[numbers[t] for t in item.tags if t in numbers] for item in items],
        "agreement": [item.agreement for item in items],
        "votes": [_votes(item, judges) for item in items],
        "text": [line(item) for item in items],
        "why": [why(item) for item in items],
        "part": [number for number, some in enumerate(parts) for _ in some],
        "starts": [sum(len(p) for p in parts[:number]) for number in range(len(parts))],
        "findings": [[places[i] for i in finding.items if i in places] for finding in report.findings],
        "titles": [finding.title for finding in report.findings],
        "before": [before.get(item.id, "") for item in items] if before else [],
    }


def _votes(item: ItemFacts, judges: list[str]) -> str:
    said = {vote.judge: sign(vote) for vote in item.votes}
    return "".join(said.get(judge, " ") for judge in judges)


def _changes(report: Report) -> dict[str, list[str]]:
    made: dict[str, list[str]] = {}
    if report.difference is not None:
        found = report.difference
        named = zip(CHANGES, (found.fixed, found.broken, [c.item for c in found.changed]), strict=True)
        for flag, ids in named:
            for item in ids:
                made.setdefault(item, []).append(flag)
    return made


def _parts(items: tuple[ItemFacts, ...]) -> Iterator[list[ItemFacts]]:
    some: list[ItemFacts] = []
    weight = 0
    for item in items:
        own = sum(len(text) for text in item.texts.values())
        if some and (len(some) >= PER_PART or weight + own > HEAVY):
            yield some
            some, weight = [], 0
        some.append(item)
        weight += own
    if some:
        yield some


def _short(text: str) -> str:
    flat = " ".join(text[: 4 * LINE].split())
    return flat if len(flat) <= LINE else flat[: LINE - 1] + "…"


def _lean(value: Any, left_out: frozenset[str] = _NOTHING) -> Any:
    """Plain JSON values without what is empty; the script takes what is missing for empty."""
    kind = cast("type[Any]", type(value))
    if kind in _ATOMS:
        return value if kind is not float or isfinite(value) else str(value)  # a row may hold NaN; JSON must not
    names = _fields(kind)
    if names is not None:
        pairs = [(name, getattr(value, name)) for name in names if name not in left_out]
    elif isinstance(value, Mapping):
        pairs = list(cast("Mapping[str, Any]", value).items())
    elif isinstance(value, list | tuple):
        return [_lean(v) for v in cast("tuple[Any, ...]", value)]
    else:
        return value if isinstance(value, str | int | float) else str(value)
    made: dict[str, Any] = {}
    for name, part in pairs:  # this runs for every part of every vote: no call that can be saved
        if part.__class__ not in _SIMPLE:
            part = _lean(part)
        if part or part.__class__ in _NUMBERS:
            made[str(name)] = part
    return made


@cache
def _fields(kind: type[Any]) -> tuple[str, ...] | None:
    return tuple(f.name for f in fields(kind)) if is_dataclass(kind) else None


def _pack(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(whole(text).encode(), 6, mtime=0)).decode("ascii")
