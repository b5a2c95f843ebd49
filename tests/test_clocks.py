"""Deadlines of votes and items: what came in time decides; what did not is a failure, and is asked again."""

from __future__ import annotations

import asyncio

import pytest

from jury import (
    ConfigError,
    JudgeSpec,
    PanelSpec,
    Reply,
    ScriptedProvider,
    Usage,
    llm_jury,
    llm_jury_pairwise,
    session_jury,
)
from jury.allowances import Allowance, OutOfTime, in_line, within
from jury.runner import RunSpec, replay, run
from jury.store import Run
from tests import virtual_time
from tests.virtual_time import now


class Slow(ScriptedProvider):
    """Takes so many seconds for each call, the next of a list."""

    def __init__(self, *seconds, value=True, key="value"):
        super().__init__(lambda request: {"explanation": "e", "evidence": [], key: value}, name="slow")
        self.seconds = list(seconds)
        self.begun = 0

    async def complete(self, request):
        self.begun += 1
        await asyncio.sleep(self.seconds.pop(0) if len(self.seconds) > 1 else self.seconds[0])
        return await super().complete(request)


def seats(*providers):
    return [JudgeSpec(f"slow/j{i}", provider=p, id=f"j{i}", settings={"retries": 0}) for i, p in enumerate(providers)]


def judged(jury, **item):
    async def once():
        result = await jury.judge(output="o", **item)
        return result, now()

    return virtual_time.run(once())


def test_a_vote_that_is_late_is_a_failure_and_the_others_decide():
    jury = llm_jury(criteria="c", judges=seats(Slow(1), Slow(50), Slow(2)), vote_deadline_s=10)
    result, took = judged(jury)
    assert (result.value, result.seats_used, took) == (True, 2, 10)
    late = result.votes[1]
    assert late.error == "deadline: no answer in time (vote_deadline_s of 10 s)"
    assert "deadline: j1: no answer in time (vote_deadline_s of 10 s)" in result.notes


def test_without_a_quorum_the_deadline_is_the_reason():
    jury = llm_jury(criteria="c", judges=seats(Slow(1), Slow(50), Slow(60)), vote_deadline_s=10)
    result, _ = judged(jury)
    assert (result.status, result.reason) == ("inconclusive", "deadline")
    assert result.explanation == "No verdict: j1, j2: no answer in time (vote_deadline_s of 10 s)."


def test_failures_of_another_kind_keep_their_reason():
    broken = ScriptedProvider([], name="slow")
    result, _ = judged(llm_jury(criteria="c", judges=seats(broken, Slow(50)), vote_deadline_s=10))
    assert result.reason == "errors"
    assert any(note.startswith("deadline: j1") for note in result.notes)


def test_a_stand_in_takes_the_place_of_a_late_seat():
    jury = llm_jury(
        criteria="c", judges=seats(Slow(50)), replacement_judges=seats(Slow(5), Slow(5))[1:], vote_deadline_s=10
    )
    result, took = judged(jury)
    assert (result.value, result.stand_ins_used, took) == (True, 1, 15)


def test_a_tie_of_a_full_panel_is_a_tie_whoever_was_late():
    panel = seats(Slow(1), Slow(1, value=False), Slow(50))
    stand_in = seats(Slow(1), Slow(1), Slow(1), ScriptedProvider([{"abstain": True, "explanation": "e"}], name="slow"))[
        3:
    ]
    result, _ = judged(llm_jury(criteria="c", judges=panel, replacement_judges=stand_in, vote_deadline_s=10))
    assert (result.status, result.reason) == ("inconclusive", "tie")
    assert "deadline: j2: no answer in time (vote_deadline_s of 10 s)" in result.notes


def test_the_vote_has_its_time_for_all_its_calls():
    provider = Slow(4, 4, 4)
    jury = llm_jury(criteria="c", judges=seats(provider), repetitions=3, vote_deadline_s=5)
    result, took = judged(jury)  # at once: four seconds, and not twelve
    assert (result.value, took) == (True, 4)
    late = Slow(4, 4, 40)
    result, took = judged(llm_jury(criteria="c", judges=seats(late), repetitions=3, vote_deadline_s=5))
    assert (result.value, took, result.votes[0].failed_calls) == (True, 5, 1)


def test_the_items_time_is_for_all_seats_and_nobody_stands_in_after_it():
    stand_in = Slow(1)
    jury = llm_jury(
        criteria="c",
        judges=seats(Slow(1), Slow(2), Slow(50)),
        replacement_judges=[JudgeSpec("slow/r", provider=stand_in, id="r")],
        item_deadline_s=8,
    )
    result, took = judged(jury)
    assert (result.value, result.seats_used, took, stand_in.begun) == (True, 2, 8, 0)
    waves = llm_jury(criteria="c", judges=seats(Slow(6), Slow(6), Slow(6)), stop="decided", item_deadline_s=8)
    result, took = judged(waves)
    assert result.value is True
    tiers = llm_jury(
        criteria="c", judges=seats(Slow(6), Slow(6, value=False), Slow(6)), escalate=[["j0", "j1"], "rest"],
        item_deadline_s=8,
    )  # fmt: skip
    result, took = judged(tiers)
    assert (result.reason, took) == ("deadline", 8)
    assert [v.failed for v in result.votes] == [False, False, True]


def test_pairs_have_deadlines_too():
    jury = llm_jury_pairwise(criteria="c", judges=seats(Slow(1, 40, value="A")), vote_deadline_s=10)

    async def once():
        return await jury.compare("q", "a", "b"), now()

    result, took = virtual_time.run(once())
    assert (result.winner, result.reason, took) == ("inconclusive", "deadline", 10)


def test_functions_have_deadlines():
    async def slow(output):
        await asyncio.sleep(40)
        return True

    async def quick(output):
        return True

    result, took = judged(llm_jury(criteria="c", judges=[slow, quick], vote_deadline_s=3))
    assert (took, [v.failed for v in result.votes]) == (3, [True, False])


def test_a_cancelled_item_is_cancelled():
    async def once():
        jury = llm_jury(criteria="c", judges=seats(Slow(5), Slow(5)), vote_deadline_s=50, item_deadline_s=60)
        task = asyncio.ensure_future(jury.judge(output="o"))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    virtual_time.run(once())


@pytest.mark.parametrize("many", [False, True])
def test_no_call_begins_once_its_item_is_cancelled(many):
    async def once():
        judges = [Slow(5) for _ in range(4)]
        jury = llm_jury(criteria="c", judges=seats(*judges), repetitions=3, max_concurrency=2)

        async def work():
            if not many:
                return await jury.judge(output="o")
            return [r async for r in jury.judge_many([{"output": str(i)} for i in range(9)])]

        task = asyncio.ensure_future(work())
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert sum(j.begun for j in judges) == 2

    virtual_time.run(once())


def test_time_in_line_is_not_counted():
    async def once():
        allowance = Allowance(10, "a")

        async def work():
            await asyncio.sleep(6)
            with in_line():
                await asyncio.sleep(100)
            await asyncio.sleep(3)
            return now()

        assert await within((allowance,), work) == 109

        async def more():
            await asyncio.sleep(3)

        with pytest.raises(OutOfTime):
            await within((allowance,), more)
        assert now() == 110  # one second was left
        with pytest.raises(OutOfTime):
            await within((allowance,), more)
        assert now() == 110

    virtual_time.run(once())


def test_two_at_once_count_once_and_one_in_line_stops_no_clock():
    async def once():
        allowance = Allowance(10, "a")

        async def waits():
            with in_line():
                await asyncio.sleep(30)

        async def works():
            await asyncio.sleep(9)

        await asyncio.gather(within((allowance,), waits), within((allowance,), works))
        assert now() == 30
        assert not allowance.over
        with pytest.raises(OutOfTime):
            await asyncio.gather(within((allowance,), works), within((allowance,), works))
        assert now() == 31

    virtual_time.run(once())


def test_two_deadlines_at_the_same_moment():
    async def once():
        async def work():
            await asyncio.sleep(60)

        with pytest.raises(OutOfTime, match="a of 5 s"):
            await within((Allowance(5, "a"), Allowance(5, "b")), work)
        task = asyncio.current_task()
        assert task.cancelling() == 0
        await asyncio.sleep(1)  # and nothing of it is left behind

    virtual_time.run(once())


@pytest.mark.parametrize("answer", ["late all the same", None])
def test_work_that_hears_of_its_end_and_goes_on_leaves_nothing_behind(answer):
    async def stubborn():
        try:
            await asyncio.sleep(50)
        except asyncio.CancelledError:
            if answer is None:
                raise ValueError("own fault") from None
        return answer

    async def once():
        task = asyncio.current_task()
        try:
            assert await within([Allowance(1, "a")], stubborn) == answer
        except ValueError:
            assert answer is None
        assert task.cancelling() == 0
        async with asyncio.timeout(5):
            await asyncio.sleep(1)

    virtual_time.run(once())


def rows(n):
    return [{"id": f"r{i}", "input": "q", "output": f"a{i}"} for i in range(n)]


def test_a_run_asks_again_what_was_late_and_nothing_else(tmp_path):
    def spec(slow):
        quick = ScriptedProvider(
            lambda r: Reply('{"value": true}', usage=Usage(1, 1, 1, cost=0.5)), name="quick", rungs=("json",)
        )
        panel = [JudgeSpec("quick/a", provider=quick, id="a"), *seats(slow)]
        return RunSpec(rows(4), {"criteria": "c", "judges": panel, "vote_deadline": 5}, cache=False)

    first = virtual_time.run(run(spec(Slow(60)), tmp_path))
    assert first.totals["reasons"] == {"deadline": 4}
    assert first.totals["failures"] == {"j0: deadline": 4}
    assert first.totals["cost"] == 2.0
    assert len(list(Run.open(tmp_path).judgments())) == 4  # what came in time; nothing is known of the others
    assert replay(tmp_path).same
    second = virtual_time.run(run(spec(Slow(1)), tmp_path))
    assert (second.asked.live, second.asked.recalled, second.totals["n_pass"]) == (4, 4, 4)
    assert second.totals["cost"] is None or second.spent == 2.0
    assert replay(tmp_path).same


def test_waiting_for_a_place_makes_nobody_late(tmp_path):
    slow = Slow(4)
    spec = RunSpec(rows(30), {"criteria": "c", "judges": seats(slow), "vote_deadline": 5}, cache=False, concurrency=2)
    report = virtual_time.run(run(spec, tmp_path))
    assert report.totals["n_pass"] == 30


def test_waiting_for_the_same_question_of_another_item_makes_nobody_late(tmp_path):
    provider = Slow(4)
    panel = [JudgeSpec(f"slow/j{i}", provider=provider, id=f"j{i}") for i in range(5)]
    alike = [{"id": f"r{i}", "input": "q", "output": "a"} for i in range(2)]
    spec = RunSpec(alike, {"criteria": "c", "judges": panel, "vote_deadline": 5}, cache=False, concurrency=1)
    report = virtual_time.run(run(spec, tmp_path))
    assert (report.totals["n_pass"], report.asked.live, report.asked.same) == (2, 5, 5)
    assert not report.totals["failures"]


@pytest.mark.parametrize("given", [0, -1, True, "soon", float("inf"), float("nan")])
def test_wrong_deadlines(given):
    for name in ("vote_deadline_s", "item_deadline_s"):
        with pytest.raises(ConfigError, match=name):
            PanelSpec((JudgeSpec("openai/x"),), **{name: given})


def test_rubrics_and_sessions_have_deadlines_too():
    rubric = {"name": "r", "criteria": [{"key": "a", "question": "A?"}, {"key": "b", "question": "B?"}]}
    result, took = judged(llm_jury(rubric=rubric, judges=seats(Slow(50), Slow(50)), vote_deadline_s=5))
    assert (result.status, result.reason, took) == ("inconclusive", "deadline", 5)

    async def once():
        panel = seats(*(Slow(seconds, value="PASS", key="verdict") for seconds in (1, 50, 2)))
        jury = session_jury(criteria=["tone"], judges=panel, item_deadline_s=5, context="Be kind.")
        return await jury.judge([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]), now()

    result, took = virtual_time.run(once())
    assert (took, result.value) == (5, "PASS")
    assert "deadline: j1: no answer in time (item_deadline_s of 5 s)" in result.notes
