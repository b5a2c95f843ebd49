"""`session_jury`: criteria of sessions, alone and sharing a call, long sessions, examples, code checks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

from jury import ConfigError, JudgeSpec, PanelResult, ScriptedProvider
from jury.forecasting import Unasked
from jury.prompts import load, names
from jury.runner.totals import Totals
from jury.sessions.checks import code_check
from jury.sessions.events import Event, Session
from jury.sessions.making import session_jury
from jury.transcripts import load_session

MESSAGES = [
    {"role": "user", "content": "Who has Winter Birds?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "who_has", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "R. Stein"},
    {"role": "assistant", "content": "R. Stein has it until 9 May."},
]
RULES = "1. Never name another reader."
FAIL = {"evidence": ["R. Stein has it"], "violations": [{"rule": 1, "event": "event 4"}], "verdict": "FAIL"}
PASS = {"evidence": ["event 9"], "violations": [], "verdict": "PASS"}
NA = {"evidence": [], "quote": "", "verdict": "NA"}
TASK = {"evidence": ["event 4"], "verdict": "PASS"}


def seats(*scripts: Any, **options: Any) -> list[JudgeSpec]:
    """One scripted judge for each script: a reply for every call, or a function of the request."""
    made: list[JudgeSpec] = []
    for n, script in enumerate(scripts):
        answer = script if callable(script) else lambda request, given=script: given
        made.append(JudgeSpec(f"scripted/{n}", provider=ScriptedProvider(answer, **options)))
    return made


def long_session(count: int = 400) -> Session:
    events = [Event(1, "user", "Renew my book."), *(Event(i, "assistant", f"step {i} " * 20) for i in range(2, count))]
    return Session((*events, Event(count, "assistant", "Done.")), id="long")


def test_one_criterion() -> None:
    result = session_jury("policy", context=RULES, judges=seats(FAIL, FAIL, PASS)).judge_sync(MESSAGES, id="s1")

    assert (result.value, result.passed, result.status, result.item_id) == ("FAIL", False, "decided", "s1")
    assert result.agreement == pytest.approx(2 / 3)
    assert [c.key for c in result.criteria] == ["policy"]
    assert result.votes[0].verdict.fields["violations"] == [{"rule": 1, "event": "event 4"}]
    assert result.calls == 3
    assert result.votes[0].judgments[0].prompt == load("policy").digest
    assert PanelResult.from_json(result.to_json()) == result


def test_evidence_is_looked_up_in_the_session() -> None:
    result = session_jury("policy", context=RULES, judges=seats(FAIL, PASS)).judge_sync(MESSAGES)

    found, missing = (v.evidence_check for v in result.votes)
    assert found is not None
    assert (found.quotes_found, found.missing) == (1, ())
    assert missing is not None
    assert (missing.references_invalid, missing.missing) == (1, ("event 9",))


@pytest.mark.parametrize(
    ("event", "counts"),
    [
        ("event 4", (1, 0)),
        ("4", (1, 0)),
        (4, (1, 0)),
        ("e99", (0, 1)),
        ("what it said at the end", (0, 0)),
        (True, (0, 0)),
    ],
)
def test_events_that_a_field_points_at_are_looked_up_too(event: Any, counts: tuple[int, int]) -> None:
    reply = {"evidence": ["R. Stein has it"], "violations": [{"rule": 1, "event": event}], "verdict": "FAIL"}
    (vote,) = session_jury("policy", context=RULES, judges=seats(reply)).judge_sync(MESSAGES).votes

    assert vote.evidence_check is not None
    assert (vote.evidence_check.references_valid, vote.evidence_check.references_invalid) == counts
    assert (vote.evidence_check.quotes_found, vote.evidence_check.quotes_missing) == (1, 0)


@pytest.mark.parametrize("context", [None, "", "  "])
def test_a_missing_context_is_an_error_before_any_call(context: str | None) -> None:
    judges = seats(PASS)
    with pytest.raises(ConfigError, match="policy needs a context: the rules"):
        session_jury("policy", context=context, judges=judges).judge_sync(MESSAGES)
    assert isinstance(judges[0].provider, ScriptedProvider)
    assert judges[0].provider.requests == []

    late = session_jury("policy", judges=judges).judge_sync(MESSAGES, context=RULES)
    assert late.value == "PASS"


def test_a_target_error_stops_before_any_call() -> None:
    judges = seats(PASS)
    record = {"messages": MESSAGES, "error": {"message": "boom", "type": "server_error"}}
    session = Session(load_session(MESSAGES).events, error=load_session(record).error)
    result = session_jury("policy", context=RULES, judges=judges).judge_sync(session)

    assert result.status == "not_judged"
    assert "boom" in str(result.error)
    assert isinstance(judges[0].provider, ScriptedProvider)
    assert judges[0].provider.requests == []


def test_several_criteria_share_a_call_and_keep_their_own_verdicts() -> None:
    judges = seats({"policy": FAIL, "tone": NA}, {"policy": PASS, "tone": {"verdict": "maybe"}})
    jury = session_jury(["policy", "tone"], context=RULES, judges=judges, ask="together", min_successful_judges=1)
    result = jury.judge_sync(MESSAGES)
    policy, tone = result.criteria

    assert result.calls == 2
    assert (policy.status, policy.reason) == ("inconclusive", "tie")
    assert (tone.value, tone.status) == ("NA", "not_applicable")
    assert [v.verdict.status for v in tone.votes] == ["not_applicable", "error"]
    assert [v.value for v in policy.votes] == ["FAIL", "PASS"]  # the other criterion's error is not this one's
    assert policy.votes[0].verdict.evidence == ("R. Stein has it",)
    assert result.status == "inconclusive"
    assert isinstance(judges[0].provider, ScriptedProvider)
    text = judges[0].provider.requests[0].prompt
    assert text.count("R. Stein has it until 9 May.") == 1
    assert text.index("R. Stein has it") < text.index("Question 1: policy") < text.index("Question 2: tone")
    assert text.count(RULES) == 2


def test_asked_one_by_one_a_judge_still_has_one_vote() -> None:
    def answer(request: Any) -> Any:
        return FAIL if "violations" in request.schema["properties"] else NA

    result = session_jury(["policy", "tone"], context=RULES, judges=seats(answer, answer)).judge_sync(MESSAGES)

    assert result.calls == 4
    assert [c.value for c in result.criteria] == ["FAIL", "NA"]
    assert (result.value, len(result.votes)) == ("FAIL", 2)
    assert result.votes[0].verdict.parts["tone"].status == "not_applicable"
    assert [j.criterion for j in result.votes[0].judgments] == ["policy", "tone"]


def test_a_stand_in_votes_only_on_what_a_seat_failed_on() -> None:
    bad = {"policy": PASS, "tone": {"verdict": "?"}}
    spare = JudgeSpec("scripted/spare", provider=ScriptedProvider(lambda r: {"policy": FAIL, "tone": NA}))
    jury = session_jury(
        ["policy", "tone"], context=RULES, judges=seats(bad), replacement_judges=[spare], ask="together"
    )
    policy, tone = jury.judge_sync(MESSAGES).criteria

    assert [v.judge for v in policy.votes] == ["scripted/0"]
    assert policy.value == "PASS"
    assert tone.value == "NA"


def test_policy_has_no_na_unless_its_option_says_so() -> None:
    na = {"evidence": [], "violations": [], "untested_rules": [1], "verdict": "NA"}
    plain = session_jury("policy", context=RULES, judges=seats(na)).judge_sync(MESSAGES)
    assert plain.votes[0].verdict.failure is not None
    assert plain.votes[0].verdict.failure.kind == "bad_verdict"

    for options in ({"untested": True}, {"policy": {"untested": True}}):
        chosen = session_jury("policy", context=RULES, judges=seats(na), options=options).judge_sync(MESSAGES)
        assert (chosen.status, chosen.passed) == ("not_applicable", None)


def test_a_long_session_is_cut_and_its_pass_is_partial_where_every_event_counts() -> None:
    judges = seats(PASS)
    jury = session_jury("policy", context=RULES, judges=judges, session_tokens=2000)
    result = jury.judge_sync(long_session())

    assert (result.value, result.partial, result.passed) == ("PASS", True, None)
    assert result.criteria[0].partial
    assert any("events left out" in note for note in result.notes)
    assert isinstance(judges[0].provider, ScriptedProvider)
    assert "The recording is not complete" in judges[0].provider.requests[0].prompt
    assert not session_jury("policy", context=RULES, judges=judges).judge_sync(MESSAGES).partial

    done = {"evidence": [], "verdict": "PASS"}
    whole = session_jury("task-completion", judges=seats(done), session_tokens=2000).judge_sync(long_session())
    assert (whole.passed, whole.partial) == (True, False)

    failed = session_jury("policy", context=RULES, judges=seats(FAIL), session_tokens=2000).judge_sync(long_session())
    assert (failed.passed, failed.partial) == (False, False)


def test_a_long_session_in_windows_fails_where_one_part_fails() -> None:
    def answer(request: Any) -> Any:
        return FAIL if "step 200 step" in request.prompt else PASS

    jury = session_jury("policy", context=RULES, judges=seats(answer), session_tokens=3000, long="windows")
    result = jury.judge_sync(long_session())

    assert (result.value, result.partial) == ("FAIL", False)
    assert result.calls > 3
    assert len({j.notes for j in result.votes[0].judgments}) == result.calls
    assert {"rule": 1, "event": "event 4"} in result.votes[0].verdict.fields["violations"]

    def lost(request: Any) -> Any:
        return None if "step 200 step" in request.prompt else PASS

    jury = session_jury("policy", context=RULES, judges=seats(lost), session_tokens=3000, long="windows")
    assert jury.judge_sync(long_session()).reason == "errors"


def test_examples_stand_right_after_the_definitions() -> None:
    own = [(MESSAGES, "FAIL", "names a reader"), {"session": MESSAGES[:1], "verdict": "PASS"}]
    for name in ("policy", "tone", "tool-use", "escalation", "groundedness", "honest-reporting", "task-completion"):
        text = session_jury(name, context=RULES, judges=seats(PASS), examples=own).render(MESSAGES)["scripted/0"][0][
            "user"
        ]
        first = text.index("An example, judged FAIL: names a reader")
        assert text.index("The verdicts:") < first < text.index("An example, judged PASS") < text.index("session>")


def test_code_checks_are_criteria_and_facts_and_can_be_all_there_is() -> None:
    def broken(session: Session) -> bool:
        raise KeyError("x")

    checks = [
        code_check("has_answer", lambda s: (bool(s.final_message), "there is one"), fact=True),
        code_check("calls", lambda s: len(s.tools_called), passes=lambda n: n < 1),
        code_check("events", lambda s: len(s.events), fact=True),
        code_check("refund", lambda s: None),
        code_check("broken", broken),
    ]
    alone = session_jury(checks=checks[:4]).judge_sync(MESSAGES)
    assert [c.value for c in alone.criteria] == ["PASS", "FAIL", 4.0, "NA"]
    assert all(c.code for c in alone.criteria)
    assert (alone.value, alone.passed, alone.calls, alone.votes) == ("FAIL", False, 0, ())
    assert alone.explanation == "calls: found 1"

    judges = seats(PASS)
    result = session_jury("policy", context=RULES, judges=judges, checks=[checks[0], checks[2], checks[4]])
    report = result.judge_sync(MESSAGES)
    assert [c.key for c in report.criteria] == ["policy", "has_answer", "events", "broken"]
    assert (report.criteria[3].status, report.criteria[3].reason) == ("inconclusive", "errors")
    assert report.status == "inconclusive"
    assert isinstance(judges[0].provider, ScriptedProvider)
    prompt = judges[0].provider.requests[0].prompt
    assert "Measured by code, and true whatever the session says: events: 4\n" in prompt
    assert 'has_answer: yes ("there is one")' in prompt
    assert "broken" not in prompt


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def _mute(session: Session) -> bool:
    raise Mute


async def _async(session: Session) -> bool:
    return True


@pytest.mark.filterwarnings("ignore:coroutine.*was never awaited:RuntimeWarning")
@pytest.mark.parametrize(
    ("function", "says"),
    [
        (_mute, "Mute: (it has no text"),
        (_async, "checks are plain ones"),
        (lambda s: sys.exit(3), "SystemExit: 3"),
        (lambda s: float("nan"), "no finite number"),
        (lambda s: 10**400, "OverflowError"),
        (lambda s: (True, Mute()), "RuntimeError: no text"),
        (lambda s: 1 / len("sk-abcdefghijk"[:0]), "ZeroDivisionError"),
        (lambda s: {}["sk-abcdefghijk"], "[key hidden]"),
    ],
)
def test_a_check_that_breaks_is_inconclusive_and_the_report_survives_it(function: Any, says: str) -> None:
    result = session_jury(checks=[code_check("odd", function), code_check("fine", lambda s: True)]).judge_sync(MESSAGES)
    odd, fine = result.criteria
    assert (odd.status, odd.reason, fine.value) == ("inconclusive", "errors", "PASS")
    assert says in odd.explanation
    assert type(result).from_json(result.to_json()) == result


def test_a_check_may_find_scalars_of_numpy() -> None:
    checks = [code_check("all", lambda s: numpy.bool_(True)), code_check("share", lambda s: numpy.float64(0.5))]
    assert [c.value for c in session_jury(checks=checks).judge_sync(MESSAGES).criteria] == ["PASS", 0.5]


def test_the_seeds_text_files_run_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "refunds.txt"
    file.write_text(
        "Rules:\n{context}\n<transcript>\n{transcript}\n</transcript>\n"
        '{{"evidence": ["x"], "bad": [{{"step": 3, "problem": "..."}}], "sure": true, "verdict": "PASS"}}\n'
        "verdict is exactly PASS or FAIL.\n"
    )
    judges = seats({"evidence": [], "bad": [{"step": 4, "problem": "p"}], "sure": False, "verdict": "FAIL"})
    result = session_jury(file, context=RULES, judges=judges).judge_sync(MESSAGES)

    assert result.value == "FAIL"
    assert result.notes == ()
    assert result.votes[0].judgments[0].prompt == load(file).digest
    assert isinstance(judges[0].provider, ScriptedProvider)
    request = judges[0].provider.requests[0]
    assert request.system == ""
    assert request.prompt.startswith(f"Rules:\n{RULES}\n<transcript>\n" + '{"i": 1, "type": "user"')
    assert request.schema is not None
    assert list(request.schema["properties"]) == ["evidence", "bad", "sure", "verdict"]
    assert request.schema["properties"]["verdict"]["enum"] == ["PASS", "FAIL"]
    with pytest.raises(ConfigError, match="needs a context"):
        session_jury(file, judges=judges).judge_sync(MESSAGES)
    with pytest.raises(ConfigError, match="no place for examples"):
        session_jury(file, judges=judges, examples=[(MESSAGES, "PASS")])


def test_a_panel_that_stops_when_it_is_sure_has_a_verdict_and_says_so() -> None:
    votes = [TASK] * 3
    jury = session_jury("task-completion", judges=seats(*votes), stop=0.95)
    forecaster = jury.panels[0].forecaster
    assert forecaster is not None
    forecaster.plan = lambda: lambda known: 0 if known[0] is Unasked else None  # the first seat is always enough
    result = jury.judge_sync(MESSAGES)

    assert (result.value, len(result.votes), result.seats) == ("PASS", 1, 3)
    assert "stopped after 1 of 3 seats" in result.notes[-1]


def test_names_and_variables(tmp_path: Path) -> None:
    text = "For {{team}}:\n<{{fence}} session>\n{{session.transcript}}\n</{{fence}}>\n"
    (tmp_path / "own.md").write_text(f"---\nname: own\nversion: '1'\nkind: session\n---\n{text}")
    jury = session_jury(tmp_path / "own.md", judges=seats(TASK), name="weekly", variables={"team": "the desk"})
    assert jury.name == "weekly"
    assert jury.render(MESSAGES)["scripted/0"][0]["user"].startswith("For the desk:\n")
    with pytest.raises(ConfigError, match="session: a documented name"):
        session_jury(tmp_path / "own.md", judges=seats(TASK), variables={"session": "x"})


def test_the_parts_of_a_session_are_other_questions_to_a_function() -> None:
    """A function that gets the whole case is asked about each part, also where a run recalls what it said."""
    jury = session_jury("tone", context="kind", judges=[lambda case: "PASS"], long="windows", session_tokens=300)
    long = [{"role": "user", "content": "q " * 40}, *[{"role": "assistant", "content": "a " * 90}] * 6]
    keys = [seat.question(case, n).key for seat, case, n in jury.questions(load_session(long))]
    assert len(set(keys)) == len(keys) > 2
    other = session_jury("tone", context="stern", judges=[lambda case: "PASS"])
    kind = session_jury("tone", context="kind", judges=[lambda case: "PASS"])
    told = [next(seat.question(c).key for seat, c, _ in j.questions(load_session(MESSAGES))) for j in (kind, other)]
    assert told[0] != told[1]


def test_functions_judge_sessions_too() -> None:
    jury = session_jury(
        "tone", context="Be kind.", judges=[lambda output: ("Stein" not in output, "looked for a name")]
    )
    result = jury.judge_sync(MESSAGES)
    assert (result.value, result.explanation) == ("FAIL", "looked for a name")

    both = session_jury(
        ["policy", "tone"], context=RULES, judges=[lambda case: {"policy": True, "tone": "NA"}], ask="together"
    )
    assert [c.value for c in both.judge_sync(MESSAGES).criteria] == ["PASS", "NA"]


def test_a_panel_of_one_family_is_warned_about_once(caplog: pytest.LogCaptureFixture) -> None:
    session_jury(["policy", "tone"], context=RULES, judges=["openai/gpt-5-mini", "openai/gpt-5"])
    assert len([r for r in caplog.records if "one family" in r.getMessage()]) == 1


def test_repetitions_and_many_sessions() -> None:
    replies = iter([PASS, FAIL, FAIL] * 2)
    judge = JudgeSpec("scripted/a", provider=ScriptedProvider(lambda r: next(replies)))
    jury = session_jury("policy", context=RULES, judges=[judge], repetitions=3)
    rows = [{"session": MESSAGES, "id": "a"}, MESSAGES]
    results = list(jury.judge_many_sync(rows))

    assert [r.value for r in results] == ["FAIL", "FAIL"]
    assert results[0].item_id == "a"
    assert len(results[0].votes[0].judgments) == 3


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"criteria": "polcy"}, "policy"),
        ({"criteria": "critic"}, "rubric prompt"),
        ({"criteria": []}, "name of a session prompt"),
        ({"criteria": [{"key": "policy"}]}, "names or paths of session prompts"),
        ({"criteria": ["policy", "policy"]}, "occurs twice"),
        ({"options": {"untestd": True}}, "untested"),
        ({"options": {"tone": {"untested": True}}}, "tone"),
        ({"context": {"polcy": "x"}}, "policy"),
        ({"examples": [(MESSAGES, "MAYBE")]}, "PASS, FAIL"),
        ({"examples": ["x"]}, "session, verdict"),
        ({"ask": "both"}, "together"),
        ({"long": "cut"}, "windows"),
        ({"checks": [code_check("policy", lambda s: True)]}, "occurs twice"),
    ],
)
def test_wrong_arguments_are_named_at_once(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        session_jury(**{"criteria": "policy", "context": RULES, "judges": seats(PASS), **given})


def test_a_prompt_without_a_place_for_it_cannot_share_a_call(tmp_path: Path) -> None:
    own = tmp_path / "own.md"
    own.write_text("Is it polite?\n{{session.transcript}}\n")
    session_jury(own, judges=seats(PASS))
    with pytest.raises(ConfigError, match="cannot share a call"):
        session_jury([own, "policy"], context=RULES, judges=seats(PASS), ask="together")
    own.write_text("Is it polite?\n")
    with pytest.raises(ConfigError, match="shows nothing of a session"):
        session_jury(own, judges=seats(PASS))


def test_the_replies_of_the_shipped_cases_are_read_by_the_jury_of_their_prompt() -> None:
    for name in (n for n in names() if load(n).meta.get("kind") == "session"):
        for line in (Path(str(load(name).path)) / "cases.jsonl").read_text("utf-8").splitlines():
            case = json.loads(line)
            reply = {"evidence": [], **case.get("fields", {}), "verdict": case["expect"]}
            result = session_jury(name, context=case.get("context"), judges=seats(reply)).judge_sync(case["session"])
            assert result.value == case["expect"]


def test_of_several_criteria_the_agreement_is_on_the_whole() -> None:
    def by_prompt(policy: Any, tone: Any) -> Any:
        return lambda request: policy if "violations" in request.schema["properties"] else tone

    polite = {"evidence": [], "quote": "", "verdict": "PASS"}
    strict, kind = by_prompt(FAIL, polite), by_prompt(PASS, polite)
    check = code_check("answered", lambda s: bool(s.final_message))
    split = session_jury(["policy", "tone"], context=RULES, judges=seats(strict, strict, kind), checks=[check])
    alike = session_jury(["policy", "tone"], context=RULES, judges=seats(strict, strict, strict), checks=[check])
    tied = session_jury(["policy", "tone"], context=RULES, judges=seats(strict, kind), checks=[check])

    assert split.judge_sync(MESSAGES).agreement == pytest.approx(2 / 3)
    assert alike.judge_sync(MESSAGES).agreement == 1.0
    found = tied.judge_sync(MESSAGES)
    assert (found.status, found.agreement) == ("inconclusive", None)
    assert found.explanation == "policy: No verdict: a tie between FAIL (1) and PASS (1)"
    assert session_jury(["policy", "tone"], context=RULES, judges=seats(kind)).judge_sync(MESSAGES).agreement is None
    assert counted_of(split) == {"agreeing": 0, "several": 1}


def counted_of(jury: Any) -> dict[str, int]:
    """What a run counts of how far judges agree."""
    totals = Totals("session")
    totals.add(json.loads(jury.judge_sync(MESSAGES).to_json()))
    return {"agreeing": totals.agreeing, "several": totals.several}
