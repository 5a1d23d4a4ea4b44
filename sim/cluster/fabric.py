"""What moves between pools of GPUs, in seconds.

Closed form: bytes over bandwidth, as in lesson 6; gathering, casting and loading are part of the assumed bandwidth. The
two ends of a reshard follow from four syncs that verl published for its fully asynchronous trainer (2026).
"""

from sim.cluster.models import Model

SYNC_BYTES_PER_SECOND = 25e9  # assumed: one weight transfer, casts and barriers included


def weight_sync(model: Model, bytes_per_second: float = SYNC_BYTES_PER_SECOND, weight_bytes: float | None = 2) -> float:
    """Seconds to send all weights to the engines at the engines' width, including embeddings and experts that no token
    visited.
    """
    return model.stored_bytes(weight_bytes) / bytes_per_second


RESHARD_FAST, RESHARD_SLOW = (23e9, 0.1e-3), (12.6e9, 0.6e-3)  # bytes per second, seconds per tensor


def tensors(model: Model) -> int:
    """Approximate number of weight tensors in a checkpoint: nine per layer and three per expert."""
    experts = 3 * model.moe.experts * model.moe_layers if model.moe else 0
    return 9 * model.layers + experts


def reshard_seconds(model: Model, way: tuple[float, float]) -> float:
    """Seconds to take bf16 weights from the trainer's layout to the engines': bytes over bandwidth, plus a cost per
    tensor. `way` is RESHARD_FAST or RESHARD_SLOW.
    """
    bytes_per_second, each = way
    return 2 * model.params() / bytes_per_second + each * tensors(model)
