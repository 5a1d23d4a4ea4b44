"""The book in Firefox and in WebKitGTK: a page, its Python, a knob, the break, and the very numbers of the other
engines.
"""

import json
import os
import threading
import time
from pathlib import Path

import pytest

from tests.browser.conftest import NIGHTLY, OF_EACH_KIND, PATIENCE, live, preset
from tests.browser.drivers import Firefox, WebKit
from tests.browser.test_sandbox import PROGRAM, Counting
from tests.widgets.catalogue import breaking, frame_of, last_frame
from tests.widgets.verifiers.test_editable import RIGHT
from tools.runtime.serve import Handler, Server
from widgets.frame.contract.values import query
from widgets.frame.reader import host, reader_worker

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for path in (ROOT / "site").rglob("*") if "vendor" not in path.parts)
DRIVERS = {"FIREFOX": Firefox, "WEBKIT": WebKit}
SHOWN = "[...document.querySelectorAll('dl.readouts dd b')].map((b) => b.textContent)"
STATE = "document.querySelector('.rl-widget').dataset.state"
STATES = (
    "[...document.querySelectorAll('[data-state]')].map((one) => `${one.className || one.id} ${one.dataset.state}`)"
)
TURN = """void [...document.querySelectorAll('.knob [type=range]')].slice(0, 1)
    .forEach((knob) => {
        knob.value = knob.max;
        for (const type of ['input', 'change']) knob.dispatchEvent(new Event(type, { bubbles: true }));
    })"""
PYTHON = "document.documentElement?.dataset.python"  # Firefox has none for a moment between two pages
HASH = "document.querySelector('.hash').textContent"


@pytest.fixture(scope="module", params=DRIVERS)
def other(request, tmp_path_factory):
    if request.param not in os.environ:
        pytest.skip("Firefox and WebKitGTK are asked for by `python build.py test --browsers all`")
    words = [str(tmp_path_factory.mktemp("profile"))] if request.param == "FIREFOX" else []
    driver = DRIVERS[request.param](os.environ[request.param], *words)
    yield driver
    driver.close()


def until(other, condition, seconds=PATIENCE / 1000):
    deadline = time.monotonic() + seconds
    while not other.run(condition):
        assert time.monotonic() < deadline, f"not in {seconds} s: {condition}; {other.run(STATES)}"
        time.sleep(0.1)


def settled(other):
    until(other, "document.querySelector('rl-widget').settled === true")


def pressed(other, knobs):
    other.run(f"""void document.querySelector("[data-promise][data-knobs='{query(knobs)}']").click()""")
    settled(other)


def where_changed(lesson):
    """Depends on the lesson, the site and the widget."""
    files = [ROOT / "lessons" / f"{lesson.stem}.md", *(path for path in SOURCES if path.is_file())]
    modules = [host.widget(lesson.widget).__name__, "widgets.frame.reader.host"]
    return pytest.param(lesson, id=lesson.stem, marks=pytest.mark.when_changed(*modules, files=files))


@pytest.mark.parametrize("lesson", [where_changed(lesson) for lesson in OF_EACH_KIND])
def test_a_page_its_python_a_knob_the_break_and_every_bit_of_its_result(other, page, book, lesson):
    if isinstance(other, WebKit) and "reinforce" not in lesson.stem and not NIGHTLY:
        pytest.skip("no snapshot fits WebKit, and without one Python takes half a minute to start: at night")
    shows_the_native_numbers(other, book, lesson)
    page.goto(book + lesson.url)  # Chromium
    live(page, lesson.widget)
    preset(page, first_break(lesson))
    assert other.run(HASH) == page.locator(".hash").text_content()


def first_break(lesson):
    return next(iter(breaking(lesson.widget).values()))


def shows_the_native_numbers(other, book, lesson):
    other.open(book + lesson.url)
    until(other, PYTHON)
    until(other, f"['live', 'worse', 'broken'].includes({STATE})")
    assert other.run("document.querySelector('h1').textContent").startswith(lesson.title[:20])
    assert other.run(SHOWN) == [r["text"] for r in last_frame(lesson.widget)["readouts"]]

    other.run(TURN)
    settled(other)
    assert other.run("document.querySelector('.knob.moved') !== null") and "?" in other.run("location.href")

    broken = first_break(lesson)
    pressed(other, broken)
    assert other.run(STATE) == "broken"
    assert other.run(SHOWN) == [r["text"] for r in frame_of(lesson.widget, broken)["readouts"]]
    until(other, "document.querySelector('.panels:not([hidden]) .plot .main-svg') !== null")
    assert list(other.faults) == []


class Halting(Handler):
    """Stops in the middle of the snapshot when a page wants it in order to keep it; its worker gets it at once."""

    def copyfile(self, source, outputfile):
        if "/vendor/snapshot-" in self.path and "/assets/worker.js" not in self.headers["Referer"]:
            outputfile.write(source.read(1_000_000))
            self.server.keeping.set()
            self.server.left.wait(PATIENCE / 1000)
        super().copyfile(source, outputfile)


def test_a_page_can_be_left_while_its_files_are_being_kept(other):
    before = len(other.faults)
    with Server(os.environ["BOOK_SITE"], port=8700, cache_control="no-store", handler=Halting) as server:
        server.keeping, server.left = threading.Event(), threading.Event()
        other.open(server.address + "teach/")  # keeps nothing by itself
        other.run("void navigator.serviceWorker.register('/sw.js')")
        until(other, "navigator.serviceWorker.controller !== null")
        other.open(server.address + OF_EACH_KIND[0].url)
        until(other, PYTHON)
        assert server.keeping.wait(PATIENCE / 1000)
        other.open(server.address + OF_EACH_KIND[1].url)
        server.left.set()
        until(other, PYTHON)
        assert not [fault for fault in other.faults[before:] if "/vendor/snapshot-" in fault]


@pytest.mark.nightly
def test_a_readers_code_runs_is_ended_when_it_does_not_end_and_leads_nowhere(other):
    code = "document.querySelector('own-code')"
    right = json.loads([*reader_worker.stream("verifier", RIGHT)][-1])["sentence"]
    with Server(os.environ["BOOK_SITE"], port=8700, handler=Counting) as server:
        server.asked = []
        other.open(server.address + "18-verifiers/")
        other.run(f"void {code}.scrollIntoView()")
        until(other, f"{code}.querySelector('.cm-content') !== null")
        for text, state, said, printed in (
            (RIGHT, "your code", right, ""),
            (
                "def score(example, completion):\n    while True:\n        pass",
                "stopped",
                "Stopped: no answer for 1.9",
                "",
            ),
            (PROGRAM.replace("ADDRESS", server.address + "from-code-"), "your code", right, "Printed:\nopened:"),
        ):
            other.run(f"void ({code}.field.value = {json.dumps(text)}, {code}.querySelector('.go').click())")
            until(other, f"{code}.dataset.state !== 'running'")
            told = other.run(f"{code}.querySelector('[role=status]').textContent")
            assert (other.run(f"{code}.dataset.state"), told[: len(said)]) == (state, said)
            assert other.run(f"{code}.querySelector('.beside').textContent") == printed
        other.run("void fetch('/from-page')")  # the control: what does leave is heard of
        until(other, "performance.getEntriesByName(location.origin + '/from-page').length > 0")
        assert [name for name in server.asked if name.startswith("from-")] == ["from-page"]
