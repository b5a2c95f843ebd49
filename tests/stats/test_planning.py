from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from jury.errors import ConfigError
from jury.stats import (
    chance_to_see_flip,
    clopper_pearson,
    items_for_comparison,
    labels_for_half_width,
    largest_rate_without_failure,
    mcnemar_power,
    pass_rate_false_alarm,
    random_labels_for_class,
    wilson,
)


@given(st.floats(0.0, 1.0), st.floats(0.02, 0.3))
def test_the_planned_number_of_labels_is_enough_and_one_less_is_not(p: float, half_width: float) -> None:
    n = labels_for_half_width(p, half_width)

    def half(size: int) -> float:
        ends = wilson(round(p * size), size).interval
        assert ends is not None
        return (ends[1] - ends[0]) / 2

    assert all(half(size) <= half_width for size in range(n, n + 25))
    assert n == 1 or half(n - 1) > half_width


def test_no_failure_is_the_one_sided_exact_bound() -> None:
    for n in (1, 20, 300):
        one_sided = clopper_pearson(0, n, level=0.9).high
        assert largest_rate_without_failure(n) == pytest.approx(one_sided, abs=1e-9)


def test_power_by_enumeration() -> None:
    n, a, b = 12, 0.5, 0.1
    total = sum(
        reference.multinomial.pmf([i, j, n - i - j], n, [a, b, 1 - a - b])
        for i in range(n + 1)
        for j in range(n + 1 - i)
        if i + j and reference.binomtest(i, i + j).pvalue <= 0.05
    )
    assert mcnemar_power(n, a, b) == pytest.approx(total, abs=1e-9)
    assert mcnemar_power(10, 0.0, 0.0) == 0.0


def test_the_planned_comparison_has_about_its_power() -> None:
    n = items_for_comparison(0.2, 0.1)
    assert mcnemar_power(n, 0.2, 0.1) == pytest.approx(0.8, abs=0.05)
    assert items_for_comparison(0.1, 0.2) == n


def test_false_alarm_of_a_bare_threshold() -> None:
    assert pass_rate_false_alarm(0.92, 0.9, 50) == pytest.approx(reference.binom.cdf(44, 50, 0.92))
    assert pass_rate_false_alarm(1.0, 1.0, 5) == 0.0
    assert pass_rate_false_alarm(0.5, 0.0, 5) == 0.0


def test_flips_are_seen_more_often_in_more_runs() -> None:
    assert chance_to_see_flip(0.1, 1) == pytest.approx(0.0)
    assert chance_to_see_flip(0.1, 3) < chance_to_see_flip(0.1, 5)


def test_wrong_arguments() -> None:
    for call in (
        lambda: labels_for_half_width(1.2, 0.1),
        lambda: labels_for_half_width(0.5, 0.0),
        lambda: random_labels_for_class(5, 0.0),
        lambda: largest_rate_without_failure(0),
        lambda: chance_to_see_flip(0.1, 0),
        lambda: items_for_comparison(0.1, 0.1),
        lambda: mcnemar_power(0, 0.1, 0.1),
        lambda: mcnemar_power(10, 0.7, 0.7),
        lambda: pass_rate_false_alarm(0.5, 0.5, 0),
    ):
        with pytest.raises(ConfigError):
            call()
