"""Config files as they are published, cut down to the keys that a shape depends on."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlpt.planning.configs import FAMILIES, model_from_config
from sim.cluster.models import MODELS


def config(family, layers, hidden, heads, kv_heads, intermediate, vocab, tied=False, **more):
    return dict(
        model_type=family,
        num_hidden_layers=layers,
        hidden_size=hidden,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        intermediate_size=intermediate,
        vocab_size=vocab,
        tie_word_embeddings=tied,
        **more,
    )


LATENT = dict(q_lora_rank=1536, kv_lora_rank=512, qk_rope_head_dim=64, qk_nope_head_dim=128, v_head_dim=128)
EXPERTS = dict(num_experts=128, num_experts_per_tok=8, head_dim=128, mlp_only_layers=[])
CONFIGS = {  # the keys of the published config.json that the shape depends on
    "llama2-7b": config("llama", 32, 4096, 32, 32, 11008, 32000),
    "llama3.1-8b": config("llama", 32, 4096, 32, 8, 14336, 128256, attention_bias=False, mlp_bias=False),
    "llama3.1-70b": config("llama", 80, 8192, 64, 8, 28672, 128256),
    "llama3.1-405b": config("llama", 126, 16384, 128, 8, 53248, 128256),
    "qwen2.5-1.5b": config("qwen2", 28, 1536, 12, 2, 8960, 151936, tied=True),
    "qwen2.5-7b": config("qwen2", 28, 3584, 28, 4, 18944, 152064),
    "qwen2.5-32b": config("qwen2", 64, 5120, 40, 8, 27648, 152064),
    "qwen3-8b": config("qwen3", 36, 4096, 32, 8, 12288, 151936, head_dim=128),
    "qwen3-30b-a3b": config("qwen3_moe", 48, 2048, 32, 4, 6144, 151936, moe_intermediate_size=768, **EXPERTS),
    "qwen3-235b-a22b": config("qwen3_moe", 94, 4096, 64, 4, 12288, 151936, moe_intermediate_size=1536, **EXPERTS),
    "mixtral-8x7b": config("mixtral", 32, 4096, 32, 8, 14336, 32000, num_local_experts=8, num_experts_per_tok=2),
    "deepseek-v3": config(
        "deepseek_v3",
        61,
        7168,
        128,
        128,
        18432,
        129280,
        moe_intermediate_size=2048,
        n_routed_experts=256,
        num_experts_per_tok=8,
        n_shared_experts=1,
        first_k_dense_replace=3,
        n_group=8,
        topk_group=4,
        **LATENT,
    ),
    "kimi-k2": config(
        "kimi_k2",
        61,
        7168,
        64,
        64,
        18432,
        163840,
        moe_intermediate_size=2048,
        n_routed_experts=384,
        num_experts_per_tok=8,
        n_shared_experts=1,
        first_k_dense_replace=1,
        **LATENT,
    ),
}

GATED_DELTA = dict(
    head_dim=256,
    linear_num_key_heads=16,
    linear_key_head_dim=128,
    linear_num_value_heads=32,
    linear_value_head_dim=128,
    linear_conv_kernel_dim=4,
)
CONFIGS |= {
    "gpt-oss-120b": config(
        "gpt_oss", 36, 2880, 64, 8, 2880, 201088, head_dim=64, num_local_experts=128, num_experts_per_tok=4,
        sliding_window=128, attention_bias=True,
    ),
    "qwen3-next-80b-a3b": config(
        "qwen3_next", 48, 2048, 16, 2, 5120, 151936, num_experts=512, num_experts_per_tok=10, mlp_only_layers=[],
        moe_intermediate_size=512, shared_expert_intermediate_size=512, full_attention_interval=4, **GATED_DELTA,
    ),
    "glm-4.5-air": config(
        "glm4_moe", 46, 4096, 96, 8, 10944, 151552, head_dim=128, attention_bias=True, use_qk_norm=False,
        n_routed_experts=128, num_experts_per_tok=8, n_shared_experts=1, moe_intermediate_size=1408,
        first_k_dense_replace=1,
    ),
    "gemma3-27b": dict(
        model_type="gemma3",
        vision_config=dict(hidden_size=1152),
        text_config=dict(
            model_type="gemma3_text", num_hidden_layers=62, hidden_size=5376, num_attention_heads=32,
            num_key_value_heads=16, head_dim=128, intermediate_size=21504, sliding_window=1024,
        ),
    ),
    "qwen3.5-35b-a3b": dict(
        model_type="qwen3_5_moe",
        tie_word_embeddings=False,
        text_config=dict(
            model_type="qwen3_5_moe_text", num_hidden_layers=40, hidden_size=2048, num_attention_heads=16,
            num_key_value_heads=2, vocab_size=248320, num_experts=256, num_experts_per_tok=8, moe_intermediate_size=512,
            shared_expert_intermediate_size=512, **GATED_DELTA,
        ),
    ),
}  # fmt: skip

# what the published files say of how they are stored; the others are in bf16
KEPT = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]
FP8 = dict(quant_method="fp8", weight_block_size=[128, 128], fmt="e4m3", activation_scheme="dynamic")
MXFP4 = dict(quant_method="mxfp4", modules_to_not_convert=KEPT)
STORED = {"deepseek-v3": FP8, "kimi-k2": FP8, "gpt-oss-120b": MXFP4}


def published(key):
    """The config.json of a row of the table, with how its file is stored."""
    return CONFIGS[key] | ({"quantization_config": STORED[key]} if key in STORED else {})


V3 = CONFIGS["deepseek-v3"]
LLAMA4 = config("llama4_text", 48, 5120, 40, 8, 8192, 202048, head_dim=128, intermediate_size_mlp=16384)
LLAMA4 |= dict(num_local_experts=16, num_experts_per_tok=1, interleave_moe_layer_step=1, attention_chunk_size=8192)
OTHERS = {  # configs that are in no table -> all weights: transformers 5.23, or the model card to its digits
    "DeepSeek-V2-Lite": (
        {**config("deepseek_v2", 27, 2048, 16, 16, 10944, 102400), **LATENT, "q_lora_rank": None,
         "moe_intermediate_size": 1408, "n_routed_experts": 64, "num_experts_per_tok": 6, "n_shared_experts": 2,
         "first_k_dense_replace": 1},
        15_706_484_224, 1e-12,
    ),
    "gpt-oss-20b": (
        {**CONFIGS["gpt-oss-120b"], "num_hidden_layers": 24, "num_local_experts": 32}, 20_914_757_184, 1e-12
    ),
    "Mistral-Small-24B": (config("mistral", 40, 5120, 32, 8, 32768, 131072, head_dim=128), 23_572_403_200, 1e-12),
    "OLMo-3-7B": (config("olmo3", 32, 4096, 32, 32, 11008, 100278, sliding_window=4096), 7.3e9, 0.001),
    # the next four by the shapes of their cards, by hand to the last weight: a layer's matrices, biases and norms
    "OLMo-2-7B": (config("olmo2", 32, 4096, 32, 32, 11008, 100352), 7_298_617_344, 1e-12),
    "Phi-3-mini-4k": (config("phi3", 32, 3072, 32, 32, 8192, 32064, sliding_window=2047), 3_821_079_552, 1e-12),
    "Granite-3.1-8B": (config("granite", 40, 4096, 32, 8, 12800, 49155, tied=True), 8_170_848_256, 1e-12),
    "Seed-OSS-36B": (
        config(
            "seed_oss", 64, 5120, 80, 8, 27648, 155136, head_dim=128, attention_bias=True, attention_out_bias=False,
            mlp_bias=False,
        ),
        36_151_104_512, 1e-12,
    ),
    # 109 and 402 billion with the vision tower of 0.9
    "Llama-4-Scout": (LLAMA4, 109e9, 0.015),
    "Llama-4-Maverick": ({**LLAMA4, "num_local_experts": 128, "interleave_moe_layer_step": 2}, 401e9, 0.003),
    "MiniMax-M2": (
        config("minimax_m2", 62, 3072, 48, 8, 1536, 200064, head_dim=128, num_local_experts=256, num_experts_per_tok=8),
        230e9, 0.01,
    ),
    "Nemotron-3-Nano-30B-A3B": (
        dict(
            model_type="nemotron_h", hidden_size=2688, num_attention_heads=32, num_key_value_heads=2, head_dim=128,
            hybrid_override_pattern="MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME", mamba_num_heads=64,
            mamba_head_dim=64, n_groups=8, ssm_state_size=128, conv_kernel=4, n_routed_experts=128,
            num_experts_per_tok=6, moe_intermediate_size=1856, moe_shared_expert_intermediate_size=3712,
            n_shared_experts=1, vocab_size=131072, intermediate_size=1856,
        ),
        31.6e9, 0.001,
    ),
    "Kimi-Linear-48B-A3B": (
        {**config("kimi_linear", 27, 2304, 32, 32, 9216, 163840), **LATENT, "q_lora_rank": None, "num_experts": 256,
         "num_experts_per_token": 8, "num_shared_experts": 1, "moe_intermediate_size": 1024, "first_k_dense_replace": 1,
         "linear_attn_config": dict(
             full_attn_layers=[4, 8, 12, 16, 20, 24, 27], num_heads=32, head_dim=128, short_conv_kernel_size=4)},
        48e9, 0.03,
    ),
    "DeepSeek-V3.2": (  # V3 and 61 indexers of 1536 · 64 · 128 + 7168 · 128 + 2 · 128 + 7168 · 64
        {**V3, "model_type": "deepseek_v32", "index_n_heads": 64, "index_head_dim": 128, "index_topk": 2048},
        671_026_404_352 + 61 * 13_959_424, 1e-12,
    ),
}  # fmt: skip


@pytest.mark.parametrize("key", MODELS)
def test_a_published_config_gives_the_row_of_the_table(key):
    model, unread = model_from_config(published(key), key, MODELS[key].name)
    assert (model, unread) == (MODELS[key], ())


@pytest.mark.parametrize("name", OTHERS)
def test_a_config_that_is_in_no_table_gives_the_published_count(name):
    config, params, tolerance = OTHERS[name]
    assert model_from_config(config)[0].params() == pytest.approx(params, rel=tolerance)


def test_nemotron_counts_active_weights_with_and_without_the_lookup():
    model, _ = model_from_config(OTHERS["Nemotron-3-Nano-30B-A3B"][0])
    # model card: "3.2B active (3.6B with embeddings)"
    assert (model.matmul_params(), model.active_params()) == (
        pytest.approx(3.2e9, rel=0.02),
        pytest.approx(3.6e9, rel=0.01),
    )
    assert model.kv_bytes_per_token() == 6 * 2 * 128 * 2 * 2  # six layers of 52 attend


def test_sparse_attention_reads_few_latents_and_every_index_key():
    model, _ = model_from_config(OTHERS["DeepSeek-V3.2"][0])
    assert model.cache_bytes(65_536) == 65_536 * (70_272 + 61 * 132)
    assert model.bytes_read(65_536) == 2048 * 70_272 + 65_536 * 61 * 132
    assert model.attention_flops_per_token(4096) - model.attention_flops_per_token(2048) == 2048 * 61 * 64 * 128 * 2


def test_a_window_counts_where_the_file_turns_it_on():
    qwen = CONFIGS["qwen2.5-7b"]
    inert, _ = model_from_config({**qwen, "sliding_window": 4096, "use_sliding_window": False, "max_window_layers": 20})
    on, _ = model_from_config({**qwen, "sliding_window": 4096, "use_sliding_window": True, "max_window_layers": 20})
    assert inert.sliding is None and (on.sliding.layers, on.sliding.window) == (8, 4096)
    assert model_from_config({**OTHERS["Mistral-Small-24B"][0], "sliding_window": 4096})[0].sliding.layers == 40
    named, _ = model_from_config({**CONFIGS["llama2-7b"], "layer_types": ["full_attention"] * 32})
    assert named.sliding is None


def test_absent_keys_take_the_defaults_of_the_code():
    def without(key, name):
        return model_from_config({k: v for k, v in CONFIGS[name].items() if k != key}, name, name)[0]

    assert without("num_key_value_heads", "llama2-7b").kv_heads == 32
    assert without("head_dim", "qwen3-8b").head_dim == 128
    with pytest.raises(ValueError, match="hidden_size / num_attention_heads = 4096/96 is not whole, and there is no"):
        without("head_dim", "glm-4.5-air")


def test_what_the_file_says_besides_is_reported():
    _, unread = model_from_config({**CONFIGS["llama3.1-8b"], "rope_theta": 5e5, "engram_slots": 3, "ahead": True})
    assert unread == ("ahead", "engram_slots")


@pytest.mark.parametrize(
    "config, sentence",
    [
        ([], "a config is an object"),
        ({}, "the config has no model_type"),
        (dict(model_type="mamba"), "model_type 'mamba' is not one of llama, mistral"),
        (dict(model_type="deepseek_v4"), "model_type 'deepseek_v4' is not modeled: its caches are compressed"),
        (dict(model_type="qwen3"), "the config has no num_hidden_layers"),
        ({**CONFIGS["qwen3-8b"], "hidden_size": "wide"}, "hidden_size = 'wide' is not a whole number"),
        ({**CONFIGS["qwen3-8b"], "vocab_size": -1}, "vocab_size = -1 is out of range: 1 to 10,000,000"),
        ({**CONFIGS["qwen3-8b"], "num_key_value_heads": 5}, "32 is not a multiple of num_key_value_heads = 5"),
        ({**CONFIGS["qwen3-8b"], "tie_word_embeddings": "no"}, "tie_word_embeddings = 'no' is neither true nor false"),
        ({**CONFIGS["qwen3-8b"], "layer_types": ["full_attention"]}, "names 1 layers, and num_hidden_layers is 36"),
        (
            {**CONFIGS["qwen3-8b"], "layer_types": ["mamba"] * 36},
            "layers with a state, which are not modeled for qwen3",
        ),
        ({**CONFIGS["qwen3-8b"], "layer_types": ["wave"] * 36}, "'wave' is not one of full_attention"),
        ({**CONFIGS["mixtral-8x7b"], "num_experts_per_tok": 9}, "a token cannot visit 9 of 8 experts"),
        (
            dict(model_type="nemotron_h", hidden_size=8, num_attention_heads=1, hybrid_override_pattern="MX"),
            "of M, *, - and E",
        ),
    ],
)
def test_what_is_wrong_with_a_config_is_one_sentence(config, sentence):
    with pytest.raises(ValueError) as raised:
        model_from_config(config)
    assert sentence in str(raised.value) and "\n" not in str(raised.value)


hostile = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=60),
    st.lists(st.one_of(st.text(max_size=20), st.integers()), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
)
WHOLE = [*CONFIGS.values(), *(config for config, _, _ in OTHERS.values())]


@given(st.sampled_from(WHOLE), st.data())
def test_whatever_is_pasted_is_a_model_or_one_sentence(whole, data):
    config = copy.deepcopy(whole)
    for values in (config, *(v for v in (config.get("text_config"), config.get("linear_attn_config")) if v)):
        for key in data.draw(st.lists(st.sampled_from([*values, "layer_types", "sliding_window"]), max_size=2)):
            values[key] = data.draw(hostile)
    try:
        model, _ = model_from_config(config)
    except ValueError as error:
        assert len(str(error)) < 600 and "\n" not in str(error)
    else:
        assert 0 < model.matmul_params() <= model.active_params() <= model.params()
        assert 0 <= model.bytes_read(1000) <= model.cache_bytes(1000)


def test_every_family_is_read_by_a_test_or_shares_the_code_of_one_that_is():
    read = {c.get("text_config", c)["model_type"] for c in WHOLE}
    alike = {
        "ministral3": "mistral",
        "qwen2_moe": "qwen3_next",
        "minimax": "minimax_m2",
        "qwen3_5_text": "qwen3_5_moe_text",
        "kimi_k25": "kimi_k2",
        "glm4_moe_lite": "deepseek_v3",
        "mistral4": "deepseek_v3",
        "glm_moe_dsa": "deepseek_v32",
    }
    assert set(FAMILIES) == read | set(alike) and set(alike.values()) <= read


def test_llama4_uses_seventeen_billion_weights_and_three_of_four_layers_keep_a_chunk():
    for name in ("Llama-4-Scout", "Llama-4-Maverick"):
        model, unread = model_from_config(OTHERS[name][0])
        assert model.active_params() == pytest.approx(17e9, rel=0.015)
        assert (model.sliding.layers, model.sliding.window, unread) == (36, 8192, ())


@pytest.mark.parametrize(
    "wrapper, name",
    [
        ("qwen2_5_vl", "qwen2.5-7b"),
        ("qwen2_5_vl_text", "qwen2.5-7b"),
        ("qwen3_vl", "qwen3-8b"),
        ("qwen3_vl_text", "qwen3-8b"),
        ("qwen3_vl_moe", "qwen3-30b-a3b"),
        ("qwen3_vl_moe_text", "qwen3-30b-a3b"),
    ],
)
def test_a_model_that_also_sees_has_the_text_model_of_its_family(wrapper, name):
    flat = {**CONFIGS[name], "model_type": wrapper, "vision_config": dict(depth=32)}
    inside = dict(model_type=wrapper, text_config={**CONFIGS[name], "model_type": wrapper}, vision_config={})
    for one in (flat, inside):
        assert model_from_config(one, name, MODELS[name].name)[0] == MODELS[name]


# Stored narrowly

INT4 = dict(config_groups=dict(group_0=dict(weights=dict(num_bits=4, type="int", symmetric=True, group_size=128))))
NVFP4 = dict(
    config_groups=dict(
        group_0=dict(
            weights=dict(num_bits=4, type="float", group_size=16), input_activations=dict(num_bits=4, type="float")
        )
    )
)


@pytest.mark.parametrize(
    "name, stored, gigabytes",
    [  # safetensors files on the hub, in 1e9 bytes; DeepSeek's without its multi-token module
        ("gpt-oss-20b", MXFP4, 13.76),
        ("gpt-oss-120b", MXFP4, 65.25),
        ("deepseek-v3", FP8, 673.2),
        ("kimi-k2", FP8, 1029.2),
    ],
)
def test_a_file_that_is_stored_narrowly_takes_as_many_bytes_as_its_weights(name, stored, gigabytes):
    one = CONFIGS[name] if name in CONFIGS else OTHERS[name][0]
    model, _ = model_from_config({**one, "quantization_config": stored})
    assert model.stored_bytes() / 1e9 == pytest.approx(gigabytes, rel=0.0005)
    assert model.stored_bytes(2) == 2 * model.params() == model_from_config(one)[0].stored_bytes()
    assert name not in MODELS or MODELS[name].stored_bytes() == model.stored_bytes()


def test_the_file_of_deepseek_v3_holds_a_layer_and_two_tables_more_than_an_engine_does():
    # model.safetensors.index.json says 688,586,727,753 bytes. Its layer 61 guesses the token after the next: one more
    # layer in fp8, an embedding, a head and a projection of 2 x 7168 to 7168 of its own in bf16
    layer = 256 * 3 * 7168 * 2048 + 3 * 7168 * 2048 + MODELS["deepseek-v3"].attention_matrices()
    own = 2 * (2 * 129_280 * 7168 + 2 * 7168**2 + 7168 * 256)
    whole = MODELS["deepseek-v3"].stored_bytes() + layer * (1 + 4 / 128**2) + own
    assert whole == pytest.approx(688.586727753e9, rel=0.0005)


@pytest.mark.parametrize(
    "stored, width, arithmetic",
    [
        (FP8, 1 + 4 / 128**2, 1),
        (dict(quant_method="fp8"), 1, 1),
        (dict(quant_method="mxfp8"), 1 + 1 / 32, 1),
        (dict(quant_method="mxfp4"), 0.53125, 2),
        (dict(quant_method="modelopt", quant_algo="NVFP4"), 0.5625, 0.5),
        (dict(quant_method="modelopt", quant_algo="FP8"), 1, 1),
        (dict(quant_method="nvfp4"), 0.5625, 0.5),
        (dict(quant_method="awq", bits=4, group_size=128), 0.51953125, 2),
        (dict(quant_method="awq", w_bit=4, group_size=128), 0.51953125, 2),
        (dict(quant_method="gptq", bits=8, group_size=-1), 1, 2),
        (dict(quant_method="compressed-tensors", **INT4), 0.5 + 2 / 128, 2),
        (dict(quant_method="compressed-tensors", **NVFP4), 0.5625, 0.5),
    ],
)
def test_bytes_of_a_weight_by_method(stored, width, arithmetic):
    model, _ = model_from_config({**CONFIGS["llama3.1-8b"], "quantization_config": stored})
    assert model.quantized.bytes == pytest.approx(width, rel=1e-12) and model.quantized.arithmetic == arithmetic
    # 32 layers of 4096 x (2 x 4096 + 2 x 1024) + 3 x 4096 x 14336; embeddings, head and norms stay in bf16
    narrow = 32 * (4096 * (2 * 4096 + 2 * 1024) + 3 * 4096 * 14336)
    assert model.stored_bytes() == pytest.approx(narrow * width + 2 * (model.params() - narrow), rel=1e-12)


@pytest.mark.parametrize(
    "left, layers",
    [
        (["model.layers.0.self_attn", "model.layers.1.self_attn"], 2),
        (["language_model.model.layers.3.self_attn.q_proj"], 1),
        (["re:.*self_attn.*"], 32),
        (["self_attn"], 32),
        (["model.layers.*.self_attn*"], 32),
        (["lm_head", "re:[", "vision_tower"], 0),
        (["model.layers.10"], 1),  # and its MLP
    ],
)
def test_modules_that_a_file_leaves_out_stay_in_bf16(left, layers):
    def read(names):
        return model_from_config(
            {**CONFIGS["llama3.1-8b"], "quantization_config": {"quant_method": "fp8", "ignore": names}}
        )[0].quantized.plain

    mlp = 3 * 4096 * 14336 * (left == ["model.layers.10"])
    assert read(left) - read([]) == layers * 4096 * (2 * 4096 + 2 * 1024) + mlp


@pytest.mark.parametrize(
    "stored, said",
    [
        (dict(quant_method="bitsandbytes"), "'bitsandbytes' is none of fp8"),
        (dict(), "None is none of fp8"),
        ("fp8", "is not an object"),
        (dict(quant_method="awq", bits=40), "bits = 40 is out of range"),
        (dict(quant_method="compressed-tensors"), "no config_groups"),
        (dict(plain_weights=-1, bytes_a_weight=1, arithmetic=1), "is not understood"),
    ],
)
def test_a_way_of_storing_that_is_not_known_is_refused_and_not_counted_as_bf16(stored, said):
    with pytest.raises(ValueError, match=said):
        model_from_config({**CONFIGS["llama3.1-8b"], "quantization_config": stored})


def test_an_engine_reads_experts_narrowly_and_attention_in_bf16():
    model = MODELS["gpt-oss-120b"]
    one_more = model.weight_bytes_read(2.0) - model.weight_bytes_read(1.0)  # experts alone
    assert one_more == pytest.approx(0.53125 * (model.read_params(2.0) - model.read_params(1.0)))
    assert model.weight_bytes_read(1e9) == pytest.approx(model.stored_bytes() - 2 * model.lookup_params())


# Positions


@pytest.mark.parametrize(
    "more, tokens",
    [
        (dict(max_position_embeddings=40960), 40960),
        ({}, None),
        (
            dict(
                max_position_embeddings=32768,
                rope_scaling=dict(type="yarn", factor=4.0, original_max_position_embeddings=32768),
            ),
            131072,
        ),
        (
            dict(
                max_position_embeddings=131072,
                rope_scaling=dict(rope_type="yarn", factor=32.0, original_max_position_embeddings=4096),
            ),
            131072,
        ),
        (dict(max_position_embeddings=131072, rope_scaling=dict(rope_type="llama3", factor=8.0)), 131072),
        (dict(max_position_embeddings=4096, rope_scaling=dict(rope_type="yarn", factor="many")), 4096),
    ],
)
def test_tokens_that_a_sequence_may_have(more, tokens):
    model, _ = model_from_config({**CONFIGS["qwen3-8b"], **more})
    assert model.positions == tokens


# Everything that is wrong at once


def test_absurd_numbers_are_named_field_by_field():
    absurd = dict(num_hidden_layers=-3, hidden_size=1e99, vocab_size="many", intermediate_size=True)
    with pytest.raises(ValueError) as refusal:
        model_from_config({**CONFIGS["qwen3-8b"], **absurd})
    assert all(name in str(refusal.value) for name in absurd)
    with pytest.raises(ValueError, match="no num_hidden_layers; the config has no hidden_size"):
        model_from_config(dict(model_type="llama"))
