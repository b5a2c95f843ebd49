"""Readings of a judge's reply: what counts as one clear object, what is an error and of which kind."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury.errors import REPLY_KINDS, ReplyError
from jury.parsing import find_object, read_fields, read_reply
from jury.scales import Boolean, Labels, Numeric

YES_NO = Boolean()
GRADES = Labels(["PASS", "FAIL", "NA"], passing=["PASS"], na="NA")
STARS = Numeric(1, 5, threshold=3)
YES = '{"explanation": "cites page 4", "value": true}'
NO = '{"explanation": "page 4 says otherwise", "value": false}'


def kind(reply: str | None, scale: Any = YES_NO) -> str | None:
    verdict = read_reply(reply, scale)
    return verdict.failure.kind if verdict.failure else None


@pytest.mark.parametrize(
    "reply",
    [
        NO,
        f"\ufeff{NO}",
        f"\u200b \n{NO}\n\u00a0",
        f"```json\n{NO}\n```",
        f"~~~\n{NO}\n~~~",
        f"```json\n{NO}",
        f"Here it is:\n\n```\n{NO}\n```\nAnything else?",
        f"My verdict: {NO} Thank you.",
        f"The set {{1, 2}} and {{{{input}}}} were given. {NO}",
        f"An open {{ brace in prose, then {NO}",
        f'A smiley {{"-: then {NO}',
        f"{NO} }}",
        f'Called with {{"city": "Oslo"}}.\n{NO}',
        f"Called with {{'city': 'Oslo'}}.\n{NO}",
        f"{NO}\n{NO}",
        f"<think>perhaps {YES}? no</think>{NO}",
        f"<THINK>perhaps {YES}?</THINK >\n{NO}",
        f'<thinking depth="3">perhaps {YES}?</thinking>\n```json\n{NO}\n```',
        f"<think>a <think>b</think> perhaps {YES}</think>{NO}",
        f'<think>they said "no, and {{stop}}</think>{NO}',
        f"perhaps {YES}\n</think>\n{NO}",
        f"<think></think>{NO}",
        f"<think/>{NO}",
        f"[THINK]perhaps {YES}[/THINK]{NO}",
        f"◁think▷perhaps {YES}◁/think▷{NO}",
        f"<|begin_of_thought|>perhaps {YES}<|end_of_thought|>{NO}",
        f"<|channel|>analysis<|message|>perhaps {YES}<|end|><|start|>assistant<|channel|>final<|message|>{NO}",
        f"{NO}\n<think>was that right? {YES}</think>",
        f"[Reasoning] The page says so. {NO}",
        '{"explanation": "it printed <think> and never closed it", "value": false}',
        'Sure. {"explanation": "it printed <think>hm</think>", "value": false}',
        '{"explanation": "it printed {\\"value\\": true} itself", "value": false}',
        '{"explanation": "line one\nline two\ttab", "value": false}',
        '{"draft": {"value": true}, "value": false}',
        '{"value": "False"}',
        '{"value": false, "abstain": null}',
        '{"value": false, "abstain": "false"}',
        '{"v\\u0061lue": false}',
        '{"value": false, "Value": true}',
    ],
)
def test_one_clear_object_is_read(reply: str) -> None:
    verdict = read_reply(reply, YES_NO)

    assert verdict.failure is None
    assert (verdict.status, verdict.value) == ("scored", False)


@pytest.mark.parametrize(
    ("expected", "reply"),
    [
        ("empty", None),
        ("empty", ""),
        ("empty", " \n\t\ufeff"),
        ("empty", "<think>it is true</think>  "),
        ("no_json", "true"),
        ("no_json", "null"),
        ("no_json", '"true"'),
        ("no_json", json.dumps(YES)),
        ("no_json", "The value is true."),
        ("no_json", "I looked at {the transcript} and at {{log}}."),
        ("no_json", "<think>hm</think> The value is true."),
        ("bad_json", '{"value": true,}'),
        ("bad_json", '{"value": True}'),
        ("bad_json", '{"value" true}'),
        ("bad_json", '{"explanation": "a" "value": true}'),
        ("bad_json", '{"explanation": "never closed, "value": true}'),
        ("bad_json", "{'value': true}"),
        ("bad_json", "{value: true}"),
        ("bad_json", "{“value”: true}"),
        ("bad_json", '{"value": true // sure\n}'),
        ("bad_json", '{// sure\n"example": {"value": true}, "value": false}'),
        ("bad_json", "{'example': {\"value\": true}, 'value': false}"),
        ("bad_json", '{"value": true, "score": NaN}'),
        ("bad_json", '{"value": -Infinity}'),
        ("bad_json", f"{{'value': false}} or rather {YES}"),
        ("bad_json", '{"explanation": "costs \\$5", "value": true}'),
        ("truncated", '{"explanation": "ok", "value": tr'),
        ("truncated", '{"explanation": "ok", "value": true'),
        ("truncated", '{"value": true, "explanation": "The ans'),
        ("truncated", '{"value": true, "explanation": "The ans\\'),
        ("truncated", '{"value": true, "expl'),
        ("truncated", "My answer: {"),
        ("truncated", '```json\n{"explanation": "ok", "value": true\n```'),
        ("truncated", '[{"value": true}, {"value": fal'),
        ("truncated", f'{YES}\n{{"value": fal'),
        ("truncated", '{"example": {"value": true}, "value": fal'),
        ("truncated", f"<think>perhaps {YES}"),
        ("truncated", f"<think>a <think>b</think> perhaps {YES}"),
        ("truncated", f"<|channel|>analysis<|message|>perhaps {YES}<|end|>"),
        ("ambiguous", f"{YES}\n{NO}"),
        ("ambiguous", f"```json\n{YES}\n```\nOn reflection:\n```json\n{NO}\n```"),
        ("ambiguous", f"Format: {YES}\nAnswer: {NO}"),
        ("ambiguous", '{"value": true} {"value": 1}'),
        ("ambiguous", '{"value": true} {"abstain": true, "value": null}'),
        ("ambiguous", '{"value": true} {"abstain": true}'),
        ("ambiguous", '{"value": true, "explanation": "x", "value": false}'),
        ("ambiguous", '{"value": true, "v\\u0061lue": true}'),
        ("ambiguous", f"[{YES}, {NO}]"),
        ("ambiguous", '{"value": {"score": 1, "score": 5}}'),
        ("wrong_type", f"[{YES}]"),
        ("wrong_type", f"```json\n[\n{YES}\n]\n```"),
        ("wrong_type", "[]"),
        ("wrong_type", "[true]"),
        ("wrong_type", '{"value": 1}'),
        ("wrong_type", '{"value": null}'),
        ("wrong_type", '{"value": [true]}'),
        ("wrong_type", '{"value": {"answer": true}}'),
        ("wrong_type", '{"value": "yes"}'),
        ("wrong_type", '{"value": ""}'),
        ("wrong_type", '{"value": true, "abstain": 1}'),
        ("missing_field", "{}"),
        ("missing_field", '{"explanation": "cannot tell"}'),
        ("missing_field", '{"Value": true}'),
        ("missing_field", '{" value": true}'),
        ("missing_field", '{"result": {"value": true}}'),
        ("missing_field", '{"error": {"message": "overloaded", "code": 529}}'),
    ],
)
def test_everything_else_is_an_error_of_its_kind(expected: str, reply: str | None) -> None:
    assert expected in REPLY_KINDS
    assert kind(reply) == expected


def test_the_detail_says_what_is_wrong_with_the_json() -> None:
    failure = read_reply('Sure: {"explanation": "ok" "value": true}', YES_NO).failure

    assert failure is not None
    assert "Expecting ',' delimiter" in failure.detail


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        ("PASS", '"PASS"'),
        ("PASS", '" pass\\n"'),
        ("NA", '"na"'),
        ("bad_verdict", '"PASS."'),
        ("bad_verdict", '"PASS or FAIL"'),
        ("bad_verdict", '"ＰＡＳＳ"'),
        ("bad_verdict", '"PAS\\u200bS"'),
        ("bad_verdict", '"\\ud800"'),
        ("bad_verdict", '"N/A"'),
        ("wrong_type", "true"),
        ("wrong_type", "1"),
        ("wrong_type", '["PASS"]'),
    ],
)
def test_labels(expected: str, given: str) -> None:
    verdict = read_reply(f'{{"value": {given}}}', GRADES)

    assert (verdict.failure.kind if verdict.failure else verdict.value) == expected


def test_the_label_for_not_applicable_has_its_own_status() -> None:
    assert read_reply('{"value": "na"}', GRADES).status == "not_applicable"
    assert read_reply('{"value": "PASS"}', GRADES).status == "scored"


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        (1.0, "1"),
        (5.0, "5.0"),
        (4.0, '"4"'),
        (2.5, "25e-1"),
        ("bad_json", ".8"),
        ("bad_json", "+3"),
        ("bad_json", "03"),
        ("bad_json", "4 / 5"),
        ("out_of_range", "5.01"),
        ("out_of_range", "-1"),
        ("out_of_range", "1e999"),
        ("out_of_range", '"NaN"'),
        ("out_of_range", '"inf"'),
        ("out_of_range", "9" * 5000),
        ("out_of_range", "9" * 309),
        ("wrong_type", '"4/5"'),
        ("wrong_type", '"80%"'),
        ("wrong_type", '"4,5"'),
        ("wrong_type", '"４"'),
        ("wrong_type", '"1_0"'),
        ("wrong_type", "true"),
        ("wrong_type", "null"),
    ],
)
def test_numbers(expected: float | str, given: str) -> None:
    verdict = read_reply(f'{{"value": {given}}}', STARS)

    assert (verdict.failure.kind if verdict.failure else verdict.value) == expected


@pytest.mark.parametrize(
    "reply",
    [
        '{"explanation": "no source", "abstain": true}',
        '{"explanation": "no source", "abstain": true, "value": null}',
        '{"explanation": "no source", "abstain": true, "value": true}',
        '{"explanation": "no source", "abstain": "True", "value": null}',
    ],
)
def test_an_abstention_with_or_without_a_value(reply: str) -> None:
    verdict = read_reply(reply, YES_NO)

    assert (verdict.status, verdict.value, verdict.explanation) == ("abstained", None, "no source")


@pytest.mark.parametrize(
    ("explanation", "given"),
    [
        ("", None),
        ("", ""),
        ("because", "because"),
        ("one\ntwo", ["one", "two"]),
        ("7", 7),
        ('{"why": "é"}', {"why": "é"}),
    ],
)
def test_the_explanation_never_costs_the_verdict(explanation: str, given: Any) -> None:
    verdict = read_fields({"explanation": given, "value": True}, YES_NO)

    assert (verdict.value, verdict.explanation) == (True, explanation)
    assert read_fields({"value": True}, YES_NO).explanation == ""


def test_the_explanation_of_an_unusable_value_is_kept() -> None:
    verdict = read_reply('{"explanation": "half right", "value": 0.5}', YES_NO)

    assert verdict.status == "error"
    assert verdict.explanation == "half right"


@pytest.mark.parametrize(
    ("evidence", "given"),
    [
        (("step 2", "step 4"), ["step 2", "step 4"]),
        (("step 2",), "step 2"),
        ((), None),
        ((), []),
        (('{"step": 3}',), [{"step": 3}]),
    ],
)
def test_evidence_becomes_texts(evidence: tuple[str, ...], given: Any) -> None:
    assert read_fields({"evidence": given, "value": True}, YES_NO).evidence == evidence


def test_further_keys_are_kept() -> None:
    verdict = read_reply('{"value": true, "bad_calls": [{"step": 3}], "score": 1e999}', YES_NO)

    assert verdict.fields == {"bad_calls": [{"step": 3}], "score": "inf"}


def test_half_a_surrogate_pair_can_be_stored() -> None:
    verdict = read_reply(
        '{"explanation": "a\\ud83d b", "evidence": ["\\udc00"], "\\udc00": "\\udc00", "value": true}', YES_NO
    )

    assert verdict.explanation == "a? b"
    assert (verdict.evidence, verdict.fields) == (("?",), {"?": "?"})
    assert read_reply('{"explanation": "\\ud83d\\ude00", "value": true}', YES_NO).explanation == "😀"


def test_the_input_of_a_forced_tool_comes_first() -> None:
    assert read_reply("not json", YES_NO, {"value": True}).value is True
    assert read_reply(YES, YES_NO, NO).value is False
    assert read_reply(None, YES_NO, {}).failure == read_reply("{}", YES_NO).failure
    failure = read_reply(YES, YES_NO, [NO]).failure
    assert failure is not None
    assert failure.kind == "wrong_type"


def test_another_key_for_the_verdict() -> None:
    assert read_reply('{"verdict": "FAIL", "value": "PASS"}', GRADES, key="verdict").value == "FAIL"
    assert read_reply('{"value": "PASS"} {"verdict": "FAIL"}', GRADES, key="verdict").value == "FAIL"
    assert kind('{"verdict": "FAIL"}', GRADES) == "missing_field"


def test_the_caller_says_which_keys_make_objects_disagree() -> None:
    reply = '{"clarity": 2, "note": "a"} {"clarity": 2, "note": "b", "more": 1} {"n": 1}'

    assert find_object(reply, ("clarity",)) == {"clarity": 2, "note": "b", "more": 1}
    with pytest.raises(ReplyError, match="disagree"):
        find_object(reply, ("clarity", "note"))


@pytest.mark.parametrize(
    "reply",
    [
        "{" * 200_000,
        '{"' * 100_000,
        '{"a":' * 40_000,
        '{"a": "' + '\\"' * 100_000,
        "[" * 200_000,
        "{a " * 60_000,
        '{"a":b}' * 20_000,
        "<think>" * 30_000,
        "</think>" * 30_000,
        "{" + " " * 200_000 + "x",
        "[" + " " * 500 + '{"a":1},' * 20_000,
        '"' * 200_000,
    ],
    ids=lambda reply: reply[:7],
)
def test_hostile_replies_end_in_an_error(reply: str) -> None:
    """Each of them would take minutes with any reading that starts over at every brace."""
    for text in (reply, f"Sure: {reply}"):
        assert kind(text) in REPLY_KINDS


@pytest.mark.parametrize("depth", [250, 340, 500, 700, 5000, 50_000])
@pytest.mark.parametrize("ends", [("[", "]"), ('{"a":', "}")], ids=["list", "object"])
def test_json_that_is_too_deep_to_walk_is_an_error_of_the_reply(depth: int, ends: tuple[str, str]) -> None:
    deep = ends[0] * depth + "1" + ends[1] * depth
    whole = f'{{"explanation": "e", "value": true, "more": {deep}}}'
    shapes = [whole, f"So: {whole}.", f'{{"value": true, "explanation": {deep}}}', f'{{"value": {deep}}}', 2 * whole]
    for reply in shapes:
        assert kind(reply) == "bad_json"
    if depth <= 700:
        data = json.loads(whole)
        found = read_reply(None, YES_NO, data).failure
        assert found is not None
        assert found.kind == "bad_json"


def test_json_of_a_depth_that_people_use_is_read() -> None:
    deep = "[" * 150 + "1" + "]" * 150
    verdict = read_reply(f'{{"explanation": {deep}, "value": true, "more": {deep}}}', YES_NO)
    assert (verdict.value, verdict.explanation) == (True, "1")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
extras = st.dictionaries(st.text().filter(lambda k: k not in ("value", "abstain")), json_values, max_size=4)
prose = st.text(alphabet=st.characters(exclude_characters='{}[]<>"\u25c1\u25b7')).filter(lambda t: not t.isspace())


@settings(deadline=None)
@given(extras, st.sampled_from(["PASS", "FAIL", "NA"]), prose, prose, st.booleans())
def test_a_clear_object_is_found_in_any_prose(
    extra: dict[str, Any], value: str, before: str, after: str, fenced: bool
) -> None:
    body = json.dumps({**extra, "value": value}, ensure_ascii=False)
    body = f"```json\n{body}\n```" if fenced else body

    assert read_reply(f"{before}{body}{after}", GRADES).value == value


@settings(deadline=None)
@given(extras, st.booleans(), st.data())
def test_a_cut_reply_is_never_a_verdict(extra: dict[str, Any], value: bool, data: st.DataObject) -> None:
    reply = json.dumps({"value": value, **extra})
    cut = data.draw(st.integers(0, len(reply) - 1))

    assert read_reply(reply[:cut], YES_NO).status == "error"


@settings(deadline=None)
@given(st.text(alphabet='{}[]"\\:,truefalsn <>/hikv`\n', max_size=80) | st.text(max_size=60))
def test_no_text_makes_it_raise(reply: str) -> None:
    verdict = read_reply(reply, YES_NO)

    assert verdict.failure is None or verdict.failure.kind in REPLY_KINDS


@settings(deadline=None)
@given(st.permutations([YES, NO]), prose, st.sampled_from(["```json\n{}\n```", "{}", "Example: {}"]))
def test_two_verdicts_that_differ_are_none_in_any_order(both: list[str], between: str, shape: str) -> None:
    reply = between.join(shape.replace("{}", each) for each in both)

    assert kind(reply) == "ambiguous"


def test_a_flood_is_refused_and_a_long_clean_object_is_read():
    flood = read_reply("a {b} " * 800_000, Boolean())
    assert (flood.failure.kind, "too long" in flood.failure.detail) == ("bad_json", True)
    assert read_reply('{"explanation": "' + "x" * 3_000_000 + '", "value": true}', Boolean()).value is True
