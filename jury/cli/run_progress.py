"""What stderr shows while a run goes on: items, verdicts with their coverage, failures, money, time left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jury.cli.progress import Progress
from jury.runner.totals import Totals
from jury.wording import count, dollars, percent


class RunProgress(Progress):
    """A `Progress` that is fed results. Money and time are those of this pass."""

    def __init__(self, kind: str, what: str = "items") -> None:
        super().__init__(what)
        self.totals = Totals(kind)
        self._fresh = 0
        self.spent = 0.0
        self.target_spent = 0.0

    def hear(self, word: str, result: Mapping[str, Any]) -> None:
        """One more item; `word` is empty for one that was judged before."""
        outcome = self.totals.add(result)
        self.target_spent = result.get("target_spent", 0.0)
        if word:
            self._fresh += 1
            usage: Any = result.get("usage") or {}
            self.spent += usage.get("cost") or 0.0
        self.add(outcome)

    @property
    def fresh(self) -> int:
        return self._fresh

    @property
    def words(self) -> str:
        """`pass rate 80% · 12 passed, 3 failed · coverage 98% · $0.12 · failed: 2 a: timeout`."""
        parts = (self._rate, super().words, self._coverage, self._money, self._failures)
        return " · ".join(part for part in parts if part)

    @property
    def _rate(self) -> str:
        good, rated = self.totals.rated
        if not rated:
            return ""
        if self.totals.kind == "pairwise":
            return f"win rate A {percent(2 * good + self.totals.counts['tie'], 2 * rated)}"
        return f"pass rate {percent(good, rated)}"

    @property
    def _coverage(self) -> str:
        total = self.totals.n_total
        return f"coverage {100 * self.totals.usable / total:.0f}%" if self.totals.usable < total else ""

    @property
    def _money(self) -> str:
        saved = f", {count(self.totals.calls_saved, 'call')} saved" if self.totals.calls_saved else ""
        spent = self.spent + self.target_spent
        return f"{dollars(spent)}{saved}" if spent or saved else ""

    @property
    def _failures(self) -> str:
        failed = self.totals.failures.most_common(2)
        return "failed: " + ", ".join(f"{n} {kind}" for kind, n in failed) if failed else ""
