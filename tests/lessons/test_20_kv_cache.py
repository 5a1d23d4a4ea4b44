import re
from dataclasses import replace
from urllib.parse import parse_qsl

import numpy as np
import pytest

from sim.cluster import kv_cache
from sim.cluster.hardware import ACCELERATORS, ridge
from sim.cluster.kv_cache import (
    capacity,
    crossover_context,
    crossover_with_attention,
    decode_roofline,
    expected_utilization,
    max_sequences,
)
from sim.cluster.models import MODELS
from tests.lessons.prose import Lesson
from widgets import kv_cache as widget
from widgets.frame import host

LESSON = Lesson("20")
LLAMA, H100, H200 = MODELS["llama3.1-8b"], ACCELERATORS["h100"], ACCELERATORS["h200"]
DEEPSEEK, SMALL = MODELS["deepseek-v3"], MODELS["qwen2.5-1.5b"]


def link(words):
    (query,) = re.findall(rf"\[{re.escape(words)}\]\(#kv_cache\)\{{ data-knobs=\"([^\"]+)\" \}}", LESSON.text)
    return host.knobs_from(widget.Knobs, dict(parse_qsl(query)))


def result(knobs):
    (r,) = widget.run(knobs)
    return r


def test_recomputing_every_token_would_cost_millions_of_passes():
    assert (
        kv_cache.token_passes(4096, cached=False) == sum(range(1, 4097)) > 8e6 and "millions of passes" in LESSON.text
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
    LESSON.says("350", crossover_with_attention(DEEPSEEK, H200, tensor_parallel=8, weight_bytes=1))
    LESSON.says("759", crossover_with_attention(DEEPSEEK, H200, tensor_parallel=8))
    assert crossover_with_attention(DEEPSEEK, H200) == np.inf and "at every length" in LESSON.text


def test_what_is_left_beside_the_weights():
    LESSON.says("8.03", LLAMA.params() / 1e9)
    LESSON.says("55.94", 0.9 * 80 - LLAMA.params() * 2 / 1e9)
    LESSON.says("426,784", capacity(LLAMA, H100))
    LESSON.says("104", max_sequences(capacity(LLAMA, H100), 4096))
    LESSON.says("27", max_sequences(capacity(MODELS["llama2-7b"], ACCELERATORS["a100_80"]), 4096))
    LESSON.says("8", 0.3 * 80 - LLAMA.params() * 2 / 1e9)


def test_the_ridge_and_the_plateau_without_a_cache():
    LESSON.says("295", ridge(H100))
    LESSON.says("61,604", decode_roofline(LLAMA, H100, 1e4, 0).tokens_per_second)


def test_the_crossover_with_and_without_attention():
    LESSON.says("415", crossover_context(LLAMA, H100))
    LESSON.says("1,458", crossover_context(MODELS["llama3.1-70b"], H100))
    LESSON.says("421", crossover_with_attention(LLAMA, H100))
    LESSON.says("606", crossover_with_attention(LLAMA, H200))


def test_without_the_embedding_table_the_limit_is_a_little_lower():
    weights = LLAMA.params() - LLAMA.embed_params()  # a step reads a row a token of it
    hidden = LLAMA.kv_bytes_per_token() * ridge(H100) - LLAMA.attention_flops_per_token(1)
    LESSON.says("393", 2 * weights / hidden)


def test_of_the_batches_that_fit_one_is_compute_bound_up_to_a_shorter_context():
    for chip, longest in ((H100, 325), (H200, 528)):
        fits = {S: max_sequences(capacity(LLAMA, chip), S) for S in range(128, 650)}
        bound = [S for S, batch in fits.items() if decode_roofline(LLAMA, chip, batch, S).bound == "compute"]
        LESSON.says(str(longest), bound[-1])
        assert bound == list(range(128, longest + 1))
    assert "between 326 and 528 tokens" in LESSON.text


def test_deepseek_in_bf16_does_not_fit_where_it_is_drawn_and_in_fp8_does():
    assert capacity(DEEPSEEK, H200, 8) < 0 < capacity(DEEPSEEK, H200, 8, weight_bytes=1)


def test_eight_bits_double_what_fits_and_how_long_a_context_may_be():
    assert max_sequences(capacity(LLAMA, H100, kv_bytes=1), 4096) == 2 * 104
    assert crossover_context(LLAMA, H100, kv_bytes=1) == pytest.approx(2 * crossover_context(LLAMA, H100))


def test_the_largest_batch_that_fits_leaves_the_chip_idle():
    full = decode_roofline(LLAMA, H100, 104, 4096)
    LESSON.says("4,846", full.tokens_per_second)
    LESSON.says("78", 100 * full.kv_share)
    shown = decode_roofline(LLAMA, H100, 64, 4096)
    LESSON.says("4,252", shown.tokens_per_second)
    LESSON.says("68", 100 * shown.kv_share)
    without_end = H100.hbm_bytes_per_second / (4096 * LLAMA.kv_bytes_per_token())
    work = 2 * LLAMA.params() + LLAMA.attention_flops_per_token(4096)
    assert (
        without_end * work / H100.flops() == pytest.approx(1 / 9, abs=0.01)
        and "at most a ninth of its arithmetic" in LESSON.text
    )
    LESSON.says("206", 1e6 / full.tokens_per_second)  # microseconds to generate a token


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


def test_what_the_links_set_holds_or_breaks_as_the_text_says():
    broken = lambda words: widget.broken(link(words), result(link(words)))
    for words in ("4,096 tokens", "One cached head", "eight-bit keys and values", "stored once"):
        assert broken(words) is None and widget.worse(link(words), result(link(words))) is None
    assert link("4,096 tokens") == widget.Knobs()
    assert broken("256 sequences") is None and widget.worse(link("256 sequences"), result(link("256 sequences")))
    assert broken("A 1.5B model with short contexts").cause == widget.REREAD
    assert broken("longest it could become").cause == widget.RESERVED
    assert broken("one sequence of 131,072 tokens").cause == widget.REFUSED


def test_the_page_tells_every_cause_that_is_to_be_found():
    causes = {widget.broken(k, result(k)).cause for k in widget.PRESETS.values() if widget.broken(k, result(k))}
    assert causes == {widget.RESERVED, widget.REREAD, widget.REFUSED}


def test_sharing_moves_the_edge_and_not_the_curve():
    default, shared, mqa, fp8 = (
        result(link(w)) for w in ("4,096 tokens", "stored once", "One cached head", "eight-bit keys and values")
    )
    assert shared.fits > default.fits and shared.tokens_per_second == default.tokens_per_second
    for other in (mqa, fp8):
        assert other.fits > default.fits and other.tokens_per_second > default.tokens_per_second


def over_draws(k, n=16):
    """(tokens read again for each token, part of the speed lost) of n draws of the lengths."""
    r = result(k)
    _, slots = widget.holds_at_once(k, r.model, k.block)
    block = int(k.block)
    followed = [
        widget.followed(
            k, r.model, ACCELERATORS[k.accelerator], r.capacity, slots, widget.prompt_of(k), block, 10**9, seed
        )
        for seed in range(n)
    ]
    return np.array([[reread, trace.recompute_share] for trace, _, reread in followed]).T


def test_eviction_on_a_large_model_is_cheap():
    k = link("256 sequences")
    reread, lost = over_draws(k)
    assert result(k).fits == 104 and "For ten tokens about four are computed again, and 4 % of the speed" in LESSON.text
    LESSON.says("0.44", reread.mean())
    LESSON.says("0.13", reread.std())
    LESSON.says("4", 100 * lost.mean())
    assert lost.max() < 0.07
    LESSON.says(
        "17", 1e6 * decode_roofline(LLAMA, H100, 1, 2048).compute_seconds
    )  # half of the context is behind a token, on average


def test_eviction_on_a_small_model_is_dear():
    k = link("A 1.5B model with short contexts")
    assert decode_roofline(SMALL, H100, result(k).fits, 256).bound == "compute"
    reread, lost = over_draws(k)
    LESSON.says("0.33", reread.mean())
    LESSON.says("0.15", reread.std())
    LESSON.says("21", 100 * lost.mean())
    assert (lost > 0.1).sum() >= 14 and widget.lost(k, result(k)) == pytest.approx(0.2, abs=0.03)


def test_a_small_cache_beside_many_weights():
    qwen = result(link("Qwen3-30B-A3B"))
    LESSON.says("61", qwen.model.params() * 2 / 1e9)
    LESSON.says("27", qwen.fits)


def test_reserving_ahead_leaves_20_of_64():
    k = link("longest it could become")
    r = result(k)
    assert f"{widget.runs(k, r)} of {k.batch} sequences run" in LESSON.text
    assert 1 - r.tokens / r.slots == pytest.approx(0.8, abs=0.005) and "four fifths are empty" in LESSON.text


def test_a_short_context_is_bound_by_compute():
    k = link("1,024 sequences of 256 tokens")
    assert widget.broken(k, result(k)) is None
    assert decode_roofline(LLAMA, H100, k.batch, k.context).bound == "compute"
    LESSON.says("61,094", result(k).tokens_per_second)


def test_the_context_between_two_chips():
    k = link("Set it up")
    assert (k.context, k.accelerator) == (512, "h200")
    assert crossover_with_attention(LLAMA, H100) < k.context < crossover_with_attention(LLAMA, H200)
    assert (
        decode_roofline(LLAMA, H200, 1326, 512).bound == "memory"
        and decode_roofline(LLAMA, H200, 1327, 512).bound == "compute"
    )
    LESSON.says("1,327", 1327)
    LESSON.says("1,627", result(k).fits)


def test_gpus_beyond_the_kv_heads_hold_copies():
    qwen = MODELS["qwen3-30b-a3b"]
    assert qwen.kv_heads == 4 and qwen.kv_shards(8) == qwen.kv_shards(4) == 4 and DEEPSEEK.kv_shards(8) == 1
