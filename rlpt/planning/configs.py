"""A model from its Hugging Face `config.json`: the meaning of each family's keys.

Closed form of the file: key names and defaults follow the modeling code of transformers 5.23 (2026). An entry that
would change the counts and is unknown here is refused or returned as unread, never guessed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from math import isfinite
from typing import Any

from sim.cluster.models import (
    Indexer,
    Linear,
    Mla,
    Model,
    Moe,
    Quantized,
    Sliding,
    gated_delta_net,
    kimi_delta_attention,
    lightning_attention,
    mamba2,
)

LLAMA = ("llama", "mistral", "ministral3", "phi3", "granite", "seed_oss")
QWEN = ("qwen2", "qwen3", "qwen2_moe", "qwen3_moe")
GATED_DELTA = ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text")
MIXTRAL = ("mixtral", "minimax_m2", "minimax", "gpt_oss")
LATENT = (
    "deepseek_v2",
    "deepseek_v3",
    "kimi_k2",
    "kimi_k25",
    "glm4_moe_lite",
    "mistral4",
    "deepseek_v32",
    "glm_moe_dsa",
)
FAMILIES = (
    *LLAMA,
    *QWEN,
    "olmo2",
    "olmo3",
    "gemma3_text",
    *GATED_DELTA,
    *MIXTRAL,
    "llama4_text",
    "glm4_moe",
    *LATENT,
    "kimi_linear",
    "nemotron_h",
)
SPARSE = ("deepseek_v32", "glm_moe_dsa")
NOT_MODELED = ("deepseek_v4", "glm5_next", "gemma4", "qwen4_exp", "mistral_large4", "minimax_m3")
# {name of a file that wraps a language model: the language model}
WRAPPED = {
    "gemma3": "gemma3_text",
    "llama4": "llama4_text",
    "qwen2_5_vl": "qwen2",
    "qwen2_5_vl_text": "qwen2",
    "qwen3_vl": "qwen3",
    "qwen3_vl_text": "qwen3",
    "qwen3_vl_moe": "qwen3_moe",
    "qwen3_vl_moe_text": "qwen3_moe",
    "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
}
# what a file omits if it equals the family's default
DEFAULTS = {
    "gemma3_text": dict(
        vocab_size=262208,
        tie_word_embeddings=True,
        num_attention_heads=8,
        num_key_value_heads=4,
        head_dim=256,
        sliding_window=4096,
    )
}

# Keys that change none of the counts; all other unread keys are reported
HARMLESS_WORDS = """
    model_type architectures auto_map transformers_version _name_or_path dtype torch_dtype use_cache return_dict
    bos_token_id eos_token_id pad_token_id sep_token_id image_token_id video_token_id vision_start_token_id
    vision_end_token_id boi_token_index eoi_token_index image_token_index mm_tokens_per_image
    rope_theta rope_scaling rope_parameters rope_local_base_freq rope_interleave rope_ratio partial_rotary_factor
    max_position_embeddings original_max_position_embeddings initial_context_length mrope_section
    hidden_act hidden_activation mlp_hidden_act mamba_hidden_act initializer_range rms_norm_eps layer_norm_eps
    layer_norm_epsilon norm_eps attention_dropout hidden_dropout embd_pdrop resid_pdrop dropout residual_dropout
    pretraining_tp attention_multiplier query_pre_attn_scalar attn_logit_softcapping final_logit_softcapping
    router_aux_loss_coef output_router_logits router_jitter_noise aux_loss_alpha seq_aux scoring_func topk_method
    norm_topk_prob routed_scaling_factor n_group topk_group num_expert_group moe_renormalize
    moe_router_activation_func use_grouped_topk norm_before_gate router_z_loss_coef router_dtype
    num_nextn_predict_layers mtp_num_hidden_layers mtp_use_dedicated_embeddings num_mtp_modules mtp_transformer_layers
    use_mtp mtp_layers_block_type ep_size ep_dtype quantization_config compression_config swiglu_limit hidden_act_alpha
    time_step_limit time_step_min time_step_max time_step_floor rescale_prenorm_residual residual_in_fp32
    mamba_ssm_cache_dtype mamba_ssm_dtype mamba_proj_bias use_mamba_kernels num_logits_to_keep chunk_size block_size
    vision_config text_config vision_tower image_processor_type ignore_index language_model_only attn_implementation
    _attn_implementation _attn_implementation_autoset id2label label2id problem_type tokenizer_class is_decoder
    full_attn_alpha_factor linear_attn_alpha_factor mlp_alpha_factor full_attn_beta_factor linear_attn_beta_factor
    mlp_beta_factor layernorm_full_attention_alpha layernorm_linear_attention_alpha layernorm_mlp_alpha
    layernorm_full_attention_beta layernorm_linear_attention_beta layernorm_mlp_beta shared_moe_mode
    embedding_multiplier logits_scaling residual_multiplier attn_temperature_tuning attn_scale floor_scale
    for_llm_compressor rotary_dim attn_window_size scoring_function use_routing_bias mamba_expand expand
"""
HARMLESS = frozenset(HARMLESS_WORDS.split())
WINDOW = {"llama4_text": "attention_chunk_size"}
STATE_LAYERS, FULL_LAYERS = ("linear_attention", "mamba"), ("full_attention", "attention")
SPARSE_LAYERS = ("indexed_attention", "deepseek_sparse_attention")


class Fields:
    """The keys of a config file, and which of them were read."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.read: set[str] = set()
        self.wrong: list[str] = []  # impossible values, to report together

    def get(self, key: str, default: Any = None) -> Any:
        """The value in the file, or the default if it is missing or null."""
        self.read.add(key)
        value = self.values.get(key)
        return default if value is None else value

    def count(self, key: str, default: int | None = None, least: int = 1, most: int = 10**7) -> int:
        """A whole number from `least` to `most`."""
        value = self.get(key, default)
        if value is None:
            return self.stand_in(f"the config has no {key}", least)
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value != int(value):
            return self.stand_in(f"{key} = {shown(value)} is not a whole number", least)
        if not least <= value <= most:
            return self.stand_in(f"{key} = {shown(value)} is out of range: {least} to {most:,}", least)
        return int(value)

    def stand_in(self, why: str, least: int) -> int:
        """A number to go on with, so that any other errors are found as well."""
        if why not in self.wrong:
            self.wrong.append(why)
        return max(least, 1)

    def flag(self, key: str, default: bool = False) -> bool:
        value = self.get(key, default)
        if not isinstance(value, bool):
            raise ValueError(f"{key} = {shown(value)} is neither true nor false")
        return value

    def names(self, key: str) -> list[str] | None:
        """A list of words, one per layer; None if the file has none."""
        value = self.get(key)
        if value is not None and not (isinstance(value, list) and all(isinstance(word, str) for word in value)):
            raise ValueError(f"{key} is not a list of names")
        return value


def shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def model_from_config(
    config: Mapping[str, Any], key: str = "custom", name: str = "custom"
) -> tuple[Model, tuple[str, ...]]:
    """(Model, keys that were neither used nor known to be harmless). Anything missing or not understood raises a
    ValueError with one sentence.
    """
    if not isinstance(config, dict):
        raise ValueError("a config is an object, {...}, as in a model's config.json")
    family, fields = language_model(config)
    try:
        model = nemotron_h(fields, key, name) if family == "nemotron_h" else transformer(family, fields, key, name)
        model = replace(model, positions=positions(fields), quantized=quantized(config, model))
    except (ValueError, ArithmeticError):
        if not fields.wrong:
            raise
    if fields.wrong:
        raise ValueError("; ".join(fields.wrong))
    return model, tuple(sorted(str(k) for k in fields.values.keys() - fields.read - HARMLESS))


def language_model(config: Mapping[str, Any]) -> tuple[str, Fields]:
    """(family, its fields): in a multimodal file those of `text_config`, which may leave weight tying to the
    outer one.
    """
    family, inner = config.get("model_type"), config.get("text_config")
    if isinstance(inner, dict):
        outer = {k: config[k] for k in ("tie_word_embeddings",) if k in config}
        config = {**outer, **inner}
        family = inner.get("model_type", family)
    if family is None:
        raise ValueError("the config has no model_type")
    family = WRAPPED.get(family, family) if isinstance(family, str) else family
    if family in NOT_MODELED:
        raise ValueError(f"model_type {family!r} is not modeled: its caches are compressed, shared or of several kinds")
    if family not in FAMILIES:
        raise ValueError(f"model_type {shown(family)} is not one of {', '.join(FAMILIES)}")
    return family, Fields({**DEFAULTS.get(family, {}), **config})


def transformer(family: str, f: Fields, key: str, name: str) -> Model:
    layers, hidden, heads = (
        f.count("num_hidden_layers", most=1000),
        f.count("hidden_size"),
        f.count("num_attention_heads"),
    )
    latent = mla(family, f)
    kv_heads = f.count("num_key_value_heads", heads)
    head_dim = width_of_a_head(f, hidden, heads, latent)
    if heads % kv_heads:
        raise ValueError(f"num_attention_heads = {heads} is not a multiple of num_key_value_heads = {kv_heads}")
    experts = moe(family, f, hidden, layers)
    # gpt_oss and Mixtral use this key for the width of an expert; if every layer has experts, no MLP has this width
    plain = not experts or experts.dense > 0
    intermediate = f.count("intermediate_size", None if plain else 0, least=0)
    if family == "llama4_text":
        intermediate = f.count("intermediate_size_mlp", 0 if experts and not experts.dense else None, least=0)
    kinds = layer_kinds(family, f, layers)
    linear = linear_mixer(family, f, hidden, heads, head_dim, kinds)
    biased = family in ("qwen2", "qwen2_moe", "gpt_oss") or f.flag("attention_bias") or f.flag("qkv_bias")
    sliding = sum(kind == "sliding_attention" for kind in kinds)
    model = Model(
        key,
        name,
        layers,
        hidden,
        heads,
        kv_heads,
        head_dim,
        intermediate,
        f.count("vocab_size"),
        f.flag("tie_word_embeddings"),
        qkv_bias=biased and not latent,
        qk_norm=per_head_norm(family, f),
        moe=experts,
        mla=latent,
        # assumed: a chunk is kept whole, like a window
        sliding=Sliding(sliding, f.count(WINDOW.get(family, "sliding_window"))) if sliding else None,
        linear=linear,
        indexer=indexer(family, f, hidden, kinds),
        further_params=further_params(family, f, hidden, heads, kv_heads, head_dim, kinds, experts, latent),
    )
    if not model.attention_layers and not linear:
        raise ValueError("no layer of this config attends to anything")
    return model


def width_of_a_head(f: Fields, hidden: int, heads: int, latent: Mla | None) -> int:
    if latent:
        f.get("head_dim"), f.get("qk_head_dim")
        return latent.nope + latent.rope
    if f.get("head_dim") is None and hidden % heads:
        raise ValueError(f"hidden_size / num_attention_heads = {hidden}/{heads} is not whole, and there is no head_dim")
    return f.count("head_dim", hidden // heads)


def per_head_norm(family: str, f: Fields) -> bool:
    if family in ("glm4_moe", "minimax_m2"):
        return f.flag("use_qk_norm") and family == "glm4_moe"
    return family in ("qwen3", "qwen3_moe", "gemma3_text", *GATED_DELTA)


def mla(family: str, f: Fields) -> Mla | None:
    if family not in (*LATENT, "kimi_linear"):
        return None
    query = f.get("q_lora_rank")
    widths = [f.count(k) for k in ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim")]
    return Mla(query if query is None else f.count("q_lora_rank"), *widths)


# Experts


def moe(family: str, f: Fields, hidden: int, layers: int) -> Moe | None:
    """The experts of a layer, or None for a dense model."""
    if family in MIXTRAL:
        width = f.count("intermediate_size")
        top_k = f.count("num_experts_per_tok", f.get("experts_per_token"))
        shared = f.count("shared_intermediate_size", 0, least=0)
        bias = 2 * width + hidden if family == "gpt_oss" else 0
        return checked(Moe(f.count("num_local_experts"), top_k, shared, width, 0, bias))
    if family in ("qwen2_moe", "qwen3_moe", "qwen3_next", "qwen3_5_moe_text"):
        shared = 0 if family == "qwen3_moe" else f.count("shared_expert_intermediate_size", 0, least=0)
        width, top_k = f.count("moe_intermediate_size"), f.count("num_experts_per_tok")
        return checked(Moe(f.count("num_experts"), top_k, shared, width, plain_layers(f, layers)))
    if family == "llama4_text":
        width, sparse = f.count("intermediate_size"), f.get("moe_layers")
        every = f.count("interleave_moe_layer_step", 1)
        if sparse is not None and not isinstance(sparse, list):
            raise ValueError("moe_layers is not a list of layers")
        plain = layers - (len(range(every - 1, layers, every)) if sparse is None else len(sparse))
        return checked(Moe(f.count("num_local_experts"), f.count("num_experts_per_tok"), width, width, plain))
    if family == "kimi_linear":
        width, top_k = f.count("moe_intermediate_size"), f.count("num_experts_per_token")
        shared = f.count("num_shared_experts", 0, least=0) * width
        return checked(Moe(f.count("num_experts"), top_k, shared, width, first_dense(f, layers)))
    if family in ("glm4_moe", *LATENT):
        if f.get("n_routed_experts") is None and family == "deepseek_v2":
            return None
        width, top_k = f.count("moe_intermediate_size"), f.count("num_experts_per_tok")
        shared = f.count("n_shared_experts", 0, least=0) * width
        chosen = f.count("topk_group", 1)
        groups = chosen if chosen < f.count("n_group", 1) else None
        experts = Moe(f.count("n_routed_experts"), top_k, shared, width, first_dense(f, layers), groups=groups)
        return checked(experts)
    return None


def checked(experts: Moe) -> Moe:
    if experts.top_k > experts.experts:
        raise ValueError(f"a token cannot visit {experts.top_k} of {experts.experts} experts")
    return experts


def plain_layers(f: Fields, layers: int) -> int:
    """The number of layers with a plain MLP in a file of the Qwen families."""
    step, plain = f.count("decoder_sparse_step", 1), f.get("mlp_only_layers", [])
    if not isinstance(plain, list):
        raise ValueError("mlp_only_layers is not a list of layers")
    return sum(i in plain or (i + 1) % step > 0 for i in range(layers))


def first_dense(f: Fields, layers: int) -> int:
    kinds = f.names("mlp_layer_types")
    if f.count("moe_layer_freq", 1) != 1:
        raise ValueError(f"moe_layer_freq = {f.get('moe_layer_freq')} is not modeled")
    if kinds and len(kinds) != layers:
        raise ValueError(f"mlp_layer_types names {len(kinds)} layers, and num_hidden_layers is {layers}")
    return kinds.count("dense") if kinds else min(f.count("first_k_dense_replace", 0, least=0), layers)


# Which layers cache what


def layer_kinds(family: str, f: Fields, layers: int) -> list[str]:
    """The kind of attention in each layer, in transformers' words."""
    kinds = f.names("layer_types")
    # read before the list, so that keys that it makes superfluous don't count as unread
    window, pattern = f.get("sliding_window"), f.count("sliding_window_pattern", 6 if family == "gemma3_text" else 4)
    slides = f.flag("use_sliding_window") if family in QWEN else True
    from_layer = f.count("max_window_layers", layers, least=0) if family in QWEN else 0
    full_every = f.count("full_attention_interval", 4) if family in GATED_DELTA else 0
    linear = f.get("linear_attn_config", {})
    if family == "llama4_text":
        return llama4_kinds(f, layers)
    if kinds is not None:
        known = (*FULL_LAYERS, *STATE_LAYERS, *SPARSE_LAYERS, "sliding_attention")
        for kind in kinds:
            if kind not in known:
                raise ValueError(f"layer_types: {shown(kind)} is not one of {', '.join(known)}")
        if len(kinds) != layers:
            raise ValueError(f"layer_types names {len(kinds)} layers, and num_hidden_layers is {layers}")
        return kinds
    if family in GATED_DELTA:
        return ["linear_attention" if (i + 1) % full_every else "full_attention" for i in range(layers)]
    if family == "kimi_linear":
        full = linear.get("full_attn_layers") if isinstance(linear, dict) else None
        if not isinstance(full, list):
            raise ValueError("the config has no linear_attn_config with full_attn_layers")
        return ["full_attention" if i + 1 in full else "linear_attention" for i in range(layers)]  # counted from 1
    if family == "minimax":
        return ["linear_attention" if i % 2 else "full_attention" for i in range(layers)]
    if family == "gpt_oss":
        return ["full_attention" if i % 2 else "sliding_attention" for i in range(layers)]
    if family in SPARSE:
        return ["indexed_attention"] * layers
    if window is None or not slides:
        return ["full_attention"] * layers
    if family in ("gemma3_text", "olmo3"):
        return ["sliding_attention" if (i + 1) % pattern else "full_attention" for i in range(layers)]
    if family in ("mistral", "ministral3", "phi3", *QWEN):
        return ["sliding_attention" if i >= from_layer else "full_attention" for i in range(layers)]
    return ["full_attention"] * layers


def llama4_kinds(f: Fields, layers: int) -> list[str]:
    """Layers with position embeddings attend within a chunk; every fourth layer has none and attends to everything."""
    positioned = f.get("no_rope_layers") or [int((i + 1) % 4 > 0) for i in range(layers)]
    if not isinstance(positioned, list) or len(positioned) != layers:
        raise ValueError(f"no_rope_layers does not name each of {layers} layers")
    return ["sliding_attention" if one and f.get("attention_chunk_size") else "full_attention" for one in positioned]


def linear_mixer(family: str, f: Fields, hidden: int, heads: int, head_dim: int, kinds: Sequence[str]) -> Linear | None:
    layers = sum(kind in STATE_LAYERS for kind in kinds)
    if family in GATED_DELTA:
        keys, values = (
            (f.count(f"linear_num_{of}_heads"), f.count(f"linear_{of}_head_dim")) for of in ("key", "value")
        )
        return gated_delta_net(layers, hidden, *keys, *values, f.count("linear_conv_kernel_dim", 4)) if layers else None
    if not layers:
        return None
    if family == "kimi_linear":
        if not isinstance(f.get("linear_attn_config"), dict):
            raise ValueError("the config has no linear_attn_config")
        inner = Fields(f.get("linear_attn_config"))
        shape = inner.count("num_heads"), inner.count("head_dim"), inner.count("short_conv_kernel_size", 4)
        return kimi_delta_attention(layers, hidden, *shape)
    if family == "minimax":
        return lightning_attention(layers, hidden, heads, head_dim)
    raise ValueError(f"layer_types has layers with a state, which are not modeled for {family}")


def indexer(family: str, f: Fields, hidden: int, kinds: Sequence[str]) -> Indexer | None:
    if family not in SPARSE:
        return None
    own = f.names("indexer_types")
    layers = own.count("full") if own else sum(kind in SPARSE_LAYERS for kind in kinds)
    n, h, top_k = f.count("index_n_heads"), f.count("index_head_dim"), f.count("index_topk")
    return Indexer(layers, f.count("q_lora_rank") * n * h + hidden * h + 2 * h + hidden * n, n, h, top_k)


def further_params(
    family: str,
    f: Fields,
    hidden: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    kinds: Sequence[str],
    experts: Moe | None,
    latent: Mla | None,
) -> int:
    """Parameters of a family beyond projections, MLP, experts, q/k/v biases, per-head norms and two norms per layer."""
    attending = sum(kind not in STATE_LAYERS for kind in kinds)
    bias, total = f.flag("attention_bias") and not latent, 0
    if family == "seed_oss":  # the output projection has a key of its own
        bias = f.flag("attention_out_bias")
    if bias and (family in LLAMA or family in ("qwen3", "qwen3_moe", "olmo2", "olmo3", "gemma3_text")):
        total += attending * hidden  # of the output projection
    if latent and f.flag("attention_bias"):  # biases of both projections into a bottleneck, and of the output
        total += attending * ((latent.q_lora or 0) + latent.kv_lora + latent.rope + hidden)
    if family in LLAMA and f.flag("mlp_bias"):
        total += len(kinds) * (2 * f.count("intermediate_size") + hidden)
    if family in ("olmo2", "olmo3") or (
        family == "minimax_m2" and f.flag("use_qk_norm", True)
    ):  # norms over all heads at once
        total += attending * (heads + kv_heads) * head_dim
    if family == "gemma3_text":  # also norms after attention and MLP
        total += len(kinds) * 2 * hidden
    if family == "gpt_oss" and experts:  # biases of output projection and router, and a sink per head
        total += len(kinds) * (hidden + experts.experts + heads)
    if family in GATED_DELTA and f.flag("attn_output_gate", True):  # a gate as wide as the queries
        total += attending * hidden * heads * head_dim
    if experts and experts.shared and family in ("qwen2_moe", *GATED_DELTA):  # a scalar gates the shared expert
        total += (len(kinds) - experts.dense) * hidden
    return total


# Nemotron-H: one block per layer, a mixer or an MLP

BLOCKS = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}


def nemotron_h(f: Fields, key: str, name: str) -> Model:
    """A model in which one layer is a mixer, with its MLP if it has one; the file counts both as layers."""
    hidden, heads = f.count("hidden_size"), f.count("num_attention_heads")
    kinds, pattern = f.names("layers_block_type"), f.get("hybrid_override_pattern")
    if kinds is None:
        if not isinstance(pattern, str) or set(pattern) - set(BLOCKS):
            raise ValueError("the config has neither layers_block_type nor a hybrid_override_pattern of M, *, - and E")
        kinds = [BLOCKS[letter] for letter in pattern]
    for kind in kinds:
        if kind not in BLOCKS.values():
            raise ValueError(f"layers_block_type: {shown(kind)} is not one of {', '.join(BLOCKS.values())}")
    if f.count("num_hidden_layers", len(kinds)) != len(kinds):
        raise ValueError(f"the pattern has {len(kinds)} blocks, and num_hidden_layers is {f.get('num_hidden_layers')}")
    mixers, plain, sparse = (sum(k in some for k in kinds) for some in (("mamba", "attention"), ("mlp",), ("moe",)))
    states = kinds.count("mamba")
    if not mixers:
        raise ValueError("no layer of this config attends to anything")
    linear = None
    if states:
        shape = f.count("mamba_num_heads"), f.count("mamba_head_dim"), f.count("n_groups", 8), f.count("ssm_state_size")
        linear = mamba2(states, hidden, *shape, f.count("conv_kernel", 4), f.flag("use_conv_bias", True))
    experts = None
    if sparse:
        shared = f.count("moe_shared_expert_intermediate_size", 0, least=0) * f.count("n_shared_experts", 1, least=0)
        width, latent = f.count("moe_intermediate_size"), f.get("moe_latent_size")
        counts = f.count("n_routed_experts"), f.count("num_experts_per_tok")
        experts = checked(Moe(*counts, shared, width, plain, latent=latent and f.count("moe_latent_size")))
    kv_heads = f.count("num_key_value_heads", heads)
    return Model(
        key,
        name,
        mixers,
        hidden,
        heads,
        kv_heads,
        width_of_a_head(f, hidden, heads, None),
        f.count("intermediate_size") if plain else f.count("intermediate_size", 0, least=0),
        f.count("vocab_size"),
        f.flag("tie_word_embeddings"),
        moe=experts,
        linear=linear,
        mlp_layers=plain + sparse,
        gated_mlp=False,
        further_params=(len(kinds) - 2 * mixers) * hidden,  # one norm per block, not two per mixer
    )


# How long a sequence may be, and how a file stores its weights


def positions(f: Fields) -> int | None:
    """Tokens of the longest sequence that an engine accepts, if the file says so."""
    if f.get("max_position_embeddings") is None:
        return None
    own, scaling = f.count("max_position_embeddings", most=10**9), f.get("rope_scaling") or f.get("rope_parameters")
    if not isinstance(scaling, dict) or scaling.get("rope_type", scaling.get("type")) != "yarn":
        return own
    factor, before = scaling.get("factor"), scaling.get("original_max_position_embeddings", own)
    known = all(isinstance(n, int | float) and not isinstance(n, bool) and 0 < n < 1e9 for n in (factor, before))
    return max(own, int(factor * before)) if known else own


METHODS = "fp8, mxfp8, mxfp4, nvfp4, modelopt, awq, gptq and compressed-tensors"


def quantized(config: Mapping[str, Any], model: Model) -> Quantized | None:
    """The content of `quantization_config`, or None if the file has none. An unknown method raises a ValueError."""
    section, inner = config.get("quantization_config"), config.get("text_config")
    if section is None and isinstance(inner, dict):
        section = inner.get("quantization_config")
    if section is None:
        return None
    if not isinstance(section, dict):
        raise ValueError("quantization_config is not an object")
    if "plain_weights" in section:
        return as_written(section, model)
    method, width, arithmetic = width_of(section)
    return Quantized(method, width, model.params() - converted(model, section), float(arithmetic))


def written(stored: Quantized) -> dict[str, Any]:
    """The same in its shortest form, which can be read again."""
    return {
        "quant_method": stored.method,
        "bytes_a_weight": stored.bytes,
        "plain_weights": stored.plain,
        "arithmetic": stored.arithmetic,
    }


def as_written(said: Mapping[str, Any], model: Model) -> Quantized:
    f, widths = Fields(said), [said.get("bytes_a_weight"), said.get("arithmetic")]
    plain = f.count("plain_weights", least=0, most=model.params())
    if f.wrong or not all(isinstance(n, int | float) and not isinstance(n, bool) and 0 < n <= 2 for n in widths):
        raise ValueError("quantization_config is not understood")
    return Quantized(str(said.get("quant_method"))[:40], float(widths[0] or 0), plain, float(widths[1] or 0))


def width_of(said: Mapping[str, Any]) -> tuple[str, float, float]:
    """(method, bytes of a weight with its part of the scales, bytes of the number that it is multiplied as)."""
    method, f = str(said.get("quant_method", "")).lower(), Fields(said)
    if method == "fp8":
        return method, 1 + scales(said.get("weight_block_size")), 1
    if method == "mxfp8":
        return method, 1 + 1 / 32, 1
    if method == "mxfp4":
        return method, 0.5 + 1 / 32, 2  # activations stay in bf16
    if method.startswith(("modelopt", "nvfp4")):
        narrow = "fp4" in f"{method} {said.get('quant_algo', '')}".lower()
        return method, 0.5 + 1 / 16 if narrow else 1.0, 0.5 if narrow else 1
    if method in ("awq", "gptq"):
        bits = f.count("bits", f.get("w_bit", 4), most=8)
        stored = grouped(bits, f.get("group_size", 128), zero_point=True)
    elif method == "compressed-tensors":
        return method, *compressed(said)
    else:
        raise ValueError(f"quantization_config: {shown(said.get('quant_method'))} is none of {METHODS}")
    if f.wrong:
        raise ValueError(f"quantization_config: {f.wrong[0]}")
    return method, stored, 2


def scales(block: Any) -> float:
    """Bytes per weight of an fp32 scale that a block shares."""
    known = isinstance(block, list) and len(block) == 2 and all(isinstance(n, int) and n > 0 for n in block)
    return 4 / (block[0] * block[1]) if known else 0.0


def grouped(bits: int, group: Any, zero_point: bool) -> float:
    """Bytes of a weight in groups that share a two-byte scale and a zero point of `bits` bits."""
    return bits / 8 + ((2 + bits / 8 * zero_point) / group if isinstance(group, int) and group > 0 else 0.0)


def compressed(said: Mapping[str, Any]) -> tuple[float, float]:
    groups = said.get("config_groups")
    first = next(iter(groups.values()), None) if isinstance(groups, dict) else None
    weights, inputs = (first.get(key) if isinstance(first, dict) else None for key in ("weights", "input_activations"))
    if not isinstance(weights, dict):
        raise ValueError("quantization_config has no config_groups with weights")
    f, group = Fields(weights), weights.get("group_size")
    bits = f.count("num_bits", most=16)
    multiplied = Fields(inputs).count("num_bits", 16, most=16) / 8 if isinstance(inputs, dict) else 2.0
    if f.wrong:
        raise ValueError(f"quantization_config: {f.wrong[0]}")
    if weights.get("type") == "float" and bits == 4:  # a scale of a byte a group
        return 0.5 + 1 / (group if isinstance(group, int) and group > 0 else 16), multiplied
    if block := scales(weights.get("block_structure")):
        return bits / 8 + block, multiplied
    return grouped(bits, group, zero_point=weights.get("symmetric") is False), multiplied


MODULES = 5000  # the most names of modules to check


def converted(model: Model, said: Mapping[str, Any]) -> int:
    """The number of weights stored in a narrow format: matrices of attention, MLPs and experts, without those that the
    file excludes. Embeddings, the head, norms, biases and routers stay wide.
    """
    names: Any = next(
        (said[key] for key in ("modules_to_not_convert", "ignore", "ignored_layers") if said.get(key)), []
    )
    left = [str(name) for name in names][:MODULES] if isinstance(names, list) else []
    moe, mlps, total = model.moe, model.mlp_layers or model.layers, 0

    def kept(i: int, part: str) -> bool:
        return any(named(entry, f"layers.{i}.{part}") for entry in left)

    for i in range(model.layers):
        if i >= model.attention_layers and model.linear:
            total += 0 if kept(i, "linear_attn.in_proj") else model.linear.params
        elif not kept(i, "self_attn.q_proj"):
            total += model.attention_matrices()
    for i in range(mlps):
        if moe is None or i < moe.dense:
            total += 0 if kept(i, "mlp.gate_proj") else model.mlp_params(model.hidden, model.intermediate)
            continue
        if not kept(i, "mlp.experts.0.gate_proj"):
            total += moe.experts * (model.expert_params() - moe.bias)
        if not kept(i, "mlp.shared_experts.gate_proj"):
            total += model.mlp_params(model.hidden, moe.shared)
    return total


def named(entry: str, module: str) -> bool:
    """Whether an entry of the file, with stars or as "re:…", names this module or one that contains it."""
    if entry.startswith("re:"):
        try:
            return re.match(entry[3:], f"model.{module}") is not None
        except re.error:
            return False
    for wrapper in ("model.", "language_model.", "model."):
        entry = entry.removeprefix(wrapper)
    whole = module == entry or module.startswith(f"{entry}.") or entry in module.split(".")
    return whole or ("*" in entry and (fnmatch(module, entry) or fnmatch(module, f"{entry}.*")))
