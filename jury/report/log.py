"""What judgments.jsonl knows besides the results: the digest of what was sent, when, and who paid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from jury.results import Judgment
from jury.store import Run
from jury.store.index import JUDGMENTS, short
from jury.store.lines import read_lines


class Entry(NamedTuple):
    """`request`: digest of what was sent; `at`: an ISO time; `source`: `cache`, `same`, `batch` or empty."""

    request: str = ""
    at: str = ""
    source: str = ""


_NONE = Entry()


class Log:
    """The entries by item, seat, order, repetition, criterion and notes; the last one counts. No replies are kept."""

    def __init__(self, run: Run) -> None:
        self._entries: dict[int, Entry] = {}
        for _, line in read_lines(run.folder / JUDGMENTS):
            key = _slot(*(line.get(n) for n in ("item", "judge", "order", "repetition", "criterion", "notes")))
            told = (line.get(name) for name in ("request", "at", "source"))
            self._entries[key] = Entry(*(text if isinstance(text, str) else "" for text in told))

    def entry(self, item: str, judgment: Judgment) -> Entry:
        """What is known of a judgment; empty where the log has none."""
        about = (judgment.judge, judgment.order, judgment.repetition, judgment.criterion)
        key = _slot(item, *about, judgment.notes)
        return self._entries.get(key, _NONE)


def _slot(item: Any, judge: Any, order: Any, repetition: Any, criterion: Any, notes: Any) -> int:
    # a part of a long session, an order of criteria
    told = "\0".join(map(str, cast("Sequence[Any]", notes))) if isinstance(notes, list | tuple) else ""
    return short(f"{item}\0{judge}\0{order or 'none'}\0{repetition or 0}\0{criterion or ''}\0{told}")
