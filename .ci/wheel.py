"""Run by the Python of an environment that holds the wheel alone: what the wheel must carry."""

from pathlib import Path

import jury
from jury import demo, prompts
from jury.report.page import html
from jury.report.parts import Head, Report

assert "site-packages" in str(Path(jury.__file__)), jury.__file__
assert {"pointwise", "pairwise"} <= set(prompts.names()), prompts.names()
assert len(demo.items()) >= 10
assert len(demo.pairs()) >= 2
result = jury.llm_jury(criteria="Is it Paris?", judges=[lambda output: "Paris" in output]).judge_sync(output="Paris.")
assert result.passed is True
pages = {file.suffix for file in (Path(jury.__file__).parent / "label" / "static").iterdir()}
assert {".html", ".css", ".js"} <= pages, pages
assert "</script>" in html(Report(Head("empty", "pointwise"))), "the report's sheet and scripts"
print("wheel:", ", ".join(prompts.names()))
