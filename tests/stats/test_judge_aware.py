from __future__ import annotations

import math
import random

import pytest

from jury.errors import ConfigError
from jury.stats import Game, JudgedGame, bradley_terry, judge_aware_bradley_terry

TRUE = {"a": 0.8, "b": 0.1, "c": -0.9}


def simulated(sigma: dict[str, float], n: int, seed: int) -> list[JudgedGame]:
    rng = random.Random(seed)
    games: list[JudgedGame] = []
    for judge, spread in sigma.items():
        for _ in range(n):
            a, b = rng.sample(sorted(TRUE), 2)
            chance = 1 / (1 + math.exp((TRUE[b] - TRUE[a]) / spread))
            games.append(JudgedGame(judge, a, b, float(rng.random() < chance)))
    return games


def test_spreads_are_recovered() -> None:
    sigma = {"sharp": 0.5, "middle": 1.0, "vague": 2.0}
    found = judge_aware_bradley_terry(simulated(sigma, 1500, seed=4), seed=0)
    assert found.sigma == pytest.approx(sigma, rel=0.25)
    assert found.strengths == pytest.approx(TRUE, abs=0.2)
    assert math.prod(found.sigma.values()) == pytest.approx(1.0)
    assert sum(found.strengths.values()) == pytest.approx(0.0, abs=1e-9)
    assert found.loglik > found.plain_loglik + 10


def test_one_judge_is_the_plain_model() -> None:
    games = simulated({"only": 1.0}, 200, seed=1)
    found = judge_aware_bradley_terry(games, seed=0, prior=0.0)
    plain = bradley_terry([Game(g.a, g.b, g.outcome) for g in games])
    assert list(found.strengths.values()) == pytest.approx(plain.log_strengths, abs=1e-7)
    assert found.sigma == {"only": 1.0}
    assert found.loglik == pytest.approx(found.plain_loglik)


def test_seed_and_order_do_not_matter_for_the_best_maximum() -> None:
    games = simulated({"x": 0.6, "y": 1.4, "z": 1.2}, 60, seed=2)
    one = judge_aware_bradley_terry(games, seed=0)
    random.Random(3).shuffle(games)
    other = judge_aware_bradley_terry(games, seed=9)
    assert other.strengths == pytest.approx(one.strengths, abs=1e-5)
    assert other.sigma == pytest.approx(one.sigma, abs=1e-5)


def test_a_judge_that_never_contradicts_itself_needs_the_prior() -> None:
    perfect = [JudgedGame("p", *pair, 1, 10) for pair in ("ab", "bc", "ac")]
    games = perfect + simulated({"x": 1.0, "y": 1.0}, 60, seed=6)
    assert judge_aware_bradley_terry(games, seed=0, prior=0.0).reason == "no_finite_estimate"
    held = judge_aware_bradley_terry(games, seed=0)
    assert held.reason is None
    assert 0 < held.sigma["p"] < 0.5


def test_judges_with_few_games_get_no_spread_of_their_own() -> None:
    games = [*simulated({"x": 0.7, "y": 1.4}, 80, seed=1), JudgedGame("new", "a", "b", 0)]
    found = judge_aware_bradley_terry(games, seed=0)
    assert found.fixed == ("new",)
    assert found.sigma["new"] == 1.0


def test_no_finite_fit() -> None:
    assert judge_aware_bradley_terry([], seed=0).reason == "no_data"
    swept = [JudgedGame("x", "a", "b", 1, 20)]
    assert judge_aware_bradley_terry(swept, seed=0, prior=0.0).reason == "no_finite_estimate"
    held = judge_aware_bradley_terry(swept, seed=0)
    assert held.reason == "no_finite_estimate"  # the data's, though the prior makes the numbers finite
    assert held.strengths["a"] > held.strengths["b"]
    with pytest.raises(ConfigError, match="outcome"):
        judge_aware_bradley_terry([JudgedGame("x", "a", "b", 1.5)], seed=0)
    with pytest.raises(ConfigError, match="prior"):
        judge_aware_bradley_terry([], seed=0, prior=-1)
