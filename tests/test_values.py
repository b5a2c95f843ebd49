"""JSON values as data and as text: equal to the standard library's, and clear about what is no data."""

from __future__ import annotations

import dataclasses
import datetime
import json
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import numpy as np
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.errors import DataError
from jury.values import data_of, plain, pretty, show

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=20
)


@dataclasses.dataclass
class Point:
    x: int
    tags: tuple[str, ...] = ("a",)


class Model(pydantic.BaseModel):
    name: str
    when: datetime.date


@given(JSON)
def test_pretty_is_the_standard_librarys_indented_json(value: Any) -> None:
    assert pretty(value) == json.dumps(value, indent=2, ensure_ascii=False)


@given(JSON)
def test_data_that_is_plain_is_returned_as_it_is(value: Any) -> None:
    assert plain(value) is value


@pytest.mark.parametrize("key", [1, 1.5, True, None])
def test_keys_that_are_no_texts_print_as_json_has_them(key: Any) -> None:
    assert pretty({key: 0}) == json.dumps({key: 0}, indent=2)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (Point(1), {"x": 1, "tags": ["a"]}),
        (Model(name="n", when=datetime.date(2026, 3, 2)), {"name": "n", "when": "2026-03-02"}),
        (MappingProxyType({"a": (1, 2)}), {"a": [1, 2]}),
        ({3, 1, 2}, [1, 2, 3]),
        (np.float64(0.5), 0.5),
        (np.array([[1, 2]]), [[1, 2]]),
        (datetime.date(2026, 3, 2), "2026-03-02"),
        (Decimal("0.10"), "0.10"),
        ([Point(2, ())], [{"x": 2, "tags": []}]),
        ({1: "a"}, {"1": "a"}),
        ({Decimal("0.5"): {None: 0, True: 1}}, {"0.5": {"null": 0, "true": 1}}),
    ],
)
def test_objects_become_their_data(value: Any, data: Any) -> None:
    assert plain(value) == data
    assert json.loads(pretty(value)) == data


@pytest.mark.parametrize("value", [b"x", memoryview(b"x"), lambda: 1, Point, object(), print])
def test_what_is_no_data_is_named_with_its_place(value: Any) -> None:
    with pytest.raises(DataError, match=r"output\.a\[1\]"):
        plain({"a": [0, value]}, "output")


def test_what_has_no_data_is_kept_where_only_some_may_have() -> None:
    given = {"point": Point(2, ()), "raw": b"x"}
    assert data_of(given) is given
    assert {k: data_of(v) for k, v in given.items()} == {"point": {"x": 2, "tags": []}, "raw": b"x"}


def test_a_model_that_cannot_be_dumped_is_named() -> None:
    class Broken:
        def model_dump(self, mode: str) -> Any:
            raise ValueError("no schema")

    class Tensor:
        def tolist(self) -> Any:
            raise RuntimeError("not on this machine")

    with pytest.raises(DataError, match=r"output: Broken\.model_dump failed: no schema"):
        plain(Broken(), "output")
    with pytest.raises(DataError, match=r"output: Tensor\.tolist failed: not on this machine"):
        plain(Tensor(), "output")


def nested(levels: int) -> Any:
    value: Any = "deep"
    for _ in range(levels):
        value = [value]
    return value


def test_data_that_holds_itself_or_is_too_deep_is_refused() -> None:
    holds_itself: dict[str, Any] = {}
    holds_itself["me"] = holds_itself
    for value in (holds_itself, nested(201), nested(100_000)):
        for function in (plain, pretty):
            with pytest.raises(DataError, match="nested deeper than 200") as caught:
                function(value)
            assert caught.value.kind == "too_deep"
    assert plain(nested(200)) == nested(200)
    assert json.loads(pretty(nested(200))) == nested(200)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\nb", "a\nb"),
        (None, ""),
        (0, "0"),
        (False, "False"),
        (0.125, "0.125"),
        ("", ""),
        ([], "[]"),
        ({}, "{}"),
        ((1,), "[\n  1\n]"),
        ({"ä": "東"}, '{\n  "ä": "東"\n}'),
        (np.int64(3), "3"),
        (Point(1, ()), '{\n  "x": 1,\n  "tags": []\n}'),
        (datetime.date(2026, 3, 2), "2026-03-02"),
    ],
)
def test_show(value: Any, text: str) -> None:
    assert show(value) == text


@pytest.mark.parametrize("value", [10**5000, {"a": 10**5000}, [10**5000]], ids=["number", "object", "list"])
def test_a_number_too_long_to_write_is_named(value: Any) -> None:
    with pytest.raises(DataError, match="more digits"):
        show(value)
