"""The widget of a lesson under a reader's hands: knobs, views, runs, the table of its data, the links it makes, and the
address that keeps its setting.
"""

import csv
import io
import re
from dataclasses import fields, replace
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import (
    WITH_WIDGET,
    guess,
    labels_are_those_of,
    lesson_with,
    live,
    one_of_each_kind_on_a_push,
    open_menu,
    preset,
    press,
    settled,
    show_all_knobs,
    until,
    visit,
)
from tests.widgets.catalogue import breaking, ends, frame_of
from tools.pages import frames
from widgets.frame.contract.values import knobs_from, spelled
from widgets.frame.reader import data_table, host

HEIGHT = "document.querySelector('figure.rl-widget').offsetHeight"


def opened(page, book, path):
    visit(page, book, path)
    until(page, "document.querySelector('rl-widget')")
    live(page, page.locator(".rl-widget").get_attribute("id"))
    return page


# ── knobs ──


@one_of_each_kind_on_a_push()
def test_every_knob_reaches_the_figure_by_keyboard(live_page, book, lesson):
    page, w = opened(live_page, book, lesson.url), host.widget(lesson.widget)
    show_all_knobs(page)
    page.evaluate("addEventListener('drawn', ({ detail }) => { window.drawn = detail; })")
    for f in fields(w.Knobs):
        control = page.locator(f"[name={f.name}]").first
        control.focus()
        value = next(v for v in ends(f) if v != f.default)
        if f.metadata["kind"] in ("slider", "ladder"):
            page.keyboard.press("End" if value == ends(f)[-1] else "Home")
        else:
            page.evaluate(
                """([name, value]) => {
                const control = document.querySelector('rl-widget').form.elements.namedItem(name);
                control.value = value;
                const moved = control.length && !control.options ? control[0] : control;
                for (const type of ['input', 'change']) moved.dispatchEvent(new Event(type, { bubbles: true }));
            }""",
                [f.name, spelled(value)],
            )
        expect(page).to_have_url(re.compile(f"[?&]{f.name}="))
        expect(page.locator(f"[data-knob={f.name}]")).to_have_class(re.compile(r"\bmoved\b"))
        page.evaluate("wanted => { window.wanted = wanted; }", [f.name, spelled(value)])
        until(page, "window.drawn?.[wanted[0]] === wanted[1]")
        page.evaluate("document.querySelector('rl-widget').form.reset()")  # and no run of the default for each
    press(page, "rl-widget .reset")


def test_what_is_typed_beside_a_slider_is_taken_clamped_or_refused(live_page, book):
    page = opened(live_page, book, "10-ppo/")
    show_all_knobs(page)
    field = page.locator("[data-knob=eps_low] [type=text]")
    for typed, value, hint in (
        ("0,3", "0.3", ""),
        ("7", None, "from"),
        ("abc", None, "a number from"),
        ("0,22", "0.22", ""),  # between two steps of the slider
        ("2e-1", "0.2", ""),
    ):
        field.fill(typed)
        field.press("Enter")
        if value:
            expect(field).to_have_value(value)
        expect(page.locator("[data-knob=eps_low] .hint")).to_contain_text(hint)
    field.fill("0.9")
    field.press("Escape")
    expect(field).to_have_value("0.2")
    count = page.locator("[data-knob=passes] [type=text]")
    count.fill("6")
    count.press("Enter")
    expect(count).to_have_value("4")
    expect(page.locator("[data-knob=passes] .hint")).to_have_text("6 is not on offer, 4 is nearest")


def test_a_value_between_two_steps_is_kept_in_the_address_and_comes_back(live_page, book):
    page = opened(live_page, book, "10-ppo/?eps_low=0.22")
    field = page.locator("[data-knob=eps_low] [type=text]")
    expect(field).to_have_value("0.22")
    assert "eps_low=0.22" in page.url
    page.locator("[name=eps_low]").press("ArrowRight")  # and the hand goes by steps again
    expect(field).to_have_value("0.25")


def test_a_number_of_gpus_is_taken_as_typed_and_nothing_is_rounded_in_silence(live_page, book):
    page = opened(live_page, book, "plan/?gpus=1000")
    field, hint = page.locator("[data-knob=gpus] [type=text]"), page.locator("[data-knob=gpus] .hint")
    expect(field).to_have_value("1000")
    for typed, value, said in (
        ("72", "72", ""),
        ("1,024", "1024", ""),
        ("72.5", "1024", "a whole number from 1 to 8192"),
        ("1e308", "8192", "from 1 to 8192"),
        ("Infinity", "8192", "from 1 to 8192"),
    ):
        field.fill(typed)
        field.press("Enter")
        expect(field).to_have_value(value)
        expect(hint).to_contain_text(said)
    expect(page).to_have_url(re.compile(r"[?&]gpus=8192"))
    page.locator("rl-widget .reset").click()
    expect(field).to_have_value("128")


def test_a_knob_that_changes_nothing_is_muted_and_says_why_until_it_does(live_page, book):
    def idle():
        return page.locator(".knob.idle").evaluate_all("all => all.map((one) => one.dataset.knob)")

    def why():
        return page.locator(".knob").evaluate_all(
            """all => all.map((one) => getComputedStyle(one, '::after').content).filter((said) => said !== 'none')"""
        )

    page = opened(live_page, book, "15-rlhf/")
    show_all_knobs(page)
    assert idle() == ["N", "updates", "target", "gain"]
    assert why() == ['"used by another optimizer"']  # once below those that it holds of
    opened(page, book, "15-rlhf/?how=best+of+N&perfect=on")
    settled(page)
    assert idle() == ["beta", "pairs", "flip", "updates", "target", "gain", "features", "seed"]
    page.click("rl-widget .reset")
    until(page, "document.querySelectorAll('.knob.idle').length === 4")


@one_of_each_kind_on_a_push()
def test_all_knobs_stand_beside_the_picture_as_high_as_it_and_stay_open_on_the_next_page(live_page, book, lesson):
    page = opened(live_page, book, lesson.url)
    left = page.locator(".panels:not([hidden]) .plot").first.bounding_box()["x"]
    show_all_knobs(page)
    picture, column = (page.locator(part).bounding_box() for part in ("rl-widget .stick", "rl-widget .rest"))
    assert page.locator(".panels:not([hidden]) .plot").first.bounding_box()["x"] == left
    assert column["y"] == pytest.approx(picture["y"], abs=1)
    assert column["height"] == pytest.approx(picture["height"], abs=1)
    opened(page, book, "06-weight-sync/")
    assert page.locator("rl-widget .rest").is_visible()
    page.click("[data-all-knobs]")
    assert not page.locator("rl-widget .rest").is_visible()


def test_a_knob_is_found_by_its_words_and_its_name_opens_what_they_mean(live_page, book):
    page = opened(live_page, book, "20-kv-cache/")
    show_all_knobs(page)
    page.fill(".filter", "for the engine")
    assert page.locator(".rest .knob:visible").evaluate_all("all => all.map((one) => one.dataset.knob)") == [
        "hbm_share"
    ]
    page.fill(".filter", "")
    for knob, word in dict(context="Context. ", batch="Batch. ").items():  # one is spelled in its name, one named by it
        page.locator(f"[data-knob={knob}] .word").click()
        assert page.locator(".meaning:popover-open").inner_text().startswith(word)
        page.keyboard.press("Escape")


def test_a_link_to_a_hidden_knob_shows_it_and_leads_back_to_the_text(live_page, book):
    page = opened(live_page, book, "10-ppo/")
    page.click("details:has(a[data-knobs*='eps_high=']) > summary >> nth=0")
    link = page.locator("details[open] a[data-knobs*='eps_high=']").first
    link.scroll_into_view_if_needed()
    link.evaluate(  # before the page's own listener, which scrolls
        "a => addEventListener('click', () => a.seen = a.getBoundingClientRect().top, { capture: true, once: true })"
    )
    link.click()
    expect(page.locator("[data-knob=eps_high]")).to_be_visible()
    assert page.evaluate("localStorage.getItem('all-knobs')") is None  # opened for once
    settled(page)
    page.click(".to-text")
    until(page, "!document.querySelector('.to-text')")
    assert page.evaluate("document.activeElement.dataset.knobs").find("eps_high=") >= 0
    until(page, "(a => Math.abs(a.getBoundingClientRect().top - a.seen) < 2)(document.activeElement)")


# ── the states ──


def test_at_rest_the_guess_alone_is_offered_and_its_run_finds_no_break(live_page, book):
    page = opened(live_page, book, "00-orientation/")

    def offered():
        return page.locator("rl-widget :is(.presets, .foot, .run) button:visible").all_inner_texts()

    assert offered() == ["All knobs (4)", "Export", "Code"]
    waits = page.locator("[data-reveals] b")
    assert not waits.count() or not waits.is_visible()
    guess(page)
    assert page.locator(".told").is_visible() and not page.locator(".q").is_visible()
    assert {"Keep this run", "Reset", "New seed"} <= {*offered()} and "Guess first" not in offered()
    assert page.locator(".finds li.on").count() == 0


def test_what_the_guess_breaks_is_said_to_be_shown_and_found_once_the_reader_sets_it(live_page, book):
    page = opened(live_page, book, "28-bottlenecks/")
    shown, dare, marks = (page.locator(f".finds {part}") for part in (".spared", ".dare", "li.on"))
    guess(page)
    expect(page.locator(".rl-widget")).to_have_attribute("data-state", "broken")
    assert shown.is_visible() and not dare.is_visible() and marks.count() == 0
    weeks = page.locator("[name=weeks]")
    weeks.press("ArrowRight")  # away, and back
    settled(page)
    assert not shown.is_visible()
    weeks.press("ArrowLeft")
    settled(page)
    expect(marks).to_have_count(1)
    assert not shown.is_visible()


def test_what_lights_up_is_the_cause_of_the_break_and_leads_back_to_the_readers_own_setting(live_page, book):
    own, w = dict(block="max length", batch=128), host.widget("kv_cache")

    def cause_at(k):
        return frames.settled("kv_cache", k)["verdict"]["cause"]

    cause, names = cause_at(replace(w.Knobs(), **own)), breaking("kv_cache")
    page = opened(live_page, book, f"20-kv-cache/?{urlencode(own)}")
    settled(page)
    lit = page.locator(".finds li.on")
    expect(lit).to_have_count(1)
    assert lit.inner_text() == cause == lit.get_attribute("data-breaks")
    there = page.url
    press(page, "rl-widget .reset")
    lit.locator(".cause").click()
    offered = lit.locator(".menu:popover-open button:visible")
    assert offered.all_inner_texts() == ["Your setting", *(name for name in names if cause_at(names[name]) == cause)]
    press(page, ".finds [data-own]:visible")
    assert page.url == there and not offered.count()
    expect(page.locator(".rl-widget")).to_have_attribute("data-state", "broken")


def test_a_break_by_a_cause_of_no_preset_is_credited_too(live_page, book):
    page = opened(live_page, book, "00-orientation/?K=1&beta=1&seed=21")
    press(page, "rl-widget .go")
    lit = page.locator(".finds li.on")
    expect(lit).to_have_count(1)
    assert lit.get_attribute("data-breaks") not in frames.causes("orientation")
    lit.locator(".cause").click()
    assert lit.locator(".menu button:visible").all_inner_texts() == ["Your setting"]


def test_without_scripts_every_cause_and_every_preset_that_breaks_by_it_is_to_be_read(page_without_scripts, book):
    page = page_without_scripts
    page.goto(f"{book}20-kv-cache/")
    marks = page.locator("li[data-breaks]")
    for media in ("screen", "print"):
        page.emulate_media(media=media)
        assert [mark.locator("span:visible").all_inner_texts() for mark in marks.all()] == [
            [cause] for cause in frames.causes("kv_cache")
        ]
        presets = marks.locator("[data-promise]:visible").all_inner_texts()
        assert sorted(presets) == sorted(breaking("kv_cache"))
    page.emulate_media(media="screen")


def test_the_breaks_found_are_never_cut_off(live_page, book):
    """However many causes a page has, and whichever is in force."""
    page = live_page
    lesson = max(WITH_WIDGET, key=lambda lesson: len(lesson.causes))
    opened(page, book, lesson.url)
    for cause in lesson.causes:
        page.locator(f"li[data-breaks='{cause}'] [data-promise]").first.dispatch_event("click")
        settled(page)
        expect(page.locator(f"li[data-breaks='{cause}']")).to_have_class("on newest")
        for width in (390, 1280):
            page.set_viewport_size(dict(width=width, height=900))
            row, back = page.locator(".finds").bounding_box(), page.locator(".back").bounding_box()
            boxes = [box for part in page.locator(".finds > *, .finds .cause").all() if (box := part.bounding_box())]
            assert all(box["x"] + box["width"] <= row["x"] + row["width"] + 1 for box in boxes), (cause, width)
            marks = [one.bounding_box() for one in page.locator(".finds .cause").all() if one.is_visible()]
            assert all(box["x"] + box["width"] <= back["x"] and box["width"] >= 24 for box in marks), (cause, width)


def test_nothing_is_said_of_the_time_left_before_it_is_known(live_page, book):
    page = live_page
    page.evaluate("localStorage.setItem('pace:what_rl_adds', JSON.stringify({ pace: 100 }))")
    opened(page, book, "01-what-rl-adds/")
    page.evaluate(
        """() => {
            window.said = [];
            const line = document.querySelector(".now span");
            new MutationObserver(() => said.push(line.textContent)).observe(line, { childList: true });
        }"""
    )
    page.locator("[name=seed]").dispatch_event("input")
    settled(page)
    of_steps = [line for line in page.evaluate("said") if " of " in line]
    assert any(re.match(r"\w+ 0 of ", line) for line in of_steps), "a frame before the first step"
    assert not [line for line in of_steps if re.search("Infinity|NaN", line)]


def test_no_verdict_of_another_setting_is_to_be_read_while_a_run_is_under_way(live_page, book):
    page = opened(live_page, book, "10-ppo/?passes=16")
    settled(page)
    assert page.locator(".brk [role=status]").is_visible() and not page.locator(".now").is_visible()
    page.locator("[name=passes]").press("ArrowRight")
    until(page, "document.querySelector('.now').textContent.includes('Update')")
    assert page.locator(".now").is_visible() and not page.locator(".brk [role=status]").is_visible()
    assert page.inner_text(".now").startswith("Running. Update")
    page.click("rl-widget .go")


def test_a_break_is_ringed_in_the_picture(live_page, book):
    page = opened(live_page, book, "10-ppo/")
    ring, said = (page.locator(f"rl-widget .plot [data-ring] {part}:not(.k-off)") for part in (".k-ring", ".k-said"))
    assert ring.count() == 0
    preset(page, next(iter(breaking("ppo").values())))
    expect(said).to_contain_text("no stop")  # the stop that the rare token took
    ring, plot = ring.bounding_box(), page.locator("rl-widget .plot:has([data-ring])").bounding_box()
    assert plot["x"] < ring["x"] < plot["x"] + plot["width"] and plot["y"] < ring["y"] < plot["y"] + plot["height"]
    expect(page.locator(".finds li.on .cause")).to_have_text(["a rare token that takes over"])
    page.locator("[name=passes]").press("ArrowLeft")
    settled(page)


@pytest.mark.parametrize("widget", ["kl_estimators", "kv_cache"])
def test_a_break_and_a_step_of_the_way_back_keep_the_height(live_page, book, widget):
    """Of the other lessons, test_tour.py sees it at night."""
    lesson = lesson_with(widget)
    page = opened(live_page, book, lesson.url)
    until(page, "document.querySelector('.panels:not([hidden]) .plot .main-svg')")
    page.wait_for_timeout(300)
    before = page.evaluate(HEIGHT)
    preset(page, next(iter(breaking(lesson.widget).values())))
    assert page.evaluate(HEIGHT) == pytest.approx(before, abs=2)
    page.click(".back")
    page.click(".steps button >> nth=0")
    settled(page)
    assert page.evaluate(HEIGHT) == pytest.approx(before, abs=2)


# ── figures, numbers, runs ──


@pytest.mark.parametrize(
    "stem, moved",
    [
        ("03a-kl-estimators", "pair=Gaussian&mu=3&estimator=k3&placement=loss"),
        ("20-kv-cache", "accelerator=h200"),
        ("22a-throughput", "accelerator=h100&role=train&source=from+shapes"),
    ],
)
def test_captions_follow_the_knobs_and_not_the_setting_that_was_built(live_page, book, stem, moved):
    lesson = next(lesson for lesson in WITH_WIDGET if lesson.stem == stem)
    page = opened(live_page, book, f"{lesson.url}?{moved}")
    settled(page)
    knobs = knobs_from(host.widget(lesson.widget).Knobs, dict(parse_qsl(moved)))
    for view in page.locator("[name=view]").all() or [None]:
        if view:
            view.check(force=True)
        until(page, "!document.querySelector('rl-widget .panels:not([hidden]) .still')")
        labels_are_those_of(page, frame_of(lesson.widget, knobs))


def test_buttons_answer_to_the_keyboard_as_to_a_hand(live_page, book):
    """The theme gives what the keyboard has reached a class of its own."""
    page = opened(live_page, book, "20-kv-cache/?batch=256")
    keep = page.locator(".presets .keep")
    keep.focus()
    for key in ("Tab", "Shift+Tab", "Enter"):
        page.keyboard.press(key)
    expect(keep).to_have_attribute("aria-pressed", "true")
    column = page.locator("[data-all-knobs]")
    was = column.get_attribute("aria-expanded")
    column.press("Space")
    expect(column).to_have_attribute("aria-expanded", {"true": "false", "false": "true"}[was])
    column.press("Space")  # the column stays as it was for the tests that share the page
    expect(column).to_have_attribute("aria-expanded", was)


def test_views_answer_to_the_arrow_keys(live_page, book):
    page = opened(live_page, book, "10-ppo/")
    page.locator("[name=view]").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[name=view]").nth(1)).to_be_checked()
    assert [panels.is_visible() for panels in page.locator(".rl-widget .panels").all()][:2] == [False, True]
    assert page.locator(".rl-widget .panels:not([hidden]) .plot").first.is_visible()


@one_of_each_kind_on_a_push()
def test_sources_under_the_numbers_are_shown_when_asked_for_and_not_cut_off(live_page, book, lesson):
    page = opened(live_page, book, lesson.url)
    assert not page.locator(".readouts dd a").first.is_visible()
    open_menu(page, "code")
    page.click("button.lines")
    page.keyboard.press("Escape")
    assert page.locator(".readouts dd a").first.is_visible()
    for width in (1280, 390):
        page.set_viewport_size(dict(width=width, height=900))
        cut = page.locator(".readouts dd a").evaluate_all(
            "all => all.filter((a) => a.scrollWidth > a.clientWidth).map((a) => a.textContent)"
        )
        assert not cut, f"cut off at {width} pixels: {cut}"


@pytest.mark.parametrize("width", [360, 1280])
def test_a_button_names_the_panel_beside_and_shows_it(live_page, book, width):
    page = live_page
    page.set_viewport_size(dict(width=width, height=800))
    opened(page, book, "20-kv-cache/")
    plots = "[...document.querySelectorAll('.rl-widget .panels:not([hidden]) .plot')]"
    inside = f"(({{ left, right }}) => left > 0 && right < {width})(plot.getBoundingClientRect())"

    def shown(which):
        return until(page, f"{plots}.map((plot) => {inside}).join() === '{which}'")  # a scroll takes a while

    titles = [panel["title"] for panel in frame_of("kv_cache", host.widget("kv_cache").Knobs())["panels"]][:2]
    buttons = page.locator(".panels:not([hidden]) .swipe")
    shown("true,false")
    assert buttons.all_inner_texts() == titles[::-1]
    buttons.first.press("Enter")
    shown("false,true")
    page.keyboard.press("Enter")  # the other one has the focus, and leads back
    shown("true,false")


def test_a_run_can_be_stopped_and_started_again(live_page, book):
    page = live_page
    visit(page, book, "10-ppo/?passes=16&clip=off")
    until(page, "document.querySelector('.rl-widget .now')?.textContent.includes('Update')")
    page.click("rl-widget .go")
    expect(page.locator("rl-widget .state")).to_have_text(re.compile(r"stopped at update \d+ of 60"))
    press(page, "rl-widget .go")
    expect(page.locator(".rl-widget")).to_have_attribute("data-state", "broken")
    expect(page.locator("rl-widget .go")).to_have_text("Run again")


def test_the_foot_promises_what_is_known_of_a_setting_and_no_more(live_page, book):
    page = opened(live_page, book, "05-trainer/?passes=4&minibatches=8")
    foot = page.locator(".hash")
    expect(foot).to_have_text(re.compile("amplifies the last bit: other machines differ by up to 0.3 in"))
    opened(page, book, "20-kv-cache/")
    expect(foot).to_have_text(re.compile("^reproducible: [0-9a-f]{8}$"))
    page.locator(".knob [type=range]").first.press("ArrowRight")
    expect(foot).to_have_text(re.compile("^fingerprint: [0-9a-f]{8}$"))


@pytest.mark.parametrize(
    ("name", "said"), [("doctor", "No module named"), ("no_such_widget", "a part of the page did not arrive")]
)
def test_a_python_exception_is_shown_and_the_page_goes_on(live_page, book, name, said):
    page = opened(live_page, book, "03a-kl-estimators/")
    show_all_knobs(page)
    page.evaluate(f"document.querySelector('rl-widget').name = '{name}'")
    page.locator("rl-widget input[type=range]").first.press("ArrowRight")
    expect(page.locator(".rl-widget")).to_have_attribute("data-state", "error")
    expect(page.locator(".brk [role=status]")).to_contain_text(said)
    page.evaluate("document.querySelector('rl-widget').name = 'kl_estimators'")
    page.locator("rl-widget input[type=range]").first.press("ArrowLeft")
    live(page, "kl_estimators")


# ── what is taken along ──


@pytest.mark.parametrize("name", ["kv_cache", "kl_estimators"], ids=["cells", "single runs"])
def test_the_data_behind_the_figure_can_be_read_and_saved(live_page, book, name):
    page = opened(live_page, book, lesson_with(name).url)
    open_menu(page, "export")
    page.click("button.table")
    page.keyboard.press("Escape")
    page.wait_for_selector(".data a[download]")
    page.evaluate("window.before = document.querySelector('.data tbody').innerText")
    assert page.locator(".data tbody tr").count() > 5
    preset(page, list(host.widget(name).PRESETS.values())[2])
    until(page, "document.querySelector('.data tbody').innerText !== before")  # it follows the figure
    with page.expect_download() as download:
        page.click(".data a[download]")
    assert download.value.suggested_filename == f"{name}.csv"
    panels = frame_of(name, list(host.widget(name).PRESETS.values())[2])["panels"]
    native = unquote(data_table.file(panels, name).partition("utf-8,")[2].partition('"')[0])
    shown, native = (list(csv.reader(io.StringIO(text))) for text in (download.value.path().read_text(), native))
    assert len(shown) == len(native) > 20 and shown[0] == ["panel", "curve", "x", "value"]
    assert all(
        a[:2] == b[:2] and (a[3] == b[3] or float(a[3]) == pytest.approx(float(b[3]), rel=1e-6))
        for a, b in zip(shown, native)
    )


def test_a_link_to_the_setting_and_the_code_of_a_block_can_be_copied(live_page, book):
    page = live_page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, book, "12-rloo/?seed=3")
    open_menu(page, "export")
    page.click("text=Copy link")
    page.wait_for_selector(".md-dialog--active")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(re.escape(book) + r"12-rloo/\?.*seed=3.*#rloo", copied)
    page.click(".src.diff .copy")
    copied = page.evaluate(
        """async () => {
            for (;;) {
                const text = await navigator.clipboard.readText();
                if (!text.startsWith("http")) return text;
                await new Promise((resume) => setTimeout(resume, 25));
            }
        }"""
    )
    whole = (Path(__file__).parents[2] / "sim/algorithms/rloo.py").read_text().splitlines()
    assert copied and {*copied.splitlines()} <= {*whole}  # nothing that was taken out, no heading


# ── the address ──


def test_the_way_back_in_the_browser_brings_the_knobs_and_python_lives_on(live_page, book):
    page = opened(live_page, book, "03a-kl-estimators/")
    workers = []

    def hear(worker):
        return workers.append(worker.url)

    page.on("worker", hear)
    page.locator("rl-widget input[type=range]").first.focus()
    page.keyboard.press("End")
    settled(page)
    there = page.url
    following = WITH_WIDGET[WITH_WIDGET.index(lesson_with("kl_estimators")) + 1].widget
    page.click(".ways [rel=next]")
    live(page, following)
    page.go_back()
    live(page, "kl_estimators")
    page.remove_listener("worker", hear)
    assert page.url == there and not workers


def test_an_address_brings_the_setting_back_and_says_what_it_left_out(page, book):
    page.goto(book + "10-ppo/?passes=16&clip=off&eps_high=99&nothing=1")
    live(page, "ppo")
    settled(page)
    assert page.locator(".rl-widget").get_attribute("data-state") == "broken"
    expect(page.locator(".note")).to_have_text(re.compile(r"eps_high=99 \(one of .+\); nothing \(no such knob\)"))
    assert "eps_high" not in page.url and "passes=16" in page.url
    prints_the_figure_its_numbers_its_settings_and_the_answers(page)
    page.reload()
    exact = page.locator("[aria-label='Passes over a batch, exact value'], [data-knob=passes] [type=text]")
    expect(exact).to_have_value("16")


def prints_the_figure_its_numbers_its_settings_and_the_answers(page):
    page.emulate_media(media="print")
    assert not page.locator(".rl-widget form").is_visible() and not page.locator(".md-header").is_visible()
    assert page.locator("dl.readouts").is_visible() and page.locator(".plot").first.is_visible()
    settings = page.evaluate("getComputedStyle(document.querySelector('.rl-widget'), '::after').content")
    assert "Settings shown" in settings and "16" in settings
    assert page.locator("[data-quiz] p").last.is_visible()
    page.emulate_media(media="screen")


# ── paper, forced colors, the keyboard ──


@one_of_each_kind_on_a_push()
def test_code_on_paper_is_wrapped_and_not_cut(live_page, book, lesson):
    page = opened(live_page, book, lesson.url)
    page.emulate_media(media="print")
    page.set_viewport_size(dict(width=680, height=900))
    cut = page.locator(".md-typeset pre").evaluate_all(
        "all => all.filter((pre) => pre.scrollWidth > pre.clientWidth + 1).map((pre) => pre.textContent.slice(0, 60))"
    )
    assert not cut, cut


def test_forced_colors_keep_the_chosen_preset_and_the_marks(live_page, book):
    page = opened(live_page, book, "10-ppo/")
    page.emulate_media(forced_colors="active")
    chosen, other = (
        page.locator(f".presets [aria-pressed={state}]").first.evaluate("e => getComputedStyle(e).backgroundColor")
        for state in ("true", "false")
    )
    assert chosen != other


def test_two_links_lead_past_the_rail_to_the_text_and_to_the_figure(page_without_python, book):
    page = page_without_python
    page.goto(book + "10-ppo/")
    until(page, "document.querySelector('rl-widget').shown")  # it writes the address once, which takes the focus back
    for name in ("Skip to content", "Skip to the figure"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.innerText").strip() == name
    page.keyboard.press("Enter")
    until(page, "document.activeElement.id === 'ppo'")  # the browser may take a frame for it
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "none"  # no frame on shared links
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('figure.rl-widget')?.id") == "ppo"
