from dataclasses import replace
from itertools import pairwise

import pytest

from rlpt.planning import calibration, measured, planner, refusals, validation
from rlpt.planning.engine_timing import Line, Timed
from rlpt.planning.planner import Scenario
from sim.cluster import envelope, fabric, layouts, lengths, memory, step, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS

# The example of the page: Qwen2.5-32B on 64 + 64 H100, 512 x 16 completions, median 3,000, spread 0.8, cut at 8,192.
# What is counted by hand here is the chip's time alone, without the host's for each sequence
CHIP = throughput.ASSUMED
LAW, SHORT = lengths.lognormal(3000, 0.8, 8192), lengths.lognormal(720, 0.8, 8192)
EXAMPLE = Scenario(MODELS["qwen2.5-32b"], ACCELERATORS["h100"], LAW, gpus=128, overlap="async", efficiency=CHIP)
SMALL = Scenario(MODELS["qwen2.5-7b"], ACCELERATORS["h100"], SHORT, gpus=64, efficiency=CHIP)
LONG = lengths.Law(6116, 17049, 39327, 32768)  # of the review: 8,192 tokens on average, 7,360 in flight
V3 = replace(SMALL, model=MODELS["deepseek-v3"], accelerator=ACCELERATORS["h200"], law=LONG, gpus=256, overlap="async")
V3 = replace(V3, weight_bytes=1, expert_parallel=16)


@pytest.fixture(autouse=True)
def formulas_alone(monkeypatch):
    """Without the factors of published steps, which test_calibration.py tests, and with weights at 23 GB/s, as the
    scripts that these numbers come from have them.
    """
    monkeypatch.setattr(calibration, "PLACED", dict.fromkeys(calibration.PLACED, 1.0))
    monkeypatch.setattr(fabric, "BROADCAST", fabric.BROADCAST._replace(bytes_per_second=23e9))
    monkeypatch.setitem(fabric.TRANSFERS, "broadcast", fabric.BROADCAST)


def test_the_example_fits_with_state_activations_and_logits_of_one_sequence():
    state = 16 * 32763876352 / 64
    activations = 8704 * 5120 * (2 * 64 + 34)
    logits = 1024 * 152064 * 10
    assert MODELS["qwen2.5-32b"].params() == 32763876352  # Qwen2.5's config.json, by hand
    assert planner.plan(EXAMPLE).peak.needs == pytest.approx(state + activations + logits, rel=1e-9)
    assert planner.plan(EXAMPLE).peak.moment == "update"


def test_the_example_step_is_what_the_trainer_takes():
    # a script that shares no code: rollout 299 s in a stream
    found = planner.plan(EXAMPLE)
    assert step.seconds(found.predicted, "rollout", "async") == pytest.approx(299, rel=0.005)
    # by hand, on 64 GPUs: 8 FLOP for each multiplied weight and token at .65 of the peak; forward 1, again 1, backward
    # 2.5 of 2 · 256 · 40 heads · 64 layers for each of half the tokens of a sequence, at .5
    law = EXAMPLE.law
    tokens, weights = 8192 * (512 + law.mean), 32763876352 - 152064 * 5120
    longer = 512**2 + 2 * 512 * law.mean + law.second_moment
    products = 8 * weights * tokens / (64 * 0.65 * 989.4e12)
    attention = 4.5 * 2 * 256 * 40 * 64 * 8192 * longer / 2 / (64 * 0.5 * 989.4e12)
    one = planner.trained(EXAMPLE)
    assert (one.products, one.attention) == pytest.approx((products, attention), rel=1e-9)
    assert found.predicted.train == one.seconds == pytest.approx(245, abs=0.1)  # what lies between them takes 16 s more
    assert found.predicted.log_probs == pytest.approx(60.8, abs=0.1)
    assert found.predicted.sync == pytest.approx(2 * 32763876352 / 23e9 + 9 * 64 * 1e-4)
    assert planner.seconds(EXAMPLE) == pytest.approx(found.predicted.log_probs + found.predicted.train)
    assert found.step_range == pytest.approx((planner.seconds(EXAMPLE) / 1.4, 1.4 * planner.seconds(EXAMPLE)))
    assert found.gpu_hours[0] == pytest.approx(128 * 500 * found.step_range[0] / 3600)
    assert found.money == pytest.approx(tuple(2 * hours for hours in found.gpu_hours))
    assert found.gpu_hours == pytest.approx((5436 / 1.4, 1.4 * 5436), rel=0.005)


@pytest.mark.parametrize("overlap", step.OVERLAPS)
@pytest.mark.parametrize("model", ["qwen2.5-7b", "qwen3-30b-a3b"])
def test_the_range_is_the_same_for_dense_models_and_experts(overlap, model):
    fast, slow = planner.plan(replace(SMALL, model=MODELS[model], overlap=overlap)).step_range
    assert (fast, slow) == pytest.approx(
        (planner.seconds(replace(SMALL, model=MODELS[model], overlap=overlap)) / 1.4, 1.4**2 * fast)
    )


def test_a_timed_iteration_sets_the_bandwidth_at_the_widths_of_the_engine():
    # 12 ms for 64 sequences of 2,048 tokens: bytes read over 3.35 TB/s x (12 - 1.5) ms, as on page 22a
    one = Timed(64, 2048, 0.012, 1)
    assert planner.timed(SMALL, one).efficiency.bandwidth == pytest.approx(0.615705, rel=1e-5)
    # half the weights and half the cache are half the bytes
    narrow = replace(SMALL, weight_bytes=1, kv_bytes=1)
    assert planner.timed(narrow, one).efficiency.bandwidth == pytest.approx(0.615705 / 2, rel=1e-5)


def test_an_iteration_that_does_not_say_of_how_many_gpus_is_of_the_plans_own_engine():
    said, own = Timed(64, 2048, 0.030, 2), Timed(64, 2048, 0.030, 0)
    assert EXAMPLE.engine.tensor_parallel == 2
    assert (
        planner.timed(EXAMPLE, own) == planner.timed(EXAMPLE, said) != planner.timed(EXAMPLE, Timed(64, 2048, 0.03, 1))
    )


def test_with_the_line_of_an_engine_a_pass_of_the_plan_takes_what_the_line_says():
    s = planner.timed(SMALL, Line(7.1e-3, 60e-6, 22e-9, 1))
    layout = layouts.Layout(1)
    for sequences, context in ((8, 500), (64, 2048), (96, 6000)):
        one = layouts.engine_pass(
            s.model, s.accelerator, layout, sequences, sequences * context, efficiency=s.efficiency
        )
        assert one.seconds == pytest.approx(7.1e-3 + sequences * (60e-6 + 22e-9 * context), rel=1e-6)


@pytest.mark.parametrize(
    "overlap, tensor_parallel, reuse, seconds",
    # the same script: all 128 GPUs in one pool, TP 4, generate for 156.3 and 116.3 s; then half the seconds of the
    # trainer above, .2 s of state out and in, 2.9 s of weights
    [("sync", 4, False, 312.3), ("carry-over", 4, False, 272.3), ("carry-over", 4, True, 241.9)],
)
def test_one_pool_of_all_gpus(overlap, tensor_parallel, reuse, seconds):
    shared = replace(EXAMPLE, overlap=overlap, tensor_parallel=tensor_parallel, reuse=reuse)
    assert planner.seconds(shared) == pytest.approx(seconds, abs=0.6)


KEPT = replace(EXAMPLE, recompute="selective", training_parallel=2)  # its trainer keeps the activations


def test_a_forward_pass_is_a_fourth_of_an_update_that_recomputes_and_a_third_of_one_that_does_not():
    for s, share in ((EXAMPLE, 4), (KEPT, 3)):
        assert planner.trained(s).products == pytest.approx(share * planner.trained(s, train=False).products)
    assert planner.roles(KEPT).train < 0.8 * planner.roles(EXAMPLE).train


def test_a_step_of_64k_tokens_trains_on_attention():
    # the review's job: 30B-A3B, 128 x 8 sequences of 65,536 tokens, 8,192 of them prompt: attention by hand, and five
    # times what 6PN at an MFU of .4 says, as a trainer of its own counted it
    long = replace(
        SMALL,
        model=MODELS["qwen3-30b-a3b"],
        law=lengths.Law(57344, 57344, 57344, 57344),
        gpus=32,
        prompts=128,
        samples=8,
        prompt=8192,
        overlap="async",
    )
    one, flat = planner.trained(long), 6 * 3353032704 * 2**26 / (16 * 0.4 * 989.4e12)
    assert one.attention == pytest.approx(4.5 * 25.77e9 * 2**26 / (16 * 0.5 * 989.4e12), rel=1e-3)
    assert one.seconds > 5 * flat


def test_the_review_s_job_of_32b_trains_as_long_as_its_own_count():
    # mean 8,192 tokens on 64 GPUs: 432 s, 570 recomputed, 141 of log-probs, by a prototype
    long = replace(EXAMPLE, law=LONG)
    assert planner.roles(long).train == pytest.approx(570, rel=0.01)
    assert planner.roles(replace(long, recompute="selective")).train == pytest.approx(432, rel=0.01)
    assert planner.roles(long).log_probs == pytest.approx(141, rel=0.015)


def test_the_review_s_job_of_deepseek_v3_generates_as_a_count_by_hand_says():
    # 128 H200 as engines of DP 16: 1,024 sequences on each, 64 on a GPU; fp8
    s = planner.laid_out(V3, layouts.Layout(1, 16))
    expert = 3 * 7168 * 2048
    routed, active = 58 * 256 * expert, 58 * 8 * expert
    others = 671_026_404_352 - 129280 * 7168 - routed
    context = LONG.context(512)
    read = (others + routed / 16 + 64 * context * 70_272) / (0.75 * 4.8e12)
    multiplied = 2 * (others + active) * 64 / 1978.9e12 + 64 * 2 * 61 * 128 * (2 * 512 + 64) * context / 989.4e12
    sent = 64 * 8 * 7168  # bytes in fp8 out, twice as many in bf16 back: half of them leave the server
    exchange = 58 * (2 * 20e-6 + (sent + 2 * sent) * 8 / 16 / (0.8 * 50e9))
    one = max(read, multiplied / 0.6) + exchange + 1.5e-3
    assert planner.live(s) == 1024
    assert step.seconds(planner.roles(s), "rollout", "async") == pytest.approx(
        8192 * LONG.mean / (8 * 1024) * one, rel=1e-6
    )


def test_the_review_s_job_of_32b_generates_as_a_count_by_hand_says():
    for size, slots, seconds in ((2, 41, 1612), (4, 115, 1163)):
        s = replace(EXAMPLE, law=LONG, tensor_parallel=size)
        assert planner.live(s) == pytest.approx(slots, abs=0.5)
        assert step.seconds(planner.roles(s), "rollout", "async") == pytest.approx(seconds, rel=0.02)


@pytest.mark.parametrize(
    "key, chip, gpus", [("deepseek-v3", "h100", 512), ("llama3.1-405b", "h100", 1024), ("kimi-k2", "h200", 512)]
)
def test_what_no_server_holds_is_laid_out_over_several(key, chip, gpus):
    s = Scenario(
        MODELS[key], ACCELERATORS[chip], LONG, gpus=gpus, overlap="async", training_parallel=8, expert_parallel=1
    )
    assert planner.misfits(s) == [] and s.engine.size > 8 and s.tensor_parallel == 0
    assert planner.live(s) > 0 and planner.plan(s).engine == s.engine
    # the best of what the layouts offer at the sequences of this job
    rates = [at.tokens_per_second_and_gpu for at in planner.layouts_of(s, gpus // 2)]
    assert rates[0] == pytest.approx(max(rates), rel=0.05)


def test_state_that_leaves_the_gpus_needs_room_in_the_hosts():
    # 12 bytes of each of 32.76 billion weights on one host of eight GPUs, and of 671 billion on eight hosts
    small = replace(EXAMPLE, gpus=8, overlap="sync", law=lengths.lognormal(300, 0.8, 1024), host_gb=390)
    (found,) = planner.misfits(small)
    assert found.part == "host" and "393 GB a server, of 390" in found.what
    assert not planner.misfits(replace(small, host_gb=400)) and not planner.misfits(replace(small, gpus=16))
    large = replace(V3, gpus=64, overlap="sync", accelerator=ACCELERATORS["b300"], host_gb=1000)
    large = replace(large, law=lengths.lognormal(300, 0.8, 1024))
    assert planner.misfits(large)[0].needs == pytest.approx(12 * 671.026 / 8, rel=1e-4)
    assert all(found.part != "host" for found in planner.misfits(replace(large, overlap="async")))  # it stays there


def test_how_many_gpus_hold_a_job_is_found_by_halving():
    s = replace(V3, gpus=16)
    fewest = planner.fewest_gpus(s)
    assert planner.misfits(s) and not planner.impossible(replace(s, gpus=fewest))
    assert planner.impossible(replace(s, gpus=fewest - 1))
    assert planner.fewest_gpus(replace(EXAMPLE, recompute="selective")) is None  # activations of one sequence


def test_experts_that_are_dealt_out_are_not_gathered():
    # V3 on 128 + 128 H200: eight bytes of each of 671 billion weights for each micro-batch, over the eight cards of a
    # server; of 16 billion and a sixteenth of the others where experts stand on sixteen GPUs, over a card each. That
    # is 8 · 671 / 400 to 8 · (16 / 400 + 655 / 16 / 50), or 13.4 to 6.9, and more of the second is hidden
    s = replace(
        SMALL, model=MODELS["deepseek-v3"], accelerator=ACCELERATORS["h200"], weight_bytes=1, gpus=256, overlap="async"
    )
    gathered, dealt = (planner.trained(replace(s, expert_parallel=over)) for over in (1, 16))
    assert gathered.exchange == 0 < dealt.exchange and gathered.state > 13.4 / 6.9 * dealt.state > 0
    assert dealt.seconds < gathered.seconds / 2
    (found,) = planner.misfits(replace(s, expert_parallel=3))
    assert found.what == "256 experts dealt out over 3 GPUs while 128 GPUs train: each takes as many"
    assert planner.trained(replace(SMALL, expert_parallel=8)) == planner.trained(SMALL)  # it has none


def test_more_gpus_never_make_a_step_longer_and_doubling_costs_as_much_at_least():
    for overlap in step.OVERLAPS:
        there = [planner.plan(replace(SMALL, overlap=overlap, gpus=gpus)) for gpus in (16, 32, 64, 128)]
        seconds = [found.step_range[0] for found in there]
        assert seconds == sorted(seconds, reverse=True)
        hours = [found.gpu_hours[0] for found in there]
        assert all(after > 0.999 * before for before, after in pairwise(hours))


def test_what_does_not_fit_has_no_seconds():
    huge = replace(SMALL, model=MODELS["deepseek-v3"], gpus=8)
    assert planner.misfits(huge)
    with pytest.raises(ValueError, match="does not fit"):
        planner.plan(huge)


def test_lag_and_waiting_go_with_what_overlaps():
    at = {overlap: planner.plan(replace(EXAMPLE, overlap=overlap)) for overlap in step.OVERLAPS}
    lag = {overlap: found.lag for overlap, found in at.items()}
    # Little's law: 32 engines with 96.7 sequences each are writing, an update takes 8,192 and is never idle
    assert lag["sync"] == 0 and lag["one-off"] == 1 and lag["async"] == pytest.approx(1 + 32 * 96.73 / 8192, rel=1e-3)
    assert at["sync"].idle == at["carry-over"].idle == 0
    assert at["async"].idle == pytest.approx(1 - 299 / 305.8, abs=0.005)


def test_more_engines_than_completions_are_impossible_and_not_zero_in_flight():
    few = replace(EXAMPLE, prompts=8, samples=1)  # 32 engines of 2
    (found,) = planner.misfits(few)
    assert found.what == "8 completions for 32 engines: 24 have none" and found.part == "batch"
    assert not planner.misfits(replace(few, prompts=32))
    assert planner.plan(replace(few, prompts=32)).live == 1


def test_a_rank_without_a_sequence_waits():
    # 16 completions on 64 trainers take as long as on 16: one each, of 8P' FLOP a token
    s = replace(EXAMPLE, model=MODELS["qwen2.5-7b"], gpus=80, share=0.2, prompts=16, samples=1)
    by_hand = 8 * 7_070_619_136 * (512 + s.law.mean) / (0.65 * 989.4e12)
    assert planner.trained(s).products == pytest.approx(by_hand)


def test_an_engine_may_run_half_as_many_again_as_it_has_and_at_least_one():
    assert planner.concurrency(planner.plan(EXAMPLE)) == 146  # 96.7
    assert planner.concurrency(planner.plan(replace(EXAMPLE, prompts=32, samples=1))) == 2


def test_a_table_names_a_lesson_for_each_answer():
    rows = planner.answers(planner.plan(replace(EXAMPLE, test_seconds=1.0)))
    assert {row.lesson for row in rows} <= {"06", "19", "20", "22", "22a", "22b", "22c"}
    words = {row.question: row.words for row in rows}
    assert words["whole step"] == "218 to 428 s"  # 306 s, ÷ and × 1.4
    assert words["peak memory of a GPU"] == "17.0 of 73.6 GB usable (update)"
    assert words["tests"] == "128 s"  # 8,192 by 64 workers; no factor changes what the reader gives
    assert words["sequences in flight, engine of 2 GPUs"] == "97 of 256"


def test_more_tokens_than_the_model_has_positions_are_impossible():
    # Qwen2.5-7B has 131,072; vLLM refuses a longer --max-model-len
    long = replace(SMALL, prompt=65536, law=lengths.lognormal(720, 0.8, 65537))
    (found,) = planner.misfits(long)
    assert found.what == "131,073 tokens a sequence: Qwen2.5-7B has 131,072 positions" and found.part == "positions"
    assert not any("positions" in m.what for m in planner.misfits(replace(long, prompt=65535)))


def test_an_engine_holds_a_model_as_its_file_stores_it_and_a_trainer_in_full():
    r1 = MODELS["deepseek-v3"]
    s = replace(SMALL, model=r1, gpus=256, accelerator=ACCELERATORS["h200"], law=lengths.lognormal(720, 0.8, 2048))
    found = planner.plan(s)
    assert found.engine.tensor_parallel == 8  # 84 GB a GPU
    in_bf16 = replace(s, weight_bytes=2)  # 1,342 GB, and eight GPUs may fill 1,015: an engine of several servers
    assert planner.misfits(in_bf16) == [] and in_bf16.engine.size > 8
    # the trainer keeps fp32 shards of a weight beside the engine's part while weights go over, as for any other width
    trained = found.peak.needs - r1.stored_bytes() / 8
    assert found.peak.moment == "sync" and trained == pytest.approx(4 * r1.params() / 256)


# Sessions of ten turns of 2,000 tokens, 1,000 returned between them, after a prompt of 8,192: engines of four H100
ALIKE = lengths.Law(20000, 20000, 20000, 20000)
SESSIONS = replace(
    SMALL,
    model=MODELS["qwen3-30b-a3b"],
    law=ALIKE,
    prompt=8192,
    samples=8,
    turns=10,
    returned=1000,
    tool_seconds=20.0,
    overlap="async",
    tensor_parallel=4,
    shared_cache=True,
    training_parallel=2,
)


def test_tokens_of_completions_of_several_turns_by_hand():
    assert SESSIONS.longest == pytest.approx(SESSIONS.session.trained) == 37_192
    assert SESSIONS.context == pytest.approx(22_692)
    assert planner.batch(SESSIONS).tokens == pytest.approx(512 * 8 * 37_192)  # all of them pass forward and backward
    assert SESSIONS.session.read == 10_024
    # at turn j = 1 … 9 the prompt and j times (2,000 + 1,000) again, and the share of the prompt at the first
    assert replace(SESSIONS, kept="drop").session.read == pytest.approx(
        1_024 + sum(8_192 + 3_000 * j for j in range(1, 10))
    )
    small = replace(SESSIONS, model=MODELS["qwen2.5-7b"], turns=200)  # 131,072 positions
    (found,) = planner.misfits(replace(small, returned=520))
    assert found.what == "131,672 tokens a sequence: Qwen2.5-7B has 131,072 positions"


def test_one_turn_has_no_tool():
    one = replace(SMALL, returned=9000, tool_seconds=9000.0, kept="offload")
    assert planner.roles(one) == planner.roles(SMALL) and one.slots == SMALL.slots


# a prototype of the same engine, on 149 sequences of room: sessions a second
@pytest.mark.parametrize(
    "kept, bound, ended", [("hold", 128, 0.161), ("drop", 128, 0.129), ("hold", 1024, 0.168), ("offload", 1024, 0.176)]
)
def test_a_plans_engine_of_sessions_is_the_one_of_the_prototype(kept, bound, ended):
    s = replace(SESSIONS, kept=kept)
    assert s.room == pytest.approx(149, abs=0.5)
    state = planner.at_once(s, bound)
    # here moving a cache delays a session, by 1.6 % of its time
    assert state.sessions_per_second * (1 + state.moving) == pytest.approx(ended, abs=0.0015)
    if (kept, bound) == ("hold", 128):
        assert state.decoding == pytest.approx(99, abs=0.5) and state.session_seconds == pytest.approx(797, abs=3)
    if kept == "drop":
        assert state.reading == pytest.approx(0.22, abs=0.005)


@pytest.mark.parametrize("kept", ["hold", "drop", "offload"])
def test_a_stream_of_sessions_is_the_steady_state_and_a_step_waits_for_the_last(kept):
    s = replace(SESSIONS, kept=kept)
    found, state = planner.roles(s), planner.at_once(s, planner.live(s))
    assert planner.live(s) == pytest.approx(state.alive)
    of_engine = s.completions / s.engines(s.engine.pool)
    assert found.rollout - found.tail == pytest.approx(of_engine / state.sessions_per_second)
    assert found.tail > 0
    few = replace(s, prompts=2, samples=8)  # two on each of eight engines, all alike: no sooner and no later
    assert planner.roles(few).rollout == pytest.approx(planner.at_once(few, 2).session_seconds, rel=0.01)


def test_offloaded_caches_need_a_link_and_room_in_the_hosts():
    s = replace(SESSIONS, kept="offload")
    state = planner.at_once(s, planner.live(s))
    # 96 KB a token, 22,692 tokens, of those that wait for their tools, on eight engines of four servers
    caches = (state.alive - state.decoding) * 22_692 * 98_304 * 8 / 4 / 1e9
    (found,) = planner.misfits(replace(s, host_gb=0.99 * caches))
    assert found.part == "host" and "caches on the host while tools run" in found.what
    assert not planner.misfits(replace(s, host_gb=1.01 * caches))
    both = replace(s, overlap="sync", host_gb=caches)
    assert "training state on the host while the engine generates and" in planner.misfits(both)[0].what
    (found,) = planner.misfits(replace(s, accelerator=ACCELERATORS["tpu_7x"], tensor_parallel=0))
    assert found.what == "a cache that is offloaded while a tool runs: how fast TPU7x (Ironwood) moves it is not known"


def test_siblings_that_run_together_hold_their_prompt_once_and_train_on_it_each():
    alone = replace(SESSIONS, shared_cache=False)
    assert SESSIONS.room == pytest.approx(alone.room * 22_692 / (22_692 - 8_192 * 7 / 8))
    assert planner.batch(SESSIONS) == planner.batch(alone)
    grouped = planner.batch(replace(SESSIONS, grouped=True))
    assert grouped.tokens == pytest.approx(512 * 8 * (37_192 - 8_192 * 7 / 8))
    assert planner.roles(replace(SESSIONS, grouped=True)).train < planner.roles(SESSIONS).train


@pytest.mark.parametrize("batches, seconds", [(1.0, 83), (1.1, 79), (1.3, 72), (1.5, 67)])
def test_batches_in_flight_share_the_wait_for_the_last_completion(batches, seconds):
    # verl's ablation of staleness, 7B on 64 + 64 H20 in engines of four, as the prototype drains it
    (row,) = (row for row in measured.PUBLISHED if row.name == "verl, 7B on 128 H20")
    job = replace(
        SMALL,
        model=row.model,
        accelerator=ACCELERATORS["h20"],
        law=validation.law_of(row.mean, row.longest),
        prompt=128,
        gpus=128,
        overlap="one-off",
        tensor_parallel=4,
        batches=batches,
    )
    found = planner.plan(job)
    assert int(found.predicted.rollout) == seconds and found.lag == batches
    assert planner.roles(replace(job, overlap="async")) == planner.roles(replace(job, overlap="async", batches=1.0))


def test_tests_run_beside_the_rollout_and_the_longest_may_follow_it():
    pool = dict(test_seconds=2.0, longest_test=30.0, workers=64)  # 8,192 · 2 / 64 = 256 s of tests
    for overlap in step.OVERLAPS:
        s = replace(SMALL, overlap=overlap, **pool)
        found, bare = planner.roles(s), planner.roles(replace(SMALL, overlap=overlap))
        beside = step.seconds(bare, "rollout", overlap)
        assert beside < 226
        assert found.verify == (256 if overlap == "async" else pytest.approx(256 - beside))
        assert planner.roles(replace(s, workers=8192)).verify == 30


def test_each_update_of_a_step_pays_for_what_is_sharded():
    s = replace(SMALL, model=MODELS["qwen3-30b-a3b"], prompts=64)
    one, four = (planner.trained(replace(s, updates=updates)) for updates in (1, 4))
    assert four.state > one.state and four.products == pytest.approx(one.products)
    (found,) = planner.misfits(replace(s, updates=65))
    assert found.what == "65 updates of 64 prompts a step: 1 has none" and found.part == "updates"


def test_no_role_is_faster_than_the_chip():
    # 2 FLOP for each weight but the looked-up table and token, at 989.4e12 a second and GPU; in training three times
    s = SMALL
    forward = 2 * s.model.matmul_params() * planner.batch(s).tokens / (64 * 989.4e12)
    least = planner.floor(s)
    assert (least.log_probs, least.train) == pytest.approx((forward, 3 * forward), rel=1e-3)
    assert planner.floor(replace(s, adapters=8)).train == pytest.approx(2 * forward, rel=1e-3)
    fast = planner.plan(s).least
    assert fast.log_probs >= least.log_probs and fast.train >= least.train and fast.rollout >= least.rollout


@pytest.mark.parametrize("timed", [dict(rollout=1.0), dict(log_probs=1.0), dict(step=1.0), dict(update=1.0)])
def test_a_timing_that_is_faster_than_the_chip_is_refused(timed):
    (found, *_) = planner.misfits(planner.calibrated(SMALL, timed))
    named = dict(rollout="a rollout", log_probs="log-probs", step="a step", update="an update")
    assert found.what.startswith(f"{named[next(iter(timed))]} in ") and found.needs > found.has


def test_only_what_was_timed_is_held_against_the_chip():
    # an update of adapters at seven tenths of the peak: 4 FLOP for each weight and token
    s = replace(SMALL, adapters=32)
    assert not planner.misfits(planner.calibrated(s, dict(update=planner.floor(s).train / 0.7)))
    # of a step that is not below the chip's own, no role is judged
    s = replace(SMALL, overlap="sync")
    least = planner.step_seconds(s, planner.floor(s))
    assert not planner.misfits(planner.calibrated(s, dict(step=1.1 * least)))
    low, high = planner.plan(planner.calibrated(s, dict(step=1.1 * least))).step_range
    assert low <= planner.seconds(planner.calibrated(s, dict(step=1.1 * least))) <= high


def test_a_job_of_which_no_engine_holds_the_model_still_gets_a_refusal():
    s = replace(SMALL, model=MODELS["llama3.1-70b"], gpus=1)
    assert planner.misfits(s) and all(one.words for one in refusals.nearest(s))


def test_adapters_are_all_that_is_sent_of_a_model_with_adapters():
    # rank 8 on seven matrices a layer in bf16; nine tensors a layer of a tenth of a millisecond
    s = replace(SMALL, overlap="one-off", adapters=8)
    own = 2 * memory.adapter_params(s.model, 8)
    assert planner.delivered(s) == pytest.approx(own / 23e9 + 9 * s.model.layers * 1e-4)
    assert planner.delivered(replace(s, overlap="sync", sharing=envelope.ONE_COPY)) == 0.0


def test_an_engine_that_sleeps_brings_its_weights_back_over_the_hosts_link():
    # 50 GB/s; the training state crosses it twice
    s = replace(SMALL, sharing=envelope.PLACEMENTS[1])
    assert planner.moved_aside(s) == pytest.approx(memory.weight_bytes_per_gpu(s.model, s.engine) / 50e9)
    aside = replace(SMALL, sharing=envelope.PLACEMENTS[0])
    assert planner.moved_aside(aside) == pytest.approx(2 * memory.waiting_bytes(s.model, s.parts[1]) / 50e9)
    assert planner.moved_aside(replace(SMALL, sharing=envelope.BOTH_STAY)) == 0.0
