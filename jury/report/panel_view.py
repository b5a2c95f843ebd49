"""The panel on the page: agreement as a heat map with numbers, each judge, failures by kind, position, stability."""

from __future__ import annotations

from collections import Counter

from jury.report import plots, words
from jury.report.figures import csv_link, figure
from jury.report.layout import capital, card, ends, section
from jury.report.markup import Content, Markup, own, table, tag
from jury.report.parts import JudgeFacts, PanelFacts, Rate, Report

_STEPS = 6


def panel(report: Report) -> Markup | None:
    """The section; None for a run without judges."""
    found, head = report.panel, report.head
    if not found.judges:
        return None
    says = found.sentences
    paired = head.kind == "pairwise"
    several = len(found.judges) > 1
    cards = [
        card("Who agrees with whom", says.get("agreement", ""), _matrix(found)) if several else None,
        card("A's win rate by judge" if paired else "Pass rates", "", _rates(report)),
        card("How many opinions these are", says.get("effective", ""), _worth(found)) if several else None,
        card("Failures", says.get("failures", ""), _failures(found)),
        card("The order of the answers", says.get("position", ""), _flips(found)) if paired else None,
        card("Asked again", says.get("stability", ""), _stability(found)),
    ]
    seats = words.count(sum(not seat.stand_in for seat in head.seats), "judge")
    by = "the pass rule of the rubric is" if head.kind == "rubric" else "combined by the rule"
    intro = f"{seats}, {by} “{head.rule}”." if head.rule else ""
    first = card("Each judge", says.get("rates", ""), _judges(report))
    return section("Panel", intro, first, tag("div", cards, class_="masonry"), id="panel")


def _judges(report: Report) -> Markup:
    seats = {seat.id: seat for seat in report.head.seats}
    heads = [
        "Judge",
        "Model",
        "Votes",
        capital(report.head.rate_name),
        "As the panel",
        "Abstained",
        "Failed",
    ]
    with_evidence = any(j.quotes_found or j.quotes_missing for j in report.panel.judges)
    with_cost = any(j.cost for j in report.panel.judges)
    rows: list[list[Content]] = []
    for judge in report.panel.judges:
        seat = seats.get(judge.id)
        model = seat.model if seat else ""
        prompt = report.prompts.get(seat.prompt) if seat else None
        version = f"{prompt.get('name', '')} {prompt.get('version', '') or ''}".strip() if prompt else ""
        row: list[Content] = [
            [own(judge.id), tag("span", " stand-in", class_="small soft") if judge.stand_in else None],
            [own(model) if model else "", own(version, "div", class_="small soft") if version else None],
            judge.votes,
            judge.rate.text,
            judge.with_panel.text,
            judge.abstained,
            sum(judge.failures.values()),
        ]
        if with_evidence:
            asked = judge.quotes_found + judge.quotes_missing
            row.append(f"{judge.quotes_found:,} of {asked:,}" if asked else "n/a")
        if with_cost:
            row.append(words.money(judge.cost, judge.votes) if judge.cost is not None else "unknown")
        rows.append(row)
    heads += ["Evidence found"] if with_evidence else []
    heads += ["Cost"] if with_cost else []
    made = table(heads, rows, caption="Each judge of the panel", numbers=range(2, len(heads)))
    plain = [[judge.id, *row[1:]] for judge, row in zip(report.panel.judges, rows, strict=True)]
    return tag("div", made, tag("p", csv_link("judges", heads, plain), class_="small screen"))


_NAMED = 60  # letters of judges' names that stand above the columns of a table


def _matrix(found: PanelFacts) -> Markup | None:
    names = [j.id for j in found.judges][: len(found.agreement)]
    if not names:
        return None
    many = sum(map(len, names)) > _NAMED  # then columns go by number, as the rows say
    rows: list[Markup] = []
    for i, name in enumerate(names):
        cells: list[Markup] = []
        for j in range(len(names)):
            value = found.agreement[i][j]
            if i == j:
                cells.append(tag("td", tag("span", "–", aria_label="itself"), class_="h-self"))
            elif value is None:
                cells.append(tag("td", "n/a"))
            else:
                common = tag("small", f"of {found.common[i][j]:,}")
                shown = (tag("span", words.share(value), class_="full"), tag("span", _short(value), class_="brief"))
                cells.append(tag("td", *shown, common, class_=f"h{_step(value)}"))
        rows.append(tag("tr", tag("th", f"{i + 1} " if many else None, own(name), scope="row"), cells))
    heads = [tag("th", str(i + 1) if many else own(name), scope="col") for i, name in enumerate(names)]
    head = tag("tr", tag("td"), heads)
    says = "Share of common items in per cent on which two judges vote alike: the stronger the colour, the more alike."
    made = tag("table", tag("thead", head), tag("tbody", rows), class_="heat many" if many else "heat")
    flat: list[list[Content]] = [
        [a, b, found.agreement[i][j], found.common[i][j]]
        for i, a in enumerate(names)
        for j, b in enumerate(names)
        if i < j
    ]
    link = csv_link("agreement", ["judge", "other", "alike", "items"], flat)
    return tag(
        "div",
        tag("p", says, class_="note-line"),
        tag("div", made, class_="scroll", tabindex="0", role="group", aria_label="Agreement of judges"),
        tag("p", link, class_="small screen"),
    )


def _short(share: float) -> str:
    """A share in whole per cent, for a small screen: what is not all is not 100."""
    return str(min(round(100 * share), 100 if share == 1 else 99))


def _step(share: float) -> int:
    """The heat of a share: half alike is cold, all alike is hot."""
    return min(_STEPS - 1, max(0, int((share - 0.4) / 0.6 * _STEPS)))


def _rates(report: Report) -> Markup | None:
    rows = [("panel", *ends(report.head.rate))] + [(j.id, *ends(j.rate)) for j in report.panel.judges]
    if all(value is None for _, value, *_ in rows):
        return None
    says = "Points are rates, lines their 95% intervals; the dashed line is the panel."
    return figure(plots.intervals(f"{report.head.rate_name} by judge", says, rows, reference=report.head.rate.value))


def _worth(found: PanelFacts) -> Markup:
    alpha = found.alpha
    says = tag("div", alpha.why or "1 is perfect agreement, 0 is chance", class_="small soft")
    rows: list[list[Content]] = [
        ["Judges", len(found.judges)],
        ["Independent votes", found.effective.text],
        [["Krippendorff's alpha", says], alpha.text],
    ]
    return table(["Of the panel", "Value"], rows, numbers=[1])


def _failures(found: PanelFacts) -> Markup | None:
    kinds = Counter[str]()
    for judge in found.judges:
        kinds.update(judge.failures)
    if not kinds:
        return None
    heads = ["Judge", *(kind.replace("_", " ") for kind in kinds)]
    rows = [[j.id, *(j.failures.get(kind, 0) for kind in kinds)] for j in found.judges]
    return table(heads, rows, caption="Votes without a verdict, by kind", numbers=range(1, len(heads)))


def _flips(found: PanelFacts) -> Markup | None:
    judges = [j for j in found.judges if j.flips is not None]
    if not judges:
        return None
    kinds = [("took the first both times", "A"), ("took the second both times", "B"), ("a tie against a side", "tie")]
    names = ("primacy", "recency", "mixed")
    counts = {j.id: {kinds[at][0]: j.flip_kinds.get(name, 0) for at, name in enumerate(names)} for j in judges}
    rows: list[list[Content]] = [[own(j.id), _text(j.flips), _text(j.lean)] for j in judges]
    made = table(["Judge", "Flipped", "Lean to the first slot"], rows, caption="Position bias", numbers=[1, 2])
    drawn = figure(plots.parts("Flips by judge", "Pairs whose winner changed with the order.", counts, kinds))
    return tag("div", made, drawn if any(any(c.values()) for c in counts.values()) else None)


def _stability(found: PanelFacts) -> Markup | None:
    judges: list[JudgeFacts] = [j for j in found.judges if j.retest is not None and j.retest.value is not None]
    if not judges:
        return None
    rows: list[list[Content]] = [[own(j.id), _text(j.retest)] for j in judges]
    return table(["Judge", "Answered differently"], rows, caption="The same question again", numbers=[1])


def _text(rate: Rate | None) -> str:
    return "n/a" if rate is None else rate.text
