"""The pictures of lesson 13a show what was computed, and claim no more."""

import numpy as np
import pytest

from sim.estimators import entropy
from sim.experiments import lost_prompts, rare_prize
from sim.experiments.rare_prize import DRAWS, PRIZE
from tests.widgets.catalogue import marks, ring
from widgets.entropy import figures, sum_table
from widgets.entropy.figures import MOMENTS, SETTINGS
from widgets.frame.drawing import runs


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_dots_of_the_opening_are_the_policies(setting):
    for moment in MOMENTS:
        dots = marks(figures.opening(setting, moment)[0], "hundred")
        pi = figures.frame(setting, moment).pi[:8]
        assert [dict(mark["shares"])["followed"] for mark in dots] == pi[:, PRIZE].tolist()


@pytest.mark.parametrize("setting", SETTINGS)
def test_eight_runs_of_the_opening_stand_for_all_of_them(setting):
    for moment in (0, MOMENTS[-1]):
        found = rare_prize.found(figures.frame(setting, moment))
        assert abs(found[:8].mean() - found.mean()) <= 1 / 8


def test_both_settings_begin_alike():
    start = [figures.frame(setting, 0).pi for setting in SETTINGS]
    np.testing.assert_array_equal(*start)
    assert start[0][0, PRIZE] == pytest.approx(1 / 200)


def test_the_ring_of_the_opening_stands_where_no_run_draws_the_rare_way_in_twenty_updates():
    for setting in SETTINGS:
        for moment in MOMENTS:
            chance = figures.frame(setting, moment).pi[:8, PRIZE].max()
            assert bool(ring(figures.opening(setting, moment)[0])) == (chance * DRAWS * 20 < 1)
    assert ring(figures.opening(SETTINGS[1], 60)[0]) and not ring(figures.opening(SETTINGS[0], 60)[0])


def test_the_push_of_the_figure_is_the_slope_of_the_entropy_of_the_middle_run():
    for update in figures.WHENS:
        pi = figures.middle(update)
        assert np.sum(pi) == pytest.approx(1)
        slope = [p * (-np.log(p) - entropy.entropy(pi)) for p in pi]
        np.testing.assert_allclose(entropy.bonus(pi), slope, atol=1e-9)
    pushes = [entropy.bonus(figures.middle(update))[PRIZE] for update in figures.WHENS]
    assert pushes == sorted(pushes, reverse=True)


def test_certain_runs_are_ringed_and_others_not():
    for low in figures.LOWER:
        certain = figures.coins(low).pi[:8].max(axis=1) > 0.9
        words = ring(figures.flipped(low)[0])
        assert bool(words) == (certain.mean() > 0.5) and (not words or certain[-1])
    assert len(set(figures.coins(1.0).pi[:8].argmax(axis=1))) > 3, "each run of another way"


@pytest.mark.slow
def test_the_table_has_every_sum_and_the_lost_ones_in_orange():
    for name in figures.RUNS:
        right = figures.chances(name)
        cells = [role for mark in marks(figures.sums(name)[0], "parts") for role in mark["roles"]]
        assert len(cells) == 100
        assert [role == "below-3" for role in cells] == lost_prompts.lost(right).tolist()


def test_the_tone_of_a_sum_grows_with_its_chance():
    roles = [sum_table.role(chance, 0.01) for chance in (0.005, 0.05, 0.3, 0.6, 0.9, 0.99)]
    assert roles == ["below-3", "level", "above-1", "above-2", "above-3", "above-4"]


def test_a_probability_in_words():
    assert [runs.one_in(p) for p in (0.955, 0.1, 0.02, 0.005, 1 / 6200, 4.7e-5, 2e-8, 1e-10, 0)] == [
        "96 of 100",
        "10 of 100",
        "1 in 50",
        "1 in 200",
        "1 in 6,200",
        "1 in 21,000",
        "1 in millions",
        "1 in billions",
        "1 in trillions",
    ]


def test_every_position_of_the_coins_has_the_same_keys():
    scenes = [figures.flipped(low)[0] for low in figures.LOWER]
    assert len({tuple(mark.get("key") for mark in scene["columns"][0][0]["marks"]) for scene in scenes}) == 1
