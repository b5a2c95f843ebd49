from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from jury.errors import ConfigError
from jury.stats import (
    Confusion,
    PairedCounts,
    false_pass_gap,
    holm,
    length_bias,
    position_bias,
    self_preference,
    self_preference_paired,
    self_preference_shared,
)
from jury.stats.logistic import RIDGE, fit_logistic

winners = st.sampled_from(["A", "B", "tie", None])


@given(st.lists(st.tuples(winners, winners), max_size=30))
def test_position_counts_each_pair_once(verdicts: list[tuple[str | None, str | None]]) -> None:
    found = position_bias(verdicts)
    assert found.n + found.dropped == len(verdicts)
    assert found.primacy == verdicts.count(("A", "B"))
    assert found.recency == verdicts.count(("B", "A"))
    assert found.dropped == sum(None in pair for pair in verdicts)
    if found.n:
        assert found.consistency.value + found.change_rate.value == pytest.approx(1.0)
        assert found.lean.value == pytest.approx((found.primacy - found.recency) / found.n)
    else:
        assert found.flip_rate.reason == found.lean.reason == "no_data"
    assert (found.p_value is None) == (found.primacy + found.recency == 0)


@given(st.lists(st.tuples(winners, winners), max_size=30))
def test_naming_the_responses_the_other_way_round_changes_nothing(
    verdicts: list[tuple[str | None, str | None]],
) -> None:
    """A and B exchanged: what was shown first is now called B, so that the two orders change places, too."""
    other = {"A": "B", "B": "A"}
    renamed = [(other.get(ba, ba), other.get(ab, ab)) for ab, ba in verdicts]
    assert position_bias(renamed) == position_bias(verdicts)


def test_a_winner_that_is_none() -> None:
    with pytest.raises(ConfigError, match="winner"):
        position_bias([("A", "first")])


def lengths(n: int, effect: float, seed: int) -> tuple[list[float], list[float], list[float], list[float]]:
    rng = random.Random(seed)
    a, b = [rng.uniform(50, 500) for _ in range(n)], [rng.uniform(50, 500) for _ in range(n)]
    better = [rng.choice([-0.5, 0.5]) for _ in range(n)]
    odds = [effect * np.tanh((x - y) / 180) + 2 * q for x, y, q in zip(a, b, better, strict=True)]
    return [float(rng.random() < 1 / (1 + np.exp(-o))) for o in odds], a, b, better


def test_length_effect_is_found_and_quality_is_taken_out() -> None:
    wins, a, b, better = lengths(1500, 1.5, seed=1)
    found = length_bias(wins, a, b, covariates=[better])
    assert found.coefficient.low < 1.5 < found.coefficient.high
    assert found.p_value < 1e-6
    none = length_bias(*lengths(1500, 0.0, seed=2)[:3])
    assert none.coefficient.low < 0 < none.coefficient.high


def test_length_swapped_sides() -> None:
    wins, a, b, _ = lengths(200, 1.0, seed=3)
    one, other = length_bias(wins, a, b), length_bias([1 - w for w in wins], b, a)
    assert other.coefficient.value == pytest.approx(one.coefficient.value)
    assert other.controlled.value == pytest.approx(1 - one.controlled.value)


def test_length_without_variation_and_with_separation() -> None:
    assert length_bias([1, 0], [5, 5], [5, 5]).coefficient.reason == "no_variation"
    assert length_bias([1, 1], [5, 9], [6, 5]).coefficient.reason == "no_variation"
    assert length_bias([None], [1], [2]).raw.reason == "no_data"
    split = length_bias([1, 1, 1, 0, 0, 0], [9, 8, 7, 1, 2, 3], [5] * 6)
    assert split.regularised
    assert "regularised" in split.coefficient.note
    assert 0 < split.coefficient.value < 50
    with pytest.raises(ConfigError, match="same pairs"):
        length_bias([1], [1, 2], [1])


def test_ties_count_half() -> None:
    found = length_bias([1, 0.5, 0, 0.5, 1], [9, 5, 3, 4, 5], [5, 5, 5, 5, 6])
    assert found.raw.value == pytest.approx(0.6)
    assert found.raw.low < 0.6 < found.raw.high


def test_family_gaps() -> None:
    found = self_preference(0, 0, 5, 10)
    assert (found.difference.reason, found.p_value, found.own.reason) == ("no_data", None, "no_data")
    assert self_preference(10, 10, 5, 5).p_value is None  # everybody passes everything: no test
    assert false_pass_gap(Confusion(9, 1, 0, 0), Confusion(9, 1, 3, 7)).reason == "no_data"


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12))
def test_holm(p_values: list[float | None]) -> None:
    found = holm(p_values)
    known = [(p, q) for p, q in zip(p_values, found, strict=True) if p is not None]
    assert [q is None for q in found] == [p is None for p in p_values]
    assert all(p <= q <= min(1.0, p * len(known)) + 1e-12 for p, q in known)
    assert [q for _, q in sorted(known)] == sorted(q for _, q in known)


def test_holm_refuses_what_is_no_probability() -> None:
    with pytest.raises(ConfigError, match="p-values"):
        holm([0.1, 1.2])


@given(st.integers(0, 1000))
def test_logistic_against_a_general_optimiser(seed: int) -> None:
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(40), rng.normal(size=(40, 2))])
    outcome = (rng.random(40) < 0.5).astype(float)
    fit = fit_logistic(design, outcome)

    def loss(x: np.ndarray) -> float:
        z = design @ x
        return float((np.logaddexp(0, z) - outcome * z).sum())

    best = minimize(loss, np.zeros(3), method="BFGS")
    assert fit.loglik == pytest.approx(-best.fun, abs=1e-6)
    assert fit.coefficients == pytest.approx(best.x, abs=1e-3)


def test_logistic_falls_back_on_a_ridge() -> None:
    column = np.array([1.0, 2.0, 3.0, 4.0])
    separated = fit_logistic(np.column_stack([np.ones(4), column]), np.array([0.0, 0.0, 1.0, 1.0]))
    collinear = fit_logistic(np.column_stack([np.ones(4), column, 2 * column]), np.array([0.0, 1.0, 0.0, 1.0]))
    assert separated.ridge == collinear.ridge == RIDGE
    assert np.isfinite(separated.covariance).all()
    assert np.isfinite(collinear.covariance).all()


def test_own_family_on_shared_items_is_the_paired_difference():
    favours = [(True, False)] * 7 + [(False, True)] * 2 + [(True, True)] * 30 + [(False, False)] * 11
    found = self_preference_shared([a for a, _ in favours], [[b] for _, b in favours])
    paired = self_preference_paired(PairedCounts(7, 2, 30, 11)).difference
    assert found.difference.interval == pytest.approx(paired.interval)
    assert found.difference.value == pytest.approx(paired.value)
    apart = self_preference(37, 50, 32, 50).difference  # as if the items were others: wider
    assert paired.high - paired.low < 0.8 * (apart.high - apart.low)


def test_others_who_vote_alike_are_one_voice_and_votes_that_are_missing_do_not_count():
    own = [True] * 30 + [False] * 10
    alone = [[v] for v in [True] * 24 + [False] * 6 + [True] * 2 + [False] * 8]
    many = [said * 8 for said in alone]
    one, eight = (self_preference_shared(own, said).difference for said in (alone, many))
    assert eight.value == one.value
    assert eight.high - eight.low > 0.9 * (one.high - one.low)  # eight echoes are no eight judges
    holed = self_preference_shared([*own, None, True], [*many, [True], [None]])
    assert holed.difference == eight
    assert self_preference_shared([True, None], [[None], [True]]).difference.reason == "no_data"


def test_the_p_value_of_own_family_agrees_with_its_interval():
    for more in range(1, 20):
        own = [True] * more + [False] * 2 + [True] * 30
        found = self_preference_shared(own, [[False, False]] * more + [[True, False]] * 2 + [[True, True]] * 30)
        assert found.p_value is not None
        assert (found.p_value < 0.05) == (found.difference.low > 0)
