import pytest

from sim.cluster import fabric
from sim.cluster.fabric import BROADCAST, DIRECT, STAGED
from sim.cluster.models import MODELS
from sim.framework.weight_sync import transfer_seconds


def test_a_transfer_is_all_weights_over_the_bandwidth():
    # 2 · 7 615 616 512 B / 25 GB/s
    model = MODELS["qwen2.5-7b"]
    assert fabric.weight_sync(model) == pytest.approx(0.609249, abs=1e-6)
    assert fabric.weight_sync(model, 100e9, 1) == transfer_seconds(model.params(), 1, 100)


# NeMo RL, pull request 1379 (2025): seconds before broadcasts overlapped
@pytest.mark.parametrize("key, published", [("qwen3-235b-a22b", 13.0), ("deepseek-v3", 34.0)])
def test_a_broadcast_takes_what_was_published_of_transfers_that_no_constant_was_fitted_on(key, published):
    assert fabric.transfer_seconds(MODELS[key], BROADCAST) == pytest.approx(published, rel=0.08)


def test_a_broadcast_of_kimi_k2_is_predicted_too_fast():
    # LMSYS and Miles, April 2026: 53 s in fp8, whose scales and casts this rate does not know
    assert 1.7 < 53 / fabric.transfer_seconds(MODELS["kimi-k2"], BROADCAST, None) < 1.9


# checkpoint-engine, README of June 2026, "Broadcast": weights in bf16, and of the last two in fp8
@pytest.mark.parametrize(
    "key, width, published",
    [("glm-4.5-air", 2, 3.47), ("qwen3-235b-a22b", 2, 6.22), ("deepseek-v3", None, 11.33), ("kimi-k2", None, 16.04)],
)
def test_weights_staged_on_the_host_take_what_checkpoint_engine_reports(key, width, published):
    assert fabric.transfer_seconds(MODELS[key], STAGED, width) == pytest.approx(published, rel=0.25)


# NeMo RL, nccl-reshard-refit.md: DeepSeek-V3 into engines of 32; Perplexity, 2025: Kimi K2 in fp8 into 128 GPUs;
# LMSYS and Miles, April 2026: Qwen3-235B-A22B and GLM-4.5-Air into engines of eight
@pytest.mark.parametrize(
    "key, width, engine, published",
    [
        ("deepseek-v3", 2, 32, 2.83),
        ("kimi-k2", None, 128, 1.3),
        ("qwen3-235b-a22b", 2, 8, 3.16),
        ("glm-4.5-air", 2, 8, 2.64),
    ],
)
def test_weights_written_straight_into_the_engines_take_about_what_was_published(key, width, engine, published):
    assert fabric.transfer_seconds(MODELS[key], DIRECT, width, engine) == pytest.approx(published, rel=0.25)


def test_half_as_many_bytes_on_the_wire_take_half_as_long_but_for_what_each_tensor_costs():
    model = MODELS["deepseek-v3"]
    wide, narrow = (fabric.transfer_seconds(model, BROADCAST, width) for width in (2, 1))
    each = BROADCAST.tensor_seconds * fabric.tensors(model)
    assert narrow - each == pytest.approx((wide - each) / 2)


def test_each_expert_is_three_tensors():
    assert fabric.tensors(MODELS["qwen3-30b-a3b"]) == 9 * 48 + 3 * 128 * 48
    assert fabric.tensors(MODELS["qwen3-8b"]) == 9 * 36
