"""A real browser for the tests of this folder: Debian's Chromium, headless. None is downloaded.

`visit` opens an address at some width, light or dark, and keeps what went wrong on the page: console errors (those of
the content security policy among them), errors of scripts, and requests that lead elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = os.environ.get("JURY_CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
DESKTOP, PHONE = (1280, 900), (390, 844)


@dataclass
class Visit:
    """A page that is open, and what went wrong on it so far."""

    page: Any
    problems: list[str] = field(default_factory=list)

    def axe(self) -> list[str]:
        """What axe-core finds that is serious or critical, a line each."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        return [
            f"{v['id']} ({v['impact']}): {v['nodes'][0]['html'][:160]}"
            for v in found
            if v["impact"] in ("serious", "critical")
        ]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser, one for all tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Visit]]:
    """`visit(address, size=DESKTOP, dark=False, own="file:", ...)`; requests to others than `own` are problems."""
    contexts: list[Any] = []

    def go(
        address: str, size: tuple[int, int] = DESKTOP, *, dark: bool = False, own: str = "file:", **more: Any
    ) -> Visit:
        scheme = "dark" if dark else "light"
        context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, reduced_motion="reduce", **more
        )
        contexts.append(context)
        made = Visit(context.new_page())
        made.page.on("console", lambda m: made.problems.append(m.text) if m.type in ("error", "warning") else None)
        made.page.on("pageerror", lambda e: made.problems.append(str(e)))
        made.page.on(
            "request",
            lambda r: made.problems.append(r.url) if not r.url.startswith((own, "data:", "blob:")) else None,
        )
        made.page.goto(address)
        return made

    yield go
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def aside() -> Iterator[Callable[..., Any]]:
    """Calls a function in a thread of its own: the browser's event loop stands in the way of others in this one."""
    with ThreadPoolExecutor(1) as pool:
        yield lambda call, *given: pool.submit(call, *given).result()


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory, aside: Callable[..., Any]) -> Callable[[str], str]:
    """The address of the report of a run of `samples.py` by its name; each is made once."""
    from jury.report.facts import facts
    from jury.report.page import html
    from jury.store import Run
    from tests.browser import samples

    home: Path = tmp_path_factory.mktemp("reports")
    made: dict[str, str] = {}

    def make(name: str) -> str:
        if name == "big":
            return html(samples.big())
        if name == "compared":
            before = Run.open(samples.pointwise(home / "before", worse=0.12))
            return html(facts(Run.open(samples.pointwise(home / "now")), other=before))
        return html(facts(Run.open(getattr(samples, name)(home / name))))

    def address(name: str) -> str:
        if name not in made:
            file = home / f"{name}.html"
            file.write_text(aside(make, name), "utf-8")
            made[name] = file.as_uri()
        return made[name]

    return address
