import numpy as np
import pytest

from sim.estimators import aggregation
from sim.experiments import three_completions as three


def test_each_advantage_is_the_reward_less_the_mean_of_the_other_two():
    reward = np.array([1.0, 0, 0])
    assert (reward - (reward.sum() - reward) / 2).tolist() == three.ADVANTAGE.tolist()


@pytest.mark.parametrize(
    "mode, by_hand",  # of 8 tokens, losses -1 twice, 1/2 five times, 1/2 once
    [
        ("token-mean", (-2 + 2.5 + 0.5) / 8),
        ("seq-mean-token-mean", (-1 + 0.5 + 0.5) / 3),
        ("seq-mean-token-sum", (-2 + 2.5 + 0.5) / 3),
        ("seq-mean-token-sum-norm", (-2 + 2.5 + 0.5) / 15),
    ],
)
def test_the_loss_of_fresh_samples(mode, by_hand):
    assert set(aggregation.MODES) >= {mode} and three.loss(mode) == pytest.approx(by_hand, abs=1e-12)


def test_the_slope_along_one_token_is_its_weight_times_its_advantage():
    for mode, weights in aggregation.MODES.items():
        rise = (three.loss(mode, 1.5) - three.loss(mode, 0.5)) / (1.5 - 0.5)
        assert rise == pytest.approx(-weights(three.MASK)[0, 0] * three.ADVANTAGE[0], abs=1e-12)
