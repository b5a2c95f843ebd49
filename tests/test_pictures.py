"""The pictures of the pages: each is made by a script beside it, and shown with words for who cannot see it."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
SHOWN = re.compile(r"!\[([^\]]*)\]\((?:\.\./)*pictures/([\w-]+)\.png\)")


def test_every_picture_is_made_and_shown():
    there = {file.stem for file in (DOCS / "pictures").glob("*.png")}
    pages = [page.read_text("utf-8") for page in (DOCS.parent / "README.md", *DOCS.rglob("*.md"))]
    shown = [found for page in pages for found in SHOWN.findall(page)]
    assert there == {name for _, name in shown}
    assert all(len(words.split()) > 4 for words, _ in shown), shown
    for name in there:
        script = DOCS / "pictures" / f"{name.partition('-')[0]}.py"
        assert script.exists(), name


def test_pictures_are_small():
    for file in (DOCS / "pictures").glob("*.png"):
        assert file.stat().st_size < 200_000, file.name
