import numpy as np
import pytest

from sim.algorithms import dapo, dr_grpo, grpo, reinforce
from sim.estimators import aggregation, surrogate
from sim.estimators.aggregation import MODES

# Three completions of 2, 5 and 1 tokens; the values below are torch float64 with verl's compute_policy_loss_vanilla and
# agg_loss, eps 0.2
MASK = np.array([[1.0, 1, 0, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]])
OLD = np.array([[-0.5, -1, 0, 0, 0], [-0.7, -0.1, -2, -0.3, -0.4], [-1.2, 0, 0, 0, 0]])
MOVED = np.array([[0.1, 0.3, 0, 0, 0], [-0.3, 0, 0.2, -0.05, 0.5], [-0.25, 0, 0, 0, 0]])
ADVANTAGE = np.array([[1.0], [-0.5], [-0.5]]) * MASK


def losses(moved=MOVED):
    objective, slope = surrogate.clipped(OLD + moved, OLD, ADVANTAGE, 0.2, 0.2)
    return -objective, -slope


def test_the_loss_of_every_token():
    np.testing.assert_allclose(
        losses()[0][MASK > 0], [-1.1051709181, -1.2, 0.4, 0.5, 0.6107013791, 0.4756147123, 0.8243606354, 0.4], atol=1e-9
    )


def test_three_of_eight_tokens_get_no_push():
    expected = [-1.1051709181, 0, 0, 0.5, 0.6107013791, 0.4756147123, 0.8243606354, 0]
    np.testing.assert_allclose(losses()[1][MASK > 0], expected, atol=1e-9)


@pytest.mark.parametrize(
    "mode, loss, on_policy",
    [
        ("token-mean", 0.1131882261, 0.125),
        ("seq-mean-token-sum", 0.3018352695, 0.3333333333),
        ("seq-mean-token-mean", -0.0634833712, 0.0),
        ("seq-mean-token-sum-norm", 0.0603670539, 0.0666666667),
    ],
)
def test_one_batch_has_four_losses(mode, loss, on_policy):
    weight = MODES[mode](MASK)
    assert (weight * losses()[0]).sum() == pytest.approx(loss, abs=1e-9)
    assert (weight * losses(moved=0 * MOVED)[0]).sum() == pytest.approx(on_policy, abs=1e-9)


def test_the_long_completion_has_five_eighths_of_the_token_mean_and_a_third_of_the_mean_of_means():
    share = {name: mode(MASK)[1].sum() / mode(MASK).sum() for name, mode in MODES.items()}
    assert (
        share["token-mean"]
        == share["seq-mean-token-sum"]
        == share["seq-mean-token-sum-norm"]
        == pytest.approx(5 / 8, abs=1e-12)
    )
    assert share["seq-mean-token-mean"] == pytest.approx(1 / 3, abs=1e-12)


def test_the_means_weigh_one_in_all():
    assert (
        aggregation.token_mean(MASK).sum() == pytest.approx(1, abs=1e-12) == aggregation.seq_mean_token_mean(MASK).sum()
    )


@pytest.mark.parametrize(
    "file, mode",
    [
        (grpo, "seq-mean-token-mean"),
        (dapo, "token-mean"),
        (dr_grpo, "seq-mean-token-sum-norm"),
        (reinforce, "seq-mean-token-sum"),
    ],
)
def test_every_algorithm_file_is_one_of_the_four(file, mode):
    np.testing.assert_allclose(file.weights(MASK, file.HP, None), MODES[mode](MASK), atol=1e-15)


def test_the_local_means_of_the_first_and_of_the_other_two_have_the_wrong_sign():
    by_hand = (losses()[0][:1].sum() / 2 + losses()[0][1:].sum() / 6) / 2
    assert by_hand == pytest.approx(-0.3087363356, abs=1e-9)  # torch float64; the mean over all tokens is +0.113
