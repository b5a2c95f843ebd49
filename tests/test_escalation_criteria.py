"""Cascades over several criteria: rubrics (in one call and in one each) and sessions, alone and in runs."""

from __future__ import annotations

import json

import pytest

from jury import ConfigError, JudgeSpec, ScriptedProvider, llm_jury, session_jury
from jury.runner import RunSpec, replay, run_sync
from jury.store import Run

RUBRIC = {
    "name": "short",
    "pass_rule": "right >= 4 and kind == 1",
    "criteria": [{"key": "right", "question": "Right?"}, {"key": "kind", "scale": "0/1"}],
}
SCORES = {  # an output, and what the first, the second and the third judge say: right, kind
    "good": ((5, 1), (4, 1), (5, 1)),
    "bad": ((1, 1), (2, 1), (5, 1)),
    "split": ((5, 1), (3, 1), (5, 1)),
    "rude to one": ((1, 1), (1, 0), (1, 1)),
    "lost": ((5, 1), None, (5, 1)),
    "torn": ((5, 1), (1, 1), None),
}
TIERS = {"tiers": [["a", "b"], "rest", "people"], "check": 0}


def rubric_seats(asked):
    def seat(place):
        def answer(request):
            output = next(o for o in SCORES if f"{o}." in request.prompt)
            asked.setdefault(output, set()).add("abc"[place])
            said = SCORES[output][place]
            if said is None:
                return None
            scores = dict(zip(("right", "kind"), said, strict=True))
            wanted = request.schema["properties"].keys() & scores.keys()
            return {key: {"evidence": [], "reasoning": "r", "score": scores[key]} for key in wanted}

        return JudgeSpec(f"scripted/{'abc'[place]}", provider=ScriptedProvider(answer), id="abc"[place])

    return [seat(i) for i in range(3)]


@pytest.mark.parametrize("ask", ["together", "each"])
def test_a_rubric_ends_where_the_judges_agree_on_the_verdict_and_every_criterion(ask):
    asked = {}
    jury = llm_jury(rubric=RUBRIC, judges=rubric_seats(asked), ask=ask, retries=0, reask=0, escalate=TIERS)
    found = {output: jury.judge_sync(input="q", output=f"{output}.") for output in SCORES}
    tiers = {output: result.tier for output, result in found.items()}
    assert tiers == {"good": 1, "bad": 1, "split": 2, "rude to one": 2, "lost": 2, "torn": 2}
    assert asked["good"] == asked["bad"] == {"a", "b"}
    assert asked["split"] == asked["rude to one"] == asked["lost"] == {"a", "b", "c"}
    assert [found[o].passed for o in ("good", "bad", "split")] == [True, False, True]
    assert (found["good"].seats, found["good"].seats_used, found["good"].calls_saved) == (3, 2, 1)
    assert found["good"].agreement is None
    assert {o for o, r in found.items() if r.for_people} == {"torn"}  # the last tier settles the others
    assert [c.status for c in found["rude to one"].criteria] == ["decided", "decided"]


def test_a_rubric_goes_on_by_verdicts_and_by_distant_scores():
    asked = {}
    seats = rubric_seats(asked)
    strict = llm_jury(rubric=RUBRIC, judges=seats, escalate={**TIERS, "always": [False]})
    assert strict.judge_sync(output="bad.").tier == 2
    assert strict.judge_sync(output="good.").tier == 1  # no criterion is a verdict that `always` means
    near = llm_jury(rubric=RUBRIC, judges=seats, escalate={**TIERS, "within": 0.5})
    assert near.judge_sync(output="good.").tier == 2  # 5 and 4
    wide = llm_jury(rubric=RUBRIC, judges=seats, escalate={**TIERS, "within": 1})
    assert wide.judge_sync(output="good.").tier == 1
    plain = {"name": "p", "criteria": [{"key": "kind", "scale": "0/1"}], "pass_rule": "kind == 1"}
    with pytest.raises(ConfigError, match="within is for scores"):
        llm_jury(rubric=plain, judges=seats, escalate={**TIERS, "within": 1})


@pytest.mark.parametrize("ask", ["together", "each"])
def test_a_run_of_a_rubric_counts_checks_and_replays_its_cascade(tmp_path, ask):
    asked = {}
    rows = [{"id": f"{o} {i}", "input": "q", "output": f"{o}."} for i in range(4) for o in SCORES]
    told = {"rubric": RUBRIC, "ask": ask, "judges": rubric_seats(asked), "retries": 0, "reask": 0, "cache": False}
    spec = RunSpec.from_mapping({**told, "escalate": {**TIERS, "check": 0.3}}).with_changes(data=rows)
    report = run_sync(spec, tmp_path / "run")
    assert report.totals["tiers"] == {"1": 8, "2": 16}
    assert 0 < report.totals["checked"] < 8
    differed = {i.id for i, r in Run.open(tmp_path / "run").results() if r.checked == "differs"}
    assert not any(name.startswith("good") for name in differed)  # of "bad" the third judge makes no other verdict
    found = replay(tmp_path / "run")
    assert found.same, found.differences
    assert run_sync(spec, tmp_path / "run").skipped == 16  # but for those on whom a judge failed


CHAT = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
SESSIONS = {  # a session, and what the three judges say of policy and of tone
    "fine": (("PASS", "PASS"), ("PASS", "PASS"), ("FAIL", "FAIL")),
    "odd tone": (("PASS", "PASS"), ("PASS", "FAIL"), ("PASS", "FAIL")),
    "unclear": (("PASS", "FAIL"), ("FAIL", "PASS"), ("NA", "NA")),
}


def session_seats(asked):
    def seat(place):
        def answer(request):
            name = next(n for n in SESSIONS if f"{n}!" in request.prompt)
            said = dict(zip(("policy", "tone"), SESSIONS[name][place], strict=True))
            wanted = request.schema["properties"]
            asked.append((name, "abc"[place]))
            if "verdict" in wanted:
                key = "policy" if "violations" in wanted else "tone"
                return filled(wanted, said[key])
            return {key: filled(part["properties"], said[key]) for key, part in wanted.items()}

        return JudgeSpec(f"scripted/{'abc'[place]}", provider=ScriptedProvider(answer), id="abc"[place])

    return [seat(i) for i in range(3)]


def filled(properties, verdict):
    texts = {"quote": ""} if "quote" in properties else {}
    return {**{n: [] for n in properties if n not in ("verdict", "quote")}, **texts, "verdict": verdict}


def jury_for_sessions(asked, **more):
    return session_jury(
        ["policy", "tone"], context="1. Be kind.", judges=session_seats(asked), escalate=TIERS, retries=0, reask=0,
        **more,
    )  # fmt: skip


def said(name):
    return [{"role": "user", "content": f"{name}!"}, {"role": "assistant", "content": "a"}]


def test_sessions_asked_together_go_on_for_any_criterion():
    asked = []
    jury = jury_for_sessions(asked, ask="together")
    fine, odd, unclear = (jury.judge_sync(said(name), id=name) for name in SESSIONS)
    assert (fine.tier, fine.value, fine.calls, fine.calls_saved) == (1, "PASS", 2, 1)
    assert (odd.tier, odd.value, odd.for_people, len(odd.votes)) == (2, "FAIL", False, 3)
    assert (unclear.tier, unclear.for_people, unclear.status) == (2, True, "inconclusive")
    assert any("asked up to tier 1: 2 of 3 seats" in note for note in fine.notes)
    assert fine.agreement is None
    assert {c.agreement for c in fine.criteria} == {None}


def test_sessions_asked_one_by_one_go_on_by_criterion():
    asked = []
    jury = jury_for_sessions(asked)
    odd = jury.judge_sync(said("odd tone"), id="odd")
    assert sorted(asked) == [("odd tone", j) for j in "aabbc"]  # the third judge about the tone alone
    assert (odd.tier, odd.value, odd.for_people, odd.calls_saved) == (2, "FAIL", False, 1)
    assert any(note.startswith("tone: asked up to tier 2") for note in odd.notes)
    assert any(note.startswith("policy: asked up to tier 1") for note in odd.notes)


@pytest.mark.parametrize("ask", ["together", "each"])
def test_a_run_of_sessions_by_yaml_keys(tmp_path, ask):
    for i, name in enumerate([*SESSIONS] * 4):
        (tmp_path / f"s{i}.jsonl").write_text("".join(json.dumps(m) + "\n" for m in said(name)))
    asked = []
    spec = RunSpec.from_mapping(
        {
            "kind": "session",
            "data": "*.jsonl",
            "criteria": ["policy", "tone"],
            "context": "1. Be kind.",
            "ask": ask,
            "judges": session_seats(asked),
            "escalate": {**TIERS, "check": 0.3},
            "cache": False,
        },
        tmp_path,
    )
    report = run_sync(spec, tmp_path / "run")
    assert report.totals["tiers"] == {"1": 4, "2": 8}
    assert report.totals["for_people"] == 4
    assert report.totals["checked"] > 0
    found = replay(tmp_path / "run")
    assert found.same, found.differences
    assert run_sync(spec, tmp_path / "run").skipped == 8  # but for those on whom a judge failed: tone has no NA
