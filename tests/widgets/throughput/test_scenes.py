"""The pictures of lesson 22a show what was computed, and their rings claim no more."""

import itertools

import pytest

from sim.cluster import step
from widgets.frame.drawing import lanes
from widgets.throughput import figures
from widgets.throughput import widget as throughput


def marks(name, *at, kind=("span", "path", "ring")):
    (view,) = figures.FIGURES[name].panels(*at)[0]["columns"][0]
    return [mark for mark in view["marks"] if mark["kind"] in kind]


def ring(name, *at):
    return [mark["words"] for mark in marks(name, *at, kind=("ring",)) if mark["seen"]]


def long(mark):
    return mark["end"] - mark["start"]


def test_the_opening_is_the_job_of_the_widget():
    for way, knobs in zip(figures.WAYS, (throughput.OPENING.plain, throughput.OPENING.other)):
        (result,) = throughput.run(knobs)
        assert result.roles == figures.agent(way)


def test_in_a_pool_working_and_waiting_join_without_gap_or_overlap():
    for way in figures.WAYS:
        for row in (0, 1):
            spans = [mark for mark in marks("opening", way, 400, kind=("span",)) if mark["row"] == row]
            pieces = sorted((span["start"], span["end"]) for span in spans if span["start"] < 400 and long(span) > 0)
            assert pieces[0][0] == 0
            for before, after in itertools.pairwise(pieces):
                assert before[1] == pytest.approx(after[0])


def test_both_pools_wait_for_100_of_160_seconds_only_in_the_setting_that_breaks():
    assert ring("opening", "8 workers", 400) == ["both wait, 100 of 160 s"]
    assert ring("opening", "8 workers", 140) == [] == ring("opening", "64 workers", 400)
    assert (figures.learned("8 workers", 400), figures.learned("64 workers", 400)) == (3, 7)


@pytest.mark.parametrize("way", figures.OVERLAPS)
@pytest.mark.parametrize("speed", figures.SPEEDS)
def test_the_underlined_pieces_of_a_step_add_up_to_it(way, speed):
    step_seconds = figures.five_step(way, speed)
    pieces = [mark for mark in marks("step", way, speed, kind=("path",)) if mark["start"] < step_seconds - 1e-9]
    assert sum(map(long, pieces)) == pytest.approx(step_seconds)


@pytest.mark.parametrize("way", figures.OVERLAPS)
def test_a_role_is_drawn_as_long_as_it_takes(way):
    roles = step.whatif(figures.five(), "rollout", 2)
    for row, role in enumerate(figures.steps.NAMES):
        whole = step.seconds(roles, role, figures.OVERLAPS[way])
        tail = roles.tail if role == "rollout" and way in ("synchronous", "one-step off-policy") else 0
        spans = [mark for mark in marks("step", way, 2, kind=("span",)) if mark["row"] == row]
        work = [long(span) for span in spans if span["role"] in ("work", "other") and long(span) > 0]
        assert work == pytest.approx([whole - tail] * len(work)) and work


def test_the_ring_stands_where_the_step_is_as_long_as_before_and_nowhere_else():
    for way in figures.OVERLAPS:
        for speed in figures.SPEEDS:
            same = speed > 1 and figures.five_step(way, speed) == pytest.approx(figures.five_step(way, 1))
            assert ring("step", way, speed) == (["a faster engine saves nothing"] if same else [])
            assert (way == "asynchronous" and speed > 1) == same


def test_side_by_side_the_engine_waits_from_one_and_a_half_times_as_fast_on():
    waits = [speed for speed in figures.SPEEDS if ring("lanes", "side by side", speed)]
    assert waits == [1.75, 2, 2.5, 3, 4] and not any(ring("lanes", "synchronous", speed) for speed in figures.SPEEDS)
    assert figures.small_step("side by side", 1.5) == figures.small_step("side by side", 4) == 40
    assert figures.small_step("synchronous", 2) == 70


def test_a_place_on_a_board_is_its_share_of_the_time():
    view = lanes.board("b", "a board", 200, (("one", ""),), lanes.span("a", 0, 50, 150, "work", "1"))
    assert lanes.across(view, 50) == "25%" and lanes.wide(view, 50, 150) == "50%"
    assert lanes.across(view, 400) == "120%" and lanes.wide(view, 400, 500) == "0%"
