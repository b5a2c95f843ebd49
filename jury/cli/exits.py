"""The exit codes, and which of them a run earns. Knows numbers only."""

from __future__ import annotations

from collections import Counter

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


Verdict = tuple[int, str]  # an exit code, and what the run fell short of where one of its marks decided it


def of_summary(summary: Summary, fail_under: float | None, min_coverage: float | None) -> Verdict:
    """The code of a pointwise run."""
    return of_rate(summary.pass_rate, summary.coverage, fail_under, min_coverage)


def of_outcomes(outcomes: Counter[str], fail_under: float | None) -> Verdict:
    """The code of verdicts that were printed one by one, from how often each `summary.outcome` came."""
    rated = outcomes["pass"] + outcomes["fail"]
    usable = rated + outcomes["na"] + outcomes["unrated"]
    return of_rate(outcomes["pass"] / rated if rated else None, usable, fail_under, None)


def of_comparisons(rate: WinRate, fail_under: float | None, min_coverage: float | None) -> Verdict:
    """The code of a pairwise run; `fail_under` is for A's win rate."""
    return of_rate(rate.win_rate_a, rate.coverage, fail_under, min_coverage, "win rate A")


def of_rate(
    rate: float | None,
    coverage: float | None,
    fail_under: float | None,
    min_coverage: float | None,
    what: str = "pass rate",
) -> Verdict:
    """An outage (3) comes before a bad rate (1): the rate of a rest says nothing."""
    if not coverage:
        return NO_RESULT, ""
    if min_coverage is not None and _short(coverage, min_coverage):
        return NO_RESULT, f"coverage {coverage:.6g} is below --min-coverage {min_coverage:g}"
    if fail_under is None:
        return OK, ""
    if rate is None:  # all items are NA, say
        return NO_RESULT, f"there is no {what} to hold against --fail-under"
    if _short(rate, fail_under):
        return BELOW, f"{what} {rate:.6g} is below --fail-under {fail_under:g}"
    return OK, ""


def _short(value: float, wanted: float) -> bool:
    return value < wanted - 1e-12
