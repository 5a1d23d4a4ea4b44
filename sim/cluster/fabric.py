"""What moves between pools of GPUs, in seconds.

Closed form: bytes over bandwidth, as in lesson 6; gathering, casting and loading are part of the assumed bandwidth. The
sources of the three ways of TRANSFERS (2025 and 2026) stand beside them.
"""

from typing import NamedTuple

from sim.cluster.models import Model

SYNC_BYTES_PER_SECOND = 25e9  # assumed: one weight transfer, casts and barriers included


def weight_sync(model: Model, bytes_per_second: float = SYNC_BYTES_PER_SECOND, weight_bytes: float | None = 2) -> float:
    """Seconds to send all weights to the engines at the engines' width, including embeddings and experts that no token
    visited.
    """
    return model.stored_bytes(weight_bytes) / bytes_per_second


def tensors(model: Model) -> int:
    """Approximate number of weight tensors in a checkpoint: nine per layer and three per expert."""
    experts = 3 * model.moe.experts * model.moe_layers if model.moe else 0
    return 9 * model.layers + experts


class Transfer(NamedTuple):
    """A way for weights to get from a trainer to its engines."""

    bytes_per_second: float  # of one delivery to all engines, or into each GPU of an engine
    fixed_seconds: float
    tensor_seconds: float  # for each tensor
    into_each: bool = False  # every GPU of an engine receives its own part at this rate, whatever the engine's size


# 46 GB/s was fitted on the steps of NeMo RL 0.4 and 0.5 (rlpt/planning/validation.py). A transfer that is no part of
# them confirms it: before its broadcasts overlapped (pull request 1379), NeMo RL took 13 s for Qwen3-235B-A22B and 34 s
# for DeepSeek-V3; these constants say 13.9 and 33.7. Kimi K2 in fp8 contradicts it: Miles took 53 s, and they say 29
BROADCAST = Transfer(46e9, 0.0, 0.1e-3)
# chosen on the README of checkpoint-engine (2026): 3.5 to 16 s for four models on 8 to 256 GPUs, 57 to 76 GB/s
STAGED = Transfer(65e9, 0.5, 0.0)
# Half the rate of a 400 Gb/s card and a second to begin with, chosen on what is published: for DeepSeek-V3 into engines
# of 32 GPUs 2.4 to 2.8 s (NeMo RL), for Kimi K2 into 128 GPUs 1.3 s (Perplexity), for Qwen3-235B-A22B into engines of
# eight 3.2 s (Miles)
DIRECT = Transfer(25e9, 1.0, 0.0, into_each=True)
TRANSFERS = {"broadcast": BROADCAST, "checkpoint-engine": STAGED, "RDMA": DIRECT}


def transfer_seconds(model: Model, way: Transfer, weight_bytes: float | None = 2, engine_gpus: int = 8) -> float:
    """Seconds to send all weights at the engines' width, which the trainer casts to before it sends."""
    return sent_seconds(model.stored_bytes(weight_bytes), tensors(model), way, engine_gpus)


def sent_seconds(size: float, pieces: int, way: Transfer, engine_gpus: int) -> float:
    """The same for `size` bytes in so many tensors."""
    size /= engine_gpus if way.into_each else 1
    return way.fixed_seconds + size / way.bytes_per_second + way.tensor_seconds * pieces
