"""A note that readers write in their own words, from its fence:

lab_m0 | N0: a map, first version
What you are asked to write, in one or two sentences.
- what a complete note contains
- …

A model, in paragraphs.
"""

import html

from markupsafe import Markup


def read(body):
    """The values for site/parts/note.html."""
    head, _, model = body.partition("\n\n")
    first, *lines = head.splitlines()
    name, bar, title = (part.strip() for part in first.partition("|"))
    asks = " ".join(line for line in lines if not line.startswith("- "))
    holds = [line.removeprefix("- ") for line in lines if line.startswith("- ")]
    if not (bar and asks and holds and model.strip()):
        raise ValueError(
            "a note has NAME | TITLE, what it asks, a list of what it contains and, after a blank line, a model"
        )
    paragraphs = "".join(f"<p>{html.escape(' '.join(p.split()))}</p>" for p in model.strip().split("\n\n"))
    return dict(name=name, title=title, asks=asks, holds=holds, model=Markup(paragraphs))
