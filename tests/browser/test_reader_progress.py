"""What the book remembers of a reader, in this browser only: lessons done, breaks found, saved as a file and erased."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import visit
from tools.pages import lessons

KEPT = "Object.keys(localStorage).filter((key) => /lessons|found/.test(key))"


def answer_all(page):
    for quiz in page.locator("[data-quiz]").all():
        quiz.locator("label").first.click()


def test_a_lesson_is_done_with_a_found_break_and_its_answers_or_by_hand(live_page, book):
    page = live_page
    mark, rail = page.locator(".cards lesson-mark[name='12-rloo']"), page.locator(".md-nav lesson-count").nth(1)
    visit(page, book)
    expect(mark).to_have_attribute("aria-label", "not begun")
    expect(page.locator("lesson-next a")).to_have_count(0)
    page.evaluate("localStorage.setItem('found:rloo', '[\"a cause\"]')")
    visit(page, book)
    expect(mark).to_have_attribute("aria-label", "begun")
    expect(page.locator("lesson-next a")).to_have_text("Continue with 12 RLOO")
    expect(page.locator(".counts")).to_have_text(
        re.compile(r"^0 of \d+ lessons · 1 of \d+ breaks found · 0 of \d+ challenges met$")
    )
    visit(page, book, "12-rloo/")
    expect(rail).to_have_text(re.compile(r"^0 of \d+$"))
    answer_all(page)
    by_hand = page.get_by_role("button", name="Mark as done")
    expect(by_hand).to_have_attribute("aria-pressed", "true")
    expect(rail).to_have_text(re.compile(r"^1 of \d+$"))
    visit(page, book)
    expect(mark).to_have_attribute("aria-label", "done")
    expect(page.locator("lesson-next a")).to_have_text("Continue with 13 DAPO")
    expect(page.locator(".counts")).to_have_text(re.compile(r"^1 of \d+ lessons · 1 of"))
    expect(page.locator(".cards lesson-mark[name='13-dapo']")).to_have_attribute("aria-label", "not begun")
    visit(page, book, "12-rloo/")
    expect(by_hand).to_have_attribute("aria-pressed", "true")
    by_hand.click()
    expect(by_hand).to_have_attribute("aria-pressed", "false")
    visit(page, book)
    expect(mark).to_have_attribute("aria-label", "begun")


def test_answers_without_a_break_begin_a_lesson_and_the_break_ends_it(live_page, book):
    page = live_page
    visit(page, book, "12-rloo/")
    answer_all(page)
    by_hand = page.get_by_role("button", name="Mark as done")
    expect(by_hand).to_have_attribute("aria-pressed", "false")
    expect(by_hand.locator("lesson-mark")).to_have_class("mark half")
    page.evaluate("localStorage.setItem('found:rloo', '[\"a cause\"]')")
    visit(page, book, "12-rloo/")
    expect(by_hand).to_have_attribute("aria-pressed", "true")
    by_hand.click()  # what a reader takes back stays taken back
    expect(by_hand).to_have_attribute("aria-pressed", "false")


def test_progress_is_saved_as_a_file_erased_and_loaded_again(live_page, book, tmp_path):
    page = live_page
    visit(page, book)
    progress = page.locator("reader-progress")
    said = progress.locator("output")
    expect(said).to_have_text("Nothing is kept in this browser yet.")
    expect(progress.get_by_role("button", name="Erase")).to_be_disabled()
    page.evaluate(
        "localStorage.setItem('lessons-v1', JSON.stringify({'12-rloo': 'full', '10-ppo': 'answered'}));"
        "localStorage.setItem('found:ppo', '[\"one\", \"two\"]'); localStorage.setItem('of another site', '1')"
    )
    visit(page, book)
    kept = "2 lessons answered or marked, 2 breaks."
    expect(said).to_have_text(f"Kept: {kept}")
    with page.expect_download() as saved:
        progress.get_by_role("button", name="Save as a file").click()
    file = tmp_path / "progress.json"
    saved.value.save_as(file)
    assert "of another site" not in file.read_text(encoding="utf-8")

    progress.get_by_role("button", name="Erase").click()
    expect(said).to_have_text("Erase all of it? Press again.")
    progress.get_by_role("button", name="Erase all").click()
    expect(said).to_have_text("Erased.")
    assert page.evaluate(KEPT) == []
    assert page.evaluate("localStorage.getItem('of another site')") == "1"
    expect(page.locator(".counts")).to_have_text(re.compile(r"^0 of \d+ lessons · 0 of"))

    page.evaluate("localStorage.setItem('found:ppo', '[\"two\", \"three\"]')")
    progress.locator("input").set_input_files(file)
    expect(said).to_have_text(
        "Loaded and added to what was here: 2 lessons answered or marked, 3 breaks."  # nothing that was here is lost
    )
    expect(page.locator(".counts")).to_have_text(re.compile(r"^2 of \d+ lessons · 3 of"))


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"book": "another"}', '{"book": "rl-post-training"}', "null"])
def test_a_file_that_holds_no_progress_changes_nothing_and_says_so(live_page, book, tmp_path, text):
    page = live_page
    visit(page, book)
    (file := tmp_path / "progress.json").write_text(text, encoding="utf-8")
    page.locator("reader-progress input").set_input_files(file)
    expect(page.locator("reader-progress output")).to_have_text(
        "This file holds no progress of this book. Choose a file that was saved here."
    )
    assert page.evaluate(KEPT) == []


def test_a_card_names_a_break_once_it_was_found_and_on_paper(live_page, book):
    page = live_page
    first, *others = next(lesson for lesson in lessons.finished() if lesson.stem == "02-rollout").causes
    card = page.locator(".cards lesson-breaks[widget=rollout] span:visible")
    visit(page, book)
    ways = f"breaks in {1 + len(others)} ways"
    expect(card).to_have_text([ways])
    page.evaluate("one => localStorage.setItem('found:rollout', JSON.stringify([one]))", first)
    visit(page, book)
    expect(card).to_have_text([ways, first])
    page.evaluate("all => localStorage.setItem('found:rollout', JSON.stringify(all))", [first, *others])
    visit(page, book)
    expect(card).to_have_text([first, *others])
    page.evaluate("localStorage.clear()")
    visit(page, book)
    page.emulate_media(media="print")
    expect(card).to_have_text([first, *others])
