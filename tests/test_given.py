"""What a jury is given by a caller: an item without an answer is told, before anybody is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from jury import ConfigError, llm_jury, llm_jury_pairwise, session_jury
from jury.prompts import shipped
from jury.runner import RunSpec, run_sync

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


def test_a_function_gets_the_context_of_the_item() -> None:
    def quotes(output: str, context: str) -> tuple[bool, str]:
        return output in context, context

    jury = llm_jury(criteria="c", judges=[quotes])
    found = [jury.judge_sync("q", "a", context=c) for c in ("an apple", ["x", "y"], None)]
    assert [(r.value, r.explanation) for r in found] == [(True, "an apple"), (False, "x\n\ny"), (False, "")]
    assert found[2].notes == ("quotes: asked for context, which the item does not have",)
    with pytest.raises(ConfigError, match="nothing to pass for parameter 'context'"):
        llm_jury_pairwise(judges=[lambda context: "A"])

    def by_the_rules(context: str) -> str:
        return "PASS" if context == "1. Be kind." else "FAIL"

    session = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    assert session_jury(["policy"], context="1. Be kind.", judges=[by_the_rules]).judge_sync(session).value == "PASS"


def test_two_contexts_are_two_questions(tmp_path: Path) -> None:
    rows = [{"id": str(n), "input": "q", "output": "a", "context": context} for n, context in enumerate(("a b", "c"))]
    judges = [lambda output, context: output in context]
    report = run_sync(RunSpec(rows, {"criteria": "c", "judges": judges}), tmp_path / "run")
    assert (report.totals["n_pass"], report.totals["n_fail"], report.asked.live) == (1, 1, 2)


def test_a_name_that_is_near_none_is_told_all_of_them() -> None:
    with pytest.raises(ConfigError, match=r"no prompt named 'polcy'; nearest: policy$"):
        shipped("polcy")
    with pytest.raises(ConfigError, match=r"no prompt named 'zzzz'; there are: answer-rubric, critic"):
        shipped("zzzz")
