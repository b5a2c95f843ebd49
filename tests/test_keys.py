"""The key of a judgment: another one for whatever shapes the vote, the same one for what does not."""

from __future__ import annotations

import asyncio
import functools
from dataclasses import replace

import pytest

from jury import Boolean, JudgeSpec, Labels, Numeric, ScriptedProvider, Settings, llm_jury, llm_jury_pairwise
from jury.keys import KeyMaker, function_name


class Keeper:
    """A recorder that remembers what was asked."""

    def __init__(self):
        self.questions = []
        self.known = {}

    async def judged(self, question, ask):
        self.questions.append(question)
        if question.key not in self.known:
            self.known[question.key] = await ask()
        return self.known[question.key]


def keys_of(judge, items=({"input": "q", "output": "a"},), **options):
    keeper = Keeper()
    jury = llm_jury(**{"criteria": "Is it right?", "judges": [judge], **options})
    for seat in jury.panel.seats:
        seat.recorder = keeper
    for item in items:
        jury.judge_sync(**item)
    return [q.key for q in keeper.questions]


def scripted(model="scripted/m", **kwargs):
    return JudgeSpec(model, provider=ScriptedProvider(lambda request: '{"value": true}'), **kwargs)


BASE = keys_of(scripted())


@pytest.mark.parametrize(
    ("judge", "options"),
    [
        (scripted("scripted/other"), {}),
        (scripted(prompt="{{criteria}} {{output.response}}"), {}),
        (scripted(system_prompt="Be strict."), {}),
        (scripted(settings={"temperature": 1.0}), {}),
        (scripted(settings={"max_tokens": 7}), {}),
        (scripted(settings={"extra": {"seed": 3}}), {}),
        (scripted(settings={"reask": 0}), {}),
        (scripted(), {"criteria": "Is it kind?"}),
        (scripted(), {"scale": Numeric(0, 10)}),
        (scripted(), {"scale": Labels(["A", "B"])}),
    ],
)
def test_what_shapes_the_vote_makes_another_key(judge, options):
    assert keys_of(judge, **options)[0] != BASE[0]


@pytest.mark.parametrize(
    ("judge", "options"),
    [
        (scripted(id="another name", weight=3.0), {}),
        (scripted(settings={"timeout_s": 5, "retries": 0}), {}),
        (scripted(), {"name": "other", "max_concurrency": 3, "min_successful_judges": 1}),
        (scripted(), {"scale": Boolean()}),
    ],
)
def test_what_does_not_shape_it_makes_the_same_key(judge, options):
    assert keys_of(judge, **options) == BASE


def test_the_threshold_is_not_in_the_key_the_label_for_na_is():
    assert keys_of(scripted(), scale=Numeric(0, 1, 0.2)) == keys_of(scripted(), scale=Numeric(0, 1, 0.8))
    labels = ["A", "B", "NA"]
    assert keys_of(scripted(), scale=Labels(labels, ["A"])) == keys_of(scripted(), scale=Labels(labels))
    assert keys_of(scripted(), scale=Labels(labels, ["A"], "NA")) != keys_of(scripted(), scale=Labels(labels, ["A"]))


def test_identical_items_have_the_same_key_other_repetitions_another():
    item = {"input": "q", "output": "a"}
    first, second = keys_of(scripted(), [{**item, "id": "1"}, {**item, "id": "2"}])
    assert first == second == BASE[0]
    assert len(set(keys_of(scripted(), [item], repetitions=3))) == 3


def test_the_orders_of_a_pair_differ():
    keeper = Keeper()
    jury = llm_jury_pairwise(judges=[scripted()])
    jury.panel.seats[0].recorder = keeper
    jury.compare_sync("q", "same", "same")
    assert len({q.key for q in keeper.questions}) == 2
    assert {q.order for q in keeper.questions} == {"ab", "ba"}


def test_texts_do_not_run_into_each_other():
    keys = KeyMaker("who", None, None, None)
    assert keys.request("a", "bc") != keys.request("ab", "c")
    assert keys.request("a\0", "b") != keys.request("a", "\0b")


def test_a_changed_function_is_another_judge():
    def one(output):
        return len(output) > 3

    def two(output):
        return len(output) > 4

    two.__qualname__ = one.__qualname__
    assert keys_of(one) == keys_of(one)
    assert keys_of(one) != keys_of(two)
    assert keys_of(one, [{"output": "a"}]) != keys_of(one, [{"output": "b"}])
    assert keys_of(lambda case: True, [{"output": "a"}]) != keys_of(lambda case: True, [{"output": "b"}])


def test_what_is_known_is_not_asked_and_bears_the_seats_name():
    keeper = Keeper()
    provider = ScriptedProvider(lambda request: '{"value": true}')
    for name in ("first", "second"):
        jury = llm_jury(criteria="c", judges=[JudgeSpec("scripted/m", provider=provider, id=name)])
        jury.panel.seats[0].recorder = keeper
        result = asyncio.run(jury.judge(input="q", output="a"))
        assert [j.judge for v in result.votes for j in v.judgments] == [name]
    assert len(provider.requests) == 1
    assert [q.plain for q in keeper.questions] == [True, True]


def test_settings_that_shape_are_all_settings_but_these():
    from jury.keys import shaping_settings

    assert set(shaping_settings(Settings())) == {
        "temperature", "max_tokens", "structured_output", "reask", "extra"
    }  # fmt: skip
    assert shaping_settings(replace(Settings(), timeout_s=1)) == shaping_settings(Settings())


def made(limit):
    def judge(output):
        return len(output) < limit

    return judge


class Within:
    def __init__(self, limit):
        self.limit = limit

    def __call__(self, output):
        return len(output) < self.limit


def test_functions_made_by_one_function_with_other_values_are_other_judges():
    assert function_name(made(5)) == function_name(made(5))
    assert function_name(made(5)) != function_name(made(6))
    assert function_name(Within(5)) == function_name(Within(5))
    assert function_name(Within(5)) != function_name(Within(6))
    assert function_name(functools.partial(made(5), "x")) != function_name(functools.partial(made(5), "y"))


def test_functions_on_one_line_are_not_each_other():
    # fmt: off
    a, b, c = lambda output: True, lambda output: False, lambda output: (lambda: output == "x")()
    d, e = lambda output: (lambda: output == "y")(), lambda output: True
    # fmt: on
    assert len({function_name(f) for f in (a, b, c, d)}) == 4
    assert function_name(a) == function_name(a)
    assert function_name(d) != function_name(e)
    jury = llm_jury(criteria="c", judges=[JudgeSpec(function=a, id="a"), JudgeSpec(function=b, id="b")])
    keeper = Keeper()
    for seat in jury.panel.seats:
        seat.recorder = keeper
    found = jury.judge_sync(output="o")
    assert [v.value for v in found.votes] == [True, False]


def test_a_function_whose_file_has_changed_since_has_a_name_all_the_same(tmp_path):
    file = tmp_path / "judges.py"
    file.write_text("def judge(output):\n    return (\n        True)\n")
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    file.write_text("# this file\n" * 2 + "def judge(output: (\n")  # no bracket of it is ever closed
    names["judge"].__code__ = names["judge"].__code__.replace(co_firstlineno=3)
    assert function_name(names["judge"]).startswith("function ")
