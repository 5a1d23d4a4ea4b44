"""What one iteration of an inference engine costs, and where the roles of a step stand under the accelerator's roof.

Closed form: the roofline of Williams, Waterman and Patterson (2009), peak times an assumed efficiency. Not a simulation
of kernels: calibrate `bandwidth_efficiency`, `flop_efficiency` and `overhead_seconds` with one measured iteration of
your engine before you trust a second digit.
"""

from typing import NamedTuple

import numpy as np

from sim.cluster.hardware import ridge

# assumed: share of peak FLOP/s in training and in log-prob passes, of padded batches and communication included
MFU = 0.40
MICRO_BATCH = 8192  # assumed: tokens that one GPU takes through the model at a time in training and log-prob passes
FLOP_EFFICIENCY = 0.6  # assumed: share of peak FLOP/s in an engine's iteration
ALPHA = 3e-6  # assumed: seconds to start one message of a collective inside the scale-up domain


def iteration_seconds(
    model,
    accelerator,
    decode_tokens,
    kv_tokens,
    prefill_tokens=0,
    tensor_parallel=1,
    weight_bytes=2,
    kv_bytes=2,
    bandwidth_efficiency=0.75,
    flop_efficiency=FLOP_EFFICIENCY,
    overhead_seconds=1.5e-3,
    attention_flops=0.0,
):
    """Seconds of one iteration that decodes `decode_tokens`, one a sequence, over `kv_tokens` cached ones and prefills
    `prefill_tokens`; numbers or arrays. max(bytes / bandwidth, FLOP / peak) + overhead_seconds.

    Attention's own FLOPs are left out unless given as tokens * model.attention_flops_per_token(context).
    With grouped heads they are 4 to 16 FLOP a byte of cache: nothing in decode above a ridge of 200,
    up to a tenth on an H20. They count in a long prefill, and with latent attention (242 FLOP a byte
    in DeepSeek-V3, 121 in Kimi K2, divided by tensor_parallel) in large batches on one GPU with a low ridge.
    """
    tokens = decode_tokens + prefill_tokens + 0.0  # float64: products of counts overflow the browser's int32
    read = bytes_read(model, tokens, kv_tokens, tensor_parallel, weight_bytes, kv_bytes)
    flop = 2.0 * model.active_params() * tokens + attention_flops
    memory = read / (accelerator.hbm_bytes_per_second * bandwidth_efficiency)  # assumed: bandwidth_efficiency of peak
    compute = flop / (tensor_parallel * peak_flops(accelerator, weight_bytes) * flop_efficiency)  # assumed, too
    link = ring_bytes_per_second(accelerator, tensor_parallel)
    exchange = 2 * model.layers * ring_all_reduce(tensor_parallel, tokens * model.hidden * 2.0, link)
    # assumed: reading overlaps arithmetic; launch and sampling (overhead_seconds) and the exchange overlap nothing
    return np.maximum(memory, compute) + overhead_seconds + exchange


def bytes_read(model, tokens, kv_tokens, tensor_parallel=1, weight_bytes=2, kv_bytes=2):
    """HBM bytes that one GPU reads in an iteration: its shard of the weights once, and its shard of every live
    sequence's keys and values.
    """
    weights = weights_read(model, tokens) * weight_bytes / tensor_parallel
    return weights + kv_tokens * float(model.kv_bytes_per_token(kv_bytes)) / model.kv_shards(tensor_parallel)


def weights_read(model, tokens):
    """Parameters that so many tokens touch: all of a dense model; of a mixture of experts the shared part and the
    experts that someone was routed to.

    E(1 − (1 − k/E)^n) distinct experts a layer.
    """
    if not model.moe:
        return float(model.params())
    moe = model.moe
    routed = float(model.moe_layers * moe.experts * model.expert_params())
    # assumed: routing is uniform; skew touches fewer
    return model.params() - routed * (1 - moe.top_k / moe.experts) ** tokens


def peak_flops(accelerator, weight_bytes=2):
    """Dense FLOP/s for weights of this width. A chip without fp8 arithmetic can still store fp8 weights: it multiplies
    them in bf16.
    """
    return accelerator.flops("fp8" if weight_bytes == 1 and accelerator.fp8_tflops else "bf16")


def ring_all_reduce(n, size, bytes_per_second, alpha=ALPHA):
    """Seconds to sum `size` bytes over n ranks in a ring, 2(n − 1)(α + size / (n B)): every rank sends 2(n − 1)/n of
    the buffer.
    """
    return 2 * (n - 1) * (alpha + size / (n * bytes_per_second))


def ring_bytes_per_second(accelerator, n):
    """What a ring of n ranks can send in one direction: all links to the peers in the ring, or the NIC if the ring
    leaves the scale-up domain.
    """
    if n > accelerator.scaleup_domain:
        return 1e9 * accelerator.nic_gb_per_second
    return 1e9 * min(accelerator.scaleup_gb_per_second, accelerator.peer_gb_per_second * max(n - 1, 1))


class Point(NamedTuple):
    role: str
    flop_per_byte: float
    flops_per_second: float


def role_points(model, accelerator, decode_tokens, context, tokens):
    """Where decode, prefill, log-prob passes and training stand under the roof of one accelerator: [Point].

    Decode from the bytes and seconds of `iteration_seconds`. A pass over `tokens` does 2P FLOP a token on 2P bytes of
    bf16 weights, training 6P on 3·2P (forward, and twice in backward), so for a dense model the intensity is the number
    of tokens.
    """
    decode_flop = 2.0 * model.active_params() * decode_tokens
    decode = Point(
        "decode",
        decode_flop / bytes_read(model, decode_tokens, decode_tokens * context),
        decode_flop / float(iteration_seconds(model, accelerator, decode_tokens, decode_tokens * context)),
    )
    intensity = model.active_params() * tokens / weights_read(model, tokens)
    return [
        decode,
        Point("prefill", intensity, roof(accelerator, intensity) * FLOP_EFFICIENCY),
        Point("log_probs", intensity, roof(accelerator, intensity) * MFU),
        Point("train", intensity, roof(accelerator, intensity) * MFU),
    ]


def roof(accelerator, flop_per_byte):
    """The most FLOP/s that work of this intensity can reach in bf16: bandwidth times intensity, up to the peak at the
    ridge.
    """
    return accelerator.flops() * min(1.0, flop_per_byte / ridge(accelerator))


def attained_mfu(model, accelerator, gpus, tokens, seconds):
    """Model FLOP utilization of a measured update of one epoch: 6P FLOP a token over what the GPUs could have done.
    Above 1 the inputs contradict.
    """
    return 6.0 * model.active_params() * tokens / (gpus * accelerator.flops() * seconds)
