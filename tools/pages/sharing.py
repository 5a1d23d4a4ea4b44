"""What a page says of itself elsewhere: in a chat, a feed, a list of search results."""

import html
import re

from markupsafe import Markup

from tools.pages import lessons, link_previews
from tools.runtime import files

CANONICAL = re.compile(r'<link rel="canonical" href="([^"]+)"')
DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)">')


def share(site):
    """The pictures of the lessons and of the front page, and in the head of every page its description, picture and
    address; a page without a picture of its own shows the front page's.
    """
    order = {lesson.stem: lesson for lesson in (*lessons.finished(), *lessons.lab())}
    home = address(site)
    files.write(site / "pictures" / "index.png", link_previews.of_the_book())
    for stem, lesson in order.items():
        files.write(site / "pictures" / f"{stem}.png", link_previews.of(lesson))
    for file in [site / "index.html", *site.glob("*/index.html")]:
        stem = file.parent.name if file.parent.name in order else "index"
        text = telling(file.read_text(encoding="utf-8"), f"{home}pictures/{stem}.png")
        file.write_text(text, encoding="utf-8")


def address(site):
    """Where the built pages will be, with a slash at its end."""
    return CANONICAL.search((site / "index.html").read_text(encoding="utf-8"))[1]


def telling(text, picture):
    """A page whose head says what it asks, in the words of its own title and question."""
    title = re.search(r"<title>(.*?)</title>", text, re.S)[1].strip()
    question = re.search(r'<p class="question">(.*?)</p>', text, re.S)
    description = escaped(question[1]) if question else DESCRIPTION.search(text)[1]
    kind = "article" if '<p class="kicker">' in text else "website"
    tags = dict(
        type=kind,
        site_name="RL Post-Training",
        title=re.sub(" [–-] RL Post-Training$", "", title),
        description=description,
        url=CANONICAL.search(text)[1],
        image=picture,
    )
    tags |= {"image:width": link_previews.WIDTH, "image:height": link_previews.HEIGHT}
    lines = [f'<meta name="description" content="{description}">']
    lines += [f'<meta property="og:{name}" content="{content}">' for name, content in tags.items()]
    lines += ['<meta name="twitter:card" content="summary_large_image">']
    return DESCRIPTION.sub(lambda _: "\n".join(lines), text, count=1)


def escaped(words):
    """The words of some HTML, fit for an attribute."""
    return html.escape(html.unescape(Markup(words).striptags()))
