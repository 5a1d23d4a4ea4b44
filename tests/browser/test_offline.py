"""The book with the cable pulled: what was opened works, what was not says so, all of it can be kept, and no page ever
mixes two builds.
"""

import json
import os
import re
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, lesson_with, live, press
from tools.pages import lessons
from tools.runtime import offline
from tools.runtime.serve import Handler, Server

SITE = Path(os.environ.get("BOOK_SITE", "."))
FIRST, SECOND = lesson_with("kl_estimators"), lesson_with("kv_cache")
KEPT = (
    "async () => !!(await "
    "caches.match(document.querySelector('script[src$=\"/assets/offline.js\"]').src.replace('assets/offline.js', "
    "'files.json')))"
)
BUILD = "document.querySelector('link[href*=\"/assets/style.css\"]').href.match(/build-\\w+/)[0]"


class Recorder(Handler):
    """Serves as GitHub Pages does, notes what was asked for, and hangs up on what is in `lost`."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path in self.server.lost:
            self.close_connection = True
        else:
            super().do_GET()


class Desk:
    """A server of our own below a path, a fresh browser profile, and the cable between them."""

    base = "/some-repo/"

    def __init__(self, browser, site, live=False):
        self.stack = ExitStack()
        self.server = Server(site, port=8600, base=self.base, live=live, handler=Recorder)
        self.server.asked, self.server.lost = [], set()
        self.stack.enter_context(self.server)
        self.address = self.server.address
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, bypass_csp=True)

    def page(self):
        page = self.context.new_page()
        page.set_default_timeout(PATIENCE)
        page.failed = []
        page.on(
            "requestfailed",
            lambda request: page.failed.append(request.url) if "ABORTED" not in request.failure else None,
        )  # by leaving the page
        page.on("pageerror", lambda error: page.failed.append(str(error)))
        return page

    def opened(self, url):
        page = self.page()
        page.goto(self.address + url)
        return page

    def pull_the_cable(self):
        self.context.set_offline(True)
        self.stack.close()  # and nobody is at its other end

    def leave(self):
        self.context.close()
        self.stack.close()


@pytest.fixture
def desk(browser):
    desk = Desk(browser, SITE)
    yield desk
    desk.leave()


def kept(page):
    """Wait until this browser keeps all that the page's build runs on."""
    for _ in range(PATIENCE // 250):
        if page.evaluate(KEPT):
            return
        page.wait_for_timeout(250)
    raise AssertionError("not kept")


def test_a_lesson_that_was_opened_works_with_the_cable_pulled_and_others_say_that_they_are_not_kept(desk):
    page = desk.opened(FIRST.url)
    live(page, FIRST.widget)
    kept(page)
    # these are for a start without the snapshot
    assert not [path for path in desk.server.asked if path.endswith((".zip", ".whl"))]
    desk.pull_the_cable()
    page.reload()
    live(page, FIRST.widget)
    press(page, ".presets [data-knobs]:visible, .answer:visible >> nth=1")
    assert not page.failed
    assert page.goto(desk.address + SECOND.url).status == 503
    expect(page.locator("h1")).to_have_text("This page is not kept on this device")
    page.click("text=go to the index")
    expect(page.locator("h1")).to_contain_text("from first principles")


def test_nothing_is_kept_before_python_has_started(desk):
    """On a slow link keeping the files would take the bytes that Python waits for."""
    page, held = desk.page(), []
    page.route("**/vendor/snapshot-*.bin", lambda route: held.append(route))
    page.goto(desk.address + FIRST.url)
    page.wait_for_timeout(5000)  # longer than offline.js waits once Python is there
    assert held and page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0
    page.unroute("**/vendor/snapshot-*.bin")  # and what was held goes on
    live(page, FIRST.widget)
    kept(page)


@pytest.mark.nightly
def test_the_whole_book_can_be_kept(desk):
    page = desk.opened("")
    expect(page.get_by_role("button", name=re.compile(r"Keep everything offline \(\d\d MB\)"))).to_be_visible()
    page.get_by_role("button", name="Keep everything").click()
    expect(page.locator("keep-offline progress")).to_be_visible()
    expect(page.locator("keep-offline")).to_contain_text("Complete", timeout=PATIENCE)
    desk.pull_the_cable()
    page.reload()
    expect(page.locator("keep-offline")).to_contain_text("Complete", timeout=PATIENCE)
    for lesson in lessons.finished():
        page.goto(desk.address + lesson.url)
        expect(page.locator("p.question")).to_be_visible()
        assert page.locator("dl.readouts dd a").first.get_attribute("href") if lesson.widget else True
    live(page, lesson.widget)
    page.goto(page.evaluate("document.querySelector('dl.readouts dd a').href"))
    expect(page.locator(".codehead")).to_be_visible()
    assert not page.failed


@pytest.mark.nightly
def test_keeping_goes_on_where_it_was_interrupted(desk):
    page = desk.opened("")
    desk.server.lost.add("/some-repo/10-ppo/")
    page.get_by_role("button", name="Keep everything").click()
    expect(page.locator("keep-offline")).to_contain_text("Press again to continue", timeout=PATIENCE)
    assert re.search(r"\d\d\.\d of \d\d\.\d MB are kept", page.locator("keep-offline output").inner_text())
    desk.server.lost.clear()
    desk.server.asked.clear()
    page.reload()
    expect(page.locator("keep-offline output")).to_contain_text("MB are kept")
    page.get_by_role("button", name="Keep everything").click()
    expect(page.locator("keep-offline")).to_contain_text("Complete", timeout=PATIENCE)
    assert "/some-repo/10-ppo/" in desk.server.asked
    assert not [path for path in desk.server.asked if "/vendor/" in path or "/code/" in path]


def another_build(site, marks):
    """A copy of the built pages, as if text had been added to files of assets/ before the build."""
    (old,) = site.glob("build-*")
    for name in offline.RUNTIME:
        (old / name).rename(site / name)
    shutil.rmtree(old)
    for page in site.rglob("*.html"):
        page.write_text(page.read_text(encoding="utf-8").replace(f"{old.name}/", ""), encoding="utf-8")
    for name, text in marks.items():
        path = site / "assets" / name
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
    offline.seal(site)


@pytest.fixture
def two_builds(tmp_path, browser):
    """A desk with the book on it, and what puts the next build in its place."""
    for name in ("site", "next"):
        shutil.copytree(SITE, tmp_path / name)
    desk = Desk(browser, tmp_path / "site")
    for name in ("site", "next"):
        sitemap = tmp_path / name / "sitemap.xml"  # the theme swaps pages only at the address it was built for
        sitemap.write_text(sitemap.read_text().replace(os.environ["BOOK_URL"], desk.address))
    another_build(
        tmp_path / "next",
        {"widget.js": "globalThis.second = true;", "worker.js": "// second", "style.css": "body{--second:1}"},
    )

    def deploy():
        (tmp_path / "site").rename(tmp_path / "last")
        (tmp_path / "next").rename(tmp_path / "site")

    yield desk, deploy
    desk.leave()


@pytest.mark.slow  # two copies of the book
def test_an_open_page_keeps_its_build_and_the_next_one_is_all_new(two_builds):
    desk, deploy = two_builds
    page, other = desk.opened(FIRST.url), desk.opened(SECOND.url)
    live(page, FIRST.widget)
    kept(page)
    other.reload()  # now the service worker answers for it
    live(other, SECOND.widget)
    was, answers = page.evaluate(BUILD), []
    deploy()

    # the other page's interpreter ends and starts again: on the old files, which the server has no longer
    other.on("response", lambda response: answers.append((response.url, response.status)))
    for worker in other.workers:
        worker.evaluate("setTimeout(() => { throw new Error('the end') })")
    other.wait_for_function("document.querySelector('rl-widget').closest('figure').dataset.state === 'error'")
    other.locator("rl-widget input[type=range]").first.press("ArrowRight")
    live(other, SECOND.widget)
    assert answers and all(was in url and status == 200 for url, status in answers)

    # the next page is the new build's, whole: the theme may not put it into the old one
    page.locator(f"a[href$='{SECOND.url}']").first.dispatch_event("click")
    page.wait_for_function("globalThis.second && document.querySelector('rl-widget')")
    live(page, SECOND.widget)
    assert page.url == desk.address + SECOND.url and page.evaluate(BUILD) != was
    assert page.evaluate("getComputedStyle(document.body).getPropertyValue('--second')") == "1"
    assert not [
        url for url in page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)") if was in url
    ]

    # pages opened under the old build are renewed with the rest: offline, too, nothing is mixed
    kept(page)
    page.wait_for_function(
        f"async (url) => (await (await caches.match(url)).text()).includes({BUILD})", arg=desk.address + FIRST.url
    )
    desk.pull_the_cable()
    page.goto(desk.address + FIRST.url)
    live(page, FIRST.widget)
    assert page.evaluate("globalThis.second") and page.evaluate(BUILD) != was


@pytest.mark.slow
def test_an_update_fetches_only_what_has_changed(two_builds):
    desk, deploy = two_builds
    page = desk.opened(FIRST.url)
    kept(page)
    deploy()
    desk.server.asked.clear()
    page.reload()
    live(page, FIRST.widget)
    kept(page)
    fetched = {path.split("/", 3)[3] for path in desk.server.asked if "/build-" in path}
    assert fetched == {"files.json", "assets/widget.js", "assets/worker.js", "assets/style.css"}


def test_while_the_book_is_being_written_no_service_worker_comes_between(browser):
    desk = Desk(browser, SITE, live=True)
    page = desk.opened(FIRST.url)
    live(page, FIRST.widget)
    page.wait_for_timeout(4000)
    assert page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0
    desk.leave()


def test_a_browser_without_service_workers_is_told_so(desk):
    desk.context.add_init_script("Object.defineProperty(Navigator.prototype, 'serviceWorker', { value: undefined })")
    page = desk.opened("")
    expect(page.locator("keep-offline")).to_contain_text("This browser does not keep pages")
    expect(page.get_by_role("button", name="Keep everything")).to_be_hidden()
    assert not page.failed


def test_the_book_can_be_installed(desk):
    page = desk.opened("")
    address = page.evaluate("document.querySelector('link[rel=manifest]').href")
    manifest = page.request.get(address).json()
    assert address == desk.address + "manifest.webmanifest" and manifest["start_url"] == manifest["scope"] == "./"
    for icon in manifest["icons"]:
        size = page.evaluate(
            "async (src) => { const i = new Image(); i.src = src; await i.decode(); return `${i.width}x${i.height}`; }",
            desk.address + icon["src"],
        )
        assert size == icon["sizes"]
    errors = desk.context.new_cdp_session(page).send("Page.getAppManifest")["errors"]
    assert not errors, json.dumps(errors)
