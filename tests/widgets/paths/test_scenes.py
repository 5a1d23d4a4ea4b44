"""The pictures of lesson 24 show what was computed, and claim no more."""

from itertools import pairwise

import pytest

from sim.cluster import paths
from sim.cluster.paths import ASYNC, COLOCATED, CONTROLLER, FULL, FUNNEL, TRAIN, TRAINER, WEIGHTS
from tests.widgets.catalogue import marks
from tools.pages import results
from widgets.frame.drawing import steps
from widgets.paths import figures, widget
from widgets.paths.figures import SETTINGS
from widgets.paths.widget import PRESETS, Knobs

ONE = 2 * 32_763_876_352 / 50e9  # seconds of one card for the weights of Qwen2.5-32B, as counted in its repository


def rings(panel):
    return [mark["words"] for mark in marks(panel, "ring") if mark["seen"] and mark["words"]]


def spans(panel, row, role):
    in_row = [mark for mark in marks(panel, "span") if mark["row"] == row and mark["role"] == role]
    return [(mark["start"], mark["end"]) for mark in in_row if mark["end"] > mark["start"]]


@pytest.mark.parametrize("second", figures.TICKS[::5])
def test_in_one_step_the_work_and_the_waiting_of_a_pool_fill_it(second):
    for name in SETTINGS:
        drawn, (_, report) = figures.opening(name, second)[0], figures.loaded(name)
        for row, activity in enumerate(steps.FEW):
            if activity in (paths.GENERATE, TRAIN):
                (work,) = spans(drawn, row, "work")
                waits = [wait for wait in spans(drawn, row, "waits") if wait[1] <= report.seconds * (1 + 1e-9)]
                joined = sorted([work, *waits])
                assert joined[0][0] == 0 and joined[-1][1] == pytest.approx(report.seconds)
                assert all(left[1] == pytest.approx(right[0]) for left, right in pairwise(joined))


def test_the_tokens_take_what_the_model_says_and_only_then_a_ring_claims_it():
    (_, plain), (_, other) = map(figures.loaded, SETTINGS)
    assert other.seconds - plain.seconds == pytest.approx(
        2041.0859 - 6.3784, abs=1e-2
    )  # 20.4 TB at 10 and at 3,200 GB/s
    ((start, end),) = spans(figures.opening("through one process", 4000)[0], 1, "work")
    assert end - start == pytest.approx(20.410859e12 / 10e9, abs=1e-3)
    for second in figures.TICKS:
        assert not rings(figures.opening("GPU to GPU", second)[0])
        assert rings(figures.opening("through one process", second)[0]) == (
            ["128 GPUs wait 34 minutes"] if second >= end else []
        )


def test_the_sentence_says_what_is_done_and_what_goes_on():
    assert (
        figures.after("through one process", 2000)
        == "After 2,000 s no step is finished, and all GPUs wait for tokens on their way."
    )
    assert figures.after("GPU to GPU", 2000).startswith("After 2,000 s one step is finished, and completions are")
    assert figures.after("GPU to GPU", 4000).startswith("After 4,000 s two steps are finished")
    assert figures.finished("through one process", 4000) == 1


def test_all_positions_have_one_clock():
    for name in ("opening", "sync"):
        ends = {panels[0]["columns"][0][0]["until"] for panels, _, _ in results.positions("paths", name)}
        assert len(ends) == 1


@pytest.mark.parametrize("schedule, seconds", list(zip(paths.SCHEDULES, (16 * ONE, ONE, ONE / 4))))
def test_sixteen_engines_get_their_weights_on_one_clock(schedule, seconds):
    drawn = figures.sync(schedule, 22)[0]
    arriving = [spans(drawn, engine, "work")[0] for engine in range(16)]
    assert max(end for _, end in arriving) == pytest.approx(seconds)
    each = ONE if schedule != paths.DIRECT else seconds
    assert all(end - start == pytest.approx(each) for start, end in arriving)
    waits = [spans(drawn, engine, "waits") for engine in range(16)]
    assert all(wait == ([(0, start)] if start else []) for wait, (start, _) in zip(waits, arriving))
    for second in figures.SECONDS:
        ready = sum(end <= second for _, end in arriving)
        sentence = figures.waited(schedule, second)
        assert ("all sixteen have" in sentence) == (ready == 16) and ("none has" in sentence) == (ready == 0)


def test_a_field_is_as_long_as_its_bytes_and_what_leaves_the_row_says_how_much():
    for payload in figures.SHOWN:
        sizes = paths.token_fields(figures.SHOWN[payload], payload)
        bars = [mark["wide"] / figures.BYTE for mark in marks(figures.token(payload)[0], "bar")]
        assert bars[: len(sizes)] == [min(size, figures.LONG) for size in sizes.values()]
        assert bars[len(sizes) :] == [0] * (6 - len(sizes))
    assert rings(figures.token(FULL)[0]) == ["12,672 times as long as this"]  # 2 × 152,064 bytes over 24
    assert not rings(figures.token(paths.PLAIN)[0])


@pytest.mark.parametrize("way", paths.WAYS)
@pytest.mark.parametrize("knobs", [dict(), dict(payload=FULL, route=CONTROLLER), dict(schedule=FUNNEL)])
def test_what_is_laid_out_ends_with_the_step(way, knobs):
    r = next(widget.run(Knobs(way=way, **knobs)))
    laid = paths.laid(r.setting, r.report)
    assert max(start + took for start, took in laid.values()) == pytest.approx(r.report.seconds)
    if way != ASYNC:
        in_turn = [took for activity, (_, took) in laid.items() if activity != TRAINER]
        assert sum(in_turn) == pytest.approx(r.report.seconds)


def test_the_instrument_leads_with_its_step_and_rings_what_it_waits_for():
    for name, k in PRESETS.items():
        r = next(widget.run(k))
        lead = widget.figure(k, r)[0]
        break_ = widget.broken(k, r)
        assert rings(lead) == ([widget.seen_at(k, r, break_.cause).words] if break_ else []), name
        for mark in marks(lead, "ring"):
            if mark["seen"]:
                assert mark["end"] - mark["start"] == pytest.approx(r.report.paths[r.report.largest].exposed)


def test_a_pool_that_takes_turns_does_not_wait_while_it_trains():
    k = Knobs(way=COLOCATED)
    r = next(widget.run(k))
    lead, laid = widget.figure(k, r)[0], paths.laid(r.setting, r.report)
    waits = sum(end - start for start, end in spans(lead, 0, "waits") if end <= r.report.seconds * (1 + 1e-9))
    assert waits == pytest.approx(r.report.seconds - laid[paths.GENERATE][1] - laid[TRAIN][1], abs=1e-6)
    assert laid[WEIGHTS][1] == r.report.paths[WEIGHTS].seconds


def test_the_guess_is_of_the_openings_sound_setting_and_says_what_it_takes():
    k = widget.GUESS.knobs
    assert k == widget.OPENING.plain
    r = next(widget.run(k))
    assert r.report.share(paths.EXPERIENCE) < 0.01 and widget.GUESS.right == 0
    assert f"{r.report.paths[paths.EXPERIENCE].bytes / 1e12:.1f} TB" in widget.GUESS.question
    assert widget.GUESS.told(k, r) == (
        "It takes 6.4 of 1,677 s, because 64 cards together carry 3,200 GB/s."  # 64 of 50 GB/s
    )
