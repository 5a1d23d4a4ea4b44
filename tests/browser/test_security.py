"""What an address may do to the pages, and a script that finds its way into one. That no lesson does what its policy
forbids is seen in test_tour.py and test_first_load.py, what the policy says in test_built_pages.py.
"""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import lesson_with, live, settled, visit
from widgets.frame.reader import host

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    '"><script>alert(1)</script>',
    "javascript:alert(1)",
    "__proto__",
    "1e999",
    "NaN",
    "",
    "9" * 400,
    "\u202e%00",
]


@pytest.mark.parametrize("path", ["", "404.html", "code/sim/estimators/kl.py.html"])
def test_no_page_without_a_widget_does_what_its_policy_forbids(strict_page, book, path):
    strict_page.goto(book + path)
    strict_page.wait_for_timeout(300)


def test_a_script_that_finds_its_way_into_a_page_does_not_run(browser, book):
    page = browser.new_page()
    page.goto(book)
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 1\">')")
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<iframe srcdoc=\"<script>parent.ran = 1</script>\"></iframe>')"
    )
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = 1' }))"
    )
    assert page.evaluate("new Promise((resolve) => setTimeout(() => resolve(window.ran), 500))") is None
    page.context.close()


def hostile(lesson):
    names = list(host.widget(lesson.widget).Knobs.__dataclass_fields__)
    fields = [(names[i % len(names)], value) for i, value in enumerate(HOSTILE)] + [(value, "1") for value in HOSTILE]
    query = "&".join(f"{quote(name)}={quote(value)}" for name, value in fields)
    return f"{lesson.url}?{query}#{quote(HOSTILE[0])}"


def treats_an_address_as_data(page, lesson):
    live(page, lesson.widget)
    assert page.locator("img[src=x], script:text('alert')").count() == 0
    expect(page.locator(".note").first).to_contain_text(HOSTILE[0])  # shown as it was written
    page.locator(".presets [data-knobs]:visible, .answer:visible").last.click()  # and the page goes on working
    settled(page)


@pytest.mark.parametrize("widget", ["kl_estimators", pytest.param("reinforce", marks=pytest.mark.nightly)])
def test_what_an_address_says_of_the_knobs_stays_data(live_page, book, widget):
    lesson = lesson_with(widget)
    visit(live_page, book, hostile(lesson))
    treats_an_address_as_data(live_page, lesson)


def test_what_an_address_says_of_the_knobs_stays_data_when_it_is_loaded_first(strict_page, book):
    lesson = lesson_with("kv_cache")
    strict_page.goto(book + hostile(lesson))
    treats_an_address_as_data(strict_page, lesson)
