from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from jury.errors import ConfigError
from jury.stats import alternative_annotator_test, false_discovery


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12))
def test_false_discovery_against_scipy(p_values: list[float | None]) -> None:
    found = false_discovery(p_values)
    known = [p for p in p_values if p is not None]
    assert [q is None for q in found] == [p is None for p in p_values]
    if known:
        wanted = reference.false_discovery_control(known, method="by")
        assert [q for q in found if q is not None] == pytest.approx(wanted.tolist(), abs=1e-12)


def panel(accuracies: list[float], items: int, seed: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    truth = rng.random(items) < 0.5
    right = rng.random((items, len(accuracies))) < accuracies
    return [["P" if vote else "F" for vote in row] for row in (truth[:, None] == right)]


def test_a_good_judge_passes_and_a_guess_does_not() -> None:
    rows = panel([0.9, 0.8, 0.8, 0.8, 0.5], 300, seed=1)  # judge, three people, a coin
    people = [row[1:4] for row in rows]
    good = alternative_annotator_test([row[0] for row in rows], people)
    coin = alternative_annotator_test([row[4] for row in rows], people)
    assert (good.passed, good.winning_rate.value) == (True, 1.0)
    assert (coin.passed, coin.winning_rate.value) == (False, 0.0)
    assert good.advantage.value > coin.advantage.value


def test_p_value_against_scipy() -> None:
    rows = panel([0.75, 0.8, 0.8, 0.8], 120, seed=2)
    found = alternative_annotator_test([row[0] for row in rows], [row[1:] for row in rows], epsilon=0.1)
    gaps = []
    for judge, person, *others in rows:
        ours, theirs = ([vote == other for other in others] for vote in (judge, person))
        gaps.append(float(sum(theirs) >= sum(ours)) - float(sum(ours) >= sum(theirs)))
    assert found.duels[0].p_value == pytest.approx(reference.ttest_1samp(gaps, 0.1, alternative="less").pvalue)


def test_numbers_are_scored_by_distance() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 6, size=200)
    people = [[int(t), int(min(5, t + 1)), int(max(1, t - 1))] for t in truth]
    near = alternative_annotator_test([float(t) + 0.4 for t in truth], people, numeric=True)
    far = alternative_annotator_test([6.0 - float(t) for t in truth], people, numeric=True)
    assert near.advantage.value > far.advantage.value
    assert far.passed is False
    with pytest.raises(ConfigError, match="numbers"):
        alternative_annotator_test(["x"] * 200, people, numeric=True)


def test_what_is_missing_is_left_out() -> None:
    rows = panel([0.9, 0.8, 0.8, 0.8], 80, seed=4)
    judge, people = [row[0] for row in rows], [row[1:] for row in rows]
    padded = alternative_annotator_test([*judge, None, "P"], [*people, ["P", "P", "P"], [None, None, "P"]])
    assert padded.duels == alternative_annotator_test(judge, people).duels
    few = alternative_annotator_test(judge[:29], people[:29])
    assert (few.passed, few.reason, few.duels[0].n) == (None, "too_few_items", 29)
    assert few.duels[0].judge_share.reason == "too_few_items"


def test_too_few_people_and_wrong_arguments() -> None:
    assert alternative_annotator_test(["P"], [["P", "P"]]).reason == "too_few_raters"
    with pytest.raises(ConfigError, match="same items"):
        alternative_annotator_test(["P"], [])
    with pytest.raises(ConfigError, match="epsilon"):
        alternative_annotator_test(["P"], [["P", "P", "P"]], epsilon=-1)
    with pytest.raises(ConfigError, match="p-values"):
        false_discovery([2.0])
