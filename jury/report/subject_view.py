"""What the run is about, on the page: findings, criteria, pairs, the other run, and passing items to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from jury.report import packing, plots, words
from jury.report.figures import figure
from jury.report.layout import SIGNS, badge, capital, card, ends, first, link, meter, section, sentence
from jury.report.markup import Content, Markup, own, remark, table, tag
from jury.report.parts import CriterionFacts, Difference, Finding, ItemFacts, PairFacts, Report
from jury.summary import count
from jury.wording import FLIPS

MOST_LINKS = 40
_REASON = 300  # characters of an example's reason; the item has it whole
_KINDS = {
    "pass": "Passed",
    "fail": "Failed",
    "partial": "Partial",
    "scored": "Scored",
    "na": "Not applicable",
    "inconclusive": "Inconclusive",
    "error": "Error",
}


def findings(report: Report) -> Markup | None:
    """Failed items by what they have in common; None where nothing failed."""
    if not report.findings:
        return None
    found = [_finding(number, one) for number, one in enumerate(report.findings)]
    intro = "Failed items that seem to fail for one reason, the most frequent first. Groups to read, not proven causes."
    return section("Findings", intro, tag("ol", found, class_="findings"), id="findings")


def _finding(number: int, found: Finding) -> Markup:
    rule = f"rule {found.rule}" if found.rule.isdigit() else found.rule.replace("violation ", "rule ")
    where = [tag("span", own(text), class_="badge") for text in (found.criterion, rule) if text]
    examples = [tag("li", link(item), " ", own(_cut(reason), "span", class_="txt")) for item, reason in found.examples]
    drawn = plots.trend(f"Trend of {found.title}"[:90], "Share of the items, run by run.", found.trend)
    trend = figure(drawn) if len(found.trend) > 1 else None
    more = tag("a", f"Show all {found.count:,} in the list", href=f"#finding={number}")
    told = [
        tag("h3", own(found.title, "span", class_="txt")),
        tag("p", where, class_="facts") if where else None,
        tag("p", tag("strong", "First: "), remark(found.first, "span"), class_="first") if found.first else None,
        tag("ul", examples, class_="examples") if examples else None,
        trend,
        tag("p", more, class_="small screen") if found.count > len(found.examples) else None,
    ]
    many = tag("div", f"{found.count:,}", tag("small", "item" if found.count == 1 else "items"), class_="many")
    return tag("li", many, tag("div", told), class_="card finding")


def _cut(text: str) -> str:
    return text if len(text) <= _REASON else f"{text[:_REASON].rstrip()}…"


def criteria(report: Report) -> Markup | None:
    """Each criterion as one of a set of small multiples; None for a jury of one verdict."""
    if not report.criteria:
        return None
    kinds = [k for k in _KINDS if any(c.verdicts.get(k) for c in report.criteria)]
    rows: list[list[Content]] = [
        [own(c.key), c.items, c.rate.text, c.mean.text if c.mean else "n/a", *(c.verdicts.get(k, 0) for k in kinds)]
        for c in report.criteria
    ]
    heads = ["Criterion", "Items", "Pass rate", "Mean score", *(_KINDS[k] for k in kinds)]
    return section(
        "Criteria",
        "The panel's verdict on each criterion. What is not applicable is in no rate.",
        tag("div", table(heads, rows, caption="All criteria", numbers=range(1, len(heads))), class_="card"),
        tag("div", [_criterion(c) for c in report.criteria], class_="multiples"),
        id="criteria",
    )


def _criterion(found: CriterionFacts) -> Markup:
    drawn = [_scores(found)] if found.scores else []
    listed: list[Content] = []
    for name, counts in found.by_key.items():
        if counts:
            by_rule = {f"rule {k}" if k.isdigit() and name == "violations" else k: n for k, n in counts.items()}
            word = name.replace("_", " ")
            listed.append(
                figure(plots.bars(f"{found.key}: {word}", f"Items by what the {word} name.", by_rule, colour="fail"))
            )
    for name, counts in found.words.items():
        if counts and not found.by_key.get(name):
            lines = [tag("li", f"{n:,} × ", own(text)) for text, n in list(counts.items())[:5]]
            listed.append(tag("div", tag("h4", name.replace("_", " ")), tag("ul", lines)))
    judges = {j: r for j, r in found.judges.items() if r.value is not None}
    apart = [tag("li", own(j), f": {first(r)}") for j, r in judges.items()]
    return tag(
        "div",
        tag("h3", own(found.key)),
        own(found.question, "p", class_="says") if found.question else None,
        tag("p", f"Pass rate {found.rate.text}", class_="small") if found.rate.value is not None else None,
        meter(found.rate) if found.rate.value is not None else None,
        tag("p", f"Mean score {found.mean.text}", class_="small") if found.mean is not None else None,
        drawn
        or tag("p", ", ".join(f"{n:,} {_KINDS.get(k, k).lower()}" for k, n in found.verdicts.items()), class_="small"),
        listed,
        tag("details", tag("summary", "By judge"), tag("ul", apart), class_="data") if apart else None,
        class_="card",
    )


def _scores(found: CriterionFacts) -> Markup:
    what = "score" if found.mean is not None else "verdict"
    return figure(plots.columns(f"{found.key}: {what}s", f"Items by {what}.", found.scores))


def pairs(report: Report) -> Markup | None:
    """Win rates, flips and the ranking; None for other runs."""
    found = report.pairs
    if found is None:
        return None
    sides = [card("Who won", "", _wins(found), half=True), _flipped(found)]
    ranked = _ranking(found)
    cards = [ranked, *sides] if len(found.ranking) > 2 else [*sides, ranked]
    made = ", ".join(f"{side.upper()} is made by {name}" for side, name in report.head.targets.items())
    return section("Pairs", f"{made}." if made else "", tag("div", cards, class_="grid"), id="pairs")


def _wins(found: PairFacts) -> Markup:
    says = f"A wins {found.win_rate.text}; a tie is half a win, pairs without a winner are left out."
    counts = {SIGNS.get(word, ("", word))[1]: n for word, n in found.counts.items()}
    return figure(plots.bars("Pairs by winner", says if found.win_rate.value is not None else "", counts, of="pairs"))


def _flipped(found: PairFacts) -> Markup | None:
    kinds: list[list[Content]] = [[FLIPS.get(k, k), n] for k, n in found.flip_kinds.items()]
    says = f"Votes that changed with the order of the answers: {found.flips.text}."
    made = table(["Kind", "Votes"], kinds, caption="Flips by kind", numbers=[1]) if kinds else None
    return card("Flips", says, made, half=True)


def _ranking(found: PairFacts) -> Markup | None:
    if not found.ranking:
        return (
            tag("div", tag("h3", "Ranking"), remark(found.note, class_="says"), class_="card") if found.note else None
        )
    rows: list[list[Content]] = []
    for target in found.ranking:
        ranks = "n/a" if target.ranks is None else "-".join(dict.fromkeys(str(rank) for rank in target.ranks))
        against = target.against_first
        rows.append([own(target.name), ranks, "n/a" if target.elo is None else f"{target.elo:+z.0f}", target.games,
                     "first" if against is None else against.text])  # fmt: skip
    drawn = [(t.name, r.value, r.low, r.high, r.text) for t in found.ranking if (r := t.against_first) is not None]
    heads = ["Candidate", "Rank", "Elo", "Votes", "Chance to win against the first"]
    says = "Chance to win against the first, with 95% intervals; at the dashed line it is even."
    elo = "Elo: 0 is the average; who has 100 more wins 64% of the time."
    return tag(
        "div",
        tag("h3", "Ranking"),
        remark(found.note, class_="says") if found.note else None,
        table(heads, rows, caption="Candidates, the best first", numbers=range(1, 5)),
        tag("p", elo, class_="small soft"),
        figure(plots.intervals("Against the first", says, drawn, reference=0.5)) if drawn else None,
        _list("Compare next: ", [f"{a} and {b}" for a, b in found.next_pairs]),
        _list("In a circle: ", [f"{a} beats {b} beats {c} beats {a}" for a, b, c in found.cycles]),
        class_="card",
    )


def _list(lead: str, lines: Iterable[str]) -> Markup | None:
    told = "; ".join(lines)
    return tag("p", tag("strong", lead), own(told), class_="small") if told else None


def difference(report: Report) -> Markup | None:
    """Two runs side by side; None where there is one."""
    found = report.difference
    if found is None:
        return None
    head = report.head
    rows = [(found.other, *ends(found.other_rate)), (head.name, *ends(head.rate))]
    plot = plots.intervals("Both runs", "Points are rates, lines their 95% intervals.", rows)
    both = f"{count(found.common, 'item')} in both, {found.only_here:,} only here, {found.only_there:,} only there"
    told = [
        remark(found.sentence or "Compared", "h3"),
        tag("p", f"{capital(head.rate_name)}: difference {found.rate.text}", class_="says"),
        tag("p", both, class_="small soft"),
        [remark(sentence(one), class_="small") for one in found.differs],
        figure(plot) if plot.spec else None,
    ]
    cards = [
        tag("div", told, class_="card"),
        _changed("Fixed", found.fixed, found),
        _changed("Broken", found.broken, found),
    ]
    return section(["Against ", own(found.other)], "", tag("div", cards, class_="masonry"), id="difference")


def _changed(title: str, items: tuple[str, ...], found: Difference) -> Markup | None:
    before: Mapping[str, tuple[str, str]] = {c.item: (c.before, c.now) for c in found.changed}
    lines = [tag("li", link(i), f" {' → '.join(before[i])}" if i in before else "") for i in items[:MOST_LINKS]]
    rest = len(items) - MOST_LINKS
    more = tag("p", f"and {rest:,} more in the list", class_="small soft") if rest > 0 else None
    body = tag("ul", lines, class_="examples") if lines else tag("p", "none", class_="says")
    return card(f"{title}: {words.count(len(items), 'item')}", "", body, more)


def sample(report: Report) -> Markup | None:
    """Passing items to read; None where nothing passed."""
    known = {item.id: item for item in report.items}
    chosen = [known[i] for i in report.sample if i in known]
    if not chosen:
        return None
    paired = report.head.kind == "pairwise"
    which = "pairs that were decided" if paired else "items that passed. Failures alone mislead"
    intro = f"Drawn at random among the {which}: read these, and see whether you agree."
    read = tag("div", tag("ul", [_read(item) for item in chosen], class_="examples"), class_="card")
    return section("Pairs to read" if paired else "Passing items to read", intro, read, id="sample")


def _read(item: ItemFacts) -> Markup:
    told = packing.line(item)
    return tag(
        "li", badge(item.outcome, item.word), " ", link(item.id), own(told, "div", class_="txt soft") if told else None
    )
