"""What one iteration of an inference engine costs, and where the roles of a step lie under the accelerator's roof.

Closed form: the roofline of Williams, Waterman and Patterson (2009), peak times an assumed efficiency. It does not
simulate kernels: calibrate it with one measured iteration of your engine before you trust a second digit. Left out:
that a chunk of a prompt reads the part before it again, and the exchanges of decode context parallelism.
"""

from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

import numpy as np

from sim.cluster import memory
from sim.cluster.collectives import all_reduce
from sim.cluster.hardware import Accelerator, ridge
from sim.cluster.memory import Engine
from sim.cluster.models import Model, Numbers

# assumed: fraction of peak FLOP/s in training and log-prob passes, including padding and communication
MFU = 0.40
MICRO_BATCH = 8192  # assumed: tokens that one GPU processes at a time in training and log-prob passes


class Efficiency(NamedTuple):
    """What an engine achieves on its chip: fractions of peak bandwidth and FLOP/s, seconds for launching an iteration,
    and its host's seconds for each decoding sequence: to schedule, to sample, to turn tokens into text.
    """

    bandwidth: float = 0.75
    flops: float = 0.6
    overhead_seconds: float = 1.5e-3
    sequence_seconds: float = 0.0


ASSUMED = Efficiency()  # assumed, until one iteration is timed
PEAK = Efficiency(1.0, 1.0, 0.0)
# Full engines of vLLM in 2026, published: 511 sequences of Llama-3.1-8B on an H100 take 30.6 ms longer than the chip
# alone, 1,023 of Qwen3-30B-A3B on a B200 66.9 ms, that is 60 and 65 µs a sequence
SEQUENCE_SECONDS = 60e-6
ENGINE = Efficiency(sequence_seconds=SEQUENCE_SECONDS)  # assumed of an engine with its scheduler


class Iteration(NamedTuple):
    """Seconds of one iteration by purpose; numbers or arrays."""

    memory: float | np.ndarray
    compute: float | np.ndarray
    exchange: float | np.ndarray
    overhead: float | np.ndarray

    @property
    def seconds(self) -> Numbers:
        # assumed: reading overlaps arithmetic; launching, sampling and the exchange overlap nothing
        return np.maximum(self.memory, self.compute) + self.overhead + self.exchange

    @property
    def bound(self) -> str:
        return "memory" if self.memory >= self.compute else "compute"


def iteration(
    model: Model,
    accelerator: Accelerator,
    decode_tokens: Numbers,
    kv_tokens: Numbers,
    prefill_tokens: Numbers = 0,
    prefill_context: Numbers = 0,
    tensor_parallel: int = 1,
    context_parallel: int = 1,
    weight_bytes: float | None = 2,
    kv_bytes: float = 2,
    efficiency: Efficiency = ASSUMED,
    queries: int = 1,
) -> Iteration:
    """An Iteration that decodes `decode_tokens` sequences over `kv_tokens` cached tokens in all, and prefills
    `prefill_tokens`, each attending to `prefill_context` before it.

    A cached token counts once for each sequence that reads it. `queries` tokens of each sequence pass at once; more
    than one if drafts are checked.
    """
    tokens = decode_tokens * queries + prefill_tokens + 0.0  # float64: products overflow the browser's int32
    read = bytes_read(
        model, decode_tokens, kv_tokens, tokens, tensor_parallel, context_parallel, weight_bytes, kv_bytes
    )
    attention = attention_flops(model, decode_tokens, kv_tokens) * queries
    attention = attention + prefill_tokens * model.prefill_flops_per_token(prefill_context + 0.0)
    # attention runs in bf16 whatever the weights' width, as FlashMLA does
    compute = 2.0 * model.matmul_params() * tokens / peak_flops(accelerator, model.multiplied_as(weight_bytes))
    compute = (compute + attention / accelerator.flops()) / (tensor_parallel * efficiency.flops)
    return Iteration(
        memory=read / (accelerator.hbm_bytes_per_second * efficiency.bandwidth),
        compute=compute,
        exchange=2 * model.layers * all_reduce(tensor_parallel, tokens * model.hidden * 2.0, accelerator),
        overhead=efficiency.overhead_seconds + efficiency.sequence_seconds * decode_tokens,
    )


def iteration_seconds(*shape: Any, **engine: Any) -> Numbers:
    """The seconds of `iteration`: the longer of reading and arithmetic, plus what overlaps neither."""
    return iteration(*shape, **engine).seconds


def bytes_read(
    model: Model,
    sequences: Numbers,
    kv_tokens: Numbers,
    tokens: Numbers,
    tensor_parallel: int = 1,
    context_parallel: int = 1,
    weight_bytes: float | None = 2,
    kv_bytes: float = 2,
) -> Numbers:
    """HBM bytes that one GPU reads in an iteration: its shard of the weights once, and its shard of every live
    sequence's cache.
    """
    context = kv_tokens / np.maximum(sequences, 1e-9)  # per sequence, because what a window cuts off depends on it
    cache = sequences * model.bytes_read(context, kv_bytes, tensor_parallel, context_parallel)
    return model.weight_bytes_read(tokens, weight_bytes) / tensor_parallel + cache


def attention_flops(model: Model, sequences: Numbers, kv_tokens: Numbers) -> Numbers:
    """Scores and weighted sums for one decoded token in each of `sequences`."""
    return sequences * model.attention_flops_per_token(kv_tokens / np.maximum(sequences, 1e-9))


def decode_flops(model: Model, sequences: Numbers, kv_tokens: Numbers) -> Numbers:
    """2P′ for each of `sequences`, and the attention of their newest tokens."""
    return 2.0 * model.matmul_params() * sequences + attention_flops(model, sequences, kv_tokens)


def decode_intensity(
    model: Model, sequences: Numbers, kv_tokens: Numbers, tensor_parallel: int = 1, **engine: Any
) -> Numbers:
    """FLOP per byte that a GPU reads in a decoding iteration; numbers or arrays."""
    read = bytes_read(model, sequences, kv_tokens, sequences, tensor_parallel, **engine)
    return decode_flops(model, sequences, kv_tokens) / tensor_parallel / read


def peak_flops(accelerator: Accelerator, weight_bytes: float = 2) -> float:
    """Dense FLOP/s for weights of this width. A chip without such arithmetic can still store the weights and multiplies
    them in bf16.
    """
    narrow = "fp8" if weight_bytes == 1 else "fp4" if weight_bytes < 1 else "bf16"
    has = dict(bf16=True, fp8=accelerator.fp8_tflops, fp4=accelerator.fp4_tflops)[narrow]
    return accelerator.flops(narrow if has else "bf16")


# Where reading ends and arithmetic begins


def effective_ridge(accelerator: Accelerator, efficiency: Efficiency = ASSUMED, weight_bytes: float = 2) -> float:
    """FLOP per byte at which an engine with this efficiency changes from waiting for memory to waiting for
    arithmetic.
    """
    reached = peak_flops(accelerator, weight_bytes) * efficiency.flops
    return reached / (accelerator.hbm_bytes_per_second * efficiency.bandwidth)


def crossover(
    model: Model,
    accelerator: Accelerator,
    tensor_parallel: int = 1,
    context_parallel: int = 1,
    weight_bytes: float = 2,
    kv_bytes: float = 2,
    efficiency: Efficiency = ASSUMED,
) -> float:
    """S*, the context beyond which no batch is compute-bound: there, one more sequence adds as many seconds of reading
    as of arithmetic. Infinite if attention alone keeps the chip busy, 0 if reading a state takes longer than
    multiplying the weights.

    (2P′ / F_w η_F) / (KV bytes · TP / (shards W η_W) − attention FLOP / (F η_F)), each per token, if no layer has a
    window.
    """

    def spare(
        context: float,
    ) -> float:  # seconds of arithmetic minus seconds of reading that one more sequence adds, times TP
        weights = 2.0 * model.matmul_params() / peak_flops(accelerator, weight_bytes)
        multiply = weights + model.attention_flops_per_token(context) / accelerator.flops()
        read = model.bytes_read(context, kv_bytes, tensor_parallel, context_parallel) * tensor_parallel
        return float(multiply / efficiency.flops - read / (accelerator.hbm_bytes_per_second * efficiency.bandwidth))

    if spare(0.0) <= 0:
        return 0.0
    # between the edges of windows, both are linear
    edges = sorted({cache.window or cache.read_limit or 0 for cache in model.caches()} | {0})
    for left, right in pairwise(edges):
        if spare(right) <= 0:
            return left + (right - left) * spare(left) / (spare(left) - spare(right))
    slope = spare(edges[-1] + 1.0) - spare(float(edges[-1]))
    return edges[-1] - spare(float(edges[-1])) / slope if slope < 0 else inf


def reachable_context(
    model: Model, accelerator: Accelerator, engine: Engine = memory.ONE_GPU, efficiency: Efficiency = ASSUMED
) -> float:
    """The longest context at which the largest batch that fits the pool is compute-bound; 0 if there is none."""

    def bound_by_arithmetic(context: float) -> bool:
        sequences = memory.sequences(model, accelerator, context, engine)
        one = iteration(model, accelerator, sequences, sequences * context, efficiency=efficiency, **engine.split)
        return sequences >= 1 and bool(one.compute >= one.memory)

    low, high = 0.0, float(2**20)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if bound_by_arithmetic(middle) else (low, middle)
    return low


def calibrated(
    model: Model,
    accelerator: Accelerator,
    sequences: float,
    context: float,
    seconds: float,
    efficiency: Efficiency = ASSUMED,
    **engine: Any,
) -> Efficiency:
    """The efficiency at which one decode iteration takes the measured `seconds`; whichever takes longer, reading or
    arithmetic, is scaled. Above 1, the measurement is faster than the chip.
    """
    one = iteration(model, accelerator, sequences, sequences * context, efficiency=efficiency, **engine)
    left = seconds - one.overhead - one.exchange
    if one.bound == "memory":
        return efficiency._replace(bandwidth=float(efficiency.bandwidth * one.memory / left) if left > 0 else inf)
    return efficiency._replace(flops=float(efficiency.flops * one.compute / left) if left > 0 else inf)


# The roles of a step


class Point(NamedTuple):
    role: str
    flop_per_byte: float
    flops_per_second: float  # of one GPU


def role_points(
    model: Model,
    accelerator: Accelerator,
    decode_tokens: Numbers,
    context: float,
    tokens: Numbers,
    tensor_parallel: int = 1,
    efficiency: Efficiency = ASSUMED,
    mfu: float = MFU,
) -> list[Point]:
    """Where decode, prefill, log-prob passes and training lie under the roof of one accelerator: [Point].

    Decode uses the bytes, FLOPs and seconds of `iteration`. A pass over `tokens` does 2P′ FLOP per token on 2P′ bytes
    of bf16 weights, and training 6P′ on 3·2P′ (forward, and twice in backward), so for a dense model the intensity is
    the number of tokens.
    """
    kv_tokens = decode_tokens * context
    flop = decode_flops(model, decode_tokens, kv_tokens)
    engine = dict(tensor_parallel=tensor_parallel)
    seconds = iteration_seconds(model, accelerator, decode_tokens, kv_tokens, efficiency=efficiency, **engine)
    flop_per_byte = decode_intensity(model, decode_tokens, kv_tokens, **engine)
    decode = Point("decode", float(flop_per_byte), float(flop / tensor_parallel / seconds))
    intensity = float(model.matmul_params() * tokens / model.read_params(tokens))
    return [
        decode,
        Point("prefill", intensity, roof(accelerator, intensity) * efficiency.flops),
        Point("log_probs", intensity, roof(accelerator, intensity) * mfu),
        Point("train", intensity, roof(accelerator, intensity) * mfu),
    ]


def roof(accelerator: Accelerator, flop_per_byte: float) -> float:
    """The most FLOP/s that work of this intensity can reach in bf16: bandwidth times intensity, up to the peak at the
    ridge.
    """
    return accelerator.flops() * min(1.0, flop_per_byte / ridge(accelerator))


def attained_mfu(model: Model, accelerator: Accelerator, gpus: int, tokens: float, seconds: float) -> float:
    """Model FLOP utilization of a measured one-epoch update: 6P FLOP per token over what the GPUs could have done.
    Above 1, the inputs contradict each other.
    """
    return 6.0 * model.active_params() * tokens / (gpus * accelerator.flops() * seconds)


# What a step computes


def train_flops(model: Model, tokens: float) -> float:
    """6P FLOP per token, by the convention that counts the embedding table but not attention: 2P forward and twice that
    backward.
    """
    return 6.0 * model.active_params() * tokens


def prefill_flops(model: Model, length: float) -> tuple[float, float]:
    """(weights, attention): FLOP to take a prompt of `length` tokens through the model, each token attending to those
    before it.
    """
    return 2.0 * model.matmul_params() * length, float(length * model.prefill_flops_per_token(length / 2))


def update_seconds(model: Model, accelerator: Accelerator, gpus: int, tokens: float, mfu: float = MFU) -> float:
    """Seconds of a one-epoch update over `tokens`."""
    return train_flops(model, tokens) / (gpus * accelerator.flops() * mfu)
