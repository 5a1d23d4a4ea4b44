"""Shapes of published models, and what follows from them by arithmetic: parameters, KV-cache bytes, attention FLOPs.

Shapes from the `config.json` of each model (2023 to 2025); every count is a closed form of the shape, none is typed in.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Moe:
    experts: int
    top_k: int
    shared: int  # experts that every token visits
    intermediate: int  # hidden width of one expert
    first_dense: int  # layers at the bottom that have a plain MLP instead


@dataclass(frozen=True)
class Mla:
    """Multi-head latent attention: K and V are rebuilt from one cached latent. DeepSeek-V2 (2024), arXiv:2405.04434."""

    q_lora: int
    kv_lora: int  # width of the latent
    rope: int  # width of the one position-carrying key that all heads share
    nope: int  # width of the rest of a key
    v: int


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
    cached_heads: int | None = None  # a what-if: the cache holds this many KV heads, and the weights stay as they are

    @property
    def attention_kind(self):
        heads = self.cached_heads or self.kv_heads
        return "mla" if self.latent else "mha" if heads == self.heads else "mqa" if heads == 1 else "gqa"

    @property
    def latent(self):
        return self.mla is not None and self.cached_heads is None

    @property
    def moe_layers(self):
        return self.layers - self.moe.first_dense if self.moe else 0

    def params(self):
        """All weights. A router's load-balancing bias (DeepSeek-V3, Kimi K2) is a buffer and is not counted; nor is the
        multi-token-prediction module.
        """
        d, moe = self.hidden, self.moe
        dense = (self.layers - self.moe_layers) * 3 * d * self.intermediate  # SwiGLU: gate, up, down
        routed = self.moe_layers * (d * moe.experts + (moe.experts + moe.shared) * self.expert_params()) if moe else 0
        norms = self.layers * 2 * d + d
        embeddings = self.embed_params() * (1 if self.tied else 2)
        return embeddings + self.layers * self.attention_params() + dense + routed + norms

    def active_params(self):
        """Weights that one token uses: all of them but the experts it is not routed to. The embedding counts, as in the
        names of published models.
        """
        unrouted = self.moe_layers * (self.moe.experts - self.moe.top_k) * self.expert_params() if self.moe else 0
        return self.params() - unrouted

    def embed_params(self):
        """The lookup table, vocab x hidden. An untied model has a second matrix of this size as its output head."""
        return self.vocab * self.hidden

    def expert_params(self):
        """One expert of one layer."""
        return 3 * self.hidden * self.moe.intermediate

    def attention_params(self):
        """One layer's attention: projections, their biases and norms."""
        d, H, K, hd = self.hidden, self.heads, self.kv_heads, self.head_dim
        if self.mla:
            m = self.mla
            query = d * m.q_lora + m.q_lora + m.q_lora * H * (m.nope + m.rope)
            key_value = d * (m.kv_lora + m.rope) + m.kv_lora + m.kv_lora * H * (m.nope + m.v)
            return query + key_value + H * m.v * d
        return 2 * d * H * hd + 2 * d * K * hd + self.qkv_bias * (H + 2 * K) * hd + self.qk_norm * 2 * hd

    def kv_bytes_per_token(self, dtype_bytes=2):
        """Cache of one token over all layers: a key and a value per KV head, or with MLA one latent and one position
        key.
        """
        value_dim = self.mla.v if self.mla else self.head_dim
        if self.latent:
            width = self.mla.kv_lora + self.mla.rope
        else:
            width = (self.cached_heads or self.kv_heads) * (self.head_dim + value_dim)
        return self.layers * width * dtype_bytes

    def kv_shards(self, tensor_parallel):
        """Into how many parts tensor parallelism cuts the cache. It cuts by KV head, so beyond `kv_heads` it only
        copies; MLA's latent belongs to all heads.
        """
        return 1 if self.latent else min(tensor_parallel, self.cached_heads or self.kv_heads)

    def attention_flops_per_token(self, context):
        """Decoding one token against `context` cached ones: scores and weighted sum, all layers, without the
        projections.

        2 FLOP x (key width + value width) per head. MLA scores against the latent itself (the absorbed form), which is
        wider than a key.
        """
        value_dim = self.mla.v if self.mla else self.head_dim
        width = 2 * self.mla.kv_lora + self.mla.rope if self.latent else self.head_dim + value_dim
        return 2 * self.layers * self.heads * width * context

    @classmethod
    def from_config(cls, config, key="custom", name="custom"):
        """A model from its published `config.json`, given as a dict. An unknown family or a missing key is one
        sentence.
        """
        family = _entry(config, "model_type")
        if family not in FAMILIES:
            raise ValueError(f"model_type {family!r} is not one of {', '.join(FAMILIES)}")
        for unsupported in ("attention_bias", "mlp_bias", "mlp_only_layers"):
            if config.get(unsupported):
                raise ValueError(f"{unsupported} = {config[unsupported]!r} is not modeled")
        moe, mla = FAMILIES[family]
        entry = lambda key: _entry(config, key)
        widths = ("q_lora_rank", "kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim")
        latent = Mla(*map(entry, widths)) if mla else None
        heads, hidden = entry("num_attention_heads"), entry("hidden_size")
        head_dim = latent.nope + latent.rope if mla else config.get("head_dim") or hidden // heads
        shared, first_dense = (entry("n_shared_experts"), entry("first_k_dense_replace")) if mla else (0, 0)
        experts = Moe(entry(moe[0]), entry("num_experts_per_tok"), shared, entry(moe[1]), first_dense) if moe else None
        return cls(
            key,
            name,
            entry("num_hidden_layers"),
            hidden,
            heads,
            entry("num_key_value_heads"),
            head_dim,
            entry("intermediate_size"),
            entry("vocab_size"),
            entry("tie_word_embeddings"),
            family == "qwen2",
            family in ("qwen3", "qwen3_moe"),
            experts,
            latent,
        )


# model_type -> (the keys of the number and the width of its experts, whether its attention is latent)
FAMILIES = {
    "llama": (None, False),
    "qwen2": (None, False),
    "qwen3": (None, False),
    "qwen3_moe": (("num_experts", "moe_intermediate_size"), False),
    "mixtral": (("num_local_experts", "intermediate_size"), False),
    "deepseek_v3": (("n_routed_experts", "moe_intermediate_size"), True),
    "kimi_k2": (("n_routed_experts", "moe_intermediate_size"), True),
}


def _entry(config, key):
    if key not in config:
        raise ValueError(f"the config has no {key}")
    return config[key]


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
          moe=Moe(256, 8, 1, 2048, 3), mla=_LATENT),
    Model("kimi-k2",         "Kimi K2",          61,  7168,  64,  64, 192, 18432, 163840,
          moe=Moe(384, 8, 1, 2048, 1), mla=_LATENT),
]
# fmt: on
MODELS = {row.key: row for row in _ROWS}
