"""What each knob must do, and that what is drawn is what is counted."""

import numpy as np
import pytest

from sim.synthesis import budget, diagnosis
from sim.synthesis.budget import NAMES
from tests.widgets.catalogue import last, panel
from widgets.bottlenecks import widget
from widgets.bottlenecks.widget import OWN, OWN_KNOBS, PRESETS, Knobs


def test_the_best_set_never_breaks():
    for weeks in (0, 3, 8, 11, 25, 40):
        for shares in ({}, dict(verify=40), dict(train=60, rollout=10)):
            k = Knobs(weeks=weeks, **shares)
            (r,) = widget.run(k)
            assert widget.broken(k, r) is None and r.behind == pytest.approx(0)


def test_a_reader_s_own_choice_buys_exactly_the_chosen_optimization():
    assert tuple(OWN_KNOBS) == NAMES
    for name, knob in OWN_KNOBS.items():
        (r,) = widget.run(Knobs(rule=OWN, **{knob: True}))
        assert r.names == (name,) and r.step == pytest.approx(budget.step_time((name,)))


def test_the_shares_of_a_step_sum_to_one():
    assert sum(widget.shares(Knobs(rollout=90, verify=90))) == pytest.approx(1)
    assert widget.shares(Knobs()) == pytest.approx(budget.SHARES)


def test_the_ring_shows_the_time_to_the_same_quality():
    k = PRESETS["fp8, batch and packing"]
    drawn = panel(widget, "Time to the same quality", **vars(k))
    (ring,) = [mark for mark in drawn["data"] if mark["meta"]["role"] == "here"]
    # 7 weeks; (0.43 / 1.75 + 0.25 / 1.4 + 0.22 / 1.6 + 0.10) × 2
    assert (ring["x"][0], ring["y"][0]) == (7, pytest.approx(2 * (0.43 / 1.75 + 0.25 / 1.4 + 0.22 / 1.6 + 0.10)))


def test_step_bars_after_asynchrony_have_no_tail_and_no_weight_sync():
    k = PRESETS["12 weeks, the best set"]
    drawn = panel(widget, "How a step is spent", **vars(k))
    after = next(mark for mark in drawn["data"] if mark["name"] == "now")
    assert np.array(after["y"])[[1, 4]].tolist() == [0, 0]


def test_possible_causes_are_crossed_out_as_diagnostic_tests_are_made():
    r = last(widget, order="Nsight first")
    (possible,) = [mark["z"] for mark in panel(widget, "Causes that are left", order="Nsight first")["data"]]
    assert np.array(possible).sum(axis=0).tolist() == [len(left) for _, left in r.session] == [8, 3, 2, 1]


def test_the_diagnosis_costs_the_minutes_of_its_tests():
    r = last(widget, cause="mismatch", order="backwards")
    assert r.session[-1][0] == diagnosis.TESTS["ratios"].minutes == 15
