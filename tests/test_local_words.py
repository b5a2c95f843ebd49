"""Reply schemas for a small model, and verdicts of one word."""

from __future__ import annotations

import json
import math

import pytest

from jury.errors import ConfigError
from jury.providers.local_words import (
    bounded,
    choices,
    for_small_model,
    longest,
    object_of,
    one_word_grammar,
    openings,
    sentence_grammar,
    short_reasons,
    value_first,
    verdict_of,
    whole_words,
)
from jury.scales import Boolean, Labels, Numeric, reply_schema

BOOLEAN = reply_schema(Boolean())


def test_the_choice_to_abstain_is_left_out():
    schema = for_small_model(BOOLEAN)
    assert schema["properties"] == {
        "explanation": {"type": "string", "maxLength": 400},
        "value": {"type": "boolean"},
    }
    assert schema["required"] == ["explanation", "value"]
    assert BOOLEAN["required"] == ["explanation", "abstain", "value"]  # the judge's own stays as it was


def test_the_value_can_be_put_first():
    assert list(value_first(BOOLEAN)["properties"]) == ["value", "explanation", "abstain"]
    assert value_first(BOOLEAN)["properties"] == BOOLEAN["properties"]
    assert value_first({"type": "object"}) == {"type": "object"}


def test_reasons_can_be_kept_short():
    assert short_reasons(BOOLEAN)["properties"]["explanation"] == {"type": "string", "maxLength": 60}
    assert BOOLEAN["properties"]["explanation"] == {"type": "string"}
    assert short_reasons({"type": "object"}) == {"type": "object"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "It is Paris, as the reference has it, and not Lyon, which the",
            "It is Paris, as the reference has it, and not Lyon, which…",
        ),
        (
            "The context says that the library on the hill opens at, elev",
            "The context says that the library on the hill opens at…",
        ),
        ("The reference says 180 minutes, and the answer says 150 mins.", None),
        ("It is short", None),
    ],
)
def test_reasons_cut_at_their_bound_end_with_a_whole_word(said, expected):
    schema = short_reasons(BOOLEAN)
    reply = json.dumps({"value": True, "explanation": said})
    assert json.loads(whole_words(reply, schema)) == {"value": True, "explanation": expected or said}
    assert whole_words("not JSON", schema) == "not JSON"
    assert whole_words("[1]", schema) == "[1]"


PAIR = reply_schema(Labels(["A", "B", "tie"]))


def sentence(schema, bound=60):
    return value_first(short_reasons(schema, bound))


@pytest.mark.parametrize(
    ("schema", "said", "expected"),
    [
        (BOOLEAN, "True. The capital is Paris.", {"value": True, "explanation": "The capital is Paris."}),
        (BOOLEAN, "False. It is Fe, not Ir", {"value": False, "explanation": "It is Fe, not Ir"}),
        (
            BOOLEAN,
            "True. " + "word " * 12,
            {"value": True, "explanation": "word word word word word word word word word word word…"},
        ),
        (
            PAIR,
            "Response B is better because it is right.",
            {"value": "B", "explanation": "Response B is better because it is right."},
        ),
        (
            PAIR,
            "Neither response is better because both are right.",
            {"value": "tie", "explanation": "Neither response is better because both are right."},
        ),
    ],
)
def test_a_sentence_is_read_as_the_object_of_its_schema(schema, said, expected):
    assert json.loads(object_of(said, sentence(schema))) == expected


def test_a_sentence_without_an_opening_is_left_for_the_parser_to_refuse():
    assert object_of("Perhaps.", sentence(BOOLEAN)) == "Perhaps."


def test_only_a_verdict_in_front_of_its_reasons_is_asked_for_as_a_sentence():
    assert openings(sentence(BOOLEAN))
    assert openings(sentence(PAIR))
    assert openings(BOOLEAN) == openings(short_reasons(PAIR)) == {}  # the reasons first
    assert openings(sentence(reply_schema(Labels(["good", "bad"])))) == {}
    assert openings(sentence(reply_schema(Numeric()))) == {}


def test_the_grammar_of_a_sentence_holds_its_openings_and_the_bound_of_the_schema():
    grammar = sentence_grammar(sentence(BOOLEAN, 44))
    assert 'OPENING: "True. " | "False. "' in grammar
    assert r"REASON: /[^\s][^\n]{0,43}/" in grammar


def test_other_schemas_are_only_bounded():
    schema = {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["a"]},
            "quotes": {"type": "array", "items": {"type": "string"}},
            "few": {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
            "long": {"type": "string", "minLength": 900},
            "date": {"type": "string", "format": "date"},
        },
    }
    properties = for_small_model(schema)["properties"]
    assert properties["type"] == {"type": "string", "enum": ["a"]}
    assert properties["quotes"] == {"type": "array", "items": {"type": "string", "maxLength": 400}, "maxItems": 5}
    assert properties["few"]["maxItems"] == 2
    assert properties["long"]["maxLength"] == 900
    assert "maxLength" not in properties["date"]
    assert bounded([{"type": "string"}, 1]) == [{"type": "string", "maxLength": 400}, 1]


def test_a_list_may_take_more_tokens_than_one_element():
    one = longest(bounded({"type": "string"}))
    many = longest(bounded({"type": "array", "items": {"type": "string"}}))
    assert one >= 200
    assert many >= 5 * one


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (Boolean(), {"true": True, "false": False}),
        (Labels(["good", "bad"]), {"good": "good", "bad": "bad"}),
    ],
)
@pytest.mark.parametrize("abstain", [True, False])
def test_the_words_are_those_of_the_scale(scale, expected, abstain):
    assert choices(reply_schema(scale, abstain=abstain)) == expected


@pytest.mark.parametrize("schema", [None, {}, reply_schema(Numeric()), {"properties": {"result": {"type": "boolean"}}}])
def test_a_number_is_no_word(schema):
    with pytest.raises(ConfigError, match="one_token"):
        choices(schema)


def test_the_grammar_quotes_the_words():
    assert one_word_grammar(["true", 'a "b"', "é"]) == 'root ::= "true" | "a \\"b\\"" | "é"'


def reply(first: dict[str, float], words=None, schema=BOOLEAN, text="true"):
    odds = [(token, math.log(p)) for token, p in first.items()]
    return verdict_of(text, odds, words or {"true": True, "false": False}, schema)


def test_all_spellings_of_a_word_count_together():
    assert reply({"False": 0.4, " false": 0.3, "true": 0.2, "I": 0.1}) == {
        "explanation": "One word, no reasons: false, with 78% of the probability.",
        "value": False,
    }


def test_unsure_is_an_abstention_where_the_schema_has_one():
    first = {"true": 0.55, "false": 0.45}
    assert reply(first) == {
        "explanation": "One word, no reasons: true, with 55% of the probability.",
        "abstain": True,
        "value": None,
    }
    assert reply(first, schema=reply_schema(Boolean(), abstain=False))["value"] is True


def test_words_that_begin_alike_have_no_probability():
    words = {"very good": "very good", "very bad": "very bad"}
    assert reply({"very": 0.9, "": 0.1}, words, text="very bad") == {
        "explanation": "One word, no reasons: very bad.",
        "value": "very bad",
    }


def test_without_odds_the_written_word_counts():
    assert reply({}, text="false") == {"explanation": "One word, no reasons: false.", "value": False}


@pytest.mark.parametrize("said", ["这个回答是正确的" * 8, "好 " + "这个回答是正确的" * 8])
def test_reasons_in_a_script_without_blanks_are_kept(said):
    schema = {"properties": {"value": {"type": "boolean"}, "explanation": {"type": "string", "maxLength": len(said)}}}
    reply = json.dumps({"value": True, "explanation": said})
    assert json.loads(whole_words(reply, schema))["explanation"] == f"{said}…"
    whole = json.dumps({"value": True, "explanation": f"{said[1:]}。"})
    assert whole_words(whole, schema) == whole
