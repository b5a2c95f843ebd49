"""One line at the end of a run: how many conformance cases there were and what became of them."""

from __future__ import annotations

from typing import Any

_OUTCOMES = ("passed", "failed", "error", "xfailed", "xpassed", "skipped")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    counts = {
        outcome: sum(
            getattr(report, "nodeid", "").startswith("tests/conformance/") and "[" in report.nodeid
            for report in terminalreporter.stats.get(outcome, [])
        )
        for outcome in _OUTCOMES
    }
    if total := sum(counts.values()):
        told = ", ".join(f"{n} {outcome}" for outcome, n in counts.items() if n)
        terminalreporter.write_line(f"conformance cases: {total} ({told})")
