"""How long a provider asks to wait: `Retry-After` (seconds or HTTP date), `retry-after-ms`, Google's `RetryInfo`.

Pure. Whether to wait at all is decided in `faults.py` and `calls.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast


def retry_after(headers: Mapping[str, str] | None, body: Any = None, now: datetime | str | None = None) -> float | None:
    """Seconds to wait at least, above zero; None where nothing usable is said (no number, not finite, in the past).

    Where several places name a time, the longest holds. `now` is the moment the answer came, by default the answer's
    own `Date`, so that a wrong clock on this side does not matter.
    """
    named = {str(k).lower(): str(v) for k, v in (headers or {}).items()}
    waits = [_number(named.get("retry-after-ms"), 0.001), _body_delay(body)]
    value = named.get("retry-after")
    # Given twice, as by a proxy in between, the two come joined by a comma; a date has one too, and is no number.
    given = [_number(part) for part in value.split(",")] if value is not None else []
    seconds = max((g for g in given if g is not None), default=None) if None not in given else None
    if seconds is None and value is not None:
        until = _date(value)
        if until is not None:
            seconds = (until - (_moment(now) or _date(named.get("date", "")) or datetime.now(UTC))).total_seconds()
    usable = [w for w in (*waits, seconds) if w is not None and w > 0]
    return max(usable) if usable else None


def _number(text: str | None, unit: float = 1.0) -> float | None:
    try:
        value = float(text) * unit if text is not None else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _moment(now: datetime | str | None) -> datetime | None:
    if isinstance(now, str):
        now = datetime.fromisoformat(now)
    return now.replace(tzinfo=UTC) if now is not None and now.tzinfo is None else now


def _body_delay(body: Any) -> float | None:
    """`{"error": {"details": [{"retryDelay": "34s"}]}}`, which Gemini sends instead of a header."""
    if isinstance(body, list) and body:
        body = cast("list[Any]", body)[0]
    error: Any = cast("dict[str, Any]", body).get("error") if isinstance(body, dict) else None
    details: Any = cast("dict[str, Any]", error).get("details") if isinstance(error, dict) else None
    for detail in cast("list[Any]", details) if isinstance(details, list) else []:
        delay: Any = cast("dict[str, Any]", detail).get("retryDelay") if isinstance(detail, dict) else None
        match = re.fullmatch(r"(\d+(?:\.\d+)?)s", delay) if isinstance(delay, str) else None
        if match:
            return float(match.group(1))
    return None
