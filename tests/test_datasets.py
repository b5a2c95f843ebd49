from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.data import TargetError
from jury.datasets import FIELDS, Row, find, parse_map, rows, to_item, to_pair
from jury.datasets.columns import fields_of
from jury.datasets.ids import SeenIds
from jury.errors import ConfigError, DataError, MissingExtra


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def values(path: Path | str, **more: Any) -> list[dict[str, Any]]:
    return [dict(r.values) for r in rows(path, **more)]


def fault(path: Path | str, **more: Any) -> DataError:
    with pytest.raises(DataError) as caught:
        list(rows(path, **more))
    return caught.value


# --- JSON Lines


def test_rows_know_line_number_and_file(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", '\n{"x": 1}\n\n  \n{"x": 2}')
    assert [(r.line, r.number, r.file) for r in rows(path)] == [(2, 1, str(path)), (5, 2, str(path))]


def test_rows_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", '{"x": 1}\n{"x": 2}\n{broken')
    reader = rows(path)
    assert next(reader).values == {"x": 1}
    assert next(reader).values == {"x": 2}
    with pytest.raises(DataError, match="line 3"):
        next(reader)


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"])
def test_only_a_line_feed_ends_a_record(tmp_path: Path, separator: str) -> None:
    text = json.dumps({"answer": f"a{separator}b"}, ensure_ascii=separator < " ")
    path = write(tmp_path, "a.jsonl", f"{text}\r\n{text}\n")
    assert values(path) == [{"answer": f"a{separator}b"}] * 2


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("[1, 2]", "not_object"),
        ('"text"', "not_object"),
        ("null", "not_object"),
        ("3", "not_object"),
        ("true", "not_object"),
        ('{"a": Infinity}', "bad_json"),
        ('{"a": -Infinity}', "bad_json"),
        ('{"a": 1e999}', "bad_json"),
        ('{"a": [NaN]}', "bad_json"),
        ("{'a': 1}", "bad_json"),
        ('{"a": 1} {"a": 2}', "bad_json"),
        ('{"a": "tab\there"}', "bad_json"),
        ('{"a": "\\ud83d"}', "bad_json"),
        ('{"a": 1, "b": 2, "a": 3}', "duplicate_column"),
        ('{"a": ' + "[" * 100_000, "bad_json"),
        ('{"a": ' + "9" * 5000 + "}", "bad_json"),
        ("a,b", "bad_json"),
        ("\x00" * 100, "bad_json"),
        ("{", "bad_json"),
    ],
)
def test_a_line_that_is_no_row_is_an_error_with_its_number(tmp_path: Path, line: str, kind: str) -> None:
    error = fault(write(tmp_path, "a.jsonl", f'{{"a": 0}}\n\n{line}\n{{"a": 1}}\n'))
    assert (error.kind, error.line) == (kind, 3)
    assert "line 3" in str(error)


def test_errors_of_a_line_say_what_to_do(tmp_path: Path) -> None:
    assert "a table is named .csv" in str(fault(write(tmp_path, "a.jsonl", "a,b\n1,2\n")))
    long = str(fault(write(tmp_path, "a.jsonl", '{"a": ' + "9" * 5000 + "}")))
    assert "write it as a text" in long
    assert "sys." not in long  # how Python would be told


def test_a_whole_surrogate_pair_is_a_character(tmp_path: Path) -> None:
    assert values(write(tmp_path, "a.jsonl", '{"a": "\\ud83d\\ude00"}')) == [{"a": "\U0001f600"}]


def test_a_mark_at_the_start_of_a_joined_file_is_no_text(tmp_path: Path) -> None:
    part = b'\xef\xbb\xbf{"a": 1}\n'
    assert values(write(tmp_path, "a.jsonl", part + part)) == [{"a": 1}, {"a": 1}]


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none() | st.booleans(), min_size=1)))
def test_what_json_wrote_is_read_back(tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]) -> None:
    lines = "".join(json.dumps({**r, "id": i}, ensure_ascii=i % 2 == 0) + "\n" for i, r in enumerate(records))
    path = write(tmp_path_factory.mktemp("d"), "a.jsonl", lines)
    if records:
        assert values(path) == [{**r, "id": i} for i, r in enumerate(records)]
    else:
        assert fault(path).kind == "no_rows"


# --- JSON documents


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_an_array_is_read_under_either_name(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, name, '\ufeff[\n {"a": 1},\n\n {"a":\n 2}\n]\n')
    assert [(r.line, r.values) for r in rows(path)] == [(2, {"a": 1}), (4, {"a": 2})]


@pytest.mark.parametrize(
    "text",
    [
        '{"data": [{"a": 1}, {"a": 2}]}',
        '{"version": 3, "meta": {"n": [1]}, "anything": [{"a": 1},\n{"a": 2}]}',
        '{"tags": [{"t": 1}],\n "rows": [{"a": 1}, {"a": 2}]}',
        '{"a": 1}\n{"a": 2}\n',
    ],
)
def test_a_document_may_hold_the_list(tmp_path: Path, text: str) -> None:
    assert values(write(tmp_path, "a.json", text)) == [{"a": 1}, {"a": 2}]


def test_a_single_object_is_one_row(tmp_path: Path) -> None:
    text = '{"messages": [{"role": "user", "content": "x"}],\n"output": "y"}'
    assert values(write(tmp_path, "a.json", text)) == [json.loads(text)]


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ('[{"a": 1},\n{"a": 2}', "bad_json", 2),
        ('[{"a": 1},\n{"a": 2},\n]', "bad_json", 3),
        ('[{"a": 1}\n{"a": 2}]', "bad_json", 2),
        ('[{"a": 1},\n{"a": NaN}]', "bad_json", 2),
        ('[{"a": 1}]\n[{"a": 2}]', "bad_json", 1),
        ('[{"a": 1},\n2]', "not_object", 2),
        ('{"rows": [{"a": 1},\n{"a"', "bad_json", 2),
        ('"text"', "not_object", 1),
        ('{"left": [{"a": 1}], "right": [{"a": 1}]}', "not_object", None),
        ("[]", "no_rows", None),
        ('{"rows": []}', "no_rows", None),
        ("{}", "no_rows", None),
        (" \n ", "no_rows", None),
    ],
)
def test_a_document_that_holds_no_rows(tmp_path: Path, text: str, kind: str, line: int | None) -> None:
    error = fault(write(tmp_path, "a.json", text))
    assert (error.kind, error.line) == (kind, line)


# --- tables


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,2\n", [{"a": "1", "b": "2"}]),
        ("a;b\n1;2,5\n", [{"a": "1", "b": "2,5"}]),
        ("a;b, c\n1;2\n", [{"a": "1", "b, c": "2"}]),
        ("a\tb\n1\t2\n", [{"a": "1", "b": "2"}]),
        ("a|b\n1|2\n", [{"a": "1", "b": "2"}]),
        ('"a";"b"\r\n"1";"x;y"\r\n', [{"a": "1", "b": "x;y"}]),
        ("sep=\t\na\tb\n1\t2\n", [{"a": "1", "b": "2"}]),
        ("\ufeffsep=;\r\na;b\r\n1;2\r\n", [{"a": "1", "b": "2"}]),
        ("\ufeff\ufeffa,b\r\n1,2\r\n", [{"a": "1", "b": "2"}]),  # the mark twice, as some programs write it
        ("answer\nyes\nno\n", [{"answer": "yes"}, {"answer": "no"}]),
        ("a,b\r1,2\r3,4", [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]),
        ("a,b\n\n1,2\n   \n", [{"a": "1", "b": "2"}]),
        (" a , b\n 1 ,2\n", [{"a": " 1 ", "b": "2"}]),
        (",answer\n0,yes\n", [{"column_1": "0", "answer": "yes"}]),
        ("a,b\n,\n", [{"a": "", "b": ""}]),
        ('a,b\n1,"x\ry"\n', [{"a": "1", "b": "x\ry"}]),
        ("a,b\n1,caf\u00e9\u2028x\n", [{"a": "1", "b": "caf\u00e9\u2028x"}]),
    ],
)
def test_tables(tmp_path: Path, text: str, expected: list[dict[str, str]]) -> None:
    assert values(write(tmp_path, "a.csv", text)) == expected


@pytest.mark.parametrize(
    ("text", "kind", "line", "says"),
    [
        ("a,b\n1,2\n\n1,2,3\n", "ragged_row", 4, "3 cells"),
        ('a,b,c\n"1\n1",2,3\n4\n', "ragged_row", 4, "missing: b, c"),
        ('a,b\n1,"open\n2,x\n', "bad_csv", 2, "never closed"),
        ('a,b\n1,"x" y\n', "bad_csv", 2, "closing quote"),
        ('a,b\n1,"say \\"hi\\""\n', "bad_csv", 2, "closing quote"),
        ("a,a \n1,2\n", "duplicate_column", 1, "'a'"),
        ("\n \n", "no_rows", None, "no rows"),
        ('{"id": 1, "answer": "x"}\n', "bad_csv", 1, "JSON"),
    ],
)
def test_a_wrong_table_names_the_line(tmp_path: Path, text: str, kind: str, line: int | None, says: str) -> None:
    error = fault(write(tmp_path, "a.csv", text))
    assert (error.kind, error.line) == (kind, line)
    assert says in str(error)


def test_the_delimiter_can_be_told(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "a;b|c\n1;2|3\n")
    error = fault(path)
    assert error.kind == "delimiter"
    assert ";" in str(error)
    assert "|" in str(error)
    assert values(path, delimiter=";") == [{"a": "1", "b|c": "2|3"}]


def test_a_tsv_may_hold_commas_everywhere(tmp_path: Path) -> None:
    assert values(write(tmp_path, "a.tsv", "a,x\tb,y\n1,2\t3,4\n")) == [{"a,x": "1,2", "b,y": "3,4"}]


def test_rows_of_a_table_know_where_they_start(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", 'sep=,\na,b\n1,"x\ny"\n\n2,z\n')
    assert [r.line for r in rows(path)] == [3, 6]


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))


@given(table=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=60), sign=st.sampled_from(",;\t|"))
def test_what_csv_wrote_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, str]], sign: str
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=sign, quoting=csv.QUOTE_ALL)
    writer.writerow(["question", "answer"])
    writer.writerows(table)
    path = write(tmp_path_factory.mktemp("d"), "a.csv", text.getvalue())
    assert values(path) == [{"question": q, "answer": a} for q, a in table]


# --- bytes


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.json"])
def test_encodings_that_can_be_told(tmp_path: Path, encoding: str, name: str) -> None:
    text = (
        "id,answer\n1,né\u2028日\n2,x\n"
        if name == "a.csv"
        else '{"id":"1","answer":"né\u2028日"}\n{"id":"2","answer":"x"}\n'
    )
    path = write(tmp_path, name, text.encode(encoding))
    assert values(path) == [{"id": "1", "answer": "né\u2028日"}, {"id": "2", "answer": "x"}]


def test_other_encodings_are_named_never_guessed(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "a,b\n1,it’s\n".encode("cp1252"))
    error = fault(path)
    assert (error.kind, error.line) == ("encoding", 2)
    assert values(path, encoding="cp1252") == [{"a": "1", "b": "it’s"}]
    with pytest.raises(ConfigError, match="klingon"):
        list(rows(path, encoding="klingon"))


def test_utf16_that_is_cut_off(tmp_path: Path) -> None:
    assert fault(write(tmp_path, "a.jsonl", '{"a": 1}\n'.encode("utf-16") + b"\x7b")).kind == "encoding"


def test_gzip_is_told_by_its_bytes(tmp_path: Path) -> None:
    packed = gzip.compress(b"a,b\n1,2\n")
    assert values(write(tmp_path, "a.csv.gz", packed)) == [{"a": "1", "b": "2"}]
    assert values(write(tmp_path, "a.csv", packed)) == [{"a": "1", "b": "2"}]
    error = fault(write(tmp_path, "cut.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 50_000)[:-20]))
    assert error.kind == "unreadable"
    assert "cut off" in str(error)


def test_zstd_without_a_package_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtra, match="pip install zstandard"):
        list(rows(write(tmp_path, "a.jsonl.zst", b"\x28\xb5\x2f\xfd rest")))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for content, expected in [
        (b'{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        (b'[{"a": 1}]', [{"a": 1}]),
        (b'{\n "rows": [{"a": 1}]}', [{"a": 1}]),
        (b"a;b\n1;2\n", [{"a": "1", "b": "2"}]),
        (gzip.compress(b"a\n1\n"), [{"a": "1"}]),
    ]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="ascii"))
        assert values("-") == expected
    monkeypatch.setattr(sys, "stdin", io.StringIO("a\né\n"))
    assert values("-") == [{"a": "é"}]
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert fault("-").kind == "no_rows"


def test_files_that_are_none(tmp_path: Path) -> None:
    write(tmp_path, "answers.jsonl", "{}")
    error = fault(tmp_path / "answer.jsonl")
    assert error.kind == "not_found"
    assert "answers.jsonl" in str(error)
    assert fault(tmp_path / "no" / "a.csv").kind == "not_found"
    assert fault(tmp_path).kind == "unreadable"
    assert "Excel" in str(fault(write(tmp_path, "a.csv", b"PK\x03\x04" + b"\x00" * 50)))
    write(tmp_path, "part-1.parquet", b"PAR1")
    write(tmp_path, "part-2.parquet", b"PAR1")
    assert f"such as {tmp_path}/*.parquet" in str(fault(tmp_path))


@pytest.mark.parametrize("name", ["x" * 300, "x*" * 150])
def test_a_file_that_cannot_even_be_looked_at(tmp_path: Path, name: str) -> None:
    assert fault(tmp_path / name).kind in ("unreadable", "not_found")


@pytest.mark.parametrize(
    ("pack", "says"), [(lzma.compress, "packed with xz"), (bz2.compress, "packed with bzip2"), (None, "a tar archive")]
)
def test_what_is_packed_in_another_way_is_not_taken_for_text(tmp_path: Path, pack: Any, says: str) -> None:
    content = b'{"a": 1}\n'
    if pack is None:
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w") as archive:
            about = tarfile.TarInfo("a.jsonl")
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
        packed = made.getvalue()
    else:
        packed = pack(content)
    for data in (packed, gzip.compress(packed)):
        error = fault(write(tmp_path, "a.jsonl", data))
        assert error.kind == "unreadable"
        assert says in str(error)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("state.json", c) for c in ("{torn", "[]", "null", '{"_data_files": [{}]}', '{"_data_files": 7}', "{}")),
        *(("dataset_dict.json", c) for c in ("{torn", "[]", "null", '{"splits": [7]}', '{"splits": null}', "{}")),
        ("dataset_dict.json", "[" * 100_000),
        ("dataset_dict.json", '{"splits": []}'),
    ],
)
def test_a_saved_dataset_whose_notes_are_damaged(tmp_path: Path, name: str, content: str) -> None:
    write(tmp_path, name, content)
    error = fault(tmp_path)
    assert error.kind == "unreadable"
    assert str(tmp_path) in str(error)


# --- frames


def test_what_an_iterable_raises_is_a_fault_of_the_data() -> None:
    def cursor() -> Any:
        yield {"a": 1}
        raise OSError("the database is gone")

    found = rows(cursor())
    assert next(found).values == {"a": 1}
    with pytest.raises(DataError, match=r"row 2: the data raised .*the database is gone") as caught:
        next(found)
    assert isinstance(caught.value.__cause__, OSError)


def test_a_value_that_cannot_be_written_is_told() -> None:
    held: list[Any] = []
    held.append(held)
    for value in (held, 10**5000):
        assert fault([{"id": value}]).kind == "wrong_type"  # pyright: ignore[reportArgumentType]
        with pytest.raises(DataError, match="digits"):
            to_item(Row({"output": "a", "error": value}))


class FakePolars:
    def iter_rows(self, *, named: bool) -> Any:
        assert named
        return iter([{"id": 1, "answer": "x", "score": float("nan")}, {"id": 2, "answer": None, "score": 0.5}])


class FakePandas:
    columns = ("id", "answer", "score")

    def itertuples(self, *, index: bool, name: None) -> Any:
        assert not index
        return iter([(np.int64(1), "NA", np.float64(0.5)), (np.int64(2), None, float("nan"))])


def test_frames_and_plain_lists() -> None:
    polars = [{"id": 1, "answer": "x", "score": None}, {"id": 2, "answer": None, "score": 0.5}]
    assert [r.values for r in rows(FakePolars())] == polars
    found = [r.values for r in rows(FakePandas())]
    assert found == [{"id": 1, "answer": "NA", "score": 0.5}, {"id": 2, "answer": None, "score": None}]
    assert [type(v) for v in found[0].values()] == [int, str, float]
    assert [(r.number, r.values) for r in rows(iter([{"a": 1}, {"a": 2}]))] == [(1, {"a": 1}), (2, {"a": 2})]
    # As `frame.to_dict("records")` gives them: no error is NaN there.
    records = [{"output": "x", "error": float("nan"), "score": np.float64(0.5), "list": np.arange(2)}, {"error": "e"}]
    assert [r.values for r in rows(records)] == [
        {"output": "x", "error": None, "score": 0.5, "list": [0, 1]},
        {"error": "e"},
    ]
    assert [to_item(r)[1].error for r in rows(records)] == [None, TargetError("e")]
    for wrong, kind in ((7, "unreadable"), ({"a": 1}, "unreadable"), ([1], "not_object"), ([], "no_rows")):
        assert fault(wrong).kind == kind  # pyright: ignore[reportArgumentType]
    assert fault([{"id": 1}, {"id": "1"}]).kind == "duplicate_id"  # pyright: ignore[reportArgumentType]


def test_parquet_needs_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for name in ("a.parquet", "a.bin"):
        with pytest.raises(MissingExtra, match="pip install pyarrow"):
            list(rows(write(tmp_path, name, b"PAR1 rest")))


def test_parquet_and_saved_datasets(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = arrow.table({"id": ["a", "b"], "answer": ["x", None], "meta": [{"k": [1]}, {"k": []}]})
    parquet.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "saved/test").mkdir(parents=True)
    with (
        arrow.OSFile(str(tmp_path / "saved/test/data.arrow"), "wb") as file,
        arrow.ipc.new_stream(file, table.schema) as out,
    ):
        out.write_table(table)
    write(tmp_path, "saved/test/state.json", '{"_data_files": [{"filename": "data.arrow"}]}')
    write(tmp_path, "saved/dataset_dict.json", '{"splits": ["test"]}')
    for path in ("a.parquet", "saved/test", "saved"):
        assert values(tmp_path / path) == table.to_pylist()
    parquet.write_table(arrow.table({"answer": [float("nan"), 0.5]}), tmp_path / "nan.parquet")
    assert values(tmp_path / "nan.parquet") == [{"answer": None}, {"answer": 0.5}]
    write(tmp_path, "saved/dataset_dict.json", '{"splits": ["train", "test"]}')
    assert "saved/train or " in str(fault(tmp_path / "saved"))
    assert fault(write(tmp_path, "torn.parquet", b"PAR1 torn")).kind == "unreadable"


# --- ids, needs, column maps


@pytest.mark.parametrize(
    "text",
    ['{"id": 7}\n{"id": 8}\n\n{"id": "7"}', '{"item_id": "7"}\n{"item_id": "8"}\n\n{"item_id": "7"}'],
)
def test_ids_that_come_twice(tmp_path: Path, text: str) -> None:
    error = fault(write(tmp_path, "a.jsonl", text))
    assert (error.kind, error.line) == ("duplicate_id", 4)
    assert "'7'" in str(error)
    assert "rows 1 and 3 (lines 1 and 4)" in str(error)
    assert len(values(tmp_path / "a.jsonl", mapping={"id": ""})) == 3


def test_rows_without_an_id_do_not_collide(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "id,output\n,x\n,y\n")
    assert [to_item(r)[0].id for r in rows(path)] == ["#1", "#2"]


def test_seen_ids_stay_exact_when_they_leave_memory() -> None:
    with SeenIds(in_memory=3) as seen:
        assert [seen.before(str(i), i, i + 1) for i in range(20)] == [None] * 20
        assert [seen.before(str(i), 99, 99) for i in range(20)] == [(i, i + 1) for i in range(20)]


def test_a_needed_column_is_named_with_its_neighbours(tmp_path: Path) -> None:
    error = fault(write(tmp_path, "a.jsonl", '{"answer": 1}\n{"anwser": 2, "b": 0}'), needs=("answer",))
    assert (error.kind, error.line) == ("missing_column", 2)
    assert "did you mean anwser?" in str(error)
    assert "b" in str(error)


def test_parse_map() -> None:
    assert parse_map(["input=question,output=response.text"]) == {"input": "question", "output": "response.text"}
    assert parse_map(["question=q", "answer=x"]) == {"input": "q", "output": "x"}
    assert parse_map(["input={{q}}, then {{c}}", "output=a"]) == {"input": "{{q}}, then {{c}}", "output": "a"}
    for wrong in ("question", "=x", "inptu=x", "input=a,question=b"):
        with pytest.raises(ConfigError):
            parse_map([wrong])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("r.text", "deep"),
        ("flat.name", "flat"),
        ("list[0].t", "first"),
        ("list.-1.t", "last"),
        ("packed.x", "inner"),
        ("gone.any.where", None),
        ("{{q}} & {{r.text}}", "2 < 3 & deep"),
    ],
)
def test_the_column_map_reaches_into_rows(tmp_path: Path, source: str, expected: str | None) -> None:
    record = {
        "r": {"text": "deep"},
        "flat.name": "flat",
        "list": [{"t": "first"}, {"t": "last"}],
        "packed": '{"x": "inner"}',
        "gone": None,
        "q": "2 < 3",
    }
    path = write(tmp_path, "a.jsonl", json.dumps(record))
    assert next(rows(path, mapping={"output": source})).mapped == {"output": expected}


@pytest.mark.parametrize(
    ("source", "says"),
    [("respnse.text", "response"), ("response.txt", "text"), ("{{qestion}}", "question"), ("list[9]", "1 element")],
)
def test_a_map_that_misses_names_what_is_there(tmp_path: Path, source: str, says: str) -> None:
    record = {"response": {"text": "x"}, "question": "q", "list": [1]}
    error = fault(write(tmp_path, "a.jsonl", json.dumps(record)), mapping={"output": source})
    assert (error.kind, error.line) == ("missing_column", 1)
    assert says in str(error)


def test_a_wrong_map_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="output"):
        rows(tmp_path / "absent.csv", mapping={"ouptut": "x"})


# --- items and pairs


def test_an_item_by_usual_names() -> None:
    row = Row(
        {
            "question": "2+2?",
            "answer": "4",
            "expected": "four",
            "contexts": ["one", "two"],
            "trace_id": 12,
            "system_prompt": "be short",
            "model": "m",
            "extra": [1],
        },
        number=3,
    )
    point, output = to_item(row)
    assert (point.input, point.expected_output, point.context) == ("2+2?", "four", "one\n\ntwo")
    assert (point.id, point.number, point.trace_id) == ("#3", 2, "12")
    assert point.system_instructions == "be short"
    assert point.row["extra"] == [1]
    assert (output.text, output.model) == ("4", "m")


def test_the_own_name_wins_and_usual_names_are_not_guessed_between() -> None:
    assert to_item(Row({"output": "x", "answer": "y", "input": "q"}))[1].text == "x"
    assert to_item(Row({"answer": "y", "response": "y"}))[1].text == "y"
    with pytest.raises(DataError, match="answer and response") as caught:
        to_item(Row({"answer": "x", "response": "y"}, line=4))
    assert (caught.value.kind, caught.value.line) == ("ambiguous_column", 4)


def test_a_question_in_two_columns_is_not_halved() -> None:
    with pytest.raises(DataError, match=r"\{\{input\}\} \{\{instruction\}\}"):
        to_item(Row({"instruction": "Translate", "input": "hello", "output": "hola"}))
    assert to_item(Row({"instruction": "", "input": "hello", "output": "hola"}))[0].input == "hello"


def test_an_item_without_output_says_what_to_map() -> None:
    with pytest.raises(DataError, match="--map output=") as caught:
        to_item(Row({"q": "x", "anser": "y"}))
    assert caught.value.kind == "missing_column"
    assert "(in a run file: map: {output: anser}, or a target that makes it)" in str(caught.value)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("boom", TargetError("boom")),
        ({"message": "slow", "type": "timeout", "code": 504}, TargetError("slow", "timeout", 504)),
        (True, TargetError("")),
        ("", None),
        ("  ", None),
        (None, None),
        (False, None),
        ({}, None),
    ],
)
def test_an_error_column(error: Any, expected: TargetError | None) -> None:
    point, output = to_item(Row({"input": "q", "output": None, "error": error}))
    assert output.target_error == expected
    assert output.text == ""
    assert point.input == "q"


def test_an_errored_row_needs_no_output() -> None:
    assert to_item(Row({"input": "q", "error": "x"}))[1].target_error == TargetError("x")


def test_a_chat_is_split_at_the_last_question() -> None:
    turns = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
        {"role": "user", "content": "2+2?"},
        {"role": "assistant", "content": "4"},
    ]
    point, output = to_item(Row({"messages": turns}))
    assert point.input == turns[:3]
    assert output.text == "4"
    assert to_item(Row({"messages": turns, "output": "5"}))[0].input == turns


def test_a_pair_by_usual_names() -> None:
    row = Row({"prompt": "q", "answer_a": "x", "answer_b": "y", "reference": "r", "id": 5, "model_b": "m"})
    pair = to_pair(row)
    assert (pair.question, pair.response_a.text, pair.response_b.text) == ("q", "x", "y")
    assert (pair.reference, pair.id, pair.response_b.model) == ("r", "5", "m")
    assert pair.row == row.values


def test_a_pair_with_a_failed_side_and_one_without_a_side() -> None:
    pair = to_pair(Row({"question": "q", "response_a": "x", "error_b": "down"}))
    assert pair.response_b.target_error == TargetError("down")
    with pytest.raises(DataError, match="response_b"):
        to_pair(Row({"question": "q", "response_a": "x"}))


def test_the_question_of_a_pair_is_a_text() -> None:
    one = to_pair(Row({"messages": [{"role": "user", "content": "hi"}], "a": "x", "b": "y"}))
    assert one.question == "hi"
    two = [{"role": "system", "content": "short"}, {"role": "user", "content": "hi"}]
    assert to_pair(Row({"messages": two, "a": "x", "b": "y"})).question == "system: short\n\nuser: hi"


def test_a_pattern_reads_its_files_in_order(tmp_path):
    (tmp_path / "b.csv").write_text("id,input,output\nb1,q,two\n")
    (tmp_path / "a.jsonl").write_text('{"id": "a1", "input": "q", "output": "one"}\n')
    with gzip.open(tmp_path / "c.jsonl.gz", "wt") as file:
        file.write('{"id": "c1", "input": "q", "output": "three"}\n\n{"input": "q", "output": "four"}\n')
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "d.jsonl").write_text('{"id": "d1"}\n')
    found = list(rows(str(tmp_path / "*.*")))
    assert [(r.values["output"], r.number, r.line) for r in found] == [
        ("one", 1, 1),
        ("two", 2, 2),
        ("three", 3, 1),
        ("four", 4, 3),
    ]
    assert found[1].place.endswith("b.csv, line 2")
    assert [r.values["id"] for r in rows(str(tmp_path / "**" / "*.jsonl"))] == ["a1", "d1"]
    both = [str(tmp_path / "b.csv"), tmp_path / "deep" / "*.jsonl"]
    assert [(r.values["id"], r.number) for r in rows(both)] == [("b1", 1), ("d1", 2)]


def test_a_pattern_without_files_and_ids_of_two_files(tmp_path):
    with pytest.raises(DataError, match="no file matches") as none:
        list(rows(str(tmp_path / "*.jsonl")))
    assert none.value.kind == "not_found"
    (tmp_path / "sub").mkdir()
    with pytest.raises(DataError, match="only folders match"):
        list(rows(str(tmp_path / "*")))
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text('{"id": "x", "output": "o"}\n')
    with pytest.raises(DataError, match="occurs twice") as twice:
        list(rows(str(tmp_path / "*.jsonl")))
    assert twice.value.file.endswith("b.jsonl")
    (tmp_path / "[1].jsonl").write_text('{"id": "y", "output": "o"}\n')  # a file of that name is no pattern
    assert [r.values["id"] for r in rows(str(tmp_path / "[1].jsonl"))] == ["y"]


@pytest.mark.parametrize(
    ("first", "second", "taken"),
    [
        ('{"output": "a"}', '{"output": "b"}', 1),  # a row, whatever follows
        ('{"output": "a", "messages": [{"role": "user"}], "tags": ["x"]}', '{"output": "b"}', 1),
        ('{"rows": [{"output": "a"}]}', '{"output": "b"}', 2),  # a document, or a row with a list: the next line tells
        ("{}", '{"output": "b"}', 2),
        ('{"output":', '"b"}', 3),  # a document over several lines
    ],
)
def test_a_first_line_that_is_a_whole_row_waits_for_no_other(monkeypatch, first, second, taken):
    asked = []

    class Slow(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            data = [f"{first}\n".encode(), f"{second}\n".encode(), b""][min(len(asked), 2)]
            asked.append(data)
            buffer[: len(data)] = data
            return len(data)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Slow())))
    next(rows("-"))
    assert len(asked) == taken


@given(
    st.dictionaries(
        st.sampled_from([name for names in FIELDS.values() for name in names] + ["other"]),
        st.sampled_from(["x", "y", "", None]),
        max_size=5,
    ),
    st.dictionaries(st.sampled_from(sorted(FIELDS)), st.sampled_from(["m", None]), max_size=2),
)
def test_all_fields_at_once_are_those_found_one_by_one(values: dict[str, Any], mapped: dict[str, Any]) -> None:
    row = Row(values, mapped=mapped)
    fields = fields_of(row)
    for field in FIELDS:
        try:
            found = find(row, field)
        except DataError:
            with pytest.raises(DataError, match="could each be"):
                fields.get(field)
            continue
        assert (field in fields) == (found is not None)
        assert fields.get(field) == (found.value if found else None)
