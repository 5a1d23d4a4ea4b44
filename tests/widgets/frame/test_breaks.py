"""What a break points at is there, and its ways back turn something; tests/widgets/claims.py asks this of every setting
that is drawn (test_sentences.py).
"""

import pytest

from tests.widgets.catalogue import NAMES, breaking, results
from tests.widgets.claims import ring_around_nothing, turned_already
from widgets.frame.contract.readouts import At, Break
from widgets.frame.contract.widget import extras
from widgets.frame.drawing.marks import dots, line, panel
from widgets.frame.reader import host
from widgets.frame.reader.panels import placed

TRAINED = [name for name in NAMES if extras(host.widget(name)).progress]
# their guilty mark is drawn only where it is guilty: a run that failed, the draws below the start, what is too slow
DRAWN_IF_GUILTY = {"compare", "reward_models", "scheduling"}


@pytest.mark.parametrize("name", NAMES)
def test_a_break_of_a_preset_points_at_something_and_its_way_back_turns_something(name):
    w = host.widget(name)
    for k in breaking(name).values():
        r = results.last(name, k)
        break_ = w.broken(k, r)
        assert not turned_already(k, break_) + ring_around_nothing(w, k, r, break_)


@pytest.mark.parametrize("name", [name for name in TRAINED if name not in DRAWN_IF_GUILTY])
def test_the_curve_that_a_break_points_at_is_drawn_wherever_the_run_has_come_to(name):
    """The results of all presets, sound ones too, at the knobs of one that breaks: two curves may be one, a count 0."""
    w = host.widget(name)
    ends = [results.last(name, k) for k in w.PRESETS.values()]
    for k in breaking(name).values():
        cause = w.broken(k, results.last(name, k)).cause
        for r in ends:
            at = w.seen_at(k, r, cause)
            assert placed(at, list(w.figure(k, r))), f"widgets/{name}/widget.py: nothing is drawn at {at}"


def drawn(*marks):
    return [panel("Right", "share", *marks, x="update", x_range=(0, 10), y_range=(0, 1))]


def test_a_ring_at_the_end_of_a_curve_stands_on_its_last_point_and_there_is_none_around_an_empty_one():
    at = At("Right", None, None, "{y:.2f} right", "ours")
    place = placed(at, drawn(line([0, 5], [0.2, 0.4], "ours")))
    assert (place["x"], place["y"], place["words"]) == (5, 0.4, "0.40 right")
    assert placed(at, drawn(line([], [], "ours"))) is None
    assert placed(at, drawn(line([0, 5], [float("nan")] * 2, "ours"))) is None
    assert placed(At("Right", 3, None, "a bar", "ours"), drawn(dots([1, 2], [0.2, 0.4], "ours"))) is None


def test_a_ring_around_nothing_and_a_knob_that_is_set_already_are_faults(monkeypatch):
    w = host.widget("controller")
    k = w.Knobs(fault="sign flipped")
    r = results.last("controller", k)
    break_ = w.broken(k, r)
    assert ring_around_nothing(w, k, r, break_) == [] and turned_already(k, break_) == []
    monkeypatch.setattr(w, "seen_at", lambda k, r, cause: At("Right completions", None, None, "gone", "nobody's"))
    monkeypatch.setattr(w, "figure", lambda k, r: [panel("Right completions", "", line([], [], "nobody's"))])
    assert len(ring_around_nothing(w, k, r, break_)) == 1
    assert len(turned_already(k, Break(break_.why, dict(fault="none", passes=1), break_.cause))) == 1
