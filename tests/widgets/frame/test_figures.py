"""What every small figure and every opening promises (CONTRIBUTING.md, "A small figure")."""

import inspect
import re
from dataclasses import asdict

import pytest

from tests.widgets.catalogue import NAMES
from tools.pages import fences, results, small_figures
from widgets.frame import host
from widgets.frame.contract import extras

FIGURES = [(module, name) for module in results.DRAWN for name in results.figures(module)]
OPENINGS = [name for name in NAMES if extras(host.widget(name)).OPENING]
every_figure = pytest.mark.parametrize("module, name", FIGURES, ids=[".".join(figure) for figure in FIGURES])
every_opening = pytest.mark.parametrize("name", OPENINGS)


@every_figure
def test_a_figure_is_drawn_in_every_position_and_packs_small(module, name):
    made = small_figures.figure(f"{module}.{name}")  # raises beyond 24 positions or 12 kB
    assert 1 <= len(made["panels"]) <= 2 and made["source"]


@every_figure
def test_its_axes_are_the_same_in_every_position(module, name):
    made = results.figures(module)[name]
    if made.handle is None:
        return
    assert 0 <= made.handle.start < len(made.handle) and len(set(made.handle.words)) == len(made.handle.words)
    drawn = [panels for panels, _, _ in results.positions(module, name)]
    axes = [
        [(p["title"], p["layout"]["xaxis"], p["layout"]["yaxis"]) if "layout" in p else len(p["grid"]) for p in panels]
        for panels in drawn
    ]
    assert all(each == axes[0] for each in axes)
    assert len({str(panels) for panels in drawn}) > 1, "the handle changes nothing"


@every_figure
def test_it_says_at_most_one_sentence(module, name):
    for said in [said for _, said, _ in results.positions(module, name) if said]:
        assert said.endswith(".") and "!" not in said and len(said) <= 150, said


@every_figure
def test_its_numbers_come_from_sim(module, name):
    source = results.figures(module)[name].source
    assert inspect.getmodule(source).__name__.startswith("sim.")


SLOW = {"grpo"}  # pairs at a short step learn, and end clearly behind: nothing breaks in them, which is the lesson


@every_opening
def test_an_opening_shows_two_settings_that_differ_in_one_knob_and_one_of_which_breaks(name):
    widget = host.widget(name)
    made = widget.OPENING
    plain, other = asdict(made.plain), asdict(made.other)
    assert len([knob for knob in plain if plain[knob] != other[knob]]) == 1
    assert widget.broken(made.plain, results.last(name, made.plain)) is None
    judge = widget.worse if name in SLOW else widget.broken
    assert judge(made.other, results.last(name, made.other)) is not None
    assert len(small_figures.opening(name)["panels"]) == 2


@every_figure
def test_a_panel_is_a_drawing_and_a_grid_is_a_table(module, name):
    """As the page has them: what belongs into an SVG stands in none but an SVG."""
    page = fences.part("figure", **small_figures.figure(f"{module}.{name}"))
    for table in re.findall(r"<tbody.*?</tbody>", page, flags=re.S):
        assert "<tr>" in table and "<svg" not in table
    assert page.count("<svg class=") + page.count("<tbody") == len(small_figures.figure(f"{module}.{name}")["panels"])
