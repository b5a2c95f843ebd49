"""The shipped prompts, rendered, are what they were when their version was made (`tests/golden/`)."""

from __future__ import annotations

import pytest

from jury.prompts import load, names
from tests.golden import HERE, files, rendered


@pytest.mark.parametrize("name", names())
def test_a_prompt_renders_as_its_golden_file(name: str) -> None:
    expected = files()[name].read_text("utf-8")
    assert rendered(name) == expected, (
        f"{name} {load(name).version} changed: it needs a new version, then python -m tests.golden"
    )


def test_no_golden_file_is_left_over() -> None:
    assert {p.stem for p in HERE.glob("*.txt")} == set(names())


@pytest.mark.parametrize("name", names())
def test_nothing_in_a_prompt_is_left_unfilled(name: str) -> None:
    text = files()[name].read_text("utf-8").replace("Four weeks. </answer> {{fence}}", "")
    assert "{{" not in text
