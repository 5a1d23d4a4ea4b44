"""The search index, made from the built pages: the prose of the lessons under the names that readers look for.

Left out is what nobody searches for and what would drown the rest: simulators, figures, code, formulas, tables, cards
and the map. A lesson is found first by its name and by the words in its `also`, then by its headings, then by its
prose. MkDocs and Zensical keep the same pieces in files of two forms; how the pieces are ranked is Material's own.
"""

import html
import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from tools.pages import lessons, words
from tools.runtime import files

SILENT = {"figure", "svg", "pre", "table", "form", "button", "script", "style", "template", "nav"}
QUIET = {
    "arithmatex",
    "headerlink",
    "kicker",
    "meta",
    "turn",
    "cards",
    "parts",
    "pipeline",
    "offline",
    "cta",
}  # by their class
BLOCKS = {"p", "li", "dt", "dd", "summary", "h3", "h4", "div", "section", "details"}
WITHOUT_END = {"br", "hr", "img", "input", "link", "meta", "source", "wbr", "col"}
FIELDS = {"title": {"boost": 6.0}, "also": {"boost": 20.0}, "text": {"boost": 1.0}}
SEPARATOR = r"[\s\u200b\-–—_,:;!?=(){}\[\]\"“”’'`/·→|]+|\.(?!\d)"
WEIGHT = {"lesson": 1.0, "aside": 0.4, "page": 0.2}
ASIDES = {"Sources", "Check your understanding", "In production", "The code"}


@dataclass
class Piece:
    """What one result leads to: a page up to its first heading, or what stands under one heading."""

    anchor: str = ""
    title: str = ""
    blocks: list = field(default_factory=list)

    @property
    def text(self):
        return "".join(f"<p>{html.escape(block, quote=False)}</p>" for block in self.blocks)


class Article(HTMLParser):
    """The pieces of a page's article."""

    def __init__(self, text):
        super().__init__()
        self.pieces, self.open, self.words, self.heading = [Piece()], [], [], False
        self.feed(text)
        self.end_block()

    def handle_starttag(self, tag, attributes):
        if tag in WITHOUT_END:
            self.words.append(" ")
            return
        named = dict(attributes)
        silent = tag in SILENT or not QUIET.isdisjoint((named.get("class") or "").split())
        if tag in BLOCKS | {"h1", "h2"}:
            self.end_block()
        if tag == "h2" and not self.silent:
            self.pieces.append(Piece(named.get("id") or ""))
        self.heading = self.heading or tag in ("h1", "h2")
        self.open.append((tag, silent))

    def handle_endtag(self, tag):
        if tag not in [name for name, _ in self.open]:
            return
        if tag in BLOCKS | {"h1", "h2"}:
            self.end_block()
        while self.open.pop()[0] != tag:
            pass
        self.heading = self.heading and tag not in ("h1", "h2")

    def handle_data(self, text):
        if not self.silent:
            self.words.append(text)

    @property
    def silent(self):
        return any(silent for _, silent in self.open)

    def end_block(self):
        words, self.words = " ".join("".join(self.words).split()), []
        if words and self.heading:
            self.pieces[-1].title = words
        elif words:
            self.pieces[-1].blocks.append(words)


def index(site):
    """Write the index of the generator that made the pages at `site`."""
    by_address, documents = {lesson.url: lesson for lesson in (*lessons.finished(), *lessons.lab())}, []
    for file in sorted([site / "index.html", *site.glob("*/index.html")]):
        page = file.relative_to(site).as_posix().removesuffix("index.html")
        article = re.search(r"<article\b.*?</article>", file.read_text(encoding="utf-8"), re.S)
        documents += entries(page, Article(article[0]).pieces, by_address.get(page))
    old, new = site / "search" / "search_index.json", site / "search.json"
    if old.exists():  # MkDocs
        config = {"lang": ["en"], "separator": SEPARATOR, "pipeline": ["stopWordFilter"], "fields": FIELDS}
        files.write(old, json.dumps({"config": config, "docs": documents}, ensure_ascii=False))
    if new.exists():  # Zensical weighs by its own lights, and finds nothing beside title and text
        generated = json.loads(new.read_text(encoding="utf-8"))
        items = [
            dict(
                location=entry["location"],
                level=2 if "#" in entry["location"] else 1,
                title=entry["title"],
                text=entry["text"] + (f"<p>{', '.join(entry['also'])}</p>" if entry["also"] else ""),
                path=[],
                tags=[],
            )
            for entry in documents
        ]
        files.write(new, json.dumps(generated | {"items": items}, ensure_ascii=False))


def entries(page, pieces, lesson):
    """What the index holds of a page; `lesson` is None for a page that is none."""
    for piece in pieces:
        if not piece.title:
            raise ValueError(f"{page}: a page or a section without a heading cannot be found")
        first = piece is pieces[0]
        named = lesson.full if lesson and first else piece.title
        kind = "page" if lesson is None else "aside" if piece.title in ASIDES else "lesson"
        yield dict(
            location=f"{page}#{piece.anchor}" if piece.anchor else page,
            title=html.escape(named, quote=False),
            also=other_words(page, piece, lesson if first else None),
            text=piece.text,
            boost=WEIGHT[kind],
        )


def other_words(page, piece, lesson):
    """Under what else a piece is looked for: a lesson by its name and its `also`, a word by its spellings."""
    if lesson:
        return [lesson.short, *lesson.also]
    word = words.words().get(piece.anchor) if page == "words/" else None
    return list(dict.fromkeys((word.name, *word.forms))) if word else []
