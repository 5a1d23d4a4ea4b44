"""The page that plans a run: what stands on its first screen, and that a break is credited to the one that happened."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import live, visit

SCREENS = [(1280, 900, 250), (390, 844, 300)]  # wide, high, where the picture begins at the latest


@pytest.mark.parametrize("width, height, latest", SCREENS)
def test_the_answer_and_its_picture_stand_on_the_first_screen(page_without_scripts, book, width, height, latest):
    page = page_without_scripts
    page.set_viewport_size(dict(width=width, height=height))
    page.goto(f"{book}plan/")
    page.evaluate("document.fonts.ready")
    expect(page.locator("[data-answer]")).to_contain_text("It fits. A step takes")
    picture = page.locator(".rl-tool .k-views").bounding_box()
    assert picture["y"] <= latest and picture["y"] + picture["height"] <= height
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    fields = page.locator(".rl-tool .field")
    assert fields.count() <= 5
    if width > 1000:
        numbers, last = (part.bounding_box() for part in (page.locator(".rl-tool .readouts"), fields.last))
        assert max(box["y"] + box["height"] for box in (numbers, last)) <= height


def test_a_job_that_does_not_fit_says_what_would_hold_it_and_is_credited_by_its_cause(live_page, book):
    page = live_page
    visit(page, book, "plan/?gpus=8")
    live(page, "plan")
    expect(page.locator("[data-answer]")).to_contain_text("It does not fit.")
    expect(page.locator(".rl-tool .steps button").first).to_contain_text("Set ")
    expect(page.locator(".finds li.on .cause")).to_have_text(["training state fills the memory"])
    expect(page.locator(".presets [aria-pressed=true]")).to_have_count(0)
    page.locator(".rl-tool .steps button").first.click()
    expect(page.locator("[data-answer]")).to_contain_text("It fits.")
    page.locator("rl-widget .reset").click()
