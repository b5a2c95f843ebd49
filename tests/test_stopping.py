"""`stop="decided"`: proved over all small panels against brute force, and over random ones through the real panel."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury import Failure, JudgeSpec, Labels, Numeric, PanelSpec, Verdict, Vote, llm_jury, llm_jury_pairwise
from jury.aggregation import Rule, decide
from jury.scales import Boolean
from jury.stopping import next_wave, settled

ABC = Labels(("a", "b", "c"), na="c")
ERROR = Verdict("error", failure=Failure("timeout", "t"))
ABSTAINED = Verdict("abstained")


def vote(value, weight=1.0, judge="j"):
    if isinstance(value, Verdict):
        return Vote(judge, value, weight=weight)
    return Vote(judge, Verdict("scored", value), weight=weight)


def outcome(votes, rule, quorum):
    decision = decide(votes, rule, quorum, 9)
    return decision.status, decision.value, decision.passed


def completions(values, pending):
    """Every way in which the pending seats can still end: a value each, or none (abstention, failure)."""
    return itertools.product([*values, None], repeat=pending)


@pytest.mark.parametrize("name", ["mode", "majority", "unanimous"])
@pytest.mark.parametrize("scale", [Boolean(), ABC], ids=["boolean", "labels"])
def test_categorical_rules_settle_exactly_when_no_completion_differs(name, scale):
    rule = Rule(name, scale)
    checked = {True: 0, False: 0}
    for n, pending in itertools.product(range(5), range(4)):
        for cast in itertools.combinations_with_replacement([*scale.values, None], n):
            votes = [vote(ABSTAINED if v is None else v) for v in cast]
            for quorum in range(1, n + pending + 1):
                ends = {
                    outcome([*votes, *(vote(v) for v in more if v is not None)], rule, quorum)
                    for more in completions(scale.values, pending)
                }
                expected = len(ends) == 1
                assert settled(votes, rule, quorum, [1.0] * pending) is expected, (cast, pending, quorum, ends)
                checked[expected] += 1
    assert min(checked.values()) > 100


@pytest.mark.parametrize("name", ["mean_std", "median", "trimmed_mean", "min", "max"])
def test_numeric_rules_settle_only_when_no_completion_differs(name):
    rule = Rule(name, Numeric(0, 4, 2))
    steps = (0.0, 1.0, 3.0, 4.0)
    stopped = 0
    for n, pending in itertools.product(range(4), range(3)):
        for cast in itertools.combinations_with_replacement(steps, n):
            votes = [vote(v) for v in cast]
            for quorum in range(1, n + pending + 1):
                ends = {
                    outcome([*votes, *(vote(v) for v in more if v is not None)], rule, quorum)
                    for more in completions(steps, pending)
                }
                if settled(votes, rule, quorum, [1.0] * pending):
                    assert len(ends) == 1, (cast, pending, quorum, ends)
                    stopped += pending > 0
                elif name in ("median", "min", "max"):
                    assert len(ends) > 1, (cast, pending, quorum)
    assert stopped > 0 or name == "mean_std"  # a mean is settled by its last vote only


@given(
    name=st.sampled_from(["mean_std", "median", "trimmed_mean", "min", "max"]),
    cast=st.lists(st.tuples(st.sampled_from([0.0, 2.0, 4.0]), st.sampled_from([0.0, 0.0, 0.5, 1.0])), max_size=4),
    pending=st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=2),
    quorum=st.integers(1, 3),
)
@settings(max_examples=300, deadline=None)
def test_weights_of_nought_and_others_are_foreseen_too(name, cast, pending, quorum):
    rule = Rule(name, Numeric(0, 4, 2))
    votes = [vote(value, weight) for value, weight in cast]
    if not settled(votes, rule, quorum, pending):
        return
    ends = set()
    for more in completions((0.0, 1.0, 2.0, 3.0, 4.0), len(pending)):
        late = [vote(value, weight) for value, weight in zip(more, pending, strict=True) if value is not None]
        ends.add(decide([*votes, *late], rule, quorum, 9).value)
    assert len(ends) == 1


def test_a_tie_break_function_is_never_foreseen():
    rule = Rule("mode", Boolean(), tie_break=lambda values: True)
    assert not settled([vote(True), vote(False)], rule, 1, [1.0])
    assert settled([vote(True), vote(True)], rule, 1, [1.0])


def test_waves_ask_the_fewest_that_could_settle():
    rule = Rule("majority", Boolean())
    assert next_wave([], rule, 3, [1.0] * 5) == 3
    assert next_wave([vote(True), vote(True), vote(False)], rule, 3, [1.0] * 2) == 1
    assert next_wave([vote(True)] * 3, rule, 3, [1.0] * 2) == 0
    assert next_wave([], Rule("unanimous", Boolean()), 1, [1.0] * 5) == 2
    assert next_wave([], Rule("min", Numeric(0, 1)), 1, [1.0] * 3) == 1


ENDS = st.sampled_from([True, False, "abstain", "fail"])


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.tuples(ENDS, st.sampled_from([0.5, 1.0, 2.0])), min_size=1, max_size=6),
    st.lists(ENDS, max_size=2),
    st.sampled_from(["mode", "majority", "unanimous"]),
    st.data(),
)
def test_the_panel_gives_the_full_panels_verdict(seats, stand_ins, rule, data):
    quorum = data.draw(st.integers(1, len(seats)))
    asked = {"full": 0, "stopped": 0}

    def jury(stop):
        def spec(name, end, weight):
            async def judge(case):
                asked["stopped" if stop else "full"] += 1
                if end == "fail":
                    raise RuntimeError("down")
                return None if end == "abstain" else end

            return JudgeSpec(function=judge, id=name, weight=weight)

        return llm_jury(
            criteria="x",
            judges=[spec(f"j{i}", end, w) for i, (end, w) in enumerate(seats)],
            replacement_judges=[spec(f"s{i}", end, 1.0) for i, end in enumerate(stand_ins)] or [spec("s", "fail", 1.0)],
            aggregator=rule,
            min_successful_judges=quorum,
            stop=stop,
        )

    async def both():
        return await jury(None).judge("q", "a"), await jury("decided").judge("q", "a")

    full, stopped = asyncio.run(both())
    assert (full.status, full.value, full.passed) == (stopped.status, stopped.value, stopped.passed)
    assert asked["stopped"] <= asked["full"]
    assert stopped.calls_saved == len(seats) - sum(not v.replacement for v in stopped.votes)


def test_calls_not_made_are_counted():
    judges = [JudgeSpec(function=lambda case: True, id=f"j{i}") for i in range(5)]
    result = llm_jury(criteria="x", judges=judges, repetitions=2, stop="decided").judge_sync("q", "a")
    assert (result.value, result.seats, len(result.votes), result.calls, result.calls_saved) == (True, 5, 3, 6, 4)


def test_the_agreement_of_a_panel_that_was_not_asked_in_full_is_unknown():
    def says(value):
        return lambda case: value

    def seats(*values):
        return [JudgeSpec(function=says(v), id=str(i)) for i, v in enumerate(values)]

    def judged(values, stop=None):
        return llm_jury(criteria="x", judges=seats(*values), stop=stop).judge_sync("q", "a")

    def compared(stop=None):
        return llm_jury_pairwise(judges=seats("tie", "tie", "A"), stop=stop).compare_sync("q", "a", "b")

    early, full = judged((True, True, False), "decided"), judged((True, True, False))
    assert (early.calls_saved, early.agreement, full.agreement) == (1, None, 2 / 3)
    early, full = compared("decided"), compared()
    assert (early.winner, early.calls_saved, early.agreement) == ("tie", 2, None)
    assert (full.winner, full.calls_saved, full.agreement) == ("tie", 0, 1.0)  # the third flips: no vote
    asked_all = judged((True, False, True), "decided")
    assert (asked_all.calls_saved, asked_all.agreement) == (0, 2 / 3)


def test_own_aggregators_cannot_stop_early():
    with pytest.raises(ValueError, match="built-in aggregator"):
        PanelSpec(judges=(JudgeSpec(model="a/b"),), aggregator=lambda votes: True, stop="decided")
