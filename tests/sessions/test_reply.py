"""Replies of session judges: the verdict decides, fields are read beside it, contradictions are noted."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from jsonschema import Draft202012Validator

from jury.errors import ConfigError
from jury.sessions.reply import ReplySpec, chosen_options, joint_schema, read_joint

ESCALATION = ReplySpec(
    "escalation",
    fields={"required": "boolean", "escalated": "boolean"},
    contradictions={"PASS": ["required and not escalated", "escalated and not required"], "NA": ["required"]},
)
POLICY = ReplySpec(
    "policy",
    verdicts=("PASS", "FAIL"),
    fields={"violations": [{"rule": "integer", "event": "string"}]},
    contradictions={"PASS": ["violations"], "FAIL": ["not violations"]},
)


def reply(verdict: Any, **fields: Any) -> dict[str, Any]:
    return {"evidence": ["e4"], **fields, "verdict": verdict}


class TestReading:
    def test_a_clean_reply(self):
        given = reply("FAIL", violations=[{"rule": 2, "event": "e4"}])
        Draft202012Validator(POLICY.schema()).validate(given)
        verdict, notes = POLICY.read(given)
        assert (verdict.status, verdict.value, verdict.evidence) == ("scored", "FAIL", ("e4",))
        assert verdict.fields["violations"] == [{"rule": 2, "event": "e4"}]
        assert verdict.explanation == "e4"
        assert notes == ()

    def test_what_is_forgiven_is_noted(self):
        verdict, notes = POLICY.read({"evidence": "e4", "violations": {"rule": 2, "event": "e4"}, "verdict": " fail "})
        assert verdict.value == "FAIL"
        assert verdict.evidence == ("e4",)
        assert verdict.fields["violations"] == [{"rule": 2, "event": "e4"}]
        assert notes == (
            "verdict written ' fail '",
            "evidence given as one text",
            "field violations: given as a single one",
        )

    @pytest.mark.parametrize(
        ("value", "kind"),
        [
            ("NA", "bad_verdict"),
            ("N/A", "bad_verdict"),
            ("PASS or FAIL", "bad_verdict"),
            (["PASS"], "wrong_type"),
            (None, "wrong_type"),
        ],
    )
    def test_other_verdicts_are_errors(self, value: Any, kind: str):
        verdict, _ = POLICY.read(reply(value, violations=[]))
        assert verdict.status == "error"
        assert verdict.failure is not None
        assert verdict.failure.kind == kind

    @pytest.mark.parametrize("written", ["N/A", "n/a", "Not applicable", " na"])
    def test_not_applicable_in_other_letters_where_it_may_be_said(self, written: str):
        verdict, notes = ESCALATION.read(reply(written, required=False, escalated=False))
        assert (verdict.status, verdict.value, notes) == ("not_applicable", "NA", (f"verdict written {written!r}",))

    def test_not_applicable_and_missing(self):
        verdict, notes = ESCALATION.read(reply("NA", required=False, escalated=False))
        assert (verdict.status, verdict.value, notes) == ("not_applicable", "NA", ())
        verdict, _ = ESCALATION.read({"evidence": []})
        assert verdict.failure is not None
        assert verdict.failure.kind == "missing_field"

    @pytest.mark.parametrize(
        ("fields", "notes"),
        [
            ({"required": True, "escalated": False}, ("PASS contradicts required and not escalated",)),
            ({"required": False, "escalated": True}, ("PASS contradicts escalated and not required",)),
            ({"required": True, "escalated": True}, ()),
            ({"required": True}, ("no field escalated",)),
            (
                {"required": "yes", "escalated": False},
                ("field required: expected boolean, got 'yes'", "PASS contradicts required and not escalated"),
            ),
        ],
    )
    def test_contradictions_keep_the_vote(self, fields: dict[str, Any], notes: tuple[str, ...]):
        verdict, found = ESCALATION.read(reply("PASS", **fields))
        assert verdict.value == "PASS"
        assert found == notes

    @pytest.mark.parametrize(
        ("verdict", "violations", "contradicted"),
        [("PASS", [], False), ("PASS", [{"rule": 1, "event": "e"}], True), ("FAIL", [], True), ("FAIL", None, False)],
    )
    def test_lists_against_the_verdict(self, verdict: str, violations: Any, contradicted: bool):
        _, notes = POLICY.read(reply(verdict, violations=violations))
        assert any("contradicts" in note for note in notes) is contradicted

    @pytest.mark.parametrize("value", ["text", 3, ["text"], [1]])
    def test_fields_that_cannot_be_taken_stay_as_they_are(self, value: Any):
        verdict, notes = POLICY.read(reply("FAIL", violations=value))
        assert verdict.fields["violations"] == value
        assert "expected a list" in notes[0]


class TestSpec:
    META: ClassVar[dict[str, Any]] = {
        "verdicts": ["PASS", "FAIL"],
        "fields": {"violations": ["string"]},
        "options": {"untested": {"default": False, "verdicts": ["NA"], "fields": {"untested": ["integer"]}}},
    }

    def test_options_add_verdicts_and_fields(self):
        plain = ReplySpec.from_meta(self.META, "policy")
        assert plain.verdicts == ("PASS", "FAIL")
        assert plain.scale.na is None
        more = ReplySpec.from_meta(self.META, "policy", {"untested": True})
        assert more.verdicts == ("PASS", "FAIL", "NA")
        assert more.scale.na == "NA"
        assert list(more.schema()["properties"]) == ["evidence", "violations", "untested", "verdict"]

    def test_options_are_checked(self):
        assert chosen_options(self.META, "policy", {}) == {"untested": False}
        with pytest.raises(ConfigError, match="did you mean untested"):
            chosen_options(self.META, "policy", {"untestd": True})
        with pytest.raises(ConfigError, match="true or false"):
            chosen_options(self.META, "policy", {"untested": "yes"})  # type: ignore[dict-item]

    @pytest.mark.parametrize(
        "given",
        [
            {"verdicts": ("GOOD", "BAD")},
            {"fields": {"x": "float"}},
            {"fields": {"x": ["integer", "string"]}},
            {"fields": {"x": [{}]}},
            {"fields": {"x": "boolean"}, "contradictions": {"PASS": ["y"]}},
            {"fields": {"x": "boolean"}, "contradictions": {"MAYBE": ["x"]}},
            {"fields": {"x": "boolean"}, "contradictions": {"PASS": ["x or x"]}},
        ],
    )
    def test_bad_specs(self, given: dict[str, Any]):
        with pytest.raises(ConfigError):
            ReplySpec("mine", **given)


def test_several_criteria_in_one_reply():
    Draft202012Validator.check_schema(joint_schema([POLICY, ESCALATION]))
    found = read_joint([POLICY, ESCALATION], {"policy": reply("PASS", violations=[]), "escalation": "NA"})
    assert found["policy"][0].value == "PASS"
    assert found["escalation"][0].failure is not None
    assert found["escalation"][0].failure.kind == "wrong_type"
    missing = read_joint([POLICY], {})["policy"][0]
    assert missing.failure is not None
    assert missing.failure.kind == "missing_field"
