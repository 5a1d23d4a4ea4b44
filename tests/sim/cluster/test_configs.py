"""Config files as they are published, cut down to the keys that a shape depends on."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.cluster.configs import FAMILIES, model_from_config
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

V3 = CONFIGS["deepseek-v3"]
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
    model, unread = model_from_config(CONFIGS[key], key, MODELS[key].name)
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
    without = lambda key, name: model_from_config({k: v for k, v in CONFIGS[name].items() if k != key}, name, name)[0]
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
