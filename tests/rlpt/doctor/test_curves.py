"""Batches, beginnings, what lasts and how noisy a reward is, against closed forms."""

import numpy as np
import pytest

from rlpt.doctor import columns, curves
from tests.rlpt.doctor import made


def run(**given):
    return curves.Run(columns.quantities(made.log(**given)))


def test_a_batch_is_a_row_in_which_the_reward_has_a_value():
    reward = np.where(np.arange(40) % 4 == 0, 0.5, np.nan)
    one = run(reward=reward, reward_std=reward, entropy=np.arange(40.0))
    assert list(one.batches) == list(range(1, 41, 4)) and list(one.at("entropy")) == list(range(0, 40, 4))
    assert one.batch_of(4) == 0 and one.batch_of(5) == 1


def test_the_size_of_a_batch_of_zeros_and_ones_is_read_off():
    means, deviations = made.binary(np.full(40, 0.3), 48)
    assert run(reward=means, reward_std=deviations).size == pytest.approx(48, rel=1e-6)
    assert run(reward=means, reward_std=np.sqrt(means * (1 - means))).size is None  # not that of a sample
    assert run(reward=2 * means, reward_std=2 * deviations).size is None


def test_noise_is_the_standard_error_of_a_mean():
    means, deviations = made.binary(np.full(40, 0.5), 64)
    assert run(reward=means, reward_std=deviations).noise == pytest.approx(0.5 / 8, rel=0.05)
    other = np.random.default_rng(1).normal(3, 0.25, 4000)
    assert curves.neighbors(other) == pytest.approx(0.25, rel=0.05)
    assert curves.neighbors(np.array([1.0, 1, 2, 2])) == 0


def test_a_beginning_is_a_median_unless_something_happens_at_once():
    assert curves.beginning(np.array([1.0, 1.3, 1.1, 9])) == 1.1
    assert curves.beginning(np.array([1.0, 1.6, 9])) == 1.0
    assert curves.beginning(np.array([np.nan, np.nan, np.nan, 1])) is None


def test_what_lasts_holds_at_once_and_in_eight_tenths_of_what_follows():
    mask = np.zeros(100, bool)
    mask[[10, 11, 50]] = True
    mask[60:70] = True
    mask[65] = False
    assert curves.first_lasting(mask, np.ones(100, bool)) == 60
    assert curves.first_lasting(np.zeros(9, bool), np.ones(9, bool)) is None


def test_a_rise_has_a_standard_error():
    values = np.r_[np.zeros(10), np.full(30, 0.5)]
    assert curves.rise(values, 0.1) == (0.5, pytest.approx(0.1 * np.sqrt(1 / 10 + 1 / 8)))
    assert curves.rise(values[:3], 0.1) is None
    assert run(reward=values, reward_std=np.full(40, 0.5)).rose
    assert not run(reward=np.full(40, 0.5), reward_std=np.full(40, 0.5)).rose
