"""What a report knows of a run: every number here is counted by hand from the rows of `report_runs`."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from jury import JudgeSpec, Labels, ScriptedProvider, llm_jury, session_jury
from jury.audit import audited, calibrate, gate, keep
from jury.audit.keeping import keep_gate
from jury.providers.base import Request
from jury.report.facts import SAMPLE, facts
from jury.report.junit import to_junit
from jury.report.markdown import to_markdown
from jury.report.page import html
from jury.report.parts import FLAGS, Report
from jury.results import Reply, Usage
from jury.rubrics.criterion import Criterion
from jury.rubrics.rubric import Rubric
from jury.runner import RunSpec, run_sync
from jury.runner import run as run_async
from jury.sessions.checks import code_check
from jury.sessions.recording import record
from jury.store import Label, Run
from jury.transcripts import load_session
from jury.wording import COUNTED
from tests import report_runs, virtual_time
from tests.report_runs import run, seat


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return facts(report_runs.sums(tmp_path_factory.mktemp("runs") / "sums"))


def test_the_head_has_the_rate_with_its_interval_and_its_coverage(report: Report):
    head = report.head
    assert (head.name, head.kind, head.criteria, head.finished) == ("sums", "pointwise", "The sum is right.", True)
    assert head.outcomes == {"pass": 6, "fail": 2, "not_judged": 1}
    assert (head.rate.hits, head.rate.n, head.rate.value) == (6, 8, 0.75)
    assert head.rate.low < 0.75 < head.rate.high
    assert head.rate.text.startswith("75% (")
    assert (head.answered, head.total, head.coverage.text) == (8, 9, "88.9%")
    assert [s.id for s in head.seats] == ["one", "two", "odd"]
    assert head.seats[0].prompt in report.prompts
    assert head.corrected is None
    assert "jury calibrate" in head.corrected_why
    assert head.gate is None


def test_flags_say_what_an_item_can_be_found_by(report: Report):
    flags = {item.id: item.flags for item in report.items}
    assert flags["s0"] == ("evidence_missing",)
    assert flags["s1"] == flags["s2"] == ()
    assert flags["s5"] == ("split",)
    assert flags["s6"] == ("failed",)
    assert flags["s8"] == ("error",)
    assert {f for found in flags.values() for f in found} <= set(FLAGS)


def test_what_a_cascade_leaves_to_people_can_be_found(tmp_path: Path):
    def always(output: str) -> bool:
        return bool(output)

    def seldom(output: str) -> bool:
        return output == "yes"

    judges = [JudgeSpec(function=says, id=name) for name, says in zip("abcd", (always, seldom) * 2, strict=True)]
    jury = llm_jury(criteria="Right?", judges=judges, escalate=[["a", "b"], "rest", "people"])
    run_sync(RunSpec([{"id": text, "output": text} for text in ("yes", "no")], jury), tmp_path / "run")
    report = facts(Run.open(tmp_path / "run"))
    assert {item.id: "for_people" in item.flags for item in report.items} == {"yes": False, "no": True}
    assert 'data-flag="for_people"' in html(report)


def test_votes_have_reasons_quotes_raw_replies_and_the_prompt_as_it_was_asked(report: Report):
    first = report.items[0]
    odd = first.votes[2]
    assert [(q.text, q.found, q.field) for q in odd.quotes] == [("no such words", False, "")]
    assert [(q.found, q.field) for q in first.votes[0].quotes] == [(True, "output")]
    assert json.loads(odd.answers[0].reply)["value"] is True
    assert odd.answers[0].at
    assert [(a.judges, a.exact, a.filled) for a in first.asked] == [(("one", "two", "odd"), True, True)]
    assert "The sum is 0." in first.asked[0].user
    failed = report.items[1].votes[2]
    assert (failed.status, failed.word, failed.failure_kind) == ("error", "error", "no_json")
    assert failed.answers[0].reply == "I cannot say."
    assert report.items[8].error == "timed out"
    assert report.items[8].votes == ()


def test_judges_are_counted_and_compared(report: Report):
    one, _two, odd = report.panel.judges
    assert (one.rate.hits, one.rate.n, odd.rate.hits, odd.rate.n) == (6, 8, 4, 7)  # odd: 8 less one failed, s5 too
    assert one.with_panel.value == 1.0
    assert (odd.with_panel.hits, odd.with_panel.n) == (6, 7)
    assert dict(odd.failures) == {"no_json": 1}
    assert not one.failures
    assert (one.quotes_found, one.quotes_missing, odd.quotes_found, odd.quotes_missing) == (8, 0, 6, 1)
    assert report.panel.agreement[0] == (None, 1.0, pytest.approx(6 / 7))
    assert report.panel.common[0] == (0, 8, 7)
    sentences = report.panel.sentences
    assert "odd" in sentences["agreement"]
    assert "no json" in sentences["failures"]
    assert "asked once" in sentences["stability"]
    assert "position" not in sentences
    assert report.panel.effective.value is None
    assert "20 labels" in sentences["effective"]


def test_the_sample_is_of_passing_items_and_the_seed_draws_it(report: Report, tmp_path: Path):
    assert sorted(report.sample) == [f"s{i}" for i in range(6)]
    rows = [{"id": f"r{i}", "output": "x", "said": i % 3 > 0} for i in range(60)]
    many = run(tmp_path / "many", rows, criteria="?", judges=[report_runs.broken])
    drawn = [facts(many, seed=seed).sample for seed in (1, 1, 2)]
    passing = {f"r{i}" for i in range(60) if i % 3}
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(len(set(d)) == SAMPLE and set(d) <= passing for d in drawn)


def test_a_report_is_plain_json_and_the_same_twice(report: Report, tmp_path: Path):
    again = facts(Run.open(report.head.folder)).to_dict()
    assert again == report.to_dict()
    assert json.loads(json.dumps(again, allow_nan=False)) == again
    assert again["items"][0]["votes"][2]["quotes"][0] == {
        "text": "no such words",
        "found": False,
        "criterion": "",
        "field": "",
        "near": False,
        "words": [],
    }


def test_a_quote_with_small_edits_names_the_words_that_stand_there(tmp_path: Path):
    text = 'It said: "Refunds take\n 14 Days,\\nand they are free", no more. The rest of it is a long text.'
    quotes = [
        "refunds take 14 days",
        "and they are freee",
        "The rest of its is a long text",
        "take\\n14",
        "never said",
    ]

    def judge(output: str) -> dict[str, Any]:
        return {"value": True, "evidence": quotes}

    (item,) = facts(run(tmp_path, [{"id": "a", "output": text}], criteria="?", judges=[judge])).items
    found = {q.text: (q.found, q.near, q.words) for q in item.votes[0].quotes}
    assert found == {
        "refunds take 14 days": (True, False, ("Refunds take\n 14 Days",)),
        "and they are freee": (True, True, ("and they are free",)),
        "The rest of its is a long text": (True, True, ("The rest of it is a long text",)),
        "take\\n14": (True, False, ("take\n 14",)),
        "never said": (False, False, ()),
    }
    assert all(words in text for _, _, parts in found.values() for words in parts)


def test_labels_of_people_give_the_corrected_rate_until_a_prompt_changes(tmp_path: Path):
    rows = [{"id": f"r{i}", "output": "x", "said": i % 2 == 0} for i in range(40)]
    made = run(tmp_path / "run", rows, criteria="?", judges=[report_runs.broken])
    for i in range(40):
        made.add_label(Label(f"r{i}", "ann", i % 2 == 0, sampling="random"))
    found = facts(made)
    assert found.head.labels == 40
    assert found.head.corrected is None
    assert dict(found.items[1].people) == {"ann": False}
    keep(made, calibrate(audited(made), sampled="random"))
    corrected = facts(made).head.corrected
    assert corrected is not None
    assert corrected.value == pytest.approx(0.5)
    assert corrected.low < 0.5 < corrected.high
    path = made.folder / "calibration.json"
    data = json.loads(path.read_text("utf-8"))
    data["holds_for"]["broken"]["prompt"] = "another"
    path.write_text(json.dumps(data), "utf-8")
    head = facts(made).head
    assert head.corrected is None
    assert "expired" in head.corrected_why
    assert "broken" in head.corrected_why


def test_the_last_gate_is_shown(tmp_path: Path):
    made = report_runs.sums(tmp_path / "sums")
    keep_gate(audited(made), gate(audited(made), pass_rate=">=0.99"))
    found = facts(made).head.gate
    assert found["outcome"] == "fail"
    assert found["checks"][0]["condition"] == ">= 0.99"


def test_a_gate_expires_when_the_run_changes(tmp_path: Path):
    rows = [{"id": f"r{i}", "output": "x", "said": i > 0} for i in range(6)]
    made = report_runs.run(tmp_path / "run", rows[:5], criteria="?", judges=[report_runs.broken])
    keep_gate(audited(made), gate(audited(made), pass_rate=">=0.1"))
    assert facts(made).head.gate["outcome"] == "pass"
    more = report_runs.run(tmp_path / "run", rows, criteria="?", judges=[report_runs.broken])
    found = facts(more)
    assert (found.head.gate["outcome"], found.head.gate["was"]) == ("expired", "pass")
    assert "| gate | expired: the run has changed since |" in to_markdown(found)
    assert "it was pass" in html(found)


def test_a_function_has_no_prompt_and_a_rubric_its_own_rule(tmp_path: Path):
    made = report_runs.run(tmp_path / "run", [{"output": "x", "said": True}], criteria="?", judges=[report_runs.broken])
    (seat,) = facts(made).head.seats
    assert (seat.model, seat.prompt) == ("function", "")
    rubric = Rubric([Criterion("right", gate=4), Criterion("tone", scale="0/1", gate="== 1")])

    def judge(row: Any) -> Any:
        return {"right": (5, "so"), "tone": (1, "so")}

    head = facts(run(tmp_path / "rub", [{"output": "x"}], rubric=rubric, judges=[judge])).head
    assert head.rule == rubric.rule_text == "right >= 4 and tone == 1"
    assert "mode" not in to_markdown(facts(Run.open(tmp_path / "rub"))).split("rule:")[1].splitlines()[0]


def test_na_inconclusive_and_errors_are_in_no_rate(tmp_path: Path):
    said: list[dict[str, Any]] = [{"said": v} for v in ("PASS", "FAIL", "NA", "NA")] + [{"fault": "down"}]
    rows = [{"id": f"r{i}", "output": "x", **one} for i, one in enumerate(said)]
    jury = llm_jury(criteria="?", scale=Labels(["PASS", "FAIL", "NA"], ["PASS"], "NA"), judges=[report_runs.broken])
    run_sync(RunSpec(rows, jury, cache=False), tmp_path / "run")
    found = facts(Run.open(tmp_path / "run"))
    assert found.head.outcomes == {"na": 2, "pass": 1, "fail": 1, "error": 1}
    assert (found.head.rate.value, found.head.rate.n, found.head.coverage.text) == (0.5, 2, "80%")
    assert [i.flags for i in found.items] == [(), ("failed",), ("na",), ("na",), ("error",)]
    assert found.items[4].votes[0].failure == "server_error: down"


def test_a_rate_of_nothing_is_undefined_and_never_zero(tmp_path: Path):
    jury = llm_jury(criteria="?", scale=Labels(["PASS", "FAIL", "NA"], ["PASS"], "NA"), judges=[report_runs.broken])
    run_sync(RunSpec([{"id": "a", "output": "x", "said": "NA"}], jury, cache=False), tmp_path / "run")
    head = facts(Run.open(tmp_path / "run")).head
    assert (head.rate.value, head.rate.text, head.coverage.text) == (None, "n/a", "100%")
    assert head.rate.why


def test_numbers_without_a_pass_mark_have_a_mean_and_no_rate(tmp_path: Path):
    rows = [{"id": f"r{i}", "output": "x", "said": s} for i, s in enumerate((1, 2, 4, 5))]
    two = lambda row: row["said"]  # noqa: E731
    made = run(tmp_path / "run", rows, criteria="?", judges=[report_runs.broken, two], range=[1, 5])
    found = facts(made)
    assert found.head.mean.value == 3.0
    assert found.head.rate.value is None
    assert found.panel.agreement == ()
    assert found.panel.alpha.text == "n/a"
    assert {i.outcome for i in found.items} == {"unrated"}
    assert found.items[3].word == "5"
    assert found.findings == ()
    assert found.sample == ()


def test_repetitions_show_who_contradicts_itself(tmp_path: Path):
    turns = {"n": 0}

    def wavering(text: str) -> Any:
        turns["n"] += 1
        return {"explanation": "", "value": turns["n"] % 3 > 0}  # true, true, false on every item

    rows = [{"id": f"r{i}", "output": f"text {i}"} for i in range(3)]
    steady = seat("steady", lambda _: {"explanation": "", "value": True})
    jury = {"criteria": "?", "judges": [steady, seat("wavering", wavering)], "repetitions": 3}
    run_sync(RunSpec(rows, jury, concurrency=1, cache=False), tmp_path / "run")
    made = Run.open(tmp_path / "run")
    found = facts(made)
    assert [j.retest.value for j in found.panel.judges] == [0.0, 1.0]
    assert "wavering contradicts itself on 100%" in found.panel.sentences["stability"]
    assert all(item.flags == ("unstable",) for item in found.items)
    assert [a.repetition for a in found.items[0].votes[1].answers] == [0, 1, 2]


def test_pairs_have_flips_and_a_ranking(tmp_path: Path):
    def fair(text: str) -> Any:
        return {"explanation": "", "value": "A" if text.index("gold") < text.index("tin") else "B"}

    def first(text: str) -> Any:
        return {"explanation": "", "value": "A"}

    names = [("gold", "tin"), ("tin", "gold")] * 6
    rows = [
        {"id": f"p{i}", "question": f"q{i}", "response_a": a, "response_b": b, "model_a": a, "model_b": b}
        for i, (a, b) in enumerate(names)
    ]
    judges = [seat("fair", fair), seat("also", fair), seat("first", first)]
    found = facts(run(tmp_path / "pairs", rows, kind="pairwise", criteria="Which?", judges=judges))
    assert found.head.rate_name == "win rate of A"
    assert found.head.rate.value == 0.5
    assert found.pairs.counts == {"A": 6, "B": 6, "tie": 0, "inconclusive": 0}
    assert (found.pairs.flips.hits, found.pairs.flips.n) == (12, 36)
    assert found.pairs.flip_kinds == {"primacy": 12, "recency": 0, "mixed": 0}
    assert [t.name for t in found.pairs.ranking] == ["gold", "tin"]
    assert found.pairs.ranking[1].against_first.value < 0.5
    flipped = found.panel.judges[2]
    assert flipped.flips.value == 1.0
    assert flipped.lean.value == 1.0
    assert "first" in found.panel.sentences["position"]
    assert found.items[0].votes[2].status == "flip"
    assert found.items[0].flags == ("unstable",)
    assert [(a.order, a.exact) for a in found.items[0].asked] == [("ab", True), ("ba", True)]
    assert found.findings == ()
    assert len(found.sample) == SAMPLE


def test_pairs_without_names_say_why_they_are_not_ranked(tmp_path: Path):
    rows = [{"id": "p", "question": "q", "response_a": "x", "response_b": "y"}]
    made = run(tmp_path / "pairs", rows, kind="pairwise", criteria="?", judges=[lambda response_a: "A"], swap=False)
    found = facts(made)
    assert found.pairs.ranking == ()
    assert "model_a" in found.pairs.note
    assert found.pairs.flips.value is None
    assert found.pairs.flips.text == "n/a"
    assert "one order" in found.panel.sentences["position"]


def test_a_second_run_shows_what_is_fixed_and_what_is_broken(tmp_path: Path):
    def made(name: str, passing: str) -> Run:
        rows = [{"id": c, "input": "same", "output": "x", "said": c in passing} for c in "abcdefgh"]
        return run(tmp_path / name, rows, criteria="?", judges=[report_runs.broken])

    before, now = made("before", "abcd"), made("now", "bcdefg")
    found = facts(now, other=before).difference
    assert (found.fixed, found.broken, found.common) == (("e", "f", "g"), ("a",), 8)
    assert found.rate.value == pytest.approx(2 / 8)
    assert found.other == "before"
    assert found.other_rate.value == 0.5
    assert next((c.item, c.before, c.now) for c in found.changed) == ("a", "pass", "fail")
    assert "No difference" in found.sentence
    assert found.differs == ()
    assert facts(before, other=now).difference.rate.value == pytest.approx(-2 / 8)


def test_items_that_ask_something_else_under_one_id_are_told(tmp_path: Path):
    a = run(tmp_path / "a", [{"id": "1", "input": "x", "output": "o", "said": True}], criteria="?",
            judges=[report_runs.broken])  # fmt: skip
    b = run(tmp_path / "b", [{"id": "1", "input": "y", "output": "o", "said": True}], criteria="?",
            judges=[report_runs.broken])  # fmt: skip
    assert facts(b, other=a).difference.differs == ("1 item of the same id ask something else",)


def test_spend_is_unknown_where_a_price_is(tmp_path: Path):
    from jury import JudgeSpec, ScriptedProvider

    def priced(cost: float | None) -> Any:
        text = json.dumps({"explanation": "", "value": True})
        provider = ScriptedProvider(lambda _: Reply(text, usage=Usage(1, 10, 5, None, cost)))
        return JudgeSpec("scripted/paid", id=f"paid {cost}", provider=provider)

    rows = [{"id": "a", "output": "x"}, {"id": "b", "output": "y"}]
    known = facts(run(tmp_path / "known", rows, criteria="?", judges=[priced(0.25)])).head
    assert (known.cost, known.cost_text, known.input_tokens) == (0.5, "$0.50", 20)
    unknown = facts(run(tmp_path / "unknown", rows, criteria="?", judges=[priced(None), priced(0.25)])).head
    assert (unknown.cost, unknown.cost_text) == (None, "unknown")


def test_a_run_without_results_is_a_report_that_says_so(tmp_path: Path):
    made = report_runs.sums(tmp_path / "sums")
    (made.folder / "results.jsonl").unlink()
    (made.folder / "index.sqlite").unlink()
    found = facts(made)
    assert found.head.total == 0
    assert found.head.rate.text == "n/a"
    assert found.head.coverage.text == "n/a"
    assert "no results" in found.notes[-1]


def test_items_that_wait_for_a_verdict_are_counted(tmp_path: Path):
    made = report_runs.sums(tmp_path / "sums")
    results = made.folder / "results.jsonl"
    results.write_text("".join(results.read_text("utf-8").splitlines(keepends=True)[:4]), "utf-8")
    manifest = json.loads((made.folder / "manifest.json").read_text("utf-8"))
    (made.folder / "manifest.json").write_text(json.dumps({**manifest, "finished": False}), "utf-8")
    found = facts(Run.open(made.folder))
    assert (found.head.total, found.head.finished) == (4, False)
    assert "5 items wait for a verdict" in found.notes[0]


def test_judges_that_never_meet_are_not_compared(tmp_path: Path):
    def even(row: Any) -> bool:
        return True

    rows = [{"id": str(i), "output": "x", "said": True} for i in range(4)]
    made = run(tmp_path / "run", rows, criteria="?", judges=[even, report_runs.broken], assignment="cyclic")
    panel = facts(made).panel
    assert panel.agreement == ((None, None), (None, None))
    assert panel.sentences["agreement"] == "No two judges voted on the same item: agreement cannot be seen."


def test_stand_ins_stand_beside_the_seats(tmp_path: Path):
    def spare(row: Any) -> bool:
        return False

    rows = [{"id": "a", "output": "x", "fault": "down"}, {"id": "b", "output": "x", "said": True}]
    made = run(tmp_path / "run", rows, criteria="?", judges=[report_runs.broken], stand_ins=[spare])
    report = facts(made)
    assert [(s.id, s.stand_in) for s in report.head.seats] == [("broken", False), ("spare", True)]
    assert [(j.id, j.stand_in, j.votes) for j in report.panel.judges] == [("broken", False, 1), ("spare", True, 1)]
    assert "broken (1 server error)" in report.panel.sentences["failures"]


def test_sessions_judged_by_code_alone_have_no_panel(tmp_path: Path):
    jury = session_jury([], checks=[code_check("long", lambda session: len(session.events) > 2)])
    session = replace(load_session([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]), id="s")

    async def kept() -> None:
        async for _ in record(jury, [session], tmp_path / "run"):
            pass

    asyncio.run(kept())
    report = facts(Run.open(tmp_path / "run"))
    assert report.head.outcomes == {"fail": 1}
    assert (report.panel.judges, dict(report.panel.sentences)) == ((), {})
    assert [(f.criterion, f.items) for f in report.findings] == [("long", ("s",))]


@pytest.mark.parametrize("kind", ["pointwise", "pairwise"])
def test_items_that_judges_did_not_get_to_are_not_judged(tmp_path: Path, kind: str):
    value: Any = True if kind == "pointwise" else "tie"

    async def reply(request: Request) -> Reply:
        await asyncio.sleep(60 if "slow" in request.prompt else 1)
        return Reply(json.dumps({"value": value}))

    rows = [{"id": f"r{i}", "output": text, "output_a": text, "output_b": "y"} for i, text in enumerate(["x", "slow"])]
    judge = JudgeSpec("scripted/one", id="one", provider=ScriptedProvider(reply), settings={"retries": 0})
    jury = {"criteria": "Good.", "judges": [judge], "vote_deadline": 5}
    virtual_time.run(run_async(RunSpec(rows, jury, kind=kind, cache=False), tmp_path / "run"))
    found = facts(Run.open(tmp_path / "run"))
    good, left = found.items
    assert (left.status, left.reason) == ("inconclusive", "deadline")
    assert (left.word, left.flags) == ("not judged", ("not_judged",))
    assert found.head.outcomes == {good.outcome: 1, "not_judged": 1}
    assert f"1 of 2 (1 {COUNTED.get(good.outcome, good.outcome)}, 1 not judged)" in to_markdown(found)
    assert 'data-flag="not_judged"' in html(found)
    if found.pairs is not None:
        assert found.pairs.counts == {"A": 0, "B": 0, "tie": 1, "inconclusive": 0, "not_judged": 1}
    suite = ET.fromstring(to_junit(found))
    assert (suite.get("errors"), suite.get("skipped")) == ("0", "1")
