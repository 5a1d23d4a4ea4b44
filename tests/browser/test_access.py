"""Nobody is locked out: axe-core finds nothing, the keyboard reaches everything, and paper, forced colors and no
scripts are served too.
"""

from pathlib import Path

import pytest

from tests.browser.conftest import THOROUGH, WITH_WIDGET, live, watched
from tests.widgets.catalogue import last_frame
from tools.pages import pipeline_map, quoting

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
LEVELS = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]
SETTLED = (
    "scheme => document.body.dataset.mdColorScheme === scheme && document.getAnimations().every((one) => "
    "one.playState !== 'running')"
)
every_lesson = pytest.mark.parametrize("lesson", WITH_WIDGET, ids=lambda lesson: lesson.stem)


def violations(page, part="html"):
    """What axe-core finds in a part of the page, as [rule, first offending element, how many]; a formula is read as its
    MathML, its drawing is hidden.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    how = dict(runOnly=LEVELS, resultTypes=["violations"])
    found = page.evaluate(
        "([part, how]) => axe.run({ include: [part], exclude: ['.katex-html'] }, how).then((r) => r.violations)",
        [part, how],
    )
    return [(v["id"], v["nodes"][0]["html"][:200], len(v["nodes"])) for v in found]


def in_both_lights(page, turn=0):
    """Light and dark by the header's own switch, one wide and the other as on a phone (which, changes from lesson to
    lesson), or each both.
    """
    widths = (1280, 360) if turn % 2 == 0 else (360, 1280)
    for scheme, one in zip(("default", "slate"), widths):
        if page.evaluate("document.body.dataset.mdColorScheme") != scheme:
            page.locator("[data-md-component=palette] label:visible").click()
        for width in widths if THOROUGH else [one]:
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_function(SETTLED, arg=scheme)
            yield scheme, width


def test_axe_finds_nothing_on_the_index_and_on_a_module_s_page(page, book):
    for turn in (0, 1):
        page.goto(book)
        for where in in_both_lights(page, turn):
            assert violations(page) == [], where
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(book + "code/sim/estimators/kl.py.html#L1")  # a line of no function, then a whole function
        assert page.evaluate(SETTLED, "slate"), "a module's page wears the light chosen beside the lessons"
        page.goto(book + f"code/sim/estimators/kl.py.html#L{quoting.definition('sim/estimators/kl.py', 'k3')[1]}")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_without_scripts_and_on_paper_every_panel_of_the_map_is_there(browser, page, book):
    context = browser.new_context(java_script_enabled=False)
    without = context.new_page()
    without.goto(book)
    without.locator("svg.broad a.trainer").focus()
    without.hover("svg.broad a.env rect")
    page.goto(book)
    page.locator("svg.broad a.trainer").focus()
    page.emulate_media(media="print")
    for tab in (page, without):
        assert [panel.is_visible() for panel in tab.locator(".detail").all()] == 12 * [True]
    assert not page.locator(".cutter").first.is_visible()
    context.close()


@every_lesson
def test_without_scripts_there_are_text_figure_numbers_and_settings(browser, book, lesson):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    page = watched(context.new_page(), book)
    page.goto(book + lesson.url)
    frame = last_frame(lesson.widget)
    assert page.locator("dl.readouts dd b").all_inner_texts() == [r["text"] for r in frame["readouts"]]
    still, plot = (page.locator(part).first.bounding_box()["height"] for part in (".plot svg.still", ".plot"))
    assert 80 < still <= plot  # whole, not cut at the foot
    assert page.locator("table.dt").is_visible()
    assert page.locator("h2").count() >= 5
    for small in page.locator(".rl-figure, .rl-opening").all():
        assert small.locator("[data-part] *, svg path").count() > 3
    assert not page.faults
    context.close()


def test_the_front_page_swaps_its_two_runs_without_scripts(browser, book):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(book)
    shown = lambda: page.locator(".rl-hero [data-line]:visible").evaluate_all("all => all.map((e) => e.dataset.line)")
    assert shown() == ["deleted"] * 2  # the curves and the sentence
    page.get_by_text("kept", exact=True).locator("visible=true").last.click()
    assert shown() == ["kept"] * 2
    assert page.locator(".counts").is_hidden()
    context.close()


def test_two_links_lead_past_the_rail_to_the_text_and_to_the_figure(page, book):
    page.goto(book + "10-ppo/")
    for name in ("Skip to content", "Skip to the figure"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.innerText").strip() == name
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector(':target')?.id === 'ppo'")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('figure.rl-widget')?.id") == "ppo"


def test_print_shows_the_figure_its_numbers_its_settings_and_the_answers(page, book):
    page.goto(book + "10-ppo/?passes=16")
    live(page, "ppo")
    page.wait_for_function("document.querySelector('rl-widget').settled")
    page.emulate_media(media="print")
    assert not page.locator(".rl-widget form").is_visible() and not page.locator(".md-header").is_visible()
    assert page.locator("dl.readouts").is_visible() and page.locator(".plot").first.is_visible()
    settings = page.evaluate("getComputedStyle(document.querySelector('.rl-widget'), '::after').content")
    assert "Settings shown" in settings and "16" in settings
    assert page.locator("details.quiz p").last.is_visible()


def test_forced_colors_keep_the_chosen_preset_and_the_marks(page, book):
    page.emulate_media(forced_colors="active")
    page.goto(book + "10-ppo/")
    chosen, other = (
        page.locator(f".presets [aria-pressed={state}]").first.evaluate("e => getComputedStyle(e).backgroundColor")
        for state in ("true", "false")
    )
    assert chosen != other


def test_each_press_lights_the_next_of_seven_steps_and_keeps_its_panel(page, book):
    page.goto(book)
    page.wait_for_load_state()
    seen = lambda: [panel.get_attribute("id") for panel in page.locator(".detail").all() if panel.is_visible()]
    fill = lambda name: page.locator(f"svg.broad a.{name} rect").first.evaluate("e => getComputedStyle(e).fill")
    size, plain = page.locator(".pipeline svg.broad .m").first, fill("trainer")
    assert not size.is_visible()
    button = page.get_by_role("button", name="Next step")
    for name in pipeline_map.STEPS:
        button.click() if name != "env" else page.keyboard.press("ArrowRight")
        assert seen() == [f"map-{name}"] and size.is_visible()
        page.wait_for_function("document.getAnimations().every((one) => one.playState !== 'running')")
        assert fill(name) != plain and (name == "trainer" or fill("trainer") == plain)
    button.click()
    assert seen() == ["map-controller"]


def test_an_iteration_that_is_played_goes_on_by_itself_and_can_be_stopped(page, book):
    page.clock.install()
    page.goto(book)
    page.wait_for_load_state()
    chosen = lambda: page.locator(".pipeline").get_attribute("data-step")
    page.get_by_role("button", name="Play one iteration").click()
    assert chosen() == "1"
    page.clock.run_for(8100)
    assert chosen() == "3"
    page.get_by_role("button", name="Stop").click()
    page.clock.run_for(9000)
    assert chosen() == "3"
    page.get_by_role("button", name="Play one iteration").click()
    page.clock.run_for(30000)
    assert chosen() == "7" and page.get_by_role("button", name="Play one iteration").is_visible()


def test_the_map_shows_the_panel_of_a_part_keeps_it_at_a_click_and_cuts_an_arrow(page, book):
    page.goto(book)
    page.wait_for_load_state()
    seen = lambda: [panel.get_attribute("id") for panel in page.locator(".detail").all() if panel.is_visible()]
    dashes = lambda: page.locator("svg.broad a.reward .wire").evaluate("wire => getComputedStyle(wire).strokeDasharray")
    assert seen() == ["map-rollout"]
    page.hover("svg.broad a.trainer rect")
    assert seen() == ["map-trainer"]
    page.hover("h1")
    assert seen() == ["map-rollout"]
    page.click("svg.broad a.reward .e")
    page.hover(".md-header")  # which stays there when the page scrolls to the field below
    assert seen() == ["map-reward"] and dashes() == "none" and page.url == book
    page.get_by_label("Cut this arrow").locator("visible=true").check()
    assert dashes() == "3px, 6px"
    page.locator("svg.broad a.controller").focus()
    page.keyboard.press("Tab")
    assert seen() == ["map-rollout"]
    page.keyboard.press("Enter")
    page.hover("h1")
    assert seen() == ["map-rollout"] and dashes() == "3px, 6px"
