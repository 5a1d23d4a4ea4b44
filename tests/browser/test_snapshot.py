"""Python starts from the build's snapshot, and from nothing where the snapshot does not fit; a run that never ends is ended."""
import json
import os
from pathlib import Path

import pytest

from tests.browser.conftest import PATIENCE, WITH_WIDGET, live, readouts

SITE = Path(os.environ.get("BOOK_SITE", "."))
RECORD = json.loads(text) if (text := next(SITE.glob("build-*/vendor/snapshot.json")).read_text() if "BOOK_SITE" in os.environ else "") else {}
FIRST = WITH_WIDGET[0]
HOW = "document.documentElement.dataset.python"
needs_snapshot = pytest.mark.skipif(not RECORD, reason="this build has no snapshot")


def started(page, book, lesson=FIRST):
    """How Python came up on the lesson's page."""
    page.goto(f"{book}{lesson.stem}/")
    page.wait_for_function(HOW, timeout=PATIENCE)
    return page.evaluate(HOW)


def without(page, change):
    """The page with another snapshot.json than the build's."""
    page.route("**/vendor/snapshot.json", lambda route: route.fulfill(json=change(json.loads(json.dumps(RECORD)))))


@needs_snapshot
@pytest.mark.parametrize("lesson", WITH_WIDGET, ids=lambda lesson: lesson.stem)
def test_python_starts_from_the_snapshot_on_every_page_with_a_widget(page, book, lesson):
    assert started(page, book, lesson) == "snapshot"


def altered(**changes):
    return lambda record: {**record, **changes}


def moved_library(record):
    record["libraries"][3]["slot"] -= 1
    return record


@needs_snapshot
@pytest.mark.parametrize("change", [altered(table=1), altered(tableAfter=1), moved_library, altered(header=148), lambda record: {}],
                         ids=["another engine's table", "a table that ends elsewhere", "a library elsewhere", "a shifted memory", "none"])
def test_where_the_snapshot_does_not_fit_python_starts_plainly_and_the_reader_sees_no_difference(page, book, change):
    without(page, change)
    assert started(page, book) == "plain"
    live(page, FIRST.widget)


@needs_snapshot
def test_a_pack_that_does_not_arrive_or_is_damaged_costs_time_and_nothing_else(page, book):
    page.route("**/vendor/snapshot-*.bin", lambda route: route.fulfill(body=b"\x1f\x8b not a gzip member"))
    assert started(page, book) == "plain"
    live(page, FIRST.widget)


@needs_snapshot
@pytest.mark.parametrize("lesson", WITH_WIDGET, ids=lambda lesson: lesson.stem)
def test_both_ways_of_starting_give_the_same_numbers(browser, page, book, lesson):
    started(page, book, lesson)
    plain = browser.new_page()
    without(plain, lambda record: {})
    assert started(plain, book, lesson) == "plain"
    for tab in (page, plain):
        if tab.locator("rl-widget .go").count():
            tab.click("rl-widget .go")
        tab.wait_for_function("document.querySelector('rl-widget').settled", timeout=PATIENCE)
    assert readouts(page) == readouts(plain)
    assert page.inner_text(".hash") == plain.inner_text(".hash")
    plain.context.close()


@needs_snapshot
def test_a_slow_network_sees_how_many_bytes_are_there_of_how_many(page, book):
    page.add_init_script("""addEventListener('DOMContentLoaded', () => {
      const note = () => (window.said ??= []).push(document.querySelector('.state').textContent);
      new MutationObserver(note).observe(document.querySelector('rl-widget'), { subtree: true, childList: true });
    })""")
    started(page, book, next(lesson for lesson in WITH_WIDGET if lesson.stem == "10-ppo"))
    words = [said for said in page.evaluate("window.said ?? []") if said and said.startswith("starting Python · ")]
    total = f"{RECORD['total'] / 1e6:.1f} MB"
    assert words and all(said.endswith(f" of {total}") for said in words)
    assert float(words[-1].split()[3]) == pytest.approx(RECORD["total"] / 1e6, abs=0.1)
