"""What turning each knob of the long-tail widget must do."""

import random
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from sim.cluster import straggler
from tests.widgets.grid import anywhere
from widgets.frame.drawing.written import plain
from widgets.frame.reader import host
from widgets.long_tail import widget as long_tail
from widgets.long_tail.widget import LAUNCHED, RULES, UNCAPPED, K, Knobs


def result(**knobs):
    (r,) = long_tail.run(Knobs(**knobs))
    return r


def tax(**knobs):
    r = result(**knobs)
    return r.waits["wait for all"] / r.mean


def trained_minus_all(**knobs):
    return result(**knobs).accuracy_trained - 0.5


def broken(**knobs):
    k = Knobs(**knobs)
    (r,) = long_tail.run(k)
    return long_tail.broken(k, r)


def test_waiting_for_all_completions_biases_nothing():
    assert Knobs().launched == K
    assert trained_minus_all() == pytest.approx(0.0, abs=1e-8)


def test_launching_twelve_completions_for_eight_breaks_the_run():
    assert "61 %" in broken(launched=12).why
    assert broken(launched=9) is None and broken(launched=10) is not None


def test_lengths_of_a_log_set_median_and_spread():
    """p99 over p50 is exp(2.32635 σ): of a log-normal of median 1,200 and spread 0.8 it is 6.43."""
    brought = "1200 3345 7716 40000"
    assert long_tail.from_a_log(brought)[0] == pytest.approx((1200, 0.8), abs=1e-3)
    mine, same = result(launched=12, log=brought), result(launched=12)
    assert mine.waits["drop answers"] == pytest.approx(same.waits["drop answers"], rel=1e-3)
    with pytest.raises(ValueError, match="spread"):
        long_tail.from_a_log("1 2 1000000 2000000")


def test_the_drawn_steps_read_what_the_integral_says():
    accuracy, wait = result(launched=12).steps
    assert accuracy.mean() == pytest.approx(0.609, abs=3 * 0.5 / np.sqrt(60 * 512))
    assert wait.mean() == pytest.approx(straggler.wait_in_prompts(64, 8, 12, 0.8), rel=0.1)


def test_the_waiting_tax_is_that_of_the_longest_of_n_completions():
    for sigma in (0.4, 0.8, 1.0):
        assert tax(sigma=sigma) == pytest.approx(
            straggler.straggler_tax(512, sigma), rel=0.001
        )  # the cap of 109 medians takes off the rest


def test_the_waiting_tax_rises_with_n_and_with_sigma():
    assert np.all(np.diff([tax(n=n) for n in (8, 64, 256, 512, 1024, 2048, 8192)]) > 0)
    assert np.all(np.diff([tax(sigma=sigma) for sigma in (0.05, 0.2, 0.4, 0.6, 0.8, 1.0)]) > 0)


@pytest.mark.parametrize("rule", RULES)
def test_launching_more_completions_shortens_the_step(rule):
    waits = [result(launched=launched, rule=rule).waits[rule] for launched in (8, 10, 12, 16, 24)]
    assert np.all(np.diff(waits) < 0)


@pytest.mark.parametrize("rule", ["drop answers", "drop prompts"])
@pytest.mark.parametrize("slope", [-2.0, -1.0, 1.0])
def test_launching_more_completions_biases_more(rule, slope):
    bias = [np.abs(trained_minus_all(launched=launched, rule=rule, slope=slope)) for launched in LAUNCHED]
    assert np.all(np.diff(bias) > 0)


@pytest.mark.parametrize("rule", RULES)
def test_without_a_slope_no_rule_biases(rule):
    assert abs(trained_minus_all(slope=0.0, launched=24, rule=rule, between=0.5)) < 1e-8


def test_the_bias_has_the_sign_against_the_slope():
    assert trained_minus_all(launched=12, slope=1.0) == pytest.approx(
        -trained_minus_all(launched=12, slope=-1.0), abs=1e-8
    )
    assert trained_minus_all(launched=12, slope=1.0) < -0.1
    assert "wrong more often" in broken(launched=12, slope=1.0).why


def test_the_spread_moves_the_time_and_not_the_bias():
    assert trained_minus_all(launched=12, sigma=0.2) == pytest.approx(
        trained_minus_all(launched=12, sigma=1.2), abs=2e-4
    )
    assert result(launched=12, sigma=0.2).waits[RULES[0]] < result(launched=12, sigma=1.2).waits[RULES[0]]


def test_dropping_prompts_biases_less_until_prompts_differ():
    bias = {
        between: [trained_minus_all(launched=12, rule=rule, between=between) for rule in RULES[:2]]
        for between in (0.0, 0.4, 0.6, 0.75)
    }
    assert bias[0.0][1] < 0.2 * bias[0.0][0]
    assert bias[0.4][1] < bias[0.4][0] and bias[0.6][1] > bias[0.6][0]
    assert bias[0.75][1] > bias[0.75][0]
    assert (
        broken(launched=12, rule="drop prompts") is None
        and "64 of 96 prompts" in broken(launched=12, rule="drop prompts", between=0.5).why
    )


def test_resuming_prompts_is_fast_and_unbiased():
    assert broken(launched=24, rule="partial rollout", between=0.75, slope=-2.0) is None
    assert result(launched=12).waits["partial rollout"] < 0.4 * result().waits["wait for all"]


def test_a_masking_cap_is_a_race_and_a_punishing_one_is_not():
    masked, punished = broken(cap=2048), broken(cap=2048, cut="scored wrong")
    assert "25 %" in masked.why and "masked" in masked.why
    assert "scored wrong" in punished.why
    assert trained_minus_all(cap=2048) > 0 > trained_minus_all(cap=2048, cut="scored wrong")
    assert broken(cap=8192) is None and broken(cap=8192, cut="scored wrong") is None


def test_a_cap_below_every_length_leaves_nothing():
    assert "No answer is left" in broken(sigma=0.05, cap=2048, median=4000).why


def test_a_cap_bounds_the_step():
    r = result(cap=4096)
    assert r.waits["wait for all"] * 1200 == pytest.approx(4096, rel=0.001)


def test_a_race_is_undone_by_resuming_and_a_cap_by_none():
    assert broken(launched=16, slope=1.0, between=0.3).fix == dict(rule="partial rollout")
    assert broken(cap=2048).fix == dict(cap=UNCAPPED)


HELD_BY_THE_CAP = [  # where a race was named that does nothing
    dict(n=64, launched=17, cap=4096, median=6900, slope=-1.0),
    dict(launched=22, cap=2048, median=7800, slope=0.75),
]


@pytest.mark.parametrize("knobs", HELD_BY_THE_CAP)
def test_favoring_short_completions_is_not_blamed_where_the_cap_decides(knobs):
    assert "short" not in broken(**knobs).cause or abs(trained_minus_all(**knobs, rule="partial rollout")) <= 0.05


@pytest.mark.parametrize("seed", range(24, 44))
def test_at_random_settings_the_suggested_fix_undoes_the_cause(seed):
    chance = random.Random(seed)
    breaks = [(k, break_) for k in (anywhere("long_tail", chance) for _ in range(40)) if (break_ := broken_at(k))]
    assert len(breaks) > 10
    for k, break_ in breaks:
        assert broken_at(replace(k, **break_.fix)) is None, (k, break_)
        if "together" in break_.cause:  # both are needed
            assert all(broken_at(replace(k, **{name: value})) for name, value in break_.fix.items()), (k, break_)


def broken_at(k):
    """The break of a setting, by what the batch reads alone: a hundred times as fast as a run."""
    return long_tail.broken(k, SimpleNamespace(accuracy_trained=long_tail.accuracy_at(k)))


def test_the_share_of_useful_slot_time_is_one_over_the_tax():
    assert result().useful["wait for all"] == pytest.approx(1 / tax(), rel=1e-4)
    for name, share in result(launched=12).useful.items():
        assert 0 < share < 1, name


ENDS = [
    {},
    dict(launched=12, between=0.5),
    dict(sigma=1.5, n=8192),
    dict(sigma=0.05, n=8),
    dict(cap=2048, median=8000),
    dict(launched=9, n=8),
]


@pytest.mark.parametrize("knobs", ENDS)
def test_every_axis_holds_its_curves(knobs):
    k = replace(Knobs(), **knobs)
    (r,) = long_tail.run(k)
    panels = plain(long_tail.figure(k, r))
    assert len(panels) == 6
    for panel in panels[1:5]:  # the first is a scene; the last one, of ranks, is cut off at four times the mean
        low, high = panel["layout"]["yaxis"]["range"]
        for trace in panel["data"]:
            values = [y for y in trace["y"] if y is not None]
            assert len(values) <= 300
            assert not values or low <= min(values) <= max(values) <= high, panel["title"]


def test_no_preset_moves_the_range_of_a_horizontal_axis():
    panels = [long_tail.figure(k, next(long_tail.run(k)))[1:] for k in long_tail.PRESETS.values()]
    ranges = [[panel["layout"]["xaxis"].get("range") for panel in row] for row in panels]
    assert all(row == ranges[0] for row in ranges)


def test_a_batch_of_which_nothing_is_left_is_watched_by_what_is_left_and_not_by_a_dash():
    k = Knobs(cut="masked", cap=2048, median=131072, sigma=0.1)
    (r,) = long_tail.run(k)
    assert np.isnan(r.accuracy_trained) and long_tail.broken(k, r)
    watched = host.gauged(long_tail.watched(k, r))
    assert watched["text"] == "0"


def test_where_no_more_prompts_run_than_are_waited_for_resuming_is_waiting_for_all():
    for launched in (9, 10, 11):  # of 8 completions, one prompt: a second one is not begun before 12
        for rule in RULES[1:]:
            r = result(n=8, launched=launched, rule=rule)
            assert r.waits[rule] == r.waits["wait for all"] and r.useful[rule] == r.useful["wait for all"]
    assert result(n=8, launched=12, rule=RULES[2]).waits[RULES[2]] < wait_for_eight()


def wait_for_eight():
    return result(n=8).waits["wait for all"]
