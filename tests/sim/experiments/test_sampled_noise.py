import numpy as np
import pytest

from sim.experiments import sampled_noise
from sim.framework.rollout import RolloutEngine
from sim.worlds import modsum, tasks


def test_the_squared_score_is_that_of_the_softmaxes_that_a_completion_went_through():
    """On MODSUM every running sum has a softmax of its own: onehot less probabilities, added up where a sum repeats."""
    policy = modsum.Policy()
    batch, _ = RolloutEngine(policy).generate(modsum.Task(), np.array([1]), 12, np.random.default_rng(0))
    for i, square in enumerate(sampled_noise.squared_scores(policy, batch)):
        total, score = 0, np.zeros((7, 4))
        for token, own in zip(batch.tokens[i], batch.response_mask[i]):
            if own:
                pi = np.exp(policy.params["theta"][1, total % 7])
                score[total % 7] += np.eye(4)[token] - pi / pi.sum()
                total += token + 1
        assert square == pytest.approx((score**2).sum(), abs=1e-12)


def test_two_rewards_and_their_mean_by_hand():
    reward, square = np.array([1.0, 0.0]), np.array([2.0, 8.0])
    assert sampled_noise.moved(reward, square, 0.0) == 1.0  # (2 + 0) / 2
    assert sampled_noise.moved(reward, square, 0.5) == 1.25  # (2 + 8) / 4 / 2
    assert sampled_noise.moved(reward, square, np.array([1.0, 0.0])) == 0.0


def test_it_is_measured_at_the_start_and_as_often_as_asked():
    seen = list(sampled_noise.while_it_learns(4, 2, completions=40))
    assert [noise.update for noise in seen] == [0, 2, 4]
    assert seen[0].right == pytest.approx(tasks.exact_pass(tasks.checkpoint("add")).mean())
    again = list(sampled_noise.while_it_learns(4, 2, completions=40))
    assert seen == again


@pytest.mark.parametrize("seed", range(5))
def test_the_more_it_has_learned_the_noisier_is_the_mean_beside_no_baseline(seed):
    start, middle, last = sampled_noise.while_it_learns(100, 50, completions=400, seed=seed)
    assert 3 * start.mean / start.none < middle.mean / middle.none < last.mean / last.none
