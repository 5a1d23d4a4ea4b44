"""What one iteration of an inference engine costs, and where the roles of a step stand under the accelerator's roof.

Closed form: the roofline of Williams, Waterman and Patterson (2009), peak times an assumed efficiency. Not a simulation
of kernels: calibrate `eff_bw`, `eff_fl` and `t0` with one measured iteration of your engine before you trust a second
digit.
"""

from typing import NamedTuple

import numpy as np

from sim.cluster.hardware import ridge

# assumed: share of peak FLOP/s in training and in log-prob passes, of padded batches and communication included
MFU = 0.40
MICRO_BATCH = 8192  # assumed: tokens that one GPU takes through the model at a time in training and log-prob passes
EFF_FL = 0.6  # assumed: share of peak FLOP/s in an engine's iteration
ALPHA = 3e-6  # assumed: seconds to start one message of a collective inside the scale-up domain


def iter_time(
    model,
    acc,
    n_dec,
    kv_tokens,
    n_pf=0,
    tp=1,
    w_bytes=2,
    kv_bytes=2,
    eff_bw=0.75,
    eff_fl=EFF_FL,
    t0=1.5e-3,
    attn_flops=0.0,
):
    """Seconds of one iteration that decodes `n_dec` sequences over `kv_tokens` cached tokens
    and prefills `n_pf` tokens; numbers or arrays. max(bytes / bandwidth, FLOP / peak) + t0.

    Attention's own FLOPs are left out unless given as tokens * model.attn_flops_per_token(context).
    With grouped heads they are 4 to 16 FLOP a byte of cache: nothing in decode above a ridge of 200,
    up to a tenth on an H20. They count in a long prefill, and with latent attention (242 FLOP a byte
    in DeepSeek-V3, 121 in Kimi K2, divided by tp) in large batches on one GPU with a low ridge.
    """
    n_tok = n_dec + n_pf + 0.0  # float64: products of counts overflow the browser's int32
    read = bytes_read(model, n_tok, kv_tokens, tp, w_bytes, kv_bytes)
    flop = 2.0 * model.active_params() * n_tok + attn_flops
    memory = read / (acc.hbm_bytes_per_second * eff_bw)  # assumed: eff_bw of peak
    compute = flop / (tp * peak_flops(acc, w_bytes) * eff_fl)  # assumed: eff_fl of peak
    link = ring_bytes_per_second(acc, tp)
    exchange = 2 * model.layers * ring_all_reduce(tp, n_tok * model.hidden * 2.0, link)
    # assumed: reading overlaps arithmetic; launch and sampling (t0) and the exchange overlap nothing
    return np.maximum(memory, compute) + t0 + exchange


def bytes_read(model, n_tok, kv_tokens, tp=1, w_bytes=2, kv_bytes=2):
    """HBM bytes that one GPU reads in an iteration: its shard of the weights once, and its shard of every live
    sequence's keys and values.
    """
    return weights_read(model, n_tok) * w_bytes / tp + kv_tokens * float(
        model.kv_bytes_per_token(kv_bytes)
    ) / model.kv_shards(tp)


def weights_read(model, n_tok):
    """Parameters that `n_tok` tokens touch: all of a dense model; of a mixture of experts the shared part and the
    experts that someone was routed to.

    E(1 − (1 − k/E)^n) distinct experts a layer.
    """
    if not model.moe:
        return float(model.params())
    moe = model.moe
    routed = float(model.moe_layers * moe.experts * model.expert_params())
    return (
        model.params() - routed * (1 - moe.topk / moe.experts) ** n_tok
    )  # assumed: routing is uniform; skew touches fewer


def peak_flops(acc, w_bytes=2):
    """Dense FLOP/s for weights of this width. A chip without fp8 arithmetic can still store fp8 weights: it multiplies
    them in bf16.
    """
    return acc.flops("fp8" if w_bytes == 1 and acc.fp8_tflops else "bf16")


def ring_all_reduce(n, size, bytes_per_second, alpha=ALPHA):
    """Seconds to sum `size` bytes over n ranks in a ring, 2(n − 1)(α + size / (n B)): every rank sends 2(n − 1)/n of
    the buffer.
    """
    return 2 * (n - 1) * (alpha + size / (n * bytes_per_second))


def ring_bytes_per_second(acc, n):
    """What a ring of n ranks can send in one direction: all links to the peers in the ring, or the NIC if the ring
    leaves the scale-up domain.
    """
    return 1e9 * (
        acc.nic_gbs_dir if n > acc.scaleup_domain else min(acc.scaleup_gbs_dir, acc.peer_gbs_dir * max(n - 1, 1))
    )


class Point(NamedTuple):
    role: str
    flop_per_byte: float
    flops_per_second: float


def role_points(model, acc, n_dec, ctx, tokens):
    """Where decode, prefill, log-prob passes and training stand under the roof of one accelerator: [Point].

    Decode from `iter_time`'s own bytes and seconds. A pass over `tokens` does 2P FLOP a token on 2P bytes of bf16
    weights, training 6P on 3·2P (forward, and twice in backward), so for a dense model the intensity is the number of
    tokens.
    """
    decode_flop = 2.0 * model.active_params() * n_dec
    decode = Point(
        "decode",
        decode_flop / bytes_read(model, n_dec, n_dec * ctx),
        decode_flop / float(iter_time(model, acc, n_dec, n_dec * ctx)),
    )
    intensity = model.active_params() * tokens / weights_read(model, tokens)
    return [
        decode,
        Point("prefill", intensity, roof(acc, intensity) * EFF_FL),
        Point("log_probs", intensity, roof(acc, intensity) * MFU),
        Point("train", intensity, roof(acc, intensity) * MFU),
    ]


def roof(acc, flop_per_byte):
    """The most FLOP/s that work of this intensity can reach in bf16: bandwidth times intensity, up to the peak at the
    ridge.
    """
    return acc.flops() * min(1.0, flop_per_byte / ridge(acc))


def attained_mfu(model, acc, gpus, tokens, seconds):
    """Model FLOP utilization of a measured update of one epoch: 6P FLOP a token over what the GPUs could have done.
    Above 1 the inputs contradict.
    """
    return 6.0 * model.active_params() * tokens / (gpus * acc.flops() * seconds)
