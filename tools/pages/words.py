"""The words of the book: at its first use on the page of a lesson a word becomes a button that opens its meaning, and
one page holds them all with the letters. A word stands in the file of the lesson that explains it (lessons/10-ppo.yml),
the letters in lessons/data/letters.yml.

It is done to the built page, so that every generator has the same. What opens is the platform's popover: no script, and
where there is none, or on paper, the word is plain text.
"""

import html
import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from tools.pages import lesson_data, lessons

PIECE = re.compile(  # a piece of markup; what stands between two of them is text
    r"<(?P<raw>script|style)\b.*?</(?P=raw)>|<!--.*?-->|<(?P<end>/?)(?P<tag>[\w-]+)(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>",
    re.S,
)
ATTRIBUTES = re.compile(r'\b(class|id)="([^"]*)"')
VOID = {"br", "hr", "img", "input", "link", "meta", "source", "wbr", "col"}
BLOCKS = {"p", "li", "summary", "details", "div", "section", "ul", "ol", "table", "figure", "h1", "h2", "h3", "dl"}
AROUND = {"article", "section", "details", "div", "ul", "ol", "li", "p", "em", "strong"}  # of the main text
ALLOWED = {"md-content__inner", "admonition", "quiz", "pause", "deeper", "takeaways", "wide"}  # classes of its boxes
SENTENCE = re.compile(r"(?<=[.?!:])[”\"’)]*\s+")


@dataclass(frozen=True)
class Word:
    key: str  # its anchor on the page of words
    name: str
    forms: tuple  # the spellings that count as it
    says: str
    lesson: str  # the stem of the lesson that explains it
    elsewhere: tuple = ()  # lessons where the spelling means something else
    knobs: tuple = ()  # labels of knobs that are about it and spell it otherwise

    def knows(self, stem):
        """Whether its spellings mean it on the page of this lesson."""
        return stem not in self.elsewhere


@cache
def words():
    """{key: Word} in reading order."""
    files, by_key = lesson_data.of_pages("words"), {}
    stems = [page.stem for page in lessons.finished()]
    if strange := [stem for stem in files if stem not in stems]:
        raise ValueError(f"lessons/{strange[0]}.yml, words: a word is explained by a lesson, and this page is none")
    for stem in stems:
        for key, entry in files.get(stem, {}).items():
            if key in by_key:
                raise ValueError(f"lessons/{stem}.yml, words: lessons/{by_key[key].lesson}.yml has {key} too")
            by_key[key] = word(key, entry, stem)
    return by_key


def word(key, entry, stem):
    """A word as the file of the lesson `stem` has it."""
    where = f"lessons/{stem}.yml, words, {key}"
    if missing := [field for field in ("name", "forms", "says") if field not in entry]:
        raise ValueError(f"{where}: {missing[0]} is missing")
    if unknown := [field for field in entry if field not in ("name", "forms", "says", "elsewhere", "knobs")]:
        raise ValueError(f"{where}: nothing is called {unknown[0]}; there are name, forms, says, elsewhere, knobs")
    stems, elsewhere = [page.stem for page in lessons.finished()], tuple(entry.get("elsewhere", ()))
    if strange := [other for other in elsewhere if other not in stems]:
        raise ValueError(f"{where}: there is no lesson {strange[0]}")
    return Word(
        key, entry["name"], tuple(entry["forms"]), entry["says"], stem, elsewhere, tuple(entry.get("knobs", ()))
    )


@cache
def spellings():
    """(what finds any form, the longest first; {a form in lower case: its key})."""
    forms = {form: key for key, word in words().items() for form in word.forms}
    anyhow = "|".join(pattern(form) for form in sorted(forms, key=len, reverse=True))
    return re.compile(rf"(?<![\w@-])(?:{anyhow})(?![\w@-])"), {form.lower(): key for form, key in forms.items()}


def of_knob(label, *options):
    """The words that the label of a knob and its options have, then those that name the label; each once."""
    finder, keys = spellings()
    spelled = [keys[plain(hit[0])] for text in (label, *options) for hit in finder.finditer(str(text))]
    named = [key for key, word in words().items() if label in word.knobs]
    return [words()[key] for key in dict.fromkeys([*spelled, *named])]


def pattern(form):
    """A form as written, or with a capital where it begins a sentence; any white space is as good as another."""
    first = f"[{form[0]}{form[0].upper()}]" if form.islower() else re.escape(form[0])
    return first + re.sub(r"(\\?\s)+", r"\\s+", re.escape(form[1:]))


def explain_all(site):
    """The first use of every word on the pages of the lessons below `site`."""
    for lesson in lessons.finished():
        page = site / lesson.stem / "index.html"
        page.write_text(explained(page.read_text(encoding="utf-8"), lesson.stem), encoding="utf-8")


def explained(page, stem):
    """A built page with its buttons, and at the end of its article what they open."""
    before, article, after = re.split(r"(<article\b.*?)(?=</article>)", page, maxsplit=1, flags=re.S)
    uses = first_uses(article, stem)
    for start, end, key in reversed(uses):
        opening = re.search(r"[^\s>]*$", article[start - 20 : start])[0]
        closing = re.match(r"[^\s<]*", article[end:])[0]
        whole = opening + button(key, article[start:end]) + closing
        if opening or closing:  # a line may end beside a button, which would leave a comma alone
            whole = f'<span class="unbroken">{whole}</span>'
        article = article[: start - len(opening)] + whole + article[end + len(closing) :]
    return before + article + "".join(meaning(words()[key]) for _, _, key in uses) + after


def button(key, text):
    return f'<button type="button" class="word" popovertarget="word-{key}">{text}</button>'


def meaning(word):
    return (
        f'<div class="meaning" id="word-{word.key}" popover><p><b>{html.escape(word.name)}.</b> '
        f'{html.escape(word.says)}</p><p><a href="/words/#{word.key}">Words and notation</a></p></div>'
    )


def first_uses(article, stem):
    """[(start, end, key)] of the words to be opened, each at its first use. At most one a sentence: of several the one
    whose lesson is yet to come. None that an earlier sentence has explained, and none in a sentence with a bold word.
    """
    order = {page.stem: place for place, page in enumerate(lessons.finished())}
    opened, explained_keys = [], set()
    for sentence in sentences(article):
        uses = [use for use in sentence if words()[use[2]].knows(stem)]
        explained_keys |= explained_in(uses, stem)
        if any(how == "bold" for *_, how in uses):
            continue
        new = [use[:3] for use in uses if use[2] not in explained_keys]
        if new:
            chosen = max(new, key=lambda use: (order[words()[use[2]].lesson] > order[stem], -use[0]))
            opened.append(chosen)
            explained_keys.add(chosen[2])
    return opened


def explained_in(uses, stem):
    """The words that a sentence explains: bold, or alone in italics on the page of their own lesson."""
    return {key for *_, key, how in uses if how == "bold" or (how == "italics" and words()[key].lesson == stem)}


def sentences(article):
    """For each sentence of the main text, paragraphs and items of lists, the forms in it: [(start, end, key, how)].
    Places count in `article`; `how` is "bold", "italics" where the form stands alone in them, or "".
    """
    finder, keys = spellings()
    for block in blocks(article):
        text = "".join(shown for shown, *_ in block)
        starts = [0, *(gap.end() for gap in SENTENCE.finditer(text)), len(text) + 1]
        uses, offset = [], 0
        for shown, place, eligible, how in block:
            for hit in finder.finditer(shown) if eligible else ():
                alone = how == "bold" or shown.rstrip(".:,") == hit[0]
                start, key = place + hit.start(), keys[plain(hit[0])]
                uses.append((offset + hit.start(), start, start + len(hit[0]), key, how * alone))
            offset += len(shown)
        for begin, end in pairwise(starts):
            if within := [use[1:] for use in uses if begin <= use[0] < end]:
                yield within


def plain(form):
    return " ".join(form.lower().split())


def blocks(article):
    """Each paragraph as [(its text, where it stands, whether words in it may open, "bold", "italics" or "")]."""
    open_tags, block, at = [], [], 0
    for piece in PIECE.finditer(article):
        if text := article[at : piece.start()]:
            tags = [tag for tag, _ in open_tags]
            eligible = all(fine for _, fine in open_tags) and not {"p", "li"}.isdisjoint(tags)
            hidden = "code" in tags or "span" in tags  # code and formulas are no sentences
            how = "bold" if "strong" in tags else "italics" if "em" in tags else ""
            block.append(("x" * len(text) if hidden else text, at, eligible and not hidden, how))
        at, tag = piece.end(), piece["tag"]
        if tag is None or tag in VOID:
            continue
        if tag in BLOCKS and block:
            yield block
            block = []
        if piece["end"]:
            while open_tags and open_tags.pop()[0] != tag:
                pass
        else:
            open_tags.append((tag, tag in AROUND and main(tag, dict(ATTRIBUTES.findall(piece[0])))))
    if block:
        yield block


def main(tag, attributes):
    """Whether an element belongs to the main text by its class: paragraphs have none, boxes one of a few."""
    classes = attributes.get("class", "").split()
    return not classes or (tag != "p" and not ALLOWED.isdisjoint(classes))


@dataclass(frozen=True)
class Letter:
    tex: str  # as formulas write it
    means: str
    known_by: tuple  # words of which one stands wherever a page says what the letter is


@cache
def letters(where):
    """{key: Letter} of those that hold `everywhere`, or in the lessons about `machines`."""
    entries = lesson_data.read("letters.yml")[where]
    return {key: Letter(letter["tex"], letter["means"], tuple(letter["known_by"])) for key, letter in entries.items()}


def table(where):
    """The letters on their page."""
    rows = "".join(
        f'<tr><td><span class="arithmatex">\\({html.escape(letter.tex, quote=False)}\\)</span></td>'
        f"<td>{html.escape(letter.means)}</td></tr>"
        for letter in letters(where).values()
    )
    return f"<table><thead><tr><th>letter</th><th>what it is</th></tr></thead><tbody>{rows}</tbody></table>"


def glossary():
    """All words on their page, in the order of the alphabet, each under a heading that the search finds."""
    named = {page.stem: page for page in lessons.finished()}
    return "".join(
        f'<section class="entry"><h2 id="{word.key}">{html.escape(word.name)}</h2><p>{html.escape(word.says)} '
        f'<a href="/{word.lesson}/">{html.escape(named[word.lesson].label)}</a></p></section>'
        for word in sorted(words().values(), key=lambda word: word.name.lower())
    )
