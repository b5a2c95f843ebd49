"""`llm_jury(rubric=...)`: votes by criterion, gates in code, both ways, what each judge's own word is worth."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jury import ConfigError, JudgeSpec, PanelResult, ScriptedProvider, Verdict, llm_jury
from jury.rubrics.criterion import Criterion
from jury.rubrics.library import load_rubric
from jury.rubrics.rubric import Rubric
from jury.rubrics.seeds import seed_report

RUBRIC = Rubric(
    [
        Criterion("right", "Is it true?", gate=4),
        Criterion("kind", "Is it kind?", scale="0/1", gate=1),
        Criterion("form", "Has it the form that was asked for?", scale="0/1", gate=1, na=True),
    ],
    name="answer",
)


def reply(right: Any, kind: Any, form: Any, **more: Any) -> str:
    scores = {"right": right, "kind": kind, "form": form}
    return json.dumps({**{k: {"evidence": ["Paris"], "reasoning": k, "score": v} for k, v in scores.items()}, **more})


def judged(*replies: Any, rubric: Any = RUBRIC, output: str = "Paris.", **options: Any) -> PanelResult:
    """The verdict of as many judges as there are replies, each asked once or, with a list, several times."""
    scripts = [r if isinstance(r, list) else [r] for r in replies]
    judges = [JudgeSpec(f"scripted/{n}", provider=ScriptedProvider(s)) for n, s in enumerate(scripts)]
    return llm_jury(rubric=rubric, judges=judges, **options).judge_sync(input="Capital of France?", output=output)


def criterion(result: PanelResult, key: str) -> Any:
    return next(c for c in result.criteria if c.key == key)


def test_a_vote_on_each_criterion_then_the_gates() -> None:
    result = judged(reply(5, 1, 1), reply(4, 1, 1), reply(2, 1, 0))

    assert (result.value, result.passed, result.status) == (True, True, "decided")
    assert [c.value for c in result.criteria] == [4.0, True, True]
    assert [c.passed for c in result.criteria] == [True, True, True]
    assert criterion(result, "form").agreement == pytest.approx(2 / 3)
    assert criterion(result, "right").votes[2].value == 2.0
    assert criterion(result, "right").votes[2].verdict.evidence == ("Paris",)
    assert not result.contested
    assert result.agreement == pytest.approx(2 / 3)


def test_three_judges_that_each_break_another_gate_make_the_item_contested() -> None:
    result = judged(reply(1, 1, 1), reply(5, 0, 1), reply(5, 1, 0))

    assert result.passed is True  # by majority each criterion is met
    assert result.contested  # and no judge would pass it
    assert "Contested: by their own scores, most judges fail it." in result.explanation


def test_a_failure_names_the_clause_and_the_score() -> None:
    result = judged(reply(3, 1, 1))

    assert result.passed is False
    assert result.explanation == "Not met: right >= 4 (right is 3)."


def test_a_judges_own_word_is_compared_and_counted_not_taken() -> None:
    rubric = load_rubric("answer-rubric")
    scores = {k: {"evidence": "", "score": 5} for k in rubric.keys}
    result = judged(json.dumps({**scores, "pass": False, "summary": "no"}), rubric=rubric)

    assert result.passed is True
    assert result.contradictions == {"scripted/0": "says fail, but its scores imply pass"}


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (reply(6, 1, 1), "out_of_range"),
        (reply(5, "maybe", 1), "wrong_type"),
        ('{"right": {"score": 5}}', "missing_field"),
        (reply(5, 1, 1, extra={"score": 1}), "bad_verdict"),
        ("no idea", "no_json"),
    ],
)
def test_what_cannot_be_read_is_an_error_of_that_judge_alone(bad: str, kind: str) -> None:
    result = judged(bad, reply(5, 1, 1), reply(5, 1, 1))

    assert result.votes[0].verdict.failure is not None
    assert result.votes[0].verdict.failure.kind == kind
    assert result.passed is True
    assert (result.seats_used, len(criterion(result, "right").votes)) == (2, 2)


def test_without_a_quorum_there_is_no_verdict() -> None:
    result = judged("?", "?", reply(5, 1, 1))
    assert (result.status, result.reason, result.passed) == ("inconclusive", "quorum", None)

    nobody = judged("?", "?")
    assert nobody.reason == "errors"


def test_not_applicable_and_ties_leave_the_item_open_unless_another_gate_fails() -> None:
    assert judged(reply(5, 1, None)).status == "inconclusive"
    assert judged(reply(5, 1, None)).reason == "rule"
    assert judged(reply(5, 0, None)).passed is False
    assert judged(reply(5, 1, 1), reply(5, 0, 1)).reason == "tie"
    skipping = Rubric(RUBRIC.criteria, na="skip")
    assert judged(reply(5, 1, None), rubric=skipping).passed is True
    assert criterion(judged(reply(5, 1, None), rubric=skipping), "form").status == "not_applicable"


def test_one_call_per_criterion() -> None:
    def answer(request: Any) -> Any:
        key = next(iter(request.schema["properties"]))
        return {key: {"evidence": [], "reasoning": f"about {key}", "score": 4 if key == "right" else 1}}

    provider = ScriptedProvider(answer)
    jury = llm_jury(rubric=RUBRIC, judges=[JudgeSpec("scripted/a", provider=provider)], ask="each")
    result = jury.judge_sync(input="q", output="a")

    assert len(provider.requests) == result.calls == 3
    assert [j.criterion for j in result.votes[0].judgments] == ["right", "kind", "form"]
    assert result.passed is True
    assert criterion(result, "kind").explanation == "about kind"
    assert "Is it kind?" not in provider.requests[0].prompt
    assert "Is it true?" in provider.requests[0].prompt


def test_a_judge_that_fails_on_one_criterion_has_not_judged_the_item() -> None:
    provider = ScriptedProvider(
        lambda r: None if "kind" in r.schema["properties"] else {next(iter(r.schema["properties"])): {"score": 5}}
    )
    rubric = Rubric([Criterion("right", gate=4), Criterion("kind", gate=4)])
    jury = llm_jury(rubric=rubric, judges=[JudgeSpec("scripted/a", provider=provider)], ask="each")
    vote = jury.judge_sync(input="q", output="a").votes[0]

    assert vote.failed
    assert vote.verdict.parts["right"].value == 5.0


def test_repetitions_are_folded_by_criterion() -> None:
    result = judged([reply(5, 1, 1), reply(3, 1, 1), reply(4, 0, 1)], repetitions=3)

    assert [c.value for c in result.criteria] == [4.0, True, True]
    assert result.votes[0].verdict.value is True


def test_orders_are_balanced_over_judges_and_repetitions_and_stand_in_the_notes() -> None:
    providers = [ScriptedProvider(lambda r: reply(5, 1, 1)) for _ in range(3)]
    judges = [JudgeSpec(f"scripted/{n}", provider=p) for n, p in enumerate(providers)]
    result = llm_jury(rubric=RUBRIC, judges=judges, permute=True).judge_sync(input="q", output="a")

    orders = [list(p.requests[0].schema["properties"])[:3] for p in providers]
    assert all({order[place] for order in orders} == {"right", "kind", "form"} for place in range(3))
    notes = [v.judgments[0].notes[0] for v in result.votes]
    assert notes == [f"order: {', '.join(order)}" for order in orders]
    for provider, order in zip(providers, orders, strict=True):
        places = [provider.requests[0].prompt.index(f"{key} (") for key in order]
        assert places == sorted(places)


def test_weights_of_judges_count() -> None:
    result = judged(reply(5, 1, 1), reply(1, 0, 0), weights={"scripted/0": 3})
    assert result.passed is True


def test_functions_score_too() -> None:
    def strict(output: str) -> dict[str, Any]:
        return {"right": (5, "it says Paris"), "kind": 1, "form": {"score": 1, "evidence": ["Paris."]}}

    result = llm_jury(rubric=RUBRIC, judges=[strict], ask="each").judge_sync(input="q", output="Paris.")
    assert result.passed is True
    assert criterion(result, "right").explanation == "it says Paris"
    assert len(result.votes[0].judgments) == 1

    assert llm_jury(rubric=RUBRIC, judges=[lambda case: 1]).judge_sync("q", "a").votes[0].failed


def test_a_verdict_that_a_function_made_is_held_to_the_rubric() -> None:
    def judged_by(verdict: Any) -> PanelResult:
        return llm_jury(rubric=RUBRIC, judges=[lambda case: verdict]).judge_sync("q", "a")

    parts = {
        "right": Verdict("scored", 5, "it says Paris", evidence=("Paris",)),
        "kind": Verdict("scored", True),
        "form": Verdict("scored", 1),
    }
    good = judged_by(Verdict("scored", False, "so so", parts=parts))
    assert (good.value, good.passed, good.seats_used) == (True, True, 1)  # as the parts imply
    assert criterion(good, "right").votes[0].verdict.evidence == ("Paris",)
    assert good.votes[0].explanation == "so so"

    for wrong, why in (
        (Verdict("scored", True), "missing_field: no score for right, kind, form"),
        (Verdict("scored", True, parts={**parts, "right": Verdict("scored", 77)}), "out_of_range: right"),
        (Verdict("scored", True, parts={**parts, "form": Verdict("error")}), "missing_field: form"),
        (Verdict("error", explanation="could not look"), "could not look"),
    ):
        result = judged_by(wrong)
        assert (result.value, result.passed, result.reason, result.seats_used) == ("inconclusive", None, "errors", 0)
        assert why in str(result.votes[0].error)
    assert judged_by(Verdict("abstained", explanation="no idea")).reason == "abstained"


def test_a_tag_in_a_rubric_is_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    llm_jury(rubric=RUBRIC, judges=["a/b"])
    assert not caplog.records
    jury = llm_jury(rubric=Rubric([Criterion("a", "Is {{output.response}} right?", gate=4)]), judges=["a/b"])
    assert [r.message for r in caplog.records] == [
        "the rubric holds '{{': a value is never expanded, judges will read the braces as they are"
    ]
    assert "Is {{output.response}} right?" in jury.render(input="q", output="a")["a/b"]["user"]


def test_contexts_of_any_kind_stand_one_after_another() -> None:
    jury = llm_jury(rubric=RUBRIC, judges=["scripted/a"], variables={"context": ["first", Verdict("error")]})
    user = jury.render(input="q", output="a", context=["second", "third"])["scripted/a"]["user"]
    assert '"first"' in user
    assert '"status": "error"' in user
    assert user.index("]\n\nsecond\n\nthird") > user.index('"first"')


def test_quotes_are_looked_up_in_the_answer() -> None:
    good = judged(reply(5, 1, 1))
    bad = judged(reply(5, 1, 1), output="Lyon.")

    assert good.votes[0].evidence_check is not None
    assert (good.votes[0].evidence_check.quotes_found, good.votes[0].evidence_check.quotes_missing) == (3, 0)
    assert bad.votes[0].evidence_check is not None
    assert bad.votes[0].evidence_check.missing == ("Paris", "Paris", "Paris")


def test_the_result_is_kept_whole_as_json() -> None:
    result = judged(reply(1, 1, 1), reply(5, 0, 1), reply(5, 1, None))
    assert PanelResult.from_json(result.to_json()) == result


def test_seed_shapes() -> None:
    critic = load_rubric("critic")
    metrics = {
        k: {"reasoning": f"of {k}", "score": 1 if k in ("professional_tone", "formatting") else 3} for k in critic.keys
    }
    body = {
        "evaluation_report": {"metrics": metrics, "summary": {"overall_verdict": "so so", "pipeline_status": "PASS"}}
    }
    result = judged(json.dumps(body), rubric="critic")
    report = seed_report(critic, result, "critic")["evaluation_report"]

    assert report["metrics"]["task_fulfillment"] == {"reasoning": "of task_fulfillment", "score": 3}
    assert report["summary"]["pipeline_status"] == "FAIL"
    assert report["summary"]["failure_reason"] == "task_fulfillment >= 4 (task_fulfillment is 3)"
    assert result.contradictions
    flat = seed_report(critic, result, "rubric")
    assert (flat["pass"], flat["formatting"]["score"]) == (False, 1)
    with pytest.raises(ConfigError, match="critic and rubric"):
        seed_report(critic, result, "xml")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"criteria": "x"}, "of its own"),
        ({"labels": ["a", "b"]}, "of its own"),
        ({"ask": "twice"}, "together"),
        ({"stop": "decided"}, "stop="),
        ({"aggregator": "mode"}, "median"),
        ({"prompt": "{{output.response}}"}, "no {{rubric}}"),
        ({"rubric": "critc"}, "critic"),
        ({"rubric": "policy"}, "holds no rubric"),
        ({"rubric": 3}, "a name, a file"),
    ],
)
def test_what_does_not_fit_together_is_said_at_once(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        llm_jury(**{"rubric": RUBRIC, "judges": [lambda case: {}], **options})


def test_ask_needs_a_rubric() -> None:
    with pytest.raises(ConfigError, match="rubric"):
        llm_jury(criteria="x", ask="each")


def test_the_rubric_of_an_item_sees_its_reference_and_its_context() -> None:
    rubric = load_rubric("answer-rubric", task="a library desk", reference="Loans last four weeks.")
    jury = llm_jury(rubric=rubric, judges=[JudgeSpec("scripted/a", provider=ScriptedProvider([]))])
    text = jury.render(input="q", output="a", context="Open on Monday.")["scripted/a"]["user"]

    assert "a library desk" in text
    assert "Loans last four weeks.\n\nOpen on Monday." in text
    assert "correctness >= 4" in text
