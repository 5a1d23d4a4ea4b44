"""The pages of the Measurement Lab: the first screen, cases that readers judge, notes that they keep, and what there is
without scripts.
"""

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import LOOKS, violations, wear
from tests.browser.test_first_screen import LETTERS, MEASURED
from tools.pages import lab, lessons
from widgets.frame.reader import pages

PAGES = lessons.lab()
every_page = pytest.mark.parametrize("one", PAGES, ids=lambda page: page.stem)
WIDE, HIGH, LATEST = 1280, 1000, 250


@every_page
def test_the_scene_with_its_time_is_on_the_first_screen(page, book, one):
    page.set_viewport_size(dict(width=WIDE, height=HIGH))
    page.goto(book + one.url)
    page.evaluate("document.fonts.ready")
    found = page.evaluate(MEASURED, [WIDE, HIGH])
    time = page.locator(".rl-opening > .k-time")
    ends = time.bounding_box()["y"] + time.bounding_box()["height"] if time.count() else found["ends"]
    assert found["begins"] <= LATEST and ends <= HIGH and found["wide"] >= 1180
    assert found["letters"] >= LETTERS - 0.1


@every_page
def test_axe_finds_no_fault_and_nothing_scrolls_sideways(page_without_python, book, one):
    page_without_python.goto(book + one.url)
    page_without_python.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    for look in LOOKS[:2]:
        wear(page_without_python, look)
        assert violations(page_without_python, "article") == []
        assert page_without_python.evaluate("document.documentElement.scrollWidth <= innerWidth")


@every_page
def test_without_scripts_each_case_has_its_answer(page_without_scripts, book, one):
    page_without_scripts.goto(book + one.url)
    cases = [
        case
        for module in lab.modules_of(one)
        if (sorts := pages.module(module, "sorts"))
        for sort in sorts.SORTS.values()
        for case in sort.cases
    ]
    texts = page_without_scripts.locator("sort-cases li details > p").all_text_contents()
    assert len(texts) == len(cases)
    assert all(any(case.why in text for text in texts) for case in cases)
    assert page_without_scripts.locator("sort-cases :is(button, form):visible").count() == 0


def case(page, sort, number):
    return page.locator(f'sort-cases[name="{sort}"] li').nth(number - 1)


def choose(page, sort, number, answer):
    """The verdict on a tray chosen for a case."""
    one = case(page, sort, number)
    one.get_by_role("button", name=answer, exact=True).click()
    return one.locator(".came").inner_text()


def test_a_wrong_answer_gets_its_hint_then_the_pointed_one_then_the_answer(page, book):
    page.goto(f"{book}m0-seventeen/")
    assert choose(page, "lab_m0.kata", 5, "prompt") == "Not this one. Is there a second way to read 9-23?"
    second = choose(page, "lab_m0.kata", 5, "hack")
    assert second.startswith("Not this one either. One more try, which no longer counts. A careful grader")
    assert choose(page, "lab_m0.kata", 5, "model").startswith("The answer is “verifier”.")
    score = page.locator('sort-cases[name="lab_m0.kata"] .score')
    expect(score).to_contain_text("0 of 10 found, 1 shown.")
    case(page, "lab_m0.kata", 5).get_by_role("button", name="verifier", exact=True).click()
    expect(score).to_contain_text("0 of 10")


def test_a_goal_is_kept_counted_and_survives_a_new_visit(page, book):
    page.goto(f"{book}m0-seventeen/")
    assert choose(page, "lab_m0.measure", 1, "value").startswith("Right.")
    for number, typed in ((2, "hello"), (2, "17/40"), (2, "56,7 %"), (3, "130"), (4, "62")):
        field = case(page, "lab_m0.measure", number).locator("input")
        field.fill(typed)
        field.press("Enter")
        said = case(page, "lab_m0.measure", number).locator(".came").inner_text()
        assert said.startswith({"hello": "Type a number", "17/40": "Not this one. You divided"}.get(typed, "Right."))
    page.reload()
    expect(page.locator('sort-cases[name="lab_m0.measure"] .score')).to_contain_text("Goal reached")
    page.goto(f"{book}lab/")
    expect(page.locator(".cards li", has_text="M0 ·").locator("lesson-count")).to_have_text("1 of 3")


def test_both_hacks_are_needed_for_the_goal(page, book):
    page.goto(f"{book}m0-seventeen/")
    answers = ["model"] * 4 + ["verifier"] * 2 + ["prompt"] * 2
    for number, answer in enumerate(answers, 1):
        choose(page, "lab_m0.kata", number, answer)
    score = page.locator('sort-cases[name="lab_m0.kata"] .score')
    expect(score).to_contain_text("8 of 10 found")
    assert "reached" not in score.inner_text()
    for number in (9, 10):
        choose(page, "lab_m0.kata", number, "hack")
    expect(score).to_contain_text("Goal reached")
    expect(score).to_contain_text("Four were the model's fault")


def test_a_note_is_kept_and_saved_as_one_file(page, book):
    page.goto(f"{book}m0-seventeen/")
    field, holds = page.locator("lab-note textarea"), page.locator("lab-note .holds")
    expect(holds).not_to_have_attribute("open", "")
    expect(page.locator("lab-note .model")).to_be_hidden()
    field.fill("The policy is a distribution. " * 10)
    expect(holds).to_have_attribute("open", "")
    page.locator("lab-note [type=checkbox]").first.check()
    page.reload()
    expect(field).to_have_value("The policy is a distribution. " * 10)
    expect(page.locator("lab-note [type=checkbox]").first).to_be_checked()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save my notes").click()
    text = waiting.value.path().read_text(encoding="utf-8")
    assert text.startswith("# The Measurement Lab: my notes\n\n## N0: a map, first version\n\nThe policy is")


def test_cases_that_come_in_turn_move_their_scene(page, book):
    page.goto(f"{book}m1-ten-pushes/")
    scene = page.locator('[data-scene="lab_m1.piles"]')
    expect(scene).to_have_attribute("data-moment", "0")
    expect(case(page, "lab_m1.predict", 2)).to_be_hidden()
    assert choose(page, "lab_m1.predict", 1, "grows").startswith("Not this one.")
    expect(case(page, "lab_m1.predict", 2)).to_be_hidden()
    assert choose(page, "lab_m1.predict", 1, "stays").startswith("Right.")
    expect(scene).to_have_attribute("data-moment", "1")
    moves = ["grows", "shrinks", "shrinks", "grows", "grows", "shrinks", "grows", "grows", "shrinks"]
    for number, answer in enumerate(moves, 2):
        assert choose(page, "lab_m1.predict", number, answer).startswith("Right.")
        expect(scene).to_have_attribute("data-moment", str(number))
    expect(page.locator('sort-cases[name="lab_m1.predict"] .score')).to_contain_text("Goal reached")
    page.reload()
    expect(case(page, "lab_m1.predict", 10)).to_be_visible()
    page.goto(f"{book}lab/")
    expect(page.locator(".cards li", has_text="M1 ·").locator("lesson-count")).to_have_text("1 of 2")
