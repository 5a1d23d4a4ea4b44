"""Seconds of one layer of a model on this machine, with random weights in bf16: its products, its attention, its
launches, and the link to the host.

Measurement, not a model; the shapes are those of the model's config.json (models.py, 2023 to 2026), and bytes and FLOP
are counted as in throughput.py and trainer.py. Kernels are torch's own, and an engine's may be faster. torch is not a
dependency of sim/ and is imported only for timing. What the seconds say about a chip is in calibrate.py.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from sim.cluster.models import Model
from sim.cluster.trainer import BACKWARD, BACKWARD_ATTENTION

WARM_UP, FEWEST, REPEATS, LIMIT = 3, 3, 20, 5.0  # warm-up runs, fewest and most counted runs, seconds per row
LAYERS = 20  # layers run in sequence to time launches
FLUSHED = 2**30  # bytes written before a GPU is timed, more than any of its caches holds
SENT = 2**28  # bytes sent from the host
WIDTH = 2  # bytes of a number in bf16


@dataclass(frozen=True)
class Shape:
    """One layer with separate keys and values per head, and an MLP or experts."""

    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int  # of the MLP that every token visits; 0 if there is none
    gated: bool
    experts: int = 0
    top_k: int = 0
    expert_intermediate: int = 0

    @property
    def matrices(self) -> list[tuple[int, int]]:
        """(out, in) of the weights that every token is multiplied with."""
        queries, both = self.heads * self.head_dim, 2 * self.kv_heads * self.head_dim
        shapes = [(queries + both, self.hidden), (self.hidden, queries)]
        if self.intermediate:
            shapes += [(self.up(self.intermediate), self.hidden), (self.hidden, self.intermediate)]
        return [*shapes, (self.experts, self.hidden)] if self.experts else shapes

    @property
    def expert(self) -> list[tuple[int, int]]:
        """The same for one expert."""
        wide = self.expert_intermediate
        return [(self.up(wide), self.hidden), (self.hidden, wide)] if self.experts else []

    def up(self, intermediate: int) -> int:
        return (2 if self.gated else 1) * intermediate

    def touched(self, tokens: int) -> int:
        """The number of experts that at least one of `tokens` tokens is routed to, E(1 − (1 − k/E)ⁿ), as in
        models.py.
        """
        return round(self.experts * (1 - (1 - self.top_k / self.experts) ** tokens)) if self.experts else 0


def shape_of(model: Model) -> Shape:
    """The Shape of a layer, with experts if the model has them; raises a ValueError for any other kind of attention."""
    other = {
        "a latent in place of keys and values": model.mla,
        "layers with a state": model.linear,
        "an index of its cache": model.indexer,
        "experts of a narrower width": model.moe and model.moe.latent,
    }
    if found := next((what for what, there in other.items() if there), None):
        raise ValueError(
            f"{model.name} has {found}, for which torch has no kernel; the shares depend on the chip more than on the "
            "model, so time a model with plain heads instead, such as qwen3-8b"
        )
    moe = model.moe
    plain = Shape(model.hidden, model.heads, model.kv_heads, model.head_dim, model.intermediate, model.gated_mlp)
    if moe is None:
        return plain
    return replace(
        plain, intermediate=moe.shared, experts=moe.experts, top_k=moe.top_k, expert_intermediate=moe.intermediate
    )


class Sizes(NamedTuple):
    """How much passes through the layer."""

    sequences: int  # sequences that decode together
    context: int  # tokens of each in the cache
    batch: int  # tokens of a large decode batch
    tokens: int  # tokens of a micro-batch in training
    longest: int  # tokens of one sequence in training


SMALL = Sizes(sequences=4, context=64, batch=16, tokens=64, longest=64)


def small(shape: Shape) -> Shape:
    """A layer of the same kind, small enough for a CPU."""
    return Shape(
        hidden=64,
        heads=4,
        kv_heads=4 if shape.kv_heads == shape.heads else 2,
        head_dim=16,
        intermediate=128 if shape.intermediate else 0,
        gated=shape.gated,
        experts=min(shape.experts, 8),
        top_k=min(shape.top_k, 2),
        expert_intermediate=min(shape.expert_intermediate, 32),
    )


@dataclass(frozen=True)
class Timing:
    """The median time over some repeats, and the bytes moved and FLOP done in each."""

    name: str
    seconds: float
    repeats: int
    moved: float = 0.0  # bytes
    flop: float = 0.0


# Bytes and FLOP


def products_work(shape: Shape, tokens: int) -> tuple[float, float]:
    """(bytes of weights, FLOP) of one forward pass; only experts with tokens are read."""
    plain, expert = (sum(out * into for out, into in of) for of in (shape.matrices, shape.expert))
    read = plain + shape.touched(tokens) * expert
    return float(WIDTH * read), 2.0 * (plain + shape.top_k * expert) * tokens


def cache_work(shape: Shape, sequences: int, context: int) -> tuple[float, float]:
    """(bytes of keys and values, FLOP) for the attention of one token in each sequence."""
    cached = sequences * context * shape.head_dim
    return float(WIDTH * 2 * shape.kv_heads * cached), 4.0 * shape.heads * cached


def attention_flop(shape: Shape, longest: int) -> float:
    """FLOP of a forward pass of causal attention over one sequence: on average each token attends to half of it."""
    return 4.0 * shape.heads * shape.head_dim * longest * longest / 2


# Clocks


def timed(once: Callable[[], float]) -> tuple[float, int]:
    """(median of the seconds that `once` returns, number of counted runs), after warm-up runs."""
    for _ in range(WARM_UP):
        once()
    seconds: list[float] = []
    begun = perf_counter()
    while len(seconds) < FEWEST or (len(seconds) < REPEATS and perf_counter() - begun < LIMIT):
        seconds.append(once())
    return median(seconds), len(seconds)


@dataclass(frozen=True)
class Machine:
    """The device to time, in torch."""

    torch: Any
    device: str  # "cuda" or "cpu"

    def random(self, *shape: int) -> Any:
        return self.torch.randn(*shape, device=self.device, dtype=self.torch.bfloat16)

    def wait(self) -> None:
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def seconds(self, work: Callable[[], object]) -> tuple[float, int]:
        """Seconds of work on the device, and the repeats. A GPU first writes a gigabyte, so that no cache holds what is
        read next, and the host has launched everything before the GPU gets to it, as when an engine replays a graph.
        """
        if self.device != "cuda":
            return self.of_host(work, 1)
        written = self.torch.empty(FLUSHED, dtype=self.torch.int8, device=self.device)

        def once() -> float:
            start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
            written.zero_()
            start.record()
            work()
            end.record()
            self.wait()
            return float(start.elapsed_time(end)) / 1e3

        return timed(once)

    def of_host(self, work: Callable[[], object], times: int) -> tuple[float, int]:
        """Seconds of one of `times` consecutive runs by the host's clock, waiting for all of them, and the repeats."""

        def once() -> float:
            self.wait()
            begun = perf_counter()
            for _ in range(times):
                work()
            self.wait()
            return (perf_counter() - begun) / times

        return timed(once)


def found_torch() -> Any:
    """torch, or None if it is not installed."""
    try:
        return import_module("torch")
    except ImportError:
        return None


# Timings


def timings(machine: Machine, shape: Shape, sizes: Sizes) -> list[Timing]:
    """All timings, some seconds each."""
    seconds, passes = machine.seconds, 1 + BACKWARD
    with machine.torch.no_grad():
        weights = Weights(machine, shape)
        trained = [passes * work for work in products_work(shape, sizes.tokens)]
        cached = cache_work(shape, sizes.sequences, sizes.context)
        rows = [
            Timing("weights", *seconds(weights.forward(sizes.sequences)), *products_work(shape, sizes.sequences)),
            Timing("cache", *seconds(decoding(machine, shape, sizes)), *cached),
            Timing("batch", *seconds(weights.forward(sizes.batch)), *products_work(shape, sizes.batch)),
            Timing("training", *seconds(weights.update(sizes.tokens)), *trained),
            Timing("launch", *machine.of_host(launches(machine), LAYERS)),
            Timing("host", *seconds(sending(machine)), SENT),
        ]
    flop = (1 + BACKWARD_ATTENTION) * attention_flop(shape, sizes.longest)
    return [*rows, Timing("attention", *seconds(attention(machine, shape, sizes.longest)), flop=flop)]


@dataclass
class Weights:
    """Random matrices of a layer, (out, in) as checkpoints store them, and those of its experts, (experts, out, in)."""

    machine: Machine
    shape: Shape

    def __post_init__(self) -> None:
        random, shape = self.machine.random, self.shape
        self.plain = [random(*of) for of in shape.matrices]
        self.experts = [random(shape.experts, *of) for of in shape.expert]

    def pairs(self, tokens: int) -> list[tuple[Any, Any]]:
        """(inputs, matrix) of every product; tokens are spread evenly over the experts."""
        random, touched = self.machine.random, self.shape.touched(tokens)
        multiplied = [(random(tokens, w.shape[-1]), w) for w in self.plain]
        each = max(round(tokens * self.shape.top_k / touched), 1) if touched else 0
        return multiplied + [(random(touched, each, w.shape[-1]), w[:touched]) for w in self.experts]

    def forward(self, tokens: int) -> Callable[[], object]:
        pairs = self.pairs(tokens)
        return lambda: [x @ w.mT for x, w in pairs]

    def update(self, tokens: int) -> Callable[[], object]:
        """A forward pass, and the gradients of the inputs and the weights."""
        pairs = [(x, w, x @ w.mT) for x, w in self.pairs(tokens)]

        def work() -> None:
            for x, w, gradient in pairs:
                x @ w.mT
                gradient @ w
                gradient.mT @ x

        return work


def decoding(machine: Machine, shape: Shape, sizes: Sizes) -> Callable[[], object]:
    """Attention of one new token per sequence. Heads that share a key are rows of one product, so that keys and values
    are read once, as in decoding kernels.
    """
    shared = shape.heads // shape.kv_heads
    query = machine.random(sizes.sequences, shape.kv_heads, shared, shape.head_dim)
    key, value = (machine.random(sizes.sequences, shape.kv_heads, sizes.context, shape.head_dim) for _ in range(2))
    return lambda: machine.torch.nn.functional.scaled_dot_product_attention(query, key, value)


def attention(machine: Machine, shape: Shape, longest: int) -> Callable[[], object]:
    """Causal attention over one sequence, forward and backward, with a separate key for every head."""
    q, k, v = (machine.random(1, shape.heads, longest, shape.head_dim).requires_grad_() for _ in range(3))
    gradient = machine.random(1, shape.heads, longest, shape.head_dim)

    def work() -> object:
        out = machine.torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return machine.torch.autograd.grad(out, (q, k, v), gradient)

    return work


def launches(machine: Machine) -> Callable[[], object]:
    """A layer's forward pass for one token, with each operation launched separately and too narrow to take time itself:
    norms, rotation, attention, gated MLP, sums.
    """
    torch, width = machine.torch, 64
    matrices = ((3 * width, width), (width, width), (2 * width, width), (width, width))
    qkv, out, up, down = (machine.random(*of) for of in matrices)
    token, scale, cos, sin = machine.random(1, width), *(machine.random(width) for _ in range(3))

    def norm(x: Any) -> Any:
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * scale

    def rotated(x: Any) -> Any:
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat((-second, first), -1) * sin

    def work() -> object:
        query, key, value = (norm(token) @ qkv.mT).chunk(3, -1)
        heads = [x.reshape(1, 1, 1, width) for x in (rotated(query), rotated(key), value)]
        mixed = torch.nn.functional.scaled_dot_product_attention(*heads).reshape(1, width)
        x = token + mixed @ out.mT
        gate, linear = (norm(x) @ up.mT).chunk(2, -1)
        return x + (torch.nn.functional.silu(gate) * linear) @ down.mT

    return work


def sending(machine: Machine) -> Callable[[], object]:
    """A copy from the host's memory, pinned if there is a GPU, to the device."""
    source = machine.torch.empty(SENT, dtype=machine.torch.int8)
    source = source.pin_memory() if machine.device == "cuda" else source
    target = machine.torch.empty(SENT, dtype=machine.torch.int8, device=machine.device)
    return lambda: target.copy_(source, non_blocking=True)
