"""Against closed forms by hand, and against sums over messages that share no code with the module."""

from dataclasses import replace

import pytest

from sim.cluster import paths, topology
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS
from sim.cluster.paths import (
    ASYNC,
    BROADCAST,
    COLOCATED,
    CONTROLLER,
    DIRECT,
    ENGINES,
    ENVIRONMENT,
    EXPERIENCE,
    FULL,
    FUNNEL,
    PLAIN,
    ROUTED,
    SPLIT,
    TOP,
    TRAINER,
    WEIGHTS,
    Setting,
)

BIG, SPARSE = MODELS["qwen2.5-32b"], MODELS["qwen3-30b-a3b"]
P = 32_763_876_352  # weights of Qwen2.5-32B, from its config
FAR = 8192.0  # tokens of a completion, and completions of a step
NIC = 50e9


def job(model=BIG, gpus=128, prompts=512, samples=16, prompt=1024, length=8192, tensor_parallel=4):
    law = Law(length, length, length, length)
    return topology.Job(model, ACCELERATORS["h100"], gpus, prompts, samples, prompt, law, tensor_parallel)


SETTING = Setting(job())
REPORT = paths.report(SETTING)


# ── bytes ──


def test_a_token_of_experience_is_seventeen_bytes_without_extras():
    """Id, two log-probs and an advantage of four bytes each, and a mask of one."""
    assert paths.token_bytes(BIG) == 4 * 4 + 1
    # Qwen3-30B-A3B: 48 layers choose 8 experts each, of 128: a byte each
    assert paths.token_bytes(SPARSE, ROUTED) == 17 + 48 * 8 == 401
    assert paths.token_bytes(BIG, ROUTED) == 17  # a dense model routes nothing
    assert paths.token_bytes(BIG, TOP) == 17 + 20 * 6
    assert paths.token_bytes(BIG, FULL) == 17 + 2 * 152_064 == 304_145


def test_more_than_256_experts_need_two_bytes_each():
    """Kimi K2: 60 layers with experts choose 8 of 384."""
    assert paths.token_fields(MODELS["kimi-k2"], ROUTED)["routed experts"] == 60 * 8 * 2


@pytest.mark.parametrize(
    ("payload", "expected"), [(PLAIN, 1_174_405_120), (TOP, 9_227_468_800), (FULL, 20_410_858_995_712)]
)
def test_experience_of_a_step(payload, expected):
    """8,192 completions of 4 · 1,024 bytes of prompt and 8,192 tokens of 17, 137 or 304,145."""
    assert paths.experience_bytes(BIG, 8192, 1024, 8192, payload) == pytest.approx(expected, rel=1e-12)


def test_experience_with_routed_experts():
    given = [paths.experience_bytes(SPARSE, 2048, 1024, 8192, payload) for payload in (PLAIN, ROUTED)]
    assert given == [293_601_280, 6_736_052_224]  # 2,048 (4 · 1,024 + 8,192 · 17), and the same with 401


def test_a_session_tells_each_token_once_and_without_one_each_turn_repeats_the_text_so_far():
    completions, prompt, length, turns = 512, 2048, 65536, 50
    told = sum(4 * completions * (prompt + length * turn / turns) for turn in range(1, turns + 1))
    assert paths.environment_bytes(completions, prompt, length, turns, False) == pytest.approx(told)
    assert told == pytest.approx(3.632267264e9)
    kept = paths.environment_bytes(completions, prompt, length, turns, True)
    assert kept == 138_412_032 and told / kept == pytest.approx(26.2424, abs=5e-5)


def test_one_turn_is_the_same_with_a_session_and_without():
    both = [paths.environment_bytes(8192, 1024, 8192, 1, sessions) for sessions in (True, False)]
    assert both == [301_989_888, 301_989_888]  # 4 · 8,192 · 9,216


def test_a_trainer_gathers_twice_and_scatters_once_in_each_micro_step():
    """Rank by rank: in a ring of T each sends T − 1 parts of size 1/T."""
    ranks, micro_steps = 64, 4
    sent = sum(size * (1 / ranks) for size in [2 * P, 2 * P, 4 * P] for _ in range(ranks - 1)) * micro_steps
    assert paths.sharded_bytes(BIG, ranks, micro_steps) == pytest.approx(sent)
    assert 64 * sent == pytest.approx(6.6051974725632e13)  # the specification's, with four micro-steps
    assert paths.sharded_bytes(MODELS["qwen2.5-7b"], 8, 4) == pytest.approx(2.13237262336e11)


def test_micro_steps_are_the_tokens_of_a_gpu_over_those_that_it_takes_at_a_time():
    # 8,192 · 9,216 tokens over 64 GPUs are 1,179,648 for each, and 36 times 32,768
    assert SETTING.micro_steps == 36
    assert replace(SETTING, micro_batch=8192).micro_steps == 144


def test_an_engine_of_four_sends_two_megabytes_for_each_token():
    """64 layers, two all-reduces each, of 5,120 numbers of two bytes, 2 · 3/4 of them."""
    assert paths.split_bytes(BIG, 4) == 64 * 2 * 1.5 * 5120 * 2 == 1_966_080
    assert paths.split_bytes(BIG, 1) == 0


def test_weights_once_for_each_replica():
    assert paths.weights_bytes(BIG, 16) == 16 * 2 * P == 1_048_444_043_264
    assert SETTING.replicas == 16


# ── seconds of a sync ──


@pytest.mark.parametrize(
    ("schedule", "weight_bytes", "expected"),
    [(FUNNEL, 2, 20.968881), (BROADCAST, 2, 1.310555), (DIRECT, 2, 0.327639), (DIRECT, 1, 0.163819)],
)
def test_a_sync_of_sixteen_replicas(schedule, weight_bytes, expected):
    """16 · 2P / B, 2P / B, 2P / (4 B) with B of one card: an engine of four has four of them."""
    took = paths.sync_seconds(BIG, schedule, NIC, 16, 64, 4, weight_bytes)
    assert took == pytest.approx(expected, abs=5e-7)


def test_shard_to_shard_is_bound_by_who_sends_once_there_are_many_replicas():
    took = paths.sync_seconds(BIG, DIRECT, NIC, 64, 64, 4)
    assert took == pytest.approx(2 * P * 64 / (64 * NIC))


def test_no_schedule_is_faster_than_shard_to_shard_nor_slower_than_one_sender():
    for replicas in (1, 2, 8, 64, 500):
        for cards in (1, 4, 8):
            times = [paths.sync_seconds(BIG, s, NIC, replicas, 64, cards) for s in (FUNNEL, BROADCAST, DIRECT)]
            assert times[0] >= times[1] and times[0] >= times[2]
            assert times[1] >= times[2] or replicas > 64


# ── one step ──


def by_hand(setting):
    """Seconds of a split that waits, from the roles without a path and the bytes by hand."""
    roles = paths.worked(setting)
    gather = 8 * P * setting.micro_steps * 63 / 64 / (8 * NIC)
    experience = {PLAIN: 17, FULL: 304_145}[setting.payload] * FAR * FAR + 4 * 1024 * FAR
    rate = 10e9 if setting.route == CONTROLLER else 64 * NIC
    sync = 2 * P / (4 * NIC)
    texts = 4 * FAR * (1024 + FAR) / 10e9
    return roles.rollout + roles.log_probs + max(roles.train, gather) + experience / rate + sync + texts


@pytest.mark.parametrize(
    "turned",
    [{}, dict(payload=FULL), dict(payload=FULL, route=CONTROLLER), dict(micro_batch=2048), dict(micro_batch=1024)],
)
def test_a_step_in_turn_is_a_sum(turned):
    setting = replace(SETTING, **turned)
    assert paths.report(setting).seconds == pytest.approx(by_hand(setting), rel=1e-9)


def test_the_update_is_six_flop_a_weight_and_token_and_the_reference_two():
    """6 · 32.76e9 · 8,192 · 9,216 over 64 GPUs of 989.4 TFLOP/s at 40 %."""
    assert paths.worked(SETTING).train == pytest.approx(585.9588, abs=5e-5)
    assert paths.worked(SETTING).log_probs == pytest.approx(585.9588 / 3, abs=5e-5)


def test_two_small_mistakes_meet_in_one_wire():
    """All logits, 20.4 TB, through one process of 10 GB/s: 2,041 s; each of the two alone costs less than 1 %."""
    both = paths.report(replace(SETTING, payload=FULL, route=CONTROLLER))
    assert both.paths[EXPERIENCE].exposed == pytest.approx(2041.09, abs=0.01)
    assert both.largest == EXPERIENCE and both.share(EXPERIENCE) > 0.5
    for alone in (dict(payload=FULL), dict(route=CONTROLLER)):
        assert paths.report(replace(SETTING, **alone)).seconds < 1.01 * REPORT.seconds


def test_gathering_is_hidden_while_it_is_shorter_than_the_arithmetic():
    """They take equally long at (8 / 6) · 0.4 · 989.4e12 / 400e9 · 63/64 = 1,299 tokens at a time."""
    level = 8 / 6 * 0.4 * 989.4e12 / (8 * NIC) * 63 / 64
    assert 1_298 < level < 1_299
    for micro_batch, hidden in ((2048, True), (1024, False)):
        path = paths.report(replace(SETTING, micro_batch=micro_batch)).paths[TRAINER]
        assert (path.exposed == 0) == hidden == (path.seconds < paths.worked(SETTING).train)


def test_a_stream_hides_every_path_that_is_shorter_than_generation():
    stream = paths.report(replace(SETTING, way=ASYNC))
    roles = paths.worked(SETTING)
    assert stream.seconds == pytest.approx(roles.rollout - roles.tail)
    assert {path.exposed for path in stream.paths.values()} == {0.0}
    slow = paths.report(replace(SETTING, way=ASYNC, payload=FULL, route=CONTROLLER))
    assert slow.seconds == pytest.approx(roles.log_probs + roles.train + 2041.0859, abs=0.01)
    # and costs what that is longer than generating
    assert slow.paths[EXPERIENCE].exposed == pytest.approx(slow.seconds - stream.seconds)


def test_in_one_pool_weights_change_their_layout_and_cross_no_network():
    one = replace(SETTING, way=COLOCATED)
    assert one.replicas == 32 and one.train_gpus == 128
    # 2 · 12 bytes of state a weight over 128 host links of 50 GB/s, and 2P over 450 GB/s
    took = 24 * P / 128 / 50e9 + 2 * P / 450e9
    assert paths.report(one).paths[WEIGHTS].exposed == pytest.approx(took)


def test_bytes_of_the_default_step():
    sizes = {name: path.bytes for name, path in REPORT.paths.items()}
    assert sizes[WEIGHTS] / sizes[EXPERIENCE] == pytest.approx(892.74, abs=0.01)
    assert sizes[TRAINER] == pytest.approx(9 * 6.6051974725632e13)  # 36 micro-steps, not four
    assert sizes[ENGINES] == pytest.approx(4 * 1_966_080 * (8192 * 8192 + 512 * 1024))
    assert sizes[ENVIRONMENT] < sizes[EXPERIENCE] < sizes[WEIGHTS] < sizes[ENGINES] < sizes[TRAINER]


def test_twice_the_completions_leave_the_weights_as_they_are():
    twice = paths.report(replace(SETTING, job=job(samples=32)))
    times = {name: twice.paths[name].bytes / REPORT.paths[name].bytes for name in REPORT.paths}
    assert times[WEIGHTS] == 1 and times[EXPERIENCE] == times[ENVIRONMENT] == times[TRAINER] == 2
    assert times[ENGINES] == pytest.approx(2, abs=0.01)  # but for the prompts, which are read once


def test_messages_of_agents():
    assert paths.environment_messages(512, 50) == 51_200
    agents = paths.report(replace(SETTING, job=job(prompts=32, length=65536), turns=50))
    assert agents.messages_per_second == pytest.approx(51_200 / agents.seconds)


def test_a_small_trainer_gathers_over_its_own_links():
    node = Setting(job(MODELS["qwen2.5-7b"], 8, 128, 8, 512, 2048, 1), way=COLOCATED)
    path = paths.report(node).paths[TRAINER]
    assert path.link == "scale-up links"
    # 128 · 8 · 2,560 tokens over 8 GPUs are ten times 32,768; eight bytes of 7/8 of the weights each time
    assert path.seconds == pytest.approx(8 * 7_615_616_512 * 10 * 7 / 8 / 450e9)


# ── a step laid out ──


def test_in_turn_what_is_laid_out_follows_one_another_and_adds_up_to_the_step():
    for way in (SPLIT, COLOCATED):
        setting = replace(SETTING, way=way, payload=FULL, route=CONTROLLER)
        report = paths.report(setting)
        told, clock = paths.laid(setting, report), 0.0
        for what in (paths.GENERATE, ENVIRONMENT, EXPERIENCE, paths.TRAIN, WEIGHTS):
            start, seconds = told[what]
            assert start == pytest.approx(clock)
            clock += seconds
        assert clock == pytest.approx(report.seconds)
        gathers, trains = told[TRAINER], told[paths.TRAIN]
        assert gathers[0] == pytest.approx(trains[0] + report.roles.log_probs)
        assert sum(gathers) <= sum(trains) * (1 + 1e-12)  # it hides behind the arithmetic


def test_in_a_stream_the_longest_of_what_is_laid_out_is_the_step():
    setting = replace(SETTING, way=ASYNC, payload=FULL, route=CONTROLLER)
    told, report = paths.laid(setting, paths.report(setting)), paths.report(setting)
    assert max(map(sum, told.values())) == pytest.approx(report.seconds)
    assert [told[what][0] for what in (paths.GENERATE, ENVIRONMENT, EXPERIENCE, WEIGHTS)] == [0.0] * 4
    assert told[paths.TRAIN][0] == pytest.approx(told[EXPERIENCE][1])  # no update before its batch
