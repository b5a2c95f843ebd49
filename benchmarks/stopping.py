"""Calls saved by stopping early, on recorded votes of real judges, and how often the verdict is another one.

    python -m benchmarks.stopping [--splits 40] [--error 0.01] [--json]

`JURY_DATA` names a folder of recorded votes. For every pointwise set with enough judges: random halves of whole groups;
trees are made from one half and walked on the other. A large panel is a random one of `--panel` judges in each split.
`exact` asks in the best order until the verdict is settled, `bounded` stops where it is sure enough. As in a run, the
trees are not told which items belong together. "within": the share of splits whose other half has no more wrong
verdicts than `--error`.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import finish, show
from benchmarks.votes import folder
from jury.stats.stopping import CONFIDENCE, Shape, calibrated, exact_tree, verdicts

GOALS = {"triviaqa": (5.30, 2.4), "llmjudge": (None, 3.6)}  # calls: exact, at an error of one in a hundred
_FEWEST = 400  # items: half of them must be able to show an error this small
Codes = NDArray[np.int64]


def load(path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Items of one file and the judges that voted on nearly all of them; votes become pass or not."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    counts: dict[str, int] = defaultdict(int)
    for row in rows:
        for judge, vote in row["votes"].items():
            counts[judge] += not isinstance(vote, dict) and vote is not None
    return rows, sorted(judge for judge, n in counts.items() if n >= 0.95 * len(rows))


def binary(vote: Any) -> int | None:
    """A boolean, or a grade from 0 to 3 from 2 on."""
    if isinstance(vote, bool):
        return int(vote)
    return int(vote >= 2) if isinstance(vote, int) else None


def table(rows: list[dict[str, Any]], judges: list[str]) -> tuple[Codes, Codes]:
    """Complete votes, and the number of each item's group."""
    votes, groups = [], []
    names: dict[str, int] = {}
    for row in rows:
        codes = [binary(row["votes"].get(judge)) for judge in judges]
        if None not in codes:
            votes.append(codes)
            groups.append(names.setdefault(row["group_id"], len(names)))
    return np.array(votes, dtype=np.int64), np.array(groups, dtype=np.int64)


def split(votes: Codes, groups: Codes, seed: int, error: float, confidence: float) -> dict[str, float]:
    """One random half against the other; an `error` of 0 measures the exact tree alone."""
    draw = np.random.default_rng(seed)
    order = draw.permutation(int(groups.max()) + 1)
    train = np.isin(groups, order[: len(order) // 2])
    shape = Shape(2, (1.0,) * votes.shape[1], (1.0,) * votes.shape[1])
    seen, new = votes[train], votes[~train]
    truth = verdicts(new, shape)
    exact_calls, exact_said = exact_tree(seen, shape).walk(new)
    found = calibrated(seen, shape, error, confidence=confidence) if error else None
    calls, said = (exact_calls, exact_said) if found is None else found.tree.walk(new)
    return {
        "exact_calls": float(exact_calls.mean()),
        "exact_wrong": float((exact_said != truth).mean()),
        "calls": float(calls.mean()),
        "wrong": float((said != truth).mean()),
    }


def measured(
    votes: Codes, groups: Codes, panel: int, splits: int, error: float, confidence: float = CONFIDENCE
) -> dict[str, float]:
    """All splits of complete votes 0 and 1 (items, judges), a random panel in each."""
    found: list[dict[str, float]] = []
    for seed in range(splits):
        chosen = np.sort(np.random.default_rng(seed).choice(votes.shape[1], panel, replace=False))
        found.append(split(votes[:, chosen], groups, seed, error, confidence))
    return {
        "exact_calls": statistics.mean(f["exact_calls"] for f in found),
        "exact_wrong": max(f["exact_wrong"] for f in found),
        "calls": statistics.mean(f["calls"] for f in found),
        "wrong": statistics.mean(f["wrong"] for f in found),
        "within": statistics.mean(f["wrong"] <= error for f in found),
    }


def measure(path: Path, panel: int, splits: int, error: float, confidence: float) -> dict[str, Any] | None:
    """All splits of one set; None where it has too few judges or items."""
    rows, judges = load(path)
    if len(judges) < panel or len(rows) < _FEWEST or binary(rows[0]["votes"].get(judges[0])) is None:
        return None
    found = measured(*table(rows, judges), panel, splits, error, confidence)
    return {"set": path.stem, "judges": len(judges), "panel": panel, "splits": splits, "error": error, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=40)
    parser.add_argument("--panel", type=int, default=9)
    parser.add_argument("--error", type=float, default=0.01)
    parser.add_argument("--confidence", type=float, default=CONFIDENCE)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    paths = sorted(folder().glob("*_pointwise.jsonl"))
    sets = [m for p in paths if (m := measure(p, given.panel, given.splits, given.error, given.confidence)) is not None]
    result = {"sets": sets, "goals": GOALS}
    if not given.json:
        head = ["set", "panel", "exact: calls", "exact: wrong", "bounded: calls", "wrong", "splits within the bound"]
        lines = [
            [
                m["set"],
                str(m["panel"]),
                f"{m['exact_calls']:.2f}",
                f"{m['exact_wrong']:.2%}",
                f"{m['calls']:.2f}",
                f"{m['wrong']:.2%}",
                f"{m['within']:.0%}",
            ]
            for m in sets
        ]
        show(f"Stopping early, error at most {given.error:.0%}, {given.splits} random halves", head, lines)
    finish(result, given.json)


if __name__ == "__main__":
    main()
