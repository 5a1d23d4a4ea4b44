"""What the pages may load and run, and what an address may do to them."""

import os
import re
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.browser.conftest import OF_EACH_KIND, PATIENCE, SOME, WITH_WIDGET, watched
from widgets.frame import host

SITE = Path(os.environ.get("BOOK_SITE", "no-such-folder"))
PAGES = sorted(
    path.relative_to(SITE).as_posix().removesuffix("index.html")
    for path in SITE.rglob("*.html")
    if "code" not in path.parts
)
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
DONE = (
    "document.documentElement.dataset.python && ['live', 'worse', 'broken', "
    "'error'].includes(document.querySelector('.rl-widget').dataset.state)"
)


@pytest.fixture
def strict(browser, book):
    """A page under its own policy, which the other tests' pages put aside: Playwright's wait_for_function needs
    eval.
    """
    context = browser.new_context(service_workers="block")
    page = watched(context.new_page(), book)
    page.set_default_timeout(PATIENCE)
    page.on("dialog", lambda dialog: page.faults.append(f"a dialog: {dialog.message}") or dialog.dismiss())
    page.add_init_script(
        "addEventListener('securitypolicyviolation', (event) => console.error(event.violatedDirective, "
        "event.blockedURI, event.sample))"
    )
    yield page
    faults = list(page.faults)
    context.close()
    assert not faults, faults


def until(page, expression):
    end = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never {expression}"
        page.wait_for_timeout(50)


def policy(text):
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    return {rule.split()[0]: rule.split()[1:] for rule in found[1].split(";")}


@pytest.mark.parametrize("path", PAGES)
def test_every_page_names_what_it_may_load_before_it_loads_anything(path):
    text = (SITE / (path + "index.html" if path.endswith("/") or not path else path)).read_text()
    rules = policy(text)
    assert text.index("Content-Security-Policy") < min(text.index("<script"), text.index('<link rel="stylesheet'))
    assert rules["default-src"] == rules["script-src"][:1] == ["'self'"]
    assert all(
        source.startswith("'sha256-") for source in rules["script-src"][1:]
    )  # no host, no eval, no inline script but these
    assert 3 <= len(rules["script-src"][1:]) <= 6  # the theme's three, the first of them once for each depth of folders


@pytest.mark.parametrize(
    "path",
    dict.fromkeys(
        ["", "404.html", "code/sim/estimators/kl.py.html", "07-controller/", *(lesson.url for lesson in SOME)]
    ),
)
def test_no_page_does_what_its_policy_forbids(strict, book, path):
    strict.goto(book + path)
    if strict.locator(".rl-widget").count():
        until(strict, DONE)
        strict.locator(".presets [data-knobs]:not([hidden])").last.click()
        until(strict, "document.querySelector('.plot .main-svg') && true")
    strict.wait_for_timeout(300)


def test_a_page_that_the_theme_brings_in_keeps_to_the_policy_too(strict, book):
    strict.goto(book, wait_until="networkidle")  # the theme swaps pages once it has the list of them
    strict.evaluate(
        "stem => { window.same = 1; document.querySelector(`.md-content a[href*='${stem}']`).click(); }",
        WITH_WIDGET[0].stem,
    )
    until(strict, f"document.querySelector('.rl-widget') && {DONE}")
    assert strict.evaluate("window.same")


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


@pytest.mark.parametrize("lesson", OF_EACH_KIND, ids=lambda lesson: lesson.stem)
def test_what_an_address_says_of_the_knobs_stays_data(strict, book, lesson):
    names = list(host.widget(lesson.widget).Knobs.__dataclass_fields__)
    fields = [(names[i % len(names)], value) for i, value in enumerate(HOSTILE)] + [(value, "1") for value in HOSTILE]
    strict.goto(
        f"{book}{lesson.stem}/?"
        + "&".join(f"{quote(name)}={quote(value)}" for name, value in fields)
        + "#"
        + quote(HOSTILE[0])
    )
    until(strict, DONE)
    assert strict.locator("img[src=x], script:text('alert')").count() == 0
    assert HOSTILE[0] in strict.inner_text(".note")  # shown as it was written
    strict.locator(".presets [data-knobs]:not([hidden])").last.click()  # and the page goes on working
    until(strict, "document.querySelector('rl-widget').settled")
