"""A tiny language model on a reward that can be gamed. Bands: five seeds of an independent prototype of the same
settings.
"""

from functools import cache

import pytest

from sim.experiments import kl_anchor
from tests import skips


@cache
def end(hack_reward, beta, alias=False, seed=0):
    skips.not_in_a_page()
    *_, last = kl_anchor.train(hack_reward, beta, alias, seed, 100)
    return last


@pytest.mark.when_changed()
@pytest.mark.parametrize(
    "hack_reward, beta, low, high",
    [
        (1.2, 0.0, 0.0, 0.01),
        (1.2, 0.2, 0.0, 0.30),
        (1.2, 0.5, 0.45, 0.57),
        (1.2, 1.0, 0.42, 0.52),  # c = .15; a prototype's means: .00 .06-.08 .52 .47-.48
        (0.0, 0.0, 0.88, 0.95),
        (0.0, 0.3, 0.82, 0.89),  # a sound verifier: .912 and .855
    ],
)
def test_with_a_leaky_reward_a_price_helps_and_with_a_sound_one_it_hurts(hack_reward, beta, low, high):
    assert all(low <= end(hack_reward, beta, seed=seed).gold <= high for seed in range(2))


def test_without_a_price_it_never_stops_thinking_which_is_paid_and_costs_1_9_nats():
    found = end(1.2, 0.0)
    assert found.proxy == pytest.approx(1.2, abs=0.01) and found.gold < 0.01
    assert found.kl == pytest.approx(1.90, abs=0.1)  # -ln of the share of demonstrations that never stop, .15


def test_without_a_price_there_is_no_reference_and_nothing_to_log():
    assert end(1.2, 0.0).kl_logged != end(1.2, 0.0).kl_logged  # nan


@pytest.mark.when_changed()
def test_a_frozen_copy_logs_the_distance_and_an_alias_logs_none():
    frozen, alias = end(1.5, 1.0), end(1.5, 1.0, alias=True)
    assert frozen.kl_logged == pytest.approx(frozen.kl, abs=1e-12) and frozen.kl > 0.05
    assert abs(alias.kl_logged) < 1e-12 and alias.kl > 1 and alias.gold < 0.01


def test_an_alias_is_no_anchor():
    alias, none = end(1.5, 1.0, alias=True), end(1.5, 0.0)
    assert (alias.gold, alias.kl) == pytest.approx((none.gold, none.kl), abs=0.05)


def test_a_run_is_measured_from_the_start_to_the_end():
    points = list(kl_anchor.train(0.0, 0.0, False, 0, 8))
    assert [p.update for p in points] == [0, 4, 8]
    assert points[0].kl == pytest.approx(0, abs=1e-12) and points[0].gold == pytest.approx(
        0.3285, abs=5e-4
    )  # the supervised checkpoint
