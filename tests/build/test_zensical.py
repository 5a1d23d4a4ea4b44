"""The book that Zensical makes is the book that MkDocs makes: the same text, widgets and links on every page. Headers,
footers and navigation are the two themes' own, so of a generated page its article is compared, of a code page all.
"""

import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tools import book
from tools.pages import lessons
from tools.runtime.fetch import CACHE

PAGES = [
    "index.html",
    "compare/index.html",
    *(f"{lesson.url}index.html" for lesson in lessons.finished()),
    "code/sim/estimators/kl.py.html",
]


class Article(HTMLParser):
    """What the reader gets of a page's article: its words, its widgets with their data, and where its links lead."""

    def __init__(self, text):
        super().__init__()
        self.words, self.widgets, self.links = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        if tag == "a" and (leads := named.get("href") or named.get("xlink:href")):
            self.links.append(leads)
        if tag in ("rl-widget", "form", "input", "select", "option") or "rl-widget" in (named.get("class") or ""):
            self.widgets.append((tag, sorted(named.items())))

    def handle_data(self, text):
        self.words += text.split()


def sites():
    """Both books; the one of MkDocs is there already when the browser tests look at it."""
    tested_site = os.environ.get("BOOK_SITE")
    mkdocs, zensical = Path(tested_site) if tested_site else CACHE / "mkdocs-site", CACHE / "zensical-site"
    if not tested_site:
        book.build(mkdocs)
    book.build(zensical, generator="zensical")
    return mkdocs, zensical


def article(page):
    """The article without what differs between any two builds: the milliseconds that were measured in each, and the
    megabytes of the whole, the themes' included.
    """
    text = page.read_text(encoding="utf-8")
    match = re.search(r"<article\b.*?</article>", text, re.S)
    return Article(re.sub(r"\d+\.\d+ ms|\(\d+ MB\)", "…", match[0] if match else text))


@pytest.mark.when_changed(
    files=["mkdocs.yml", "requirements.txt", "requirements-zensical.txt", "site/main.html", "tools/book.py"],
    imports=False,
)
def test_every_page_has_the_same_text_widgets_and_links():  # one test, so that two workers never build at once
    mkdocs, zensical = sites()
    pages, zensical_pages = (
        {path.relative_to(site).as_posix() for path in site.rglob("*.html")} for site in (mkdocs, zensical)
    )
    assert pages == zensical_pages and set(PAGES) <= pages
    for page in PAGES:
        ours, theirs = article(mkdocs / page), article(zensical / page)
        assert len(ours.words) > 100 and ours.links, page
        assert ours.words == theirs.words, page
        assert ours.widgets == theirs.widgets, page
        assert ours.links == theirs.links, page
