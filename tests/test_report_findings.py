"""Failed items that fail alike: by criterion, by rule, by the words of the reasons."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury import Criterion, Rubric, session_jury
from jury.report.alike import ALIKE, MOST_GROUPS, alike, groups, shared, spelled, typical, words_of
from jury.report.facts import facts
from jury.report.findings import MOST
from jury.report.rules import event_text
from jury.sessions.recording import record
from jury.store import Run
from jury.transcripts import load_session
from tests import report_runs
from tests.report_runs import run, seat

TEXTS = st.lists(st.text(alphabet="abc def", max_size=20), max_size=30)


@settings(deadline=None)
@given(TEXTS)
def test_every_reason_is_in_one_group_and_like_the_first_of_it(texts: list[str]):
    reasons = [words_of(t) for t in texts]
    made, rest = groups(reasons)
    assert rest == []
    assert sorted(i for group in made for i in group) == list(range(len(texts)))
    assert [len(g) for g in made] == sorted(map(len, made), reverse=True)
    for group in made:
        for place, at in enumerate(group[1:], 1):
            before = [reasons[i] for i in group[:place]]
            assert reasons[at] in before or alike(reasons[at], before) >= ALIKE


def test_where_there_are_too_many_groups_the_rest_is_in_none():
    reasons = [frozenset({f"word{i}"}) for i in range(MOST_GROUPS + 5)]
    made, rest = groups([*reasons, reasons[0]])
    assert len(made) == MOST_GROUPS
    assert made[0] == [0, MOST_GROUPS + 5]
    assert rest == [MOST_GROUPS + i for i in range(5)]


def test_shared_words_are_those_of_half_of_the_reasons():
    texts = ("late fee charged", "late fees", "late parcel fee", "parcel lost")
    reasons = [words_of(t) for t in texts]
    assert shared(reasons) == ("fee", "lat")  # three of four each; `parcel` is in two of four
    assert spelled(shared(reasons), texts) == ("fee", "late")
    assert typical(reasons)[0] == 1  # its two words are the two that are shared


def failing(folder: Path, reasons: list[str], passing: int = 0) -> Run:
    rows = [{"id": f"f{i}", "output": "x", "said": False, "why": why} for i, why in enumerate(reasons)]
    rows += [{"id": f"p{i}", "output": "x", "said": True, "why": "fine"} for i in range(passing)]
    return run(folder, rows, criteria="?", judges=[report_runs.broken])


def test_failed_items_are_grouped_by_their_reasons_the_largest_first(tmp_path: Path):
    reasons = ["no source is cited", "The refund amount differs", "It cites no source", "no source was cited at all"]
    found = facts(failing(tmp_path / "run", reasons, passing=2)).findings
    assert [(f.count, f.items) for f in found] == [(3, ("f0", "f2", "f3")), (1, ("f1",))]
    assert "source" in found[0].words
    assert found[0].examples[0][1] in reasons
    assert found[1].title == "The refund amount differs"
    assert found[1].first == "One item: open f1 and see whether you agree."
    assert found[0].trend == ()


def test_a_title_of_several_reasons_is_an_example_and_of_one_reason_its_words(tmp_path: Path):
    found = facts(failing(tmp_path / "run", ["no source is cited", "It cites no source"])).findings
    assert found[0].title.startswith("e.g. ")
    found = facts(failing(tmp_path / "same", ["no source is cited", "no source is cited"])).findings
    assert found[0].title == "no source is cited"


def test_the_trend_counts_alike_reasons_in_earlier_runs(tmp_path: Path):
    before = failing(tmp_path / "before", ["no source cited", "no source cited", "too long by far"], passing=1)
    now = failing(tmp_path / "now", ["no source cited"], passing=1)
    (finding,) = facts(now, earlier=[before]).findings
    assert [(hits, items) for _, hits, items in finding.trend] == [(2, 4), (1, 2)]


def test_judges_who_quote_what_is_not_there_are_looked_at_before_the_system(tmp_path: Path):
    def inventing(text: str) -> Any:
        return {"evidence": ["this was never said"], "explanation": "It is rude.", "value": False}

    made = run(tmp_path / "run", [{"id": "a", "output": "Hello."}], criteria="?", judges=[seat("one", inventing)])
    (finding,) = facts(made).findings
    assert finding.first.startswith("On 1 of 1 item a judge quotes what is not in the text")


def test_split_votes_are_read_first(tmp_path: Path):
    judges = [
        seat(name, lambda _, v=value: {"explanation": "so", "value": v})
        for name, value in (("one", False), ("two", False), ("odd", True))
    ]
    made = run(tmp_path / "run", [{"id": "a", "output": "x"}, {"id": "b", "output": "y"}], criteria="?", judges=judges)
    (finding,) = facts(made).findings
    assert finding.count == 2
    assert finding.first.startswith("Judges split on 2 of 2 items")


def rubric_run(folder: Path, rubric: Rubric, scores: dict[str, dict[str, int]]) -> Run:
    def judge(row: Any) -> Any:
        return {key: (score, f"{key} is {score}") for key, score in scores[row["id"]].items()}

    return run(folder, [{"id": i, "output": i} for i in scores], rubric=rubric, judges=[judge])


def test_a_rubric_fails_by_criterion_and_an_item_may_be_in_several(tmp_path: Path):
    rubric = Rubric([Criterion("correct", gate=4), Criterion("tone", scale="0/1", gate="== 1")])
    scores = {"a": {"correct": 2, "tone": 0}, "b": {"correct": 1, "tone": 1}, "c": {"correct": 5, "tone": 1}}
    report = facts(rubric_run(tmp_path / "run", rubric, scores))
    assert {(f.criterion, f.items) for f in report.findings} == {("correct", ("a", "b")), ("tone", ("a",))}
    correct, tone = report.criteria
    assert (correct.key, correct.rate.hits, correct.rate.n, correct.mean.value) == ("correct", 1, 3, 8 / 3)
    assert correct.scores == {"1": 1, "2": 1, "5": 1}
    assert (tone.rate.hits, tone.rate.n, tone.judges["judge"].hits) == (2, 3, 2)


def test_a_pass_rule_that_no_criterion_breaks_alone_names_its_clause(tmp_path: Path):
    rubric = Rubric([Criterion("clear"), Criterion("short")], pass_rule="clear >= 3 and short >= 2")
    scores = {"a": {"clear": 2, "short": 5}, "b": {"clear": 1, "short": 5}, "c": {"clear": 4, "short": 4}}
    (finding,) = facts(rubric_run(tmp_path / "run", rubric, scores)).findings
    assert (finding.criterion, finding.rule, finding.items) == ("clear", "clear >= 3", ("a", "b"))


def test_many_small_findings_end_in_one(tmp_path: Path):
    reasons = [f"{chr(97 + i // 26)}{chr(97 + i % 26)}word" for i in range(MOST_GROUPS + 10)]
    found = facts(failing(tmp_path / "run", reasons)).findings
    assert len(found) == MOST
    assert sum(f.count for f in found) == MOST_GROUPS + 10
    assert found[-1].title == f"{MOST_GROUPS + 10 - MOST + 1} smaller groups"
    assert len(found[-1].items) == MOST_GROUPS + 10 - MOST + 1


def policy_run(folder: Path) -> Run:
    """Three sessions by two judges: rules broken are 1, then 1 and 3, then none; `mild` never sees rule 3."""

    def says(name: str) -> report_runs.Answer:
        def answer(text: str) -> Any:
            listed = [{"rule": 1, "event": "event 2"}] if "a fee of" in text else []
            if "no word" in text and name == "strict":
                listed.append({"rule": 3, "event": "event 2"})
            return {"evidence": ["event 2"], "violations": listed, "verdict": "FAIL" if listed else "PASS"}

        return answer

    told = ("I took a fee of 9.", "I took a fee of 7, and said no word.", "All is well.")
    rules = "1. Take no fee.\n2. Be kind.\n3. Say what you do.\n"
    jury = session_jury(["policy"], context=rules, judges=[seat(n, says(n)) for n in ("strict", "mild")])
    sessions = [
        replace(
            load_session([{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": text}]), id=f"s{i}"
        )
        for i, text in enumerate(told)
    ]

    async def all_of_them() -> None:
        async for _ in record(jury, sessions, folder):
            pass

    asyncio.run(all_of_them())
    return Run.open(folder)


def test_sessions_fail_by_the_rules_that_most_judges_name(tmp_path: Path):
    report = facts(policy_run(tmp_path / "run"))
    assert (report.head.kind, report.head.outcomes) == ("session", {"fail": 2, "pass": 1})
    (criterion,) = report.criteria
    assert criterion.by_key["violations"] == {"1": 2}  # rule 3 is named by one judge of two
    (finding,) = report.findings
    assert (finding.criterion, finding.rule, finding.items) == ("policy", "violation 1", ("s0", "s1"))
    assert finding.title == "policy: rule 1 (Take no fee.): e.g. event 2: “I took a fee of 9.”"
    first = report.items[0]
    assert [m["role"] for m in first.messages] == ["user", "assistant"]
    assert [(a.filled, a.exact) for a in first.asked] == [(True, True)]
    assert "{{" not in first.asked[0].user
    assert "I took a fee of 9." in first.asked[0].user


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("event 2", "event 2: “waive({})”"),
        ("events 1 and 2", "events 1 and 2: “Hello”"),
        ("[3]", "[3]: “Done”"),
        ("event 9", "event 9"),
        ("event 2 waives the fee", "event 2 waives the fee"),
        ("2" * 5000, "2" * 5000),
        ("", ""),
    ],
)
def test_an_event_that_is_only_named_is_shown(text: str, shown: str):
    call = {"function": {"name": "waive", "arguments": "{}"}, "event": 2}
    messages = [
        {"role": "user", "content": "Hello", "event": 1},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "assistant", "content": "Done", "event": 3},
    ]
    assert event_text(text, messages) == shown


def test_what_an_item_is_about_is_not_why_it_failed(tmp_path: Path):
    rows = [
        {"id": "a", "output": "Lamps ship to Norway", "said": False, "why": "Lamps ship to Norway: no source is cited"},
        {"id": "b", "output": "Lamps ship to Norway", "said": False, "why": "Lamps ship to Norway: it is rude"},
        {"id": "c", "output": "Chairs cost 9", "said": False, "why": "It cites no source that chairs cost 9"},
    ]
    made = run(tmp_path / "run", rows, criteria="?", judges=[report_runs.broken])
    assert [f.items for f in facts(made).findings] == [("a", "c"), ("b",)]
