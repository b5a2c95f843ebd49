from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.stats import flip_rate

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
