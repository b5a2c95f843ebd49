"""The command line, called in this process: its exit code, what it printed, and what it told."""

from __future__ import annotations

import pytest

from jury.cli.__main__ import main


def jury(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    out, err = capsys.readouterr()
    return int(left.value.code or 0), out, err
