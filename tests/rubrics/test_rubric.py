"""Rubrics: the rule language, criteria, decisions, replies, and the panel's two ways to a verdict."""

from __future__ import annotations

import itertools
import json
import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from jury.errors import ConfigError, ReplyError
from jury.rubrics.criterion import Criterion
from jury.rubrics.outcome import fold, outcome, seed_json
from jury.rubrics.passrule import PassRule
from jury.rubrics.reply import contradiction, criterion_schema, read_reply, reply_keys, reply_schema
from jury.rubrics.rubric import Rubric, balanced
from jury.scales import Labels, Numeric

KEYS = ("correctness", "completeness", "clarity")


def rubric(rule: str | None = None, *, keys: tuple[str, ...] = KEYS, **more) -> Rubric:
    return Rubric([Criterion(key) for key in keys], rule, **more)


CRITIC = {
    "name": "critic",
    "shape": "critic",
    "criteria": {
        "task": {"scale": "1-5", "gate": 4},
        "concise": "Is it dense?",
        "tone": {"scale": "0/1", "gate": 1},
        "form": {"scale": "0/1", "gate": "== 1"},
    },
}


class TestRuleLanguage:
    @pytest.mark.parametrize(
        ("rule", "values", "passed"),
        [
            ("correctness >= 4 and min(all) >= 3", (4, 3, 3), True),
            ("correctness >= 4 and min(all) >= 3", (4, 3, 2), False),
            ("correctness >= 4 or clarity == 5", (1, 1, 5), True),
            ("not clarity < 3", (1, 1, 3), True),
            ("not (clarity < 3 or correctness < 3)", (3, 1, 3), True),
            ("2 < clarity <= 4", (1, 1, 4), True),
            ("2 < clarity <= 4", (1, 1, 2), False),
            ("mean(all) >= 3.5", (4, 4, 2.5), True),
            ("mean(correctness, clarity) > 3", (5, 1, 2), True),
            ("sum(all) == 9", (3, 3, 3), True),
            ("max(completeness, clarity) != 5", (5, 4, 5), False),
            ("all >= 3", (3, 3, 2), False),
            ("any == 5", (3, 5, 2), True),
            ("3 <= all", (3, 3, 3), True),
            ("count(all >= 4) >= 2", (4, 4, 1), True),
            ("count(correctness >= 4, clarity >= 4) == 1", (4, 4, 4), False),
            ("correctness in (4, 5)", (5, 1, 1), True),
            ("correctness not in [4, 5]", (5, 1, 1), False),
            ("min(all)>=3 and correctness>=4", (4, 3, 3), True),
        ],
    )
    def test_what_rules_mean(self, rule, values, passed):
        assert rubric(rule).decide(dict(zip(KEYS, values, strict=True))).passed is passed

    @pytest.mark.parametrize(
        ("rule", "says", "column"),
        [
            ("corectness >= 4", "did you mean correctness", 1),
            ("correctness => 4", "write >=", 13),
            ("correctness = 4", "write == to compare", 13),
            ("correctness >= 4 && clarity >= 3", "write and", 18),
            ("correctness >= 4 and", "the rule ends here", 21),
            ("(correctness >= 4", "expected ')'", 18),
            ("correctness >= 4 clarity >= 3", "expected and, or, or the end", 18),
            ("correctness >= 'x'", "a text and a number", 16),
            ("correctness", "compare it, such as correctness >= 4", 1),
            ("4", "a comparison belongs here", 1),
            ("min(all >= 3)", "a comparison belongs here", 1),
            ("min(all >= 3) > 2", "not a comparison", 5),
            ("correctness + clarity >= 8", "no arithmetic", 13),
            ("correctness.__class__ >= 4", "unexpected '.'", 12),
            ("__import__('os')", "expected and, or, or the end", 11),
            ("clarity >= 'open", "never closed", 12),
            ("correctness >= 4 and\n  all(3)", "found '('", 6),
            ("max(any) > 3", "takes all, not any", 5),
            ("all in (3, 4)", "cannot stand here", 1),
        ],
    )
    def test_errors_point_at_the_place(self, rule, says, column):
        with pytest.raises(ConfigError) as caught:
            rubric(rule)
        first, *shown = str(caught.value).split("\n")
        assert says in first
        assert f"column {column}:" in first
        assert shown[-1].index("^") - 2 == column - 1

    @pytest.mark.parametrize("rule", ["", "   ", "(" * 200 + "clarity >= 3" + ")" * 200, "not " * 200 + "clarity >= 3"])
    def test_empty_and_deep_rules(self, rule):
        with pytest.raises(ConfigError, match=r"empty|deep"):
            rubric(rule)

    def test_labels(self):
        tone = Criterion("tone", scale=["warm", "cold", "rude"])
        made = Rubric([tone, Criterion("clarity")], "tone in ('warm', \"cold\") and clarity >= 3")
        assert made.decide({"tone": "cold", "clarity": 3}).passed is True
        assert made.decide({"tone": "rude", "clarity": 3}).passed is False
        for rule, says in {
            "tone >= 3": "only ==, != and in",
            "tone == 'wram'": "no label of tone: warm, cold, rude",
            "min(tone) > 1": "needs numbers",
            "tone": "compare it with one of them",
        }.items():
            with pytest.raises(ConfigError, match=says):
                Rubric([tone, Criterion("clarity")], rule)
        with pytest.raises(ConfigError, match="there are none"):
            Rubric([tone], "min(all) >= 3")

    def test_zero_one_criteria_are_numbers_and_stand_alone(self):
        made = Rubric([Criterion("form", scale="0/1"), Criterion("clarity")], "form and clarity >= 3")
        assert made.decide({"form": True, "clarity": 3}).passed is True
        assert made.decide({"form": False, "clarity": 3}).passed is False
        assert Rubric([Criterion("form", scale="0/1")], "form == 1").decide({"form": True}).passed is True

    def test_names_and_clauses(self):
        rule = PassRule("correctness >= 4 and (clarity >= 3 or min(all) >= 2)")
        assert rule.names == ("correctness", "clarity")
        assert rule.uses_all
        assert [rule.source(c) for c in rule.clauses] == ["correctness >= 4", "(clarity >= 3 or min(all) >= 2)"]


class TestMissingScores:
    def test_what_is_settled_is_decided(self):
        made = rubric("correctness >= 4 and min(all) >= 3")
        assert made.decide({"correctness": 1}).passed is False
        assert made.decide({"completeness": 2}).passed is False
        assert made.decide({"correctness": 5, "completeness": 4}).passed is None
        assert made.decide({}).open == (
            "correctness >= 4 (correctness has no verdict)",
            "min(all) >= 3 (correctness has no verdict, completeness has no verdict, clarity has no verdict)",
        )

    def test_a_missing_score_that_cannot_matter(self):
        made = rubric("mean(all) >= 2 or correctness == 5")
        assert made.decide({"correctness": 3, "completeness": 3}).passed is True

    @given(
        st.dictionaries(st.sampled_from(KEYS), st.integers(1, 5)),
        st.sampled_from(
            [
                "correctness >= 4 and min(all) >= 3",
                "mean(all) >= 3.5 or any == 5",
                "not clarity < 3 and count(all >= 4) >= 2",
                "sum(correctness, clarity) > 6 and max(all) != 2",
            ]
        ),
    )
    @settings(deadline=None)
    def test_decided_means_no_other_score_changes_it(self, known, rule):
        made = rubric(rule)
        passed = made.decide(known).passed
        missing = [k for k in KEYS if k not in known]
        all_ways = {
            made.decide({**known, **dict(zip(missing, values, strict=True))}).passed
            for values in itertools.product((1, 2, 3, 4, 5), repeat=len(missing))
        }
        assert passed is None or all_ways == {passed}
        if not missing:
            assert passed is not None

    def test_not_applicable(self):
        criteria = [Criterion("correctness"), Criterion("sources", na=True), Criterion("clarity")]
        rule = "sources >= 4 and min(all) >= 3"
        values = {"correctness": 4, "clarity": 4}
        assert Rubric(criteria, rule).decide(values, na=["sources"]).passed is None
        assert Rubric(criteria, rule).decide({**values, "clarity": 1}, na=["sources"]).passed is False
        assert Rubric(criteria, rule, na="skip").decide(values, na=["sources"]).passed is True
        assert Rubric(criteria, "not sources < 4", na="skip").decide(values, na=["sources"]).passed is None

    def test_breaches_name_clause_and_score(self):
        decision = Rubric.from_dict(CRITIC).decide({"task": 3, "concise": 1, "tone": True, "form": False})
        assert decision.breached == ("task >= 4 (task is 3)", "form == 1 (form is 0)")


class TestWarnings:
    @pytest.mark.parametrize(
        ("rule", "says"),
        [
            ("correctness >= 6", "can pass"),
            ("correctness > 5 or clarity < 1", "can pass"),
            ("correctness >= 4 and correctness < 3", "can pass"),
            ("mean(all) > 4.5 and max(all) < 4", "can pass"),
            ("correctness >= 1", "can fail"),
            ("correctness > 3 or correctness <= 3", "can fail"),
        ],
    )
    def test_never_passes_or_never_fails(self, rule, says, caplog):
        with caplog.at_level(logging.WARNING, "jury.rubrics.rubric"):
            made = rubric(rule)
        assert [says in text for text in made.warnings] == [True]
        assert [r.getMessage() for r in caplog.records] == list(made.warnings)

    def test_a_minimum_that_a_zero_one_criterion_cannot_reach(self, caplog):
        with caplog.at_level(logging.WARNING, "jury.rubrics.rubric"):
            made = Rubric([Criterion("clarity"), Criterion("form", scale="0/1")], "min(all) >= 3")
        assert made.warnings

    @pytest.mark.parametrize(
        "rule",
        ["correctness >= 4 and min(all) >= 3", "mean(all) >= 3", "count(all >= 4) >= 8", "correctness == 3.5", None],
    )
    def test_ordinary_rules_do_not_warn(self, rule):
        keys = (*KEYS, *(f"c{i}" for i in range(9)))
        assert rubric(rule, keys=keys).warnings == ()


class TestCriteria:
    @pytest.mark.parametrize(
        ("scale", "value", "read"),
        [
            ("1-5", 4, 4.0),
            ("1-5", "4", 4.0),
            ("0 to 10", 10, 10.0),
            ([0, 1], 0.5, 0.5),
            ("0/1", 1, True),
            ("0/1", "0", False),
            ("boolean", False, False),
            (["good", "bad"], " Good ", "good"),
            ({"labels": ["good", "bad"], "passing": ["good"]}, "bad", "bad"),
            ({"low": -1, "high": 1, "threshold": 0}, 0, 0.0),
            (Numeric(1, 3, None), 2, 2.0),
        ],
    )
    def test_scales_and_scores(self, scale, value, read):
        found = Criterion("k", scale=scale).read(value)
        assert found == read
        assert type(found) is type(read)

    @pytest.mark.parametrize(
        ("scale", "value", "kind"),
        [
            ("1-5", 0, "out_of_range"),
            ("1-5", True, "wrong_type"),
            ("1-5", "N/A", "wrong_type"),
            ("1-5", None, "wrong_type"),
            ("1-5", "4/5", "wrong_type"),
            ("0/1", 0.5, "out_of_range"),
            ("0/1", 2, "out_of_range"),
            ("0/1", True, "wrong_type"),
            ("0/1", [1], "wrong_type"),
            ("boolean", 1, "wrong_type"),
            (["good", "bad"], "goodish", "bad_verdict"),
        ],
    )
    def test_what_is_no_score(self, scale, value, kind):
        with pytest.raises(ReplyError, match="k: ") as caught:
            Criterion("k", scale=scale).read(value)
        assert caught.value.kind == kind

    def test_not_applicable_only_where_allowed(self):
        assert Criterion("k", na=True).read("N/A") is None
        assert Criterion("k", na=True).read(None) is None
        assert Criterion("k", scale=Labels(["a", "b", "none"], na="none")).read("none") is None

    @pytest.mark.parametrize(
        "given",
        [
            {"key": "a b"},
            {"key": ""},
            {"key": "min"},
            {"key": "pass"},
            {"key": "k", "weight": -1},
            {"key": "k", "weight": True},
            {"key": "k", "scale": "one to five"},
            {"key": "k", "scale": "5-1"},
            {"key": "k", "scale": {"lables": ["a", "b"]}},
            {"key": "k", "scale": ["only"]},
            {"key": "k", "scale": 5},
            {"key": "k", "anchors": {7: "beyond the scale"}},
            {"key": "k", "scale": "0/1", "anchors": {2: "no"}},
        ],
    )
    def test_bad_criteria(self, given):
        with pytest.raises(ConfigError):
            Criterion(**given)

    def test_gates(self):
        assert Criterion("k", gate=4).gate_text == "k >= 4"
        assert Criterion("k", scale="0/1", gate=1).gate_text == "k == 1"
        assert Criterion("k", scale="boolean", gate=True).gate_text == "k == true"
        assert Criterion("k", gate="> 3.5").gate_text == "k > 3.5"
        assert Criterion("k", scale=["it's ok", "bad"], gate="it's ok").gate_text == 'k == "it\'s ok"'
        assert Criterion("k", scale=["a", "b", "c"], gate=["a", "b"]).gate_text == "k in ('a', 'b')"
        with pytest.raises(ConfigError, match="gate of k"):
            Rubric([Criterion("k", gate="> high")])

    def test_what_a_judge_reads(self):
        text = Criterion("k", "Is it so?", anchors={1: "no", 5: "yes", 3: "half"}, na=True).describe()
        assert text.splitlines() == [
            "k (1 to 5; null where it does not apply): Is it so?",
            "  5 = yes",
            "  3 = half",
            "  1 = no",
        ]
        assert "0 or 1" in Criterion("k", scale="0/1").describe()


class TestRubric:
    def test_gates_and_rule_hold_together(self):
        made = Rubric([Criterion("a", gate=4), Criterion("b")], "b >= 3 or a == 5")
        assert made.rule_text == "a >= 4 and (b >= 3 or a == 5)"
        assert made.decide({"a": 4, "b": 3}).passed is True
        assert made.decide({"a": 3, "b": 5}).passed is False

    def test_without_a_rule_each_scale_decides(self):
        criteria = [Criterion("a", scale={"low": 1, "high": 5, "threshold": 3}), Criterion("b", scale="boolean")]
        assert Rubric(criteria).decide({"a": 3, "b": True}).passed is True
        assert Rubric(criteria).decide({"a": 3, "b": False}).passed is False
        assert rubric().decide(dict.fromkeys(KEYS, 5)).passed is None

    def test_weighted_mean(self):
        criteria = [Criterion("a", weight=3), Criterion("b", scale="0/1")]
        assert Rubric(criteria).weighted_mean({"a": 5, "b": False}) == pytest.approx(0.75)
        assert Rubric(criteria).weighted_mean({"a": 3}) == pytest.approx(0.5)
        assert Rubric(criteria).weighted_mean({}) is None
        heavy = Rubric(criteria, "weighted_mean(all) >= 3")  # (3 * 4 + 1 * 0) / 4
        assert heavy.decide({"a": 4, "b": False}).passed is True

    @pytest.mark.parametrize(
        ("data", "says"),
        [
            ({"criteria": []}, "at least one"),
            ({"criteria": {"a": "?", "A": "?"}}, "twice"),
            ({"criteria": {"a": {"qestion": "?"}}}, "did you mean question"),
            ({"criteria": {"a": "?"}, "pass-rule": "a >= 3"}, "did you mean pass_rule"),
            ({"criteria": [{"question": "?"}]}, "key is missing"),
            ({"criteria": "a"}, "a list or a mapping"),
            ({"criteria": {"a": 3}}, "expected a mapping"),
            ({"criteria": {"a": "?"}, "na": "drop"}, "inconclusive"),
            ({"criteria": {"a": "?"}, "shape": "square"}, "shape is one of"),
            ({}, "a list or a mapping"),
        ],
    )
    def test_bad_data(self, data, says):
        with pytest.raises(ConfigError, match=says):
            Rubric.from_dict(data)

    def test_from_a_file(self, tmp_path):
        file = tmp_path / "mine.yaml"
        file.write_text("criteria:\n  a: Is it right?\n  b: {scale: 0/1, gate: 1}\npass_rule: a >= 4\n", "utf-8")
        made = Rubric.from_file(file)
        assert made.name == "mine"
        assert made.rule_text == "b == 1 and a >= 4"
        file.write_text("criteria: [", "utf-8")
        with pytest.raises(ConfigError, match=r"line 1, column 12, is not a readable YAML file"):
            Rubric.from_file(file)
        with pytest.raises(ConfigError, match="no such file"):
            Rubric.from_file(tmp_path / "none.yaml")

    def test_lookup_suggests(self):
        with pytest.raises(KeyError, match="did you mean clarity"):
            rubric()["clarty"]

    @given(st.integers(1, 9))
    def test_orders_are_balanced(self, count):
        items = tuple(range(count))
        rows = [balanced(items, number) for number in range(count)]
        assert rows[0] == items
        assert all(sorted(row) == list(items) for row in rows)
        assert all(sorted(column) == list(items) for column in zip(*rows, strict=True))

    def test_text_and_namespace_follow_the_order(self):
        made = Rubric.from_dict({**CRITIC, "task": "a help desk", "reference": "facts"})
        assert made.text().startswith("What the answers are for: a help desk\n\n1. task (1 to 5)")
        assert made.text().endswith("passes if: task >= 4 and tone == 1 and form == 1")
        lines = [line for line in made.text(1).splitlines() if line[:1].isdigit()]
        assert [line.split()[1] for line in lines] == list(made.order(1)) != list(made.keys)
        assert made.namespace() == {"rubric": made.text(), "context": "facts"}


def scored(**scores) -> dict:
    return {key: {"evidence": f"about {key}", "score": score} for key, score in scores.items()}


class TestReplies:
    def test_evidence_before_score_and_own_verdict_last(self):
        for shape in ("plain", "rubric", "critic"):
            made = Rubric.from_dict({**CRITIC, "shape": shape})
            schema = reply_schema(made)
            Draft202012Validator.check_schema(schema)
            text = json.dumps(schema)
            assert text.index("reasoning" if shape == "critic" else "evidence") < text.index("score")
            assert (text.find("pipeline_status") > text.rindex('"score"')) is (shape == "critic")
        assert list(criterion_schema(made, "tone")["properties"]) == ["tone"]

    def test_the_schema_takes_what_is_read(self):
        made = Rubric.from_dict({**CRITIC, "shape": "rubric"})
        reply = {**scored(task=4, concise=2, tone=1, form=1), "summary": "ok", "pass": True}
        Draft202012Validator(reply_schema(made)).validate(reply)
        read = read_reply(made, reply)
        assert read.values == {"task": 4.0, "concise": 2.0, "tone": True, "form": True}
        assert read.own_pass is True
        assert read.evidence == ("about task", "about concise", "about tone", "about form")

    @pytest.mark.parametrize(
        ("reply", "kind", "says"),
        [
            (scored(correctness=5), "missing_field", "completeness, clarity"),
            ({"pass": True}, "missing_field", "no score for"),
            ({**scored(correctness=5, completeness=4, clarity=4), "style": {"score": 3}}, "bad_verdict", "style"),
            (
                {**scored(correctness=5, completeness=4), "Clarity": {"score": 3}},
                "missing_field",
                "it has Clarity instead",
            ),
            (scored(correctness=5, completeness=4, clarity="N/A"), "wrong_type", "clarity"),
            (scored(correctness=5, completeness=4, clarity=6), "out_of_range", "clarity"),
            (scored(correctness=5, completeness=4, clarity=True), "wrong_type", "clarity"),
            ({"correctness": 5, "completeness": 4, "clarity": 4}, "wrong_type", "an object with evidence"),
            (
                {**scored(correctness=5, completeness=4), "clarity": {"evidence": "x"}},
                "missing_field",
                "clarity: no score",
            ),
            ({"evaluation_report": {"summary": {}}}, "missing_field", "metrics"),
            ({"evaluation_report": []}, "wrong_type", "evaluation_report"),
        ],
    )
    def test_never_a_guess(self, reply, kind, says):
        with pytest.raises(ReplyError, match=says) as caught:
            read_reply(rubric(), reply)
        assert caught.value.kind == kind

    def test_remarks_beside_the_criteria_cost_nothing(self):
        reply = {**scored(correctness=5, completeness=4, clarity=4), "note": "nice", "summary": None}
        assert read_reply(rubric(), reply).summary == ""

    def test_abstention_and_single_criteria(self):
        assert read_reply(rubric(), {"abstain": True, "explanation": "no answer"}).abstained
        assert read_reply(rubric(), scored(clarity=3), only="clarity").values == {"clarity": 3.0}
        with pytest.raises(ReplyError, match="no criterion"):
            read_reply(rubric(), scored(clarity=3, correctness=3), only="clarity")

    @pytest.mark.parametrize(
        ("own", "expected"),
        [(True, True), ("PASS", True), ("fail", False), (False, False), ("maybe", None), (None, None), (1, None)],
    )
    def test_own_verdicts(self, own, expected):
        reply = {**scored(correctness=5, completeness=4, clarity=4), "pass": own}
        assert read_reply(rubric(), reply).own_pass is expected

    def test_contradictions(self):
        made = rubric("correctness >= 4")
        low = read_reply(made, {**scored(correctness=1, completeness=4, clarity=4), "pass": True})
        assert contradiction(low, made.decide(low.values)) == (
            "says pass, but its scores imply fail: correctness >= 4 (correctness is 1)"
        )
        quiet = read_reply(made, scored(correctness=1, completeness=4, clarity=4))
        assert contradiction(quiet, made.decide(quiet.values)) is None

    def test_keys_for_disagreement(self):
        assert set(reply_keys(rubric())) >= {*KEYS, "pass"}


class TestPanel:
    def replies(self, made: Rubric, *rows: tuple) -> dict:
        found = {}
        for number, row in enumerate(rows):
            metrics = {k: {"reasoning": "r", "score": v} for k, v in zip(made.keys, row, strict=True)}
            report = {"metrics": metrics, "summary": {"overall_verdict": "o", "pipeline_status": "PASS"}}
            found[f"j{number}"] = read_reply(made, {"evaluation_report": report})
        return found

    def test_the_two_ways_can_differ(self):
        made = Rubric.from_dict(CRITIC)
        found = outcome(made, self.replies(made, (5, 3, 1, 0), (3, 4, 1, 1), (4, 2, 0, 1)))
        assert found.values == {"task": 4.0, "concise": 3.0, "tone": True, "form": True}
        assert found.passed is True
        assert [d.passed for d in found.by_judge.values()] == [False, False, False]
        assert found.judges_passed is False
        assert found.contested
        assert len(found.contradictions) == 3

    def test_agreement_is_not_contested(self):
        made = Rubric.from_dict(CRITIC)
        found = outcome(made, self.replies(made, (5, 3, 1, 1), (4, 4, 1, 1)))
        assert (found.passed, found.judges_passed, found.contested) == (True, True, False)
        assert found.contradictions == {}

    def test_ties_leave_it_open(self):
        made = Rubric.from_dict(CRITIC)
        found = outcome(made, self.replies(made, (5, 3, 1, 1), (5, 3, 0, 1)))
        assert found.values["tone"] is None
        assert (found.passed, found.judges_passed, found.contested) == (None, None, False)

    def test_fold(self):
        assert fold(Criterion("k"), [1.0, 5.0]) == 3.0
        assert fold(Criterion("k", scale="0/1"), [True, False, True]) is True
        assert fold(Criterion("k", scale=["a", "b"]), ["a", "b"]) is None
        assert fold(Criterion("k"), []) is None

    def test_not_applicable_by_majority(self):
        made = Rubric([Criterion("a", na=True), Criterion("b")], "b >= 3 and all >= 3")
        replies = {name: read_reply(made, scored(a=a, b=4)) for name, a in {"x": None, "y": None, "z": 2}.items()}
        found = outcome(made, replies)
        assert found.na == {"a"}
        assert found.passed is True

    def test_seed_shapes(self):
        made = Rubric.from_dict(CRITIC)
        reply = self.replies(made, (3, 3, 1, 0))["j0"]
        report = seed_json(made, reply, made.decide(reply.values))["evaluation_report"]
        assert report["metrics"]["task"] == {"reasoning": "r", "score": 3}
        assert report["metrics"]["form"]["score"] == 0
        assert report["summary"]["pipeline_status"] == "FAIL"
        assert "task >= 4" in report["summary"]["failure_reason"]
        flat = rubric("clarity >= 3", shape="rubric")
        reply = read_reply(flat, {**scored(correctness=5, completeness=4.5, clarity=4), "summary": "s"})
        shown = seed_json(flat, reply, flat.decide(reply.values))
        assert shown["completeness"] == {"evidence": "about completeness", "score": 4.5}
        assert (shown["pass"], shown["summary"]) == (True, "s")
