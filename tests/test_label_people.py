"""What a cascade leaves to people is what `jury label --sampling people` asks about."""

from __future__ import annotations

import pytest

from jury import JudgeSpec
from jury.errors import ConfigError
from jury.label import Desk, Plan, findings
from jury.label.words import sayings
from jury.runner import RunSpec, run_sync
from jury.store import Run


def split(folder, hard, **jury):
    """A run of 40 items; on those of `hard` two of four judges are against the others."""

    def other(output):
        return output not in hard

    judges = [JudgeSpec(function=other if name in "bd" else lambda output: True, id=name) for name in "abcd"]
    rows = [{"id": f"i{n}", "input": "q", "output": f"{n}"} for n in range(40)]
    spec = {"criteria": "c", "judges": judges, **jury}
    return run_sync(RunSpec(rows, spec), folder)


def test_they_are_asked_about_and_no_other_item(tmp_path):
    report = split(tmp_path, {"3", "17", "21"}, escalate=[["a", "b"], "rest", "people"])
    run = Run.open(tmp_path)
    left = {item.id for item, result in run.results() if result.for_people}
    assert left == {"i3", "i17", "i21"}
    assert report.totals["for_people"] == len(left)
    assert f"{len(left)} of them for people (jury label --sampling people)" in report.stopping[1]
    desk = Desk(run, Plan("ann", "people"))
    assert desk.target == len(left)
    asked = set()
    while (item := desk.next()["item"]) is not None:
        asked.add(item["id"])
        desk.save(item["place"], {"": {"choice": 0}})
    assert asked == left
    assert {label.sampling for label in run.labels()} == {"people"}
    found = findings(desk)
    assert not found.rates
    assert any("no judge settled them" in text for text in sayings(found))


def test_a_run_that_leaves_nothing_to_people_says_so(tmp_path):
    split(tmp_path, {"3"})
    with pytest.raises(ConfigError, match="no item for people"):
        Desk(Run.open(tmp_path), Plan("ann", "people"))
