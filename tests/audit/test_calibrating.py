"""Judges and panel against people: what may be said depends on how the labels were drawn."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from jury.audit.against import leaning
from jury.audit.calibrating import calibrate, expired, holds_for, part_of, version_of
from jury.audit.people import read_labels
from jury.audit.reading import audited
from jury.errors import ConfigError, DataError
from jury.scales import Labels, Numeric
from jury.store import Run
from tests.audit.runs import manifest, pairwise, pointwise


def votes(n: int = 200, seed: int = 0) -> tuple[list[dict[str, bool]], dict[int, bool]]:
    """Three judges, x right in 90% and y, z lenient; truth passes in 60%."""
    rng = random.Random(seed)
    truth = {i: rng.random() < 0.6 for i in range(n)}

    def lenient(t: bool) -> bool:
        return t or rng.random() < 0.5

    rows = [{"x": t if rng.random() < 0.9 else not t, "y": lenient(t), "z": lenient(t)} for t in truth.values()]
    return rows, truth


@pytest.fixture
def run(tmp_path) -> Run:
    rows, truth = votes()
    return pointwise(tmp_path / "run", rows, labels={i: truth[i] for i in range(100)})


def test_random_labels_allow_everything(run):
    found = calibrate(audited(run), sampled="random")
    assert (found.n_labels, found.part) == (100, "development")
    assert found.n_used == sum(part_of(str(i)) == "development" for i in range(100))
    assert [r.name for r in found.rows] == ["the panel", "x", "y", "z"]
    panel = found.rows[0]
    assert panel.table.n == found.n_used
    assert panel.accuracy.tpr.value > 0.9 > panel.accuracy.tnr.value
    assert panel.agreement.interval is not None
    assert found.raw_rate.value > 0.65
    low, high = found.corrected_rate.interval
    assert low < 0.6 < high < found.raw_rate.value + 0.1
    assert panel.lean.flagged
    assert any("contradict the raw pass rate" in note for note in found.notes)
    assert found.weights.source == "labels"
    assert max(found.weights.weights, key=lambda j: found.weights.weights[j]) == "x"
    assert {part_of(d.item) for d in found.disagreements} == {"development"}  # test labels stay unseen
    first = found.disagreements[0]
    assert first.why_people == f"note on {first.item}"
    assert first.why_panel == f"the panel says {first.panel}"


def test_labels_by_class_correct_the_rate_and_refuse_the_share_of_agreement(run):
    found = calibrate(audited(run), sampled="by-class")
    assert found.rows[0].agreement.value is None
    assert "by class" in found.rows[0].agreement.why
    for row in found.rows:
        assert row.ac1.value is row.accuracy.kappa.value is row.accuracy.accuracy.value is None
        assert row.accuracy.tpr.value is not None
        assert row.accuracy.tnr.value is not None
    assert found.rows[0].lean is None
    assert found.corrected_rate.interval is not None


def test_labels_by_verdict_keep_the_rate_and_refuse_tpr(run):
    found = calibrate(audited(run), sampled="by-verdict")
    for row in found.rows:
        assert row.accuracy.tpr.value is row.accuracy.kappa.value is row.ac1.value is row.agreement.value is None
        assert "by verdict" in row.ac1.why
        assert row.table.n > 0
    assert found.corrected_rate.value == calibrate(audited(run), sampled="random").corrected_rate.value


def test_labels_drawn_otherwise_give_no_rate(run):
    found = calibrate(audited(run), sampled="other")
    assert found.corrected_rate.value is None
    assert "random sample" in found.corrected_rate.why
    for row in found.rows:  # of the items that were picked, which are none of the run's mix
        assert row.agreement.value is row.ac1.value is row.accuracy.kappa.value is row.accuracy.tpr.value is None
        assert "not drawn at random" in row.ac1.why
    assert found.disagreements
    assert calibrate(audited(run), sampled="random").rows[0].ac1.value is not None
    assert any("labelled items only" in note for note in found.notes)


def test_how_labels_were_drawn_is_asked(run):
    with pytest.raises(ConfigError, match="how the labels were drawn"):
        calibrate(audited(run), sampled="yes")


def test_the_two_parts_do_not_overlap_and_do_not_move(run):
    parts = [calibrate(audited(run), sampled="random", part=p) for p in ("development", "test")]
    assert sum(p.n_used for p in parts) == 100
    assert parts[0].weights == parts[1].weights
    assert parts[0].brier.value is None  # the weights have seen these labels
    assert 0 < parts[1].brier.value < 0.25
    assert parts[1].confidence_error.interval is not None
    assert part_of("7") == part_of("7")


def test_examples_of_prompts_are_left_out(run):
    found = calibrate(audited(run), sampled="random", exclude=["0", "1", "150"])
    assert found.excluded == 2
    assert not {"0", "1"} & {d.item for d in found.disagreements}


def test_without_labels_everything_is_undefined_with_a_reason(tmp_path):
    run = pointwise(tmp_path / "run", votes(20)[0])
    found = calibrate(audited(run), sampled="random")
    assert found.corrected_rate.value is None
    assert found.rows[0].agreement.reason == "no_data"
    assert found.weights.source != "labels"


def test_a_calibration_expires_with_model_prompt_and_judges():
    old = manifest("pointwise", ["x", "y"], None)
    assert expired(holds_for(old), old) == ""
    assert "judges" in expired(holds_for(old), manifest("pointwise", ["x"], None))
    changed = replace(old, judges=({**old.judges[0], "prompt": "p2"}, old.judges[1]))
    assert expired(holds_for(old), changed) == "the prompt of x was p1 and is p2"
    assert version_of(old) != version_of(changed)


def test_other_scales(tmp_path):
    scale = Labels(("PASS", "FAIL", "NA"), passing=("PASS",), na="NA")
    rows = [{"x": v, "y": v} for v in ("PASS", "FAIL", "NA")] * 10
    run = pointwise(tmp_path / "labels", rows, scale=scale, labels=dict.fromkeys(range(30), "PASS"))
    panel = calibrate(audited(run), sampled="random").rows[0]
    assert panel.table.outside > 0
    assert panel.accuracy.tnr.value is None
    numbers = pointwise(
        tmp_path / "numbers", [{"x": 2.0, "y": 4.0}, {"x": 4.0, "y": 4.0}] * 15, scale=Numeric(1, 5, threshold=3),
        labels=dict.fromkeys(range(30), 5),
    )  # fmt: skip
    assert audited(numbers).labels == (False, True)
    assert calibrate(audited(numbers), sampled="random").rows[1].table.n > 0


def test_pairs(tmp_path):
    rng = random.Random(2)
    rows = [{"x": (s, s), "y": (s, "A")} for s in (rng.choice("AB") for _ in range(60))]
    run = pairwise(tmp_path / "run", rows, labels={i: rows[i]["x"][0] for i in range(60)})
    found = calibrate(audited(run), sampled="random")
    assert found.rows[1].agreement.value == 1.0
    assert audited(run).table().second is not None


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("l.csv", "item,label,note\n1,pass,fine\n2,,\n3,fail,\n", [("1", "pass", "fine"), ("3", "fail", "")]),
        (
            "l.jsonl",
            '{"id": 1, "value": true}\n\n{"item_id": "2", "human": false}\n',
            [("1", True, ""), ("2", False, "")],
        ),
    ],
)
def test_label_files(tmp_path, name, text, expected):
    (tmp_path / name).write_text(text)
    assert [(x.item, x.value, x.note) for x in read_labels(tmp_path / name)] == expected


@pytest.mark.parametrize("text", ['{"value": true}', "[1]", "{"])
def test_broken_label_files_are_named(tmp_path, text):
    (tmp_path / "l.jsonl").write_text(text)
    with pytest.raises(DataError, match=r"l\.jsonl"):
        read_labels(tmp_path / "l.jsonl")


def test_a_label_off_the_scale_names_the_item(tmp_path):
    run = pointwise(tmp_path / "run", [{"x": True}], labels={0: "perhaps"})
    with pytest.raises(DataError, match="item 0"):
        audited(run)


def test_leaning_needs_a_direction():
    assert not leaning([1, 0] * 20, [0, 1] * 20).flagged
    assert leaning([1] * 20, [0] * 5 + [1] * 15).flagged


def test_the_verdicts_of_the_whole_run_make_a_leaning_clearer():
    """5 passed too many and 2 failed too many of 50: open by themselves, not where the run passes 70% of its items."""
    judge, people = [1] * 5 + [0] * 2 + [1] * 23 + [0] * 20, [0] * 5 + [1] * 2 + [1] * 23 + [0] * 20
    alone = leaning(judge, people).difference
    whole = leaning(judge, people, run=(700, 300))
    assert alone.interval[0] < 0.0 < alone.interval[1]
    assert whole.flagged
    assert whole.difference.value == pytest.approx(0.7 * 5 / 28 - 0.3 * 2 / 22, abs=0.01)
    same = leaning(judge, people, run=(560, 440)).difference  # the sample is as the run: the same estimate, no wider
    assert same.value == pytest.approx(alone.value, abs=0.01)
    assert same.high - same.low <= alone.high - alone.low


def test_what_a_prompt_shows_as_an_example_is_no_test(tmp_path):
    """By its text, white space aside; short answers occur by chance and are not looked for."""
    long = "The refund goes out within five working days."
    items = [
        {"output": long if i == 3 else "yes" if i == 4 else f"an answer of its own, number {i:04}"} for i in range(40)
    ]
    shown = {
        "p1": {"name": "p", "user": "A good one is: The refund  goes out\nwithin five working days.\nA bad one: yes"}
    }
    run = pointwise(
        tmp_path / "run", [{"x": True}] * 40, labels=dict.fromkeys(range(40), True), items=items, prompts=shown
    )
    found = calibrate(audited(run), sampled="random", exclude=["5"])
    assert found.excluded == 2
    assert any("2 labelled items are shown in prompts" in note for note in found.notes)
