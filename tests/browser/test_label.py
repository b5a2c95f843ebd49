"""The labelling page in a real browser: by keyboard to the end, on a phone, hostile texts, and what axe-core says."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import Queue
from typing import Any

import httpx
import pytest

from jury.label import Desk, Plan, serve
from jury.scales import Labels, Numeric
from jury.store import Label, Run
from tests.audit.runs import pointwise as points
from tests.browser import samples
from tests.browser.conftest import DESKTOP, PHONE, Visit

pytestmark = pytest.mark.browser
Open = Callable[..., "Labelling"]


class Labelling(Visit):
    """An open labelling page and the run behind it."""

    run: Run
    address: str

    def labels(self) -> list[Label]:
        return self.run.labels()

    def press(self, *keys: str) -> None:
        """Keys one after the other; the last one gives a label, and this waits until it is stored."""
        before = self.page.inner_text("#count")
        for key in keys:
            self.page.keyboard.press(key)
        self.page.wait_for_function(
            "text => document.getElementById('count').textContent !== text && !document.body.matches('.busy')",
            arg=before,
        )

    def focus(self) -> str:
        return str(self.page.evaluate("document.activeElement.id"))

    def sideways(self) -> bool:
        """Whether the page is wider than the window."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth > innerWidth"))


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, aside: Callable[..., Any]) -> Callable[[str], Path]:
    """The folder of a run of `samples.py` by its name; each is made once."""
    home: Path = tmp_path_factory.mktemp("label")

    def folder(name: str) -> Path:
        if not (home / name).exists():
            aside(getattr(samples, name), home / name)
        return home / name

    return folder


@pytest.fixture
def label(visit: Callable[..., Visit], made: Callable[[str], Path], tmp_path: Path) -> Iterator[Open]:
    """`label(name, size, dark=..., **plan)`: a run of its own with the page open."""
    addresses: list[str] = []

    def go(
        name: str, size: tuple[int, int] = DESKTOP, *, dark: bool = False, folder: Path | None = None, **plan: Any
    ) -> Labelling:
        if folder is None:
            folder = tmp_path / name
            shutil.copytree(made(name), folder)
        run = Run.open(folder)
        desk = Desk(run, Plan(**{"labeller": "ann", "n": 6, **plan}))
        told: Queue[str] = Queue()
        thread = threading.Thread(target=serve, args=(desk,), kwargs={"browser": False, "told": told.put}, daemon=True)
        thread.start()
        address = told.get(timeout=120)
        addresses.append(address)
        seen = visit(address, size, dark=dark, own=address.partition("?")[0])
        found = Labelling(seen.page, seen.problems)
        found.run, found.address = run, address
        found.page.wait_for_selector("#blocks .block, #results h2")
        return found

    yield go
    for address in addresses:
        home, _, token = address.partition("?token=")
        with suppress(httpx.NetworkError, httpx.RemoteProtocolError):  # a page that is closed, or closing
            assert httpx.post(f"{home}api/close", json={}, headers={"x-jury-token": token}, timeout=120).is_success


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_by_keyboard_to_the_end(label, size):
    found = label("pointwise", size)
    assert "token" not in found.page.url
    for key in ("1", "2", "1", "n", "1"):
        found.press(key)
        assert found.focus() == "item"
        assert len(found.labels()) == int(found.page.inner_text("#count").split()[0])
    assert [label.value for label in found.labels()] == [True, False, True, None, True]
    assert found.page.inner_text("#live").startswith("Saved. Item 6")
    found.press("1")
    found.page.wait_for_selector("#results .headline")
    assert found.focus() == "results"
    assert re.match(r"The panel agrees with you on \d of 5 items", found.page.inner_text(".headline"))
    assert "1 item you called NA" in found.page.inner_text("#results")
    assert not found.sideways()
    found.page.get_by_role("button", name=re.compile("Label .* more")).click()
    found.page.wait_for_selector("#blocks .block")
    assert found.problems == []


def test_undo_and_note(label):
    found = label("pointwise")
    assert found.page.is_disabled("#undo")
    first = found.page.inner_text("#title")
    found.page.keyboard.press("w")
    assert found.focus() == "note"
    found.page.keyboard.type("12 days, not 14; u1n are letters here")
    assert found.labels() == []
    found.page.keyboard.press("Escape")
    found.press("2")
    assert found.labels()[0].note == "12 days, not 14; u1n are letters here"
    assert found.page.input_value("#note") == ""
    found.press("u")
    assert found.page.inner_text("#title") == first
    assert found.labels() == []
    assert found.page.input_value("#note") == "12 days, not 14; u1n are letters here"
    assert found.page.get_attribute(".choice >> nth=1", "aria-pressed") == "true"
    assert found.page.inner_text("#live").startswith("Taken back")
    found.press("1")
    assert [(one.value, one.note[:7]) for one in found.labels()] == [(True, "12 days")]


def test_by_mouse_and_the_keys_can_be_switched_off(label):
    found = label("pointwise")
    found.page.uncheck("#keys")
    found.page.locator("#item").focus()
    found.page.keyboard.press("1")
    found.page.locator(".choice", has_text="Fail").click()
    found.page.wait_for_function("() => document.getElementById('count').textContent.startsWith('1 ')")
    assert [one.value for one in found.labels()] == [False]
    assert not found.page.locator("kbd").first.is_visible()


def test_a_window_opened_later_goes_on(label, made, tmp_path):
    found = label("pointwise")
    found.press("1")
    title = found.page.inner_text("#title")
    found.page.reload()
    found.page.wait_for_selector("#blocks .block")
    assert found.page.inner_text("#title") == title
    assert found.page.inner_text("#count") == "1 of 6"
    again = label("pointwise", folder=tmp_path / "pointwise")
    assert again.page.inner_text("#title") == title


def test_two_windows_do_not_label_an_item_twice(label, tmp_path):
    one = label("pointwise")
    two = label("pointwise", folder=tmp_path / "pointwise")
    assert one.page.inner_text("#title") == two.page.inner_text("#title")
    one.press("1")
    two.press("2")
    assert "from another window" in two.page.inner_text("#trouble")
    assert [label.value for label in one.labels()] == [True]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_pairs(label, size):
    found = label("pairwise", size, n=12)
    texts: list[str] = []
    for _ in range(12):
        texts.append(found.page.locator(".judged .text").first.inner_text())
        found.press("1")
    items = {item.id: item for item in found.run.items()}
    for text, one in zip(texts, found.labels(), strict=True):
        item = items[one.item]
        assert text == (item.response_a if one.value == "A" else item.response_b)
        assert one.shown == ("ab" if one.value == "A" else "ba")
    assert {one.value for one in found.labels()} == {"A", "B"}
    assert found.problems == []


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_each_criterion_of_a_rubric(label, size):
    found = label("rubric", size, n=2)
    found.page.keyboard.press("Enter")
    assert "No answer yet: correctness" in found.page.inner_text("#trouble")
    assert found.labels() == []
    found.page.locator("#item").focus()
    found.press("2", "Backspace", "4", "1", "3", "n", "Enter")
    (one,) = found.labels()
    assert one.value is True  # the rule asks nothing of the source
    assert dict(one.values) == {"correctness": 4.0, "tone": True, "next_step": 3.0, "source": "NA"}
    found.page.get_by_role("radio", name="5").first.check(force=True)
    found.page.get_by_role("radio", name="Yes").first.check(force=True)
    assert found.page.get_attribute("#save", "aria-disabled") == "true"
    found.press("4", "1", "Enter")
    assert found.labels()[1].values["next_step"] == 4.0
    found.page.wait_for_selector("#results h2")
    assert "Agreement by criterion" in found.page.inner_text("#results")
    assert not found.sideways()
    assert found.problems == []


def test_a_session_shows_its_turns(label):
    found = label("session", n=1)
    assert "Waive a fee only up to 5 EUR" in found.page.inner_text("#criteria")
    roles = found.page.locator(".block h3").all_inner_texts()
    assert [text.lower() for text in roles[:3]] == ["user", "assistant", "calls waive_fee"]
    found.press("2", "1", "Enter")
    assert dict(found.labels()[0].values) == {"policy": "FAIL", "task_completion": "PASS"}


def test_numbers_and_named_levels(label, tmp_path):
    scale = Numeric(1, 5, None, levels=["poor", "weak", "fair", "good", "excellent"])
    points(tmp_path / "run", [{"x": 3.0}] * 3, scale=scale, items=[{"input": "q", "output": "a"}] * 3)
    found = label("run", PHONE, folder=tmp_path / "run", n=3)
    found.page.keyboard.press("9")
    found.page.keyboard.press("Enter")
    found.page.wait_for_selector("#trouble:not([hidden])")
    assert "outside 1 to 5" in found.page.inner_text("#trouble")
    found.page.keyboard.press("Backspace")
    found.press("3", ".", "5", "Enter")
    found.page.get_by_role("button", name="excellent").click()
    found.page.wait_for_function("() => document.getElementById('count').textContent.startsWith('2 ')")
    assert [one.value for one in found.labels()] == [3.5, 5.0]
    assert not found.sideways()
    assert found.axe() == []
    found.press("n")
    assert found.labels()[2].status == "na"


def test_many_labels_have_keys_too(label, tmp_path):
    scale = Labels([f"kind {i}" for i in range(12)], na="kind 11")
    points(tmp_path / "run", [{"x": "kind 1"}] * 3, scale=scale, items=[{"input": "q", "output": "a"}] * 3)
    found = label("run", PHONE, folder=tmp_path / "run", n=3)
    found.press("9")
    found.press("b")
    found.press("n")
    assert [one.value for one in found.labels()] == ["kind 8", "kind 10", "kind 11"]
    assert not found.sideways()


def test_long_criteria_can_be_scrolled_by_keyboard(label, tmp_path):
    points(tmp_path / "run", [{"x": True}] * 2, criteria="Right, polite and short. " * 200)
    found = label("run", folder=tmp_path / "run", n=1)
    assert found.page.locator("#criteria > .text").evaluate("place => place.scrollHeight > place.clientHeight")
    assert found.axe() == []


def test_the_panel_is_not_in_any_response(label):
    found = label("pointwise", n=3)
    answers: list[Any] = []
    found.page.on("response", lambda answer: answers.append(answer) if "/api/" in answer.url else None)
    found.page.reload()
    found.page.wait_for_selector("#blocks .block")
    found.press("1")
    bodies = [answer.text() for answer in answers]
    assert len(bodies) == 3
    for word in ("It is right and names the next step", "votes", "agreement", "lenient"):
        assert not any(word in body for body in bodies), word


def test_disagreement_says_that_no_rate_follows(label):
    found = label("pointwise", sampling="disagreement", n=1)
    assert "no rate follows" in found.page.inner_text("#sampling")
    found.press("1")
    found.page.wait_for_selector("#results .headline")
    assert "No rate of the run follows" in found.page.inner_text("#results")


def test_hostile_texts_are_texts(label):
    found = label("hostile", n=14)
    seen = ""
    for _ in range(14):
        seen += found.page.inner_text("#item")
        assert not found.sideways()
        found.press("1")
    found.page.wait_for_selector("#results .headline")
    found.page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    for text in ("</script><script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>", "{{constructor}}"):
        assert text in seen
    for mark in ("U+202E", "U+0000", "U+001B", "U+D835", "U+DC81"):
        assert mark in seen
    assert found.page.evaluate("window.hacked") is None
    assert found.page.locator("#item img, #results img, #item script").count() == 0
    assert len(found.labels()) == 14
    assert found.problems == []


def test_a_megabyte_is_cut_and_shown_on_request(label):
    found = label("hostile", n=14)
    while "huge" not in found.page.inner_text("#title"):
        found.press("1")
    assert len(found.page.locator(".judged .text").inner_text()) < 10_000
    found.page.get_by_role(
        "button",
        name=re.compile("Show all 999,"),
    ).click()
    found.page.wait_for_function("() => document.querySelector('.judged .text').textContent.length > 990000")
    item = next(item for item in found.run.items() if item.id == "huge")
    pieces = found.page.locator(".judged .text > div").all_text_contents()
    assert "".join(pieces) == item.output
    assert max(map(len, pieces)) <= 8001
    assert found.page.locator("#item b:not(bdi)").count() == 0
    found.press("2")


def test_ten_thousand_items(label, tmp_path):
    items = [{"input": f"question {i}", "output": f"answer {i}"} for i in range(10_000)]
    points(tmp_path / "run", [{"x": i % 3 > 0} for i in range(10_000)], items=items)
    found = label("run", folder=tmp_path / "run", n=None)
    assert found.page.inner_text("#count") == "0 of 141"
    for key in "121":
        found.press(key)
    found.page.get_by_role("button", name="Results").click()
    found.page.wait_for_selector("#results .headline")
    assert found.page.inner_text("#results h2") == "So far"
    assert "of 3 items" in found.page.inner_text(".headline")
    assert "138 more labels" in found.page.inner_text("#results")
    found.page.locator("#results").get_by_role("button", name="Go on labelling").click()
    found.page.wait_for_selector("#blocks .block")
    found.press("1")
    assert len(found.labels()) == 4
    assert found.problems == []


def test_a_server_that_is_gone_is_told_and_the_answer_is_kept(label):
    found = label("pointwise")
    found.page.keyboard.press("w")
    found.page.keyboard.type("my note")
    found.page.keyboard.press("Escape")
    found.page.context.set_offline(True)
    found.page.keyboard.press("1")
    found.page.wait_for_selector("#trouble:not([hidden])")
    assert "Nothing was stored of this one" in found.page.inner_text("#trouble")
    assert found.page.input_value("#note") == "my note"
    found.page.get_by_role("button", name="Results").click()
    assert found.page.locator("#desk").is_visible()
    found.page.context.set_offline(False)
    found.press("1")
    assert [(one.value, one.note) for one in found.labels()] == [(True, "my note")]


def test_what_is_typed_outlives_a_look_at_the_results_and_an_undo(label):
    found = label("rubric")
    found.press("4", "1", "3", "n", "Enter")
    found.page.keyboard.press("2")
    found.page.keyboard.press("w")
    found.page.keyboard.type("half done")
    found.page.get_by_role("button", name="Results").click()
    found.page.wait_for_selector("#results .headline")
    found.page.get_by_role("button", name="Go on", exact=True).click()
    found.page.wait_for_selector("#blocks .block")
    assert found.page.input_value("#note") == "half done"
    assert found.page.locator("#questions input:checked").count() == 1
    leaves = "!dispatchEvent(new Event('beforeunload', { cancelable: true }))"
    assert found.page.evaluate(leaves), "the browser asks before it leaves"
    found.press("u")
    assert found.page.input_value("#note") == ""
    found.press("Enter")
    assert found.page.input_value("#note") == "half done"
    found.press("1", "3", "n", "Enter")
    assert [one.note for one in found.labels()] == ["", "half done"]
    assert not found.page.evaluate(leaves)


def test_closing_from_the_page(label):
    found = label("pointwise", n=1)
    found.press("1")
    found.page.get_by_role("button", name="Finish and close").click()
    found.page.wait_for_selector("text=You can leave this tab")
    label_file = found.page.inner_text("#results")
    assert "labels.jsonl" in label_file


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", ["pointwise", "pairwise", "rubric", "session", "hostile"])
def test_axe_finds_nothing_serious(label, name, size, dark):
    found = label(name, size, dark=dark, n=1, show_verdict=name == "pointwise")
    assert not found.sideways()
    assert found.axe() == []
    answers = {"rubric": ("4", "1", "3", "n", "Enter"), "session": ("1", "2", "Enter")}
    found.press(*answers.get(name, ("1",)))
    found.page.wait_for_selector("#results .headline")
    found.page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    assert found.axe() == []
    assert not found.sideways()
