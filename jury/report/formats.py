"""The formats of a report, by name: `written(report, "md")` is the file's content. HTML is in `page.py`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, cast

from jury.errors import ConfigError
from jury.report.cells import to_csv
from jury.report.junit import to_junit
from jury.report.markdown import to_markdown
from jury.report.parts import Report

FORMATS = ("html", "md", "json", "csv", "junit")


def to_json(report: Report) -> str:
    """`Report.to_dict` as strict JSON: what is no number is null."""
    made = report.to_dict()
    try:
        return json.dumps(made, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    except ValueError:  # a row of the data may hold NaN
        return json.dumps(_finite(made), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def to_html(report: Report) -> str:
    """One page that needs nothing else; without the extra `report` it has tables and no plots."""
    from jury.report.page import html  # the other formats do without its parts

    return html(report)


_WRITERS: Mapping[str, Callable[[Report], str]] = {
    "html": to_html,
    "md": to_markdown,
    "json": to_json,
    "csv": to_csv,
    "junit": to_junit,
}


def written(report: Report, format: str) -> bytes:
    """The report in one of `FORMATS`, as UTF-8. Half a character does not lose it. Raises `ConfigError`."""
    writer = _WRITERS.get(format)
    if writer is None:
        raise ConfigError(f"a report is one of {', '.join(FORMATS)}, got {format!r}")
    # In JSON the escape of half a character is JSON; the other formats have none left.
    return writer(report).encode("utf-8", "backslashreplace")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in cast("dict[str, Any]", value).items()}
    return [_finite(v) for v in cast("list[Any]", value)] if isinstance(value, list) else value
