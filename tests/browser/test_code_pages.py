"""The pages that show code: one for each module, and the one that compares the algorithms."""

import re

from playwright.sync_api import expect

from tests.browser.accessibility import violations, wear
from tools.pages import quoting

MODULE = "code/sim/estimators/kl.py.html"


def test_a_link_to_a_function_lights_up_the_whole_of_it_and_leads_back(page_without_python, book):
    page = page_without_python
    code, first = quoting.definition("sim/estimators/kl.py", "k3")
    page.goto(f"{book}{MODULE}#L{first}")
    paper, wash = (
        page.evaluate(f"getComputedStyle(document.body).getPropertyValue('--{c}')") for c in ("panel", "wash")
    )
    lit = page.locator(".def").evaluate_all(
        "all => all.filter((one) => getComputedStyle(one).backgroundColor !== getComputedStyle(one.parentElement)"
        ".backgroundColor).map((one) => [...one.querySelectorAll('.ln')].map((number) => Number(number.textContent)))"
    )
    assert paper != wash and lit == [list(range(first, first + len(code.splitlines())))]
    page.get_by_role("link", name="03a · KL estimators").first.click()
    expect(page.locator("h1")).to_have_text(re.compile("KL estimators: a good one to log"))


def test_the_search_of_a_module_s_page_asks_the_book(page_without_python, book):
    page = page_without_python
    page.goto(book + MODULE)
    page.get_by_role("searchbox").fill("leave one out")
    page.keyboard.press("Enter")
    page.wait_for_url(book + "?q=leave+one+out")
    expect(page.locator(".md-search__input")).to_have_value("leave one out")


def test_a_module_s_page_wears_the_light_chosen_beside_the_lessons_fits_a_phone_and_axe_finds_no_fault(
    page_without_python, book
):
    page = page_without_python
    page.goto(book + "teach/")
    wear(page, ("slate", 1280))
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{book}{MODULE}#L1")  # a line of no function, then a whole function
        assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"
        page.goto(f"{book}{MODULE}#L{quoting.definition('sim/estimators/kl.py', 'k3')[1]}")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_two_lists_of_the_compare_page_choose_its_one_patch(page_without_python, book):
    page = page_without_python
    page.goto(book + "compare/")
    patch = page.locator(".pairs .src:visible header > span:first-child")
    expect(patch).to_have_text("sim/algorithms/grpo.py → dr_grpo.py")
    page.get_by_label("Second algorithm", exact=True).select_option("RLOO")
    expect(patch).to_have_text("sim/algorithms/grpo.py → rloo.py")
    page.get_by_label("First algorithm", exact=True).select_option("TRL 1.16.0")
    expect(page.locator(".pairs p:visible")).to_contain_text("weights from dapo.py")


def test_without_scripts_the_compare_page_shows_every_patch(page_without_scripts, book):
    page_without_scripts.goto(book + "compare/")
    patches = page_without_scripts.locator(".pairs .src")
    assert patches.count() == page_without_scripts.locator(".pairs .src:visible").count() == 15
