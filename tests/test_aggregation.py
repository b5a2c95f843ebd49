"""Votes in, decision out: each rule, weights, ties, quorum, folding. The cases of `tests/conformance` say more."""

from __future__ import annotations

import asyncio
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury import Boolean, ConfigError, Failure, Judgment, Labels, Numeric, Verdict, Vote
from jury.aggregation import NUMERIC, Rule, decide, fold

AB = Labels(("a", "b", "c"), ("a",))
SCORE = Numeric(0, 10, 5)


def vote(value, weight=1.0, explanation="", judge="j"):
    return Vote(judge, Verdict("scored", value, explanation), weight=weight)


def failed(detail="down"):
    return Vote("f", Verdict("error", failure=Failure("timeout", detail)))


ABSTAINED = Vote("x", Verdict("abstained", explanation="cannot tell"))


def run(votes, scale=AB, rule=None, quorum=1, **more):
    return decide(votes, Rule.of(rule, scale, more.pop("tie_break", None)), quorum, len(votes), **more)


def test_plurality_and_its_ties():
    assert run([vote("a"), vote("a"), vote("b")]).value == "a"
    tie = run([vote("a"), vote("b")])
    assert (tie.status, tie.value, tie.reason, tie.passed) == ("inconclusive", "inconclusive", "tie", None)
    assert "tie between a (1) and b (1)" in tie.explanation
    assert "tie between a (1), b (1) and c (1)." in run([vote("a"), vote("b"), vote("c")]).explanation


def test_a_tie_of_unequal_counts_says_that_weights_made_it():
    halves = [vote("b", 0.5), vote("b", 0.5)]
    assert "a tie by weight between a (1) and b (2)" in run([vote("a"), *halves]).explanation


def test_a_tie_break_may_only_choose_what_was_voted_for():
    votes = [vote("a"), vote("b", explanation="why b")]
    chosen = run(votes, tie_break=lambda values: "b")
    assert (chosen.value, chosen.tie) == ("b", True)
    assert "why b" in chosen.explanation
    refused = run(votes, tie_break=lambda values: "c")
    assert (refused.reason, refused.tie) == ("tie", False)
    assert "'c'" in refused.explanation


def test_a_tie_break_that_fails_costs_no_vote():
    def fails(values):
        raise LookupError("no favourite")

    tie = run([vote("a"), vote("b")], tie_break=fails)
    assert (tie.value, tie.reason, tie.tie) == ("inconclusive", "tie", False)
    assert "the tie-break raised LookupError: no favourite" in tie.explanation
    judgments = [Judgment("j", Verdict("scored", v)) for v in ("a", "b")]
    assert fold(judgments, Rule.of(None, AB, fails)).status == "abstained"


@pytest.mark.parametrize("raised", [SystemExit(3), GeneratorExit(), asyncio.CancelledError()])
def test_what_would_end_the_process_or_its_task_costs_one_verdict(raised):
    def rule(given):
        raise raised

    votes = [vote("a"), vote("b")]
    assert run(votes, rule=rule).reason == "rule"
    assert "the aggregator raised" in run(votes, rule=rule).explanation
    assert "the tie-break raised" in run(votes, tie_break=rule).explanation


def test_what_a_tie_break_answers_is_held_against_the_votes_whatever_it_is():
    votes, two = [vote(True), vote(False)], np.array([True, False])
    for odd in (two, [True], 1, "true", "x" * 10_000, Unshowable()):
        d = run(votes, Boolean(), tie_break=lambda values, odd=odd: odd)
        assert (d.reason, d.tie) == ("tie", False), odd
        assert len(d.explanation) < 300
    assert run(votes, Boolean(), tie_break=lambda values: np.False_).value is False


def test_what_an_aggregator_answers_is_named_in_few_words():
    for odd in ("x" * 10_000, Unshowable(), [vote("a")] * 99):
        d = run([vote("a")], rule=lambda votes, odd=odd: odd)
        assert d.reason == "rule"
        assert d.explanation.startswith("No verdict: the aggregator gave no value of the scale: ")
        assert len(d.explanation) < 200


class Unshowable:
    def __repr__(self):
        raise TypeError("no words for it")


def test_async_rules_are_refused():
    async def later(values):
        return values[0]

    class Later:
        async def __call__(self, values):
            return values[0]

    for rule in (later, Later()):
        with pytest.raises(ConfigError, match="tie_break must be a plain function"):
            Rule.of(None, AB, rule)
        with pytest.raises(ConfigError, match="aggregator must be a plain function"):
            Rule.of(rule, AB)


@pytest.mark.parametrize("rule", ["mean_std", "median", "trimmed_mean"])
def test_a_vote_without_weight_moves_no_number(rule):
    votes = [vote(1.0), vote(3.0), vote(4.0), vote(9.0, 2.0)]
    without = run(votes, SCORE, rule).value
    for silent in (0.0, 3.5, 10.0):
        assert run([*votes, vote(silent, 0.0)], SCORE, rule).value == without
    assert run([vote(2.0, 0.0), vote(4.0, 0.0)], SCORE, rule).value == 3.0  # if none has weight, all count alike


@pytest.mark.parametrize("rule", ["mode", "majority"])
def test_where_no_vote_has_weight_all_count_alike(rule):
    assert run([vote("b", 0), vote("a", 0), vote("a", 0)], rule=rule).value == "a"
    assert run([vote("a", 0)], rule=rule).value == "a"
    assert run([vote("a", 0), vote("b", 0)], rule=rule).reason == "tie"
    assert run([vote("a", 0), vote("a", 0), vote("b", 1)], rule=rule).value == "b"


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e11])
def test_the_unit_of_the_weights_does_not_matter(unit):
    assert run([vote("a", 2 * unit), vote("b", unit)]).value == "a"
    assert run([vote("a", 2 * unit), vote("b", unit)], rule="majority").value == "a"
    assert run([vote("a", 0.1 * unit), vote("a", 0.2 * unit), vote("b", 0.3 * unit)]).reason == "tie"
    assert run([vote(1, unit), vote(2, unit), vote(9, unit)], SCORE, "median").value == 2
    assert run([vote(1, 0.3 * unit), vote(2, 0.1 * unit), vote(9, 0.2 * unit)], SCORE, "median").value == 1.5


def test_majority_counts_the_deciding_votes():
    assert run([vote("a"), vote("a"), ABSTAINED, failed(), failed()], rule="majority").value == "a"
    short = run([vote("a"), vote("a"), vote("b"), vote("c")], rule="majority")
    assert (short.reason, short.value) == ("no_majority", "inconclusive")


def test_unanimity():
    assert run([vote("a"), vote("a")], rule="unanimous").value == "a"
    assert run([vote("a"), vote("a"), vote("b")], rule="unanimous").reason == "no_majority"


def test_weights_count():
    assert run([vote("a", 3.0), vote("b"), vote("b")]).value == "a"
    assert run([vote("a", 0.1), vote("a", 0.2), vote("b", 0.3)]).reason == "tie"
    assert run([vote(2.0, 3.0), vote(10.0, 1.0)], SCORE).value == pytest.approx(4.0)  # (2*3 + 10) / 4
    assert run([vote(1.0, 5.0), vote(9.0), vote(10.0)], SCORE, "median").value == 1.0


def test_numbers():
    votes = [vote(1.0), vote(2.0), vote(9.0), vote(10.0)]
    got = {rule: run(votes, SCORE, rule).value for rule in NUMERIC}
    # by hand: mean 22/4; median (2+9)/2; without 1 and 10, (2+9)/2
    assert got == {"mean_std": 5.5, "median": 5.5, "trimmed_mean": 5.5, "min": 1.0, "max": 10.0}
    assert run([vote(1.0), vote(9.0)], SCORE, "trimmed_mean").value == 5.0
    decision = run([vote(0.25), vote(1.0)], Numeric(), "max")
    assert (decision.mean, decision.std) == (0.625, 0.375)
    assert decision.agreement is None


def test_a_mean_that_nobody_gave_is_explained_by_the_nearest_judge():
    decision = run([vote(1.0, explanation="low", judge="a"), vote(6.0, explanation="high", judge="b")], SCORE)
    assert decision.explanation == "b gave 6: high" if abs(6 - 3.5) < abs(1 - 3.5) else "a gave 1: low"


def test_equal_scores_at_the_threshold_pass():
    assert run([vote(0.7)] * 3, Numeric(0, 1, 0.7)).passed is True
    assert run([vote(0.6999)], Numeric(0, 1, 0.7)).passed is False


def test_no_verdict_says_why():
    assert run([failed(), failed("last")]).reason == "errors"
    assert "last" in run([failed(), failed("last")]).explanation
    assert run([ABSTAINED, ABSTAINED]).reason == "abstained"
    assert "cannot tell" in run([ABSTAINED]).explanation
    below = run([vote("a"), failed(), failed()], quorum=2)
    assert (below.reason, below.agreement, below.mean) == ("quorum", None, None)
    assert "1 of 3" in below.explanation


def test_a_missed_quorum_is_told_in_numbers():
    assert "1 of 2 judges decided, 2 are needed." in run([vote("a"), ABSTAINED], quorum=2).explanation
    lone = decide([], Rule.of(None, AB), 1, 1)
    assert "0 of 1 judge decided, 1 is needed." in lone.explanation


def test_agreement():
    assert run([vote("a"), vote("a"), vote("b")]).agreement == pytest.approx(2 / 3)
    assert run([vote("a")]).agreement is None
    assert run([vote("a"), vote("a")], single=True).agreement is None
    assert run([vote(True), vote(True), vote(False)], Boolean()).mean == pytest.approx(2 / 3)


def test_na_wins_as_a_label_and_is_neither_pass_nor_fail():
    scale = Labels(("PASS", "FAIL", "NA"), ("PASS",), na="NA")
    decision = run([vote("NA"), vote("NA"), vote("PASS")], scale)
    assert (decision.status, decision.value, decision.passed) == ("not_applicable", "NA", None)


def test_own_rules():
    assert run([vote("a"), vote("b")], rule=lambda votes: votes[-1].value).value == "b"
    assert run([vote("a")], rule=lambda votes: None).reason == "rule"
    off = run([vote("a")], rule=lambda votes: "z")
    assert (off.reason, off.value) == ("rule", "inconclusive")
    broken = run([vote("a")], rule=lambda votes: 1 / 0)
    assert broken.reason == "rule"
    assert "ZeroDivisionError" in broken.explanation


@pytest.mark.parametrize(
    ("rule", "scale", "says"),
    [("mean_std", AB, "does not fit"), ("mode", SCORE, "does not fit"), ("MODE", AB, "MODE"), ("x", AB, "not known")],
)
def test_rules_that_do_not_fit_are_refused(rule, scale, says):
    with pytest.raises(ConfigError, match=says):
        Rule.of(rule, scale)
    with pytest.raises(ConfigError, match="tie_break"):
        Rule.of(None, scale, "first")


def judgment(verdict):
    return Judgment("j", verdict)


def test_repetitions_fold_by_the_panels_rule():
    yes, no = Verdict("scored", True, "yes"), Verdict("scored", False)
    rule = Rule.of(None, Boolean())
    assert fold([judgment(yes), judgment(no), judgment(yes)], rule) is yes
    own_tie = fold([judgment(yes), judgment(no)], rule)
    assert own_tie.status == "abstained"
    assert fold([judgment(yes), judgment(no)], Rule.of(None, Boolean(), lambda v: False)) is no
    low, high = Verdict("scored", 1.0, "low"), Verdict("scored", 5.0, "high")
    assert fold([judgment(low), judgment(high)], Rule.of(None, SCORE)).value == 3.0
    assert fold([judgment(low), judgment(high)], Rule.of("max", SCORE)) is high
    assert fold([judgment(low), judgment(high)], Rule.of(lambda v: 1, SCORE)).value == 3.0
    error = failed().verdict
    assert fold([judgment(error), judgment(ABSTAINED.verdict)], rule).status == "abstained"
    assert fold([judgment(error), judgment(error)], rule).status == "error"
    assert fold([judgment(error), judgment(yes)], rule) is yes


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([0.5, 1.0, 1.5])), min_size=1), st.randoms())
def test_the_order_of_the_judges_never_matters(cast, random):
    votes = [vote(v, w) for v, w in cast]
    shuffled = list(votes)
    random.shuffle(shuffled)
    for rule in ("mode", "majority", "unanimous"):
        one, other = run(votes, rule=rule), run(shuffled, rule=rule)
        assert (one.value, one.reason, one.agreement) == (other.value, other.reason, other.agreement)


@given(st.lists(st.floats(0, 10), min_size=1, max_size=9))
def test_numeric_rules_stay_within_the_votes(values):
    for rule in NUMERIC:
        value = run([vote(v) for v in values], SCORE, rule).value
        assert min(values) - 1e-9 <= value <= max(values) + 1e-9
        assert math.isfinite(value)
