from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.errors import ConfigError
from jury.stats import bayes_operating, bayes_path, plurality, reachable_outcomes, strict_majority, veto, wald_bounds

VALUES = ["PASS", "FAIL", "NA", "ABSTAIN"]
RULES = {
    "majority": strict_majority(),
    "quorum": strict_majority(usable=("PASS", "FAIL"), quorum=3),
    "plurality": plurality(),
    "veto": veto(),
}


@pytest.mark.parametrize("name", RULES)
@given(st.lists(st.sampled_from(VALUES), max_size=4), st.integers(0, 3))
def test_reachable_against_all_sequences(name: str, votes: list[str], left: int) -> None:
    rule = RULES[name]

    def count(values: list[str]) -> dict[str, int]:
        return {value: values.count(value) for value in VALUES}

    wanted = {rule(count([*votes, *more])) for more in itertools.product(VALUES, repeat=left)}
    assert reachable_outcomes(count(votes), len(votes) + left, VALUES, rule) == wanted


def test_more_votes_than_planned() -> None:
    with pytest.raises(ConfigError):
        reachable_outcomes({"PASS": 3}, 2, VALUES, RULES["veto"])


rates = st.lists(st.tuples(st.floats(0.55, 0.95), st.floats(0.55, 0.95)), min_size=1, max_size=6)


@given(rates, st.floats(0.1, 0.9), st.sampled_from([0.02, 0.05, 0.2]))
def test_error_given_stopping_keeps_its_bound(pairs: list[tuple[float, float]], prior: float, epsilon: float) -> None:
    point = bayes_operating(pairs, prior=prior, epsilon=epsilon)
    if point.wrong_given_stopped is not None:
        assert point.wrong_given_stopped <= epsilon + 1e-12
    assert 0 <= point.undecided <= 1 + 1e-12
    assert 1 - 1e-9 <= point.expected_votes <= len(pairs) + 1e-9


@given(rates, st.floats(0.1, 0.9), st.data())
def test_operating_point_is_the_mean_of_the_paths(
    pairs: list[tuple[float, float]], prior: float, data: st.DataObject
) -> None:
    undecided = 0.0
    for votes in itertools.product(["PASS", "FAIL"], repeat=len(pairs)):
        path = bayes_path(votes, pairs, prior=prior)
        likely = prior * math.prod(t if v == "PASS" else 1 - t for v, (t, _) in zip(votes, pairs, strict=True))
        unlikely = (1 - prior) * math.prod(1 - t if v == "PASS" else t for v, (_, t) in zip(votes, pairs, strict=True))
        undecided += (likely + unlikely) * (path.stop_after is None)
        assert path.posterior[-1] == pytest.approx(likely / (likely + unlikely))
    assert bayes_operating(pairs, prior=prior).undecided == pytest.approx(undecided, abs=1e-9)


def test_tempering_slows_down() -> None:
    pairs = [(0.8, 0.8)] * 5
    fast, slow = (bayes_path(["PASS"] * 5, pairs, temper=temper) for temper in (1.0, 0.4))
    assert (fast.stop_after, slow.stop_after) == (3, None)
    assert slow.posterior[4] == pytest.approx(fast.posterior[1])  # 5 votes at 0.4 are worth 2


def test_wrong_arguments() -> None:
    for call in (
        lambda: bayes_path(["PASS"], []),
        lambda: bayes_path(["NA"], [(0.9, 0.9)]),
        lambda: bayes_path(["PASS"], [(1.0, 0.9)]),
        lambda: bayes_path(["PASS"], [(0.9, 0.9)], temper=0.0),
        lambda: bayes_operating([(0.9, 0.9)] * 21),
        lambda: bayes_operating([(0.9, 0.9)], prior=1.0),
        lambda: wald_bounds(0.6, 0.6),
    ):
        with pytest.raises(ConfigError):
            call()
