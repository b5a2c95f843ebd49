"""Many targets by pairwise verdicts: strengths with intervals, what cannot be ranked, which pairs to compare next.

Each judge's vote is a game, the votes on one question a cluster; flips and undecided pairs are no games. Targets that
no comparison connects are never put on one scale.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from jury.audit.reading import Audited
from jury.errors import ConfigError, DataError
from jury.stats import Game, JudgedGame, Ranking, bradley_terry, judge_aware_bradley_terry

PENALTY = 0.1  # of a fit that has no finite maximum; the result says so
_OUTCOME = {"A": 1.0, "B": 0.0, "tie": 0.5}


@dataclass(frozen=True, slots=True)
class TargetRank:
    """A target in its group. `ranks`: best and worst rank that the intervals allow. `elo`: mean 0 in the group."""

    target: str
    group: int
    elo: float | None
    ranks: tuple[int, int] | None
    games: int


@dataclass(frozen=True, slots=True)
class Tournament:
    """A ranking. `targets` are sorted by group and strength; `cycles` are triples where each beats the next.

    `sigma` is each judge's spread (1 is average, more is noisier; empty with one judge), `left_out` counts votes that
    were no game. `next_pairs` are the pairs whose order is least certain, least compared first. `note` says what was
    done where strengths have no finite estimate.
    """

    targets: tuple[TargetRank, ...]
    ranking: Ranking
    sigma: dict[str, float]
    cycles: tuple[tuple[str, str, str], ...]
    next_pairs: tuple[tuple[str, str], ...]
    games: int
    left_out: int
    note: str = ""


def tournament(
    audits: Audited | Sequence[Audited], *, name_a: str = "model_a", name_b: str = "model_b", seed: int = 0
) -> Tournament:
    """Rank the targets of pairwise runs: those that made the sides, else those named in the rows (`name_a`, `name_b`).

    Raises `ConfigError` for a run that is not pairwise, `DataError` for a row without names.
    """
    runs = [audits] if isinstance(audits, Audited) else list(audits)
    played, left_out = games_of(runs, name_a, name_b)
    games = [Game(g.a, g.b, g.outcome, 1.0, cluster) for g, cluster in played]
    fit = bradley_terry(games)
    note = ""
    if fit.log_strengths is None and games:
        note = f"{fit.existence.reason}: strengths are held back by a penalty of {PENALTY}"
        fit = bradley_terry(games, penalty=PENALTY)
    judges = sorted({g.judge for g, _ in played})
    sigma = judge_aware_bradley_terry([g for g, _ in played], seed=seed).sigma if len(judges) > 1 else {}
    ranges, elo = fit.rank_ranges(), fit.elo() or {}
    counts = Counter(name for g, _ in played for name in (g.a, g.b))
    groups = fit.existence.groups
    place = {name: k for k, group in enumerate(groups) for name in group}
    rows = [TargetRank(t, place[t], elo.get(t), ranges[t], counts[t]) for t in fit.items]
    rows.sort(key=lambda r: (r.group, -(r.elo or 0.0), r.target))
    cycles, pairs = _cycles(games), _next(fit, games)
    return Tournament(tuple(rows), fit, sigma, cycles, pairs, len(games), left_out, note)


def games_of(runs: Sequence[Audited], name_a: str, name_b: str) -> tuple[list[tuple[JudgedGame, str]], int]:
    """Every vote for a side or a tie as a game with its question, and how many votes were none."""
    found: list[tuple[JudgedGame, str]] = []
    left_out = 0
    for audit in runs:
        if not audit.paired:
            raise ConfigError(f"{audit.run.folder} holds no pairs: rank pairwise runs")
        for one in audit.judged:
            named = (("a", name_a), ("b", name_b))
            names = [audit.target(side) or one.item.row.get(name) for side, name in named]
            if not all(names):
                raise DataError(
                    f"item {one.item.id}: its row has no {name_a!r} and {name_b!r}: a ranking needs the names of both "
                    "sides in every row; of two bots alone `jury show` says who wins",
                    "bad_json",
                )
            for vote in one.result.votes:
                if vote.decided and str(vote.value) in _OUTCOME:
                    outcome = _OUTCOME[str(vote.value)]
                    game = JudgedGame(vote.judge, str(names[0]), str(names[1]), outcome)
                    found.append((game, one.item.question or one.item.id))
                else:
                    left_out += 1
    return found, left_out


def _cycles(games: Sequence[Game]) -> tuple[tuple[str, str, str], ...]:
    """Triples in which each target wins more often than it loses against the next."""
    lead: Counter[tuple[str, str]] = Counter()
    for game in games:
        lead[game.a, game.b] += int(2 * game.outcome - 1)
        lead[game.b, game.a] -= int(2 * game.outcome - 1)
    names = sorted({name for game in games for name in (game.a, game.b)})
    found: list[tuple[str, str, str]] = []
    for x, y, z in itertools.combinations(names, 3):
        found += [t for t in ((x, y, z), (x, z, y))
                  if lead[t[0], t[1]] > 0 and lead[t[1], t[2]] > 0 and lead[t[2], t[0]] > 0]  # fmt: skip
    return tuple(found)


def _next(fit: Ranking, games: Sequence[Game], most: int = 10) -> tuple[tuple[str, str], ...]:
    """Pairs whose interval holds 0 or that have none, the least compared first, the closest first among equals."""
    played = Counter(tuple(sorted((g.a, g.b))) for g in games)
    open_pairs: list[tuple[int, float, tuple[str, str]]] = []
    for a, b in itertools.combinations(sorted(fit.items), 2):
        gap = fit.difference(a, b)
        ends = gap.interval
        if ends is None or ends[0] <= 0.0 <= ends[1]:
            open_pairs.append((played[a, b], abs(gap.value or 0.0), (a, b)))
    return tuple(pair for _, _, pair in sorted(open_pairs)[:most])
