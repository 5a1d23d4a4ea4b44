"""A browser, a page that remembers what went wrong on it, and the address of the built book.

`python build.py test` builds the book, serves it below a path as GitHub Pages does, and says where: BOOK_URL,
BOOK_SITE, CHROMIUM.
"""

import json
import os
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tools.pages import lessons
from widgets.frame import host

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LIVE = "name => ['live', 'worse', 'broken'].includes(document.getElementById(name).dataset.state)"
PATIENCE = 180_000  # milliseconds: several browsers start Python at once on two cores, which others may use as well
expect.set_options(timeout=PATIENCE)
WITH_WIDGET = [lesson for lesson in lessons.finished() if lesson.widget]
OF_EACH_KIND = [
    lesson for lesson in WITH_WIDGET if lesson.stem in ("03a-kl-estimators", "09-reinforce", "20-kv-cache")
]  # closed form, training, simulation
THOROUGH = bool(
    os.environ.get("THOROUGH")
)  # every page, preset, light and width in Chromium, where it is a part of them otherwise
SOME = WITH_WIDGET if THOROUGH else OF_EACH_KIND


def built(name):
    """A file of the built book, in whatever folder the build keeps it."""
    return next(Path(os.environ["BOOK_SITE"]).glob(f"**/{name}"))


# of the snapshot, without which `python build.py test` builds nothing to be tested
RECORD = json.loads(built("vendor/snapshot.json").read_text()) if "BOOK_SITE" in os.environ else {}


def pytest_collection_modifyitems(items):
    """Without the served book there is nothing to look at; say which command serves it."""
    if "BOOK_URL" not in os.environ:
        for item in items:
            if "/browser/" in item.path.as_posix():
                item.add_marker(
                    pytest.mark.skip(
                        reason="the browser tests run by `python build.py test`, which builds and serves the book"
                    )
                )


@pytest.fixture(scope="session")
def book():
    """The address of the book, ending in a slash."""
    return os.environ["BOOK_URL"]


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser, book):
    """A page in a fresh profile; a test that uses it fails on any console error or foreign request, whatever else it
    looks at.
    """
    # A route does not see what a service worker answers; Playwright's wait_for_function needs eval, which the pages'
    # policy forbids.
    context = browser.new_context(viewport={"width": 1280, "height": 900}, service_workers="block", bypass_csp=True)
    page = watched(context.new_page(), book)
    page.set_default_timeout(PATIENCE)
    yield page
    faults = list(page.faults)  # what is broken off by closing the page is no fault of the page
    context.close()
    assert not faults, faults


def watched(page, book):
    """The page, with a list `faults` of everything that should not have happened on it."""
    page.faults = []
    page.hears = lambda message: page.faults.append(message.text) if message.type == "error" else None
    page.on("console", page.hears)
    page.on("pageerror", lambda error: page.faults.append(error.stack or str(error)))
    page.on(
        "request",
        lambda request: (
            page.faults.append(f"foreign request {request.url}")
            if not request.url.startswith((book, "data:", "blob:"))
            else None
        ),
    )
    return page


def without_python(page):
    """Python never comes: what the browser says of that is of the test's own making."""
    page.route("**/assets/worker.js", lambda route: route.abort())
    page.remove_listener("console", page.hears)


def live(page, name):
    """Wait until Python has answered and what is shown is up to date."""
    page.wait_for_function(LIVE, arg=name, timeout=PATIENCE)


def readouts(page):
    return page.locator("dl.readouts dd b").all_inner_texts()


def press(page, selector):
    """Click, and wait until the run that it starts has ended."""
    page.click(selector)
    settled(page)


def preset(page, knobs):
    """Press the preset of these knobs, found or still hidden, and wait likewise."""
    page.locator(f".presets [data-knobs='{host.query(knobs)}']").dispatch_event("click")
    settled(page)


def settled(page):
    page.wait_for_function(
        "document.querySelector('.rl-widget').dataset.state !== 'static' && "
        "document.querySelector('rl-widget').settled",
        timeout=PATIENCE,
    )
