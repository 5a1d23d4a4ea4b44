"""The panel that a page is known by: on its card, and beside links to it."""

from tools.pages import frames, results
from widgets.frame.contract.widget import extras
from widgets.frame.drawing.small_figures import Played
from widgets.frame.drawing.written import plain
from widgets.frame.reader import host


def leading(widget):
    """The first panel of the opening, or else of the first preset that breaks."""
    module = host.widget(widget)
    if isinstance(opening := extras(module).OPENING, Played):
        return at_rest(widget, opening.figure)
    if opening:
        return plain(list(opening.panels(results.last(widget, opening.plain), results.last(widget, opening.other))))[0]
    broken = (frames.settled(widget, knobs) for knobs in module.PRESETS.values())
    return next(frame for frame in broken if frame["verdict"]["state"] == "broken")["panels"][0]


def at_rest(widget, name):
    """The scene of a small figure as it stands there untouched."""
    figure = results.figures(widget)[name]
    rest = (figure.handle.start if figure.handle else 0, figure.time.start if figure.time else 0)
    (panel,), _, _ = results.positions(widget, name)[figure.places().index(rest)]
    return panel
