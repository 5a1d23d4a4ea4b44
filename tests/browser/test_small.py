"""Small figures and openings in the page: they move at first paint, without Python, and are whole without scripts."""

from pathlib import Path

import pytest

from tests.browser.conftest import WITH_WIDGET, without_python

LESSONS = Path(__file__).parents[2] / "lessons"
SECOND = [lesson for lesson in WITH_WIDGET if "```opening" in (LESSONS / f"{lesson.stem}.md").read_text("utf-8")]
second_edition = pytest.mark.parametrize("lesson", SECOND, ids=lambda lesson: lesson.stem)
DRAWN = "figure => [...figure.querySelectorAll('[data-part]')].map((part) => part.innerHTML).join()"


@second_edition
def test_every_handle_moves_its_figure_before_python_and_without_it(page, book, lesson):
    without_python(page)
    page.goto(book + lesson.url)
    page.evaluate("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
    for figure in page.locator(".rl-figure").all():
        ranges, groups = figure.locator("input[type=range]"), figure.locator("fieldset")
        assert ranges.count() + groups.count() <= 1
        before = figure.evaluate(DRAWN)
        if ranges.count():
            ranges.press("Home" if ranges.input_value() == ranges.get_attribute("max") else "End")
        elif groups.count():
            figure.locator("input:not(:checked)").first.locator("xpath=..").click()
        else:
            continue
        assert figure.evaluate(DRAWN) != before, figure.get_attribute("id")


@second_edition
def test_the_opening_stands_on_the_first_screen_and_has_nothing_to_turn(page, book, lesson):
    page.set_viewport_size(dict(width=1280, height=1000))
    page.goto(book + lesson.url)
    box = page.locator(".rl-opening .panels").bounding_box()
    assert box["y"] + box["height"] <= 1000
    assert not page.locator(".rl-opening :is(input, button, select)").count()


@second_edition
def test_figures_are_whole_without_scripts(browser, book, lesson):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(book + lesson.url)
    for figure in page.locator(".rl-figure, .rl-opening").all():
        assert figure.locator("[data-part] *, svg path").count() > 3
    context.close()
