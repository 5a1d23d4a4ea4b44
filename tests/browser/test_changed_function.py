"""Below a widget: its function is changed and run, goals are met, results are taken away, seeds are added, and an
address may ask for the widget alone.
"""

import subprocess
import sys
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import LOOKS, assert_accessible
from tests.browser.conftest import change_it, guess, live, open_menu, preset, press, readouts, settled, until, visit
from widgets.frame.contract import values
from widgets.frame.reader import host, reader_patch
from widgets.grpo.widget import Knobs

PAGE, WIDGET = "11-grpo/", "grpo"
OURS = reader_patch.text_of(host.exercises(WIDGET).CHANGE)
DR_GRPO, RLOO = (OURS.replace(*exercise.answer) for exercise in host.exercises(WIDGET).CHANGE.exercises)
LOOP = "def z_score(rewards, eps=1e-6, ddof=1):\n    while True:\n        pass\n"
STATE = "document.querySelector('change-code').dataset.state"
OVER = f"!['running', 'static', 'edited, not run', 'from the link, not run'].includes({STATE})"
BY_CODE = "document.querySelector('.rl-widget').hasAttribute('data-code')"
ADDRESS = "document.querySelector('[data-clipboard-text]').dataset.clipboardText"


def opened(page, book, query=""):
    visit(page, book, PAGE + query)
    if not query:
        live(page, WIDGET)
        change_it(page)
    is_open(page)


def is_open(page):
    live(page, WIDGET)
    page.locator("change-code").scroll_into_view_if_needed()
    expect(page.locator("change-code .cm-content")).to_be_visible()


def runs(page, text):
    """The sentence of a run of a reader's text, once the figure is whole again."""
    page.click("change-code .cm-content")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)
    page.click("change-code .go")
    until(page, OVER)
    settled(page)
    return page.inner_text("change-code .verdict")


def met(page):
    return page.locator(".exercises > li").evaluate_all("all => all.map((one) => one.classList.contains('met'))")


def test_grpo_becomes_dr_grpo_and_rloo_and_ours_comes_back(live_page, book):
    page = live_page
    opened(page, book)
    ours = readouts(page)
    assert runs(page, DR_GRPO).startswith("The figure above is drawn with your code") and met(page) == [True, False]
    assert page.evaluate(BY_CODE) and page.locator(".yours").is_visible()
    assert readouts(page)[2] == "0.875"  # (K - 1) / K of the gradient, closed form
    assert page.inner_text(".differs ins").strip() == "+     return less_mean(rewards)"
    assert page.inner_text(".hash").startswith("your code")
    runs(page, RLOO)
    assert readouts(page)[2] == "1" and met(page) == [False, True]  # unbiased
    press(page, ".presets [data-knobs*='K=64']")
    until(page, OVER)
    assert page.evaluate(BY_CODE) and readouts(page)[2] == "1"
    page.click("change-code .reset")
    press(page, ".rl-widget .reset")
    assert not page.evaluate(BY_CODE) and readouts(page) == ours and "change=" not in page.url


def test_a_link_with_changed_code_shows_the_change_and_runs_nothing_of_it(page, book):
    """In a page of its own: Python of a reader's code may have been started by another test on a shared one."""
    workers = []
    page.on("worker", lambda worker: worker.url.endswith(("search.js", ".min.js")) or workers.append(worker))
    page.goto(book + PAGE + "?" + urlencode(dict(change=DR_GRPO, K=4)))
    is_open(page)
    assert page.evaluate(STATE) == "from the link, not run" and not page.evaluate(BY_CODE)
    assert "Nothing of it has run" in page.inner_text("change-code .verdict")
    assert page.inner_text(".differs ins").strip() == "+     return less_mean(rewards)"
    assert len(workers) == 1 and "change=" in page.url  # the page's own Python, no reader's
    page.click("change-code .go")
    until(page, OVER)
    settled(page)
    assert page.evaluate(BY_CODE) and readouts(page)[2] == "0.750"
    assert "change=def" in page.evaluate(ADDRESS)
    page.click("change-code .reset")
    settled(page)
    assert not page.evaluate(BY_CODE) and "change=" not in page.url


def test_a_change_that_a_link_brought_leaves_the_address_with_a_reset(live_page, book):
    page = live_page
    opened(page, book, "?" + urlencode(dict(change=DR_GRPO)))
    page.click("change-code .reset")
    assert page.evaluate(STATE) == "ours" and "change=" not in page.url and "change=" not in page.evaluate(ADDRESS)


def test_a_loop_without_end_is_stopped_and_the_figure_is_ours_again(live_page, book):
    page = live_page
    opened(page, book)
    runs(page, DR_GRPO)
    page.evaluate("new Promise((ready) => python.own.listen((news) => news.ready && ready(true)))")
    said = runs(page, LOOP)
    assert said.startswith("Stopped: no answer for 1.9 s. Is there a loop that never ends?")
    assert not page.evaluate(BY_CODE) and page.evaluate("python.own !== undefined")
    press(page, ".presets [data-knobs*='K=64']")
    assert not page.evaluate(BY_CODE)
    assert runs(page, "def z_score(rewards, eps=1e-6, ddof=1):\n    return rewards[9]").startswith("Line 2: IndexError")
    assert page.evaluate(STATE) == "refused" and not page.evaluate(BY_CODE)


def test_changed_code_meets_no_goal_and_finds_no_break(live_page, book):
    page = live_page
    opened(page, book)
    runs(page, DR_GRPO.replace("return less_mean(rewards)", "return 0 * rewards"))
    assert page.evaluate("document.querySelector('.rl-widget').dataset.state") == "broken"
    assert page.evaluate("Object.keys(localStorage).filter((key) => /^(found|met):/.test(key)).length") == 0


def test_a_goal_that_was_met_stays_met(live_page, book):
    page = live_page
    visit(page, book, PAGE)
    live(page, WIDGET)
    assert page.text_content(".reached") == "0 of 2"
    way = host.exercises(WIDGET).CHALLENGES[0].way
    page.evaluate("query => document.querySelector('rl-widget').turn(query)", values.query(way))
    settled(page)
    expect(page.locator(".reached")).to_have_text("1 of 2")
    open_menu(page, "goals")
    assert page.locator("li[data-goal].met").is_visible() and page.locator("li[data-goal]:not(.met)").is_visible()
    page.keyboard.press("Escape")
    visit(page, book, PAGE)
    live(page, WIDGET)
    expect(page.locator(".reached")).to_have_text("1 of 2")


def test_more_seeds_add_a_band_and_tell_two_settings_apart(live_page, book):
    page = live_page
    visit(page, book, PAGE)
    live(page, WIDGET)
    guess(page)
    press(page, "rl-widget .reset")
    press(page, ".seeds")
    assert page.inner_text("p.over") == "5 choices of Seed: none broken."
    press(page, ".seeds")
    assert page.inner_text("p.over").startswith("9 choices")
    assert " to " in page.locator(".readouts .was").first.inner_text()
    page.click(".keep")
    preset(page, Knobs(K=64))
    assert page.inner_text("p.over") == ""
    press(page, ".seeds")
    assert "Pass rate after training differs from the kept run: by −0.2" in page.inner_text("p.over")


def test_what_is_taken_away_holds_the_setting(live_page, book, tmp_path):
    page = live_page
    visit(page, book, PAGE + "?K=64")
    until(page, "document.querySelector('rl-widget')")
    settled(page)
    open_menu(page, "export")
    taken = {}
    for what, kind in ((".svg", "svg"), (".png", "png"), ("[download]", "py")):
        with page.expect_download() as download:
            page.click(f".export {what}")
        taken[kind] = tmp_path / f"{WIDGET}.{kind}"
        download.value.save_as(taken[kind])
        assert download.value.suggested_filename == f"{WIDGET}.{kind}"
    page.click(".export .frame")
    copied = page.locator(".frame").get_attribute("data-clipboard-text")
    assert "?embed=&amp;K=64&amp;" in copied and copied.startswith("<iframe src=") and "#" not in copied
    drawn = taken["svg"].read_text(encoding="utf-8")
    panels = ElementTree.fromstring(drawn).findall("{http://www.w3.org/2000/svg}svg")
    assert "K 64" in drawn and "Pass rate" in drawn and "K=64" in drawn and len(panels) == 2
    assert taken["png"].read_bytes().startswith(b"\x89PNG") and taken["png"].stat().st_size > 20_000
    ran = subprocess.run([sys.executable, "-I", taken["py"]], capture_output=True, encoding="utf-8", timeout=300)
    assert [row.rpartition(": ")[2].split(" ")[0] for row in ran.stdout.splitlines()[:3]] == readouts(page)


def test_a_picture_that_is_taken_away_has_the_words_of_its_scene_and_of_its_table(live_page, book, tmp_path):
    page = live_page
    visit(page, book, "plan/")
    live(page, "plan")
    open_menu(page, "export")
    with page.expect_download() as download:
        page.click(".export .svg")
    download.value.save_as(tmp_path / "plan.svg")
    drawn = (tmp_path / "plan.svg").read_text(encoding="utf-8")
    words = " ".join(page.locator(".panels:not([hidden]) .plot").all_inner_texts()).split()
    kept = "".join(ElementTree.fromstring(drawn).itertext())
    assert len(words) > 50 and not [word for word in words if word not in kept]


def test_an_address_may_ask_for_the_widget_alone_without_its_breaks(page, book):
    page.goto(book + PAGE + "?embed&breaks=hidden")
    live(page, WIDGET)
    for width in (900, 390):
        page.set_viewport_size(dict(width=width, height=700))
        assert (
            not page.locator(".md-header, h1, .rl-opening, .md-footer, .finds, .challenges, .change")
            .locator("visible=true")
            .count()
        )
        assert page.locator(".rl-widget").bounding_box()["y"] < 5 and page.locator(".whole").is_visible()
        until(page, "document.documentElement.scrollWidth <= innerWidth")
    guess(page)
    press(page, ".presets [data-knobs*='K=64']")
    assert "embed" in page.url and "breaks=hidden" in page.url
    assert "embed" not in page.locator(".whole").get_attribute("href")


@pytest.mark.parametrize("looks", [LOOKS[:2], pytest.param(LOOKS[2:], marks=pytest.mark.nightly)])
def test_axe_finds_no_fault_in_the_folds(live_page, book, looks):
    page = live_page
    opened(page, book)
    page.locator("change-code details").evaluate_all("all => all.forEach((fold) => { fold.open = true; })")
    runs(page, DR_GRPO)
    assert_accessible(page, looks, ".rl-widget")
    page.locator(".copied").evaluate("fold => { fold.open = true; }")
    for menu in ("export", "code", "goals"):
        page.locator(f".menu[id$='-{menu}']").evaluate("menu => menu.showPopover()")
        assert_accessible(page, looks, ".rl-widget")
        page.keyboard.press("Escape")


def test_the_function_is_read_without_scripts(page_without_scripts, book):
    page = page_without_scripts
    page.goto(book + PAGE)
    page.click(".change > summary")
    assert page.locator("change-code .highlight").is_visible() and not page.locator("change-code .go").is_visible()
    assert "return less_mean(rewards)" in page.inner_text("change-code .highlight")
