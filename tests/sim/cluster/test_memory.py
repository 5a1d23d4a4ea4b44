from dataclasses import replace

import pytest

from sim.cluster import memory
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.memory import Engine, Training
from sim.cluster.models import MODELS, Model
from sim.cluster.throughput import PEAK, calibrated

H100, H200, B200, MI300X = (ACCELERATORS[key] for key in ("h100", "h200", "b200", "mi300x"))
LLAMA, QWEN, V3 = MODELS["llama3.1-8b"], MODELS["qwen2.5-7b"], MODELS["deepseek-v3"]
GPT3 = Model("gpt-3", "GPT-3 175B", 96, 12288, 96, 96, 128, 49152, 51200)


# The engine


def test_the_pool_is_what_the_weights_leave():
    # ⌊(.9 · 80e9 − 2 · 8 030 261 248) / 131 072⌋, and 8 KV heads on 8 GPUs for the 70B
    assert memory.capacity(LLAMA, H100) == 426_784
    assert memory.capacity(MODELS["llama3.1-70b"], H100, Engine(tensor_parallel=8)) == 1_327_186
    assert memory.sequences(MODELS["llama2-7b"], ACCELERATORS["a100_80"], 4096) == pytest.approx(27.25, abs=0.01)


@pytest.mark.parametrize("cached_heads, sequences", [(32, 26), (8, 104), (1, 833)])
def test_fewer_kv_heads_hold_more_sequences(cached_heads, sequences):
    # 55.94e9 bytes / (4096 · 524 288, 131 072, 16 384)
    assert int(memory.sequences(replace(LLAMA, cached_heads=cached_heads), H100, 4096)) == sequences


def test_eight_bit_keys_and_values_double_the_sequences():
    assert memory.capacity(LLAMA, H100, Engine(kv_bytes=1)) == pytest.approx(2 * memory.capacity(LLAMA, H100), abs=1)


def test_more_gpus_than_kv_heads_copy_the_cache_instead_of_cutting_it():
    model = MODELS["qwen3-30b-a3b"]  # 4 KV heads: on 8 GPUs each still holds a quarter
    room = 0.9 * 80e9 - 2 * model.params() / 8
    assert memory.capacity(model, H100, Engine(8, 8)) == int(room / (model.kv_bytes_per_token() / 4))


def test_vllm_takes_activations_off_its_share_and_sglang_out_of_the_rest():
    assert memory.capacity(LLAMA, H100, Engine(extra_bytes=2e9)) == 411_525
    assert memory.capacity(LLAMA, H100, Engine(extra_bytes=2e9, rule="sglang")) == 426_784
    assert not memory.fits(LLAMA, H100, Engine(1, extra_bytes=7.9e9, rule="sglang"))
    (misfit,) = memory.fits(LLAMA, H100, Engine(1, extra_bytes=9e9, rule="sglang"))
    assert (misfit.needs, misfit.has) == (9, pytest.approx(8)) and "9.0 GB of activations" in misfit.what


def test_a_pool_of_16_gib_holds_what_vllm_says():
    # vLLM, pull 44594: Qwen2.5-7B, 16 GiB of KV cache, 299,584 tokens in blocks of 16
    tokens = 2**34 // QWEN.kv_bytes_per_token()
    assert tokens // 16 * 16 == 299_584


def test_cutting_by_tokens_makes_the_pool_of_a_latent_eight_times_as_large():
    assert memory.capacity(V3, H200, Engine(tensor_parallel=8, weight_bytes=1)) == 612_216
    assert memory.capacity(V3, H200, Engine(8, 8, weight_bytes=1, context_parallel=8)) == 4_897_734


def test_a_window_holds_more_sequences_than_its_growing_layers_say():
    gemma = MODELS["gemma3-27b"]
    room = memory.engine_room(gemma, H100, Engine(tensor_parallel=2))
    assert memory.sequences(gemma, H100, 8192, Engine(tensor_parallel=2)) == pytest.approx(
        room / ((8192 * 81_920 + 1024 * 425_984) / 2)
    )
    assert memory.sequences(V3, H100, 4096) == 0


@pytest.mark.parametrize(
    "key, weight_bytes, sizes",
    [  # 64 GPUs, longest 8 704 tokens: the fewest of 1, 2, 4, 8 with weights/n below two thirds of .9 · HBM, else 8
        ("llama3.1-70b", 2, (4, 2, 2, 2)),
        ("llama3.1-405b", 2, (None, 8, 8, 8)),
        ("deepseek-v3", 2, (None, None, None, 8)),
        ("deepseek-v3", 1, (None, 8, 8, 8)),
        ("kimi-k2", 1, (None, None, 8, 8)),
    ],
)
def test_an_engine_gets_the_fewest_gpus_that_leave_a_third_to_the_cache(key, weight_bytes, sizes):
    engine = Engine(64, longest=8704, weight_bytes=weight_bytes)
    chosen = [memory.engine_tp(MODELS[key], chip, engine) for chip in (H100, H200, B200, MI300X)]
    assert tuple(chosen) == sizes


def test_cutting_by_tokens_needs_copies_to_cut():
    # 8 GPUs make 2 copies of 4 KV heads, and one of 8: nothing to cut
    thinking = MODELS["qwen3-30b-a3b"]
    assert not memory.fits(thinking, H100, Engine(8, 8, context_parallel=2))
    (misfit,) = memory.fits(thinking, H100, Engine(8, 8, context_parallel=4))
    assert (misfit.needs, misfit.has) == (4, 2) and "makes 2 copies of the cache" in misfit.what
    assert "makes 1 copy of" in memory.fits(LLAMA, H100, Engine(8, 8, context_parallel=2))[0].what


def test_an_engine_of_no_pool_has_the_gpus_of_one_replica():
    assert not memory.fits(MODELS["llama3.1-70b"], H100, Engine(tensor_parallel=8))


def test_an_engine_never_leaves_its_pool_nor_its_domain():
    assert memory.engine_tp(MODELS["llama3.1-70b"], H100, Engine(1, longest=8704)) is None
    assert memory.engine_tp(MODELS["llama3.1-405b"], ACCELERATORS["gb200"], Engine(64, longest=8704)) == 8
    assert memory.engine_tp(V3, H100, Engine(1024, longest=8704)) is None  # 32 would hold it, over the network
    assert memory.engine_tp(V3, ACCELERATORS["gb200"], Engine(72, longest=8704)) == 16


def test_kimi_needs_more_than_nine_tenths_of_eight_h200():
    # 1 026 408 209 408 / 8 = 128.3 GB of 126.9 at u = .9; at .95 (133.95 − 128.3) GB / 70 272 B
    kimi = MODELS["kimi-k2"]
    assert memory.capacity(kimi, H200, Engine(8, 8, weight_bytes=1)) < 0
    assert memory.capacity(kimi, H200, Engine(8, 8, hbm_share=0.95, weight_bytes=1)) == 80_387


# The trainer


def test_zero_shards_the_state_as_its_paper_says():
    # Rajbhandari et al., figure 1: 7.5B parameters on 64 GPUs, 120, 31.4, 16.6, 1.9 GB
    model = Model("paper", "7.5B", 1, 1, 1, 1, 1, 0, 0, further_params=7_500_000_000 - 8 - 3)
    assert model.params() == pytest.approx(7.5e9, rel=1e-8)
    states = [memory.state_bytes(model, 64, stage) / 1e9 for stage in range(4)]
    assert states == pytest.approx([120, 31.40625, 16.640625, 1.875], rel=1e-6)


def test_fp32_gradients_are_eighteen_bytes():
    def state(stage, ledger):
        return memory.state_bytes(LLAMA, 8, stage, memory.LEDGERS[ledger]) / 1e9

    assert [state(stage, "2 + 2 + 12") for stage in (1, 2, 3)] == pytest.approx([44.166, 30.113, 16.061], abs=1e-3)
    assert [state(stage, "2 + 4 + 12") for stage in (1, 2, 3)] == pytest.approx([60.227, 32.121, 18.068], abs=1e-3)


def test_every_ledger_adds_up_to_what_it_is_called():
    for name, ledger in memory.LEDGERS.items():
        assert (
            ledger.whole == sum(map(int, name.split(" + "))) == memory.state_bytes(LLAMA, 1, 0, ledger) / LLAMA.params()
        )


def test_what_waits_on_the_host_is_all_but_the_gradients():
    # verl 0.9.1, utils/fsdp_utils.py: fp32 weights and two moments, 4 + 8 bytes; utils/megatron_utils.py: bf16 weights,
    # fp32 copies and moments, 2 + 12, and the buffer of gradients is freed
    model = MODELS["qwen2.5-32b"]

    def waits(zero, ledger):
        return memory.waiting_bytes(model, Training(8, zero, ledger)) / model.params()

    assert waits(3, memory.FSDP) == pytest.approx(12 / 8)
    assert waits(3, memory.MEGATRON) == pytest.approx(14 / 8)
    assert waits(1, memory.MEGATRON) == pytest.approx(2 + 12 / 8)  # each GPU's own copy of the weights


def test_groups_and_stages_cut_the_state_before_zero_shards_it():
    # 4 of 8 GPUs hold a quarter each of the same weights: ZeRO 1 keeps (4 + 12/2) P/4, ZeRO 3 16 P/8
    def state(stage):
        return memory.state_bytes(LLAMA, 8, stage, cut=4) / LLAMA.params()

    assert [state(stage) for stage in range(4)] == pytest.approx([4, 2.5, 2.25, 2])
    for tensor, stages in ((4, 1), (1, 4), (2, 2)):
        job = Training(8, 1, tensor_parallel=tensor, pipeline=stages)
        assert memory.whole_bytes(LLAMA, job) == memory.state_bytes(LLAMA, 8, 1, cut=4)


def test_megatron_keeps_six_bytes_of_its_own_weights_and_twelve_of_a_share():
    # docs/user-guide/features/dist_optimizer.md: 6 + 12/d, with fp32 gradients. DeepSeek-V3 on 256 GPUs in 16 stages,
    # each of them with its experts over 16: 58 layers of 256 experts of 3 x 7168 x 2048 weights
    routed = 58 * 256 * 3 * 7168 * 2048
    own = (671_026_404_352 - routed) / 16 + routed / 256
    job = Training(256, 1, memory.MEGATRON, pipeline=16, expert_parallel=16)
    assert memory.whole_bytes(V3, job) == pytest.approx(6 * own + 12 * 671_026_404_352 / 256, rel=1e-6)
    assert memory.whole_bytes(V3, job) / 1e9 == pytest.approx(21.7 + 31.5, abs=0.1)
    assert memory.frozen_bytes(V3, job) == pytest.approx(2 * own)  # a reference is laid out like the policy
    # without experts dealt out a tensor-parallel group cuts them like all other matrices
    eight = Training(256, 1, memory.MEGATRON, pipeline=16, tensor_parallel=8)
    assert memory.frozen_bytes(V3, eight) == pytest.approx(2 * 671_026_404_352 / 128)


def test_zero_3_divides_everything_however_it_is_cut():
    whole = memory.whole_bytes(V3, Training(256, 3, memory.FSDP))
    assert whole == pytest.approx(16 * 671_026_404_352 / 256)
    cut = Training(256, 3, memory.FSDP, tensor_parallel=8, pipeline=4, expert_parallel=32)
    assert memory.whole_bytes(V3, cut) == pytest.approx(whole)


def test_stages_and_groups_that_do_not_divide_the_gpus_are_named():
    def said(**layout):
        return memory.fits(V3, H200, training=Training(**dict(gpus=96, recompute="full") | layout))[0].what

    assert said(gpus=62 * 4, pipeline=62) == "62 stages of a trainer: DeepSeek-V3 / R1 has 61 layers"
    assert "copies of the model on 64 GPUs each: of 96 GPUs 32 would" in said(tensor_parallel=8, pipeline=8)
    assert "over 64 GPUs while 96 GPUs train" in said(expert_parallel=64)
    assert "over 64 GPUs while 48 GPUs of a stage train" in said(expert_parallel=64, pipeline=2)
    assert "256 GPUs for training" in said(gpus=256, tensor_parallel=256)


def test_adapters_are_as_many_weights_as_libraries_count():
    # Llama-3.1-8B, rank 16, all linear layers: 41 943 040, as unsloth and peft print it; by hand, a layer has
    # 16 · (2 · 8192 + 2 · 5120 + 3 · 18432)
    assert memory.adapter_params(LLAMA, 16) == 41_943_040 == 32 * 16 * (2 * 8192 + 2 * 5120 + 3 * 18432)
    # DeepSeek-V3: projections of the latent, and the MLPs of the first three layers
    mixer = 7168 + 1536 + 1536 + 128 * 192 + 7168 + 576 + 512 + 128 * 256 + 128 * 128 + 7168
    assert memory.adapter_params(V3, 1) == 61 * mixer + 3 * 3 * (7168 + 18432)


def test_adapters_leave_the_weights_without_gradients_and_optimizer():
    parts = memory.training_bytes(LLAMA, Training(8, adapters=16))
    assert parts["state"] == pytest.approx((2 * LLAMA.params() + 16 * 41_943_040) / 8)
    parts = memory.training_bytes(LLAMA, Training(8, zero=2, adapters=16))
    assert parts["state"] == pytest.approx(2 * LLAMA.params() + 2 * 41_943_040)


def test_a_critic_is_a_second_training_state_and_a_reward_model():
    parts = memory.training_bytes(LLAMA, Training(8, critic=True))
    assert parts["critic"] == pytest.approx(18 * LLAMA.params() / 8) and parts["state"] == 2 * LLAMA.params()


def test_activations_are_those_of_korthikanti():
    # GPT-3 175B, s = 2048, b = 1, 8 tensor-parallel ranks; 5 a s/h = 80
    def gigabytes(*arguments):
        return memory.activation_bytes(GPT3, 2048, 2048, *arguments) / 1e9

    assert gigabytes("none") == pytest.approx(275.415, abs=1e-3)
    assert gigabytes("none", 8, False) == pytest.approx(55.566, abs=1e-3)
    assert gigabytes("none", 8) == pytest.approx(34.427, abs=1e-3)
    assert gigabytes("selective", 8) == pytest.approx(10.2677, abs=1e-4)

    def one_layer(bytes_of_token):
        return bytes_of_token * 2048 * 12288 / 1e9

    assert gigabytes("full", 8, False) - one_layer(10 + 24 / 8) == pytest.approx(4.8318, abs=1e-4)
    # the inputs of layers are split by tokens as well where norms are
    assert gigabytes("full", 8) - one_layer(34 / 8) == pytest.approx(4.8318 / 8, abs=1e-4)


def test_a_layer_keeps_thirty_four_hidden_states_and_its_scores():
    # Korthikanti et al., section 4.1: attention 11, MLP 19, norms 4, scores 5 a s/h
    assert memory.layer_activations(GPT3, 2048) == dict(norms=4, attention=11, MLP=19, scores=80)
    assert sum(memory.layer_activations(GPT3, 2048, "selective").values()) == 34
    assert memory.layer_activations(GPT3, 2048, "full") == dict(input=2)


def test_recomputation_turns_a_square_into_a_line():
    def gigabytes(length):
        return [memory.activation_bytes(LLAMA, length, length, r) / 1e9 for r in memory.RECOMPUTE]

    assert gigabytes(8192) == pytest.approx([380.1, 36.5, 3.29], rel=2e-3)
    assert gigabytes(32768) == pytest.approx([5643.6, 146.0, 13.15], rel=1e-3)
    assert gigabytes(131072) == pytest.approx([88_545, 584.1, 52.6], rel=1e-3)


def test_logits_weigh_more_than_full_recomputation_keeps():
    # 8192 · 128 256 · (2 + 4 + 4) bytes, of which fp32 alone 4.20269 GB
    assert memory.logits_bytes(LLAMA, 8192) / 1e9 == pytest.approx(10.5067, abs=1e-4)
    assert memory.logits_bytes(LLAMA, 8192) * 0.4 / 1e9 == pytest.approx(4.20269, abs=1e-5)
    assert memory.logits_bytes(LLAMA, 8192, 1024) / 1e9 == pytest.approx(1.31, abs=5e-3)
    assert memory.logits_bytes(LLAMA, 8192, backward=False) / 1e9 == pytest.approx(0.6 * 10.5067, abs=1e-4)


def test_eight_h100_train_an_8b():
    job = Training(8, reference=True, tokens=8192, length=8192, recompute="selective", logits_chunk=1024)
    parts = memory.training_bytes(LLAMA, job)
    assert [parts[k] / 1e9 for k in ("state", "reference", "activations", "logits")] == pytest.approx(
        [16.06, 2.01, 36.51, 1.31], abs=5e-3
    )
    assert not memory.fits(LLAMA, H100, training=job)


def test_two_gpus_a_sequence_halve_activations_and_logits():
    job = dict(tokens=8192, length=8192, recompute="selective")
    one, two = (memory.training_bytes(LLAMA, Training(8, tensor_parallel=t, **job)) for t in (1, 2))
    assert two["activations"] == pytest.approx(one["activations"] / 2) and two["logits"] == one["logits"] / 2
    assert two["state"] == one["state"]


# What is impossible


def test_what_there_is_too_much_of_is_named():
    def part(**job):
        return memory.fits(LLAMA, H100, **job)[0].part

    assert part(training=Training(1)) == "state"
    assert part(training=Training(8, tokens=16384, length=16384, recompute="selective")) == "activations"
    assert part(training=Training(8, tokens=65536, length=65536)) == "logits"
    assert part(training=Training(8, tensor_parallel=16)) == "layout"
    assert part(engine=Engine(1, hbm_share=0.2)) == "weights"
    assert part(engine=Engine(1, longest=500_000)) == "sequence"
    assert part(engine=Engine(1, None, longest=500_000)) == "sequence"
    assert part(engine=Engine(8), training=Training(8), shared=True) == "engine"


def says(misfits):
    return [misfit.what for misfit in misfits]


def test_heads_that_do_not_divide_do_not_fit():
    (misfit,) = memory.fits(QWEN, H100, Engine(8, 8))
    assert misfit.what == "Qwen2.5-7B on 8 GPUs an engine: its 28 heads and 4 KV heads divide among 1, 2 or 4"
    assert (misfit.needs, misfit.has) == (8, 4) and not memory.fits(QWEN, H100, Engine(8, 4))


def test_an_engine_larger_than_its_pool_does_not_fit_and_one_of_several_servers_does():
    assert says(memory.fits(V3, H100, Engine(4, 32))) == ["an engine of 32 GPUs in a pool of 4"]
    assert memory.fits(V3, H100, Engine(64, 32, 8704)) == []  # 42 GB of weights a GPU
    groups = Engine(64, 1, 8704, data_parallel=32, weight_bytes=1)
    assert memory.fits(V3, H100, groups) == [] and groups.size == 32
    routed = 58 * 256 * 3 * 7168 * 2048  # over 32; every group has the rest
    assert memory.weight_bytes_per_gpu(V3, groups) == 671_026_404_352 - routed + routed / 32
    for engine, said in (
        (replace(groups, gpus=16), "an engine of 32 GPUs in a pool of 16"),
        (replace(groups, data_parallel=512, gpus=512), "experts of an engine over 512 GPUs: DeepSeek-V3 / R1 has 256"),
        (replace(groups, data_parallel=1, pipeline=64), "64 stages of an engine: DeepSeek-V3 / R1 has 61 layers"),
        (replace(groups, tensor_parallel=None, gpus=16), "an engine of 32 GPUs at least in a pool of 16"),
    ):
        assert said in memory.fits(V3, H100, engine)[0].what


def test_an_engine_whose_size_is_chosen_has_the_copies_that_are_cut():
    # 32 heads and 8 KV heads: two copies of a cache in a group of 16
    llama, chip = MODELS["llama3.1-8b"], ACCELERATORS["gb200"]
    assert memory.engine_tp(llama, chip, Engine(64, 0, 8704, context_parallel=2)) == 16
    (misfit,) = memory.fits(llama, H100, Engine(8, memory.engine_tp(llama, H100, Engine(8, 0, 8704, 2)), 8704, 2))
    assert "an engine of 8 makes 1 copy" in misfit.what


def test_stages_and_groups_hold_sequences_of_their_own():
    # half the layers of a sequence on each of two stages
    one, two = Engine(tensor_parallel=8, weight_bytes=1), Engine(tensor_parallel=8, weight_bytes=1, pipeline=2)
    llama = MODELS["llama3.1-405b"]
    assert memory.cache_bytes(llama, 8192, two) == memory.cache_bytes(llama, 8192, one) / 2
    free = 72e9 - memory.weight_bytes_per_gpu(llama, two)
    assert memory.sequences(llama, H100, 8192, two) == pytest.approx(2 * free / (8192 * 516_096 / 8))


def test_weights_without_an_engine_are_said_in_gigabytes():
    # 2 · 671 026 404 352 B of 4 · .9 · 80 GB
    engine = Engine(4, memory.engine_tp(V3, H100, Engine(4, longest=8704)), 8704)
    (misfit,) = memory.fits(V3, H100, engine)
    assert (misfit.needs, misfit.has) == (pytest.approx(1342, abs=0.1), pytest.approx(288))
    assert misfit.what == (
        "DeepSeek-V3 / R1 has 1,342 GB of weights, and the largest engine tried, 4 GPUs, may fill 288"
    )
    assert "weights a GPU" in says(memory.fits(MODELS["llama3.1-70b"], H100, Engine(8, 1)))[0]


def test_one_sequence_that_is_longer_than_the_pool_does_not_fit():
    # .3 · 80 − 16.06 GB = 7.94 GB, 60 573 tokens
    engine = Engine(1, 1, 131_072, hbm_share=0.3)
    (misfit,) = memory.fits(LLAMA, H100, engine)
    assert "one sequence of 131,072 tokens" in misfit.what
    assert not memory.fits(LLAMA, H100, Engine(1, 1, 60_573, hbm_share=0.3))
    assert memory.fits(LLAMA, H100, Engine(1, 1, 60_574, hbm_share=0.3))


@pytest.mark.parametrize(
    "key, chip, gpus",
    [("llama3.1-405b", H100, 89), ("deepseek-v3", H100, 146), ("deepseek-v3", H200, 83), ("llama3.1-70b", H100, 16)],
)
def test_training_state_needs_so_many_gpus(key, chip, gpus):
    # 16 P / (.92 HBM), rounded up
    assert memory.fits(MODELS[key], chip, training=Training(gpus - 1))
    assert not memory.fits(MODELS[key], chip, training=Training(gpus))


def test_a_shared_gpu_holds_the_engines_share_and_the_state():
    # (.92 · 80 − 18 · 8.03 / 8) / 80 = .694
    state = Training(8, reference=True)
    assert not memory.fits(LLAMA, H100, Engine(8, hbm_share=0.69), state, shared=True)
    (misfit,) = memory.fits(LLAMA, H100, Engine(8, hbm_share=0.70), state, shared=True)
    assert "on the same GPUs" in misfit.what

    # what SGLang allocates outside its share stands beside the state too: (.92 · 80 − 20 − 18.07) / 80 = .444
    def beside(share):
        return Engine(8, hbm_share=share, extra_bytes=20e9, rule="sglang")

    assert not memory.fits(LLAMA, H100, beside(0.44), state, shared=True)
    assert memory.fits(LLAMA, H100, beside(0.45), state, shared=True)


def test_a_measurement_that_is_faster_than_the_chip_contradicts_it():
    assert not memory.fits(QWEN, H100, mfu=1.0, efficiency=PEAK)
    assert "1.34 times the chip's peak FLOP/s" in says(memory.fits(QWEN, H100, mfu=1.34))[0]
    faster = calibrated(QWEN, H100, 64, 2048, 3e-3)
    assert "bandwidth" in says(memory.fits(QWEN, H100, efficiency=faster))[0]
    assert "more than all" in says(memory.fits(QWEN, H100, efficiency=calibrated(QWEN, H100, 64, 2048, 1e-3)))[0]


def test_what_is_too_large_is_all_without_which_the_others_fit():
    parts = dict(state=50.0, activations=40.0, logits=5.0)
    assert memory.too_large(parts, 60.0) == "state"  # 45 are left
    assert memory.too_large(parts, 30.0) == "state and activations"
    assert memory.too_large(parts, 4.0) == "state and activations and logits"
