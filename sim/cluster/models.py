"""Shapes of published models, and what follows from them by arithmetic: parameters, cache bytes, attention FLOPs.

Shapes from the `config.json` of each model (2023 to 2026); every count is a closed form of the shape, none is typed in.
How a config file is read stands in configs.py.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np

Numbers: TypeAlias = float | np.ndarray  # one number, or an array of them: a formula that holds for both


@dataclass(frozen=True)
class Moe:
    experts: int
    top_k: int
    shared: int  # width of the MLP that every token visits besides; 0 where there is none
    intermediate: int  # hidden width of one expert
    dense: int  # layers that have a plain MLP instead
    bias: int = 0  # of one expert
    latent: int | None = None  # what the experts read and write where that is narrower than the hidden state
    groups: int | None = None  # of experts, one a server, among which a token chooses at most; None: no limit


@dataclass(frozen=True)
class Mla:
    """Multi-head latent attention: K and V are rebuilt from one cached latent. DeepSeek-V2 (2024), arXiv:2405.04434."""

    q_lora: int | None  # None: queries are projected in one step
    kv_lora: int  # width of the latent
    rope: int  # width of the one position-carrying key that all heads share
    nope: int  # width of the rest of a key
    v: int


@dataclass(frozen=True)
class Sliding:
    """Layers that attend to the last `window` tokens only, and forget what is older."""

    layers: int
    window: int


@dataclass(frozen=True)
class Linear:
    """Layers that keep a state of fixed size instead of keys and values: linear attention, state-space models."""

    layers: int
    params: int  # of the mixer of one layer
    state_bytes: int  # of a sequence and layer, whatever the precision of keys and values


@dataclass(frozen=True)
class Indexer:
    """Sparse attention: a cheap score picks the `top_k` cached tokens that are read. DeepSeek-V3.2 (2025),
    arXiv:2512.02556.
    """

    layers: int  # that score; the others take over their choice
    params: int  # of one layer
    heads: int
    dim: int
    top_k: int

    @property
    def key_bytes(self) -> int:
        return self.dim + 4  # assumed: fp8 with one scale of four bytes, whatever the precision of the latent


@dataclass(frozen=True)
class Quantized:
    """How a file stores its weights where that is not bf16: an engine holds and reads them so, training and a reference
    dequantize them.
    """

    method: str
    bytes: float  # of a weight, its part of the scales included
    plain: int  # weights that stay in bf16
    arithmetic: float = 2  # bytes of a number that they are multiplied as, on a chip that can
    moved: float | None = None  # bytes that a pass reads and writes for each, if not those that it is stored in


class Cache(NamedTuple):
    """What `layers` of a model keep of a sequence."""

    layers: int
    token_bytes: float = 0
    window: int | None = None  # tokens kept at most
    read_limit: int | None = None  # tokens read at most for each new one
    state_bytes: int = 0  # of a sequence, however long


@dataclass(frozen=True)
class Model:
    key: str
    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    vocab: int
    tied: bool = False  # the output head is the embedding table
    qkv_bias: bool = False
    qk_norm: bool = False
    moe: Moe | None = None
    mla: Mla | None = None
    sliding: Sliding | None = None
    linear: Linear | None = None
    indexer: Indexer | None = None
    mlp_layers: int | None = None  # with an MLP or experts, where that is not every layer
    gated_mlp: bool = True  # SwiGLU: gate, up, down; otherwise up, down
    further_params: int = 0  # biases, norms, gates and sinks that the fields above do not say
    cached_heads: int | None = None  # a what-if: the cache holds this many KV heads, and the weights stay as they are
    quantized: Quantized | None = None  # how the file stores its weights
    positions: int | None = field(default=None, compare=False)  # tokens that a sequence may have; changes no count

    @property
    def attention_kind(self) -> str:
        heads = self.cached_heads or self.kv_heads
        return "mla" if self.latent else "mha" if heads == self.heads else "mqa" if heads == 1 else "gqa"

    @property
    def latent(self) -> bool:
        return self.mla is not None and self.cached_heads is None

    @property
    def moe_layers(self) -> int:
        return (self.mlp_layers or self.layers) - self.moe.dense if self.moe else 0

    @property
    def attention_layers(self) -> int:
        return self.layers - (self.linear.layers if self.linear else 0)

    def params(self) -> int:
        """All weights. A router's load-balancing bias (DeepSeek-V3, Kimi K2) is a buffer and is not counted; nor is the
        multi-token-prediction module.
        """
        d, moe = self.hidden, self.moe
        mixers = self.attention_layers * self.attention_params()
        mixers += self.linear.layers * self.linear.params if self.linear else 0
        mixers += self.indexer.layers * self.indexer.params if self.indexer else 0
        dense = ((self.mlp_layers or self.layers) - self.moe_layers) * self.mlp_params(d, self.intermediate)
        around = d * moe.experts + self.mlp_params(d, moe.shared) + 2 * d * (moe.latent or 0) if moe else 0
        experts = self.moe_layers * (around + moe.experts * self.expert_params()) if moe else 0
        norms = self.layers * 2 * d + d
        embeddings = self.embed_params() * (1 if self.tied else 2)
        return embeddings + mixers + dense + experts + norms + self.further_params

    def active_params(self) -> int:
        """Weights that one token uses: all of them but the experts it is not routed to. The embedding counts, as in the
        names of published models and in the 6PN of training.
        """
        unrouted = self.moe_layers * (self.moe.experts - self.moe.top_k) * self.expert_params() if self.moe else 0
        return self.params() - unrouted

    def matmul_params(self) -> int:
        """P′, the weights that one token is multiplied with: an embedding table of its own is looked up, not
        multiplied. 2P′ FLOP a token.
        """
        return self.active_params() - self.lookup_params()

    def read_params(self, tokens: Numbers) -> Numbers:
        """Parameters that an iteration of so many tokens reads: all of a dense model but the lookup, a row a token; of
        a mixture of experts those that someone was routed to, E(1 − (1 − k/E)^n) a layer.
        """
        read = float(self.params() - self.lookup_params())
        if not self.moe:
            return read
        # assumed: routing is uniform; skew touches fewer
        return read - float(self.routed_params()) * (1 - self.moe.top_k / self.moe.experts) ** tokens

    def routed_params(self) -> int:
        """Weights of all experts that a router chooses among."""
        return self.moe_layers * self.moe.experts * self.expert_params() if self.moe else 0

    def routed_bytes(self, weight_bytes: float | None = None, read: bool = False) -> float:
        """The same in an engine, stored or `read` by a pass: of this width, or None, as the file stores them."""
        if weight_bytes is None:
            weight_bytes = self._width(read) if self.quantized else 2.0
        return self.routed_params() * weight_bytes

    def _width(self, read: bool) -> float:
        assert self.quantized is not None, "a file in bf16 has no width of its own"
        return self.quantized.moved if read and self.quantized.moved else self.quantized.bytes

    def stored_bytes(self, weight_bytes: float | None = None) -> float:
        """All weights in an engine: of this width, or None, as the file stores them."""
        return float(self._stored(self.params(), 0, weight_bytes))

    def weight_bytes_read(self, tokens: Numbers, weight_bytes: float | None = None) -> Numbers:
        """What an iteration of so many tokens reads of them."""
        return self._stored(self.read_params(tokens), self.lookup_params(), weight_bytes, read=True)

    def _stored(self, params: Numbers, lookup: int, weight_bytes: float | None, read: bool = False) -> Numbers:
        if weight_bytes is not None or self.quantized is None:
            return params * (2.0 if weight_bytes is None else weight_bytes)
        plain = self.quantized.plain - lookup
        return (params - plain) * self._width(read) + 2.0 * plain

    def multiplied_as(self, weight_bytes: float | None = None) -> float:
        """Bytes of a number that they are multiplied as."""
        if weight_bytes is None:
            return self.quantized.arithmetic if self.quantized else 2
        return weight_bytes

    def embed_params(self) -> int:
        """The lookup table, vocab x hidden. An untied model has a second matrix of this size as its output head."""
        return self.vocab * self.hidden

    def lookup_params(self) -> int:
        """The table if it is only looked up; a tied one is also the output head, which every token is multiplied
        with.
        """
        return 0 if self.tied else self.embed_params()

    def mlp_params(self, hidden: int, intermediate: int) -> int:
        return (3 if self.gated_mlp else 2) * hidden * intermediate

    def expert_params(self) -> int:
        """One expert of one layer."""
        assert self.moe is not None, "a dense model has no experts"
        return self.mlp_params(self.moe.latent or self.hidden, self.moe.intermediate) + self.moe.bias

    def attention_params(self) -> int:
        """One layer's attention: projections, their biases and norms."""
        d, H, K, hd = self.hidden, self.heads, self.kv_heads, self.head_dim
        if self.mla:
            m = self.mla
            query = d * m.q_lora + m.q_lora if m.q_lora else 0
            query += (m.q_lora or d) * H * (m.nope + m.rope)
            key_value = d * (m.kv_lora + m.rope) + m.kv_lora + m.kv_lora * H * (m.nope + m.v)
            return query + key_value + H * m.v * d
        return 2 * d * H * hd + 2 * d * K * hd + self.qkv_bias * (H + 2 * K) * hd + self.qk_norm * 2 * hd

    def attention_matrices(self) -> int:
        """The projections alone."""
        if self.mla:
            return self.attention_params() - (self.mla.q_lora or 0) - self.mla.kv_lora
        return 2 * self.hidden * (self.heads + self.kv_heads) * self.head_dim

    def expert_matrices(self) -> int:
        """Of all experts that a router chooses among, without biases."""
        return self.moe_layers * self.moe.experts * (self.expert_params() - self.moe.bias) if self.moe else 0

    def matrices(self) -> int:
        """Of attention, MLPs and experts, in all layers: what a quantized file stores narrowly. Embeddings, the head,
        norms and routers are none of them.
        """
        dense = ((self.mlp_layers or self.layers) - self.moe_layers) * self.mlp_params(self.hidden, self.intermediate)
        shared = self.moe_layers * self.mlp_params(self.hidden, self.moe.shared) if self.moe else 0
        return self.attention_layers * self.attention_matrices() + dense + shared + self.expert_matrices()

    # What a sequence keeps, and what of it is read

    def caches(self, kv_bytes: float = 2) -> tuple[Cache, ...]:
        """What the layers keep of a sequence, by kind of layer: a key and a value per KV head and token, or with MLA
        one latent and one position key.
        """
        sliding = self.sliding or Sliding(0, 0)
        growing = self.attention_layers - sliding.layers
        token_bytes, index = self.cached_width() * kv_bytes, self.indexer
        kinds = [Cache(growing, token_bytes, read_limit=index.top_k if index else None)]
        if sliding.layers:
            kinds.append(Cache(sliding.layers, token_bytes, window=sliding.window))
        if index:
            kinds.append(Cache(index.layers, index.key_bytes))
        if self.linear:
            kinds.append(Cache(self.linear.layers, state_bytes=self.linear.state_bytes))
        return tuple(kinds)

    def cached_width(self) -> int:
        """Numbers that one attention layer caches for a token."""
        if self.mla and self.latent:
            return self.mla.kv_lora + self.mla.rope
        value_dim = self.mla.v if self.mla else self.head_dim
        return (self.cached_heads or self.kv_heads) * (self.head_dim + value_dim)

    def cache_bytes(
        self, context: Numbers, kv_bytes: float = 2, tensor_parallel: int = 1, context_parallel: int = 1
    ) -> Numbers:
        """What a sequence of `context` tokens keeps on each GPU of an engine; a number or an array."""
        return self._bytes(lambda cache: cache.window, context, kv_bytes, tensor_parallel, context_parallel)

    def bytes_read(
        self, context: Numbers, kv_bytes: float = 2, tensor_parallel: int = 1, context_parallel: int = 1
    ) -> Numbers:
        """What each GPU reads of it to decode one token."""
        return self._bytes(
            lambda cache: cache.window or cache.read_limit, context, kv_bytes, tensor_parallel, context_parallel
        )

    def _bytes(
        self,
        limit: Callable[[Cache], float | None],
        context: Numbers,
        kv_bytes: float,
        tensor_parallel: int,
        context_parallel: int,
    ) -> Numbers:
        shards = self.kv_shards(tensor_parallel, context_parallel)
        total: Numbers = 0.0
        for cache in self.caches(kv_bytes):
            tokens = np.minimum(context, limit(cache) or np.inf)
            # a state belongs to a head and is cut with the heads; keys and values are not cut beyond their own
            total = total + cache.layers * (tokens * cache.token_bytes / shards + cache.state_bytes / tensor_parallel)
        return total

    def kv_bytes_per_token(self, kv_bytes: float = 2) -> float:
        """What one more token adds to the cache of a long sequence: layers with a window or a state add nothing."""
        return sum(cache.layers * cache.token_bytes for cache in self.caches(kv_bytes) if not cache.window)

    def kv_shards(self, tensor_parallel: int, context_parallel: int = 1) -> int:
        """Into how many parts an engine cuts the cache. Tensor parallelism cuts by KV head, so beyond `kv_heads` it
        only copies, and MLA's latent belongs to all heads; decode context parallelism cuts what would be copies, by
        tokens.
        """
        by_head = self.shards_by_head(tensor_parallel)
        if context_parallel > tensor_parallel / by_head:
            raise ValueError(
                f"decode context parallelism {context_parallel} cuts copies, and tensor parallelism {tensor_parallel} "
                f"makes {tensor_parallel // by_head} of the cache of {self.name}"
            )
        return by_head * context_parallel

    def shards_by_head(self, tensor_parallel: int) -> int:
        return 1 if self.latent else min(tensor_parallel, self.cached_heads or self.kv_heads)

    def tp_sizes(self) -> tuple[int, ...]:
        """Engines that can be built: powers of two that divide the heads, with whole KV heads on a GPU or whole copies
        of one, as vLLM (2026) demands.
        """
        sizes = [2**n for n in range(11) if self.heads % 2**n == 0]
        if self.mla:
            return tuple(sizes)
        return tuple(tp for tp in sizes if self.kv_heads % tp == 0 or tp % self.kv_heads == 0)

    def attention_flops_per_token(self, context: Numbers) -> Numbers:
        """Decoding one token against `context` cached ones: scores and weighted sum, all layers, without the
        projections.

        2 FLOP x (key width + value width) per head. MLA scores against the latent itself (the absorbed form), which is
        wider than a key.
        """
        value_dim = self.mla.v if self.mla else self.head_dim
        width = 2 * self.mla.kv_lora + self.mla.rope if self.mla and self.latent else self.head_dim + value_dim
        return self._attention_flops(width, context)

    def prefill_flops_per_token(self, context: Numbers) -> Numbers:
        """The same for a token of a prompt, which attends to `context` before it; MLA rebuilds its keys and values
        there.
        """
        return self._attention_flops(self.head_dim + (self.mla.v if self.mla else self.head_dim), context)

    def _attention_flops(self, width: float, context: Numbers) -> Numbers:
        flops: Numbers = 0.0
        index = self.indexer
        for cache in self.caches()[: 2 if self.sliding else 1]:  # the layers that attend
            tokens = np.minimum(context, cache.window or cache.read_limit or np.inf)
            flops = flops + 2.0 * cache.layers * self.heads * width * tokens
        return flops + (2.0 * index.layers * index.heads * index.dim * context if index else 0.0)


# Mixers with a state of fixed size: parameters and bytes of one layer. The convolution before it keeps kernel − 1
# inputs in bf16, the state itself is fp32.


def gated_delta_net(
    layers: int, hidden: int, key_heads: int, key_dim: int, value_heads: int, value_dim: int, kernel: int
) -> Linear:
    """Gated DeltaNet, as in Qwen3-Next. Yang et al. (2024), arXiv:2412.06464."""
    keys, values = key_heads * key_dim, value_heads * value_dim
    convolved = 2 * keys + values
    projections = hidden * (2 * keys + 2 * values + 2 * value_heads) + values * hidden
    return Linear(
        layers,
        projections + convolved * kernel + 2 * value_heads + value_dim,  # decay and step a head, one norm
        value_heads * key_dim * value_dim * 4 + convolved * (kernel - 1) * 2,
    )


def kimi_delta_attention(layers: int, hidden: int, heads: int, head_dim: int, kernel: int) -> Linear:
    """Kimi Linear (2025), arXiv:2510.26692: decay and gate are projected through a bottleneck of one head's width."""
    width = heads * head_dim
    bottlenecks = 2 * (hidden * head_dim + head_dim * width)
    return Linear(
        layers,
        4 * hidden * width + 3 * width * kernel + hidden * heads + bottlenecks + heads + width + head_dim,
        heads * head_dim**2 * 4 + 3 * width * (kernel - 1) * 2,
    )


def mamba2(
    layers: int, hidden: int, heads: int, head_dim: int, groups: int, state: int, kernel: int, bias: bool = True
) -> Linear:
    """Dao and Gu (2024), arXiv:2405.21060."""
    inner = heads * head_dim
    convolved = inner + 2 * groups * state
    return Linear(
        layers,
        hidden * (inner + convolved + heads) + convolved * (kernel + bias) + 3 * heads + inner + inner * hidden,
        heads * head_dim * state * 4 + convolved * (kernel - 1) * 2,
    )


def lightning_attention(layers: int, hidden: int, heads: int, head_dim: int) -> Linear:
    """MiniMax-01 (2025), arXiv:2501.08313."""
    width = heads * head_dim
    return Linear(layers, hidden * 3 * width + 2 * hidden * width + width, heads * head_dim**2 * 4)


_LATENT = Mla(q_lora=1536, kv_lora=512, rope=64, nope=128, v=128)

# fmt: off
#     key                name            layers hidden heads   KV  dim    MLP   vocab
_ROWS = [
    Model("llama2-7b",       "Llama-2-7B",       32,  4096,  32,  32, 128, 11008,  32000),
    Model("llama3.1-8b",     "Llama-3.1-8B",     32,  4096,  32,   8, 128, 14336, 128256),
    Model("llama3.1-70b",    "Llama-3.1-70B",    80,  8192,  64,   8, 128, 28672, 128256),
    Model("llama3.1-405b",   "Llama-3.1-405B",  126, 16384, 128,   8, 128, 53248, 128256),
    Model("qwen2.5-1.5b",    "Qwen2.5-1.5B",     28,  1536,  12,   2, 128,  8960, 151936, tied=True, qkv_bias=True),
    Model("qwen2.5-7b",      "Qwen2.5-7B",       28,  3584,  28,   4, 128, 18944, 152064, qkv_bias=True),
    Model("qwen2.5-32b",     "Qwen2.5-32B",      64,  5120,  40,   8, 128, 27648, 152064, qkv_bias=True),
    Model("qwen3-8b",        "Qwen3-8B",         36,  4096,  32,   8, 128, 12288, 151936, qk_norm=True),
    Model("qwen3-30b-a3b",   "Qwen3-30B-A3B",    48,  2048,  32,   4, 128,  6144, 151936, qk_norm=True,
          moe=Moe(128, 8, 0, 768, 0)),
    Model("qwen3-235b-a22b", "Qwen3-235B-A22B",  94,  4096,  64,   4, 128, 12288, 151936, qk_norm=True,
          moe=Moe(128, 8, 0, 1536, 0)),
    Model("mixtral-8x7b",    "Mixtral-8x7B",     32,  4096,  32,   8, 128, 14336,  32000, moe=Moe(8, 2, 0, 14336, 0)),
    Model("deepseek-v3",     "DeepSeek-V3 / R1", 61,  7168, 128, 128, 192, 18432, 129280,
          moe=Moe(256, 8, 2048, 2048, 3, groups=4), mla=_LATENT),
    Model("kimi-k2",         "Kimi K2",          61,  7168,  64,  64, 192, 18432, 163840,
          moe=Moe(384, 8, 2048, 2048, 1), mla=_LATENT),
    # biases of an expert; besides, of the output projection and the router, and a sink a head
    Model("gpt-oss-120b",    "gpt-oss-120b",     36,  2880,  64,   8,  64,  2880, 201088, qkv_bias=True,
          moe=Moe(128, 4, 0, 2880, 0, bias=3 * 2880), sliding=Sliding(18, 128), further_params=36 * (2880 + 128 + 64)),
    # besides, the gate of a full layer's output (as wide as its queries) and of a shared expert
    Model("qwen3-next-80b-a3b", "Qwen3-Next-80B-A3B", 48, 2048, 16, 2, 256, 5120, 151936, qk_norm=True,
          moe=Moe(512, 10, 512, 512, 0), linear=gated_delta_net(36, 2048, 16, 128, 32, 128, 4),
          further_params=12 * 2048 * 16 * 256 + 48 * 2048),
    Model("qwen3.5-35b-a3b", "Qwen3.5-35B-A3B",  40,  2048,  16,   2, 256,     0, 248320, qk_norm=True,
          moe=Moe(256, 8, 512, 512, 0), linear=gated_delta_net(30, 2048, 16, 128, 32, 128, 4),
          further_params=10 * 2048 * 16 * 256 + 40 * 2048),
    Model("glm-4.5-air",     "GLM-4.5-Air",      46,  4096,  96,   8, 128, 10944, 151552, qkv_bias=True,
          moe=Moe(128, 8, 1408, 1408, 1)),
    # besides, two more norms a layer
    Model("gemma3-27b",      "Gemma-3-27B",      62,  5376,  32,  16, 128, 21504, 262208, tied=True, qk_norm=True,
          sliding=Sliding(52, 1024), further_params=62 * 2 * 5376),
]
# fmt: on
# max_position_embeddings of the release of these shapes that has most: Qwen3's of July, Kimi K2's of September 2025
_POSITIONS = {
    "llama2-7b": 4096,
    "llama3.1-8b": 131072,
    "llama3.1-70b": 131072,
    "llama3.1-405b": 131072,
    "qwen2.5-1.5b": 131072,
    "qwen2.5-7b": 131072,
    "qwen2.5-32b": 131072,
    "qwen3-8b": 40960,
    "qwen3-30b-a3b": 262144,
    "qwen3-235b-a22b": 262144,
    "mixtral-8x7b": 32768,
    "deepseek-v3": 163840,
    "kimi-k2": 262144,
    "gpt-oss-120b": 131072,
    "qwen3-next-80b-a3b": 262144,
    "qwen3.5-35b-a3b": 262144,
    "glm-4.5-air": 131072,
    "gemma3-27b": 131072,
}
# three releases are stored in less than bf16: DeepSeek's and Moonshot's in fp8, each block of 128 x 128 with a scale of
# four bytes; OpenAI's experts in mxfp4, 32 weights with a scale of a byte, and multiplied in bf16
_FP8, _MXFP4 = ("fp8", 1 + 4 / 128**2, 1.0), ("mxfp4", 0.5 + 1 / 32, 2.0)


def _stored(model: Model, form: tuple[str, float, float], narrow: int) -> Model:
    method, width, arithmetic = form
    return replace(model, quantized=Quantized(method, width, model.params() - narrow, arithmetic))


def _released(model: Model) -> Model:
    model = replace(model, positions=_POSITIONS[model.key])
    if model.key in ("deepseek-v3", "kimi-k2"):
        return _stored(model, _FP8, model.matrices())
    if model.key == "gpt-oss-120b":
        return _stored(model, _MXFP4, model.expert_matrices())
    return model


MODELS = {row.key: _released(row) for row in _ROWS}
