"""What fits into the memory of a GPU: an engine's weights and cache, a trainer's state, activations and logits.

Closed form. The engine's budget follows the rules of vLLM (`MemoryProfilingResult`, 2026) and SGLang
(`mem-fraction-static`). Training state follows ZeRO (Rajbhandari et al. 2019, arXiv:1910.02054), activations
Korthikanti et al. (2022), arXiv:2205.05198, and a trainer split into stages and groups Narayanan et al. (2021),
arXiv:2104.04473. Not modeled: fragmentation beyond RESERVE, and the embedding in the first stage and the head in the
last. envelope.py says when each part is in memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import floor, gcd, isfinite, lcm
from typing import Any, NamedTuple

from sim.cluster.hardware import Accelerator
from sim.cluster.models import Model
from sim.words import counted

HBM_SHARE = 0.9  # fraction of the memory that the engine may fill
RESERVE = 0.08  # assumed: fraction of the memory for communication buffers and fragmentation during training
CACHE_SHARE = 1 / 3  # assumed: fraction of its budget that a useful engine leaves to the cache


# The engine


@dataclass(frozen=True)
class Engine:
    """One pool of identical replicas that generate."""

    gpus: int | None = None  # GPUs in the pool; None means those of one replica
    tensor_parallel: int | None = 1  # GPUs in a group, which hold attention and cache; None if no size works
    longest: int = 1  # tokens of one sequence, which must fit by itself: at least the whole prompt and one more
    context_parallel: int = 1
    hbm_share: float = HBM_SHARE
    weight_bytes: float | None = 2  # None: as the model's file stores them
    kv_bytes: float = 2
    extra_bytes: float = 0
    rule: str = "vllm"
    data_parallel: int = 1  # groups in a replica that share the experts
    pipeline: int = 1  # stages of a replica, each of so many groups

    @property
    def size(self) -> int:
        """GPUs per replica, for an engine with a workable size."""
        return self.group * self.data_parallel * self.pipeline

    @property
    def group(self) -> int:
        """GPUs that hold one sequence's cache in a stage."""
        assert self.tensor_parallel is not None, "no size of this engine works"
        return self.tensor_parallel

    @property
    def pool(self) -> int:
        """GPUs in the pool, for an engine that has one."""
        return self.size if self.gpus is None else self.gpus

    @property
    def split(self) -> dict[str, Any]:
        """What an iteration depends on, as keywords of `throughput.iteration`."""
        return dict(
            tensor_parallel=self.tensor_parallel,
            context_parallel=self.context_parallel,
            weight_bytes=self.weight_bytes,
            kv_bytes=self.kv_bytes,
        )


ONE_GPU = Engine()


def engine_room(model: Model, accelerator: Accelerator, engine: Engine = ONE_GPU) -> float:
    """Bytes for the cache on each GPU of an engine; negative if the weights alone do not fit.

    Its `extra_bytes` are activations, graphs and whatever else the engine allocates. vLLM subtracts them from its share
    u of the memory, u·M − weights/TP − extra; SGLang puts them into the rest, (1 − u)·M.
    """
    # Nominal memory: a device has about 6 % more, which roughly covers an engine's extra bytes if they are left at 0
    inside = engine.extra_bytes if engine.rule == "vllm" else 0
    weights = weight_bytes_per_gpu(model, engine)
    return engine.hbm_share * accelerator.hbm_bytes - weights - inside


def weight_bytes_per_gpu(model: Model, engine: Engine = ONE_GPU) -> float:
    """The experts are distributed over a stage's GPUs; everything else is split only by tensor parallelism."""
    routed = model.routed_bytes(engine.weight_bytes)
    plain = model.stored_bytes(engine.weight_bytes) - routed
    return plain / (engine.group * engine.pipeline) + routed / engine.size


def capacity(model: Model, accelerator: Accelerator, engine: Engine = ONE_GPU) -> int:
    """Tokens whose keys and values fit beside the weights; negative if the weights alone do not fit.

    For a model with windows or states, this counts the tokens that long sequences can still add; `sequences` counts the
    rest.
    """
    shards = model.kv_shards(engine.group, engine.context_parallel) * engine.data_parallel * engine.pipeline
    return floor(engine_room(model, accelerator, engine) * shards / model.kv_bytes_per_token(engine.kv_bytes))


def sequences(model: Model, accelerator: Accelerator, context: float, engine: Engine = ONE_GPU) -> float:
    """Mean number of sequences of `context` tokens that fit at once, not rounded; 0 if the weights leave no room."""
    room = max(engine_room(model, accelerator, engine), 0.0)
    return engine.data_parallel * room / cache_bytes(model, context, engine)


def cache_bytes(model: Model, context: float, engine: Engine = ONE_GPU) -> float:
    """What a sequence of `context` tokens keeps on each GPU of an engine."""
    held = model.cache_bytes(context, engine.kv_bytes, engine.group, engine.context_parallel)
    return float(held) / engine.pipeline


def engine_tp(model: Model, accelerator: Accelerator, engine: Engine) -> int | None:
    """How many of its pool's GPUs share one replica: the fewest that leave a third of the engine's memory to the cache,
    otherwise the most that are possible if they hold one of its longest sequences, otherwise None.
    """
    most = engine.pool // (engine.data_parallel * engine.pipeline)
    sizes = [tp for tp in model.tp_sizes() if tp <= min(most, accelerator.scaleup_domain)]
    sizes = [tp for tp in sizes if engine.context_parallel <= tp // model.shards_by_head(tp)]
    if not sizes:
        return None
    of = {tp: replace(engine, tensor_parallel=tp) for tp in sizes}
    for tp in sizes:
        if engine_room(model, accelerator, of[tp]) >= CACHE_SHARE * engine.hbm_share * accelerator.hbm_bytes:
            return tp
    largest = sizes[-1]
    return largest if sequences(model, accelerator, engine.longest, of[largest]) >= engine.data_parallel else None


def largest_engine(model: Model, accelerator: Accelerator, gpus: int) -> int:
    """The largest number of GPUs that one replica of this model can share."""
    return max(size for size in model.tp_sizes() if size <= min(gpus, accelerator.scaleup_domain))


# The trainer


class Ledger(NamedTuple):
    """Bytes that training keeps per weight."""

    weights: float
    gradients: float
    optimizer: float  # Adam's two moments, and an fp32 copy of the weights where those are in bf16

    @property
    def whole(self) -> float:
        return sum(self)

    @property
    def narrow(self) -> "Ledger":
        """The same with both moments in one byte each instead of four. Dettmers et al. (2021), arXiv:2110.02861."""
        return self._replace(optimizer=self.optimizer - 6)

    @property
    def waiting(self) -> "Ledger":
        """What waits in the host's memory while others use the GPUs. Gradients are dropped after use, by verl's FSDP
        engine and its Megatron engine alike (verl 0.9.1, `utils/fsdp_utils.py`, `megatron_utils.py`).
        """
        return self._replace(gradients=0)


LEDGERS = {
    "2 + 2 + 12": Ledger(2, 2, 12),  # the ZeRO paper, section 3.1: weights and gradients in half precision
    "2 + 4 + 12": Ledger(2, 4, 12),  # Megatron's distributed optimizer: gradients summed in fp32
    # FSDP with fp32 shards, verl's default; a layer's bf16 copy while it runs is left out
    "4 + 4 + 8": Ledger(4, 4, 8),
    "2 + 2 + 6": Ledger(2, 2, 12).narrow,
}
ZERO_PAPER, MEGATRON, FSDP = LEDGERS["2 + 2 + 12"], LEDGERS["2 + 4 + 12"], LEDGERS["4 + 4 + 8"]
# QLoRA: four bits of NF4 a weight, and 0.127 bits of scales, themselves quantized. Dettmers et al. (2023),
# arXiv:2305.14314, section 3
NF4_BYTES = (4 + 0.127) / 8
KEPT_ON_HOST = ("nothing", "optimizer", "all")  # of training state, also while it is used


def state_bytes(model: Model, gpus: int, zero: int = 3, ledger: Ledger = ZERO_PAPER, cut: int = 1) -> float:
    """Weights, gradients and Adam's state on each of `gpus` ranks, of which every `cut` ranks hold one copy of the
    weights between them, as groups and stages of tensor and pipeline parallelism do. ZeRO 1 shards the optimizer among
    ranks that hold the same weights, ZeRO 2 the gradients as well, ZeRO 3 everything.
    """
    ranks = max(gpus // cut, 1)
    parts = zip(ledger, (zero >= 3, zero >= 2, zero >= 1))
    return model.params() / cut * sum(size / ranks if sharded else size for size, sharded in parts)


def adapter_params(model: Model, rank: int) -> int:
    """Weights of LoRA adapters of this rank, r · (inputs + outputs) per matrix, on the attention projections and on
    every plain MLP, as is usual. Hu et al. (2021), arXiv:2106.09685.
    """
    # assumed: none on routed experts, on routers, or on layers that keep a state instead of a cache
    d, H, K, width, m = model.hidden, model.heads, model.kv_heads, model.head_dim, model.mla
    if m:
        query = [(d, m.q_lora), (m.q_lora, H * (m.nope + m.rope))] if m.q_lora else [(d, H * (m.nope + m.rope))]
        mixer = [*query, (d, m.kv_lora + m.rope), (m.kv_lora, H * (m.nope + m.v)), (H * m.v, d)]
    else:
        mixer = [(d, H * width), (d, K * width), (d, K * width), (H * width, d)]
    mlp = (3 if model.gated_mlp else 2) * (d + model.intermediate)
    plain = (model.mlp_layers or model.layers) - model.moe_layers
    return rank * (model.attention_layers * sum(map(sum, mixer)) + plain * mlp)


RECOMPUTE = ("none", "selective", "full")


def layer_activations(model: Model, length: int, recompute: str = "none") -> dict[str, float]:
    """{part of a layer: what it keeps per token until the backward pass}, in multiples of the hidden width: Korthikanti
    et al., section 4.1. The scores grow with the length, and selective recomputation (like FlashAttention) drops only
    them; full recomputation keeps only the layer's input, 2 bytes per number.
    """
    if recompute == "full":
        return {"input": 2.0}
    # assumed: a GELU MLP four times as wide, and as many KV heads as heads; others differ by about 20 %
    kept = {"norms": 4.0, "attention": 11.0, "MLP": 19.0}
    return kept | ({"scores": 5.0 * model.heads * length / model.hidden} if recompute == "none" else {})


def activation_bytes(
    model: Model,
    tokens: float,
    length: int,
    recompute: str = "full",
    tensor_parallel: int = 1,
    sequence_parallel: bool = True,
) -> float:
    """Activations of `tokens` in sequences of `length`, on each rank: s b h (34 + 5 a s/h) per layer, or 34, or with
    full recomputation 2, and one layer's 34 while it is recomputed. Tensor parallelism divides them; without sequence
    parallelism, all but ten of the 34. Stages divide nothing, because the first stage has as many micro-batches in
    flight as there are stages (Narayanan et al., section 2.2).
    """
    t, unit = tensor_parallel, tokens * model.hidden
    kept = sum(layer_activations(model, length, recompute).values())
    whole = 10 if not sequence_parallel else 0  # of a layer, what its inputs are that every rank has
    if recompute == "full":
        return (kept * model.layers / (t if sequence_parallel else 1) + whole + (34 - whole) / t) * unit
    return model.layers * unit * (whole + (kept - whole) / t)


def logits_bytes(model: Model, tokens: float, chunk: int | None = None, backward: bool = True) -> float:
    """Logits in bf16, their fp32 copy and, in a backward pass, its gradient; for `chunk` tokens at a time if the loss
    is computed in chunks.
    """
    return min(tokens, chunk or tokens) * model.vocab * (2 + 4 + 4 * backward)


# Does it fit


@dataclass(frozen=True)
class Training:
    """One sharded training job."""

    gpus: int
    zero: int = 3
    ledger: Ledger = ZERO_PAPER
    adapters: int = 0  # rank of adapters trained in place of the weights; 0 trains the weights
    reference: bool = False  # a frozen copy in bf16, sharded
    critic: bool = False  # a second trained model of this size, and a frozen reward model
    tokens: int = 0  # tokens in a micro-batch; 0 asks for the state only
    length: int = 0
    recompute: str = "full"
    logits_chunk: int | None = None
    tensor_parallel: int = 1
    context_parallel: int = 1  # GPUs that share a sequence's tokens (Ulysses, ring attention) and none of its weights
    pipeline: int = 1  # stages, each with some of the layers
    expert_parallel: int = 1  # GPUs over which the experts of a layer are distributed
    by_tokens: bool = True  # a tensor-parallel group splits norms by tokens and logits by words, as Megatron's does
    four_bits: bool = False  # with adapters: the matrices below them in NF4
    on_host: str = KEPT_ON_HOST[0]

    @property
    def tokens_of_gpu(self) -> float:
        """The tokens of a micro-batch that a tensor-parallel group has to itself."""
        return self.tokens / self.context_parallel

    @property
    def cut(self) -> int:
        """GPUs that together hold one copy of all weights except the experts'."""
        return self.tensor_parallel * self.pipeline

    @property
    def group(self) -> int:
        """GPUs of which a trainer takes whole multiples, by `layout_misfits`."""
        return lcm(self.cut, self.pipeline * self.expert_parallel)

    @property
    def experts_cut(self) -> int:
        """The same of the experts' weights: dealt out, or else cut like all others."""
        return self.pipeline * (self.expert_parallel if self.expert_parallel > 1 else self.tensor_parallel)


class Misfit(NamedTuple):
    """One thing that is impossible."""

    what: str  # a clause with its numbers: "Qwen2.5-7B on 8 GPUs an engine: its 28 heads divide among 1, 2 or 4"
    needs: float  # GB, or GPUs, or a share
    has: float
    mend: str  # what would make it fit, where no knob of the page does
    part: str = ""  # what there is too much of: a key of `training_bytes`, "weights", "sequence", "engine", "layout"


def training_bytes(model: Model, training: Training) -> dict[str, float]:
    """{component: bytes} on each GPU at the peak of an update."""
    frozen = frozen_bytes(model, training)
    tokens, t, split = training.tokens_of_gpu, training.tensor_parallel, training.by_tokens
    kept = activation_bytes(model, tokens, training.length, training.recompute, t, split) if tokens else 0
    return {
        "state": policy_bytes(model, training),
        "reference": frozen if training.reference else 0,
        "critic": whole_bytes(model, training) + frozen if training.critic else 0,
        "activations": kept,
        "logits": logits_bytes(model, tokens, training.logits_chunk) / (t if split else 1),
    }


def policy_bytes(model: Model, training: Training) -> float:
    """Weights, gradients and optimizer of the policy; with adapters the frozen weights, and all three of the
    adapters.
    """
    if not training.adapters:
        on_gpu = replace(training, ledger=on_gpu_of(training))
        return whole_bytes(model, on_gpu) + (gathered_bytes(model, training) if training.on_host == "all" else 0.0)
    adapters = adapter_bytes(model, training)
    if training.on_host == "all":
        return gathered_bytes(model, training) + adapters
    return base_bytes(model, training) + adapters


def base_bytes(model: Model, training: Training) -> float:
    """The weights below adapters on each GPU, as they are stored."""
    return frozen_width(model, training.four_bits) / 2 * frozen_bytes(model, training)


def frozen_width(model: Model, four_bits: bool) -> float:
    """Bytes of a weight below adapters, on average: bf16, or NF4 for the matrices."""
    narrow = model.matrices() / model.params() if four_bits else 0.0
    return 2 + narrow * (NF4_BYTES - 2)


def adapter_bytes(model: Model, training: Training) -> float:
    """Adapters with their gradients and moments on each GPU, sharded whatever the stage."""
    return adapter_params(model, training.adapters) * training.ledger.whole / training.gpus


def frozen_bytes(model: Model, training: Training) -> float:
    """Weights in bf16 that nobody trains, laid out like the policy's: only ZeRO 3 divides them."""
    return whole_bytes(model, replace(training, ledger=Ledger(2, 0, 0)))


def on_gpu_of(training: Training) -> Ledger:
    """The ledger of what stays on the GPUs while an update runs."""
    ledger = training.ledger
    return {"nothing": ledger, "optimizer": ledger._replace(optimizer=0), "all": Ledger(0, 0, 0)}[training.on_host]


def gathered_bytes(model: Model, training: Training) -> float:
    """Of weights that live on the host, what is on a GPU at a time: two layers in bf16, one computing and one arriving,
    and, where they are trained, the fp32 gradient of one.
    """
    experts, stages = model.routed_params(), training.pipeline
    cut = training.cut / stages, training.experts_cut / stages
    of_layer = ((model.params() - experts) / cut[0] + experts / cut[1]) / model.layers
    return (2 * 2 + (0 if training.adapters else 4)) * of_layer


def host_bytes(model: Model, training: Training) -> float:
    """Training state that a GPU keeps in its host's memory also while an update runs."""
    ledger, stays = training.ledger, on_gpu_of(training)
    if training.on_host == KEPT_ON_HOST[0]:
        return 0.0
    if training.adapters:
        return base_bytes(model, training) if training.on_host == "all" else 0.0
    away = Ledger(*(whole - here for whole, here in zip(ledger, stays)))
    return whole_bytes(model, replace(training, ledger=away))


def waiting_bytes(model: Model, training: Training) -> float:
    """Of the state on each GPU, what leaves it for the host's memory while engines have the GPU."""
    if training.adapters:
        return 0.0 if training.on_host == "all" else policy_bytes(model, training)
    return whole_bytes(model, replace(training, ledger=on_gpu_of(training).waiting))


def whole_bytes(model: Model, training: Training) -> float:
    """Training state on each GPU: of the experts, and of everything else."""

    def state(cut: int) -> float:
        return state_bytes(model, training.gpus, training.zero, training.ledger, cut)

    experts = model.routed_params() / model.params()
    return (1 - experts) * state(training.cut) + experts * state(training.experts_cut)


def fits(
    model: Model,
    accelerator: Accelerator,
    engine: Engine | None = None,
    training: Training | None = None,
    shared: bool = False,
    mfu: float | None = None,
    efficiency: tuple[float, ...] | None = None,
) -> list[Misfit]:
    """What of this is impossible: [Misfit], empty if all of it fits. Every sizer asks before it computes.

    `shared`: the trainer's state stays on the GPUs while the engine generates on them. `mfu` of a measured update,
    `efficiency` of a measured iteration.
    """
    out = []
    if engine:
        out += engine_misfits(model, accelerator, engine)
    if training:
        out += training_misfits(model, accelerator, training)
    if engine and training and shared and not out:
        out += shared_misfits(model, accelerator, engine, training)
    peak = "peak FLOP/s"
    for name, share in ((peak, mfu), *(zip(("bandwidth", peak), efficiency[:2]) if efficiency else ())):
        if share is not None and not share <= 1:
            reached = f"{share:,.2f} times" if isfinite(share) else "more than all of"
            what = f"the inputs contradict: the time that was measured would take {reached} the chip's {name}"
            out.append(Misfit(what, share, 1.0, "A longer time, or fewer tokens."))
    return out


def engine_misfits(model: Model, accelerator: Accelerator, engine: Engine) -> list[Misfit]:
    tp, sizes = engine.tensor_parallel, model.tp_sizes()
    memory = engine.hbm_share * accelerator.hbm_bytes
    if tp is None:
        if (least := engine.data_parallel * engine.pipeline) > engine.pool:
            what = f"an engine of {least:,} GPUs at least in a pool of {engine.pool:,}"
            return [Misfit(what, least, engine.pool, "More GPUs.", "layout")]
        largest = largest_engine(model, accelerator, engine.pool // least)
        whole = replace(engine, tensor_parallel=largest)
        if cut := uncut(model, engine, largest):
            return cut
        weights, fills = whole.size * weight_bytes_per_gpu(model, whole), whole.size * memory
        where = f"the largest engine tried, {counted(whole.size, 'GPU')}, may fill {fills / 1e9:,.0f}"
        what = f"{model.name} has {weights / 1e9:,.0f} GB of weights, and {where}"
        part, needs = "weights", weights
        if weights < fills:
            what, part = f"{what}, too few for {engine.longest:,} tokens", "sequence"
            beside = cache_bytes(model, engine.longest, whole) - engine_room(model, accelerator, whole)
            needs = fills + whole.size * beside
        mend = "More GPUs, a larger chip, or narrower weights."
        return [Misfit(what, needs / 1e9, fills / 1e9, mend, part)]
    if tp not in sizes:
        allowed = [size for size in sizes if size <= 64]
        among = f"{', '.join(map(str, allowed[:-1]))} or {allowed[-1]}" if len(allowed) > 1 else "1"
        kv = "" if model.mla else f" and {model.kv_heads} KV heads"
        what = f"{model.name} on {tp} GPUs an engine: its {model.heads} heads{kv} divide among {among}"
        return [
            Misfit(what, tp, max(s for s in sizes if s <= tp), f"An engine of {allowed[-1]} GPUs at most.", "layout")
        ]
    size, gpus = engine.size, engine.pool
    if size > gpus:
        return [Misfit(f"an engine of {size:,} GPUs in a pool of {gpus:,}", size, gpus, "More GPUs.", "layout")]
    if engine.pipeline > model.layers:
        what = f"{engine.pipeline} stages of an engine: {model.name} has {model.layers} layers"
        return [Misfit(what, engine.pipeline, model.layers, "Fewer stages.", "layout")]
    experts = model.moe.experts if model.moe else 1
    if engine.data_parallel > 1 and tp * engine.data_parallel > experts:
        what = f"experts of an engine over {tp * engine.data_parallel} GPUs: {model.name} has {experts} a layer"
        return [Misfit(what, tp * engine.data_parallel, experts, "Fewer groups.", "layout")]
    if cut := uncut(model, engine, tp):
        return cut
    out, room, one = [], engine_room(model, accelerator, engine), cache_bytes(model, engine.longest, engine)
    if room <= 0:
        of_gpu = weight_bytes_per_gpu(model, engine)
        needs, has = (of_gpu + (engine.extra_bytes if engine.rule == "vllm" else 0)) / 1e9, memory / 1e9
        what = (
            f"{model.name} in an engine of {size}: {needs:,.0f} GB of weights a GPU, and the engine may fill {has:,.0f}"
        )
        out.append(Misfit(what, needs, has, "More GPUs an engine, a larger chip, or narrower weights.", "weights"))
    elif one > room:
        what = (
            f"one sequence of {engine.longest:,} tokens: it takes {one / 1e9:,.1f} GB a GPU, and {room / 1e9:,.1f} are "
            "left beside the weights"
        )
        out.append(Misfit(what, one / 1e9, room / 1e9, "A shorter sequence, or more GPUs an engine.", "sequence"))
    rest = (1 - engine.hbm_share) * accelerator.hbm_bytes
    if engine.rule == "sglang" and engine.extra_bytes > rest:
        what = f"{engine.extra_bytes / 1e9:.1f} GB of activations and graphs in the {rest / 1e9:.1f} GB outside u"
        out.append(Misfit(what, engine.extra_bytes / 1e9, rest / 1e9, "A smaller u.", "engine"))
    return out


def uncut(model: Model, engine: Engine, tp: int) -> list[Misfit]:
    """Decode context parallelism that finds no copies to cut in a group of `tp` GPUs."""
    copies = tp // model.shards_by_head(tp)
    if engine.context_parallel <= copies:
        return []
    cut = f"decode context parallelism {engine.context_parallel}"
    what = f"{cut}: an engine of {tp} makes {counted(copies, 'copy', 'copies')} of the cache of {model.name}"
    return [Misfit(what, engine.context_parallel, copies, f"It cuts copies: {copies} at most.", "layout")]


def training_misfits(model: Model, accelerator: Accelerator, training: Training) -> list[Misfit]:
    if of_layout := layout_misfits(model, accelerator, training):
        return of_layout
    parts = training_bytes(model, training)
    needs, has = sum(parts.values()) / 1e9, (1 - RESERVE) * accelerator.hbm_bytes / 1e9
    if needs <= has:
        return []
    largest = max(parts, key=parts.__getitem__)
    what = (
        f"training {model.name} on {counted(training.gpus, 'GPU')}: {gigabytes(needs)} GB each, most of it "
        f"{too_large(parts, 1e9 * has)}, of {has:,.1f}"
    )
    mend = "Shorter sequences." if largest in ("activations", "logits") else "More GPUs, or a smaller model."
    return [Misfit(what, needs, has, mend, largest)]


def gigabytes(needs: float) -> str:
    return f"{needs:,.0f}" if needs >= 1000 else f"{needs:,.1f}"


def too_large(parts: Mapping[str, float], has: float) -> str:
    """The largest of these parts, as many as are too much: without them the others fit."""
    named, rest = list[str](), sum(parts.values())
    for part in sorted(parts, key=parts.__getitem__, reverse=True):
        if named and rest <= has:
            break
        named.append(part)
        rest -= parts[part]
    return " and ".join(named)


def layout_misfits(model: Model, accelerator: Accelerator, training: Training) -> list[Misfit]:
    """Groups and stages that the model's heads and layers, or the GPUs, cannot be dealt out to."""
    t, gpus = training.tensor_parallel * training.context_parallel, training.gpus
    of_layer = max(training.tensor_parallel, training.context_parallel)  # each within the scale-up links
    if of_layer > accelerator.scaleup_domain or t > gpus or t not in model.tp_sizes():
        most = largest_engine(model, accelerator, gpus)
        what = f"{model.name} split over {t} GPUs for training: {counted(most, 'GPU')} at most"
        if t < most:  # its heads do not divide among so many
            most = max(size for size in model.tp_sizes() if size < t)
            what = (
                f"{model.name} split over {t} GPUs for training: its {model.heads} heads divide among {most}, not {t}"
            )
        return [Misfit(what, t, most, f"{counted(most, 'GPU')} a sequence.", "layout")]
    stages = training.pipeline
    if stages > model.layers:
        what = f"{stages} stages of a trainer: {model.name} has {model.layers} layers"
        return [Misfit(what, stages, model.layers, "Fewer stages.", "layout")]
    if gpus % (t * stages):
        left = gpus % (t * stages)
        what = f"copies of the model on {t * stages:,} GPUs each: of {counted(gpus, 'GPU')} {left:,} would be left over"
        return [Misfit(what, t * stages, gcd(t * stages, gpus), "A divisor of the GPUs.", "layout")]
    over, experts = training.expert_parallel, model.moe.experts if model.moe else 1
    if experts % over or gpus // stages % over:
        of_stage = counted(gpus // stages, "GPU") + (" of a stage" if stages > 1 else "")
        what = f"{experts} experts dealt out over {over} GPUs while {of_stage} train: each takes as many"
        return [Misfit(what, over, gcd(experts, gpus // stages), "A divisor of both.", "layout")]
    return []


def shared_misfits(model: Model, accelerator: Accelerator, engine: Engine, training: Training) -> list[Misfit]:
    """Weights, optimizer and reference that stay while the engine fills its share."""
    parts = training_bytes(model, training)
    resident = parts["state"] + parts["reference"] + parts["critic"]
    beside = 0 if engine.rule == "vllm" else engine.extra_bytes  # outside the share u
    needs = (engine.hbm_share * accelerator.hbm_bytes + beside + resident) / 1e9
    has = (1 - RESERVE) * accelerator.hbm_bytes / 1e9
    if needs <= has:
        return []
    what = (
        f"engine and trainer on the same GPUs: the engine's {needs - resident / 1e9:,.0f} GB and {resident / 1e9:,.0f} "
        f"GB of training state, of {has:,.0f}"
    )
    mend = "A smaller u, or the training state offloaded while the engine runs."
    return [Misfit(what, needs, has, mend, "engine")]
