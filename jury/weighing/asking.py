"""Whom to ask next and when to stop, learned from panels that were once asked in full. Needs no label.

A plan is a tree: at each node a judge to ask, a branch for each vote, at each leaf the verdict the full panel would
give. It is grown on recorded votes by how much a judge tells about the panel's verdict, and pruned by a price of a
wrong stop. Prices are tried from the dearest down, and the last one is kept at which the upper confidence bound of the
share of changed verdicts, measured on held-out groups, stays within the budget. With budget 0 a plan only chooses the
order: next is the judge that most likely agrees with the panel, and asking stops where the rest cannot change it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jury.errors import ConfigError
from jury.stats.intervals import clopper_pearson
from jury.stats.resampling import groups_of
from jury.stats.table import IntArray

PRICES = tuple(float(p) for p in np.geomspace(3000.0, 10.0, 24))
FOLDS = 5
FEWEST = 4  # items at a node below which the votes seen there choose no judge
_SMOOTH = 0.3  # errors added to each leaf: a leaf without an error seen is not without error


@dataclass(slots=True)
class Node:
    """`judge` to ask next (-1: stop here with `verdict`), `children` by vote."""

    verdict: int
    judge: int = -1
    children: dict[int, Node] = field(default_factory=dict["int", "Node"])


@dataclass(frozen=True, slots=True)
class AskingPlan:
    """A tree over `judges`; `bound` is the upper confidence bound of the share of verdicts it changes (0: exact).

    `error` and `calls` are the share and the mean number of judges asked that were measured on held-out groups.
    """

    root: Node
    judges: int
    order: tuple[int, ...]
    budget: float
    bound: float
    error: float
    calls: float

    def run(self, votes: Sequence[int]) -> tuple[int, int]:
        """Verdict and number of judges asked on one item whose votes are all known (code 0 or 1 by judge)."""
        node, asked = self.root, [0, 0]
        seen: set[int] = set()
        while True:
            if 2 * max(asked) > self.judges:
                return int(asked[1] > asked[0]), len(seen)
            if node.judge >= 0:
                judge = node.judge
            elif node.verdict >= 0:
                return node.verdict, len(seen)
            else:
                judge = next(j for j in self.order if j not in seen)
            seen.add(judge)
            vote = int(votes[judge])
            asked[vote] += 1
            node = node.children.get(vote, _OPEN)


_OPEN = Node(-1)  # nothing was seen here: ask on, in the standing order, until it is certain


def plan_asking(
    votes: IntArray, *, budget: float, groups: Sequence[object] | None = None, level: float = 0.95
) -> AskingPlan:
    """Learn a plan from complete votes of an odd panel: (items, judges), codes 0 and 1; the rule is the majority.

    `budget` is the share of verdicts that may differ from the full panel's, with confidence `level`; 0 is exact. Items
    of one group are held out together. An even panel or another code: `ConfigError`.
    """
    items, judges = votes.shape
    if judges % 2 == 0 or not items or not np.isin(votes, (0, 1)).all():
        raise ConfigError("a plan needs complete votes 0 and 1 of an odd number of judges")
    final = (votes.sum(axis=1) * 2 > judges).astype(np.int64)
    agree = (votes == final[:, None]).mean(axis=0)
    order = tuple(int(j) for j in np.argsort(-agree, kind="stable"))
    if budget <= 0:
        plan = AskingPlan(_grown(votes, final, frozenset(), _agreement), judges, order, 0.0, 0.0, 0.0, 0.0)
        calls = float(np.mean([plan.run(row)[1] for row in votes.tolist()]))
        return AskingPlan(plan.root, judges, order, 0.0, 0.0, 0.0, calls)
    units = groups_of(list(range(items)) if groups is None else groups)
    chosen: tuple[float, float, float, float] | None = None
    mixed: list[int] = np.random.default_rng(0).permutation(len(units)).tolist()
    folds: list[IntArray] = [np.concatenate([units[u] for u in mixed[f::FOLDS]]) for f in range(min(FOLDS, len(units)))]
    missed, asked = np.zeros((len(PRICES), items), dtype=np.bool_), np.zeros(len(PRICES))
    for held in folds:
        rest: IntArray = np.setdiff1d(np.arange(items, dtype=np.int64), held)
        grown = _grown(votes[rest], final[rest], frozenset(), _gain)
        for at, price in enumerate(PRICES):
            plan = AskingPlan(_pruned(grown, votes[rest], final[rest], price)[0], judges, order, budget, 0.0, 0.0, 0.0)
            runs = [plan.run(row) for row in votes[held].tolist()]
            missed[at, held] = [v != f for (v, _), f in zip(runs, final[held].tolist(), strict=True)]
            asked[at] += sum(n for _, n in runs)
    for at, price in enumerate(PRICES):
        bound = _bound(missed[at], units, level)
        if bound > budget:
            break  # tried in a fixed order, up to the first failure: no correction for many tries is due
        chosen = (price, bound, float(missed[at].mean()), float(asked[at]) / items)
    if chosen is None:
        return plan_asking(votes, budget=0.0)
    root = _pruned(_grown(votes, final, frozenset(), _gain), votes, final, chosen[0])[0]
    return AskingPlan(root, judges, order, budget, *chosen[1:])


def _bound(missed: NDArray[np.bool_], units: Sequence[IntArray], level: float) -> float:
    """Upper bound of the share missed. Misses that come together in a group count as fewer, on fewer items."""
    by_group = np.array([int(missed[unit].sum()) for unit in units])
    total = int(by_group.sum())
    together = max(1.0, float((by_group**2).sum()) / total) if total else 1.0
    fewer = math.ceil(total / together)
    return clopper_pearson(fewer, max(fewer, int(len(missed) / together)), level=2 * level - 1).high or 0.0


_Worth = Callable[[IntArray, IntArray], float]


def _grown(
    votes: IntArray, final: IntArray, asked: frozenset[int], worth: _Worth, counts: tuple[int, int] = (0, 0)
) -> Node:
    """The tree down to where the verdict is certain or too few items are left."""
    judges = votes.shape[1]
    node = Node(int(2 * final.sum() > len(final)) if len(final) else -1)
    if 2 * max(counts) > judges:
        node.verdict = int(counts[1] > counts[0])
        return node
    if len(final) < FEWEST:
        return Node(-1)
    free = [j for j in range(judges) if j not in asked]
    node.judge = free[int(np.argmax([worth(votes[:, j], final) for j in free]))]
    for vote in (0, 1):
        here = votes[:, node.judge] == vote
        more = (counts[0] + (vote == 0), counts[1] + (vote == 1))
        node.children[vote] = _grown(votes[here], final[here], asked | {node.judge}, worth, more)
    return node


def _gain(column: IntArray, final: IntArray) -> float:
    """How pure both sides of a vote are in the panel's verdict (Gini), in items."""
    total = 0.0
    for vote in (0, 1):
        side = final[column == vote]
        if len(side):
            share = float(side.mean())
            total += len(side) * (share * share + (1 - share) * (1 - share))
    return total


def _agreement(column: IntArray, final: IntArray) -> float:
    return float((column == final).mean())


def _pruned(node: Node, votes: IntArray, final: IntArray, price: float) -> tuple[Node, float]:
    """The cheapest subtree where an item costs one for each judge asked and `price` where its verdict is changed."""
    if node.judge < 0:
        return node, 0.0 if node.verdict >= 0 else 3.0 * len(final)
    kept = Node(node.verdict, node.judge)
    going = float(len(final))
    for vote, child in node.children.items():
        here = votes[:, node.judge] == vote
        kept.children[vote], cost = _pruned(child, votes[here], final[here], price)
        going += cost
    passed = int(final.sum())
    errors = min(passed, len(final) - passed)
    if price * (errors + _SMOOTH) <= going:
        return Node(int(2 * passed > len(final))), price * (errors + _SMOOTH)
    return kept, going
