import numpy as np
import pytest

from sim.estimators import length_bias
from sim.worlds.optimizer import SGD, AdamW


def sgd(divisor):
    return SGD(length_bias.RATES[divisor])


def test_the_score_of_a_length_has_mean_zero_so_the_true_gradient_is_zero():
    probability, score = length_bias.distribution(0.1)
    assert probability.sum() == pytest.approx(1, abs=1e-12)
    assert (probability * score).sum() == pytest.approx(0, abs=1e-12)


def test_the_mean_of_score_over_length():
    probability, score = length_bias.distribution(0.1)
    assert (probability * score / np.arange(1, 65)).sum() == pytest.approx(0.1558266361, abs=1e-10)  # enumeration
    probability, score = length_bias.distribution(0.1, 2000)
    without_limit = 0.1 * np.log(10) / 0.9 - 0.1  # closed form, .1558427881
    assert (probability * score / np.arange(1, 2001)).sum() == pytest.approx(without_limit, abs=1e-10)


@pytest.mark.parametrize(
    "p, h, T, K, std, expected",
    [
        (0.3, 0.1, 64, 8, True, 0.0600791413),
        (0.3, 0.1, 64, 8, False, 0.0286331444),
        (0.5, 0.2, 32, 4, True, 0.0707939021),
    ],
)
def test_dividing_by_the_length_drifts_though_nothing_rewards_length(p, h, T, K, std, expected):
    # enumeration; the last one is (3 + 2 sqrt 3) / 16 * sqrt(3) / 2 times the mean of score over length, .2023378
    assert length_bias.expected_drift(p, h, K, std, "1/|o|", longest=T) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("std", [True, False])
def test_a_constant_divisor_does_not_drift(std):
    assert abs(length_bias.expected_drift(0.3, 0.1, 8, std, "constant")) < 1e-12


def test_the_drift_of_the_token_mean_is_small_and_falls_as_one_over_the_batch():
    drift = {
        groups: length_bias.expected_drift(0.3, 0.1, 8, True, "token mean", groups) * groups
        for groups in (4, 16, 64, 256)
    }
    assert drift[256] > 0
    assert drift[256] == pytest.approx(drift[64], rel=0.02)
    # per unit of mean token weight (1 / 10 here) it is far below the drift of 1/|o|
    assert length_bias.expected_drift(0.3, 0.1, 8, True, "token mean", 16) < 0.02 * length_bias.expected_drift(
        0.3, 0.1, 8, True, "1/|o|"
    )


def test_the_drift_of_the_token_mean_against_sampling():
    rng, B = np.random.default_rng(0), 16
    n = np.minimum(rng.geometric(0.1, (400_000, B)), 64)
    score = np.where(n < 64, 1 - 0.1 * n, -6.3)
    push = 0.3 * 0.7 * 7 / 8
    sampled = push * score.sum(axis=1) / n.sum(axis=1)
    assert length_bias.expected_drift(0.3, 0.1, 8, False, "token mean", 2) == pytest.approx(
        sampled.mean(), abs=4 * sampled.std() / 400_000**0.5
    )


@pytest.mark.parametrize(
    "divisor, right, wrong, tolerance",
    [("1/|o|", 1.05, 53.9, (0.02, 1.2)), ("token mean", 8.6, 10.8, (1.0, 1.4)), ("constant", 9.4, 9.8, (1.0, 1.2))],
)
def test_only_the_length_in_the_divisor_parts_right_from_wrong(divisor, right, wrong, tolerance):
    # 16 seeds on another implementation, with their standard deviations
    *_, run = length_bias.train(
        0.3, 0.1, 8, True, divisor, False, 16, 149, 16, np.random.default_rng(0), 149, sgd(divisor)
    )
    assert run.right[:, 0] == pytest.approx(length_bias.expected_length(0.1))
    assert run.right[:, -1].mean() == pytest.approx(right, abs=tolerance[0])
    assert run.wrong[:, -1].mean() == pytest.approx(wrong, abs=tolerance[1])
    assert run.pass_rate == pytest.approx(0.3)


def test_an_answer_that_learns_does_not_stop_the_drift():
    *_, run = length_bias.train(0.3, 0.1, 8, True, "1/|o|", True, 16, 60, 8, np.random.default_rng(0), 60, sgd("1/|o|"))
    assert run.pass_rate[:, -1].mean() > 0.5 and (run.wrong[:, -1] > 2 * run.right[:, -1]).all()


def test_under_adamw_the_length_parts_them_as_well_and_the_constant_does_not():
    def wrong(divisor, rate):
        optimizer = AdamW(rate, clip=None)
        *_, run = length_bias.train(
            0.3, 0.1, 8, True, divisor, False, 16, 150, 16, np.random.default_rng(0), 150, optimizer
        )
        return run.wrong[:, -1].mean()

    # a reader's own loop: 10 to 28 tokens at 0.01 and to 52 at 0.03; the constant stays at 10, and at 10 to 12
    assert [wrong("1/|o|", rate) for rate in (0.01, 0.03)] == pytest.approx([28, 52], abs=1.5)
    assert [wrong("constant", rate) for rate in (0.01, 0.03)] == pytest.approx([10, 11], abs=1.2)
