"""Plots of a report: Vega-Lite specs, drawn here as SVG whose colours come from the page's sheet.

`vl-convert-python` (extra `report`) draws; without it `drawn` gives None and the page shows the data as tables. The SVG
holds no script, no style, no link: only shapes, texts and class names, so that it passes the page's policy.
"""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jury.report.markup import Content, Markup, flat
from jury.summary import percent

_SVG = "http://www.w3.org/2000/svg"
_KEPT = frozenset(
    [
        "width",
        "height",
        "viewBox",
        "transform",
        "d",
        "x",
        "y",
        "dy",
        "x1",
        "y1",
        "x2",
        "y2",
        "cx",
        "cy",
        "r",
        "opacity",
        "text-anchor",
        "font-size",
        "font-weight",
        "stroke-width",
        "stroke-dasharray",
        "fill",
        "stroke",
    ]
)
# Colours that stand for the names of classes: a colour in the spec, `f-` or `l-` + the name in the sheet.
_NAMED = {
    "#0a0001": "accent",
    "#0a0002": "ink",
    "#0a0003": "soft",
    "#0a0004": "grid",
    "#0a0005": "axis",
    "#0a0006": "card",
    "#0a0007": "on",
    "#0a0010": "pass",
    "#0a0011": "fail",
    "#0a0012": "na",
    "#0a0013": "inconclusive",
    "#0a0014": "error",
    "#0a0015": "not_judged",
    "#0a0016": "A",
    "#0a0017": "B",
    "#0a0018": "tie",
    "#0a0019": "unrated",
}
COLOURS = {name: colour for colour, name in _NAMED.items()}
WIDE = 296  # a plot and its margins fit on a phone as they are: smaller, its words could not be read
_LONG = 46  # characters of a name that fit above a line
_NAMED_RUNS = 5
_LINES = {"field": "name", "type": "nominal", "sort": None, "axis": None}
_CONFIG = {
    "background": None,
    "padding": {"left": 14, "right": 14, "top": 6, "bottom": 6},  # the reader's font may be wider than the one here
    "view": {"stroke": None},
    "axis": {
        "gridColor": COLOURS["grid"],
        "domain": False,
        "ticks": False,
        "labelColor": COLOURS["soft"],
        "titleColor": COLOURS["soft"],
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "labelPadding": 8,
        "labelLimit": 190,
    },
    "text": {"fontSize": 12, "color": COLOURS["ink"]},
}


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture and what it is made of. `heads` and `rows` are its data as a table; `spec` is Vega-Lite."""

    title: str
    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Content, ...], ...]
    spec: Mapping[str, Any] = field(default_factory=dict[str, Any])


def available() -> bool:
    """Whether plots can be drawn."""
    return importlib.util.find_spec("vl_convert") is not None


def drawn(plot: Plot) -> Markup | None:
    """The picture as an SVG element, None where nothing draws it."""
    if not plot.spec or not available():
        return None
    import vl_convert

    made = vl_convert.vegalite_to_svg({"config": _CONFIG, **plot.spec})
    root = ET.fromstring(made)
    _clean(root)
    root.set("role", "img")
    root.set("aria-label", flat(f"{plot.title}. {plot.caption}"))
    ET.register_namespace("", _SVG)
    return Markup(ET.tostring(root, encoding="unicode"))


def _clean(element: ET.Element) -> None:
    """Keeps shapes and texts; colours become classes."""
    classes: list[str] = []
    for key in list(element.attrib):
        value = element.attrib[key]
        name = _NAMED.get(value.lower())
        if key in ("fill", "stroke") and name is not None:
            prefix = "l" if key == "stroke" else "t" if element.tag.endswith("text") else "f"
            classes.append(f"{prefix}-{name}")
            del element.attrib[key]
        elif key not in _KEPT:
            del element.attrib[key]
    if classes:
        element.set("class", " ".join(classes))
    for child in list(element):
        if child.tag.removeprefix(f"{{{_SVG}}}") not in ("g", "path", "line", "rect", "text", "tspan", "circle"):
            element.remove(child)
        else:
            _clean(child)


def intervals(
    title: str,
    caption: str,
    rows: Sequence[tuple[str, float | None, float | None, float | None, str]],
    *,
    reference: float | None = None,
    span: tuple[float, float] = (0.0, 1.0),
    shares: bool = True,
) -> Plot:
    """Points with their intervals, one line a name; rows are (name, value, low, high, text)."""
    values = [
        {
            "name": flat(name),
            "value": value,
            "low": value if low is None else low,
            "high": value if high is None else high,
            "text": text.partition(" (")[0],
        }
        for name, value, low, high, text in rows
        if value is not None
    ]
    axis = {"format": ".0%" if shares else "~g", "title": None, "tickCount": 5}
    x = {"type": "quantitative", "scale": {"domain": list(span), "nice": False}, "axis": axis}
    rule = {"type": "rule", "color": COLOURS["axis"], "strokeDash": [4, 4]}
    at = {"data": {"values": [{"at": reference}]}, "mark": rule, "encoding": {"x": {**x, "field": "at"}}}
    accent = {"color": COLOURS["accent"], "opacity": 1}
    layers = [
        *([at] if reference is not None else []),
        {
            "mark": {"type": "rule", "strokeWidth": 2.5, **accent},
            "encoding": {"y": _LINES, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 85, **accent},
            "encoding": {"y": _LINES, "x": {**x, "field": "value"}},
        },
        *_above(values, dy=-13, number="text"),
    ]
    spec = {"data": {"values": values}, "width": WIDE, "height": {"step": 44}, "layer": layers}
    table = tuple((n, _told(v), _told(low), _told(high)) for n, v, low, high, _ in rows)
    return Plot(title, caption, ("", "value", "low", "high"), table, spec if values else {})


def _above(values: list[dict[str, Any]], dy: int, number: str = "") -> list[dict[str, Any]]:
    """The name of a line above it, and a number at its end: names beside the lines would leave them no room."""
    told = _told_apart([str(one["name"]) for one in values], _LONG - (13 if number else 0))
    for one, shown in zip(values, told, strict=True):
        one["shown"] = shown
    name = {"type": "text", "align": "left", "dy": dy}
    made = [{"mark": name, "encoding": {"y": _LINES, "x": {"value": 0}, "text": {"field": "shown"}}}]
    if number:
        mark = {"type": "text", "align": "right", "dy": dy}
        made.append({"mark": mark, "encoding": {"y": _LINES, "x": {"value": WIDE}, "text": {"field": number}}})
    return made


def _told_apart(names: Sequence[str], longest: int) -> list[str]:
    """Names of at most so many characters. Where that makes some of them alike, what they begin with together goes."""
    cut = [_within(name, longest) for name in names]
    if len(set(cut)) == len(set(names)):
        return cut
    long = [name for name in names if len(name) > longest]
    differ = next((at for at, letters in enumerate(zip(*long, strict=False)) if len(set(letters)) > 1), 0)
    cut = [_within("…" + name[differ:], longest) if name in long else name for name in names]
    if len(set(cut)) == len(set(names)):
        return cut
    return [f"{at} {_within(name, longest - 4)}" for at, name in enumerate(names, 1)]


def _within(name: str, longest: int) -> str:
    """A name of at most so many characters: what tells long ones apart is at their end as often as at their start."""
    half = longest // 2
    return name if len(name) <= longest else f"{name[:half]}…{name[len(name) - longest + half + 1 :]}"


def bars(title: str, caption: str, counts: Mapping[str, int], *, of: str = "items", colour: str = "accent") -> Plot:
    """Counts as bars with their numbers, in the order given."""
    values = [{"name": flat(name), "n": n, "text": f"{n:,}"} for name, n in counts.items()]
    most = max(counts.values(), default=0) or 1
    x = {"field": "n", "type": "quantitative", "axis": None, "scale": {"domain": [0, most], "range": [0, WIDE - 40]}}
    spec = {
        "data": {"values": values},
        "width": WIDE,
        "height": {"step": 42},
        "encoding": {"y": _LINES},
        "layer": [
            {"mark": {"type": "bar", "color": COLOURS[colour], "height": 14, "cornerRadiusEnd": 3, "yOffset": 6},
             "encoding": {"x": x}},
            {"mark": {"type": "text", "align": "left", "dx": 5, "dy": 6},
             "encoding": {"x": x, "text": {"field": "text"}}},
            *_above(values, dy=-10),
        ],
    }  # fmt: skip
    return Plot(title, caption, ("", of), tuple(counts.items()), spec if values else {})


def columns(title: str, caption: str, counts: Mapping[str, int], *, of: str = "items") -> Plot:
    """Counts of the steps of a scale as columns with their numbers: one of a set of small multiples."""
    values = [{"name": flat(name), "n": n, "text": f"{n:,}"} for name, n in counts.items()]
    spec = {
        "data": {"values": values},
        "width": WIDE,
        "height": 96,
        "encoding": {
            "x": {"field": "name", "type": "nominal", "sort": None, "title": None, "axis": {"labelAngle": 0}},
            "y": {"field": "n", "type": "quantitative", "axis": None},
        },
        "layer": [
            {"mark": {"type": "bar", "color": COLOURS["accent"], "cornerRadiusEnd": 3, "width": {"band": 0.62}}},
            {"mark": {"type": "text", "dy": -8, "color": COLOURS["ink"]}, "encoding": {"text": {"field": "text"}}},
        ],
    }
    return Plot(title, caption, ("", of), tuple(counts.items()), spec if values else {})


def parts(title: str, caption: str, rows: Mapping[str, Mapping[str, int]], kinds: Sequence[tuple[str, str]]) -> Plot:
    """Counts by kind, stacked, one bar a name, each piece with its number. `kinds` are (word, colour)."""
    values = [
        {"name": flat(name), "kind": word, "at": at, "n": counts.get(word, 0), "text": f"{counts.get(word, 0) or ''}"}
        for name, counts in rows.items()
        for at, (word, _) in enumerate(kinds)
    ]
    stack = {"field": "n", "type": "quantitative", "stack": "zero", "axis": None}
    scale = {"domain": [w for w, _ in kinds], "range": [COLOURS[c] for _, c in kinds]}
    legend = {"orient": "top", "title": None, "labelColor": COLOURS["soft"], "labelFontSize": 12, "columns": 1}
    order = {"field": "at", "type": "ordinal"}
    spec = {
        "data": {"values": values},
        "width": WIDE,
        "height": {"step": 46},
        "encoding": {"y": _LINES},
        "layer": [
            {
                "mark": {"type": "bar", "height": 20, "stroke": COLOURS["card"], "yOffset": 7},
                "encoding": {"order": order, "x": stack, "color": {"field": "kind", "scale": scale, "legend": legend}},
            },
            {
                "mark": {"type": "text", "color": COLOURS["on"], "dy": 7},
                "encoding": {"order": order, "x": {**stack, "bandPosition": 0.5}, "text": {"field": "text"}},
            },
            *_above(values, dy=-12),
        ],
    }
    words = tuple(w for w, _ in kinds)
    table = tuple((name, *(counts.get(w, 0) for w in words)) for name, counts in rows.items())
    return Plot(title, caption, ("", *words), table, spec if values else {})


def trend(title: str, caption: str, points: Sequence[tuple[str, int, int]]) -> Plot:
    """A share over runs: (run or when it was, count, items), oldest first. Of many runs some are named, the last is."""
    known = [(run, n, items) for run, n, items in points if items]
    every = -(-len(known) // _NAMED_RUNS)
    values = [
        {
            "at": at,
            "share": n / items,
            "run": _when(run) if (len(known) - 1 - at) % every == 0 else "",
            "text": percent(n, items) if (len(known) - 1 - at) % every == 0 else "",
        }
        for at, (run, n, items) in enumerate(known)
    ]
    x = {"field": "at", "type": "ordinal", "axis": None}
    y = {"field": "share", "type": "quantitative", "axis": None, "scale": {"zero": True}}
    bottom = {"datum": 0, "type": "quantitative", "axis": None}
    soft = {"type": "text", "baseline": "top", "dy": 6, "color": COLOURS["soft"], "limit": WIDE // _NAMED_RUNS}
    accent = {"color": COLOURS["accent"], "opacity": 1}
    spec = {
        "data": {"values": values},
        "width": WIDE,
        "height": 44,
        "encoding": {"x": x},
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 2, **accent}, "encoding": {"y": y}},
            {"mark": {"type": "point", "filled": True, "size": 45, **accent}, "encoding": {"y": y}},
            {"mark": {"type": "text", "dy": -11}, "encoding": {"y": y, "text": {"field": "text"}}},
            {"mark": soft, "encoding": {"y": bottom, "text": {"field": "run"}}},
        ],
    }
    return Plot(title, caption, ("run", "failed", "items"), tuple(points), spec if len(values) > 1 else {})


def _when(run: str) -> str | list[str]:
    """A time as a day and an hour, one above the other; a name as it is."""
    try:
        found = datetime.fromisoformat(run)
    except ValueError:
        return flat(run)
    return [f"{found.day} {found:%b}", f"{found:%H:%M}"]


def _told(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4g}"
