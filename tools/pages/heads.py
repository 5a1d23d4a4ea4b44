"""The head of a lesson and the button at its foot, from its front matter and its place in the navigation.

They are put into the built page, so that every generator has the same: what a template could compute differs from one
to the next.
"""

import html
import re

from markupsafe import Markup

from tools.pages import lesson_data, lessons, quizzes
from tools.pages.fences import part

LESSONS = lessons.ROOT / "lessons"
DONE = (
    '<button type="button" class="done" aria-pressed="false" hidden>'
    '<lesson-mark name="{stem}" widget="{widget}" class="mark"></lesson-mark>Mark as done</button>'
    '<p class="done-when">Done {when}by hand.</p>'
)
WHEN = {  # (has a widget, asks questions)
    (True, True): "when one of its breaks was found and its questions were answered, or ",
    (False, True): "when its questions were answered, or ",
}


def head_all(site):
    """The pages of the finished lessons and of the Lab below `site`."""
    finished = {lesson.stem: lesson for lesson in (*lessons.finished(), *lessons.lab())}
    if outside := [path.stem for path in sorted(LESSONS.glob("[0-9]*.md")) if path.stem not in finished]:
        raise ValueError(f"lessons/{outside[0]}.md stands in no line of nav in mkdocs.yml")  # Zensical does not mind
    letters = lesson_data.of_pages("letters")
    for stem, lesson in finished.items():
        page = site / stem / "index.html"
        front, _ = lessons.front_matter(f"{stem}.md")
        if unknown := [need for need in front.get("needs", []) if need not in finished]:
            raise ValueError(f"lessons/{stem}.md needs {unknown[0]}, and there is no such lesson")
        needed = [finished[need] for need in front.get("needs", [])]
        page.write_text(
            headed(page.read_text(encoding="utf-8"), lesson, front, needed, letters.get(stem, [])), encoding="utf-8"
        )


def headed(page, lesson, front, needed, letters):
    """A built page with the head around its title, and at its foot the button that marks it as done."""
    before, title, after = re.split(r"(<h1\b.*?</h1>)", page, maxsplit=1, flags=re.S)
    window = html.escape(f"{lesson.full} – RL Post-Training")
    before = re.sub(r"<title>.*?</title>", f"<title>{window}</title>", before, count=1, flags=re.S)
    minutes = lesson.played if lesson in lessons.lab() else lesson.minutes
    head = part(
        "lesson", lesson=lesson, front={"see": "", **front}, needed=needed, title=Markup(title), minutes=minutes
    )
    body, end, below = after.partition("</article>")
    body = quizzes.asked(in_depths(noted(believed(body, front), letters), lesson))
    if lesson in lessons.lab():  # done is what its goals say
        return before + head + body + end + below
    when = WHEN.get(("<rl-widget" in body, 'class="quiz"' in body), "")
    done = DONE.format(stem=lesson.stem, widget=lesson.widget, when=when)
    return before + head + body + done + end + below


def believed(body, front):
    """What readers may think until now stands where they can try it: above the simulator or, in the Lab, the first
    exercise.
    """
    if "believe" not in front:
        return body
    belief = Markup('<p class="belief"><b>You might think:</b> {}</p>').format(front["believe"])
    place = '1-[^"]*' if front.get("kind") == "lab" else "the-simulator"
    return re.sub(rf'(<h2 id="{place}">.*?</h2>)', lambda title: title[0] + str(belief), body, count=1, flags=re.S)


def noted(body, letters):
    """The page's letters beside its first formula, or at its first section where none is displayed."""
    if not letters:
        return body
    notation = part("notation", letters=letters)
    for place in (r'<div class="arithmatex">', r"(?<=</h2>)"):
        if re.search(place, body):
            return re.sub(place, lambda first: notation + first[0], body, count=1)
    return notation + body


def in_depths(body, lesson):
    """What lies beyond the main path is a section of its own, each of its folds says of what kind it is, and the three
    lines to keep are marked as such.
    """
    body = re.sub(r"(<details class=\"deeper (\w+)\">\s*<summary>.*?)(?=</summary>)", r"\1<span>\2</span>", body)
    body = re.sub(r'(<h2 id="takeaways">.*?</h2>\s*)<ol>', r'\1<ol class="takeaways">', body, flags=re.S)
    path, *further = re.split(r'(<h2 id="going-further">.*?</h2>)', body, maxsplit=1, flags=re.S)
    if not further:
        return body
    order = lessons.beside(lesson)
    following = order[order.index(lesson) + 1 :]
    kind = "lesson" if order == lessons.finished() else "page"
    spared = f" Nothing below is needed for {kind} {following[0].name.split()[0]}." if following else ""
    return (
        f'{path}<section data-depth="further">{further[0]}<p class="depth">{lesson.deeper} min.{spared}</p>'
        f"{further[1]}</section>"
    )
