"""What every small figure and every opening promises (CONTRIBUTING.md, "Figures and scenes")."""

import inspect
import re
from dataclasses import asdict

import pytest

from tests.widgets.catalogue import NAMES
from tools.pages import fences, results, scenes, small_figures
from widgets.frame.contract.widget import extras
from widgets.frame.drawing.small_figures import Played
from widgets.frame.reader import host

SCENES = [
    (module, name)
    for module in results.DRAWN
    for name, made in results.figures(module).items()
    if made.time or module == "front"
]
FIGURES = [
    (module, name) for module in results.DRAWN for name in results.figures(module) if (module, name) not in SCENES
]  # of plots and grids; tests/pages/test_scenes.py has the scenes
OPENINGS = [name for name in NAMES if extras(host.widget(name)).OPENING]
every_opening = pytest.mark.parametrize("name", OPENINGS)


def of_all(complaints):
    """Fail with all that `complaints` finds in the small figures, one a line."""
    __tracebackhide__ = True
    faults = [f"{module}.{name}: {said}" for module, name in FIGURES for said in complaints(module, name)]
    assert not faults, "\n".join(faults)


@pytest.mark.slow
def test_a_figure_is_drawn_in_every_position_and_packs_small():
    def complaints(module, name):
        try:
            figure = small_figures.figure(f"{module}.{name}")
        except ValueError as error:  # beyond 24 positions or 12 kB
            yield str(error)
            return
        if not 1 <= len(figure["panels"]) <= 2:
            yield f"it has {len(figure['panels'])} panels"
        if not figure["source"]:
            yield "it has no source"

    of_all(complaints)


@pytest.mark.slow
def test_the_axes_of_a_small_figure_are_the_same_in_every_position():
    def complaints(module, name):
        figure = results.figures(module)[name]
        if figure.handle is None:
            return
        if not 0 <= figure.handle.start < len(figure.handle):
            yield f"the handle starts at {figure.handle.start} of {len(figure.handle)} positions"
        if len(set(figure.handle.words)) < len(figure.handle.words):
            yield f"two positions are called the same: {figure.handle.words}"
        positions = [panels for panels, _, _ in results.positions(module, name)]
        axes = [[look(panel) for panel in panels] for panels in positions]
        if any(each != axes[0] for each in axes):
            yield "the axes are not the same in every position"
        if len({str(panels) for panels in positions}) < 2:
            yield "the handle changes nothing"

    def look(panel):
        if "layout" in panel:
            return panel["title"], panel["layout"]["xaxis"], panel["layout"]["yaxis"]
        return len(panel["grid"])

    of_all(complaints)


def test_a_small_figure_says_at_most_one_sentence():
    def complaints(module, name):
        for _, sentence, _ in results.positions(module, name):
            if sentence and not (sentence.endswith(".") and "!" not in sentence and len(sentence) <= 150):
                yield sentence

    of_all(complaints)


def test_the_numbers_of_a_small_figure_come_from_sim():
    def complaints(module, name):
        home = inspect.getmodule(results.figures(module)[name].source).__name__
        if not home.startswith(("sim.", "rlpt.")):
            yield f"its source is of {home}"

    of_all(complaints)


@every_opening
def test_an_opening_shows_runs_that_differ_in_one_knob_and_one_of_which_breaks(name):
    widget = host.widget(name)
    opening = widget.OPENING
    plain, broken = asdict(opening.plain), asdict(opening.other)
    assert len([knob for knob in plain if plain[knob] != broken[knob]]) == 1
    assert widget.broken(opening.plain, results.last(name, opening.plain)) is None
    assert widget.broken(opening.other, results.last(name, opening.other)) is not None
    if isinstance(opening, Played):
        figure = results.figures(name)[opening.figure]
        assert scenes.figure(name, opening.figure)["stills"]
        if figure.time and figure.time.over:  # one line leads from one setting to the other
            assert figure.handle is None
            return
        assert (figure.handle is None) == bool(opening.names) and (figure.handle is None or len(figure.handle) > 1)
        names = opening.names or scenes.figure(name, opening.figure)["names"]
    else:
        drawn = small_figures.opening(name)
        assert len(drawn["panels"]) == 2
        names = drawn["names"]
    assert len(set(names)) == len(names) > 1 and all(0 < len(each) <= 24 for each in names), names


@pytest.mark.slow
def test_a_panel_is_a_drawing_and_a_grid_is_a_table():
    """As the page has them: what belongs into an SVG stands in none but an SVG."""

    def complaints(module, name):
        figure = small_figures.figure(f"{module}.{name}")
        page = fences.part("figure", **figure)
        for table in re.findall(r"<tbody.*?</tbody>", page, flags=re.S):
            if "<tr>" not in table or "<svg" in table:
                yield f"a table has no row, or a drawing: {table[:80]}"
        if page.count("<svg class=") + page.count("<tbody") != len(figure["panels"]):
            yield f"the page does not have {len(figure['panels'])} drawings and tables"

    of_all(complaints)
