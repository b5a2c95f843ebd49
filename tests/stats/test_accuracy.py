from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.errors import ConfigError
from jury.stats import Confusion, confusion, judge_accuracy

verdicts = st.sampled_from(["PASS", "FAIL", "NA", None])


@given(st.lists(st.tuples(verdicts, verdicts), max_size=30))
def test_every_row_is_counted_once(rows: list[tuple[str | None, str | None]]) -> None:
    table = confusion([judge for judge, _ in rows], [human for _, human in rows])
    assert table.n + table.outside + table.dropped == len(rows)
    assert table.tp == rows.count(("PASS", "PASS"))
    assert table.fn == rows.count(("FAIL", "PASS"))


def test_a_class_without_labels() -> None:
    found = judge_accuracy(Confusion(tp=3, fn=1, fp=0, tn=0))
    assert found.tnr.reason == found.balanced_accuracy.reason == "no_data"
    assert found.youden is None
    assert found.accuracy.value == 0.75
    assert found.kappa.value == 0.0  # one class alone: agreement is what chance gives


def test_balanced_accuracy_is_the_mean_of_both_rates() -> None:
    found = judge_accuracy(Confusion(tp=9, fn=1, fp=5, tn=15))
    assert found.balanced_accuracy.value == pytest.approx((0.9 + 0.75) / 2)
    assert 0 < found.balanced_accuracy.low < found.balanced_accuracy.value < found.balanced_accuracy.high < 1
    assert found.youden == pytest.approx(0.65)


def test_lists_of_different_items() -> None:
    with pytest.raises(ConfigError, match="same items"):
        confusion(["PASS"], [])
