"""The pictures of the front page: the addition table as two models fill it in, and the five ways to look at a batch,
which stand at the heads of the Parts. Which line is missing is told to those who ask.
"""

from tools.pages import lesson_data, lessons, results, scenes, thumbnails

FRONT, BATCH = ("front", "tables"), ("front", "batch")
TOLD = "ppo"  # the widget of the lesson that the missing line is about
EMBLEM = 320, 224  # twice the pixels that it has at most


def figure():
    """The values for site/parts/hero.html."""
    told = next(page.url for page in lessons.finished() if page.widget == TOLD)
    return scenes.figure(*FRONT) | dict(bare=True, keys="ab", told=told, many=len(lessons.finished()))


def batch():
    """The values for site/parts/batch.html: the scene, and a Part for each position of its switch."""
    if len(scenes.names(results.figures(BATCH[0])[BATCH[1]])) != len(lessons.parts()):
        raise ValueError(f"{'.'.join(BATCH)} has an arrangement for each Part of the book")
    return dict(scenes.figure(*BATCH), parts=[named(part) for part, _ in lessons.parts()])


def named(part):
    numeral, _, name = part.partition(" · ")
    said = lesson_data.read("parts.yml")[numeral]
    return dict(numeral=numeral.removeprefix("Part "), name=name, id=lessons.place(numeral), asks=said["asks"])


def emblems():
    """{Part I: its arrangement of the batch, small}."""
    drawn = [panels[0] for panels, _, _ in results.positions(*BATCH)]
    return {
        part.partition(" ·")[0]: thumbnails.marks(panel, *EMBLEM, css="emblem")
        for (part, _), panel in zip(lessons.parts(), drawn)
    }
