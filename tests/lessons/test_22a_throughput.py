import json
import re
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from sim.cluster import collectives, measured, step, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.step import Roles
from tests.lessons.prose import Lesson
from widgets.frame import host, machine_knobs
from widgets.frame.values import knobs_from
from widgets.throughput import figures, widget

LESSON = Lesson("22a")
QWEN, LLAMA = MODELS["qwen2.5-7b"], MODELS["llama3.1-8b"]
H100, H20 = ACCELERATORS["h100"], ACCELERATORS["h20"]
ROWS = list(measured.VERL.values())


def link(words):
    (query,) = re.findall(rf"\[{re.escape(words)}\]\(#throughput\)\{{ data-knobs=\"([^\"]+)\" \}}", LESSON.text)
    return widget.Knobs(
        **{name: getattr(knobs_from(widget.Knobs, {name: value}), name) for name, value in parse_qsl(query)}
    )


def frame(knobs):
    (result,) = widget.run(knobs)
    return result, step.step_time(result.roles, widget.WAYS[knobs.overlap])


def test_the_first_example_is_worth_43_50_25_per_cent_and_nothing():
    engine = lambda r, t, overlap: step.speedup(Roles(r, 0, 0, t, 0), overlap, "rollout", 2)
    LESSON.says("1.43", engine(60, 40, "sync"))
    LESSON.says("1.50", engine(60, 40, "async"))
    LESSON.says("1.25", engine(40, 60, "sync"))
    assert engine(40, 60, "async") == 1
    assert step.step_time(step.whatif(Roles(60, 0, 0, 40, 0), "rollout", 4), "async") == 40


def test_the_opening_stands_still_for_100_of_160_seconds():
    roles = frame(widget.OPENING.other)[0].roles
    LESSON.says("160", step.step_time(roles, "async"))
    LESSON.says("100", step.step_time(roles, "async") - max(roles.rollout, roles.log_probs + roles.train))


@pytest.mark.parametrize(
    "way, said", [("in turn", "190"), ("carry-over", "143"), ("one step ahead", "106"), ("stream", "84")]
)
def test_the_four_ways_to_overlap_five_roles(way, said):
    LESSON.says(said, figures.five_step(way, 1))
    if way == "in turn":
        LESSON.says("152", figures.five_step(way, 2))
        assert figures.five().tail > figures.five().rollout / 2
    if way == "stream":
        assert figures.five_step(way, 2) == figures.five_step(way, 1)


def test_the_published_step_has_a_rest():
    row = measured.VERL["7B, 64 GPUs"]
    for text, value in (
        ("150.72", row.generate),
        ("70.26", row.old_log_prob),
        ("133.41", row.update),
        ("354.39", row.named()),
        ("365.28", row.step),
    ):
        LESSON.says(text, value)
    assert [round(100 * (1 - r.named() / r.step)) for r in ROWS[1:2]] == [3]
    LESSON.says("313.81", ROWS[0].async_update)
    LESSON.says("269.80", ROWS[0].update)
    LESSON.says("0.12", measured.SYNC_7B)
    LESSON.says("8.21", row.step - row.named() - 8192 * 0.02 / 64 - 0.12)
    LESSON.says("4.38", measured.SYNC_30B)


def test_one_sequence_alone_needs_a_minute_for_8192_tokens():
    read = 2 * 7_504_924_672  # all weights of Llama-3.1-8B but the lookup, transformers' count
    LESSON.says("15.01", read / 1e9)
    LESSON.says("5.97", 1e3 * read / (0.75 * 3.35e12))
    LESSON.says("7.47", 1e3 * throughput.iteration_seconds(LLAMA, H100, 1, 0))
    LESSON.says("61", 8192 * throughput.iteration_seconds(LLAMA, H100, 1, 0))


@pytest.mark.parametrize("gpus, said", [(2, "40"), (4, "29"), (8, "23")])
def test_only_splitting_a_replica_shortens_that_minute(gpus, said):
    assert gpus in LLAMA.tp_sizes()
    LESSON.says(said, 8192 * throughput.iteration_seconds(LLAMA, H100, 1, 0, tensor_parallel=gpus))


@pytest.mark.parametrize("one_shot", [6e-6, 15e-6])
def test_eight_gpus_beat_four_whatever_an_exchange_costs(monkeypatch, one_shot):
    # reported latencies of an all-reduce in one shot lie between 6 and 15 µs
    monkeypatch.setattr(collectives, "ALPHA_ONE_SHOT", one_shot)
    four, eight = (throughput.iteration_seconds(LLAMA, H100, 1, 0, tensor_parallel=n) for n in (4, 8))
    assert eight < four


@pytest.mark.parametrize("text, share", [("2.50", 0.6), ("3.33", 0.7), ("5", 0.8)])
def test_amdahls_ceilings(text, share):
    LESSON.says(text, step.amdahl(share, float("inf")))


def test_what_a_reader_may_believe_is_amdahl():
    LESSON.says("1.7", step.amdahl(0.8, 2))


def test_generation_does_not_scale():
    for text, row in zip(("357", "151", "178"), ROWS):
        LESSON.says(text, row.generate)


def test_the_links_give_the_gains_that_the_text_states():
    gain = lambda knobs: step.speedup(frame(knobs)[0].before, widget.WAYS[knobs.overlap], "rollout", 2)
    LESSON.says("1.26", gain(widget.Knobs()))
    assert gain(link("In a stream")) == 1
    LESSON.says("1.13", gain(link("Train on the log-probs that the engine recorded")))
    LESSON.says("203.67", 70.26 + 133.41)
    stream = frame(link("In a stream"))[0].before
    LESSON.says("204", stream.log_probs + stream.train)
    LESSON.says("151", stream.rollout)


def test_the_links_that_break_are_the_three_that_are_said_to():
    broken = {
        "eight workers and tests of half a minute": "all GPUs wait for tests",
        "250 s": "all GPUs wait for weights",
        "some 5,200 tokens": "the inputs contradict",
    }
    for words in re.findall(r"\[([^]]+)\]\(#throughput\)", LESSON.text):
        knobs = link(words)
        found = widget.broken(knobs, next(widget.run(knobs)))
        assert (found and found.cause) == broken.get(words), words


def test_one_checker_is_the_step_and_two_hide():
    knobs = link("One worker for all 8,192 tests")
    result, seconds = frame(knobs)
    LESSON.says("164", seconds)
    assert widget.worse(knobs, result)
    assert frame(replace(knobs, workers=2))[1] == frame(replace(knobs, workers=64))[1]
    LESSON.says("82", step.verify_seconds(8192, 2, 0.02, 0.02))


def test_the_mean_at_which_the_published_update_would_be_faster_than_the_chip():
    knobs = link("some 5,200 tokens")
    assert round(machine_knobs.law(knobs).mean, -2) == 5200
    # 6 FLOP for each weight and token, 64 H20 of 148 TFLOP/s
    assert 6 * 7_615_616_512 * 8192 * (512 + machine_knobs.law(knobs).mean) / (64 * 148e12 * 133.41) > 1


def test_splitting_the_gpus_pays_on_one_chip_and_not_on_the_other():
    h100, h20 = link("from the shapes of model and chip"), link("64 H20")
    assert (h100.accelerator, h20.accelerator) == ("h100", "h20")
    for text, overlap in (("88", "in turn"), ("70", "one step ahead"), ("44", "stream"), ("36", "carry-over")):
        LESSON.says(text, frame(replace(h100, overlap=overlap))[1])
    together = frame(replace(h100, overlap="in turn"))[0].roles
    LESSON.says("63", together.rollout)
    LESSON.says("52", together.tail)
    LESSON.says("720", h100.p50)
    LESSON.says("987", machine_knobs.law(h100).mean)
    LESSON.says("296", frame(h20)[1])
    LESSON.says("215", frame(replace(h20, overlap="in turn"))[1])
    LESSON.says("186", frame(replace(h20, share=0.2))[1])
    assert round(100 * H20.flops() / H100.flops()) == 15 and H20.hbm_tb_per_second > H100.hbm_tb_per_second


def test_the_table_of_predictions():
    errors = []
    for row, predicted, real in zip(ROWS, ("2.21", "2.42", "2.00", "1.43"), ("2.68", "1.93", "2.37", "1.76")):
        roles = Roles(row.generate, 0, row.reference, row.update, 0)
        assert f"| {row.name} | {row.step:.2f} | {row.generate:.2f} | {predicted} | {real} |" in LESSON.text
        LESSON.says(predicted, row.step / step.step_time(roles, "async"))
        LESSON.says(real, row.step / row.async_step)
        errors.append(row.step / step.step_time(roles, "async") / (row.step / row.async_step) - 1)
    LESSON.says("−19", 100 * min(errors))
    LESSON.says("26", 100 * max(errors))
    LESSON.says("156.98", ROWS[1].async_update)
    LESSON.says("28.46", ROWS[1].async_wait)


def test_by_the_averages_the_one_off_trainer_waits_less_than_it_did():
    lane = measured.ONE_OFF["old_log_prob"] + measured.ONE_OFF["update"]
    LESSON.says("458", measured.ONE_OFF["generate"])
    LESSON.says("445", lane)
    LESSON.says("13", measured.ONE_OFF["generate"] - lane)
    LESSON.says("45", measured.ONE_OFF["waited"])


def test_the_ridge_decides_what_the_same_batch_waits_for():
    decode = throughput.role_points(QWEN, H100, 64, 2048, throughput.MICRO_BATCH)[0]
    LESSON.says("44.2", decode.flop_per_byte)
    LESSON.says("236", throughput.effective_ridge(H100))
    LESSON.says("30", throughput.effective_ridge(H20))
    assert throughput.effective_ridge(H20) < decode.flop_per_byte < throughput.effective_ridge(H100)


def test_the_shares_of_the_7b_runs():
    share = lambda seconds: [round(100 * seconds(row) / row.step) for row in ROWS[:3]]
    generation, update, log_probs = (
        share(lambda r: r.generate),
        share(lambda r: r.update),
        share(lambda r: r.old_log_prob),
    )
    assert (min(generation), max(generation), min(update), max(update), min(log_probs), max(log_probs)) == (
        41,
        50,
        32,
        37,
        14,
        19,
    )
    for text in ("generation is 41 to 50 %", "update 32 to 37 %", "old log-probs 14 to 19 %"):
        assert text in LESSON.text
    LESSON.says("70", 100 * ROWS[3].generate / ROWS[3].step)


def test_the_answers_of_the_questions():
    halved = Roles(35, 0, 0, 30, 0)
    LESSON.says("35", step.step_time(halved, "one-off"))
    LESSON.says("17.5", halved.rollout / 2)
    LESSON.says("1.17", step.speedup(halved, "one-off", "rollout", 2))
    setup = link("Set it up")
    assert setup == replace(widget.Knobs(), overlap="stream", reuse=True, k=1.0)
    LESSON.says("1.13", step.gain_ends_at(frame(setup)[0].roles, "async", "rollout"))
    assert step.gain_ends_at(frame(replace(setup, reuse=False))[0].roles, "async", "rollout") == 1


def test_an_overlap_can_gain_time_and_lose_samples():
    assert step.useful_rate(100, 10 / 1.3, 1, 0.75) < step.useful_rate(100, 10, 1, 1)  # 1.3 · 0.75 = 0.975


def test_every_frame_of_a_link_can_be_drawn():
    for query in re.findall(r"\(#throughput\)\{ data-knobs=\"([^\"]+)\"", LESSON.text):
        assert list(host.stream("throughput", json.dumps(dict(parse_qsl(query)))))
