from dataclasses import replace

import pytest

from sim.cluster.models import MODELS, Model

# all weights, weights a token uses, KV bytes a token in bf16. The counts: each config's class in transformers 5.23,
# instantiated without memory
COUNTS = {
    "llama2-7b": (6_738_415_616, 6_738_415_616, 524_288),
    "llama3.1-8b": (8_030_261_248, 8_030_261_248, 131_072),
    "llama3.1-70b": (70_553_706_496, 70_553_706_496, 327_680),
    "llama3.1-405b": (405_853_388_800, 405_853_388_800, 516_096),
    "qwen2.5-1.5b": (1_543_714_304, 1_543_714_304, 28_672),
    "qwen2.5-7b": (7_615_616_512, 7_615_616_512, 57_344),
    "qwen2.5-32b": (32_763_876_352, 32_763_876_352, 262_144),
    "qwen3-8b": (8_190_735_360, 8_190_735_360, 147_456),
    "qwen3-30b-a3b": (30_532_122_624, 3_353_032_704, 98_304),
    "qwen3-235b-a22b": (235_093_634_560, 22_190_763_520, 192_512),
    "mixtral-8x7b": (46_702_792_704, 12_879_925_248, 131_072),
    "deepseek-v3": (671_026_404_352, 37_552_282_624, 70_272),
    "kimi-k2": (1_026_408_209_408, 32_861_477_888, 70_272),
}


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


@pytest.mark.parametrize("key", COUNTS)
def test_parameters_follow_from_the_shape(key):
    assert (MODELS[key].params(), MODELS[key].active_params(), MODELS[key].kv_bytes_per_token()) == COUNTS[key]


@pytest.mark.parametrize("key", COUNTS)
def test_a_published_config_gives_the_row_of_the_table(key):
    assert Model.from_config(CONFIGS[key], key, MODELS[key].name) == MODELS[key]


def test_every_model_of_the_table_is_tested():
    assert set(MODELS) == set(COUNTS) == set(CONFIGS)


def test_a_missing_key_is_named():
    with pytest.raises(ValueError, match="the config has no num_key_value_heads"):
        Model.from_config({k: v for k, v in CONFIGS["qwen3-8b"].items() if k != "num_key_value_heads"})


def test_an_unknown_family_is_refused_by_name():
    with pytest.raises(ValueError, match="model_type 'mamba' is not one of llama, qwen2"):
        Model.from_config(dict(model_type="mamba"))


def test_a_shape_that_is_not_modeled_is_refused():
    with pytest.raises(ValueError, match=r"mlp_only_layers = .0. is not modeled"):
        Model.from_config({**CONFIGS["qwen3-30b-a3b"], "mlp_only_layers": [0]})


def test_latent_attention_caches_seventy_one_times_less_than_its_heads_would():
    deepseek = MODELS["deepseek-v3"]
    heads = replace(deepseek, cached_heads=128).kv_bytes_per_token()
    assert heads == 61 * 128 * (192 + 128) * 2 == 4_997_120  # every head its own 192-wide key and 128-wide value, bf16
    assert heads / deepseek.kv_bytes_per_token() == pytest.approx(71.111, abs=5e-4)


@pytest.mark.parametrize(
    "cached_heads, kind, kv_bytes", [(32, "mha", 524_288), (8, "gqa", 131_072), (1, "mqa", 16_384)]
)
def test_a_what_if_changes_the_cache_and_leaves_the_weights(cached_heads, kind, kv_bytes):
    # closed form: 2 x 32 layers x KV heads x 128 x 2 bytes
    what_if = replace(MODELS["llama3.1-8b"], cached_heads=cached_heads)
    assert (what_if.attention_kind, what_if.kv_bytes_per_token()) == (kind, kv_bytes)
    assert what_if.params() == MODELS["llama3.1-8b"].params()
    assert what_if.kv_shards(8) == min(8, cached_heads)


def test_eight_bit_keys_and_values_halve_the_cache():
    assert MODELS["llama3.1-8b"].kv_bytes_per_token(1) == 65_536


@pytest.mark.parametrize(
    "key, flop_per_byte",
    [
        ("llama2-7b", 1),
        ("llama3.1-8b", 4),
        ("llama3.1-70b", 8),
        ("qwen3-235b-a22b", 16),
        ("deepseek-v3", 2 * 128 * (576 + 512) / 1152),
    ],
)
def test_decode_attention_does_one_flop_a_byte_for_each_query_head_that_shares_it(key, flop_per_byte):
    # closed form: H/H_kv in bf16; absorbed latent attention reads 576 two-byte numbers for 128 heads, 241.8
    context = 1000
    assert MODELS[key].attention_flops_per_token(context) / (
        context * MODELS[key].kv_bytes_per_token()
    ) == pytest.approx(flop_per_byte, rel=1e-12)


def test_tensor_parallelism_cuts_the_cache_by_kv_head_and_the_latent_not_at_all():
    assert MODELS["qwen2.5-7b"].kv_shards(8) == 4  # 4 KV heads on 8 GPUs: each head twice
    assert MODELS["llama3.1-70b"].kv_shards(8) == 8
    assert MODELS["llama3.1-8b"].kv_shards(2) == 2
    assert MODELS["deepseek-v3"].kv_shards(8) == 1


def test_attention_kinds_are_read_off_the_heads():
    assert [MODELS[k].attention_kind for k in ("llama2-7b", "qwen3-8b", "kimi-k2")] == ["mha", "gqa", "mla"]


def test_a_tied_model_has_its_embedding_once():
    # Qwen2.5-1.5B: 151 936 x 1536 = 233 373 696 weights would be added by an output head of its own
    untied = Model.from_config({**CONFIGS["qwen2.5-1.5b"], "tie_word_embeddings": False})
    assert untied.params() - MODELS["qwen2.5-1.5b"].params() == MODELS["qwen2.5-1.5b"].embed_params() == 233_373_696
