"""Every lesson in a real browser: complete before Python, alive with it, the same numbers as natively, and readable
without.
"""

import csv
import io
import os
import re
from dataclasses import fields
from pathlib import Path
from urllib.parse import parse_qsl, unquote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import (
    OF_EACH_KIND,
    SOME,
    THOROUGH,
    WITH_WIDGET,
    live,
    preset,
    press,
    readouts,
    without_python,
)
from tests.browser.test_access import in_both_lights, violations
from tests.widgets.catalogue import breaking, ends, frame_of, last_frame, near, state
from tools.pages import lessons, quoting
from widgets.frame import data, host

every_lesson = pytest.mark.parametrize("lesson", WITH_WIDGET, ids=lambda lesson: lesson.stem)


@every_lesson
def test_a_page_is_whole_without_python(page, book, lesson):
    held = []
    page.route("**/vendor/plotly.min.js", lambda route: held.append(route))
    without_python(page)
    with page.expect_request("**/vendor/plotly.min.js"):
        page.goto(book + lesson.url)
    assert page.locator(".panels:not([hidden]) .plot:has(svg.still)").first.bounding_box()["height"] > 80
    assert readouts(page) == [r["text"] for r in last_frame(lesson.widget)["readouts"]]
    assert page.locator("rl-widget form").is_visible()
    expect(page.locator("rl-widget .state")).to_have_text(re.compile("not started"))
    expect(page.locator(".brk [role=status]")).to_contain_text("complete without it")
    plotly_takes_the_place_of_the_still_figure_and_no_more(page, held)
    the_tab_key_reaches_every_control(page)
    a_link_in_the_prose_sets_what_it_says_and_all_else_to_its_default(page, host.widget(lesson.widget).Knobs())
    nothing_scrolls_sideways(page)


def plotly_takes_the_place_of_the_still_figure_and_no_more(page, held):
    tall = "document.querySelector('figure.rl-widget').offsetHeight"
    before = page.evaluate(f"document.fonts.ready.then(() => {tall})")
    held[0].continue_()
    page.wait_for_selector(".panels:not([hidden]) .plot .main-svg")
    page.wait_for_function("!document.querySelector('rl-widget .panels:not([hidden]) .still')")
    assert page.evaluate(tall) == before


def the_tab_key_reaches_every_control(page):
    page.locator("details.more").evaluate_all("all => all.forEach((more) => { more.open = true; })")
    wanted = page.evaluate("""() => [...document.querySelectorAll('.rl-widget *')]
        .filter((e) => e.matches('button, input, select, textarea, summary, a, [tabindex="0"]'))
        .filter((e) => e.checkVisibility({ visibilityProperty: true }) && e.tabIndex >= 0)
        .filter((e) => !(e.type === 'radio' && !e.checked))
        .map((e, i) => e.dataset.stop = i).length""")
    page.locator("[data-stop='0']").focus()
    reached = set()
    for _ in range(wanted + 2):
        reached.add(page.evaluate("document.activeElement.dataset.stop"))
        page.keyboard.press("Tab")
    assert len(reached - {None}) == wanted


def a_link_in_the_prose_sets_what_it_says_and_all_else_to_its_default(page, default):
    page.locator(".presets [data-knobs]:not([hidden])").last.click()
    links = page.locator("a[data-knobs]:not(rl-widget *)")
    assert links.count() >= 2
    links.first.click()
    asked = dict(parse_qsl(links.first.get_attribute("data-knobs")))
    now = page.evaluate(
        "import(document.querySelector('script[src$=\"assets/widget.js\"]').src.replace('widget', 'knobs'))"
        ".then(({ knobs }) => knobs(document.querySelector('rl-widget form')))"
    )
    assert now == dict(parse_qsl(host.query(default), keep_blank_values=True)) | asked


def nothing_scrolls_sideways(page):
    for width in (360, 390, 900, 1280, 1600):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function(
            "document.documentElement.scrollWidth - innerWidth <= 1"
        )  # the figure follows a moment later


def test_the_index_does_not_scroll_sideways(page, book):
    page.goto(book)
    nothing_scrolls_sideways(page)


@every_lesson
def test_python_s_break_shows_the_native_numbers_and_axe_finds_nothing_before_and_at_it(page, book, lesson):
    """All the presets are computed by the same Python, in tests/pyodide."""
    turn = WITH_WIDGET.index(lesson)
    page.goto(book + lesson.url)
    live(page, lesson.widget)
    assert page.evaluate("document.documentElement.dataset.python") == "snapshot"
    assert readouts(page) == [r["text"] for r in last_frame(lesson.widget)["readouts"]]
    page.locator("details:is(.more, .quiz, .goals, .away)").evaluate_all(
        "all => all.forEach((folded) => { folded.open = true; })"
    )
    for where in in_both_lights(page, turn):
        # a page's own content has the style of all; the widget has each light at rest too
        whole = THOROUGH or lesson in OF_EACH_KIND or where[0] == ("default", "slate")[turn // 2 % 2]
        assert violations(page, "html" if whole else ".rl-widget") == [], where
    if THOROUGH and page.locator("rl-widget .go").count():
        press(page, "rl-widget .go")
        for where in in_both_lights(page):
            assert violations(page, ".rl-widget") == [], where
    page.set_viewport_size({"width": 1280, "height": 900})
    presets = host.widget(lesson.widget).PRESETS
    for name in presets if THOROUGH else list(breaking(lesson.widget))[:1]:
        preset(page, presets[name])
        frame, shown = frame_of(lesson.widget, presets[name]), readouts(page)
        assert near(lesson.widget, name, shown, frame["readouts"]), (name, shown, frame["readouts"])
        if not host.amplified(lesson.widget, name):
            expect(page.locator(".hash")).to_have_text(f"reproducible: {frame['hash']}")
            labels_are_those_of(page, frame)
        judged = state(frame)
        expect(page.locator(".rl-widget")).to_have_attribute("data-state", "live" if judged == "holds" else judged)
        heard = page.locator(".brk [role=status]")  # the polite region says the result, not the event
        expect(heard).to_contain_text(f"{frame['readouts'][0]['label']} ")
        expect(heard).to_contain_text(dict(holds="Holds", worse="Worse, not broken.", broken="Broken.")[judged])
    preset(page, next(iter(breaking(lesson.widget).values())))
    for where in in_both_lights(page, turn + 1):
        assert violations(page, ".rl-widget") == [], where


def test_the_foot_promises_what_is_known_of_a_setting_and_no_more(page, book):
    page.goto(book + "05-trainer/?passes=4&minibatches=8")
    live(page, "trainer")
    expect(page.locator(".hash")).to_have_text(
        re.compile("amplifies the last bit: other machines differ by up to 0.3 in")
    )
    page.goto(book + "20-kv-cache/")
    live(page, "kv_cache")
    expect(page.locator(".hash")).to_have_text(re.compile("^reproducible: [0-9a-f]{8}$"))
    page.locator(".knob [type=range]").first.press("ArrowRight")
    expect(page.locator(".hash")).to_have_text(re.compile("^fingerprint: [0-9a-f]{8}$"))


def labels_are_those_of(page, frame):
    """What is said of the plots in view, and of what is watched, is said of the run that they show."""
    for plot in page.locator(".panels:not([hidden]) .plot").all():
        panel = frame["panels"][int(plot.get_attribute("data-panel"))]
        said = plot.locator("xpath=..").locator(".cap").inner_text()
        assert " ".join(said.split()) == f"{panel['title']} {panel['note']}".replace("_", "")
        expect(plot).to_have_attribute("aria-label", panel["alt"])
    expect(page.locator(".gauge output")).to_have_text(frame["watched"]["text"])


@pytest.mark.parametrize(
    "stem, moved",
    [
        ("03a-kl-estimators", "pair=Gaussian&mu=3&estimator=k3&placement=loss"),
        ("20-kv-cache", "accelerator=h200"),
        ("22a-throughput", "accelerator=h100&role=train&source=from+shapes"),
    ],
)
def test_captions_follow_the_knobs_and_not_the_setting_that_was_built(page, book, stem, moved):
    lesson = next(lesson for lesson in WITH_WIDGET if lesson.stem == stem)
    page.goto(f"{book}{lesson.url}?{moved}")
    live(page, lesson.widget)
    page.wait_for_function("document.querySelector('rl-widget').settled")
    knobs = host.knobs_from(host.widget(lesson.widget).Knobs, dict(parse_qsl(moved)))
    for view in page.locator("[name=view]").all() or [None]:
        if view:
            view.check(force=True)
        page.wait_for_function("!document.querySelector('rl-widget .panels:not([hidden]) .still')")
        labels_are_those_of(page, frame_of(lesson.widget, knobs))


@pytest.mark.parametrize("lesson", SOME, ids=lambda lesson: lesson.stem)
def test_every_knob_reaches_the_figure_by_keyboard(page, book, lesson):
    page.goto(book + lesson.url)
    live(page, lesson.widget)
    w = host.widget(lesson.widget)
    page.locator("details.more").evaluate_all("all => all.forEach((more) => { more.open = true; })")
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
                [f.name, host.spelled(value)],
            )
        expect(page).to_have_url(re.compile(f"[?&]{f.name}="))
        assert page.evaluate(
            "name => document.querySelector(`[data-knob=${name}]`).classList.contains('moved')", f.name
        )
        page.wait_for_function("([name, value]) => window.drawn?.[name] === value", arg=[f.name, host.spelled(value)])
        page.click("rl-widget .reset")
    page.wait_for_function("document.querySelector('rl-widget').settled")


def test_a_knob_that_changes_nothing_is_muted_and_says_why_until_it_does(page, book):
    page.goto(book + "15-rlhf/")
    idle = lambda: page.locator(".knob.idle").evaluate_all("all => all.map((one) => one.dataset.knob)")
    why = lambda: page.locator(".knob").evaluate_all(
        """all => all.map((one) => getComputedStyle(one, '::after').content).filter((said) => said !== 'none')"""
    )
    said = ['"another optimizer’s"']  # once below those that it holds of
    assert (idle(), why()) == (["N", "updates", "target", "gain"], said)  # as built
    live(page, "rlhf")
    assert (idle(), why()) == (["N", "updates", "target", "gain"], said)
    page.goto(book + "15-rlhf/?how=best+of+N&perfect=on")
    live(page, "rlhf")
    page.wait_for_function("document.querySelector('rl-widget').settled")
    assert idle() == ["beta", "pairs", "flip", "updates", "target", "gain", "features", "seed"]
    page.click("rl-widget .reset")
    page.wait_for_function("document.querySelectorAll('.knob.idle').length === 4")


def test_a_permalink_brings_the_setting_back_and_says_what_it_left_out(page, book):
    page.goto(book + "10-ppo/?passes=16&clip=off&eps_high=99&nothing=1")
    live(page, "ppo")
    page.wait_for_function("document.querySelector('rl-widget').settled")
    assert page.locator(".rl-widget").get_attribute("data-state") == "broken"
    expect(page.locator(".note")).to_have_text(re.compile(r"eps_high=99 \(one of .+\); nothing \(no such knob\)"))
    assert "eps_high" not in page.url and "passes=16" in page.url
    page.reload()
    live(page, "ppo")
    assert page.input_value("[aria-label='Passes over a batch, exact value'], [data-knob=passes] [type=text]") == "16"


def test_the_interpreter_outlives_a_change_of_page_and_the_way_back_brings_the_knobs(page, book):
    page.goto(book + "03a-kl-estimators/")
    live(page, "kl_estimators")
    workers = []
    page.on("worker", lambda worker: workers.append(worker))
    page.locator("rl-widget input[type=range]").first.focus()
    page.keyboard.press("End")
    page.wait_for_function("document.querySelector('rl-widget').settled")
    there = page.url
    following = WITH_WIDGET[[lesson.widget for lesson in WITH_WIDGET].index("kl_estimators") + 1].widget
    page.click(".ways [rel=next]")
    page.wait_for_function("name => document.getElementById(name)", arg=following)
    live(page, following)
    page.go_back()
    page.wait_for_function("document.getElementById('kl_estimators')")
    live(page, "kl_estimators")
    assert page.url == there and not workers


def test_what_is_typed_beside_a_slider_is_taken_clamped_or_refused(page, book):
    page.goto(book + "10-ppo/")
    live(page, "ppo")
    field = page.locator("[data-knob=eps_low] [type=text]")
    for typed, value, hint in (
        ("0,3", "0.3", ""),
        ("7", None, "from"),
        ("abc", None, "a number from"),
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


def test_a_run_can_be_stopped_and_started_again(page, book):
    page.goto(book + "10-ppo/?passes=16&clip=off")
    page.wait_for_function("document.querySelector('.state').textContent.startsWith('running · update')")
    page.click("rl-widget .go")
    expect(page.locator("rl-widget .state")).to_have_text(re.compile(r"stopped at update \d+ of 60"))
    press(page, "rl-widget .go")
    expect(page.locator(".rl-widget")).to_have_attribute("data-state", "broken")
    expect(page.locator("rl-widget .go")).to_have_text("Run again")


def test_views_answer_to_the_arrow_keys(page, book):
    page.goto(book + "10-ppo/")
    page.locator("[name=view]").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[name=view]").nth(1)).to_be_checked()
    assert [panels.is_visible() for panels in page.locator(".rl-widget .panels").all()][:2] == [False, True]
    assert page.locator(".rl-widget .panels:not([hidden]) .plot").first.is_visible()


@pytest.mark.parametrize(
    "stem, name", [("20-kv-cache", "kv_cache"), ("03a-kl-estimators", "kl_estimators")], ids=["cells", "single runs"]
)
def test_the_data_behind_the_figure_can_be_read_and_saved(page, book, stem, name):
    page.goto(f"{book}{stem}/")
    live(page, name)
    page.click("button.table")
    page.wait_for_selector(".data a[download]")
    before = page.inner_text(".data tbody")
    assert page.locator(".data tbody tr").count() > 5
    press(page, ".presets [data-knobs]:not([hidden]) >> nth=2")
    page.wait_for_function(
        "before => document.querySelector('.data tbody').innerText !== before", arg=before
    )  # it follows the figure
    with page.expect_download() as download:
        page.click(".data a[download]")
    assert download.value.suggested_filename == f"{name}.csv"
    panels = frame_of(name, list(host.widget(name).PRESETS.values())[2])["panels"]
    native = unquote(data.file(panels, name).partition("utf-8,")[2].partition('"')[0])
    shown, native = (list(csv.reader(io.StringIO(text))) for text in (download.value.path().read_text(), native))
    assert len(shown) == len(native) > 20 and shown[0] == ["panel", "curve", "x", "value"]
    assert all(
        a[:2] == b[:2] and (a[3] == b[3] or float(a[3]) == pytest.approx(float(b[3]), rel=1e-6))
        for a, b in zip(shown, native)
    )


def test_a_link_to_the_setting_and_the_code_of_a_block_can_be_copied(page, book):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    copied = lambda: page.evaluate("navigator.clipboard.readText()")
    page.goto(book + "12-rloo/?seed=3")
    live(page, "rloo")
    page.click("text=Copy link")
    page.wait_for_selector(".md-dialog--active")
    assert re.fullmatch(re.escape(book) + r"12-rloo/\?.*seed=3.*#rloo", copied())
    page.click(".src.diff .copy")
    page.wait_for_function("async () => !(await navigator.clipboard.readText()).startsWith('http')")
    lines, whole = (
        copied().splitlines(),
        (Path(__file__).parents[2] / "sim/algorithms/rloo.py").read_text().splitlines(),
    )
    assert lines and set(lines) <= set(whole)  # nothing that was taken out, no heading


def test_a_python_exception_is_shown_and_the_page_goes_on(page, book):
    page.goto(book + "03a-kl-estimators/")
    live(page, "kl_estimators")
    page.evaluate("document.querySelector('rl-widget').name = 'no_such_widget'")
    page.locator("rl-widget input[type=range]").first.press("ArrowRight")
    expect(page.locator(".rl-widget")).to_have_attribute("data-state", "error")
    expect(page.locator(".brk [role=status]")).to_contain_text("No module named")
    page.evaluate("document.querySelector('rl-widget').name = 'kl_estimators'")
    page.locator("rl-widget input[type=range]").first.press("ArrowLeft")
    live(page, "kl_estimators")


@every_lesson
def test_every_number_links_to_the_line_that_computes_it(lesson):
    site = Path(os.environ["BOOK_SITE"])
    readouts = re.search(
        r'<dl class="readouts">.*?</dl>', (site / lesson.url / "index.html").read_text(encoding="utf-8")
    )[0]
    links = re.findall(r'<a href="\.\./code/(sim/[^"#]+\.html)#L(\d+)"', readouts)
    assert links
    for path, line in links:
        assert f'id="L{line}"' in (site / "code" / path).read_text(encoding="utf-8")


def answer_all(page):
    for quiz in page.locator("details.quiz summary").all():
        quiz.click()


def test_a_lesson_is_done_with_a_found_break_and_its_answers_or_by_hand(page, book):
    mark, rail = page.locator(".cards lesson-mark[name='12-rloo']"), page.locator(".md-nav lesson-count").nth(1)
    page.goto(book)
    expect(mark).to_have_attribute("aria-label", "not begun")
    expect(page.locator("lesson-next a")).to_have_count(0)
    page.evaluate("localStorage.setItem('found:rloo', '[\"a cause\"]')")
    page.goto(book)
    expect(mark).to_have_attribute("aria-label", "begun")
    expect(page.locator("lesson-next a")).to_have_text("Continue with 12 RLOO")
    expect(page.locator(".counts")).to_have_text(
        re.compile(r"^0 of \d+ lessons · 1 of \d+ breaks found · 0 of \d+ challenges met$")
    )
    page.goto(book + "12-rloo/")
    expect(rail).to_have_text("0 of 6")
    answer_all(page)
    by_hand = page.get_by_role("button", name="Mark as done")
    expect(by_hand).to_have_attribute("aria-pressed", "true")
    expect(rail).to_have_text("1 of 6")
    page.goto(book)
    expect(mark).to_have_attribute("aria-label", "done")
    expect(page.locator("lesson-next a")).to_have_text("Continue with 13 DAPO")
    expect(page.locator(".counts")).to_have_text(re.compile(r"^1 of \d+ lessons · 1 of"))
    expect(page.locator(".cards lesson-mark[name='13-dapo']")).to_have_attribute("aria-label", "not begun")
    page.goto(book + "12-rloo/")
    expect(by_hand).to_have_attribute("aria-pressed", "true")
    by_hand.click()
    expect(by_hand).to_have_attribute("aria-pressed", "false")
    page.goto(book)
    expect(mark).to_have_attribute("aria-label", "begun")


def test_answers_without_a_break_begin_a_lesson_and_the_break_ends_it(page, book):
    page.goto(book + "12-rloo/")
    answer_all(page)
    by_hand = page.get_by_role("button", name="Mark as done")
    expect(by_hand).to_have_attribute("aria-pressed", "false")
    expect(by_hand.locator("lesson-mark")).to_have_class("mark half")
    page.evaluate("localStorage.setItem('found:rloo', '[\"a cause\"]')")
    page.goto(book + "12-rloo/")
    expect(by_hand).to_have_attribute("aria-pressed", "true")
    by_hand.click()  # what a reader takes back stays taken back
    expect(by_hand).to_have_attribute("aria-pressed", "false")


def test_what_was_done_is_saved_erased_and_loaded_again(page, book, tmp_path):
    page.goto(book)
    progress = page.locator("reader-progress")
    said = progress.locator("output")
    expect(said).to_have_text("Nothing is kept in this browser yet.")
    expect(progress.get_by_role("button", name="Erase")).to_be_disabled()
    page.evaluate(
        "localStorage.setItem('lessons-v1', JSON.stringify({'12-rloo': 'full', '10-ppo': 'answered'}));"
        "localStorage.setItem('found:ppo', '[\"one\", \"two\"]'); localStorage.setItem('of another site', '1')"
    )
    page.goto(book)
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
    assert page.evaluate("Object.keys(localStorage).filter((key) => /lessons|found/.test(key))") == []
    assert page.evaluate("localStorage.getItem('of another site')") == "1"
    expect(page.locator(".counts")).to_have_text(re.compile(r"^0 of \d+ lessons · 0 of"))

    page.evaluate("localStorage.setItem('found:ppo', '[\"two\", \"three\"]')")
    progress.locator("input").set_input_files(file)
    expect(said).to_have_text(
        "Loaded and added to what was here: 2 lessons answered or marked, 3 breaks."  # nothing that was here is lost
    )
    expect(page.locator(".counts")).to_have_text(re.compile(r"^2 of \d+ lessons · 3 of"))


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"book": "another"}', '{"book": "rl-post-training"}', "null"])
def test_a_file_that_holds_no_progress_changes_nothing_and_is_told(page, book, tmp_path, text):
    page.goto(book)
    (file := tmp_path / "progress.json").write_text(text, encoding="utf-8")
    page.locator("reader-progress input").set_input_files(file)
    expect(page.locator("reader-progress output")).to_have_text(
        "This file holds no progress of this book; choose one that was saved here."
    )
    assert page.evaluate("Object.keys(localStorage).filter((key) => /lessons|found/.test(key))") == []


@pytest.mark.parametrize(
    "lesson",
    [lesson for lesson in WITH_WIDGET if THOROUGH or lesson.stem in ("10-ppo", "22b-long-tail")],
    ids=lambda lesson: lesson.stem,
)
def test_an_address_with_a_place_ends_at_it_and_nothing_moves_under_the_reader_while_python_starts(page, book, lesson):
    top = "document.querySelector('#sources').getBoundingClientRect().top"
    # below the header, or the page ends
    there = f"{top} >= 48 && ({top} <= 160 || scrollY + innerHeight >= document.documentElement.scrollHeight - 1)"
    page.goto(f"{book}{lesson.url}#sources")
    live(page, lesson.widget)
    assert page.evaluate(there)
    held = []
    page.route("**/assets/worker.js", lambda route: held.append(route))
    page.goto("about:blank")
    with page.expect_request("**/assets/worker.js"):
        page.goto(f"{book}{lesson.url}")
    page.evaluate("document.fonts.ready.then(() => scrollTo(0, document.body.scrollHeight * 0.6))")
    was = page.evaluate(top)
    held[0].continue_()
    live(page, lesson.widget)
    page.wait_for_selector(".panels:not([hidden]) .plot .main-svg")
    page.wait_for_timeout(300)
    assert page.evaluate(top) == pytest.approx(was, abs=2)


def test_a_link_to_a_function_lights_up_the_whole_of_it_and_leads_back(page, book):
    code, first = quoting.definition("sim/estimators/kl.py", "k3")
    page.goto(book + f"code/sim/estimators/kl.py.html#L{first}")
    paper, wash = (
        page.evaluate(f"getComputedStyle(document.body).getPropertyValue('--{c}')") for c in ("panel", "wash")
    )
    lit = page.locator(".def").evaluate_all(
        "all => all.filter((one) => getComputedStyle(one).backgroundColor !== getComputedStyle(one.parentElement)"
        ".backgroundColor).map((one) => [...one.querySelectorAll('.ln')].map((number) => Number(number.textContent)))"
    )
    assert paper != wash and lit == [list(range(first, first + len(code.splitlines())))]
    page.get_by_role("link", name="03a · KL estimators").first.click()
    expect(page.locator("h1")).to_have_text(re.compile("A good KL to log"))


def test_the_search_of_a_module_s_page_asks_the_book(page, book):
    page.goto(book + "code/sim/estimators/kl.py.html")
    page.get_by_role("searchbox").fill("leave one out")
    page.keyboard.press("Enter")
    page.wait_for_url(book + "?q=leave+one+out")
    expect(page.locator(".md-search__input")).to_have_value("leave one out")


def test_the_two_lists_of_the_compare_page_choose_its_one_patch(page, book):
    without_python(page)
    page.goto(book + "compare/")
    patch = page.locator(".pairs .src:visible header > span:first-child")
    expect(patch).to_have_text("sim/algorithms/grpo.py → dr_grpo.py")
    page.get_by_label("Second", exact=True).select_option("RLOO")
    expect(patch).to_have_text("sim/algorithms/grpo.py → rloo.py")
    page.get_by_label("First", exact=True).select_option("TRL 1.16.0")
    expect(page.locator(".pairs p:visible")).to_contain_text("weights from dapo.py")


def test_without_scripts_the_compare_page_has_every_patch(browser, book):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(book + "compare/")
    assert page.locator(".pairs .src").count() == page.locator(".pairs .src:visible").count() == 15
    context.close()


def test_a_card_names_a_break_once_it_was_found_and_on_paper(page, book):
    first, *others = next(lesson for lesson in lessons.finished() if lesson.stem == "02-rollout").causes
    card = page.locator(".cards lesson-breaks[widget=rollout] span:visible")
    page.goto(book)
    ways = f"breaks in {1 + len(others)} ways"
    expect(card).to_have_text([ways])
    page.evaluate("one => localStorage.setItem('found:rollout', JSON.stringify([one]))", first)
    page.goto(book)
    expect(card).to_have_text([ways, first])
    page.evaluate("all => localStorage.setItem('found:rollout', JSON.stringify(all))", [first, *others])
    page.goto(book)
    expect(card).to_have_text([first, *others])
    page.evaluate("localStorage.clear()")
    page.goto(book)
    page.emulate_media(media="print")
    expect(card).to_have_text([first, *others])
