"""Weights in a live jury: confidences with their source, and a plurality with a note where nothing is fitted."""

from __future__ import annotations

import numpy as np
import pytest

from jury import llm_jury, llm_jury_pairwise
from jury.errors import ConfigError
from jury.results import Comparison, PanelResult
from jury.weighing import VoteTable, fit


def x(output):
    return "good" in output


def y(output):
    return False


def z(output):
    return False


def fitted():
    truth = np.arange(120) % 2
    codes = np.stack([truth, np.zeros(120, int), np.where(np.arange(120) % 3 == 0, 1 - truth, truth)], axis=1)
    return fit("labelled", VoteTable(("x", "y", "z"), (False, True), codes), [bool(t) for t in truth])


def test_a_fitted_aggregator_weighs_and_says_how_sure():
    jury = llm_jury(criteria="good", judges=[x, y, z], aggregator=fitted())
    result = jury.judge_sync(input="?", output="good")
    assert result.passed is True  # against two judges that say no
    assert result.confidence_source == "labels"
    assert 0.5 < result.confidence < 1
    assert PanelResult.from_json(result.to_json()) == result


def test_a_name_without_a_fit_is_a_plurality_that_says_so():
    result = llm_jury(criteria="good", judges=[x, y, z], aggregator="labelled").judge_sync(input="?", output="good")
    assert result.passed is False
    assert (result.confidence, result.confidence_source) == (None, "none")
    assert any("not fitted yet" in note for note in result.notes)
    plain = llm_jury(criteria="good", judges=[x, y, z]).judge_sync(input="?", output="good")
    assert plain.confidence_source is None
    assert "confidence" not in plain.to_dict()


def test_weights_of_other_verdicts_are_refused():
    with pytest.raises(ConfigError, match="the weights are of verdicts"):
        llm_jury(criteria="good", judges=[x], labels=["PASS", "FAIL"], aggregator=fitted())


def test_pairs():
    def first(response_a, response_b):
        return "A"

    def longer(response_a, response_b):
        return "A" if len(response_a) > len(response_b) else "B"

    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    flat = np.zeros(60, int)
    table = VoteTable(
        ("first", "longer"), ("A", "B", "tie"), np.stack([flat, truth], 1), np.stack([flat + 1, truth], 1), True
    )
    found = fit("consistency", table)
    assert found.method == "plurality"  # one of two never changes with the order: half of the panel
    jury = llm_jury_pairwise(criteria="longer", judges=[first, longer], aggregator="auto", min_successful_judges=1)
    result = jury.compare_sync(question="?", response_a="aaa", response_b="b")
    assert result.winner == "A"
    assert result.confidence_source == "none"
    assert Comparison.from_json(result.to_json()) == result
    weighed = llm_jury_pairwise(criteria="longer", judges=[first, longer], aggregator=found, min_successful_judges=1)
    assert weighed.compare_sync(question="?", response_a="a", response_b="bbb").winner == "B"
