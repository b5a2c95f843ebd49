"""One self-contained HTML file of a report. Nothing is loaded from elsewhere, and nothing in it can be run but ours.

Everything but the list of items is static HTML and needs no script. The items are in the file as gzip in base64; the
script (`static/`) unpacks them and builds its elements from texts. The policy in the head admits exactly that one
script and that one sheet, by their digests.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from jury.errors import install
from jury.report import packing, plots
from jury.report.figures import figure
from jury.report.layout import SIGNS, badge, section
from jury.report.markup import Content, Markup, own, tag
from jury.report.overview import mast
from jury.report.panel_view import panel
from jury.report.parts import ItemFacts, Report
from jury.report.subject_view import criteria, difference, findings, pairs, sample

SHEETS = ("report.css", "phone.css", "paper.css")
SCRIPTS = ("data.js", "text.js", "list.js", "item.js", "main.js")
PLAIN = 100  # items that are shown where no script runs
_EXCERPT = 600
ORDERS = [
    ("worst", "failures first"),
    ("data", "as in the data"),
    ("agreement", "least agreed first"),
    ("name", "by name"),
]
FLAG_WORDS = {
    "failed": "failed",
    "split": "split votes",
    "contested": "contested",
    "unstable": "unstable",
    "for_people": "for people",
    "na": "NA",
    "error": "errors",
    "not_judged": "not judged",
    "evidence_missing": "evidence not found",
    "fixed": "fixed",
    "broken": "broken",
    "changed": "changed",
}


def html(report: Report) -> str:
    """The page as one text, to be written as UTF-8."""
    sheet, script = _sheet(), _script()
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(sheet)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{report.head.name or 'A run'}: jury report"),
        Markup(f"<style>{sheet}</style>"),
    )
    data = [
        Markup(f'<script type="application/octet-stream;base64" id="{name}">{text}</script>\n')
        for name, text in packing.packed(report)
    ]
    body = tag("body", _body(report), data, Markup(f"<script>{script}</script>"))
    return f'<!doctype html>\n<html lang="en">{head}\n{body}\n</html>\n'


def _body(report: Report) -> Markup:
    parts = [
        ("Findings", "findings", findings(report)),
        ("Compared", "difference", difference(report)),
        ("Criteria", "criteria", criteria(report)),
        ("Pairs", "pairs", pairs(report)),
        ("Panel", "panel", panel(report)),
        ("Values", "values", _values(report)),
        ("Items", "items", _items(report)),
        ("To read", "sample", sample(report)),
    ]
    made = [(name, place, found) for name, place, found in parts if found is not None]
    places = [tag("li", tag("a", name, href=f"#{place}")) for name, place, _ in made]
    draws = (
        None
        if plots.available()
        else tag("p", f"Tables stand where plots would be. To have them drawn: {install('report')}", class_="note-line")
    )
    return tag(
        "div",
        tag("a", "Skip to the items", href="#items", class_="skip"),
        tag("div", mast(report), draws, class_="wrap"),
        tag(
            "nav",
            tag("div", tag("ul", tag("li", tag("a", "Top", href="#")), places), class_="wrap"),
            class_="nav",
            aria_label="Parts of the report",
        ),
        tag("main", [found for _, _, found in made], class_="wrap"),
        tag("footer", _foot(report), class_="wrap foot"),
    )


def _values(report: Report) -> Markup | None:
    """The verdicts by value, where there is more to say than pass and fail."""
    values = report.head.values
    if report.head.kind in ("pairwise", "session") or not set(values) - {"pass", "fail"}:
        return None
    drawn = figure(plots.bars("Verdicts by value", "Items by the panel's value.", values))
    return section("Values", "", tag("div", drawn, class_="card"), id="values")


def _items(report: Report) -> Markup:
    """The place of the list; the script fills it."""
    live = tag(
        "div",
        _tools(report),
        tag("p", class_="small hidden", id="finding"),
        tag("div", tag("p", "", id="count", role="status", class_="small"), _buttons(), class_="bar tools"),
        _bench(),
        tag("div", id="print-items"),
        id="live",
        class_="hidden",
    )
    says = tag(
        "p",
        "Search and filters go together. Arrow keys move, Enter opens, Escape closes, / searches.",
        class_="intro screen",
    )
    wait = tag("p", "Opening the list …", id="wait", class_="screen")
    return section("Items", "", says, wait, live, tag("noscript", _plain(report)), id="items")


def _tools(report: Report) -> list[Markup | None]:
    """Search, choices, and a button for each flag that occurs."""
    chips = [
        tag("button", FLAG_WORDS.get(flag, flag), tag("span", f"{n:,}", class_="n"), type="button", class_="chip",
            data_flag=flag, aria_pressed="false")
        for flag, n in packing.flags(report).items()
    ]  # fmt: skip
    verdicts = [(str(at), SIGNS.get(o, ("", o))[1]) for at, o in enumerate(packing.outcomes(report))]
    tags = [(str(at), text) for at, text in enumerate(packing.tags(report))]
    search = tag(
        "input",
        type="search",
        id="search",
        placeholder="Search all texts",
        aria_label="Search all texts of the items",
        aria_keyshortcuts="/",
        autocomplete="off",
        spellcheck="false",
    )
    choices = [
        search,
        _select("Verdict", "outcome", [("", "any"), *verdicts]),
        _select("Tag", "tag", [("", "any"), *tags]) if tags else None,
        _select("Order", "order", ORDERS),
    ]
    return [
        tag("div", choices, class_="tools", role="search"),
        tag("div", chips, class_="chips", role="group", aria_label="Filters") if chips else None,
    ]


def _buttons() -> Markup:
    clear = tag("button", "Clear", type="button", class_="button", id="clear")
    return tag("span", clear, " ", tag("button", "Download this list (CSV)", type="button", class_="button", id="csv"))


def _bench() -> Markup:
    """The list, and beside it the item that is open."""
    run = tag("div", class_="run", id="run", role="presentation")
    empty = tag("p", "Nothing is left by these filters.", class_="empty hidden", id="empty", role="presentation")
    rows = tag("div", run, empty, class_="list", id="list", role="listbox", tabindex="0", aria_label="Items")
    sheet = tag("div", class_="sheet hidden", id="sheet", role="region", aria_labelledby="sheet-title")
    return tag("div", rows, sheet, class_="bench", id="bench")


def _select(label: str, name: str, choices: list[tuple[str, str]]) -> Markup:
    options = [tag("option", text, value=value) for value, text in choices]
    return tag("label", label, tag("select", options, id=name))


def _plain(report: Report) -> Markup:
    """The first items where no script runs, those that did not pass first."""
    ranked = sorted(report.items, key=lambda item: item.outcome in ("pass", "A", "B", "tie", "unrated", "na"))
    some = ranked[:PLAIN]
    more = f" Here are {len(some)} of {len(report.items)}, failures first." if len(some) < len(report.items) else ""
    return tag(
        "div",
        tag("p", f"Filters, search and opened items need JavaScript.{more}"),
        [_plain_item(item) for item in some],
    )


def _plain_item(item: ItemFacts) -> Markup:
    quotes: list[Content] = [
        tag("li", own(q.text[:_EXCERPT]), " (not found)" if q.found is False else None)
        for v in item.votes
        for q in v.quotes
    ]
    votes = [tag("li", own(v.judge), ": ", own(v.word), f" {v.failure}" if v.failure else None) for v in item.votes]
    texts = [tag("p", own(text[:_EXCERPT]), "…" if len(text) > _EXCERPT else None) for text in item.texts.values()]
    return tag(
        "div",
        tag("h3", badge(item.outcome, item.word), " ", own(item.id)),
        texts,
        own(item.error, "p") if item.error else None,
        tag("ul", votes) if votes else None,
        tag("ul", quotes) if quotes else None,
        class_="card",
    )


def _foot(report: Report) -> Markup:
    head = report.head
    prompts = [
        tag("li", own(f"{p.get('name') or 'prompt'} {p.get('version') or ''}".strip()), " ", tag("code", digest))
        for digest, p in report.prompts.items()
    ]
    made = ["Made by jury ", head.jury_version, " from ", own(head.folder)]
    listed = tag("details", tag("summary", "Prompts of this run"), tag("ul", prompts), class_="data")
    return tag("div", tag("p", made, ". One file: it loads nothing and sends nothing."), listed if prompts else None)


@cache
def _sheet() -> str:
    return "\n".join(_static(name) for name in SHEETS)


@cache
def _script() -> str:
    parts = "\n".join(_static(name) for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}\n}})();'


def _static(name: str) -> str:
    return files("jury.report").joinpath("static", name).read_text("utf-8")


def _digest(text: str) -> str:
    """The digest as the policy writes it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
