"""Makes the pictures of the labelling page: sample runs, and a headless Chromium in which they are labelled.

    python docs/pictures/label.py [FOLDER]

Needs the extras `label` and `browser`. Without FOLDER the pictures beside this file are made anew.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent))

from jury.label import Desk, Plan, serve  # noqa: E402
from jury.store import Run  # noqa: E402
from tests.browser import samples  # noqa: E402
from tests.browser.conftest import ARGUMENTS, CHROMIUM  # noqa: E402

Picture = Callable[[Any, Path], bytes]
RUNS = ("pointwise", "rubric")


@contextmanager
def labelling(browser: Any, folder: Path, size: tuple[int, int], **plan: Any) -> Iterator[Any]:
    """The labelling page of a run, open."""
    told: Queue[str] = Queue()
    desk = Desk(Run.open(folder), Plan("ann", **plan))
    serving = {"target": serve, "args": (desk,), "kwargs": {"browser": False, "told": told.put}, "daemon": True}
    threading.Thread(**serving).start()
    page = browser.new_page(
        viewport={"width": size[0], "height": size[1]}, color_scheme="light", reduced_motion="reduce"
    )
    page.goto(told.get(timeout=30))
    page.wait_for_selector("#blocks .block")
    yield page
    page.close()


def given(page: Any, *keys: str) -> None:
    """Keys, of which the last one gives a label."""
    before = page.inner_text("#count")
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_function("text => document.getElementById('count').textContent !== text", arg=before)
    page.wait_for_function("() => !document.body.matches('.busy')")


def label(browser: Any, home: Path) -> bytes:
    with labelling(browser, home / "pointwise", (1000, 620), n=50) as page:
        for key in "111211121112":
            given(page, key)
        return page.screenshot()


def label_rubric(browser: Any, home: Path) -> bytes:
    with labelling(browser, home / "rubric", (1280, 700)) as page:
        given(page, "5", "1", "4", "n", "Enter")
        for key in ("4", "1"):
            page.keyboard.press(key)
        return page.screenshot()


def label_results(browser: Any, home: Path) -> bytes:
    with labelling(browser, home / "pointwise", (1000, 560), n=50) as page:
        answers = {item.id: item.output for item in Run.open(home / "pointwise").items()}
        while page.locator("#results").is_hidden():
            wrong = "no exceptions" in answers[page.inner_text("#title .id")]
            given(page, "2" if wrong else "1")
        page.wait_for_selector("#results .headline")
        return page.screenshot()


PICTURES: dict[str, Picture] = {"label": label, "label-rubric": label_rubric, "label-results": label_results}


def main(folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        for name in RUNS:  # before the browser, whose event loop would be in the way
            getattr(samples, name)(home / name)
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
            for name, draw in PICTURES.items():
                (folder / f"{name}.png").write_bytes(draw(browser, home))
            browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
