"""Every Python block of the README and of docs/ runs, in a folder of its own, without network and without keys."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest
import yaml

from jury import Rubric, config
from jury.runner import RunSpec
from jury.targets import TargetSpec

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
YAML = re.compile(r"^```ya?ml\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"(?:<!-- (?P<mark>[a-z ]+) -->\s*)?^```python\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(m["mark"] or "", m["code"]) for m in BLOCK.finditer(page.read_text("utf-8"))]


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_blocks_of_a_page_run(page, bare_folder, monkeypatch):
    """The blocks of a page run one after the other in one namespace, as a reader would type them.

    `<!-- needs keys -->` before a block means that its jury would call a provider: it runs without keys and
    with the network closed, so its judges fail, and the block must run all the same.
    """

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


def yaml_blocks():
    for page in PAGES:
        for n, text in enumerate(YAML.findall(page.read_text("utf-8")), 1):
            yield pytest.param(text, id=f"{page.relative_to(ROOT)}-{n}")


@pytest.mark.parametrize("text", list(yaml_blocks()))
def test_the_yaml_blocks_load(text, tmp_path, monkeypatch):
    """Each block is read as a reader's file would be: a rubric, a run, settings, or forms of one key, a line each."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "block.yaml"
    file.write_text(text, "utf-8")
    (tmp_path / "rules.md").write_text("Be polite.", "utf-8")  # the context of a block about sessions
    given = yaml.safe_load(text)
    keys = set(given)
    if "data" in keys:
        spec = RunSpec.from_file(file)
        if spec.kind != "session":  # those of sessions read the files they name, at once
            spec.make_jury(lambda name: lambda output: True)
    elif "criteria" in keys:
        assert Rubric.from_file(file).criteria
    elif keys <= {"providers", "prices"}:
        monkeypatch.setenv("JURY_CONFIG", str(file))
        assert config.load().path == file
    else:
        forms = [yaml.safe_load(line) for line in text.splitlines()]
        assert keys in ({"target"}, {"escalate"})
        assert all(form.keys() == keys for form in forms)
        for form in forms if keys == {"target"} else ():
            assert TargetSpec.of(form["target"], lambda name: lambda question: question).settings.retries >= 0
