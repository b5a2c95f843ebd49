"""Stopping trees: the exact one against brute force over all votes, the calibrated one on votes it has not seen."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import beta

from jury import ConfigError
from jury.stats.stopping import Shape, calibrated, exact_tree, fitted_tree, lower, upper, verdicts

SHAPES = [
    Shape(2, (1, 1, 1), (1, 1, 1)),
    Shape(2, (1, 1, 1, 1, 1), (1, 1, 1, 1, 1), majority=True),
    Shape(3, (1, 1, 1, 1), (1, 1, 1, 1)),
    Shape(3, (1, 2, 1), (1, 1, 1), blank=True, quorum=2),
    Shape(4, (3, 1, 1), (1, 1, 1), majority=True, blank=True, quorum=2),
]


def every(shape):
    return np.array(list(itertools.product(range(shape.k), repeat=shape.m)))


def panel(n, accuracy, seed=0, hard=0.3):
    """Correlated judges: on hard items they all do worse."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, 2, n)
    skill = np.where(draw.random(n)[:, None] < hard, 0.55, np.asarray(accuracy))
    return np.where(draw.random((n, len(accuracy))) < skill, truth[:, None], 1 - truth[:, None])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_exact_tree_is_never_wrong(shape):
    votes = every(shape)
    calls, said = exact_tree(votes, shape).walk(votes)
    assert (said == verdicts(votes, shape)).all()
    assert calls.max() <= shape.m
    assert calls.min() < shape.m


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_verdicts_are_those_of_the_rule(shape):
    for votes in every(shape):
        totals = [sum(w for v, w in zip(votes, shape.weights, strict=True) if v == x) for x in range(shape.labels)]
        best = max(totals)
        real = sum(v < shape.labels for v in votes)
        wins = totals.count(best) == 1 and (not shape.majority or best > sum(totals) / 2) and real >= shape.quorum
        assert verdicts(votes[None], shape)[0] == (totals.index(best) if wins else -1)


def test_the_exact_tree_asks_those_first_who_agree_with_the_others():
    votes = panel(600, [0.95, 0.6, 0.95, 0.6, 0.95])
    shape = Shape(2, (1,) * 5, (1,) * 5)
    calls, _ = exact_tree(votes, shape).walk(votes)
    in_order = [next(k for k in range(3, 6) if max((row[:k] == x).sum() for x in (0, 1)) >= 3) for row in votes]
    assert calls.mean() < np.mean(in_order) - 0.2
    assert exact_tree(votes, shape).next([None] * 5) in (0, 2, 4)


def test_dear_judges_are_asked_last():
    votes = panel(400, [0.9, 0.9, 0.9])
    tree = exact_tree(votes, Shape(2, (1, 1, 1), (50, 1, 1)))
    assert tree.next([None, None, None]) in (1, 2)
    assert tree.next([None, 0, 1]) == 0


def test_a_dearer_error_asks_more():
    votes = panel(800, [0.9, 0.8, 0.8, 0.7, 0.7])
    shape = Shape(2, (1,) * 5, (1,) * 5)
    means = [fitted_tree(votes, shape, penalty).walk(votes)[0].mean() for penalty in (2, 20, 200)]
    assert means == sorted(means)
    assert means[0] < means[-1] < 5


def test_it_only_says_what_the_votes_that_were_cast_say():
    votes = panel(500, [0.9, 0.6, 0.6])
    tree = fitted_tree(votes, Shape(2, (1, 1, 1), (1, 1, 1)), 30)
    for row in every(tree.shape):
        seen: list[int | None] = [None] * 3
        while (judge := tree.next(seen)) >= 0:
            seen[judge] = int(row[judge])
        cast = [v for v in seen if v is not None]
        assert cast.count(tree.says(seen)) > len(cast) / 2


@pytest.mark.parametrize("seed", range(6))
def test_the_error_on_new_items_stays_within_the_bound(seed):
    accuracy = [0.95, 0.9, 0.9, 0.85, 0.85, 0.8, 0.8]
    shape = Shape(2, (1,) * 7, (1,) * 7)
    found = calibrated(panel(1500, accuracy, seed, hard=0.05), shape, 0.02)
    new = panel(20_000, accuracy, seed + 100, hard=0.05)
    calls, said = found.tree.walk(new)
    assert (said != verdicts(new, shape)).mean() <= 0.02
    assert found.bound <= 0.02
    assert found.bound == upper(found.wrong, found.n, 0.95)
    exact, _ = exact_tree(new, shape).walk(new)
    assert calls.mean() < 0.9 * exact.mean()


def test_few_items_show_nothing():
    shape = Shape(2, (1,) * 3, (1,) * 3)
    assert calibrated(panel(100, [0.9] * 3), shape, 0.02) is None
    assert calibrated(panel(148, [1.0] * 3, hard=0), shape, 0.02) is None
    assert calibrated(panel(149, [1.0] * 3, hard=0), shape, 0.02) is not None


def test_judges_at_chance_are_polled_on():
    shape = Shape(2, (1,) * 5, (1,) * 5)
    votes = np.random.default_rng(1).integers(0, 2, (2000, 5))
    found = calibrated(votes, shape, 0.01)
    new = np.random.default_rng(2).integers(0, 2, (20_000, 5))
    if found is not None:
        assert (found.tree.walk(new)[1] != verdicts(new, shape)).mean() <= 0.01


def test_bounds():
    assert upper(3, 400, 0.95) == pytest.approx(beta.ppf(0.95, 4, 397), abs=1e-9)
    assert lower(3, 400, 0.95) == pytest.approx(beta.ppf(0.05, 3, 398), abs=1e-9)
    assert upper(0, 149, 0.95) == pytest.approx(1 - 0.05 ** (1 / 149))
    assert (upper(5, 5, 0.95), lower(0, 5, 0.95)) == (1.0, 0.0)


def test_what_is_too_large_or_no_panel():
    with pytest.raises(ConfigError, match="too large"):
        exact_tree(np.zeros((5, 14), dtype=np.int64), Shape(2, (1,) * 14, (1,) * 14))
    with pytest.raises(ConfigError, match="two labels"):
        Shape(2, (1, 1), (1, 1), blank=True)
