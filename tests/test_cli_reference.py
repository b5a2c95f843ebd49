"""docs/reference/cli.md says what the commands say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

MAKER = Path(__file__).parent.parent / "docs" / "reference" / "make_cli.py"


def test_the_page_is_what_the_commands_say():
    spec = importlib.util.spec_from_file_location("make_cli", MAKER)
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    assert maker.PAGE.read_text("utf-8") == maker.page(), "run: python docs/reference/make_cli.py"
