"""The exit codes, and which of them a run earns. Knows numbers only."""

from __future__ import annotations

from collections import Counter

from jury.errors import ConfigError
from jury.summary import Summary, WinRate

OK = 0
BELOW = 1  # the pass rate is below --fail-under
USAGE = 2  # wrong options, configuration or data; nothing was asked, or the run could not go on
NO_RESULT = 3  # nothing usable came out, or less of it than --min-coverage
UNDECIDED = 4  # kept for gates that compare two runs
INTERRUPTED = 130  # Ctrl-C or SIGTERM: what was judged is kept
CLOSED = 141  # whoever read standard output went away, as `| head` does
MEANINGS = {
    OK: "fine",
    BELOW: "the rate is below `--fail-under`",
    USAGE: "wrong options, configuration or data; one line says what",
    NO_RESULT: "no usable result, or coverage below `--min-coverage`",
    UNDECIDED: "undecided (gates)",
    INTERRUPTED: "interrupted; what was judged is kept",
    CLOSED: "standard output was closed by its reader (`| head`)",
}


def of_summary(summary: Summary, fail_under: float | None, min_coverage: float | None) -> int:
    """The code of a pointwise run. An outage (3) comes before a bad rate (1): the rate of a rest says nothing."""
    if not summary.coverage or _short(summary.coverage, min_coverage):
        return NO_RESULT
    if fail_under is None:
        return OK
    if summary.pass_rate is None:  # all items are NA: there is no rate to compare
        return NO_RESULT
    return OK if summary.met(fail_under) else BELOW


def of_outcomes(outcomes: Counter[str], fail_under: float | None) -> int:
    """The code of verdicts that were printed one by one, from how often each `summary.outcome` came."""
    rated = outcomes["pass"] + outcomes["fail"]
    if not rated + outcomes["na"] + outcomes["unrated"] or (fail_under is not None and not rated):
        return NO_RESULT
    return BELOW if fail_under is not None and _short(outcomes["pass"] / rated, fail_under) else OK


def check_share(name: str, share: float | None) -> None:
    """Raises `ConfigError` where an option is no share from 0 to 1."""
    if share is not None and not 0 <= share <= 1:
        hint = f" (did you mean {share / 100:g}?)" if 1 < share <= 100 else ""
        raise ConfigError(f"{name} is a share from 0 to 1, got {share:g}{hint}")


def of_comparisons(rate: WinRate, fail_under: float | None, min_coverage: float | None) -> int:
    """The code of a pairwise run; `fail_under` is for A's win rate."""
    if not rate.coverage or rate.win_rate_a is None or _short(rate.coverage, min_coverage):
        return NO_RESULT
    return BELOW if _short(rate.win_rate_a, fail_under) else OK


def _short(value: float, wanted: float | None) -> bool:
    return wanted is not None and value < wanted - 1e-12
