"""What a report is written as: nothing in a text may run, break a format or be lost."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury.errors import ConfigError
from jury.report.cells import LONGEST, csv_text, safe_cell
from jury.report.facts import facts
from jury.report.formats import FORMATS, written
from jury.report.junit import to_junit
from jury.report.markdown import plain, remark, to_markdown
from jury.report.parts import Head, ItemFacts, Rate, Report, VoteFacts
from jury.report.words import money, percent, share, shown
from tests import report_runs

HOSTILE = "=1+1 \x00\x1b[31m</failure> ]]> | `x` <script>alert(1)</script> \ud835 \u202e [a](http://b.invalid)"
ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return facts(report_runs.sums(tmp_path_factory.mktemp("runs") / "sums"))


def one(outcome: str = "fail", text: str = HOSTILE, **more: Any) -> Report:
    vote = VoteFacts(text, explanation=text, word=outcome)
    item = ItemFacts(text, 0, outcome, outcome, explanation=text, votes=(vote,), texts={"output": text}, **more)
    counts = {outcome: 1}
    return Report(Head(text, "pointwise", criteria=text, outcomes=counts, total=1), items=(item,), notes=(text,))


def reading(cell: str) -> str:
    """A cell as it was: one `'` less where it stands before a formula's start, as the how-to page says."""
    return cell[1:] if cell.startswith("'") and safe_cell(cell[1:]) == cell else cell


@settings(deadline=None)
@given(st.text())
def test_no_cell_starts_a_formula_and_every_text_comes_back(text: str):
    cell = safe_cell(text)
    bare = cell.lstrip(" \t\r\n\ufeff\u200b")
    assert bare[:1] not in ("=", "+", "@")
    assert not bare.startswith("-") or bare == cell == text
    if not any((c < " " and c not in "\t\r\n") or c == "\x7f" for c in text):
        assert reading(cell) == text


@settings(deadline=None)
@given(st.floats(allow_nan=True, allow_infinity=True) | st.integers(-(10**9), 10**9))
def test_numbers_stay_numbers(number: float):
    cell = safe_cell(number)
    assert cell == "" if not math.isfinite(number) else float(cell) == pytest.approx(number, rel=1e-9, abs=1e-9)


def test_rows_with_other_names_share_a_header():
    text = csv_text([{"a": 1, "=b": "x,y"}, {"c": 'say "so"\nnow'}])
    assert list(csv.DictReader(io.StringIO(text, newline=""))) == [
        {"a": "1", "'=b": "x,y", "c": ""},
        {"a": "", "'=b": "", "c": 'say "so"\nnow'},
    ]
    assert csv_text([]) == ""


def test_csv_has_a_line_an_item_with_votes_and_texts(report: Report):
    rows = list(csv.DictReader(io.StringIO(written(report, "csv").decode("utf-8"), newline="")))
    assert [row["id"] for row in rows] == [f"s{i}" for i in range(9)]
    assert (rows[6]["outcome"], rows[6]["vote one"], rows[6]["output"]) == ("fail", "fail", "The sum is 22.")
    assert rows[1]["vote odd"] == "error"
    assert rows[8]["error"] == "timed out"


def test_a_text_longer_than_a_cell_is_cut_and_says_so():
    made = one(text="x" * (LONGEST + 5000))
    (row,) = csv.DictReader(io.StringIO(written(made, "csv").decode("utf-8"), newline=""))
    assert row["output"] == "x" * LONGEST + "… (5,000 characters more)"
    assert len(json.loads(written(made, "json"))["items"][0]["texts"]["output"]) == LONGEST + 5000


def test_junit_counts_failures_errors_and_skips(report: Report):
    suite = ET.fromstring(written(report, "junit")).find("testsuite")
    assert suite.attrib | {"timestamp": ""} == {
        "name": "sums",
        "tests": "9",
        "failures": "2",
        "errors": "1",
        "skipped": "0",
        "timestamp": "",
    }
    cases = {case.get("name"): [child.tag for child in case][1:] for case in suite.iter("testcase")}
    assert cases["s6"] == ["failure"]
    assert cases["s8"] == ["error"]
    assert cases["s0"] == ["system-out"]
    told = suite.find("testcase[@name='s6']/failure")
    assert told.get("message") == "The digits are joined, they are not added."
    assert "two: fail. The digits are joined" in told.text


@pytest.mark.parametrize(
    ("outcome", "tags"),
    [
        ("na", ["skipped", "system-out"]),
        ("inconclusive", ["skipped", "system-out"]),
        ("error", ["error"]),
        ("unrated", ["system-out"]),
        ("B", ["system-out"]),
    ],
)
def test_junit_has_a_word_for_every_outcome(outcome: str, tags: list[str]):
    case = next(ET.fromstring(written(one(outcome, "why"), "junit")).iter("testcase"))
    assert [child.tag for child in case] == ["properties", *tags]
    assert outcome not in ("na", "inconclusive") or case.find("skipped").get("message") == "why"


def test_junit_names_the_winner_of_a_pair_and_fails_nobody_for_it():
    items = [ItemFacts(f"p{n}", n, word, word) for n, word in enumerate(["A", "B", "tie", "inconclusive", "error"])]
    counts = {"A": 1, "B": 1, "tie": 1, "inconclusive": 1, "error": 1}
    made = Report(Head("pairs", "pairwise", outcomes=counts, total=5), items=tuple(items))
    suite = ET.fromstring(written(made, "junit")).find("testsuite")
    winners = {case.get("name"): case.find("properties/property[@name='winner']") for case in suite.iter("testcase")}
    assert [told.get("value") for told in winners.values()] == ["A", "B", "tie", "inconclusive", "error"]
    assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == ("0", "1", "1")
    told = {p.get("name"): p.get("value") for p in suite.find("properties")}
    assert (told["outcome A"], told["outcome B"], told["outcome tie"]) == ("1", "1", "1")


@settings(deadline=None)
@given(ANY_TEXT)
def test_any_text_is_valid_xml_json_and_utf8(text: str):
    made = one(text=text)
    case = next(ET.fromstring(written(made, "junit")).iter("testcase"))
    assert case.find("failure") is not None
    assert json.loads(written(made, "json"))["items"][0]["texts"]["output"] == text
    for name in ("md", "csv"):
        written(made, name).decode("utf-8")


def test_json_is_strict_where_a_row_holds_nan():
    data = json.loads(
        written(one(row={"score": math.nan, "deep": [math.inf, 1.5]}), "json"), parse_constant=pytest.fail
    )
    assert data["items"][0]["row"] == {"score": None, "deep": [None, 1.5]}


def test_markdown_shows_texts_and_makes_nothing_of_them():
    text = written(one(), "md").decode("utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "](http" not in text.replace("\\](http", "")
    assert all(ord(c) >= 32 or c == "\n" for c in text)
    assert next(line for line in text.splitlines() if line.startswith("| \\=1")).count(" | ") == 3


def test_markdown_of_a_run_says_the_rate_the_findings_and_what_to_read(report: Report):
    text = written(report, "md").decode("utf-8")
    assert "| pass rate | 75% (" in text
    assert "| coverage | 88.9%: 8 of 9 (6 passed, 2 failed, 1 not judged) |" in text
    assert "**2 x** The digits are joined, they are not added." in text
    assert "| s6 | fail | one: fail, two: fail, odd: fail |" in text
    assert "## Read some that pass" in text


def test_code_in_our_own_sentences_is_code_and_nothing_else_is():
    assert remark("label, then `jury calibrate A|B`; *a*") == r"label, then `jury calibrate A\|B`; \*a\*"
    assert remark("a ` b <b>") == r"a \` b &lt;b&gt;"
    head = Head(
        "x", "pointwise", corrected_why="no calibration: `jury calibrate`", worth=("`repetitions: 3` shows it",)
    )
    text = to_markdown(Report(head))
    assert "| corrected rate | no calibration: `jury calibrate` |" in text
    assert "- `repetitions: 3` shows it" in text
    assert "\\`" not in text


def test_junit_has_no_blank_lines_where_nobody_voted():
    (case,) = ET.fromstring(
        to_junit(Report(Head("x", "pointwise"), items=(ItemFacts("a", 0, "error", "error"),)))
    ).iter("error")
    assert case.text == case.text.strip() == "error"


def test_a_line_that_starts_like_a_list_is_a_line():
    assert [plain(t) for t in ("- a", "1. a", "# a", "10) a", "a - b")] == [
        r"\- a",
        r"1\. a",
        r"\# a",
        r"10\) a",
        "a - b",
    ]
    assert len(plain("word " * 100)) <= 240


def test_an_unknown_format_is_named_with_the_known():
    with pytest.raises(ConfigError, match=r"html, md, json, csv, junit, got 'pdf'"):
        written(Report(Head("x", "pointwise")), "pdf")
    assert FORMATS == ("html", "md", "json", "csv", "junit")


@settings(deadline=None)
@given(st.integers(1, 10**7).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_share_is_all_or_nothing_only_where_it_is(counts: tuple[int, int]):
    part, whole = counts
    assert (percent(part, whole) == "100%") == (part == whole)
    assert (percent(part, whole) == "0%") == (part == 0)


def test_what_is_undefined_is_written_so():
    assert (percent(0, 0), share(None), shown(None), shown(math.nan), Rate(None).text) == ("n/a",) * 5
    assert (shown(True), shown(2.0), shown(3.14159), shown("FAIL")) == ("pass", "2", "3.142", "FAIL")
    assert (money(1234.5, 1), money(0.0, 0)) == ("$1,234.50", "$0")
