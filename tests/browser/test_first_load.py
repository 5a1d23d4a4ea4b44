"""What a lesson does when it is loaded first, in a new window: it is whole before Python and without it, nothing jumps
while it starts, and nothing happens that its policy forbids.
"""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import (
    WITH_WIDGET,
    all_at_night,
    live,
    one_of_each_kind_on_a_push,
    readouts,
    until,
    without_python,
)
from tests.widgets.catalogue import last_frame

HEIGHT = "document.querySelector('figure.rl-widget').offsetHeight"
DRAWN = "document.querySelector('.panels:not([hidden]) .plot .main-svg')"
SHIFT = """window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });"""
EACH_KIND = {"03a-kl-estimators": 1280, "09-reinforce": 390, "20-kv-cache": 1280}  # closed form, training, simulation


@pytest.mark.parametrize(
    "lesson, width",
    [
        pytest.param(
            lesson,
            width,
            id=f"{lesson.stem}-{width}",
            marks=() if EACH_KIND.get(lesson.stem) == width else pytest.mark.nightly,
        )
        for lesson in WITH_WIDGET
        for width in (1280, 390)
    ],
)
def test_a_first_load_starts_from_the_snapshot_keeps_to_the_policy_and_shifts_next_to_nothing(
    strict_page, book, lesson, width
):
    page = strict_page
    page.set_viewport_size(dict(width=width, height=900))
    page.add_init_script(SHIFT)
    page.goto(book + lesson.url)
    live(page, lesson.widget)
    page.evaluate("document.fonts.ready.then(() => new Promise((resume) => setTimeout(resume, 300)))")
    assert page.evaluate("window.shift") < 0.1
    assert page.evaluate("document.documentElement.dataset.python") == "snapshot"
    page.locator(".presets [data-knobs]:visible, .answer:visible").last.click()
    until(page, DRAWN)


@all_at_night("10-ppo")
def test_a_lesson_is_whole_when_python_never_comes(page, book, lesson):
    held = []
    page.route("**/vendor/plotly.min.js", lambda route: held.append(route))
    without_python(page)
    with page.expect_request("**/vendor/plotly.min.js"):
        page.goto(book + lesson.url)
    assert page.locator(".panels:not([hidden]) .plot:has(svg.still)").first.bounding_box()["height"] > 80
    assert readouts(page) == [r["text"] for r in last_frame(lesson.widget)["readouts"]]
    assert page.locator("rl-widget form").is_visible()
    expect(page.locator("rl-widget .state")).to_have_text(re.compile("not started"))
    expect(page.locator(".brk [role=status]")).to_contain_text("complete without it")
    before = page.evaluate(f"document.fonts.ready.then(() => {HEIGHT})")
    held[0].continue_()
    until(page, f"{DRAWN} && !document.querySelector('rl-widget .panels:not([hidden]) .still')")
    assert page.evaluate(HEIGHT) == before


@all_at_night("10-ppo")
def test_an_address_with_a_place_ends_there_and_nothing_moves_under_the_reader_while_python_starts(page, book, lesson):
    top = "document.querySelector('#sources').getBoundingClientRect().top"
    # below the header, or the page ends
    there = f"{top} >= 48 && ({top} <= 160 || scrollY + innerHeight >= document.documentElement.scrollHeight - 1)"
    page.goto(f"{book}{lesson.url}#sources")
    live(page, lesson.widget)
    assert page.evaluate(there)
    held = []
    page.route("**/assets/worker.js", lambda route: held.append(route))
    page.goto("about:blank")
    with page.expect_request("**/assets/worker.js"):
        page.goto(f"{book}{lesson.url}")
    page.evaluate("document.fonts.ready.then(() => scrollTo(0, document.body.scrollHeight * 0.6))")
    was = page.evaluate(top)
    held[0].continue_()
    live(page, lesson.widget)
    page.wait_for_selector(".panels:not([hidden]) .plot .main-svg")
    page.wait_for_timeout(300)
    assert page.evaluate(top) == pytest.approx(was, abs=2)


@one_of_each_kind_on_a_push()
def test_a_lesson_is_read_when_scripts_are_off(page_without_scripts, book, lesson):
    page = page_without_scripts
    page.set_viewport_size(dict(width=390, height=800))
    page.goto(book + lesson.url)
    assert page.locator("dl.readouts dd b").all_inner_texts() == [
        r["text"] for r in last_frame(lesson.widget)["readouts"]
    ]
    drawn = page.locator(".plot:has(svg.still)").first
    still, plot = (part.bounding_box()["height"] for part in (drawn.locator("svg.still"), drawn))
    assert 80 < still <= plot  # whole, not cut at the foot
    assert page.locator("table.dt").is_visible()
