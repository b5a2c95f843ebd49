"""What holds for every test: nobody's cache is touched, a slow machine fails no property test, and a run ends with a
word on the conformance cases.

The closing line stands here, not beside the cases: where tests run in several processes, only this file is read by the
one that reports.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("any_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any_machine")

_OUTCOMES = ("passed", "failed", "error", "xfailed", "xpassed", "skipped")


@pytest.fixture(autouse=True)
def _no_shared_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JURY_CACHE", "off")


@pytest.fixture
def bare_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, on a terminal of 80 columns, where the environment names no judge, no key and no colour."""
    from jury.providers import registry

    for name in ("JURY_JUDGES", "JUDGE_MODEL", "JURY_CONFIG", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("CI", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    registry.reset()  # scripts are played once through, by their path
    return tmp_path


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many conformance cases there were, and what became of them."""
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
