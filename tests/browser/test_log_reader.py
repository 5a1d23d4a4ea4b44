"""A log of a reader's own, in the page: read in pieces, asked again, refused as text, and sent nowhere."""

import io
import json
from importlib.resources import files

import pyarrow
import pyarrow.parquet
import pytest
from playwright.sync_api import expect

from rlpt import framework_logs
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
    run = tracelab.trace(tracelab.Setting(**tracelab.KINDS["stale_rollouts"]), seed=0)
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


def test_completions_in_parquet_stand_among_the_events_of_the_log(reader):
    rows = (files("rlpt.rollouts") / "data" / "verifier.jsonl").read_text(encoding="utf-8").splitlines()
    kept = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([json.loads(row) for row in rows]), kept)
    log = (files("rlpt.doctor") / "data" / "hack-plus.csv").read_bytes()
    dropped = {"log.csv": log, "completions_00001.parquet": kept.getvalue()}
    reader.evaluate("document.querySelector('run-doctor').dataset.state = ''")
    reader.set_input_files(
        "run-doctor [name=files]", [dict(name=name, mimeType="", buffer=content) for name, content in dropped.items()]
    )
    assert said(reader) == "At step 24, the reward and another score part ways."  # as without the completions
    paid = reader.locator("run-doctor .events li", has_text="paid, not correct")
    expect(paid).to_contain_text("step 8")
    expect(paid.get_by_role("link")).to_have_attribute("href", "../rollouts/")


STALE = "the samples come from older weights."


@pytest.mark.parametrize("width", [1280, 390])
def test_a_log_is_dropped_read_drawn_and_asked_again(reader, log, width):
    page = reader
    page.set_viewport_size(dict(width=width, height=900))
    assert page.get_attribute("run-doctor", "data-state") == "static"
    page.evaluate(DROP, [FILE, log])
    assert STALE in said(page)
    assert page.get_attribute("run-doctor", "data-state") == "fired"
    expect(page.locator("run-doctor .picture .when")).to_be_visible()
    expect(page.locator("run-doctor .change")).to_contain_text("If the diagnosis is right")
    expect(page.locator("run-doctor svg.run .mark.first")).to_be_visible()
    assert page.locator("[data-sample][aria-pressed=true]").count() == 0
    assert "rewards are equal" not in page.inner_text("run-doctor .chart")  # which this log does not have
    shown = page.locator(".next li:visible a")
    assert "/22c-asynchrony/" in shown.first.evaluate("(link) => link.href")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.click("summary:has-text('Which column is which')")
    page.select_option("[name=map_gap]", label="actor/entropy")
    expect(page.locator("run-doctor .verdict")).not_to_contain_text(STALE)


def test_the_recorded_log_is_asked_without_the_score_beside_its_reward(reader):
    page = reader
    assert page.inner_text("run-doctor .verdict") == "At step 24, the reward and another score part ways."
    expect(page.locator("run-doctor .picture")).to_contain_text("rewards/exact/mean")
    page.click("summary:has-text('Which column is which')")
    page.select_option("[name=held_out]", label="none")
    expect(page.locator("run-doctor .verdict")).to_contain_text(
        "From step 42 on, every completion gets the same reward"
    )
    expect(page.locator("run-doctor .picture")).not_to_contain_text("rewards/exact/mean")
    page.select_option("[name=held_out]", label="rewards/exact/mean")
    expect(page.locator("run-doctor .verdict")).to_contain_text("part ways")


def test_arrow_keys_go_from_event_to_event_and_facts_shade_their_rows(reader):
    page = reader
    page.focus("run-doctor .time")
    lines = page.locator(".events li").all_inner_texts()
    for n in range(3):
        page.keyboard.press("ArrowRight")
        assert page.inner_text("run-doctor .event") == lines[n]
        expect(page.locator("rect.rows.now")).to_have_attribute("data-look", f"e{n}")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("run-doctor .event") == lines[1]
    page.click(".facts button >> nth=0")
    expect(page.locator("rect.rows.now")).to_have_attribute("data-look", "f0")


@pytest.mark.parametrize(
    ("n", "verdict"),
    [
        (1, "From step 26 on, the policy is destroyed."),
        (2, "The policy memorizes its prompts."),
        (3, "Nothing was found."),
    ],
)
def test_a_real_log_is_tried(reader, n, verdict):
    page = reader
    button = page.locator("[data-sample]").nth(n)
    button.click()
    assert said(page).startswith(verdict)
    expect(page.locator("[data-sample][aria-pressed=true]")).to_have_text(button.inner_text())
    signs = int(n != 3)
    expect(page.locator("run-doctor .change h3")).to_have_count(signs)
    expect(page.locator("run-doctor .next li:visible")).to_have_count(signs)


@pytest.mark.parametrize("width, height, latest", [(1280, 900, 250), (390, 844, 300)])
def test_the_answer_and_its_curve_stand_on_the_first_screen(reader, width, height, latest):
    page = reader
    page.set_viewport_size(dict(width=width, height=height))
    page.evaluate("document.fonts.ready")
    picture = page.locator("run-doctor .picture").bounding_box()
    assert picture["y"] <= latest and picture["y"] + picture["height"] <= height
    assert page.locator("run-doctor .lead").inner_text().count(" ") < 30


def test_events_are_walked_by_touch_too(reader):
    page = reader
    lines = page.locator(".events li").all_inner_texts()
    page.click("[data-way='1']")
    assert page.inner_text("run-doctor .event") == lines[0]
    page.click("[data-way='-1']")
    assert page.inner_text("run-doctor .event") == lines[-1]


def test_a_refusal_that_names_the_columns_shows_where_to_name_them_and_nothing_of_the_log_before(reader):
    page = reader
    page.locator("[data-sample]").nth(1).click()
    assert "step 26" in said(page)
    page.evaluate("document.querySelector('run-doctor').dataset.state = ''")
    page.evaluate(DROP, ["own.csv", "step,alpha,spread\n" + "".join(f"{n},0.5,0\n" for n in range(1, 41))])
    assert said(page).startswith("None of its 2 columns")
    assert page.input_value("[name=files]").endswith("own.csv")
    for place in (".shown", ".lead", ".time", ".beside", "ul.later", ".read table"):
        expect(page.locator(f"run-doctor {place}")).to_be_hidden()
    page.select_option("[name=map_reward]", "alpha")
    expect(page.locator("run-doctor .facts")).to_contain_text("The reward is 0.5 in every batch.")
    expect(page.locator("run-doctor .time")).to_be_visible()


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
    for place in (".answer", ".shown", ".lead"):
        expect(page.locator(f"run-doctor {place}")).to_be_hidden()
    page.fill("[name=run]", "b")  # its fold is open
    page.evaluate("document.querySelector('run-doctor').dataset.state = ''")
    page.locator("[name=run]").blur()
    assert "Nothing was found." in said(page)


def test_what_was_stopped_is_not_asked_again(reader, log):
    page = reader
    page.evaluate(DROP, ["long.csv", "step,reward\n" + "1,0.5\n" * 1_000_000])
    until(page, "document.querySelector('progress').value > 0")
    page.click("run-doctor .stop")
    assert said(page) == "Stopped."
    for question in ("held_out", "k", "map_gap"):
        expect(page.locator(f"[name={question}]")).to_be_hidden()
    page.evaluate("document.querySelector('run-doctor').dataset.state = ''")
    page.evaluate(DROP, [FILE, log])
    assert STALE in said(page)


def test_on_paper_there_is_nothing_to_press(reader):
    page = reader
    page.emulate_media(media="print")
    expect(page.locator("run-doctor form")).to_be_hidden()
    expect(page.locator("run-doctor .verdict")).to_be_visible()


def test_nothing_leaves_the_page_and_nothing_is_kept(page, book, log):
    page.goto(book + PAGE)
    page.evaluate(DROP, [FILE, log])
    said(page)
    until(page, "document.querySelector('run-doctor svg.run')")
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
    assert "step 24" in page.inner_text("run-doctor .verdict")
    expect(page.locator("run-doctor .picture .when")).to_be_visible()
    expect(page.locator("run-doctor form")).to_be_hidden()
    expect(page.locator("run-doctor svg.run").first).to_be_visible()
    assert "python -m rlpt.doctor" in page.inner_text("article")
