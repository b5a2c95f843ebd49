from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from jury.errors import ConfigError
from jury.stats import Game, bradley_terry, bradley_terry_bootstrap
from jury.stats.ranking import Ties
from jury.stats.tie_models import curvature, likelihood, slopes

ALL_TIES: tuple[Ties, ...] = ("half", "davidson", "rao_kupper")


def simulated(strengths: dict[str, float], n: int, seed: int, *, tie: float = 0.0, cluster: int = 0) -> list[Game]:
    """n games between random pairs; `tie` is their share of ties, `cluster` the games that share a prompt."""
    rng = random.Random(seed)
    games: list[Game] = []
    for number in range(n):
        a, b = rng.sample(sorted(strengths), 2)
        chance = 1 / (1 + math.exp(strengths[b] - strengths[a]))
        outcome = 0.5 if rng.random() < tie else float(rng.random() < chance)
        games.append(Game(a, b, outcome, cluster=number // cluster if cluster else None))
    return games


TRUE = {"a": 1.0, "b": 0.3, "c": -0.4, "d": -0.9}


@pytest.mark.parametrize("ties", ALL_TIES)
def test_against_a_general_optimiser(ties: Ties) -> None:
    games = simulated(TRUE, 120, seed=2, tie=0.2)
    found = bradley_terry(games, ties=ties)
    pairs = [(TRUE_INDEX[g.a], TRUE_INDEX[g.b], g.outcome) for g in games]

    def loss(x: np.ndarray) -> float:
        strengths, eta = np.append(x[:3], -x[:3].sum()), x[3]
        gap = np.array([strengths[i] - strengths[j] for i, j, _ in pairs])
        counts = np.array([[o == 1, o == 0, o == 0.5] for *_, o in pairs], dtype=float)
        return -likelihood(ties, gap, None if ties == "half" else eta, counts)

    best = minimize(
        loss, [0.0, 0.0, 0.0, 0.5], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20_000}
    )
    assert found.loglik == pytest.approx(-best.fun, abs=1e-7)
    assert found.log_strengths[:3] == pytest.approx(best.x[:3], abs=1e-4)
    if ties != "half":
        assert found.tie_parameter == pytest.approx(math.exp(best.x[3]), abs=1e-4)


TRUE_INDEX = {name: i for i, name in enumerate(TRUE)}


@pytest.mark.parametrize("ties", ALL_TIES)
@given(gap=st.floats(-4, 4), eta=st.floats(0.1, 2.0))
def test_derivatives(ties: Ties, gap: float, eta: float) -> None:
    counts, step = np.array([[3.0, 2.0, 4.0]]), 1e-5
    place = None if ties == "half" else eta

    def value(x: float, y: float | None) -> float:
        return likelihood(ties, np.array([x]), y, counts)

    by_gap, by_eta = slopes(ties, np.array([gap]), place)
    numeric = (value(gap + step, place) - value(gap - step, place)) / (2 * step)
    assert (counts * by_gap).sum() == pytest.approx(numeric, abs=1e-4)
    h_gap, h_cross, h_eta = (float(h[0]) for h in curvature(ties, np.array([gap]), place, counts))
    second = (value(gap + step * 10, place) - 2 * value(gap, place) + value(gap - step * 10, place)) / (step * 10) ** 2
    assert h_gap == pytest.approx(-second, abs=1e-3)
    if place is None:
        assert (h_cross, h_eta) == (0.0, 0.0)
        return
    numeric = (value(gap, place + step) - value(gap, place - step)) / (2 * step)
    assert (counts * by_eta).sum() == pytest.approx(numeric, abs=1e-3)
    h = step * 10
    crossed = (
        value(gap + h, place + h) - value(gap + h, place - h) - value(gap - h, place + h) + value(gap - h, place - h)
    ) / (4 * h * h)
    assert h_cross == pytest.approx(-crossed, abs=2e-3)
    second = (value(gap, place + h) - 2 * value(gap, place) + value(gap, place - h)) / h**2
    assert h_eta == pytest.approx(-second, rel=1e-2, abs=2e-2)


@pytest.mark.parametrize("ties", ALL_TIES)
@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_names_order_and_sides_do_not_matter(ties: Ties, seed: int) -> None:
    games = simulated(TRUE, 40, seed, tie=0.2)
    rng = random.Random(seed)
    other = [
        Game(g.b.upper(), g.a.upper(), 1 - g.outcome)
        if rng.random() < 0.5
        else Game(g.a.upper(), g.b.upper(), g.outcome)
        for g in games
    ]
    rng.shuffle(other)
    one, two = bradley_terry(games, ties=ties), bradley_terry(other, ties=ties)
    assert one.reason == two.reason
    if one.log_strengths is not None:
        assert two.log_strengths == pytest.approx(one.log_strengths, abs=1e-7)
        assert two.covariance == pytest.approx(one.covariance, abs=1e-7)
        assert sum(one.log_strengths) == pytest.approx(0.0, abs=1e-9)


def test_without_ties_all_models_are_one() -> None:
    games = simulated(TRUE, 80, seed=5)
    half, davidson, rao = (bradley_terry(games, ties=ties) for ties in ALL_TIES)
    assert half.log_strengths == davidson.log_strengths == rao.log_strengths
    assert (half.tie_parameter, davidson.tie_parameter, rao.tie_parameter) == (None, 0.0, 1.0)


def test_balanced_ties_do_not_move_davidson_but_shrink_half_wins() -> None:
    decided = [Game("a", "b", 1, 8), Game("a", "b", 0, 4)]
    tied = [*decided, Game("a", "b", 0.5, 6)]
    assert bradley_terry(tied).difference("a", "b").value == pytest.approx(math.log(2))
    assert bradley_terry(tied, ties="half").difference("a", "b").value == pytest.approx(math.log(11 / 7))


def test_groups_are_never_compared() -> None:
    games = [Game("a", "b", 1, 3), Game("b", "a", 1), Game("c", "d", 1, 2), Game("d", "c", 1)]
    bare = bradley_terry(games)
    assert (bare.log_strengths, bare.reason, bare.mle_exists) == (None, "disconnected", False)
    assert bare.difference("a", "b").reason == bare.difference("a", "c").reason == "disconnected"
    assert bare.rank_ranges() == dict.fromkeys("abcd")
    held = bradley_terry(games, penalty=0.01)
    assert held.difference("a", "c").reason == "disconnected"
    assert held.difference("a", "b").value > 0
    assert "regularised" in held.difference("a", "b").note
    assert set(held.rank_ranges().values()) == {(1, 2)}
    assert held.elo()["a"] == pytest.approx(-held.elo()["b"])


def test_a_penalty_makes_any_fit_finite() -> None:
    swept = bradley_terry([Game("a", "b", 1, 9)], penalty=0.1)
    assert swept.mle_exists is False
    assert 0 < swept.difference("a", "b").value < 10
    only_ties = [Game("a", "b", 0.5, 3)]
    assert bradley_terry(only_ties, penalty=0.1).log_strengths is None
    assert bradley_terry(only_ties, ties="half").log_strengths == pytest.approx((0.0, 0.0))


def test_robust_errors_see_votes_that_are_copies() -> None:
    """Five judges that all say the same on each prompt: as clusters the error is that of the prompts alone."""
    alone = simulated(TRUE, 150, seed=9)
    copies = [Game(g.a, g.b, g.outcome, cluster=number) for number, g in enumerate(alone) for _ in range(5)]
    errors = [
        fit.difference("a", "b").se
        for fit in (
            bradley_terry(alone),
            bradley_terry(copies),
            bradley_terry([g._replace(cluster=None) for g in copies]),
        )
    ]
    assert errors[1] == pytest.approx(errors[0], rel=0.01)
    assert errors[2] == pytest.approx(errors[0] / math.sqrt(5), rel=0.01)


def test_bootstrap_agrees_with_the_sandwich() -> None:
    games = simulated(TRUE, 400, seed=3, tie=0.15, cluster=4)
    sandwich, drawn = bradley_terry(games), bradley_terry_bootstrap(games, seed=1, replicates=300)
    assert drawn.log_strengths == sandwich.log_strengths
    assert drawn.difference("a", "d").se == pytest.approx(sandwich.difference("a", "d").se, rel=0.2)
    again = bradley_terry_bootstrap(games, seed=1, replicates=300)
    assert again.difference("a", "d") == drawn.difference("a", "d")


def test_bootstrap_counts_what_had_no_finite_estimate() -> None:
    games = [Game("a", "b", float(i > 0)) for i in range(12)]
    found = bradley_terry_bootstrap(games, seed=1, replicates=200)
    assert "had no finite estimate" in found.note
    gap = found.difference("a", "b")
    assert gap.high > 5
    few = bradley_terry_bootstrap(games[:4], seed=1)
    assert few.draws is None
    assert "only 4 clusters" in few.note
    assert bradley_terry_bootstrap([Game("a", "b", 1)], seed=1).reason == "no_finite_estimate"


def test_clusters_without_spread_have_no_interval() -> None:
    games = [Game("a", "b", float(i % 3 > 0), cluster=i // 3) for i in range(60)]
    for found in (bradley_terry(games), bradley_terry_bootstrap(games, seed=1, replicates=50)):
        gap = found.difference("a", "b")
        assert (gap.interval, gap.reason) == (None, "no_variation")
        assert found.win_probability("a", "b") == gap


def test_ranks_and_chances() -> None:
    found = bradley_terry(simulated(TRUE, 3000, seed=1))
    assert found.rank_ranges() == {"a": (1, 1), "b": (2, 2), "c": (3, 3), "d": (4, 4)}
    close = bradley_terry(simulated(dict.fromkeys("abc", 0.0), 60, seed=1))
    assert set(close.rank_ranges().values()) == {(1, 3)}
    chance = found.win_probability("a", "d")
    assert chance.low < 1 / (1 + math.exp(-1.9)) < chance.high
    assert found.difference("a", "a").value == 0.0


def test_wrong_arguments() -> None:
    with pytest.raises(ConfigError, match="ties are"):
        bradley_terry([], ties="none")
    with pytest.raises(ConfigError, match="penalty"):
        bradley_terry([], penalty=-1)
    with pytest.raises(ConfigError, match="'z' is not one"):
        bradley_terry([Game("a", "b", 1)]).difference("a", "z")
