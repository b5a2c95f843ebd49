"""Judge functions: whatever one raises or returns costs its own vote, never the process, the loop or the panel."""

import asyncio
import dataclasses
import json
import math
import subprocess
import sys
import threading

import numpy
import pydantic
import pytest

from jury import ConfigError, JudgeSpec, PanelResult, llm_jury
from jury.providers.function import UNREADABLE, read_result
from jury.results import Failure, Usage, Verdict
from jury.scales import Boolean, Labels, Numeric
from jury.tasks import contained


def beside(function, **more):
    """The panel's result, and the vote of one function that sits beside two that say true."""
    others = [JudgeSpec(function=lambda output: True, id=name) for name in ("b", "c")]
    result = llm_jury(criteria="c", judges=[JudgeSpec(function=function, id="a"), *others], **more).judge_sync(
        output="o"
    )
    assert PanelResult.from_json(result.to_json()) == result
    return result, result.votes[0]


class Foreign(BaseException):
    """As test runners and other event loops have them."""


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no text")


ENDS = [Foreign("x"), SystemExit(3), KeyboardInterrupt(), GeneratorExit(), StopIteration(), asyncio.CancelledError()]


@pytest.mark.parametrize("error", ENDS, ids=lambda e: type(e).__name__)
def test_what_would_end_the_process_or_the_task_is_one_failed_vote(error):
    def ends(output):
        raise error

    result, vote = beside(ends, timeout_ms=20_000)
    assert result.value is True
    assert vote.verdict.failure.kind == "exception"
    assert type(error).__name__ in vote.error


@pytest.mark.parametrize(
    "error", [Foreign("x"), SystemExit(3), GeneratorExit(), asyncio.CancelledError()], ids=lambda e: type(e).__name__
)
@pytest.mark.parametrize("waits", [False, True])
def test_so_it_is_in_an_async_function(error, waits):
    async def ends(output):
        if waits:
            await asyncio.sleep(0)
        raise error

    for function in (ends, lambda output: ends(output)):
        result, vote = beside(function)
        assert result.value is True
        assert vote.verdict.failure.kind == "exception"
        assert type(error).__name__ in vote.error


def test_a_coroutine_that_is_closed_half_way_is_closed():
    left = []

    async def waits():
        try:
            await Never()
        finally:
            left.append("left")

    class Never:
        def __await__(self):
            yield

    work = contained("it", waits, (), {})
    work.send(None)
    work.close()
    assert left == ["left"]


def test_an_exception_without_a_text_is_a_failed_vote_too():
    def mute(output):
        raise Mute

    assert beside(mute)[1].error.startswith("exception: Mute: (it has no text that can be read)")


def test_a_function_that_awaits_a_cancelled_task_is_not_cancelled_itself():
    async def waits(output):
        task = asyncio.create_task(asyncio.sleep(9))
        task.cancel()
        await task

    assert "CancelledError" in beside(waits)[1].error


def test_the_callers_own_cancellation_goes_through():
    seen = []
    asked = asyncio.Event()

    async def waits(output):
        asked.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def cancel():
        jury = llm_jury(criteria="c", judges=[waits])
        task = asyncio.create_task(jury.judge(output="o"))
        await asyncio.wait_for(asked.wait(), 120)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert seen == ["cancelled"]


def test_a_function_that_hangs_keeps_neither_the_loop_nor_the_process_from_ending():
    code = (
        "import threading\nfrom jury import llm_jury\n"
        "def hangs(output): threading.Event().wait()\n"
        "jury = llm_jury(criteria='c', judges=[hangs], timeout_ms=50)\n"
        "import asyncio\nprint(asyncio.run(jury.judge(output='o')).votes[0].error)\n"
        "print(jury.judge_sync(output='o').reason)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert ran.stdout == "timeout: no answer within 0.05 s\nerrors\n"
    assert ran.stderr == ""


def test_functions_that_hang_do_not_stand_in_the_way_of_others():
    release = threading.Event()

    def hangs(output):
        release.wait(60)

    hanging = llm_jury(criteria="c", judges=[hangs], timeout_ms=100)
    try:
        stuck = list(hanging.judge_many_sync([{"output": str(i)} for i in range(50)]))
        assert {r.votes[0].verdict.failure.kind for r in stuck} == {"timeout"}
        assert llm_jury(criteria="c", judges=[lambda output: True], timeout_ms=20_000).judge_sync(output="o").passed
    finally:
        release.set()


@dataclasses.dataclass
class Said:
    value: bool
    explanation: str


class Modelled(pydantic.BaseModel):
    value: bool
    explanation: str


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((True, None), Verdict("scored", True)),
        ((True, 5), Verdict("scored", True, "5")),
        (
            {"value": True, "explanation": None, "evidence": "one quote"},
            Verdict("scored", True, evidence=("one quote",)),
        ),
        ({"value": True, "evidence": ["a", 1]}, Verdict("scored", True, evidence=("a", "1"))),
        (
            Verdict("scored", True, "w", None, ["q"], {"k": (1, 2)}),
            Verdict("scored", True, "w", None, ("q",), {"k": [1, 2]}),
        ),
        (Said(True, "because"), Verdict("scored", True, "because")),
        (Modelled(value=False, explanation="no"), Verdict("scored", False, "no")),
        ({"value": True, "abstain": "false"}, Verdict("scored", True)),
        ({"value": True, "abstain": None}, Verdict("scored", True)),
        ({"value": True, "abstain": "True "}, Verdict("abstained")),
        ({"value": True, "abstain": numpy.bool_(True)}, Verdict("abstained")),
        (Verdict("abstained", True, None), Verdict("abstained")),
        (Verdict("error"), Verdict("error", failure=Failure("exception", "the judge function gave no reason"))),
        (Verdict("error", failure="down"), Verdict("error", failure=Failure("exception", "down"))),
        (Verdict("error", failure=Failure("timeout", "t")), Verdict("error", failure=Failure("timeout", "t"))),
    ],
)
def test_what_functions_return_is_read(given, expected):
    assert read_result(given, Boolean()) == (expected, None)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (Verdict("scored", "yes"), "wrong_type"),
        (Verdict("not_applicable", "NA"), "wrong_type"),
        (Verdict("not_applicable"), "wrong_type"),
        (Verdict("passed", True), "wrong_type"),
        (Verdict("scored", True, fields={"k": object()}), "wrong_type"),
        ({"value": True, "evidence": 5}, "wrong_type"),
        ({"value": True, "abstain": "no"}, "wrong_type"),
        ({"value": True, "abstain": 1}, "wrong_type"),
        (Said, "wrong_type"),
        ({"value": True, "usage": "12 tokens"}, "wrong_type"),
        ({"value": True, "usage": {"input_tokens": "12"}}, "wrong_type"),
        ({"value": True, "usage": {"input_tokens": 1.5}}, "wrong_type"),
        ({"value": True, "usage": {"calls": None}}, "wrong_type"),
        ({"value": True, "usage": {"cost": math.nan}}, "wrong_type"),
        ({"value": True, "usage": Usage(1, -5)}, "wrong_type"),
    ],
)
def test_what_is_off_the_contract_is_an_error_and_no_verdict(given, kind):
    verdict, usage = read_result(given, Boolean())
    told = isinstance(given, dict) and "usage" in given
    assert (verdict.status, verdict.value, verdict.failure.kind) == ("error", None, kind)
    assert usage is (UNREADABLE if told else None)


def test_an_own_verdict_is_held_to_the_scale():
    labels = Labels(("a", "b", "NA"), na="NA")
    assert read_result(Verdict("not_applicable", "na"), labels)[0] == Verdict("not_applicable", "NA")
    assert read_result(Verdict("not_applicable"), labels)[0] == Verdict("not_applicable", "NA")
    assert read_result(Verdict("scored", "A"), labels)[0] == Verdict("scored", "a")
    assert read_result(Verdict("scored", "NA"), labels)[0].failure.kind == "wrong_type"
    assert read_result(Verdict("scored", 7), Numeric(1, 5, 3))[0].failure.kind == "out_of_range"


def test_usage_may_hold_numbers_of_numpy():
    given = {"value": True, "usage": {"input_tokens": numpy.int64(5), "cost": numpy.float64(0.5)}}
    verdict, usage = read_result(given, Boolean())
    assert (verdict.value, usage) == (True, Usage(1, 5, cost=0.5))
    assert json.dumps([usage.input_tokens, usage.cost]) == "[5, 0.5]"


@pytest.mark.parametrize("usage", [{"cost": 10**400}, {"input_tokens": 10**400}, {"cost": 1e300}, {"cost": -1}])
def test_an_amount_beyond_reason_is_a_wrong_answer_and_no_crash(usage):
    assert read_result({"value": True, "usage": usage}, Boolean())[0].failure.kind == "wrong_type"


@pytest.mark.parametrize("scale", [Boolean(), Labels(["a", "b"])])
def test_a_value_that_cannot_be_written_out_is_a_wrong_answer_and_no_crash(scale):
    assert read_result(10**5000, scale)[0].failure.kind == "wrong_type"


def test_repetitions_with_a_broken_usage_are_failed_calls_and_no_crash():
    result, vote = beside(lambda output: {"value": True, "usage": {"input_tokens": "12"}}, repetitions=2)
    assert (result.value, vote.failed_calls) == (True, 2)


def test_a_verdict_without_what_it_was_to_be_held_against_is_told(caplog):
    def correct(output, expected_output):
        return expected_output in output

    def lenient(output, expected_output=""):
        return expected_output in output

    def careful(output, expected_output):
        return expected_output in output if expected_output else None

    jury = llm_jury(criteria="x", judges=[correct, lenient, careful], min_successful_judges=2)
    results = [jury.judge_sync(input="q", output="a") for _ in range(2)]
    assert results[0].notes == ("correct: asked for expected_output, which the item does not have",)
    assert [r.message.split(":")[0] for r in caplog.records] == [
        "judge correct asks for expected_output, and an item has none"
    ]
    caplog.clear()
    assert jury.judge_sync(input="q", output="a", expected_output="a").notes == ()
    assert not caplog.records


def test_an_input_that_is_an_array_is_no_missing_one():
    def same(output, input, expected_output):
        return output == "a"

    jury = llm_jury(criteria="x", judges=[same])
    result = jury.judge_sync(input=numpy.arange(3), output="a", expected_output=numpy.array([]))
    assert (result.value, result.notes) == (True, ())


@pytest.mark.parametrize("name", ["outputs", "expected_outputs", "inputs"])
def test_a_parameter_that_is_nearly_a_name_is_not_the_whole_case(name):
    with pytest.raises(ConfigError, match=f"{name!r} meant to be {name[:-1]!r}"):
        llm_jury(criteria="x", judges=[eval(f"lambda {name}: True")])
