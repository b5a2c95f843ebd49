"""The pictures of the pages: each is made by docs/pictures/make.py, and shown with words for who cannot see it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
SHOWN = re.compile(r"!\[([^\]]*)\]\((?:\.\./)*pictures/([\w-]+)\.png\)")


def test_every_picture_is_made_and_shown():
    """Read as text: to load make.py needs the browser's packages."""
    tree = ast.parse((DOCS / "pictures" / "make.py").read_text("utf-8"))
    names = next(n.value for n in ast.walk(tree) if isinstance(n, ast.AnnAssign) and n.target.id == "PICTURES")
    made = {key.value for key in names.keys}
    there = {file.stem for file in (DOCS / "pictures").glob("*.png")}
    shown = [found for page in DOCS.rglob("*.md") for found in SHOWN.findall(page.read_text("utf-8"))]
    assert made == there == {name for _, name in shown}
    assert all(len(words.split()) > 4 for words, _ in shown)


def test_pictures_are_small():
    for file in (DOCS / "pictures").glob("*.png"):
        assert file.stat().st_size < 200_000, file.name
