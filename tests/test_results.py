"""Results: sums of usage, what votes say of themselves, and the way to JSON and back."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury.errors import DataError
from jury.results import (
    Comparison,
    CriterionResult,
    EvidenceCheck,
    Failure,
    Judgment,
    Order,
    PairVote,
    PanelResult,
    PanelStatus,
    Reason,
    Rung,
    Status,
    Usage,
    Verdict,
    Vote,
    Winner,
)

numbers = st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(0, 10**9)
texts = st.text(max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
usages = st.just(Usage()) | st.builds(  # nothing told, or at least one call that was counted
    Usage,
    calls=st.integers(1, 10**9),
    input_tokens=st.none() | counts,
    output_tokens=st.none() | counts,
    cached_input_tokens=st.none() | counts,
    cost=st.none() | numbers,
)
failures = st.builds(Failure, texts, texts, st.none() | st.integers(100, 599))
verdict_fields: dict[str, Any] = {
    "status": st.sampled_from(get_args(Status)),
    "value": st.none() | st.booleans() | texts | numbers,
    "explanation": texts,
    "failure": st.none() | failures,
    "evidence": st.lists(texts, max_size=2).map(tuple),
    "fields": st.dictionaries(texts, json_values, max_size=2),
    "notes": st.lists(texts, max_size=2).map(tuple),
}
parts = st.builds(Verdict, **verdict_fields)
verdicts = st.builds(Verdict, **verdict_fields, parts=st.dictionaries(texts, parts, max_size=2))
judgments = st.builds(
    Judgment,
    judge=texts,
    verdict=verdicts,
    repetition=counts,
    order=st.sampled_from(get_args(Order)),
    rung=st.sampled_from(get_args(Rung)),
    reply=st.none() | texts,
    model=st.none() | texts,
    usage=st.none() | usages,
    calls=counts,
    retries=counts,
    reasked=st.booleans(),
    latency_s=numbers,
    notes=st.lists(texts, max_size=2).map(tuple),
    criterion=st.none() | texts,
    prompt=st.none() | texts,
    prompt_name=st.none() | texts,
    prompt_version=st.none() | texts,
)
own_judgments = st.lists(judgments, max_size=2).map(tuple)
checks = st.builds(EvidenceCheck, counts, counts, counts, counts, st.lists(texts, max_size=2).map(tuple))
votes = st.builds(Vote, texts, verdicts, own_judgments, st.booleans(), numbers, st.none() | checks)
pair_votes = st.builds(
    PairVote,
    judge=texts,
    vote=st.sampled_from(["A", "B", "tie", None]),
    flipped=st.booleans(),
    flip_kind=st.sampled_from(["primacy", "recency", "mixed", None]),
    completed=st.booleans(),
    explanation=texts,
    failure=st.none() | failures,
    abstained=st.booleans(),
    judgments=own_judgments,
    replacement=st.booleans(),
    weight=numbers,
)
common: dict[str, Any] = {
    "status": st.sampled_from(get_args(PanelStatus)),
    "reason": st.none() | st.sampled_from(get_args(Reason)),
    "explanation": texts,
    "seats": counts,
    "seats_used": counts,
    "agreement": st.none() | numbers,
    "tie": st.booleans(),
    "usage": st.none() | usages,
    "calls": counts,
    "calls_saved": counts,
    "item_id": st.none() | texts,
    "trace_id": st.none() | texts,
    "notes": st.lists(texts, max_size=2).map(tuple),
    "confidence": st.none() | st.floats(0.01, 1),
    "confidence_source": st.none() | st.sampled_from(["labels", "votes only", "none"]),
    "tier": st.none() | st.integers(1, 5),
    "for_people": st.booleans(),
    "checked": st.none() | st.sampled_from(["same", "differs"]),
}
criteria = st.builds(
    CriterionResult,
    key=texts,
    status=st.sampled_from(get_args(PanelStatus)),
    value=st.booleans() | texts | numbers,
    passed=st.none() | st.booleans(),
    reason=st.none() | st.sampled_from(get_args(Reason)),
    explanation=texts,
    agreement=st.none() | numbers,
    votes=st.lists(votes, max_size=1).map(tuple),
    partial=st.booleans(),
    code=st.booleans(),
)
panel_results = st.builds(
    PanelResult,
    **common,
    value=st.booleans() | texts | numbers,
    passed=st.none() | st.booleans(),
    mean=st.none() | numbers,
    std=st.none() | numbers,
    votes=st.lists(votes, max_size=2).map(tuple),
    error=st.none() | texts,
    criteria=st.lists(criteria, max_size=2).map(tuple),
    contested=st.booleans(),
    contradictions=st.dictionaries(texts, texts, max_size=2),
    partial=st.booleans(),
)
comparisons = st.builds(
    Comparison,
    **common,
    winner=st.sampled_from(get_args(Winner)),
    votes=st.lists(pair_votes, max_size=2).map(tuple),
    errors=st.dictionaries(st.sampled_from(["A", "B"]), texts),
)


def refuse_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


@settings(max_examples=60, deadline=None)  # the first load builds pydantic's validators
@given(panel_results | comparisons)
def test_a_result_loads_back_equal(result: PanelResult | Comparison) -> None:
    text = result.to_json()

    loaded = type(result).from_json(text)
    assert loaded == result
    assert loaded.to_json() == text
    assert [type(getattr(loaded, f.name)) for f in fields(result)] == [
        type(getattr(result, f.name)) for f in fields(result)
    ]
    json.loads(text, parse_constant=refuse_constant)
    assert type(result).from_dict(result.to_dict()) == result
    assert type(result).from_json(result.to_json(indent=2).encode()) == result


def test_the_strategies_above_fill_every_field() -> None:
    """A field that is added without a strategy would always be tested at its default."""
    rubric = {"criteria", "contested", "contradictions", "partial"}
    panel = {"value", "passed", "mean", "std", "votes", "error", *rubric}
    left_out = {"panel": panel, "pair": {"winner", "votes", "errors"}}

    assert {f.name for f in fields(PanelResult)} == common.keys() | left_out["panel"]
    assert {f.name for f in fields(Comparison)} == common.keys() | left_out["pair"]
    assert len(fields(Judgment)) == 17
    assert len(fields(PairVote)) == 11
    assert len(fields(Vote)) == 6
    assert len(fields(Verdict)) == 8
    assert len(fields(CriterionResult)) == 10
    assert len(fields(EvidenceCheck)) == 5
    assert len(fields(Usage)) == 5


@pytest.mark.parametrize("value", [True, False, 1.0, 0.0, 1, "true", "1", "inconclusive", "é\n\u2028"])
def test_a_value_keeps_its_type(value: Any) -> None:
    loaded = PanelResult.from_json(PanelResult("decided", value=value).to_json())

    assert loaded.value == value
    assert type(loaded.value) in (type(value), float if type(value) is int else type(value))


def test_the_dump_starts_with_what_people_look_for() -> None:
    result = PanelResult(
        "decided", value=True, passed=True, explanation="Right.", votes=(Vote("ana", Verdict("scored")),)
    )

    dump = result.to_dict()
    assert list(dump)[:7] == ["item_id", "value", "pass", "status", "reason", "explanation", "votes"]
    assert dump["pass"] is True
    assert "passed" not in dump
    assert dump["votes"][0]["verdict"]["status"] == "scored"
    assert next(iter(Comparison("decided", winner="A").to_dict())) == "item_id"
    assert "ü" in PanelResult("decided", explanation="ü").to_json()


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_dump_is_strict_json(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        PanelResult("decided", mean=number).to_json()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("{}", "status"),
        ('{"status": "perhaps"}', "status"),
        ('{"status": "decided", "seats": "many"}', "seats"),
        ('{"status": "decided", "votes": [{"judge": "ana"}]}', "votes.0.verdict"),
        ('{"status": "decided", "votes": [{"judge": "ana", "verdict": {"status": 1}}]}', "votes.0.verdict.status"),
    ],
)
def test_what_is_no_stored_result_is_named(text: str, says: str) -> None:
    with pytest.raises(DataError, match=says) as caught:
        PanelResult.from_json(text)
    assert caught.value.kind == "bad_json"


@pytest.mark.parametrize("text", ["[]", "null", "3"])
def test_json_of_another_shape_is_named(text: str) -> None:
    with pytest.raises(DataError, match="object"):
        Comparison.from_json(text)


def test_total_usage_knows_only_what_every_part_knows() -> None:
    one = Usage(calls=1, input_tokens=100, output_tokens=20, cost=0.5)
    cached = Usage(calls=2, input_tokens=10, output_tokens=2, cached_input_tokens=8, cost=0.25)
    unpriced = Usage(calls=1, input_tokens=1, output_tokens=None)

    assert Usage.total([]) is None
    assert Usage.total([None, None]) is None
    assert Usage.total([None, one]) == one
    assert Usage.total([one, cached]) == Usage(3, 110, 22, 8, 0.75)
    assert Usage.total([one, None, unpriced]) == Usage(2, 101, None, None, None)


def test_an_answer_that_reported_nothing_makes_the_cost_unknown_and_leaves_the_tokens() -> None:
    one = Usage(calls=1, input_tokens=100, output_tokens=20, cost=0.5)

    assert Usage.total([one, Usage()]) == Usage(1, 100, 20, None, None)
    assert Usage.total([Usage(), Usage()]) == Usage()


@settings(deadline=None)
@given(st.lists(st.none() | usages, max_size=4), st.lists(st.none() | usages, max_size=4))
def test_total_usage_does_not_depend_on_the_grouping(one: list[Usage | None], two: list[Usage | None]) -> None:
    grouped, flat = Usage.total([Usage.total(one), Usage.total(two)]), Usage.total(one + two)

    assert (grouped is None) == (flat is None)
    if grouped and flat:
        assert (grouped.calls, grouped.input_tokens) == (flat.calls, flat.input_tokens)
        assert (grouped.cached_input_tokens, grouped.output_tokens) == (flat.cached_input_tokens, flat.output_tokens)
        assert (grouped.cost is None) == (flat.cost is None)


def test_a_vote_says_what_became_of_it() -> None:
    good = Judgment("ana", Verdict("scored", True, "fine"), usage=Usage(1, 5, 1))
    failed = Judgment("ana", Verdict("error", failure=Failure("timeout", "after 90 s")))
    vote = Vote("ana", good.verdict, (good, failed))
    assert (vote.value, vote.explanation, vote.error, vote.failed_calls) == (True, "fine", None, 1)
    assert (vote.decided, vote.abstained, vote.failed, vote.usage) == (True, False, False, Usage(1, 5, 1))

    vote = Vote("ana", failed.verdict, (failed,))
    assert (vote.value, vote.error, vote.failed_calls) == (None, "timeout: after 90 s", 1)
    assert (vote.decided, vote.abstained, vote.failed, vote.usage) == (False, False, True, None)

    assert Vote("ana", Verdict("not_applicable", "NA")).value == "NA"
    unsure = Vote("ana", Verdict("abstained", value=True))
    assert (unsure.value, unsure.decided, unsure.abstained) == (None, False, True)


def test_a_pair_vote_says_what_became_of_it() -> None:
    failure = Failure("timeout", "after 90 s")
    one = Judgment("ana", Verdict("scored", "A"), order="ab", usage=Usage(1, 5, 1))
    two = Judgment("ana", Verdict("error", failure=failure), order="ba", usage=Usage(1, 6, 1))
    vote = PairVote("ana", failure=failure, judgments=(one, two))
    assert (vote.value, vote.decided, vote.failed, vote.error) == (None, False, True, "timeout: after 90 s")
    assert (vote.failed_calls, vote.usage) == (1, Usage(2, 11, 2))

    vote = PairVote("ana", "tie", completed=True)
    assert (vote.value, vote.decided, vote.failed, vote.error) == ("tie", True, False, None)


def test_a_result_counts_seats_and_stand_ins() -> None:
    failed, stand_in = Verdict("error", failure=Failure("timeout", "")), Verdict("scored", True)
    votes = (Vote("ana", failed), Vote("rex", failed, replacement=True), Vote("sam", stand_in, replacement=True))
    result = PanelResult("decided", votes=votes, usage=Usage(1, 1, 1, cost=0.25))

    assert (result.failed_seats, result.stand_ins_used, result.cost, result.inconclusive) == (1, 2, 0.25, False)
    pair = Comparison("inconclusive", votes=(PairVote("ana", flipped=True), PairVote("bo", failure=Failure("x", ""))))
    assert (pair.flips, pair.failed_seats, pair.stand_ins_used, pair.cost) == (1, 1, 0, None)
    assert (pair.inconclusive, PanelResult("not_judged").inconclusive) == (True, True)


def test_a_dump_needs_no_pydantic() -> None:
    code = (
        "import sys; from jury.results import PanelResult; PanelResult('decided').to_json();"
        "sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
