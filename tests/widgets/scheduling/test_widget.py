from dataclasses import replace

import numpy as np
import pytest

from sim.cluster.throughput import iteration_seconds
from tests.widgets import catalogue, expected
from tests.widgets.catalogue import fixed
from widgets.scheduling import widget
from widgets.scheduling.widget import NO_CAP, PRESETS, Knobs


def last(**knobs):
    k = Knobs(**knobs)
    return k, catalogue.last(widget, **knobs)


def speed(**knobs):
    return last(**knobs)[1].trace.tokens_per_second


def broken(**knobs):
    return widget.broken(*last(**knobs))


def test_the_first_five_knobs_are_the_five_tricks():
    assert (
        list(Knobs.__dataclass_fields__)[:5] == ["refill", "blocks", "prefix", "chunk", "drafts"] == list(widget.TRICKS)
    )


# tokens a second of an independent program for the same 256 completions
@pytest.mark.when_changed()
@pytest.mark.parametrize(
    "knobs, tokens_per_second",
    [
        (dict(refill=False, blocks=False, prefix=False, chunk=0), 1307),
        (dict(blocks=False, prefix=False, chunk=0), 2882),
        (dict(prefix=False, chunk=0), 3966),
        (dict(chunk=0), 4150),
        (dict(), 4150),
        (dict(drafts=3), 8100),
        (dict(drafts=8, acceptance=0.4), 3500),
        (dict(cap=100_000), 3889),
        (dict(cap=40_000), 2754),
        (dict(cap=20_000), 1655),
    ],
)
def test_the_page_runs_what_an_independent_program_ran(knobs, tokens_per_second):
    assert speed(**knobs) == pytest.approx(tokens_per_second, rel=0.02)


def test_the_engine_has_the_memory_that_its_share_leaves():
    # half of 80 GB, less two bytes for each of 7,615,616,512 weights, at 57,344 bytes a token
    assert widget.room(Knobs()) == (40_000_000_000 - 2 * 7_615_616_512) // 57_344
    assert widget.room(Knobs(cap=40_000)) == 40_000
    assert widget.room(Knobs(hbm_share=0.9)) > widget.room(Knobs())


def test_a_turned_trick_is_the_run_of_that_setting():
    k, r = last()
    others = dict(widget.turned(k))
    assert set(r.speeds) == set(others) == {"not refilled", "room reserved", "prompts reread", "whole prompts"}
    assert r.speeds["room reserved"] == speed(blocks=False) and r.speeds["prompts reread"] == speed(prefix=False)
    assert last(drafts=3)[1].speeds["no guessing"] == speed()


@pytest.mark.when_changed()
def test_the_ample_pool_is_asked_for_only_where_someone_had_no_room():
    assert widget.AMPLE not in last()[1].speeds
    r = last(cap=40_000)[1]
    assert r.speeds[widget.AMPLE] == speed()  # 431,933 tokens are enough for all
    assert 40_000 < r.ample < 150_000
    assert speed(cap=150_000) == speed()


@pytest.mark.when_changed()
def test_speculative_decoding_breaks_as_soon_as_it_is_slower_than_none():
    assert speed(drafts=8, acceptance=0.4) < speed() and broken(drafts=8, acceptance=0.4)
    assert speed(drafts=2, acceptance=0.4) > speed() and not broken(drafts=2, acceptance=0.4)
    assert broken(drafts=8, acceptance=0.4).fix == dict(drafts=2)
    # 1.1 tokens for 1.2 readings: not even one pays
    assert broken(drafts=8, acceptance=0.1, cost=0.2).fix == dict(drafts=0)


@pytest.mark.when_changed()
def test_losses_between_a_twentieth_and_a_quarter_are_worse_and_not_broken():
    for knobs in (dict(cap=100_000), dict(chunk=128)):
        k, r = last(**knobs)
        assert widget.broken(k, r) is None and "of the speed is lost" in widget.worse(k, r)
    assert widget.worse(*last()) is None and widget.worse(*last(prefix=False)) is None


@pytest.mark.when_changed()
def test_with_a_place_for_each_or_equal_lengths_refilling_gains_nothing():
    assert speed(refill=False) == speed()
    assert broken(refill=False, batch=48).cause == "slots that wait for the longest"
    equal = dict(p50=800, p90=800, p99=800, batch=64)  # 256 are four times 64
    assert speed(refill=False, **equal) == pytest.approx(speed(**equal), rel=0.01)


@pytest.mark.when_changed()
def test_long_prompts_are_what_prefix_caching_is_for():
    agent = dict(prompt=7000, p50=230, p90=641, p99=1479)
    assert broken(prefix=False, **agent).cause == "prompts that are read again"
    assert speed(**agent) > 2 * speed(prefix=False, **agent)


@pytest.mark.when_changed()
def test_a_smaller_pool_is_never_faster():
    speeds = [speed(cap=cap) for cap in (12_000, 20_000, 40_000, 60_000, 100_000, 150_000, NO_CAP)]
    assert speeds == sorted(speeds)


@pytest.mark.parametrize("preset", expected.BREAKS["scheduling"])
def test_the_suggested_fix_of_a_preset_is_not_even_worse(preset):
    k = PRESETS[preset]
    mended = fixed("scheduling", k, widget.broken(k, catalogue.results.last("scheduling", k)).fix)
    assert widget.worse(mended, catalogue.results.last("scheduling", mended)) is None


@pytest.mark.when_changed()
@pytest.mark.parametrize(
    "knobs",
    [
        dict(prefix=False, cost=0.07, prompt=4096, p99=1024, accelerator="h200"),  # it fits, and reads prompts again
        dict(chunk=128, drafts=7, cap=30000, prompt=512, longest=800, model="qwen2.5-7b", flops=0.83),
        dict(prefix=False, drafts=0, acceptance=0.9, cap=20000, prompts=8, samples=8, p90=3000, p99=641, longest=1024),
    ],
)
def test_the_suggested_fix_mends_all_breaks_at_once(knobs):
    assert (break_ := broken(**knobs)) and broken(**{**knobs, **break_.fix}) is None


@pytest.mark.slow
def test_a_setting_that_cannot_run_shows_no_seconds():
    for knobs in (
        dict(model="llama3.1-70b"),
        dict(tensor_parallel=8),  # 28 heads
        dict(cap=12_000, longest=24_000),
        dict(p50=2000, p90=800),
    ):
        k = Knobs(**knobs)
        *_, r = widget.run(k)
        assert "does not fit" in widget.broken(k, r).why and r.trace is None
        assert [row.value for row in widget.readouts(k, r)] == ["–"] * 5
        assert widget.export(k, r) is None


def test_the_axis_ends_after_the_same_seconds_whatever_the_scheduler_does():
    end = widget.axis_end(Knobs())
    for k in PRESETS.values():
        assert widget.axis_end(k) == end > catalogue.results.last("scheduling", k).trace.makespan


def test_a_run_that_passes_the_axis_says_where_it_ends():
    k, r = last(batch=1)
    words = [a["text"] for a in widget.figure(k, r)[0]["layout"]["annotations"]]
    assert f"runs until {r.trace.makespan:,.0f} s →" in words


def test_the_places_drawn_are_those_in_use():
    trace = last()[1].trace
    at, live = widget.staircase(trace)
    area = float(np.sum(live[:-1] * np.diff(at)))  # each value holds until the next
    assert area == pytest.approx(widget.scheduling.live_on_average(trace) * trace.makespan, rel=1e-9)
    assert (at[0], at[-1], live[-1]) == (0, trace.makespan, 0)


def test_the_gain_of_speculative_decoding_is_the_yield_of_a_pass_over_its_cost():
    k = Knobs()
    # a pass of four tokens reads the weights once, as one token does; three guesses read 5 % of them, 0.2 ms each
    one = iteration_seconds(widget.MODELS["qwen2.5-7b"], widget.ACCELERATORS["h100"], 1, 1024)
    guess = 0.05 * 2 * 7_070_619_136 / (0.75 * 3.35e12) + 0.2e-3
    by_hand = (1 + 0.7 + 0.49 + 0.343) * one / (one + 3 * guess)
    assert widget.worth(k, 3, np.array([1.0]), 1024)[0] == pytest.approx(by_hand, rel=1e-6)


@pytest.mark.when_changed()
def test_the_model_chip_and_lengths_that_the_reader_brings_are_simulated():
    k = Knobs(log="800 2230 5145 8192", chip="80 GB, 3.35 TB/s, 989.4 TFLOP/s, 450 GB/s")
    *_, r = widget.run(k)
    assert r.trace.makespan == pytest.approx(last()[1].trace.makespan, rel=1e-9)
    faster = replace(k, chip="80 GB, 6.7 TB/s, 989.4 TFLOP/s, 450 GB/s")
    *_, r = widget.run(faster)
    assert r.trace.makespan < 0.7 * last()[1].trace.makespan


def test_the_setting_is_exported_as_options():
    k, r = last(drafts=3)
    assert widget.export(k, r) == dict(
        tensor_parallel=1,
        memory_fraction=0.5,
        context=8992,
        concurrency=256,
        prefix_cache=True,
        prompts=32,
        samples=8,
        prompt=800,
        completion=8192,
        chunk=2048,
        drafts=3,
    )
    assert "chunk" not in widget.export(*last(chunk=0))


def test_the_guess_is_answered_by_the_run():
    k = widget.GUESS.knobs
    r = catalogue.results.last("scheduling", k)
    gain = r.speeds["prompts shared"] / r.trace.tokens_per_second
    assert min((2, 1.3, 1.05), key=lambda answer: abs(answer - gain)) == 1.05
    assert "1.05 times" in widget.GUESS.told(k, r)
    assert widget.broken(k, r) is None and widget.worse(k, r) is None


def test_the_page_hears_of_the_runs_beside_its_own_while_they_last(monkeypatch):
    # a page that hears nothing for ten seconds takes Python for stopped
    monkeypatch.setattr(widget, "SELDOM", 5)
    k = Knobs(prompts=4, samples=4)
    results = list(widget.outcome(k, widget.turned))
    done = [r.progress[0] for r in results]
    beside = [r for r in results if not r.settled and r.progress[0] > 16]
    assert done == sorted(done) and len(beside) > 2 * len(results[-1].speeds)
