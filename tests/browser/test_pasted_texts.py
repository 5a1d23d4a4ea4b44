"""Texts that a reader brings: pasted, typed or dropped, answered by what was understood, refused without harm."""

import json
import re
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import live, readouts, settled, show_all_knobs, until, visit
from tests.rlpt.planning.test_user_inputs import AROUND, HOSTILE, QWEN3_14B

PAGE, WIDGET = "22a-throughput/", "throughput"
CONFIG = json.dumps({**QWEN3_14B, **AROUND}, indent=2)
FIELDS = ("config", "chip", "log", "timed")
SHORTENED = {*QWEN3_14B, "max_position_embeddings", "rope_scaling"}  # what the machine of a config depends on
CHIP = "80 GB, 3.35 TB/s, 989 TFLOP/s, 450 GB/s"
DROP = """([name, text]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], "config.json"));
  const field = document.querySelector(`[name=${name}]`);
  for (const kind of ["dragover", "drop"]) {
    const event = new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true });
    field.dispatchEvent(event);
    if (!event.defaultPrevented) throw new Error(`the browser would open the file: ${kind}`);
  }
}"""


@pytest.fixture
def page(live_page):
    """A test here needs no page of its own."""
    return live_page


def opened(page, book, query="", width=1280):
    page.set_viewport_size(dict(width=width, height=900))
    visit(page, book, PAGE + query)
    live(page, WIDGET)
    settled(page)
    show_all_knobs(page)


def brings(page, name, text):
    page.fill(f"[name={name}]", text)
    page.locator(f"[name={name}]").blur()
    settled(page)


def hint(page, name):
    return page.locator(f"[data-knob={name}] .hint")


def in_force(page):
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def test_a_config_is_understood_shortened_shared_by_the_address_and_comes_back(page, book):
    opened(page, book, "?source=from+shapes&accelerator=h100")
    before = readouts(page)
    brings(page, "config", CONFIG)
    expect(hint(page, "config")).to_have_text(re.compile("^14.8 billion parameters in 40 layers"))
    assert json.loads(page.input_value("[name=config]")).keys() <= SHORTENED
    assert "moved" in page.get_attribute("[data-knob=config]", "class")
    shown = readouts(page)
    assert shown != before
    assert json.loads(in_force(page)["config"]).keys() <= SHORTENED and len(page.url) < 900
    assert "config=%7B" in page.get_attribute("[data-clipboard-text]", "data-clipboard-text")
    visit(page, book, page.url.removeprefix(book))
    live(page, WIDGET)
    until(page, "document.querySelector('[name=config]').dataset.value")
    settled(page)
    assert readouts(page) == shown and page.locator(".note").is_hidden()
    page.click("button.reset")
    settled(page)
    assert page.input_value("[name=config]") == "" and hint(page, "config").inner_text() == ""
    assert in_force(page) == {} and "moved" not in page.get_attribute("[data-knob=config]", "class")


def test_a_refused_text_says_why_and_leaves_everything_as_it_was(page, book):
    opened(page, book)
    brings(page, "chip", CHIP)
    answers, state = page.locator(".rl-widget .readouts"), page.get_attribute("figure.rl-widget", "data-state")
    expect(answers).to_be_visible()
    brings(page, "chip", "a fast one")
    expect(hint(page, "chip")).to_have_text(
        re.compile("“a fast one” is not one of the numbers that are read here. For example")
    )
    assert page.input_value("[name=chip]") == "a fast one"  # to be mended
    assert page.get_attribute("[name=chip]", "aria-invalid") == "true"
    assert page.get_attribute("figure.rl-widget", "data-state") == state
    expect(answers).to_be_hidden()  # they are of another chip
    assert in_force(page)["chip"] == CHIP
    page.select_option("[name=overlap]", "asynchronous")
    settled(page)  # other knobs go on, in the address with the last good one
    assert in_force(page) == dict(chip=CHIP, overlap="asynchronous")
    expect(answers).to_be_hidden()
    expect(hint(page, "chip")).to_have_text(re.compile("“a fast one”"))
    brings(page, "chip", "80 GB, 1 TB/s, 500 TFLOP/s, 450 GB/s")
    expect(hint(page, "chip")).to_have_text(re.compile("500 FLOP a byte"))
    expect(answers).to_be_visible()
    assert page.get_attribute("[name=chip]", "aria-invalid") is None
    brings(page, "chip", "  ")
    assert in_force(page) == dict(overlap="asynchronous") and hint(page, "chip").inner_text() == ""


def test_hostile_texts_are_data(page, book):
    opened(page, book)
    page.evaluate("() => { window.ran = false; window.alert = () => { window.ran = true; }; }")
    for text in [*HOSTILE.values(), '<img src=x onerror="alert(1)">', "x" * 100_000]:
        for name in FIELDS:
            page.evaluate(
                "([name, text]) => Object.assign(document.querySelector(`[name=${name}]`), { value: text })",
                [name, text],
            )
            page.dispatch_event(f"[name={name}]", "change")
        settled(page)
        until(page, "[...document.querySelectorAll('.pasted textarea')].every((a) => a.ariaInvalid)")
    assert page.locator(".rl-widget img, .hint *").count() == 0 and not page.evaluate("window.ran")
    assert page.get_attribute("figure.rl-widget", "data-state") in ("live", "broken", "worse")
    brings(page, "config", CONFIG)
    expect(hint(page, "config")).to_have_text(re.compile("^14.8 billion"))


def test_a_file_is_dropped_on_the_field(page, book):
    opened(page, book)
    page.evaluate(DROP, ["config", CONFIG])
    expect(hint(page, "config")).to_have_text(re.compile("^14.8 billion"))
    page.evaluate(DROP, ["log", "\n".join(map(str, range(100_001, 180_000)))])  # 560 kB
    expect(hint(page, "log")).to_have_text(re.compile("Over 524,288 characters"))
    page.evaluate(DROP, ["log", "\n".join(map(str, range(1, 5001)))])
    expect(hint(page, "log")).to_have_text(re.compile("^5,000 lengths: median 2,5"))


def test_an_address_with_a_text_that_is_refused_goes_on_without_it(page, book):
    opened(page, book, f"?gpus=128&config={quote('<b>no</b>')}&chip={quote(CHIP)}&nothing=1")
    expect(page.locator(".note")).to_have_text(
        re.compile(r"^Left out of the address: nothing \(no such knob\); config \(This is no config")
    )
    settled(page)
    assert in_force(page) == dict(gpus="128", chip=CHIP)
    assert page.locator(".note *").count() == 0
    page.click(".presets [data-knobs] >> nth=0")
    settled(page)
    assert page.locator(".note").is_hidden() and in_force(page) == {}


def test_a_paste_is_read_at_once_and_typing_when_the_field_is_left(page, book):
    opened(page, book)
    page.focus("[name=timed]")
    page.keyboard.type("64 sequences, 2048 tokens")
    assert hint(page, "timed").inner_text() == ""
    page.keyboard.type(", 40 ms")
    page.keyboard.press("Tab")
    expect(hint(page, "timed")).not_to_have_text("")
    page.focus("[name=chip]")
    page.evaluate(f"document.execCommand('insertText', false, {json.dumps(CHIP)})")
    page.dispatch_event("[name=chip]", "input", {})
    page.evaluate(
        "document.querySelector('[name=chip]').dispatchEvent("
        "new InputEvent('input', { inputType: 'insertFromPaste', bubbles: true }))"
    )
    expect(hint(page, "chip")).to_have_text(re.compile("295 FLOP a byte"))


@pytest.mark.parametrize("width", [390, 1280])
def test_the_fields_fit_their_form(page, book, width):
    opened(page, book, width=width)
    brings(page, "config", CONFIG)
    brings(page, "chip", "a" * 3000)
    cut = page.locator(".knob.pasted :is(label, textarea, .hint)").evaluate_all(
        "all => all.filter((part) => part.scrollWidth > part.clientWidth + 1 && part.offsetWidth > 0)"
        ".map((part) => part.className + part.tagName)"
    )
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert not [part for part in cut if part != "LABEL"] and wide <= 0
    for name in FIELDS:
        field, form = (page.locator(where).bounding_box() for where in (f"[name={name}]", "rl-widget .rest"))
        assert field["x"] >= form["x"] and field["x"] + field["width"] <= form["x"] + form["width"]
    expect(page.locator(".group:has(.pasted) > legend")).to_have_text("Bring your own")


def test_a_text_that_cannot_be_read_empties_what_was_answered_at_once(page, book):
    opened(page, book)
    answers = page.locator(".rl-widget :is(.readouts, .brk)")
    options = "getComputedStyle(document.querySelector('.rl-widget .copied')).visibility"
    assert answers.count() == 2 and page.evaluate(options) == "visible"
    for answer in answers.all():
        expect(answer).to_be_visible()
    brings(page, "config", CONFIG[:-9])
    expect(hint(page, "config")).to_have_text(re.compile("^This is no config, line 30: "))
    for answer in answers.all():
        expect(answer).to_be_hidden()
    assert page.evaluate(options) == "hidden"
    brings(page, "config", CONFIG)
    for answer in answers.all():
        expect(answer).to_be_visible()
