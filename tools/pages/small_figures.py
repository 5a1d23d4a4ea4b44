"""Small figures, openings and token grids: drawn at build in every position of their one handle, so that they move at
first paint, without Python and without a network. The page's half is site/assets/small.js.
"""

import gzip
import html
import json
from collections.abc import Sequence
from dataclasses import fields

from markupsafe import Markup

from tools.pages import drawing, quoting, results
from widgets.frame.contract import recovery
from widgets.frame.contract.widget import extras
from widgets.frame.drawing import written
from widgets.frame.reader import host
from widgets.frame.reader.panels import described

HALF, ALONE, MARGIN = 298, 480, 260  # pixels: one of two panels, one by itself, one beside the text
HEIGHT, LOW = 200, 170
WIDE, NARROW = 560, 372  # of an opening's two panels
BUTTONS = 5  # so many positions with short words stand side by side; more are a slider
STOPS = 12  # so many positions of a slider are marked on it
MOST, PACKED = 24, 12_000  # positions; bytes of all of them together, packed


def figure(where):
    """The values for site/parts/figure.html: `where` is `ppo.clip`, and `ppo.clip margin` beside the text."""
    place, *more = where.split()
    module, _, name = place.partition(".")
    if more not in ([], ["margin"]):
        raise ValueError(f"{where} is not of the form ppo.clip or ppo.clip margin")
    figures = results.figures(module)
    if name not in figures:
        raise ValueError(f"widgets/{module}/figures.py has {', '.join(figures)}, and no {name or place}")
    made, beside = figures[name], bool(more)
    positions = [position(*each, beside) for each in results.positions(module, name)]
    start = made.handle.start if made.handle else 0
    data = json.dumps([[p["content"], p["alts"], p["said"], p["word"]] for p in positions], ensure_ascii=False)
    if len(positions) > MOST:
        raise ValueError(f"{place} has {len(positions)} positions; a figure's handle has at most {MOST}")
    if (size := len(gzip.compress(data.encode(), 6))) > PACKED:
        raise ValueError(f"{place} takes {size:,} bytes packed; a figure has at most {PACKED:,}")
    return dict(
        id=f"{module}-{name}",
        margin=beside,
        panels=positions[start]["panels"],
        said=positions[start]["said"],
        handle=made.handle and handle(made.handle),
        data=Markup(data.replace("&", "\\u0026").replace("<", "\\u003c")) if made.handle else "",
        source=Markup(quoting.link(*host.line_of(made.source).split("#L"))),
    )


def position(panels, said, word, beside):
    """One position: its panels as they stand in the page, and what of them changes with the handle."""
    width = MARGIN if beside else ALONE if len(panels) == 1 else HALF
    drawn = [shown(panel, width, LOW if beside else HEIGHT) for panel in panels]
    return dict(
        panels=drawn, said=said, word=word, content=[d["content"] for d in drawn], alts=[d["alt"] for d in drawn]
    )


def shown(panel, width, height):
    """A panel or a grid: the parts that stay, and its content, which the handle replaces."""
    if "grid" in panel:
        return dict(panel, content=Markup(rows(panel)), alt="", grid=True)
    axes, content = drawing.parts(panel, width, height)
    return dict(
        panel, grid=False, axes=Markup(axes), content=Markup(content), width=width, height=height, alt=described(panel)
    )


def rows(grid):
    """The rows of a token grid as those of a table."""
    return "".join(
        f'<tr><th scope="row">{html.escape(left)}</th>'
        + "".join(square(cell, grid["diverging"], grid["mark"] == [r, c]) for c, cell in enumerate(cells))
        + f'<td class="pad" colspan="{1 + widest(grid) - len(cells)}">{html.escape(right)}</td></tr>'
        for r, (left, cells, right) in enumerate(grid["grid"])
    )


def widest(grid):
    return max(len(cells) for _, cells, _ in grid["grid"])


def square(cell, diverging, marked):
    tone = cell["tone"]
    css = "none" if tone is None else "cell" if not diverging else "cell above" if tone >= 0 else "cell below"
    style = "" if tone is None else f' style="--v:{abs(tone):.2f}"'
    return (
        f'<td class="{css}{" marked" * marked}"{style}><b>{html.escape(cell["token"])}</b>'
        f"<span>{html.escape(cell['text'])}</span></td>"
    )


def handle(made):
    """What the template writes: a slider over the positions, or buttons side by side."""
    words = [made.spoken(i) for i in range(len(made))]
    named = bool(made.words) or isinstance(made.positions[0], str)
    short = named and len(words) <= BUTTONS and sum(map(len, words)) <= 44
    return dict(
        label=made.label,
        symbol=made.symbol,
        words=words,
        start=made.start,
        last=len(words) - 1,
        stops=len(words) <= STOPS,
        buttons=short,
        share=made.start / max(len(words) - 1, 1),
    )


def opening_of(name):
    if not (made := extras(host.widget(name)).OPENING):
        raise ValueError(f"widgets/{name}/widget.py has no OPENING")
    return made


def answer(name, made):
    """What the opening says once its break was found: its cause, and in which knobs the two settings differ."""
    module = host.widget(name)
    found = module.broken(made.other, results.last(name, made.other))
    differ = [f for f in fields(module.Knobs) if getattr(made.plain, f.name) != getattr(made.other, f.name)]
    said = [
        f"{f.metadata['label']}: {recovery.spoken(f.metadata, getattr(made.other, f.name)) or 'none'}" for f in differ
    ]
    return dict(cause=found.cause if found else "", differs=", ".join(said))


def opening(name):
    """The values for site/parts/opening.html: the two recorded runs of a widget's OPENING."""
    made = opening_of(name)
    panels: Sequence = written.plain(list(made.panels(results.last(name, made.plain), results.last(name, made.other))))
    if len(panels) != 2:
        raise ValueError(f"the opening of widgets/{name}/widget.py has two panels, not {len(panels)}")
    return dict(
        name=name,
        panels=[shown(panel, width, HEIGHT) for panel, width in zip(panels, (WIDE, NARROW))],
        line=made.line,
        **answer(name, made),
        source=Markup(quoting.link(*host.line_of(made.source).split("#L"))),
    )
