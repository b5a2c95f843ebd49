"""Swiss rounds: who meets whom, and that they order better than pairs at random."""

from __future__ import annotations

import itertools
import math
import random
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury.errors import ConfigError
from jury.stats import Game, bradley_terry, swiss_round

NAMES = tuple("abcdefgh")


@settings(deadline=None, max_examples=40)
@given(
    n=st.integers(2, 8),
    played=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from([0, 0.5, 1])), max_size=20),
    seed=st.integers(0, 5),
)
def test_a_round_is_a_matching_of_all_and_the_same_every_time(n, played, seed):
    names = NAMES[:n]
    games = [Game(NAMES[a], NAMES[b], o) for a, b, o in played if a != b and a < n and b < n]
    drawn = swiss_round(names, games, seed=seed)
    met = [name for pair in drawn for name in pair]
    assert len(met) == len(set(met)) == n - n % 2
    assert drawn == swiss_round(names, games, seed=seed)


def test_the_first_round_is_drawn_by_the_seed():
    assert len({swiss_round(NAMES, [], seed=s) for s in range(10)}) > 1


def test_who_has_played_most_rests():
    games = [Game("a", "b", 1), Game("a", "c", 1)]
    assert set(itertools.chain(*swiss_round("abc", games, seed=0))) == {"b", "c"}


def test_a_rematch_comes_late():
    """Of equals those meet that have not met: four that drew once in pairs cross over."""
    games = [Game("a", "b", 1), Game("b", "a", 1), Game("c", "d", 1), Game("d", "c", 1)]
    assert {"ab", "cd"}.isdisjoint("".join(sorted(pair)) for pair in swiss_round("abcd", games, seed=0))


def test_closed_pairs_are_not_made():
    closed = {frozenset(pair) for pair in itertools.combinations("abcd", 2)} - {frozenset("ab")}
    assert [set(pair) for pair in swiss_round("abcd", [], seed=0, closed=closed)] == [{"a", "b"}]


def test_one_item_makes_no_round():
    with pytest.raises(ConfigError, match="two items"):
        swiss_round(["a", "a"], [], seed=0)


def _tau(names, truth, games):
    """Kendall's tau of the fitted order and the true one."""
    fit = bradley_terry(games, items=names, ties="half", penalty=0.1)
    found = dict(zip(fit.items, fit.log_strengths, strict=True))
    signs = [
        math.copysign(1, (truth[a] - truth[b]) * (found[a] - found[b])) for a, b in itertools.combinations(names, 2)
    ]
    return sum(signs) / len(signs)


def _simulated(seed, swiss):
    """Twelve candidates, sixty games, each won by the odds of the strengths."""
    rng = random.Random(seed)
    names = [f"m{i}" for i in range(12)]
    truth = {name: rng.gauss(0, 2) for name in names}
    games = []
    while len(games) < 60:
        pairs = swiss_round(names, games, seed=seed) if swiss else [rng.sample(names, 2)]
        for a, b in pairs[: 60 - len(games)]:
            games.append(Game(a, b, 1 if rng.random() < 1 / (1 + math.exp(truth[b] - truth[a])) else 0))
    return _tau(names, truth, games)


def test_with_as_many_comparisons_swiss_rounds_order_better_than_pairs_at_random():
    """Over 60 simulated contests the mean gain in Kendall's tau is beyond three standard errors."""
    gains = [_simulated(seed, True) - _simulated(seed, False) for seed in range(60)]
    assert statistics.mean(gains) > 3 * statistics.stdev(gains) / math.sqrt(60)
