"""A function that readers edit: it runs when asked, is ended when it does not end, and says what is wrong. That it
leads nowhere is seen in test_sandbox.py.
"""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, built, live, press, watched
from tests.browser.test_offline import desk, kept  # noqa: F401, a fixture
from tests.widgets.verifiers.test_editable import RIGHT

PAGE, WIDGET = "18-verifiers/", "verifiers"
STATE = "document.querySelector('own-code').dataset.state"
SCRIPT = "text/javascript"
LOOP = "def score(example, completion):\n    while True:\n        pass\n"
READY = "new Promise((ready) => python.own.listen((news) => news.ready && ready(true)))"


def opened(page, book, width=1280):
    page.set_viewport_size(dict(width=width, height=900))
    page.goto(book + PAGE)
    page.locator("own-code").scroll_into_view_if_needed()
    expect(page.locator("own-code .cm-content")).to_be_visible()


def writes(page, text):
    page.click("own-code .cm-content")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)


def runs(page, text=None):
    """The sentence of a run."""
    if text is not None:
        writes(page, text)
    page.click("own-code .go")
    page.wait_for_function(f"!['running', 'static', 'edited, not run'].includes({STATE})")
    return page.inner_text("own-code [role=status]")


def interpreters(page):
    return [one for one in page.workers if one.url.endswith("/assets/worker.js") or one.url.startswith("data:")]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_right_verifier_passes_both_suites_and_is_drawn(page, book, width):
    opened(page, book, width)
    said = runs(page)
    assert page.evaluate(STATE) == "ours" and "2 of 16 correct answers are rejected" in said
    said = runs(page, RIGHT)
    assert page.evaluate(STATE) == "your code"
    assert (
        said.startswith("0 of 16 correct answers are rejected, and 0 of 24 exploits are accepted.")
        and "0.55 solved" in said
    )
    assert page.locator("own-code tbody tr").count() == 0
    expect(page.locator("own-code .plot .main-svg").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert float(page.evaluate("getComputedStyle(document.querySelector('.cm-content')).fontSize")[:-2]) >= (
        16 if width == 390 else 14  # below 16 px a phone zooms into a field
    )


def test_a_loop_without_end_is_ended_and_the_page_lives_on(page, book):
    opened(page, book)
    live(page, WIDGET)
    runs(page)
    page.evaluate(READY)  # the next interpreter
    writes(page, LOOP)
    page.evaluate(
        """() => {
            const code = document.querySelector("own-code");
            const begun = performance.now();
            new MutationObserver(() => {
                if (code.dataset.state === "stopped") window.took = performance.now() - begun;
            }).observe(code, { attributeFilter: ["data-state"] });
            code.querySelector(".go").click();
        }"""
    )
    press(page, "[data-knobs='" + page.locator(".answer").nth(1).get_attribute("data-knobs") + "']")
    page.wait_for_function("window.took")
    assert 1800 < page.evaluate("window.took") < 3000  # 1.9 s, and what a busy machine adds
    assert page.inner_text("own-code [role=status]").startswith("Stopped: no answer for 1.9 s.")
    assert "0 of 24 exploits are accepted" in runs(page, RIGHT)


def test_what_our_code_takes_after_the_readers_has_ended_is_not_counted(page, book):
    """The training on its pay takes longer than 1.9 s in some engines and on some phones."""
    worker = built("assets/worker.js").read_text(encoding="utf-8")
    step = "const { value: frame, done } = frames.next();"
    assert step in worker
    slow = f"{step} if (!done && frame !== 'false') for (const end = Date.now() + 3000; Date.now() < end;);"
    page.route("**/assets/worker.js", lambda route: route.fulfill(body=worker.replace(step, slow), content_type=SCRIPT))
    opened(page, book)
    assert "0 of 24 exploits are accepted" in runs(page, RIGHT)


def test_a_run_is_stopped_by_hand(page, book):
    opened(page, book)
    writes(page, LOOP)
    page.click("own-code .go")
    expect(page.locator("own-code .go")).to_have_text("Stop")
    page.click("own-code .go")
    assert page.evaluate(STATE) == "stopped"
    assert "0 of 24 exploits are accepted" in runs(page, RIGHT)


def test_an_error_says_its_line_and_the_cursor_goes_there(page, book):
    opened(page, book)
    assert runs(page, "x = 1\ndef score(example, completion)\n    return 1") == "Line 2: expected ':'."
    assert page.evaluate(STATE) == "refused"
    assert page.inner_text("own-code .cm-activeLine") == "def score(example, completion)"
    runs(page, "def score(example, completion):\n    return example['answer']")
    assert page.inner_text("own-code .beside").endswith("The first: Line 2: KeyError: 'answer'.")


def test_a_run_finds_nothing_of_the_last_one(page, book):
    opened(page, book)
    runs(page, "import re\nre.left = 1\n" + RIGHT)
    assert runs(page, "import re\nre.left\n" + RIGHT).startswith("Line 2: AttributeError")


def test_the_keyboard_comes_in_and_out(page, book):
    opened(page, book)
    page.focus("own-code .cm-content")
    before = page.evaluate("document.querySelector('own-code').field.value")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('own-code').field.value") == "    " + before
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('.go')")
    page.focus("own-code .cm-content")
    page.keyboard.press("ControlOrMeta+Enter")
    page.wait_for_function(f"{STATE} !== 'running'")
    assert "IndentationError" not in page.inner_text("own-code [role=status]")
    assert page.inner_text("own-code [role=status]").startswith("Line 1: unexpected indent")


def test_what_was_written_is_kept_and_runs_only_when_asked(page, book):
    opened(page, book)
    writes(page, LOOP)
    page.reload()
    live(page, WIDGET)
    page.locator("own-code").scroll_into_view_if_needed()
    expect(page.locator("own-code .cm-content")).to_contain_text("while True")
    page.wait_for_timeout(500)
    assert page.evaluate(STATE) == "edited, not run" and len(interpreters(page)) == 1  # the widget's
    page.click("own-code .reset")
    assert "numbers" in page.inner_text("own-code .cm-content")
    page.reload()
    assert page.evaluate(STATE) == "static"


def test_paper_shows_the_code_as_it_stands(page, book):
    opened(page, book)
    writes(page, RIGHT)
    page.emulate_media(media="print")
    assert page.inner_text("own-code pre code").startswith("import re")
    assert not page.locator("own-code .cm-editor").is_visible()


def test_without_scripts_the_code_and_its_result_stand_there(browser, book):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(book + PAGE)
    assert page.inner_text("own-code pre").startswith("def score(example, completion):")
    assert "exploits are accepted" in page.inner_text("own-code [role=status]")
    assert page.locator("own-code .still").is_visible() and not page.locator("own-code textarea").is_visible()
    context.close()


def test_what_was_written_on_page_18_is_attacked_on_18b(page, book):
    opened(page, book)
    runs(page, RIGHT)
    page.goto(book + "18b-red-team/")
    page.locator("own-code").scroll_into_view_if_needed()
    expect(page.locator("own-code .cm-content")).to_be_visible()
    assert "0 of 12 shown attacks and 0 of 12 hidden ones beat it" in runs(page)
    assert page.inner_text("own-code table:last-of-type td").startswith('"""Texts that')
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("own-code th button")
    assert page.evaluate("navigator.clipboard.readText()").startswith('"""Texts that')
    page.click("own-code .reset")
    assert "3 of 12 shown attacks and 2 of 12 hidden ones beat it" in runs(page)
    page.goto(book + PAGE)
    page.locator("own-code").scroll_into_view_if_needed()
    assert page.evaluate(STATE) == "static"  # what was put back there is put back here


def test_without_the_editor_the_plain_field_works(page, book):
    page.route("**/vendor/editor.js", lambda route: route.abort())
    page.remove_listener("console", page.hears)
    page.goto(book + PAGE)
    page.locator("own-code").scroll_into_view_if_needed()
    page.fill("own-code textarea", RIGHT)
    assert "0 of 24 exploits are accepted" in runs(page)
    page.faults.clear()  # what the browser says of the editor is of the test's own making


def test_it_works_under_the_pages_own_policy(browser, book):
    context = browser.new_context(service_workers="block")
    page = watched(context.new_page(), book)
    page.goto(book + PAGE)
    page.locator("own-code").scroll_into_view_if_needed()
    expect(page.locator("own-code .cm-content")).to_be_visible()
    page.click("own-code .go")
    expect(page.locator("own-code")).to_have_attribute("data-state", "ours", timeout=PATIENCE)
    faults = list(page.faults)
    context.close()
    assert faults == []


def test_it_works_with_the_cable_pulled(desk):  # noqa: F811
    page = desk.opened(PAGE)
    kept(page)
    desk.pull_the_cable()
    page = desk.context.new_page()
    page.goto(desk.address + PAGE)
    page.locator("own-code").scroll_into_view_if_needed()
    expect(page.locator("own-code .cm-content")).to_be_visible()
    assert "0 of 24 exploits are accepted" in runs(page, RIGHT)
