from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.errors import ConfigError
from jury.stats import (
    brier_score,
    confidence_error,
    confidences,
    coverage_and_accuracy,
    log_loss,
    mean_confidence,
    reliability_table,
)

forecasts = st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0, 1])), min_size=1, max_size=40)


@given(forecasts)
def test_ranges_and_totals(pairs: list[tuple[float, int]]) -> None:
    p, truth = [x for x, _ in pairs], [t for _, t in pairs]
    sure, right = confidences(p, truth)
    table = reliability_table(sure, right)
    assert sum(b.n for b in table) == len(pairs)
    assert all(b.low - 1e-9 <= b.confidence <= b.high + 1e-9 for b in table)
    error = confidence_error(sure, right)
    assert error.value == pytest.approx(sum(b.n * abs(b.gap) for b in table) / len(pairs))
    assert 0 <= brier_score(p, truth).value <= 1


def test_edges_belong_to_the_bin_below() -> None:
    """(lo, hi]: 0.3 is written 0.299999... or 0.300000... by floats, and both mean the bin that ends there."""
    for edge in (0.1, 0.3, 0.6, 0.7, 0.1 + 0.2, 1 - 0.4):
        (found,) = reliability_table([edge], [1])
        assert found.high == pytest.approx(edge)
    (lowest,) = reliability_table([0.0], [1])
    assert (lowest.low, lowest.high) == (0.0, 0.1)


def test_a_perfect_forecast() -> None:
    p = [1.0, 0.0, 1.0]
    assert brier_score(p, [1, 0, 1]).value == log_loss(p, [1, 0, 1]).value == 0.0
    assert confidence_error(*confidences(p, [1, 0, 1])).value == 0.0


def test_impossible_outcomes_have_no_finite_loss() -> None:
    found = log_loss([0.0, 0.5, 1.0], [1, 1, 0])
    assert (found.value, found.reason) == (None, "no_finite_estimate")
    assert "2 outcomes" in found.note


def test_a_coin_that_knows_its_chances_has_little_error_on_many_items() -> None:
    rng = np.random.default_rng(1)
    p = rng.uniform(size=20_000)
    truth = (rng.uniform(size=20_000) < p).astype(int)
    sure, right = confidences(p.tolist(), truth.tolist())
    assert confidence_error(sure, right).value < 0.015
    small = confidence_error(sure[:40], right[:40], seed=1)
    assert small.value > 0.03  # biased upwards on few items, as documented
    assert small.interval is not None


def test_coverage_falls_with_the_threshold() -> None:
    points = coverage_and_accuracy([0.9, 0.95, 0.6, 0.7], [1, 1, 0, 1], (0.5, 0.9, 0.99))
    assert [p.coverage.value for p in points] == [1.0, 0.5, 0.0]
    assert [p.accuracy.value for p in points] == [0.75, 1.0, None]


def test_nothing_and_nonsense() -> None:
    assert brier_score([], []).reason == log_loss([], []).reason == "no_data"
    assert confidence_error([], []).reason == mean_confidence([]).reason == "no_data"
    for p, truth in (([1.2], [1]), ([0.5], [2]), ([0.5], []), ([float("nan")], [1])):
        with pytest.raises(ConfigError):
            brier_score(p, truth)
    with pytest.raises(ConfigError, match="bin"):
        confidence_error([0.5], [1], bins=0)
