"""Comparisons of two items: reading them, counting them, and whether strengths can be estimated from them at all.

The fit itself is in `ranking.py`. A flip or an inconclusive round is no game: leave it out, it is not a tie.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from jury.errors import ConfigError
from jury.scales import shown
from jury.stats.estimate import Reason
from jury.stats.table import FloatArray, IntArray


class Game(NamedTuple):
    """One comparison, or `weight` equal ones. `outcome` is 1 where `a` won, 0 where `b` won, 0.5 for a tie.

    `cluster` names what several games share (the prompt that several judges saw); None: a game of its own.
    """

    a: str
    b: str
    outcome: float
    weight: float = 1.0
    cluster: object = None


@dataclass(frozen=True, slots=True)
class Pairs:
    """Games counted by pair: `counts[k]` = wins of `first[k]`, wins of `second[k]`, ties.

    `first[k] < second[k]` are indices into `items`.
    `by_cluster` has the same counts for each cluster, flat (clusters, 3 * pairs); None where no game named a cluster.
    """

    items: tuple[str, ...]
    first: IntArray
    second: IntArray
    counts: FloatArray
    by_cluster: FloatArray | None

    def wins(self, counts: FloatArray | None = None) -> FloatArray:
        """wins[i, j]: how often i beat j, a tie as half a win for each; of other `counts` if given."""
        counts = self.counts if counts is None else counts
        matrix = np.zeros((len(self.items), len(self.items)))
        matrix[self.first, self.second] = counts[:, 0] + counts[:, 2] / 2
        matrix[self.second, self.first] = counts[:, 1] + counts[:, 2] / 2
        return matrix


def _game(given: object) -> Game:
    """A game, also where it is a bare tuple of the same. Raises `ConfigError`."""
    if isinstance(given, Game):
        return given
    if isinstance(given, tuple) and 3 <= len(cast("tuple[Any, ...]", given)) <= 5:
        return Game(*cast("tuple[Any, ...]", given))
    raise ConfigError(f"a game is Game(a, b, outcome), got {shown(cast('object', given))}")


def count_games(games: Iterable[Game], *, items: Sequence[str] | None = None) -> Pairs:
    """Count games by pair. `items` fixes the names and their order; else the names seen, sorted.

    A game of an item with itself, an unknown item, another outcome or a weight that is not positive: `ConfigError`.

    >>> count_games([Game("a", "b", 1), Game("b", "a", 0.5, 2)]).counts.tolist()
    [[1.0, 0.0, 2.0]]
    """
    played = [_game(g) for g in games]
    names = tuple(items) if items is not None else tuple(sorted({name for g in played for name in (g.a, g.b)}))
    index = {name: i for i, name in enumerate(names)}
    if len(index) != len(names):
        raise ConfigError("an item is named twice")
    pairs: dict[tuple[int, int], int] = {}
    clusters: dict[object, int] = {}
    entries: list[tuple[int, int, float]] = []
    for number, game in enumerate(played):
        if game.a not in index or game.b not in index or game.a == game.b:
            raise ConfigError(f"{game.a!r} against {game.b!r} is no game between two of the items")
        if game.outcome not in (0, 0.5, 1) or not (math.isfinite(game.weight) and game.weight > 0):
            raise ConfigError(f"an outcome is 1, 0 or 0.5 and a weight positive, got {game.outcome} and {game.weight}")
        i, j = index[game.a], index[game.b]
        pair = pairs.setdefault((min(i, j), max(i, j)), len(pairs))
        key = ("game", number) if game.cluster is None else ("cluster", game.cluster)
        place = 2 if game.outcome == 0.5 else int((game.outcome == 1) != (i < j))
        entries.append((clusters.setdefault(key, len(clusters)), 3 * pair + place, float(game.weight)))
    by_cluster = np.zeros((len(clusters) if any(game.cluster is not None for game in played) else 0, 3 * len(pairs)))
    counts = np.zeros(3 * len(pairs))
    for cluster, column, weight in entries:
        counts[column] += weight
        if len(by_cluster):
            by_cluster[cluster, column] += weight
    ends = np.array(list(pairs), dtype=np.int64).reshape(len(pairs), 2)
    shaped = counts.reshape(len(pairs), 3)
    return Pairs(names, ends[:, 0], ends[:, 1], shaped, by_cluster if len(by_cluster) else None)


@dataclass(frozen=True, slots=True)
class Existence:
    """Whether strengths have a finite maximum of the likelihood, and what stands in the way.

    `reason` is None, `no_data`, `disconnected` (several `groups` without a game between them) or `no_finite_estimate`.
    `groups` are connected by games, `components` by wins both ways. `unbounded` are the items that never lost or never
    won: their strength is infinite.
    """

    reason: Reason | None
    groups: tuple[tuple[str, ...], ...]
    components: tuple[tuple[str, ...], ...]
    unbounded: tuple[str, ...]


def _reach(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which item can be reached from which along the edges, itself included."""
    reach = edges | np.eye(len(edges), dtype=np.bool_)
    while True:
        further = (reach.astype(np.float64) @ reach.astype(np.float64)) > 0
        if (further == reach).all():
            return reach
        reach = further


def _classes(same: NDArray[np.bool_], items: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The classes of an equivalence relation given as a matrix, in the order of the items."""
    firsts: list[int] = same.argmax(axis=1).tolist()
    return tuple(tuple(items[i] for i, first in enumerate(firsts) if first == leader) for leader in sorted(set(firsts)))


def existence(pairs: Pairs, *, tie_parameter: bool = False) -> Existence:
    """Ford's condition: a finite maximum exists if every item can be reached from every other along wins.

    A tie counts as a win both ways. With `tie_parameter` (Davidson, Rao-Kupper) that is not enough: where all games fit
    "every winner is ahead by at least one step and every tie within one", steps and ties grow together without end.

    Source: Ford 1957 (10.2307/2308513).

    >>> found = existence(count_games([Game("a", "b", 1), Game("b", "c", 1), Game("c", "b", 1)]))
    >>> found.reason, found.components, found.unbounded
    ('no_finite_estimate', (('a',), ('b', 'c')), ('a',))
    """
    beat = pairs.wins() > 0
    groups = _classes(_reach(beat | beat.T), pairs.items) if pairs.items else ()
    reach = _reach(beat)
    components = _classes(reach & reach.T, pairs.items) if pairs.items else ()
    played = (beat | beat.T).any(axis=1)
    one_sided = np.flatnonzero(played & (~beat.any(axis=1) | ~beat.any(axis=0)))
    unbounded = tuple(pairs.items[int(i)] for i in one_sided)
    reason: Reason | None = None
    if not len(pairs.counts):
        reason = "no_data"
    elif len(groups) > 1:
        reason = "disconnected"
    elif len(components) > 1 or (tie_parameter and _ties_run_away(pairs)):
        reason = "no_finite_estimate"
    return Existence(reason, groups, components, unbounded)


def _ties_run_away(pairs: Pairs) -> bool:
    """Whether strengths d exist with d_i - d_j >= 1 for every win of i over j and |d_i - d_j| <= 1 for every tie.

    Difference constraints: feasible exactly if their graph has no negative cycle (Bellman-Ford).
    """
    if not pairs.counts[:, 2].any():
        return False  # no ties: the parameter is at its end, which is a finite estimate
    edges: list[tuple[int, int, float]] = []  # (u, v, w): d_v <= d_u + w
    rows = zip(pairs.first.tolist(), pairs.second.tolist(), pairs.counts.tolist(), strict=True)
    for i, j, (won, lost, tied) in rows:
        edges += [(i, j, -1.0)] if won else []
        edges += [(j, i, -1.0)] if lost else []
        edges += [(i, j, 1.0), (j, i, 1.0)] if tied else []
    distance = [0.0] * len(pairs.items)
    for _ in range(len(pairs.items)):
        moved = False
        for u, v, w in edges:
            if distance[u] + w < distance[v] - 1e-9:
                distance[v], moved = distance[u] + w, True
        if not moved:
            return True
    return False
