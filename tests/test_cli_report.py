"""`jury report`: files, standard output, formats by name and by ending, exit codes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from jury.cli.__main__ import main
from jury.report.facts import facts
from jury.report.opening import LooseRun, open_run
from jury.store import Run
from tests import report_runs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_runs.sums(tmp_path_factory.mktemp("runs") / "sums").folder


def called(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    return int(ended.value.code or 0)


def test_formats_for_programs_go_to_stdout(folder: Path, capfd: pytest.CaptureFixture[str]):
    assert called("report", folder, "--format", "json") == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["head"]["outcomes"] == {"pass": 6, "fail": 2, "not_judged": 1}
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("name", "start"), [("a.md", "# sums"), ("a.csv", "id,"), ("a.xml", "<?xml"), ("a.json", "{"), ("A.JSON", "{")]
)
def test_the_ending_of_the_file_says_the_format(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, start: str
):
    path = tmp_path / "new" / name
    assert called("report", folder, "-o", path) == 0
    assert path.read_text("utf-8").startswith(start)
    assert "pass rate 75% [40.9, 92.9], coverage 88.9%, 9 items" in capfd.readouterr().err.replace("\n", " ")
    assert [p.name for p in path.parent.iterdir()] == [name]


def test_a_minus_is_standard_output(folder: Path, capfd: pytest.CaptureFixture[str]):
    assert called("report", folder, "-o", "-", "--format", "csv") == 0
    assert len(list(csv.DictReader(io.StringIO(capfd.readouterr().out, newline="")))) == 9


def test_compare_and_earlier_take_runs(folder: Path, capfd: pytest.CaptureFixture[str]):
    assert called("report", folder, "--format", "json", "--compare", folder, "--earlier", folder) == 0
    made = json.loads(capfd.readouterr().out)
    assert made["difference"]["common"] == 9
    assert len(made["findings"][0]["trend"]) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("--format", "pdf"),
            "--format is html, md, json, csv or junit; of a rubric run also critic or rubric; got 'pdf'",
        ),
        (("--compare", "nowhere"), "nowhere: no such folder"),
        (("-o", "/proc/nowhere/a.md"), "cannot be written"),
    ],
)
def test_what_cannot_be_is_one_line(
    folder: Path, capfd: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
):
    assert called("report", folder, *arguments) == 2
    err = capfd.readouterr().err
    assert says in err
    assert "Traceback" not in err


def test_a_run_without_a_verdict_is_written_and_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    rows = [{"id": "a", "output": "x", "fault": "down"}]
    made = report_runs.run(tmp_path / "run", rows, criteria="?", judges=[report_runs.broken])
    assert called("report", made.folder, "--format", "md") == 3
    assert "| pass rate | n/a" in capfd.readouterr().out


FUNCTIONS = """
def fine(output):
    return output == "yes", "because"

def winner(response_a, response_b):
    return "A" if response_a > response_b else "B"
"""


@pytest.fixture
def loose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judges_of_a_report.py").write_text(FUNCTIONS, "utf-8")
    rows = [{"id": f"a{i}", "asked": f"{i}?", "said": "yes" if i % 3 else "no"} for i in range(6)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    judge = (
        "judge",
        "rows.jsonl",
        "-c",
        "?",
        "--judges",
        "judges_of_a_report.py:fine",
        "--map",
        "input=asked,output=said",
    )
    assert called(*judge, "-o", "out") == 0
    return as_before(tmp_path / "out")


def as_before(folder: Path) -> Path:
    """What earlier versions left behind: bare results with a summary, as `jury demo -o` does."""
    results = [result.to_json() for _, result in Run.open(folder).results()]
    for path in folder.iterdir():
        if path.name != "summary.json":
            path.unlink()
    (folder / "results.jsonl").write_text("".join(f"{line}\n" for line in results), "utf-8")
    return folder


def test_bare_results_are_a_run_with_their_texts(loose: Path):
    run = open_run(loose)
    made = facts(run)
    assert isinstance(run, LooseRun)
    assert (made.head.kind, made.head.outcomes, made.head.finished) == ("pointwise", {"pass": 4, "fail": 2}, True)
    assert dict(made.items[3].texts) == {"input": "3?", "output": "no"}
    assert [f.items for f in made.findings] == [("a0", "a3")]
    assert "results alone" in made.notes[0]


def test_results_without_their_data_are_a_report_without_texts(loose: Path):
    (loose.parent / "rows.jsonl").unlink()
    made = facts(open_run(loose))
    assert made.head.outcomes == {"pass": 4, "fail": 2}
    assert dict(made.items[0].texts) == {}
    assert "rows.jsonl is not there" in made.notes[1]


def test_a_summary_that_was_cut_short_costs_no_result(loose: Path):
    (loose / "summary.json").write_text('{"judges": [', "utf-8")
    made = facts(open_run(loose))
    assert (made.head.outcomes, made.head.finished) == ({"pass": 4, "fail": 2}, False)
    assert [j.id for j in made.panel.judges] == ["fine"]


SCALES = {
    "boolean": ((), 'def fine(output):\n    return output == "yes"\n'),
    "labels": (("--labels", "no,yes,maybe", "--passing", "yes"), "def fine(output):\n    return output\n"),
    "numbers": (
        ("--range", "1,5", "--threshold", "3"),
        'def fine(output):\n    return 4 if output == "yes" else 1.5\n',
    ),
}


@pytest.mark.parametrize("name", SCALES)
def test_the_scale_is_that_of_the_run(loose: Path, name: str):
    options, function = SCALES[name]
    (loose.parent / f"judges_of_{name}.py").write_text(function, "utf-8")
    judge = (
        "judge",
        "rows.jsonl",
        "-c",
        "?",
        "--judges",
        f"judges_of_{name}.py:fine",
        "--map",
        "output=said",
        *options,
    )
    assert called(*judge, "-o", "scaled") == 0
    folder = as_before(loose.parent / "scaled")
    told = facts(open_run(folder))
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    del summary["scale"]  # as earlier versions wrote it
    (folder / "summary.json").write_text(json.dumps(summary), "utf-8")
    guessed = facts(open_run(folder))
    assert told.head.rate == guessed.head.rate
    assert told.head.outcomes == {"pass": 4, "fail": 2}
    assert [i.word for i in told.items] == [i.word for i in guessed.items]
    assert [j.rate for j in told.panel.judges] == [j.rate for j in guessed.panel.judges]


def test_bare_comparisons_are_a_run_of_pairs(loose: Path):
    rows = [{"id": "p1", "question": "q", "response_a": "b", "response_b": "a"}]
    (loose.parent / "pairs.jsonl").write_text(json.dumps(rows[0]), "utf-8")
    assert called("compare", "pairs.jsonl", "-c", "?", "--judges", "judges_of_a_report.py:winner", "-o", "pairs") == 0
    bare = as_before(loose.parent / "pairs")
    made = facts(open_run(bare))
    assert (made.head.kind, made.head.outcomes, made.pairs.counts["A"]) == ("pairwise", {"A": 1}, 1)
    assert made.items[0].texts["response_a"] == "b"


def test_a_run_folder_is_opened_as_one(folder: Path):
    assert type(open_run(folder)) is Run


def test_a_rubric_with_a_folder_is_a_run_that_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.yaml").write_text(
        'name: own\ncriteria:\n- {key: long, question: long, scale: 0/1, gate: "== 1"}\n', "utf-8"
    )
    (tmp_path / "judges_of_a_rubric.py").write_text(
        "def long(output):\n    print('asked')\n    return {'long': (int(len(output) > 3), f'{len(output)} signs')}\n",
        "utf-8",
    )
    (tmp_path / "judges_of_a_report.py").write_text("def fine_too(output):\n    return {'long': 1}\n", "utf-8")
    rows = [{"id": "a", "input": "q", "output": "short"}, {"id": "b", "input": "q", "output": "no"}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    asked = ("rubric", "own.yaml", "rows.jsonl", "-j", "judges_of_a_rubric.py:long", "-o", "kept")
    assert called(*asked) == 0
    out, err = capfd.readouterr()
    assert [json.loads(line)["pass"] for line in out.splitlines()] == [True, False]
    assert err.count("asked") == 2
    assert called(*asked) == 0
    again = capfd.readouterr()
    assert (again.out, again.err.count("asked")) == (out, 0)
    made = facts(open_run(tmp_path / "kept"))
    assert (made.head.kind, made.head.outcomes) == ("rubric", {"pass": 1, "fail": 1})
    assert [(f.criterion, f.items) for f in made.findings] == [("long", ("b",))]
    assert called(*asked, "-j", "judges_of_a_report.py:fine_too") == 0
    assert "changed since the last time: judge fine_too is new" in capfd.readouterr().err
