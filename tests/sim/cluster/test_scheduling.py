from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.cluster import scheduling
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.kv_cache import BlockAllocator
from sim.cluster.lengths import lognormal
from sim.cluster.models import MODELS
from sim.cluster.scheduling import Policy, Request, Speculation
from sim.cluster.throughput import iteration_seconds
from tests.sim.cluster.plain_engine import serve

QWEN, H100, GB200 = MODELS["qwen2.5-7b"], ACCELERATORS["h100"], ACCELERATORS["gb200"]
AMPLE = 431_933  # tokens of a pool at u = .5
WHOLE_PROMPTS = Policy(chunk=0, prefix=False)


def served(requests, policy=WHOLE_PROMPTS, tokens=AMPLE, accelerator=H100):
    seconds = scheduling.rates(QWEN, accelerator, policy.speculation)
    return scheduling.run(requests, seconds, BlockAllocator(tokens // 16, 16), policy)


def groups_of_eight():
    rng = np.random.default_rng(0)
    prompts = rng.integers(400, 800, 32)
    outputs = np.minimum(np.ceil(800 * np.exp(0.8 * rng.standard_normal((32, 8)))), 8192)
    return [Request(int(p), int(o), g) for g, p in enumerate(prompts) for o in outputs[g]]


BATCH = groups_of_eight()


def test_one_slot_takes_the_sum_of_its_requests():
    requests = [Request(100, 10, 0), Request(200, 20, 1), Request(300, 30, 2)]
    # each prompt once, its tokens attending to half of it; then each token at the middle of its output
    by_hand = sum(
        iteration_seconds(QWEN, H100, 0, 0, r.prompt, r.prompt / 2)
        + r.output * iteration_seconds(QWEN, H100, 1, r.prompt + r.output / 2)
        for r in requests
    )
    assert by_hand == pytest.approx(0.4509702235, rel=1e-9)
    assert served(requests, replace(WHOLE_PROMPTS, batch=1)).makespan == pytest.approx(by_hand, rel=1e-12)


# tokens a second of an independent program for the same 256 requests
LADDER = {
    "static, reserved": (replace(WHOLE_PROMPTS, static=True, reserve=8992), 1307),
    "continuous": (replace(WHOLE_PROMPTS, reserve=8992), 2882),
    "paged": (WHOLE_PROMPTS, 3966),
    "prefixes": (Policy(chunk=0), 4150),
    "chunks": (Policy(), 4150),
    "speculation": (Policy(speculation=Speculation(0.7, 3, 0.05)), 8100),
    "rejected drafts": (Policy(speculation=Speculation(0.4, 8, 0.05)), 3500),
}


@pytest.mark.parametrize("name", LADDER)
def test_each_trick_buys_what_an_independent_program_says(name):
    policy, tokens_per_second = LADDER[name]
    assert served(BATCH, policy).tokens_per_second == pytest.approx(tokens_per_second, rel=0.02)


@pytest.mark.when_changed()
@pytest.mark.parametrize("tokens", [100_000, 40_000, 20_000])
@pytest.mark.parametrize("watermark", [0, 0.05])
def test_a_small_pool_costs_what_an_independent_program_says(tokens, watermark):
    trace = served(BATCH, Policy(watermark=watermark), tokens)

    def seconds(*shape):
        return float(iteration_seconds(QWEN, H100, *shape))

    plain = serve(BATCH, tokens // 16, seconds, 256, chunk=2048, watermark=watermark)
    # where no event skips an iteration the two are the same; here decode moves on until somebody needs a block
    assert trace.makespan == pytest.approx(plain.seconds, rel=1e-3)
    assert trace.preemptions == pytest.approx(plain.evictions, rel=0.04)
    assert trace.read_again == pytest.approx(plain.read_again / sum(r.prompt + r.output for r in BATCH), abs=2e-3)


def test_the_running_ones_take_their_next_block_before_anyone_is_admitted():
    # 3 blocks of 16: when the second is done the first needs its block, and the third waits until the first is done too
    requests = [Request(30, 18, 0), Request(14, 1, 1), Request(5, 5, 2)]
    trace = scheduling.run(requests, lambda *shape: 1.0, BlockAllocator(3, 16), WHOLE_PROMPTS)
    assert trace.preemptions == 0 and trace.finished == 3


def test_a_chunk_shortens_the_longest_silence_and_not_the_run():
    # an independent program: 343 ms with whole prompts, 14, 51 ms with chunks of 512, 2048; 3.6 s without prefixes
    def gap(policy):
        return served(BATCH, policy).longest_gap

    assert gap(Policy(chunk=0)) == pytest.approx(0.343, rel=0.02)
    assert gap(Policy(chunk=512)) == pytest.approx(0.014, rel=0.05)
    assert gap(Policy(chunk=2048)) == pytest.approx(0.051, rel=0.02)
    assert gap(WHOLE_PROMPTS) == pytest.approx(3.6, rel=0.02)


@pytest.mark.when_changed()
def test_what_vllm_measured_with_a_watermark():
    # vLLM pull 44594: 450 requests of some 1000 + 5000 tokens, 128 at once, a pool of 299,584, no prefix cache.
    # Preemptions 1065, 400, 187, 168, 168; tokens a second 11582, 12134, 12167, 11835, 11635
    rng = np.random.default_rng(0)
    sizes = zip(rng.integers(800, 1201, 450), rng.integers(4000, 6001, 450))
    requests = [Request(int(p), int(o), i) for i, (p, o) in enumerate(sizes)]
    policy = Policy(batch=128, prefix=False, chunk=8192)
    traces = [served(requests, replace(policy, watermark=w), 299_584, GB200) for w in (0, 0.02, 0.05, 0.10, 0.15)]
    preemptions = [trace.preemptions for trace in traces]
    assert preemptions == sorted(preemptions, reverse=True)
    assert preemptions == pytest.approx([1065, 400, 187, 168, 168], rel=0.4)
    speeds = [trace.tokens_per_second for trace in traces]
    assert speeds == pytest.approx([11582, 12134, 12167, 11835, 11635], rel=0.1)
    assert speeds[1] / speeds[0] - 1 == pytest.approx(12134 / 11582 - 1, abs=0.015)  # 4.8 % measured


@pytest.mark.parametrize("alpha, drafts, tokens", [(0.8, 4, 3.3616), (0.5, 3, 1.875), (0.9, 8, 6.125795), (1.0, 5, 6)])
def test_a_pass_yields_a_geometric_sum_of_tokens(alpha, drafts, tokens):
    # Leviathan et al.: (1 − α^(γ+1)) / (1 − α)
    assert Speculation(alpha, drafts, 0.05).tokens == pytest.approx(tokens, rel=1e-6)


@pytest.mark.parametrize("alpha, cost, drafts", [(0.5, 0.05, 3), (0.6, 0.05, 4), (0.7, 0.05, 6), (0.8, 0.05, 8)])
def test_more_drafts_pay_only_up_to_a_point(alpha, cost, drafts):
    assert scheduling.best_drafts(alpha, cost) == drafts
    # Leviathan et al., theorem 3.8: (1 − α^(γ+1)) / ((1 − α)(γ c + 1))
    by_hand = (1 - alpha ** (drafts + 1)) / ((1 - alpha) * (drafts * cost + 1))
    assert Speculation(alpha, drafts, cost).speedup == pytest.approx(by_hand, rel=1e-12)


def test_drafts_that_cost_more_than_they_are_accepted_never_pay():
    assert scheduling.best_drafts(0.9, 0.05) == 13 and scheduling.best_drafts(0.8, 0.2) == 4
    assert scheduling.best_drafts(0.1, 0.2) == 0  # below α = c even one draft is a loss


def by_hand(n, context, queries):
    """An iteration of the 7B on an H100 at the assumed efficiency: the longer of reading and arithmetic, and 1.5 ms."""
    read = 2 * 7_070_619_136 + n * context * 57_344
    attention = n * queries * 4 * 28 * 3584 * context
    flop = 2 * 7_070_619_136 * n * queries + attention
    return max(read / (0.75 * 3.35e12), flop / (0.6 * 989.4e12)) + 1.5e-3


@pytest.mark.parametrize("alpha, context", [(0.5, 1024), (0.7, 1024), (0.5, 4096)])
def test_checking_drafts_pays_until_the_chip_is_busy_with_it(alpha, context):
    guess = Speculation(alpha, 3, 0.05)
    tokens = 1 + alpha + alpha**2 + alpha**3

    def draft(n):
        return 0.2e-3 + 0.05 * max(2 * 7_070_619_136 / (0.75 * 3.35e12), 2 * 7_070_619_136 * n / (0.6 * 989.4e12))

    def gains(n):
        return by_hand(n, context, 4) + 3 * draft(n) < tokens * by_hand(n, context, 1)

    until = next((n - 1 for n in range(1, 8193) if not gains(n)), np.inf)
    assert scheduling.pays_until(QWEN, H100, guess, context) == until
    assert (until == np.inf) == (context == 4096)  # there reading the caches takes longer than any checking


def test_a_stream_grows_into_the_trace_of_the_whole_run():
    def pool():
        return BlockAllocator(40_000 // 16, 16)

    policy, seconds = Policy(), scheduling.rates(QWEN, H100)
    *parts, last = scheduling.stream(BATCH, seconds, pool(), policy, every=40)
    whole = scheduling.run(BATCH, seconds, pool(), policy)
    assert last.makespan == whole.makespan and last.finished == len(BATCH) == whole.finished
    assert [len(part.seconds) for part in parts] == [40 * (n + 1) for n in range(len(parts))]
    for part in parts:
        assert np.array_equal(part.live, whole.live[: len(part.live)]) and part.preemptions == part.evictions.sum()
    assert [part.finished for part in parts] == sorted(part.finished for part in parts)
    assert whole.tokens_per_second == pytest.approx(sum(r.output for r in BATCH) / whole.makespan, rel=1e-12)
    assert whole.longest_gap == whole.gaps.max()


def test_a_long_prompt_is_read_chunk_by_chunk_though_in_one_event():
    # alone: 20 chunks of 500, each token attending to all before it and half of its chunk
    trace = served([Request(10_000, 8, 0)], Policy(chunk=500))
    chunks = [iteration_seconds(QWEN, H100, 0, 0, 500, 500 * i + 250) for i in range(20)]
    decode = 8 * iteration_seconds(QWEN, H100, 1, 10_004)
    assert trace.makespan == pytest.approx(sum(chunks) + decode, rel=1e-9)
    assert trace.iterations == 28 and len(trace.seconds) <= 3


def test_where_the_decoding_fill_the_chunk_a_prompt_waits():
    requests = [Request(16, 100, i) for i in range(8)] + [Request(400, 10, 8)]
    trace = served(requests, Policy(chunk=8, prefix=False))
    # 8 decode tokens leave no room in a chunk of 8: the ninth is read when they have ended
    assert trace.longest_gap < 0.02 and trace.live[-1] == 1
    assert trace.written[-1] == 810 and np.all(np.diff(trace.written) >= 0)


def test_places_are_taken_in_turn_and_in_a_static_batch_all_at_once():
    lengths = [2, 8, 3, 3]
    # two places: 0 and 1 begin; 2 follows 0, and 3 follows 2
    assert scheduling.timetable(lengths, 2) == [(0, 0, 0, 1), (1, 1, 0, 7), (0, 2, 2, 4), (0, 3, 5, 7)]
    # 2 and 3 wait until 1 has ended
    assert scheduling.timetable(lengths, 2, static=True) == [(0, 0, 0, 1), (1, 1, 0, 7), (0, 2, 8, 10), (1, 3, 8, 10)]


@settings(max_examples=30)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=15), st.integers(1, 6), st.booleans())
def test_a_timetable_is_what_the_engine_does_when_nothing_has_to_be_read(lengths, places, static):
    ends = 1 + max(last for *_, last in scheduling.timetable(lengths, places, static))

    def one(n, *read):
        return float(n > 0)  # prompts take no time

    policy = Policy(batch=places, static=static, prefix=False, chunk=0)
    pool = BlockAllocator(10_000, 16)
    assert scheduling.run([Request(1, n, i) for i, n in enumerate(lengths)], one, pool, policy).makespan == ends


def test_the_mean_of_those_at_work_is_over_time():
    trace = served([Request(16, 100, 0), Request(16, 300, 1)], Policy(prefix=False))
    # two for 100 tokens of each, then one for 200: about (2 · 100 + 200) / 300 in time
    assert scheduling.live_on_average(trace) == pytest.approx(4 / 3, rel=0.01)


def test_a_job_is_drawn_from_its_law():
    job = scheduling.requests_of(lognormal(800, 0.8, 8192), 32, 8, 600, np.random.default_rng(0))
    assert job == BATCH  # prompts evenly from 400 to 799, outputs lognormal with median 800
    shortest = scheduling.requests_of(lognormal(1, 0.1, 1), 40, 1, 1, np.random.default_rng(0))
    assert {(r.prompt, r.output) for r in shortest} == {(1, 1)}


def test_with_equal_lengths_a_static_batch_loses_nothing():
    requests = [Request(512, 300, i) for i in range(32)]
    static, continuous = (served(requests, replace(WHOLE_PROMPTS, batch=8, static=s)) for s in (True, False))
    assert static.makespan == continuous.makespan


def test_a_preempted_sequence_finds_its_own_blocks():
    alone = [Request(500, 2000, i) for i in range(64)]  # no siblings: all hits are its own
    without, found = (served(alone, Policy(prefix=prefix), 60_000) for prefix in (False, True))
    assert found.read_again < 0.9 * without.read_again
    assert found.tokens_per_second > without.tokens_per_second


def test_a_sequence_longer_than_the_pool_is_an_error_and_no_endless_wait():
    with pytest.raises(ValueError, match="a sequence of 131,082 tokens can never be served: the pool has 1,024"):
        served([Request(131_072, 10, 0)], Policy(), 1024)
    with pytest.raises(ValueError, match="can never be served"):  # it would start, and outgrow the pool
        served([Request(100, 5000, 0)], Policy(), 1024)


def test_the_wait_before_the_next_admission_ends_what_would_be_a_circle():
    requests = [Request(900, 200, i) for i in range(4)]
    trace = served(requests, Policy(prefix=False), 2048)
    assert trace.preemptions < 20 and trace.tokens_per_second > 0


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(1, 300), st.integers(1, 200), st.integers(0, 3)), min_size=1, max_size=20),
    st.sampled_from((64, 600, 3000)),
    st.builds(
        Policy,
        batch=st.sampled_from((1, 3, 64)),
        static=st.booleans(),
        prefix=st.booleans(),
        chunk=st.sampled_from((0, 64, 2048)),
        watermark=st.sampled_from((0.0, 0.05, 0.15)),
        speculation=st.sampled_from((None, Speculation(0.7, 3, 0.05))),
    ),
)
def test_every_run_ends_or_says_why_it_cannot(sizes, tokens, policy):
    requests, longest = [Request(*size) for size in sizes], max(p + o for p, o, _ in sizes)
    try:
        trace = served(requests, policy, tokens)
    except ValueError:
        assert longest > tokens // 16 * 16
    else:
        assert longest <= tokens
        assert trace.used.max() <= tokens and trace.live.max() <= policy.batch
        assert np.all(np.diff(trace.seconds) > 0)
        alone = iteration_seconds(QWEN, H100, 1, 0)
        if not policy.speculation:
            assert trace.makespan >= max(o for _, o, _ in sizes) * alone
