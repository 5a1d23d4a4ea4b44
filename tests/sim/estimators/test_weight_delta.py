"""How many bf16 weights a step changes."""

import numpy as np
import pytest

from sim.estimators import weight_delta


def bf16(x):
    """The upper half of a float32, rounded to even: as hardware does it."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16


@pytest.mark.parametrize("rate, share, within", [(1e-7, 0.0059, 0.0003), (1e-6, 0.0424, 0.001), (1e-5, 0.25, 0.005)])
def test_a_small_step_changes_few_of_the_weights(rate, share, within):
    assert weight_delta.changed_share(rate, 0.02) == pytest.approx(share, abs=within)


@pytest.mark.parametrize("rate", [1e-6, 1e-5])
def test_it_is_the_share_whose_bits_change(rate):
    rng = np.random.default_rng(0)
    weights = rng.normal(0, 0.02, 400_000).astype(np.float32)  # the trainer's
    moved = weights + rate * rng.choice([-1, 1], weights.shape).astype(np.float32)
    share = (bf16(moved) != bf16(weights)).mean()
    assert weight_delta.changed_share(rate, 0.02) == pytest.approx(share, rel=0.03)
    assert weight_delta.changed(weights.astype(float), rate, rng).mean() == pytest.approx(share, rel=0.03)


def test_a_step_as_wide_as_the_gap_changes_every_weight():
    assert weight_delta.gap(np.array([1.0, 1.5, -0.02])).tolist() == [2**-7, 2**-7, 2**-13]  # 0.02 lies in [2^-6, 2^-5)
    assert weight_delta.changed_share(1.0, 0.02) == 1
