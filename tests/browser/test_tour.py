"""A tour of all lessons, as by a reader who goes from each to the next: Python starts once and lives on, and every
lesson shows its recorded figure, moves its small figures, is reached by keyboard, computes the native numbers, is
accessible, and fits every window.

The tests of a lesson follow one another on one page, in the order of this file; each may also be run alone. What a page
does when it is loaded first, or when Python never comes, is in test_first_load.py.
"""

from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import expect

from tests import skip_unchanged
from tests.browser.accessibility import LOOKS, assert_accessible
from tests.browser.conftest import (
    WITH_WIDGET,
    labels_are_those_of,
    live,
    preset,
    press,
    readouts,
    settled,
    show_all_knobs,
    until,
    visit,
)
from tests.widgets.catalogue import breaking, frame_of, last_frame, near, state
from widgets.frame.contract.values import query
from widgets.frame.reader import host

# parametrized by module, so that pytest runs all tests of one lesson before those of the next
pytestmark = pytest.mark.parametrize("lesson", WITH_WIDGET, ids=lambda lesson: lesson.stem, scope="module")
IN_VIEW = ".panels:not([hidden]) .plot"
HEIGHT = "document.querySelector('figure.rl-widget').offsetHeight"
PICTURE = ":is(.main-svg, .k-view, .k-compared)"  # of Plotly, or a scene
DRAWN = f"document.querySelector('{IN_VIEW} {PICTURE}') && !document.querySelector('rl-widget {IN_VIEW} .still')"
PLOTLY_WAITS = """() => {
  const react = Plotly.react;
  const waited = new Promise((release) => (window.letPlotlyDraw = release));
  Plotly.react = (...words) => waited.then(() => react(...words));
  waited.then(() => (Plotly.react = react));
}"""
MOVED_PARTS = "figure => [...figure.querySelectorAll('[data-part]')].map((part) => part.innerHTML).join()"
STOPS = """() => [...document.querySelectorAll('.rl-widget *')]
  .filter((e) => e.matches('button, input, select, textarea, summary, a, [tabindex="0"]'))
  .filter((e) => e.checkVisibility({ visibilityProperty: true }) && e.tabIndex >= 0)
  .filter((e) => !(e.type === 'radio' && !e.checked))
  .map((e, i) => {
    e.dataset.stop = i;
    e.addEventListener('focus', () => delete e.dataset.stop);
  }).length"""
WORDS = """() => {
  const widget = document.querySelector('.rl-widget');
  const edge = widget.querySelector('.panels:not([hidden])').getBoundingClientRect().right;
  const texts = document.createTreeWalker(widget, NodeFilter.SHOW_TEXT);
  let words = 0;
  while (texts.nextNode()) {
    const place = texts.currentNode.parentElement;
    if (place.getBoundingClientRect().left >= edge) continue;  // the panel beside
    if (place.closest('svg, option, script, .unseen') || !place.checkVisibility({ visibilityProperty: true })) continue;
    words += texts.currentNode.textContent.split(/\\s+/).filter((word) => /[A-Za-z]/.test(word)).length;
  }
  return words;
}"""
SHARE = f"""(() => {{
  const area = (place) => (({{ width, height }}) => width * height)(place.getBoundingClientRect());
  return area(document.querySelector("{IN_VIEW}")) / area(document.querySelector("figure.rl-widget"));
}})()"""
LEFT = dict(  # what these pages reach so far; a number may only be crossed out
    words=(155, "15b"),
    high=(890, "15b 18b 22b"),
    share=(0.28, "00 02 10 10a 11 13 13a 14a 15a 16b 17a 18b 18c 19a 20 22a 22c 24"),
)
OVERLAPS = f"""[...document.querySelectorAll('{IN_VIEW}')].flatMap((plot) => {{
  const boxes = [...plot.querySelectorAll('.annotation')]
    .filter((word) => word.textContent.trim()).map((word) => [word.textContent, word.getBoundingClientRect()]);
  return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1
  ).map(([other]) => `${{one}} on ${{other}}`));
}})"""


@pytest.fixture
def at(live_page, book, lesson):
    """The page of the tour at this lesson."""
    if not here(live_page, lesson):
        visit(live_page, book, lesson.url)
        arrived(live_page, lesson)
    return live_page


@pytest.fixture
def at_rest(at, book, lesson):
    """The page of the tour before anything was run: a worker that took its later tests first has turned its knobs."""
    if at.evaluate("location.search || document.querySelector('[data-moved]')"):
        visit(at, book, lesson.url)
        arrived(at, lesson)
    return at


def here(page, lesson):
    return page.evaluate("document.querySelector('article').dataset.toured") == lesson.stem


def arrived(page, lesson):
    """The theme puts another article in the place of this one when the page is left."""
    live(page, lesson.widget)
    page.evaluate("stem => (document.querySelector('article').dataset.toured = stem)", lesson.stem)


def test_the_recorded_figure_stands_until_plotly_takes_exactly_its_place(live_page, book, lesson):
    page = live_page
    page.set_viewport_size(dict(width=1280, height=1000))
    workers = []

    def hear(worker):
        return workers.append(worker.url)

    page.on("worker", hear)
    page.evaluate(PLOTLY_WAITS)
    visit(page, book, lesson.url)
    assert page.locator(f"{IN_VIEW}:has(svg.still, .k-view, .k-compared)").first.bounding_box()["height"] > 80
    assert readouts(page) == [r["text"] for r in last_frame(lesson.widget)["readouts"]]
    assert page.locator("rl-widget form").is_visible()
    opening = page.locator(".rl-opening :is(.panels, .k-views)").first.bounding_box()
    on_screen = (1000 - opening["y"]) / opening["height"]
    assert on_screen > 0.9, "the opening stands on the first screen, whatever line of text above it breaks"
    before = page.evaluate(f"document.fonts.ready.then(() => {HEIGHT})")
    page.evaluate("letPlotlyDraw()")
    until(page, DRAWN)
    arrived(page, lesson)
    assert page.evaluate(HEIGHT) == before
    page.remove_listener("worker", hear)
    assert not workers, "Python lives on"


def test_at_rest_the_simulator_is_short_and_its_picture_large(at_rest, lesson):
    page = at_rest
    page.set_viewport_size(dict(width=1280, height=1000))
    until(page, DRAWN)
    page.evaluate("document.querySelector('rl-widget').unfold(false)")
    number, left = lesson.stem.partition("-")[0], dict(words=110, high=850, share=0.45)
    left |= {rule: least for rule, (least, pages) in LEFT.items() if number in pages.split()}
    assert page.evaluate(STOPS) <= 16
    assert page.evaluate(WORDS) <= left["words"]
    assert page.evaluate(HEIGHT) <= left["high"], "it fits on a screen of 900 pixels, below the header"
    assert page.evaluate(SHARE) >= left["share"]
    assert page.locator(".readouts > div:visible").count() <= 3
    assert all(column.is_visible() for column in page.locator(f"{IN_VIEW} .k-column:not(.before)").all())


def test_each_small_figure_moves_with_its_one_handle(at):
    assert not at.locator(".rl-opening:not([data-scene]) :is(input, button, select)").count()
    at.evaluate("document.querySelectorAll('details:has(.rl-figure)').forEach((fold) => (fold.open = true))")
    for figure in at.locator(".rl-figure").all():
        ranges, groups = figure.locator("input[type=range]"), figure.locator("fieldset")
        assert ranges.count() + groups.count() <= 1
        before = figure.evaluate(MOVED_PARTS)
        if ranges.count():
            ranges.press("Home" if ranges.input_value() == ranges.get_attribute("max") else "End")
        elif groups.count():
            figure.locator("input:not(:checked)").first.locator("xpath=..").click()
        else:
            continue
        assert figure.evaluate(MOVED_PARTS) != before, figure.get_attribute("id")


def test_the_tab_key_reaches_every_control_of_the_widget(at):
    at.evaluate("document.querySelectorAll('details').forEach((fold) => (fold.open = false))")
    show_all_knobs(at)
    wanted = at.evaluate(STOPS)
    at.locator("[data-stop='0']").focus()
    for _ in range(wanted + 1):
        at.keyboard.down("Tab")
    at.keyboard.up("Tab")
    missed = at.locator("[data-stop]").evaluate_all("all => all.map((one) => one.outerHTML.slice(0, 200))")
    assert wanted > 10 and not missed


def test_python_shows_the_native_numbers_at_the_default(at_rest, lesson):
    assert at_rest.evaluate("document.documentElement.dataset.python") == "snapshot"
    frame = last_frame(lesson.widget)
    assert readouts(at_rest) == [r["text"] for r in frame["readouts"]]
    assert not any(at_rest.locator(".readouts .was").all_inner_texts())
    shows_the_frame(at_rest, frame)


def test_axe_finds_no_fault_on_the_page(at, lesson):
    """In one pair of light and width, which changes from lesson to lesson; at night in all four."""
    at.locator("[data-quiz] .because").evaluate_all("all => all.forEach((part) => { part.style.display = 'block'; })")
    show_all_knobs(at)
    assert_accessible(at, [LOOKS[WITH_WIDGET.index(lesson) % 4]])


def test_python_shows_the_native_numbers_at_the_first_break_beside_the_recorded_run(at, lesson):
    """All the presets are computed by the same Python, in tests/pyodide."""
    name, knobs = next(iter(breaking(lesson.widget).items()))
    preset(at, knobs)
    is_native(at, lesson, name)
    before, now = (
        [r["text"] for r in frame["readouts"]] for frame in (last_frame(lesson.widget), frame_of(lesson.widget, knobs))
    )
    assert at.locator(".readouts .was").all_inner_texts() == [
        f"was {was}" if was != text else "" for was, text in zip(before, now, strict=True)
    ]
    until(at, DRAWN)
    at.wait_for_timeout(200)
    assert at.evaluate(OVERLAPS) == []


def is_native(page, lesson, name):
    """The page shows of this preset what native Python computes, and says it."""
    frame, shown = frame_of(lesson.widget, host.widget(lesson.widget).PRESETS[name]), readouts(page)
    assert near(lesson.widget, name, shown, frame["readouts"]), (name, shown, frame["readouts"])
    if not host.amplified(lesson.widget, name):
        shows_the_frame(page, frame)
    judged = state(frame)
    expect(page.locator(".rl-widget")).to_have_attribute("data-state", "live" if judged == "holds" else judged)
    heard = page.locator(".brk [role=status]")  # the polite region says the result, not the event
    expect(heard).to_contain_text(f"{frame['readouts'][0]['label']} ")
    expect(heard).to_contain_text(dict(holds="Works", worse="Worse, not broken.", broken="Broken.")[judged])


def shows_the_frame(page, frame):
    """Fingerprint, captions, labels and what is watched are of this run."""
    expect(page.locator(".hash")).to_have_text(f"reproducible: {frame['hash']}")
    labels_are_those_of(page, frame)


def at_its_break(page, lesson):
    if page.locator(".rl-widget").get_attribute("data-state") != "broken":
        preset(page, next(iter(breaking(lesson.widget).values())))


def test_axe_finds_no_fault_in_the_widget_at_its_break(at, lesson):
    """In the other light and the other width than the page at rest, one lesson of three; at night all."""
    number = WITH_WIDGET.index(lesson)
    if number % 3 and not skip_unchanged.nightly():
        pytest.skip("its break is looked at by axe at night")
    at_its_break(at, lesson)
    assert_accessible(at, [LOOKS[(number + 1) % 4]], ".rl-widget")


def test_nothing_scrolls_sideways_or_overlaps_on_a_phone(at, lesson):
    at_its_break(at, lesson)
    for width in (900, 360, 390):
        scrolls_not_sideways(at, width)
    at.wait_for_timeout(200)
    assert at.evaluate(OVERLAPS) == []


def scrolls_not_sideways(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    until(page, "document.documentElement.scrollWidth - innerWidth <= 1")  # the figure follows a moment later


def test_a_link_in_the_text_sets_what_it_says_and_all_else_to_its_default(at, lesson):
    at_its_break(at, lesson)
    links = at.locator("a[data-knobs]:not(rl-widget *)")
    assert links.count() >= 2
    links.first.click()
    at.evaluate("python.stop()")  # the knobs are turned at once, and their run is of no interest
    asked = dict(parse_qsl(links.first.get_attribute("data-knobs")))
    now = at.evaluate(
        "import(document.querySelector('script[src$=\"assets/widget.js\"]').src.replace('widget', 'knobs'))"
        ".then(({ knobs }) => knobs(document.querySelector('rl-widget form')))"
    )
    default = query(host.widget(lesson.widget).Knobs())
    assert now == dict(parse_qsl(default, keep_blank_values=True)) | asked


@pytest.mark.nightly
def test_python_shows_the_native_numbers_at_every_preset(at, lesson):
    for name, knobs in host.widget(lesson.widget).PRESETS.items():
        preset(at, knobs)
        is_native(at, lesson, name)


@pytest.mark.nightly
def test_axe_finds_no_fault_in_any_light_and_width_at_rest_after_a_run_and_at_a_break(at, book, lesson):
    visit(at, book, lesson.url)
    live(at, lesson.widget)
    at.locator("[data-quiz] .because").evaluate_all("all => all.forEach((part) => { part.style.display = 'block'; })")
    show_all_knobs(at)
    assert_accessible(at, LOOKS)
    if at.locator("rl-widget .go").count():
        press(at, "rl-widget .go")
        assert_accessible(at, LOOKS, ".rl-widget")
    preset(at, next(iter(breaking(lesson.widget).values())))
    assert_accessible(at, LOOKS, ".rl-widget")


@pytest.mark.nightly
@pytest.mark.parametrize("width", [390, 1280])
def test_no_word_of_a_plot_lies_on_another_and_a_way_back_keeps_the_height(at, book, lesson, width):
    visit(at, book, lesson.url)
    at.set_viewport_size(dict(width=width, height=900))
    live(at, lesson.widget)
    until(at, DRAWN)
    at.wait_for_timeout(300)
    tall = at.evaluate(HEIGHT)
    assert at.evaluate(OVERLAPS) == []
    preset(at, next(iter(breaking(lesson.widget).values())))
    at.wait_for_timeout(300)
    assert at.evaluate(OVERLAPS) == []
    if width == 1280:
        heights = [at.evaluate(HEIGHT)]
        at.click(".back")
        at.click(".steps button >> nth=0")
        settled(at)
        heights.append(at.evaluate(HEIGHT))
        assert all(abs(height - tall) <= 1 for height in heights), (tall, heights)


@pytest.mark.nightly
def test_nothing_scrolls_sideways_at_any_of_five_widths(at):
    for width in (360, 390, 900, 1280, 1600):
        scrolls_not_sideways(at, width)
