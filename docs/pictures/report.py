"""Makes the pictures of the report: sample runs, their reports, and a headless Chromium that looks at them.

    python docs/pictures/report.py [FOLDER]

Needs the extras `report` and `browser`. Without FOLDER the pictures beside this file are made anew.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from jury.report.facts import facts  # noqa: E402
from jury.report.page import html  # noqa: E402
from jury.store import Run  # noqa: E402
from tests.browser import samples  # noqa: E402
from tests.browser.conftest import ARGUMENTS, CHROMIUM  # noqa: E402

WIDE, HIGH = 1180, 800
STILL = "document.documentElement.style.scrollBehavior = 'auto'; document.activeElement.blur()"


def reports(home: Path) -> dict[str, str]:
    """The addresses of the reports that are pictured."""
    shop = samples.labelled(home / "shop-answers", 120)
    for words in (["calibrate", str(shop)], ["gate", str(shop), "--pass-rate", ">=0.7"]):
        subprocess.run([sys.executable, "-m", "jury", *words], check=True, capture_output=True)
    now, before = Run.open(shop), Run.open(samples.pointwise(home / "shop-last-week", 120, worse=0.12))
    now.manifest = replace(now.manifest, created="2026-11-30T09:00:00+00:00")
    before.manifest = replace(before.manifest, created="2026-11-23T09:00:00+00:00")
    made = {
        "shop": facts(now, other=before, earlier=[before]),
        "pairs": facts(Run.open(samples.pairwise(home / "three-voices", 60))),
        "rubric": facts(Run.open(samples.rubric(home / "support", 40))),
    }
    addresses: dict[str, str] = {}
    for name, report in made.items():
        file = home / f"{name}.html"
        file.write_text(html(report), "utf-8")
        addresses[name] = file.as_uri()
    return addresses


@contextmanager
def opened(browser: Any, address: str, *, size: tuple[int, int] = (WIDE, HIGH), dark: bool = False) -> Iterator[Any]:
    """A page with its list ready."""
    scheme = "dark" if dark else "light"
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    yield page
    context.close()


def picture(page: Any, part: str, folder: Path) -> None:
    """One part of the page with a little room around it."""
    page.evaluate("document.querySelector('nav').style.position = 'static'")
    box = page.locator(f"#{part}").bounding_box()
    top = box["y"] + page.evaluate("scrollY")
    clip = {"x": 0, "y": top + 18, "width": WIDE, "height": box["height"]}
    page.screenshot(path=folder / f"report-{part}.png", full_page=True, clip=clip)


def main(folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        addresses = reports(Path(home))  # before the browser, whose event loop would be in the way
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
            with opened(browser, addresses["shop"], size=(WIDE, 720)) as page:
                page.screenshot(path=folder / "report-top.png")
                for part in ("findings", "panel", "difference"):
                    picture(page, part, folder)
            with opened(browser, addresses["shop"], size=(WIDE, 1000)) as page:
                page.locator(".chip[data-flag=failed]").click()
                page.locator("[role=option]").nth(1).click()
                page.locator("#sheet .vote").first.wait_for()
                page.evaluate(STILL)
                page.locator("#items").evaluate("place => place.scrollIntoView()")
                page.screenshot(path=folder / "report-item.png")
            with opened(browser, addresses["shop"], size=(390, 760), dark=True) as page:
                page.screenshot(path=folder / "report-phone.png")
            for name in ("pairs", "rubric"):
                with opened(browser, addresses[name]) as page:
                    part = "criteria" if name == "rubric" else name
                    picture(page, part, folder)
            browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
