"""Where a slider stops is to be seen, if the stops are few."""

from dataclasses import fields

import numpy as np
import pytest

from tools.pages import fences, results, small_figures
from widgets.frame.contract.knobs import ladder, number, slider
from widgets.frame.drawing.small_figures import Handle
from widgets.kv_cache import widget as kv_cache


@pytest.mark.parametrize(
    "made, stops",
    [
        (ladder("K", 8, [1, 2, 4, 8]), 4),
        (number("GPUs", 8, list(range(1, 13))), 12),
        (number("GPUs", 8, list(range(1, 14))), 0),
        (slider("Clip", 0.2, 0.05, 0.5, 0.05), len(np.linspace(0.05, 0.5, 10))),
        (slider("Seed", 0, 0, 99, 1), 0),
    ],
)
def test_up_to_twelve_stops_of_a_knob_are_marked(monkeypatch, made, stops):
    monkeypatch.setattr(fences, "terms", lambda *_: [])
    field = next(iter(fields(kv_cache.Knobs)))
    monkeypatch.setattr(field, "metadata", made.metadata)
    monkeypatch.setattr(field, "default", made.default)
    control = fences.knob("kv_cache", field)
    assert control["stops"] == stops
    part = fences.part("knob", k=control | dict(idle=None))
    assert (f'class="track stops" style="--n:{stops - 1}"' in part) == bool(stops)


@pytest.mark.parametrize(
    "made, buttons, stops",
    [
        (Handle("Role", ["rollout with its tail", "the trainer", "the verifier, a pool of programs"]), False, True),
        (Handle("Bought before", ["nothing", "asynchrony"]), True, True),
        (Handle("Prompts", [1, 2, 4]), False, True),
        (Handle("Ratio", range(13)), False, False),
    ],
)
def test_named_positions_are_buttons_where_they_fit_and_few_others_are_marked(made, buttons, stops):
    assert (small_figures.handle(made)["buttons"], small_figures.handle(made)["stops"]) == (buttons, stops)


def test_the_positions_of_a_small_figure_are_marked_on_its_page():
    figure = fences.figure("bottlenecks.removed", "figure", "", {}, None)
    last = len(results.figures("bottlenecks")["removed"].handle) - 1
    assert f'class="track stops" style="--n:{last}"' in figure and f'max="{last}"' in figure
