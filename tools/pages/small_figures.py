"""Small figures, openings and token grids: drawn at build in every position of their one handle, so that they move at
first paint, without Python and without a network. The page's half is site/assets/small.js.
"""

import gzip
import html
import json
from collections.abc import Sequence

from markupsafe import Markup

from tools.pages import drawing, quoting, results
from widgets.frame.contract.widget import extras
from widgets.frame.drawing import written
from widgets.frame.reader import host
from widgets.frame.reader.panels import described

HALF, ALONE, MARGIN = 298, 480, 260  # pixels: one of two panels, one by itself, one beside the text
HEIGHT, LOW = 200, 170
WIDE, NARROW, TALL = 560, 372, 300  # of an opening's two panels
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
    small, beside = figures[name], bool(more)
    positions = [position(*each, beside) for each in results.positions(module, name)]
    start = small.handle.start if small.handle else 0
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
        handle=small.handle and handle(small.handle),
        data=Markup(data.replace("&", "\\u0026").replace("<", "\\u003c")) if small.handle else "",
        source=Markup(quoting.link(*host.line_of(small.source).split("#L"))),
    )


def position(panels, said, word, beside):
    """One position: its panels as they stand in the page, and what of them changes with the handle."""
    width = MARGIN if beside else ALONE if len(panels) == 1 else HALF
    parts = [shown(panel, width, LOW if beside else HEIGHT) for panel in panels]
    return dict(
        panels=parts, said=said, word=word, content=[d["content"] for d in parts], alts=[d["alt"] for d in parts]
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


def handle(control):
    """What the template writes: a slider over the positions, or buttons side by side."""
    words = [control.spoken(i) for i in range(len(control))]
    named = bool(control.words) or isinstance(control.positions[0], str)
    short = named and len(words) <= BUTTONS and sum(map(len, words)) <= 44
    return dict(
        label=control.label,
        symbol=control.symbol,
        words=words,
        start=control.start,
        last=len(words) - 1,
        stops=len(words) <= STOPS,
        buttons=short,
        share=control.start / max(len(words) - 1, 1),
    )


def opening_of(name):
    if not (opening := extras(host.widget(name)).OPENING):
        raise ValueError(f"widgets/{name}/widget.py has no OPENING")
    return opening


def opening(name):
    """The values for site/parts/opening.html: the two recorded runs of a widget's OPENING."""
    settings = opening_of(name)
    panels: Sequence = written.plain(
        list(settings.panels(results.last(name, settings.plain), results.last(name, settings.other)))
    )
    if len(panels) != 2:
        raise ValueError(f"the opening of widgets/{name}/widget.py has two panels, not {len(panels)}")
    return dict(
        panels=[shown(panel, width, TALL) for panel, width in zip(panels, (WIDE, NARROW))],
        names=settings.names,
        source=Markup(quoting.link(*host.line_of(settings.source).split("#L"), "code")),
    )
