"""`stop=0.98`: what a panel learns from items that were polled in full, and whom it asks of the next. Calls nobody.

Until the items show that some tree of questions (`stats/stopping.py`) is wrong on few enough of them, every item is
polled in full; then only a random share is, so that agreement between judges stays honest and what the tree gets wrong
goes on being counted on items that it was not made from. If those speak against it, it is put away and made anew.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jury.aggregation import Rule
from jury.errors import ConfigError

logger = logging.getLogger("jury.panel")
SHARE = 0.05  # of the items, polled in full although it is known how to stop
MOST_ITEMS = 20_000  # remembered; later ones take the place of random earlier ones
_GROWTH = 1.3  # so much more items until the tree is made anew
_RULES = ("mode", "majority")


@dataclass(frozen=True, slots=True)
class Foresight:
    """How well it goes. `checked` items were polled in full although the tree stood; on `differed` of them it would
    have said something else. `bound` is the upper bound of its error when it was made, None while there is none; it
    takes at least `needed` items that were learned.
    """

    learned: int
    checked: int
    differed: int
    bound: float | None
    needed: int


class Forecaster:
    """For one panel: labels, weights and prices of its seats, its rule and quorum. `stop`: how sure it must be.

    Raises `ConfigError` where it cannot work: for scores, other rules than `mode` and `majority`, and large panels.
    """

    def __init__(
        self,
        labels: Sequence[Any],
        weights: Sequence[float],
        rule: Rule,
        quorum: int,
        stop: float,
        *,
        costs: Sequence[float] | None = None,
        seed: int = 0,
    ) -> None:
        if not labels:
            raise ConfigError("stop=0.98 is for true/false and labels; scores take stop='decided'")
        if rule.name not in _RULES or rule.tie_break is not None:
            what = rule.name if rule.name not in _RULES else "a tie-break function"
            raise ConfigError(f"stop=0.98 knows the rules {list(_RULES)}, not {what}: use stop='decided'")
        if (len(labels) + 2) ** len(weights) > 300_000:
            raise ConfigError(
                f"stop=0.98 is for smaller panels than {len(weights)} judges with {len(labels)} labels: "
                "use stop='decided'"
            )
        self._labels = list(labels)
        self._setup = (tuple(weights), tuple(costs or [1.0] * len(weights)), rule.name == "majority", quorum)
        self._error = 1 - stop
        self._draw = random.Random(seed)
        self._rows: list[tuple[int, ...]] = []
        self._seen = 0
        self._next_fit = _least(self._error)
        self._calibrated: Any = None
        self._checked = self._differed = 0
        self.fitting = False
        self.taught: set[str | None] = set()  # items of earlier passes: asked about again, they teach nothing new

    @property
    def foresight(self) -> Foresight:
        bound = self._calibrated.bound if self._calibrated else None
        return Foresight(self._seen, self._checked, self._differed, bound, _least(self._error))

    @property
    def due(self) -> bool:
        """There are enough new items to make the tree anew (`fit`, which takes a second or so)."""
        return self._seen >= self._next_fit and not self.fitting

    def price(self, costs: Sequence[float] | None) -> None:
        """What asking each seat costs, in any unit, for the trees that are made from now on; None is all the same."""
        weights, _, majority, quorum = self._setup
        self._setup = (weights, tuple(costs or [1.0] * len(weights)), majority, quorum)

    def plan(self) -> Callable[[Sequence[Any]], int | None] | None:
        """How the next item is to be polled; None is in full.

        A plan gives the seat to ask next, or None to stop. It is told the votes by seat: `Unasked`, a label, or None
        for a vote for nothing.
        """
        if self._calibrated is None or self._draw.random() < SHARE:
            return None
        tree = self._calibrated.tree
        nothing = None if tree.shape.blank else len(self._labels)

        def ask(votes: Sequence[Any]) -> int | None:
            codes = self._codes(votes)
            if nothing in codes and nothing is not None:  # never seen before: everybody is asked
                return codes.index(None) if None in codes else None
            judge = tree.next(codes)
            return None if judge < 0 else judge

        return ask

    def learn(self, votes: Sequence[Any]) -> Literal["same", "differs"] | None:
        """The votes on an item that was polled in full: a label, or None for a vote for nothing. Returns whether the
        tree would have given the panel's verdict, None where there is no tree to compare."""
        row = tuple(code for code in self._codes(votes) if code is not None)
        self._seen += 1
        if len(self._rows) < MOST_ITEMS:
            self._rows.append(row)
        elif (place := self._draw.randrange(self._seen)) < MOST_ITEMS:
            self._rows[place] = row
        return None if self._calibrated is None else self._check(row)

    def fit(self) -> None:
        """Makes the tree anew from what was learned; may run in a thread."""
        import numpy as np

        from jury.stats.stopping import Shape, calibrated

        self.fitting = True
        try:
            weights, costs, majority, quorum = self._setup
            rows = np.array(self._rows, dtype=np.int64)
            blank = bool((rows == len(self._labels)).any())  # a code more makes the tree many times larger
            shape = Shape(len(self._labels) + blank, weights, costs, majority, blank=blank, quorum=quorum)
            self._calibrated = calibrated(rows, shape, self._error)
            self._next_fit = int(max(self._seen, len(self._rows)) * _GROWTH) + 1
        finally:
            self.fitting = False

    def _check(self, row: tuple[int, ...]) -> Literal["same", "differs"] | None:
        import numpy as np

        from jury.stats.stopping import lower, verdicts

        calibrated = self._calibrated
        if max(row) >= calibrated.tree.shape.k:  # a vote for nothing that the tree does not know: everybody is asked
            return None
        whole = np.array([row], dtype=np.int64)
        _, said = calibrated.tree.walk(whole)
        self._checked += 1
        differs = bool(said[0] != verdicts(whole, calibrated.tree.shape)[0])
        self._differed += differs
        if lower(self._differed, self._checked, 0.95) > self._error:
            logger.warning(
                "stopping early was wrong on %d of %d items that were polled in full: every item is polled again until "
                "it is known better",
                self._differed,
                self._checked,
            )
            self._calibrated = None
            self._next_fit = int(self._seen * _GROWTH) + 1
        return "differs" if differs else "same"

    def _codes(self, votes: Sequence[Any]) -> list[int | None]:
        codes: list[int | None] = []
        for vote in votes:
            if vote is Unasked:
                codes.append(None)
            else:
                codes.append(len(self._labels) if vote is None else self._labels.index(vote))
        return codes


class Unasked:
    """Stands for the vote of a seat that was not asked; never made."""


def _least(error: float) -> int:
    """How many items at least can show an error this small: all of them right (the rule of three, exactly)."""
    n = 1
    while 0.05 ** (1 / n) < 1 - error:
        n += 1
    return n
