"""The lesson on what to optimize: what its numbers are computed by, and what it says without a number."""

import re
from functools import cache
from math import inf

import pytest

from sim.cluster import step
from sim.synthesis import budget, diagnosis
from sim.synthesis.budget import ASYNC, FIX
from tools.pages import bound
from widgets.bottlenecks import widget
from widgets.bottlenecks.widget import PRESETS, Knobs

AGENTS = PRESETS["Agents, 8 weeks"]
share = dict(zip(budget.ROLES, budget.SHARES))
weeks = {option.name: option.weeks for option in budget.MENU}
effects = {option.name: option.effects for option in budget.MENU}
generating, training = share["rollout"] + share["verify"], share["train"] + share["reference"]
everything = budget.best(40)


@cache
def bought(knobs=None, **changed):
    """The simulator's result, by default for the best set of eight weeks."""
    return next(widget.run(knobs or Knobs(**changed)))


def asynchronous(fast_sync):
    return bought(rule="your own", mismatch_fix=True, asynchrony=True, batch_tuning=True, fast_sync=fast_sync)


def uncorrected():
    return bought(PRESETS["fp8, batch and packing"])


def saves(name):
    """Of a step that nobody has touched."""
    return budget.marginal(())[name]


def touched(name, role):
    return effects[name][role][0]


def speedup(name, role):
    return effects[name][role][1]


def minutes(*tests):
    return sum(diagnosis.TESTS[name].minutes for name in tests)


def test_what_asynchrony_leaves():
    before, after = budget.marginal(()), budget.marginal((FIX, ASYNC))
    assert after["partial rollouts"] == after["fast weight sync"] == 0
    assert after["drafted tokens"] / before["drafted tokens"] == pytest.approx(0.25, abs=0.02)  # loses three quarters
    assert 0 < after["packing"] - before["packing"] < 0.002
    assert asynchronous(fast_sync=False).step == pytest.approx(asynchronous(fast_sync=True).step)


def test_what_a_test_leaves():
    assert abs(diagnosis.expected_left("wall clock") - diagnosis.expected_left("Nsight")) < 0.25
    assert len(diagnosis.left("mismatch", ("ratios",))) == 1
    assert all(len(diagnosis.left(cause, ("wall clock", "utilization"))) == 1 for cause in diagnosis.CAUSES)


def test_eight_weeks():
    steps = [bought(rule=rule).step for rule in ("by gain", "by return", "by speed-up")]
    assert steps == sorted(steps) and budget.best(8) == ("batch tuning", "drafted tokens", "packing")
    assert {*bought(AGENTS).names} ^ {*bought().names} == {"pool of checkers", "packing"}


def test_until_week_five_the_order_by_return_is_ahead():
    best, other = bought(), bought(rule="by return")

    def at(r, week):
        return r.times[r.spent <= week][-1]

    assert all(at(other, week) <= at(best, week) for week in range(6)) and at(other, 6) > at(best, 6)


def test_the_plan_turns_over():
    ten, eleven, twelve = (set(budget.best(weeks)) for weeks in (10, 11, 12))
    assert "drafted tokens" in ten - eleven and "partial rollouts" in eleven - ten
    assert "partial rollouts" not in twelve and ASYNC in twelve


def test_in_twenty_weeks_the_largest_saving_first_is_as_good_as_the_best_set():
    assert bought(rule="by gain", weeks=20).step == pytest.approx(bought(weeks=20).step)


def test_two_items_are_never_in_the_set_of_all_that_is_useful():
    assert {*weeks} - {*everything} == {"partial rollouts", "fast weight sync"}


def test_the_menu_leads_to_the_lesson_of_each_item():
    rows = dict(re.findall(r"^    \| ([^|]+) \| \d.*\| \[(\w+)\]\(", bound.page("28-bottlenecks"), re.M))
    assert rows == {option.name: option.lesson for option in budget.MENU}
