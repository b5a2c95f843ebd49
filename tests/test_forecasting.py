"""`stop=0.98` through the real panel: it learns, saves calls, keeps its word, and says so."""

from __future__ import annotations

import asyncio
import random

import pytest

from jury import CallError, ConfigError, JudgeSpec, Numeric, PanelSpec, llm_jury, llm_jury_pairwise
from jury.aggregation import Rule
from jury.forecasting import Forecaster
from jury.runner import RunSpec, replay, run_sync
from jury.scales import Boolean
from jury.store import Run

SKILLS = (0.97, 0.95, 0.93, 0.9, 0.85, 0.8, 0.75)


def judge(place, calls=None, fails=0.0):
    """A judge that is right on its share of the items, always the same way on one item."""

    def vote(output):
        draw = random.Random(f"{output} {place}")
        if calls is not None:
            calls[place] += 1
        if draw.random() < fails:
            raise CallError("overloaded", "busy")
        truth = int(output.split()[1]) % 2 == 0
        return truth if draw.random() < SKILLS[place] else not truth

    return JudgeSpec(function=vote, id=f"j{place}")


def rows(n):
    return [{"id": str(i), "input": "q", "output": f"item {i}"} for i in range(n)]


def all_of(jury, items, in_flight=8):
    async def main():
        return [r async for r in jury.judge_many(items, in_flight=in_flight)]

    return asyncio.run(main())


def test_it_saves_calls_and_keeps_its_word():
    calls = [0] * 7
    stopping = llm_jury(criteria="c", judges=[judge(i, calls) for i in range(7)], stop=0.98)
    full = llm_jury(criteria="c", judges=[judge(i) for i in range(7)])
    items = rows(1500)
    found, truth = all_of(stopping, items), all_of(full, items)
    differ = sum(a.value != b.value for a, b in zip(found, truth, strict=True))
    assert differ / len(items) <= 0.02
    assert sum(calls) < 0.7 * 7 * len(items)
    stopped = [r for r in found if r.calls_saved]
    assert len(stopped) > 800
    assert all(r.agreement is None and "stopped after" in r.notes[-1] for r in stopped)
    assert all(r.status == "decided" and r.seats == 7 for r in stopped)
    assert sum(r.calls_saved for r in found) == 7 * len(items) - sum(calls)
    polled = [r for r in found[600:] if not r.calls_saved]
    assert 15 < len(polled) < 100  # a random share is polled in full for good
    foresight = stopping.panel.forecaster.foresight
    assert foresight.bound <= 0.02
    assert foresight.checked >= len(polled) - 5
    assert foresight.differed <= 0.05 * foresight.checked + 2
    checked = [r for r in found if r.checked]
    assert (len(checked), sum(r.checked == "differs" for r in checked)) == (foresight.checked, foresight.differed)
    assert all(len(r.votes) == 7 and "polled in full to check stop=0.98" in r.notes[-1] for r in checked)


def test_a_failed_vote_asks_everybody():
    jury = llm_jury(criteria="c", judges=[judge(i, fails=0.1) for i in range(5)], stop=0.9)
    found = all_of(jury, rows(600))
    failed = [r for r in found if r.failed_seats]
    assert failed
    assert all(len(r.votes) == 5 for r in failed)
    assert any(r.calls_saved for r in found)


def test_pairs_with_flips():
    def side(place):
        def vote(response_a):
            draw = random.Random(f"{response_a.split()[1]} {place}")
            number, which = response_a.split()[1:]
            if draw.random() < 0.2:
                return "A"  # whatever stands first: a flip
            better = "one" if int(number) % 2 else "two"
            return "A" if which == better else "B"

        return JudgeSpec(function=vote, id=f"j{place}")

    jury = llm_jury_pairwise(judges=[side(i) for i in range(5)], stop=0.9)
    pairs = [("q", f"item {i} one", f"item {i} two") for i in range(500)]

    async def main():
        return [r async for r in jury.compare_many(pairs, in_flight=4)]

    found = asyncio.run(main())
    stopped = [(i, r) for i, r in enumerate(found) if r.calls_saved]
    assert len(stopped) > 100
    right = sum(r.winner == ("A" if i % 2 else "B") for i, r in stopped)
    assert right / len(stopped) >= 0.9
    assert all(r.agreement is None for _, r in stopped)


def test_a_forecaster_that_turns_out_wrong_begins_anew(caplog):
    forecaster = Forecaster([True, False], [1.0] * 5, Rule("mode", Boolean()), 3, 0.98)
    for i in range(300):
        forecaster.learn([i % 2 == 0] * 5)
    forecaster.fit()
    assert forecaster.foresight.bound is not None
    assert any(forecaster.plan() is not None for _ in range(50))
    for first in range(5):  # the judges have changed: two of them are alone now
        for second in range(first):
            forecaster.learn([i in (first, second) for i in range(5)])
    assert "every item is polled again" in caplog.text
    assert forecaster.plan() is None
    assert forecaster.due is False


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"stop": 0.3}, "a probability"),
        ({"stop": 1.0}, "a probability"),
        ({"stop": "soon"}, "a probability"),
        ({"stop": True}, "a probability"),
        ({"stop": 0.98, "scale": Numeric(0, 1)}, "scores take stop='decided'"),
        ({"stop": 0.98, "aggregator": "unanimous"}, "knows the rules"),
        ({"stop": 0.98, "tie_break": max}, "a tie-break function"),
        ({"stop": 0.98, "aggregator": lambda votes: True}, "built-in aggregator"),
        ({"stop": 0.98, "labels": [f"l{i}" for i in range(9)]}, "smaller panels"),
    ],
)
def test_what_it_cannot_foresee(options, says):
    judges = [judge(i) for i in range(7)]
    with pytest.raises(ConfigError, match=says):
        llm_jury(criteria="c", judges=judges, **options)


def test_a_text_is_a_number_and_two_seats_are_always_asked():
    assert PanelSpec(stop="0.98").stop == 0.98
    jury = llm_jury(criteria="c", judges=[judge(0), judge(1)], stop=0.98)
    assert jury.panel.forecaster is None
    assert all(len(r.votes) == 2 for r in all_of(jury, rows(20)))


def test_a_run_learns_from_its_folder(tmp_path):
    def spec(n):
        return RunSpec(rows(n), {"criteria": "c", "judges": [judge(i) for i in range(5)], "stop": 0.95}, concurrency=4)

    first = run_sync(spec(300), tmp_path)
    assert first.totals["calls_saved"] > 0
    second = run_sync(spec(400), tmp_path)
    assert second.judged == 100
    saved = [r.calls_saved for _, r in Run.open(tmp_path).results()]
    assert sum(1 for s in saved[300:] if s) > 60  # it did not begin by polling everything
    history = Run.open(tmp_path).manifest.history[-1]
    assert history["foresight"]["bound"] <= 0.05
    assert replay(tmp_path).same


def test_a_run_learns_each_item_once_and_nothing_of_other_criteria(tmp_path):
    def learned(criteria, n=40, **more):
        jury = {"criteria": criteria, "judges": [judge(i) for i in range(5)], **more}
        run_sync(RunSpec(rows(n), jury), tmp_path)
        return Run.open(tmp_path).manifest.history[-1].get("foresight", {}).get("learned")

    assert learned("c") is None
    assert learned("c", stop=0.95) == 40
    assert learned("c", n=50, stop=0.95) == 50
    assert learned("other", n=50, stop=0.95) == 50


def test_a_ready_jury_learns_anew_in_every_pass(tmp_path):
    jury = llm_jury(criteria="c", judges=[judge(i) for i in range(5)], stop=0.95)
    for _ in range(2):
        run_sync(RunSpec(rows(20), jury), tmp_path)
        assert jury.panel.forecaster.foresight.learned == 20
