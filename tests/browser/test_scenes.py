"""Scenes in a page: they play, stand still, and are whole without scripts and on paper."""

import pytest
from playwright.sync_api import expect

PAGES = ["10-ppo/", "20-kv-cache/"]
every_page = pytest.mark.parametrize("where", PAGES)
OPENING = "figure.rl-opening"
DRAWN = """document.querySelector("figure.rl-opening .k-scene").innerHTML
  .replaceAll(/style="[^"]*"/g, (style) => style.replaceAll(/[ ;]/g, ""))"""  # a browser writes a style in its own way
SET = """([choice, moment]) => {
  const figure = document.querySelector("figure.rl-opening");
  const one = figure.querySelector(`[type=radio][value="${choice}"]`);
  if (one) one.checked = true;
  const range = figure.querySelector("[type=range]");
  range.value = moment;
  range.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def opening(page):
    return page.locator(OPENING)


def choices(page):
    """The positions of the switch; one where both runs are drawn at once."""
    return range(opening(page).locator("[type=radio]").count() or 1)


@every_page
def test_all_positions_and_back_give_the_same_picture(page, book, where):
    page.goto(f"{book}{where}")
    first, last = page.evaluate(DRAWN), int(opening(page).locator("[type=range]").get_attribute("max"))
    rest = [int(opening(page).get_attribute(f"data-{name}")) for name in ("choice", "moment")]
    there, back = {}, {}
    places = [(choice, moment) for choice in choices(page) for moment in range(last + 1)]
    for seen, order in ((there, places), (back, places[::-1])):
        for place in order:
            page.evaluate(SET, list(place))
            seen[place] = page.evaluate(DRAWN)
    assert there == back and len(set(there.values())) > last
    page.evaluate(SET, rest)
    assert page.evaluate(DRAWN) == first


@every_page
def test_it_plays_from_the_start_to_the_end_and_stops_there(page, book, where):
    page.goto(f"{book}{where}")
    play, time = opening(page).locator("[data-play]"), opening(page).locator("[type=range]")
    page.evaluate("document.querySelector('figure.rl-opening').dataset.ms = 20")
    page.evaluate("document.querySelector('figure.rl-opening').dataset.holds = '{}'")
    play.click()
    expect(play).to_have_attribute("aria-pressed", "true")
    assert not opening(page).locator("> .said[role]").count()  # or every position would be read out
    expect(play).to_have_attribute("aria-pressed", "false")
    expect(time).to_have_js_property("value", time.get_attribute("max"))
    for sentence in opening(page).locator("> .said").all():
        expect(sentence).to_have_attribute("role", "status")


@every_page
def test_it_stops_when_a_reader_takes_over_and_arrows_step(page, book, where):
    page.goto(f"{book}{where}")
    play, time = opening(page).locator("[data-play]"), opening(page).locator("[type=range]")
    play.click()
    expect(play).to_have_attribute("aria-pressed", "true")
    opening(page).locator(".seg label, [type=range]").first.click()
    expect(play).to_have_attribute("aria-pressed", "false")
    page.evaluate(SET, [0, 3])
    play.focus()
    play.press("ArrowRight")
    expect(time).to_have_js_property("value", "4")
    play.press("ArrowLeft")
    play.press("ArrowLeft")
    expect(time).to_have_js_property("value", "2")
    expect(opening(page)).to_have_attribute("data-moment", "2")


@every_page
def test_where_motion_is_reduced_nothing_plays_and_the_handle_works(page, book, where):
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{book}{where}")
    expect(opening(page).locator("[data-play]")).to_be_hidden()
    expect(opening(page).locator("[type=range]")).to_be_visible()
    page.evaluate(SET, [1, 2])
    expect(opening(page)).to_have_attribute("data-moment", "2")
    moving = "getComputedStyle(document.querySelector('figure.rl-opening .k-ring')).transitionDuration"
    assert page.evaluate(moving) == "0s"


@every_page
def test_on_paper_and_without_scripts_other_positions_stand_beside_it(browser, book, where):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{book}{where}")
    for media in ("screen", "print"):
        page.emulate_media(media=media)
        expect(opening(page).locator("> .k-scene")).to_be_visible()
        expect(opening(page).locator(".k-stills > div").first).to_be_visible()
        expect(opening(page).locator("[data-play]")).to_be_hidden()
        expect(page.locator("[data-quiz] .because").first).to_be_visible()
    context.close()


@every_page
def test_the_height_is_one_in_all_positions_and_nothing_leaves_the_page(page, book, where):
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{book}{where}")
        heights = set()
        for place in ([0, 0], [0, 3], [choices(page)[-1], 3], [choices(page)[-1], 16]):
            page.evaluate(SET, place)
            heights.add(opening(page).bounding_box()["height"])
        assert max(heights) - min(heights) < 1 or width == 390  # a sentence may take a line more on a phone
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


DRAGGED = "22b-long-tail/"
VIEWS = "document.querySelector('figure.rl-opening .k-views').innerHTML"


def test_a_line_of_the_picture_is_dragged_and_all_follows(page, book):
    page.goto(f"{book}{DRAGGED}")
    first, line, pill = (
        page.evaluate(VIEWS),
        opening(page).locator("[type=range]"),
        opening(page).locator("> .k-scene .k-pill"),
    )
    expect(opening(page).locator("[data-play]")).to_have_count(0)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        box, grip = opening(page).locator(".k-scene").bounding_box(), pill.bounding_box()
        page.mouse.move(grip["x"] + grip["width"] / 2, box["y"] + 200)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 200, steps=4)
        page.mouse.up()
        page.wait_for_timeout(300)
        grip = pill.bounding_box()  # where the pointer is, to half a step
        assert grip["x"] + grip["width"] / 2 == pytest.approx(box["x"] + 0.6 * box["width"], abs=0.021 * box["width"])
        for key in ("Home", "End"):
            line.press(key)
            page.wait_for_timeout(300)
            grip = pill.bounding_box()
            assert box["x"] <= grip["x"] and grip["x"] + grip["width"] <= box["x"] + box["width"]
    assert f"ends after {line.get_attribute('aria-valuetext')}" in opening(page).locator("> .said").text_content()
    line.evaluate(
        "line => { line.value = line.defaultValue; line.dispatchEvent(new Event('input', { bubbles: true })) }"
    )
    assert page.evaluate(VIEWS) == first


def test_of_a_picture_in_two_forms_one_is_seen(page, book):
    for width, form in ((1280, "roomy"), (390, "narrow")):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{book}10-ppo/")
        seen = opening(page).locator("> .k-scene .k-column").filter(visible=True)
        expect(seen).to_have_count(1)
        expect(seen).to_have_class(f"k-column {form}")


def test_a_question_is_answered_by_a_choice_which_opens_its_because(page, book):
    page.goto(f"{book}10-ppo/")
    quiz = page.locator("[data-quiz]").first
    expect(quiz.locator(".because").first).to_be_hidden()
    quiz.locator("label").first.click()
    expect(quiz.locator(".because").first).to_be_visible()
    expect(quiz.locator(".because").nth(1)).to_be_hidden()
    for other in page.locator("[data-quiz]").all()[1:]:
        other.locator("label").first.click()
    assert page.evaluate("JSON.parse(localStorage.getItem('lessons-v1'))")["10-ppo"] == "answered"
