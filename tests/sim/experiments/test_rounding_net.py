import numpy as np
import pytest

from sim.experiments import rounding_net
from sim.experiments.rounding_net import DEPTHS, MODES


@pytest.mark.parametrize(
    "mode, mean, spread",  # the specification's, four seeds of 512 tokens, 8 layers, in its own code
    [
        ("fp16", 0.00224, 0.00291),
        ("bf16", 0.01786, 0.02295),
        ("bf16, fp32 head", 0.01554, 0.02045),
        ("fp8", 0.1321, 0.1733),
    ],
)
def test_the_gap_of_eight_layers(mode, mean, spread):
    gap = rounding_net.gaps()[mode, 8]
    assert np.abs(gap).mean() == pytest.approx(mean, rel=0.15) and gap.std() == pytest.approx(spread, rel=0.15)


def test_what_is_shipped_is_what_the_module_computes():
    for mode in ("bf16", "fp8"):
        made = rounding_net.pooled(mode, 2)
        shipped = rounding_net.gaps()[mode, 2]
        # kept in 16 bits; a processor that rounds a tie the other way moves a token or two
        assert (np.abs(made - shipped) < 1e-3 * (1 + np.abs(made))).mean() > 0.99


@pytest.mark.parametrize("layers", DEPTHS)
def test_fewer_bits_are_farther_at_every_depth(layers):
    spread = [rounding_net.gaps()[mode, layers].std() for mode in MODES]
    assert sorted(spread) == spread


@pytest.mark.parametrize("mode", MODES)
def test_more_layers_are_farther(mode):
    spread = [rounding_net.gaps()[mode, layers].std() for layers in DEPTHS]
    assert sorted(spread) == spread


@pytest.mark.parametrize("mode", MODES)
def test_the_mean_ratio_is_one_and_the_mean_log_ratio_below_zero_by_half_the_variance(mode):
    gap = rounding_net.gaps()[mode, 8]
    error = 4 * gap.std() / np.sqrt(len(gap))  # of a mean
    assert np.exp(gap).mean() == pytest.approx(1, abs=error)
    assert gap.mean() == pytest.approx(-gap.var() / 2, abs=error)


def test_nothing_rounded_has_no_gap():
    blocks, head, rng = rounding_net.network(0, 2)
    x = rng.normal(size=(4, rounding_net.WIDTH))
    logits = rounding_net.logits(blocks, head, x)
    h = x
    for A, B in blocks:
        n = h / np.sqrt((h**2).mean(1, keepdims=True) + 1e-6)
        z = n @ A
        h = h + (z / (1 + np.exp(-1.702 * z))) @ B
    np.testing.assert_allclose(logits, (h / np.sqrt((h**2).mean(1, keepdims=True) + 1e-6)) @ head)


def test_the_effective_share_of_a_normal_gap():
    # E[e^d]² / E[e^2d] = e^(−σ²) for a normal d
    gap = np.random.default_rng(0).normal(-0.0002, 0.02, 400_000)
    assert rounding_net.effective_share(gap, 1000) == pytest.approx(np.exp(-0.4), rel=0.01)
    assert rounding_net.half_life(gap) == pytest.approx(np.log(2) / 0.0004, rel=0.01)


def test_a_token_s_ratio_leaves_what_came_before_it():
    gap = np.random.default_rng(0).normal(-0.0002, 0.02, 400_000)
    each, nothing = rounding_net.WEIGHINGS[1:]
    assert rounding_net.effective_share(gap, 4096, each) == pytest.approx(np.exp(-0.0004), abs=1e-4)
    assert rounding_net.effective_share(gap, 4096, nothing) == 1
    assert rounding_net.uncorrected(gap, 4096, each) == pytest.approx(4096 * 0.0002, rel=0.01)
    assert rounding_net.uncorrected(gap, 4096) == 0


def test_drift_sums_tokens():
    sums = rounding_net.drift(np.array([0.5]), [1, 4], 2, np.random.default_rng(0))
    np.testing.assert_array_equal(sums, [[0.5, 2.0]] * 2)
