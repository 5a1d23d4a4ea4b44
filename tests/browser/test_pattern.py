"""What every page has in common and a reader meets in the first minute: nothing jumps, nothing is cut off, and the
first change has something to be compared with.
"""

import pytest

from tests.browser.conftest import SOME, THOROUGH, WITH_WIDGET, live, preset, settled
from tests.widgets.catalogue import breaking, frame_of, last_frame

looked_at = pytest.mark.parametrize("lesson", WITH_WIDGET if THOROUGH else SOME, ids=lambda lesson: lesson.stem)
both_widths = pytest.mark.parametrize("width", [1280, 390])
SHIFT = """window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });"""


@looked_at
def test_the_first_change_stands_beside_the_recorded_run(page, book, lesson):
    page.goto(book + lesson.url)
    live(page, lesson.widget)
    assert not any(page.locator(".readouts .was").all_inner_texts())
    broken = next(iter(breaking(lesson.widget).values()))
    preset(page, broken)
    was, now = (
        [r["text"] for r in frame["readouts"]] for frame in (last_frame(lesson.widget), frame_of(lesson.widget, broken))
    )
    assert page.locator(".readouts .was").all_inner_texts() == [
        f"was {before}" if before != after else "" for before, after in zip(was, now, strict=True)
    ]


@looked_at
def test_more_knobs_lengthen_the_form_and_move_nothing_in_the_figure(page, book, lesson):
    page.goto(book + lesson.url)
    place = "document.querySelector('.panels:not([hidden]) .plot').getBoundingClientRect().top + scrollY"
    more = page.locator("details.more > summary").first
    if not more.count():
        pytest.skip("all its knobs are in view")
    before = page.evaluate(place)
    more.click()
    assert page.evaluate(place) == pytest.approx(before, abs=1)


@looked_at
@both_widths
def test_sources_under_the_numbers_are_whole(page, book, lesson, width):
    page.set_viewport_size(dict(width=width, height=900))
    page.goto(book + lesson.url)
    cut = page.locator(".readouts dd a").evaluate_all(
        "all => all.filter((a) => a.scrollWidth > a.clientWidth).map((a) => a.textContent)"
    )
    assert not cut, f"cut off at {width} pixels: {cut}"


@looked_at
@both_widths
def test_a_cold_load_shifts_next_to_nothing(page, book, lesson, width):
    page.set_viewport_size(dict(width=width, height=900))
    page.add_init_script(SHIFT)
    page.goto(book + lesson.url)
    live(page, lesson.widget)
    page.evaluate("document.fonts.ready.then(() => new Promise((resume) => setTimeout(resume, 300)))")
    assert page.evaluate("window.shift") < 0.1


@looked_at
def test_code_on_paper_is_wrapped_and_not_cut(page, book, lesson):
    page.goto(book + lesson.url)
    page.emulate_media(media="print")
    page.set_viewport_size(dict(width=680, height=900))
    cut = page.locator(".md-typeset pre").evaluate_all(
        "all => all.filter((pre) => pre.scrollWidth > pre.clientWidth + 1).map((pre) => pre.textContent.slice(0, 60))"
    )
    assert not cut, cut


MEET = """() => [...document.querySelectorAll('.panels:not([hidden]) .plot')].flatMap((plot) => {
  const boxes = [...plot.querySelectorAll('.annotation')]
    .filter((word) => word.textContent.trim()).map((word) => [word.textContent, word.getBoundingClientRect()]);
  return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1
  ).map(([other]) => `${one} on ${other}`));
})"""


@looked_at
@both_widths
def test_no_word_of_a_plot_lies_on_another_and_the_widget_keeps_its_height(page, book, lesson, width):
    page.set_viewport_size(dict(width=width, height=900))
    page.goto(book + lesson.url)
    live(page, lesson.widget)
    page.wait_for_selector("rl-widget .panels:not([hidden]) .plot .main-svg")
    page.wait_for_timeout(300)
    tall = "document.querySelector('figure.rl-widget').offsetHeight"
    before = page.evaluate(tall)
    assert page.evaluate(MEET) == []
    preset(page, next(iter(breaking(lesson.widget).values())))
    page.wait_for_timeout(300)
    assert page.evaluate(MEET) == []
    if width == 1280:
        assert page.evaluate(tall) == pytest.approx(before, abs=2)
        page.click(".back")
        page.click(".steps button >> nth=0")
        settled(page)
        assert page.evaluate(tall) == pytest.approx(before, abs=2)
