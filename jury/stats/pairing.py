"""Who is compared next, where there are more candidates than comparisons can be paid for: Swiss rounds.

In a round everybody plays once. Whom against is decided by what the game would tell: most where two are of like
strength and their difference is least known. So rematches come late, nobody is forgotten, and few comparisons are spent
on pairs whose order is clear. Knows nothing of questions, orders and judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from jury.errors import ConfigError
from jury.stats.games import Game
from jury.stats.ranking import bradley_terry
from jury.stats.resampling import Seed, generator
from jury.stats.table import FloatArray

HELD = 0.1  # penalty of the fit that rounds are made from: strengths with a standard deviation of about 2


def swiss_round(
    items: Sequence[str], games: Iterable[Game], *, seed: Seed, closed: Collection[frozenset[str]] = ()
) -> tuple[tuple[str, str], ...]:
    """The pairs of the next round, those that tell most first; every item is in one pair at most.

    `games` are all so far (`ranking.Game`; of other items they are a `ConfigError`). With an odd number the item that
    has played most stays out. `closed` pairs are not made. The first round is drawn by the `seed`; the same games and
    seed give the same round.

    Sources: Lindley 1956 (10.1214/aoms/1177728069) for what an observation tells; the rounds are those of a Swiss
    tournament, such as in arXiv 2403.04132.

    >>> games = [Game("a", "b", 1, 9), Game("c", "d", 1, 9)]
    >>> sorted(sorted(pair) for pair in swiss_round("abcd", games, seed=1))  # by hand: the winners, and the losers
    [['a', 'c'], ['b', 'd']]
    """
    names = list(dict.fromkeys(items))
    if len(names) < 2:
        raise ConfigError(f"a round needs two items, got {names}")
    played = list(games)
    counts = Counter(name for g in played for name in (g.a, g.b))
    rng = generator(seed)
    lots: list[int] = rng.permutation(len(names)).tolist()
    resting = max(range(len(names)), key=lambda i: (counts[names[i]], lots[i])) if len(names) % 2 else -1
    gains = _gains(names, played)
    pairs = [(i, j) for i in range(len(names)) for j in range(i) if resting not in (i, j)]
    pairs.sort(key=lambda p: (-round(float(gains[p]), 9), lots[p[0]] + lots[p[1]], lots[p[0]]))
    chosen: list[tuple[str, str]] = []
    free = set(range(len(names))) - {resting}
    for i, j in pairs:
        if i in free and j in free and frozenset((names[i], names[j])) not in closed:
            free -= {i, j}
            chosen.append((names[i], names[j]))
    return tuple(chosen)


def _gains(names: Sequence[str], played: Sequence[Game]) -> FloatArray:
    """What one more game of each pair would tell: log(1 + p (1 - p) var), var of the difference of strengths."""
    n = len(names)
    prior = np.eye(n) / (2.0 * HELD)
    fit = bradley_terry(played, items=names, ties="half", penalty=HELD, robust=False)
    spread = prior if fit.covariance is None else fit.covariance
    strengths = np.zeros(n) if fit.log_strengths is None else np.array(fit.log_strengths)
    own = np.diag(spread)
    variance = np.maximum(own[:, None] + own[None, :] - 2.0 * spread, 0.0)
    chance = 1.0 / (1.0 + np.exp(np.abs(strengths[:, None] - strengths[None, :])))
    return np.log1p(chance * (1.0 - chance) * variance)
