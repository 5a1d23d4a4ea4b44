"""Small figures and openings in the page: they stand on the first screen and move at first paint, without Python."""

import pytest

from tests.browser.conftest import WITH_WIDGET, without_python

DRAWN = "figure => [...figure.querySelectorAll('[data-part]')].map((part) => part.innerHTML).join()"


@pytest.mark.parametrize("lesson", WITH_WIDGET, ids=lambda lesson: lesson.stem)
def test_the_opening_stands_on_the_first_screen_and_every_handle_moves_its_figure_without_python(page, book, lesson):
    without_python(page)
    page.set_viewport_size(dict(width=1280, height=1000))
    page.goto(book + lesson.url)
    box = page.locator(".rl-opening .panels").bounding_box()
    assert box["y"] + box["height"] <= 1000
    assert not page.locator(".rl-opening :is(input, button, select)").count()
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
