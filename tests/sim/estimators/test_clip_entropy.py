import numpy as np
import pytest

from sim.estimators import clip_entropy
from sim.worlds.optimizer import SGD, AdamW


def final(eps_low, eps_high, passes=8, seeds=24, optimizer=None):
    return clip_entropy.coin_entropy(
        eps_low, eps_high, passes, optimizer or SGD(4.0), 150, seeds, np.random.default_rng(0)
    )[:, -1].mean()


def test_the_start_is_uniform():
    assert clip_entropy.coin_entropy(0.2, 0.2, 1, SGD(4.0), 1, 2, np.random.default_rng(0))[:, 0] == pytest.approx(
        np.log(20), abs=1e-12
    )


def test_a_wider_clip_above_keeps_more_entropy_up_to_a_point():
    # 96 seeds on another implementation: 1.455 +- .06, 1.660 +- .04, 1.920 +- .04, .218 +- .05 without a bound
    ends = [final(0.2, high) for high in (0.2, 0.28, 0.5)]
    assert ends == sorted(ends) and ends[2] > ends[0] + 0.2
    assert ends == pytest.approx([1.455, 1.660, 1.920], abs=0.4)  # three standard errors of 24 seeds
    assert final(0.2, np.inf) < 0.5


def test_without_the_clip_below_the_entropy_is_gone():
    assert final(1.0, 0.2) < 0.1  # .013 +- .001 there


def test_in_one_pass_neither_bound_does_anything():
    assert final(0.2, 0.2, passes=1, seeds=4) == final(0.05, 5.0, passes=1, seeds=4)


def test_entropy_falls_although_there_is_nothing_to_learn():
    assert final(0.2, 0.2) < np.log(20) - 1


def test_under_adamw_the_upper_bound_hardly_acts():
    # 24 seeds on a loop of its own: 2.49 for every bound at 0.02; 1.03, 0.97, 1.02 and 1.01 at 0.05
    ends = [final(0.2, high, passes=4, optimizer=AdamW(0.02, clip=None)) for high in (0.2, 0.28, 5.0)]
    assert ends == pytest.approx([2.49] * 3, abs=0.05) and np.ptp(ends) < 0.02
