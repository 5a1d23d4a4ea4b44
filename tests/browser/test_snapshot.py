"""Python starts from the build's snapshot, and from nothing where the snapshot does not fit; a run that never ends is
ended.
"""

import io
import json
import re
import time
import zipfile

import pytest

from tests.browser.conftest import (
    PATIENCE,
    RECORD,
    WITH_WIDGET,
    all_at_night,
    built,
    lesson_with,
    live,
    readouts,
    settled,
    until,
)

FIRST = WITH_WIDGET[0]
HOW = "document.documentElement.dataset.python"


def started(page, book, lesson=FIRST):
    """How Python came up on the lesson's page; that pages start from the snapshot is seen in test_first_load.py."""
    page.goto(f"{book}{lesson.stem}/", timeout=PATIENCE)
    until(page, HOW)
    return page.evaluate(HOW)


def without(page, change):
    """The page with another snapshot.json than the build's."""
    page.route("**/vendor/snapshot.json", lambda route: route.fulfill(json=change(json.loads(json.dumps(RECORD)))))


def altered(**changes):
    return lambda record: {**record, **changes}


def moved_library(record):
    record["libraries"][3]["slot"] -= 1
    return record


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(altered(table=1), id="another engine's table"),
        pytest.param(altered(tableAfter=1), id="a table that ends elsewhere", marks=pytest.mark.nightly),
        pytest.param(moved_library, id="a library elsewhere", marks=pytest.mark.nightly),
        pytest.param(altered(head=[0] * 148), id="the head of another Pyodide", marks=pytest.mark.nightly),
        pytest.param(lambda record: {}, id="none", marks=pytest.mark.nightly),
    ],
)
def test_where_the_snapshot_does_not_fit_python_starts_plainly_and_the_reader_sees_no_difference(page, book, change):
    without(page, change)
    assert started(page, book) == "plain"
    live(page, FIRST.widget)


@pytest.mark.nightly
def test_a_pack_that_does_not_arrive_or_is_damaged_costs_time_and_nothing_else(page, book):
    page.route("**/vendor/snapshot-*.bin", lambda route: route.fulfill(body=b"\x1f\x8b not a gzip member"))
    assert started(page, book) == "plain"
    live(page, FIRST.widget)


@all_at_night()
def test_both_ways_of_starting_give_the_same_numbers(browser, page, book, lesson):
    started(page, book, lesson)
    plain = browser.new_page(bypass_csp=True, service_workers="block")
    without(plain, lambda record: {})
    assert started(plain, book, lesson) == "plain"
    for tab in (page, plain):
        if tab.locator("rl-widget .go").count():
            tab.click("rl-widget .go")
        until(tab, "document.querySelector('rl-widget').settled")
    assert readouts(page) == readouts(plain)
    assert page.inner_text(".hash") == plain.inner_text(".hash")
    plain.context.close()


def test_a_slow_network_sees_how_many_bytes_are_there_of_how_many(page, book):
    page.add_init_script("""addEventListener('DOMContentLoaded', () => {
      const note = () => (window.said ??= []).push(document.querySelector('.state').textContent);
      new MutationObserver(note).observe(document.querySelector('rl-widget'), { subtree: true, childList: true });
    })""")
    held = []
    page.route("**/vendor/snapshot-*.bin", lambda route: held.append(route))
    with page.expect_request("**/vendor/snapshot-*.bin"):
        page.goto(f"{book}10-ppo/")
    until(page, "customElements.get('rl-widget')")
    held[0].continue_()
    until(page, HOW)
    words = [said for said in page.evaluate("window.said ?? []") if said and said.startswith("starting Python · ")]
    total = f"{RECORD['total'] / 1e6:.1f} MB"
    assert words and all(said.endswith(f" of {total}") for said in words)
    assert float(words[-1].split()[3]) == pytest.approx(RECORD["total"] / 1e6, abs=0.1)


# ── a run that never ends, and a page that is used for long ──
RUNAWAY = """
whole_run = run
def run(k):
    while k != Knobs():
        pass
    yield from whole_run(k)
"""


def with_python(page, path, more):
    """The page with `more` at the end of one of our modules: without the snapshot, which has it as it was."""
    without(page, lambda record: {})

    def answer(route):
        changed = io.BytesIO()
        with zipfile.ZipFile(built("vendor/python.zip")) as archive, zipfile.ZipFile(changed, "w") as new:
            for name in archive.namelist():
                new.writestr(name, archive.read(name) + (more.encode() if name == path else b""))
        route.fulfill(body=changed.getvalue())

    page.route("**/vendor/python.zip", answer)


def test_a_run_that_never_ends_is_ended_and_the_next_setting_runs_from_a_new_start(page, book):
    with_python(page, f"widgets/{FIRST.widget}/widget.py", RUNAWAY)
    how = started(page, book)
    live(page, FIRST.widget)
    page.locator(".answer").last.click()
    turned = page.evaluate("document.querySelector('rl-widget').closest('figure').dataset.settings")
    until(page, "document.querySelector('.rl-widget').dataset.state === 'error'")
    assert "no answer for 10 s" in page.inner_text("rl-widget [role=status]")
    assert page.evaluate("document.querySelector('.rl-widget').dataset.settings") == turned
    page.locator(".presets [data-knobs]").first.click()
    live(page, FIRST.widget)
    settled(page)
    assert page.evaluate(HOW) == how


def test_of_positions_that_come_faster_than_answers_only_the_newest_are_computed(page, book):
    page.add_init_script("""globalThis.Worker = class extends Worker {
        constructor(...words) {
            super(...words);
            this.addEventListener('message', ({ data }) => data.frame && (window.answers = (window.answers ?? 0) + 1));
        }
        postMessage(...words) {
            window.held ? window.held.push(() => super.postMessage(...words)) : super.postMessage(...words);
        }
    }""")
    lesson = lesson_with("kv_cache")
    started(page, book, lesson)
    live(page, lesson.widget)
    before = page.evaluate("answers")
    page.evaluate("""() => {
        const knob = document.querySelector('rl-widget input[type=range]');
        window.held = [];                           // a busy page hands them over slowly: here all come at once
        for (let i = 0; i < 100; i++) {
            knob.value === knob.max ? (knob.value = knob.min) : knob.stepUp();
            knob.dispatchEvent(new Event('input', { bubbles: true }));
        }
        window.held.splice(0).forEach((send) => send());
        window.held = undefined;
    }""")
    settled(page)
    # It breathes between two messages too, and may take the last it has heard for the newest: a busy machine delivers a
    # few of them apart. Without the rule there are two hundred answers.
    assert 1 <= page.evaluate("answers") - before < 20


def test_the_time_of_the_first_answer_is_without_python_s_start(page, book):
    late = 4
    page.route("**/vendor/snapshot.json", lambda route: (time.sleep(late), route.continue_()))
    page.goto(f"{book}22a-throughput/")
    live(page, "throughput")
    said = page.inner_text("rl-widget .state")
    assert re.fullmatch(r"live · \d+ ms", said) and int(said.split()[2]) < 1000 * late


@pytest.mark.nightly
def test_two_thousand_knob_moves_leave_no_garbage(page, book):
    """Neither in the page, nor in Python's memory, nor as Python objects that JavaScript still holds."""
    worker, ready = built("assets/worker.js").read_text(), "  return module;"
    assert ready in worker
    worker = worker.replace(ready, f"  self.python = python;\n{ready}")
    page.route("**/assets/worker.js", lambda route: route.fulfill(body=worker, content_type="text/javascript"))
    lesson = lesson_with("kv_cache")
    started(page, book, lesson)
    live(page, lesson.widget)
    devtools = page.context.new_cdp_session(page)

    def moved(times):
        page.evaluate(
            """async (times) => {
            const widget = document.querySelector('rl-widget');
            const knobs = [...widget.querySelectorAll('input[type=range]')];
            for (let i = 0; i < times; i++) {
                const knob = knobs[i % knobs.length];
                knob.value === knob.max ? (knob.value = knob.min) : knob.stepUp();
                knob.dispatchEvent(new Event('input', { bubbles: true }));
                if (i % 10 === 9) await new Promise((resume) => setTimeout(resume));
            }
        }""",
            times,
        )
        settled(page)

    def used():
        devtools.send("HeapProfiler.collectGarbage")
        objects = "python.runPython('import gc; gc.collect(); len(gc.get_objects())')"
        return {
            "page": devtools.send("Runtime.getHeapUsage")["usedSize"],
            "wasm": page.workers[0].evaluate("python._module.HEAPU8.length"),
            "objects": page.workers[0].evaluate(objects),
        }

    moved(2000)  # until every setting was seen and every cache is full: WebAssembly memory never shrinks
    before = used()
    moved(2000)
    after = used()
    assert all(after[what] <= 1.1 * before[what] for what in before), (before, after)
    assert after["objects"] - before["objects"] < 1000  # fewer than one for every second move: no proxy is left behind
