"""What a jury is given by a caller: an item without an answer is told, before anybody is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from jury import ConfigError, llm_jury, llm_jury_pairwise

JURY = llm_jury(criteria="c", judges=[lambda output: True])
PAIR = llm_jury_pairwise(judges=[lambda case: "A"], swap=False)


def test_an_item_without_an_output_is_no_empty_answer() -> None:
    for ask in (
        lambda: JURY.judge_sync(input="q"),
        lambda: asyncio.run(JURY.judge("q")),
        lambda: list(JURY.judge_many_sync([{"input": "q"}])),
    ):
        with pytest.raises(ConfigError, match=r"judge\(\) got no output"):
            ask()
    assert JURY.judge_sync(input="q", output=None).passed is True
    assert next(iter(JURY.judge_many_sync([("q", None)]))).passed is True


def test_a_pair_without_a_side_is_told_by_name() -> None:
    with pytest.raises(ConfigError, match=r"compare\(\) got no response_b\."):
        PAIR.compare_sync("q", "a")
    with pytest.raises(ConfigError, match="got no response_a and no response_b"):
        list(PAIR.compare_many_sync([{"question": "q"}]))
    assert PAIR.compare_sync("q", "a", None).winner == "A"


def test_a_row_of_another_shape_is_told_what_a_row_is() -> None:
    with pytest.raises(ConfigError, match=r"a row is \(data, output\) or a mapping with the keywords of judge"):
        list(JURY.judge_many_sync(["just a text"]))
    with pytest.raises(ConfigError, match=r"unknown \['answer'\]; known are \['output', 'input'"):
        list(JURY.judge_many_sync([{"input": "q", "answer": "a"}]))


def test_a_function_that_takes_the_case_for_a_text_is_told_the_names_of_texts() -> None:
    for wrong, kind in ((lambda text: text.lower(), AttributeError), (lambda x: len(x) < 3, TypeError)):
        with pytest.raises(kind, match="given the whole case; a text has the name `output`"):
            llm_jury(criteria="c", judges=[wrong]).judge_sync("q", "a")
    with pytest.raises(TypeError, match=r"^can only concatenate str"):
        llm_jury(criteria="c", judges=[lambda case: case.output + 1 - "a"]).judge_sync("q", 1)


@pytest.mark.parametrize("function", [lambda outptu: True, lambda inptu: True, lambda otuput: True])
def test_two_letters_that_changed_places_are_a_slip(function: Callable[..., bool]) -> None:
    with pytest.raises(ConfigError, match=r"meant to be '(in|out)put'\?"):
        llm_jury(criteria="c", judges=[function]).judge_sync("q", "a")


def test_what_is_judged_by_is_needed() -> None:
    with pytest.raises(ConfigError, match=r"^criteria or a prompt must be given"):
        llm_jury(judges=[lambda output: True])
