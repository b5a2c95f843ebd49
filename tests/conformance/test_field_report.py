"""field.json, area `report`: rows judged by a scripted judge into a run folder, and what the formats make of it.

The rows of a case are results (`verdict`, `evidence`, `error`); a judge function that says just that gives them to a
run, so that everything from the folder to the page is what a user gets.
"""

from __future__ import annotations

import csv
import html.parser
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from jury import JudgeSpec, Labels, llm_jury
from jury.errors import CallError
from jury.report.cells import csv_text, safe_cell
from jury.report.facts import facts
from jury.report.formats import written
from jury.report.parts import Report
from jury.report.words import percent
from jury.runner import RunSpec, run_sync
from jury.store import Run
from tests.conformance.cases import load, params

SCALE = Labels(["PASS", "FAIL", "NA"], passing=["PASS"], na="NA")
OPERATIONS = ("render_report", "format_rate", "export_csv", "write_results")
CASES = [c for c in load("field.json")["cases"] if c["op"] in OPERATIONS]


def judged(given: Mapping[str, Any], folder: Path) -> Run:
    """A run with these results; `title` is its name, `judges` the names of its judges."""

    def say(row: Mapping[str, Any]) -> Any:
        if row["verdict"] not in SCALE.labels:
            raise CallError("server_error", row["fault"])
        return {"value": row["verdict"], "evidence": row.get("evidence", ()), "explanation": row.get("why", "")}

    seats = given.get("judges") or ("judge",)
    names = [str(s.get("judge") or s.get("id") or s.get("name")) if isinstance(s, Mapping) else s for s in seats]
    jury = llm_jury(criteria="Is it right?", scale=SCALE, judges=[JudgeSpec(function=say, id=name) for name in names])
    # An `error` column is the target's; here it is the judge's.
    rows = [{**{k: v for k, v in r.items() if k != "error"}, "fault": str(r.get("error", ""))} for r in given["rows"]]
    run_sync(RunSpec(rows, jury, map={"output": "answer"}, name=given.get("title"), cache=False), folder)
    return Run.open(folder)


def report_of(given: Mapping[str, Any], folder: Path) -> Report:
    return facts(judged(given, folder))


class Page(html.parser.HTMLParser):
    """The visible text of a page, its attributes, and what stands where."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.documents = 0
        self.after = ""
        self._hidden: list[str] = []
        self._ended = False
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes |= {name for name, _ in attrs}
        self.documents += tag == "html"
        if tag in ("script", "style", "template"):
            self._hidden.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._hidden and tag == self._hidden[-1]:
            self._hidden.pop()
        self._ended = self._ended or tag == "html"

    def handle_data(self, data: str) -> None:
        if self._ended:
            self.after += data
        elif not self._hidden:
            self.texts.append(data)

    @property
    def visible(self) -> str:
        return "\n".join(self.texts)


def render_report(given: Mapping[str, Any], expect: Mapping[str, Any], folder: Path) -> None:
    source = written(report_of(given, folder), "html").decode("utf-8")
    page = Page(source)
    wanted = expect["ok"]
    assert not [text for text in wanted.get("not_contains", ()) if text in source]
    assert not page.attributes & set(wanted.get("no_attribute", ()))
    for text in wanted.get("visible_text", ()):
        assert text in page.visible, text
    if "visible_text_any_of" in wanted:
        assert any(text in page.visible for text in wanted["visible_text_any_of"])
    for word in wanted.get("not_visible_words", ()):
        assert not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", page.visible), word
    if wanted.get("one_document"):
        assert (page.documents, page.after.strip()) == (1, "")


def format_rate(given: Mapping[str, Any], expect: Mapping[str, Any], folder: Path) -> None:
    text = percent(given["successes"], given["n"])
    assert text not in expect["ok"].get("not_text", ())
    assert "text_any_of" not in expect["ok"] or text in expect["ok"]["text_any_of"]


def export_csv(given: Mapping[str, Any], expect: Mapping[str, Any], folder: Path) -> None:
    found = list(csv.DictReader(io.StringIO(csv_text(given["rows"]), newline="")))
    assert len(found) == len(given["rows"])
    for column, starts in expect["ok"].get("cells_not_starting_with", {}).items():
        assert not [row[column] for row in found if row[column].startswith(tuple(starts))]
    for column, cells in expect["ok"].get("cells_equal", {}).items():
        wanted = cells if isinstance(cells, list) else [cells] * len(found)
        assert [row[column] for row in found] == wanted
    if expect["ok"].get("round_trip_note"):
        page = (Path(__file__).parents[2] / "docs/how-to/read-report.md").read_text("utf-8")
        assert "`'`" in page


def write_results(given: Mapping[str, Any], expect: Mapping[str, Any], folder: Path) -> None:
    report = report_of(given, folder)
    lines = [item.id for item, _ in Run.open(folder).results()]
    ours = {"markdown": "md", "xml": "junit"}
    contents = {n: written(report, ours.get(n, n)).decode("utf-8") for n in given["formats"] if n != "jsonl"}
    wanted = expect["ok"]
    assert [name for name in given["formats"] if name == "jsonl" or contents[name]] == wanted["written"]
    assert lines == wanted["row_ids"]
    if "csv" in contents:
        read = [row["id"] for row in csv.DictReader(io.StringIO(contents["csv"], newline=""))]
        assert read == [safe_cell(name) for name in wanted["row_ids"]]
    assert not [text for text in wanted.get("html_not_contains", ()) if text in contents["html"]]


CHECKS = {f.__name__: f for f in (render_report, format_rate, export_csv, write_results)}


@pytest.mark.parametrize("case", params(CASES))
def test_field(case: dict[str, Any], tmp_path: Path) -> None:
    CHECKS[case["op"]](case["input"], case["expect"], tmp_path / "run")
