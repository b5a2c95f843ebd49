"""`VoteTable`: who voted what on which item, as codes. Learns nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from jury.errors import ConfigError
from jury.stats.table import Category, FloatArray, IntArray

Said: TypeAlias = "Category | tuple[Category | None, Category | None] | None"


@dataclass(frozen=True, slots=True)
class VoteTable:
    """Votes on `first.shape[0]` items by `judges`: codes into `labels`, -1 for no vote.

    `second` holds the votes with the answers of a pair swapped, in terms of the answers; None where pairs were shown in
    one order, and for single answers. `paired` tells pairs from single answers.
    """

    judges: tuple[str, ...]
    labels: tuple[Category, ...]
    first: IntArray
    second: IntArray | None = None
    paired: bool = False

    @property
    def n(self) -> int:
        return int(self.first.shape[0])

    @property
    def sides(self) -> tuple[int, int] | None:
        """The codes of the two sides of a yes-or-no question; a third label `tie` is neither. None: more labels."""
        if len(self.labels) == 2:
            return (0, 1)
        if self.paired and len(self.labels) == 3 and "tie" in self.labels:
            a, b = (k for k, label in enumerate(self.labels) if label != "tie")
            return (a, b)
        return None

    def hot(self) -> FloatArray:
        """Votes as shares: (items, judges, labels). Two orders count half each; a missing vote is a row of zeros."""
        codes = [self.first] if self.second is None else [self.first, self.second]
        shape = (*self.first.shape, len(self.labels))
        total, given = np.zeros(shape), np.zeros(self.first.shape)
        for each in codes:
            rows, columns = np.nonzero(each >= 0)
            total[rows, columns, each[rows, columns]] += 1.0
            given += each >= 0
        return total / np.maximum(given, 1.0)[:, :, None]

    def signed(self) -> FloatArray:
        """Votes on a two-sided question in [-1, 1]: 1 is the first side; a tie and a missing vote are 0."""
        if self.sides is None:
            raise ConfigError(f"signed votes need two sides, got the labels {list(self.labels)}")
        shares = self.hot()
        return shares[:, :, self.sides[0]] - shares[:, :, self.sides[1]]

    def rows(self, picked: Sequence[int] | IntArray) -> VoteTable:
        """The table of some items."""
        at = np.asarray(picked, dtype=np.int64)
        second = None if self.second is None else self.second[at]
        return VoteTable(self.judges, self.labels, self.first[at], second, self.paired)

    def codes_of(self, truth: Sequence[Category | None]) -> IntArray:
        """Labels by people as codes; -1 for none. One that no judge could have given is a `ConfigError`."""
        places = {(type(c) is bool, c): k for k, c in enumerate(self.labels)}
        unknown = [t for t in truth if t is not None and (type(t) is bool, t) not in places]
        if unknown:
            raise ConfigError(f"label {unknown[0]!r} is none of {list(self.labels)}")
        return np.array([-1 if t is None else places[type(t) is bool, t] for t in truth], dtype=np.int64)


def vote_table(
    rows: Sequence[Mapping[str, Said]], labels: Sequence[Category], *, judges: Sequence[str] = (), paired: bool = False
) -> VoteTable:
    """A table from one mapping `{judge: vote}` an item; a vote in both orders is a tuple `(first, second)`.

    `judges` fixes the columns (default: those seen, sorted). None and a missing judge are no vote; a vote outside
    `labels` is a `ConfigError`.

    >>> table = vote_table([{"x": True, "y": False}, {"x": False}], [False, True])
    >>> table.first.tolist()
    [[1, 0], [0, -1]]
    """
    names = tuple(judges) or tuple(sorted({name for row in rows for name in row}))
    both = any(isinstance(vote, tuple) for row in rows for vote in row.values())
    empty = np.full((len(rows), len(names)), -1, dtype=np.int64)
    table = VoteTable(names, tuple(labels), empty, empty.copy() if both else None, paired or both)
    for at, row in enumerate(rows):
        votes = [row.get(name) for name in names]
        firsts = [vote[0] if isinstance(vote, tuple) else vote for vote in votes]
        table.first[at] = table.codes_of(firsts)
        if table.second is not None:
            table.second[at] = table.codes_of([vote[1] if isinstance(vote, tuple) else None for vote in votes])
    return table
