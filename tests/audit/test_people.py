"""Labels of several people: files, what counts, what they say together, and keeping them in a run."""

from __future__ import annotations

import json

import pytest

from jury.audit import audited, calibrate, keep_labels, read_labels
from jury.errors import DataError
from jury.scales import Labels
from jury.store import Label
from tests.audit.runs import pairwise, pointwise


def labels_of(audit):
    return {one.item.id: one.label for one in audit.judged}


def test_several_people_vote_and_ties_are_no_label(tmp_path):
    run = pointwise(tmp_path / "run", [{"x": True}] * 4)
    said = {"0": (True, True, False), "1": (False, False, False), "2": (True, False), "3": (True,)}
    for item, values in said.items():
        for name, value in zip(("ann", "bob", "cid"), values, strict=False):
            run.add_label(Label(item, name, value, note=f"{name} on {item}"))
    audit = audited(run)
    assert labels_of(audit) == {"0": True, "1": False, "2": None, "3": True}
    assert audit.contested == ("2",)
    assert audit.people["cid"] == {"0": False, "1": False}
    notes = {one.item.id: one.note for one in audit.judged}
    assert (notes["0"], notes["3"]) == ("ann: ann on 0; bob: bob on 0", "ann on 3")


def test_each_person_counts_once_and_may_take_a_label_back(tmp_path):
    run = pointwise(tmp_path / "run", [{"x": True}] * 2)
    for value in (False, False, True):
        run.add_label(Label("0", "ann", value))
    run.add_label(Label("0", "bob", True))
    run.add_label(Label("1", "ann", True))
    run.add_label(Label("1", "ann", status="undone"))
    assert labels_of(audited(run)) == {"0": True, "1": None}
    assert audited(run).people == {"bob": {"0": True}, "ann": {"0": True}}


def test_an_export_of_labels_keeps_its_withdrawals(tmp_path):
    run = pointwise(tmp_path / "run", [{"x": True}] * 3)
    run.add_label(Label("0", "ann", True, sampling="random"))
    run.add_label(Label("1", "ann", True))
    run.add_label(Label("1", "ann", status="undone"))
    run.add_label(Label("2", "ann", status="na"))
    read = read_labels(tmp_path / "run" / "labels.jsonl", sampling="other")
    assert [(x.item, x.value, x.status, x.sampling) for x in read] == [
        ("0", True, "", "random"),
        ("2", None, "na", "other"),
    ]


def test_not_applicable_is_a_label_where_the_scale_has_it(tmp_path):
    scale = Labels(["PASS", "FAIL", "NA"], ["PASS"], na="NA")
    run = pointwise(tmp_path / "run", [{"x": "PASS"}] * 2, scale=scale)
    run.add_label(Label("0", "ann", status="na"))
    assert labels_of(audited(run)) == {"0": "NA", "1": None}
    pairs = pairwise(tmp_path / "pairs", [{"x": ("A", "A")}])
    pairs.add_label(Label("0", "ann", status="na"))
    assert labels_of(audited(pairs)) == {"0": None}


def test_a_file_names_people_and_reasons_in_its_own_words(tmp_path):
    (tmp_path / "l.csv").write_text(
        'id,rater,human,comment\n0,ann,pass,"two\nlines"\n0,bob,fail,\n0,ann,fail,no\n1,,,\n'
    )
    read = read_labels(tmp_path / "l.csv")
    assert [(x.item, x.labeller, x.value, x.note) for x in read] == [
        ("0", "bob", "fail", ""),
        ("0", "ann", "fail", "no"),
    ]


def test_a_note_may_hold_any_line_break(tmp_path):
    note = "one\u2028two\u0085three"
    (tmp_path / "l.jsonl").write_text(
        json.dumps({"item": "0", "value": True, "note": note}, ensure_ascii=False), "utf-8"
    )
    (tmp_path / "l.csv").write_text(f"item,value,note\n0,PASS,{note}\n", "utf-8")
    assert [read_labels(tmp_path / name)[0].note for name in ("l.jsonl", "l.csv")] == [note, note]


def test_files_that_nobody_can_read_are_told(tmp_path):
    (tmp_path / "l.csv").write_text('item,value\n0,yes\n1,"no" and more\n')
    (tmp_path / "l.jsonl").write_text('{"item": 1, "value": ' + "[" * 20_000 + "]" * 20_000 + "}")
    (tmp_path / "i.csv").write_text("value\nyes\n")
    for name, says in (
        ("l.csv", r"l\.csv, line 3: .*quote"),
        ("l.jsonl", r"l\.jsonl, line 1"),
        ("i.csv", r"line 2: .*no item"),
    ):
        with pytest.raises(DataError, match=says):
            read_labels(tmp_path / name)


def test_tables_of_labels_are_read_as_data_is(tmp_path):
    """As spreadsheets write them, and with a note of any length."""
    (tmp_path / "l.csv").write_text(f"\ufeffitem;value;note\n0;PASS;{'x' * 200_000}\n", "utf-8")
    found = read_labels(tmp_path / "l.csv")
    assert [(one.item, one.value, len(one.note)) for one in found] == [("0", "PASS", 200_000)]


def test_labels_of_another_run_are_refused_and_strays_are_counted(tmp_path):
    run = pointwise(tmp_path / "run", [{"x": True}] * 3)
    with pytest.raises(DataError, match="none of the labels"):
        audited(run, [Label("q7", "ann", True)])
    found = calibrate(audited(run, [Label("q7", "ann", True), Label("0", "ann", True)]), sampled="random")
    assert any("1 label is of items" in note for note in found.notes)


def test_calibration_says_how_far_people_agree_and_what_they_saw(tmp_path):
    run = pointwise(tmp_path / "run", [{"x": i % 2 == 0} for i in range(40)])
    for i in range(40):
        run.add_label(Label(str(i), "ann", i % 2 == 0))
        run.add_label(Label(str(i), "bob", i % 2 == 0 or i > 35, saw_verdict=True))
    found = calibrate(audited(run), sampled="random")
    assert 0.8 < found.people.value < 1
    assert found.people.interval is not None
    assert any("people tie on 2 items" in note for note in found.notes)
    assert any("in view" in note for note in found.notes)
    alone = calibrate(audited(pointwise(tmp_path / "one", [{"x": True}] * 3, labels={0: True})), sampled="random")
    assert alone.people.reason == "too_few_raters"


def test_kept_labels_stand_in_the_run_once(tmp_path):
    run = pointwise(tmp_path / "run", [{"x": True}] * 3, labels={0: True})
    (tmp_path / "l.jsonl").write_text(
        "".join(json.dumps({"item": str(i), "labeller": "bob", "label": "pass"}) + "\n" for i in range(3))
    )
    given = read_labels(tmp_path / "l.jsonl", sampling="random")
    assert keep_labels(run, given) == 3
    assert keep_labels(run, given) == 0
    assert len(run.labels()) == 4
    changed = [Label("0", "bob", False, sampling="random")]
    assert keep_labels(run, changed) == 1
    assert audited(run).contested == ("0",)


def test_a_label_by_criterion_that_changed_is_kept(tmp_path):
    run = pointwise(tmp_path / "run", [{"x": True}])
    for tone in (True, False, False):
        keep_labels(run, [Label("0", "ann", None, {"tone": tone})])
    assert [label.values for _, label in run.label_lines()] == [{"tone": True}, {"tone": False}]
    assert keep_labels(run, [Label("0", "ann")]) == 0  # which says nothing of the criteria


def test_a_wrong_label_keeps_all_of_them_out(tmp_path):
    run = pointwise(tmp_path / "run", [{"x": True}] * 3)
    for wrong in (Label("1", "ann", "perhaps"), Label("9", "ann", True)):
        with pytest.raises(DataError, match="label of item"):
            keep_labels(run, [Label("0", "ann", True), wrong])
    assert run.labels() == []


def test_a_file_without_a_column_of_labels_is_told(tmp_path):
    (tmp_path / "labels.csv").write_text("item,colour\nr1,pass\n")
    with pytest.raises(DataError, match="no column holds the labels: name it value or label"):
        read_labels(tmp_path / "labels.csv")


def test_a_word_that_is_no_label_is_told_with_those_that_are(tmp_path):
    run = pointwise(tmp_path / "run", [{"x": True}] * 2)
    for word in ("yes", "1", 0):
        with pytest.raises(DataError, match=f"label of item 0: {word!r}: is none of pass, fail, true, false, NA"):
            audited(run, [Label("0", "ann", word)])
    assert labels_of(audited(run, [Label("0", "ann", " n/a "), Label("1", "ann", "Pass")])) == {"0": None, "1": True}


def test_two_different_labels_under_one_name_are_told(tmp_path, caplog):
    (tmp_path / "l.csv").write_text("item,value\n0,pass\n0,fail\n1,pass\n1,pass\n2,fail\n2,\n")
    assert [label.value for label in read_labels(tmp_path / "l.csv")] == ["fail", "pass", "fail"]
    assert "1 item with different labels under one name, such as '0': the last line counts" in caplog.text
    caplog.clear()
    (tmp_path / "l.csv").write_text("item,value,rater\n0,pass,ann\n0,fail,bob\n")
    read_labels(tmp_path / "l.csv")
    run = pointwise(tmp_path / "run", [{"x": True}])
    for value in (True, False):
        run.add_label(Label("0", "ann", value, at="2026-01-01T00:00:00Z"))  # as the page writes a change of mind
    read_labels(tmp_path / "run" / "labels.jsonl")
    assert caplog.text == ""
