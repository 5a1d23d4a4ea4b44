"""The numbers of the lesson on what to optimize, recomputed."""

from functools import cache
from math import inf

import pytest

from sim.cluster import step
from sim.synthesis import budget, diagnosis
from sim.synthesis.budget import ASYNC, FIX
from tests.lessons.prose import Lesson
from widgets.bottlenecks import widget
from widgets.bottlenecks.widget import PRESETS, Knobs

LESSON = Lesson("28")


@cache
def result(**knobs):
    (r,) = widget.run(Knobs(**knobs))
    return r


def test_a_role_removed():
    LESSON.says("1.20", step.amdahl(0.17, inf))
    LESSON.says("3.12", step.amdahl(0.68, inf) - 1e-9)


def test_what_asynchrony_leaves():
    before, after = budget.marginal(()), budget.marginal((FIX, ASYNC))
    assert after["partial rollouts"] == after["fast weight sync"] == 0
    assert after["drafted tokens"] / before["drafted tokens"] == pytest.approx(0.25, abs=0.02)  # loses three quarters
    assert 0 < after["packing"] - before["packing"] < 0.002  # "gains a little"
    LESSON.says("4.05", 100 * before["fast weight sync"])
    LESSON.says("4,608", len(budget.feasible_sets()))


def test_the_same_gpus():
    a, b = 0.43 + 0.03, 0.17 + 0.05
    LESSON.says("0.46", a)
    LESSON.says("0.22", b)
    LESSON.says("0.685", budget.two_pools(a, b)[0])
    LESSON.says("0.920", max(budget.sides(a, b, 32)))
    LESSON.says("0.68", a + b)


def test_what_a_test_tells():
    """ "leaves as few causes as the wall clock, for eighteen times as long" """
    wall, nsight = (diagnosis.expected_left(test) for test in ("wall clock", "Nsight"))
    assert abs(wall - nsight) < 0.25 and diagnosis.TESTS["Nsight"].minutes / diagnosis.TESTS["wall clock"].minutes == 18
    assert len(diagnosis.left("mismatch", ("ratios",))) == 1


def test_eight_weeks():
    LESSON.says("0.762", result(rule="by return").step)
    LESSON.says("0.675", result().step)
    LESSON.says("13", 100 * result(rule="by return").behind)
    LESSON.says("7", 100 * result(rule="by gain").behind)
    steps = [result(rule=rule).step for rule in ("by gain", "by return", "by speed-up")]
    assert steps == sorted(steps) and budget.best(8) == ("batch tuning", "drafted tokens", "packing")


def test_until_week_five_the_order_by_return_is_ahead():
    best, other = result(), result(rule="by return")
    at = lambda r, week: r.times[r.spent <= week][-1]
    assert all(at(other, week) <= at(best, week) for week in range(6)) and at(other, 6) > at(best, 6)


def test_the_plan_turns_over():
    ten, eleven, twelve = (set(budget.best(weeks)) for weeks in (10, 11, 12))
    assert "drafted tokens" in ten - eleven and "partial rollouts" in eleven - ten
    assert "partial rollouts" not in twelve and ASYNC in twelve


def test_what_is_hidden():
    own = dict(rule="your own", mismatch_fix=True, asynchrony=True, batch_tuning=True)
    LESSON.says("0.618", result(**own, fast_sync=True).step)
    assert result(**own).step == pytest.approx(result(**own, fast_sync=True).step)


def test_a_faster_step_that_learns_slower():
    r = result(**vars(PRESETS["fp8, batch and packing"]))
    LESSON.says("0.662", r.step)
    LESSON.says("1.32", r.quality)


def test_minutes():
    LESSON.says("95", result(order="Nsight first").expected)
    LESSON.says("9", result().expected)


def test_the_answers():
    agents = result(**vars(PRESETS["Agents, 8 weeks"]))
    LESSON.says("0.598", agents.step)
    assert set(agents.names) - set(result().names) == {"pool of checkers"}
    assert set(result().names) - set(agents.names) == {"packing"}


def test_further_numbers():
    full = budget.best(40)
    LESSON.says("34", sum(option.weeks for option in budget.MENU if option.name in full))
    LESSON.says("0.284", budget.step_time(full))
    assert set(budget.NAMES) - set(full) == {"partial rollouts", "fast weight sync"}
    LESSON.says("0.472", result(rule="by return", weeks=20).step)
    LESSON.says("0.525", result(rule="by speed-up", weeks=20).step)
    LESSON.says("0.378", result(weeks=20).step)
    LESSON.says("0.378", result(rule="by gain", weeks=20).step)


def test_the_menu_of_the_page_is_that_of_the_code():
    for option in budget.MENU:
        assert f"| {option.name} | {option.weeks} |" in LESSON.text and f"| [{option.lesson}](" in LESSON.text
