"""`RatingTable`: ratings by item and judge, coded as whole numbers. What every measure of agreement starts from.

Reads, checks and counts; measures nothing. A missing rating is `None` or a float NaN and never a category; "not
applicable" is a category like any other. `True` is not `1`, and `1` is not `"1"`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from jury.errors import ConfigError
from jury.scales import LARGEST, shown

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Category: TypeAlias = bool | int | float | str


@dataclass(frozen=True, slots=True)
class RatingTable:
    """Ratings of `codes.shape[0]` items by `codes.shape[1]` judges.

    `codes[i, j]` is the index into `categories` of what judge j said of item i, or -1. `positions` are the places of
    the categories on their scale: their rank in a declared scale, else the numbers themselves; None where they have no
    order (texts without a declared scale). `declared` tells whether a scale was given.
    """

    codes: IntArray
    categories: tuple[Category, ...]
    positions: FloatArray | None
    declared: bool

    @property
    def n_judges(self) -> int:
        return int(self.codes.shape[1])

    def counts(self) -> FloatArray:
        """How many judges put each item into each category: shape (items, categories)."""
        items, categories = self.codes.shape[0], len(self.categories)
        rows, columns = np.nonzero(self.codes >= 0)
        flat = rows * categories + self.codes[rows, columns]
        return np.bincount(flat, minlength=items * categories).reshape(items, categories).astype(np.float64)

    def ordered(self, what: str) -> FloatArray:
        """The positions, or `ConfigError` naming `what` needs them: text labels are never put in order by a guess."""
        if self.positions is None:
            raise ConfigError(f"{what} needs the order of the labels: pass scale=[lowest, ..., highest]")
        return self.positions

    def numbers(self, what: str) -> FloatArray:
        """The categories as numbers, or `ConfigError` where they are texts."""
        if any(isinstance(c, str) for c in self.categories):
            found = f"got labels such as {self.categories[0]!r}"
            raise ConfigError(f"{what} needs numbers, {found}; the order of the labels (scale=) is enough for ordinal")
        return np.array([float(c) for c in self.categories], dtype=np.float64)

    def columns(self, first: int, second: int) -> RatingTable:
        """The table of two judges alone."""
        return RatingTable(self.codes[:, [first, second]], self.categories, self.positions, self.declared)


Ratings: TypeAlias = Sequence[Sequence[object]] | NDArray[np.generic] | RatingTable


def is_missing(value: object) -> bool:
    """None and NaN are "no rating"."""
    return value is None or (isinstance(value, float | np.floating) and bool(value != value))


def _key(value: Category) -> tuple[str, Category]:
    kind = "b" if isinstance(value, bool) else "s" if isinstance(value, str) else "n"
    return kind, value


def _check(value: object) -> Category:
    if isinstance(value, np.generic):
        value = cast(object, value.item())
    if isinstance(value, int | float) and not isinstance(value, bool) and not abs(value) <= LARGEST:
        raise ConfigError(f"a rating is a number from {-LARGEST:g} to {LARGEST:g}, got {shown(value)}")
    if isinstance(value, (bool, int, float, str)):
        return value
    raise ConfigError(f"a rating is a text, a number, a boolean or None, got {type(value).__name__}")


def _sort(values: Sequence[Category]) -> tuple[list[Category], bool]:
    """The seen categories in a reproducible order, and whether that order means something."""
    numeric = all(not isinstance(v, str) for v in values)
    mixed = len({_key(v)[0] for v in values}) > 1
    if numeric and not mixed:
        return sorted(values, key=float), True
    return sorted(values, key=lambda v: (_key(v)[0], str(v))), False


def _several(given: object) -> Iterable[object]:
    """Rows, or the entries of one. Raises `ConfigError` for what would be read as others than are meant."""
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)):
        return cast("Iterable[object]", given)
    kind = type(cast("object", given)).__name__
    raise ConfigError(
        "ratings are rows of items with one entry for each judge, such as [['pass', 'fail'], ['pass', None]], got "
        f"{kind}; from lists by judge: list(zip(*ratings.values())), from a data frame: to_numpy()"
    )


def rating_table(ratings: Ratings, *, scale: Sequence[Category] | None = None) -> RatingTable:
    """Code ratings given as rows of items, one column a judge.

    `scale` declares all categories, lowest first; a rating outside it is a `ConfigError`. Without it the categories are
    those seen. Rows of unequal length, and what is no rows (a mapping, a data frame), are a `ConfigError`. An empty
    list is a table of no items.

    >>> table = rating_table([["good", "poor"], [None, "good"]], scale=["poor", "fair", "good"])
    >>> table.codes.tolist()
    [[2, 0], [-1, 2]]
    """
    if isinstance(ratings, RatingTable):
        return ratings
    raw = cast("Iterable[object]", ratings.tolist() if isinstance(ratings, np.ndarray) else ratings)
    rows = [[None if is_missing(v) else _check(v) for v in _several(row)] for row in _several(raw)]
    width = len(rows[0]) if rows else 0
    if any(len(row) != width for row in rows):
        raise ConfigError("every item needs one entry for each judge; use None where a judge did not rate it")
    seen = {_key(v): v for row in rows for v in row if v is not None}
    if scale is None:
        categories, meaningful = _sort(list(seen.values()))
        positions = np.array([float(c) for c in categories], dtype=np.float64) if meaningful else None
    else:
        categories = [_check(v) for v in scale]
        if len({_key(c) for c in categories}) != len(categories):
            raise ConfigError(f"the scale names a category twice: {list(scale)}")
        positions = np.arange(len(categories), dtype=np.float64)
    index = {_key(c): i for i, c in enumerate(categories)}
    outside = [value for key, value in seen.items() if key not in index]
    if outside:
        raise ConfigError(f"rating {outside[0]!r} is not on the declared scale {list(categories)}")
    coded = [[-1 if v is None else index[_key(v)] for v in row] for row in rows]
    codes = np.array(coded, dtype=np.int64).reshape(len(rows), width)
    return RatingTable(codes, tuple(categories), positions, scale is not None)
