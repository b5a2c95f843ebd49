"""Cascades: the first tier is asked about every item, the others only where it does not settle it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury import ConfigError, JudgeSpec, Numeric, PanelSpec, Reply, ScriptedProvider, Usage, llm_jury, llm_jury_pairwise
from jury.escalation import Escalation
from jury.runner import RunSpec, estimate, replay, run_sync
from jury.runner.escalating import standings
from jury.store import Label, Run

CASES = {  # an output, and what each of four judges says of it
    "clear": "PPPP",
    "split": "PFPP",
    "failed": "-PPP",
    "abstained": "PaPP",
    "flagged": "FFPP",
    "open": "PFPF",
    "broken": "PFP-",
}
SAID = {
    "P": {"explanation": "e", "value": "PASS"},
    "F": {"explanation": "e", "value": "FAIL"},
    "a": {"explanation": "e", "abstain": True},
    "-": None,
}


def judges(costs=(1, 1, 1, 1)):
    asked = {}

    def seat(place):
        def answer(request):
            output = request.prompt.strip()
            asked.setdefault(output, []).append(place)
            said = SAID[CASES[output][place]]
            return said if said is None else Reply(json.dumps(said), usage=Usage(1, 1, 1, cost=costs[place]))

        return JudgeSpec(f"scripted/j{place}", provider=ScriptedProvider(answer), id=f"j{place}")

    return [seat(i) for i in range(4)], asked


def jury_of(escalate, **more):
    panel, asked = judges()
    made = llm_jury(
        prompt="{{output.response}}", labels=["PASS", "FAIL"], passing_labels=["PASS"], judges=panel, escalate=escalate,
        retries=0, **more,
    )  # fmt: skip
    return made, asked


TIERS = [["j0", "j1"], "rest", "people"]


@pytest.mark.parametrize(
    ("output", "seats", "value", "people"),
    [
        ("clear", [0, 1], "PASS", False),
        ("flagged", [0, 1], "FAIL", False),
        ("split", [0, 1, 2, 3], "PASS", False),
        ("failed", [0, 1, 2, 3], "PASS", False),
        ("abstained", [0, 1, 2, 3], "PASS", False),
        ("open", [0, 1, 2, 3], "inconclusive", True),
        ("broken", [0, 1, 2, 3], "PASS", True),
    ],
)
def test_who_is_asked(output, seats, value, people):
    jury, asked = jury_of(TIERS)
    result = jury.judge_sync(input="q", output=output)
    assert sorted(asked[output]) == seats
    assert [v.judge for v in result.votes] == [f"j{i}" for i in seats]
    assert (result.value, result.for_people) == (value, people)
    assert result.tier == (1 if len(seats) == 2 else 2)
    assert result.calls_saved == 4 - len(seats)
    told = "asked up to tier 1: 2 of 4" if len(seats) == 2 else "asked up to tier 2: 4 of 4"
    assert any(told in note for note in result.notes)
    assert any("for people" in note for note in result.notes) == people
    if len(seats) == 2:
        assert result.agreement is None  # of those who were asked because they agree: it says nothing of the panel


def test_verdicts_that_always_go_on():
    jury, asked = jury_of({"tiers": [["j0", "j1"], "rest"], "always": ["FAIL"]})
    assert jury.judge_sync(input="q", output="flagged").tier == 2
    assert len(asked["flagged"]) == 4
    assert jury.judge_sync(input="q", output="clear").tier == 1


def test_three_tiers_stop_at_the_first_that_agrees():
    jury, asked = jury_of([["j0", "j1"], ["j2"], ["j3"]])
    result = jury.judge_sync(input="q", output="split")
    assert (asked["split"], result.tier, result.value) == ([0, 1, 2], 2, "PASS")  # two to one by then
    assert result.calls_saved == 1


def test_a_tier_never_decides_alone_after_one_that_failed(monkeypatch):
    monkeypatch.setitem(CASES, "outage", "--PP")
    jury, asked = jury_of([["j0", "j1"], ["j2"], ["j3"]], min_successful_judges=2)
    result = jury.judge_sync(output="outage")
    assert set(asked["outage"]) == {0, 1, 2, 3}
    assert (result.value, result.seats_used, result.tier) == ("PASS", 2, 3)
    jury, _ = jury_of([["j0", "j1", "j2"], ["j3"]], min_successful_judges=3)
    result = jury.judge_sync(output="outage")
    assert (result.status, result.reason) == ("inconclusive", "quorum")


def test_a_quorum_holds_for_what_a_tier_settles(monkeypatch):
    monkeypatch.setitem(CASES, "half", "P-FF")
    tiers = [["j0", "j1"], ["j2"], ["j3"]]
    jury, _ = jury_of(tiers, min_successful_judges=2)
    assert (jury.judge_sync(output="clear").tier, jury.judge_sync(output="split").tier) == (1, 2)
    result = jury.judge_sync(output="half")  # two of the three of tier 2 decide, but not for one of them
    assert (result.tier, result.value, result.seats_used) == (3, "FAIL", 3)
    monkeypatch.setitem(CASES, "late", "--PP")  # without the quorum: 2 of 4 is no majority of those asked
    assert jury_of(tiers)[0].judge_sync(output="late").reason == "quorum"
    for first, quorum in (([["j0"], "rest"], 2), (2, 3)):
        with pytest.raises(ConfigError, match="could settle no item"):
            jury_of(first, min_successful_judges=quorum)


def test_a_check_that_failed_says_nothing_of_the_cascade(monkeypatch):
    monkeypatch.setitem(CASES, "outage", "PP--")
    jury, asked = jury_of({"tiers": [["j0", "j1"], "rest"], "check": 1})
    result = jury.judge_sync(output="outage", id="x")
    assert set(asked["outage"]) == {0, 1, 2, 3}
    assert (result.reason, result.tier, result.checked) == ("quorum", 1, None)


def test_the_agreement_that_is_wanted():
    jury, _ = jury_of({"tiers": [["j0", "j1", "j2"], ["j3"]], "agreement": 0.6})
    assert jury.judge_sync(input="q", output="split").tier == 1
    strict, _ = jury_of([["j0", "j1", "j2"], ["j3"]])
    assert strict.judge_sync(input="q", output="split").tier == 2


def test_stand_ins_come_after_the_last_tier():
    asked = []

    def stand_in(output):
        asked.append(output)
        return "PASS"

    jury, _ = jury_of(TIERS, replacement_judges=[stand_in])
    jury.judge_sync(input="q", output="clear")
    assert asked == []
    result = jury.judge_sync(input="q", output="broken")
    assert (asked, result.stand_ins_used) == (["broken"], 1)


def test_scores():
    def jury_of_scores(first, escalate, threshold=0.5):
        seats = [lambda output, v=v: v for v in (*first, 0.1)]
        panel = [JudgeSpec(function=s, id=f"f{i}") for i, s in enumerate(seats)]
        return llm_jury(
            criteria="c", judges=panel, score_range=(0, 1), verdict_kind="numeric", threshold=threshold,
            escalate=escalate,
        )  # fmt: skip

    tiers = [["f0", "f1"], "rest"]
    assert jury_of_scores((0.6, 0.9), tiers).judge_sync(output="o").tier == 1
    assert jury_of_scores((0.4, 0.6), tiers).judge_sync(output="o").tier == 2
    close = {"tiers": tiers, "within": 0.2}
    assert jury_of_scores((0.6, 0.9), close).judge_sync(output="o").tier == 2
    assert jury_of_scores((0.7, 0.9), close).judge_sync(output="o").tier == 1


def test_pairs_go_on_after_a_flip():
    def steady(response_a, response_b):
        return "A" if response_a == "good" else "B"

    panel = [JudgeSpec(function=lambda response_a: "A", id="slot"), JudgeSpec(function=steady, id="steady")]
    jury = llm_jury_pairwise(criteria="c", judges=panel, escalate=[["slot"], "rest"], min_successful_judges=1)
    result = jury.compare_sync("q", "good", "bad")
    assert (result.tier, result.winner, result.flips) == (2, "A", 1)


def test_the_cheapest_are_first(tmp_path, monkeypatch):
    monkeypatch.setenv("JURY_CONFIG", str(tmp_path / "jury.yaml"))
    prices = "".join(f"  shop/{n}: {{input: {p}, output: {p}}}\n" for n, p in (("dear", 9), ("mid", 3), ("cheap", 1)))
    (tmp_path / "jury.yaml").write_text(f"prices:\n{prices}")
    order = []

    def seat(name, value=True):
        def answer(request):
            order.append(name)
            return {"explanation": "", "value": value}

        return JudgeSpec(f"shop/{name}", provider=ScriptedProvider(answer, name="shop"), id=name)

    panel = [seat("dear"), seat("mid"), seat("cheap")]
    first_two = llm_jury(criteria="c", judges=panel, escalate=2)
    result = first_two.judge_sync(output="o")
    assert (sorted(order), result.tier) == (["cheap", "mid"], 1)
    order.clear()
    decided = llm_jury(criteria="c", judges=panel, stop="decided").judge_sync(output="o")
    assert sorted(order) == ["cheap", "mid"]
    assert [v.judge for v in decided.votes] == ["mid", "cheap"]
    order.clear()
    unpriced = [*panel[:2], JudgeSpec("shop/new", provider=ScriptedProvider([{"value": True}], name="shop"), id="new")]
    llm_jury(criteria="c", judges=unpriced, stop="decided").judge_sync(output="o")
    assert sorted(order) == ["dear", "mid"]  # nobody knows what is cheap: as they were given


@settings(deadline=None)
@given(
    costs=st.lists(st.sampled_from([0, 1, 5]), min_size=3, max_size=5),
    votes=st.data(),
    rule=st.sampled_from(["mode", "majority", "unanimous"]),
)
def test_asking_the_cheap_first_changes_no_decided_verdict(costs, votes, rule):
    from jury import panel as module

    said = [votes.draw(st.sampled_from([True, False])) for _ in costs]
    seats = [JudgeSpec(function=lambda output, v=v: v, id=f"f{i}") for i, v in enumerate(said)]
    full = llm_jury(criteria="c", judges=seats, aggregator=rule).judge_sync(output="o")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "usual_costs", lambda seats: [float(c) for c in costs])
        early = llm_jury(criteria="c", judges=seats, aggregator=rule, stop="decided").judge_sync(output="o")
    assert (early.status, early.value, early.passed) == (full.status, full.value, full.passed)


@pytest.mark.parametrize(
    ("escalate", "says"),
    [
        (["j0", "j1"], "leaves out"),
        ([["j0", "nobody"], "rest"], "not on the panel"),
        ([["j0", "j0"], "rest"], "in two tiers"),
        (["rest"], "needs two tiers"),
        ([], "needs two tiers|leaves out"),
        (4, "at most 3 can be asked first"),
        (0, "at least 1"),
        ("cheap", "must be a number, a list"),
        (["people", "rest"], "people come last"),
        ({"tiers": TIERS, "agree": 1}, "knows tiers, agreement"),
        ({"tiers": TIERS, "agreement": 0.4}, "above 0.5"),
        ({"tiers": TIERS, "check": 2}, "share from 0 to 1"),
        ({"tiers": TIERS, "always": ["MAYBE"]}, "verdicts are"),
        ({"tiers": TIERS, "within": 0.1}, "within is for scores"),
    ],
)
def test_wrong_cascades_are_told(escalate, says):
    jury = None
    with pytest.raises(ConfigError, match=says):
        jury = jury_of(escalate)[0].judge_sync(output="clear")
    assert jury is None


def test_what_does_not_go_together():
    panel, _ = judges()
    with pytest.raises(ConfigError, match="does not go with stop"):
        PanelSpec(tuple(panel), escalate=2, stop="decided")
    with pytest.raises(ConfigError, match="does not go with assignment"):
        PanelSpec(tuple(panel), escalate=2, assignment="cyclic")
    assert PanelSpec(tuple(panel), escalate=2).escalate == Escalation(2)
    with pytest.raises(ConfigError, match="need within"):
        llm_jury(criteria="c", judges=panel, scale=Numeric(0, 1, None), escalate=TIERS)


def spec_of(rows, escalate=TIERS, costs=(1, 1, 10, 10), **own):
    panel, asked = judges(costs)
    given_jury = {
        "prompt": "{{output.response}}",
        "labels": ["PASS", "FAIL"],
        "passing": ["PASS"],
        "judges": panel,
        "escalate": escalate,
        "retries": 0,
    }
    if isinstance(escalate, list):
        given_jury["escalate"] = {"tiers": escalate, "check": 0}
    elif isinstance(escalate, dict):
        given_jury["escalate"] = {"check": 0, **escalate}
    found = [{"id": f"r{i}", "input": "q", "output": o} for i, o in enumerate(rows)]
    return RunSpec(found, given_jury, cache=False, **own), asked


def test_a_run_records_and_shows_who_was_asked(tmp_path):
    spec, _ = spec_of(["clear", "split", "flagged", "open"])
    report = run_sync(spec, tmp_path)
    assert report.totals["tiers"] == {"1": 2, "2": 2}
    assert report.totals["for_people"] == 1
    assert report.totals["calls_saved"] == 4
    assert report.asked.live == 12
    manifest = Run.open(tmp_path).manifest
    assert manifest.spec["escalate"]["tiers"] == [["j0", "j1"], ["j2", "j3"]]
    assert replay(tmp_path).same
    again, asked = spec_of(["clear", "split", "flagged", "open"])
    second = run_sync(again, tmp_path)
    assert (second.skipped, second.totals, asked) == (4, report.totals, {})


def test_a_changed_cascade_is_said_and_asks_only_who_was_not(tmp_path):
    run_sync(spec_of(["clear", "split"])[0], tmp_path)
    spec, asked = spec_of(["clear", "split"], {"tiers": [["j0", "j1", "j2"], "rest"]})
    report = run_sync(spec, tmp_path)
    assert report.changes == ("escalate changed",)
    assert asked == {"clear": [2]}  # split has them all
    assert replay(tmp_path).same


def test_an_estimate_knows_the_cascade(tmp_path):
    spec, _ = spec_of(["clear"] * 3)
    assumed = estimate(spec, tmp_path)
    calls = {line.judge: line.calls for line in assumed.lines}
    assert calls == {"j0": 3, "j1": 3, "j2": 1, "j3": 1}
    assert "an assumption" in assumed.notes[0]
    rows = [*["clear"] * 15, *["split"] * 5]
    run_sync(spec_of(rows)[0], tmp_path)
    more = [{"id": f"n{i}", "input": "q", "output": f"new {i}"} for i in range(8)]
    quote = estimate(spec.with_changes(data=more), tmp_path)
    assert {line.judge: line.calls for line in quote.lines} == {"j0": 8, "j1": 8, "j2": 2, "j3": 2}
    assert "tier 2 on 25% of the items (as on the 20 items in the folder)" in quote.notes[0]
    other, _ = spec_of(rows, [["j0"], "rest"])
    assert "an assumption" in estimate(other, tmp_path).notes[0]  # those tiers were others


def test_an_estimate_counts_an_item_that_was_judged_again_once(tmp_path, monkeypatch):
    rows = ["clear"] * 15 + ["late"] * 5
    monkeypatch.setitem(CASES, "late", "-PPP")
    for _ in range(3):
        run_sync(spec_of(rows)[0], tmp_path)
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 30
    assert "tier 2 on 25% of the items (as on the 20 items" in estimate(spec_of(rows)[0], tmp_path).notes[0]


def test_an_item_that_money_leaves_half_asked_is_finished_later(tmp_path, monkeypatch):
    monkeypatch.setenv("JURY_CONFIG", str(tmp_path / "jury.yaml"))
    (tmp_path / "jury.yaml").write_text("prices: {shop/*: {input: 100, output: 100}}\n")
    calls = []

    def seat(name, value, cost):
        def answer(request):
            calls.append(name)
            return Reply(json.dumps({"explanation": "", "value": value}), usage=Usage(1, 1, 1, cost=cost))

        return JudgeSpec(
            f"shop/{name}", provider=ScriptedProvider(answer, name="shop"), id=name, settings={"max_tokens": 10}
        )

    def spec(budget):
        panel = [seat("a", True, 0.05), seat("b", False, 0.05), seat("c", True, 0.05)]
        given_jury = {"prompt": "{{output.response}}", "judges": panel, "escalate": [["a", "b"], ["c"]]}
        return RunSpec([{"id": "r", "output": "o"}], given_jury, cache=False, budget=budget)

    first = run_sync(spec(0.19), tmp_path / "run")
    assert (sorted(calls), first.totals["reasons"]) == (["a", "b"], {"budget": 1})
    second = run_sync(spec(5.0), tmp_path / "run")
    assert (sorted(calls), second.totals["n_pass"]) == (["a", "b", "c"], 1)
    assert second.totals["tiers"] == {"2": 1}


def labelled(folder, wrong_fails=6):
    """A run of 200 items polled in full: the first tier's PASS is always right, its FAIL sometimes not."""
    rows = ["clear"] * 120 + ["flagged"] * 40
    run_sync(spec_of(rows, escalate=None)[0], folder)
    run = Run.open(folder)
    for i, said in enumerate(rows):
        right = "PASS" if said == "clear" or i >= len(rows) - wrong_fails else "FAIL"
        run.add_label(Label(f"r{i}", "ann", right, sampling="random"))
    run.add_label(Label("r0", "bob", "FAIL", sampling="disagreement"))  # no part of the random sample


def test_what_may_stand_is_learned_from_labels(tmp_path):
    labelled(tmp_path)
    found = {s.verdict: s for s in standings(tmp_path, ["j0", "j1"])}
    assert (found["PASS"].right, found["PASS"].n) == (120, 120)
    assert found["PASS"].at_least == pytest.approx(0.05 ** (1 / 120))
    assert (found["FAIL"].right, found["FAIL"].n) == (34, 40)
    cascade = {"tiers": [["j0", "j1"], "rest"], "labels": str(tmp_path), "sure": 0.95}
    spec, asked = spec_of(["clear", "flagged"], cascade)
    report = run_sync(spec, tmp_path / "new")
    assert report.totals["tiers"] == {"1": 1, "2": 1}
    assert sorted(asked["flagged"]) == [0, 1, 2, 3]  # a FAIL of the first two is looked at by the rest
    assert Run.open(tmp_path / "new").manifest.spec["escalate"]["always"] == ["FAIL"]
    loose, asked = spec_of(["flagged"], {**cascade, "sure": 0.7})
    assert run_sync(loose, tmp_path / "loose").totals["tiers"] == {"1": 1}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sure": 0.995}, "is right often enough .PASS: right on 120 of 120"),
        ({"sure": 2}, "sure must be a share"),
        ({"labels": None}, "needs labels, the folder"),
        ({"tiers": [["nobody"], "rest"]}, "did not judge in"),
        ({"tiers": 2}, "need the names of the judges"),
    ],
)
def test_labels_that_do_not_do(tmp_path, change, says):
    labelled(tmp_path)
    cascade = {"tiers": [["j0", "j1"], "rest"], "labels": str(tmp_path), **change}
    with pytest.raises(ConfigError, match=says):
        run_sync(spec_of(["clear"], cascade)[0], tmp_path / "new")


def test_items_drawn_by_lot_are_asked_about_in_full(tmp_path):
    CASES["together"] = "FFPP"
    rows = ["clear", "together", "split"] * 20
    cascade = {"tiers": [["j0", "j1"], "rest"], "check": 0.3}
    spec, _ = spec_of(rows, cascade)
    report = run_sync(spec, tmp_path)
    drawn = {f"r{i}" for i in range(60) if Escalation.of(cascade).drawn(f"r{i}")}
    assert 8 < len(drawn) < 30
    found = {item.id: (item.output, r) for item, r in Run.open(tmp_path).results()}
    for name, (output, result) in found.items():
        told = (result.tier, result.checked, len(result.votes), result.value)
        if output == "split":
            assert told == (2, None, 4, "PASS")
        elif name not in drawn:
            assert told == (1, None, 2, "PASS" if output == "clear" else "FAIL")
        else:  # the full panel has the word, and what the first two say is compared with it
            assert told == ((1, "same", 4, "PASS") if output == "clear" else (1, "differs", 4, "inconclusive"))
    settled = [name for name in drawn if found[name][0] != "split"]
    assert report.totals["checked"] == len(settled)
    assert report.totals["differed"] == sum(found[name][0] == "together" for name in settled) > 0
    assert replay(tmp_path).same
    again, asked = spec_of(rows, cascade)
    assert (run_sync(again, tmp_path).totals, asked) == (report.totals, {})


def test_every_key_of_a_cascade_can_be_written_in_yaml(tmp_path):
    (tmp_path / "run.yaml").write_text(
        "data: rows.jsonl\n"
        "criteria: c\n"
        "judges: [openai/a, openai/b, openai/c]\n"
        "labels: [PASS, FAIL]\n"
        "passing: [PASS]\n"
        "vote_deadline: 30\n"
        "item_deadline: 60\n"
        "escalate: {tiers: [[openai/a, openai/b], rest], agreement: 0.9, always: [FAIL], people: true, check: 0.1}\n"
    )
    made = RunSpec.from_file(tmp_path / "run.yaml").make_jury().spec
    assert made.escalate == Escalation((("openai/a", "openai/b"), ("rest",)), 0.9, ("FAIL",), None, True, 0.1)
    assert (made.vote_deadline_s, made.item_deadline_s) == (30, 60)
