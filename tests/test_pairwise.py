"""The pairwise jury as a user meets it."""

from __future__ import annotations

import json

import pytest

from jury import (
    AgentResponse,
    Comparison,
    ConfigError,
    DataError,
    DataPoint,
    JudgeSpec,
    ScriptedProvider,
    Verdict,
    llm_jury_pairwise,
    position_bias,
    win_rate,
)
from jury.pairwise import reconcile


def judge(ab, ba, id="j"):
    """A judge that says `ab` when A is shown first and `ba` when B is."""

    async def function(case):
        return ab if case.order == "ab" else ba

    return JudgeSpec(function=function, id=id)


def compare(*judges, **more):
    return llm_jury_pairwise(criteria="c", judges=list(judges), **more).compare_sync("q", "first", "second")


def test_a_vote_needs_the_same_response_in_both_orders():
    c = compare(judge("A", "B"))
    assert (c.winner, c.votes[0].vote, c.votes[0].completed, c.votes[0].flipped) == ("A", "A", True, False)


@pytest.mark.parametrize(
    ("ab", "ba", "kind"), [("A", "A", "primacy"), ("B", "B", "recency"), ("A", "tie", "mixed"), ("tie", "B", "mixed")]
)
def test_flips_are_told_apart_and_are_no_votes(ab, ba, kind):
    c = compare(judge(ab, ba))
    vote = c.votes[0]
    assert (c.winner, vote.vote, vote.flipped, vote.flip_kind, vote.completed) == (
        "inconclusive",
        None,
        True,
        kind,
        True,
    )
    assert c.status == "inconclusive"
    assert kind in c.explanation


def test_a_missing_order_is_no_flip():
    c = compare(judge("A", None))
    assert (c.votes[0].flipped, c.votes[0].completed, c.votes[0].abstained) == (False, False, True)
    assert c.reason == "abstained"


def test_the_plurality_wins_and_a_tie_is_a_choice():
    assert compare(judge("A", "B", "a"), judge("A", "B", "b"), judge("B", "A", "c")).winner == "A"
    assert compare(judge("tie", "tie", "a"), judge("tie", "tie", "b"), judge("B", "A", "c")).winner == "tie"
    split = compare(judge("A", "B", "a"), judge("B", "A", "b"))
    assert (split.winner, split.reason) == ("inconclusive", "tie")


def test_one_order_only():
    c = compare(judge("A", "A"), swap=False)
    assert (c.winner, c.votes[0].completed, c.calls) == ("A", False, 1)


def test_the_swapped_order_shows_the_second_response_first():
    provider = ScriptedProvider([{"explanation": "e", "value": "A"}, {"explanation": "e", "value": "B"}])
    jury = llm_jury_pairwise(criteria="c", judges=[JudgeSpec(model="scripted/x", provider=provider)])
    c = jury.compare_sync(question="Which?", response_a="ONE", response_b="TWO", reference="REF")
    assert c.winner == "A"
    first, second = (r.prompt for r in provider.requests)
    assert first.index("ONE") < first.index("TWO")
    assert second.index("TWO") < second.index("ONE")
    assert "REF" in first
    assert "Which?" in second
    rendered = jury.render("Which?", "ONE", "TWO", reference="REF")["scripted/x"]
    assert (rendered["user"], rendered["user_swapped"]) == (first, second)


def test_an_errored_side_calls_nobody_and_is_named():
    provider = ScriptedProvider([])
    jury = llm_jury_pairwise(judges=[JudgeSpec(model="scripted/x", provider=provider)])
    c = jury.compare_sync("q", "fine", AgentResponse(error="timeout"))
    assert (c.winner, c.status, c.errors, c.votes) == ("inconclusive", "not_judged", {"B": "timeout"}, ())
    assert "response B errored (timeout)" in c.explanation
    assert provider.requests == []


def test_stand_ins_are_asked_in_both_orders():
    def broken(case):
        raise RuntimeError("down")

    c = compare(JudgeSpec(function=broken, id="x"), replacement_judges=[judge("B", "A", "rex")])
    assert c.winner == "B"
    assert [(v.judge, v.replacement, v.failed_calls) for v in c.votes] == [("x", False, 2), ("rex", True, 0)]


def test_functions_may_name_the_sides():
    def longer(response_a, response_b):
        return "A" if len(response_a) > len(response_b) else "B"

    c = llm_jury_pairwise(judges=[longer]).compare_sync("q", "short", "much longer")
    assert (c.winner, c.votes[0].vote) == ("B", "B")
    with pytest.raises(ConfigError, match="expected_output"):
        llm_jury_pairwise(judges=[lambda expected_output, output: "A"])


def test_an_off_contract_verdict_costs_that_judge_only():
    c = compare(judge("A", "B", "a"), judge("left", "B", "b"), min_successful_judges=1)
    assert c.winner == "A"
    assert "'left'" in c.votes[1].error


def test_early_stopping_counts_both_orders():
    c = compare(*(judge("A", "B", i) for i in "abcde"), stop="decided")
    assert (c.winner, len(c.votes), c.calls, c.calls_saved) == ("A", 3, 6, 4)


def test_comparisons_dump_and_load_equal():
    c = compare(judge("A", "B", "a"), judge("A", "A", "b"), judge("A", "B", "c"))
    assert Comparison.from_json(c.to_json()) == c
    assert json.loads(c.to_json())["winner"] == "A"
    assert c.flips == 1


def test_a_data_point_is_no_question():
    jury = llm_jury_pairwise(judges=[judge("A", "B")])
    for way in (jury.compare_sync, jury.render):
        with pytest.raises(DataError, match="not a DataPoint; give its parts by name"):
            way(DataPoint("q", expected_output="a"), "a", "b")


def test_many_pairs():
    jury = llm_jury_pairwise(judges=[judge("A", "B")])
    rows = [("q", "a", "b"), {"question": "q", "response_a": "a", "response_b": {"error": "down"}, "id": "2"}]
    results = list(jury.compare_many_sync(rows))
    assert [(c.winner, c.item_id) for c in results] == [("A", None), ("inconclusive", "2")]
    rate = win_rate(results)
    assert (rate.win_rate_a, rate.n_judged, rate.n_inconclusive, rate.coverage) == (1.0, 1, 1, 0.5)


def test_winners_in_words_and_what_a_tie_is_worth():
    assert win_rate([" a", "B", "TIE", "Inconclusive"], tie_value=1).win_rate_a == 2 / 3
    assert win_rate(["A", "tie"], tie_value=0).win_rate_a == 0.5
    for wrong in (None, True, 2, -0.1, float("nan"), "half"):
        with pytest.raises(ConfigError, match="tie_value"):
            win_rate(["A", "tie"], tie_value=wrong)
    with pytest.raises(ConfigError, match="'C' is no outcome"):
        win_rate(["C"])


def test_position_bias_counts_readable_pairs_only():
    results = [compare(judge("A", "B")), compare(judge("A", "A")), compare(judge("B", "B")), compare(judge("A", None))]
    bias = position_bias(results)
    assert (bias.flips, bias.both_orders_readable, bias.primacy, bias.recency, bias.rate) == (2, 3, 1, 1, 2 / 3)
    assert position_bias([]).rate is None
    assert position_bias(results, judge="nobody").rate is None


def test_reconcile_knows_the_slot_from_the_response():
    def said(value):
        return Verdict("scored", value)

    assert reconcile(said("A"), said("B")) == ("A", None, True)
    assert reconcile(said("tie"), said("tie")) == ("tie", None, True)
    assert reconcile(said("B"), Verdict("abstained")) == (None, None, False)
