"""Recorded votes with human labels: files of JSON lines -> tables of codes. What is measured on them is in trust.py.

A folder of such files is `JURY_DATA`. Sets are found by shape alone, never by the name of an item or a judge: items
that share a panel of judges make a set, so one file may give several.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEWEST_ITEMS, FEWEST_JUDGES = 30, 3
NEARLY_ALL = 0.9  # an item belongs to a panel if this share of its judges voted on it
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class VoteSet:
    """Votes on `ab.shape[0]` items by `ab.shape[1]` judges, as codes into `labels`; -1 is no vote.

    `ba` holds the votes in the swapped order (in terms of the responses, not of the slots), None where there are none.
    `gold` is the strict majority of people as a code, `groups` names what belongs together. Of a pair where people say
    "tie" there is no item: the truth has two sides.
    """

    name: str
    labels: tuple[Any, ...]
    judges: tuple[str, ...]
    ab: Codes
    ba: Codes | None
    gold: Codes
    groups: tuple[str, ...]

    @property
    def n(self) -> int:
        return len(self.gold)

    def take(self, rows: Sequence[int] | Codes, judges: Sequence[int] | None = None) -> VoteSet:
        """Some items, and some judges."""
        picked = np.asarray(rows, dtype=np.int64)
        columns = np.arange(len(self.judges)) if judges is None else np.asarray(judges, dtype=np.int64)
        return VoteSet(
            self.name,
            self.labels,
            tuple(self.judges[int(j)] for j in columns),
            self.ab[np.ix_(picked, columns)],
            None if self.ba is None else self.ba[np.ix_(picked, columns)],
            self.gold[picked],
            tuple(self.groups[int(i)] for i in picked),
        )


@dataclass(frozen=True)
class GradedSet:
    """Scores of judges (NaN: none) and the mean of the people's, on items of one aspect."""

    name: str
    judges: tuple[str, ...]
    scores: NDArray[np.float64]
    human: NDArray[np.float64]
    groups: tuple[str, ...]


def folder() -> Path:
    """`JURY_DATA`, or `shared/data` beside the checkout. Raises `FileNotFoundError`."""
    given = os.environ.get("JURY_DATA")
    path = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not path.is_dir():
        raise FileNotFoundError(f"no recorded votes at {path}: set JURY_DATA to a folder of them")
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def load(path: Path) -> tuple[list[VoteSet], list[GradedSet]]:
    """All sets of a folder: those of labels, and those of 1-5 scales. Files without labels by people give none."""
    sets: list[VoteSet] = []
    graded: list[GradedSet] = []
    for file in sorted(path.glob("*.jsonl")):
        rows = [r for r in rows_of(file) if (r.get("human") or {}).get("majority") is not None or _mean(r) is not None]
        if not rows:
            continue
        name = file.stem.removesuffix("_pointwise").removesuffix("_pairwise")
        if rows[0].get("scale") == "1-5":
            graded += _graded(name, rows)
        sets += _sets(name, [r for r in rows if r["human"].get("majority") is not None])
    return sets, graded


def _mean(row: dict[str, Any]) -> float | None:
    return (row.get("human") or {}).get("mean")


def _panels(rows: list[dict[str, Any]]) -> list[tuple[tuple[str, ...], list[dict[str, Any]]]]:
    """Panels of judges with the items on which nearly all of them voted; the largest panel first."""
    seen = Counter(tuple(sorted(r["votes"])) for r in rows)
    panels = [p for p, n in seen.items() if n >= FEWEST_ITEMS and len(p) >= FEWEST_JUDGES]
    found = []
    for panel in sorted(panels, key=lambda p: (-len(p), p)):
        members = set(panel)
        items = [r for r in rows if len(members & set(r["votes"])) >= NEARLY_ALL * len(members)]
        found.append((panel, items))
    return found


def _sets(name: str, rows: list[dict[str, Any]]) -> list[VoteSet]:
    pairwise = rows and rows[0]["kind"] == "pairwise"
    if rows and rows[0]["scale"] == "0-3":  # graded relevance: the usual cut is between 1 and 2
        cut = [{**r, "human": {"majority": r["human"]["majority"] >= 2}} for r in rows]
        rows = [{**r, "votes": {j: v >= 2 for j, v in r["votes"].items() if v is not None}} for r in cut]
    if pairwise:
        rows = [r for r in rows if r["human"]["majority"] != "tie"]
    panels = _panels(rows)
    made = []
    for panel, items in panels:
        values = {r["human"]["majority"] for r in items}
        values |= {v for r in items for j in panel for v in _both(r["votes"].get(j)) if v is not None}
        labels = ("A", "B", "tie") if pairwise else tuple(sorted(values, key=str))
        code: dict[Any, int] = {v: k for k, v in enumerate(labels)}
        votes = np.array([[[code.get(v, -1) for v in _both(r["votes"].get(j))] for j in panel] for r in items])
        ab, ba = votes[:, :, 0], votes[:, :, 1]
        made.append(
            VoteSet(
                name if len(panels) == 1 else f"{name}_{len(panel)}",
                labels,
                panel,
                ab,
                ba if (ba >= 0).mean() > 0.5 else None,
                np.array([code[r["human"]["majority"]] for r in items]),
                tuple(r["group_id"] for r in items),
            )
        )
    return made


def _both(vote: Any) -> tuple[Any, Any]:
    """One verdict for each order; a list of repeated verdicts counts as its first."""
    if not isinstance(vote, dict):
        return vote, None
    first, second = (v[0] if isinstance(v, list) else v for v in (vote.get("ab"), vote.get("ba")))
    return first, second


def _graded(name: str, rows: list[dict[str, Any]]) -> list[GradedSet]:
    by_aspect: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if _mean(row) is not None:
            by_aspect[str(row.get("subset") or "")].append(row)
    many = [aspect for aspect, items in by_aspect.items() if len(items) >= FEWEST_ITEMS]
    made = []
    for aspect in many:
        items = by_aspect[aspect]
        judges = tuple(sorted({j for r in items for j in r["votes"]}))
        scores = [[_number(r["votes"].get(j)) for j in judges] for r in items]
        human = [_number(_mean(r)) for r in items]
        groups = tuple(r["group_id"] for r in items)
        label = f"{name}_{aspect}" if len(many) > 1 else name
        made.append(GradedSet(label, judges, np.array(scores), np.array(human), groups))
    return made


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)
