import re
from dataclasses import replace
from math import ceil
from urllib.parse import parse_qsl

import numpy as np
import pytest

from sim.cluster import kv_cache, memory, scheduling, throughput
from sim.cluster.hardware import ACCELERATORS, ridge
from sim.cluster.kv_cache import expected_utilization
from sim.cluster.memory import Engine
from sim.cluster.models import MODELS
from sim.cluster.throughput import ASSUMED, PEAK, crossover, iteration
from tests.lessons.prose import Lesson
from tests.sim.cluster.plain_engine import serve
from widgets.frame import machine_knobs
from widgets.frame.values import knobs_from
from widgets.kv_cache import widget

LESSON = Lesson("20")
LLAMA, H100, H200 = MODELS["llama3.1-8b"], ACCELERATORS["h100"], ACCELERATORS["h200"]
DEEPSEEK, SMALL = MODELS["deepseek-v3"], MODELS["qwen2.5-1.5b"]


def link(words):
    (query,) = re.findall(rf"\[{re.escape(words)}\]\(#kv_cache\)\{{ data-knobs=\"([^\"]+)\" \}}", LESSON.text)
    return knobs_from(widget.Knobs, dict(parse_qsl(query)))


def result(knobs):
    (r,) = widget.run(knobs)
    return r


def test_recomputing_every_token_would_cost_millions_of_passes():
    assert (
        kv_cache.token_passes(4096, cached=False) == sum(range(1, 4097)) > 8e6
        and "millions of token passes" in LESSON.text
    )


def test_the_bytes_of_a_token_by_attention():
    for cached_heads, said in ((None, "131,072"), (32, "524,288"), (1, "16,384")):
        LESSON.says(said, replace(LLAMA, cached_heads=cached_heads).kv_bytes_per_token())


@pytest.mark.parametrize("key", ["llama2-7b", "llama3.1-8b", "llama3.1-70b", "qwen3-30b-a3b", "deepseek-v3"])
def test_the_table_of_models(key):
    model = MODELS[key]
    name = model.name.split(" /")[0]
    size = f"{model.params() / 1e9:.0f}" if model.params() > 1e11 else f"{model.params() / 1e9:.1f}"
    heads = {"mha": f"MHA, {model.heads} heads", "gqa": f"GQA, {model.kv_heads} of {model.heads}", "mla": "MLA"}[
        model.attention_kind
    ]
    assert f"| {name} | {size} B | {heads} | {model.kv_bytes_per_token():,} |" in LESSON.text


def test_latent_attention_in_numbers():
    heads = replace(DEEPSEEK, cached_heads=128).kv_bytes_per_token()
    LESSON.says("4,997,120", heads)
    LESSON.says("71", heads / DEEPSEEK.kv_bytes_per_token())
    LESSON.says("84", DEEPSEEK.params() / LLAMA.params())
    assert DEEPSEEK.kv_bytes_per_token() / LLAMA.kv_bytes_per_token() == pytest.approx(0.5, abs=0.05)
    LESSON.says("241.8", DEEPSEEK.attention_flops_per_token(1) / DEEPSEEK.kv_bytes_per_token())
    LESSON.says("206", ridge(H200))
    eight = dict(tensor_parallel=8, efficiency=PEAK)
    LESSON.says("370", crossover(DEEPSEEK, H200, weight_bytes=1, **eight))
    LESSON.says("741", crossover(DEEPSEEK, H200, **eight))
    assert crossover(DEEPSEEK, H200, efficiency=PEAK) == np.inf and "at every length" in LESSON.text
    assert crossover(DEEPSEEK, H200, weight_bytes=1, context_parallel=8, **eight) == np.inf
    for cut, said in ((1, "612,216"), (8, "4,897,734")):
        LESSON.says(said, memory.capacity(DEEPSEEK, H200, Engine(8, 8, context_parallel=cut, weight_bytes=1)))


def test_what_is_left_beside_the_weights():
    LESSON.says("8.03", LLAMA.params() / 1e9)
    LESSON.says("55.94", 0.9 * 80 - LLAMA.params() * 2 / 1e9)
    LESSON.says("426,784", memory.capacity(LLAMA, H100))
    LESSON.says("411,525", memory.capacity(LLAMA, H100, Engine(extra_bytes=2e9)))
    LESSON.says("104", int(memory.sequences(LLAMA, H100, 4096)))
    LESSON.says("27", int(memory.sequences(MODELS["llama2-7b"], ACCELERATORS["a100_80"], 4096)))
    LESSON.says("8", 0.3 * 80 - LLAMA.params() * 2 / 1e9)


def test_windows_are_counted():
    k = link("Gemma-3-27B on two GPUs")
    gemma = result(k).model
    LESSON.says("116", result(k).fits)
    all_grow = 62 * 2 * 16 * 128 * 2 * 4096 / 2  # bytes of a sequence on each of two GPUs
    LESSON.says("43", int(memory.engine_room(gemma, H100, Engine(tensor_parallel=2)) / all_grow))


P = 8_030_261_248 - 128_256 * 4096  # without the table of embeddings
M = 131_072


def test_the_ridge_and_the_plateau_without_a_cache():
    LESSON.says("7.50", P / 1e9)
    LESSON.says("295", ridge(H100))
    LESSON.says("39,550", 0.6 * H100.flops() / (2 * P))
    one = iteration(LLAMA, H100, 1e9, 0)
    assert 1e9 / one.seconds == pytest.approx(0.6 * H100.flops() / (2 * P), rel=1e-6)


def test_the_crossover_with_and_without_attention():
    LESSON.says("388", 2 * P / (M * ridge(H100)))
    seventy = MODELS["llama3.1-70b"]
    LESSON.says("1,436", 2 * seventy.matmul_params() / (seventy.kv_bytes_per_token() * ridge(H100)))
    LESSON.says("393", crossover(LLAMA, H100, efficiency=PEAK))
    LESSON.says("393", 2 * P / (M * ridge(H100) - 4 * 32 * 4096))
    assert f"the work of comparing, {100 * 4 * 32 * 4096 * 4096 / (2 * P):.0f} % more at 4,096 tokens" in LESSON.text
    LESSON.says("493", crossover(LLAMA, H100))
    LESSON.says("712", crossover(LLAMA, H200))
    # a quarter higher, where attention is left out
    assert ASSUMED.bandwidth / ASSUMED.flops == pytest.approx(1.25) and "a quarter higher" in LESSON.text


def test_of_the_batches_that_fit_one_is_compute_bound_up_to_a_shorter_context():
    for chip, longest in ((H100, 387), (H200, 625)):
        pool = memory.capacity(LLAMA, chip)
        read = (2 * P + pool * M) / (0.75 * chip.hbm_bytes_per_second)  # of a full pool, whatever the context
        # until the work of pool / S sequences, (2P′ / S + a) pool, takes no longer
        LESSON.says(str(longest), 2 * P * pool / (read * 0.6 * chip.flops() - 4 * 32 * 4096 * pool))
        LESSON.says(str(longest), throughput.reachable_context(LLAMA, chip))
    assert "between 388 and 625 tokens" in LESSON.text and "between 493 and 712" in LESSON.text


def test_deepseek_in_bf16_does_not_fit_where_it_is_drawn_and_in_fp8_does():
    room = lambda width: memory.capacity(DEEPSEEK, H200, Engine(8, 8, weight_bytes=width))
    assert room(2) < 0 < room(1)


def test_eight_bits_double_what_fits_and_how_long_a_context_may_be():
    assert int(memory.sequences(LLAMA, H100, 4096, Engine(kv_bytes=1))) == 2 * 104
    # of the line without attention: m stands in its denominator
    assert LLAMA.kv_bytes_per_token(1) * 2 == LLAMA.kv_bytes_per_token()


def test_the_largest_batch_that_fits_leaves_the_chip_idle():
    for batch, speed, share in ((104, "3,502", "79"), (64, "3,026", "70")):
        read = 2 * P + batch * 4096 * M
        LESSON.says(speed, batch / (read / (0.75 * 3.35e12) + 1.5e-3))
        LESSON.says(speed, batch / iteration(LLAMA, H100, batch, batch * 4096).seconds)
        LESSON.says(share, 100 * batch * 4096 * M / read)
    without_end = iteration(LLAMA, H100, 1e12, 1e12 * 4096)
    assert 1 / 8 < without_end.compute / without_end.memory < 1 / 7 and "at most a seventh of the time" in LESSON.text
    assert f"the 11 % of the figure {100 * without_end.compute / without_end.memory:.0f}." in LESSON.text
    full = iteration(LLAMA, H100, 104, 104 * 4096)
    LESSON.says("286", 1e6 * full.seconds / 104)  # microseconds to generate a token
    # half of the context is behind a token, on average
    LESSON.says("27", 1e6 * (2 * P + 4 * 32 * 4096 * 2048) / (0.6 * H100.flops()))


def test_attention_alone_by_query_heads_for_each_cached_one():
    for key, said in (("llama2-7b", "1"), ("llama3.1-8b", "4"), ("llama3.1-70b", "8"), ("qwen3-235b-a22b", "16")):
        LESSON.says(said, MODELS[key].attention_flops_per_token(1) / MODELS[key].kv_bytes_per_token())


def test_reservations_and_blocks():
    LESSON.says("19.9", 100 * expected_utilization(1200, 0.8, 8192))
    LESSON.says("61", 100 * expected_utilization(1200, 0.8, 2048))
    LESSON.says("7.5", kv_cache.slots_per_sequence(1000, 16) - 1000)
    lengths = np.ceil(np.minimum(np.random.default_rng(0).lognormal(np.log(1200), 0.8, 20_000), 8192))
    assert "above 99.4 %" in LESSON.text and kv_cache.fragmentation(lengths, 8192, 16) > 0.994


def test_the_room_of_a_group():
    LESSON.says("0.704", kv_cache.shared_fraction(1024 / 3024, 8))
    LESSON.says("0.125", kv_cache.shared_fraction(4096 / 4608, 64))


@LESSON.when_changed
def test_what_the_links_set_holds_or_breaks_as_the_text_says():
    broken = lambda words: widget.broken(link(words), result(link(words)))
    for words in ("4,096 tokens", "one cached head", "eight-bit keys and values", "stored once"):
        assert broken(words) is None and widget.worse(link(words), result(link(words))) is None
    assert link("4,096 tokens") == widget.Knobs()
    assert broken("256 sequences") is None and widget.worse(link("256 sequences"), result(link("256 sequences")))
    assert broken("an H20").cause == widget.REREAD
    assert broken("longest it could become").cause == widget.RESERVED
    assert broken("one sequence of 131,072 tokens").cause == widget.REFUSED


def test_the_page_tells_every_cause_that_is_to_be_found():
    causes = {widget.broken(k, result(k)).cause for k in widget.PRESETS.values() if widget.broken(k, result(k))}
    assert causes == {widget.RESERVED, widget.REREAD, widget.REFUSED}


def test_sharing_moves_the_edge_and_not_the_curve():
    default, shared, mqa, fp8 = (
        result(link(w)) for w in ("4,096 tokens", "stored once", "one cached head", "eight-bit keys and values")
    )
    assert shared.fits > default.fits and shared.tokens_per_second == default.tokens_per_second
    for other in (mqa, fp8):
        assert other.fits > default.fits and other.tokens_per_second > default.tokens_per_second


def job(k, rounds=3):
    """`rounds` times as many requests as are asked for at once, and the tokens of all."""
    prompt, longest = k.context // 4, ceil(k.context / expected_utilization(1200, 0.8, 8192))
    drawn = np.random.default_rng(0).lognormal(0, 0.8, rounds * k.batch)
    live = (drawn**2).mean() / drawn.mean() / 2
    lengths = np.clip(np.ceil(drawn * (k.context - prompt) / live), 1, longest - prompt).astype(int)
    requests = [scheduling.Request(prompt, int(n), i) for i, n in enumerate(lengths)]
    return requests, sum(request.prompt + request.output for request in requests)


def blocks(k):
    return memory.capacity(machine_knobs.model(k), machine_knobs.accelerator(k), widget.engine(k)) // 16


def shape(k):
    return lambda *tokens: float(
        throughput.iteration_seconds(machine_knobs.model(k), machine_knobs.accelerator(k), *tokens)
    )


def every_sequence(k):
    """(tokens read again for each token of the job, share of the time), by the program that knows nothing of sim/."""
    requests, tokens = job(k)
    plain = serve(requests, blocks(k), shape(k), k.batch)
    return plain.read_again / tokens, plain.read_again_seconds / plain.seconds


def at_once(k, rounds=3, prefix=True):
    """The same by the simulator, which moves on by many iterations where nothing happens."""
    requests, tokens = job(k, rounds)
    pool = kv_cache.BlockAllocator(blocks(k), 16)
    trace = scheduling.run(requests, shape(k), pool, scheduling.Policy(batch=k.batch, chunk=0, prefix=prefix))
    return trace.read_again, trace.read_again * tokens * widget.reading_seconds(
        k, machine_knobs.model(k)
    ) / trace.makespan


@LESSON.when_changed
def test_eviction_on_a_large_model_is_cheap():
    k = link("256 sequences")
    again, share = every_sequence(k)
    assert (
        "For every ten tokens written about five old ones are computed again, and yet that takes 5 % of the time"
        in LESSON.text
    )
    LESSON.says("0.5", again)
    LESSON.says("5", 100 * share)
    assert at_once(k) == pytest.approx((again, share), rel=0.05)
    assert result(k).fits == 104 and result(k).reread == pytest.approx(again, rel=1 / 6)
    LESSON.says("0.6", at_once(k, rounds=6)[0])
    LESSON.says("0.6", at_once(k, prefix=False)[0])


@LESSON.when_changed
def test_eviction_is_dear_where_work_takes_the_time():
    k = link("an H20")
    again, share = every_sequence(k)
    LESSON.says("0.4", again)
    LESSON.says("27", 100 * share)
    assert iteration(LLAMA, machine_knobs.accelerator(k), 261, 261 * 2048).bound == "compute"
    assert share < widget.lost(k, result(k)) < 7 / 6 * share
    assert "more than a quarter of its speed" in LESSON.text
    assert H100.flops() / machine_knobs.accelerator(k).flops() == pytest.approx(7, abs=0.5)


@LESSON.when_changed
def test_where_many_end_in_each_step_little_is_read_again():
    k = widget.Knobs(model="qwen2.5-1.5b", context=256, batch=4096, hbm_share=0.3)
    assert iteration(SMALL, H100, 2768, 2768 * 256).bound == "compute"
    again, share = at_once(k)
    LESSON.says("2,768", result(k).fits)
    LESSON.says("14", 2768 / widget.mean_completion(k))
    LESSON.says("0.07", again)
    LESSON.says("5", 100 * share)


def test_a_small_cache_beside_many_weights():
    qwen = result(link("Qwen3-30B-A3B"))
    LESSON.says("61", qwen.model.params() * 2 / 1e9)
    LESSON.says("27", qwen.fits)


def test_reserving_ahead_leaves_20_of_64():
    k = link("longest it could become")
    r = result(k)
    assert f"{widget.runs(k, r)} of {k.batch} sequences run" in LESSON.text
    LESSON.says("1,702", r.tokens_per_second)
    assert 1 - r.tokens / r.slots == pytest.approx(0.8, abs=0.005) and "four fifths of it empty" in LESSON.text


def test_a_short_context_is_bound_by_compute():
    k = link("1,024 sequences of 256 tokens")
    assert widget.broken(k, result(k)) is None
    assert iteration(LLAMA, H100, k.batch, k.batch * k.context).bound == "compute"
    LESSON.says("37,071", result(k).tokens_per_second)
    LESSON.says("37,071", 1024 / (1024 * (2 * P + 524_288 * 256) / (0.6 * H100.flops()) + 1.5e-3))


def test_the_context_between_two_chips():
    k = link("Set it up")
    assert (k.context, k.accelerator) == (512, "h200")
    assert crossover(LLAMA, H100) < k.context < crossover(LLAMA, H200)
    for said, efficiency in (("588", ASSUMED), ("2,141", PEAK)):
        n = int(said.replace(",", ""))
        bound = [iteration(LLAMA, H200, m, m * 512, efficiency=efficiency).bound for m in (n - 1, n)]
        LESSON.says(said, n)
        assert bound == ["memory", "compute"]
    LESSON.says("1,651", int(memory.sequences(LLAMA, H200, 512)))
    LESSON.says("1,627", result(k).fits)


def test_gpus_beyond_the_kv_heads_hold_copies():
    qwen = MODELS["qwen3-30b-a3b"]
    assert qwen.kv_heads == 4 and qwen.kv_shards(8) == qwen.kv_shards(4) == 4 and DEEPSEEK.kv_shards(8) == 1
