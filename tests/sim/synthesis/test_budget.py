"""Against sums by hand, and against a plain search over sets that shares no code with the module."""

from itertools import combinations

import numpy as np
import pytest

from sim.cluster import step
from sim.synthesis import budget
from sim.synthesis.budget import ASYNC, FIX, MENU, NAMES

AGENTS = (0.30, 0.30, 0.10, 0.03, 0.04, 0.21, 0.02)
TRAINING = (0.20, 0.10, 0.50, 0.10, 0.05, 0.03, 0.02)
BY_NAME = {option.name: option for option in MENU}


def by_hand(names, shares=budget.SHARES, gpus=64):
    """The step of a set, with a loop over options and splits."""
    left = dict(zip(budget.ROLES, shares))
    for name in names:
        for role, (touched, speedup) in BY_NAME[name].effects.items():
            left[role] *= 1 - touched * (1 - 1 / speedup)
    if ASYNC not in names:
        return sum(left.values())
    a, b = left["rollout"] + left["verify"], left["train"] + left["reference"]
    return min(max(a * gpus / x, b * gpus / (gpus - x)) for x in range(1, gpus)) + left["other"]


def weeks(names):
    return sum(BY_NAME[name].weeks for name in names)


def test_the_start_is_one():
    assert budget.step_time(()) == pytest.approx(1.0) and sum(budget.SHARES) == pytest.approx(1.0)


def test_a_role_that_is_removed_leaves_what_amdahl_says():
    """1 / (1 − 0.05) for a reference of a twentieth."""
    assert (
        1 / budget.step_time(("no reference",)) == pytest.approx(step.amdahl(0.05, np.inf)) == pytest.approx(1 / 0.95)
    )


@pytest.mark.parametrize(
    "names, expected",
    [
        (("packing", "fast weight sync"), 0.8770),  # 1 − 0.22 · 3/8 − 0.05 · 0.9 · 0.9
        (("drafted tokens",), 0.8359),  # 1 − 0.43 (1 − 1/1.1) − 0.25 / 2
        ((FIX, ASYNC), 0.704651),  # 0.46 · 64 / 43 + 0.02: 43 of 64 GPUs is the best whole split
    ],
)
def test_sets_by_hand(names, expected):
    assert budget.step_time(names) == pytest.approx(expected, abs=5e-5) == pytest.approx(by_hand(names), abs=5e-5)


def test_every_feasible_set_is_priced_as_by_hand():
    sets = budget.feasible_sets()
    assert len(sets) == 2**9 + 2**12 == 4608  # without the fix nine are free, with it twelve
    spent, times = budget.priced(budget.SHARES, 64, 1.0)
    for at in range(0, len(sets), 37):
        names = [name for name, taken in zip(NAMES, sets[at]) if taken]
        assert times[at] == pytest.approx(by_hand(names)) and spent[at] == weeks(names)


@pytest.mark.parametrize(
    "weeks_there_are, expected, names",
    [
        (4, 0.80025, {"batch tuning", "packing", "no reference"}),
        (6, 0.757727, {"batch tuning", "drafted tokens"}),
        (8, 0.675227, {"batch tuning", "drafted tokens", "packing"}),
        (12, 0.564, {"batch tuning", FIX, "no reference", ASYNC}),
        (34, 0.2836, set(NAMES) - {"partial rollouts", "fast weight sync"}),
    ],
)
def test_the_best_sets_as_an_independent_script_has_them(weeks_there_are, expected, names):
    found = budget.best(weeks_there_are)
    assert set(found) == names and weeks(found) <= weeks_there_are
    assert budget.step_time(found) == pytest.approx(expected, abs=5e-5)


def test_no_set_of_up_to_four_is_better_for_eight_weeks():
    least = budget.step_time(budget.best(8))
    for n in range(5):
        for names in combinations(NAMES, n):
            if weeks(names) <= 8 and budget.corrected(names):
                assert by_hand(names) >= least - 1e-12


@pytest.mark.parametrize(
    "rule, there_are, expected",
    [
        ("return", 6, 0.7864),
        ("return", 8, 0.7621),
        ("gain", 8, 0.7232),
        ("speed-up", 8, 0.7992),
        ("return", 12, 0.6058),
        ("return", 20, 0.4715),
    ],
)
def test_rules_as_an_independent_script_has_them(rule, there_are, expected):
    bought = budget.in_order(rule, there_are)
    assert weeks(bought) <= there_are and budget.corrected(bought)
    assert budget.step_time(bought) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("shares, there_are, expected", [(AGENTS, 8, 0.598082), (TRAINING, 6, 0.631739)])
def test_other_jobs_have_other_plans(shares, there_are, expected):
    found = budget.best(there_are, shares)
    assert budget.step_time(found, shares) == pytest.approx(expected, abs=5e-7)
    assert set(found) != set(budget.best(there_are))


def test_the_frontier_never_rises_and_no_rule_is_below_it():
    best = budget.frontier(40)
    assert (np.diff(best) <= 0).all() and best[0] == pytest.approx(1.0)
    for rule in budget.RULES:
        for there_are in range(0, 41, 5):
            assert budget.step_time(budget.in_order(rule, there_are)) >= best[there_are] - 1e-12


def test_asynchrony_on_fixed_gpus_buys_no_overlap():
    """The same work on the same GPUs: at least a + b, whatever the split."""
    for a, b in ((0.46, 0.22), (0.1, 0.1), (0.9, 0.05)):
        assert a + b - 1e-12 <= budget.two_pools(a, b, 64)[0] < (a + b) * 1.1
        assert budget.two_pools(a, b, 8192)[0] == pytest.approx(a + b, rel=1e-3)


def test_after_asynchrony_two_items_are_worth_nothing():
    before, after = budget.marginal(()), budget.marginal((FIX, ASYNC))
    assert after["partial rollouts"] == after["fast weight sync"] == 0
    assert before["partial rollouts"] == pytest.approx(0.25 * 0.75) and before["fast weight sync"] == pytest.approx(
        0.0405
    )
    assert before["packing"] == pytest.approx(0.0825) and after["packing"] == pytest.approx(0.0838, abs=5e-5)


def test_weeks_that_bought_nothing():
    assert budget.idle(("fast weight sync", FIX, ASYNC)) == ("fast weight sync",)
    assert budget.idle(("batch tuning", FIX, ASYNC)) == ()  # the fix is needed


def test_uncorrected_samples_cost_updates():
    for names, expected in ((("rollout in fp8",), 0.8057), ((ASYNC,), 0.70465), (("partial rollouts",), 0.8125)):
        assert budget.time_to_quality(names) == pytest.approx(2 * expected, abs=1e-4)
        assert budget.time_to_quality((FIX, *names)) == pytest.approx(expected, abs=1e-4)


def test_half_the_speed_up_is_half_of_what_it_adds_to_one():
    half = {option.name: option for option in budget.scaled(MENU, 0.5)}
    assert half["batch tuning"].speedup == pytest.approx(1.125) and half["no reference"].speedup == np.inf


def test_the_course_ends_at_the_set():
    spent, times = budget.course(budget.best(8))
    assert spent.tolist() == [0, 1, 6, 8] and times == pytest.approx([1, 0.914, 0.757727, 0.675227], abs=5e-7)


def test_the_sides_of_a_split():
    """43 of 64 generate: 0.46 · 64/43 and 0.22 · 64/21."""
    assert budget.sides(0.46, 0.22, 43) == pytest.approx((0.684651, 0.670476), abs=5e-7)
