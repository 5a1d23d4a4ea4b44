import numpy as np
import pytest

from sim.estimators import precision
from sim.framework.rollout import RolloutEngine
from sim.worlds import tasks

FORMS = ("bf16", "e4m3", "e5m2")


@pytest.mark.parametrize(
    "form, expected",
    [  # torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2
        ("bf16", [0.10009765625, 3.140625, -2.71875]),
        ("e4m3", [0.1015625, 3.25, -2.75]),
        ("e5m2", [0.09375, 3.0, -2.5]),
    ],
)
def test_the_nearest_number_of_a_format(form, expected):
    np.testing.assert_array_equal(precision.cast(np.array([0.1, np.pi, -2.7182818]), form), expected)


def test_ties_go_to_the_even_neighbor_and_zero_stays():
    np.testing.assert_array_equal(
        precision.cast(np.array([1.125, 1.375, 0.0, -1.125]), "e5m2"), [1.0, 1.5, 0.0, -1.0]
    )  # IEEE 754


def test_a_cast_number_is_its_own_cast_and_fp32_is_left_alone():
    x = np.random.default_rng(0).normal(size=1000)
    for form in FORMS:
        np.testing.assert_array_equal(precision.cast(precision.cast(x, form), form), precision.cast(x, form))
        assert (
            np.abs(precision.cast(x, form) / x - 1) <= 2.0 ** -(precision.MANTISSA_BITS[form] + 1)
        ).all()  # half a unit of the last place
    assert precision.cast(x, "fp32") is x


def test_fewer_bits_move_log_probs_farther():
    policy = tasks.checkpoint("add")
    before = {name: array.copy() for name, array in policy.params.items()}
    batch, _ = RolloutEngine(policy).generate(tasks.Add(), tasks.PAIRS, 8, np.random.default_rng(0))
    means, largest = zip(*(precision.mismatch(policy, batch, form) for form in FORMS))
    assert (
        list(means) == sorted(means) and list(largest) == sorted(largest) and all(a < b for a, b in zip(means, largest))
    )
    np.testing.assert_allclose(means, [0.0018, 0.027, 0.073], rtol=0.35)  # an independent prototype of the same net
    for name, array in before.items():
        np.testing.assert_array_equal(policy.params[name], array)


@pytest.mark.parametrize(
    "form, given, expected",
    [  # ml_dtypes: bfloat16, float8_e4m3fn (saturated), numpy's float16
        ("bf16", [3.14159265, -0.3, 100.7, 1.01171875, 20.05], [3.140625, -0.30078125, 100.5, 1.015625, 20.0]),
        ("e4m3", [0.1, 100.7, -11.9, 17, 19, 255, 0.0005, 500], [0.1015625, 104, -12, 16, 20, 256, 0, 448]),
        ("fp16", [20.05, 1e6, 6e-8], [20.046875, 65504, 5.960464477539063e-08]),
    ],
)
def test_the_nearest_number_within_the_range_of_a_format(form, given, expected):
    np.testing.assert_array_equal(precision.rounded(np.array(given, float), form), expected)


def test_fp16_is_numpy_s():
    x = np.random.default_rng(0).normal(size=10_000) * 10.0 ** np.random.default_rng(1).uniform(-8, 4, 10_000)
    np.testing.assert_array_equal(precision.rounded(x, "fp16"), x.astype(np.float16).astype(float))


def test_one_scale_uses_the_whole_range():
    x = np.array([0.001, -0.002, 0.0015])
    assert precision.scaled_e4m3(x)[1] == pytest.approx(-0.002)
    np.testing.assert_array_equal(precision.scaled_e4m3(np.zeros(3)), np.zeros(3))


def test_the_steps_of_a_format():
    assert precision.step_at(20.0, "bf16") == 0.125 and precision.step_at(20.0, "fp16") == 2**-6
    assert precision.step_at(0.001, "e4m3") == 2**-9
