"""Gates and comparisons: pass, fail or undecided from intervals, and errors gated apart from the pass rate."""

from __future__ import annotations

import random

import pytest

from jury.audit import audited, compare_runs, drift, gate, gate_agreement
from jury.audit.gates import Condition
from jury.errors import ConfigError
from jury.results import PanelResult
from jury.scales import Labels
from jury.store import Label, Run, RunWriter, StoredItem, StoredResult
from tests.audit.runs import pairwise, pointwise


def run(folder, passed: int, failed: int, errors: int = 0, **more):
    votes = [{"x": True}] * passed + [{"x": False}] * failed + [{"x": None}] * errors
    return audited(pointwise(folder, votes, **more))


@pytest.mark.parametrize(
    ("passed", "failed", "expected"), [(195, 5, "pass"), (150, 50, "fail"), (182, 18, "undecided"), (0, 0, "undecided")]
)
def test_a_gate_needs_the_whole_interval(tmp_path, passed, failed, expected):
    found = gate(run(tmp_path / "run", passed, failed), pass_rate=">=0.9")
    assert found.outcome == expected
    check = found.checks[0]
    if passed:
        low, high = check.estimate.interval
        assert {"pass": low >= 0.9, "fail": high < 0.9, "undecided": low < 0.9 <= high}[expected]
        assert 0 < check.false_alarm < 0.05
    else:
        assert check.estimate.reason == "no_data"


def test_what_there_was_no_money_for_is_no_error_and_is_not_counted_among_those(tmp_path):
    run(tmp_path / "run", 3, 0, 1)
    with RunWriter(tmp_path / "run") as writer:
        for n in range(4, 8):
            writer.add_item(StoredItem(str(n), n, f"d{n}"))
            writer.add_result(StoredResult(str(n), n, PanelResult("inconclusive", "budget")))
    found = gate(audited(Run.open(tmp_path / "run")), error_rate="<=0.9", min_coverage=0.9)
    assert (found.checks[0].estimate.value, found.checks[0].estimate.n) == (0.25, 4)
    assert found.checks[1].estimate.value == 0.375


def test_errors_are_gated_apart(tmp_path):
    broken = run(tmp_path / "run", 100, 0, 40)
    assert gate(broken, pass_rate=">=0.9").outcome == "pass"
    found = gate(broken, pass_rate=">=0.9", error_rate="<=0.1", min_coverage=0.9)
    assert [c.outcome for c in found.checks] == ["pass", "fail", "fail"]
    assert found.outcome == "fail"


def test_the_false_alarm_is_the_exact_chance(tmp_path):
    check = gate(run(tmp_path / "run", 9, 1), pass_rate=">=0.9").checks[0]
    # By hand: Wilson's upper end is 0.892 for 7 of 10 and 0.943 for 8; P(Bin(10, 0.9) <= 7) = 0.0701908.
    assert check.false_alarm == pytest.approx(0.0701908, abs=1e-7)


def test_tags_are_gated_at_a_corrected_level(tmp_path):
    items = [{"tags": ("a",) if i < 100 else ("b",)} for i in range(200)]
    found = gate(run(tmp_path / "run", 150, 50, items=items), pass_rate=">=0.7", by_tag=True)
    assert [(c.name, c.outcome) for c in found.checks] == [
        ("pass rate", "undecided"), ("pass rate of a", "pass"), ("pass rate of b", "fail"),
    ]  # fmt: skip
    assert found.checks[1].estimate.level == pytest.approx(0.975)


def test_na_is_in_no_rate(tmp_path):
    scale = Labels(("PASS", "FAIL", "NA"), passing=("PASS",), na="NA")
    votes = [{"x": "PASS"}] * 50 + [{"x": "NA"}] * 50
    found = gate(audited(pointwise(tmp_path / "run", votes, scale=scale)), pass_rate=">=0.9")
    assert found.checks[0].estimate.n == 50
    assert (found.coverage.value, found.coverage.n) == (1.0, 100)


@pytest.mark.parametrize("text", ["", "0.9x", ">=1.5", "=>0.5", ">=nan"])
def test_bad_conditions_are_refused(text):
    with pytest.raises(ConfigError, match="a gate is"):
        Condition.read(text)


def test_a_gate_without_a_condition_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"needs a condition: .* --min-coverage"):
        gate(run(tmp_path / "run", 1, 0))


def two(tmp_path, old, new, labels=None, **more):
    first = pointwise(tmp_path / "old", [{"x": v} for v in old], labels=labels)
    second = pointwise(tmp_path / "new", [{"x": v} for v in new], labels=labels, **more)
    return audited(first), audited(second)


def test_the_difference_of_two_runs_is_paired(tmp_path):
    old = [True] * 60 + [False] * 60
    new = [True] * 80 + [False] * 40
    first, second = two(tmp_path, old, new)
    found = compare_runs(first, second)
    assert found.comparison.difference.value == pytest.approx(20 / 120)
    assert (found.common, found.only, found.better) == (120, (0, 0), "second")
    assert [f.item for f in found.changed] == [str(i) for i in range(60, 80)]
    assert found.differs == ()


def test_what_else_differs_is_named(tmp_path):
    first, second = two(tmp_path, [True], [True], criteria="Is it short?")
    assert compare_runs(first, second).differs == ("criteria differs",)
    other = audited(pointwise(tmp_path / "other", [{"y": True}]))
    assert any("judges differ" in d for d in compare_runs(first, other).differs)


def test_a_new_version_must_not_agree_less_with_people(tmp_path):
    rng = random.Random(0)
    truth = {i: rng.random() < 0.5 for i in range(300)}
    worse = [t if i % 5 else not t for i, t in truth.items()]
    old, new = two(tmp_path, list(truth.values()), worse, labels=truth)
    found = gate_agreement(new, old)
    assert (found.outcome, found.difference.value) == ("fail", -0.2)
    assert len(found.flipped) == 60
    assert gate_agreement(old, new).outcome == "pass"
    assert gate_agreement(old, old, margin=0.05).outcome == "pass"
    assert gate_agreement(audited(new.run, []), old).difference.reason == "no_data"


def test_labels_of_picked_items_say_nothing_of_a_new_version(tmp_path):
    truth = dict.fromkeys(range(300), True)
    old, new = two(tmp_path, [True] * 300, [i >= 60 for i in range(300)])
    drawn = [Label(str(i), "ann", v, sampling="random") for i, v in truth.items() if i >= 60]
    picked = [Label(str(i), "ann", v, sampling="disagreement") for i, v in truth.items() if i < 60]
    assert gate_agreement(audited(new.run, [*drawn, *picked]), old).outcome == "pass"
    found = gate_agreement(audited(new.run, [*drawn, *picked]), old)
    assert (found.new.n, found.left_out) == (240, 60)
    alone = gate_agreement(audited(new.run, picked), old)
    assert (alone.outcome, alone.difference.reason, alone.left_out) == ("undecided", "no_data", 60)
    unsaid = [Label(label.item, "ann", label.value) for label in picked]  # a file that says nothing of its sampling
    assert gate_agreement(audited(new.run, unsaid), old).left_out == 0


def test_judge_drift_and_system_drift_are_told_apart(tmp_path):
    rng = random.Random(3)
    anchors = [rng.random() < 0.7 for _ in range(200)]
    then, now = two(tmp_path, anchors, anchors)
    system = [audited(pointwise(tmp_path / n, [{"x": rng.random() < r} for _ in range(300)]))
              for n, r in (("s1", 0.8), ("s2", 0.6))]  # fmt: skip
    found = drift(then, now, *system)
    assert found.verdict == "system"
    assert found.system_alone.interval[1] < 0
    stricter = audited(pointwise(tmp_path / "strict", [{"x": v and i % 4 > 0} for i, v in enumerate(anchors)]))
    assert drift(then, stricter).verdict == "judge"
    assert drift(then, now).verdict == "none"
    assert drift(then, now).p_system is None
    changed = pointwise(tmp_path / "c", [{"x": v} for v in anchors], items=[{"output": "x"}] * 200)
    assert drift(then, audited(changed)).unmatched in (0, 200)
    with pytest.raises(ConfigError, match="both runs"):
        drift(then, now, system[0])


def test_pairs_are_gated_by_wins_of_a(tmp_path):
    votes = [{"x": ("A", "A")}] * 90 + [{"x": ("B", "B")}] * 10 + [{"x": ("A", "B")}] * 20
    check = gate(audited(pairwise(tmp_path / "run", votes)), pass_rate=">=0.5").checks[0]
    assert (check.estimate.value, check.estimate.n, check.outcome) == (0.9, 100, "pass")


def test_tags_that_nobody_gave_are_not_gated_in_silence(tmp_path):
    with pytest.raises(ConfigError, match="no item has a tag"):
        gate(run(tmp_path / "run", 15, 5), pass_rate=">=0.5", by_tag=True)


def test_anchors_without_a_verdict_in_both_runs_say_nothing(tmp_path):
    then, other = pointwise(tmp_path / "then", [{"x": True}] * 5), pointwise(tmp_path / "other", [])
    assert drift(audited(then), audited(other)).verdict == "unknown"
    assert drift(audited(then), audited(then)).verdict == "none"
