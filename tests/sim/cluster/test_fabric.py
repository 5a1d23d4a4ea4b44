import pytest

from sim.cluster import fabric
from sim.cluster.models import MODELS
from sim.framework.weight_sync import transfer_seconds


def test_a_transfer_is_all_weights_over_the_bandwidth():
    # 2 · 7 615 616 512 B / 25 GB/s
    model = MODELS["qwen2.5-7b"]
    assert fabric.weight_sync(model) == pytest.approx(0.609249, abs=1e-6)
    assert fabric.weight_sync(model, 100e9, 1) == transfer_seconds(model.params(), 1, 100)


# verl, docs/advance/fully_async.md of 2026: parameter sync of four jobs, seconds
@pytest.mark.parametrize(
    "key, way, published",
    [
        ("qwen3-30b-a3b", fabric.RESHARD_SLOW, 15.76),
        ("qwen3-30b-a3b", fabric.RESHARD_FAST, 4.38),
        ("qwen3-235b-a22b", fabric.RESHARD_SLOW, 58.57),
        ("qwen3-235b-a22b", fabric.RESHARD_FAST, 23.70),
    ],
)
def test_a_reshard_takes_about_what_was_published(key, way, published):
    assert fabric.reshard_seconds(MODELS[key], way) == pytest.approx(published, rel=0.04)


def test_each_expert_is_three_tensors():
    assert fabric.tensors(MODELS["qwen3-30b-a3b"]) == 9 * 48 + 3 * 128 * 48
    assert fabric.tensors(MODELS["qwen3-8b"]) == 9 * 36
