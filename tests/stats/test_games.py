from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from jury.errors import ConfigError
from jury.stats.games import Game, Pairs, count_games, existence

names = st.sampled_from("abcd")
games = st.lists(
    st.tuples(names, names, st.sampled_from([0, 0.5, 1])).filter(lambda g: g[0] != g[1]).map(lambda g: Game(*g)),
    min_size=1,
    max_size=9,
)


def runs_away(pairs: Pairs, *, with_ties: bool) -> bool:
    """Whether the log-likelihood has a direction in which no game gets less likely and something moves.

    A linear programme over strengths d and the log tie parameter e: a win of i over j asks d_i - d_j >= 0 (and, with a
    tie parameter, >= 2 e), a tie asks |d_i - d_j| <= 2 e, or d_i = d_j without the parameter.
    """
    m = len(pairs.items)
    ties = bool(pairs.counts[:, 2].any())
    rows: list[list[float]] = []
    for i, j, counts in zip(pairs.first, pairs.second, pairs.counts, strict=True):
        gap = [0.0] * (m + 1)
        gap[i], gap[j] = 1.0, -1.0
        back = [-x for x in gap]
        minus_e = [*([0.0] * m), -2.0]
        for wins, row in ((counts[0], gap), (counts[1], back)):
            if wins:
                rows.append(row)
                if with_ties and ties:
                    rows.append([a + b for a, b in zip(row, minus_e, strict=True)])
        if counts[2]:
            ends = ([-a - b for a, b in zip(row, minus_e, strict=True)] for row in (gap, back))
            rows += ends if with_ties else [gap, back]
    bounds = [(-1, 1)] * m + [(-1, 1) if with_ties and ties else (0, 0)]
    for k, sign in itertools.product(range(m + 1), (1.0, -1.0)):
        goal = [0.0] * (m + 1)
        goal[k] = -sign
        if k < m:  # strengths are free up to a constant: measure against the first item
            goal[0] += sign
        best = linprog(goal, A_ub=-np.array(rows), b_ub=np.zeros(len(rows)), bounds=bounds)
        if best.status == 0 and best.fun < -1e-6:
            return True
    return False


@pytest.mark.parametrize("with_ties", [False, True])
@settings(max_examples=60)
@given(played=games)
def test_existence_against_a_linear_programme(played: list[Game], with_ties: bool) -> None:
    pairs = count_games(played)
    found = existence(pairs, tie_parameter=with_ties)
    assert (found.reason is not None) == runs_away(pairs, with_ties=with_ties)


@given(games)
def test_sides_do_not_matter(played: list[Game]) -> None:
    swapped = [Game(g.b, g.a, 1 - g.outcome) for g in played]
    assert count_games(swapped).wins().tolist() == count_games(played).wins().tolist()
    assert existence(count_games(swapped)) == existence(count_games(played))


def test_reasons() -> None:
    assert existence(count_games([])).reason == "no_data"
    assert existence(count_games([], items=["a", "b"])).reason == "no_data"
    islands = existence(count_games([Game("a", "b", 1), Game("b", "a", 1), Game("c", "d", 0.5)]))
    assert (islands.reason, islands.groups) == ("disconnected", (("a", "b"), ("c", "d")))
    alone = existence(count_games([Game("a", "b", 1), Game("b", "a", 1)], items=["a", "b", "z"]))
    assert (alone.reason, alone.groups) == ("disconnected", (("a", "b"), ("z",)))
    chain = existence(count_games([Game("a", "b", 1), Game("b", "c", 1)]))
    assert (chain.reason, chain.unbounded) == ("no_finite_estimate", ("a", "c"))


def test_a_win_and_a_tie_have_no_finite_tie_parameter() -> None:
    """Half a win to each makes a finite fit; Davidson's strengths and ties grow together without end."""
    pairs = count_games([Game("a", "b", 1), Game("a", "b", 0.5)])
    assert existence(pairs).reason is None
    assert existence(pairs, tie_parameter=True).reason == "no_finite_estimate"


@pytest.mark.parametrize(
    "game", [Game("a", "a", 1), Game("a", "z", 1), Game("a", "b", 0.7), Game("a", "b", 1, 0), Game("a", "b", 1, -1)]
)
def test_games_that_are_none(game: Game) -> None:
    with pytest.raises(ConfigError):
        count_games([game], items=["a", "b"])
    with pytest.raises(ConfigError, match="twice"):
        count_games([], items=["a", "a"])


def test_a_bare_tuple_is_a_game_and_anything_else_is_named() -> None:
    assert count_games([("a", "b", 1), ("b", "a", 0.5, 2)]).counts.tolist() == [[1.0, 0.0, 2.0]]  # type: ignore[list-item]
    for wrong in ("ab", ("a", "b"), {"a": 1}, None):
        with pytest.raises(ConfigError, match="a game is Game"):
            count_games([wrong])  # type: ignore[list-item]
