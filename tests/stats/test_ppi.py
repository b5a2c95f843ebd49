from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from jury.errors import ConfigError
from jury.stats import ppi_mean, stratified_rate

bits = st.sampled_from([0.0, 1.0])


@given(st.lists(st.tuples(bits, bits), min_size=2, max_size=30), st.lists(bits, min_size=1, max_size=30))
def test_weight_and_special_cases(pairs: list[tuple[float, float]], elsewhere: list[float]) -> None:
    human, judge = [h for h, _ in pairs], [f for _, f in pairs]
    found = ppi_mean(human, judge, elsewhere)
    assert found.weight is not None
    assert 0.0 <= found.weight <= 1.0
    assert found.labels_only.value == pytest.approx(np.mean(human))
    rectified = np.mean(elsewhere) + np.mean(np.array(human) - np.array(judge))
    assert found.ppi.value == pytest.approx(rectified)


def test_a_useless_judge_gets_no_weight() -> None:
    found = ppi_mean([1, 0, 1, 0], [1, 1, 1, 1], [1, 1, 1])
    assert found.weight == 0.0
    assert found.estimate.value == found.labels_only.value == 0.5


def test_no_error_among_the_labels_is_no_certainty() -> None:
    found = ppi_mean([1, 0, 1, 0], [1, 0, 1, 0], [1, 0, 0, 1] * 50)
    assert found.ppi.value == 0.5
    assert (found.ppi.interval, found.ppi.reason) == (None, "no_variation")


def test_equal_sampling_weights_change_nothing_and_unequal_ones_undo_the_draw() -> None:
    human, judge, rest = [1, 1, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0]
    plain, equal = ppi_mean(human, judge, rest), ppi_mean(human, judge, rest, sampling_weights=[7, 7, 7, 7])
    assert plain.estimate.value == pytest.approx(equal.estimate.value)
    assert plain.estimate.se == pytest.approx(equal.estimate.se)
    tilted = ppi_mean(human, judge, rest, sampling_weights=[1, 1, 3, 3])
    assert tilted.labels_only.value == pytest.approx(0.25)


def test_too_few_labels_and_wrong_lists() -> None:
    assert ppi_mean([1], [1], [1]).estimate.reason == "no_data"
    assert ppi_mean([1, 0], [1, 0], []).estimate.reason == "no_data"
    with pytest.raises(ConfigError, match="same items"):
        ppi_mean([1, 0], [1], [1])
    with pytest.raises(ConfigError, match="positive"):
        ppi_mean([1, 0], [1, 0], [1], sampling_weights=[1, 0])
    with pytest.raises(ConfigError, match="finite"):
        ppi_mean([1, float("nan")], [1, 0], [1])


strata = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 500)).map(lambda t: (min(t[:2]), *t[1:])),
    min_size=1,
    max_size=4,
)


@given(strata)
def test_stratified_rate_stays_in_range_and_ignores_the_order_of_classes(rows: list[tuple[int, int, int]]) -> None:
    found = stratified_rate(*zip(*rows, strict=True))
    mirrored = stratified_rate(*zip(*reversed(rows), strict=True))
    if found.value is None:
        assert found.reason == "no_data"
        return
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    assert mirrored.interval == pytest.approx(found.interval)


@given(strata)
def test_stratified_rate_of_fails_mirrors_that_of_passes(rows: list[tuple[int, int, int]]) -> None:
    passed, labelled, items = (list(column) for column in zip(*rows, strict=True))
    found = stratified_rate(passed, labelled, items)
    failed = stratified_rate([n - k for k, n in zip(passed, labelled, strict=True)], labelled, items)
    if found.value is not None:
        assert failed.value == pytest.approx(1 - found.value)
        assert failed.interval == pytest.approx((1 - found.high, 1 - found.low))


def test_a_class_without_labels_is_unknown_and_said_so() -> None:
    found = stratified_rate([9, 0], [10, 0], [80, 20])
    assert found.value == pytest.approx(0.8 * 0.9 + 0.2 * 0.5)
    assert "1 of 2 verdict classes" in found.note
    assert found.high - found.low > 0.2


def test_more_labels_narrow_the_interval() -> None:
    widths = [(lambda e: e.high - e.low)(stratified_rate([9 * m, m], [10 * m, 5 * m], [1000, 500])) for m in (1, 4, 16)]
    assert widths[0] > 1.7 * widths[1] > 2.9 * widths[2]


def test_wrong_counts() -> None:
    with pytest.raises(ConfigError):
        stratified_rate([3], [2], [10])
    with pytest.raises(ConfigError, match="one entry for each class"):
        stratified_rate([1], [2, 3], [10, 4])
    assert stratified_rate([0], [0], [10]).reason == "no_data"


def test_the_interval_is_where_an_independent_fit_puts_it() -> None:
    passed, labelled, shares = np.array([54, 6]), np.array([61, 39]), np.array([0.6, 0.4])
    pure = (54 + 33 + 0.5) / 101
    hits, trials = passed + np.array([pure, 1 - pure]), labelled + 1

    def fall(p: np.ndarray) -> float:
        top = hits / trials
        return float(2 * (hits * np.log(top / p) + (trials - hits) * np.log((1 - top) / (1 - p))).sum())

    def end(side: float) -> float:
        limit = {"type": "ineq", "fun": lambda p: 1.959963984540054**2 - fall(p)}
        return float(
            shares
            @ minimize(lambda p: side * shares @ p, hits / trials, bounds=[(0.01, 0.99)] * 2, constraints=limit).x
        )

    centre, many = float(shares @ (hits / trials)), 10**9  # so many items that their own draw adds nothing
    found = stratified_rate(passed.tolist(), labelled.tolist(), [6 * many, 4 * many])
    assert found.interval == pytest.approx((end(1.0), end(-1.0)), abs=1e-4)
    assert found.low < centre < found.high


def test_a_judge_without_an_error_is_not_certain() -> None:
    found = stratified_rate([15, 0], [15, 10], [600, 400])
    assert found.value == 0.6
    assert found.low < 0.55
    assert found.high > 0.65


classes = st.lists(st.tuples(st.integers(0, 80), st.floats(0, 1), st.integers(0, 2000)), min_size=1, max_size=3)


@given(classes, st.sampled_from([0.5, 0.8, 0.95, 0.999]))
def test_any_counts_have_ends_around_the_value_that_a_higher_level_moves_apart(
    drawn: list[tuple[int, float, int]], level: float
) -> None:
    labels = [n for n, _, _ in drawn]
    passed = [round(share * n) for n, share, _ in drawn]
    items = [n + more for n, _, more in drawn]
    found = stratified_rate(passed, labels, items, level=level)
    if found.value is None:
        assert not sum(labels)
        return
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    wider = stratified_rate(passed, labels, items, level=0.9999)
    assert wider.low <= found.low + 1e-9
    assert wider.high >= found.high - 1e-9
