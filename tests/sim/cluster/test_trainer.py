"""A trainer's pass against published pretraining steps and hand counts."""

from dataclasses import replace

import pytest

from sim.cluster import memory, throughput, trainer
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.trainer import Batch, Trainer, pass_seconds

H100 = ACCELERATORS["h100"]
EXPERTS, DENSE = MODELS["qwen3-30b-a3b"], MODELS["qwen2.5-32b"]

# NeMo AutoModel, docs/performance-summary.md of 2 October 2025, DGX-H100 in bf16, sequences of 4,096 tokens: GPUs,
# sequences a step, sequences a micro-batch, PP, VP, EP, activation checkpointing (from the recipes), tokens/s a GPU
PUBLISHED = [
    ("deepseek-v3", 1024, 8192, 1, 4, 8, 64, True, 865),
    ("deepseek-v3", 256, 512, 1, 4, 8, 64, True, 1002),
    ("kimi-k2", 256, 512, 1, 8, 4, 32, True, 924),
    ("qwen3-30b-a3b", 8, 512, 4, 1, 1, 8, True, 12_040),
    ("gpt-oss-120b", 64, 512, 2, 1, 1, 64, False, 7626),
]


def tokens_per_second(key, gpus, sequences, micro, pp, vp, ep, recompute):
    job = Trainer(gpus, pipeline=pp, virtual=vp, expert_parallel=ep, recompute=recompute, pack=4096 * micro)
    return (
        4096 * sequences / pass_seconds(MODELS[key], H100, job, Batch(4096 * sequences, sequences, 4096)).seconds / gpus
    )


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: f"{row[0]} on {row[1]}")
def test_published_training_steps_of_experts_are_met_within_a_sixth(row):
    *layout, published = row
    assert published / tokens_per_second(*layout) == pytest.approx(1, abs=0.19)


def test_the_flat_share_of_the_peak_is_twice_too_fast_for_large_experts():
    for row in PUBLISHED[:3]:
        model, gpus, sequences = MODELS[row[0]], row[1], row[2]
        flat = 4096 * sequences / throughput.update_seconds(model, H100, gpus, 4096 * sequences) / gpus
        assert flat / row[-1] > 1.7


def test_recomputation_is_one_forward_pass_more():
    plain = Trainer(64, zero=3)
    batch = Batch(8192 * 8192, 8192, 8192)
    once = pass_seconds(DENSE, H100, plain, batch)
    again = pass_seconds(DENSE, H100, replace(plain, recompute=True), batch)
    assert again.products == pytest.approx(once.products * 4 / 3)  # 8P a token, not 6P
    assert again.attention == pytest.approx(once.attention * 4.5 / 3.5)


def test_log_probs_are_the_forward_pass():
    batch = Batch(8192 * 8192, 8192, 8192)
    train, score = (pass_seconds(DENSE, H100, Trainer(64), batch, train=train) for train in (True, False))
    assert train.products == pytest.approx(3 * score.products) and score.state == 0


def test_products_are_two_flop_a_weight_and_token():
    one = pass_seconds(DENSE, H100, Trainer(64, zero=3), Batch(8192 * 8192, 8192, 8192), train=False)
    assert one.products == pytest.approx(2 * DENSE.matmul_params() * 8192 * 8192 / 64 / (0.65 * 989.4e12))


def test_at_64_thousand_tokens_attention_takes_longer_than_the_weights_of_small_experts():
    batch = Batch(1024 * 65_536, 1024, 65_536)
    one = pass_seconds(EXPERTS, H100, Trainer(16, expert_parallel=8, recompute=True), batch)
    # 2 FLOP, 2 · 128 numbers a head, 32 heads, 48 layers, half of 65,536 tokens: 25.8 GFLOP a token, forward alone
    flop = 2 * 256 * 32 * 48 * 65_536 / 2
    assert one.attention == pytest.approx(4.5 * flop * batch.tokens / 16 / (0.5 * 989.4e12))
    assert one.attention > one.products + one.experts


def test_a_rank_without_a_sequence_waits():
    # eight short sequences on 4,096 GPUs: 28 layers at .35 ms, three times, is the least that they take
    model = MODELS["qwen2.5-1.5b"]
    one = pass_seconds(model, H100, Trainer(4096), Batch(8 * 256, 8, 256))
    assert one.seconds > 3 * 28 * 0.35e-3
    assert throughput.update_seconds(model, H100, 4096, 8 * 256) < 30e-6  # what 6P over all GPUs' peak would say


def test_experts_need_tokens():
    """Share of the peak that 6P a token comes to: small micro-batches leave tiles of an expert empty."""

    def reached(pack):
        batch = Batch(8 * pack * 16, 8 * 16 * max(pack // 4096, 1), min(pack, 4096))
        one = pass_seconds(EXPERTS, H100, Trainer(8, expert_parallel=8, pack=pack), batch)
        return 6 * EXPERTS.active_params() * batch.tokens / (8 * 989.4e12 * one.seconds)

    shares = [reached(pack) for pack in (512, 2048, 8192)]
    assert shares[0] < 0.6 * max(shares[1:]) and max(shares) < 0.35


def test_gathering_weights_for_each_micro_batch_costs_where_micro_batches_are_small():
    batch = Batch(8192 * 1024, 8192, 1024)
    small, large = (pass_seconds(EXPERTS, H100, Trainer(64, zero=3, pack=pack), batch) for pack in (2048, 32_768))
    # 64 micro-batches, eight bytes of each of 30.5 billion weights, 63/64, over 0.8 · 400 GB/s, less what computes
    gathered = 64 * 8 * EXPERTS.params() * 63 / 64 / (0.8 * 400e9)
    assert small.seconds == pytest.approx(gathered, rel=0.02) and small.seconds > 4 * large.seconds


def test_a_pipeline_waits_while_it_fills():
    batch = Batch(64 * 4096, 64, 4096)
    job = Trainer(64, pipeline=8, pack=4096)
    filled = pass_seconds(DENSE, H100, job, batch)
    work = filled.seconds - filled.bubble - filled.state
    assert filled.bubble == pytest.approx(work * 7 / 8)  # 8 micro-batches a rank, 7 stages to fill
    halved = pass_seconds(DENSE, H100, replace(job, virtual=4), batch)
    assert halved.bubble == pytest.approx(filled.bubble / 4)


def test_more_updates_pay_for_sharding_more_often():
    batch = Batch(512 * 4096, 512, 4096)
    one = pass_seconds(DENSE, H100, Trainer(64), batch)
    four = pass_seconds(DENSE, H100, Trainer(64), replace(batch, updates=4))
    assert four.state > 3 * one.state and four.products == pytest.approx(one.products)


def test_the_state_crosses_the_hosts_link_where_that_is_slower_than_its_processors():
    # on one GPU 28 bytes a weight over 64 GB/s, of which four fifths are reached
    here, there = (
        pass_seconds(DENSE, H100, Trainer(1, on_host=where), Batch(4096, 1, 4096)) for where in ("nothing", "optimizer")
    )
    assert there.state - here.state == pytest.approx(28 * DENSE.params() / (0.8 * 64e9), rel=1e-6)


# seconds of Adam on the host: prime-rl, pull request 3248, 171B on one server; slime, issue 1139, 106B on four
@pytest.mark.parametrize("billions, servers, published", [(171, 1, 12.8), (106, 4, 9.6)])
def test_adam_on_the_host_takes_what_was_published_within_the_spread_of_two_programs(billions, servers, published):
    batch = Batch(512 * 4096, 512, 4096)
    here, there = (
        pass_seconds(DENSE, H100, Trainer(8 * servers, zero=3, on_host=where), batch)
        for where in ("nothing", "optimizer")
    )
    of_each = (there.state - here.state) / (DENSE.params() / servers)
    assert published / 2.3 < of_each * billions * 1e9 / servers < 2.3 * published


# trained: forward and backward in bf16 and a gradient in fp32; below adapters no gradient; in NF4 4.127 bits a weight
# of a matrix, and matrices are all but embeddings and norms
@pytest.mark.parametrize(
    "kind, moved",
    [
        (dict(), (2 * 2 + 4) * DENSE.params()),
        (dict(adapters=32), 2 * 2 * DENSE.params()),
        (
            dict(adapters=32, four_bits=True),
            2 * (4.127 / 8 * DENSE.matrices() + 2 * (DENSE.params() - DENSE.matrices())),
        ),
    ],
)
def test_weights_on_the_host_come_over_for_every_micro_batch(kind, moved):
    # over 64 GB/s, of which four fifths are reached
    batch = Batch(8 * 64, 8, 64)
    job = Trainer(1, zero=3, pack=0, **kind)
    optimizer, everything = (
        pass_seconds(DENSE, H100, replace(job, on_host=where), batch) for where in ("optimizer", "all")
    )
    brought = 8 * moved / (0.8 * 64e9)
    computed = optimizer.seconds - optimizer.state
    assert everything.state - optimizer.state == pytest.approx(brought - computed, rel=1e-6) and brought > 2 * computed


def test_frozen_weights_have_no_gradient_and_no_optimizer():
    # 2 forward, 2 again and 2 for the activations' gradient, of 8 with that of the weights
    batch = Batch(512 * 4096, 512, 4096)
    whole, adapters = (
        pass_seconds(DENSE, H100, Trainer(8, zero=3, recompute=True, adapters=rank), batch) for rank in (0, 32)
    )
    assert adapters.products == pytest.approx(6 / 8 * whole.products) and adapters.attention == whole.attention
    assert adapters.state < 0.05 * whole.state


def test_weights_in_four_bits_are_written_in_bf16_for_every_pass():
    batch = Batch(64 * 8192, 64, 8192)
    plain, narrow = (
        pass_seconds(DENSE, H100, Trainer(8, zero=1, adapters=32, four_bits=bits), batch) for bits in (False, True)
    )
    passes = 2 * 8  # forward and backward of eight micro-batches
    moved = 4.5 * DENSE.matrices() / (0.75 * 3.35e12)
    assert narrow.traffic - plain.traffic == pytest.approx(passes * moved)


def test_a_micro_batch_is_a_sequence_where_nothing_is_packed():
    batch = Batch(1024 * 500, 1024, 4096)
    packed, single = (pass_seconds(DENSE, H100, Trainer(64, zero=3, pack=pack), batch) for pack in (8192, 0))
    assert single.state > 2 * packed.state  # sixteen gathers of the weights instead of one


# Llama 3, arXiv:2407.21783, table 4: 405B in bf16 on H100, 16 million tokens a step in sequences of 8,192; GPUs, FLOP/s
# of each. TP 8, PP 16, optimizer and gradients sharded, no recomputation. Its pipeline is interleaved, and the paper
# does not say how finely: of 126 layers in 16 stages a GPU has 2 to 8 parts
LLAMA_3 = [(8192, 430e12), (16_384, 400e12)]


@pytest.mark.parametrize("gpus, published", LLAMA_3)
@pytest.mark.parametrize("virtual", [2, 4, 8])
def test_a_published_step_of_tensor_and_pipeline_parallel_training_is_met_within_a_sixth(gpus, published, virtual):
    model, batch = MODELS["llama3.1-405b"], Batch(2048 * 8192, 2048, 8192)
    for zero in (1, 2):
        job = Trainer(gpus, 8, pipeline=16, virtual=virtual, zero=zero)
        reached = 6 * model.params() * batch.tokens / gpus / pass_seconds(model, H100, job, batch).seconds
        assert published / reached == pytest.approx(1, abs=0.19)


def test_a_group_of_tensor_parallelism_sums_four_times_a_layer():
    # Narayanan et al. (2021), section 3.2: 8 b s h (t - 1)/t numbers of a layer and micro-batch, forward and backward
    job, batch = Trainer(64, 8, zero=1), Batch(512 * 8192, 512, 8192)
    one = pass_seconds(DENSE, H100, job, batch)
    sent = 64 * 8 * 2 * 8192 * DENSE.hidden * 7 / 8 * DENSE.layers  # 64 micro-batches of one sequence, in bf16
    started = 64 * 4 * DENSE.layers * 2 * 7 * 3e-6  # of a ring's 14 messages
    assert one.exchange == pytest.approx(sent / 450e9 + started)
    split = pass_seconds(DENSE, H100, replace(job, tensor_parallel=1), batch)
    assert one.products == pytest.approx(split.products) and split.exchange == 0


def test_zero_2_pays_for_every_micro_batch_and_zero_1_once():
    # 64 ranks, 128 micro-batches of 1,024 tokens: four bytes of each of 32.8 billion weights, 63/64, over 0.8 x
    # 400 GB/s, less what computes
    batch = Batch(8192 * 1024, 8192, 1024)

    def state(zero):
        return pass_seconds(DENSE, H100, Trainer(64, zero=zero, pack=1024), batch).state

    one = pass_seconds(DENSE, H100, Trainer(64, zero=1, pack=1024), batch)
    computed = (one.seconds - one.state) / 128
    scattered = 4 * DENSE.params() * 63 / 64 / (0.8 * 400e9)
    assert scattered > computed
    assert state(2) - state(1) == pytest.approx(127 * (scattered - computed), rel=1e-6)
    assert state(3) > state(2) > state(1)
    alone = Batch(64 * 1024, 64, 1024)  # one micro-batch: nothing to accumulate

    def once(zero):
        return pass_seconds(DENSE, H100, Trainer(64, zero=zero, pack=1024), alone)

    assert once(2) == once(1)
    assert pass_seconds(DENSE, H100, Trainer(64, zero=2, pack=1024), batch, train=False).state == 0


def test_weights_of_a_gpu_are_the_bytes_that_memory_counts():
    for layout in (dict(), dict(tensor=4), dict(stages=8), dict(tensor=2, stages=4, over=8), dict(tensor=8, over=16)):
        tensor, stages, over = (layout.get(name, 1) for name in ("tensor", "stages", "over"))
        own = trainer.own_params(EXPERTS, Trainer(128, tensor, pipeline=stages, expert_parallel=over))
        job = memory.Training(128, 1, tensor_parallel=tensor, pipeline=stages, expert_parallel=over)
        assert memory.frozen_bytes(EXPERTS, job) == pytest.approx(2 * sum(own))


def test_experts_that_are_not_dealt_out_are_cut_by_a_tensor_parallel_group():
    batch = Batch(512 * 4096, 512, 4096)
    dealt, cut = (
        pass_seconds(EXPERTS, H100, Trainer(64, 8, expert_parallel=over, pack=65_536), batch) for over in (8, 1)
    )
    assert cut.experts == pytest.approx(dealt.experts) and cut.exchange < dealt.exchange
