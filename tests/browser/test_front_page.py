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
    assert not page.locator(".rl-hero .tell details p").is_visible()
    assert page.locator(".counts").is_hidden()


def counts(page):
    return page.locator(".rl-hero .k-scene .k-tally").all_text_contents()


def correct(page):
    """How many cells are filled in each table."""
    return [table.locator("td.k-correct").count() for table in page.locator(".rl-hero .k-scene table").all()]


def test_the_two_tables_open_on_the_ruin_of_one_and_are_filled_in_as_their_clock_is_moved(page_without_python, book):
    page = page_without_python
    page.goto(book)
    assert [int(n) for n in counts(page)] == correct(page)
    full, missing = correct(page)
    assert full > 70 and missing == 0
    page.locator(".rl-hero [type=range]").fill("2")
    until(page, "document.querySelector('.rl-hero .said').textContent.includes('missing line is ahead')")
    assert [int(n) for n in counts(page)] == correct(page) and correct(page)[1] > correct(page)[0]
    page.locator(".rl-hero [data-play]").click()
    until(page, "document.querySelector('.rl-hero output').textContent === 'before training'")
    assert correct(page)[0] == correct(page)[1]
    assert page.locator(".counts").is_hidden(), "no zeros before anything was found"


SEEN = """([wide, high]) => {
  const shown = (e) => {
    const r = e.getBoundingClientRect();
    return r.width > 1 && r.top < high && r.bottom > 0 && e.checkVisibility({ opacityProperty: true });
  };
  const texts = document.createTreeWalker(document.querySelector(".md-content"), NodeFilter.SHOW_TEXT);
  let words = 0;
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (!shown(e) || e.closest("td, template, .unseen")) continue;
    words += (texts.currentNode.textContent.match(/[A-Za-z]{2,}/g) ?? []).length;
  }
  const picture = document.querySelector(".rl-hero .k-scene").getBoundingClientRect();
  const controls = [...document.querySelectorAll(".md-content :is(a, button, input, summary)")].filter(shown).length;
  return [picture.top, document.querySelector(".rl-hero .k-time").getBoundingClientRect().bottom, words, controls];
}"""


@pytest.mark.parametrize("wide, high, begins", [(1280, 900, 250), (390, 844, 300)])
def test_the_picture_is_whole_on_the_first_screen_with_few_words_and_controls(
    page_without_python, book, wide, high, begins
):
    page = page_without_python
    page.set_viewport_size(dict(width=wide, height=high))
    page.goto(book)
    page.evaluate("document.fonts.ready")
    top, bottom, words, controls = page.evaluate(SEEN, [wide, high])
    assert top <= begins and bottom <= high and words <= 80 and controls <= 5
    assert page.get_by_role("link", name="Start with the orientation").bounding_box()["y"] <= high - 32


def test_on_a_phone_one_table_is_seen_and_both_headings_choose_it(page_without_python, book):
    page = page_without_python
    page.set_viewport_size(dict(width=390, height=844))
    page.goto(book)

    def seen():
        return [table.is_visible() for table in page.locator(".rl-hero .k-scene table").all()]

    assert seen() == [False, True]
    page.get_by_text("Full code").locator("visible=true").first.click()
    assert seen() == [True, False]
    page.keyboard.press("ArrowRight")
    assert seen() == [False, True]


def test_the_list_of_the_parts_rearranges_one_batch_and_leads_to_their_lessons(page_without_python, book):
    page = page_without_python
    page.goto(book)
    said = page.locator(".rl-batch .said")
    before = said.text_content()
    page.locator(".rl-batch").get_by_text("Production", exact=True).click()
    assert said.text_content() != before
    links = page.locator(".rl-batch a").locator("visible=true")
    assert links.count() == 1
    links.click()
    until(page, "Math.abs(document.querySelector('#part-iii').getBoundingClientRect().top) < 200")


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
