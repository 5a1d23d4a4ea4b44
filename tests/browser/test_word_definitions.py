"""A word of the book opens its definition by key and by finger, beside itself or at the foot of a phone's window, and
is plain text on paper.
"""

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import violations
from tests.browser.conftest import visit

PAGE = "10-ppo/"
WIDTHS = {"wide": 1280, "phone": 390}


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_a_word_opens_by_key_leads_on_by_tab_and_closes_by_escape(live_page, book, width):
    page = live_page
    visit(page, book, PAGE)
    page.set_viewport_size({"width": width, "height": 844})
    word, meaning = page.locator(".word").nth(1), page.locator(".meaning:popover-open")
    word.focus()
    word.press("Enter")
    expect(meaning).to_be_visible()
    here, there = word.bounding_box(), meaning.bounding_box()
    if width == WIDTHS["phone"]:
        assert (there["x"], there["width"]) == (0, width) and there["y"] + there["height"] == 844
    else:
        assert there["y"] >= here["y"] + here["height"] or there["y"] + there["height"] <= here["y"]
        assert here["x"] - 1 <= there["x"] + there["width"] and there["x"] <= here["x"] + here["width"]
    assert violations(page, ".meaning:popover-open") == []
    page.keyboard.press("Tab")
    expect(meaning.locator("a")).to_be_focused()
    page.keyboard.press("Escape")
    expect(meaning).to_have_count(0)
    expect(word).to_be_focused()


def test_a_word_opens_without_scripts_and_leads_to_its_place(page_without_scripts, book):
    page = page_without_scripts
    page.goto(book + PAGE)
    word = page.locator("p .word").first
    word.click()
    key = word.get_attribute("popovertarget").removeprefix("word-")
    page.locator(f"#word-{key} a").click()
    expect(page.locator(f"#{key}")).to_be_in_viewport()
    assert page.url.endswith(f"/words/#{key}")


def test_a_word_on_paper_is_text(live_page, book):
    page = live_page
    visit(page, book, PAGE)
    page.emulate_media(media="print")
    assert page.locator("p .word").first.evaluate("word => getComputedStyle(word).textDecorationLine") == "none"
    expect(page.locator(".meaning").first).to_be_hidden()
