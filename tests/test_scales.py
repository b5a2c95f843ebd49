"""Scales: which values are read, which pass, which arguments are refused, and what the reply schema asks for."""

from __future__ import annotations

import math
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury.errors import ConfigError, ReplyError
from jury.scales import Boolean, Labels, Numeric, Scale, reply_schema

GRADES = Labels({"good": "all right", "fair": None, "NA": None}, passing=["good"], na="NA")
STARS = Numeric(1, 5, threshold=3.5)


def refusal(scale: Scale, value: Any) -> str:
    with pytest.raises(ReplyError) as caught:
        scale.read(value)
    return caught.value.kind


@pytest.mark.parametrize("value", [True, "true", " TRUE ", np.True_])
def test_boolean_reads_true(value: Any) -> None:
    assert Boolean().read(value) is True


@pytest.mark.parametrize("value", [1, 0, 1.0, None, "1", "yes", "PASS", "", "true.", [True], {"a": True}])
def test_boolean_refuses_what_only_looks_like_one(value: Any) -> None:
    assert refusal(Boolean(), value) == "wrong_type"


@pytest.mark.parametrize(("value", "label"), [("good", "good"), (" GOOD\n", "good"), ("na", "NA")])
def test_a_label_is_read_but_for_case_and_outer_spaces(value: str, label: str) -> None:
    assert GRADES.read(value) == label


def test_an_accent_is_one_whichever_way_it_is_encoded() -> None:
    composed, apart = "caf\u00e9", "cafe\u0301"
    assert Labels([composed, "tea"]).read(apart.upper()) == composed
    assert Labels([apart, "tea"]).read(composed) == apart
    with pytest.raises(ConfigError, match="twice"):
        Labels([composed, apart])


def test_a_set_of_labels_is_the_same_prompt_in_every_process() -> None:
    names = {f"label {n}" for n in range(50)}
    assert Labels(names).values == tuple(sorted(names))  # pyright: ignore[reportArgumentType]


def test_an_error_names_the_first_of_many_labels() -> None:
    many = Labels([f"label {n}" for n in range(20_000)], passing=[f"label {n}" for n in range(20_000)])
    with pytest.raises(ReplyError) as refused:
        many.read("other")
    assert "'label 0', 'label 1'" in refused.value.detail
    assert "19970 more" in refused.value.detail
    assert len(refused.value.detail) < 1000


@pytest.mark.parametrize("value", ["goo", "good.", "good/fair", "very good", "", "inconclusive", "g ood"])
def test_other_texts_are_no_label(value: str) -> None:
    assert refusal(GRADES, value) == "bad_verdict"


@pytest.mark.parametrize("value", [True, 1, None, ["good"], {"label": "good"}])
def test_a_label_is_a_text(value: Any) -> None:
    assert refusal(GRADES, value) == "wrong_type"


@pytest.mark.parametrize("value", [1, 5, 1.0, "4", " 2.5 ", "25e-1", np.float64(3.0), np.int64(3)])
def test_numbers_are_read_as_floats(value: Any) -> None:
    read = STARS.read(value)

    assert isinstance(read, float)
    assert read == float(value)


@pytest.mark.parametrize("value", [0.99, 5.01, -1, 10**400, -(10**400), math.nan, math.inf, "nan", "-inf", "1e999"])
def test_numbers_off_the_scale_are_refused_not_clamped(value: Any) -> None:
    assert refusal(STARS, value) == "out_of_range"


@pytest.mark.parametrize("value", [True, np.True_, None, "high", "4/5", "80%", "1_0", "４", "", [4], {"score": 4}])
def test_a_number_is_a_number(value: Any) -> None:
    assert refusal(STARS, value) == "wrong_type"


@settings(deadline=None)
@given(st.floats() | st.integers() | st.text() | st.none() | st.booleans() | st.binary())
def test_what_is_read_lies_on_the_scale(value: Any) -> None:
    for scale in (Boolean(), GRADES, STARS):
        try:
            read = scale.read(value)
        except ReplyError:
            continue
        assert scale.read(read) == read
        assert read in scale.values if scale.values else STARS.low <= float(read) <= STARS.high


def test_what_passes() -> None:
    assert [Boolean().passes(v) for v in (True, False)] == [True, False]
    assert [GRADES.passes(v) for v in ("good", "fair", "NA")] == [True, False, None]
    assert Labels(["a", "b"]).passes("a") is None
    assert [STARS.passes(v) for v in (3.5, 3.49, 5.0)] == [True, False, True]
    assert Numeric(threshold=None).passes(1.0) is None


def test_the_threshold_forgives_float_noise_only() -> None:
    mean = sum([0.7, 0.7, 0.7]) / 3

    assert mean < 0.7
    assert Numeric(threshold=0.7).passes(mean) is True
    assert Numeric(threshold=0.7).passes(0.6999) is False


@pytest.mark.parametrize(
    ("labels", "keywords", "says"),
    [
        ([], {}, "two"),
        (["a"], {}, "two"),
        ({"a": "all"}, {}, "two"),
        ("ab", {}, "one text"),
        (["a", "b", "a"], {}, "'a'"),
        (["a", "A "], {}, "twice"),
        (["a", " "], {}, "blank"),
        (["a", 1], {}, "1"),
        ([True, False], {}, "True"),
        (["a", "Inconclusive"], {}, "Inconclusive"),
        (["a", "b"], {"passing": ["c"]}, "'c'"),
        (["a", "b"], {"passing": "a"}, "passing_labels"),
        (["a", "b"], {"passing": [["a"]]}, "passing_labels"),
        (["a", "b"], {"na": "c"}, "'c'"),
        (["a", "b"], {"na": "b", "passing": ["b"]}, "neither"),
    ],
)
def test_labels_that_are_refused(labels: Any, keywords: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Labels(labels, **keywords)


@pytest.mark.parametrize(
    ("keywords", "says"),
    [
        ({"low": 1, "high": 1}, "score_range"),
        ({"low": 2, "high": 1}, "score_range"),
        ({"high": math.inf}, "score_range"),
        ({"low": math.nan}, "score_range"),
        ({"low": "0"}, "score_range"),
        ({"high": True}, "score_range"),
        ({"threshold": 1.5}, "1.5"),
        ({"threshold": math.nan}, "threshold"),
        ({"threshold": True}, "threshold"),
        ({"low": 1, "high": 5}, "threshold 0.5 .*score_range"),
        ({"levels": ["one"]}, "levels"),
        ({"levels": "ab"}, "levels"),
        ({"levels": ["one", 2]}, "levels"),
        ({"levels": ["one", " "]}, "blank"),
        ({"levels": ["one", "One"]}, "differ"),
        ({"levels": [str(i) for i in range(11)]}, "11"),
    ],
)
def test_numbers_that_are_refused(keywords: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Numeric(**keywords)


def test_descriptions() -> None:
    assert Boolean("it is right", "it is wrong").describe() == "true if it is right, false if it is wrong"
    assert GRADES.describe() == 'one of "good" (all right), "fair", "NA"'
    assert STARS.describe() == "a number from 1 to 5"
    assert Numeric(levels=["poor", "fair", "good"]).describe() == "a number from 0 to 1: 0 = poor, 0.5 = fair, 1 = good"


def test_numbers_are_told_in_full_where_digits_matter() -> None:
    assert Numeric(0, 1234567.5, threshold=None).describe() == "a number from 0 to 1234567.5"
    with pytest.raises(ReplyError, match=r"1\.0000000001 lies outside 0 to 1$"):
        Numeric().read(1.0000000001)
    with pytest.raises(ReplyError, match="7 lies outside 1 to 5"):
        STARS.read(7.0)


@pytest.mark.parametrize("scale", [Boolean(), GRADES, STARS], ids=["boolean", "labels", "numeric"])
def test_the_reply_schema_asks_for_the_reasons_first(scale: Scale) -> None:
    schema = reply_schema(scale)

    assert list(schema["properties"]) == schema["required"] == ["explanation", "abstain", "value"]
    jsonschema.Draft202012Validator.check_schema(schema)
    for value in scale.values or (1, 2.5):
        jsonschema.validate({"explanation": "", "abstain": False, "value": value}, schema)
    jsonschema.validate({"explanation": "", "abstain": True, "value": None}, schema)
    for reply in ({"explanation": "", "value": None}, {"explanation": "", "abstain": False, "value": "excellent"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(reply, schema)


def test_the_reply_schema_without_abstention() -> None:
    schema = reply_schema(STARS, abstain=False)

    assert list(schema["properties"]) == schema["required"] == ["explanation", "value"]
    assert schema["properties"]["value"] == {"type": "number", "minimum": 1, "maximum": 5}


def test_nought_has_no_sign():
    assert str(Numeric().read(-0.0)) == str(Numeric().read("-0")) == "0.0"


def test_the_slack_of_a_threshold_fits_the_scale():
    tiny = Numeric(0, 1e-10, 5e-11)
    assert [tiny.passes(v) for v in (0.0, 4.9e-11, 5e-11, 1e-10)] == [False, False, True, True]
    assert [Numeric(-5, 5, 0).passes(v) for v in (-1e-10, -1e-8)] == [True, False]
    assert [Numeric(0, 1, 0.7).passes(v) for v in (0.6999999999999998, 0.69999)] == [True, False]
    assert [Numeric(0, 1e12, 7e11).passes(v) for v in (7e11 - 1, 7e11 - 1e4)] == [True, False]
