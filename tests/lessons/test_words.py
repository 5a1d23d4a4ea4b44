"""No word before its meaning: what a later lesson explains opens where it stands for the first time."""

import re
from dataclasses import fields

import markdown
import pytest

from tools.pages import lessons, words
from widgets.frame.reader import host

EXTENSIONS = ["admonition", "attr_list", "def_list", "tables", "md_in_html", "pymdownx.details", "pymdownx.arithmatex"]
ORDER = {lesson.stem: place for place, lesson in enumerate(lessons.finished())}
ALL = words.words()
each = pytest.mark.parametrize("stem", ORDER)


def article(stem):
    """The text of a lesson as HTML, without what its fences draw."""
    text = re.sub(r"^ *```.*?```$", "", lessons.front_matter(f"{stem}.md")[1], flags=re.S | re.M)
    generic = {"pymdownx.arithmatex": {"generic": True}}
    return f"<article>{markdown.markdown(text, extensions=EXTENSIONS, extension_configs=generic)}"


def later(keys, stem):
    """Of these words, those that a later lesson explains."""
    return {key for key in keys if ALL[key].knows(stem) and ORDER[ALL[key].lesson] > ORDER[stem]}


@each
def test_a_word_that_a_later_lesson_explains_opens_at_its_very_first_use(stem):
    """Or the sentence itself explains it. What fails has two such words in one sentence: part it."""
    html = article(stem)
    opened = {key: start for start, _, key in words.first_uses(html, stem)}
    first = {}
    for sentence in words.sentences(html):
        explained = words.explained_in(sentence, stem)
        for start, _, key, _ in sentence:
            first.setdefault(key, opened.get(key) if key in explained else start)
    unexplained = {key for key in later(first, stem) if opened.get(key) != first[key]}
    assert not unexplained, f"lessons/{stem}.md: two such words in the first sentence of {', '.join(unexplained)}"


@each
def test_no_heading_and_no_line_of_the_head_has_a_word_that_only_a_later_lesson_explains(stem):
    """Nothing opens there."""
    finder, keys = words.spellings()
    front, _ = lessons.front_matter(f"{stem}.md")
    lines = [front[field] for field in ("question", "believe", "see") if field in front]
    lines += re.findall(r"<h[1-3][^>]*>(.*?)</h", article(stem), flags=re.S)
    assert later({keys[words.plain(use[0])] for line in lines for use in finder.finditer(line)}, stem) == set()


@pytest.mark.parametrize("key", ALL)
def test_the_lesson_that_a_word_names_has_the_word(key):
    lesson, forms = ALL[key].lesson, (*ALL[key].forms, ALL[key].name)
    text = " ".join(lessons.front_matter(f"{lesson}.md")[1].lower().split())
    assert any(form.lower() in text for form in forms), f"lessons/{lesson}.md has none of {', '.join(forms)}"


def test_every_label_that_a_word_names_is_one_of_a_knob_and_opens_it():
    opens = {
        field.metadata["label"]: words.of_knob(field.metadata["label"])
        for lesson in lessons.finished()
        if lesson.widget
        for field in fields(host.widget(lesson.widget).Knobs)
    }
    assert [label for word in ALL.values() for label in word.knobs if word not in opens.get(label, ())] == []
    assert [word.key for word in opens["Ninetieth percentile"]] == ["percentile"]  # which no spelling of a word has
