"""Counts and rates over many verdicts. A rate is passed / (passed + failed) and never stands without its coverage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jury.brief import Brief, Row, cost_word
from jury.errors import ConfigError
from jury.results import Comparison, CriterionResult, PanelResult, Usage
from jury.wording import count, counted, percent

UNSETTLED = ("tie", "no_majority")  # reasons that take at least two votes that decided
UNASKED = ("budget", "deadline")  # reasons of items that judges did not get to: for want of money, of time
__all__ = [
    "UNASKED", "UNSETTLED", "PositionBias", "Summary", "WinRate", "beside", "count", "outcome", "percent",
    "position_bias", "summarize", "told", "unasked", "win_rate",
]  # fmt: skip
_OUTCOMES = ("pass", "fail", "na", "inconclusive", "error", "not_judged")


@dataclass(frozen=True, slots=True)
class Summary(Brief):
    """What came of a run. `n_unrated`: verdicts on a scale that has no pass mark.

    `pass_rate` is None where nothing passed or failed. `coverage` is the share of all items with a usable verdict, NA
    included (None for no items). `n_error` counts items on which no judge gave a usable reply.
    """

    n_total: int = 0
    n_pass: int = 0
    n_fail: int = 0
    n_na: int = 0
    n_inconclusive: int = 0
    n_error: int = 0
    n_not_judged: int = 0
    n_unrated: int = 0
    usage: Usage | None = None
    calls: int = 0
    calls_saved: int = 0

    @property
    def pass_rate(self) -> float | None:
        rated = self.n_pass + self.n_fail
        return self.n_pass / rated if rated else None

    @property
    def coverage(self) -> float | None:
        usable = self.n_pass + self.n_fail + self.n_na + self.n_unrated
        return usable / self.n_total if self.n_total else None

    def met(self, threshold: float) -> bool:
        """Whether the pass rate reaches a threshold; no rate reaches none."""
        return self.pass_rate is not None and self.pass_rate >= threshold - 1e-12

    def to_dict(self) -> dict[str, Any]:
        """Counts, rate, coverage and cost as plain JSON values; undefined is null."""
        names = ("n_total", "n_pass", "n_fail", "n_na", "n_inconclusive", "n_error", "n_not_judged", "n_unrated")
        counts = {name: getattr(self, name) for name in names}
        usage = self.usage
        return {
            "pass_rate": self.pass_rate,
            "coverage": self.coverage,
            **counts,
            "calls": self.calls,
            "calls_saved": self.calls_saved,
            "input_tokens": usage.input_tokens if usage else None,
            "output_tokens": usage.output_tokens if usage else None,
            "cost": usage.cost if usage else None,
        }

    def _brief(self) -> list[Row]:
        return told(self.to_dict())


def outcome(result: PanelResult | CriterionResult) -> str:
    """`pass`, `fail`, `na`, `inconclusive`, `error`, `not_judged`, or `unrated` (a verdict without a pass mark)."""
    if result.status == "not_judged":
        return "not_judged"
    if result.status == "not_applicable":
        return "na"
    if result.status == "inconclusive":
        return "error" if result.reason == "errors" else "inconclusive"
    return "unrated" if result.passed is None else "pass" if result.passed else "fail"


def summarize(results: Iterable[PanelResult | str]) -> Summary:
    """The counts over results, or over the words of `outcome` (letter case and outer spaces do not count).

    Raises `ConfigError` for another word or result.
    """
    counts: dict[str, int] = dict.fromkeys((*_OUTCOMES, "unrated"), 0)
    usage: Usage | None = None
    calls = saved = 0
    for result in results:
        if isinstance(result, str):
            counts[_known(result, counts)] += 1
            continue
        _must_be(PanelResult, result, "summarize counts verdicts on single items; for comparisons there is win_rate")
        counts[outcome(result)] += 1
        calls += result.calls
        saved += result.calls_saved
        usage = Usage.total((usage, result.usage))
    return Summary(
        n_total=sum(counts.values()),
        usage=usage,
        calls=calls,
        calls_saved=saved,
        **{f"n_{name}": n for name, n in counts.items()},
    )


def _must_be(kind: type, given: object, told: str) -> None:
    if not isinstance(given, kind):
        raise ConfigError(f"{told}; got a {type(given).__name__}")


def _known(word: str, words: Iterable[str]) -> str:
    for known in words:
        if word.strip().lower() == known.lower():
            return known
    raise ConfigError(f"{word!r} is no outcome; there are {', '.join(words)}")


@dataclass(frozen=True, slots=True)
class WinRate(Brief):
    """How often A won.

    Ties count `tie_value`; inconclusive comparisons are in no half of the rate, only in the counts.
    """

    win_rate_a: float | None
    n_a: int
    n_b: int
    n_tie: int
    n_inconclusive: int

    @property
    def n_judged(self) -> int:
        return self.n_a + self.n_b + self.n_tie

    @property
    def n_total(self) -> int:
        return self.n_judged + self.n_inconclusive

    @property
    def coverage(self) -> float | None:
        return self.n_judged / self.n_total if self.n_total else None

    def _brief(self) -> list[Row]:
        names = ("win_rate_a", "n_total", "n_a", "n_b", "n_tie", "n_inconclusive")
        return told({name: getattr(self, name) for name in names})


def win_rate(outcomes: Iterable[Comparison | str], tie_value: float = 0.5) -> WinRate:
    """The win rate over comparisons, or over their winners' names; a tie counts `tie_value`, from 0 to 1.

    Raises `ConfigError` for another name, result or value.
    """
    worth: Any = tie_value
    if isinstance(worth, bool) or not isinstance(worth, int | float) or not 0 <= worth <= 1:
        raise ConfigError(f"tie_value is what a tie counts for A, a number from 0 to 1, got {worth!r}")
    counts = {"A": 0, "B": 0, "tie": 0, "inconclusive": 0}
    for one in outcomes:
        if not isinstance(one, str):
            _must_be(Comparison, one, "win_rate counts comparisons; for verdicts on single items there is summarize")
        counts[_known(one, counts) if isinstance(one, str) else one.winner] += 1
    judged = counts["A"] + counts["B"] + counts["tie"]
    rate = (counts["A"] + tie_value * counts["tie"]) / judged if judged else None
    return WinRate(rate, counts["A"], counts["B"], counts["tie"], counts["inconclusive"])


@dataclass(frozen=True, slots=True)
class PositionBias:
    """A judge's flips among the pairs on which both its orders could be read; the rate is None where there is none."""

    flips: int
    both_orders_readable: int
    primacy: int = 0
    recency: int = 0
    mixed: int = 0

    @property
    def rate(self) -> float | None:
        return self.flips / self.both_orders_readable if self.both_orders_readable else None


def position_bias(comparisons: Iterable[Comparison], judge: str | None = None) -> PositionBias:
    """The flips over comparisons, of one judge or of all."""
    votes = [v for c in comparisons for v in c.votes if (judge is None or v.judge == judge) and v.completed]
    kinds = [v.flip_kind for v in votes if v.flipped]
    return PositionBias(len(kinds), len(votes), kinds.count("primacy"), kinds.count("recency"), kinds.count("mixed"))


def unasked(result: PanelResult | Comparison) -> bool:
    """Whether judges did not get to it, for want of money or time: no vote is against another."""
    return result.status == "inconclusive" and result.reason in UNASKED


def beside(counts: Mapping[str, int], reasons: Mapping[str, int]) -> str:
    """What is in no rate, in words; `counts` by the words of `outcome`, `reasons` of those without a verdict.

    Items that judges did not get to are told as not judged, apart from those on which votes settled nothing.

    >>> beside({"na": 2, "inconclusive": 4, "not_judged": 1}, {"tie": 1, "budget": 3})
    '2 NA, 1 inconclusive, 4 not judged (1 target error, 3 budget)'
    """
    waiting = {reason: n for reason in UNASKED if (n := reasons.get(reason))}
    errored = counts.get("not_judged", 0)
    told = [(counts.get("na", 0), "NA"), (counts.get("inconclusive", 0) - sum(waiting.values()), "inconclusive")]
    told += [(counts.get("error", 0), "error"), (errored + sum(waiting.values()), "not judged")]
    parts = [f"{n:,} {word}" for n, word in told if n > 0]
    if waiting:
        why = [count(errored, "target error")] if errored else []
        parts[-1] += f" ({', '.join([*why, *(f'{n:,} {reason}' for reason, n in waiting.items())])})"
    return ", ".join(parts + ([f"{n:,} unrated"] if (n := counts.get("unrated", 0)) else []))


def told(totals: Mapping[str, Any]) -> list[Row]:
    """The counts of many verdicts, as `Summary.to_dict` and a run's totals have them, in a few rows."""
    pairs = "win_rate_a" in totals
    name, words = ("win rate A", ("a", "b", "tie")) if pairs else ("pass rate", ("pass", "fail"))
    counts = {k.removeprefix("n_"): n for k, n in totals.items() if k.startswith("n_")}
    rate, total = totals["win_rate_a" if pairs else "pass_rate"], counts.pop("total")
    usable = total - sum(counts.get(word, 0) for word in ("inconclusive", "error", "not_judged"))
    others = beside(counts, totals.get("reasons") or {})
    told = "undefined" if rate is None else percent(rate, 1.0)
    rows = [("", f"{name} {told}", counted((word, counts.get(word, 0)) for word in words))]
    rows.append(("coverage", f"{percent(usable, total)}, {usable} of {total}{f': {others}' if others else ''}", ""))
    if totals.get("input_tokens") or totals.get("cost"):
        rows.append(("cost", cost_word(totals["cost"], totals["calls"]), ""))
    return rows
