"""A log of a reader's own, in the page: read in pieces, asked again, refused as text, and sent nowhere."""

import pytest
from playwright.sync_api import expect

from sim import framework_logs
from sim.experiments import tracelab
from tests.browser.accessibility import LOOKS, assert_accessible
from tests.browser.conftest import until, visit

PAGE = "doctor/"
ANSWERED = "['fired', 'quiet', 'refused', 'stopped'].includes(document.querySelector('run-doctor').dataset.state)"
FILE = "run.jsonl"
DROP = """([name, text]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  for (const kind of ["dragover", "drop"]) {
    const event = new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true });
    document.querySelector(".drop").dispatchEvent(event);
    if (!event.defaultPrevented) throw new Error(`the browser would open the file: ${kind}`);
  }
}"""


@pytest.fixture(scope="module")
def log():
    run = tracelab.trace(tracelab.Setting(**tracelab.KINDS["kl_explosion"]), seed=0)
    return framework_logs.export(run, "verl, JSONL")[FILE]


@pytest.fixture
def reader(live_page, book):
    """The page that reads logs, brought in by the theme."""
    visit(live_page, book, PAGE)
    until(live_page, "document.querySelector('run-doctor')?.form")
    return live_page


def said(page):
    until(page, ANSWERED)
    return page.inner_text("run-doctor .verdict")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_log_is_dropped_read_drawn_and_asked_again(reader, log, width):
    page = reader
    page.set_viewport_size(dict(width=width, height=900))
    assert page.get_attribute("run-doctor", "data-state") == "static"
    page.evaluate(DROP, [FILE, log])
    assert said(page).startswith("Test 5 fired first.")
    assert page.get_attribute("run-doctor", "data-state") == "fired"
    expect(page.locator("[data-quantity=entropy] .main-svg").first).to_be_visible()
    expect(page.locator("[data-quantity=zero_variance]")).to_be_hidden()
    assert "/10-ppo/" in page.locator(".next a").first.evaluate("(link) => link.href")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.click("summary:has-text('Thresholds')")
    for name in ("entropy_jump", "entropy_left"):
        page.fill(f"[name={name}]", "0")
        page.locator(f"[name={name}]").blur()
    expect(page.locator("run-doctor .verdict")).to_contain_text("No test fired, and something looks wrong")
    page.select_option("[name=held_out]", label=framework_logs.HELD_OUT["verl"])
    expect(page.locator("run-doctor .verdict")).to_contain_text("6 of 7 tests ran")


def test_the_recorded_log_can_be_asked_again_too(reader):
    page = reader
    page.select_option("[name=held_out]", index=0)
    assert said(page).startswith("Nothing that this log can show; 6 of 7 tests ran.")
    page.select_option("[name=held_out]", label=framework_logs.HELD_OUT["TRL"])
    expect(page.locator("run-doctor .verdict")).to_contain_text("Test 4 fired first.")


def test_by_keyboard_a_text_is_pasted_and_refused_as_text(reader):
    page = reader
    page.focus("summary:has-text('Paste it')")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.insert_text("dear <img src=x onerror=alert(1)> diary")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert said(page).startswith("No row of a log was found in 1 line.")
    page.fill("[name=text]", "step,<img src=x>,<b>y</b>\n1,2,3\n")
    page.evaluate("document.querySelector('run-doctor').dataset.state = ''")
    page.click(".paste")
    assert "“<b>y</b>”" in said(page) and page.locator("run-doctor img").count() == 0


def test_a_log_that_is_refused_leaves_no_answer_of_the_one_before_and_opens_the_fold_it_names(reader, log):
    page = reader
    page.evaluate(DROP, [FILE, log])
    said(page)
    page.evaluate("document.querySelector('run-doctor').dataset.state = ''")
    page.evaluate(DROP, ["chart.csv", '"Step","a - train/reward","b - train/reward"\n1,2,3\n'])
    assert said(page).startswith("The file holds 2 runs, “a”, “b”: name one of them")
    for place in (".answer", ".next", ".whose"):
        expect(page.locator(f"run-doctor {place}")).to_be_hidden()
    page.fill("[name=run]", "b")  # its fold is open
    page.evaluate("document.querySelector('run-doctor').dataset.state = ''")
    page.locator("[name=run]").blur()
    assert said(page).startswith("Rows of training in the log: 1.")


def test_what_was_stopped_is_not_asked_again(reader, log):
    page = reader
    page.evaluate("document.querySelectorAll('run-doctor details').forEach((fold) => { fold.open = true; })")
    page.evaluate(DROP, ["long.csv", "step,reward\n" + "1,0.5\n" * 1_000_000])
    until(page, "document.querySelector('progress').value > 0")
    page.click("run-doctor .stop")
    page.fill("[name=length]", "2")
    page.locator("[name=length]").blur()
    page.wait_for_timeout(1000)
    assert said(page) == "Stopped."
    page.evaluate("document.querySelector('run-doctor').dataset.state = ''")
    page.evaluate(DROP, [FILE, log])
    assert said(page).startswith("Test 5 fired first.")


def test_on_paper_there_is_nothing_to_press(reader):
    page = reader
    page.emulate_media(media="print")
    for place in page.locator("run-doctor form > :is(details, .take, .ask)").all():
        expect(place).to_be_hidden()
    expect(page.locator("run-doctor .verdict")).to_be_visible()


def test_nothing_leaves_the_page_and_nothing_is_kept(page, book, log):
    page.goto(book + PAGE)
    page.evaluate(DROP, [FILE, log])
    said(page)
    until(page, "document.querySelector('[data-quantity=reward] .main-svg')")
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    page.evaluate("document.querySelector('run-doctor').dataset.state = ''")
    page.evaluate(DROP, [FILE, log])
    said(page)
    assert sent == []
    assert not page.evaluate("Object.values(localStorage).some((text) => text.includes('critic'))")


@pytest.mark.parametrize("looks", [LOOKS[:2], pytest.param(LOOKS[2:], marks=pytest.mark.nightly)])
def test_axe_finds_no_fault_in_any_fold(reader, log, looks):
    page = reader
    page.evaluate(DROP, [FILE, log])
    said(page)
    page.evaluate("document.querySelectorAll('run-doctor details').forEach((fold) => { fold.open = true; })")
    assert_accessible(page, looks)


def test_a_page_without_scripts_shows_what_was_recorded_and_the_command(page_without_scripts, book):
    page = page_without_scripts
    page.goto(book + PAGE)
    assert "Test 4 fired first." in page.inner_text("run-doctor .verdict")
    expect(page.locator("run-doctor .take")).to_be_hidden()
    expect(page.locator("run-doctor svg.still").first).to_be_visible()
    assert "python -m sim.doctor" in page.inner_text("article")
