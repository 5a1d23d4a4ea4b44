from dataclasses import replace

import pytest

from sim.cluster.models import MODELS

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
    # by the arithmetic of the modeling code, not instantiated
    "gpt-oss-120b": (116_829_156_672, 5_711_982_912, 36_864),
    "qwen3-next-80b-a3b": (79_674_391_296, 3_563_764_480 + 151_936 * 2048, 24_576),
    "qwen3.5-35b-a3b": (34_660_610_688, None, 20_480),
    "glm-4.5-air": (106_852_245_504, 12_803_366_912 + 151_552 * 4096, 188_416),
    "gemma3-27b": (27_009_346_304, 27_009_346_304, 81_920),
}


@pytest.mark.parametrize("key", COUNTS)
def test_parameters_follow_from_the_shape(key):
    params, active, kv_bytes = COUNTS[key]
    model = MODELS[key]
    assert (model.params(), model.kv_bytes_per_token()) == (params, kv_bytes)
    assert active is None or model.active_params() == active


def test_every_model_of_the_table_is_tested():
    assert set(MODELS) == set(COUNTS)


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
    small = MODELS["qwen2.5-1.5b"]
    assert replace(small, tied=False).params() - small.params() == small.embed_params() == 233_373_696


# published rows of transformers' counts minus vocab x hidden; gpt-oss's model card says "5.1B active", which is P′
MULTIPLIED = {
    "llama3.1-8b": 7_504_924_672,
    "qwen2.5-7b": 7_070_619_136,
    "qwen3-8b": 7_568_405_504,
    "qwen3-30b-a3b": 3_041_867_776,
    "deepseek-v3": 36_625_603_584,
    "qwen2.5-1.5b": 1_543_714_304,
    "gpt-oss-120b": 5_132_849_472,
    "qwen3-next-80b-a3b": 3_563_764_480,
    "glm-4.5-air": 12_803_366_912,
}


@pytest.mark.parametrize("key", MULTIPLIED)
def test_a_table_that_is_only_looked_up_is_not_multiplied(key):
    assert MODELS[key].matmul_params() == MULTIPLIED[key]


def test_an_iteration_reads_a_dense_model_without_the_lookup_and_the_experts_that_someone_was_routed_to():
    dense, experts = MODELS["llama3.1-8b"], MODELS["deepseek-v3"]
    assert dense.read_params(1) == dense.read_params(512) == 7_504_924_672
    # E(1 − (1 − k/E)^n) distinct experts a layer; 58 layers · 256 experts · 3 · 7168 · 2048 routed parameters
    routed, lookup = 653_908_770_816, 129_280 * 7168
    others = 17_117_633_536 - lookup
    assert experts.read_params(1) == pytest.approx(experts.matmul_params(), rel=1e-12)
    assert experts.read_params(64) == pytest.approx(others + routed * 222.4425 / 256, rel=1e-6)
    assert experts.read_params(1e9) == pytest.approx(experts.params() - lookup, rel=1e-12)


def test_engines_divide_the_heads():
    # vLLM issue 11797: "Total number of attention heads (28) must be divisible by tensor parallel size (8)"
    assert MODELS["qwen2.5-7b"].tp_sizes() == MODELS["qwen2.5-1.5b"].tp_sizes() == (1, 2, 4)  # 28 and 12 heads
    assert MODELS["qwen2.5-32b"].tp_sizes() == (1, 2, 4, 8)  # 40 heads
    assert max(MODELS["llama3.1-8b"].tp_sizes()) == 32
    assert replace(MODELS["llama3.1-8b"], heads=48, kv_heads=6).tp_sizes() == (
        1,
        2,
    )  # 6 KV heads: neither cut nor copied


def test_context_parallelism_cuts_what_would_be_copies():
    assert MODELS["deepseek-v3"].kv_shards(8, 8) == 8
    assert MODELS["qwen2.5-7b"].kv_shards(8, 2) == 8  # 4 KV heads on 8 GPUs, each head's tokens on two
    with pytest.raises(ValueError, match="cuts copies"):
        MODELS["llama3.1-70b"].kv_shards(8, 2)  # 8 KV heads on 8 GPUs: there are no copies


def test_a_window_and_a_state_stop_the_cache_from_growing():
    gemma, hybrid = MODELS["gemma3-27b"], MODELS["qwen3-next-80b-a3b"]
    # 52 of 62 layers: 16 heads x 128 x 2 x 2 bytes, for 1,024 tokens at most
    assert gemma.cache_bytes(512) == 512 * (81_920 + 425_984)
    assert gemma.cache_bytes(8192) == 8192 * 81_920 + 1024 * 425_984
    assert hybrid.cache_bytes(0) == pytest.approx(77.3e6, rel=1e-3)
    assert hybrid.cache_bytes(0) / hybrid.kv_bytes_per_token() == pytest.approx(3144, abs=0.5)
    assert MODELS["qwen3.5-35b-a3b"].cache_bytes(0) == pytest.approx(64.4e6, rel=1e-3)
    oss = MODELS["gpt-oss-120b"]
    assert oss.cache_bytes(128) == 2 * oss.cache_bytes(64) == 128 * 2 * 36_864
    assert oss.cache_bytes(129) - oss.cache_bytes(128) == 36_864


def test_a_state_is_cut_with_the_heads_and_keys_and_values_only_by_their_own():
    hybrid = MODELS["qwen3-next-80b-a3b"]  # 2 KV heads
    state, growing = hybrid.cache_bytes(0), 1000 * hybrid.kv_bytes_per_token()
    assert hybrid.cache_bytes(1000, tensor_parallel=8) == pytest.approx(state / 8 + growing / 2)


@pytest.mark.parametrize("key", MODELS)
def test_attention_of_one_token_grows_with_the_context_and_prefill_of_latent_attention_is_narrower(key):
    model = MODELS[key]
    assert model.attention_flops_per_token(4096) > model.attention_flops_per_token(64) > 0
    # absorbed latent 2 · 512 + 64 wide, rebuilt keys and values 192 + 128
    ratio = model.prefill_flops_per_token(64) / model.attention_flops_per_token(64)
    assert ratio == pytest.approx(320 / 1088 if model.mla else 1)
