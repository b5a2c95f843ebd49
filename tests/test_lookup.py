"""Paths into data: keys and elements, and nothing that is not data."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.lookup import MISSING, find, finder, parse_path, write_path

DATA = {
    "a": {"b": [10, {"c": "deep"}], "items": "a key", "x.y": "dotted", "0": "zero", "n": None},
    "list": [[1, 2], [3]],
    "pair": (7, 8),
    "view": MappingProxyType({"k": "v"}),
    "text": "abc",
    "p.q.r": "whole",
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("a.b[0]", 10),
        ("a.b[-1].c", "deep"),
        ("a.b.1.c", "deep"),
        ("a.items", "a key"),
        ("a.x.y", "dotted"),
        ("p.q.r", "whole"),
        ("a.0", "zero"),
        ("a.n", None),
        ("list[0][1]", 2),
        ("list.1.0", 3),
        ("pair[1]", 8),
        ("view.k", "v"),
        ("list[-2]", [1, 2]),
    ],
)
def test_data_is_found(name: str, value: Any) -> None:
    assert find([DATA], parse_path(name)) == value


@pytest.mark.parametrize(
    "name",
    [
        "nothing",
        "a.b[2]",
        "a.b[-3]",
        "a.b.2",
        "a.b.-1",
        "a.b.c",
        "a[0]",
        "text[0]",
        "text.0",
        "text.upper",
        "a.keys",
        "a.__class__",
        "view.keys",
        "list.append",
        "a.b[1.5]",
        "a.b[]",
        "a.b[ 0 ]",
        "a['b']",
        "a..b",
        ".a",
        "a.",
        "",
        " ",
        "a.n.x",
        "list[0].5",
        "a.b[9999999999]",
        "a.b[²]",
        "a.²",
    ],
)
def test_nothing_else_is(name: str) -> None:
    assert find([DATA], parse_path(name)) is MISSING


def test_the_innermost_frame_that_has_the_first_step_decides() -> None:
    frames = [{"a": {"b": 1}, "c": 2}, {"a": {}}, "a text", None]
    assert find(frames, parse_path("c")) == 2
    assert find(frames, parse_path("a.b")) is MISSING
    assert find([*frames, MappingProxyType({"c": 3})], parse_path("c")) == 3


def test_the_dot_is_the_innermost_value() -> None:
    assert parse_path(".") == ()
    assert find([DATA, "here"], ()) == "here"


NAMES = st.lists(st.sampled_from(["a", "b", "x", "y", "0", "1", "list", "p", "q", "r", "text"]), min_size=1, max_size=4)


@given(NAMES, st.lists(st.integers(-3, 3), max_size=2))
def test_the_short_way_finds_what_the_long_way_finds(names: list[str], indexes: list[int]) -> None:
    name = ".".join(names) + "".join(f"[{i}]" for i in indexes)
    path = parse_path(name)
    assert finder(path, top=True)([DATA]) is find([DATA], path)
    assert finder(path, top=False)([DATA]) is find([DATA], path)
    assert write_path(path) == name


def test_a_long_path_is_no_work() -> None:
    assert find([{"a": {"b": {}}}], parse_path("a" + ".b" * 100_000)) is MISSING
    assert find([DATA], parse_path("a" + "[0]" * 100_000)) is MISSING
