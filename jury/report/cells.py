"""CSV that a spreadsheet cannot run: one line an item, and cells in which no text starts a formula. Reversible.

A text cell that a spreadsheet might take for a formula gets one `'` in front: it starts, after white space and signs
without width, with `=`, `+`, `-` or `@` (wide forms too), or its first sign is a tab or a line end. Numbers stay
numbers, also negative ones. A text that has `'` in front of such a start gets one more, so that taking one `'` away
from a cell that looks so gives every text back. Half a character becomes U+FFFD, other control characters too.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from jury.report.parts import ItemFacts, Report

LONGEST = 32_000  # characters; cells of spreadsheets end at 32,767, and readers refuse longer ones
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_STARTING = re.compile(r"'*[\s\u200b-\u200f\u2060\ufeff\x00-\x1f]*[=+\-@＝＋－＠]|'*[\t\r\n]")
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def safe_cell(value: Any) -> str:
    """A value as the text of one cell.

    >>> [safe_cell(v) for v in ("=1+1", "+1", "-1", -1, " @SUM(1)", "a-b", None, True, "'=1")]
    ["'=1+1", "'+1", '-1', '-1', "' @SUM(1)", 'a-b', '', 'true', "''=1"]
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(round(value, 12)) if math.isfinite(value) else ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = _UNWRITABLE.sub("\ufffd", text)
    return f"'{text}" if _STARTING.match(text) and not _NUMBER.fullmatch(text) else text


def csv_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV (RFC 4180, line ends `\\r\\n`): a header of all names in the order in which they come first."""
    given = [dict(row) for row in rows]
    names = list(dict.fromkeys(name for row in given for name in row))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    if names:
        writer.writerow([safe_cell(name) for name in names])
    for row in given:
        writer.writerow([safe_cell(row.get(name)) for name in names])
    return out.getvalue()


def to_csv(report: Report) -> str:
    """The items of a report, one a line: verdict, votes and reasons by judge, labels of people, texts.

    A text of more than `LONGEST` characters is cut, and says so.
    """
    return csv_text(_row(item) for item in report.items)


def _row(item: ItemFacts) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": item.id,
        "number": item.number + 1,
        "outcome": item.outcome,
        "verdict": item.word,
        "agreement": item.agreement,
        "reason": item.reason,
        "explanation": item.explanation,
        "flags": " ".join(item.flags),
        "tags": " ".join(item.tags),
        "error": item.error,
        "cost": item.cost,
        "calls": item.calls,
    }
    row |= {f"criterion {part.key}": part.value for part in item.parts}
    for vote in item.votes:
        row[f"vote {vote.judge}"] = vote.word
        row[f"why {vote.judge}"] = vote.failure or vote.explanation
    row |= {f"label {name}".rstrip(): value for name, value in item.people.items()}
    return {k: _cut(v) if isinstance(v, str) else v for k, v in {**row, **item.texts}.items()}


def _cut(text: str) -> str:
    """A text as long as a spreadsheet's cell may be; JSON has it whole."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text) - LONGEST:,} characters more)"
