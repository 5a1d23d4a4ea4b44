"""One job in the browser: kept by a button, in force on the next page, forgotten by another."""

import json
import re
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import WITH_WIDGET, lesson_with, live, settled, show_all_knobs, until, visit
from tests.rlpt.planning.test_user_inputs import QWEN3_14B
from widgets.frame.contract import machine_knobs
from widgets.frame.contract.values import knobs_from, spelled
from widgets.frame.reader import host, job

MACHINES = [lesson for lesson in WITH_WIDGET if job.shared(host.widget(lesson.widget).Knobs)]
every_machine = pytest.mark.parametrize("lesson", MACHINES, ids=lambda lesson: lesson.stem)
FIRST = lesson_with("throughput")
HEIGHT = "document.querySelector('figure.rl-widget').offsetHeight"
KEPT = dict(model="qwen2.5-32b", accelerator="h200", gpus="100", prompts="512", samples="16", p50="1200")


def opened(page, book, lesson=FIRST, query="", stored=None):
    if stored:
        page.evaluate("stored => { localStorage['job-v1'] = stored; }", stored)
    visit(page, book, f"{lesson.url}{query}")
    until(page, "document.querySelector('.job span')")
    show_all_knobs(page)


def words(page):
    return page.inner_text(".job span")


def knobs(page):
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def turn(page, query):
    page.evaluate("query => document.querySelector('rl-widget').turn(query)", query)


def test_a_job_is_kept_comes_back_and_is_forgotten(live_page, book):
    page = live_page
    opened(page, book)
    assert page.locator(".job button").all_inner_texts() == ["Keep as my job"]
    turn(page, "model=qwen2.5-32b&gpus=1024&k=4")
    until(page, "document.querySelector('.job .mine').value.includes('1024')")
    page.click("text=Keep as my job")
    expect(page.locator(".job span")).to_have_text(re.compile("^Your job: Qwen2.5-32B · H20 · 1,024 GPUs.+lesson 22a$"))
    opened(page, book)
    expect(page.locator(".job span")).to_have_text(re.compile("^Your job: Qwen2.5-32B"))
    assert knobs(page) == dict(model="qwen2.5-32b", gpus="1024")  # k is no part of a job
    page.click("button.reset")
    expect(page.locator(".job span")).to_have_text(re.compile("^Your job, not in force here: Qwen2.5-32B"))
    assert knobs(page) == {}
    page.click("text=Use my job")
    expect(page.locator(".job span")).to_have_text(re.compile("^Your job: Qwen2.5-32B"))
    assert knobs(page) == dict(model="qwen2.5-32b", gpus="1024")
    page.click("text=Forget it")
    expect(page.locator(".job span")).to_have_text(re.compile("^Set the knobs to your job"))
    opened(page, book)
    assert knobs(page) == {}


@pytest.mark.parametrize(
    "lesson, width",
    [
        pytest.param(
            lesson, width, id=f"{lesson.stem}-{width}", marks=() if i % 2 == n else pytest.mark.nightly
        )  # the other width at night
        for i, lesson in enumerate(MACHINES)
        for n, width in enumerate([1280, 390])
    ],
)
def test_every_page_about_machines_takes_of_a_job_what_it_has_and_its_bar_fits_the_column(
    live_page, book, lesson, width
):
    page, w = live_page, host.widget(lesson.widget)
    page.set_viewport_size(dict(width=width, height=900))
    opened(page, book, lesson, stored=json.dumps({"knobs": KEPT, "from": "22-memory"}))
    expect(page.locator(".job span")).to_have_text(re.compile("^Your job: Qwen2.5-32B .+ from lesson 22(, nearest|$)"))
    wanted = job.taken(w.Knobs, KEPT)
    held = knobs_from(w.Knobs, knobs(page))
    assert {name: spelled(getattr(held, name)) for name in wanted} == wanted
    assert wanted.keys() >= {"model"} & w.Knobs.__dataclass_fields__.keys()
    tall = page.evaluate(HEIGHT)
    page.evaluate("document.querySelector('rl-widget button.reset').click()")
    expect(page.locator(".job span")).to_have_text(re.compile("not in force"))
    assert page.evaluate(HEIGHT) == pytest.approx(tall, abs=1)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    box = page.locator(".job").bounding_box()
    for part in page.locator(".job > *").all():
        inner = part.bounding_box()
        assert inner["x"] >= box["x"] and inner["x"] + inner["width"] <= box["x"] + box["width"]
        assert inner["y"] >= box["y"] - 1 and inner["y"] + inner["height"] <= box["y"] + box["height"] + 1


@every_machine
def test_an_address_overrides_a_job_and_knobs_that_only_other_pages_have_are_ignored(live_page, book, lesson):
    page, w = live_page, host.widget(lesson.widget)
    others = [name for name in machine_knobs.JOB if name not in w.Knobs.__dataclass_fields__]
    query = "&".join(f"{name}=1" for name in others)
    opened(page, book, lesson, f"?{query}&nothing=1", stored=json.dumps({"knobs": KEPT}))
    expect(page.locator(".note")).to_have_text("Left out of the address: nothing (no such knob).")
    assert knobs(page) == {} and "not in force" in words(page)


def test_a_config_goes_along_with_a_job(live_page, book):
    page = live_page
    opened(page, book, query=f"?config={quote(json.dumps(QWEN3_14B))}")
    until(page, "document.querySelector('[name=config]').dataset.value")
    until(page, "document.querySelector('.job .mine').value.includes('qwen3')")
    page.click("text=Keep as my job")
    expect(page.locator(".job span")).to_have_text(re.compile("^Your job: your model of 14.8 billion parameters"))
    opened(page, book)
    until(page, "document.querySelector('[name=config]').dataset.value")
    expect(page.locator(".job span")).to_have_text(re.compile("^Your job: your model of 14.8 billion parameters"))
    assert "config" in knobs(page)


@pytest.mark.parametrize(
    "stored", ["{", "7", "null", '{"knobs": {"model": "<img src=x onerror=alert(1)>"}, "from": 7}']
)
def test_what_is_no_job_harms_nothing(live_page, book, stored):
    page = live_page
    opened(page, book, stored=stored)
    settled(page)
    assert page.locator(".job img").count() == 0 and knobs(page) == {}
    assert page.get_attribute("figure.rl-widget", "data-state") == "live"


def test_where_nothing_can_be_kept_there_is_no_bar(page, book):
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } });"
    )
    page.goto(book + FIRST.url)
    live(page, FIRST.widget)
    settled(page)
    assert page.locator(".job").count() == 0
    assert set(page.faults) <= {"no"}  # the theme asks for it as well
    page.faults.clear()


def test_without_scripts_there_is_no_bar(page_without_scripts, book):
    page_without_scripts.goto(book + FIRST.url)
    assert not page_without_scripts.locator(".job").is_visible()
