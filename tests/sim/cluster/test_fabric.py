import pytest

from sim.cluster import fabric
from sim.cluster.models import MODELS
from sim.framework.weight_sync import transfer_seconds


def test_a_transfer_is_all_weights_over_the_bandwidth():
    # 2 · 7 615 616 512 B / 25 GB/s
    model = MODELS["qwen2.5-7b"]
    assert fabric.weight_sync(model) == pytest.approx(0.609249, abs=1e-6)
    assert fabric.weight_sync(model, 100e9, 1) == transfer_seconds(model.params(), 1, 100)
