"""How far the auditor reaches on recorded votes: 13 measures beside their targets, for any folder of such files.

    python -m benchmarks.trust [--json] [--data FOLDER] [--draws 40] [--only 2,3]

Targets are written for the panels of the folder that baselines were computed on; a measure over sets that a folder
does not hold prints "no such set".
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import Any

from benchmarks import trust_measures as measures
from benchmarks.measure import finish, show
from benchmarks.votes import GradedSet, VoteSet, folder, load

Row = dict[str, Any]


@dataclass
class Measured:
    """One line of the table. `reached` is None where it cannot be told: nothing to measure it on, or too few draws."""

    number: int
    what: str
    value: str
    target: str
    reached: bool | None
    rows: list[Row] = field(default_factory=list)


def _named(rows: Sequence[Row], part: str, key: str = "set") -> Row | None:
    return next((r for r in rows if part in str(r[key])), None)


def _say(rows: Sequence[tuple[str, float | None]], unit: str = "") -> str:
    return ", ".join(f"{name} {value:.1f}{unit}" for name, value in rows if value is not None) or "no such set"


def agreement(sets: list[VoteSet], graded: list[GradedSet], draws: int) -> list[Measured]:
    rows = measures.agreement(sets)
    worst = max((r["difference"] for r in rows), default=0.0)
    what = "alpha and Fleiss' kappa, difference from a second computation, missing votes too"
    return [Measured(1, what, f"{worst:.1e} at most, {len(rows)} sets", "<= 1e-9", worst <= 1e-9, rows)]


def no_labels(sets: list[VoteSet], graded: list[GradedSet], draws: int) -> list[Measured]:
    both, one = measures.unsupervised(sets, True), measures.unsupervised(sets, False)
    small, large = _named(both, "llmbar_8"), _named(both, "llmbar_65")
    trivia = _named(one, "triviaqa")
    lost = min((r["gain"] for r in both), default=0.0)
    lost_one = min((r["gain"] for r in one), default=0.0)
    first = _say([("8 judges", small and small["auto"]), ("65 judges", large and large["auto"])])
    reached = None if not (small and large) else small["auto"] >= 81 and large["auto"] >= 82 and lost >= -0.5
    second = f"{lost_one:+.1f}, triviaqa {trivia['gain']:+.1f}" if trivia else f"{lost_one:+.1f}"
    return [
        Measured(2, "no labels, both orders: llmbar; worst against majority",
                 f"{first}; {lost:+.1f}", ">= 81 / 82; >= -0.5", reached, both),
        Measured(3, "no labels, one order: worst against majority; triviaqa", second, ">= -0.5; >= +2.5",
                 lost_one >= -0.5 and (trivia is None or trivia["gain"] >= 2.5), one),
    ]  # fmt: skip


def few_labels(sets: list[VoteSet], graded: list[GradedSet], draws: int) -> list[Measured]:
    found = []
    for number, labels in ((4, 50), (5, 25)):
        rows = measures.labelled(sets, labels, draws)
        short = max((r["shortfall"] for r in rows), default=0.0)
        gain = min((r["gain"] for r in rows), default=0.0)
        reached = short <= 0.5 if labels == 50 else gain >= -0.005 and short <= 1.0
        target = "<= 0.5" if labels == 50 else "<= 1.0; >= 0"
        what = f"{labels} labels: worst shortfall to the best recipe; worst against majority"
        found.append(Measured(number, what, f"{short:.2f}; {gain:+.2f}", target, reached if rows else None, rows))
    return found


def rates(sets: list[VoteSet], graded: list[GradedSet], draws: int) -> list[Measured]:
    rows = measures.coverage(sets, 50 * draws)
    low, high = min(r["coverage"] for r in rows), max(r["coverage"] for r in rows)
    bottom, top = _beyond_chance(94, 97, 50 * draws, len(rows))
    outside = sum(not bottom <= r["coverage"] <= top for r in rows)
    wider = max(r["width"] - r["ppi_width"] for r in rows if r["labels"] >= 50)
    ppi = f"PPI++ {min(r['ppi_coverage'] for r in rows):.0f}-{max(r['ppi_coverage'] for r in rows):.0f}"
    flags = measures.flags(sets, 5 * draws)
    leaning = [r for r in flags if abs(r["bias"]) >= 10]
    least = min((r["flagged"] for r in leaning), default=0.0)
    mean = sum(r["flagged"] for r in leaning) / max(len(leaning), 1)
    calm = [r["flagged"] for r in flags if abs(r["bias"]) < 2]
    false = f"; {sum(calm) / len(calm):.0f}% where it is < 2" if calm else ""
    return [
        Measured(6, "coverage of 95% intervals of corrected rates, 25-200 labels; width beyond PPI++ at 50+",
                 f"{low:.1f}-{high:.1f} ({ppi}), {outside} of {len(rows)} rows outside 94-97 beyond the noise of "
                 f"{50 * draws} draws; {wider:+.1f} points at most", "94-97; <= 0",
                 not outside and wider <= 0 and (True if low >= 94 and high <= 97 else None), rows),
        Measured(7, "raw rate flagged by 50 labels where it is off by 10 points or more",
                 f"{mean:.0f}% on average, {least:.0f}% at least{false}", ">= 95%",
                 least >= 95 if leaning else None, flags),
    ]  # fmt: skip


def _beyond_chance(low: float, high: float, draws: int, rows: int) -> tuple[float, float]:
    """The shares that any row passes by chance in 1 of 20 measurements where all rows are at `low` or `high`."""
    z = NormalDist().inv_cdf(1 - 0.05 / rows)
    return low - z * math.sqrt(low * (100 - low) / draws), high + z * math.sqrt(high * (100 - high) / draws)


def stopping(sets: list[VoteSet], graded: list[GradedSet], draws: int) -> list[Measured]:
    found = []
    for number, budget, goals in ((8, 0.0, (5.30, None)), (9, 0.01, (2.4, 3.6)), (10, 0.02, (1.8, 3.0))):
        rows = measures.stopping(sets, budget, max(4, draws))
        trivia, relevance = _named(rows, "triviaqa"), _named(rows, "llmjudge")
        pairs = [(r, goal) for r, goal in ((trivia, goals[0]), (relevance, goals[1])) if r and goal]
        value = "; ".join(f"{r['set']} {r['asked']:.2f} ({r['changed']:.2f}% changed, within in {r['within']:.0f}%)"
                          for r in rows)  # fmt: skip
        target = f"<= {goals[0]}, same verdicts" if not budget else f"<= {goals[0]} / {goals[1]}, within in 95%"
        ok = all(r["asked"] <= goal and r["within"] >= 95 for r, goal in pairs) if pairs else None
        what = f"9 judges, mean asked, at most {100 * budget:.0f}% of verdicts changed"
        found.append(Measured(number, what, value or "no such set", target, ok, rows))
    return found


def sure(sets: list[VoteSet], graded: list[GradedSet], draws: int) -> list[Measured]:
    rows = measures.confidence(sets, 50, draws)
    four = [r for r in rows if r["set"] in ("triviaqa_judges", "llmbar_8", "llmjudge_relevance", "framing")]
    worst = max((r["ece"] for r in four), default=0.0)
    trivia, framing = _named(rows, "triviaqa"), _named(rows, "framing")
    halves = _say([("triviaqa", trivia and trivia["certain_half"]), ("framing", framing and framing["certain_half"])])
    ok = None if not (trivia and framing) else trivia["certain_half"] >= 98 and framing["certain_half"] >= 87
    each = ", ".join(f"{r['ece']:.3f}" for r in four)
    return [
        Measured(11, "calibration error (ECE) with 50 labels, four sets", each or "no such set", "<= 0.04",
                 worst <= 0.04 if four else None, rows),
        Measured(13, "accuracy on the more certain half, 50 labels", halves, ">= 98 / 87", ok, rows),
    ]  # fmt: skip


def graded_scales(sets: list[VoteSet], graded: list[GradedSet], draws: int) -> list[Measured]:
    rows = measures.scales(graded, 50, draws)
    if not rows:
        return [Measured(12, "error on 1-5 scales, 50 labels", "no such set", "<= 0.49", None)]
    mean, line = (sum(r[k] for r in rows) / len(rows) for k in ("mapped", "line"))
    kept = min(r["rank_mapped"] - r["rank"] for r in rows)
    value = f"{mean:.3f} (line {line:.3f}); rank {kept:+.3f} at worst"
    return [Measured(12, "mean absolute error on 1-5 scales with 50 labels; rank correlation kept", value,
                     "<= 0.49", mean <= 0.49, rows)]  # fmt: skip


PARTS: dict[tuple[int, ...], Callable[[list[VoteSet], list[GradedSet], int], list[Measured]]] = {
    (1,): agreement,
    (2, 3): no_labels,
    (4, 5): few_labels,
    (6, 7): rates,
    (8, 9, 10): stopping,
    (11, 13): sure,
    (12,): graded_scales,
}


def measure(data: Path, *, draws: int, only: Sequence[int] = ()) -> dict[str, Any]:
    """All measures, or those of `only`, as plain values."""
    sets, graded = load(data)
    found: list[Measured] = []
    for numbers, part in PARTS.items():
        if only and not set(numbers) & set(only):
            continue
        start = time.perf_counter()
        found += [m for m in part(sets, graded, draws) if not only or m.number in only]
        print(f"measures {numbers}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    found.sort(key=lambda m: m.number)
    sizes = {s.name: [s.n, len(s.judges)] for s in sets}
    return {"draws": draws, "sets": sizes, "measures": [asdict(m) for m in found]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of recorded votes (default: JURY_DATA)")
    parser.add_argument("--draws", type=int, default=40, help="random draws of labelled items for each number")
    parser.add_argument("--only", default="", help="numbers of measures, such as 2,3")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    only = [int(n) for n in asked.only.split(",") if n]
    result = measure(asked.data or folder(), draws=asked.draws, only=only)
    if not asked.json:
        words = {True: "yes", False: "no", None: "-"}
        lines = [
            [str(m["number"]), m["what"], m["value"], m["target"], words[m["reached"]]] for m in result["measures"]
        ]
        show("How far verdicts can be trusted", ["#", "measure", "here", "target", "reached"], lines)
    finish(result, asked.json)


if __name__ == "__main__":
    main()
