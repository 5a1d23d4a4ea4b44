"""The pictures of lesson 15a show what was computed, and claim no more."""

import numpy as np
import pytest

from sim.experiments import many_reward_models
from tests.widgets import catalogue
from tests.widgets.catalogue import marks
from widgets.reward_models import completion_map, figures, widget
from widgets.reward_models.figures import MOMENTS, SETTINGS


def test_the_rim_of_what_people_like_is_where_gold_is_zero():
    world = many_reward_models.world()
    for across, down in completion_map.liked():
        length = across / completion_map.SCALE + completion_map.LEFT
        quality = completion_map.HIGH - (down - completion_map.HEAD) / completion_map.SCALE
        gold = quality - 0.1 * quality**2 + length - 0.5 * length**2 + 0.6  # less its mean at the start, -0.6
        assert abs(gold) < 1e-6 or quality == pytest.approx(completion_map.HIGH)
    assert world.ref @ (world.q - 0.1 * world.q**2 + world.l - 0.5 * world.l**2) == pytest.approx(-0.6, abs=1e-6)


def test_half_of_a_normal_cloud_lies_within_its_ring():
    assert 1 - np.exp(-(completion_map.HALF**2) / 2) == pytest.approx(0.5, abs=1e-4)  # closed form


@pytest.mark.slow
def test_the_dots_are_the_wins_and_the_bar_is_as_long_as_a_typical_completion():
    for setting in SETTINGS:
        for nats in MOMENTS:
            outcome, (_, length) = figures.went(setting, nats)
            (scene,) = figures.opening(setting, nats)
            (dots,) = marks(scene, "hundred")
            assert dict(dots["shares"])["followed"] == outcome.wins
            bar = next(mark for mark in marks(scene, "bar") if mark["key"] == "tn")
            assert bar["wide"] == pytest.approx(13 * 40 * 2 ** (length / 2) / 200)


@pytest.mark.slow
def test_the_ring_says_that_all_five_like_it_only_where_they_do_and_people_do_not():
    for setting in SETTINGS:
        for nats in MOMENTS:
            (ring,) = marks(figures.opening(setting, nats)[0], "ring")
            assert ring["seen"] == (figures.went(setting, nats)[0].wins < 0.495)
            if ring["seen"]:
                assert setting == SETTINGS[1]
                _, paid, _ = figures.models(setting)
                mean = figures.went(setting, nats)[1]
                world = many_reward_models.world()
                nearest = np.abs(world.phi - mean).sum(axis=1).argmin()
                assert (paid[:, nearest] > 0).all(), "each pays more than for the start's average"
    assert figures.went(SETTINGS[1], 12)[0].wins < 0.3 < 0.8 < figures.went(SETTINGS[0], 12)[0].wins


@pytest.mark.slow
def test_the_draw_that_is_shown_is_typical():
    r = catalogue.last(widget, bias=1.0)
    shown = r.wins[figures.DRAWN]
    assert abs(shown - r.mean) < 0.03
    assert figures.went(SETTINGS[1], 8)[0].wins == pytest.approx(shown, abs=1e-6)


def test_the_fan_points_where_the_models_rise():
    (scene,) = figures.fan(200)
    turns = [mark["turn"] for mark in marks(scene, "needle") if mark["key"] != "mown"]
    assert [90 + turn for turn in turns] == pytest.approx(figures.fan_of(200).tolist())
    (own,) = [mark for mark in marks(scene, "needle") if mark["key"] == "mown"]
    assert own["turn"] == -45 and "45" not in figures.fan_said(200)


def test_a_place_beyond_the_map_stands_at_its_rim():
    across, down = completion_map.place(99, -99)
    assert across < completion_map.WIDE and down < completion_map.TALL
