"""Navigation added to the built pages: the sidebar with the reader's progress, the lesson's name in the header, a skip
link to the figure, and links to the previous and the next lesson.

Progress is stored in the browser only; site/assets/page.js draws it.
"""

import re

from markupsafe import Markup, escape

from tools.pages import lessons
from tools.pages.fences import part

CLOSED = '<label class="md-header__button md-icon" for="__drawer">'  # the theme's: a mouse alone opens it
OPENED = CLOSED.replace(">", ' role="button" tabindex="0" aria-label="Contents" aria-expanded="false">')


def lay(site):
    """Every page that the generator made."""
    order = lessons.finished()
    rail = marked(order)
    for file in [site / "404.html", site / "index.html", *site.glob("*/index.html")]:
        text = file.read_text(encoding="utf-8")
        for line, with_mark in rail:
            text = line.sub(lambda match, mark=with_mark: mark(match), text)
        lesson = next((each for each in (*order, *lessons.lab()) if each.stem == file.parent.name), None)
        if lesson and file.name != "404.html":
            text = along(text, lesson, lessons.beside(lesson))
        counts = f"{lessons.count(order)} lessons · {lessons.found(order)} breaks found"
        counts += f" · {lessons.met(order)} challenges met"
        text = text.replace(CLOSED, OPENED, 1)
        text = text.replace('<p class="counts"></p>', f'<p class="counts" hidden>{counts}</p>')
        if file == site / "index.html":
            text = re.sub(r'(header-topic">\s*<span class="md-ellipsis">)[^<]*', r"\1RL Post-Training", text)
        file.write_text(text, encoding="utf-8")


def marked(order):
    """[(a line of the rail, what it becomes)]: a mark before each lesson, a count after each part, and in the header a
    name as the cards have it.
    """
    lines = [
        (re.compile(rf"(?<=>)(\s*){line(lesson.name)}(?=\s*(?:<span class=\"md-nav__icon|</a>))"), before(mark(lesson)))
        for lesson in order
    ]
    lines += [
        (re.compile(line(title) + r'(?=\s*<span class="md-nav__icon)'), after(lessons.count(group)))
        for title, group in lessons.parts()
    ]
    return lines + [
        (re.compile(r'(data-md-component="header-topic">\s*)' + line(lesson.name)), named(lesson)) for lesson in order
    ]


def line(words):
    """A pattern for a line of the rail."""
    return rf'(<span class="md-ellipsis">\s*){re.escape(str(escape(words)))}(\s*</span>)'


def before(mark):
    return lambda match: f"{mark}{match[0].strip()}"


def after(count):
    return lambda match: f"{match[0]}{count}"


def named(lesson):
    return lambda match: f"{match[1]}{match[2]}{escape(lesson.label)}{match[3]}"


def mark(lesson):
    """A ring, or what the reader has made of it."""
    return Markup('<lesson-mark name="{}" widget="{}" class="mark"></lesson-mark>').format(lesson.stem, lesson.widget)


def along(text, lesson, order):
    """A lesson with the link past its text and with the cards at its foot."""
    if lesson.widget:
        past = f'\\1<a href="#{lesson.widget}" class="md-skip">Skip to the figure</a>'
        text = re.sub(r'(<div data-md-component="skip">.*?</a>)', past, text, count=1, flags=re.S)
    at = order.index(lesson)
    cards = part("ways", previous=order[at - 1] if at else None, following=(order[at + 1 :] or [None])[0])
    body, end, below = text.partition("</article>")
    return body + cards + end + below
