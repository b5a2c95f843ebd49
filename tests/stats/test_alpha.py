"""Krippendorff's alpha against its definition: all pairs of values, counted one by one."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.errors import ConfigError
from jury.stats import agreement_interval, alpha_interval, gwet_ac, krippendorff_alpha, rating_table

Rows = list[list[int | None]]
tables = st.lists(st.lists(st.sampled_from([1, 2, 4, None]), min_size=3, max_size=3), min_size=1, max_size=7)


def by_pairs(rows: Rows, level: str) -> float | None:
    """1 - D_o / D_e from the list of all ordered pairs; the ordinal distance straight from its definition."""
    units = [[v for v in row if v is not None] for row in rows]
    units = [unit for unit in units if len(unit) >= 2]
    values = [v for unit in units for v in unit]
    count = {v: values.count(v) for v in values}

    def distance(a: int, b: int) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return float(a - b) ** 2
        low, high = min(a, b), max(a, b)
        return (sum(n for v, n in count.items() if low <= v <= high) - (count[low] + count[high]) / 2) ** 2

    observed = sum(distance(a, b) / (len(unit) - 1) for unit in units for a, b in itertools.permutations(unit, 2))
    expected = sum(distance(a, b) for a, b in itertools.permutations(values, 2))
    if not expected:
        return None
    return 1 - (observed / len(values)) / (expected / (len(values) * (len(values) - 1)))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@given(rows=tables)
def test_against_all_pairs(level: str, rows: Rows) -> None:
    found, wanted = krippendorff_alpha(rows, level=level).value, by_pairs(rows, level)
    assert (found is None) == (wanted is None)
    if found is not None:
        assert found == pytest.approx(wanted, abs=1e-9)


@given(tables, st.integers(-5, 5), st.sampled_from([1, 3, 100]))
def test_interval_alpha_ignores_shift_and_unit(rows: Rows, shift: int, unit: int) -> None:
    moved = [[None if v is None else unit * v + 1_000_000 * shift for v in row] for row in rows]
    one, other = krippendorff_alpha(rows, level="interval").value, krippendorff_alpha(moved, level="interval").value
    assert (one is None) == (other is None)
    if one is not None:
        assert one == pytest.approx(other, abs=1e-7)


def test_levels_need_what_they_use() -> None:
    with pytest.raises(ConfigError, match="order"):
        krippendorff_alpha([["a", "b"]], level="ordinal")
    with pytest.raises(ConfigError, match="numbers"):
        krippendorff_alpha([["a", "b"]], level="interval", scale=["a", "b"])
    with pytest.raises(ConfigError, match="level of measurement"):
        krippendorff_alpha([[1, 2]], level="ratio")


RATINGS = [["P", "P"], ["P", "F"], ["F", "F"], ["P", "P"], ["F", "F"], ["F", "P"], ["P", "P"], ["F", "F"]]


def test_bootstrap_is_repeatable_and_says_how_small_the_sample_is() -> None:
    one, other = alpha_interval(RATINGS, seed=3), alpha_interval(RATINGS, seed=3)
    assert one == other
    assert one != alpha_interval(RATINGS, seed=4)
    assert "only 8 independent units" in one.note
    assert one.value == krippendorff_alpha(RATINGS).value


def test_bootstrap_over_clusters_is_wider_for_copies() -> None:
    """Each item four times over: as clusters, the interval stays that of the eight; as items, it pretends to 32."""
    copies, names = RATINGS * 4, list(range(8)) * 4
    alone, plain, clustered = (
        alpha_interval(RATINGS, seed=1),
        alpha_interval(copies, seed=1),
        alpha_interval(copies, seed=1, clusters=names),
    )
    widths = [found.high - found.low for found in (alone, plain, clustered)]
    assert widths[1] < 0.7 * widths[0]
    assert widths[2] == pytest.approx(widths[0], rel=0.15)


def test_bootstrap_of_what_is_undefined() -> None:
    assert alpha_interval([["P", "P"]] * 9, seed=1).reason == "no_variation"
    assert agreement_interval([["P"]], krippendorff_alpha, seed=1).reason == "too_few_raters"
    drops = alpha_interval([["P", "P"]] * 5 + [["P", "F"]], seed=1)
    assert "undefined and dropped" in drops.note


def test_agreement_interval_keeps_the_declared_scale() -> None:
    table = rating_table(RATINGS, scale=["F", "P", "NA"])
    found = agreement_interval(table, gwet_ac, seed=2)
    assert found.value == gwet_ac(table).value
    assert found.low < found.value < found.high
