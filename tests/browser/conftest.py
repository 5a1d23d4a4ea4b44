"""Chromium for the tests of the built book: a page in a fresh profile, pages that tests share, and what waits on them.

`python build.py test` builds the book, serves it below a path as GitHub Pages does, and says where: BOOK_URL,
BOOK_SITE, CHROMIUM. To start Python costs several processor seconds, so most tests share one page on which it runs
already (`live_page`); a test takes a page of its own (`page`) only where it changes how the page or Python starts.

A test marked `nightly` is run by the nightly job only.
"""

import json
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from _pytest.runner import runtestprotocol
from playwright.sync_api import Error, expect, sync_playwright

from tools.pages import lessons
from widgets.frame.contract import values

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 60_000  # milliseconds: several browsers start Python at once on two cores, which others may use as well
expect.set_options(timeout=PATIENCE)
WIDE = {"width": 1280, "height": 900}
WITH_WIDGET = [lesson for lesson in lessons.finished() if lesson.widget]
OF_EACH_KIND = [
    lesson for lesson in WITH_WIDGET if lesson.stem in ("03a-kl-estimators", "09-reinforce", "20-kv-cache")
]  # closed form, training, simulation
NIGHTLY = bool(os.environ.get("NIGHTLY"))
FAILED = pytest.StashKey()
AS_ON_A_FIRST_VISIT = """() => {
  const light = document.querySelector("[data-md-component=palette] label:not([hidden])");
  if (document.body.dataset.mdColorScheme === "slate") light?.click();
  localStorage.clear();
}"""


def all_at_night(*stems):
    """A parameter `lesson` that is each lesson with a widget: those named on every push, all others at night."""
    assert {*stems} <= {lesson.stem for lesson in WITH_WIDGET}
    return pytest.mark.parametrize(
        "lesson",
        [
            pytest.param(lesson, id=lesson.stem, marks=() if lesson.stem in stems else pytest.mark.nightly)
            for lesson in WITH_WIDGET
        ],
    )


def one_of_each_kind_on_a_push():
    return all_at_night(*(lesson.stem for lesson in OF_EACH_KIND))


def lesson_with(widget):
    return next(lesson for lesson in WITH_WIDGET if lesson.widget == widget)


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


def pytest_runtest_protocol(item, nextitem):
    """A test is run once more, on a new page, where Chromium itself crashed: Debian's Chromium 156 does so about once
    in two hundred changes of page, by a check of its own.
    """
    if Path(__file__).parent not in item.path.parents:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if any(re.search("(Target|Page) crashed", str(report.longrepr)) for report in reports):
        item.warn(pytest.PytestWarning("Chromium crashed, so this test was run once more"))
        item.stash[FAILED] = False
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


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


# ── pages ──
# A test fails on any console error or foreign request of its page, whatever else it looks at. No page has a service
# worker but those of test_offline.py: a route does not see what one answers. `bypass_csp` is for Playwright's
# wait_for_function, which needs eval; the pages' policy forbids it.


@pytest.fixture
def page(browser, book):
    """A page in a fresh profile."""
    context = browser.new_context(viewport=WIDE, service_workers="block", bypass_csp=True)
    page = watched(context.new_page(), book)
    yield page
    faults = list(page.faults)  # what is broken off by closing the page is no fault of the page
    context.close()
    assert not faults, faults


@pytest.fixture
def strict_page(browser, book):
    """A page in a fresh profile under its own policy, whose violations are faults."""
    context = browser.new_context(viewport=WIDE, service_workers="block")
    page = under_its_policy(watched(context.new_page(), book))
    yield page
    faults = list(page.faults)
    context.close()
    assert not faults, faults


class SharedPage:
    """One page for many tests, each of which finds it as on a first visit: nothing stored, light colors, a wide window.

    After a test that failed the next one gets a new page in a new profile.
    """

    def __init__(self, open_page):
        self.open_page, self.page = open_page, None

    def ready(self):
        if self.page is None:
            self.page = self.open_page()
        page = self.page
        page.set_viewport_size(WIDE)
        page.emulate_media(media="screen", forced_colors="none")
        if page.url.startswith("http"):
            page.evaluate(AS_ON_A_FIRST_VISIT)
        page.faults.clear()
        return page

    def give_up(self):
        if self.page is not None:
            self.page.context.close()
            self.page = None

    def lent(self, request):
        """The page for one test."""
        try:
            page = self.ready()
        except Error:  # it has crashed
            self.give_up()
            page = self.ready()
        yield page
        faults = list(page.faults)
        if faults or request.node.stash.get(FAILED, False):
            self.give_up()
        assert not faults, faults


@pytest.fixture(scope="session")
def kept_live_page(browser, book):
    """A visit to the front page and from there to a lesson, under the pages' own policy, until Python has answered."""

    def open_page():
        context = browser.new_context(viewport=WIDE, service_workers="block")
        page = under_its_policy(watched(context.new_page(), book))
        with page.expect_response("**/sitemap.xml"):  # the theme swaps pages once it has the list of them
            page.goto(book)
        page.wait_for_load_state("networkidle")
        page.evaluate("window.firstLoaded = true")  # gone once a page was loaded and not swapped in
        visit(page, book, OF_EACH_KIND[0].url)
        live(page, OF_EACH_KIND[0].widget)
        until(page, "window.Plotly")
        return page

    shared = SharedPage(open_page)
    yield shared
    shared.give_up()


@pytest.fixture
def live_page(kept_live_page, request):
    """A shared page on which Python runs: `visit` goes from page to page as a reader's click does, and it lives on."""
    yield from kept_live_page.lent(request)


@pytest.fixture(scope="session")
def kept_page_without_python(browser, book):
    def open_page():
        page = browser.new_page(viewport=WIDE, service_workers="block", bypass_csp=True)
        without_python(watched(page, book))
        return page

    shared = SharedPage(open_page)
    yield shared
    shared.give_up()


@pytest.fixture
def page_without_python(kept_page_without_python, request):
    """A shared page whose Python never comes, for what works without it."""
    yield from kept_page_without_python.lent(request)


@pytest.fixture(scope="session")
def kept_page_without_scripts(browser, book):
    def open_page():
        return watched(browser.new_page(viewport=WIDE, java_script_enabled=False), book)

    shared = SharedPage(open_page)
    yield shared
    shared.give_up()


@pytest.fixture
def page_without_scripts(kept_page_without_scripts, request):
    """A shared page on which no script runs."""
    yield from kept_page_without_scripts.lent(request)


def watched(page, book):
    """The page, with a list `faults` of everything that should not have happened on it."""
    page.set_default_timeout(PATIENCE)
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


def under_its_policy(page):
    page.on("dialog", lambda dialog: page.faults.append(f"a dialog: {dialog.message}") or dialog.dismiss())
    page.add_init_script(
        "addEventListener('securitypolicyviolation', (event) => console.error(event.violatedDirective, "
        "event.blockedURI, event.sample))"
    )
    return page


def without_python(page):
    """Python never comes: what the browser says of that is of the test's own making."""
    page.route("**/assets/worker.js", lambda route: route.abort())
    page.remove_listener("console", page.hears)


# ── going from page to page, and waiting ──


def until(page, condition):
    """Wait for an expression of the page, also under a policy that forbids eval."""
    page.evaluate(
        f"""new Promise((done, fail) => {{
            const end = Date.now() + {PATIENCE};
            const look = () => {{
                if ({condition}) done();
                else if (Date.now() > end) fail(Error({json.dumps(f"never {condition}")}));
                else setTimeout(look, 25);
            }};
            look();
        }})"""
    )


def visit(page, book, path=""):
    """Go to a page of the book as a reader's click on a link does: the theme swaps it in, and Python lives on."""
    if urlsplit(page.url).path == urlsplit(book + path).path:  # which the theme would leave as it is
        visit(page, book, "teach/")
    page.evaluate(
        """(address) => {
            window.left = document.querySelector("article");
            const link = Object.assign(document.createElement("a"), { href: address });
            document.body.append(link);
            link.click();
            link.remove();
        }""",
        book + path,
    )
    until(page, "!left.isConnected && document.querySelector('article')")
    assert page.evaluate("window.firstLoaded"), f"{path} was loaded as a new page, and Python with it"


def live(page, name):
    """Wait until Python has answered and what is shown is up to date."""
    until(page, f"['live', 'worse', 'broken'].includes(document.getElementById('{name}')?.dataset.state)")


def settled(page):
    """Wait until the run that was asked for last has ended."""
    until(
        page,
        "document.querySelector('.rl-widget').dataset.state !== 'static' && "
        "document.querySelector('rl-widget').settled",
    )


def readouts(page):
    return page.locator("dl.readouts dd b").all_text_contents()


def press(page, selector):
    """Click, and wait until the run that it starts has ended."""
    page.click(selector)
    settled(page)


def preset(page, knobs):
    """Press the preset of these knobs, found or still hidden, and wait likewise."""
    page.locator(f"rl-widget [data-promise][data-knobs='{values.query(knobs)}']").dispatch_event("click")
    settled(page)


def guess(page):
    """A reader's first act, after which the presets are there: the first answer; and wait until it has been run."""
    press(page, ".answer >> nth=0")


def show_all_knobs(page):
    """Open the column beside the picture, if it is not open."""
    if page.get_attribute("[data-all-knobs]", "aria-expanded") != "true":
        page.click("[data-all-knobs]")


def open_menu(page, name):
    """Export, Code or Challenges ("goals") at the foot of the widget."""
    page.click(f".foot [popovertarget$='-{name}']")


def change_it(page):
    """Open the function of the book that readers change."""
    open_menu(page, "code")
    page.click("rl-widget .edit")


def labels_are_those_of(page, frame):
    """What is said of the plots in view is said of the run that they show."""
    for plot in page.locator(".panels:not([hidden]) .plot").all():
        panel = frame["panels"][int(plot.get_attribute("data-panel"))]
        said = plot.locator("xpath=..").locator(".cap").inner_text()
        assert " ".join(said.split()) == f"{panel['title']} {panel['note']}".replace("_", "").replace("▮ ", "")
        expect(plot).to_have_attribute("aria-label", panel["alt"])
