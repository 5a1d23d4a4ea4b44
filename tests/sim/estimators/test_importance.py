import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.estimators import importance
from sim.estimators.importance import CORRECTIONS

PI, MU, REWARD = np.array([0.2, 0.3, 0.5]), np.array([0.5, 0.3, 0.2]), np.array([0.0, 0, 1])


def test_the_effective_sample_size_of_five_weights():
    assert importance.effective_sample_size(np.exp([0, 0.1, -0.2, 0.7, -0.5])) == pytest.approx(
        4.2021625257, abs=1e-9
    )  # closed form


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20))
def test_it_lies_between_one_and_the_number_of_samples(weights):
    assert 1 - 1e-9 <= importance.effective_sample_size(np.array(weights)) <= len(weights) * (1 + 1e-9)


def test_the_ratio_turns_a_mean_over_old_samples_into_one_over_new_ones():
    assert importance.mean_under(MU, MU, REWARD)[0] == pytest.approx(0.2, abs=1e-12)  # uncorrected: the mean under mu
    assert importance.mean_under(PI, MU, REWARD) == pytest.approx(
        (0.5, 1.0), abs=1e-12
    )  # sum pi r, and sum pi^2 r^2 / mu - .25
    assert (PI * REWARD).sum() == 0.5


def test_truncation_buys_variance_with_bias():
    mean, variance = importance.mean_under(PI, MU, REWARD, limit=2.0)
    assert (
        mean == pytest.approx(0.4, abs=1e-12)
        and variance == pytest.approx(0.2 * 4 - 0.16, abs=1e-12)
        and variance < 1.0
    )


def test_the_share_of_a_batch_that_is_left():
    weight = PI / MU
    assert (MU * weight).sum() ** 2 / (MU * weight**2).sum() == pytest.approx(0.6134969325, abs=1e-9)  # 1 / 1.63
    drawn = np.repeat(weight, [500, 300, 200])  # a batch in exactly these shares
    assert importance.effective_sample_size(drawn) / 1000 == pytest.approx(0.6134969325, abs=1e-9)


def test_on_fresh_samples_the_four_are_one():
    logp, advantage = np.array([-1.0, -2, -0.5]), np.array([1.0, -1, 0.3])
    for correction in CORRECTIONS.values():
        np.testing.assert_allclose(correction(logp, logp, advantage)[1], advantage, atol=1e-15)


@pytest.mark.parametrize(
    "ratio, advantage, slopes",
    [  # none, ratio, ratio and clip, truncated ratio: by hand with eps 0.2 and C 2
        (3.0, 1.0, (1, 3, 0, 2)),
        (3.0, -1.0, (-1, -3, -3, -2)),
        (0.1, -1.0, (-1, -0.1, 0, -0.1)),
        (0.1, 1.0, (1, 0.1, 0.1, 0.1)),
    ],
)
def test_what_a_stale_token_is_worth(ratio, advantage, slopes):
    found = [
        correction(np.log([ratio]), np.zeros(1), np.array([advantage]))[1][0] for correction in CORRECTIONS.values()
    ]
    np.testing.assert_allclose(found, slopes, atol=1e-12)


@given(
    st.floats(-2, 2).filter(lambda d: min(abs(d - np.log(1.2)), abs(d - np.log(0.8)), abs(d - np.log(2))) > 1e-3),
    st.sampled_from([-1.0, 0.7]),
)
def test_each_slope_is_the_derivative_of_its_objective(d, advantage):
    h = 1e-6
    for name in ("none", "ratio", "ratio and clip"):  # the truncated ratio is a constant weight by design
        up, down = (CORRECTIONS[name](np.array([d + s]), np.zeros(1), np.array([advantage]))[0][0] for s in (h, -h))
        assert CORRECTIONS[name](np.array([d]), np.zeros(1), np.array([advantage]))[1][0] == pytest.approx(
            (up - down) / (2 * h), abs=1e-5
        )
