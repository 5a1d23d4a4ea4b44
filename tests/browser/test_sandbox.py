"""Readers' code runs in a sandbox: whatever it reaches, no request leaves, nothing is stored, and there is no page."""

import json
import os

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import FLAGS, PATIENCE, change_it
from tests.widgets.verifiers.test_editable import RIGHT
from tools.runtime.serve import Handler, Server

LESSON = "18-verifiers/"
STATE = "data-state"
OPEN = """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; connect-src *; worker-src data:;
    script-src * data: 'unsafe-eval'">"""

# Each sends a request to `at`. Code in a worker can do what JavaScript can do there, so this is the whole of it.
REQUESTS = {
    "fetch": "delete self.fetch; await fetch(at, { mode: 'no-cors' })",
    "XMLHttpRequest": "const x = new XMLHttpRequest(); x.open('GET', at, false); x.send()",
    "WebSocket": "await ends(new WebSocket(at.replace('http', 'ws')))",
    "EventSource": "await ends(new EventSource(at))",
    "import": "await import(at)",
    "FontFace": "await new FontFace('a', `url(${at})`).load()",
    "Worker": """await ends(new Worker(`data:text/javascript,fetch("${at}", { mode: "no-cors" })
        .finally(() => postMessage(1))`))""",
}
# Each reaches something that outlives the worker, or another window.
PLACES = {
    "indexedDB": "indexedDB.open('a')",
    "caches": "await caches.open('a')",
    "files": "await navigator.storage.getDirectory()",
    "locks": "await navigator.locks.request('a', () => {})",
}
NOWHERE = ["localStorage", "sessionStorage", "document", "parent", "opener", "top", "cookieStore"]
TRIED = """async (address) => {
    const ends = (one) => new Promise((done) => { one.onmessage = one.onopen = one.onerror = one.onclose = done; });
    const reached = [];
    for (const [name, way] of Object.entries({ WAYS })) {
        const tried = way(address + name).then(() => reached.push(name), () => {});
        await Promise.race([tried, new Promise((later) => setTimeout(later, 2000))]);
    }
    return reached;
}"""
WAYS = ", ".join(f"{name}: async (at) => {{ {way} }}" for name, way in (REQUESTS | PLACES).items())
TRY = TRIED.replace("WAYS", WAYS)

# The ways from Python to the browser's side; it says what has opened, and is a right verifier.
PROGRAM = (
    """
import importlib, sys

AT = "ADDRESS"
opened = []

def tried(name, way):
    try:
        way(AT + name)
    except BaseException:
        return
    opened.append(name)

def asked(at, js):
    request = js.XMLHttpRequest.new()
    request.open("GET", at, False)
    request.send()

load = importlib.import_module
js, browser = load("js"), load("pyodide_js")
SENT = "const x = new XMLHttpRequest(); x.open('GET', '%s', false); x.send()"
tried("importlib", lambda at: asked(at, js))
tried("__import__", lambda at: asked(at, __import__("js")))
tried("sys.modules", lambda at: asked(at, sys.modules["js"]))
tried("pyodide_js", lambda at: asked(at, browser.runPython("import js; js")))
tried("run_js", lambda at: load("pyodide.code").run_js(SENT % at))
tried("eval", lambda at: js.eval(SENT % at))
tried("Function", lambda at: js.Function.new(SENT % at)())
tried("storage", lambda at: js.indexedDB.open("a"))
tried("parent", lambda at: js.parent.document)
for way in (js.fetch, browser.loadPackage, js.WebSocket.new):  # these answer later, or never
    try:
        way(AT + "later")
    except BaseException:
        pass
print("opened:", *opened)
"""
    + RIGHT
)


class Counting(Handler):
    def do_GET(self):
        self.server.asked.append(self.path.rpartition("/")[2])
        super().do_GET()


@pytest.fixture
def outside(tmp_path):
    """A server that hears of every request that leaves."""
    with Server(tmp_path, port=8900, handler=Counting) as server:
        server.asked = []
        yield server


@pytest.fixture(scope="module")
def open_browser(browser):
    """Chromium without its own guard of 127.0.0.1, which would hold back what the policies should."""
    flags = [*FLAGS, "--disable-features=LocalNetworkAccessChecks"]
    opened = browser.browser_type.launch(executable_path=os.environ["CHROMIUM"], args=flags)
    yield opened
    opened.close()


@pytest.fixture
def page(open_browser):
    """A page under the policies of the book, which other tests put aside."""
    context = open_browser.new_context(viewport=dict(width=1280, height=900), service_workers="block")
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    yield page
    context.close()


def runs(page, text):
    """(state, sentence, what was printed) of a reader's code. On a busy machine a run may outlast its 1.9 seconds, of
    which other tests know: it is asked again.
    """
    code = page.locator("own-code")
    code.scroll_into_view_if_needed()
    expect(code.locator(".cm-content")).to_be_visible()
    for _ in range(4):
        code.evaluate("(code, text) => { code.field.value = text; code.querySelector('.go').click(); }", text)
        expect(code).not_to_have_attribute(STATE, "running")
        if code.get_attribute(STATE) != "stopped" or "no answer for" not in code.locator("[role=status]").inner_text():
            break
    return code.get_attribute(STATE), code.locator("[role=status]").inner_text(), code.locator(".beside").inner_text()


def nothing_leads_out(page, outside):
    """Of the sandboxed worker of the page."""
    worker = next(worker for worker in page.workers if worker.url.startswith("data:"))
    reached = worker.evaluate(TRY, outside.address)
    assert outside.asked == [] and not set(PLACES) & set(reached)
    assert worker.evaluate("(names) => names.filter((name) => self[name])", NOWHERE) == []


@pytest.mark.slow
def test_a_readers_code_sends_and_stores_nothing_and_the_right_code_around_it_runs(page, book, outside):
    page.goto(book + LESSON)
    state, said, printed = runs(page, PROGRAM.replace("ADDRESS", outside.address))
    assert state == "your code" and said.startswith(
        "0 of 16 correct answers are rejected, and 0 of 24 exploits are accepted."
    )
    assert printed == "Printed:\nopened:" and outside.asked == []
    assert runs(page, "import js\njs.indexedDB.open('a')")[1].startswith("Line 2: JsException: SecurityError")
    assert runs(page, RIGHT)[0] == "your code"
    nothing_leads_out(page, outside)

    # the control: in the worker of the page, which is in no sandbox, every one of these ways leads out
    expect(page.locator(".rl-widget")).to_have_attribute(STATE, "live")
    worker = next(worker for worker in page.workers if worker.url.endswith("/assets/worker.js"))
    reached = worker.evaluate(TRY, outside.address)
    assert set(outside.asked) == set(REQUESTS) and set(PLACES) <= set(reached)


@pytest.mark.slow
def test_what_reads_a_log_sends_and_stores_nothing(page, book, outside):
    page.goto(book + "doctor/")
    page.click("[data-sample] >> nth=1")
    expect(page.locator("run-doctor")).to_have_attribute(STATE, "fired")
    nothing_leads_out(page, outside)


@pytest.mark.slow
def test_with_another_policy_python_finds_the_ways(page, book, outside):
    """The control of the test above."""
    page.route("**/assets/sandbox.htm", lambda route: route.fulfill(body=OPEN, content_type="text/html"))
    page.goto(book + LESSON)
    runs(page, PROGRAM.replace("ADDRESS", outside.address))
    assert {"importlib", "__import__", "sys.modules", "pyodide_js", "run_js", "eval", "Function"} <= set(outside.asked)


def test_without_a_policy_no_readers_code_runs(page, book):
    page.route("**/assets/sandbox.htm", lambda route: route.fulfill(body="<p>Not found", content_type="text/html"))
    page.goto(book + LESSON)
    state, said, _ = runs(page, RIGHT)
    assert (state, said[:26]) == ("stopped", "Python could not be loaded")


@pytest.mark.slow
def test_what_a_changed_function_sends_draws_the_figure_and_nothing_else(page, book, outside):
    """The page draws it, and is in no sandbox."""
    page.goto(book + "11-grpo/")
    change_it(page)
    code = page.locator("change-code")
    expect(code.locator(".cm-content")).to_be_visible()
    html = f"<img src='{outside.address}img'><meta http-equiv=refresh content='0;url={outside.address}refresh'>"
    text = "import json\ndumps = json.dumps\njson.dumps = lambda *a, **k: dumps(*a, **k)"
    text += f'.replace(\'"caption": "\', \'"caption": "\' + {json.dumps(html.replace("<", chr(92) + "u003c"))})\n'
    code.evaluate(
        "(code, text) => { code.field.value = text + code.ours + ' '; code.querySelector('.go').click(); }", text
    )
    expect(code).to_have_attribute(STATE, "your code")
    expect(page.locator("rl-widget .cap").first).to_contain_text("‹img")
    assert page.locator(".cap img, .cap meta").count() == 0 and outside.asked == []
