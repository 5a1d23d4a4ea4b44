import numpy as np
import pytest

from sim.experiments import lagging_ladder
from sim.experiments.lagging_ladder import DRAWS, REWARD, START, WEIGHTS
from sim.worlds.optimizer import SGD, AdamW


def rng():
    return np.random.default_rng(0)


def test_draws_come_as_often_as_the_policy_says():
    drawn = lagging_ladder.draw(np.tile(START, (2000, 1)), rng())
    share = np.bincount(drawn.ravel(), minlength=3) / drawn.size
    np.testing.assert_allclose(share, START, atol=4 * np.sqrt(0.09 / drawn.size))


def test_the_mean_gradient_is_that_of_the_mean_reward():
    pi = np.tile([0.2, 0.5, 0.3], (4000, 1))
    found = lagging_ladder.gradient(pi, lagging_ladder.draw(pi, rng()), np.ones((4000, DRAWS)))
    exact = pi[0] * (REWARD - pi[0] @ REWARD)  # d/dθ of Σ π R
    error = found.std(axis=0) / np.sqrt(len(found))
    np.testing.assert_allclose(found.mean(axis=0) * DRAWS / (DRAWS - 1), exact, atol=float(4 * error.max()))


def test_a_whole_ratio_weighs_old_draws_to_the_present_policy():
    pi, mu = np.tile([0.2, 0.5, 0.3], (4000, 1)), np.tile([0.4, 0.3, 0.3], (4000, 1))
    drawn = lagging_ladder.draw(mu, rng())
    ratio = lagging_ladder.ratios(pi, mu, drawn)
    assert (ratio * REWARD[drawn]).mean() == pytest.approx(pi[0] @ REWARD, abs=0.005)
    assert WEIGHTS["at most 2"](np.array([0.5, 3.0])).tolist() == [0.5, 2.0]


@pytest.mark.slow
def test_without_a_weight_a_lag_of_32_ends_on_the_second_answer_with_sgd_and_not_with_adamw():
    def ends(way, optimizer):
        return lagging_ladder.on_the_second(lagging_ladder.lagged(32, way, rng(), optimizer)[0]).mean()

    assert ends("none", SGD(1.0)) > 0.9
    assert ends("at most 2", SGD(1.0)) == ends("whole", SGD(1.0)) == 0
    assert ends("none", AdamW(0.02, clip=None)) == 0


@pytest.mark.slow
def test_old_batches_cost_more_without_a_weight_with_sgd():
    def ends(kept, way):
        return lagging_ladder.replayed(4, kept, way, rng())[-1].mean()

    assert ends(16, "none") < ends(1, "none") - 0.1
    assert ends(16, "at most 2") > ends(16, "none") + 0.1
