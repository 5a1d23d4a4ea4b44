"""Changes of the reward: found where they were put, and in few runs without them."""

import numpy as np
import pytest

from rlpt.doctor import reward
from tests.rlpt.doctor import made


def events(rates, size=64, seed=0, **given):
    means, deviations = made.binary(rates, size, seed)
    return {e.kind: e for e in made.report(len(rates), reward=means, reward_std=deviations, **given).events}


def test_a_fall_is_at_its_sharpest_edge():
    rates = np.r_[np.full(30, 0.7), np.full(70, 0.2)]
    for seed in range(20):
        fall = events(rates, seed=seed)["reward falls"]
        assert fall.step == 31 and fall.lasting


def test_a_dip_that_comes_back_does_not_last():
    rates = np.r_[np.full(30, 0.7), np.full(20, 0.1), np.full(50, 0.7)]
    assert not events(rates)["reward falls"].lasting


def test_a_reward_that_stays_where_it_is_does_not_fall():
    assert not any("reward falls" in events(np.full(200, 0.4), seed=seed) for seed in range(20))


def test_alone_a_fall_has_to_be_twice_as_large():
    rates = np.r_[np.full(50, 0.6), np.full(50, 0.4)]  # 0.4 of a deviation
    assert "reward falls" not in events(rates)
    entropy = np.r_[np.full(50, 1.0), np.full(50, 0.3)]
    assert "reward falls" in events(rates, entropy=entropy)


def test_one_success_in_sixteen_and_then_none_is_noise():
    G = 2 * (np.log(1 / 16) + 15 * np.log(15 / 16) - np.log(1 / 176) - 175 * np.log(175 / 176))  # by hand: 4.85
    assert reward.likelihood_ratio((1, 16), (0, 160)) == pytest.approx(G) and G < 9
    assert reward.likelihood_ratio((8, 16), (0, 160)) > 9
    rates = np.r_[np.full(10, 0.4), np.zeros(30)]
    assert events(rates)["reward dies"].step == 11


def test_a_reward_that_is_always_paid_saturates():
    rates = np.r_[np.linspace(0.3, 0.9, 20), np.ones(20)]
    found = events(rates)
    assert found["reward saturates"].step == 21 and "reward dies" not in found


def test_a_rise_is_where_half_of_it_is_reached():
    found = events(np.r_[np.full(50, 0.2), np.full(50, 0.8)])
    assert 48 <= found["reward rises"].step <= 52
    assert "reward rises" not in events(np.full(100, 0.4))
