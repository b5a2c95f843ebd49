"""calibration.json and gate.json as they should not be: what is wrong, and that the file may be deleted."""

from __future__ import annotations

import json

import pytest

from jury.audit import audited, calibrate, keep
from jury.audit.keeping import load_calibration, load_gate
from jury.cli.__main__ import main
from jury.errors import DataError
from tests.audit.runs import pointwise


@pytest.fixture
def run(tmp_path):
    return pointwise(tmp_path / "run", [{"x": i % 3 > 0} for i in range(60)], labels={i: i % 2 > 0 for i in range(60)})


GARBLED = [
    b"",
    b"{",
    b"\xff\xfe",
    b"[]",
    b'"x"',
    b"{}",
    b'{"format": 2}',
    b'{"format": 1, "holds_for": [1], "made_on": 3}',
]


@pytest.mark.parametrize("held", GARBLED)
@pytest.mark.parametrize(("name", "command"), [("calibration.json", "jury calibrate"), ("gate.json", "jury gate")])
def test_a_garbled_file_is_named_with_the_way_on(run, capsys, held, name, command):
    (run.folder / name).write_bytes(held)
    with pytest.raises(DataError, match=f"delete the file, and `{command}` makes it anew"):
        load_calibration(run) if name == "calibration.json" else load_gate(audited(run))
    with pytest.raises(SystemExit) as left:
        main(["report", str(run.folder), "--format", "md"])
    err = " ".join(capsys.readouterr().err.split())
    assert left.value.code == 2
    assert name in err
    assert f"delete the file, and `{command}` makes it anew" in err


def test_a_rate_that_is_none_is_told_in_the_same_way(run, capsys):
    keep(run, calibrate(audited(run), sampled="random"))
    path = run.folder / "calibration.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "corrected_rate": {"value": "high"}}))
    with pytest.raises(SystemExit):
        main(["report", str(run.folder), "--format", "md"])
    err = " ".join(capsys.readouterr().err.split())
    assert "no corrected rate in it" in err
    assert "delete the file" in err


def test_without_it_the_report_is_there_again(run, capsys):
    (run.folder / "calibration.json").write_bytes(b"{")
    (run.folder / "calibration.json").unlink()
    with pytest.raises(SystemExit) as left:
        main(["report", str(run.folder), "--format", "md"])
    assert not left.value.code
    assert "no calibration" in capsys.readouterr().out
