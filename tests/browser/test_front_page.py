"""The front page: its map of the pipeline, the two runs at its head, and that everybody can use them."""

import pytest

from tests.browser.accessibility import LOOKS, assert_accessible
from tests.browser.conftest import until
from tools.pages import pipeline_map


def shown_panels(page):
    return [panel.get_attribute("id") for panel in page.locator(".detail").all() if panel.is_visible()]


def test_nothing_on_the_front_page_scrolls_sideways(page_without_python, book):
    page = page_without_python
    page.goto(book)
    for width in (360, 390, 900, 1280, 1600):
        page.set_viewport_size({"width": width, "height": 800})
        until(page, "document.documentElement.scrollWidth - innerWidth <= 1")


@pytest.mark.parametrize("looks", [LOOKS[:2], pytest.param(LOOKS[2:], marks=pytest.mark.nightly)])
def test_axe_finds_no_fault_on_the_front_page(page_without_python, book, looks):
    page_without_python.goto(book)
    assert_accessible(page_without_python, looks)


def test_without_scripts_every_panel_of_the_map_is_there_and_both_runs_of_the_scene(page_without_scripts, book):
    page = page_without_scripts
    page.goto(book)
    page.locator("svg.broad a.trainer").focus()
    page.hover("svg.broad a.env rect")
    assert [panel.is_visible() for panel in page.locator(".detail").all()] == 12 * [True]
    assert page.locator(".rl-hero .k-scene").is_visible() and page.locator(".rl-hero .k-stills").is_visible()
    assert not page.locator(".rl-hero .tell p").is_visible()
    assert page.locator(".counts").is_hidden()


def test_the_scene_at_the_head_opens_on_the_ruin_with_the_frame_before_it_and_plays(page_without_python, book):
    page = page_without_python
    page.goto(book)
    scene = page.locator(".rl-hero .k-scene")

    def said():
        return [words for words in scene.locator("[data-ring] text").all_text_contents() if words]

    assert scene.locator(".k-column").first.is_visible() and scene.locator(".k-column").last.is_visible()
    assert said() == ["no sum is right any more"]
    page.locator(".rl-hero .seg").get_by_text("kept", exact=True).click()
    until(page, "document.querySelector('.rl-hero .said').textContent.startsWith('After 4 updates five')")
    assert said() == []
    assert page.locator(".counts").is_hidden(), "no zeros before anything was found"


def test_on_paper_every_panel_of_the_map_is_there(page_without_python, book):
    page = page_without_python
    page.goto(book)
    page.locator("svg.broad a.trainer").focus()
    page.emulate_media(media="print")
    assert [panel.is_visible() for panel in page.locator(".detail").all()] == 12 * [True]
    assert not page.locator(".cutter").first.is_visible()


def test_each_press_lights_the_next_of_seven_steps_and_keeps_its_panel(page_without_python, book):
    page = page_without_python
    page.goto(book)

    def fill(name):
        return page.locator(f"svg.broad a.{name} rect").first.evaluate("e => getComputedStyle(e).fill")

    size, plain = page.locator(".pipeline svg.broad .m").first, fill("trainer")
    assert not size.is_visible()
    button = page.get_by_role("button", name="Next step")
    for name in pipeline_map.STEPS:
        button.click() if name != "env" else page.keyboard.press("ArrowRight")
        assert shown_panels(page) == [f"map-{name}"] and size.is_visible()
        until(page, "document.getAnimations().every((one) => one.playState !== 'running')")
        assert fill(name) != plain and (name == "trainer" or fill("trainer") == plain)
    button.click()
    assert shown_panels(page) == ["map-controller"]


def test_an_iteration_that_is_played_goes_on_by_itself_and_can_be_stopped(page, book):
    page.clock.install()
    page.goto(book)
    page.wait_for_load_state()

    def chosen():
        return page.locator(".pipeline").get_attribute("data-step")

    page.get_by_role("button", name="Play one iteration").click()
    assert chosen() == "1"
    page.clock.run_for(8100)
    assert chosen() == "3"
    page.get_by_role("button", name="Stop").click()
    page.clock.run_for(9000)
    assert chosen() == "3"
    page.get_by_role("button", name="Play one iteration").click()
    page.clock.run_for(30000)
    assert chosen() == "7" and page.get_by_role("button", name="Play one iteration").is_visible()


def test_the_map_shows_the_panel_of_a_part_keeps_it_at_a_click_and_cuts_an_arrow(page_without_python, book):
    page = page_without_python
    page.goto(book)

    def dashes():
        return page.locator("svg.broad a.reward .wire").evaluate("wire => getComputedStyle(wire).strokeDasharray")

    assert shown_panels(page) == ["map-rollout"]
    page.hover("svg.broad a.trainer rect")
    assert shown_panels(page) == ["map-trainer"]
    page.hover("h1")
    assert shown_panels(page) == ["map-rollout"]
    page.click("svg.broad a.reward .e")
    page.hover(".md-header")  # which stays there when the page scrolls to the field below
    assert shown_panels(page) == ["map-reward"] and dashes() == "none" and page.url == book
    page.get_by_label("Cut this arrow").locator("visible=true").check()
    assert dashes() == "3px, 6px"
    page.locator("svg.broad a.controller").focus()
    page.keyboard.press("Tab")
    assert shown_panels(page) == ["map-rollout"]
    page.keyboard.press("Enter")
    page.hover("h1")
    assert shown_panels(page) == ["map-rollout"] and dashes() == "3px, 6px"
