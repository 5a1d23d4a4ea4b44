import numpy as np
import pytest

from sim.estimators import gradient_noise
from sim.estimators.gradient_noise import LOGITS, REWARD

P = np.array([0.136440091, 0.224951680, 0.101077305, 0.370882620, 0.166648303])  # exp(logit) over their sum, by hand
GRADIENT = [-0.0352804033, -0.0581675513, 0.0749409399, -0.0217255551, 0.0402325699]  # pi (R - J), by hand
J = 0.2585779811  # pi_3 + .2 pi_4 + .5 pi_5


def test_the_policy_its_expected_reward_and_the_gradient():
    np.testing.assert_allclose(gradient_noise.softmax(LOGITS), P, atol=1e-9)
    assert gradient_noise.expected_reward(LOGITS, REWARD) == pytest.approx(J, abs=1e-9)
    np.testing.assert_allclose(gradient_noise.policy_gradient(LOGITS, REWARD), GRADIENT, atol=1e-9)


@pytest.mark.parametrize("baseline", [0.0, 0.3, -7.0])
@pytest.mark.parametrize("offset", [0.0, 10.0])
def test_neither_a_baseline_nor_an_offset_moves_the_mean_of_the_estimates(baseline, offset):
    mean = gradient_noise.softmax(LOGITS) @ gradient_noise.estimates(LOGITS, REWARD + offset, baseline)
    np.testing.assert_allclose(mean, GRADIENT, atol=1e-9)


# E[(R - b)^2 |s|^2] - |grad J|^2 by enumeration, to ten digits
@pytest.mark.parametrize("offset, bare", [(0, 0.1384845195), (1, 1.3310059866), (10, 80.0351773871)])
def test_the_offset_enters_the_noise_squared_and_the_mean_takes_it_out(offset, bare):
    assert gradient_noise.noise(LOGITS, REWARD + offset, 0.0) == pytest.approx(bare, rel=1e-9)
    assert gradient_noise.noise(LOGITS, REWARD + offset, J + offset) == pytest.approx(0.0759100092, abs=1e-9)


def test_the_noise_is_what_samples_show():
    draws = np.random.default_rng(0).choice(5, 400_000, p=gradient_noise.softmax(LOGITS))
    estimate = gradient_noise.estimates(LOGITS, REWARD, 0.0)[draws]
    assert estimate.var(axis=0).sum() == pytest.approx(gradient_noise.noise(LOGITS, REWARD, 0.0), rel=0.01)


def test_the_best_baseline_is_not_the_mean_and_nothing_is_quieter():
    best = gradient_noise.best_baseline(LOGITS, REWARD)
    assert best == pytest.approx(0.2894997644, abs=1e-9)  # E[R |s|^2] / E[|s|^2] by enumeration
    assert gradient_noise.noise(LOGITS, REWARD, best) == pytest.approx(0.0751878827, abs=1e-9)
    assert all(
        gradient_noise.noise(LOGITS, REWARD, best + d) > gradient_noise.noise(LOGITS, REWARD, best)
        for d in (-0.01, 0.01)
    )


# noise over squared norm of the gradient
@pytest.mark.parametrize("offset, bare", [(0, 11.2270), (1, 107.905), (10, 6488.475)])
def test_samples_until_the_signal_equals_the_noise(offset, bare):
    assert gradient_noise.samples_for_signal(LOGITS, REWARD + offset, 0.0) == pytest.approx(bare, abs=1e-3)
    assert gradient_noise.samples_for_signal(LOGITS, REWARD + offset, J + offset) == pytest.approx(6.1540466, abs=1e-6)


def test_an_answer_moves_along_the_gradient_by_its_length_on_average():
    along = gradient_noise.progress_along_gradient(LOGITS, REWARD, 0.1)
    assert gradient_noise.softmax(LOGITS) @ along == pytest.approx(np.linalg.norm(GRADIENT), abs=1e-9)


def test_the_mean_of_many_samples_closes_in_on_the_gradient():
    rng, sampled = np.random.default_rng(0), gradient_noise.sampled_gradient
    far = [
        np.mean([np.linalg.norm(sampled(LOGITS, REWARD, 0.0, n, rng) - GRADIENT) for _ in range(200)])
        for n in (1, 100, 10_000)
    ]
    assert far[0] > 8 * far[1] > 64 * far[2]  # a tenth each time, but for luck


# p (1 - p) (1 - p - b)^2
@pytest.mark.parametrize(
    "p, baseline, variance",
    [(0.9, 0, 0.0009), (0.9, 0.9, 0.0576), (0.9, 0.1, 0), (0.1, 0, 0.0729), (0.1, 0.1, 0.0576), (0.1, 0.9, 0)],
)
def test_with_two_answers_the_mean_baseline_can_raise_the_noise(p, baseline, variance):
    assert gradient_noise.two_answer_noise(p, baseline) == pytest.approx(variance, abs=1e-15)


def test_with_two_answers_the_mean_baseline_is_worse_than_none_above_two_thirds():
    above, below = 2 / 3 + 1e-6, 2 / 3 - 1e-6  # (1 - 2p)^2 = (1 - p)^2
    assert gradient_noise.two_answer_noise(above, above) > gradient_noise.two_answer_noise(above, 0)
    assert gradient_noise.two_answer_noise(below, below) < gradient_noise.two_answer_noise(below, 0)
