from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.errors import ConfigError
from jury.stats import Confusion, rogan_gladen, rogan_gladen_bootstrap, verdict_rates

few = st.integers(0, 40)


def test_rates_and_their_bounds() -> None:
    rates = verdict_rates(6, 2, na=1, inconclusive=1, errors=2)
    assert rates.pass_rate.value == 0.75
    assert rates.coverage.value == pytest.approx(9 / 12)
    assert rates.bounds == (6 / 11, 9 / 11)  # three unknown items: all failed, or all passed


def test_rates_without_a_base() -> None:
    nothing = verdict_rates(0, 0)
    assert nothing.pass_rate.reason == nothing.error_rate.reason == "no_data"
    assert nothing.bounds is None
    only_errors = verdict_rates(0, 0, errors=3)
    assert only_errors.pass_rate.value is None
    assert only_errors.error_rate.value == 1.0
    assert only_errors.bounds == (0.0, 1.0)
    with pytest.raises(ConfigError):
        verdict_rates(-1, 2)


@given(few, few, few, few, st.integers(0, 100), st.booleans())
def test_correction_stays_in_range_and_holds_its_value(
    tp: int, fn: int, fp: int, tn: int, passed: int, adjusted: bool
) -> None:
    found = rogan_gladen(Confusion(tp, fn, fp, tn), passed, 100, adjusted=adjusted)
    if found.estimate.value is None:
        assert found.estimate.reason in ("no_data", "no_better_than_chance")
        assert found.unclipped is None
    else:
        assert 0.0 <= found.estimate.low <= found.estimate.value <= found.estimate.high <= 1.0


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 100))
def test_a_judge_without_errors_needs_no_correction(n_pass: int, n_fail: int, passed: int) -> None:
    table = Confusion(tp=n_pass, fn=0, fp=0, tn=n_fail)
    found, delta = rogan_gladen(table, passed, 100), rogan_gladen(table, passed, 100, adjusted=False)
    assert found.estimate.value == pytest.approx(passed / 100)
    # Few labels without an error do not prove that there are none: the adjusted interval knows, the delta one does not.
    assert found.estimate.high - found.estimate.low >= delta.estimate.high - delta.estimate.low - 0.02


def test_impossible_rate_is_clipped_and_said_so() -> None:
    found = rogan_gladen(Confusion(tp=18, fn=2, fp=6, tn=14), 10, 100)
    assert found.unclipped == pytest.approx((0.1 + 0.7 - 1) / 0.6)
    assert found.estimate.value == 0.0
    assert "clipped" in found.estimate.note


def test_labels_of_one_class_alone() -> None:
    assert rogan_gladen(Confusion(5, 5, 0, 0), 10, 20).estimate.reason == "no_data"
    assert rogan_gladen(Confusion(5, 5, 1, 9), 0, 0).estimate.reason == "no_data"
    with pytest.raises(ConfigError):
        rogan_gladen(Confusion(5, 5, 1, 9), 30, 20)


def test_bootstrap_of_a_weak_judge_widens_instead_of_dropping() -> None:
    weak = Confusion(tp=7, fn=5, fp=5, tn=7)
    found = rogan_gladen_bootstrap(weak, 50, 100, seed=1, replicates=4000)
    assert "no better than chance" in found.estimate.note
    assert found.estimate.interval == (0.0, 1.0)
    assert found == rogan_gladen_bootstrap(weak, 50, 100, seed=1, replicates=4000)
    assert rogan_gladen_bootstrap(Confusion(5, 5, 6, 4), 30, 60, seed=1).estimate.reason == "no_better_than_chance"
