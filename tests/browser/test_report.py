"""The report in a real browser: clicks, keys, links, hostile texts, ten thousand items, and what axe-core says."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.browser.conftest import DESKTOP, PHONE, Visit
from tests.browser.samples import HOSTILE

pytestmark = pytest.mark.browser
KINDS = ("pointwise", "labelled", "pairwise", "rubric", "session", "compared", "hostile")
Open = Callable[..., Visit]


@pytest.fixture
def report(visit: Open, written: Callable[[str], str]) -> Open:
    """`report(name, size, dark=..., to="#item=...")`: the report of a run, its list ready."""

    def go(name: str, size: tuple[int, int] = DESKTOP, *, to: str = "", **more: object) -> Visit:
        found = visit(written(name) + to, size, **more)
        if more.get("java_script_enabled", True):
            found.page.wait_for_selector("html[data-ready]")
        return found

    return go


def count(found: Visit) -> str:
    return found.page.inner_text("#count")


def counts(found: Visit, text: str) -> None:
    """Waits until the count says so."""
    from playwright.sync_api import expect

    expect(found.page.locator("#count")).to_have_text(text)


def names(found: Visit) -> list[str]:
    """The ids of the rows that exist, from the top."""
    rows = found.page.locator("[role=option]").evaluate_all(
        "rows => rows.sort((a, b) => a.ariaPosInSet - b.ariaPosInSet)"
        ".map(r => r.querySelector('.name bdi').textContent)"
    )
    return list(rows)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", KINDS)
def test_opens_without_a_request_an_error_or_a_breach_of_its_policy(report, name, size):
    found = report(name, size)
    found.page.locator("[role=option]").first.click()
    found.page.locator("#sheet .vote").first.wait_for()
    found.page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    found.page.wait_for_timeout(100)
    assert found.problems == []
    assert found.page.evaluate("document.documentElement.scrollWidth") <= size[0], "the page scrolls sideways"


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["labelled", "pairwise", "rubric", "session", "compared"])
def test_axe_has_nothing_serious_to_say(report, name, dark, size):
    found = report(name, size, dark=dark)
    assert found.axe() == []
    found.page.locator("[role=option]").first.click()
    found.page.locator("#sheet .vote").first.wait_for()
    found.page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    found.page.wait_for_timeout(150)
    assert found.axe() == []


def test_filters_narrow_the_list_and_say_how_many_are_left(report):
    found = report("pointwise")
    counts(found, "60 of 60 items")
    failed = found.page.locator(".chip[data-flag=failed]")
    many = failed.locator(".n").inner_text()
    failed.click()
    counts(found, f"{many} of 60 items")
    assert failed.get_attribute("aria-pressed") == "true"
    words = found.page.locator("[role=option] .badge").all_inner_texts()
    assert words
    assert all("fail" in word for word in words)
    found.page.locator(".chip[data-flag=unstable]").click()
    assert int(count(found).split()[0]) < int(many)
    found.page.click("#clear")
    counts(found, "60 of 60 items")
    assert failed.get_attribute("aria-pressed") == "false"
    found.page.select_option("#outcome", label="not judged")
    counts(found, "2 of 60 items")


def test_search_reads_all_texts_of_an_item_its_reasons_too(report):
    found = report("pointwise")
    found.page.fill("#search", "FEE that the policy does not know")
    counts(found, "6 of 60 items")
    found.page.fill("#search", "no such words anywhere")
    counts(found, "0 of 60 items")
    assert found.page.is_visible("#empty")
    assert found.page.locator("[role=option]").count() == 0
    found.page.fill("#search", "case-017")
    counts(found, "1 of 60 items")
    assert names(found) == ["case-017"]


def test_tags(report):
    found = report("pointwise")
    found.page.select_option("#tag", label="returns")
    counts(found, "10 of 60 items")
    assert set(found.page.locator("[role=option] .tags").all_inner_texts()) == {"returns"}


def test_order(report):
    found = report("pointwise")
    assert found.page.locator("[role=option] .badge").first.inner_text().endswith("fail")
    found.page.select_option("#order", "data")
    assert names(found)[:2] == ["case-001", "case-002"]


def test_an_item_shows_votes_quotes_prompts_and_replies(report):
    found = report("pointwise")
    found.page.locator(".chip[data-flag=failed]").click()
    found.page.locator("[role=option]").first.click()
    sheet = found.page.locator("#sheet")
    sheet.locator(".vote").first.wait_for()
    assert found.page.evaluate("location.hash").startswith("#item=case-")
    assert sheet.locator(".vote").count() == 3
    assert sheet.locator("mark").first.inner_text() == "Our policy has no exceptions."
    sheet.locator("button.quote").first.click()
    assert sheet.locator("mark.now").count() == 1
    sheet.locator("summary", has_text="Exact prompts").click()
    raw = sheet.locator(".inner-raw")
    raw.wait_for()
    assert "The answer is right by the shop's policy" in raw.inner_text()
    assert '"evidence": ["Our policy has no exceptions."]' in raw.inner_text()


def test_what_a_judge_invented_is_flagged(report):
    found = report("pointwise")
    found.page.locator(".chip[data-flag=evidence_missing]").click()
    found.page.locator("[role=option]").first.click()
    line = found.page.locator("#sheet .quotes li", has_text="section 12 plainly").first
    assert "not found" in line.inner_text()


def test_keys(report):
    from playwright.sync_api import expect

    found = report("pointwise")
    page = found.page
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.id") == "list"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = page.locator("[role=option][aria-selected=true]")
    assert chosen.get_attribute("aria-posinset") == "3"
    assert chosen.get_attribute("aria-setsize") == "60"
    assert page.locator("#list").get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    page.keyboard.press("Enter")
    page.locator("#sheet .vote").first.wait_for()
    expect(page.locator("#sheet-title")).to_be_focused()
    assert page.inner_text("#sheet-title") == chosen.locator(".name bdi").first.inner_text()
    page.keyboard.press("Escape")
    expect(page.locator("#sheet")).to_be_hidden()
    expect(page.locator("#list")).to_be_focused()
    assert "#item" not in page.url
    page.keyboard.press("End")
    assert chosen.get_attribute("aria-posinset") == "60"
    expect(chosen).to_be_in_viewport()
    page.keyboard.press("Home")
    assert chosen.get_attribute("aria-posinset") == "1"


def test_beside_an_open_item_the_arrows_turn_the_pages(report):
    from playwright.sync_api import expect

    found = report("pointwise")
    found.page.locator("[role=option]").first.click()
    found.page.locator("#sheet .vote").first.wait_for()
    second = names(found)[1]
    found.page.locator("#list").focus()
    found.page.keyboard.press("ArrowDown")
    expect(found.page.locator("#sheet-title")).to_have_text(second)
    assert found.page.evaluate("location.hash") == f"#item={second}"
    found.page.click("[aria-label='Previous item']")
    expect(found.page.locator("#sheet-title")).to_have_text(names(found)[0])


def test_a_link_opens_its_item(report):
    found = report("pointwise", to="#item=case-042")
    assert found.page.inner_text("#sheet-title") == "case-042"
    found.page.evaluate("location.hash = '#item=case-007'")
    found.page.locator("#sheet-title", has_text="case-007").wait_for()
    gone = report("pointwise", to="#item=nobody")
    assert count(gone) == "No item is called nobody"


def test_findings_lead_to_their_items(report):
    found = report("pointwise")
    found.page.locator(".finding a", has_text="Show all").first.click()
    many = found.page.locator(".finding .many").first.inner_text().split()[0]
    counts(found, f"{many} of 60 items")
    assert found.page.is_visible("#finding")
    link = found.page.locator(".finding .examples a").first
    link.click()
    found.page.locator("#sheet-title", has_text=link.inner_text()).wait_for()


def test_answers_of_a_pair_stand_side_by_side(report):
    found = report("pairwise")
    found.page.locator("[role=option]").first.click()
    sides = found.page.locator("#sheet .sides .block")
    left, right = sides.nth(0).bounding_box(), sides.nth(1).bounding_box()
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    phone = report("pairwise", PHONE)
    phone.page.locator("[role=option]").first.click()
    sides = phone.page.locator("#sheet .sides .block")
    assert sides.nth(0).bounding_box()["y"] < sides.nth(1).bounding_box()["y"]


def test_a_session_opens_with_its_transcript(report):
    found = report("session")
    found.page.locator("[role=option]").first.click()
    turns = found.page.locator("#sheet .turn .role")
    turns.first.wait_for()
    roles = turns.all_inner_texts()
    assert roles == [
        "user event 1",
        "assistant event 2",
        "calls waive_fee event 3",
        "tool event 4",
        "assistant event 5",
    ]
    found.page.locator("#sheet button.link", has_text="event 2").first.click()
    assert found.page.locator("#sheet .talk .now .role").first.inner_text() == "assistant event 2"


@pytest.mark.parametrize("name", ["labelled", "pairwise", "rubric", "session", "compared"])
def test_the_words_of_plots_can_be_read_on_a_phone(report, name):
    found = report(name, PHONE)
    sizes = found.page.locator("figure svg").evaluate_all(
        "all => all.map(p => 12 * p.getBoundingClientRect().width / p.viewBox.baseVal.width)"
    )
    assert min(sizes) >= 11.5, "pixels of a letter"


def test_two_runs(report):
    found = report("compared")
    fixed = found.page.locator(".chip[data-flag=fixed]")
    many = fixed.locator(".n").inner_text()
    fixed.click()
    counts(found, f"{many} of 60 items")
    found.page.locator("[role=option]").first.click()
    assert "was fail in the other run" in found.page.locator("#sheet .facts").first.inner_text()


def test_on_a_phone_an_item_covers_the_page_and_keeps_the_keys(report):
    found = report("pointwise", PHONE)
    page = found.page
    page.locator("[role=option]").first.click()
    page.locator("#sheet .vote").first.wait_for()
    sheet = page.locator("#sheet")
    box = sheet.bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, *PHONE)
    assert sheet.get_attribute("role") == "dialog"
    for _ in range(12):
        page.keyboard.press("Tab")
        assert page.evaluate("document.getElementById('sheet').contains(document.activeElement)")
    page.locator("#sheet button", has_text="Close").click()
    assert not sheet.is_visible()


@pytest.mark.parametrize("at", range(len(HOSTILE)))
def test_hostile_text_is_shown_and_does_nothing(report, at):
    text = HOSTILE[at].encode("utf-8", "replace").decode() if "\ud835" not in HOSTILE[at] else "half � pair and � byte"
    found = report("hostile", to=f"#item={quote(f'{text} {at}', safe='')}")
    found.page.locator("#sheet .vote").first.wait_for()
    shown = found.page.locator("#sheet .prose").first.evaluate(
        "box => { const b = box.cloneNode(true); for (const c of b.querySelectorAll('.ctl'))"
        " c.textContent = String.fromCharCode(parseInt(c.textContent.slice(2), 16)); return b.textContent; }"
    )
    assert shown == text
    assert found.page.evaluate("window.hacked") is None
    assert found.page.locator("#sheet img, #sheet script, #sheet b, #sheet i, [onmouseover], [onerror]").count() == 0
    assert found.problems == []


def test_nothing_hostile_is_left_in_the_standing_parts(report):
    found = report("hostile")
    assert found.page.evaluate("window.hacked") is None
    assert found.page.locator("main img, main script, main b, main i, [onmouseover], [onerror]").count() == 0
    assert found.page.evaluate("document.querySelectorAll('a[href^=\"javascript\" i]').length") == 0
    assert found.page.locator("body").evaluate("b => getComputedStyle(b).display") == "block"


def test_a_megabyte_is_folded_and_can_be_seen_whole(report):
    found = report("hostile", to="#item=huge")
    box = found.page.locator("#sheet .prose").nth(1)
    box.wait_for()
    assert len(box.inner_text()) < 4000
    found.page.locator("#sheet button", has_text="Show all (").first.click()
    assert box.evaluate("b => b.textContent.length") > 999_000
    assert box.bounding_box()["height"] < 900
    assert found.problems == []


def test_ten_thousand_items_open_and_scroll(report):
    found = report("big")
    counts(found, "10,000 of 10,000 items")
    rows = found.page.locator("[role=option]")
    assert rows.count() < 60, "only what can be seen is on the page"
    found.page.select_option("#order", "data")
    box = found.page.locator("#list")
    box.evaluate("b => { b.scrollTop = b.scrollHeight / 2 }")
    found.page.locator("[role=option]", has_text="item-05000").first.wait_for()
    assert rows.count() < 60
    box.focus()
    found.page.keyboard.press("End")
    found.page.keyboard.press("Enter")
    found.page.locator("#sheet-title", has_text="item-09999").wait_for()
    found.page.fill("#search", "about order 7777,")
    counts(found, "1 of 10,000 items")
    assert found.problems == []


def test_the_list_can_be_kept_as_csv(report, tmp_path):
    found = report("hostile")
    with found.page.expect_download() as download:
        found.page.click("#csv")
    download.value.save_as(tmp_path / "items.csv")
    with (tmp_path / "items.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0][:3] == ["id", "verdict", "agreement"]
    assert len(rows) == 15
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row)


def test_without_scripts_everything_but_the_list_is_there(report):
    found = report("pointwise", java_script_enabled=False)
    text = found.page.inner_text("body")
    assert "Pass rate" in text
    assert "Who agrees with whom" in text
    assert "need JavaScript" in text
    assert "case-004" in text
    assert not any(found.page.is_visible(part) for part in ("#live", "#wait"))
    assert found.problems == []


def test_on_paper_the_filtered_items_stand_as_a_list(report):
    found = report("pointwise")
    found.page.locator(".chip[data-flag=failed]").click()
    found.page.emulate_media(media="print")
    assert not found.page.is_visible("#list")
    assert found.page.is_visible("#print-items")
    many = found.page.locator(".chip[data-flag=failed] .n").text_content()
    assert found.page.locator("#print-items .printed").count() == int(many)
    assert found.page.is_visible("h2:has-text('Panel')")
    found.page.set_viewport_size({"width": 718, "height": 1000})  # a page of A4 between its margins
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 718


def test_the_benchmark_of_the_report_runs():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.report", "--items", "90", "--judges", "2", "--runs", "1", "--json"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"usable", "search", "again", "late", "mb", "write_s"} <= set(found)
    assert found["usable"] > 0


def test_the_slash_brings_the_search_and_its_results_into_sight(report):
    found = report("pointwise", DESKTOP)
    found.page.keyboard.press("/")
    found.page.keyboard.type("case-017")
    counts(found, "1 of 60 items")
    assert found.page.evaluate("document.activeElement.id") == "search"
    place = found.page.locator("[role=option]").first.bounding_box()
    assert place["y"] + place["height"] <= DESKTOP[1]


SIDEWAYS = "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth)"


@pytest.mark.parametrize("name", ["eight", "pairwise", "rubric", "session"])
def test_no_table_scrolls_sideways_on_a_phone(report, name):
    found = report(name, PHONE)
    assert found.page.evaluate(f"{SIDEWAYS}.map((one) => one.ariaLabel)") == []
    row = "document.querySelector('#panel .stack tbody tr')"
    shown = f"[...{row}.cells].map((cell) => getComputedStyle(cell, '::before').content)"
    assert '"Votes"' in found.page.evaluate(shown)
    tops = f"[...{row}.cells].map((cell) => cell.getBoundingClientRect().top)"
    assert (places := found.page.evaluate(tops)) == sorted(set(places)), "a line for each cell"


def test_eight_judges_fit_on_a_desktop(report):
    found = report("eight", DESKTOP)
    assert found.page.evaluate(f"{SIDEWAYS}.map((one) => one.ariaLabel)") == []


def test_a_wide_table_shows_at_its_edge_that_it_goes_on(report):
    found = report("pointwise", PHONE)
    found.page.evaluate("document.querySelector('.scroll table').style.width = '900px'")
    assert found.page.evaluate(f"{SIDEWAYS}.length") == 1
    assert found.page.evaluate(f"{SIDEWAYS}.every((one) => getComputedStyle(one).backgroundImage.includes('gradient'))")
