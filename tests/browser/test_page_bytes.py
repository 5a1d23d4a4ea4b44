"""The bytes that a lesson fetches until Python answers, by kind, as a server sends them that packs text with gzip."""

import gzip
import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser.conftest import OF_EACH_KIND, RECORD, WITH_WIDGET, live

KINDS = {  # kind: (files of the build, bytes they may have together and why)
    # Python, its standard library and numpy are 5.8 MB, what every page runs its widget by 1.5: no page adds to it
    "snapshot of Python": (["vendor/snapshot.json", "vendor/snapshot-*.bin"], 7_500_000),
    # 3.81 MB in the Pyodide that is pinned: a heavier one is to be noticed before it is taken
    "Pyodide": (["vendor/pyodide/pyodide.asm.wasm", "vendor/pyodide/pyodide*.mjs"], 3_900_000),
    # 0.50 MB: the smallest of plotly's bundles that has heat maps
    "plotly": (["vendor/plotly.min.js"], 520_000),
    # 0.46 MB if a page has letters of every face; it fetches those that it has
    "fonts": (["vendor/fonts/*.woff2", "vendor/katex/*.woff2"], 480_000),
    # 36 kB of ours and 35 kB of the theme's
    "scripts": (["assets/*.js", "assets/javascripts/bundle.*.js", "assets/look.json"], 73_000),
    # 22 kB of ours, the theme's and KaTeX's
    "styles": (["assets/*.css", "assets/stylesheets/*.css", "vendor/katex/katex.css"], 56_000),
}
# Of another page, or asked for later: once a break was found, once a fold is opened, once Python has started.
NOT_AT_FIRST = {
    "doctor.js",
    "dropped.js",
    "files.js",
    "rollouts.js",
    "rollouts.css",
    "found.js",
    "store.js",
    "change.js",
    "sort.js",
    "note.js",
    "lab.css",
    "tool.css",
}
# What a page's widget needs beside the snapshot: some 50 kB of code, and 110 kB where it reads a trained policy. The
# pipeline and distillation read ten and fifteen of them.
PART, WITH_POLICIES = 250_000, {"pipeline": 520_000, "distillation": 700_000}
# A small figure is drawn at all positions of its handle, packed to at most 12 kB, and a scene at all its moments: the
# heaviest pages, 22c and 10 with four scenes, have 115 kB; of these 1.3 kB lead from numbers to what computes them.
PAGE = 117_000


def sent(path):
    """The bytes of a file as they travel; packing what is packed already gains nothing worth counting."""
    return len(gzip.compress(path.read_bytes(), 6, mtime=0))


def files_of(kind):
    site = Path(os.environ["BOOK_SITE"])
    found = [path for pattern in KINDS[kind][0] for path in sorted(site.glob(f"*/{pattern}"))]
    return [path for path in found if path.name not in NOT_AT_FIRST]


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_of_a_kind_stay_within_their_bound(kind):
    paths = files_of(kind)
    assert len(paths) >= len(KINDS[kind][0])
    assert sum(map(sent, paths)) <= KINDS[kind][1], {path.name: sent(path) for path in paths}


def test_part_of_every_page_stays_within_its_bound():
    parts = {path.stem: path.stat().st_size for path in Path(os.environ["BOOK_SITE"]).glob("*/vendor/parts/*.part")}
    assert {lesson.widget for lesson in WITH_WIDGET} < parts.keys()
    assert {name: size for name, size in parts.items() if size > WITH_POLICIES.get(name, PART)} == {}


def test_html_of_every_lesson_stays_within_its_bound():
    pages = {lesson.stem: Path(os.environ["BOOK_SITE"], lesson.url, "index.html") for lesson in WITH_WIDGET}
    assert {name: sent(path) for name, path in pages.items() if sent(path) > PAGE} == {}


def test_snapshot_reports_the_size_that_readers_wait_for():
    (pack,) = [path for path in files_of("snapshot of Python") if path.suffix == ".bin"]
    assert (RECORD["pack"], RECORD["total"]) == (pack.name, pack.stat().st_size)


def test_page_fetches_nothing_else_until_python_answers(page, book):
    """In Chromium: every file that the page asks for is one of those whose bytes are bounded above."""
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    lesson = OF_EACH_KIND[0]
    page.goto(book + lesson.url)
    live(page, lesson.widget)
    fetched = {urlsplit(url).path.removeprefix(urlsplit(book).path) for url in asked}
    known = {path.relative_to(os.environ["BOOK_SITE"]).as_posix() for kind in KINDS for path in files_of(kind)}
    known |= {path for path in fetched if path.endswith(f"/vendor/parts/{lesson.widget}.part")}
    # what the theme asks for when the page is there, side by side with Python
    beside = {path for path in fetched if path.startswith(("search/", "sitemap", "sw.js", "offline.json"))}
    beside |= {path for path in fetched if "/workers/search." in path or path.endswith("favicon.svg")}
    beside |= {path for path in fetched if path.endswith("/store.js")}  # asked for as soon as Python has answered
    assert fetched - beside - known == {lesson.url}
