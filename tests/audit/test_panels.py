"""What a panel is worth, how stable it is, where it leans, whom it ranks first."""

from __future__ import annotations

import json
import random

import pytest

from jury.audit import (
    alternative_annotator,
    audited,
    calibrate,
    keep,
    leanings,
    load_weights,
    spent,
    stability,
    tournament,
    worth,
)
from jury.errors import ConfigError, DataError
from jury.runner import RunSpec, run_sync
from jury.store import Label
from tests.audit.runs import pairwise, pointwise


def votes(rates: dict[str, float], n: int = 200, seed: int = 0):
    rng = random.Random(seed)
    truth = {i: rng.random() < 0.5 for i in range(n)}
    rows = [{j: t if rng.random() < r else not t for j, r in rates.items()} for t in truth.values()]
    return rows, truth


def test_one_good_judge_among_weak_ones_would_do(tmp_path):
    rows, truth = votes({"x": 0.99, "y": 0.6, "z": 0.6})
    found = worth(audited(pointwise(tmp_path / "run", rows, labels=truth)))
    assert found.best == "x"
    assert found.against_best.difference.interval[1] < 0
    assert any("one judge would do" in word for word in found.saying)
    assert found.independent.votes.interval is not None
    assert not found.by_votes
    assert found.price == pytest.approx(0.03)


def test_what_people_said_of_picked_items_is_left_out(tmp_path):
    rows, truth = votes({"x": 0.99, "y": 0.6, "z": 0.6})
    run = pointwise(tmp_path / "run", rows)
    drawn = [Label(str(i), "ann", v, sampling="random") for i, v in truth.items() if i % 2]
    picked = [Label(str(i), "bob", not v, sampling="disagreement") for i, v in truth.items() if not i % 2]
    both, alone = worth(audited(run, [*drawn, *picked])), worth(audited(run, drawn))
    assert (both.best, both.independent) == (alone.best, alone.independent)
    assert both.saying == (*alone.saying, "100 labels on items that were not drawn at random were left out")
    none = worth(audited(run, picked))
    assert none.by_votes
    assert none.saying[-1].startswith("100 labels")


def test_alike_judges_are_worth_one_vote_and_one_of_them_gives_the_same_verdicts(tmp_path):
    rows, truth = votes({"x": 0.8}, 120)
    rows = [{"x": r["x"], "y": r["x"], "z": r["x"]} for r in rows]
    found = worth(audited(pointwise(tmp_path / "run", rows, labels=truth)))
    assert found.independent.votes.value == pytest.approx(1.0)
    assert len(found.cheapest.judges) == 1
    assert found.cheapest.same.value == 1.0
    assert found.cheapest.price == pytest.approx(0.01)
    assert found.one_more.value == 0.0


def test_a_panel_that_matches_three_people_may_stand_in_for_one(tmp_path):
    rows, truth = votes({"x": 0.99, "y": 0.99, "z": 0.99}, 100)
    run = pointwise(tmp_path / "run", rows)
    for name in ("ann", "bob", "cid"):
        for i, t in truth.items():
            run.add_label(Label(str(i), name, t if (i + len(name) * ord(name[0])) % 12 else not t))
    found = worth(audited(run))
    assert found.annotators.passes
    assert found.annotators.people == ("ann", "bob", "cid")
    assert any("stand in for a person" in word for word in found.saying)


def test_without_labels_shared_errors_cannot_be_seen_and_that_is_said(tmp_path):
    rows, _ = votes({"x": 0.8, "y": 0.7, "z": 0.7})
    found = worth(audited(pointwise(tmp_path / "run", rows, cost=None)))
    assert found.by_votes
    assert found.independent.votes.value is None
    assert found.against_best is None
    assert found.price is None
    assert any("cannot be seen" in word for word in found.saying)


def test_a_single_judge_and_no_items_are_undefined_with_a_reason(tmp_path):
    single = worth(audited(pointwise(tmp_path / "one", [{"x": True}] * 3)))
    assert "needs 20 labels" in single.independent.votes.why
    assert (single.best, single.cheapest) == (None, None)
    assert worth(audited(pointwise(tmp_path / "none", []))).alpha.value is None


def test_a_large_panel_is_thinned_one_by_one(tmp_path):
    rows, _ = votes({f"j{k:02}": 0.95 for k in range(12)}, 80)
    found = worth(audited(pointwise(tmp_path / "run", rows)))
    assert 1 <= len(found.cheapest.judges) < 12


def test_stability_counts_flips_by_judge_and_item(tmp_path):
    rows = [{"x": [True, True, True], "y": [True, False, True] if i < 5 else [False] * 3} for i in range(20)]
    found = stability(audited(pointwise(tmp_path / "run", rows)))
    x, y = found.judges
    assert (x.retest.flip_rate.value, y.retest.flip_rate.value) == (0.0, 0.25)
    assert y.retest.disagreement.interval is not None
    assert [item for item, _ in found.unstable] == ["0", "1", "2", "3", "4"]
    assert found.unstable[0][1] == pytest.approx(1 / 3)  # 2 of 3 pairs differ for y, none for x
    assert found.repetitions == 3


def test_without_repetitions_stability_is_undefined_and_says_what_to_do(tmp_path):
    found = stability(audited(pointwise(tmp_path / "run", [{"x": True}] * 5)))
    assert found.judges[0].retest.flip_rate.value is None
    assert "repetitions: 3" in found.reason


def test_position_flips_stand_beside_retest_flips(tmp_path):
    rows = [{"x": ("A", "B") if i < 8 else ("A", "A")} for i in range(20)]
    run = audited(pairwise(tmp_path / "run", rows))
    judge = stability(run).judges[0]
    assert judge.swapped.change_rate.value == 0.4
    assert judge.beyond.value is None
    assert "asked twice" in judge.beyond.why
    lean = leanings(run)[0]
    assert lean.position.primacy == 8
    assert lean.p_position == pytest.approx(2 * 0.5**8)


def test_length_and_family(tmp_path):
    targets = {"model_a": "gpt-5", "model_b": "claude-4"}
    items = [{"response_a": "long " * (i % 7 + 2), "response_b": "short", "row": targets} for i in range(40)]
    rows = [{"gpt": ("A", "A"), "other": ("B", "B") if i % 2 else ("A", "A")} for i in range(40)]
    run = pairwise(tmp_path / "run", rows, items=items)
    judges = tuple({**j, "family": "openai" if j["id"] == "gpt" else "meta"} for j in run.manifest.judges)
    object.__setattr__(run.manifest, "judges", judges)
    gpt, other = leanings(audited(run))
    assert gpt.own_family.value == pytest.approx(0.5)
    assert gpt.p_family < 0.01
    assert other.own_family.value is None
    assert "of the family meta" in other.own_family.why
    assert other.length.value is not None


def test_length_of_single_answers(tmp_path):
    items = [{"output": "x" * (10 + i)} for i in range(60)]
    lean = leanings(audited(pointwise(tmp_path / "run", [{"j": i >= 30} for i in range(60)], items=items)))[0]
    assert lean.length.value == 1.0
    same = leanings(audited(pointwise(tmp_path / "same", [{"j": True}] * 4, items=[{"output": "x"}] * 4)))[0]
    assert same.length.reason == "no_variation"


def pairs_of(names, strength, n, seed=0):
    rng = random.Random(seed)
    items, rows = [], []
    for i in range(n):
        a, b = rng.sample(names, 2)
        items.append({"row": {"model_a": a, "model_b": b}, "question": f"q{i}"})
        p = strength[a] / (strength[a] + strength[b])
        rows.append({j: (s, s) for j in ("x", "y") for s in ["A" if rng.random() < p else "B"]})
    return items, rows


def test_targets_are_ranked_with_intervals(tmp_path):
    items, rows = pairs_of(["a", "b", "c"], {"a": 8, "b": 2, "c": 1}, 150)
    rows[0] = {"x": ("A", "B"), "y": ("A", "A")}  # a flip is no game
    found = tournament(audited(pairwise(tmp_path / "run", rows, items=items)))
    assert found.targets[0].target == "a"
    assert found.targets[0].ranks == (1, 1)
    assert (found.games, found.left_out) == (299, 1)
    assert set(found.sigma) == {"x", "y"}
    assert found.ranking.difference("a", "c").interval[0] > 0
    assert ("a", "c") not in found.next_pairs


def test_groups_without_a_comparison_are_never_ranked_together(tmp_path):
    first, rows = pairs_of(["a", "b"], {"a": 1, "b": 1}, 30)
    second, more = pairs_of(["c", "d"], {"c": 1, "d": 1}, 30, seed=1)
    found = tournament(audited(pairwise(tmp_path / "run", rows + more, items=first + second)))
    assert {t.target: t.group for t in found.targets} == {"a": 0, "b": 0, "c": 1, "d": 1}
    assert found.ranking.difference("a", "c").reason == "disconnected"
    assert "disconnected" in found.note
    assert found.next_pairs[0] in {("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")}


def test_cycles_are_named(tmp_path):
    names = [("a", "b"), ("b", "c"), ("c", "a")]
    items = [{"row": {"model_a": x, "model_b": y}} for x, y in names] * 4
    found = tournament(audited(pairwise(tmp_path / "run", [{"x": ("A", "A")}] * 12, items=items)))
    assert found.cycles == (("a", "b", "c"),)


def test_what_cannot_be_ranked_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="no pairs"):
        tournament(audited(pointwise(tmp_path / "run", [{"x": True}])))
    with pytest.raises(DataError, match="model_a"):
        tournament(audited(pairwise(tmp_path / "pairs", [{"x": ("A", "A")}])))


def test_calibrations_are_kept_and_expire(tmp_path):
    rows, truth = votes({"x": 0.95, "y": 0.6, "z": 0.6})
    run = pointwise(tmp_path / "run", rows, labels=truth)
    found = calibrate(audited(run), sampled="random")
    keep(run, found)
    assert spent(run, found.version) == []
    test = calibrate(audited(run), sampled="random", part="test")
    keep(run, test)
    keep(run, test)
    assert len(spent(run, test.version)) == 2
    data = json.loads((tmp_path / "run" / "calibration.json").read_text())
    assert data["development"][0]["name"] == "the panel"
    assert data["test"]
    weights = load_weights(tmp_path / "run", run=run)
    assert weights == found.weights
    other = pointwise(tmp_path / "other", [{"x": True}])
    with pytest.raises(DataError, match="expired"):
        load_weights(tmp_path / "run", run=other)
    with pytest.raises(DataError, match="jury calibrate"):
        load_weights(tmp_path / "other")


def test_a_judge_that_matches_people_worse_than_they_match_each_other_fails():
    rng = random.Random(0)
    truth = [rng.random() < 0.5 for _ in range(100)]
    people = {name: [t if rng.random() < 0.95 else not t for t in truth] for name in ("a", "b", "c")}
    assert alternative_annotator(truth, people).passes
    assert alternative_annotator([rng.random() < 0.5 for _ in truth], people).passes is False
    few = alternative_annotator(truth, {"a": people["a"], "b": people["b"]})
    assert few.passes is None
    assert few.winning_rate.reason == "too_few_raters"


def test_a_function_is_of_no_family(tmp_path):
    def short(output):
        return len(output) < 9

    rows = [{"id": str(i), "input": "?", "output": f"answer {i}", "model": "gpt-5"} for i in range(12)]
    run_sync(RunSpec(rows, {"criteria": "Short.", "judges": [short]}), tmp_path / "run")
    lean = leanings(audited(tmp_path / "run"))[0]
    assert lean.own_family.value is None
    assert "function" in lean.own_family.why
