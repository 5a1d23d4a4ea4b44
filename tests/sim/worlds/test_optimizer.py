import numpy as np
import pytest

from sim.worlds.optimizer import SGD, AdamW, clipped_by_norm


def test_sgd_goes_down_the_gradient_and_reports_its_norm():
    params = {"w": np.array([1.0, 2.0])}
    assert SGD(0.1).step(params, {"w": np.array([3.0, 4.0])}) == pytest.approx(5.0)
    np.testing.assert_allclose(params["w"], [0.7, 1.6], atol=1e-15)


def test_a_long_gradient_is_scaled_to_the_clip_and_a_short_one_left():
    long, norm = clipped_by_norm({"a": np.array([3.0]), "b": np.array([4.0])}, 1.0)
    assert norm == pytest.approx(5) and long["a"][0] == pytest.approx(0.6) and long["b"][0] == pytest.approx(0.8)
    assert clipped_by_norm({"a": np.array([0.3])}, 1.0)[0]["a"][0] == 0.3


def test_the_first_step_of_adamw_is_the_learning_rate_whatever_the_scale_of_the_gradient():
    for scale in (1e-3, 1.0, 1e3):  # closed form: m-hat / sqrt(v-hat) = g / |g| at the first step
        params = {"w": np.zeros(2)}
        AdamW(0.01, clip=None).step(params, {"w": scale * np.array([1.0, -1.0])})
        np.testing.assert_allclose(params["w"], [-0.01, 0.01], rtol=1e-4)


def test_two_steps_of_adamw_by_hand():
    params, optimizer = {"w": np.array([1.0])}, AdamW(0.1, clip=None, weight_decay=0.5)
    optimizer.step(params, {"w": np.array([2.0])})
    optimizer.step(params, {"w": np.array([-1.0])})
    first = 1.0 * (1 - 0.05) - 0.1  # sign of the first gradient
    mean = (0.9 * 0.1 * 2 + 0.1 * -1) / (1 - 0.9**2)
    square = (0.999 * 0.001 * 4 + 0.001 * 1) / (1 - 0.999**2)
    assert params["w"][0] == pytest.approx(first * (1 - 0.05) - 0.1 * mean / square**0.5, abs=1e-7)


def test_three_steps_of_adamw_as_torch_makes_them():
    params, optimizer = {"w": np.array([1.0])}, AdamW(0.01, clip=None, weight_decay=0.1)
    for gradient, expected in (
        (0.5, 0.9890000002),
        (-0.2, 0.9845549418),
        (0.1, 0.9797764691),
    ):  # torch.optim.AdamW, float64
        optimizer.step(params, {"w": np.array([gradient])})
        assert params["w"][0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("optimizer", [SGD(0.1), AdamW(0.1)])
def test_old_arrays_are_never_written_into(optimizer):
    params = {"w": np.ones(3)}
    kept = dict(params)
    optimizer.step(params, {"w": np.ones(3)})
    assert (kept["w"] == 1).all() and (params["w"] < 1).all()


def test_a_learning_rate_of_zero_is_refused():
    with pytest.raises(ValueError, match="learning_rate must be above 0, not 0"):
        SGD(0)


@pytest.mark.parametrize("made", [lambda: SGD(0.1), lambda: AdamW(0.1)])
def test_an_optimizer_that_was_given_the_state_of_another_goes_on_as_it(made):
    rng = np.random.default_rng(0)
    grads = [{"w": rng.normal(size=3)} for _ in range(4)]
    whole, first, second = made(), made(), made()
    one, other = {"w": np.zeros(3)}, {"w": np.zeros(3)}
    for grad in grads:
        whole.step(one, grad)
    for optimizer, part in ((first, grads[:2]), (second, grads[2:])):
        if optimizer is second:
            second.load_state_dict(first.state_dict())
        for grad in part:
            optimizer.step(other, grad)
    assert (one["w"] == other["w"]).all() and second.state_dict().keys() == whole.state_dict().keys()


def test_a_state_that_was_taken_stays_as_it_was():
    optimizer = AdamW(0.1)
    optimizer.step({"w": np.zeros(1)}, {"w": np.ones(1)})
    state = optimizer.state_dict()
    optimizer.step({"w": np.zeros(1)}, {"w": np.ones(1)})
    assert state["steps"] == 1 and state["first"]["w"] == pytest.approx(0.1)  # (1 - b1) times the gradient
