"""Weights of judges: learned from what they should be learned from, and a plurality with a word where they cannot."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury.errors import ConfigError, DataError
from jury.results import Verdict, Vote
from jury.weighing import (
    METHODS,
    Fitted,
    VoteTable,
    fit,
    fit_scores,
    plurality_of,
    vote_table,
)


def pairs(n: int = 120, judges: int = 9, good: int = 3, seed: int = 0) -> tuple[VoteTable, np.ndarray]:
    """Pairs in both orders: `good` judges follow the content (85% right), the others mostly the first slot."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    first, second = np.zeros((n, judges), dtype=np.int64), np.zeros((n, judges), dtype=np.int64)
    for j in range(judges):
        right = rng.random(n) < (0.85 if j < good else 0.4)
        view = np.where(right, truth, 1 - truth)
        slot = rng.random(n) < (0.05 if j < good else 0.6)
        first[:, j] = np.where(slot, 0, view)
        second[:, j] = np.where(slot, 1, view)
    names = tuple(f"judge{j}" for j in range(judges))
    return VoteTable(names, ("A", "B", "tie"), first, second, True), truth


def single(n: int = 300, rates: tuple[float, ...] = (0.9, 0.7, 0.6, 0.6, 0.55), seed: int = 1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    codes = np.stack([np.where(rng.random(n) < r, truth, 1 - truth) for r in rates], axis=1)
    return VoteTable(tuple("abcde"[: len(rates)]), (False, True), codes), truth


def accuracy(fitted: Fitted, table: VoteTable, truth: np.ndarray) -> float:
    return float((fitted.verdicts(table) == truth).mean())


def labels_of(table: VoteTable, truth: np.ndarray, n: int) -> list:
    return [table.labels[int(t)] if i < n else None for i, t in enumerate(truth)]


def test_consistency_finds_the_judges_that_follow_the_content():
    table, truth = pairs()
    found = fit("consistency", table)
    assert (found.method, found.source, found.note) == ("consistency", "votes only", "")
    assert min(found.weights[f"judge{j}"] for j in range(3)) > max(found.weights[f"judge{j}"] for j in range(3, 9))
    assert accuracy(found, table, truth) > accuracy(plurality_of(table), table, truth) + 0.1


def test_consistency_says_nothing_where_most_judges_never_change_with_the_order():
    table, _ = pairs()
    steady = VoteTable(table.judges, table.labels, table.first, table.first.copy(), True)
    found = fit("consistency", steady)
    assert found.method == "plurality"
    assert "never change with the order" in found.note
    assert len(set(found.weights.values())) == 1


@pytest.mark.parametrize("method", METHODS)
def test_too_little_to_learn_from_is_a_plurality_with_a_word(method):
    table = vote_table([{"x": True, "y": True, "z": False}], [False, True])
    found = fit(method, table, [True])
    assert found.method == "plurality"
    assert found.asked == method
    assert found.source == "none"
    assert found.note
    assert found.verdicts(table).tolist() == [1]
    empty = fit(method, vote_table([], [False, True]), [])
    assert empty.note


def test_dawid_skene_is_not_fitted_on_one_order_of_pairs():
    table, _ = pairs()
    one = VoteTable(table.judges, table.labels, table.first, None, True)
    assert "slots" in fit("dawid_skene", one).note


def test_dawid_skene_that_overturns_many_verdicts_is_not_used():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 300)
    shared = np.where(rng.random(300) < 0.5, truth, 1 - truth)  # three judges who say the same, at chance
    codes = np.stack([np.where(rng.random(300) < 0.95, shared, 1 - shared) for _ in range(2)]
                     + [np.where(rng.random(300) < 0.7, truth, 1 - truth) for _ in range(3)], axis=1)  # fmt: skip
    table = VoteTable(tuple("abcde"), (False, True), codes)
    found = fit("dawid_skene", table)
    assert found.method == "plurality"
    assert "overturns" in found.note


def test_labels_find_the_best_judge_and_say_how_sure():
    table, truth = single()
    found = fit("labelled", table, labels_of(table, truth, 60))
    assert (found.method, found.source, found.n_labels) == ("labelled", "labels", 60)
    assert max(found.weights, key=lambda name: found.weights[name]) == "a"
    rest = table.rows(range(60, 300))
    assert accuracy(found, rest, truth[60:]) >= 0.87
    sure = found.posterior(rest).max(axis=1)
    assert abs(float(sure.mean()) - accuracy(found, rest, truth[60:])) < 0.1


def test_labels_of_three_kinds():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 200)
    codes = np.stack([np.where(rng.random(200) < r, truth, rng.integers(0, 3, 200)) for r in (0.9, 0.3, 0.3)], axis=1)
    table = VoteTable(("a", "b", "c"), ("PASS", "FAIL", "NA"), codes)
    found = fit("labelled", table, labels_of(table, truth, 50))
    assert found.source == "labels"
    assert found.weights["a"] > 2 * max(found.weights["b"], found.weights["c"])
    assert accuracy(found, table, truth) > 0.85


def test_calibrated_moves_the_threshold_of_a_lenient_panel():
    rng = np.random.default_rng(5)
    truth = (rng.random(400) < 0.4).astype(int)
    codes = np.stack([np.where(truth == 1, rng.random(400) < 0.95, rng.random(400) < 0.5) for _ in range(5)], axis=1)
    table = VoteTable(tuple("abcde"), (False, True), codes.astype(np.int64))
    found = fit("calibrated", table, labels_of(table, truth, 100))
    assert found.source == "labels"
    assert len({round(w, 12) for w in found.weights.values()}) == 1
    assert accuracy(found, table, truth) > accuracy(plurality_of(table), table, truth)


def test_auto_takes_labels_first_and_else_what_the_votes_bear():
    table, truth = single()
    assert fit("auto", table, labels_of(table, truth, 40)).method == "labelled"
    assert fit("auto", table, labels_of(table, truth, 24)).method in ("dawid_skene", "plurality")
    both, _ = pairs()
    assert (fit("auto", both).method, fit("auto", both).asked) == ("consistency", "auto")


def vote(judge: str, value: bool | None) -> Vote:
    return Vote(judge, Verdict("abstained") if value is None else Verdict("scored", value))


def test_as_an_aggregator_it_weighs_known_judges_and_strangers():
    table, truth = single()
    found = fit("labelled", table, labels_of(table, truth, 100))
    votes = [vote("a", True), vote("b", False), vote("c", None)]
    value, sure = found.weigh(votes)
    assert value is True
    assert sure is not None
    assert 0.5 < sure < 1
    assert found(votes) is True
    assert found([vote("nobody knows me", True)]) in (True, None)
    assert found.weigh([vote("a", None)]) == (None, None)
    assert plurality_of(table).weigh([vote("a", True), vote("b", False)]) == (None, None)


def test_one_item_and_a_table_agree():
    table, truth = single()
    found = fit("labelled", table, labels_of(table, truth, 60))
    chance = found.posterior(table)
    for i in range(20):
        votes = [vote(j, bool(table.first[i, k])) for k, j in enumerate(table.judges)]
        value, sure = found.weigh(votes)
        assert value == bool(found.verdicts(table)[i])
        assert sure == pytest.approx(float(chance[i].max()))


@pytest.mark.parametrize("method", METHODS)
def test_weights_go_to_json_and_back(method):
    table, truth = single()
    found = fit(method, table, labels_of(table, truth, 60))
    assert Fitted.from_dict(json.loads(json.dumps(found.to_dict()))) == found


@pytest.mark.parametrize("broken", [{}, {"format": 2}, {"format": 1, "method": "auto"}])
def test_foreign_weights_are_refused(broken):
    with pytest.raises(DataError):
        Fitted.from_dict(broken)


def test_what_is_not_known_is_refused():
    table, _ = single()
    with pytest.raises(ConfigError, match="use one of"):
        fit("wisdom", table)
    with pytest.raises(ConfigError, match="none of"):
        fit("labelled", table, ["maybe"] * table.n)
    with pytest.raises(ConfigError, match="none of"):
        vote_table([{"x": "maybe"}], ["yes", "no"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from([-1, 0, 1]), min_size=3, max_size=3), min_size=1, max_size=40), st.data())
def test_no_method_ever_fails_or_leaves_the_labels(codes, data):
    table = VoteTable(("a", "b", "c"), (False, True), np.array(codes, dtype=np.int64))
    truth = data.draw(st.lists(st.sampled_from([None, False, True]), min_size=len(codes), max_size=len(codes)))
    for method in METHODS:
        found = fit(method, table, truth)
        assert set(found.verdicts(table).tolist()) <= {-1, 0, 1}
        assert np.isfinite(found.log_odds(table)).all()
        assert (found.source == "labels") == (found.n_labels > 0)


def test_scores_are_mapped_to_peoples_scale():
    rng = np.random.default_rng(2)
    human = rng.integers(1, 6, 200).astype(float)
    scores = np.stack([np.clip(human + rng.normal(1.0, 0.7, 200), 1, 5) for _ in range(4)], axis=1)
    scores[0, 0] = np.nan
    mapped = fit_scores(scores[:60], human[:60], low=1, high=5)
    raw = np.abs(np.nanmean(scores[60:], axis=1) - human[60:]).mean()
    assert np.abs(mapped(scores[60:]) - human[60:]).mean() < raw - 0.1
    with pytest.raises(ConfigError, match="25 are needed"):
        fit_scores(scores[:10], human[:10], low=1, high=5)


def test_the_package_does_not_load_weights_at_once():
    code = "import jury, sys; assert 'jury.weighing' not in sys.modules and 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
