"""Markdown for pull requests and notes: the numbers, what they mean, findings, and the items that need a look.

Judged texts and reasons are escaped: nothing in them becomes a heading, a link, a picture or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from jury.report import words
from jury.report.parts import Difference, Head, ItemFacts, PairFacts, PanelFacts, Rate, Report
from jury.wording import counted, flips

MOST = 50  # items that are listed
MOST_FINDINGS = 15
_LONG = 240  # characters of a reason
_SIGNS = re.compile(r"([\\`*_\[\]#|~$@^]|:(?=//)|^[-+=]|(?<=^\d)[.)]|(?<=^\d\d)[.)])")
_CODE = re.compile("`([^`]+)`")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str, longest: int = _LONG) -> str:
    """A text on one line as Markdown shows it letter by letter.

    >>> print(plain("<b>*x*</b> | [a](http://b.invalid)"))
    &lt;b&gt;\\*x\\*&lt;/b&gt; \\| \\[a\\](http\\://b.invalid)
    """
    return _escaped(_flat(text, longest))


def _flat(text: str, longest: int) -> str:
    flat = _CONTROL.sub("\ufffd", " ".join(text.split()))
    return flat if len(flat) <= longest else flat[: longest - 1].rstrip() + "…"


def _escaped(flat: str) -> str:
    return _SIGNS.sub(r"\\\1", flat).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def remark(text: str, longest: int = _LONG) -> str:
    """A sentence of ours on one line: what stands between backticks is code, the rest as `plain` has it.

    >>> print(remark("label items, then `jury calibrate RUN|DIR`; *a*"))
    label items, then `jury calibrate RUN\\|DIR`; \\*a\\*
    """
    parts = _CODE.split(_flat(text, longest))
    return "".join("`" + part.replace("|", "\\|") + "`" if at % 2 else _escaped(part) for at, part in enumerate(parts))


def to_markdown(report: Report) -> str:
    """The whole text, ending with a line end."""
    parts: list[Iterable[str]] = [
        _head(report.head),
        [f"> {note}" for note in map(remark, report.notes)],
        _difference(report.difference),
        _findings(report),
        _criteria(report),
        _pairs(report.pairs),
        _panel(report.panel),
        _items(report),
        _sample(report),
    ]
    blocks = ["\n".join(lines) for part in parts if (lines := list(part))]
    return "\n\n".join(blocks) + "\n"


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(names)} |"
    yield f"|{'|'.join('---' for _ in names)}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _head(head: Head) -> Iterator[str]:
    yield f"# {plain(head.name)}"
    yield ""
    if head.criteria:
        yield f"{plain(head.criteria, 1000)}"
        yield ""
    rows = [(head.rate_name, _told(head.rate))]
    if head.mean is not None:
        rows.append(("mean", _told(head.mean)))
    counts = counted(head.outcomes.items())
    rows.append(("coverage", f"{head.coverage.text}: {head.answered:,} of {head.total:,} ({counts})"))
    rows.append(("corrected rate", remark(head.corrected_why) if head.corrected is None else _told(head.corrected)))
    if head.gate is not None:
        told = head.gate.get("expired") or head.gate.get("outcome") or words.UNDEFINED
        rows.append(("gate", plain(str(told))))
    saved = f", {head.calls_saved:,} saved" if head.calls_saved else ""
    rows.append(("spend", f"{plain(head.cost_text)} ({words.count(head.calls, 'call')}{saved})"))
    judges = [plain(seat.id) + (" (stand-in)" if seat.stand_in else "") for seat in head.seats]
    rows.append(("judges", ", ".join(judges) + (f"; rule: {plain(head.rule)}" if head.rule else "")))
    rows += [(side if side == "target" else f"target {side}", plain(name)) for side, name in head.targets.items()]
    yield from _table(("", ""), rows)
    if head.worth:
        yield ""
        yield "**Was the jury worth it?**"
        yield ""
        yield from (f"- {remark(line)}" for line in head.worth)


def _told(rate: Rate) -> str:
    return rate.text if rate.value is not None or not rate.why else f"{rate.text}: {remark(rate.why)}"


def _difference(found: Difference | None) -> Iterator[str]:
    if found is None:
        return
    yield f"## Against {plain(found.other)}"
    yield ""
    yield f"{found.rate.text} on {words.count(found.common, 'common item')}. {remark(found.sentence, 1000)}"
    yield ""
    for name, items in (("fixed", found.fixed), ("broken", found.broken)):
        listed = ", ".join(plain(item) for item in items[:MOST])
        yield f"- {len(items)} {name}" + (f": {listed}" if listed else "") + (", …" if len(items) > MOST else "")
    rest = len(found.changed) - len(found.fixed) - len(found.broken)
    yield f"- {rest} changed otherwise"
    yield from (f"- not alike: {plain(line)}" for line in found.differs)


def _findings(report: Report) -> Iterator[str]:
    if not report.findings:
        return
    yield "## Findings"
    yield ""
    for finding in report.findings[:MOST_FINDINGS]:
        yield f"- **{finding.count} x** {plain(finding.title)}"
        yield f"  {plain(finding.first)}"
        yield f"  Items: {', '.join(plain(item) for item, _ in finding.examples)}"
        if finding.trend:
            past = ", ".join(f"{plain(run)}: {words.percent(n, of)}" for run, n, of in finding.trend)
            yield f"  Share of items by run: {past}"
    left = len(report.findings) - MOST_FINDINGS
    if left > 0:
        yield f"- {words.count(left, 'smaller finding')}"


def _criteria(report: Report) -> Iterator[str]:
    if not report.criteria:
        return
    yield "## Criteria"
    yield ""
    rows: list[list[str]] = []
    for one in report.criteria:
        counts = ", ".join(f"{n} {plain(word)}" for word, n in one.verdicts.items())
        mean = one.mean.text if one.mean is not None else ""
        keys = [f"{plain(name)} {plain(key)}: {n}" for name, found in one.by_key.items() for key, n in found.items()]
        rows.append([plain(one.key), one.rate.text, mean, counts, ", ".join(keys)])
    yield from _table(("criterion", "pass rate", "mean", "verdicts", "items by rule"), rows)


def _pairs(pairs: PairFacts | None) -> Iterator[str]:
    if pairs is None:
        return
    yield "## Pairs"
    yield ""
    counts = counted(pairs.counts.items())
    kinds = flips(pairs.flip_kinds)
    yield f"A wins {_told(pairs.win_rate)} ({counts}). Votes that changed with the order: {_told(pairs.flips)}" + (
        f" ({kinds})." if kinds else "."
    )
    if pairs.note:
        yield ""
        yield remark(pairs.note)
    if pairs.ranking:
        yield ""
        rows = [
            [
                plain(t.name),
                words.UNDEFINED if t.ranks is None else "-".join(str(r) for r in dict.fromkeys(t.ranks)),
                words.UNDEFINED if t.elo is None else f"{t.elo:+z.0f}",
                "" if t.against_first is None else t.against_first.text,
                str(t.games),
            ]
            for t in pairs.ranking
        ]
        yield from _table(("candidate", "rank", "Elo", "chance against the first", "votes"), rows)


def _panel(panel: PanelFacts) -> Iterator[str]:
    if not panel.judges:
        return
    yield "## Judges"
    yield ""
    rows = [
        [
            plain(judge.id),
            str(judge.votes),
            judge.rate.text,
            judge.with_panel.text,
            ", ".join(f"{n} {plain(kind)}" for kind, n in judge.failures.items()) or "0",
            judge.flips.text if judge.flips else "",
            judge.retest.text if judge.retest else "",
        ]
        for judge in panel.judges
    ]
    names = ("judge", "votes", "own rate", "with the panel", "failures", "flips", "contradicts itself")
    yield from _table(names, rows)
    if panel.sentences:
        yield ""
        yield from (f"- {remark(line, 1000)}" for line in panel.sentences.values())


def _items(report: Report) -> Iterator[str]:
    """What failed or has no verdict."""
    found = [i for i in report.items if i.outcome in ("fail", "error", "not_judged", "inconclusive")]
    if not found:
        return
    yield "## Failed or without a verdict"
    yield ""
    yield from _table(("item", "verdict", "votes", "why"), map(_line, found[:MOST]))
    if len(found) > MOST:
        yield ""
        yield f"The first {MOST} of {len(found):,}; `--format csv` has all."


def _line(item: ItemFacts) -> Sequence[str]:
    votes = ", ".join(f"{plain(vote.judge)}: {plain(vote.word)}" for vote in item.votes)
    return plain(item.id), plain(item.word), votes, plain(item.error or item.explanation or item.reason)


def _sample(report: Report) -> Iterator[str]:
    if not report.sample:
        return
    yield "## Read some that pass" if report.pairs is None else "## Read some that were decided"
    yield ""
    yield f"Drawn at random, since failures alone mislead: {', '.join(plain(item) for item in report.sample)}."
