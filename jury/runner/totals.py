"""Counts over the results of a run, from their plain values: the same for what is new and for what was stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from jury.summary import UNSETTLED

_POINTWISE = ("pass", "fail", "na", "inconclusive", "error", "not_judged", "unrated")
_PAIRWISE = ("a", "b", "tie", "inconclusive", "error", "not_judged")


@dataclass
class Totals:
    """Feed it every result of one pass; flat in memory. `kind` as in the manifest."""

    kind: str
    counts: Counter[str] = field(default_factory=Counter[str])
    failures: Counter[str] = field(default_factory=Counter[str])
    details: dict[str, str] = field(default_factory=dict[str, str])  # of each failure the first one's, where it is told
    reasons: Counter[str] = field(default_factory=Counter[str])
    flips: Counter[str] = field(default_factory=Counter[str])
    calls: int = 0
    calls_saved: int = 0
    cost: float = 0.0
    unpriced: int = 0  # results whose cost is unknown
    input_tokens: int = 0
    output_tokens: int = 0
    agreeing: int = 0  # of the results on which at least two votes decided, with a verdict or not: all alike
    several: int = 0
    tiers: Counter[int] = field(default_factory=Counter[int])  # of a cascade: items by the last tier that was asked
    for_people: int = 0
    checked: Counter[str] = field(default_factory=Counter[str])  # of what would have been settled early: as by all?

    def add(self, result: Mapping[str, Any]) -> str:
        """Counts one result; returns its outcome in a word."""
        get = result.get
        reason = get("reason")
        if reason:
            self.reasons[reason] += 1
        word = _pair_outcome(result) if self.kind == "pairwise" else _outcome(result)
        self.counts[word] += 1
        tier = get("tier")
        if tier:
            self.tiers[tier] += 1
            self.for_people += bool(get("for_people"))
        if get("checked"):
            self.checked[result["checked"]] += 1
        self.calls += get("calls") or 0
        self.calls_saved += get("calls_saved") or 0
        usage: Mapping[str, Any] | None = get("usage")
        if usage:
            self._paid(usage)
        agreement = get("agreement")
        if agreement is not None:
            self.several += 1
            self.agreeing += agreement == 1.0
        elif reason in UNSETTLED and not tier:
            self.several += 1
        for vote in get("votes") or ():
            self._vote(vote)
        return word

    def _paid(self, usage: Mapping[str, Any]) -> None:
        self.input_tokens += usage.get("input_tokens") or 0
        self.output_tokens += usage.get("output_tokens") or 0
        cost = usage.get("cost")
        if cost is None:
            self.unpriced += 1
        else:
            self.cost += cost

    def _vote(self, vote: Mapping[str, Any]) -> None:
        if vote.get("flip_kind"):
            self.flips[vote["flip_kind"]] += 1
        failure = vote.get("failure") or cast("Mapping[str, Any]", vote.get("verdict") or {}).get("failure")
        if failure:
            kind = f"{vote['judge']}: {failure['kind']}"
            self.failures[kind] += 1
            if failure.get("detail"):
                self.details.setdefault(kind, str(failure["detail"]))

    @property
    def n_total(self) -> int:
        return sum(self.counts.values())

    @property
    def usable(self) -> int:
        """Items with a verdict; not applicable is one."""
        return self.n_total - self.counts["inconclusive"] - self.counts["error"] - self.counts["not_judged"]

    @property
    def rated(self) -> tuple[int, int]:
        """Passed, and passed or failed; of pairs: won by A (a tie is half), and decided."""
        c = self.counts
        if self.kind == "pairwise":
            return c["a"], c["a"] + c["b"] + c["tie"]
        return c["pass"], c["pass"] + c["fail"]

    def to_dict(self) -> dict[str, Any]:
        """As `Summary.to_dict` has it; undefined is null."""
        good, rated = self.rated
        names = _PAIRWISE if self.kind == "pairwise" else _POINTWISE
        rate: float | None = (good + 0.5 * self.counts["tie"]) / rated if rated else None
        made: dict[str, Any] = {
            "win_rate_a" if self.kind == "pairwise" else "pass_rate": rate,
            "coverage": self.usable / self.n_total if self.n_total else None,
            "n_total": self.n_total,
            **{f"n_{name}": self.counts[name] for name in names},
            "calls": self.calls,
            "calls_saved": self.calls_saved,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost": None if self.unpriced else self.cost,
            "reasons": dict(self.reasons.most_common()),
            "failures": dict(self.failures.most_common()),
        }
        if self.tiers:
            made["tiers"] = {str(tier): self.tiers[tier] for tier in sorted(self.tiers)}
            made["for_people"] = self.for_people
        if self.tiers or self.checked:
            made |= {"checked": self.checked.total(), "differed": self.checked["differs"]}
        if self.kind == "pairwise":
            made["flips"] = dict(self.flips.most_common())
        return made


def _outcome(result: Mapping[str, Any]) -> str:
    status = result["status"]
    if status == "not_judged":
        return "not_judged"
    if status == "not_applicable":
        return "na"
    if status == "inconclusive":
        return "error" if result.get("reason") == "errors" else "inconclusive"
    passed = result.get("pass")
    return "unrated" if passed is None else "pass" if passed else "fail"


def _pair_outcome(result: Mapping[str, Any]) -> str:
    if result["status"] == "not_judged":
        return "not_judged"
    if result.get("reason") == "errors":
        return "error"
    return str(result["winner"]).lower()
