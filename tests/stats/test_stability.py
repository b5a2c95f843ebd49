from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.stats import PairedCounts, beyond_noise, flip_rate, mcnemar

runs = st.lists(st.lists(st.sampled_from(["P", "F", "NA", None]), max_size=5), max_size=8)


@given(runs)
def test_against_all_pairs_of_runs(items: list[list[str | None]]) -> None:
    found = flip_rate(items)
    assert found.total_runs == sum(map(len, items))
    assert found.unusable_runs == sum(item.count(None) for item in items)
    usable = [[run for run in item if run is not None] for item in items]
    usable = [item for item in usable if len(item) >= 2]
    assert found.usable == len(usable)
    if not usable:
        assert found.disagreement.reason == found.flip_rate.reason == "no_data"
        assert found.runs is None
        return
    pairs = [[a != b for a, b in itertools.combinations(item, 2)] for item in usable]
    assert found.disagreement.value == pytest.approx(sum(sum(p) / len(p) for p in pairs) / len(pairs))
    assert found.flip_rate.value == pytest.approx(sum(any(p) for p in pairs) / len(pairs))
    assert found.runs == (min(map(len, usable)), max(map(len, usable)))


def test_true_and_1_are_two_verdicts() -> None:
    assert flip_rate([[True, 1]]).flipped == 1


def test_interval_over_items_and_clusters() -> None:
    items = [["P", "P"], ["P", "F"]] * 15
    plain, clustered = flip_rate(items, seed=1), flip_rate(items, seed=1, clusters=[i // 10 for i in range(30)])
    assert plain.disagreement.interval is not None
    assert (clustered.disagreement.value, clustered.disagreement.reason) == (0.5, "no_variation")
    assert flip_rate(items).disagreement.interval is None


def test_beyond_noise_is_the_paired_difference_where_gaps_are_whole() -> None:
    pairs = [("AA", "BB")] * 7 + [("AA", "AA")] * 33
    found, paired = beyond_noise(pairs), mcnemar(PairedCounts(7, 0, 0, 33)).difference
    assert found.value == paired.value == 7 / 40
    assert found.interval == pytest.approx(paired.interval)


def test_beyond_noise_is_0_for_a_judge_that_only_wavers() -> None:
    rng = np.random.default_rng(5)
    pairs = [tuple("AB"[i] for i in row) for row in rng.integers(0, 2, size=(2000, 4))]
    found = beyond_noise([(row[:2], row[2:]) for row in pairs])
    assert abs(found.value) < 0.03
    assert found.low < 0 < found.high


def test_beyond_noise_needs_pairs_asked_in_both_orders_and_twice_in_one() -> None:
    assert beyond_noise([("A", "B"), (("A", None), "B"), ("AA", "")]).reason == "no_data"
    assert beyond_noise([("A", "B"), ("AA", "B")]).n == 1
