"""Properties of the measures of agreement; their values are in the conformance cases and the docstrings."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.errors import ConfigError
from jury.stats import (
    Estimate,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    mean_agreement,
    pair_matrix,
    percent_agreement,
    randolph_kappa,
)

SCALE = [1, 2, 3, 4]
Rows = list[list[int | None]]
tables = st.integers(2, 5).flatmap(
    lambda judges: st.lists(
        st.lists(st.sampled_from([*SCALE, None]), min_size=judges, max_size=judges), min_size=1, max_size=8
    )
)
MEASURES: dict[str, Callable[[Rows], Estimate]] = {
    "percent": percent_agreement,
    "pooled": lambda rows: percent_agreement(rows, pooled=True),
    "mean": mean_agreement,
    "fleiss": fleiss_kappa,
    "randolph": lambda rows: randolph_kappa(rows, scale=SCALE),
    "ac1": lambda rows: gwet_ac(rows, scale=SCALE),
    "ac2": lambda rows: gwet_ac(rows, scale=SCALE, weights="quadratic"),
    "ac2_ordinal": lambda rows: gwet_ac(rows, scale=SCALE, weights="ordinal"),
    "alpha": krippendorff_alpha,
    "alpha_ordinal": lambda rows: krippendorff_alpha(rows, level="ordinal"),
    "alpha_interval": lambda rows: krippendorff_alpha(rows, level="interval"),
}


def close(a: Estimate, b: Estimate) -> bool:
    if a.value is None or b.value is None:
        return a.value is b.value and a.reason == b.reason
    return a.value == pytest.approx(b.value, abs=1e-9)


@pytest.mark.parametrize("name", MEASURES)
@given(rows=tables, seed=st.integers(0, 99))
def test_order_of_items_and_judges_does_not_matter(name: str, rows: Rows, seed: int) -> None:
    rng = random.Random(seed)
    columns = list(zip(*rows, strict=True))
    rng.shuffle(columns)
    other = [list(row) for row in zip(*columns, strict=True)]
    rng.shuffle(other)
    assert close(MEASURES[name](rows), MEASURES[name](other))


@pytest.mark.parametrize("name", MEASURES)
@given(rows=tables)
def test_range(name: str, rows: Rows) -> None:
    found = MEASURES[name](rows)
    share, complete = name in ("percent", "pooled", "mean"), all(None not in row for row in rows)
    if found.value is None:
        assert found.reason in ("no_data", "no_overlap", "no_variation")
        return
    assert found.value <= 1 + 1e-12
    if share or (complete and name in ("fleiss", "randolph", "ac1")):  # the others can fall below -1
        assert found.value >= (0 if share else -1) - 1e-12


@pytest.mark.parametrize("name", MEASURES)
@given(truth=st.lists(st.sampled_from(SCALE), min_size=1, max_size=8), judges=st.integers(2, 4))
def test_identical_raters_agree_fully_or_without_variation(name: str, truth: list[int], judges: int) -> None:
    found = MEASURES[name]([[value] * judges for value in truth])
    corrected_by_margins = name == "fleiss" or name.startswith("alpha")
    if corrected_by_margins and len(set(truth)) == 1:
        assert (found.value, found.reason) == (None, "no_variation")
    else:
        assert found.value == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_degenerate_tables(name: str) -> None:
    measure = MEASURES[name]
    assert measure([]).reason == "no_data"
    assert measure([[None, None]]).reason == "no_data"
    assert measure([[1], [2]]).reason == "too_few_raters"
    assert measure([[1, None], [None, 2]]).reason == "no_overlap"


@pytest.mark.parametrize("name", ["fleiss", "randolph", "ac1", "ac2", "alpha", "alpha_ordinal", "percent"])
@given(rows=tables)
def test_items_that_nobody_rated_change_nothing(name: str, rows: Rows) -> None:
    assert close(MEASURES[name](rows), MEASURES[name]([*rows, [None] * len(rows[0])]))


@given(st.lists(st.tuples(st.sampled_from(SCALE), st.sampled_from(SCALE)), min_size=1, max_size=20))
def test_two_raters_swapped(pairs: list[tuple[int, int]]) -> None:
    a, b = [list(side) for side in zip(*pairs, strict=True)]
    for weights in ("identity", "linear", "quadratic"):
        one = cohen_kappa(a, b, scale=SCALE, weights=weights)
        assert close(one, cohen_kappa(b, a, scale=SCALE, weights=weights))
        if one.interval is not None:
            assert one.interval[0] <= one.value <= one.interval[1]


def test_weights_by_distance_equal_the_declared_scale() -> None:
    """Numbers without a scale: partial agreement follows their distance, so that unused steps do not matter."""
    a, b = [1, 1, 2, 5, 2, 5], [1, 2, 2, 5, 5, 5]
    for weights in ("linear", "quadratic"):
        assert close(cohen_kappa(a, b, weights=weights), cohen_kappa(a, b, scale=[1, 2, 3, 4, 5], weights=weights))


def test_full_agreement_of_two_has_no_interval() -> None:
    found = cohen_kappa(["P", "F", "P"], ["P", "F", "P"])
    assert (found.value, found.interval, found.reason) == (1.0, None, "no_variation")


def test_text_labels_are_never_put_in_order() -> None:
    with pytest.raises(ConfigError, match="order"):
        cohen_kappa(["low", "high"], ["low", "mid"], weights="linear")
    with pytest.raises(ConfigError, match="order"):
        gwet_ac([["low", "high"]], weights="quadratic")
    with pytest.raises(ConfigError, match="weights are"):
        gwet_ac([[1, 2]], weights="cubic")


def test_lists_of_different_items_are_refused() -> None:
    with pytest.raises(ConfigError, match="same items"):
        cohen_kappa(["P"], ["P", "F"])


def test_one_category_needs_a_scale_to_count_chance() -> None:
    rows = [["P", "P"], ["P", "P"]]
    assert gwet_ac(rows).reason == randolph_kappa(rows).reason == "no_variation"
    assert gwet_ac(rows, scale=["F", "P"]).value == randolph_kappa(rows, scale=["F", "P"]).value == 1.0


@given(tables)
def test_pair_matrix_has_the_kappa_of_each_pair(rows: Rows) -> None:
    matrix = pair_matrix(rows)
    columns = list(zip(*rows, strict=True))
    for i, j in itertools.combinations(range(len(columns)), 2):
        assert close(matrix.of(j, i), cohen_kappa(columns[i], columns[j]))


def test_the_odd_judge_shows_in_the_pair_matrix() -> None:
    rows = [["P", "P", "F"], ["F", "F", "P"], ["P", "P", "F"], ["F", "F", "F"]]
    matrix = pair_matrix(rows, stat="percent")
    assert [matrix.mean_with_others(i).value for i in range(3)] == [0.625, 0.625, 0.25]
    assert pair_matrix([["P", None], [None, "F"]]).mean_with_others(0).reason == "no_overlap"
