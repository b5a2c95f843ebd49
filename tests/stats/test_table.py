from __future__ import annotations

import math

import numpy as np
import pytest

from jury.errors import ConfigError
from jury.stats import rating_table


def test_true_is_not_1_and_1_is_not_text() -> None:
    table = rating_table([[True, 1, "1"], [True, 1.0, "1"]])
    assert len(table.categories) == 3
    assert table.positions is None  # no order among booleans, numbers and texts


def test_none_and_nan_are_no_rating() -> None:
    assert rating_table([[None, math.nan, 2.0]]).codes.tolist() == [[-1, -1, 0]]


def test_numpy_ratings() -> None:
    table = rating_table(np.array([[1.0, np.nan], [3.0, 1.0]]))
    assert table.codes.tolist() == [[0, -1], [1, 0]]
    assert table.positions is not None
    assert table.positions.tolist() == [1.0, 3.0]
    assert rating_table([[np.int64(3), np.str_("x")]]).categories == (3, "x")


def test_a_declared_scale_counts_ranks() -> None:
    table = rating_table([["b"]], scale=["c", "b", "a"])
    assert table.codes.tolist() == [[1]]
    assert table.ordered("this").tolist() == [0.0, 1.0, 2.0]


def test_counts_leave_missing_ratings_out() -> None:
    table = rating_table([["a", "a", "b"], [None, None, None], ["b", None, "b"]])
    assert table.counts().tolist() == [[2.0, 1.0], [0.0, 0.0], [0.0, 2.0]]


@pytest.mark.parametrize(
    ("ratings", "scale", "says"),
    [
        ([["a"], ["a", "b"]], None, "one entry for each judge"),
        ([["a"]], ["b"], "not on the declared scale"),
        ([["a"]], ["a", "a"], "twice"),
        ([[["a"]]], None, "list"),
    ],
)
def test_what_cannot_be_coded_is_named(ratings: list[list[object]], scale: list[str] | None, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        rating_table(ratings, scale=scale)


def test_texts_have_no_order_and_no_numbers() -> None:
    table = rating_table([["low", "high"]])
    with pytest.raises(ConfigError, match="order of the labels"):
        table.ordered("weighted kappa")
    with pytest.raises(ConfigError, match=r"needs numbers.*order of the labels"):
        table.numbers("interval alpha")


def test_no_items() -> None:
    assert rating_table([]).codes.shape == (0, 0)


class Frame:
    """Iterates as a data frame does: over the names of its columns."""

    def __iter__(self):
        return iter(["ann", "ben"])


@pytest.mark.parametrize(
    "wrong",
    [{"ann": [1, 2], "ben": [1, 2]}, ["pass", "fail"], [{"ann": 1, "ben": 2}], "pf", 3, np.array([1, 2]), Frame()],
)
def test_what_is_no_rows_is_refused_with_the_way_out(wrong):
    with pytest.raises(ConfigError, match=r"one entry for each judge.*zip\(\*ratings.values\(\)\)"):
        rating_table(wrong)


def test_rows_may_be_any_iterables():
    by_judge = {"ann": [1, 2], "ben": [1, None]}
    assert rating_table(zip(*by_judge.values(), strict=True)).codes.tolist() == [[0, 0], [1, -1]]


@pytest.mark.parametrize("value", [math.inf, -math.inf, 1e200, 10**400, np.float64("inf")])
def test_a_rating_is_a_number_that_can_be_squared(value):
    with pytest.raises(ConfigError, match="a rating is a number from"):
        rating_table([[1, value]])


def test_nan_of_any_size_is_no_rating():
    assert rating_table([[np.float32("nan"), np.float16("nan"), 1]]).codes.tolist() == [[-1, -1, 0]]
