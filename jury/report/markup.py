"""HTML as values: `tag` makes elements and escapes everything that is not `Markup`. Knows no report and no page.

Text of others is shown, never run: half surrogate pairs become U+FFFD, control characters and those that turn the
direction of a line become small signs that name them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any, cast

_ACTING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
_LONE = re.compile("[\ud800-\udfff]")
_VOID = frozenset({"meta", "input", "br"})
_CLOSED = frozenset({"line", "rect", "circle"})  # of SVG: HTML takes no element of it for empty by itself


class Markup(str):
    """HTML that is ready."""

    __slots__ = ()


Content = str | int | float | None | Iterable[Any]


def whole(text: str) -> str:
    """The text as UTF-8 can hold it."""
    return _LONE.sub("\ufffd", text)


def flat(text: str) -> str:
    """The text for an attribute or a title: what would act becomes U+FFFD."""
    return _ACTING.sub("\ufffd", whole(text))


def shown(text: str) -> Markup:
    """The text as HTML that shows it."""
    given = whole(text).replace("\r\n", "\n").replace("\r", "\n")
    made: list[str] = []
    at = 0
    for hit in _ACTING.finditer(given):
        made.append(html.escape(given[at : hit.start()]))
        made.append(f'<span class="ctl" title="a control character in the text">U+{ord(hit[0]):04X}</span>')
        at = hit.end()
    made.append(html.escape(given[at:]))
    return Markup("".join(made))


def tag(name: str, /, *content: Content, **attributes: Any) -> Markup:
    """An element. `class_` is `class`, other underscores are hyphens; None and False leave an attribute out."""
    told: list[str] = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        written = key.rstrip("_").replace("_", "-")
        told.append(f" {written}" if value is True else f' {written}="{html.escape(flat(str(value)))}"')
    opening = f"<{name}{''.join(told)}{'/' if name in _CLOSED else ''}>"
    return Markup(opening if name in _VOID or name in _CLOSED else f"{opening}{join(content)}</{name}>")


def join(content: Content) -> Markup:
    """Content one after another; None is left out."""
    if content is None:
        return Markup("")
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return shown(content)
    if isinstance(content, int | float):
        return Markup(f"{content:,}")
    return Markup("".join(join(cast("Content", part)) for part in content))


def own(text: str, name: str = "bdi", /, **attributes: Any) -> Markup:
    """Text of others, kept apart from the direction of the text around it."""
    return tag(name, text, **attributes) if name == "bdi" else tag(name, text, dir="auto", **attributes)


def remark(text: str, name: str = "p", /, **attributes: Any) -> Markup:
    """A sentence of ours, which may name things of others; what stands between backticks is code."""
    parts = [tag("code", own(part)) if at % 2 else shown(part) for at, part in enumerate(text.split("`"))]
    return tag(name, parts, dir="auto", **attributes)


def table(
    heads: Iterable[Content], rows: Iterable[Iterable[Content]], *, caption: str = "", numbers: Iterable[int] = ()
) -> Markup:
    """A table whose first column names the rows. `numbers` are the columns (from 0) that hold numbers.

    One of more than two columns becomes a block for each row on a narrow screen; each cell knows its head for that.
    """
    right = frozenset(numbers)
    heads = list(heads)
    stacks = len(heads) > 2

    def cell(at: int, content: Content) -> Markup:
        kind = "num" if at in right else None
        named = heads[at] if stacks and isinstance(heads[at], str) else None
        return tag("th", content, scope="row") if at == 0 else tag("td", content, class_=kind, data_head=named)

    head = [tag("th", h, scope="col", class_="num" if at in right else None) for at, h in enumerate(heads)]
    body = [tag("tr", [cell(at, c) for at, c in enumerate(row)]) for row in rows]
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption, class_="sr") if caption else None,
            tag("thead", tag("tr", head)),
            tag("tbody", body),
            class_="stack" if stacks else None,
        ),
        class_="scroll",
        tabindex="0",
        role="group",
        aria_label=caption or "table",
    )
