"""Runs that stopped early: votes that were asked for only where the others differ are held against nobody."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jury import JudgeSpec, ScriptedProvider, llm_jury
from jury.audit import ONLY_WHERE, audited, calibrate, leanings, polled, worth
from jury.cli.__main__ import main
from jury.report.facts import facts
from jury.report.markdown import to_markdown
from jury.runner import RunSpec, run_sync
from jury.store import Label, Run

YES, NO = '{"explanation": "yes", "value": true}', '{"explanation": "no", "value": false}'
HARD = 3  # every third item is one on which `b` differs


def recorded(folder, n=30, **options):
    """`a` passes everything, `b` fails every third item, `c` fails what it is asked about there."""

    def answer(request):
        at = int(request.prompt.split("number ")[1].split(".")[0])
        return NO if at % HARD == 0 and request.judge in "bc" else YES

    provider = ScriptedProvider(answer)
    judges = [JudgeSpec(f"scripted/{name}", id=name, provider=provider) for name in "abc"]
    rows = [{"id": f"r{i}", "input": "q", "output": f"number {i}."} for i in range(n)]
    run_sync(RunSpec(rows, llm_jury(criteria="c", judges=judges, **options), cache=False), folder)
    return Run.open(folder)


def test_votes_that_settle_a_difference_say_nothing_about_the_judge(tmp_path):
    run = recorded(tmp_path / "run", stop="decided")
    seen = polled(audited(run))
    assert (seen.late, seen.lot, seen.exact) == (("c",), (), True)
    panel = facts(run).panel
    a, b, c = panel.judges
    assert c.rate.value is None
    assert c.rate.why.endswith(ONLY_WHERE)
    assert c.with_panel.value is None
    assert c.votes == 10
    assert (a.rate.value, a.rate.n) == (1.0, 30)  # asked about everything
    assert b.with_panel.value == pytest.approx(1.0)
    assert panel.agreement[0][1] == pytest.approx(2 / 3)  # both were asked about all
    assert panel.agreement[0][2] is None
    assert panel.agreement[1][2] is None
    assert panel.alpha.value is None
    assert "stopped early" in panel.sentences["effective"]
    assert "c, asked only where the others disagreed" in panel.sentences["agreement"]
    assert "asked only where the others disagreed" in to_markdown(facts(run))


def test_the_worth_of_a_panel_that_stopped_early_is_not_known(tmp_path):
    found = worth(audited(recorded(tmp_path / "run", stop="decided")))
    for estimate in (found.alpha, found.one_more, found.best_agreement, found.independent.votes):
        assert estimate.value is None
    assert (found.best, found.cheapest) == (None, None)
    assert any("c was asked only where the others disagreed" in said for said in found.saying)
    whole = worth(audited(recorded(tmp_path / "whole")))
    assert whole.alpha.value is not None
    assert whole.early == ""


def test_labels_hold_nothing_against_who_was_asked_late(tmp_path):
    run = recorded(tmp_path / "run", stop="decided")
    audit = audited(run, [Label(f"r{i}", "me", True) for i in range(30)])
    found = calibrate(audit, sampled="random")
    rows = {row.name: row for row in found.rows}
    assert rows["c"].agreement.value is None
    assert rows["c"].accuracy.tpr.why.endswith(ONLY_WHERE)
    assert rows["b"].agreement.value is not None
    assert any("asked only where" in note for note in found.notes)


def test_a_cascade_is_counted_on_the_items_of_its_lot(tmp_path):
    run = recorded(tmp_path / "run", n=150, escalate={"tiers": [["a", "b"], "rest"], "check": 0.3})
    audit = audited(run)
    seen = polled(audit)
    assert seen.late == ("c",)
    assert 20 <= len(seen.lot) < 80
    found = worth(audit)
    assert found.items == len(seen.lot)
    assert found.alpha.value is not None
    assert f"the {len(seen.lot)} items that all were asked about by lot" in found.early
    c = facts(run).panel.judges[2]
    assert (c.rate.n, c.with_panel.n) == (len(seen.lot), len(seen.lot))
    assert c.votes > len(seen.lot)
    assert replace(seen, late=()).note == ""


def test_a_small_lot_is_no_ground(tmp_path):
    run = recorded(tmp_path / "run", escalate={"tiers": [["a", "b"], "rest"], "check": 0.1})
    seen = polled(audited(run))
    assert (seen.late, seen.lot) == (("c",), ())
    assert facts(run).panel.judges[0].with_panel.value is None  # the verdict of a first tier is its own


def test_a_run_that_asked_everybody_leaves_nothing_out(tmp_path):
    assert not polled(audited(recorded(tmp_path / "run"))).early


def test_stability_says_of_which_items_a_late_judge_tells(tmp_path, capsys):
    run = recorded(tmp_path / "run", stop="decided", repetitions=2)
    with pytest.raises(SystemExit) as ended:
        main(["stability", str(run.folder)])
    said = capsys.readouterr().out
    assert ended.value.code == 0
    assert "c: only the 10 of" in said
    assert "30 items on which it was asked, since the others disagreed there" in said
    assert "b: only" not in said


def test_weights_of_a_run_that_stopped_early_are_learned_from_votes_that_are_no_choice(tmp_path):
    run = recorded(tmp_path / "run", n=150, stop="decided")
    audit = audited(run, [Label(f"r{i}", "me", i % HARD != 0) for i in range(150)])
    found = calibrate(audit, sampled="random")
    assert found.weights.judges == ("a", "b")
    assert found.weights.weights["b"] > found.weights.weights["a"]
    assert "fitted without c, whose votes count as the median" in found.notes[-1]
    tested = calibrate(audit, sampled="random", part="test")
    assert tested.brier.value is not None
    lot = recorded(tmp_path / "lot", n=150, escalate={"tiers": [["a", "b"], "rest"], "check": 0.5})
    drawn = audited(lot, [Label(f"r{i}", "me", i % HARD != 0) for i in range(150)])
    found = calibrate(drawn, sampled="random")
    assert found.weights.judges == ("a", "b", "c")
    assert found.weights.weights["c"] == pytest.approx(found.weights.weights["b"])  # they say the same there
    assert found.notes[-1].startswith("weights: fitted on the ")


def test_a_late_judge_has_no_leaning_but_on_the_lot(tmp_path, capsys):
    stopped = leanings(audited(recorded(tmp_path / "run", n=60, stop="decided")))
    assert [one.length.value is None for one in stopped] == [False, False, True]
    assert stopped[2].length.why.endswith(ONLY_WHERE)
    audit = audited(recorded(tmp_path / "lot", n=150, escalate={"tiers": [["a", "b"], "rest"], "check": 0.4}))
    c = leanings(audit)[2]
    assert c.length.n == len(polled(audit).lot)
    with pytest.raises(SystemExit):
        main(["bias", str(tmp_path / "lot")])
    assert "what was said then counts on the" in capsys.readouterr().out


def test_with_labels_the_best_of_those_who_were_always_asked_is_known(tmp_path):
    run = recorded(tmp_path / "run", n=120, stop="decided")
    found = worth(audited(run, [Label(f"r{i}", "me", i % HARD != 0) for i in range(120)]))
    assert (found.best, found.best_agreement.value) == ("b", 1.0)
    assert found.independent.votes.value is None


def test_the_items_before_it_was_known_when_to_stop_speak_for_all(tmp_path):
    run = recorded(tmp_path / "run", n=400, stop=0.95)
    seen = polled(audited(run))
    first = next(at for at, one in enumerate(audited(run).judged) if one.result.calls_saved)
    assert seen.late
    checked = [at for at, one in enumerate(audited(run).judged) if one.result.checked and at >= first]
    assert checked
    assert seen.lot == (*range(first), *checked)
    assert seen.note.endswith("that all were asked about before it was known when to stop, or to check that")
    assert worth(audited(run)).items == len(seen.lot)


def test_the_report_holds_no_contradiction_on_hard_items_against_a_late_judge(tmp_path):
    panel = facts(recorded(tmp_path / "run", stop="decided", repetitions=2)).panel
    assert [judge.retest is None for judge in panel.judges] == [False, False, True]
    assert panel.sentences["stability"].endswith(f"Left out: c, {ONLY_WHERE}.")
