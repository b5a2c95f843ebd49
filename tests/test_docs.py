"""Every Python block of the README and of docs/ runs, in a folder of its own, without network and without keys."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?:<!-- (?P<mark>[a-z ]+) -->\s*)?^```python\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(m["mark"] or "", m["code"]) for m in BLOCK.finditer(page.read_text("utf-8"))]


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    """The blocks of a page run one after the other in one namespace, as a reader would type them.

    `<!-- needs keys -->` before a block means that its jury would call a provider: it runs without keys and
    with the network closed, so its judges fail, and the block must run all the same.
    """
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "JURY_JUDGES", "JUDGE_MODEL", "JURY_CONFIG"):
        monkeypatch.delenv(name, raising=False)

    def refuse(*args, **kwargs):
        raise OSError("a documented block must not reach the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    names: dict[str, object] = {"__name__": "__main__"}
    for mark, code in blocks(page):
        assert mark in ("", "needs keys"), f"unknown mark {mark!r} in {page.name}"
        exec(compile(code, str(page), "exec"), names)


def test_links_between_pages_exist():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which does not exist"


def test_named_pages_exist():
    """Pages are named in code and prose as docs/...: a name that leads nowhere is a broken promise."""
    for file in [*PAGES, *(ROOT / "jury").rglob("*.py")]:
        for target in re.findall(r"\bdocs/[\w/.-]+\.md", file.read_text("utf-8")):
            assert (ROOT / target).exists(), f"{file.relative_to(ROOT)} names {target}, which does not exist"
