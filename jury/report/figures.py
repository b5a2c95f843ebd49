"""A plot on the page: picture, sentence, and its data as a table and as CSV. Knows no report."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Sequence
from typing import Any, cast

from jury.report import plots
from jury.report.markup import Content, Markup, table, tag, whole

_FORMULA = re.compile(r"^\s*[=+\-@]|^[\t\r]")


def figure(plot: plots.Plot) -> Markup:
    """The plot, or its table where nothing draws it."""
    picture = plots.drawn(plot)
    numbers = range(1, len(plot.heads))
    data = table(plot.heads, plot.rows, caption=plot.title, numbers=numbers)
    link = csv_link(plot.title, plot.heads, plot.rows)
    says = tag("figcaption", plot.caption) if plot.caption else None
    if picture is None:
        return tag("figure", data, says, tag("p", link, class_="small screen"))
    return tag(
        "figure",
        tag("div", picture, class_="plot-box"),
        says,
        tag("details", tag("summary", "Data"), data, tag("p", link), class_="data"),
    )


def csv_link(title: str, heads: Sequence[Content], rows: Sequence[Sequence[Content]]) -> Markup:
    """The rows as a file to keep; the file is in the link."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerows([[_cell(c) for c in row] for row in (heads, *rows)])
    coded = base64.b64encode(whole(out.getvalue()).encode()).decode("ascii")
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "data"
    return tag("a", "Download as CSV", href=f"data:text/csv;charset=utf-8;base64,{coded}", download=f"{name}.csv")


def _cell(value: Content) -> Any:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers."""
    if isinstance(value, str):
        bare = re.sub(r"<[^>]*>", "", value) if isinstance(value, Markup) else str(value)
        return f"'{bare}" if _FORMULA.match(bare) and not _is_number(bare) else bare
    if value is None or isinstance(value, int | float):
        return value
    return " ".join(str(part) for part in cast("Sequence[Any]", value))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
