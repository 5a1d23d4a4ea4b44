"""The numbers of the page that plans a run, recomputed."""

import re
from dataclasses import replace

import pytest

from sim.cluster import calibrate, calibrated, calibration, layouts, measured, memory, plan, planner, step, validation
from tests.lessons.prose import LESSONS, Lesson
from widgets.plan import widget
from widgets.plan.figures import EXAMPLE, STAGES


class Page(Lesson):
    """A page that has no number."""

    def __init__(self, name):
        self.path = LESSONS / name
        self.text = self.path.read_text(encoding="utf-8")


PAGE = Page("plan.md")


def compared(job, role):
    return next(c for c in validation.compared() if c.row.name == job and c.role == role)


def test_the_table_is_what_the_code_computes_row_by_row():
    assert "```rows\nsim.cluster.validation::table\n" in PAGE.text
    assert len(validation.table().splitlines()) == len(measured.PUBLISHED)
    assert len(measured.PUBLISHED) == 64 and "64 rows" in PAGE.text
    assert "six publications" in PAGE.text and len({row.source for row in measured.PUBLISHED}) == 6


def test_the_example():
    found = planner.plan(EXAMPLE)
    PAGE.says("306", found.step_range[0])
    PAGE.says("673", found.step_range[1])
    PAGE.says("5,436", found.gpu_hours[0])
    PAGE.says("11,959", found.gpu_hours[1])


def test_the_range():
    short, long = calibration.PUBLISHED
    PAGE.says("2.2", long)
    ratios = [c.ratio for c in validation.steps()]
    assert "eleven of 64" in PAGE.text and sum(ratio < short for ratio in ratios) == 11
    assert "nine were longer" in PAGE.text and sum(ratio > long for ratio in ratios) == 9
    PAGE.says("4.1", max(ratios))
    assert "in 42 of 64 rows" in PAGE.text and validation.within(calibration.PUBLISHED) == (42, 64)
    assert "two rows cannot be computed" in PAGE.text and len(ratios) == 62
    PAGE.says("1.2", calibration.NEAR)
    PAGE.says("1.5", calibration.FAR)
    PAGE.says("0.75", calibration.TWO_POOLS)
    assert "to a tenth" in PAGE.text and calibration.OWN == 1.1
    placements, chips = validation.pairs("placement"), validation.pairs("chip")
    near = [pair.within(calibration.FAR, calibration.TWO_POOLS) for pair in placements]
    assert "twelve of fifteen pairs" in PAGE.text and (sum(near), len(near)) == (12, 15)
    near = [pair.within(calibration.FAR) for pair in chips]
    assert "nine of ten on H100 and on GB200" in PAGE.text and (sum(near), len(near)) == (9, 10)


def test_a_release_that_was_read_after_everything_was_set():
    ratios = [c.ratio for c in validation.steps() if c.row.source in validation.SINCE]
    short, long = calibration.PUBLISHED
    rows = sum(row.source in validation.SINCE for row in measured.PUBLISHED)
    said = "Of its 19 rows 12 lie in the range, three are shorter, three are longer and one is not computed"
    shorter, longer = sum(ratio < short for ratio in ratios), sum(ratio > long for ratio in ratios)
    assert said in PAGE.text and (rows, len(ratios) - shorter - longer, shorter, longer) == (19, 12, 3, 3)
    PAGE.says("4.0", max(ratios))
    placements, chips = (validation.pairs(differ, validation.SINCE) for differ in ("placement", "chip"))
    near = [pair.within(calibration.FAR, calibration.TWO_POOLS) for pair in placements]
    assert "Of its ten pairs in one pool and in two, nine lie" in PAGE.text and (sum(near), len(near)) == (9, 10)
    near = [pair.within(calibration.FAR) for pair in chips]
    assert "of its 12 pairs on H100 and GB200 eight" in PAGE.text and (sum(near), len(near)) == (8, 12)


def test_one_pool_and_two():
    for overlaps, mean, factor in ((("sync", "carry-over"), "1.8", "1.3"), (("one-off", "async"), "1.2", "1.6")):
        found = validation.spread(c for c in validation.steps() if c.row.overlap in overlaps)
        PAGE.says(mean, found.mean)
        PAGE.says(factor, found.factor)


def test_the_path():
    seconds = {name: planner.step_seconds(s, planner.roles(s)) for name, s in STAGES.items()}
    assert seconds["engines of 4"] == pytest.approx(seconds["as it is"])
    PAGE.says("301", seconds["activations kept"])
    PAGE.says("245", seconds["both"])
    PAGE.says("61", seconds["as it is"] - seconds["both"])
    PAGE.says("231", seconds["both, log-probs reused"])
    PAGE.says("211", seconds["and split 72 + 56"])
    free = planner.arranged(EXAMPLE)
    assert free.scenario == STAGES["both"]
    first, _, third = planner.best_changes(EXAMPLE)
    assert first.scenario == STAGES["both"] and third.scenario == STAGES["and split 72 + 56"]


LARGE = dict(model="deepseek-v3", accelerator="h200", gpus=256, weights="fp8")


def of(knobs):
    """(step, tokens a second and GPU, share of a pass that is exchange, scenario) of a setting of the instrument."""
    (r,) = widget.run(widget.Knobs(**knobs))
    s = r.scenario
    n = planner.live(s)
    tokens = n, n * s.law.context(s.prompt), 0, 0
    one = layouts.engine_pass(s.model, s.accelerator, layouts.layout_of(s.engine), *tokens, s.weight_bytes, s.kv_bytes)
    return r.found.step_range[0], n / one.seconds / s.engine.size, one.exchange_share, s


def test_models_larger_than_a_server():
    step_seconds, tokens, _, s = of(LARGE)
    PAGE.says("707", step_seconds)
    PAGE.says("575", tokens)
    PAGE.says("198", planner.live(s))
    PAGE.says("84", memory.weight_bytes_per_gpu(s.model, s.engine) / 1e9)
    one = planner.trained(s)
    PAGE.says("69 %", 100 * one.state / one.seconds)
    _, tokens, exchange, s = of(LARGE | dict(tensor_parallel="1", data_parallel=16))
    PAGE.says("2,031", tokens)
    PAGE.says("34 %", 100 * exchange)
    PAGE.says("58", memory.weight_bytes_per_gpu(s.model, s.engine) / 1e9)
    PAGE.says("1,161", of(LARGE | dict(tensor_parallel="8", cut_copies=True))[1])
    dealt = dict(tensor_parallel="1", data_parallel=16, expert_parallel="16", training_parallel=4)
    step_seconds, *_, s = of(LARGE | dealt)
    PAGE.says("264", step_seconds)
    PAGE.says("191", planner.arranged(s).seconds)


def test_a_trainer_in_groups_and_stages():
    def update(knobs):
        s = of(knobs)[3]
        return planner.trained(s), s

    PAGE.says("245", update({})[0].seconds)
    groups, s = update(dict(zero="1", training_tensor="8"))
    PAGE.says("319", groups.seconds)
    PAGE.says("23 %", 100 * groups.exchange / groups.seconds)
    assert memory.FSDP.whole == 16 and s.parts[1].ledger.whole == 18
    both = dict(zero="1", training_tensor="4", training_stages="2", recompute="selective")
    PAGE.says("204", update(both)[0].seconds)
    whole = dict(zero="1", training_tensor="4", recompute="selective")  # one stage of them has no room
    assert planner.misfits(widget.scenario(widget.Knobs(**whole))[0])
    staged = dict(tensor_parallel="1", data_parallel=16, expert_parallel="16", zero="1", training_stages="8")
    step_seconds, *_, s = of(LARGE | staged)
    PAGE.says("267", step_seconds)
    one = planner.trained(s)
    PAGE.says("3 %", 100 * one.bubble / one.seconds)
    assert one.state < 0.01 * one.seconds


def test_models_that_no_server_holds():
    step_seconds, *_, s = of(dict(model="llama3.1-405b", gpus=1024))
    PAGE.says("447", step_seconds)
    assert s.engine.size == 32 and "engines of 32 GPUs" in PAGE.text
    kimi = dict(model="kimi-k2", accelerator="h200", gpus=512, weights="fp8")
    step_seconds, *_, s = of(kimi)
    PAGE.says("543", step_seconds)
    assert s.engine.size == 256 and "engines of 256" in PAGE.text
    PAGE.says("161", of(kimi | dict(expert_parallel="8"))[0])


def test_attention_of_long_sequences():
    same = dict.fromkeys(("p50", "p90", "p99", "longest"), 57344)
    s = of(dict(model="qwen3-30b-a3b", gpus=32, prompts=128, samples=8, prompt=8192) | same)[3]
    one = planner.trained(s)
    assert s.longest == 65536
    PAGE.says("79 %", 100 * one.attention / one.seconds)


def test_turns_siblings_and_batches_in_flight():
    def job(**knobs):
        s, _ = widget.scenario(widget.Knobs(**knobs))
        return s, planner.roles(s), planner.seconds(s)

    one, bare, _ = job()
    PAGE.says("4,161", one.session.trained)
    for kept, seconds in (("hold", "1,684"), ("drop", "1,760"), ("offload", "1,066")):
        s, found, step_seconds = job(turns=10, kept=kept)
        PAGE.says(seconds, step_seconds)
        assert (step_seconds > found.log_probs + found.train + 1) == (kept != "offload")
    s, *_ = job(turns=10)
    PAGE.says("13,161", s.session.trained)
    assert (s.returned, s.tool_seconds) == (1000, 20)
    held = planner.at_once(s, planner.live(s))
    PAGE.says("39", held.alive)
    PAGE.says("12", held.decoding)
    dropped = planner.at_once(replace(s, kept="drop"), 1e9)
    PAGE.says("39", dropped.decoding)
    PAGE.says("59 %", 100 * dropped.reading)
    PAGE.says("386", job(overlap="one-off")[2])
    PAGE.says("342", job(overlap="one-off", batches=2.0)[2])
    PAGE.says("114", planner.live(job(shared_cache=True)[0]))
    PAGE.says("97", planner.live(one))
    PAGE.says("28", bare.train - job(grouped=True)[1].train)


def test_twice_the_gpus_halve_a_stream_and_not_a_step_that_waits():
    def ratio(overlap):
        one, two = (planner.plan(replace(EXAMPLE, overlap=overlap, gpus=gpus)).step_range[0] for gpus in (128, 256))
        return one / two

    assert ratio("async") == pytest.approx(2, abs=0.01) and ratio("sync") < 1.8


def test_roles_miss_by_more_than_steps():
    PAGE.says("2.2", compared("verl, 7B on 32 H20", "generate").ratio)
    others = [compared(f"verl, 7B on {gpus} H20", "generate").ratio for gpus in (64, 128)]
    PAGE.says("1.1", min(others))
    PAGE.says("1.4", max(others))
    PAGE.says("4.0", compared("verl, 7B on 128 H20", "log_probs").ratio)
    PAGE.says("6.4", compared("Miles, 30B-A3B on 8 MI300X", "update").ratio)
    PAGE.says("8.5", compared("Miles, 30B-A3B on 8 MI300X", "log_probs").ratio)


def test_what_a_gathered_layer_of_deepseek_v3_takes():
    # 256 experts of 3 x 7,168 x 2,048 weights and one shared, in bf16
    PAGE.says("23", 257 * 3 * 7168 * 2048 * 2 / 1e9)


def test_the_terminal_prints_what_the_page_shows(capsys):
    (asked, shown) = re.search(r"^\$ python -m sim\.cluster\.plan (.+?)\n(.*?)^```", PAGE.text, re.M | re.S).groups()
    plan.main([word.strip('"') for word in re.findall(r'"[^"]*"|\S+', asked)])
    assert capsys.readouterr().out == shown
    assert all(overlap in step.LANES for overlap in step.OVERLAPS)


def test_what_is_timed_of_a_layer_is_what_the_command_times():
    sizes = calibrate.arguments("rlpt calibrate").parse_args([])
    told = PAGE.text[PAGE.text.index("python -m sim.cluster.calibrate") :]
    assert f"{sizes.sequences} sequences of {sizes.context:,} tokens decode" in told
    assert f"for {sizes.batch:,} tokens and for a micro-batch of {sizes.tokens:,}" in told
    assert f"attention over {sizes.longest:,} tokens" in told


def test_what_two_chips_reached_stands_beside_what_is_assumed():
    assert all(f"```rows\n    sim.cluster.calibrated::{name}_table\n" in PAGE.text for name in ("layers", "passes"))
    decode, big, small = (
        [p for p in calibrated.passes() if (p.what, p.model.key) in of and not p.fused_norms]
        for of in (
            {("decode", key) for key in ("qwen2.5-1.5b", "llama3.1-8b", "qwen2.5-32b")},
            {("update", "llama3.1-8b")},
            {("update", "qwen2.5-1.5b")},
        )
    )
    assert (len(decode), len(big), len(small)) == (9, 5, 4)
    assert "Nine decode passes" in PAGE.text and "Five updates of an 8B model" in PAGE.text
    for low, high, ratios in (
        ("0.91", "1.14", [p.ratio for p in decode]),
        ("1.04", "1.14", [p.ratio for p in big]),
        ("1.40", "1.53", [p.ratio for p in small]),
        ("0.85", "1.23", [p.seconds / p.calibrated for p in decode]),
        ("1.02", "1.33", [p.ratio for p in calibrated.passes() if p.fused_norms]),
    ):
        PAGE.says(low, min(ratios))
        PAGE.says(high, max(ratios))
