"""Engines with many GPUs: tensor, data, pipeline and decode context parallelism, and experts distributed over all GPUs.

Closed form, on the roofline of throughput.py and the exchanges of collectives.py, for the engines of vLLM and SGLang as
of 2026: a group of tensor-parallel GPUs holds attention and its cache, all groups in a stage share the experts, and
stages follow one another. Routing skew beyond its mean and bubbles between stages are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sim.cluster import collectives, memory, throughput
from sim.cluster.hardware import Accelerator
from sim.cluster.memory import HBM_SHARE, Engine
from sim.cluster.models import Model, Numbers
from sim.cluster.throughput import Efficiency

LEFT_OF_OVERLAP = 0.1  # assumed: the fraction of the shorter half-batch that the longer half does not hide


@dataclass(frozen=True)
class Layout:
    """How one engine is laid out over its GPUs."""

    tensor_parallel: int = 1  # GPUs in a group, which hold attention and cache together
    data_parallel: int = 1  # groups that share the experts
    pipeline: int = 1  # stages, each of so many groups
    context_parallel: int = 1  # decode context parallelism within a group, over the copies of its cache
    overlap: bool = False  # two halves of a batch: one computes while the other exchanges
    redundant: int = 0  # experts per layer that are held twice

    @property
    def gpus(self) -> int:
        return self.tensor_parallel * self.data_parallel * self.pipeline

    @property
    def expert_parallel(self) -> int:
        """GPUs over which the experts of a layer are split or distributed."""
        return self.tensor_parallel * self.data_parallel

    @property
    def words(self) -> str:
        """For example "TP 8, PP 2" or "DP 32 with EP 32"."""
        parts = [f"TP {self.tensor_parallel}"] if self.tensor_parallel > 1 or self.data_parallel == 1 else []
        parts += [f"DP {self.data_parallel:,} with EP {self.expert_parallel:,}"] if self.data_parallel > 1 else []
        parts += [f"PP {self.pipeline}"] if self.pipeline > 1 else []
        parts += [f"DCP {self.context_parallel}"] if self.context_parallel > 1 else []
        return ", ".join(parts) + (", overlapped" if self.overlap else "")


@dataclass(frozen=True)
class Work:
    """What the engine holds and does: bytes per number, tokens per sequence, and which sequences share a prompt."""

    context: float  # mean tokens in a sequence
    prompt: float = 0  # tokens of it that siblings share
    siblings: int = 1  # completions per prompt, on one group
    weight_bytes: float | None = 2  # None: as the model's file stores them
    kv_bytes: float = 2
    hbm_share: float = HBM_SHARE


def engine_of(layout: Layout, work: Work) -> Engine:
    """The same layout in the form that `memory` expects."""
    return Engine(
        tensor_parallel=layout.tensor_parallel,
        context_parallel=layout.context_parallel,
        hbm_share=work.hbm_share,
        weight_bytes=work.weight_bytes,
        kv_bytes=work.kv_bytes,
        data_parallel=layout.data_parallel,
        pipeline=layout.pipeline,
    )


def layout_of(engine: Engine) -> Layout:
    return Layout(engine.group, engine.data_parallel, engine.pipeline, engine.context_parallel)


def weight_bytes_per_gpu(model: Model, layout: Layout, weight_bytes: float | None = 2) -> float:
    """The engine's weights, including the experts that are held twice."""
    once = memory.weight_bytes_per_gpu(model, engine_of(layout, Work(1, weight_bytes=weight_bytes)))
    twice = layout.redundant / model.moe.experts if model.moe else 0.0
    return once + twice * model.routed_bytes(weight_bytes) / layout.gpus


def room(model: Model, accelerator: Accelerator, layout: Layout, work: Work) -> float:
    """Sequences that an engine's cache holds, not rounded; 0 if the weights leave no room. Siblings share one copy of
    their prompt.
    """
    free = work.hbm_share * accelerator.hbm_bytes - weight_bytes_per_gpu(model, layout, work.weight_bytes)

    def kept(tokens: float) -> float:
        return float(model.cache_bytes(tokens, work.kv_bytes, layout.tensor_parallel, layout.context_parallel))

    own = work.context - work.prompt * (1 - 1 / work.siblings)  # each has its own state, whatever they share
    return layout.data_parallel * layout.pipeline * max(free, 0.0) / kept(own)


class Pass(NamedTuple):
    """Seconds of one stage's part of a pass, by what they go into, and of the whole pass; numbers or arrays."""

    reading: Numbers
    arithmetic: Numbers
    exchange: Numbers
    seconds: Numbers

    @property
    def exchange_share(self) -> Numbers:
        """The exchange's share of its sum with the longer of reading and arithmetic."""
        return self.exchange / (np.maximum(self.reading, self.arithmetic) + self.exchange)


def decode_pass(
    model: Model,
    accelerator: Accelerator,
    layout: Layout,
    sequences: float,
    work: Work,
    efficiency: Efficiency = throughput.ASSUMED,
) -> Pass:
    """One token for each of `sequences` on one engine."""
    tokens = sequences, sequences * work.context
    return engine_pass(model, accelerator, layout, *tokens, 0, 0, work.weight_bytes, work.kv_bytes, efficiency)


def engine_pass(
    model: Model,
    accelerator: Accelerator,
    layout: Layout,
    decode_tokens: Numbers,
    kv_tokens: Numbers,
    prefill_tokens: Numbers = 0,
    prefill_context: Numbers = 0,
    weight_bytes: float | None = 2,
    kv_bytes: float = 2,
    efficiency: Efficiency = throughput.ASSUMED,
) -> Pass:
    """The counterpart of `throughput.iteration` for all groups and stages of an engine: one token for each of
    `decode_tokens` sequences over `kv_tokens` in all, and `prefill_tokens` of prompts. With p stages, a p-th of them is
    in each stage at a time, and a token passes through all p.
    """
    stages, groups = layout.pipeline, layout.pipeline * layout.data_parallel
    inside = Flow(
        decode_tokens / stages,
        np.maximum(decode_tokens / groups, np.minimum(decode_tokens, 1.0)),
        kv_tokens / np.maximum(decode_tokens, 1e-9),
        prefill_tokens / stages,
        prefill_tokens / groups,
        prefill_context + 0.0,
    )
    widths = weight_bytes, kv_bytes
    reading = bytes_read(model, layout, inside, *widths) / stages
    reading = reading / (accelerator.hbm_bytes_per_second * efficiency.bandwidth)
    arithmetic = flop_seconds(model, accelerator, layout, inside, weight_bytes) / (stages * efficiency.flops)
    exchange = exchanged_seconds(model, accelerator, layout, inside, weight_bytes) / stages
    longer = np.maximum(reading, arithmetic)
    hidden = (1 - LEFT_OF_OVERLAP) * np.minimum(longer, exchange) if layout.overlap else 0.0
    host = efficiency.sequence_seconds * inside.decoding_of_group  # each group has a scheduler of its own
    stage = longer + exchange - hidden + host
    if stages > 1:
        states = 2.0 * inside.of_group * model.hidden  # in bf16
        stage = stage + collectives.ALPHA_ACROSS + states / (1e9 * accelerator.nic_gb_per_second)
    return Pass(reading, arithmetic, exchange, stages * stage + efficiency.overhead_seconds)


class Flow(NamedTuple):
    """What goes through an engine, or through one stage of it, in a pass."""

    decoding: Numbers  # sequences that pass one token each
    decoding_of_group: Numbers  # those on the fullest group, since each sequence is on one group
    context: Numbers  # tokens that each of them reads
    prefill: Numbers  # tokens of prompts
    prefill_of_group: Numbers
    prefill_context: Numbers  # that each of them attends to

    @property
    def tokens(self) -> Numbers:
        return self.decoding + self.prefill

    @property
    def of_group(self) -> Numbers:
        return self.decoding_of_group + self.prefill_of_group


def bytes_read(
    model: Model, layout: Layout, flow: Flow, weight_bytes: float | None = 2, kv_bytes: float = 2
) -> Numbers:
    """HBM bytes that one GPU reads over all stages: its part of the weights once, of the experts those that tokens were
    routed to, 1 − (1 − k/E)^n; and its part of the cache of its group's sequences.
    """
    routed = model.routed_bytes(weight_bytes, read=True)
    plain = (model.weight_bytes_read(np.inf, weight_bytes) - routed) / layout.tensor_parallel
    # assumed: routing is uniform; skew touches fewer
    visited = 1 - (1 - model.moe.top_k / model.moe.experts) ** flow.tokens if model.moe else 0.0
    of_one = model.bytes_read(flow.context, kv_bytes, layout.tensor_parallel, layout.context_parallel)
    return plain + routed * visited / layout.expert_parallel + flow.decoding_of_group * of_one


def flop_seconds(
    model: Model, accelerator: Accelerator, layout: Layout, flow: Flow, weight_bytes: float | None = 2
) -> Numbers:
    """Seconds of arithmetic on one GPU over all stages at the chip's peak; attention runs in bf16 whatever the weights'
    width.
    """
    active = model.moe_layers * model.moe.top_k * model.expert_params() if model.moe else 0
    weights = 2.0 * (model.matmul_params() - active) * flow.of_group / layout.tensor_parallel
    weights = weights + 2.0 * active * flow.tokens / layout.expert_parallel
    attention = flow.decoding_of_group * model.attention_flops_per_token(flow.context)
    attention = attention + flow.prefill_of_group * model.prefill_flops_per_token(flow.prefill_context)
    peak = throughput.peak_flops(accelerator, model.multiplied_as(weight_bytes))
    return weights / peak + attention / layout.tensor_parallel / accelerator.flops()


def exchanged_seconds(
    model: Model, accelerator: Accelerator, layout: Layout, flow: Flow, weight_bytes: float | None = 2
) -> Numbers:
    """Seconds of exchange of one group over all layers.

    Tensor parallelism sums twice per layer. If groups share the experts, it sums once, and tokens travel to their
    experts and back instead. Decode context parallelism gathers the queries of the ranks that hold one cache and
    scatters their outputs (vLLM 2026, `cp_lse_ag_out_rs`).
    """
    tp, shared = layout.tensor_parallel, layout.data_parallel > 1
    sums = 2 * model.layers - (model.moe_layers if shared else 0)
    seconds = sums * collectives.all_reduce(tp, 2.0 * flow.of_group * model.hidden, accelerator)
    if shared and model.moe:
        ranks, width = layout.expert_parallel, model.moe.latent or model.hidden
        numbers = flow.of_group / tp * model.moe.top_k * width
        out_bytes = 1 if model.multiplied_as(weight_bytes) <= 1 else 2
        out = collectives.all_to_all(ranks, numbers * out_bytes, accelerator)
        back = collectives.all_to_all(ranks, numbers * 2.0, accelerator)
        seconds = seconds + model.moe_layers * (out + back)
    if layout.context_parallel > 1:
        heads = model.heads * layout.context_parallel / tp
        key, value = (
            (model.mla.kv_lora + model.mla.rope, model.mla.kv_lora)
            if model.mla and model.latent
            else (model.head_dim, model.mla.v if model.mla else model.head_dim)
        )
        for width in (key, value):
            size = 2.0 * flow.decoding_of_group * heads * width
            seconds = seconds + model.attention_layers * collectives.all_gather(
                layout.context_parallel, size, accelerator
            )
    return seconds


# Which layout


class Laid(NamedTuple):
    """A layout in operation: sequences that decode together, and the resulting throughput."""

    layout: Layout
    room: float  # sequences that the cache holds
    sequences: float  # those that exist
    one: Pass

    @property
    def tokens_per_second_and_gpu(self) -> float:
        return float(self.sequences / self.one.seconds / self.layout.gpus)


def layouts(model: Model, gpus: int, longest_group: int = 64) -> Iterator[Layout]:
    """Layouts of at most `gpus` GPUs in which an engine can be built, in powers of two; dense models get no data
    parallelism, which would amount to separate engines.
    """
    powers = [2**n for n in range(gpus.bit_length())]
    for tp in (size for size in model.tp_sizes() if size <= longest_group):
        copies = tp // model.shards_by_head(tp)
        for dp in powers if model.moe else [1]:
            if model.moe and dp > 1 and tp * dp > model.moe.experts:
                continue
            for pipeline in (p for p in powers if tp * dp * p <= gpus and p <= model.layers // 4):
                for cut in sorted({1, copies}):
                    yield Layout(tp, dp, pipeline, cut)


def laid(
    model: Model,
    accelerator: Accelerator,
    layout: Layout,
    waiting: float,
    work: Work,
    efficiency: Efficiency = throughput.ASSUMED,
) -> Laid:
    """A layout with the `waiting` sequences available per GPU of the pool, or as many as fit."""
    fits = room(model, accelerator, layout, work)
    sequences = min(fits, waiting * layout.gpus)
    return Laid(
        layout, fits, sequences, decode_pass(model, accelerator, layout, max(sequences, 1e-9), work, efficiency)
    )


@lru_cache(maxsize=256)  # a planner that tries changes asks again for whatever they leave unchanged
def best(
    model: Model,
    accelerator: Accelerator,
    gpus: int,
    completions: float,
    work: Work,
    longest: float,
    efficiency: Efficiency = throughput.ASSUMED,
) -> tuple[Laid, ...]:
    """All layouts that hold a sequence of `longest` tokens on each group, sorted by the whole pool's tokens per second
    when `completions` are distributed over it; () if there is none. Among equals, the smaller comes first.
    """
    alone = replace(work, context=longest, prompt=0, siblings=1)
    candidates = [
        laid(model, accelerator, layout, completions / used(layout, gpus), work, efficiency)
        for layout in layouts(model, gpus)
        if room(model, accelerator, layout, alone) >= layout.data_parallel
    ]

    def rate(at: Laid) -> float:
        return at.tokens_per_second_and_gpu * used(at.layout, gpus) / gpus

    return tuple(sorted(candidates, key=lambda at: (-np.round(rate(at), 6), at.layout.gpus)))


def used(layout: Layout, gpus: int) -> int:
    """GPUs of a pool that belong to complete engines."""
    return gpus // layout.gpus * layout.gpus
