"""Seconds of a training pass: attention, recomputation, experts, pipeline and sharded state on many GPUs.

Closed form, layer by layer: matrix products and attention at assumed fractions of the peak, the traffic of everything
between them, a floor for launching kernels, exchanges from collectives.py, the sharding of ZeRO (Rajbhandari et al.
2019, arXiv:1910.02054), and the bubble of an interleaved pipeline (Narayanan et al. 2021, arXiv:2104.04473). The
fractions were chosen on kernels and on published pretraining steps, and that of the H20 on published updates. Left out:
routing skew, stragglers, and everything that a framework does between passes.
"""

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from sim.cluster import collectives
from sim.cluster.hardware import Accelerator
from sim.cluster.memory import adapter_params, frozen_width
from sim.cluster.models import Model

PRODUCTS = 0.65  # assumed: fraction of peak FLOP/s reached by large matrix products
ATTENTION = 0.5  # assumed: the same for fused attention
TRAFFIC = 0.75  # assumed: fraction of peak bandwidth reached by everything between them
LAUNCH = 0.35e-3  # assumed: seconds in which the host launches the kernels of one layer, forward
LINK = 0.8  # assumed: fraction of a link's bandwidth reached when state is gathered and scattered
FILLED = 0.9  # assumed: fraction of a packed micro-batch that is not padding
PCIE_GB_PER_SECOND = 32  # assumed of a host's link that no row of hardware.py knows
TILE = 128  # rows in which a grouped expert product is computed; fewer tokens cost as much
BACKWARD, BACKWARD_ATTENTION = 2.0, 2.5  # relative to a forward pass; attention computes its scores once more
OPTIMIZER_BYTES = 30  # per weight: gradient, master copy and two moments read; three of them and bf16 written
OFFLOADED_BYTES = 28  # per weight over the host's link: twelve bytes in, twelve and a gradient out
# assumed: seconds of a host's processors for each weight that its server updates; 0.075 ns (prime-rl, 171B on one
# server) and 0.36 ns (slime, 106B on four) are published in 2026
HOST_ADAM = 0.165e-9
SERVER = 8  # assumed: GPUs per host
DEQUANTIZED_BYTES = 4.5  # per weight and pass: half a byte read, two written, and read again by the product


@dataclass(frozen=True)
class Trainer:
    """How a pool of GPUs trains."""

    gpus: int
    tensor_parallel: int = 1
    context_parallel: int = 1
    pipeline: int = 1
    virtual: int = 1  # stages per GPU in an interleaved pipeline
    expert_parallel: int = 1  # GPUs over which the experts of a layer are distributed
    zero: int = 1  # 1 and 2 shard the optimizer and the gradients, 3 the weights too
    recompute: bool = False  # repeat each layer's forward pass in the backward pass
    pack: int = 8192  # tokens in a micro-batch, unless one sequence is longer; 0: a micro-batch is one sequence
    filled: float = 1.0  # fraction of a micro-batch that is not padding
    on_host: str = "nothing"  # one of memory.KEPT_ON_HOST; weights that live there come over for every micro-batch
    adapters: int = 0  # rank of adapters trained in place of the weights; 0 trains the weights
    four_bits: bool = False  # the matrices below the adapters are stored in four bits

    @property
    def experts_cut(self) -> int:
        """GPUs in a stage that together hold one copy of the experts: distributed, or else split like all other
        matrices, as Megatron does by default.
        """
        return self.expert_parallel if self.expert_parallel > 1 else self.tensor_parallel

    @property
    def ranks(self) -> int:
        """Data-parallel ranks, i.e. copies of the model that take their own sequences."""
        return self.gpus // (self.tensor_parallel * self.context_parallel * self.pipeline)


@dataclass(frozen=True)
class Batch:
    """What passes through the trainer."""

    tokens: float  # in all
    sequences: float
    longest: float  # tokens in the longest sequence, which is not split
    context: float | None = None  # token-weighted mean length of a sequence; None means equal lengths
    updates: int = 1  # optimizer steps into which the batch is divided

    @property
    def attended(self) -> float:
        """Mean number of tokens before a token in its own sequence."""
        return (self.context or self.tokens / self.sequences) / 2


class Pass(NamedTuple):
    """Seconds of a pass over a batch, by purpose."""

    products: float  # dense matrix products
    attention: float
    experts: float  # their products and the sorting of tokens
    traffic: float  # everything between them, and waiting for launches
    exchange: float  # of tokens, activations and keys
    bubble: float  # of the pipeline
    state: float  # exposed traffic of sharded weights and gradients, and the optimizer

    @property
    def seconds(self) -> float:
        return sum(self)


def pass_seconds(model: Model, accelerator: Accelerator, trainer: Trainer, batch: Batch, train: bool = True) -> Pass:
    """One epoch of training over the batch or, with `train` off, its log-probs: forward only, and no state changes."""
    micro, tokens = micro_batches(trainer, batch)
    forward = Layer(model, accelerator, trainer, tokens, batch.attended).forward()
    times = repeats(trainer) if train else [1.0] * 5
    stages = batch.updates * micro / trainer.pipeline  # passes over a whole model's layers that one GPU computes
    products, attention, experts, traffic, exchange = (seconds * n * stages for seconds, n in zip(forward, times))
    if trainer.four_bits:
        moved = DEQUANTIZED_BYTES * model.matrices() / (trainer.tensor_parallel * trainer.pipeline)
        passes = (2 + trainer.recompute if train else 1) * batch.updates * micro
        traffic += passes * moved / (TRAFFIC * accelerator.hbm_bytes_per_second)
    computed = products + attention + experts + traffic + exchange
    bubble = computed * (trainer.pipeline - 1) / (trainer.virtual * micro)
    state = state_seconds(model, accelerator, trainer, micro, computed / batch.updates, train) * batch.updates
    return Pass(products, attention, experts, traffic, exchange, bubble, state)


def repeats(trainer: Trainer) -> list[float]:
    """How often products, attention, experts, traffic and exchange of a forward pass are paid for in training: forward,
    backward, and once more if a layer is recomputed. Exchanges are the same backward as forward.
    """
    forward = 2 if trainer.recompute else 1
    again = forward + BACKWARD
    # frozen weights have no gradient of their own; the adapters' products, a few per cent, are left out
    products = again - (BACKWARD / 2 if trainer.adapters else 0.0)
    return [products, forward + BACKWARD_ATTENTION, products, again, forward + 1]


def micro_batches(trainer: Trainer, batch: Batch) -> tuple[int, float]:
    """(micro-batches that a rank computes in an update, tokens of one of them on each of its GPUs). A rank without a
    sequence waits, so no more ranks than sequences count.
    """
    ranks = min(trainer.ranks, batch.sequences / batch.updates)
    of_rank = batch.tokens / (batch.updates * ranks)
    whole = max(trainer.pack, batch.longest) * trainer.filled if trainer.pack else batch.tokens / batch.sequences
    micro = ceil(round(of_rank / whole, 9))
    return micro, of_rank / micro / trainer.context_parallel


@dataclass(frozen=True)
class Layer:
    """All layers of a model, as one micro-batch of `tokens` on each GPU meets them on one tensor-parallel group."""

    model: Model
    accelerator: Accelerator
    trainer: Trainer
    tokens: float
    attended: float

    def forward(self) -> tuple[float, float, float, float, float]:
        """Seconds of (products, attention, experts, traffic, exchange) of one forward pass without a pipeline."""
        products, attention, experts, traffic = self.products(), self.attention(), self.experts(), self.traffic()
        work = products + attention + experts + traffic
        launched = max(self.model.layers * LAUNCH - work, 0.0)
        return products, attention, experts, traffic + launched, self.exchange(attention)

    def products(self) -> float:
        model = self.model
        active = model.moe_layers * model.moe.top_k * model.expert_params() if model.moe else 0
        flop = 2.0 * (model.matmul_params() - active) * self.tokens / self.trainer.tensor_parallel
        return flop / (products_share(self.accelerator) * self.accelerator.flops())

    def attention(self) -> float:
        flop = self.tokens * float(self.model.prefill_flops_per_token(self.attended))
        return flop / self.trainer.tensor_parallel / (ATTENTION * self.accelerator.flops())

    def experts(self) -> float:
        """A GPU's experts compute whole tiles of tokens, and at least read their weights; tokens are sorted before and
        summed afterward.
        """
        model, trainer = self.model, self.trainer
        if not model.moe:
            return 0.0
        moe, local = model.moe, model.moe.experts / trainer.experts_cut  # experts whose weights a GPU holds
        tokens = self.tokens / trainer.tensor_parallel
        each = tokens * trainer.experts_cut * moe.top_k / moe.experts  # tokens per expert
        flop = 2.0 * model.expert_params() * ceil(round(each / TILE, 9)) * TILE * local
        bandwidth = TRAFFIC * self.accelerator.hbm_bytes_per_second
        product = max(
            flop / (products_share(self.accelerator) * self.accelerator.flops()),
            2.0 * model.expert_params() * local / bandwidth,
        )
        moved = 12 * moe.top_k * (moe.latent or model.hidden) + 6 * moe.top_k * moe.intermediate + 8 * moe.experts
        return model.moe_layers * (product + moved * tokens / bandwidth)

    def traffic(self) -> float:
        """Norms, residuals, rotary embeddings, activations: bytes of a token and layer, in bf16."""
        model = self.model
        dense = (model.mlp_layers or model.layers) - model.moe_layers
        plain = dense * model.intermediate + (model.moe_layers * model.moe.shared if model.moe else 0)
        moved = model.layers * (20 * model.hidden + 4 * model.heads * model.head_dim) + 6 * plain
        bandwidth = TRAFFIC * self.accelerator.hbm_bytes_per_second
        return moved * self.tokens / self.trainer.tensor_parallel / bandwidth

    def exchange(self, attention: float) -> float:
        """Two sums per layer over a tensor-parallel group; keys and values around the ranks of context parallelism,
        hidden by attention; tokens to their experts and back.
        """
        model, trainer, chip = self.model, self.trainer, self.accelerator
        tp, cp, ep = trainer.tensor_parallel, trainer.context_parallel, trainer.expert_parallel
        seconds = 2 * model.layers * float(collectives.all_reduce(tp, 2.0 * self.tokens * model.hidden, chip))
        if cp > 1:
            size = self.tokens * (cp - 1) * 2.0 * model.cached_width() * model.attention_layers / tp
            seconds += max(size / (LINK * chip.ring_bytes_per_second(tp * cp)) - attention, 0.0)
        if model.moe and ep > 1:
            moe = model.moe
            token_bytes = 2.0 * (moe.latent or model.hidden)
            one_way = collectives.expert_exchange(ep, token_bytes, self.tokens / tp, moe.top_k, chip, moe.groups)
            seconds += 2 * model.moe_layers * float(one_way)
        return seconds


def products_share(accelerator: Accelerator) -> float:
    return accelerator.products or PRODUCTS


def own_params(model: Model, trainer: Trainer) -> tuple[float, float]:
    """(plain, routed): the weights that one GPU holds before data-parallel sharding."""
    routed = model.routed_params()
    plain = (model.params() - routed) / (trainer.tensor_parallel * trainer.pipeline)
    return plain, routed / (trainer.experts_cut * trainer.pipeline)


def state_seconds(
    model: Model, accelerator: Accelerator, trainer: Trainer, micro: int, computed: float, train: bool
) -> float:
    """Seconds of an update that sharded state adds to `computed` seconds of passes, and the optimizer's own.

    ZeRO 3 gathers weights, as they are stored, for each pass of each micro-batch and scatters fp32 gradients,
    overlapping the arithmetic. ZeRO 1 scatters and gathers once, hidden by a micro-batch. ZeRO 2 keeps no gradients of
    other ranks, so it scatters those of every micro-batch (DeepSpeed, `runtime/zero/stage_1_and_2.py`), all but the
    last overlapping the next.
    """
    ranks = trainer.ranks * trainer.context_parallel
    of_experts = max(trainer.gpus // (trainer.pipeline * trainer.experts_cut), 1)
    plain, routed = own_params(model, trainer)

    def over_the_links(bytes_of_weight: float) -> float:
        """Seconds to gather or scatter this many bytes of each of a GPU's weights over the ranks that share them."""
        seconds = 0.0
        for weights, n, cut in ((plain, ranks, trainer.tensor_parallel), (routed, of_experts, trainer.experts_cut)):
            if n > 1 and weights:
                rate = LINK * accelerator.ring_bytes_per_second(n * cut)  # the distance between the ranks that share
                if n * cut > accelerator.scaleup_domain:  # each of so many groups has its own cards of a server
                    rate /= min(cut, accelerator.scaleup_domain)
                seconds += bytes_of_weight * weights * (n - 1) / n / rate
        return seconds

    def last() -> float:
        one = computed / micro  # backward, two thirds of it, hides the gradients, and the next forward the weights
        gradients = max(over_the_links(4) - 2 / 3 * one, 0.0)
        whole = gradients + max(over_the_links(2) - 1 / 3 * one, 0.0)
        return 0.0 if trainer.adapters else whole / trainer.virtual  # the other parts went while the last one computed

    gradient, width = 0 if trainer.adapters else 4, frozen_width(model, trainer.four_bits)
    if trainer.zero == 3:
        gathered = micro * over_the_links(2 * width + gradient if train else width)
        exchanged = max(gathered - computed, 0.0)
    elif not train:
        exchanged = 0.0
    elif trainer.zero == 2:
        exchanged = (micro - 1) * max(over_the_links(gradient) - computed / micro, 0.0) + last()
    else:
        exchanged = last()
    weights = model.params() / trainer.gpus
    to_host = LINK * 1e9 * (accelerator.host_gb_per_second or PCIE_GB_PER_SECOND)
    if trainer.on_host == "all":
        brought = micro * (2 * width + gradient if train else width) * weights / to_host
        exchanged += max(brought - computed, 0.0)
    if not train:
        return exchanged
    trained = adapter_params(model, trainer.adapters) / trainer.gpus if trainer.adapters else weights
    optimizer = OPTIMIZER_BYTES * trained / (TRAFFIC * accelerator.hbm_bytes_per_second)
    if trainer.on_host != "nothing":
        of_server = trained * min(trainer.gpus, SERVER)
        optimizer += max(OFFLOADED_BYTES * trained / to_host, HOST_ADAM * of_server)
    return exchanged + optimizer
