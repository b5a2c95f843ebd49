"""Run folders: what is written is whole, what is torn is repaired with a word, what is foreign is refused."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury import Boolean, Comparison, DataError, Failure, Judgment, Labels, Numeric, PanelResult, Usage, Verdict, Vote
from jury.store import (
    FORMAT,
    Label,
    Run,
    RunManifest,
    RunWriter,
    StoredItem,
    StoredJudgment,
    StoredResult,
    scale_from_dict,
    scale_to_dict,
)
from jury.store.index import FILE as INDEX
from jury.store.index import Index, short
from jury.store.keys import Keys
from jury.store.lines import START, Appender, broken, encode, read_lines
from jury.store.records import tags_of

MANIFEST = RunManifest(kind="pointwise", name="r", created="2026-01-01T00:00:00Z", scale={"type": "boolean"})


def judgment(value=True, judge="a", **kwargs):
    return Judgment(
        judge, Verdict("scored", value, "because"), reply='{"value": true}', usage=Usage(1, 10, 5), **kwargs
    )


def result_for(item, value=True, seal="s"):
    vote = Vote("a", Verdict("scored", value), (judgment(value),))
    result = PanelResult("decided", value=value, passed=value, votes=(vote,), item_id=item, seats=1, seats_used=1)
    return StoredResult(item, int(item[1:]), result, seal)


def filled(folder: Path, n: int = 3) -> None:
    with RunWriter(folder) as writer:
        writer.save(MANIFEST)
        for i in range(n):
            writer.add_item(StoredItem(f"i{i}", i, f"d{i}", input="q", output="a", row={"x": i}))
            writer.add_judgment(StoredJudgment(f"k{i}", f"i{i}", judgment()))
            writer.add_result(result_for(f"i{i}"))


def test_what_was_written_is_read(tmp_path):
    filled(tmp_path / "run")
    run = Run.open(tmp_path / "run")
    assert run.kind == "pointwise"
    assert run.scale == Boolean()
    assert [i.id for i in run.items()] == ["i0", "i1", "i2"]
    assert [(i.row["x"], r.value) for i, r in run.results()] == [(0, True), (1, True), (2, True)]
    assert [j.key for j in run.judgments()] == ["k0", "k1", "k2"]
    assert next(run.judgments()).judgment == judgment()
    assert run.damage() == []


def test_the_last_result_of_an_item_counts_and_the_order_is_the_datas(tmp_path):
    with RunWriter(tmp_path) as writer:
        writer.save(MANIFEST)
        for i in (2, 0, 1):
            writer.add_item(StoredItem(f"i{i}", i, f"d{i}"))
            writer.add_result(result_for(f"i{i}", True))
        writer.add_result(result_for("i0", False))
        writer.add_item(StoredItem("i3", 3))  # in flight: it has no result yet
    run = Run.open(tmp_path)
    assert [(i.id, r.value) for i, r in run.results()] == [("i0", False), ("i1", True), ("i2", True)]
    assert [i.id for i in run.items()] == ["i0", "i1", "i2", "i3"]


def test_who_walks_through_the_results_makes_nothing_else_of_them(tmp_path, monkeypatch):
    filled(tmp_path)
    before = [(item.id, result.value) for item, result in Run.open(tmp_path).results()]

    def needless(*given):
        raise AssertionError("for a writer alone")

    for name in ("brief", "complete", "encode"):
        monkeypatch.setattr(f"jury.store.index.{name}", needless)
    assert [(item.id, result.value) for item, result in Run.open(tmp_path).results()] == before
    monkeypatch.setattr("jury.store.run.StoredItem", None)
    assert [(one.item, one.result.value) for one in Run.open(tmp_path).stored_results()] == before


def test_an_item_is_written_once_unless_it_changes(tmp_path):
    with RunWriter(tmp_path) as writer:
        writer.add_item(StoredItem("i", 0, "d", output="old"))
        writer.add_item(StoredItem("i", 0, "d", output="old"))
        writer.add_item(StoredItem("i", 0, "e", output="new"))
        writer.save(MANIFEST)
    assert len(list(read_lines(tmp_path / "items.jsonl"))) == 2
    assert [i.output for i in Run.open(tmp_path).items()] == ["new"]


def test_judgments_are_recalled_after_opening_again_failures_are_not(tmp_path):
    failed = Judgment("a", Verdict("error", failure=Failure("overloaded", "busy")))
    with RunWriter(tmp_path) as writer:
        writer.save(MANIFEST)
        writer.add_judgment(StoredJudgment("good", "i0", judgment(False)))
        writer.add_judgment(StoredJudgment("bad", "i1", failed))
        assert writer.recall("good").judgment.verdict.value is False
    for remove_index in (False, True):
        if remove_index:
            (tmp_path / INDEX).unlink()
        with RunWriter(tmp_path) as writer:
            assert writer.recall("good").judgment == judgment(False)
            assert writer.recall("bad") is None
            assert writer.recall("never asked") is None


def test_what_is_known_of_a_result(tmp_path):
    with RunWriter(tmp_path) as writer:
        writer.save(MANIFEST)
        for n in range(3):
            writer.add_item(StoredItem(f"i{n}", n))
        writer.add_result(result_for("i0", seal="seal"))
        vote = Vote("a", Verdict("error"), (Judgment("a", Verdict("error", failure=Failure("timeout", "slow"))),))
        writer.add_result(StoredResult("i1", 1, PanelResult("inconclusive", "errors", votes=(vote,)), "seal"))
        writer.add_result(StoredResult("i2", 2, PanelResult("inconclusive", "budget"), "seal"))
    (tmp_path / INDEX).unlink()
    with RunWriter(tmp_path) as writer:
        known = [writer.known(f"i{n}") for n in range(4)]
        assert [k and k.complete for k in known] == [True, False, False, None]
        assert known[0].seal == short("seal")
        assert writer.result("i0") == result_for("i0").result.to_dict()
        assert writer.result("i3") is None


@pytest.mark.parametrize("cut", [1, 7, 20, 200])
def test_a_torn_last_line_is_dropped_with_a_word(tmp_path, caplog, cut):
    filled(tmp_path)
    for name in ("judgments.jsonl", "results.jsonl"):
        path = tmp_path / name
        os.truncate(path, path.stat().st_size - cut)
    run = Run.open(tmp_path)
    assert len(list(run.results())) == 2
    assert "cut off" in caplog.text
    with RunWriter(tmp_path) as writer:
        assert "dropped" in caplog.text
        assert writer.recall("k1") is not None
        assert writer.recall("k2") is None
        writer.add_judgment(StoredJudgment("k2", "i2", judgment()))
        writer.add_result(result_for("i2"))
    assert len(list(run.results())) == 3
    assert run.damage() == []


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(), min_size=1, max_size=6), st.data())
def test_any_cut_leaves_whole_lines(tmp_path_factory, texts, data):
    path = tmp_path_factory.mktemp("lines") / "x.jsonl"
    file = Appender(path)
    ends = []
    for text in texts:
        file.append({"text": text})
        ends.append(file.size)
    file.close()
    cut = data.draw(st.integers(0, ends[-1]))
    os.truncate(path, cut)
    again = Appender(path)
    kept = sum(end <= cut for end in ends)
    again.append({"text": "more"})
    again.close()
    lines = [line["text"] for _, line in read_lines(path)]
    assert lines == [json.loads(json.dumps(t)) for t in texts[:kept]] + ["more"]
    assert broken(path) == []


def test_a_file_of_something_else_is_not_touched(tmp_path):
    path = tmp_path / "judgments.jsonl"
    path.write_text("one\ntwo\nthree\n")
    with pytest.raises(DataError, match="no records of a run"):
        Appender(path)
    assert path.read_text() == "one\ntwo\nthree\n"


def test_a_damaged_line_in_the_middle_is_passed_over_and_told(tmp_path, caplog):
    filled(tmp_path)
    path = tmp_path / "results.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1].replace("{", "[", 1) + lines[2])
    run = Run.open(tmp_path)
    assert [i.id for i, _ in run.results()] == ["i0", "i2"]
    assert "line 2: not a whole record" in caplog.text
    assert any("line 2" in d for d in run.damage())


@pytest.mark.parametrize("name", ["items.jsonl", "judgments.jsonl", "results.jsonl"])
def test_one_changed_byte_shows(tmp_path, name):
    filled(tmp_path)
    with RunWriter(tmp_path) as writer:
        heads = writer.heads
        writer.save(
            RunManifest(**{**{f: getattr(MANIFEST, f) for f in ("kind", "name")}, "heads": heads, "finished": True})
        )
    run = Run.open(tmp_path)
    assert run.damage() == []
    path = tmp_path / name
    whole = path.read_bytes()
    for at in (whole.index(b"i0"), whole.rindex(b"i2")):  # in the first line, and in the last one
        path.write_bytes(whole[:at] + b"j" + whole[at + 1 :])
        assert run.damage(), at
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    assert run.damage() == [f"{name}: the last line is not the one that the manifest knows"]


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        ({"format": FORMAT + 1, "kind": "pointwise", "name": "x"}, "newer"),
        ({"format": 0, "kind": "pointwise", "name": "x"}, "not the manifest"),
        ({"name": "something else"}, "not the manifest"),
        ({"format": FORMAT, "kind": "novel", "name": "x"}, "not the manifest"),
        ({"format": FORMAT, "kind": "pointwise"}, "name"),
        ({"format": FORMAT, "kind": "pointwise", "name": 5}, "name"),
        ({"format": FORMAT, "kind": "pointwise", "name": "x", "scale": 3, "history": "no"}, "scale, history"),
        ({"format": FORMAT, "kind": "pointwise", "name": "x", "judges": ["a"], "quorum": "2"}, "judges, quorum"),
        ([], "not the manifest"),
    ],
)
def test_other_formats_are_refused(tmp_path, manifest, says):
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DataError, match=says) as raised:
        Run.open(tmp_path)
    assert raised.value.kind == "format"
    with pytest.raises(DataError, match=says):
        RunWriter(tmp_path)


def test_what_is_no_run_folder(tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        Run.open(tmp_path / "nowhere")
    with pytest.raises(DataError, match="no run folder"):
        Run.open(tmp_path)
    (tmp_path / "results.jsonl").write_text("{}\n")
    with pytest.raises(DataError, match=r"results of `jury demo -o`.*stopped before its end.*`jury judge -o`"):
        Run.open(tmp_path)
    (tmp_path / "summary.json").write_text("{}")
    with pytest.raises(DataError, match=r"no run folder: .*jury show and jury report read it.*`jury judge -o`"):
        Run.open(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        Run.open(tmp_path)


def test_a_run_folder_of_a_like_name_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    filled(tmp_path / "runs" / "check")
    (tmp_path / "file").write_text("x")
    for path, says in (("runs/chek", r"runs/check\?"), ("check", r"runs/check\?"), ("file", "a file, no run folder")):
        with pytest.raises(DataError, match=says):
            Run.open(path)


def test_files_without_a_manifest_are_not_overwritten(tmp_path):
    (tmp_path / "items.jsonl").write_text("{}\n")
    with pytest.raises(DataError, match=r"holds items\.jsonl, but no manifest\.json"):
        RunWriter(tmp_path)


@pytest.mark.parametrize("left", [b"", b'{"format": 1, "kind"', b"\xff\x00", b"["])
def test_a_damaged_manifest_is_put_aside_and_the_run_goes_on(tmp_path, caplog, left):
    filled(tmp_path)
    (tmp_path / "manifest.json").write_bytes(left)
    with pytest.raises(DataError, match=r"cannot be read: .*the same jury run makes it anew"):
        Run.open(tmp_path)
    with RunWriter(tmp_path) as writer:
        assert writer.manifest is None
        assert writer.known("i0") is not None
    assert (tmp_path / "manifest.json.damaged").read_bytes() == left
    assert "kept as manifest.json.damaged" in caplog.text


def test_a_broken_manifest_of_something_else_is_not_touched(tmp_path):
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        RunWriter(tmp_path)
    assert (tmp_path / "manifest.json").read_text() == "{"


def test_the_manifest_round_trips(tmp_path):
    manifest = RunManifest(
        kind="pairwise",
        name="n",
        judges=({"id": "a", "weight": 1.0},),
        prompts={"p": {"user": "{{criteria}}"}},
        history=({"started": "now"},),
        finished=True,
        quorum=2,
    )
    manifest.write(tmp_path)
    assert RunManifest.read(tmp_path) == manifest
    assert [p.name for p in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize(
    "scale",
    [Boolean(), Boolean("yes", "no"), Labels({"A": "good", "B": None, "NA": None}, ["A"], "NA"), Numeric(1, 5, None),
     Numeric(0, 10, 7, ["bad", "good"])],
)  # fmt: skip
def test_scales_round_trip(scale):
    stored = json.loads(json.dumps(scale_to_dict(scale)))
    assert scale_from_dict(stored) == scale


@pytest.mark.parametrize(
    "stored", [{}, {"type": "colour"}, {"type": "numeric", "low": 3, "high": 1}, {"type": "labels"}]
)
def test_a_scale_that_is_none(stored):
    with pytest.raises(DataError, match="not a stored scale"):
        scale_from_dict(stored)


def _hold(folder, ready, leave):
    with RunWriter(folder):
        ready.set()
        leave.wait(120)


def test_two_processes_on_one_folder_are_refused(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready, leave = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(tmp_path, ready, leave))
    other.start()
    try:
        assert ready.wait(120)
        with pytest.raises(DataError, match=f"process {other.pid} on") as raised:
            RunWriter(tmp_path)
        assert raised.value.kind == "locked"
    finally:
        leave.set()
        other.join(120)
    with RunWriter(tmp_path) as writer:  # free again
        assert writer.count() == 0


@pytest.mark.parametrize("written", ["nothing", "a part"])
def test_a_full_disk_is_told_and_leaves_no_half_line(tmp_path, monkeypatch, written):
    filled(tmp_path, 1)
    whole = (tmp_path / "judgments.jsonl").read_bytes()
    real = os.write

    def full(fd, data):
        if not os.path.samestat(os.fstat(fd), (tmp_path / "judgments.jsonl").stat()):
            return real(fd, data)  # somebody else's, as what other tests left to be tidied up
        if written == "nothing":
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(fd, data[: len(data) // 2])

    with RunWriter(tmp_path) as writer:
        with monkeypatch.context() as patch:
            patch.setattr("jury.store.lines.os.write", full)
            with pytest.raises(DataError, match=r"the disk is full.*start the run again"):
                writer.add_judgment(StoredJudgment("k", "i", judgment()))
        assert (tmp_path / "judgments.jsonl").read_bytes() == whole
        writer.add_judgment(StoredJudgment("k", "i", judgment()))  # there is room again
    assert [j.key for j in Run.open(tmp_path).judgments()] == ["k0", "k"]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError) as raised:
        RunWriter(tmp_path / "file" / "run")
    assert raised.value.kind == "unwritable"


def test_a_damaged_index_is_made_anew(tmp_path, caplog):
    filled(tmp_path)
    (tmp_path / INDEX).write_bytes(b"not a database at all" * 100)
    with RunWriter(tmp_path) as writer:
        assert writer.recall("k1") is not None
        assert writer.count() == 3
    assert "made anew" in caplog.text


def test_an_index_that_knows_more_than_the_files_is_made_anew(tmp_path):
    filled(tmp_path)
    path = tmp_path / "judgments.jsonl"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    with RunWriter(tmp_path) as writer:
        assert writer.recall("k0") is not None
        assert writer.recall("k2") is None


@pytest.mark.parametrize("harm", [b"{}\n", b"\x00\xff\n", b"", b'{"id":"i1","number":null,"digest":"d1"}\n'])
@pytest.mark.parametrize("name", ["items.jsonl", "results.jsonl"])
def test_what_was_damaged_since_is_not_taken_for_known(tmp_path, name, harm):
    filled(tmp_path)
    path = tmp_path / name
    lines = path.read_bytes().splitlines(keepends=True)
    # As long as before, so that only the time of the change tells.
    lines[1] = harm[:-1].ljust(len(lines[1]) - 1) + harm[-1:] if harm else harm
    path.write_bytes(b"".join(lines))
    with RunWriter(tmp_path) as writer:
        assert [writer.known(f"i{n}") is not None for n in range(3)] == [True, False, True]
        assert writer.recall("k1") is not None
        writer.add_item(StoredItem("i1", 1, "d1", input="q", output="a", row={"x": 1}))
        writer.add_result(result_for("i1"))
    with RunWriter(tmp_path) as writer:
        assert all(writer.known(f"i{n}") for n in range(3))
    assert [i.id for i, _ in Run.open(tmp_path).results()] == ["i0", "i1", "i2"]


@pytest.mark.parametrize("harm", [{"verdict": 5}, {"verdict": {"status": 7}}, {"usage": {"cost": "much"}}])
def test_a_judgment_of_another_shape_is_asked_again(tmp_path, harm):
    filled(tmp_path)
    path = tmp_path / "judgments.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = json.dumps({**json.loads(lines[1]), **harm}).encode() + b"\n"
    path.write_bytes(b"".join(lines))
    with RunWriter(tmp_path) as writer:
        assert writer.recall("k1") is None
        assert writer.recall("k2") is not None


@pytest.mark.parametrize("harm", [{"verdict": 5, "notes": 5}, {"verdict": {}}, {"result": {"status": 5}}])
def test_readers_pass_over_records_of_another_shape_and_say_so(tmp_path, caplog, harm):
    filled(tmp_path)
    for name in ("judgments.jsonl", "results.jsonl"):
        lines = (tmp_path / name).read_bytes().splitlines(keepends=True)
        lines[1] = json.dumps({**json.loads(lines[1]), **harm}).encode() + b"\n"
        (tmp_path / name).write_bytes(b"".join(lines))
    opened = Run.open(tmp_path)
    spoilt = "results.jsonl" if "result" in harm else "judgments.jsonl"
    left = [2, 3] if "result" in harm else [3, 2]
    assert [len(list(opened.results())), len(list(opened.judgments()))] == left
    assert len(opened.judgments_of("i1")) == left[1] - 2
    assert f"{spoilt}, a line about 'i1'" in caplog.text


def test_labels_are_appended_and_read(tmp_path):
    filled(tmp_path)
    run = Run.open(tmp_path)
    assert run.labels() == []
    first = Label("i0", "ann", True, note="clear", at="2026-01-01T00:00:00Z", sampling="random")
    second = Label("i1", "ann", values={"tone": 3}, shown="ba")
    run.add_label(first)
    run.add_label(second)
    assert run.labels() == [first, second]
    assert broken(tmp_path / "labels.jsonl") == []


def test_comparisons_come_back_as_comparisons(tmp_path):
    with RunWriter(tmp_path) as writer:
        writer.save(RunManifest(kind="pairwise", name="p"))
        writer.add_item(StoredItem("i0", 0, question="q", response_a="a", response_b="b"))
        writer.add_result(StoredResult("i0", 0, Comparison("decided", winner="B")))
    ((item, result),) = Run.open(tmp_path).results()
    assert (item.question, item.response_b) == ("q", "b")
    assert result == Comparison("decided", winner="B")


def test_values_that_json_has_no_word_for(tmp_path):
    text = encode({"a": float("nan"), "b": [float("inf"), 1.5], "c": Path("x")})
    assert json.loads(text) == {"a": None, "b": [None, 1.5], "c": "x"}
    file = Appender(tmp_path / "x.jsonl")
    file.append({"half": "\ud83d"})
    file.close()
    assert [line["half"] for _, line in read_lines(tmp_path / "x.jsonl")] == ["\ud83d"]
    assert START == "0" * 32


def test_stored_records_of_another_shape_are_data_errors():
    with pytest.raises(DataError, match="key is missing"):
        StoredJudgment.from_dict({"item": "x"})
    with pytest.raises(DataError, match="verdict"):
        StoredJudgment.from_dict({"item": "x", "key": "k", "judge": "a", "verdict": 3})
    with pytest.raises(DataError, match="id"):
        StoredItem.from_dict({"number": 1})


def test_a_clock_that_jumps_back_syncs(tmp_path):
    times = iter([100.0, 50.0, 50.0, 50.0])
    with RunWriter(tmp_path, clock=lambda: next(times)) as writer:
        writer.add_item(StoredItem("a"))
        writer.add_item(StoredItem("b", 1))
    assert [line["id"] for _, line in read_lines(tmp_path / "items.jsonl")] == ["a", "b"]


def test_every_field_of_a_judgment_comes_back(tmp_path):
    verdict = Verdict("scored", "A", "why", None, ("q",), {"bad": [1]}, {"c": Verdict("scored", 3.0)}, ("put right",))
    seen = {"repetition": 2, "order": "ba", "rung": "tool", "calls": 3, "retries": 1, "reasked": True}
    whole = Judgment("a", verdict, **seen, reply="r", usage=Usage(2, 10, 5), notes=("t",), criterion="c", prompt="p")
    with RunWriter(tmp_path) as writer:
        writer.add_judgment(StoredJudgment("k", "i", whole, "r", "list", "now", source="batch"))
        assert writer.recall("k").judgment == whole
    stored = next(iter(read_lines(tmp_path / "judgments.jsonl")))[1]
    assert StoredJudgment.from_dict(stored).source == "batch"


def test_the_last_word_of_each_person_holds(tmp_path):
    filled(tmp_path)
    run = Run.open(tmp_path)
    told = [
        Label("i0", "ann", True),
        Label("i0", "bob", False, saw_verdict=True),
        Label("i1", "ann", status="na", note="cannot be told"),
        Label("i0", "ann", False, note="on second thought"),
        Label("i1", "bob", True),
        Label("i1", "bob", status="undone"),
    ]
    for label in told:
        run.add_label(label)
    assert run.labels() == [told[1], told[2], told[3]]
    assert [line for _, line in run.label_lines()] == told  # nothing is ever taken out of the file
    place = [at for at, _ in run.label_lines()][4]
    assert [line for _, line in run.label_lines(place)] == told[4:]


def test_the_lines_as_they_are_stored(tmp_path):
    filled(tmp_path, 2)
    with RunWriter(tmp_path) as writer:
        writer.add_item(StoredItem("i2", 2, "d2"))
    read = [(item["id"], line and line["result"]["value"]) for item, line in Run.open(tmp_path).lines()]
    assert read == [("i0", True), ("i1", True), ("i2", None)]


def test_the_judgments_of_one_item(tmp_path, caplog):
    names = ['a"b\\', "é日", "\ud800", "i1", "i11"]
    with RunWriter(tmp_path) as writer:
        writer.save(MANIFEST)
        for name in names:
            writer.add_judgment(StoredJudgment(f"k {name!r}", name, judgment()))
        writer.add_judgment(StoredJudgment("again", "i1", judgment(False)))
    with (tmp_path / "judgments.jsonl").open("ab") as file:
        file.write(b'{"item":"i1","torn')
    run = Run.open(tmp_path)
    for name in names:
        assert [j.item for j in run.judgments_of(name)] == [name] * (1 + (name == "i1"))
    assert run.judgments_of("another") == []
    assert Run(tmp_path / "nowhere", MANIFEST).judgments_of("i1") == []


@pytest.mark.parametrize(
    ("row", "tags"),
    [
        ({}, ()),
        ({"tags": ["a", " b ", "a", ""]}, ("a", "b")),
        ({"tags": "a, b,,"}, ("a", "b")),
        ({"tag": "one"}, ("one",)),
        ({"tags": [2024, None, {"x": 1}]}, ("2024",)),
        ({"tags": {"a": 1}}, ()),
        ({"tags": None, "tag": "kept out: the row has tags"}, ()),
    ],
)
def test_tags_of_a_row(row, tags):
    assert tags_of(row) == tags


def test_a_full_disk_under_the_index_is_said_in_words_and_costs_nothing(tmp_path):
    with RunWriter(tmp_path) as writer:
        writer.save(RunManifest("pointwise", "x"))
        writer.add_item(StoredItem("first", 0, "d"))
    index = Index(tmp_path)
    pages = index._db.execute("PRAGMA page_count").fetchone()[0]
    index._db.execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own word for a disk without room
    for n in range(2_000):  # kept in memory for now
        index.add_item(f"i{n}", n, 0, "d")
    with pytest.raises(DataError, match=r"index.sqlite: cannot be written: the disk is full; what was judged"):
        index.flush()
    index.close()
    with RunWriter(tmp_path) as writer:
        assert writer.count() == 1


def test_an_index_with_a_damaged_page_is_made_anew_from_the_files(tmp_path, caplog):
    filled(tmp_path, 400)
    path = tmp_path / INDEX
    pages = path.read_bytes()
    path.write_bytes(pages[:4096] + b"\xa5" * (len(pages) - 4096))  # it opens, and what it holds is gone
    with RunWriter(tmp_path) as writer:
        assert all(writer.recall(f"k{i}") and writer.known(f"i{i}") for i in range(400))
        assert writer.count() == 400
        spent = writer.cost
    assert "made anew" in caplog.text
    caplog.clear()
    with RunWriter(tmp_path) as writer:
        assert writer.known("i7") is not None
        assert writer.cost == spent
    assert not caplog.text


@pytest.mark.parametrize("step", ["read", "write"])
def test_an_index_that_is_damaged_while_it_is_open_is_made_anew(tmp_path, caplog, step):
    filled(tmp_path, 400)
    with RunWriter(tmp_path) as writer:
        index = writer._index
        index._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        index._db.execute("PRAGMA shrink_memory")
        path = tmp_path / INDEX
        path.write_bytes(path.read_bytes()[:4096] + b"\xa5" * (path.stat().st_size - 4096))
        if step == "write":
            writer.add_item(StoredItem("i400", 400, "d400", input="q"))
            writer.add_judgment(StoredJudgment("k400", "i400", judgment()))
            writer.add_result(result_for("i400"))
            index.flush()
            assert writer.known("i400") is not None
        assert all(writer.recall(f"k{i}") and writer.known(f"i{i}") for i in range(400))
        assert writer.count() == (401 if step == "write" else 400)
    assert "index.sqlite is damaged" in caplog.text


def test_results_go_with_their_items_when_these_change_places(tmp_path):
    filled(tmp_path, 6)
    with RunWriter(tmp_path) as writer:
        for i in range(6):  # the data the other way round; the results of half of them are not there yet
            writer.add_item(StoredItem(f"i{i}", 5 - i, f"d{i}", input="q"))
            if i % 2:
                writer.add_result(result_for(f"i{i}", False, "t"))
        seals = [writer.known(f"i{i}").seal for i in range(6)]
        assert seals == [short("t" if i % 2 else "s") for i in range(6)]
    known = [short("t" if i % 2 else "s") for i in range(6)]
    with RunWriter(tmp_path) as writer:
        assert [writer.known(f"i{i}").seal for i in range(6)] == known
    assert [(i.id, r.value) for i, r in Run.open(tmp_path).results()] == [
        (f"i{i}", i % 2 == 0) for i in range(5, -1, -1)
    ]
    (tmp_path / INDEX).unlink()
    with RunWriter(tmp_path) as writer:
        assert [writer.known(f"i{i}").seal for i in range(6)] == known


def test_an_index_of_another_version_is_made_anew(tmp_path, caplog):
    filled(tmp_path)
    index = Index(tmp_path)
    index._db.execute("PRAGMA user_version = 3")
    index.close()
    with RunWriter(tmp_path) as writer:
        assert writer.known("i1") is not None
    assert "version 3" in caplog.text


def test_an_index_that_another_program_holds_is_left_to_it(tmp_path):
    filled(tmp_path)
    held = Index(tmp_path)  # as where a network folder has no locks
    before = (tmp_path / INDEX).stat().st_ino
    with pytest.raises(DataError, match=r"index.sqlite is held by another program") as caught:
        Index(tmp_path)
    assert caught.value.kind == "locked"
    assert (tmp_path / INDEX).stat().st_ino == before
    held.close()


def test_marks_find_results_by_the_number_of_their_item(tmp_path):
    filled(tmp_path, 300)
    with RunWriter(tmp_path) as writer:
        assert writer.marked(7, 70) is None
        for i in range(300):
            writer.add_mark(f"i{i}", i * 10 + 1)
        writer.add_result(result_for("i3", False), 99)
    with RunWriter(tmp_path) as writer:
        told = [writer.marked(i, i * 10 + 1) for i in range(300)]
        assert [i for i in range(300) if told[i] is None] == [3]
        whole, brief = told[0]
        assert whole
        assert json.loads(brief)["status"] == "decided"
        assert writer.marked(3, 99) is not None
        assert writer.marked(299, 11) is None


def test_keys_that_were_added_are_never_missed():
    keys, numbers = Keys(), [short(str(n)) for n in range(40_000)]
    keys.add(numbers[:10_000], iter(numbers[10_000:20_000]))
    assert all(k in keys for k in numbers[:20_000])
    assert sum(k in keys for k in numbers[20_000:]) < 20  # of twenty thousand that were not


def test_what_came_after_the_keys_were_read_is_found(tmp_path):
    filled(tmp_path)
    with RunWriter(tmp_path) as writer:
        assert not writer.has("k9")
        writer.add_judgment(StoredJudgment("k9", "i1", judgment()))
        writer._index.flush()
        assert writer.has("k9")
        assert writer.known("i2") is not None


@pytest.mark.parametrize("name", ["lock", "index.sqlite", "at-risk.json"])
@pytest.mark.parametrize("text", ["theirs", ""])
def test_what_a_link_points_to_is_not_written_over(tmp_path, name, text):
    theirs, folder = tmp_path / "theirs", tmp_path / "run"
    theirs.write_text(text)
    folder.mkdir()
    (folder / name).symlink_to(theirs)
    with pytest.raises(DataError, match=f"{name}: a symbolic link") as told, RunWriter(folder) as writer:
        writer.at_risk.note(1.0)
    assert (told.value.kind, theirs.read_text()) == ("unwritable", text)
