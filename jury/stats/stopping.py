"""When the full panel's verdict is likely enough to stop asking: a decision tree over which judge voted how.

Votes are codes 0 to k-1. A state says for every judge how it voted or that it was not asked; there are (k+1)^m of them.
From items that were polled in full, the tree knows how often each state leads to which verdict, and dynamic programming
finds in every state whether to stop or whom to ask next: the least cost of calls plus `penalty` for each wrong verdict.
Shared errors of judges need no model of their own: the counts hold them.

Counts of rare states are smoothed by a latent class model (EM) that weighs four times as much as the items. What the
tree will get wrong is bounded on items that it was not made from: `calibrated` takes the smallest penalty whose wrong
verdicts in cross-fitting stay below `error` with an exact binomial bound, tried from the most careful on (fixed
sequence, so the bound holds for the one that is chosen), and goes `BACK` from there. Knows no judge and no model.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jury.errors import ConfigError
from jury.stats.distributions import beta_quantile

Codes = NDArray[np.int64]
Numbers = NDArray[np.float64]
MOST_STATES = 300_000
MODEL_WEIGHT = 4  # the latent class model beside the items' own counts
FEWEST_PSEUDO = 400  # items that it weighs at least
CLASSES = 12
FOLDS = 10
CONFIDENCE = 0.95
BACK = 1  # penalties back from the cheapest that passed: the luckiest of many passes too often
PENALTIES = tuple(round(4000 / 1.21**step, 1) for step in range(28))  # calls for one wrong verdict: 4000 to 23
_EM_STEPS = 60
_AT_ONCE = 600_000  # numbers in one table of states and penalties


@dataclass(frozen=True)
class Shape:
    """The panel. `k`: codes a vote can have; with `blank` the last one is a vote for nothing (an abstention, a flip).

    `weights` and `costs` are of each judge's vote and of asking it. `majority`: a verdict needs more than half of the
    weight that decides, else more than any other label. `quorum`: votes for something that a verdict needs.
    """

    k: int
    weights: tuple[float, ...]
    costs: tuple[float, ...]
    majority: bool = False
    blank: bool = False
    quorum: int = 1

    def __post_init__(self) -> None:
        if self.labels < 2 or not self.weights or len(self.weights) != len(self.costs):
            raise ConfigError("a stopping tree needs two labels, and a weight and a cost for each judge")

    @property
    def labels(self) -> int:
        """Codes that are a vote for something."""
        return self.k - self.blank

    @property
    def m(self) -> int:
        return len(self.weights)

    @property
    def states(self) -> int:
        return (self.k + 1) ** self.m


class Tree:
    """What to do in each state: `choice` is the judge to ask next or -1 to stop, `verdict` the label then, or -1."""

    def __init__(self, shape: Shape, choice: Codes, verdict: Codes) -> None:
        self.shape = shape
        self.choice = choice
        self.verdict = verdict
        self._strides = _strides(shape)

    def next(self, votes: Sequence[int | None]) -> int:
        """The judge to ask next, -1 to stop. `votes` by judge, None for one that was not asked."""
        return int(self.choice[self._state(votes)])

    def says(self, votes: Sequence[int | None]) -> int:
        """The verdict in this state; -1 is none."""
        return int(self.verdict[self._state(votes)])

    def walk(self, votes: Codes) -> tuple[Codes, Codes]:
        """(calls, verdict) for rows of complete votes, as if each was asked as the tree says."""
        n, k = len(votes), self.shape.k
        state = np.full(n, self.shape.states - 1, dtype=np.int64)
        calls = np.zeros(n, dtype=np.int64)
        while True:
            judge = self.choice[state]
            on = np.flatnonzero(judge >= 0)
            if not len(on):
                return calls, self.verdict[state]
            asked = judge[on]
            state[on] -= (k - votes[on, asked]) * self._strides[asked]
            calls[on] += 1

    def _state(self, votes: Sequence[int | None]) -> int:
        k = self.shape.k
        return sum(int(s) * (k if v is None else v) for v, s in zip(votes, self._strides, strict=True))


def verdicts(votes: Codes, shape: Shape) -> Codes:
    """The full panel's verdict on rows of complete votes; -1 is none (a tie, no majority, no quorum)."""
    weights = np.asarray(shape.weights)
    totals = np.stack([((votes == label) * weights).sum(axis=1) for label in range(shape.labels)])
    return np.where((votes < shape.labels).sum(axis=1) >= shape.quorum, _leader(totals, shape), -1)


def exact_tree(votes: Codes, shape: Shape) -> Tree:
    """The tree that stops only where no further vote can change the verdict, and asks as few as possible until then."""
    return _Fit(votes, _Panel(shape)).exact()


def fitted_tree(votes: Codes, shape: Shape, penalty: float) -> Tree:
    """The tree that trades `penalty` calls against one wrong verdict."""
    return _Fit(votes, _Panel(shape)).trees([penalty])[0]


@dataclass(frozen=True)
class Calibrated:
    """A tree, the upper bound of its error from `wrong` of `n` items in cross-fitting, and the mean `calls` there."""

    tree: Tree
    penalty: float
    n: int
    wrong: int
    bound: float
    calls: float


def calibrated(
    votes: Codes, shape: Shape, error: float, *, confidence: float = CONFIDENCE, groups: Codes | None = None
) -> Calibrated | None:
    """The cheapest tree that is wrong on at most `error` of the items, with this confidence; None where the items do
    not show that any is. `votes`: rows of complete votes. `groups`: rows that belong together are in one fold; without
    them a fold is a stretch of neighbours, which are often alike."""
    n = len(votes)
    if upper(0, n, confidence) > error:
        return None
    fold = np.arange(n) * FOLDS // n if groups is None else np.unique(groups, return_inverse=True)[1] % FOLDS
    panel = _Panel(shape)
    parts = [(_Fit(votes[fold != f], panel), votes[fold == f]) for f in range(FOLDS)]
    passed: list[tuple[float, int, int]] = []
    step = max(1, _AT_ONCE // shape.states)
    for first in range(0, len(PENALTIES), step):
        some = PENALTIES[first : first + step]
        tried = zip(some, *_tried(parts, some), strict=True)
        good = list(itertools.takewhile(lambda one: upper(one[1], n, confidence) <= error, tried))
        passed += good
        if len(good) < len(some):
            break
    if not passed:
        return None
    penalty, wrong, calls = passed[max(0, len(passed) - 1 - BACK)]
    tree = _Fit(votes, panel).trees([penalty])[0]
    return Calibrated(tree, penalty, n, wrong, upper(wrong, n, confidence), calls / n)


def _tried(parts: list[tuple[_Fit, Codes]], penalties: Sequence[float]) -> tuple[list[int], list[int]]:
    """Wrong verdicts and calls for each penalty, over all parts."""
    wrong, calls = [0] * len(penalties), [0] * len(penalties)
    for fit, held in parts:
        right = verdicts(held, fit.panel.shape)
        for at, tree in enumerate(fit.trees(penalties)):
            asked, said = tree.walk(held)
            wrong[at] += int((said != right).sum())
            calls[at] += int(asked.sum())
    return wrong, calls


def upper(wrong: int, n: int, confidence: float) -> float:
    """The exact one-sided upper bound of an error rate (Clopper and Pearson 1934, 10.1093/biomet/26.4.404).

    >>> round(upper(0, 299, 0.95), 5)
    0.00997
    """
    return 1.0 if wrong >= n else beta_quantile(confidence, wrong + 1, n - wrong)


class _Panel:
    """What holds of a panel's states whatever was voted: who leads, what is settled, who is unknown."""

    def __init__(self, shape: Shape) -> None:
        if shape.states > MOST_STATES:
            raise ConfigError(f"a panel of {shape.m} judges and {shape.k} labels is too large for a stopping tree")
        self.shape = shape
        k, m = shape.k, shape.m
        digits = np.indices((k + 1,) * m, dtype=np.int8).reshape(m, -1)
        weights = np.asarray(shape.weights, dtype=np.float64)
        totals = np.stack([weights @ (digits == label) for label in range(shape.labels)])
        unknown = (digits == k).sum(axis=0)
        real = (digits < shape.labels).sum(axis=0)
        self.lead = _leader(totals, shape)
        self.settled = self._settled(totals, weights @ (digits == k)) & (real >= shape.quorum) | (unknown == 0)
        self.said = np.where((unknown == 0) & (real < shape.quorum), -1, self.lead)
        self.final = verdicts(np.indices((k,) * m).reshape(m, -1).T, shape).reshape((k,) * m)
        self.levels: list[tuple[Codes, Codes]] = []  # by how many are unknown: states, and for each the unknown judges
        for u in range(1, m + 1):
            level = np.flatnonzero(unknown == u)
            self.levels.append((level, np.nonzero((digits[:, level] == k).T)[1].reshape(-1, u)))

    def _settled(self, totals: Numbers, left: Numbers) -> NDArray[np.bool_]:
        """No completion has another verdict: all votes that are `left` to the strongest rival leave the leader."""
        lead = np.maximum(self.lead, 0)
        most = np.take_along_axis(totals, lead[None], axis=0)[0]
        rivals = totals.copy()
        np.put_along_axis(rivals, lead[None], -np.inf, axis=0)
        beaten = (totals.sum(axis=0) + left) / 2 if self.shape.majority else rivals.max(axis=0) + left
        return (self.lead >= 0) & (most > beaten + 1e-9)


class _Fit:
    """Smoothed counts of every state, and of those where its leader is not the verdict, ready for any penalty."""

    def __init__(self, votes: Codes, panel: _Panel) -> None:
        self.panel = panel
        k, m, lead = panel.shape.k, panel.shape.m, panel.lead
        cells = np.zeros((k,) * m)
        np.add.at(cells, tuple(votes.T), 1.0)
        cells += max(FEWEST_PSEUDO, MODEL_WEIGHT * len(votes)) * _latent(votes, k)
        self._all = _expanded(cells)
        self._wrong = np.full(len(lead), np.inf)  # no leader, no stop
        for label in range(panel.shape.labels):
            led = lead == label
            self._wrong[led] = _expanded(cells * (panel.final != label))[led]

    def exact(self) -> Tree:
        """Stops only where the verdict is settled."""
        return self._best(np.where(self.panel.settled, 0.0, np.inf)[:, None])[0]

    def trees(self, penalties: Sequence[float]) -> list[Tree]:
        """The best choice in every state, for each penalty."""
        value = self._wrong[:, None] * np.asarray(penalties)
        value[self.panel.settled] = 0.0  # where all have voted the verdict is what it is
        return self._best(value)

    def _best(self, value: Numbers) -> list[Tree]:
        """From the costs of stopping (states, penalties), which are overwritten by the least costs."""
        shape, k = self.panel.shape, self.panel.shape.k
        strides, costs = _strides(shape), np.asarray(shape.costs)
        choice = np.full(value.shape, -1, dtype=np.int8)
        for states, unknown in self.panel.levels:  # fewer unknown votes come first
            least, chosen = value[states], choice[states]
            for judge in unknown.T:
                cost = value[states - k * strides[judge]]
                for label in range(1, k):
                    cost += value[states - (k - label) * strides[judge]]
                cost += (self._all[states] * costs[judge])[:, None]
                better = cost < least * (1 - 1e-12) - 1e-12
                np.copyto(least, cost, where=better)
                np.copyto(chosen, judge[:, None].astype(np.int8), where=better)
            value[states], choice[states] = least, chosen
        return [Tree(shape, column.astype(np.int64), self.panel.said) for column in choice.T]


def _leader(totals: Numbers, shape: Shape) -> Codes:
    """The label with the most weight, with `majority` more than half of it; -1 for none."""
    ordered = np.sort(totals, axis=0)
    alone = ordered[-1] > ordered[-2] + 1e-9
    if shape.majority:
        alone &= ordered[-1] > totals.sum(axis=0) / 2 + 1e-9
    return np.where(alone, totals.argmax(axis=0), -1).astype(np.int64)


def _expanded(cells: Numbers) -> Numbers:
    """Counts of the cells, and on each axis behind them their sum: how often, whatever that judge said."""
    for axis in range(cells.ndim):
        cells = np.concatenate([cells, cells.sum(axis=axis, keepdims=True)], axis=axis)
    return cells.reshape(-1)


def _strides(shape: Shape) -> Codes:
    return (shape.k + 1) ** np.arange(shape.m - 1, -1, -1, dtype=np.int64)


def _latent(votes: Codes, k: int) -> Numbers:
    """The probability of every cell by a latent class model: within a class, judges vote independently."""
    n, m = votes.shape
    votes, times = np.unique(votes, axis=0, return_counts=True)
    classes = min(CLASSES, max(1, n // 20))
    hot = np.stack([votes == label for label in range(k)]).astype(np.float64)  # k x n x m
    share = hot[k - 1].mean(axis=1)
    member = np.full((len(votes), classes), 0.2 / classes)
    member[np.arange(len(votes)), np.minimum((share * classes).astype(np.int64), classes - 1)] += 0.8
    # a deterministic start: classes by how many judges gave the last label
    prior, says = np.full(classes, 1 / classes), np.full((k, classes, m), 1 / k)
    for _ in range(_EM_STEPS if n else 0):
        member *= times[:, None]
        prior = (member.sum(axis=0) + 1) / (n + classes)
        says = np.stack([member.T @ hot[label] + 0.5 for label in range(k)])
        says /= says.sum(axis=0)
        log = np.log(prior) + sum(hot[label] @ np.log(says[label]).T for label in range(k))
        log -= log.max(axis=1, keepdims=True)
        member = np.exp(log)
        member /= member.sum(axis=1, keepdims=True)
    cells: Any = np.zeros((k,) * m)
    for c in range(classes):
        part: Any = np.array(prior[c])
        for judge in range(m):
            part = np.multiply.outer(part, says[:, c, judge])
        cells = cells + part
    return cells


def lower(wrong: int, n: int, confidence: float) -> float:
    """The exact one-sided lower bound of an error rate; see `upper`.

    >>> lower(0, 50, 0.95)
    0.0
    """
    return 0.0 if wrong <= 0 else beta_quantile(1 - confidence, wrong, n - wrong + 1)
